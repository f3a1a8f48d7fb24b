//! `crust sample`: draws from the posterior with NUTS or HMC, and says whether they can be trusted.

pub mod initial;
mod output;
mod record;
mod report;

use crate::arguments::{Common, MethodChoice, MetricChoice, Sample};
use crate::program::{Bound, bind, show_engine_error};
use crate::target::{Evaluation, StanTarget};
use crate::{Outcome, terminal};
use crust_diagnose::draws::{Algorithm, Metric, RunConfiguration};
use crust_diagnose::summary::{Summary, SummaryOptions};
use crust_engine::EngineError;
use crust_infer::drive::Control;
use crust_infer::error::Error;
use crust_infer::kernel::{MAX_ENERGY_ERROR, Method, State, Statistics};
use crust_infer::metric::MetricKind;
use crust_infer::sample::{Draw, Observer, Plan, Settings, Start, sample};
use crust_infer::step_size::Averaging;
use crust_infer::warmup::Warmup;
use crust_math::random::{Purpose, StreamKey};
use indicatif::{ProgressBar, ProgressStyle};
use initial::Initial;
use record::{Columns, Failure, Keep, Recorded, Recorder};
use report::{Report, Run};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

pub fn run(arguments: &Sample, common: &Common) -> Result<Outcome, String> {
    let Some(bound) = bind(&arguments.program, arguments.computing.seed, common.quiet)? else {
        return Ok(Outcome::BadInput);
    };
    terminal::check_writable(common.json.as_deref())?;
    let initial = initial::read(&arguments.init, &bound, common.quiet)?;
    let mut recorder = recorder(arguments, &bound, common.quiet);
    if let Some(folder) = &arguments.out {
        output::prepare(folder, arguments.chains as usize)?;
        let opened = recorder.write_to(folder, &configuration(arguments));
        opened.map_err(|e| format!("cannot write to {}: {e}", folder.display()))?;
    }
    let control = Arc::new(Control::default());
    interrupt_on_ctrl_c(&control)?;
    recorder.begin();
    let drawn = if bound.model.dimension() == 0 {
        generate(arguments, &recorder, &control);
        Ok(())
    } else {
        draw(arguments, common, &bound, &initial, &recorder, &control)
    };
    // A mistake in `generated quantities` ends the run as an interruption does: it is the reason to report.
    let recorded = match (drawn, recorder.finish()) {
        (Err(error), _) => return failed(error, &bound),
        (Ok(()), Err(Failure::Program(error))) => {
            show_engine_error(&bound.reading, &error);
            return Ok(Outcome::BadInput);
        }
        (Ok(()), Err(Failure::File(error))) => return Err(format!("cannot write the draws: {error}")),
        (Ok(()), Ok(recorded)) => recorded,
    };
    if let Some(folder) = &arguments.out {
        output::write_store(folder, &recorded.draws)?;
    }
    tell(arguments, common, &recorded, &control)?;
    Ok(Outcome::Fine)
}

fn recorder(arguments: &Sample, bound: &Bound, quiet: bool) -> Recorder {
    let columns = match (bound.model.dimension(), arguments.method) {
        (0, _) => Columns::Fixed,
        (_, MethodChoice::Nuts) => Columns::Nuts,
        (_, MethodChoice::Hmc) => Columns::Hmc,
    };
    let keep = Keep {
        columns,
        thin: arguments.thin.get(),
        save_warmup: arguments.save_warmup,
        warmup: if columns == Columns::Fixed { 0 } else { arguments.warmup },
        key: StreamKey::new(arguments.computing.seed, Purpose::GENERATED),
    };
    let iterations = u64::from(arguments.chains) * (keep.warmup + arguments.draws) as u64;
    let chains = arguments.chains as usize;
    let share = arguments.computing.parallelism().share(chains);
    Recorder::new(&bound.model, keep, chains, share, progress_bar(iterations, quiet))
}

/// On a terminal; elsewhere nothing is shown.
fn progress_bar(iterations: u64, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} iterations, {eta} left");
    let bar = ProgressBar::new(iterations);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

/// The first Ctrl-C ends the run and keeps what was drawn, the second ends the program.
pub fn interrupt_on_ctrl_c(control: &Arc<Control>) -> Result<(), String> {
    /// What shells report for a program that Ctrl-C ended.
    const INTERRUPTED: i32 = 130;
    /// The run that is under way: a command may consist of several.
    static CURRENT: Mutex<Option<Arc<Control>>> = Mutex::new(None);
    let current = || CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    if current().replace(Arc::clone(control)).is_some() {
        return Ok(());
    }
    let handler = move || match &*current() {
        Some(control) if !control.is_interrupted() => control.interrupt(),
        _ => std::process::exit(INTERRUPTED),
    };
    ctrlc::set_handler(handler).map_err(|e| format!("Ctrl-C cannot be handled: {e}"))
}

/// Runs the chains.
fn draw(
    arguments: &Sample,
    common: &Common,
    bound: &Bound,
    initial: &Initial,
    recorder: &Recorder,
    control: &Control,
) -> Result<(), Error> {
    let evaluation = Evaluation::of(&bound.model, arguments.chains as usize);
    let posterior = StanTarget::posterior(&bound.model, &bound.reading.source, evaluation, !common.quiet);
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
        key: StreamKey::new(arguments.computing.seed, Purpose::NUTS),
        warmup: arguments.warmup,
        draws: arguments.draws,
        plan: Plan::Warmup(warmup),
        radius: initial.radius,
    };
    let start = |chain| Start { given: initial.given.clone(), ..Start::random(chain) };
    let starts: Vec<Start> = (1..=arguments.chains).map(start).collect();
    sample(&posterior, &settings, &starts, arguments.computing.parallelism(), recorder, control).map(|_| ())
}

/// A program without parameters: its generated quantities are all there is to draw.
fn generate(arguments: &Sample, recorder: &Recorder, control: &Control) {
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
            if control.is_interrupted() || recorder.draw(&draw).is_break() {
                return;
            }
        }
    }
}

/// Mistakes in the program are shown where they are, others are told.
fn failed(error: Error, bound: &Bound) -> Result<Outcome, String> {
    match error {
        Error::Fatal(fatal) => match fatal.0.downcast::<EngineError>() {
            Ok(error) => {
                show_engine_error(&bound.reading, &error);
                Ok(Outcome::BadInput)
            }
            Err(other) => Err(other.to_string()),
        },
        Error::Initial { .. } => {
            let suspicion = bound.suspicion.as_ref().map(|suspicion| format!("; {suspicion}")).unwrap_or_default();
            Err(format!("{error} (`--init FILE`, or a number below 2 such as `--init 0.1`){suspicion}"))
        }
        other => Err(other.to_string()),
    }
}

/// The result, as text or JSON or both.
fn tell(arguments: &Sample, common: &Common, recorded: &Recorded, control: &Control) -> Result<(), String> {
    if common.quiet && common.json.is_none() {
        return Ok(());
    }
    let max_depth = (arguments.method == MethodChoice::Nuts).then_some(arguments.max_depth);
    let options = SummaryOptions { max_depth, ..SummaryOptions::default() };
    let summary = Summary::new(&recorded.draws, &options);
    let wanted = arguments.draws.div_ceil(arguments.thin.get());
    let run = Run {
        interrupted: control.is_interrupted(),
        gradients: control.evaluations(),
        seed: arguments.computing.seed,
        wanted,
    };
    let report = Report::new(recorded, &summary, run);
    if let Some(file) = &common.json {
        terminal::deliver(&report, file)?;
    }
    if !common.quiet && !common.json.as_deref().is_some_and(terminal::is_stdout) {
        terminal::say(&report.text(recorded, &summary, run));
    }
    Ok(())
}

/// What the files say of the run.
fn configuration(arguments: &Sample) -> RunConfiguration {
    let name = arguments.program.model.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    RunConfiguration {
        model: name + "_model",
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
        data_file: arguments.program.data.as_ref().map_or_else(String::new, |path| path.display().to_string()),
        init: arguments.init.clone(),
        seed: arguments.computing.seed,
        ..RunConfiguration::default()
    }
}
