//! The BREAD protocol on real data: fit, simulate, sandwich, and compare real with simulated data (section 3.3 of the
//! preprint).

mod calibration;
mod sizes;
#[cfg(test)]
mod tests;
mod verdict;

pub use calibration::{Curve, calibrate, curve};
pub use sizes::Size;

use crate::bdmc::{is_tight, violation_checks};
use crate::checkpoint::{Halt, Journal};
use crate::executor::{Chains, Executor, InProcess, Workshop};
use crate::experiment::{Experiment, REAL, Work, estimates, mean_and_error, reverse_estimates};
use crate::ladder::Ladder;
use crate::result::{
    Calibration, Check, Dataset, Fit, ForwardRung, KernelAt, RealData, Rung, RungTime, StartCheck, Timing, Verdict,
};
use crate::timing::{part_seconds, rung_time};
use crate::units::{Annealed, Part, Task};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// An experiment with real data.
pub trait Fitted: Experiment {
    /// η, the fitted hyperparameters.
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
}

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub chains: usize,
    pub ladder: Ladder,
    /// The ladder ends once B̂ is at most this, in nats.
    pub tolerance: f64,
    /// S, the number of transitions before the reverse chains start.
    pub start_steps: usize,
    /// R, the number of further datasets for the comparison with the real data.
    pub replicates: u32,
    /// The bound above which the verdict is bad.
    pub acceptable: f64,
}

/// What came out, as far as the run got.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub fit: Option<Fit>,
    pub real: RealData,
    pub simulated: Dataset,
    pub start_check: Option<StartCheck>,
    pub calibration: Option<Calibration>,
    /// What is to be said about simulated data of another size than the real ones.
    pub size_notice: Option<String>,
    pub kernels: Vec<KernelAt>,
    pub checks: Vec<Check>,
    pub violation: bool,
    pub verdict: Verdict,
    pub partial: bool,
    pub timing: Timing,
}

/// The simulated dataset that is sandwiched; replicates come after it.
const SIMULATED: u32 = 1;
/// The check of S uses a rung up to this, in which the start matters most.
const SHORT: usize = 100;
/// T of the curves of the calibrated comparison, whatever the ladder: curves are computed R + 1 times, and the rank is
/// exact for any T.
const CURVE_STEPS: [usize; 3] = [10, 30, 100];
/// Chains of a curve of the calibrated comparison.
const CURVE_CHAINS: usize = 50;

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
    findings.checks = violation_checks(&vec![findings.simulated.rungs.as_slice()], true);
    findings.violation = findings.checks.iter().any(|check| check.failed && check.rigorous);
    findings.timing = timing(&findings, journal);
    findings.verdict = verdict::verdict(&findings, plan);
    Ok(findings)
}

fn run<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    findings: &mut Findings,
) -> Result<(), Halt<E::Error>> {
    let fit = workshop.unit::<E>(REAL, Task::Fit);
    let (fit, hyperparameters) = workshop.one::<E, (Fit, E::Hyperparameters)>(fit)?;
    findings.fit = Some(fit);
    workshop.executor.fix(&hyperparameters);
    let experiment = workshop.executor.experiment();
    findings.size_notice = sizes::notice(experiment, SIMULATED).map_err(Halt::Work)?;
    let truth = experiment.simulate(SIMULATED).map_err(Halt::Work)?;
    // One set of kernels for all: the curves then differ by the data alone
    let kernels = workshop.one::<E, E::Kernels>(workshop.unit::<E>(SIMULATED, Task::Pilot))?;
    findings.kernels = workshop.executor.experiment().table(&kernels);
    let starts = |workshop: &mut Workshop<'_, X>, steps: usize, fewer: bool| {
        let (kernels, truth) = (Cow::Borrowed(&kernels), Cow::Borrowed(&truth));
        let task = Task::Starts { kernels, truth, chains: plan.chains, steps, fewer, more: false };
        workshop.one::<E, Vec<E::State>>(workshop.unit::<E>(SIMULATED, task))
    };
    let after_s = starts(workshop, plan.start_steps, false)?;
    ladder::<E, X>(workshop, plan, &kernels, &after_s, findings)?;
    let fewer = starts(workshop, plan.start_steps / 10, true)?;
    let t = check_t(&findings.simulated.rungs);
    let chains = Chains::first(SIMULATED, t, fewer.len());
    let units = workshop.reverse_units::<E>(&kernels, chains, &fewer, true);
    let down = workshop.all::<E, Vec<Work>>(units)?.concat();
    findings.start_check = start_check(&findings.simulated.rungs, plan.start_steps, t, &down);
    findings.calibration = compare::<E, X>(workshop, plan, &kernels)?;
    Ok(())
}

/// Both directions on simulated data and the forward one on real data, rung by rung.
fn ladder<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    kernels: &E::Kernels,
    starts: &[E::State],
    findings: &mut Findings,
) -> Result<(), Halt<E::Error>> {
    let mut next = plan.ladder.steps.first().copied();
    while let Some(t) = next {
        let (up, down) = workshop.both::<E>(kernels, &Chains::first(SIMULATED, t, plan.chains), starts)?;
        let rung = Rung::new(t, &up, &down);
        next = plan.ladder.next(t, rung.jeffreys_bound, plan.acceptable).filter(|_| !is_tight(&rung, plan.tolerance));
        findings.simulated.rungs.push(rung);
        let real = workshop.forward::<E>(kernels, Chains::first(REAL, t, plan.chains))?;
        findings.real.rungs.push(ForwardRung::new(t, &real));
    }
    Ok(())
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

/// The rank of the real data's forward curve among those of further simulated data.
fn compare<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    kernels: &E::Kernels,
) -> Result<Option<Calibration>, Halt<E::Error>> {
    if plan.replicates == 0 {
        return Ok(None);
    }
    let chains = plan.chains.min(CURVE_CHAINS);
    // The real data's chains are those of the ladder, where it has these T.
    let curves = (SIMULATED + 1..=SIMULATED + plan.replicates).map(|dataset| (dataset, chains));
    let curves = std::iter::once((REAL, plan.chains)).chain(curves);
    let wanted = curves.flat_map(|(dataset, run)| CURVE_STEPS.map(|t| Chains::first(dataset, t, run)));
    let units: Vec<Vec<_>> = wanted.map(|wanted| workshop.forward_units::<E>(kernels, wanted)).collect();
    let counts: Vec<usize> = units.iter().map(Vec::len).collect();
    let mut works = workshop.all::<E, Vec<Work>>(units.concat())?.into_iter();
    let mut log_weights = |count: usize| {
        let works: Vec<Work> = works.by_ref().take(count).flatten().collect();
        estimates(&works[..chains])
    };
    let log_weights: Vec<Vec<f64>> = counts.into_iter().map(&mut log_weights).collect();
    let of_dataset = |rungs: &[Vec<f64>]| curve(&rungs.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let curves: Vec<Curve> = log_weights.chunks(CURVE_STEPS.len()).map(of_dataset).collect();
    let (real, replicates) = curves.split_first().ok_or(Halt::Interrupted)?;
    Ok(Some(calibrate(&CURVE_STEPS, chains, real, replicates)))
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
        part_seconds(journal, "replicates", |name| anneals(&name.part, SIMULATED + 1..=u32::MAX, name.dataset)),
    ];
    let simulated = findings.simulated.rungs.iter();
    let simulated = simulated.map(|rung| rung_time(journal, "simulated-1".to_owned(), (None, SIMULATED), rung.t));
    let real = findings.real.rungs.iter().map(|rung| rung_time(journal, "real".to_owned(), (None, REAL), rung.t));
    let rungs: Vec<RungTime> = simulated.chain(real).collect();
    Timing { parts: parts.into(), rungs }
}
