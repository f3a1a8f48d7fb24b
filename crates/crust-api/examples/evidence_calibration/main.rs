//! Calibrates `crust evidence` on problems whose log p(y) is known: the table of `docs/evidence.md`.
//!
//! ```text
//! cargo run --release -p crust-api --example evidence_calibration [-- SEEDS [PART OF A PROBLEM'S NAME [METHOD,…]]]
//! ```
//!
//! For every method: the mean error in nats, the standard deviation of (estimate − truth)/se, how often it is warned
//! though it is within 0.1 nats, and how often it is wrong without a warning. Wrong is an error beyond 4 standard errors and 0.1
//! nats; lower bounds may be low, but not far below what their errors say.

mod problems;
mod truth;

use crust_api::{Estimator, EvidenceOptions, Problem, Session, Source, evidence};
use problems::Known;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const METHODS: [Estimator; 8] = [
    Estimator::Bridge,
    Estimator::Importance,
    Estimator::Smc,
    Estimator::Ais,
    Estimator::SteppingStone,
    Estimator::Thermodynamic,
    Estimator::Nested,
    Estimator::LikelihoodWeighting,
];

/// One estimate.
struct Trial {
    error: f64,
    se: f64,
    /// Whether the user is told that something may be wrong with it.
    warned: bool,
}

impl Trial {
    /// Whether nobody needed to be warned.
    fn is_good(&self) -> bool {
        self.error.abs() <= 0.1 && self.error.abs() <= 4.0 * self.se
    }

    fn is_wrong(&self) -> bool {
        self.error.is_nan() || self.error.abs() > 4.0 * self.se + 0.1
    }
}

type Trials = BTreeMap<(String, &'static str), Vec<Trial>>;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u32 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(20);
    let part = arguments.next().unwrap_or_default();
    let chosen = arguments.next();
    let is_chosen = |method: &Estimator| chosen.as_ref().is_none_or(|list| list.split(',').any(|m| m == method.name()));
    let methods: Vec<Estimator> = METHODS.into_iter().filter(is_chosen).collect();
    let problems: Vec<Known> = problems::all().into_iter().filter(|p| p.name.contains(&part)).collect();
    let (trials, next) = (Mutex::new(Trials::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(known) = problems.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begin = std::time::Instant::now();
                    for seed in 1..=seeds {
                        if let Err(error) = run(known, seed.into(), &methods, &trials) {
                            eprintln!("{}, seed {seed}: {error}", known.name);
                        }
                    }
                    eprintln!("{}: {:.1} s a seed", known.name, begin.elapsed().as_secs_f64() / f64::from(seeds));
                }
            });
        }
    });
    let trials = trials.into_inner().unwrap_or_default();
    println!("| method | problems | mean error | sd of z | wrong | warned though good | wrong without a warning |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for method in methods.iter().map(|m| m.name()) {
        let lists: Vec<&Vec<Trial>> = trials.iter().filter(|((m, _), _)| m == method).map(|(_, list)| list).collect();
        println!("| `{method}` | {} | {} |", lists.len(), summary(lists.iter().copied().flatten()));
    }
    println!("\n| problem | method | mean error | sd of z | wrong | warned though good | wrong without a warning |");
    for ((method, problem), list) in &trials {
        println!("| {problem} | {method} | {} |", summary(list.iter()));
    }
}

fn run(known: &Known, seed: u64, methods: &[Estimator], trials: &Mutex<Trials>) -> Result<(), crust_api::Error> {
    let data = Source::text("data.json", known.data.to_string());
    let problem = Problem::read(Source::text("model.stan", known.program), Some(data))?;
    let session = Session { seed, threads: Some(std::num::NonZero::<usize>::MIN), ..Session::default() };
    let by = |methods: Vec<Estimator>| {
        evidence(&problem, &EvidenceOptions { methods, ..EvidenceOptions::default() }, &session)
    };
    // Where the likelihood is 0 at draws of the prior, thermodynamic integration is refused, and rightly.
    let others = || methods.iter().copied().filter(|m| *m != Estimator::Thermodynamic).collect();
    let found = by(methods.to_vec()).or_else(|_| by(others()))?.result;
    let mut trials = trials.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for method in &found.methods {
        let contradicted = found.warnings.iter().any(|warning| warning.contains(&format!("{} ", method.name)));
        let warned = !method.warnings.is_empty() || contradicted;
        let trial = Trial { error: method.log_ml - known.log_z, se: method.se, warned };
        trials.entry((method.name.clone(), known.name)).or_default().push(trial);
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "thousands")]
fn summary<'t>(trials: impl Iterator<Item = &'t Trial>) -> String {
    let trials: Vec<&Trial> = trials.collect();
    let n = trials.len() as f64;
    let share = |of: &dyn Fn(&Trial) -> bool| 100.0 * trials.iter().filter(|t| of(t)).count() as f64 / n;
    let mean = trials.iter().map(|t| t.error).sum::<f64>() / n;
    let squares = trials.iter().map(|t| (t.error / t.se).powi(2)).sum::<f64>() / n;
    format!(
        "{mean:+.4} | {:.2} | {:.1} % | {:.1} % | {:.1} %",
        squares.sqrt(),
        share(&Trial::is_wrong),
        share(&|t| t.is_good() && t.warned),
        share(&|t| t.is_wrong() && !t.warned)
    )
}
