//! Annealing of densities: against the one-chain code, against itself in other batches, and at the edges of the
//! support.

mod common;

use common::one_by_one::{self, OneByOne, kernels, methods, prior_draws, states};
use common::{Lanes, NormalGamma, Pointwise, count, key, parallelism};
use crust_infer::anneal::{
    ChainOutcome, Direction, Frame, Knot, Launch, Pilot, Schedule, TunedKernels, anneal_system, anneal_target,
    equilibrate, tune,
};
use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::error::Error;
use crust_infer::kernel::Kernel;
use crust_infer::metric::Metric;

fn model() -> NormalGamma {
    NormalGamma { y: vec![1.3, 0.4, 2.2, 0.9, 1.1, -0.3, 5.0, 2.0] }
}

fn anneal(
    kernels: &TunedKernels,
    schedule: &Schedule,
    direction: Direction,
    starts: &[Vec<f64>],
    (first_chain, how): (u32, Parallelism),
) -> Vec<ChainOutcome> {
    one_by_one::anneal(model(), kernels, schedule, direction, (starts, first_chain, how))
}

/// The batched state machine does what the code for systems does, to the last bit: same order, same β, same streams.
#[test]
fn batched_chains_are_those_of_a_system() {
    let schedule = Schedule::sigmoid(14, 4.0).expect("a schedule");
    for method in methods() {
        let kernels = kernels(method);
        for direction in [Direction::Forward, Direction::Reverse] {
            let starts = prior_draws(9);
            let batched = anneal(&kernels, &schedule, direction, &starts, (2, parallelism(1, 4)));
            let starts = states(&starts, method);
            let control = Control::default();
            let run = Launch { direction, first_chain: 2, key: key(3), how: parallelism(2, 1), control: &control };
            let system = OneByOne { model: model(), kernels: &kernels };
            let one_by_one = anneal_system(&system, &schedule, &starts, &run).expect("chains");
            for (a, b) in batched.iter().zip(&one_by_one) {
                assert_eq!(a.last, b.last.q, "{method:?} {direction:?}");
                assert!((a.log_weight - b.log_weight).abs() < 1e-12);
                assert!((a.accept - b.accept).abs() < 1e-12 && a.accept > 0.2);
                // One more for each move, whose β is new; Metropolis needs only the first.
                let more = if method.needs_gradient() { 13 } else { 1 };
                assert_eq!(a.evaluations, b.evaluations + more);
            }
        }
    }
}

#[test]
fn chains_do_not_depend_on_threads_widths_or_company() {
    let schedule = Schedule::linear(20).expect("a schedule");
    let starts = prior_draws(23);
    for method in methods() {
        let kernels = kernels(method);
        let reference = anneal(&kernels, &schedule, Direction::Forward, &starts, (0, parallelism(1, 64)));
        for how in [parallelism(2, 7), parallelism(3, 1)] {
            assert_eq!(anneal(&kernels, &schedule, Direction::Forward, &starts, (0, how)), reference);
        }
        let part = anneal(&kernels, &schedule, Direction::Forward, &starts[9..12], (9, parallelism(1, 2)));
        assert_eq!(part, reference[9..12]);
        let longer = Schedule::linear(40).expect("a schedule");
        let other = anneal(&kernels, &longer, Direction::Forward, &starts, (0, parallelism(1, 64)));
        assert_ne!(other[0].last, reference[0].last, "rungs have their own numbers");
    }
}

#[test]
fn pilots_do_not_depend_on_threads_or_widths() {
    let draws = prior_draws(40);
    for method in methods() {
        let pilot = Pilot { moves: 4, ..Pilot::new(method) };
        let tune = |how| {
            tune(&mut Driver::new(Lanes(model()), how), &draws, &pilot, key(4), &Control::default()).expect("kernels")
        };
        let reference = tune(parallelism(1, 64));
        assert_eq!(tune(parallelism(2, 7)), reference);
        assert_eq!(tune(parallelism(1, 1)), reference);
    }
}

/// The conjugate model, which says that the width of μ depends on log τ.
#[derive(Clone)]
struct Hierarchical(NormalGamma);

impl Pointwise for Hierarchical {
    fn dimension(&self) -> usize {
        2
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        self.0.at(x, beta, gradient)
    }

    fn hyperparameters(&self) -> Vec<usize> {
        vec![1]
    }
}

/// Kernels that move μ relative to its width leave the posterior invariant, in any batches: exact draws stay exact.
/// Kolmogorov and Smirnov's test at 10⁻⁶, four times. With few data the width of μ follows τ nearly as in the prior, so
/// that the charts are no identity.
#[test]
fn kernels_in_charts_leave_the_posterior_invariant() {
    const CHAINS: u32 = 4000;
    let model = NormalGamma { y: vec![0.3, -0.4] };
    let target = Lanes(Hierarchical(model.clone()));
    let exact = model.posterior(1.0);
    let starts: Vec<Vec<f64>> = (0..CHAINS).map(|k| exact.draw(&mut key(13).chain(k).stream()).to_vec()).collect();
    let control = Control::default();
    for method in &methods()[..2] {
        let pilot = Pilot { moves: 4, ..Pilot::new(*method) };
        let tune = |how| {
            tune(&mut Driver::new(target.clone(), how), &prior_draws(64), &pilot, key(14), &control).expect("kernels")
        };
        let kernels = tune(parallelism(1, 64));
        assert_eq!(tune(parallelism(2, 7)), kernels);
        let scales = kernels.scales().expect("a group");
        assert_eq!((&scales.base[..], &scales.groups[0].members[..]), (&[1][..], &[0][..]));
        assert_eq!(scales.groups[0].slopes, [-0.5]);
        let last = &kernels.knots()[kernels.knots().len() - 1];
        assert!(last.frame.share[0] > 0.1, "{last:?}");
        let copy: TunedKernels =
            serde_json::from_str(&serde_json::to_string(&kernels).expect("JSON")).expect("kernels");
        assert_eq!(copy, kernels);
        let run = |starts: &[Vec<f64>], first, how| {
            equilibrate(&mut Driver::new(target.clone(), how), &kernels, starts, 3, (first, key(15)), &control)
                .expect("draws")
        };
        let ends = run(&starts, 0, parallelism(1, 64));
        assert_eq!(run(&starts[7..9], 7, parallelism(2, 1)), ends[7..9]);
        for i in 0..2 {
            common::assert_uniform(&format!("{method:?} {i}"), ends.iter().map(|q| exact.pivots(q)[i]).collect());
        }
    }
}

/// E[w] = p(y) forward and 1/p(y) in reverse, with kernels in charts: the means of 500 weights at 5 standard errors,
/// two of them; were they normal, a false alarm would have the probability 10⁻⁶.
#[test]
fn weights_of_chains_in_charts_are_unbiased() {
    const CHAINS: u32 = 500;
    let model = NormalGamma { y: vec![0.3, -0.4, 1.0] };
    let target = Lanes(Hierarchical(model.clone()));
    let control = Control::default();
    let method = methods()[1];
    let how = Parallelism::default();
    let mut driver = Driver::new(target, how);
    let kernels = tune(&mut driver, &prior_draws(64), &Pilot::new(method), key(16), &control).expect("kernels");
    assert!(kernels.scales().is_some());
    let schedule = Schedule::from_pilot(12, &kernels).expect("a schedule");
    // Z_β = ∫ τ^(a + ½ + n/2 − 1) … : Γ(shape) rate^(−shape) (2π/weight)^½, in the constants of `NormalGamma::at`.
    let log_z = |beta: f64| {
        let n = beta * 3.0;
        let mean = model.y.iter().sum::<f64>() / 3.0;
        let squares: f64 = model.y.iter().map(|y| (y - mean).powi(2)).sum();
        let (shape, weight) = (common::SHAPE + 0.5 * n, 1.0 + n);
        let rate = common::RATE + 0.5 * beta * squares + 0.5 * n / weight * mean * mean;
        crust_math::special::lgamma(shape) - shape * rate.ln() - 0.5 * weight.ln()
    };
    let truth = log_z(1.0) - log_z(0.0);
    let exact = model.posterior(1.0);
    for direction in [Direction::Forward, Direction::Reverse] {
        let starts: Vec<Vec<f64>> = match direction {
            Direction::Forward => prior_draws(CHAINS + 64).split_off(64),
            Direction::Reverse => (0..CHAINS).map(|k| exact.draw(&mut key(17).chain(k).stream()).to_vec()).collect(),
        };
        let run = Launch { direction, first_chain: 0, key: key(18), how, control: &control };
        let outcomes = anneal_target(&mut driver, &kernels, &schedule, &starts, &run).expect("chains");
        let sign = if direction == Direction::Forward { 1.0 } else { -1.0 };
        let ratios: Vec<f64> = outcomes.iter().map(|chain| (chain.log_weight - sign * truth).exp()).collect();
        let n = f64::from(CHAINS);
        let mean = ratios.iter().sum::<f64>() / n;
        let error = ratios.iter().map(|w| (w - mean).powi(2)).sum::<f64>().sqrt() / n;
        assert!(error < 0.05 && (mean - 1.0).abs() < 5.0 * error, "{direction:?}: {mean} ± {error}");
    }
}

/// y ~ uniform(0, x), x ~ exponential(1) in the coordinate log x: the likelihood is 0 below y. E[w] is still p(y) =
/// E₁(y).
#[derive(Clone)]
struct Uniform {
    y: f64,
    not_a_number: bool,
}

impl Pointwise for Uniform {
    fn dimension(&self) -> usize {
        1
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let scale = x[0].exp();
        gradient[0] = 1.0 - scale - beta;
        let outside = if self.not_a_number { f64::NAN } else { f64::NEG_INFINITY };
        (x[0] - scale, if scale < self.y { outside } else { -x[0] })
    }
}

/// Chains outside of the support have weight 0 and stay in the average. 4 standard errors: the false-alarm rate is 4 ·
/// 6·10⁻⁵.
#[test]
fn chains_outside_of_the_support_have_weight_zero() {
    const CHAINS: u32 = 4000;
    // E₁(0.7), the exponential integral.
    const TRUTH: f64 = 0.373_768_843_233_509_8;
    let starts: Vec<Vec<f64>> =
        (0..CHAINS).map(|k| vec![key(6).chain(k).stream().exponential(1.0).expect("a rate").ln()]).collect();
    let schedule = Schedule::linear(6).expect("a schedule");
    for (not_a_number, method) in
        [(false, methods()[1]), (true, methods()[1]), (true, methods()[2]), (true, methods()[0])]
    {
        let target = Lanes(Uniform { y: 0.7, not_a_number });
        let kernel = Kernel { method, step_size: 0.5, jitter: 0.0, short: 0.0, metric: Metric::Unit };
        let kernels = TunedKernels::constant(&kernel, 1).expect("kernels");
        let control = Control::default();
        let how = Parallelism::default();
        let run = Launch { direction: Direction::Forward, first_chain: 0, key: key(7), how, control: &control };
        let mut driver = Driver::new(target, how);
        let outcomes = anneal_target(&mut driver, &kernels, &schedule, &starts, &run).expect("chains");
        let n = f64::from(CHAINS);
        let rejected = outcomes.iter().filter(|outcome| outcome.rejected).count();
        // P(x < y) = 1 − e^(−0.7).
        assert!((count(rejected) / n - 0.503).abs() < 0.03, "{rejected}");
        assert!(outcomes.iter().all(|outcome| outcome.rejected == (outcome.log_weight == f64::NEG_INFINITY)));
        let weights: Vec<f64> = outcomes.iter().map(|outcome| outcome.log_weight.exp()).collect();
        let mean = weights.iter().sum::<f64>() / n;
        let error = (weights.iter().map(|w| (w - mean).powi(2)).sum::<f64>()).sqrt() / n;
        assert!((mean - TRUTH).abs() < 4.0 * error, "{mean} ± {error}");
        // An exact start of a reverse chain is inside; one that is not is no chain.
        let starts = [vec![0.5], vec![-3.0]];
        let run = Launch { direction: Direction::Reverse, ..run };
        let outcomes = anneal_target(&mut driver, &kernels, &schedule, &starts, &run).expect("chains");
        assert!(!outcomes[0].rejected && outcomes[0].log_weight.is_finite());
        assert!(outcomes[1].rejected && outcomes[1].evaluations == 1);
    }
}

/// A likelihood that no prior draw can reach is an error that says so.
#[test]
fn a_likelihood_of_zero_everywhere_is_an_error() {
    let target = Lanes(Uniform { y: 1e9, not_a_number: true });
    let draws: Vec<Vec<f64>> = vec![vec![0.1]; 20];
    let mut driver = Driver::new(target, Parallelism::default());
    let tuned = tune(&mut driver, &draws, &Pilot::default(), key(8), &Control::default());
    let Err(error @ Error::NoLikelihood { draws: 20, .. }) = tuned else { panic!("{tuned:?}") };
    assert!(error.to_string().contains("outside") && error.to_string().contains("prior"));
}

#[test]
fn bad_input_is_refused() {
    let kernels = kernels(methods()[1]);
    let control = Control::default();
    let how = Parallelism::default();
    let run = Launch { direction: Direction::Forward, first_chain: 0, key: key(1), how, control: &control };
    let schedule = Schedule::linear(4).expect("a schedule");
    let mut driver = Driver::new(Lanes(model()), how);
    assert!(anneal_target(&mut driver, &kernels, &schedule, &[vec![0.0]], &run).is_err());
    let mut other = Driver::new(Lanes(Uniform { y: 1.0, not_a_number: false }), how);
    assert!(anneal_target(&mut other, &kernels, &schedule, &[vec![0.0]], &run).is_err());
    let few = tune(&mut driver, &prior_draws(3), &Pilot::default(), key(1), &control);
    assert!(matches!(few, Err(Error::Setting { .. })));
    for bad in [
        Pilot { delta: 1.0, ..Pilot::default() },
        Pilot { jitter: 1.0, ..Pilot::default() },
        Pilot { moves: 0, ..Pilot::default() },
        Pilot { longest: 0.0, ..Pilot::default() },
    ] {
        assert!(tune(&mut driver, &prior_draws(10), &bad, key(1), &control).is_err());
    }
    let knot = |beta, step_size| Knot {
        beta,
        step_size,
        variance: vec![1.0],
        accept: 0.8,
        length: beta,
        frame: Frame::default(),
    };
    for bad in
        [vec![], vec![knot(0.0, 1.0)], vec![knot(0.0, 1.0), knot(1.0, 0.0)], vec![knot(0.1, 1.0), knot(1.0, 1.0)]]
    {
        assert!(TunedKernels::new(methods()[1], 0.0, bad).is_err());
    }
    control.interrupt();
    assert!(matches!(anneal_target(&mut driver, &kernels, &schedule, &prior_draws(2), &run), Err(Error::Interrupted)));
    let tuned = tune(&mut driver, &prior_draws(10), &Pilot::default(), key(1), &control);
    assert!(matches!(tuned, Err(Error::Interrupted)));
}

/// The pilot reaches the acceptance rate, finds the spread of the posterior, and its schedule rises evenly in length.
#[test]
fn the_pilot_tunes() {
    let model = model();
    for method in methods() {
        let pilot = Pilot { longest: 100.0, ..Pilot::new(method) };
        let draws = prior_draws(100);
        let mut driver = Driver::new(Lanes(model.clone()), Parallelism::default());
        let kernels = tune(&mut driver, &draws, &pilot, key(9), &Control::default()).expect("kernels");
        let exact = model.posterior(1.0);
        let sample: Vec<[f64; 2]> = (0..2000).map(|k| exact.draw(&mut key(10).chain(k).stream())).collect();
        let last = &kernels.knots()[kernels.knots().len() - 1];
        for i in 0..2 {
            let mean = sample.iter().map(|x| x[i] / 2000.0).sum::<f64>();
            let variance = sample.iter().map(|x| (x[i] - mean).powi(2) / 2000.0).sum::<f64>();
            assert!((0.5..2.0).contains(&(last.variance[i] / variance)), "{method:?} {i}: {last:?} {variance}");
        }
        assert!((last.accept - pilot.delta).abs() < 0.1, "{method:?}: {last:?}");
        let schedule = Schedule::from_pilot(50, &kernels).expect("a schedule");
        assert_eq!(schedule.len(), 50);
        // The prior is wider than the posterior: small steps come first.
        assert!(schedule.beta(2) < 0.02 && schedule.beta(49) > 0.8, "{schedule:?}");
    }
}

/// Exact draws stay exact: the mean of the first coordinate, at 4 standard errors.
#[test]
fn equilibration_leaves_the_posterior_invariant() {
    const CHAINS: u32 = 2000;
    let model = model();
    let exact = model.posterior(1.0);
    let starts: Vec<Vec<f64>> = (0..CHAINS).map(|k| exact.draw(&mut key(11).chain(k).stream()).to_vec()).collect();
    for method in methods() {
        let kernels = kernels(method);
        let control = Control::default();
        let run = |starts: &[Vec<f64>], first, steps, how| {
            equilibrate(
                &mut Driver::new(Lanes(model.clone()), how),
                &kernels,
                starts,
                steps,
                (first, key(12)),
                &control,
            )
            .expect("draws")
        };
        let ends = run(&starts, 0, 5, parallelism(1, 64));
        assert_eq!(run(&starts[7..9], 7, 5, parallelism(2, 1)), ends[7..9]);
        assert_eq!(run(&starts[..2], 0, 0, parallelism(1, 1)), starts[..2]);
        for i in 0..2 {
            let uniform = |q: &Vec<f64>| exact.pivots(q)[i];
            let mean = ends.iter().map(uniform).sum::<f64>() / f64::from(CHAINS);
            assert!((mean - 0.5).abs() < 4.0 * (1.0 / 12.0 / f64::from(CHAINS)).sqrt(), "{method:?}: {mean}");
        }
        let bad = equilibrate(
            &mut Driver::new(Lanes(Uniform { y: 1.0, not_a_number: true }), Parallelism::default()),
            &TunedKernels::constant(
                &Kernel { method, step_size: 0.1, jitter: 0.0, short: 0.0, metric: Metric::Unit },
                1,
            )
            .expect("kernels"),
            &[vec![-1.0]],
            3,
            (0, key(12)),
            &control,
        );
        assert!(matches!(bad, Err(Error::Initial { chain: 0, .. })));
    }
}
