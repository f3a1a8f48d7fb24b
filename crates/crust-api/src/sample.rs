//! `crust sample`: draws from the posterior with NUTS or HMC, and says whether they can be trusted.

mod files;
mod record;

use crate::error::{Error, Faults};
use crate::problem::Problem;
use crate::session::{Session, Unit};
use crate::target::{Evaluation, StanTarget};
use crate::values::{Init, Initial, initial};
use crust_diagnose::draws::{Algorithm, Draws, Metric, RunConfiguration};
use crust_diagnose::result::{Sample, SampleFacts, Seconds};
use crust_diagnose::summary::{Summary, SummaryOptions};
use crust_engine::Model;
use crust_infer::drive::Driver;
use crust_infer::error::Error as InferError;
use crust_infer::kernel::{MAX_ENERGY_ERROR, Method, State, Statistics};
use crust_infer::metric::MetricKind;
use crust_infer::sample::{Draw, KernelSource, Observer, Settings, Start, sample as run_chains};
use crust_infer::step_size::Averaging;
use crust_infer::warmup::Warmup;
use crust_math::random::{Purpose, StreamKey};
use record::{Columns, Failure, Keep, Recorded, Recorder};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of `sample`.
#[derive(Clone, Debug)]
pub struct SampleOptions {
    pub chains: u32,
    /// Iterations of warm-up in each chain.
    pub warmup: usize,
    /// Draws after warm-up in each chain.
    pub draws: usize,
    pub init: Init,
    /// The acceptance rate that warm-up aims for, between 0 and 1.
    pub delta: f64,
    /// The greatest depth of NUTS's trees: at most 2^N gradients for a draw.
    pub max_depth: u32,
    pub metric: MetricChoice,
    /// Keep one of so many draws.
    pub thin: NonZero<usize>,
    /// Keep the draws of warm-up too.
    pub save_warmup: bool,
    pub method: MethodChoice,
    /// A folder for the draws, which are written as they come: `chain-1.csv` … as Stan writes them, and `draws.zarr`.
    pub folder: Option<PathBuf>,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self {
            chains: 4,
            warmup: 1000,
            draws: 1000,
            init: Init::default(),
            delta: 0.8,
            max_depth: 10,
            metric: MetricChoice::default(),
            thin: NonZero::<usize>::MIN,
            save_warmup: false,
            method: MethodChoice::default(),
            folder: None,
        }
    }
}

/// What warm-up estimates of the covariance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricChoice {
    /// The variances.
    #[default]
    Diag,
    /// The whole matrix.
    Dense,
    /// Nothing: the identity.
    Unit,
}

/// How draws are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MethodChoice {
    /// The No-U-Turn sampler.
    #[default]
    Nuts,
    /// Hamiltonian Monte Carlo with trajectories of length 2π.
    Hmc,
}

/// Draws from the posterior with their summary.
#[derive(Clone, Debug)]
pub struct SampleOutput {
    pub result: Sample,
    pub draws: Draws,
}

/// Where to start is the first thing to try.
const HINT: &str = "`--init FILE`, or a number below 2 such as `--init 0.1`";

/// Draws from the posterior. A run that was stopped keeps what was drawn.
pub fn sample(problem: &Problem, options: &SampleOptions, session: &Session<'_>) -> Result<SampleOutput, Error> {
    let model = problem.model(session.seed)?;
    session.printed(&model.messages);
    let initial = initial(&options.init, &model, session)?;
    let mut recorder = recorder(options, &model, session);
    if let Some(folder) = &options.folder {
        let configuration = configuration(problem, options, session.seed);
        files::prepare(folder, &configuration.model, options.chains as usize)?;
        let opened = recorder.write_to(folder, &configuration);
        opened.map_err(Error::io("write to", folder))?;
    }
    let before = session.stop.evaluations();
    recorder.begin();
    let drawn = if model.dimension() == 0 {
        generate(options, &recorder, session);
        Ok(())
    } else {
        draw(problem, &model, options, &initial, &recorder, session)
    };
    // A mistake in `generated quantities` ends the run as an interruption does: it is the reason to report.
    let recorded = match (drawn, recorder.finish()) {
        (Err(error), _) => return Err(error),
        (Ok(()), Err(Failure::Program(error))) => return Err(problem.program().engine(error)),
        (Ok(()), Err(Failure::File(error))) => return Err(Error::Draws(error)),
        (Ok(()), Ok(recorded)) => recorded,
    };
    if let Some(folder) = &options.folder {
        files::write_store(folder, &recorded.draws)?;
    }
    let gradients = session.stop.evaluations() - before;
    Ok(SampleOutput { result: summarise(options, &recorded, gradients, session), draws: recorded.draws })
}

fn recorder<'a>(options: &SampleOptions, model: &Arc<Model>, session: &Session<'a>) -> Recorder<'a> {
    let columns = match (model.dimension(), options.method) {
        (0, _) => Columns::Fixed,
        (_, MethodChoice::Nuts) => Columns::Nuts,
        (_, MethodChoice::Hmc) => Columns::Hmc,
    };
    let keep = Keep {
        columns,
        thin: options.thin.get(),
        save_warmup: options.save_warmup,
        warmup: if columns == Columns::Fixed { 0 } else { options.warmup },
        key: StreamKey::new(session.seed, Purpose::GENERATED),
    };
    let chains = options.chains as usize;
    let share = session.parallelism().share(chains);
    session.begin("", chains * (keep.warmup + options.draws), Unit::Iterations);
    Recorder::new(model, keep, chains, share, session.observer)
}

/// Runs the chains.
fn draw(
    problem: &Problem,
    model: &Arc<Model>,
    arguments: &SampleOptions,
    initial: &Initial,
    recorder: &Recorder<'_>,
    session: &Session<'_>,
) -> Result<(), Error> {
    let evaluation = Evaluation::of(model, arguments.chains as usize);
    let faults = Faults::default();
    let posterior = StanTarget::posterior(model, problem.program().text(), evaluation, Some(session.observer));
    let posterior = posterior.reporting_to(&faults);
    let method = match arguments.method {
        MethodChoice::Nuts => Method::Nuts { max_depth: arguments.max_depth, max_energy_error: MAX_ENERGY_ERROR },
        MethodChoice::Hmc => Method::hmc(),
    };
    let warmup = Warmup {
        metric: match arguments.metric {
            MetricChoice::Diag => MetricKind::Diagonal,
            MetricChoice::Dense => MetricKind::Dense,
            MetricChoice::Unit => MetricKind::Unit,
        },
        averaging: Averaging { delta: arguments.delta, ..Averaging::default() },
        ..Warmup::new(method)
    };
    let settings = Settings {
        key: StreamKey::new(session.seed, Purpose::NUTS),
        warmup: arguments.warmup,
        draws: arguments.draws,
        kernel: KernelSource::Warmup(warmup),
        radius: initial.radius,
        candidates: 1,
    };
    let start = |chain| Start { given: initial.given.clone(), ..Start::random(chain) };
    let starts: Vec<Start> = (1..=arguments.chains).map(start).collect();
    let control = session.stop.control();
    let mut driver = Driver::new(posterior, session.parallelism());
    match run_chains(&mut driver, &settings, &starts, recorder, control) {
        Ok(_) => Ok(()),
        Err(error @ InferError::Initial { .. }) => {
            let suspicion = problem.suspicion(problem.values()?).map(Box::new);
            Err(Error::Infer { error: Box::new(error), hint: Some(HINT), suspicion })
        }
        Err(error) => Err(problem.context(&faults, None).infer(error)),
    }
}

/// A program without parameters: its generated quantities are all there is to draw.
fn generate(arguments: &SampleOptions, recorder: &Recorder<'_>, session: &Session<'_>) {
    let state = State::default();
    let statistics = Statistics {
        accept_stat: 0.0,
        step_size: 0.0,
        tree_depth: 0,
        leapfrog_steps: 0,
        divergent: false,
        energy: 0.0,
    };
    for iteration in 0..arguments.draws {
        for chain in 1..=arguments.chains {
            let draw = Draw { chain, iteration, warmup: false, beta: 1.0, state: &state, statistics };
            if session.stop.is_stopped() || recorder.draw(&draw).is_break() {
                return;
            }
        }
    }
}

fn summarise(arguments: &SampleOptions, recorded: &Recorded, gradients: u64, session: &Session<'_>) -> Sample {
    let max_depth = (arguments.method == MethodChoice::Nuts).then_some(arguments.max_depth);
    let options = SummaryOptions { max_depth, ..SummaryOptions::default() };
    let summary = Summary::new(&recorded.draws, &options);
    let seconds = Seconds { warmup: recorded.seconds.warmup, sampling: recorded.seconds.sampling };
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let gradients_per_second = gradients as f64 / (seconds.warmup + seconds.sampling).max(1e-9);
    Sample {
        divergences: recorded.divergences,
        max_depth_reached: summary.sampler.max_depth_reached,
        ebfmi: summary.sampler.ebfmi,
        seconds,
        chains: summary.chains,
        draws: summary.draws,
        interrupted: session.stop.is_stopped(),
        gradients,
        gradients_per_second,
        seed: session.seed,
        facts: SampleFacts {
            quantiles: summary.quantiles,
            wanted: arguments.draws.div_ceil(arguments.thin.get()),
            lengths: recorded.draws.lengths(),
            rejected: recorded.rejected,
            reason: recorded.reason.clone(),
        },
        summary: summary.rows,
        warnings: summary.warnings,
    }
}

/// What the files say of the run.
fn configuration(problem: &Problem, arguments: &SampleOptions, seed: u64) -> RunConfiguration {
    RunConfiguration {
        model: problem.program().stem() + "_model",
        num_samples: arguments.draws,
        num_warmup: arguments.warmup,
        save_warmup: arguments.save_warmup,
        thin: arguments.thin.get(),
        delta: arguments.delta,
        algorithm: match arguments.method {
            MethodChoice::Nuts => Algorithm::Nuts { max_depth: arguments.max_depth },
            MethodChoice::Hmc => Algorithm::StaticHmc { int_time: std::f64::consts::TAU },
        },
        metric: match arguments.metric {
            MetricChoice::Diag => Metric::Diagonal,
            MetricChoice::Dense => Metric::Dense,
            MetricChoice::Unit => Metric::Unit,
        },
        num_chains: arguments.chains as usize,
        data_file: problem.data_name().unwrap_or_default().to_owned(),
        init: arguments.init.words(),
        seed,
        ..RunConfiguration::default()
    }
}
