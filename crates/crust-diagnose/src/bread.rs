//! The BREAD protocol on real data: fit, simulate, sandwich, and compare real with simulated data (section 3.3 of the
//! preprint).

mod calibration;
mod clock;
mod compare;
mod confirm;
mod predictive;
mod sizes;
#[cfg(test)]
mod tests;
mod time;
mod verdict;

pub use calibration::{Curve, calibrate, curve};
pub use predictive::describe;
pub use sizes::Size;

use crate::bdmc::{is_tight, violation_checks};
use crate::checkpoint::{Halt, Journal};
use crate::executor::{Chains, Executor, InProcess, Workshop};
use crate::experiment::{Experiment, REAL, Work, mean_and_error, reverse_estimates};
use crate::ladder::Ladder;
use crate::result::{
    Calibration, Check, Confirmation, Dataset, Fit, ForwardRung, KernelAt, Predictive, RealData, Rung, RungTime,
    Simulation, StartCheck, Timing, Verdict,
};
use crate::timing::{part_seconds, rung_time};
use crate::units::{Annealed, Part, TWIN, Task};
use clock::Clock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::time::Instant;

/// An experiment with real data.
pub trait Fitted: Experiment {
    /// What is kept of a fit: η, the fitted hyperparameters, or draws.
    type Hyperparameters: Serialize + DeserializeOwned;

    /// Fits the real data.
    fn fit(&mut self) -> Result<(Fit, Self::Hyperparameters), Self::Error>;

    /// From now on data are simulated with these hyperparameters.
    fn fix(&mut self, hyperparameters: &Self::Hyperparameters);

    /// How large the outcomes of a simulated dataset are, measured by those of the real data; none if they cannot be
    /// compared.
    fn sizes(&mut self, _dataset: u32) -> Result<Vec<Size>, Self::Error> {
        Ok(vec![])
    }

    /// Parameters that are drawn from the prior, in place of being fitted.
    fn not_fitted(&self) -> Vec<String> {
        vec![]
    }

    /// Some draws of the fit, at most so many.
    fn fitted_draws(&self, _most: usize) -> Vec<Self::State> {
        vec![]
    }

    /// Numbers that describe the outcomes of a dataset, the same ones for all, the [real](REAL) one included.
    fn statistics(&mut self, _dataset: u32) -> Result<Vec<(String, f64)>, Self::Error> {
        Ok(vec![])
    }

    /// Seconds that went by before the first unit of work.
    fn seconds_before(&self) -> f64 {
        0.0
    }
}

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What parameters data are simulated with.
    pub simulation: Simulation,
    pub chains: usize,
    pub ladder: Ladder,
    /// The ladder ends once B̂ is at most this, in nats.
    pub tolerance: f64,
    /// S, the number of transitions before the reverse chains start; 0 where generating values are exact draws.
    pub start_steps: usize,
    /// R, the number of further datasets for the comparison with the real data.
    pub replicates: u32,
    /// Why simulated data are not to be compared with the real ones, if they are not.
    pub incomparable: Option<String>,
    /// The bound above which the verdict is bad.
    pub acceptable: f64,
    /// The time that the run may take, in seconds.
    pub budget: Option<f64>,
}

/// What came out, as far as the run got.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub fit: Option<Fit>,
    pub real: RealData,
    pub simulated: Dataset,
    pub confirmation: Option<Confirmation>,
    pub start_check: Option<StartCheck>,
    pub calibration: Option<Calibration>,
    pub predictive: Option<Predictive>,
    /// What is to be said about simulated data of another size than the real ones.
    pub size_notice: Option<String>,
    /// What was left out for want of time, in sentences.
    pub skipped: Vec<String>,
    pub kernels: Vec<KernelAt>,
    pub checks: Vec<Check>,
    pub violation: bool,
    pub verdict: Verdict,
    pub partial: bool,
    pub timing: Timing,
}

/// The simulated dataset that is sandwiched; replicates come after it.
const SIMULATED: u32 = 1;
/// Datasets of the confirmation are counted from here, beyond all replicates.
const CONFIRMING: u32 = 1_000_000;
/// The check of S uses a rung up to this, in which the start matters most.
const SHORT: usize = 100;

/// Runs the protocol in this process. An interruption is no error: the findings are what was finished.
pub fn bread<E: Fitted>(experiment: &mut E, plan: &Plan, journal: &mut Journal) -> Result<Findings, Halt<E::Error>> {
    bread_with::<E, _>(&mut InProcess::fitted(experiment), plan, journal)
}

/// Runs the protocol wherever the executor does its work.
pub fn bread_with<E: Fitted, X: Executor<E>>(
    executor: &mut X,
    plan: &Plan,
    journal: &mut Journal,
) -> Result<Findings, Halt<E::Error>> {
    let mut findings = Findings { simulated: Dataset { number: SIMULATED, rungs: vec![] }, ..Findings::default() };
    match run::<E, X>(&mut Workshop { executor, journal, way: None }, plan, &mut findings) {
        Ok(()) => {}
        Err(Halt::Interrupted) => findings.partial = true,
        Err(halt) => return Err(halt),
    }
    findings.checks = violation_checks(&vec![findings.simulated.rungs.as_slice()], plan.start_steps > 0);
    findings.violation = contradictory(&findings) && !verdict::rests_on_bad_fit(&findings, plan);
    findings.timing = timing(&findings, journal);
    findings.verdict = verdict::verdict(&findings, plan);
    Ok(findings)
}

/// Whether upper bounds lie below lower ones.
fn contradictory(findings: &Findings) -> bool {
    findings.checks.iter().any(|check| check.failed && check.rigorous)
}

fn run<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    findings: &mut Findings,
) -> Result<(), Halt<E::Error>> {
    let before = workshop.executor.experiment().seconds_before();
    let before = workshop.journal.unit::<f64, E::Error>("before", || Ok(Some(before)))?;
    let mut clock = Clock { budget: plan.budget, before, began: Instant::now(), dataset: 0.0 };
    let fit = workshop.unit::<E>(REAL, Task::Fit);
    let (fit, hyperparameters) = workshop.one::<E, (Fit, E::Hyperparameters)>(fit)?;
    let unfinished = fit.unfinished;
    findings.fit = Some(fit);
    if unfinished {
        // nothing could rest on it
        return Ok(());
    }
    workshop.executor.fix(&hyperparameters);
    let experiment = workshop.executor.experiment();
    if !plan.simulation.rests_on_fit() {
        findings.size_notice = sizes::notice(experiment, SIMULATED).map_err(Halt::Work)?;
    }
    let begin = Instant::now();
    let truth = experiment.simulate(SIMULATED).map_err(Halt::Work)?;
    clock.dataset = begin.elapsed().as_secs_f64();
    // One set of kernels for all: the curves then differ by the data alone
    let kernels = workshop.one::<E, E::Kernels>(workshop.unit::<E>(SIMULATED, Task::Pilot))?;
    findings.kernels = workshop.executor.experiment().table(&kernels);
    let starts = |workshop: &mut Workshop<'_, X>, steps: usize, fewer: bool| {
        if steps == 0 {
            return Ok(vec![truth.clone(); plan.chains]);
        }
        let (kernels, truth) = (Cow::Borrowed(&kernels), Cow::Borrowed(&truth));
        let task = Task::Starts { kernels, truth, chains: plan.chains, steps, fewer, more: false };
        workshop.one::<E, Vec<E::State>>(workshop.unit::<E>(SIMULATED, task))
    };
    let after_s = starts(workshop, plan.start_steps, false)?;
    let mut next = plan.ladder.steps.first().map(|&t| Step { t, chains: plan.chains });
    while let Some(from) = next {
        next = ladder::<E, X>(workshop, plan, clock, (&kernels, &after_s, from), findings)?;
        let ended_early = next.is_some();
        findings.confirmation = None;
        confirm::confirm::<E, X>(workshop, plan, clock, (&kernels, &after_s, ended_early), findings)?;
        confirm::real::<E, X>(workshop, plan, clock, &kernels, findings)?;
        // New chains need not confirm what the ladder ended with: it goes on then.
        next = match next {
            Some(next) if !verdict::bounds_hold(findings, plan) => time::further(workshop, plan, clock, next, findings),
            _ => None,
        };
    }
    if plan.start_steps > 0 && plan.simulation == Simulation::Fitted {
        let fewer = starts(workshop, plan.start_steps / 10, true)?;
        let t = check_t(&findings.simulated.rungs);
        let chains = Chains::first(SIMULATED, t, fewer.len());
        let units = workshop.reverse_units::<E>(&kernels, chains, &fewer, true);
        let down = workshop.all::<E, Vec<Work>>(units)?.concat();
        findings.start_check = start_check(&findings.simulated.rungs, plan.start_steps, t, &down);
    }
    compare::compare::<E, X>(workshop, plan, clock, &kernels, findings)
}

/// A rung of the ladder that is going to be run, with so many chains each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    t: usize,
    chains: usize,
}

/// Both directions on simulated data and the forward one on real data, rung by rung, until the bound is tight. Says
/// which rung would be next then.
fn ladder<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    clock: Clock,
    (kernels, starts, from): (&E::Kernels, &[E::State], Step),
    findings: &mut Findings,
) -> Result<Option<Step>, Halt<E::Error>> {
    let mut step = from;
    loop {
        let Step { t, chains } = step;
        let (up, down) = workshop.both::<E>(kernels, &Chains::first(SIMULATED, t, chains), starts)?;
        let rung = Rung::new(t, &up, &down);
        let tight = is_tight(&rung, plan.tolerance);
        let next = plan.ladder.next(t, rung.jeffreys_bound, plan.acceptable).map(|t| Step { t, chains });
        findings.simulated.rungs.push(rung);
        // Where nothing is simulated these were the real data.
        let nothing = plan.simulation == Simulation::Nothing;
        let real = if nothing { up } else { workshop.forward::<E>(kernels, Chains::first(REAL, t, chains))? };
        findings.real.rungs.push(ForwardRung::new(t, &real));
        if tight {
            return Ok(next);
        }
        match next.and_then(|next| time::further(workshop, plan, clock, next, findings)) {
            Some(next) => step = next,
            None => return Ok(None),
        }
    }
}

/// Where the number of steps before the reverse chains is checked.
fn check_t(rungs: &[Rung]) -> usize {
    let short = rungs.iter().map(|rung| rung.t).filter(|&t| t <= SHORT).max();
    short.or(rungs.first().map(|rung| rung.t)).unwrap_or(2)
}

/// Reverse estimates from starts after S steps against those after S/10 (section 5.1.3).
fn start_check(rungs: &[Rung], steps: usize, t: usize, fewer: &[Work]) -> Option<StartCheck> {
    /// A difference that would not matter.
    const NEGLIGIBLE: f64 = 0.1;
    let after_s = &rungs.iter().find(|rung| rung.t == t)?.reverse;
    let after_fewer = reverse_estimates(fewer);
    let ((long, long_se), (short, short_se)) = (mean_and_error(after_s), mean_and_error(&after_fewer));
    let (difference, difference_se) = (short - long, long_se.hypot(short_se));
    Some(StartCheck {
        t,
        steps,
        fewer_steps: steps / 10,
        reverse: after_s.clone(),
        reverse_fewer: after_fewer,
        difference,
        difference_se,
        agree: difference.abs() <= (3.0 * difference_se).max(NEGLIGIBLE),
    })
}

fn timing(findings: &Findings, journal: &Journal) -> Timing {
    let anneals = |part: &Part, datasets: std::ops::RangeInclusive<u32>, dataset: u32| {
        let fewer = matches!(part, Part::Anneal { chains: Annealed::ReverseFewer, .. });
        matches!(part, Part::Anneal { .. }) && !fewer && datasets.contains(&dataset)
    };
    let checks_starts =
        |part: &Part| matches!(part, Part::StartsFewer | Part::Anneal { chains: Annealed::ReverseFewer, .. });
    let parts = [
        part_seconds(journal, "fit", |name| name.part == Part::Fit),
        part_seconds(journal, "pilot", |name| name.part == Part::Pilot),
        part_seconds(journal, "starts", |name| matches!(name.part, Part::Starts { .. })),
        part_seconds(journal, "ladder", |name| anneals(&name.part, REAL..=SIMULATED, name.dataset)),
        part_seconds(journal, "start check", |name| checks_starts(&name.part)),
        part_seconds(journal, "replicates", |name| {
            let replicates = SIMULATED + 1..=CONFIRMING - 1;
            anneals(&name.part, replicates, name.dataset) || anneals(&name.part, TWIN..=TWIN, name.dataset)
        }),
        part_seconds(journal, "confirmation", |name| anneals(&name.part, CONFIRMING..=TWIN - 1, name.dataset)),
    ];
    let simulated = findings.simulated.rungs.iter();
    let simulated = simulated.map(|rung| rung_time(journal, "simulated-1".to_owned(), (None, SIMULATED), rung.t));
    let real = findings.real.rungs.iter().map(|rung| rung_time(journal, "real".to_owned(), (None, REAL), rung.t));
    let rungs: Vec<RungTime> = simulated.chain(real).collect();
    Timing { parts: parts.into(), rungs }
}
