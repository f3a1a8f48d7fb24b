//! Bidirectional Monte Carlo on simulated data: a ladder of sandwiches, and checks of the implementation.

mod checks;
mod verdict;

pub(crate) use checks::{Ladders, rank_check, violation_checks};
pub(crate) use verdict::{OVERFLOW, nats, nats_with_error, without_density};

use crate::checkpoint::{Halt, Journal};
use crate::experiment::{Experiment, Moves, Names, forward, forward_part, mean_and_error, reverse, reverse_part, unit};
use crate::ladder::Ladder;
use crate::result::{Check, Dataset, KernelAt, MeanRung, Rung, RungTime, Timing, Verdict};

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// K, the number of chains in each direction.
    pub chains: usize,
    pub ladder: Ladder,
    /// The ladder ends once B̂ is at most this, in nats.
    pub tolerance: f64,
    /// Chains are added at the end of the ladder until the standard error of Bennett's estimate is at most this, in nats.
    pub bennett_error: Option<f64>,
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
    truth: Vec<f64>,
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
    let mut next = plan.ladder.steps.first().copied();
    while let Some(t) = next {
        for (climber, dataset) in climbers.iter().zip(&mut outcome.datasets) {
            dataset.rungs.push(rung(experiment, plan, journal, names, climber, t)?);
        }
        let last: Vec<&Rung> = outcome.datasets.iter().filter_map(|dataset| dataset.rungs.last()).collect();
        if last.iter().all(|rung| is_tight(rung, plan.tolerance)) {
            break;
        }
        let (mean, _) = mean_and_error(&last.iter().map(|rung| rung.jeffreys_bound).collect::<Vec<f64>>());
        next = plan.ladder.next(t, mean, plan.acceptable);
    }
    if let Some(wish) = plan.bennett_error {
        for (climber, dataset) in climbers.iter().zip(&mut outcome.datasets) {
            refine(experiment, plan, journal, names, climber, (wish, dataset))?;
        }
    }
    Ok(())
}

/// No more chains than this are run, however small an error is wished for.
const MOST_CHAINS: usize = 200_000;

/// How many chains bring an error down to a wish: it falls with the root of their number. At most four times as many as
/// there are, since the error of few chains is itself uncertain.
fn enough_chains(chains: usize, error: f64, wish: f64) -> usize {
    let factor = (1.1 * (error / wish) * (error / wish)).clamp(1.0, 4.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and the most chains")]
    let enough = (factor * number(chains)).ceil().min(number(MOST_CHAINS)) as usize;
    enough.max(chains + 1)
}

#[expect(clippy::cast_precision_loss, reason = "chains are far fewer than 2⁵³")]
fn number(n: usize) -> f64 {
    n as f64
}

/// Adds chains to the last rung of a dataset until Bennett's estimate is as good as wished.
fn refine<E: Experiment>(
    experiment: &mut E,
    plan: &Plan,
    journal: &mut Journal,
    names: Names<'_>,
    climber: &Climber<E::Kernels>,
    (wish, dataset): (f64, &mut Dataset),
) -> Result<(), Halt<E::Error>> {
    let Some(t) = dataset.rungs.last().map(|rung| rung.t) else { return Ok(()) };
    let Climber { dataset: number, kernels, .. } = climber;
    let mut up = forward(experiment, journal, names, kernels, (*number, t, plan.chains))?;
    let mut down = reverse(experiment, journal, names, kernels, (*number, t, "reverse"), &climber.starts)?;
    loop {
        let rung = Rung::new(t, &up, &down);
        // Without overlap there is no error to judge by, and more chains would not help.
        let go_on = rung.log_ml_bar_se.is_finite() && rung.log_ml_bar_se > wish && up.len() < MOST_CHAINS;
        let (chains, error) = (up.len(), rung.log_ml_bar_se);
        if let Some(last) = dataset.rungs.last_mut() {
            *last = rung;
        }
        if !go_on {
            return Ok(());
        }
        let enough = enough_chains(chains, error, wish);
        let starts = starts(experiment, plan, journal, names, climber, enough)?;
        up.extend(forward_part(experiment, journal, names, kernels, (*number, t, chains..enough))?);
        let more = (chains, starts.as_slice());
        down.extend(reverse_part(experiment, journal, names, kernels, (*number, t, "reverse"), more)?);
    }
}

/// The starts of a number of reverse chains.
fn starts<E: Experiment>(
    experiment: &mut E,
    plan: &Plan,
    journal: &mut Journal,
    names: Names<'_>,
    climber: &Climber<E::Kernels>,
    chains: usize,
) -> Result<Vec<Vec<f64>>, Halt<E::Error>> {
    let Climber { dataset, kernels, truth, .. } = climber;
    let starts = vec![truth.clone(); chains];
    if plan.start_steps == 0 {
        return Ok(starts);
    }
    let what = ("moving the starts of the reverse chains", chains * plan.start_steps);
    let suffix = if chains == plan.chains { String::new() } else { format!("/{chains}") };
    unit(experiment, journal, &(names.other("starts", *dataset) + &suffix), what, |e| {
        e.equilibrate(kernels, *dataset, &starts, plan.start_steps, Moves::Start)
    })
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
    let mut climber = Climber { dataset, kernels, truth, starts: vec![] };
    climber.starts = starts(experiment, plan, journal, names, &climber, plan.chains)?;
    Ok(climber)
}

fn rung<E: Experiment>(
    experiment: &mut E,
    plan: &Plan,
    journal: &mut Journal,
    names: Names<'_>,
    climber: &Climber<E::Kernels>,
    t: usize,
) -> Result<Rung, Halt<E::Error>> {
    let Climber { dataset, kernels, starts, .. } = climber;
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
