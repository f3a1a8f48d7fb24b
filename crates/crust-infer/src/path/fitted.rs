//! A reference distribution fitted to draws of a pilot run: the first distribution of a path that is short.
//!
//! B is finite only if every step of the path is: log f − log q must have a mean under q, and under f. So tails matter
//! on both sides. Where f has a barrier (e^(−1/σ²) in log σ) q must be light: a normal in log σ gives 1/σ² a mean,
//! Student's t does not. Where f has polynomial tails q must have them too: x² has no mean there. Where f falls
//! exponentially (log σ of a scale that may be 0) x² has a mean, but one that few draws decide. So each side of each
//! coordinate has its own kind of tail, chosen by [`sides`]:
//!
//! > log q(z) = log φ(0) + g(z/s), with g(x) = −x²/2, or c²/2 − c|x| beyond c, or −(ν+1)/2 · log(1 + x²/ν),
//!
//! with s such that either half integrates to ½, so that any two of them make a continuous, normalised density. A vector
//! is x = μ + L z. Where chains of the pilot run disagree, q is a mixture with a component for each set of chains that agree.

use std::f64::consts::TAU;
use std::sync::LazyLock;

use crust_math::random::Stream;
use crust_math::special::{erf, lgamma};
use pxfm::{f_exp, f_log, f_log1p};
use serde::{Deserialize, Serialize};

use super::FirstDistribution;
use crate::axes::Axes;
use crate::covariance::shrunk_correlations;
use crate::metric::cholesky;

/// ν of heavy tails: heavier than what has a mean, so that no posterior with a mean is heavier by much.
const DEGREES: f64 = 3.0;
/// c: where exponential tails begin.
const CORNER: f64 = 1.5;
/// Above this dimension correlations are left to the path: a dense factor costs d² for each point.
const MOST_DENSE: usize = 150;
/// Chains whose means are further apart than this, in standard deviations within chains, are in different places.
const APART: f64 = 2.0;

/// How a side of a coordinate falls off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tail {
    #[default]
    Normal,
    /// Exponential from `CORNER` on, where the slopes of both meet.
    Exponential,
    /// Student's t with `DEGREES` degrees of freedom.
    Heavy,
}

/// The tails below and above the centre.
pub type Sides = [Tail; 2];

/// ∫ e^(−x²/2) from 0 to c, and ∫ e^(c²/2 − cx) from there on.
fn exponential_masses() -> (f64, f64) {
    let body = 0.5 * TAU.sqrt() * erf(CORNER * std::f64::consts::FRAC_1_SQRT_2);
    (body, f_exp(-0.5 * CORNER * CORNER) / CORNER)
}

/// The scale at which a half with an exponential tail has the mass of half a normal distribution, and its height at 0.
static EXPONENTIAL_SCALE: LazyLock<f64> = LazyLock::new(|| {
    let (body, tail) = exponential_masses();
    0.5 * TAU.sqrt() / (body + tail)
});

/// `t_ν(0)/φ(0)`: the scale at which Student's density has the height of the normal one at 0.
static HEAVY_SCALE: LazyLock<f64> = LazyLock::new(|| {
    let height = lgamma(0.5 * (DEGREES + 1.0)) - lgamma(0.5 * DEGREES) - 0.5 * f_log(DEGREES * TAU / 2.0);
    f_exp(height + 0.5 * f_log(TAU))
});

impl Tail {
    /// log q(z) − log φ(0) and its derivative.
    fn log_density(self, z: f64) -> (f64, f64) {
        match self {
            Self::Normal => (-0.5 * z * z, -z),
            Self::Exponential => {
                let scale = *EXPONENTIAL_SCALE;
                let x = z / scale;
                if x.abs() <= CORNER {
                    (-0.5 * x * x, -x / scale)
                } else {
                    (CORNER * (0.5 * CORNER - x.abs()), -CORNER.copysign(x) / scale)
                }
            }
            Self::Heavy => {
                let scaled = z / *HEAVY_SCALE;
                let ratio = scaled * scaled / DEGREES;
                let slope = -(DEGREES + 1.0) * scaled / (DEGREES * *HEAVY_SCALE * (1.0 + ratio));
                (-0.5 * (DEGREES + 1.0) * f_log1p(ratio), slope)
            }
        }
    }
}

impl Tail {
    /// The size of a draw on this side, given that of a normal variate.
    fn size(self, normal: f64, stream: &mut Stream) -> f64 {
        match self {
            Self::Normal => normal,
            Self::Exponential => {
                let (body, tail) = exponential_masses();
                let x = if stream.uniform() * (body + tail) < body {
                    std::iter::once(normal)
                        .chain(std::iter::repeat_with(|| stream.standard_normal().abs()))
                        .find(|x| *x <= CORNER)
                        .unwrap_or(0.0)
                } else {
                    CORNER - f_log(stream.uniform()) / CORNER
                };
                x * *EXPONENTIAL_SCALE
            }
            // the degrees of freedom are positive, so that there is such a draw
            Self::Heavy => stream.student_t(DEGREES, 0.0, *HEAVY_SCALE).map_or(0.0, f64::abs),
        }
    }
}

/// One place of the reference distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Component {
    weight: f64,
    mean: Vec<f64>,
    /// L by rows; only its diagonal if it is no longer than the mean.
    lower: Vec<f64>,
    sides: Vec<Sides>,
}

/// A mixture of such components, normalised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    components: Vec<Component>,
}

/// Why nothing can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadReference {
    #[error("a reference needs at least 2 draws of each chain, and a chain has {0}")]
    TooFew(usize),
    #[error("the draws of the pilot run do not vary in coordinate {0}")]
    Constant(usize),
    #[error("the covariance of the pilot run's draws is not positive definite")]
    NotPositive,
}

impl Fitted {
    /// Fits draws, one list for each chain, with the tails that were found for each coordinate.
    pub fn fit(chains: &[Vec<Vec<f64>>], sides: &[Sides]) -> Result<Self, BadReference> {
        if let Some(few) = chains.iter().map(Vec::len).find(|&n| n < 2) {
            return Err(BadReference::TooFew(few));
        }
        let all: usize = chains.iter().map(Vec::len).sum();
        let component = |set: &Vec<usize>| {
            let draws: Vec<&[f64]> = set.iter().flat_map(|&c| chains[c].iter().map(Vec::as_slice)).collect();
            Component::fit(&draws, sides, float(draws.len()) / float(all))
        };
        let components = sets_that_agree(chains).iter().map(component).collect::<Result<_, _>>()?;
        Ok(Self { components })
    }

    pub fn components(&self) -> usize {
        self.components.len()
    }
}

impl FirstDistribution for Fitted {
    fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        if let [only] = &self.components[..] {
            return only.log_density(x, gradient);
        }
        let mut slopes = vec![0.0; gradient.len()];
        let mut total = f64::NEG_INFINITY;
        gradient.fill(0.0);
        for component in &self.components {
            let value = f_log(component.weight) + component.log_density(x, &mut slopes);
            let sum = log_add(total, value);
            let (old, new) = (f_exp(total - sum), f_exp(value - sum));
            gradient.iter_mut().zip(&slopes).for_each(|(g, slope)| *g = old * *g + new * slope);
            total = sum;
        }
        total
    }

    fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let mut left = if self.components.len() > 1 { stream.uniform() } else { 0.0 };
        let last = self.components.len() - 1;
        for component in &self.components[..last] {
            left -= component.weight;
            if left < 0.0 {
                return component.draw(stream);
            }
        }
        self.components[last].draw(stream)
    }

    /// Those of its one component: several have no common axes.
    fn axes(&self) -> Option<Axes> {
        match &self.components[..] {
            [only] if !only.is_diagonal() => Axes::new(only.mean.len(), &only.lower).ok(),
            _ => None,
        }
    }
}

impl Component {
    fn fit(draws: &[&[f64]], sides: &[Sides], weight: f64) -> Result<Self, BadReference> {
        let (n, d) = (draws.len(), sides.len());
        let is_heavy = |i: usize| sides[i].contains(&Tail::Heavy);
        let mut mean = Vec::with_capacity(d);
        let mut deviation = Vec::with_capacity(d);
        for i in 0..d {
            let mut values: Vec<f64> = draws.iter().map(|x| x[i]).collect();
            let (centre, spread) = if is_heavy(i) { robust(&mut values) } else { moments(&values) };
            if !(spread.is_finite() && spread > 0.0) {
                return Err(BadReference::Constant(i + 1));
            }
            mean.push(centre);
            deviation.push(spread);
        }
        if d > MOST_DENSE || n < 2 * d {
            return Ok(Self { weight, mean, lower: deviation, sides: sides.to_vec() });
        }
        let mut covariance = shrunk_correlations(draws, &mean, &deviation);
        for i in 0..d {
            for j in 0..d {
                // moments of heavy coordinates mean nothing
                let keep = i == j || !(is_heavy(i) || is_heavy(j));
                covariance[i * d + j] *= if keep { deviation[i] * deviation[j] } else { 0.0 };
            }
        }
        let lower = cholesky(d, &covariance).map_err(|_| BadReference::NotPositive)?;
        Ok(Self { weight, mean, lower, sides: sides.to_vec() })
    }

    fn is_diagonal(&self) -> bool {
        self.lower.len() == self.mean.len()
    }

    fn log_density(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let d = self.mean.len();
        let mut z: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        let mut total = -0.5 * float(d) * f_log(TAU);
        let mut slopes = vec![0.0; if gradient.is_empty() { 0 } else { d }];
        for i in 0..d {
            let diagonal = if self.is_diagonal() {
                self.lower[i]
            } else {
                let row = &self.lower[i * d..=i * d + i];
                let before: f64 = row[..i].iter().zip(&z).map(|(l, z)| l * z).sum();
                z[i] -= before;
                row[i]
            };
            z[i] /= diagonal;
            let (value, slope) = self.sides[i][usize::from(z[i] >= 0.0)].log_density(z[i]);
            total += value - f_log(diagonal);
            if let Some(to) = slopes.get_mut(i) {
                *to = slope;
            }
        }
        if !gradient.is_empty() {
            self.solve_transposed(&mut slopes);
            gradient.copy_from_slice(&slopes);
        }
        total
    }

    /// L⁻ᵀ g.
    fn solve_transposed(&self, g: &mut [f64]) {
        let d = g.len();
        if self.is_diagonal() {
            g.iter_mut().zip(&self.lower).for_each(|(g, l)| *g /= l);
            return;
        }
        for i in (0..d).rev() {
            g[i] /= self.lower[i * d + i];
            let value = g[i];
            g[..i].iter_mut().zip(&self.lower[i * d..]).for_each(|(g, l)| *g -= l * value);
        }
    }

    fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let d = self.mean.len();
        let mut z = vec![0.0; d];
        stream.fill_normal(&mut z);
        for (z, sides) in z.iter_mut().zip(&self.sides) {
            *z = sides[usize::from(*z >= 0.0)].size(z.abs(), stream).copysign(*z);
        }
        let row = |i: usize| -> f64 {
            if self.is_diagonal() {
                return self.lower[i] * z[i];
            }
            self.lower[i * d..=i * d + i].iter().zip(&z).map(|(l, z)| l * z).sum()
        };
        (0..d).map(|i| self.mean[i] + row(i)).collect()
    }
}

/// Sets of chains that agree: chains are joined as long as their means are near in every coordinate.
fn sets_that_agree(chains: &[Vec<Vec<f64>>]) -> Vec<Vec<usize>> {
    let statistics: Vec<Vec<(f64, f64)>> = chains
        .iter()
        .map(|draws| {
            let dimension = draws.first().map_or(0, Vec::len);
            (0..dimension).map(|i| robust(&mut draws.iter().map(|x| x[i]).collect::<Vec<f64>>())).collect()
        })
        .collect();
    let near = |a: usize, b: usize| {
        statistics[a].iter().zip(&statistics[b]).all(|((m, s), (n, t))| (m - n).abs() <= APART * s.max(*t))
    };
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for chain in 0..chains.len() {
        let (mut joined, rest): (Vec<_>, Vec<_>) =
            sets.into_iter().partition(|set: &Vec<usize>| set.iter().any(|&other| near(chain, other)));
        let mut set: Vec<usize> = joined.drain(..).flatten().collect();
        set.push(chain);
        set.sort_unstable();
        sets = rest;
        sets.push(set);
    }
    sets.sort();
    sets
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = float(values.len());
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, square.sqrt())
}

/// The median, and half of the way between the 16 % and 84 % quantiles, which is the deviation of a normal
/// distribution.
fn robust(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the list")]
        let index = (share * float(values.len() - 1)).round() as usize;
        values[index]
    };
    (at(0.5), 0.5 * (at(0.8413) - at(0.1587)))
}

/// How far out tails are looked at, in standard deviations.
const NEAR: f64 = 20.0;
const FAR: f64 = 200.0;
/// Tails that fall off more slowly than with this power of the distance are polynomial.
const GREATEST_POWER: f64 = 20.0;
/// Tails that fall by less than this for each standard deviation are exponential; normal ones fall by 110 there.
const GREATEST_SLOPE: f64 = 4.0;

/// Points at which a density shows its tails: for each coordinate, two below the centre and two above.
pub fn tail_points(centre: &[f64], deviation: &[f64]) -> Vec<Vec<f64>> {
    let point = |i: usize, step: f64| {
        let mut x = centre.to_vec();
        x[i] += step * deviation[i];
        x
    };
    (0..centre.len()).flat_map(|i| [-FAR, -NEAR, NEAR, FAR].map(|step| point(i, step))).collect()
}

/// How both sides of each coordinate fall off, from log f at [`tail_points`]: with f ~ |x|^(−p) the power is p =
/// (log f(near) − log f(far))/log(far/near), with f ~ e^(−r|x|) the slope is (log f(near) − log f(far))/(far − near).
/// Where f is 0 or cannot be computed there is a barrier, and the tail is light.
pub fn sides(log_densities: &[f64]) -> Vec<Sides> {
    let tail = |near: f64, far: f64| {
        let fall = near - far;
        if fall < GREATEST_POWER * f_log(FAR / NEAR) {
            Tail::Heavy
        } else if fall < GREATEST_SLOPE * (FAR - NEAR) {
            Tail::Exponential
        } else {
            Tail::Normal
        }
    };
    log_densities.chunks_exact(4).map(|f| [tail(f[1], f[0]), tail(f[2], f[3])]).collect()
}

fn log_add(a: f64, b: f64) -> f64 {
    let greatest = a.max(b);
    if greatest == f64::NEG_INFINITY { greatest } else { greatest + f_log(f_exp(a - greatest) + f_exp(b - greatest)) }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
fn float(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    const KINDS: [Tail; 3] = [Tail::Normal, Tail::Exponential, Tail::Heavy];

    fn one(sides: Sides) -> Fitted {
        let component = Component { weight: 1.0, mean: vec![0.3], lower: vec![0.7], sides: vec![sides] };
        Fitted { components: vec![component] }
    }

    /// ∫ q over ℝ with x = tan: the trapezoidal rule is exact enough for 8 digits.
    #[test]
    fn densities_integrate_to_1_whatever_their_tails() {
        for below in KINDS {
            for above in KINDS {
                let q = one([below, above]);
                let n = 200_000;
                let h = std::f64::consts::PI / float(n);
                let integrand = |i: usize| {
                    let angle = -0.5 * std::f64::consts::PI + h * (float(i) + 0.5);
                    q.log_density(&[angle.tan()], &mut []).exp() / angle.cos().powi(2)
                };
                let integral: f64 = (0..n).map(integrand).sum::<f64>() * h;
                assert!((integral - 1.0).abs() < 1e-6, "{below:?} {above:?}: {integral}");
            }
        }
    }

    fn correlated() -> Fitted {
        let component = |weight: f64, shift: f64, sides: Vec<Sides>| Component {
            weight,
            mean: vec![shift, 1.0, -0.5],
            lower: vec![1.5, 0.0, 0.0, 0.4, 0.8, 0.0, 0.0, 0.0, 2.0],
            sides,
        };
        let long = vec![[Tail::Normal; 2], [Tail::Normal, Tail::Exponential], [Tail::Exponential, Tail::Heavy]];
        Fitted { components: vec![component(0.3, -2.0, long), component(0.7, 2.0, vec![[Tail::Normal; 2]; 3])] }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        let q = correlated();
        for x in [[0.1, 0.2, 0.3], [-2.5, 1.0, 4.0], [9.0, -3.0, -7.0]] {
            let mut gradient = [0.0; 3];
            q.log_density(&x, &mut gradient);
            for i in 0..3 {
                let at = |step: f64| {
                    let mut y = x;
                    y[i] += step;
                    q.log_density(&y, &mut [])
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((gradient[i] - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{} {slope}", gradient[i]);
            }
        }
    }

    /// E[p(x)/q(x)] = 1 under q for any normalised p: draws and density belong together. Four standard errors.
    #[test]
    fn draws_have_the_density() {
        let q = correlated();
        let other = |x: &[f64]| -> f64 {
            let z = [(x[0] - 1.0) / 1.2, (x[1] - 0.8) / 0.6, (x[2] + 0.5) / 1.5];
            z.iter().map(|z| -0.5 * z * z - 0.5 * TAU.ln()).sum::<f64>() - (1.2_f64 * 0.6 * 1.5).ln()
        };
        let mut stream = StreamKey::new(3, Purpose::DATA).stream();
        let draw = |_| {
            let x = q.draw(&mut stream);
            (other(&x) - q.log_density(&x, &mut [])).exp()
        };
        let ratios: Vec<f64> = (0..20_000).map(draw).collect();
        let (mean, deviation) = moments(&ratios);
        assert!((mean - 1.0).abs() < 4.0 * deviation / float(ratios.len()).sqrt(), "{mean}");
    }

    #[test]
    fn chains_in_two_places_make_two_components() {
        let mut stream = StreamKey::new(5, Purpose::DATA).stream();
        let mut chain = |at: f64| -> Vec<Vec<f64>> {
            (0..400)
                .map(|_| {
                    let mut z = vec![0.0; 2];
                    stream.fill_normal(&mut z);
                    vec![at + z[0], 0.8 * z[0] + 0.6 * z[1]]
                })
                .collect()
        };
        let chains = [chain(-10.0), chain(10.0), chain(-10.0), chain(-10.0)];
        assert_eq!(sets_that_agree(&chains), [vec![0, 2, 3], vec![1]]);
        let sides = vec![[Tail::Normal; 2]; 2];
        let q = Fitted::fit(&chains, &sides).expect("it fits");
        assert_eq!(q.components(), 2);
        let [many, few] = &q.components[..] else { panic!("two") };
        assert!((many.weight - 0.75).abs() < 1e-12 && (few.mean[0] - 10.0).abs() < 0.3);
        // L = [[1, 0], [0.8, 0.6]]
        assert!((many.lower[2] - 0.8).abs() < 0.1 && (many.lower[3] - 0.6).abs() < 0.1, "{:?}", many.lower);
    }

    #[test]
    fn tails_are_told_apart() {
        let cauchy = |x: f64| -(1.0 + x * x).ln();
        let normal = |x: f64| -0.5 * x * x;
        // log σ with ten observations: a barrier below, exponential above
        let scale = |u: f64| -10.0 * u - (-2.0 * u).exp();
        // log σ with few: a tail that is much longer than the normal one
        let vague = |u: f64| u - u.exp();
        let points = tail_points(&[0.0; 4], &[1.0, 1.0, 0.2, 1.0]);
        let values: Vec<f64> = points.iter().map(|x| cauchy(x[0]) + normal(x[1]) + scale(x[2]) + vague(x[3])).collect();
        let found = sides(&values);
        let (normal, exponential) = (Tail::Normal, Tail::Exponential);
        let expected = [[Tail::Heavy; 2], [normal; 2], [normal, exponential], [exponential, normal]];
        assert_eq!(found, expected);
        // nothing can be said where the density is 0
        assert_eq!(sides(&[f64::NEG_INFINITY, f64::NEG_INFINITY, -1.0, -2.0]), [[Tail::Normal, Tail::Heavy]]);
    }
}
