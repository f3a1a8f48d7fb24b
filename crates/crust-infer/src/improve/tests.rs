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
