//! The BREAD protocol on real data: fit, simulate, sandwich, and compare real with simulated data (section 3.3 of the preprint).

mod calibration;
mod sizes;
#[cfg(test)]
mod tests;
mod verdict;

pub use calibration::{Curve, calibrate, curve};
pub use sizes::Size;

use crate::bdmc::{is_tight, violation_checks};
use crate::checkpoint::{Halt, Journal};
use crate::experiment::{
    Experiment, Moves, Names, REAL, Work, estimates, forward, forward_is_done, mean_and_error, reverse,
    reverse_estimates, unit,
};
use crate::ladder::Ladder;
use crate::result::{
    Calibration, Check, Dataset, Fit, ForwardRung, KernelAt, RealData, Rung, RungTime, StartCheck, Timing, Verdict,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An experiment with real data.
pub trait Fitted: Experiment {
    /// η, the fitted hyperparameters.
    type Hyperparameters: Serialize + DeserializeOwned;

    /// Fits the real data.
    fn fit(&mut self) -> Result<(Fit, Self::Hyperparameters), Self::Error>;

    /// From now on data are simulated with these hyperparameters.
    fn fix(&mut self, hyperparameters: &Self::Hyperparameters);

    /// How large the outcomes of a simulated dataset are, measured by those of the real data; none if they cannot be compared.
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
pub struct Outcome {
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
/// T of the curves of the calibrated comparison, whatever the ladder: curves are computed R + 1 times, and the rank is exact for any T.
const CURVE_STEPS: [usize; 3] = [10, 30, 100];
/// Chains of a curve of the calibrated comparison.
const CURVE_CHAINS: usize = 50;
const NAMES: Names<'static> = Names { prefix: "" };

/// Runs the protocol. An interruption is no error: the outcome is what was finished.
pub fn bread<E: Fitted>(experiment: &mut E, plan: &Plan, journal: &mut Journal) -> Result<Outcome, Halt<E::Error>> {
    let mut outcome = Outcome { simulated: Dataset { number: SIMULATED, rungs: vec![] }, ..Outcome::default() };
    match run(experiment, plan, journal, &mut outcome) {
        Ok(()) => {}
        Err(Halt::Interrupted) => outcome.partial = true,
        Err(halt) => return Err(halt),
    }
    outcome.checks = violation_checks(&vec![outcome.simulated.rungs.as_slice()], true);
    outcome.violation = outcome.checks.iter().any(|check| check.failed && check.rigorous);
    outcome.timing = timing(&outcome, journal);
    outcome.verdict = verdict::verdict(&outcome, plan);
    Ok(outcome)
}

fn run<E: Fitted>(
    experiment: &mut E,
    plan: &Plan,
    journal: &mut Journal,
    outcome: &mut Outcome,
) -> Result<(), Halt<E::Error>> {
    let (fit, hyperparameters) = unit(experiment, journal, "fit/0", ("fitting the data with NUTS", 0), E::fit)?;
    outcome.fit = Some(fit);
    experiment.fix(&hyperparameters);
    outcome.size_notice = sizes::notice(experiment, SIMULATED).map_err(Halt::Work)?;
    let truth = experiment.simulate(SIMULATED).map_err(Halt::Work)?;
    // One set of kernels for all: the curves then differ by the data alone
    let kernels = unit(experiment, journal, "pilot/1", ("pilot run", 0), |e| e.tune(SIMULATED))?;
    outcome.kernels = experiment.table(&kernels);
    let truths = vec![truth; plan.chains];
    let starts = |experiment: &mut E, journal: &mut Journal, name: &str, steps: usize, moves: Moves| {
        let what = (&*format!("{steps} transitions before the reverse chains"), plan.chains * steps);
        let work = |e: &mut E| e.equilibrate(&kernels, SIMULATED, &truths, steps, moves);
        unit::<E, Vec<Vec<f64>>>(experiment, journal, name, what, work)
    };
    let after_s = starts(experiment, journal, "starts/1", plan.start_steps, Moves::Start)?;
    ladder(experiment, plan, journal, &kernels, &after_s, outcome)?;
    let fewer_steps = plan.start_steps / 10;
    let fewer = starts(experiment, journal, "starts-fewer/1", fewer_steps, Moves::FewerSteps)?;
    let t = check_t(&outcome.simulated.rungs);
    let down = reverse(experiment, journal, NAMES, &kernels, (SIMULATED, t, "reverse-fewer"), &fewer)?;
    outcome.start_check = start_check(&outcome.simulated.rungs, plan.start_steps, t, &down);
    outcome.calibration = compare(experiment, plan, journal, &kernels)?;
    Ok(())
}

/// Both directions on simulated data and the forward one on real data, rung by rung.
fn ladder<E: Fitted>(
    experiment: &mut E,
    plan: &Plan,
    journal: &mut Journal,
    kernels: &E::Kernels,
    starts: &[Vec<f64>],
    outcome: &mut Outcome,
) -> Result<(), Halt<E::Error>> {
    let mut next = plan.ladder.steps.first().copied();
    while let Some(t) = next {
        let up = forward(experiment, journal, NAMES, kernels, (SIMULATED, t, plan.chains))?;
        let down = reverse(experiment, journal, NAMES, kernels, (SIMULATED, t, "reverse"), starts)?;
        let rung = Rung::new(t, &up, &down);
        next = plan.ladder.next(t, rung.jeffreys_bound, plan.acceptable).filter(|_| !is_tight(&rung, plan.tolerance));
        outcome.simulated.rungs.push(rung);
        let real = forward(experiment, journal, NAMES, kernels, (REAL, t, plan.chains))?;
        outcome.real.rungs.push(ForwardRung::new(t, &real));
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
fn compare<E: Fitted>(
    experiment: &mut E,
    plan: &Plan,
    journal: &mut Journal,
    kernels: &E::Kernels,
) -> Result<Option<Calibration>, Halt<E::Error>> {
    if plan.replicates == 0 {
        return Ok(None);
    }
    let chains = plan.chains.min(CURVE_CHAINS);
    let mut curve_of = |dataset: u32, run: usize| -> Result<Curve, Halt<E::Error>> {
        let known = CURVE_STEPS.iter().all(|&t| forward_is_done(journal, NAMES, (dataset, t, run)));
        if dataset != REAL && !known {
            experiment.simulate(dataset).map_err(Halt::Work)?;
        }
        let mut log_weights = Vec::new();
        for t in CURVE_STEPS {
            let up = forward(experiment, journal, NAMES, kernels, (dataset, t, run))?;
            log_weights.push(estimates(&up[..chains]));
        }
        Ok(curve(&log_weights.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    };
    // The real data's chains are those of the ladder, where it has these T.
    let real = curve_of(REAL, plan.chains)?;
    let replicates = SIMULATED + 1..=SIMULATED + plan.replicates;
    let replicates = replicates.map(|dataset| curve_of(dataset, chains)).collect::<Result<Vec<Curve>, _>>()?;
    Ok(Some(calibrate(&CURVE_STEPS, chains, &real, &replicates)))
}

fn timing(outcome: &Outcome, journal: &Journal) -> Timing {
    let mut timing = Timing::default();
    for part in ["fit", "pilot", "starts", "starts-fewer"] {
        timing.parts.insert(part.to_owned(), journal.seconds(&format!("{part}/")));
    }
    let rungs = |dataset: u32| journal.seconds(&format!("anneal/{dataset}/"));
    let replicates = outcome.calibration.as_ref().map_or(0, |c| c.replicates.len());
    let calibration = (0..replicates).filter_map(|r| u32::try_from(r).ok()).map(|r| rungs(SIMULATED + 1 + r)).sum();
    timing.parts.insert("calibration".to_owned(), calibration);
    let seconds = |dataset, t, direction| journal.seconds(&NAMES.rung(dataset, t, direction));
    for rung in &outcome.simulated.rungs {
        timing.rungs.push(RungTime {
            name: "simulated-1".to_owned(),
            t: rung.t,
            forward_seconds: seconds(SIMULATED, rung.t, "forward"),
            reverse_seconds: seconds(SIMULATED, rung.t, "reverse"),
        });
    }
    for rung in &outcome.real.rungs {
        let forward_seconds = seconds(REAL, rung.t, "forward");
        timing.rungs.push(RungTime { name: "real".to_owned(), t: rung.t, forward_seconds, reverse_seconds: 0.0 });
    }
    timing
}
