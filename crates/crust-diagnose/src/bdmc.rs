//! Bidirectional Monte Carlo on simulated data: a ladder of sandwiches, and checks of the implementation.

mod checks;
mod verdict;

pub(crate) use checks::{Ladders, rank_check, violation_checks};
pub(crate) use verdict::{nats, nats_with_error};

use crate::checkpoint::{Halt, Journal};
use crate::experiment::{Experiment, Moves, Names, forward, mean_and_error, reverse, unit};
use crate::result::{Check, Dataset, KernelAt, MeanRung, Rung, RungTime, Timing, Verdict};

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// K, the number of chains in each direction.
    pub chains: usize,
    /// The ladder of T, rising.
    pub steps: Vec<usize>,
    /// The ladder ends once B̂ is at most this, in nats.
    pub tolerance: f64,
    pub datasets: u32,
    /// Transitions at β = 1 between the generating values and the start of each reverse chain. They leave the posterior
    /// invariant, so that starts stay exact and only become less dependent.
    pub start_steps: usize,
    /// How many datasets the rank check of simulator and kernels uses; 0 for none.
    pub rank_checks: u32,
    /// The bound above which the verdict is bad.
    pub acceptable: f64,
}

/// What came out, as far as the run got.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub datasets: Vec<Dataset>,
    pub mean: Vec<MeanRung>,
    pub kernels: Vec<KernelAt>,
    pub checks: Vec<Check>,
    pub violation: bool,
    pub verdict: Verdict,
    pub partial: bool,
    pub timing: Timing,
}

/// Runs the protocol. An interruption is no error: the outcome is what was finished.
pub fn bdmc<E: Experiment>(experiment: &mut E, plan: &Plan, journal: &mut Journal) -> Result<Outcome, Halt<E::Error>> {
    let names = Names { prefix: "" };
    let mut outcome = Outcome::default();
    match climb(experiment, plan, journal, names, &mut outcome) {
        Ok(()) => {}
        Err(Halt::Interrupted) => outcome.partial = true,
        Err(halt) => return Err(halt),
    }
    outcome.finish(plan, journal, names);
    Ok(outcome)
}

/// One dataset on its way up the ladder.
struct Climber<K> {
    dataset: u32,
    kernels: K,
    starts: Vec<Vec<f64>>,
}

fn climb<E: Experiment>(
    experiment: &mut E,
    plan: &Plan,
    journal: &mut Journal,
    names: Names<'_>,
    outcome: &mut Outcome,
) -> Result<(), Halt<E::Error>> {
    let mut climbers = Vec::new();
    for dataset in 1..=plan.datasets {
        let climber = prepare(experiment, plan, journal, names, dataset)?;
        if dataset == 1 {
            outcome.kernels = experiment.table(&climber.kernels);
        }
        outcome.datasets.push(Dataset { number: dataset, rungs: vec![] });
        climbers.push(climber);
    }
    if let Some(first) = climbers.first() {
        outcome.checks.extend(rank_check(experiment, plan.rank_checks, journal, names, &first.kernels)?);
    }
    for &t in &plan.steps {
        for (climber, dataset) in climbers.iter().zip(&mut outcome.datasets) {
            dataset.rungs.push(rung(experiment, plan, journal, names, climber, t)?);
        }
        let tight = |dataset: &Dataset| dataset.rungs.last().is_some_and(|rung| is_tight(rung, plan.tolerance));
        if outcome.datasets.iter().all(tight) {
            break;
        }
    }
    Ok(())
}

/// Whether a ladder may end here.
pub fn is_tight(rung: &Rung, tolerance: f64) -> bool {
    rung.jeffreys_bound <= tolerance
}

fn prepare<E: Experiment>(
    experiment: &mut E,
    plan: &Plan,
    journal: &mut Journal,
    names: Names<'_>,
    dataset: u32,
) -> Result<Climber<E::Kernels>, Halt<E::Error>> {
    if experiment.interrupted() {
        return Err(Halt::Interrupted);
    }
    let truth = experiment.simulate(dataset).map_err(Halt::Work)?;
    let kernels = unit(experiment, journal, &names.other("pilot", dataset), ("pilot run", 0), |e| e.tune(dataset))?;
    let mut starts = vec![truth; plan.chains];
    if plan.start_steps > 0 {
        let what = ("moving the starts of the reverse chains", plan.chains * plan.start_steps);
        starts = unit(experiment, journal, &names.other("starts", dataset), what, |e| {
            e.equilibrate(&kernels, dataset, &starts, plan.start_steps, Moves::Start)
        })?;
    }
    Ok(Climber { dataset, kernels, starts })
}

fn rung<E: Experiment>(
    experiment: &mut E,
    plan: &Plan,
    journal: &mut Journal,
    names: Names<'_>,
    climber: &Climber<E::Kernels>,
    t: usize,
) -> Result<Rung, Halt<E::Error>> {
    let Climber { dataset, kernels, starts } = climber;
    let up = forward(experiment, journal, names, kernels, (*dataset, t, plan.chains))?;
    let down = reverse(experiment, journal, names, kernels, (*dataset, t, "reverse"), starts)?;
    Ok(Rung::new(t, &up, &down))
}

impl Outcome {
    fn finish(&mut self, plan: &Plan, journal: &Journal, names: Names<'_>) {
        self.mean = means(&self.datasets);
        let ladders: Ladders<'_> = self.datasets.iter().map(|dataset| dataset.rungs.as_slice()).collect();
        self.checks.extend(violation_checks(&ladders, plan.start_steps > 0));
        self.violation = self.checks.iter().any(|check| check.failed && check.rigorous);
        self.verdict = verdict::verdict(self, plan);
        self.timing = timing(&self.datasets, journal, names);
    }
}

/// Means over datasets, where every dataset has the rung. One dataset has no error bar of its own.
fn means(datasets: &[Dataset]) -> Vec<MeanRung> {
    let Some(first) = datasets.first().filter(|_| datasets.len() > 1) else { return vec![] };
    let row = |index: usize, t: usize| -> Option<MeanRung> {
        let rungs: Option<Vec<&Rung>> = datasets.iter().map(|dataset| dataset.rungs.get(index)).collect();
        let rungs = rungs?;
        let of = |value: fn(&Rung) -> f64| mean_and_error(&rungs.iter().map(|rung| value(rung)).collect::<Vec<f64>>());
        let (jeffreys_bound, jeffreys_se) = of(|rung| rung.jeffreys_bound);
        Some(MeanRung {
            t,
            datasets: datasets.len(),
            jeffreys_bound,
            jeffreys_se,
            kl_forward_bound: of(|rung| rung.kl_forward_bound).0,
            kl_reverse_bound: of(|rung| rung.kl_reverse_bound).0,
        })
    };
    first.rungs.iter().enumerate().filter_map(|(index, rung)| row(index, rung.t)).collect()
}

/// How long the units took, from the journal: a resumed run tells the times of all its parts.
fn timing(datasets: &[Dataset], journal: &Journal, names: Names<'_>) -> Timing {
    let mut timing = Timing::default();
    for part in ["pilot", "starts", "rank"] {
        timing.parts.insert(part.to_owned(), journal.seconds(&format!("{}{part}/", names.prefix)));
    }
    for dataset in datasets {
        for rung in &dataset.rungs {
            let seconds = |direction: &str| journal.seconds(&names.rung(dataset.number, rung.t, direction));
            timing.rungs.push(RungTime {
                name: format!("simulated-{}", dataset.number),
                t: rung.t,
                forward_seconds: seconds("forward"),
                reverse_seconds: seconds("reverse"),
            });
        }
    }
    timing
}
