//! TADDAA on normal targets, where the errors of an approximation are known exactly (section 4.1 of the TADDAA paper).

use crust_diagnose::taddaa::functional::{Functional, Kind};
use crust_diagnose::taddaa::intervals::Known;
use crust_diagnose::taddaa::sizes::Tolerances;
use crust_diagnose::taddaa::{Item, Settings, Taddaa, judge, squared_correlation};
use crust_infer::approximate::Error;
use crust_infer::approximate::evaluate::{Evaluations, Points};
use crust_infer::approximate::family::{Approximation, Elliptical};
use crust_infer::approximate::scale::Scale;
use crust_infer::drive::{Control, Parallelism};
use crust_infer::improve::{self, Improver, improve};
use crust_infer::target::{Batch, Fatal, Target};
use crust_math::random::{Purpose, StreamKey};
use crust_math::special::inv_Phi;

/// A normal distribution with mean 0, the same correlation between all coordinates, and given standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct Equicorrelated {
    deviation: Vec<f64>,
    correlation: f64,
}

impl Equicorrelated {
    /// The paper's: correlation 0.7, variances 10, 1, 1, ….
    pub fn of_the_paper(dimension: usize) -> Self {
        let mut deviation = vec![1.0; dimension];
        deviation[0] = 10.0_f64.sqrt();
        Self { deviation, correlation: 0.7 }
    }

    pub fn deviations(&self) -> &[f64] {
        &self.deviation
    }

    /// The best normal distribution without correlations: it has the variances of each coordinate given all others.
    pub fn mean_field(&self) -> Elliptical {
        let (r, n) = (self.correlation, dimension(self.deviation.len()));
        // The precision of the correlation matrix has (1 + (n − 2) r)/((1 − r)(1 + (n − 1) r)) on its diagonal.
        let precision = (1.0 + (n - 2.0) * r) / ((1.0 - r) * (1.0 + (n - 1.0) * r));
        let deviation = self.deviation.iter().map(|s| s / precision.sqrt()).collect();
        Elliptical::normal(vec![0.0; self.deviation.len()], Scale::Diagonal(deviation))
    }

    /// The distribution itself.
    pub fn exact(&self) -> Result<Elliptical, Error> {
        let d = self.deviation.len();
        let mut covariance = vec![0.0; d * d];
        for (k, c) in covariance.iter_mut().enumerate() {
            let correlation = if k / d == k % d { 1.0 } else { self.correlation };
            *c = correlation * self.deviation[k / d] * self.deviation[k % d];
        }
        Ok(Elliptical::normal(vec![0.0; d], Scale::of_covariance(d, &covariance)?))
    }

    /// The right correlations, with means too high by a part of the standard deviations and standard deviations
    /// stretched, each in every so many-th coordinate. With 1, all are wrong alike and errors shrink along chains. With
    /// 2, right coordinates are pulled away from where they should be before they come back: the paper's condition 1
    /// does not hold.
    pub fn displaced(&self, shift: f64, stretch: f64, every: usize) -> Result<Elliptical, Error> {
        let Elliptical { scale, .. } = self.exact()?;
        let mut covariance = scale.covariance();
        let d = self.deviation.len();
        let factor = |i: usize| if i % every == every - 1 { stretch } else { 1.0 };
        for (k, c) in covariance.iter_mut().enumerate() {
            *c *= factor(k / d) * factor(k % d);
        }
        let mean =
            self.deviation.iter().enumerate().map(|(i, s)| if i % every == 0 { shift * s } else { 0.0 }).collect();
        Ok(Elliptical::normal(mean, Scale::of_covariance(d, &covariance)?))
    }
}

#[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
fn dimension(n: usize) -> f64 {
    n as f64
}

impl Target for Equicorrelated {
    fn dimension(&self) -> usize {
        self.deviation.len()
    }

    /// With z = x/s: −½ (Σ z² − b (Σ z)²)/(1 − r), b = r/(1 + (n − 1) r).
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        let (lanes, r) = (batch.lanes, self.correlation);
        let b = r / (1.0 + (dimension(self.deviation.len()) - 1.0) * r);
        let (mut sums, mut squares) = (vec![0.0; lanes], vec![0.0; lanes]);
        for (row, s) in batch.x.chunks_exact(lanes).zip(&self.deviation) {
            for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(row) {
                let z = x / s;
                *sum += z;
                *square += z * z;
            }
        }
        for lane in 0..lanes {
            batch.log_prior[lane] = -0.5 * (squares[lane] - b * sums[lane] * sums[lane]) / (1.0 - r);
            batch.log_likelihood[lane] = 0.0;
        }
        if batch.wants_gradient() {
            let rows = batch.gradient.chunks_exact_mut(lanes).zip(batch.x.chunks_exact(lanes));
            for ((gradient, x), s) in rows.zip(&self.deviation) {
                for ((g, x), sum) in gradient.iter_mut().zip(x).zip(&sums) {
                    *g = -(x / s - b * sum) / ((1.0 - r) * s);
                }
            }
        }
        Ok(())
    }
}

/// The functionals that are judged unless others are wanted.
pub const KINDS: [Kind; 5] =
    [Kind::Mean, Kind::LogVariance, Kind::Quantile(0.05), Kind::Quantile(0.5), Kind::Quantile(0.95)];

/// A functional of a normal distribution.
pub fn of_normal(kind: Kind, mean: f64, deviation: f64) -> f64 {
    match kind {
        Kind::Mean => mean,
        Kind::Deviation => deviation,
        Kind::LogVariance => 2.0 * deviation.ln(),
        Kind::Quantile(p) => mean + deviation * inv_Phi(p),
        Kind::Covariance | Kind::Probability => f64::NAN,
    }
}

/// What TADDAA found, and what the errors are.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub found: Taddaa,
    /// |F(approximation) − F(target)| of each functional.
    pub errors: Vec<f64>,
    /// The same in standard deviations of the target, or half of it for log variances.
    pub relative: Vec<f64>,
    pub gradients: u64,
}

/// How short chains go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub kernel: Improver,
    pub chains: usize,
    pub iterations: usize,
    /// Whether halves of the chains learn from each other and the second half of the iterations counts; otherwise as
    /// in the paper.
    pub adapts: bool,
}

/// The diagnosis of one approximation.
pub fn diagnose(target: &Equicorrelated, q: &Elliptical, plan: Plan, seed: u64) -> Result<Outcome, Error> {
    let Plan { kernel, chains, iterations, adapts } = plan;
    let control = Control::default();
    let mut evaluations = Evaluations::new(target, Parallelism::default(), &control);
    let d = target.dimension();
    let mut stream = StreamKey::new(seed, Purpose::FIT).stream();
    let starts = Points::new(d, (0..chains).flat_map(|_| q.draw(&mut stream)).collect());
    let first = if adapts { iterations / 2 + 1 } else { iterations };
    let keep = (first..iterations).collect();
    let key = StreamKey::new(seed, Purpose::KERNEL);
    let settings = improve::Settings { key, kernel, iterations, keep, adapts };
    let run = improve(&mut evaluations, starts, q, &settings)?;
    let states = run.times.len() - 1;
    let points = run.states(1..=states);
    let ends: Vec<Vec<f64>> = (0..d).map(|i| points.x.iter().skip(i).step_by(d).copied().collect()).collect();
    let rho2: Vec<f64> =
        (0..d).map(|i| squared_correlation(&run.coordinate(0, i), &run.coordinate(states, i))).collect();
    let deviations: Vec<f64> = q.variances().iter().map(|v| v.sqrt()).collect();
    let (mut items, mut errors, mut relative) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..d {
        for kind in KINDS {
            let value = of_normal(kind, q.mean[i], deviations[i]);
            let functional = Functional::new(kind, format!("x[{}]", i + 1));
            let before = Known::exactly(value);
            items.push(Item { functional, end: &ends[i], states, other: None, before, efficiency: 1.0 });
            let error = (value - of_normal(kind, 0.0, target.deviation[i])).abs();
            errors.push(error);
            relative.push(if kind == Kind::LogVariance { 0.5 * error } else { error / target.deviation[i] });
        }
    }
    let found = judge(&items, &rho2, &Settings { iterations, tolerances: Tolerances::default(), seed });
    Ok(Outcome { found, errors, relative, gradients: evaluations.count() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_diagnose::taddaa::sizes::{EFFORT, Tolerances, iterations};
    use crust_diagnose::taddaa::{Judged, Level};

    #[test]
    fn the_density_is_that_of_the_covariance() {
        let target = Equicorrelated::of_the_paper(4);
        let exact = target.exact().unwrap();
        let mut batch = Batch::default();
        batch.resize(4, 2, true);
        batch.x.copy_from_slice(&[0.3, 0.0, -1.0, 0.0, 0.4, 0.0, 2.0, 0.0]);
        target.clone().evaluate(&mut batch).unwrap();
        let truth = exact.log_density(&[0.3, -1.0, 0.4, 2.0]) - exact.log_density(&[0.0; 4]);
        assert!((batch.log_prior[0] - truth).abs() < 1e-12);
        let h = 1e-6;
        let slope =
            (exact.log_density(&[0.3, -1.0 + h, 0.4, 2.0]) - exact.log_density(&[0.3, -1.0 - h, 0.4, 2.0])) / (2.0 * h);
        assert!((batch.gradient[2] - slope).abs() < 1e-7);
        let mean_field = target.mean_field();
        assert!(mean_field.variances()[1] < 0.5);
    }

    #[test]
    fn an_exact_approximation_passes_and_a_wrong_one_is_told() {
        let target = Equicorrelated::of_the_paper(10);
        let kernel = Improver::Barker;
        let plan = |kernel, adapts| Plan {
            kernel,
            chains: Tolerances::default().chains(),
            iterations: iterations(10, None, EFFORT),
            adapts,
        };
        // 20 runs, of which one is expected to cry wolf: more than 5 have a probability of 3·10⁻⁴.
        let alarms = (0..20).filter(|&seed| {
            let found = diagnose(&target, &target.exact().unwrap(), plan(kernel, false), seed).unwrap().found;
            found.verdict.level != Level::Good
        });
        assert!(alarms.count() <= 5);
        // Where half of the coordinates are wrong, right ones are pulled away at first. With halves that learn from each
        // other that is over after 30 iterations of HMC; with T as published it is not in 100 dimensions.
        let adapted = Plan { kernel: Improver::Hmc { most_steps: 10 }, chains: 387, iterations: 60, adapts: true };
        let (mut above, mut half, mut large) = (0, 0, 0);
        let displaced = target.displaced(0.3, 0.7, 2).unwrap();
        for seed in 0..20 {
            let outcome = diagnose(&target, &displaced, adapted, seed).unwrap();
            let pairs = || outcome.found.functionals.iter().zip(&outcome.errors);
            above += u32::from(pairs().any(|(f, e)| f.simultaneous_lower_bound > e + 1e-12));
            let told = |(f, e): (&Judged, &f64)| f.simultaneous_lower_bound >= 0.5 * e;
            half += pairs().filter(|(_, e)| **e > 0.29).filter(|&(f, e)| told((f, e))).count();
            large += pairs().filter(|(_, e)| **e > 0.29).count();
        }
        assert!(above <= 5 && 10 * half > 9 * large, "{above}, {half} of {large}");
        for kernel in [Improver::RandomWalk, Improver::Mala, Improver::Barker, Improver::Hmc { most_steps: 10 }] {
            let outcome = diagnose(&target, &target.mean_field(), plan(kernel, false), 1).unwrap();
            assert_eq!(outcome.found.verdict.level, Level::Bad);
            for (f, error) in outcome.found.functionals.iter().zip(&outcome.errors) {
                assert!(f.simultaneous_lower_bound <= error + 1e-12, "{kernel:?} {f:?} {error}");
            }
            let worst = &outcome.found.functionals[1];
            assert!(worst.simultaneous_lower_bound > 0.4 * outcome.errors[1], "{kernel:?} {worst:?}");
        }
    }
}
