use std::num::NonZero;

use super::*;
use crate::approximate::scale::Scale;
use crate::drive::{Control, Parallelism};
use crate::target::{Batch, Fatal, Target};
use crust_math::random::Purpose;

/// A skewed density with known moments: x₀ = log of Gamma(3, 1), x₁ | x₀ ~ N(x₀, 1).
#[derive(Clone)]
struct Skewed;

impl Target for Skewed {
    fn dimension(&self) -> usize {
        2
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        for lane in 0..batch.lanes {
            let (a, b) = (batch.x[lane], batch.x[batch.lanes + lane]);
            batch.log_prior[lane] = 3.0 * a - a.exp() - 0.5 * (b - a).powi(2);
            batch.log_likelihood[lane] = 0.0;
            if batch.wants_gradient() {
                batch.gradient[lane] = 3.0 - a.exp() + b - a;
                batch.gradient[batch.lanes + lane] = a - b;
            }
        }
        Ok(())
    }
}

const KERNELS: [Improver; 4] =
    [Improver::RandomWalk, Improver::Mala, Improver::Barker, Improver::Hmc { most_steps: 6 }];

fn run(kernel: Improver, adapts: bool, starts: Points, iterations: usize, how: Parallelism) -> Chains {
    let control = Control::default();
    let frame = Elliptical::normal(vec![1.0, 1.0], Scale::Lower(vec![0.6, 0.0, 0.6, 1.0]));
    let settings = Settings {
        key: StreamKey::new(1, Purpose::KERNEL),
        kernel,
        iterations,
        keep: vec![0, 1, 5, iterations],
        adapts,
    };
    improve(&mut Evaluations::new(&Skewed, how, &control), starts, &frame, &settings).unwrap()
}

/// Exact draws of the target.
fn exact(n: usize) -> Points {
    let mut stream = StreamKey::new(9, Purpose::TEST).stream();
    let draw = |_| {
        let a = stream.gamma(3.0, 1.0).unwrap().ln();
        [a, a + stream.standard_normal()]
    };
    Points::new(2, (0..n).flat_map(draw).collect())
}

/// Means and second moments about ψ(3), with their errors from n independent chains.
fn moments(chains: &Chains) -> [(f64, f64); 5] {
    let centre = 3.0_f64.recip() + 0.5 + 1.0 - 0.577_215_664_901_532_9 - 3.0_f64.recip();
    let last = chains.last();
    let (a, b) = (chains.coordinate(last, 0), chains.coordinate(last, 1));
    let functions: [fn(f64, f64) -> f64; 5] = [|a, _| a, |_, b| b, |a, _| a * a, |_, b| b * b, |a, b| a * b];
    functions.map(|f| {
        let values: Vec<f64> = a.iter().zip(&b).map(|(a, b)| f(a - centre, b - centre)).collect();
        let n = float(values.len());
        let mean = values.iter().sum::<f64>() / n;
        let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, (square / n).sqrt())
    })
}

/// ψ(3) = 3/2 − γ is the mean of both, ψ′(3) = π²/6 − 5/4 the variance of the first.
fn check(chains: &Chains, what: &str) {
    let variance = std::f64::consts::PI.powi(2) / 6.0 - 1.25;
    let truth = [0.0, 0.0, variance, variance + 1.0, variance];
    for ((found, error), truth) in moments(chains).into_iter().zip(truth) {
        // 80 comparisons in all: a false alarm has probability 2·10⁻⁵ each at 4.3 errors.
        assert!((found - truth).abs() < 4.3 * error, "{what}: {found} ± {error} for {truth}");
    }
}

#[test]
fn kernels_leave_the_target_invariant() {
    for (kernel, adapts) in KERNELS.into_iter().flat_map(|kernel| [(kernel, false), (kernel, true)]) {
        // Step sizes adapt at first, which is why chains stay exactly stationary only in the limit of many: 20,000 are
        // enough.
        let chains = run(kernel, adapts, exact(20_000), 12, Parallelism::default());
        check(&chains, &format!("{kernel:?}, {adapts}, stationary"));
        assert_eq!(chains.times, [0, 1, 5, 12]);
    }
}

#[test]
fn chains_reach_the_target_from_elsewhere_and_find_a_good_step() {
    for (kernel, adapts) in KERNELS.map(|kernel| (kernel, false)) {
        let starts =
            Points::new(2, (0..8000).flat_map(|i| [-1.0 + 1e-4 * float(i), 3.0 + 1e-4 * float(i % 7)]).collect());
        let chains = run(kernel, adapts, starts, 150, Parallelism::default());
        check(&chains, &format!("{kernel:?}, {adapts}, from elsewhere"));
        // Over some iterations: Hamiltonian ones have different lengths.
        let last = chains.acceptance[110..].iter().sum::<f64>() / 40.0;
        assert!((last - kernel.best_acceptance(adapts)).abs() < 0.06, "{kernel:?}, {adapts}: {last}");
    }
}

#[test]
fn results_do_not_depend_on_threads_or_lanes() {
    let how = Parallelism { threads: NonZero::new(3).unwrap(), width: NonZero::new(7).unwrap() };
    for (kernel, adapts) in KERNELS.into_iter().flat_map(|kernel| [(kernel, false), (kernel, true)]) {
        let here = run(kernel, adapts, exact(100), 10, Parallelism::default());
        assert_eq!(run(kernel, adapts, exact(100), 10, how), here);
    }
}

/// log τ ~ N(0, 2²), μ ~ N(0, 3²), θᵢ ~ N(μ, τ²) for i = 1 … 5: a funnel with a long neck.
#[derive(Clone)]
struct Hierarchy;

const GROUPS: usize = 5;

impl Target for Hierarchy {
    fn dimension(&self) -> usize {
        GROUPS + 2
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        let lanes = batch.lanes;
        for lane in 0..lanes {
            let at = |i: usize| i * lanes + lane;
            let (t, mu) = (batch.x[at(GROUPS)], batch.x[at(GROUPS + 1)]);
            let z: Vec<f64> = (0..GROUPS).map(|i| (batch.x[at(i)] - mu) * (-t).exp()).collect();
            let squares: f64 = z.iter().map(|z| z * z).sum();
            batch.log_prior[lane] = -t * t / 8.0 - mu * mu / 18.0 - 0.5 * squares - float(GROUPS) * t;
            batch.log_likelihood[lane] = 0.0;
            if batch.wants_gradient() {
                z.iter().enumerate().for_each(|(i, z)| batch.gradient[at(i)] = -z * (-t).exp());
                batch.gradient[at(GROUPS)] = -t / 4.0 + squares - float(GROUPS);
                batch.gradient[at(GROUPS + 1)] = -mu / 9.0 + z.iter().sum::<f64>() * (-t).exp();
            }
        }
        Ok(())
    }
}

fn hierarchy(n: usize, iterations: usize, kernel: Improver) -> Chains {
    let mut stream = StreamKey::new(4, Purpose::TEST).stream();
    let mut draw = |_| {
        let (t, mu) = (2.0 * stream.standard_normal(), 3.0 * stream.standard_normal());
        let mut x: Vec<f64> = (0..GROUPS).map(|_| mu + t.exp() * stream.standard_normal()).collect();
        x.extend([t, mu]);
        x
    };
    let starts = Points::new(GROUPS + 2, (0..n).flat_map(&mut draw).collect());
    let frame = Elliptical::normal(vec![0.0; GROUPS + 2], Scale::Diagonal(vec![3.0; GROUPS + 2]));
    let key = StreamKey::new(8, Purpose::KERNEL);
    let settings = Settings { key, kernel, iterations, keep: Vec::new(), adapts: true };
    let control = Control::default();
    improve(&mut Evaluations::new(&Hierarchy, Parallelism::default(), &control), starts, &frame, &settings).unwrap()
}

/// Straight coordinates change neither what is invariant, nor do chains stay in the neck.
#[test]
fn chains_leave_the_neck_of_a_funnel() {
    for kernel in [Improver::Hmc { most_steps: 10 }, Improver::Barker] {
        let chains = hierarchy(4000, 60, kernel);
        let last = chains.last();
        let (t, mu) = (chains.coordinate(last, GROUPS), chains.coordinate(last, GROUPS + 1));
        let theta = chains.coordinate(last, 0);
        let n = float(t.len());
        let z: Vec<f64> = (0..t.len()).map(|i| (theta[i] - mu[i]) * (-t[i]).exp()).collect();
        for (name, x, sd) in [("t", &t, 2.0), ("mu", &mu, 3.0), ("z", &z, 1.0)] {
            let mean = x.iter().sum::<f64>() / n / sd;
            let square = x.iter().map(|x| x * x).sum::<f64>() / n / (sd * sd);
            assert!(
                mean.abs() < 4.0 / n.sqrt() && (square - 1.0).abs() < 4.0 * (2.0 / n).sqrt(),
                "{name} {mean} {square}"
            );
        }
        let start = chains.coordinate(0, GROUPS);
        let correlation = t.iter().zip(&start).map(|(a, b)| a * b).sum::<f64>() / (4.0 * n);
        assert!(correlation.abs() < 0.1, "{kernel:?}: {correlation}");
    }
}
