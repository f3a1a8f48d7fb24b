//! Draws from a prior that cannot be drawn from exactly: long runs of NUTS on the prior alone, if they agree.
//!
//! Such draws are approximate, and everything that rests on them says so. A prior without an integral has no draws; NUTS
//! on it runs away, so that R-hat and effective sample sizes are bad, chains that are four times as long get further, or
//! scales leave the numbers that a computer has. Then nothing is drawn.

use super::Loaded;
use crate::error::{Error, Faults};
use crate::problem::Program;
use crate::session::Session;
use crate::target::{Evaluation, StanTarget};
use crust_diagnose::convergence::{ess_bulk, ess_tail, rhat};
use crust_diagnose::number::count;
use crust_engine::{EngineError, Model};
use crust_infer::drive::{Control, Driver};
use crust_infer::error::Error as InferError;
use crust_infer::sample::{Draw, KernelSource, Observer, Settings, Start, sample};
use crust_infer::warmup::Warmup;
use crust_math::random::{Purpose, StreamKey};
use crust_stan::ast::BlockKind;
use crust_stan::joint::is_unbounded;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

const CHAINS: u32 = 4;
const WARMUP: usize = 1000;
/// Draws of a chain at first; the run that counts has four times as many, and four times that if it is not enough.
const DRAWS: usize = 1000;
/// The mean acceptance that warm-up aims at: priors have funnels.
const ACCEPTANCE: f64 = 0.95;
const MOST_R_HAT: f64 = 1.01;
/// Chains that are so far apart after 4,000 draws are not going to meet.
const HOPELESS_R_HAT: f64 = 1.05;
const LEAST_ESS: f64 = 400.0;
const MOST_DIVERGENT: f64 = 0.001;
/// Evaluations of a transition, on average: half of what NUTS allows. Where trajectories find no end there is none, and
/// longer runs would only take long.
const MOST_EVALUATIONS: f64 = 500.0;
/// By how much the middle 98 % of a longer run may be wider than those of a shorter one.
const MOST_GROWTH: f64 = 1.4;
/// A bounded parameter beyond e^±this is on its way out of the numbers that a computer has.
const EDGE: f64 = 200.0;

/// Random numbers of these chains.
const PURPOSE: Purpose = Purpose(Purpose::FIRST_FREE.0 + 0x6c1);

/// Draws of the prior, and how good they are.
pub(super) struct Sampled {
    pub draws: Vec<Vec<f64>>,
    /// What is said wherever they are used.
    pub words: String,
}

/// What did not work.
pub(super) enum Failure {
    /// There are no draws, and why.
    Unsettled(String),
    Error(Box<Error>),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Unsettled(format!("the prior cannot be evaluated by itself: {error}"))
    }
}

/// Chains with their draws, and whether they agree.
struct Run {
    chains: Vec<Vec<Vec<f64>>>,
    divergences: usize,
    /// Evaluations of a transition, on average.
    evaluations: f64,
}

/// Samples the prior of a program whose likelihood was read.
pub(super) fn sampled(program: &Program, loaded: &Loaded, session: &Session<'_>) -> Result<Sampled, Failure> {
    let prior = loaded.simulator.prior_program();
    let model = Arc::new(Model::bind(&prior, &loaded.data, session.seed)?);
    let faults = Faults::default();
    // Without its likelihood, the program has nothing but the prior in either part.
    let target =
        StanTarget::path(&model, program.text(), Evaluation::of(&model, CHAINS as usize)).reporting_to(&faults);
    let mut driver = Driver::new(target, session.parallelism());
    let bounded = bounded(loaded, &model);
    let names = model.unconstrained_names();
    let mut short = run(&mut driver, session, 0)?;
    check_edges(&short, &names, &bounded).map_err(Failure::Unsettled)?;
    if short.evaluations > MOST_EVALUATIONS {
        return Err(Failure::Unsettled("trajectories of NUTS find no end, as where a prior is improper".to_owned()));
    }
    let mut why = String::new();
    for step in 1..=2 {
        let long = run(&mut driver, session, step)?;
        match check(&short, &long, &names, &bounded) {
            Ok(words) => {
                check_same(program, loaded, &long, session)?;
                return Ok(Sampled { draws: long.chains.into_iter().flatten().collect(), words });
            }
            Err(reason) => why = reason,
        }
        let met = |j| rhat(&long.column(j)) <= HOPELESS_R_HAT;
        if !(0..names.len()).all(met) {
            break;
        }
        short = long;
    }
    Err(Failure::Unsettled(why))
}

fn run(driver: &mut Driver<StanTarget<'_>>, session: &Session<'_>, step: u32) -> Result<Run, Failure> {
    let key = StreamKey::new(session.seed, PURPOSE).dataset(step);
    let mut warmup = Warmup::default();
    warmup.averaging.delta = ACCEPTANCE;
    let draws = DRAWS * 4_usize.pow(step);
    let settings = Settings { warmup: WARMUP, draws, kernel: KernelSource::Warmup(warmup), ..Settings::new(key) };
    let starts: Vec<Start> = (0..CHAINS).map(Start::random).collect();
    let recorder = Recorder((0..CHAINS).map(|_| Mutex::default()).collect());
    let control: &Control = session.stop.control();
    let outcomes = sample(driver, &settings, &starts, &recorder, control).map_err(|error| match error {
        InferError::Interrupted => Failure::Error(Box::new(Error::Interrupted)),
        other => Failure::Unsettled(format!("NUTS cannot sample it: {other}")),
    })?;
    let divergences = outcomes.iter().map(|outcome| outcome.divergences).sum();
    let chains: Vec<Vec<Vec<f64>>> =
        recorder.0.into_iter().map(|chain| chain.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    if chains.iter().any(|chain| chain.len() < draws) {
        return Err(Failure::Error(Box::new(Error::Interrupted)));
    }
    let evaluations: u64 = outcomes.iter().map(|outcome| outcome.evaluations).sum();
    #[expect(clippy::cast_precision_loss, reason = "millions")]
    let evaluations = evaluations as f64 / count(CHAINS as usize * (WARMUP + draws));
    Ok(Run { chains, divergences, evaluations })
}

struct Recorder(Vec<Mutex<Vec<Vec<f64>>>>);

impl Observer for Recorder {
    fn draw(&self, draw: &Draw<'_>) -> ControlFlow<()> {
        if let (false, Some(chain)) = (draw.warmup, self.0.get(draw.chain as usize)) {
            chain.lock().unwrap_or_else(PoisonError::into_inner).push(draw.state.q.clone());
        }
        ControlFlow::Continue(())
    }
}

/// Which of the unconstrained numbers belong to parameters with bounds.
fn bounded(loaded: &Loaded, model: &Arc<Model>) -> Vec<bool> {
    let program = &loaded.joint.program;
    let free = |name: &str| {
        let mut own = program.declared_in(BlockKind::Parameters).filter(|id| program.variable(*id).name == name);
        own.next().is_some_and(|id| is_unbounded(program, id))
    };
    model.unconstrained_names().iter().map(|name| !free(name.split(['.', '[']).next().unwrap_or(name))).collect()
}

impl Run {
    /// A number in all chains.
    fn column(&self, j: usize) -> Vec<Vec<f64>> {
        self.chains.iter().map(|chain| chain.iter().map(|point| point[j]).collect()).collect()
    }

    /// How many nats the middle 98 % are wide, and how far out they reach.
    fn reach(&self, j: usize) -> (f64, f64) {
        let mut all = self.column(j).concat();
        all.sort_by(f64::total_cmp);
        let (low, high) = (all[all.len() / 100], all[all.len() - 1 - all.len() / 100]);
        (high - low, low.abs().max(high.abs()))
    }
}

/// Whether bounded parameters stay away from the ends of what a computer can hold. Chains that do not are long to run.
fn check_edges(run: &Run, names: &[String], bounded: &[bool]) -> Result<(), String> {
    match (0..names.len()).find(|j| bounded[*j] && run.reach(*j).1 > EDGE) {
        Some(j) => Err(format!("{} goes to the edge of its constraint, as where a prior is improper", names[j])),
        None => Ok(()),
    }
}

/// Whether draws of the longer run can stand for the prior; the words for it.
fn check(short: &Run, long: &Run, names: &[String], bounded: &[bool]) -> Result<String, String> {
    let (mut most, mut least) = (1.0_f64, f64::INFINITY);
    for (j, name) in names.iter().enumerate() {
        let chains = long.column(j);
        let (r_hat, ess) = (rhat(&chains), ess_bulk(&chains).min(ess_tail(&chains)));
        if r_hat.is_nan() || r_hat > MOST_R_HAT || ess.is_nan() || ess < LEAST_ESS {
            return Err(format!("R-hat of {name} is {r_hat:.2}, and its effective sample size {ess:.0}"));
        }
        (most, least) = (most.max(r_hat), least.min(ess));
        let ((before, _), (after, _)) = (short.reach(j), long.reach(j));
        if after.is_nan() || after > MOST_GROWTH * before {
            return Err(format!("{name} goes further the longer the chains are, as where a prior is improper"));
        }
    }
    check_edges(long, names, bounded)?;
    let draws: usize = long.chains.iter().map(Vec::len).sum();
    if count(long.divergences) > MOST_DIVERGENT * count(draws) {
        return Err(format!("{} of {draws} transitions diverge", long.divergences));
    }
    Ok(format!(
        "parameters are drawn from the prior by NUTS, approximately: {draws} draws, R-hat at most {most:.3}, effective sample \
         sizes at least {least:.0}"
    ))
}

/// The prior by itself is the prior of the program: their densities differ by a constant at draws.
fn check_same(program: &Program, loaded: &Loaded, run: &Run, session: &Session<'_>) -> Result<(), Failure> {
    let points: Vec<Vec<f64>> =
        run.chains.iter().flat_map(|chain| chain.iter().step_by(chain.len() / 8)).cloned().collect();
    let whole = Arc::new(Model::bind(program.typed(), &loaded.data, session.seed)?);
    let alone = Arc::new(Model::bind(&loaded.simulator.prior_program(), &loaded.data, session.seed)?);
    let at = |model: &Arc<Model>| StanTarget::path(model, program.text(), Evaluation::OneByOne);
    let (whole, alone) = (at(&whole).log_priors(&points)?, at(&alone).log_densities(&points)?);
    let differences: Vec<f64> = whole.iter().zip(&alone).map(|(a, b)| a - b).filter(|d| d.is_finite()).collect();
    let (low, high) = differences.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), d| (l.min(*d), h.max(*d)));
    if 2 * differences.len() < points.len() || high - low > 1e-6 * (1.0 + low.abs()) {
        return Err(Failure::Unsettled("prior and likelihood cannot be told apart".to_owned()));
    }
    Ok(())
}
