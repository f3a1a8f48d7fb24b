//! The sandwich on problems whose marginal likelihood is known: it holds at the rates that theory states, and planted
//! bugs break it.

use crust_infer::anneal::{
    ChainOutcome, Direction, Launch, Pilot, Schedule, TunedKernels, anneal_target, equilibrate, tune,
};
use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::kernel::{Kernel, Length, MAX_ENERGY_ERROR, Method};
use crust_infer::metric::Metric;
use crust_math::random::{Purpose, Stream, StreamKey};
use crust_testbed::pointwise::{Lanes, Pointwise};
use crust_testbed::positive::{Jacobian, Positive};
use crust_testbed::regression::{Regression, Simulated};
use crust_testbed::scale::{Scale, Simulator};

const HOW: Parallelism =
    Parallelism { threads: std::num::NonZero::<usize>::MIN, width: std::num::NonZero::<usize>::MIN };

/// A model with its closed forms.
trait Conjugate: Pointwise + Clone + Send {
    fn prior(&self, stream: &mut Stream) -> Vec<f64>;
    fn log_marginal_likelihood(&self) -> f64;
}

impl Conjugate for Regression {
    fn prior(&self, stream: &mut Stream) -> Vec<f64> {
        self.draw_prior(stream)
    }

    fn log_marginal_likelihood(&self) -> f64 {
        self.log_normaliser(1.0)
    }
}

impl Conjugate for Scale {
    fn prior(&self, stream: &mut Stream) -> Vec<f64> {
        self.draw_prior(stream)
    }

    fn log_marginal_likelihood(&self) -> f64 {
        self.log_normaliser(1.0)
    }
}

fn anneal<M: Conjugate>(
    model: &M,
    kernels: &TunedKernels,
    schedule: &Schedule,
    starts: &[Vec<f64>],
    direction: Direction,
    key: StreamKey,
) -> Vec<ChainOutcome> {
    let purpose = if direction == Direction::Forward { Purpose::FORWARD } else { Purpose::REVERSE };
    let control = Control::default();
    let run = Launch { direction, first_chain: 0, key: key.purpose(purpose), how: HOW, control: &control };
    anneal_target(&mut Driver::new(Lanes(model.clone()), HOW), kernels, schedule, starts, &run).expect("chains")
}

fn prior_draws<M: Conjugate>(model: &M, chains: u32, key: StreamKey) -> Vec<Vec<f64>> {
    (0..chains).map(|k| model.prior(&mut key.purpose(Purpose::PRIOR).chain(k).stream())).collect()
}

/// log w − log p(y) of one forward chain, and −log w − log p(y) of one reverse chain from the exact draw, for a
/// problem.
fn one_chain_each<M: Conjugate>(problem: &Simulated<M>, schedule: &Schedule, key: StreamKey) -> (f64, f64) {
    let model = &problem.model;
    let kernels = TunedKernels::constant(&hmc(2, 0.4), model.dimension()).expect("kernels");
    let forward = anneal(model, &kernels, schedule, &prior_draws(model, 1, key), Direction::Forward, key);
    let reverse = anneal(model, &kernels, schedule, std::slice::from_ref(&problem.truth), Direction::Reverse, key);
    let truth = model.log_marginal_likelihood();
    (forward[0].log_weight - truth, -reverse[0].log_weight - truth)
}

/// Errors of forward and reverse estimates over independent problems, half of each kind.
fn errors(problems: u32, schedule: &Schedule, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let one = |i: u32| {
        let key = StreamKey::new(seed, Purpose::TEST).dataset(i);
        if i.is_multiple_of(2) {
            one_chain_each(&Regression::random(key), schedule, key)
        } else {
            one_chain_each(&Scale::random(key), schedule, key)
        }
    };
    (0..problems).map(one).unzip()
}

/// The smallest m with P(X > m) ≤ `alarm` for X ~ Binomial(n, p).
fn binomial_quantile(n: u32, p: f64, alarm: f64) -> u32 {
    let mut log_term = f64::from(n) * (-p).ln_1p();
    let mut below = 0.0;
    for m in 0..=n {
        below += log_term.exp();
        if 1.0 - below <= alarm {
            return m;
        }
        log_term += (f64::from(n - m) / f64::from(m + 1)).ln() + p.ln() - (-p).ln_1p();
    }
    n
}

/// The mean, and its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = f64::from(u32::try_from(values.len()).expect("few"));
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt())
}

/// Markov: P(log w > log p(y) + a) ≤ e⁻ᵃ, and for reverse chains P(−log w < log p(y) − a) ≤ e⁻ᵃ, so that the number of
/// such chains among independent problems is at most binomial; four values of a in two directions for three schedules,
/// each at 10⁻⁷. Jensen: the mean error is not positive, not negative in reverse; six tests at 5 standard errors,
/// 3·10⁻⁷ each. The false-alarm rate is below 5·10⁻⁶ in all.
#[test]
fn bounds_hold_at_the_rates_of_theory() {
    const PROBLEMS: u32 = 1000;
    let mut before = f64::INFINITY;
    for (distributions, seed) in [(2, 1), (4, 2), (12, 3)] {
        let schedule = Schedule::linear(distributions).expect("a schedule");
        let (forward, reverse) = errors(PROBLEMS, &schedule, seed);
        for a in [0.25, 0.5, 1.0, 2.0_f64] {
            let limit = binomial_quantile(PROBLEMS, (-a).exp(), 1e-7);
            let above = forward.iter().filter(|e| **e > a).count();
            let below = reverse.iter().filter(|e| **e < -a).count();
            assert!(above <= limit as usize, "T = {distributions}: {above} forward chains above by {a}, limit {limit}");
            assert!(below <= limit as usize, "T = {distributions}: {below} reverse chains below by {a}, limit {limit}");
        }
        let ((lower, lower_error), (upper, upper_error)) = (mean(&forward), mean(&reverse));
        assert!(lower < 5.0 * lower_error, "T = {distributions}: {lower} ± {lower_error}");
        assert!(upper > -5.0 * upper_error, "T = {distributions}: {upper} ± {upper_error}");
        // The test can see something: there is a gap, and it closes.
        assert!(lower < -lower_error && upper > upper_error, "{lower} {upper}");
        assert!(upper - lower < 0.7 * before, "{lower} {upper}, before {before}");
        before = upper - lower;
    }
}

impl Conjugate for Positive {
    fn prior(&self, stream: &mut Stream) -> Vec<f64> {
        self.draw_prior(stream)
    }

    fn log_marginal_likelihood(&self) -> f64 {
        self.log_marginal_likelihood()
    }
}

/// The gap between the means of reverse and forward chains on one simulated dataset, and its standard error. Reverse
/// chains share their start.
fn gap<M: Conjugate>(
    problem: &Simulated<M>,
    kernels: &TunedKernels,
    schedule: &Schedule,
    key: StreamKey,
) -> (f64, f64) {
    const CHAINS: u32 = 100;
    let model = &problem.model;
    let starts = prior_draws(model, CHAINS, key);
    let forward = anneal(model, kernels, schedule, &starts, Direction::Forward, key);
    let starts = vec![problem.truth.clone(); CHAINS as usize];
    let reverse = anneal(model, kernels, schedule, &starts, Direction::Reverse, key);
    let ((lower, e1), (upper, e2)) = (mean(&logs(&forward, 1.0)), mean(&logs(&reverse, -1.0)));
    (upper - lower, e1.hypot(e2))
}

fn logs(outcomes: &[ChainOutcome], sign: f64) -> Vec<f64> {
    outcomes.iter().map(|outcome| sign * outcome.log_weight).collect()
}

/// What a pilot run with other draws of the prior makes.
fn tuned<M: Conjugate>(model: &M, pilot: &Pilot, key: StreamKey) -> TunedKernels {
    let draw = |k: u32| model.prior(&mut key.purpose(Purpose::INITIAL).chain(k).stream());
    let draws: Vec<Vec<f64>> = (0..64).map(draw).collect();
    let key = key.purpose(Purpose::PILOT);
    tune(&mut Driver::new(Lanes(model.clone()), HOW), &draws, pilot, key, &Control::default()).expect("kernels")
}

fn hmc(steps: u32, step_size: f64) -> Kernel {
    let method = Method::Hmc { length: Length::Steps(steps), max_energy_error: MAX_ENERGY_ERROR };
    Kernel { method, step_size, jitter: 0.5, short: 0.0, metric: Metric::Unit }
}

/// A correct program has E[log w forward] ≤ E[−log w reverse]. A simulator with the wrong scale turns that around on
/// every dataset, by more than 5 standard errors, so that a violation test finds it. With the right one the same
/// numbers are in order.
#[test]
fn a_wrong_simulator_turns_the_sandwich_inside_out() {
    // Short moves: reverse chains move before they are weighed, and one that forgets its start at once hides what is
    // wrong with it.
    let slow = Pilot { longest: 0.4, ..Pilot::new(hmc(1, 0.1).method) };
    for dataset in 0..5 {
        let key = StreamKey::new(7, Purpose::TEST).dataset(dataset);
        for (simulator, violated) in [(Simulator::Right, false), (Simulator::WrongScale, true)] {
            let problem = Scale::simulate(3.0, 3.0, 300, simulator, &mut key.stream());
            let kernels = tuned(&problem.model, &slow, key);
            let schedule = Schedule::from_pilot(60, &kernels).expect("a schedule");
            let (gap, error) = gap(&problem, &kernels, &schedule, key);
            assert_eq!(gap < -5.0 * error, violated, "{simulator:?} {dataset}: the gap is {gap} ± {error}");
        }
    }
}

/// A kernel whose density lacks a Jacobian does the same, where the data are weak.
#[test]
fn a_missing_jacobian_turns_the_sandwich_inside_out() {
    let schedule = Schedule::linear(4).expect("a schedule");
    for dataset in 0..5 {
        let key = StreamKey::new(8, Purpose::TEST).dataset(dataset);
        for (jacobian, violated) in [(Jacobian::Present, false), (Jacobian::Missing, true)] {
            let problem = Positive::simulate(100, 3.0, 6.0, jacobian, &mut key.stream());
            // A quarter of a revolution without jitter: all 100 parameters forget at once.
            let kernel = Kernel { jitter: 0.0, ..hmc(4, 1.2) };
            let kernels = TunedKernels::constant(&kernel, 100).expect("kernels");
            let (gap, error) = gap(&problem, &kernels, &schedule, key);
            assert_eq!(gap < -5.0 * error, violated, "{jacobian:?} {dataset}: the gap is {gap} ± {error}");
        }
    }
}

/// The whole of it on a regression with N = 200, K = 10, with the pilot's kernels and schedule. The bounds from 64
/// chains are e⁻⁷ sure to be no further than 7 nats on the wrong side, and much closer in fact.
#[test]
fn a_regression_is_sandwiched() {
    let key = StreamKey::new(5, Purpose::TEST);
    for prior_deviation in [1.0, 100.0] {
        let problem = Regression::simulate(200, 10, prior_deviation, 1.0, &mut key.stream());
        let model = &problem.model;
        let kernels = tuned(model, &Pilot::default(), key);
        let truth = model.log_marginal_likelihood();
        let mut before = f64::INFINITY;
        for (distributions, t) in [(100, 100.0), (400, 400.0)] {
            let schedule = Schedule::from_pilot(distributions, &kernels).expect("a schedule");
            let starts = prior_draws(model, 64, key);
            let forward = anneal(model, &kernels, &schedule, &starts, Direction::Forward, key);
            let starts = vec![problem.truth.clone(); 64];
            let reverse = anneal(model, &kernels, &schedule, &starts, Direction::Reverse, key);
            let ((lower, e1), (upper, e2)) = (mean(&logs(&forward, 1.0)), mean(&logs(&reverse, -1.0)));
            assert!(lower < truth + 4.0 * e1 && upper > truth - 4.0 * e2, "{lower} {truth} {upper}");
            assert!(upper - lower < 0.6 * before, "{lower} {upper}");
            before = upper - lower;
            // The gap is about the square of the thermodynamic length over T, if kernels forget at once.
            assert!(before * t < 4.0 * kernels.length().powi(2), "{before}");
            let mild = forward.iter().chain(&reverse).all(|outcome| outcome.accept > 0.6 && !outcome.rejected);
            assert!(mild, "chains are well tuned");
        }
        assert!(prior_deviation > 1.0 || before < 1.0, "{before}");
    }
}

/// S transitions from the generating values are draws of the posterior as before: the mean over problems of the
/// posterior's distribution function is ½, at 4 standard errors.
#[test]
fn equilibration_keeps_exact_draws_exact() {
    let control = Control::default();
    let z = |i: u32| {
        let key = StreamKey::new(6, Purpose::TEST).dataset(i);
        let problem = Regression::random(key);
        let d = problem.truth.len();
        let kernels = TunedKernels::constant(&hmc(2, 0.3), d).expect("kernels");
        let target = Lanes(problem.model.clone());
        let mut driver = Driver::new(target, HOW);
        let ends = equilibrate(&mut driver, &kernels, &[problem.truth], 10, (0, key), &control).expect("draws");
        let exact = problem.model.draw(1.0, &mut key.purpose(Purpose::DATA).stream());
        f64::from(u8::from(ends[0][0] > exact[0]))
    };
    let above: Vec<f64> = (0..1000).map(z).collect();
    let (mean, error) = mean(&above);
    assert!((mean - 0.5).abs() < 4.0 * error, "{mean} ± {error}");
}
