//! Bidirectional Monte Carlo on simulated data: a ladder of sandwiches, and checks of the implementation.

mod checks;
mod verdict;

pub(crate) use checks::{Ladders, RANK_TRANSITIONS, rank_check, ranks, violation_checks};
pub(crate) use verdict::{ANOTHER_PATH, OVERFLOW, Size, nats, nats_with_error};

use crate::checkpoint::{Halt, Journal};
use crate::executor::{Chains, Executor, InProcess, UnitOf, Workshop};
use crate::experiment::{Experiment, mean_and_error};
use crate::ladder::Ladder;
use crate::result::{Check, Dataset, KernelAt, MeanRung, Rung, Timing, Verdict};
use crate::timing::{part_seconds, rung_time};
use crate::units::{Part, Task};
use std::borrow::Cow;

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// K, the number of chains in each direction.
    pub chains: usize,
    pub ladder: Ladder,
    /// The ladder ends once B̂ is at most this, in nats.
    pub tolerance: f64,
    /// Chains are added at the end of the ladder until the standard error of Bennett's estimate is at most this, in
    /// nats.
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
pub struct Findings {
    pub datasets: Vec<Dataset>,
    pub mean: Vec<MeanRung>,
    pub kernels: Vec<KernelAt>,
    pub checks: Vec<Check>,
    pub violation: bool,
    pub verdict: Verdict,
    pub partial: bool,
    pub timing: Timing,
}

/// Runs the protocol in this process. An interruption is no error: the findings are what was finished.
pub fn bdmc<E: Experiment>(experiment: &mut E, plan: &Plan, journal: &mut Journal) -> Result<Findings, Halt<E::Error>> {
    bdmc_with::<E, _>(&mut InProcess::new(experiment), plan, journal)
}

/// Runs the protocol wherever the executor does its work.
pub fn bdmc_with<E: Experiment, X: Executor<E>>(
    executor: &mut X,
    plan: &Plan,
    journal: &mut Journal,
) -> Result<Findings, Halt<E::Error>> {
    let mut findings = Findings::default();
    let mut workshop = Workshop { executor, journal, way: None };
    match climb::<E, X>(&mut workshop, plan, &mut findings) {
        Ok(()) => {}
        Err(Halt::Interrupted) => findings.partial = true,
        Err(halt) => return Err(halt),
    }
    findings.finish(plan, journal);
    Ok(findings)
}

/// One dataset on its way up the ladder.
struct Climber<K, S> {
    dataset: u32,
    kernels: K,
    truth: S,
    starts: Vec<S>,
}

type ClimberOf<E> = Climber<<E as Experiment>::Kernels, <E as Experiment>::State>;

fn climb<E: Experiment, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    findings: &mut Findings,
) -> Result<(), Halt<E::Error>> {
    let climbers = prepare::<E, X>(workshop, plan, findings)?;
    if let Some(first) = climbers.first() {
        findings.checks.extend(rank_check::<E, X>(workshop, plan.rank_checks, &first.kernels)?);
    }
    let mut next = plan.ladder.steps.first().copied();
    while let Some(t) = next {
        for (climber, dataset) in climbers.iter().zip(&mut findings.datasets) {
            let chains = Chains::first(climber.dataset, t, plan.chains);
            let (up, down) = workshop.both::<E>(&climber.kernels, &chains, &climber.starts)?;
            dataset.rungs.push(Rung::new(t, &up, &down));
        }
        let last: Vec<&Rung> = findings.datasets.iter().filter_map(|dataset| dataset.rungs.last()).collect();
        if last.iter().all(|rung| is_tight(rung, plan.tolerance)) {
            break;
        }
        let (mean, _) = mean_and_error(&last.iter().map(|rung| rung.jeffreys_bound).collect::<Vec<f64>>());
        next = plan.ladder.next(t, mean, plan.acceptable);
    }
    if let Some(wish) = plan.bennett_error {
        for (climber, dataset) in climbers.iter().zip(&mut findings.datasets) {
            refine::<E, X>(workshop, plan, climber, (wish, dataset))?;
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
fn refine<E: Experiment, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    climber: &ClimberOf<E>,
    (wish, dataset): (f64, &mut Dataset),
) -> Result<(), Halt<E::Error>> {
    let Some(t) = dataset.rungs.last().map(|rung| rung.t) else { return Ok(()) };
    let Climber { dataset: number, kernels, .. } = climber;
    let chains = Chains::first(*number, t, plan.chains);
    let (mut up, mut down) = workshop.both::<E>(kernels, &chains, &climber.starts)?;
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
        let starts = match starts_unit::<E, X>(workshop, plan, climber, enough) {
            Some(unit) => workshop.one::<E, Vec<E::State>>(unit)?,
            None => vec![climber.truth.clone(); enough],
        };
        let more = Chains { dataset: *number, t, range: chains..enough };
        let (more_up, more_down) = workshop.both::<E>(kernels, &more, &starts)?;
        up.extend(more_up);
        down.extend(more_down);
    }
}

/// What moves the starts of a number of reverse chains, if they are moved at all.
fn starts_unit<'c, E: Experiment, X>(
    workshop: &Workshop<'_, X>,
    plan: &Plan,
    climber: &'c ClimberOf<E>,
    chains: usize,
) -> Option<UnitOf<'c, E>> {
    let Climber { dataset, kernels, truth, .. } = climber;
    let task = Task::Starts {
        kernels: Cow::Borrowed(kernels),
        truth: Cow::Borrowed(truth),
        chains,
        steps: plan.start_steps,
        fewer: false,
        more: chains != plan.chains,
    };
    (plan.start_steps > 0).then(|| workshop.unit::<E>(*dataset, task))
}

/// Whether a ladder may end here: by the upper limit, since estimates that are looked at until one is small are small
/// by chance.
pub fn is_tight(rung: &Rung, tolerance: f64) -> bool {
    rung.jeffreys_upper <= tolerance
}

/// Simulates all datasets, tunes kernels on each, and moves the starts of the reverse chains.
fn prepare<E: Experiment, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    findings: &mut Findings,
) -> Result<Vec<ClimberOf<E>>, Halt<E::Error>> {
    let mut climbers = Vec::new();
    for dataset in 1..=plan.datasets {
        let kernels = workshop.one::<E, E::Kernels>(workshop.unit::<E>(dataset, Task::Pilot))?;
        if dataset == 1 {
            findings.kernels = workshop.executor.experiment().table(&kernels);
        }
        let truth = workshop.executor.experiment().simulate(dataset).map_err(Halt::Work)?;
        let mut climber = Climber { dataset, kernels, truth, starts: vec![] };
        climber.starts = match starts_unit::<E, X>(workshop, plan, &climber, plan.chains) {
            Some(unit) => workshop.one::<E, Vec<E::State>>(unit)?,
            None => vec![climber.truth.clone(); plan.chains],
        };
        findings.datasets.push(Dataset { number: dataset, rungs: vec![] });
        climbers.push(climber);
    }
    Ok(climbers)
}

impl Findings {
    fn finish(&mut self, plan: &Plan, journal: &Journal) {
        self.mean = means(&self.datasets);
        let ladders: Ladders<'_> = self.datasets.iter().map(|dataset| dataset.rungs.as_slice()).collect();
        self.checks.extend(violation_checks(&ladders, plan.start_steps > 0));
        self.violation = self.checks.iter().any(|check| check.failed && check.rigorous);
        self.verdict = verdict::verdict(self, plan);
        self.timing = timing(&self.datasets, journal);
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
fn timing(datasets: &[Dataset], journal: &Journal) -> Timing {
    let parts = [
        part_seconds(journal, "pilot", |name| name.part == Part::Pilot),
        part_seconds(journal, "starts", |name| matches!(name.part, Part::Starts { .. })),
        part_seconds(journal, "rank", |name| name.part == Part::Rank),
        part_seconds(journal, "ladder", |name| matches!(name.part, Part::Anneal { .. })),
    ];
    let time = |number: u32, rung: &Rung| rung_time(journal, format!("simulated-{number}"), (None, number), rung.t);
    let rungs = datasets.iter().flat_map(|dataset| dataset.rungs.iter().map(|rung| time(dataset.number, rung)));
    Timing { parts: parts.into(), rungs: rungs.collect() }
}
