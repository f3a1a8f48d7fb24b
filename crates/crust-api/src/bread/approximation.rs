//! `crust bread --method`: how far an approximation is from the posterior, in nats.
//!
//! On simulated data there is an exact draw, so that log Z lies between bounds, and with it KL(q‖p) = log Z − ELBO(q)
//! and KL(p‖q) = E[log f − log q] − log Z, whose expectation the exact draw estimates without bias. The approximation is
//! fitted anew to every dataset. On the real data only the lower bounds remain.

use super::BreadOptions;
use super::basis::{Basis, Ways};
use super::judged::judge;
use crate::annealing::{Annealed, Annealing, Diagnosis, PathChoice};
use crate::approximate::{ApproximationChoice, Fitted, Wanted, check_radius, fit};
use crate::error::{Error, Trouble};
use crate::experiment::{Origin, Settings, StanExperiment, given};
use crate::problem::Problem;
use crate::session::Session;
use crust_diagnose::bread::Fitted as _;
use crust_diagnose::divergence::{conclude, lower_limit, upper_limit};
use crust_diagnose::experiment::{Experiment, Group, REAL, TWIN, Work};
use crust_diagnose::ladder::Ladder;
use crust_diagnose::result::{BreadApproximation, FitOf, Level, Simulation, Timing};
use crust_diagnose::sandwich::lower_bound;
use crust_infer::anneal::TunedKernels;
use crust_infer::approximate::Error as ApproximateError;
use crust_infer::approximate::evaluate::{Evaluations, Points};
use crust_infer::error::Error as InferError;
use std::time::Instant;

/// The first simulated dataset, on which T is chosen.
const FIRST: u32 = 1;
/// Datasets unless told otherwise: the least with which the real data can be told from simulated ones at 5 %.
pub(crate) const DATASETS: u32 = 20;
const NO_EXACT_DRAW: &str = "there is no exact draw: an approximation is judged with `conditional` or `prior`";
/// The longest paths.
const LONGEST: usize = 3000;

struct Protocol<'a, 'b> {
    experiment: StanExperiment<'a>,
    options: &'b BreadOptions,
    wanted: Wanted,
    began: Instant,
}

/// Fits an approximation to the real data and to simulated ones, and bounds how far it is from their posteriors.
pub fn bread_approximation(
    problem: &Problem,
    options: &BreadOptions,
    (method, radius): (ApproximationChoice, f64),
    session: &Session<'_>,
) -> Result<Annealed<BreadApproximation>, Error> {
    let began = Instant::now();
    options.check()?;
    check_radius(radius)?;
    if options.replicates < 3 {
        return Err(Error::option("replicates", options.replicates, "at least 3 datasets are needed for an average"));
    }
    if let Some(kind) = options.simulate.filter(|kind| *kind == Simulation::Nothing) {
        return Err(Error::option("simulate", kind.name(), NO_EXACT_DRAW));
    }
    let ways = Ways::of(problem, options);
    let Basis { loaded, simulation, .. } = Basis::drawn(&ways, options, None, session)?;
    if simulation.kind == Simulation::Fitted {
        return Err(Error::option("simulate", simulation.kind.name(), NO_EXACT_DRAW));
    }
    let annealing = Annealing { path: Some(PathChoice::Reference), ..options.annealing.clone() };
    let model = loaded.problem.model(session.seed)?;
    let chains = if options.draws.is_empty() { None } else { Some(given::read(&options.draws, &model)?) };
    let settings = annealing.settings(options.method, session);
    let settings = Settings { simulation: simulation.kind, began, budget: options.budget, ..settings };
    let faults = settings.faults.clone();
    let origin = Origin::Own(Box::new(loaded.simulator.clone()));
    let fit = match chains {
        Some(chains) => Some((chains, judge(problem, options, &model, session)?)),
        None => None,
    };
    let experiment = StanExperiment::new(&loaded, settings, origin).with_real_data(model).with_fit(fit);
    let mut result = BreadApproximation { method: method.name().to_owned(), simulation, ..Default::default() };
    let mut run = annealing.run(problem, session.seed, experiment.dimension());
    options.method.tell(&mut run);
    run.options.insert("simulate".to_owned(), result.simulation.kind.name().to_owned());
    run.options.insert("method".to_owned(), method.name().to_owned());
    result.run = run;
    let wanted = Wanted { method, radius, seed: session.seed };
    let mut protocol = Protocol { experiment, options, wanted, began };
    match protocol.run(&annealing.ladder(), &mut result) {
        Ok(()) => {}
        Err(Trouble::Infer(InferError::Interrupted) | Trouble::Approximate(ApproximateError::Interrupted)) => {
            result.partial = true;
        }
        Err(trouble) => return Err(loaded.context(&faults).trouble(trouble)),
    }
    conclude(&mut result, annealing.acceptable());
    loaded.tell_approximate(&mut result.verdict);
    let diagnosis = match result.verdict.level {
        Level::Partial => Diagnosis::Partial,
        Level::Good => Diagnosis::Fine,
        Level::Poor | Level::Mismatch | Level::Violation => Diagnosis::Bad,
    };
    Ok(Annealed { result, timing: Timing::default(), diagnosis, simulated: vec![] })
}

impl Protocol<'_, '_> {
    fn run(&mut self, ladder: &Ladder, result: &mut BreadApproximation) -> Result<(), Trouble> {
        let (found, anchor) = self.experiment.fit()?;
        let unfinished = found.unfinished;
        result.fit = Some(found);
        if unfinished {
            return Ok(());
        }
        self.experiment.fix(&anchor);
        let conditional = result.simulation.kind == Simulation::Conditional;
        let truth = self.experiment.simulate(FIRST)?;
        let kernels = self.experiment.tune(FIRST)?;
        let (t, forward, reverse) = self.climb(ladder, &kernels, &truth)?;
        result.t = t;
        result.simulated.push(self.judge(FIRST, Some(&truth), &forward, &reverse)?);
        // The kernels of one dataset serve all that are conditional on the same real data.
        let own = if conditional { None } else { Some(self.experiment.tune(REAL)?) };
        let forward = self.forward(own.as_ref().unwrap_or(&kernels), REAL, t)?;
        let real = self.judge(REAL, None, &forward, &[])?;
        if let Some(failure) = &real.failure {
            // Nothing is judged if there is no approximation of the real data.
            return Err(Trouble::Approximate(ApproximateError::NoMode(failure.clone())));
        }
        result.real = Some(real);
        if conditional {
            self.experiment.simulate(TWIN)?;
            let forward = self.forward(&kernels, TWIN, t)?;
            result.twin = Some(self.judge(TWIN, None, &forward, &[])?);
        }
        let begun = self.began.elapsed().as_secs_f64();
        for dataset in FIRST + 1..=self.options.replicates {
            if self.is_late(begun, dataset - FIRST) {
                break;
            }
            let truth = self.experiment.simulate(dataset)?;
            let own = if conditional { None } else { Some(self.experiment.tune(dataset)?) };
            let kernels = own.as_ref().unwrap_or(&kernels);
            let forward = self.forward(kernels, dataset, t)?;
            let reverse = self.reverse(kernels, dataset, t, &truth)?;
            result.simulated.push(self.judge(dataset, Some(&truth), &forward, &reverse)?);
        }
        Ok(())
    }

    /// Whether one more dataset would take longer than the budget. Three are the least that make an average.
    fn is_late(&self, begun: f64, done: u32) -> bool {
        let Some(budget) = self.options.budget else { return false };
        let elapsed = self.began.elapsed().as_secs_f64();
        let each = (elapsed - begun) / f64::from(done.max(2) - 1);
        done >= 3 && elapsed + each > budget
    }

    /// Longer and longer paths until the bounds on log Z are as close as the tolerance, or time is short.
    fn climb(
        &mut self,
        ladder: &Ladder,
        kernels: &TunedKernels,
        truth: &[f64],
    ) -> Result<(usize, Vec<f64>, Vec<f64>), Trouble> {
        let chains = self.options.annealing.chains;
        let steps: Vec<usize> =
            ladder.steps.iter().copied().filter(|t| *t <= LONGEST || ladder.steps.len() == 1).collect();
        let mut last = None;
        for t in steps {
            self.experiment.announce(&format!("Annealing a simulated dataset, T = {t}"), 2 * t * chains);
            let begin = Instant::now();
            let forward = self.forward(kernels, FIRST, t)?;
            let reverse = self.reverse(kernels, FIRST, t, truth)?;
            let seconds = begin.elapsed().as_secs_f64();
            let gap = upper_limit(&reverse) - lower_limit(&forward);
            last = Some((t, forward, reverse));
            // The next rung takes about three times as long, on this and on all other datasets.
            let needed = 3.2 * seconds * f64::from(self.options.replicates.min(DATASETS) + 2);
            let left = self.options.budget.map_or(f64::INFINITY, |b| b - self.began.elapsed().as_secs_f64());
            if gap <= self.options.annealing.tolerance || needed > left {
                break;
            }
        }
        last.ok_or(Trouble::NotSimulated { dataset: FIRST })
    }

    fn forward(&mut self, kernels: &TunedKernels, dataset: u32, t: usize) -> Result<Vec<f64>, Trouble> {
        let group = Group { dataset, t, first: 0, chains: self.options.annealing.chains };
        Ok(self.experiment.forward(kernels, group)?.iter().map(|work| work.log_weight).collect())
    }

    fn reverse(&mut self, kernels: &TunedKernels, dataset: u32, t: usize, truth: &[f64]) -> Result<Vec<f64>, Trouble> {
        let chains = self.options.annealing.chains;
        let group = Group { dataset, t, first: 0, chains };
        let works: Vec<Work> = self.experiment.reverse(kernels, group, &vec![truth.to_vec(); chains])?;
        Ok(works.iter().map(|work| -work.log_weight).collect())
    }

    /// Fits the approximation to a dataset and bounds its divergence.
    fn judge(
        &mut self,
        dataset: u32,
        truth: Option<&Vec<f64>>,
        forward: &[f64],
        reverse: &[f64],
    ) -> Result<FitOf, Trouble> {
        let target = self.experiment.whole(dataset)?;
        let (how, control) = self.experiment.machine();
        let mut evaluations = Evaluations::new(&target, how, control);
        let failed = |error: ApproximateError| match error {
            ApproximateError::Interrupted | ApproximateError::Fatal(_) => Err(error),
            error => Ok(FitOf { dataset, failure: Some(error.to_string()), ..FitOf::default() }),
        };
        let fitted: Fitted = match fit(&mut evaluations, self.wanted) {
            Ok(fitted) => fitted,
            Err(error) => return Ok(failed(error)?),
        };
        let exact_log_ratio = match truth {
            Some(truth) => {
                let mut at = Points::new(truth.len(), truth.clone());
                evaluations.evaluate(&mut at, false)?;
                Some(at.log_density[0] - fitted.approximation.log_density(truth))
            }
            None => None,
        };
        Ok(FitOf {
            dataset: if dataset == TWIN { REAL } else { dataset },
            bounds: fitted.bounds(forward, reverse),
            gap: lower_bound(forward) - fitted.elbo.value,
            exact_log_ratio,
            k_hat: fitted.k_hat(),
            converged: fitted.converged,
            failure: None,
        })
    }
}
