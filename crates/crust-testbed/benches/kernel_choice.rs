//! Which kernel closes the sandwich with the fewest gradients? Behind the default of `Pilot`, see docs/anneal.md.
#![allow(clippy::print_stdout, reason = "a table for people")]

use std::num::NonZero;

use crust_infer::anneal::{Direction, Launch, Pilot, Schedule, anneal_target, tune};
use crust_infer::drive::{Control, Driver, Parallelism};
use crust_infer::kernel::{Length, MAX_ENERGY_ERROR, Method};
use crust_math::random::{Purpose, Stream, StreamKey};
use crust_testbed::logistic::Logistic;
use crust_testbed::pointwise::{Lanes, Pointwise};
use crust_testbed::regression::{Regression, Simulated};
use crust_testbed::scales::Scales;

const CHAINS: u32 = 64;
/// Evaluations of one chain.
const BUDGET: u64 = 1000;

fn main() {
    let key = StreamKey::new(1, Purpose::TEST);
    let mut stream = key.stream();
    let regression = Regression::simulate(200, 10, 1.0, 1.0, &mut stream);
    let wide = Regression::simulate(200, 10, 100.0, 1.0, &mut stream);
    let logistic = Logistic::simulate(50, 10, 1.0, 0.0, &mut stream);
    let correlated = Logistic::simulate(50, 10, 2.0, 0.9, &mut stream);
    let large = Logistic::simulate(100, 40, 1.0, 0.3, &mut stream);
    let scales = Scales::simulate(200, 5, &mut stream);
    println!(
        "{:36}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}",
        "B-hat at 1000 evaluations", "regr", "wide", "logit", "corr", "large", "scales"
    );
    let hmc = |n| Method::Hmc { length: Length::Steps(n), max_energy_error: MAX_ENERGY_ERROR };
    let mut rows: Vec<(String, Pilot)> = vec![];
    for n in [1, 2, 3, 4, 6] {
        for (delta, longest) in [(0.65, 1.57), (0.8, 1.2), (0.8, 1.57), (0.8, 2.2)] {
            let name = format!("HMC {n} steps, delta {delta}, time {longest}");
            rows.push((name, Pilot { delta, longest, most_steps: n, ..Pilot::new(hmc(n)) }));
        }
    }
    for (jitter, longest) in [(0.0, 1.57), (0.6, 1.57), (0.9, 2.2)] {
        rows.push((
            format!("HMC 3 steps, jitter {jitter}"),
            Pilot { jitter, longest, most_steps: 3, ..Pilot::new(hmc(3)) },
        ));
    }
    let nuts = Method::Nuts { max_depth: 6, max_energy_error: MAX_ENERGY_ERROR };
    for delta in [0.65, 0.8] {
        rows.push((format!("NUTS, delta {delta}"), Pilot { delta, ..Pilot::new(nuts) }));
    }
    rows.push(("Metropolis".into(), Pilot::new(Method::Metropolis)));
    for (name, pilot) in rows {
        let r = |p: &Simulated<Regression>| gap(p, Regression::draw_prior, &pilot, key);
        let l = |p: &Simulated<Logistic>| gap(p, Logistic::draw_prior, &pilot, key);
        let scales = gap(&scales, Scales::draw_prior, &pilot, key);
        let gaps = [r(&regression), r(&wide), l(&logistic), l(&correlated), l(&large), scales];
        println!("{name:36}{}", gaps.map(|g| format!("{g:8.3}")).concat());
    }
}

/// B̂ with the adaptive schedule whose chains use up the budget.
fn gap<P: Pointwise + Clone + Send>(
    problem: &Simulated<P>,
    draw_prior: impl Fn(&P, &mut Stream) -> Vec<f64>,
    pilot: &Pilot,
    key: StreamKey,
) -> f64 {
    let target = Lanes(problem.model.clone());
    let prior = key.purpose(Purpose::PRIOR);
    let draws = |from: u32| -> Vec<Vec<f64>> {
        (from..from + CHAINS).map(|k| draw_prior(&problem.model, &mut prior.chain(k).stream())).collect()
    };
    let how = Parallelism { threads: NonZero::<usize>::MIN, width: NonZero::<usize>::MIN };
    let control = Control::default();
    let mut driver = Driver::new(target, how);
    let kernels = tune(&mut driver, &draws(1000)[..64], pilot, key.purpose(Purpose::PILOT), &control).expect("a pilot");
    let starts = |direction| match direction {
        Direction::Forward => draws(0),
        Direction::Reverse => vec![problem.truth.clone(); CHAINS as usize],
    };
    let mut anneal = |direction, purpose, distributions| {
        let schedule = Schedule::from_pilot(distributions, &kernels).expect("a schedule");
        let run = Launch { direction, first_chain: 0, key: key.purpose(purpose), how, control: &control };
        let outcomes = anneal_target(&mut driver, &kernels, &schedule, &starts(direction), &run).expect("chains");
        let n = f64::from(CHAINS);
        let mean = outcomes.iter().map(|outcome| outcome.log_weight / n).sum::<f64>();
        (mean, outcomes.iter().map(|outcome| outcome.evaluations).sum::<u64>() / u64::from(CHAINS))
    };
    // The length of the schedule that uses up the budget, from the cost of a short one.
    let (_, cost) = anneal(Direction::Forward, Purpose::KERNEL, 101);
    let distributions = usize::try_from(BUDGET * 100 / cost).expect("small") + 1;
    -anneal(Direction::Reverse, Purpose::REVERSE, distributions).0
        - anneal(Direction::Forward, Purpose::FORWARD, distributions).0
}
