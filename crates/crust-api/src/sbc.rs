//! `crust sbc`: simulation-based calibration. Is a method right on data that the model itself has made?

mod origin;
mod trial;

use crate::annealing::Diagnosis;
use crate::approximate::ApproximationChoice;
use crate::error::{Error, Faults};
use crate::generative::{Generation, Generative, Outcomes};
use crate::problem::Problem;
use crate::session::{Message, Progress, Session, Unit};
use crust_diagnose::number::count;
use crust_diagnose::result::{Level, Sbc, SbcFit, SbcQuantity, Troubles, Verdict};
use crust_diagnose::sbc::{Uniformity, fault, holm};
use origin::Origin;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use trial::{Trial, Trouble, run};

/// Options of `sbc`.
#[derive(Clone, Debug)]
pub struct SbcOptions {
    /// How many datasets are simulated.
    pub datasets: NonZero<usize>,
    /// What is judged.
    pub method: SbcMethod,
    pub simulate: SbcSimulation,
    pub generation: Generation,
}

/// What parameters data are simulated with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SbcSimulation {
    /// Draws of the prior.
    #[default]
    Prior,
    /// Draws of a fit to the real data, which count as well then.
    Conditional,
}

impl SbcSimulation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Prior => "prior",
            Self::Conditional => "conditional",
        }
    }
}

impl Default for SbcOptions {
    fn default() -> Self {
        let datasets = NonZero::new(200).unwrap_or(NonZero::<usize>::MIN);
        Self {
            datasets,
            method: SbcMethod::default(),
            simulate: SbcSimulation::default(),
            generation: Generation::default(),
        }
    }
}

/// Whose draws are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SbcMethod {
    /// The No-U-Turn sampler.
    #[default]
    Nuts,
    /// An approximation, fitted anew to each dataset.
    Approximation(ApproximationChoice),
}

impl SbcMethod {
    pub fn name(self) -> &'static str {
        match self {
            Self::Nuts => "nuts",
            Self::Approximation(choice) => choice.name(),
        }
    }
}

/// A result, and what it says as an exit code does.
#[derive(Clone, Debug)]
pub struct SbcOutput {
    pub result: Sbc,
    pub diagnosis: Diagnosis,
}

/// Fewer datasets are no test.
const FEWEST: usize = 20;
/// Uniformity is given up below this p-value, for all quantities together.
const SIGNIFICANT: f64 = 0.01;
/// A method that is in trouble on a greater share of datasets does not work, whatever ranks say.
const MOST_TROUBLES: f64 = 0.1;
/// Simulations of the null distribution: for each quantity, and at least.
const SIMULATIONS: usize = 10_000;
const SIMULATIONS_EACH: usize = 500;
const BAND: f64 = 0.95;
/// Draws of it at which the reading of the likelihood is proven.
const PROVEN: usize = 20;

/// Whether it could help not to draw from the prior.
fn may_be_about_the_prior(error: &Error) -> bool {
    match error {
        Error::Reading { problems, .. } => {
            !problems.iter().any(|problem| ["wrong-simulator", "not-a-density"].contains(&problem.code))
        }
        error => matches!(error, Error::Simulate { .. }),
    }
}

/// Simulates datasets with the parameters behind them, runs the method on each, and asks whether the parameters lie
/// among its draws as one more draw would.
pub fn sbc(problem: &Problem, options: &SbcOptions, session: &Session<'_>) -> Result<SbcOutput, Error> {
    let wanted = options.datasets.get();
    let conditional = options.simulate == SbcSimulation::Conditional;
    let generation =
        Generation { likelihood_only: conditional, sample_prior: !conditional, ..options.generation.clone() };
    let given = if conditional { Outcomes::Given } else { Outcomes::Simulated };
    let loaded = Generative::read(problem, &generation, given, session).inspect_err(|error| {
        if !conditional && may_be_about_the_prior(error) {
            session.message(Message::Note(
                "`--simulate conditional` draws parameters from a fit to the real data: then no prior has to be drawn from",
            ));
        }
    })?;
    let faults = Faults::default();
    let (origin, fit) = if conditional {
        session.begin("The fit to the real data", 0, Unit::Transitions);
        let fitted = Origin::fitted(&loaded, wanted, (session, &faults));
        let (origin, fit) = fitted.map_err(|trouble| named(&loaded, &faults, trouble))?;
        if let Origin::Conditional { truths, .. } = &origin {
            loaded.prove_at(&truths[..truths.len().min(PROVEN)], session.seed)?;
        }
        (origin, Some(fit))
    } else {
        (Origin::Prior, None)
    };
    session.begin("Simulated datasets", wanted, Unit::Trials);
    let trials = all((&loaded, &origin), options, (session, &faults))?;
    let partial = trials.len() < wanted;
    if partial && trials.is_empty() {
        return Err(Error::Interrupted);
    }
    let mut result = summarise(problem, options, session, (&trials, fit));
    if loaded.simulator.is_supplied() && result.quantities.iter().any(|quantity| quantity.fault.is_some()) {
        result.verdict.sentence.push_str(
            " Or the simulator that was supplied does not draw what the program states: places do not tell which.",
        );
    }
    loaded.tell_approximate(&mut result.verdict);
    let diagnosis = match result.verdict.level {
        _ if partial => Diagnosis::Partial,
        Level::Good | Level::Partial => Diagnosis::Fine,
        _ => Diagnosis::Bad,
    };
    Ok(SbcOutput { result: Sbc { partial, ..result }, diagnosis })
}

/// All datasets in order, as far as the run was not stopped. Results do not depend on how they are spread over threads.
fn all<'a>(
    (loaded, origin): (&'a Generative<'a>, &Origin<'a>),
    options: &SbcOptions,
    (session, faults): (&Session<'_>, &Faults),
) -> Result<Vec<Trial>, Error> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<Trial, Trouble>)>> = Mutex::default();
    let threads = session.threads().get().min(options.datasets.get());
    let work = || {
        let mut simulator = loaded.simulator.clone();
        while !session.stop.is_stopped() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= options.datasets.get() {
                break;
            }
            let trial = run((loaded, origin), &mut simulator, options.method, number, (session, faults));
            if session.stop.is_stopped() {
                break;
            }
            session.observer.progress(&Progress::Advance(1));
            let failed = trial.is_err();
            found.lock().unwrap_or_else(PoisonError::into_inner).push((number, trial));
            if failed {
                next.store(options.datasets.get(), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(number, _)| *number);
    let trials: Result<Vec<Trial>, Trouble> = found.into_iter().map(|(_, trial)| trial).collect();
    trials.map_err(|trouble| named(loaded, faults, trouble))
}

fn named(loaded: &Generative<'_>, faults: &Faults, trouble: Trouble) -> Error {
    match trouble {
        Trouble::Simulate(error) => loaded.program().simulate(error),
        Trouble::Engine(error) => loaded.program().engine(error),
        Trouble::Infer(error) => loaded.context(faults).infer(error),
    }
}

fn summarise(
    problem: &Problem,
    options: &SbcOptions,
    session: &Session<'_>,
    (trials, fit): (&[Trial], Option<SbcFit>),
) -> Sbc {
    let sampled: Vec<&Trial> = trials.iter().filter(|trial| !trial.places.is_empty()).collect();
    let quantities = sampled.first().map_or(0, |trial| trial.places.len());
    let simulations = SIMULATIONS.max(SIMULATIONS_EACH * quantities).min(50 * SIMULATIONS);
    let null = Uniformity::new(sampled.len(), simulations);
    let places: Vec<Vec<f64>> =
        (0..quantities).map(|j| sampled.iter().map(|trial| trial.places[j]).collect()).collect();
    let p_values: Vec<f64> = places.iter().map(|places| null.p_value(places)).collect();
    let adjusted = holm(&p_values);
    let names = sampled.first().map(|trial| trial.names.to_vec()).unwrap_or_default();
    let quantities: Vec<SbcQuantity> = names
        .into_iter()
        .zip(places)
        .zip(p_values.iter().zip(adjusted))
        .map(|((name, places), (&p_value, adjusted_p_value))| SbcQuantity {
            fault: (adjusted_p_value < SIGNIFICANT).then(|| fault(&places).to_owned()),
            name,
            p_value,
            adjusted_p_value,
            places,
        })
        .collect();
    let of = |is: fn(&Trial) -> bool| trials.iter().filter(|trial| is(trial)).count();
    let troubles =
        Troubles { r_hat: of(|t| t.apart), divergences: of(|t| t.divergent), failed: of(|t| t.places.is_empty()) };
    let mut result = Sbc {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: problem.program().file_name(),
        data: problem.data_file_name(),
        seed: session.seed,
        simulate: options.simulate.name().to_owned(),
        fit,
        method: options.method.name().to_owned(),
        datasets: trials.len(),
        wanted: options.datasets.get(),
        troubles,
        quantities,
        band: null.band(BAND),
        verdict: Verdict::default(),
        partial: false,
    };
    result.verdict = verdict(&result);
    result
}

/// The verdict in a sentence: first what did not run, then what is not uniform.
fn verdict(result: &Sbc) -> Verdict {
    let Sbc { datasets, method, troubles, quantities, .. } = result;
    let worst = quantities.iter().min_by(|a, b| a.p_value.total_cmp(&b.p_value));
    let share = |n: usize| count(n) / count(*datasets).max(1.0);
    let places = match worst {
        Some(SbcQuantity { name, adjusted_p_value, fault: Some(fault), .. }) => {
            let others = quantities.iter().filter(|q| q.fault.is_some()).count() - 1;
            let more = if others == 0 { String::new() } else { format!(", and so for {others} more") };
            Some(format!("{fault} for `{name}` (p = {adjusted_p_value:.4} for all quantities together){more}"))
        }
        _ => None,
    };
    let trouble = [
        (troubles.failed, "could not start"),
        (troubles.r_hat, "has chains that did not meet (R-hat above 1.1)"),
        (troubles.divergences, "has more than one divergent transition in a hundred"),
    ];
    let trouble = trouble.into_iter().filter(|(n, _)| share(*n) > MOST_TROUBLES).max_by_key(|(n, _)| *n);
    let trouble = trouble.map(|(n, words)| format!("{method} {words} on {n} of {datasets} datasets"));
    let bad_fit = result.fit.as_ref().filter(|fit| !fit.is_worth(*datasets));
    let (level, sentence) = match (places, trouble) {
        _ if let Some(SbcFit { r_hat, name, ess }) = bad_fit => {
            let words = format!(
                "The fit to the real data cannot be trusted, and what was simulated rests on it: the largest R-hat is \
                 {r_hat:.2} ({name}), and the least effective sample size {ess:.0} for {datasets} datasets."
            );
            (Level::Poor, words)
        }
        (Some(places), None) => (Level::Poor, format!("{method} is not calibrated: {places}.")),
        (Some(places), Some(trouble)) => (Level::Poor, format!("{method} is not calibrated: {places}; {trouble}.")),
        (None, Some(trouble)) => {
            (Level::Poor, format!("{trouble}, so that its draws are not to be trusted, whatever ranks say."))
        }
        (None, None) if *datasets < FEWEST => {
            (Level::Partial, format!("{datasets} datasets are no test: at least {FEWEST} are needed."))
        }
        (None, None) => {
            let least = worst.map_or(1.0, |q| q.adjusted_p_value);
            let n = quantities.len();
            let words = format!(
                "{method} is calibrated as far as {datasets} datasets show: the places of exact draws among its own are \
                 uniform for all {n} quantities (p = {least:.2} for all together)."
            );
            (Level::Good, words)
        }
    };
    Verdict {
        sentence,
        rests_on: vec![
            match result.fit {
                None => format!("{datasets} datasets that the model itself has made, with the parameters behind them"),
                Some(_) => format!(
                    "{datasets} datasets that were simulated with draws of a fit to the real data by NUTS, and posteriors \
                     given the real and the simulated data: those draws are exact ones if the fit is right"
                ),
            },
            "ranks of unconstrained parameters, the log likelihood and the log density".to_owned(),
        ],
        does_not_cover: vec![
            "whether the model fits the real data".to_owned(),
            match result.fit {
                None => "parts of the prior that are rare among the simulated datasets".to_owned(),
                Some(_) => "data that are unlike the real ones; places that the fit to the real data misses".to_owned(),
            },
        ],
        level,
    }
}
