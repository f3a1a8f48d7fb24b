//! Coordinates in which funnels are straight.
//!
//! In a hierarchical model written as θᵢ ~ N(μ, τ) the scale of some coordinates follows another one, log τ: no one
//! preconditioner fits the mouth and the neck, and chains in the neck stay there. In the coordinates v with
//!
//! ```text
//! xⱼ = vⱼ                                          for plain coordinates,
//! xᵢ = aᵢ + Σₖ Bᵢₖ xₖ + e^(cᵢ (xⱼ − mⱼ)) vᵢ         for coordinates i that follow the driver j,
//! ```
//!
//! where k runs over plain coordinates and over followers before i, there is no funnel left: with aᵢ = 0, Bᵢμ = 1 and
//! cᵢ = 1 they are what is called the non-centred parametrisation. The map is triangular, log |∂x/∂v| = Σᵢ cᵢ (xⱼ − mⱼ).
//! Its numbers are learnt from the other half of the chains (`learn.rs`); whatever they are, a kernel that leaves
//! p(x(v)) |∂x/∂v| invariant in v leaves p invariant in x.

mod learn;

/// A map from v to x.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Funnel {
    /// In the order in which they are computed.
    followers: Vec<Follower>,
}

#[derive(Clone, Debug, PartialEq)]
struct Follower {
    /// i.
    at: usize,
    /// j, and mⱼ.
    driver: usize,
    middle: f64,
    /// aᵢ.
    intercept: f64,
    /// k and Bᵢₖ.
    slopes: Vec<(usize, f64)>,
    /// cᵢ.
    power: f64,
}

impl Follower {
    fn location(&self, x: &[f64]) -> f64 {
        self.intercept + self.slopes.iter().map(|(k, b)| b * x[*k]).sum::<f64>()
    }

    /// log e^(cᵢ (xⱼ − mⱼ)).
    fn log_scale(&self, x: &[f64]) -> f64 {
        self.power * (x[self.driver] - self.middle)
    }
}

impl Funnel {
    /// x(v), in place.
    pub(super) fn bend(&self, point: &mut [f64]) {
        for follower in &self.followers {
            let scale = follower.log_scale(point).exp();
            point[follower.at] = follower.location(point) + scale * point[follower.at];
        }
    }

    /// v(x), in place.
    pub(super) fn straighten(&self, point: &mut [f64]) {
        for follower in self.followers.iter().rev() {
            let scale = (-follower.log_scale(point)).exp();
            point[follower.at] = (point[follower.at] - follower.location(point)) * scale;
        }
    }

    /// log |∂x/∂v|.
    pub(super) fn log_determinant(&self, x: &[f64]) -> f64 {
        self.followers.iter().map(|follower| follower.log_scale(x)).sum()
    }

    /// The gradient of log p(x(v)) + log |∂x/∂v| with respect to v, from that of log p with respect to x, in place.
    pub(super) fn pull(&self, x: &[f64], gradient: &mut [f64]) {
        for follower in self.followers.iter().rev() {
            let g = gradient[follower.at];
            follower.slopes.iter().for_each(|(k, b)| gradient[*k] += b * g);
            gradient[follower.driver] += follower.power * ((x[follower.at] - follower.location(x)) * g + 1.0);
            gradient[follower.at] = follower.log_scale(x).exp() * g;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Funnel {
        let first = Follower { at: 2, driver: 0, middle: 0.3, intercept: 0.1, slopes: vec![(1, 0.9)], power: 0.8 };
        let second =
            Follower { at: 3, driver: 0, middle: 0.3, intercept: -1.0, slopes: vec![(0, 0.2), (2, -0.5)], power: -0.4 };
        Funnel { followers: vec![first, second] }
    }

    fn bent(v: [f64; 4]) -> [f64; 4] {
        let mut x = v;
        example().bend(&mut x);
        x
    }

    const V: [f64; 4] = [0.7, -1.2, 0.4, 2.0];

    #[test]
    fn there_and_back() {
        let mut back = bent(V);
        example().straighten(&mut back);
        V.iter().zip(back).for_each(|(a, b)| assert!((a - b).abs() < 1e-14, "{a} {b}"));
    }

    /// log p = −½|x|² + x₀x₃, whose gradient in v is compared with differences; the determinant is the product of the
    /// diagonal of the triangular Jacobian, computed by differences too.
    #[test]
    fn gradients_and_determinants() {
        let funnel = example();
        let log_p = |x: &[f64; 4]| -0.5 * x.iter().map(|x| x * x).sum::<f64>() + x[0] * x[3];
        let log_q = |v: [f64; 4]| log_p(&bent(v)) + funnel.log_determinant(&bent(v));
        let x = bent(V);
        let mut gradient = [x[3] - x[0], -x[1], -x[2], x[0] - x[3]];
        funnel.pull(&x, &mut gradient);
        let h = 1e-5;
        let moved = |i: usize, by: f64| {
            let mut v = V;
            v[i] += by;
            v
        };
        let mut log_diagonal = 0.0;
        for (i, gradient) in gradient.into_iter().enumerate() {
            let difference = (log_q(moved(i, h)) - log_q(moved(i, -h))) / (2.0 * h);
            assert!((difference - gradient).abs() < 1e-7, "{i}: {difference} {gradient}");
            log_diagonal += ((bent(moved(i, h))[i] - bent(moved(i, -h))[i]) / (2.0 * h)).ln();
        }
        assert!((funnel.log_determinant(&x) - log_diagonal).abs() < 1e-8);
    }
}
