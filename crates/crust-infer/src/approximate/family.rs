//! Approximations of a posterior: they can be drawn from, have a density, and can be written down and read back.

use std::f64::consts::TAU;

use crust_math::random::Stream;
use crust_math::special::{lgamma, log_sum_exp_slice};
use serde::{Deserialize, Serialize};

use super::Error;
use super::scale::Scale;
use crate::vector::dot;

/// A distribution on ℝᵈ that stands for a posterior.
pub trait Approximation: Sync {
    fn dimension(&self) -> usize;

    /// An exact draw.
    fn draw(&self, stream: &mut Stream) -> Vec<f64>;

    /// log q(x), normaliser included.
    fn log_density(&self, x: &[f64]) -> f64;

    fn mean(&self) -> Vec<f64>;

    /// By rows. `None` where it does not exist.
    fn covariance(&self) -> Option<Vec<f64>>;

    /// The variances, infinite where they do not exist.
    fn variances(&self) -> Vec<f64>;

    /// E (xᵢ − cᵢ)⁴ of each coordinate, and E |x − c|⁴ of all, infinite where they do not exist.
    fn fourth_moments(&self, centre: &[f64]) -> FourthMoments;
}

/// Moments about some centre.
#[derive(Clone, Debug, PartialEq)]
pub struct FourthMoments {
    pub each: Vec<f64>,
    pub norm: f64,
}

/// A normal distribution, or Student's t distribution, with any form of scale: x = m + S z √(ν/χ²).
#[derive(Clone, Debug, PartialEq)]
pub struct Elliptical {
    pub mean: Vec<f64>,
    pub scale: Scale,
    /// ν of Student's t distribution; `None` is the normal distribution.
    pub degrees: Option<f64>,
}

impl Elliptical {
    pub fn normal(mean: Vec<f64>, scale: Scale) -> Self {
        Self { mean, scale, degrees: None }
    }

    /// m + S z.
    pub fn place(&self, z: &[f64]) -> Vec<f64> {
        let mut x = self.scale.apply(z);
        x.iter_mut().zip(&self.mean).for_each(|(x, m)| *x += m);
        x
    }

    /// The factor between S Sᵀ and the covariance: 1, or ν/(ν − 2).
    fn spread(&self) -> f64 {
        match self.degrees {
            None => 1.0,
            Some(nu) if nu > 2.0 => nu / (nu - 2.0),
            Some(_) => f64::INFINITY,
        }
    }
}

/// log of the density at |z|² = `square`, up to the determinant.
pub(crate) fn standard_log_density(d: f64, degrees: Option<f64>, square: f64) -> f64 {
    match degrees {
        None => -0.5 * (d * TAU.ln() + square),
        Some(nu) => {
            let normaliser = lgamma(0.5 * (nu + d)) - lgamma(0.5 * nu) - 0.5 * d * (0.5 * TAU * nu).ln();
            normaliser - 0.5 * (nu + d) * (square / nu).ln_1p()
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "dimensions and numbers of draws are small")]
pub(crate) fn float(n: usize) -> f64 {
    n as f64
}

impl Approximation for Elliptical {
    fn dimension(&self) -> usize {
        self.mean.len()
    }

    fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let mut z = vec![0.0; self.mean.len()];
        stream.fill_normal(&mut z);
        // Degrees of freedom are positive, so that there is a draw.
        let stretch = self.degrees.map_or(1.0, |nu| stream.chi_square(nu).map_or(1.0, |c| (nu / c).sqrt()));
        z.iter_mut().for_each(|z| *z *= stretch);
        self.place(&z)
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        let from_mean: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        let z = self.scale.solve(&from_mean);
        standard_log_density(float(x.len()), self.degrees, dot(&z, &z)) - self.scale.log_determinant()
    }

    fn mean(&self) -> Vec<f64> {
        self.mean.clone()
    }

    fn covariance(&self) -> Option<Vec<f64>> {
        let spread = self.spread();
        spread.is_finite().then(|| self.scale.covariance().iter().map(|c| c * spread).collect())
    }

    fn variances(&self) -> Vec<f64> {
        self.scale.variances().iter().map(|v| v * self.spread()).collect()
    }

    /// With x − c = δ + e, where e is symmetric with covariance C: E (δᵢ + eᵢ)⁴ = δᵢ⁴ + 6 δᵢ² Cᵢᵢ + E eᵢ⁴, and
    /// E |δ + e|⁴ = |δ|⁴ + 4 δᵀC δ + 2 |δ|² tr C + E |e|⁴. A normal e has E eᵢ⁴ = 3 Cᵢᵢ² and E |e|⁴ = (tr C)² + 2 tr C².
    fn fourth_moments(&self, centre: &[f64]) -> FourthMoments {
        let spread = self.spread();
        // E (ν/χ²)² over (E ν/χ²)².
        let tail = match self.degrees {
            None => 1.0,
            Some(nu) if nu > 4.0 => (nu - 2.0) / (nu - 4.0),
            Some(_) => f64::INFINITY,
        };
        let shift: Vec<f64> = self.mean.iter().zip(centre).map(|(m, c)| m - c).collect();
        let variances = self.variances();
        let each = shift.iter().zip(&variances).map(|(s, v)| s.powi(4) + 6.0 * s * s * v + 3.0 * tail * v * v);
        let image = self.scale.apply_transposed(&shift);
        let (length, trace) = (dot(&shift, &shift), variances.iter().sum::<f64>());
        let squares: f64 = match &self.scale {
            Scale::Diagonal(_) => variances.iter().map(|v| v * v).sum(),
            other => other.covariance().iter().map(|c| (spread * c).powi(2)).sum(),
        };
        let own = tail * (trace * trace + 2.0 * squares);
        let norm = length * length + 4.0 * spread * dot(&image, &image) + 2.0 * length * trace + own;
        FourthMoments { each: each.collect(), norm }
    }
}

/// A mixture of such distributions: what several paths of Pathfinder give.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    pub parts: Vec<Elliptical>,
    /// They sum to 1.
    pub weights: Vec<f64>,
}

impl Mixture {
    /// Σ w f(part), coordinate by coordinate.
    fn average(&self, f: impl Fn(&Elliptical) -> Vec<f64>) -> Vec<f64> {
        let mut sum: Vec<f64> = Vec::new();
        for (part, w) in self.parts.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0) {
            let values = f(part);
            sum.resize(values.len(), 0.0);
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += w * value);
        }
        sum
    }
}

impl Approximation for Mixture {
    fn dimension(&self) -> usize {
        self.parts.first().map_or(0, Elliptical::dimension)
    }

    fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let u = stream.uniform();
        let mut below = 0.0;
        let covers = |w: &f64| {
            below += w;
            u < below
        };
        let part = self.weights.iter().position(covers).unwrap_or(self.parts.len() - 1);
        self.parts[part].draw(stream)
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        let parts = self.parts.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
        log_sum_exp_slice(&parts.map(|(part, w)| w.ln() + part.log_density(x)).collect::<Vec<f64>>())
    }

    fn mean(&self) -> Vec<f64> {
        self.average(|part| part.mean.clone())
    }

    /// The mean of the covariances and the covariance of the means.
    fn covariance(&self) -> Option<Vec<f64>> {
        let d = self.dimension();
        let mean = self.mean();
        if self.parts.iter().any(|part| !part.spread().is_finite()) {
            return None;
        }
        Some(self.average(|part| {
            let mut covariance = part.covariance().unwrap_or_default();
            for (k, c) in covariance.iter_mut().enumerate() {
                *c += (part.mean[k / d] - mean[k / d]) * (part.mean[k % d] - mean[k % d]);
            }
            covariance
        }))
    }

    fn variances(&self) -> Vec<f64> {
        let mean = self.mean();
        self.average(|part| {
            let between = part.mean.iter().zip(&mean).map(|(m, mean)| (m - mean).powi(2));
            part.variances().iter().zip(between).map(|(within, between)| within + between).collect()
        })
    }

    fn fourth_moments(&self, centre: &[f64]) -> FourthMoments {
        let each = self.average(|part| part.fourth_moments(centre).each);
        let norm = self.average(|part| vec![part.fourth_moments(centre).norm]).iter().sum();
        FourthMoments { each, norm }
    }
}

/// An approximation as it is written down: mean and covariance, or mean and standard deviations. What others write can
/// be read as well, further fields are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Of the unconstrained coordinates, in order; empty if they are not named.
    #[serde(default)]
    pub names: Vec<String>,
    pub mean: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Vec<Vec<f64>>>,
    /// ν of Student's t distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
}

impl Document {
    pub fn new(q: &Elliptical, names: Vec<String>) -> Self {
        let d = q.dimension();
        let sd = q.variances().iter().map(|v| v.sqrt()).collect();
        let dense = !matches!(q.scale, Scale::Diagonal(_));
        let covariance = q.covariance().filter(|_| dense);
        let covariance = covariance.map(|c| c.chunks_exact(d).map(<[f64]>::to_vec).collect());
        Self { names, mean: q.mean.clone(), sd: Some(sd), covariance, degrees: q.degrees }
    }

    /// Standard deviations beside a covariance must be its own.
    fn check_sd(&self, rows: &[Vec<f64>]) -> Result<(), Error> {
        /// Relative: both may be rounded.
        const ROUNDED: f64 = 1e-3;
        let Some(sd) = &self.sd else { return Ok(()) };
        if sd.len() != rows.len() {
            return Err(Error::Document(format!("sd has {} elements, and mean has {}", sd.len(), rows.len())));
        }
        let own = |i: usize| rows[i][i].sqrt();
        match (0..sd.len()).find(|&i| (sd[i] - own(i)).abs() > ROUNDED * own(i)) {
            Some(i) => Err(Error::Document(format!(
                "sd {} is {}, but by the covariance it is {}: give only one of both",
                i + 1,
                sd[i],
                own(i)
            ))),
            None => Ok(()),
        }
    }

    /// The approximation that was written down.
    pub fn read(&self) -> Result<Elliptical, Error> {
        let d = self.mean.len();
        let bad = |what: String| Err(Error::Document(what));
        if let Some(i) = self.mean.iter().position(|m| !m.is_finite()) {
            return bad(format!("mean {} is not finite", i + 1));
        }
        let spread = match self.degrees {
            None => 1.0,
            Some(nu) if nu > 2.0 && nu.is_finite() => nu / (nu - 2.0),
            Some(nu) => return bad(format!("degrees is {nu}, but must be above 2: there is no covariance otherwise")),
        };
        let scale = if let Some(rows) = &self.covariance {
            if rows.len() != d || rows.iter().any(|row| row.len() != d) {
                return bad(format!(
                    "covariance is not a matrix with {d} rows and columns, as many as the mean has elements"
                ));
            }
            let asymmetric =
                |i: usize, j: usize| (rows[i][j] - rows[j][i]).abs() > 1e-8 * (rows[i][i] * rows[j][j]).abs().sqrt();
            if let Some((i, j)) = (0..d).flat_map(|i| (0..i).map(move |j| (i, j))).find(|&(i, j)| asymmetric(i, j)) {
                return bad(format!("covariance[{}, {}] and its mirror image differ", i + 1, j + 1));
            }
            self.check_sd(rows)?;
            Scale::of_covariance(d, &rows.concat().iter().map(|c| c / spread).collect::<Vec<f64>>())?
        } else if let Some(sd) = &self.sd {
            if sd.len() != d {
                return bad(format!("sd has {} elements, and mean has {d}", sd.len()));
            }
            if let Some(i) = sd.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
                return bad(format!("sd {} is {}, but must be positive", i + 1, sd[i]));
            }
            Scale::Diagonal(sd.iter().map(|s| s / spread.sqrt()).collect())
        } else {
            return bad("there is neither a covariance nor an sd".to_owned());
        };
        Ok(Elliptical { mean: self.mean.clone(), scale, degrees: self.degrees })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    fn examples() -> Vec<Elliptical> {
        let lower = Scale::Lower(vec![1.0, 0.0, 0.8, 0.6]);
        vec![
            Elliptical::normal(vec![1.0, -2.0], Scale::Diagonal(vec![0.5, 2.0])),
            Elliptical::normal(vec![1.0, -2.0], lower.clone()),
            Elliptical { mean: vec![1.0, -2.0], scale: lower, degrees: Some(5.0) },
        ]
    }

    #[test]
    fn densities_integrate_to_one_with_the_moments_that_are_stated() {
        let mixture = Mixture { parts: examples(), weights: vec![0.2, 0.5, 0.3] };
        let mut all: Vec<&dyn Approximation> = vec![&mixture];
        let examples = examples();
        all.extend(examples.iter().map(|q| q as &dyn Approximation));
        for q in all {
            let (h, n) = (0.2, 400);
            let grid = |i: usize| (float(i) - float(n) / 2.0) * h;
            let (mut total, mut mean, mut second) = (0.0, 0.0, 0.0);
            for i in 0..n {
                for j in 0..n {
                    let x = [grid(i), grid(j)];
                    let p = q.log_density(&x).exp() * h * h;
                    total += p;
                    mean += p * x[1];
                    second += p * (x[0] - 1.0) * (x[1] + 2.0);
                }
            }
            assert!((total - 1.0).abs() < 1e-4, "{total}");
            assert!((mean - q.mean()[1]).abs() < 1e-4);
            assert!((second - q.covariance().unwrap()[1]).abs() < 2e-3);
        }
    }

    /// Averages over draws, within 5 standard errors. With five degrees of freedom fourth moments have no error to speak
    /// of; with 30 they do.
    #[test]
    fn draws_have_the_stated_fourth_moments() {
        let mut parts = examples();
        parts[2].degrees = Some(30.0);
        let mixture = Mixture { parts: parts.clone(), weights: vec![0.2, 0.5, 0.3] };
        let apart = Elliptical::normal(vec![3.0, 0.0], parts[1].scale.clone());
        let spread = Mixture { parts: vec![parts[1].clone(), apart], weights: vec![0.4, 0.6] };
        let all: [&dyn Approximation; 4] = [&parts[1], &parts[2], &mixture, &spread];
        for q in all {
            let centre = q.mean();
            let stated = q.fourth_moments(&centre);
            let mut stream = StreamKey::new(6, Purpose::TEST).stream();
            let n = 40_000;
            let (mut sums, mut squares) = ([0.0; 3], [0.0; 3]);
            for _ in 0..n {
                let x = q.draw(&mut stream);
                let (a, b) = ((x[0] - centre[0]).powi(2), (x[1] - centre[1]).powi(2));
                for (k, value) in [a * a, b * b, (a + b).powi(2)].into_iter().enumerate() {
                    sums[k] += value / f64::from(n);
                    squares[k] += value * value / f64::from(n);
                }
            }
            for (k, stated) in stated.each.iter().chain([&stated.norm]).enumerate() {
                let error = ((squares[k] - sums[k] * sums[k]) / f64::from(n)).sqrt();
                assert!((sums[k] - stated).abs() < 5.0 * error, "{} ± {error} for {stated}", sums[k]);
            }
        }
        let heavy = Elliptical { degrees: Some(4.0), ..parts[2].clone() };
        assert!(heavy.fourth_moments(&[1.0, -2.0]).norm.is_infinite());
    }

    #[test]
    fn draws_have_the_stated_variances() {
        // 40,000 draws: 5 standard errors of a variance, with a kurtosis of at most 9.
        let mixture = Mixture { parts: examples(), weights: vec![0.2, 0.5, 0.3] };
        let mut stream = StreamKey::new(5, Purpose::TEST).stream();
        let (mut sums, n) = ([0.0; 2], 40_000);
        for _ in 0..n {
            let x = mixture.draw(&mut stream);
            (0..2).for_each(|i| sums[i] += (x[i] - [1.0, -2.0][i]).powi(2) / f64::from(n));
        }
        for (found, truth) in sums.iter().zip(mixture.variances()) {
            assert!((found / truth - 1.0).abs() < 5.0 * (8.0 / f64::from(n)).sqrt(), "{found} for {truth}");
        }
    }

    #[test]
    fn documents_are_read_back() {
        for q in examples() {
            let text = serde_json::to_string(&Document::new(&q, vec!["a".into(), "b".into()])).unwrap();
            let again = serde_json::from_str::<Document>(&text).unwrap().read().unwrap();
            assert_eq!(again.degrees, q.degrees);
            for x in [[0.0, 0.0], [2.0, -3.0]] {
                assert!((again.log_density(&x) - q.log_density(&x)).abs() < 1e-12);
            }
        }
        let bad = |text: &str| serde_json::from_str::<Document>(text).unwrap().read().unwrap_err().to_string();
        assert!(bad(r#"{"mean":[0,1]}"#).contains("neither"));
        assert!(bad(r#"{"mean":[0,1],"sd":[1,-1]}"#).contains("sd 2"));
        assert!(bad(r#"{"mean":[0],"sd":[2],"covariance":[[1]]}"#).contains("only one of both"));
        assert!(bad(r#"{"mean":[0,1],"covariance":[[1,2],[2,1]]}"#).contains("positive definite"));
    }
}
