//! Annealing along a path that is not geometric: observations are added one at a time.

mod common;

use common::one_by_one::{OneByOne, anneal, kernels, methods, prior_draws, states};
use common::{NormalGamma, Pointwise, count, key, parallelism, path};
use crust_infer::anneal::{Direction, Launch, Pilot, Schedule, Subset, anneal_system, tune};
use crust_infer::drive::{Control, Driver, Parallelism};

/// The subsets of y. What it says of β is log prior and (what has been added so far)/β.
#[derive(Clone)]
struct OneAtATime(NormalGamma);

impl Pointwise for OneAtATime {
    fn dimension(&self) -> usize {
        2
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let Subset { whole, part } = Subset::at(beta, self.0.y.len());
        let first = |n: usize| NormalGamma { y: self.0.y[..n].to_vec() };
        let (mut low, mut high) = ([0.0; 2], [0.0; 2]);
        let (log_prior, at_low) = first(whole).at(x, 1.0, &mut low);
        let at_high = if part > 0.0 { first(whole + 1).at(x, 1.0, &mut high).1 } else { 0.0 };
        for i in 0..2 {
            gradient[i] = (1.0 - part) * low[i] + part * high[i];
        }
        let likelihood = (1.0 - part) * at_low + part * at_high;
        (log_prior, if beta > 0.0 { likelihood / beta } else { 0.0 })
    }

    fn is_geometric(&self) -> bool {
        false
    }
}

fn model() -> OneAtATime {
    OneAtATime(NormalGamma { y: vec![1.3, 0.4, 2.2, 0.9, 1.1, -0.3, 2.0] })
}

/// Same order, same β, same streams as the code for systems, where the schedule meets whole subsets and where it does
/// not.
#[test]
fn batched_chains_are_those_of_a_system() {
    for schedule in [Schedule::data_subset(7, 2).expect("a schedule"), Schedule::sigmoid(12, 4.0).expect("a schedule")]
    {
        for (method, direction) in
            methods().into_iter().flat_map(|m| [(m, Direction::Forward), (m, Direction::Reverse)])
        {
            let kernels = kernels(method);
            let starts = prior_draws(9);
            let batched = anneal(model(), &kernels, &schedule, direction, (&starts, 2, parallelism(1, 4)));
            assert_eq!(batched, anneal(model(), &kernels, &schedule, direction, (&starts, 2, parallelism(2, 7))));
            let starts = states(&starts, method);
            let control = Control::default();
            let run = Launch { direction, first_chain: 2, key: key(3), how: parallelism(2, 1), control: &control };
            let one_by_one = anneal_system(&OneByOne { model: model(), kernels: &kernels }, &schedule, &starts, &run)
                .expect("chains");
            for (a, b) in batched.iter().zip(&one_by_one) {
                assert_eq!(a.last, b.last.q, "{method:?} {direction:?}");
                assert!((a.log_weight - b.log_weight).abs() < 1e-10);
                // Each weighing is an evaluation, which the next move uses, and there is one at the start.
                let moves = u64::try_from(schedule.len()).expect("a number") - 1;
                assert_eq!(a.evaluations, b.evaluations + moves + 1);
            }
        }
    }
}

/// With two distributions there is nothing between prior and posterior, and both paths are the same.
#[test]
fn without_anything_between_all_paths_are_the_same() {
    let schedule = Schedule::linear(2).expect("a schedule");
    for direction in [Direction::Forward, Direction::Reverse] {
        let (kernels, starts) = (kernels(methods()[1]), prior_draws(9));
        let subset = anneal(model(), &kernels, &schedule, direction, (&starts, 2, parallelism(1, 4)));
        let geometric = anneal(model().0, &kernels, &schedule, direction, (&starts, 2, parallelism(1, 4)));
        for (a, b) in subset.iter().zip(&geometric) {
            assert!(
                (a.log_weight - b.log_weight).abs() < 1e-10
                    && a.last.iter().zip(&b.last).all(|(a, b)| (a - b).abs() < 1e-10)
            );
        }
    }
}

/// E[w] is the ratio of normalisers, by the formula for conjugate priors, with kernels that a pilot run has tuned on
/// this path. 5 standard errors in both directions: false alarms below 2·10⁻⁶ each for normal means, and weights here
/// have light tails.
#[test]
fn weights_are_unbiased() {
    const CHAINS: u32 = 800;
    let (control, how) = (Control::default(), Parallelism::default());
    let mut driver = Driver::new(path(model()), how);
    let kernels = tune(&mut driver, &prior_draws(64), &Pilot::default(), key(16), &control).expect("kernels");
    let schedule = Schedule::from_pilot(16, &kernels).expect("a schedule");
    let y = &model().0.y;
    let log_z = |n: usize| {
        let mean = y[..n].iter().sum::<f64>() / count(n.max(1));
        let squares: f64 = y[..n].iter().map(|y| (y - mean).powi(2)).sum();
        let (shape, weight) = (common::SHAPE + 0.5 * count(n), 1.0 + count(n));
        let rate = common::RATE + 0.5 * squares + 0.5 * count(n) / weight * mean * mean;
        crust_math::special::lgamma(shape) - shape * rate.ln() - 0.5 * weight.ln()
    };
    let truth = log_z(y.len()) - log_z(0);
    let exact = model().0.posterior(1.0);
    for (direction, sign) in [(Direction::Forward, 1.0), (Direction::Reverse, -1.0)] {
        let starts: Vec<Vec<f64>> = match direction {
            Direction::Forward => prior_draws(CHAINS + 64).split_off(64),
            Direction::Reverse => (0..CHAINS).map(|k| exact.draw(&mut key(17).chain(k).stream()).to_vec()).collect(),
        };
        let outcomes = anneal(model(), &kernels, &schedule, direction, (&starts, 2, how));
        let ratios: Vec<f64> = outcomes.iter().map(|chain| (chain.log_weight - sign * truth).exp()).collect();
        let n = f64::from(CHAINS);
        let mean = ratios.iter().sum::<f64>() / n;
        let error = ratios.iter().map(|w| (w - mean).powi(2)).sum::<f64>().sqrt() / n;
        assert!(error < 0.06 && (mean - 1.0).abs() < 5.0 * error, "{direction:?}: {mean} ± {error}");
    }
}
