//! Coordinates in which the width of a group of parameters does not depend on their hyperparameters.
//!
//! Where θᵢ ~ N(0, σ²) and log σ is a parameter too, no fixed metric fits: the right steps of θ are proportional to σ
//! (the funnel of hierarchical models). So zᵢ moves instead:
//!
//! > θᵢ = cᵢ + zᵢ · exp(u), u = λ Σₕ bₕ (θₕ − rₕ),
//!
//! with the hyperparameters θₕ themselves unchanged. The Jacobian is triangular, so log |∂θ/∂z| is u, summed over all
//! members of groups. λ = 1 is the non-centred parametrization, λ = 0 the centred one. A kernel that leaves the density
//! of z invariant leaves that of θ invariant, whatever the numbers are: a poor chart costs time, never correctness.

use std::sync::Arc;

use pxfm::f_exp;

use super::scales::Scales;

/// The numbers of a chart at one β.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Frame {
    /// r, one for each hyperparameter.
    pub origin: Vec<f64>,
    /// λ of each group, from 0 to 1.
    pub share: Vec<f64>,
}

impl Frame {
    /// Between two frames.
    pub(super) fn between(a: &Self, b: &Self, share: f64) -> Self {
        let mix = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (1.0 - share) * a + share * b).collect();
        Self { origin: mix(&a.origin, &b.origin), share: mix(&a.share, &b.share) }
    }

    /// Whether it has the sizes that groups need, and numbers only.
    pub(super) fn fits(&self, scales: &Scales) -> bool {
        let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
        self.origin.len() == scales.base.len()
            && self.share.len() == scales.groups.len()
            && finite(&self.origin)
            && finite(&self.share)
    }
}

/// A change of coordinates, frozen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Widths {
    pub(super) scales: Arc<Scales>,
    pub(super) frame: Frame,
}

impl Widths {
    /// u of a group. Hyperparameters are the same in both coordinates, so it does not matter which are given.
    fn log_width(&self, group: usize, x: &[f64]) -> f64 {
        let offsets = self.scales.base.iter().zip(&self.frame.origin).map(|(&h, origin)| x[h] - origin);
        let sum: f64 = self.scales.groups[group].slopes.iter().zip(offsets).map(|(slope, offset)| slope * offset).sum();
        self.frame.share[group] * sum
    }

    /// θ from z.
    pub(super) fn to_parameters(&self, z: &[f64], parameters: &mut [f64]) {
        parameters.copy_from_slice(z);
        for (g, group) in self.scales.groups.iter().enumerate() {
            let width = f_exp(self.log_width(g, z));
            for &i in &group.members {
                parameters[i] = self.scales.centre[i] + z[i] * width;
            }
        }
    }

    /// z from θ.
    pub(super) fn to_coordinates(&self, parameters: &[f64], z: &mut [f64]) {
        z.copy_from_slice(parameters);
        for (g, group) in self.scales.groups.iter().enumerate() {
            let width = f_exp(self.log_width(g, parameters));
            for &i in &group.members {
                z[i] = (parameters[i] - self.scales.centre[i]) / width;
            }
        }
    }

    /// log |∂θ/∂z|.
    pub(super) fn log_jacobian(&self, x: &[f64]) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let term = |g: usize| self.scales.groups[g].members.len() as f64 * self.log_width(g, x);
        (0..self.scales.groups.len()).map(term).sum()
    }

    /// ∇ of log f(θ(z)) + log |∂θ/∂z| with respect to z, from ∇ log f with respect to θ.
    pub(super) fn pull_back(&self, parameters: &[f64], gradient: &[f64], into: &mut [f64]) {
        self.change_gradient(parameters, gradient, into, 1.0);
    }

    /// The inverse of [`pull_back`](Self::pull_back).
    pub(super) fn push_forward(&self, parameters: &[f64], gradient: &[f64], into: &mut [f64]) {
        self.change_gradient(parameters, gradient, into, -1.0);
    }

    /// ∂θᵢ/∂zᵢ = exp(u) and ∂θᵢ/∂θₕ = λ bₕ (θᵢ − cᵢ) at fixed z, and each member adds λ bₕ for the Jacobian.
    fn change_gradient(&self, parameters: &[f64], gradient: &[f64], into: &mut [f64], sign: f64) {
        into.copy_from_slice(gradient);
        for (g, group) in self.scales.groups.iter().enumerate() {
            let width = f_exp(sign * self.log_width(g, parameters));
            let mut pull = 0.0;
            for &i in &group.members {
                into[i] = gradient[i] * width;
                let of_parameter = if sign > 0.0 { gradient[i] } else { into[i] };
                pull += of_parameter * (parameters[i] - self.scales.centre[i]) + 1.0;
            }
            for (&h, slope) in self.scales.base.iter().zip(&group.slopes) {
                into[h] += sign * self.frame.share[g] * slope * pull;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scales::Group;
    use super::*;

    fn chart() -> Widths {
        let groups = vec![
            Group { slopes: vec![0.5, 0.0], members: vec![1, 3] },
            Group { slopes: vec![-1.0, 0.25], members: vec![4] },
        ];
        let scales = Arc::new(Scales { base: vec![0, 2], groups, centre: vec![9.0, 0.4, 9.0, -1.0, 2.0, 9.0] });
        let frame = Frame { origin: vec![0.3, -0.2], share: vec![1.0, 0.7] };
        Widths { scales, frame }
    }

    /// Any smooth function of θ will do.
    fn density(x: &[f64]) -> (f64, Vec<f64>) {
        let value: f64 = x.iter().enumerate().map(|(i, x)| (x * f64::from(u8::try_from(i + 1).unwrap())).sin()).sum();
        let product = 0.1 * x[0] * x[1] * x[4];
        let mut gradient: Vec<f64> = x
            .iter()
            .enumerate()
            .map(|(i, x)| {
                let k = f64::from(u8::try_from(i + 1).unwrap());
                k * (x * k).cos()
            })
            .collect();
        gradient[0] += 0.1 * x[1] * x[4];
        gradient[1] += 0.1 * x[0] * x[4];
        gradient[4] += 0.1 * x[0] * x[1];
        (value + product, gradient)
    }

    fn in_chart(chart: &Widths, z: &[f64]) -> f64 {
        let mut x = vec![0.0; z.len()];
        chart.to_parameters(z, &mut x);
        density(&x).0 + chart.log_jacobian(z)
    }

    #[test]
    fn coordinates_go_there_and_back() {
        let chart = chart();
        let x = [0.7, -0.3, 1.1, 2.0, 0.5, -4.0];
        let (mut z, mut back) = (vec![0.0; 6], vec![0.0; 6]);
        chart.to_coordinates(&x, &mut z);
        // By hand: θ₁ = 0.4 + z₁ exp(0.5 · 0.4).
        assert!((z[1] - (-0.7 * (-0.2_f64).exp())).abs() < 1e-14);
        assert!((z[0], z[2], z[5]) == (x[0], x[2], x[5]));
        chart.to_parameters(&z, &mut back);
        assert!(x.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-14));
    }

    /// The Jacobian against the determinant of a matrix of differences. It is triangular if hyperparameters come first.
    #[test]
    fn the_jacobian_is_that_of_the_map() {
        let chart = chart();
        let z = [0.7, -0.3, 1.1, 2.0, 0.5, -4.0];
        let mut product = 1.0;
        for i in 0..6 {
            let step = 1e-6;
            let at = |sign: f64| {
                let (mut z, mut x) = (z, [0.0; 6]);
                z[i] += sign * step;
                chart.to_parameters(&z, &mut x);
                x[i]
            };
            product *= (at(1.0) - at(-1.0)) / (2.0 * step);
        }
        assert!((chart.log_jacobian(&z) - product.ln()).abs() < 1e-8);
    }

    #[test]
    fn gradients_are_those_of_the_density_in_the_chart() {
        let chart = chart();
        let z = [0.7, -0.3, 1.1, 2.0, 0.5, -4.0];
        let mut x = [0.0; 6];
        chart.to_parameters(&z, &mut x);
        let gradient = density(&x).1;
        let (mut pulled, mut back) = (vec![0.0; 6], vec![0.0; 6]);
        chart.pull_back(&x, &gradient, &mut pulled);
        for i in 0..6 {
            let step = 1e-5;
            let at = |sign: f64| {
                let mut z = z;
                z[i] += sign * step;
                in_chart(&chart, &z)
            };
            let difference = (at(1.0) - at(-1.0)) / (2.0 * step);
            assert!((pulled[i] - difference).abs() < 1e-7, "{i}: {} {difference}", pulled[i]);
        }
        chart.push_forward(&x, &pulled, &mut back);
        assert!(gradient.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
