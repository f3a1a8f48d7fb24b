//! Keeps draws as they come: in memory for the summary, and in a file for each chain.

use crate::session::{Message, Observer as Listener, Progress};
use crust_diagnose::draws::{
    Adaptation, Chain, CsvWriter, Draws, Elapsed, InverseMetric, Phase, RunConfiguration, dotted,
};
use crust_engine::{EngineError, Evaluator, Include, Model};
use crust_infer::kernel::Kernel;
use crust_infer::metric::Metric;
use crust_infer::sample::{Draw, Observer};
use crust_math::random::StreamKey;
use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Everything that the program declares for the output.
pub const ALL: Include = Include { transformed: true, generated: true };

/// The sampler's own columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    Nuts,
    Hmc,
    /// No parameters: nothing is sampled, quantities are only generated.
    Fixed,
}

impl Columns {
    pub fn names(self) -> Vec<String> {
        let names: &[&str] = match self {
            Self::Nuts => {
                &["lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"]
            }
            Self::Hmc => {
                &["lp__", "accept_stat__", "stepsize__", "int_time__", "n_leapfrog__", "divergent__", "energy__"]
            }
            Self::Fixed => &["lp__", "accept_stat__"],
        };
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn values(self, draw: &Draw<'_>) -> Vec<f64> {
        let s = &draw.statistics;
        let steps = f64::from(s.leapfrog_steps);
        let length = if self == Self::Nuts { f64::from(s.tree_depth) } else { s.step_size * steps };
        let divergent = f64::from(u8::from(s.divergent));
        match self {
            Self::Fixed => vec![0.0, 0.0],
            _ => vec![draw.log_density(), s.accept_stat, s.step_size, length, steps, divergent, s.energy],
        }
    }
}

/// What is kept of a run.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    pub columns: Columns,
    /// One of so many draws.
    pub thin: usize,
    pub save_warmup: bool,
    /// Iterations of warm-up.
    pub warmup: usize,
    /// Of random numbers in `generated quantities`.
    pub key: StreamKey,
}

/// Why draws cannot be kept.
pub enum Failure {
    /// A mistake in the program.
    Program(EngineError),
    File(io::Error),
}

/// The draws of all chains of a run.
pub struct Recorder<'a> {
    model: Arc<Model>,
    keep: Keep,
    begin: Instant,
    records: Vec<Mutex<Record>>,
    /// One for each thread: so many chains share one.
    evaluators: Vec<Mutex<Option<Evaluator>>>,
    share: usize,
    failure: Mutex<Option<Failure>>,
    listener: &'a dyn Listener,
}

/// One chain so far.
struct Record {
    file: Option<CsvWriter<BufWriter<File>>>,
    draws: Chain,
    /// The last draws, which are not in columns yet: one by one they would be spread over all of memory.
    rows: Vec<f64>,
    /// Whether those are of warm-up.
    warming_up: bool,
    /// When warm-up ended, in seconds since the beginning.
    warmed_up: Option<f64>,
    /// When the last draw came.
    last: f64,
    divergences: usize,
    rejected: usize,
    reason: Option<String>,
}

/// How many numbers of a chain may wait to be put in columns: what fits in the cache.
const MOST_PENDING: usize = 1 << 13;

impl Record {
    /// Puts draws in their columns.
    fn flush(&mut self) {
        let phase = if self.warming_up { &mut self.draws.warmup } else { &mut self.draws.sampling };
        phase.extend(&self.rows);
        self.rows.clear();
    }
}

/// A run at its end.
pub struct Recorded {
    pub draws: Draws,
    /// When the last chain was warmed up, and how long draws took from there.
    pub seconds: Elapsed,
    /// Divergent transitions after warm-up, also those that thinning left out.
    pub divergences: usize,
    /// Draws that the program rejected after sampling, in `generated quantities`, and why the first of them.
    pub rejected: usize,
    pub reason: Option<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Recorder<'a> {
    pub fn new(model: &Arc<Model>, keep: Keep, chains: usize, share: usize, listener: &'a dyn Listener) -> Self {
        let phase = Phase::new(keep.columns.names().len(), model.output_names(ALL).len());
        let record = || Record {
            file: None,
            draws: Chain { warmup: phase.clone(), sampling: phase.clone() },
            rows: Vec::new(),
            warming_up: false,
            warmed_up: None,
            last: 0.0,
            divergences: 0,
            rejected: 0,
            reason: None,
        };
        Self {
            model: Arc::clone(model),
            keep,
            begin: Instant::now(),
            records: (0..chains).map(|_| Mutex::new(record())).collect(),
            evaluators: (0..chains.div_ceil(share)).map(|_| Mutex::default()).collect(),
            share,
            failure: Mutex::default(),
            listener,
        }
    }

    /// Opens a file for each chain.
    pub fn write_to(&mut self, folder: &Path, run: &RunConfiguration) -> io::Result<()> {
        let (sampler_names, names) = (self.keep.columns.names(), column_names(&self.model));
        for (record, id) in self.records.iter().zip(1..) {
            let path = folder.join(format!("chain-{id}.csv"));
            let run = RunConfiguration { id, output_file: path.display().to_string(), ..run.clone() };
            let file = BufWriter::new(File::create(&path)?);
            lock(record).file = Some(CsvWriter::new(file, &run, &sampler_names, &names)?);
        }
        Ok(())
    }

    /// The chains are about to begin.
    pub fn begin(&mut self) {
        self.begin = Instant::now();
    }

    fn record(&self, chain: u32) -> MutexGuard<'_, Record> {
        lock(&self.records[chain as usize - 1])
    }

    fn fail(&self, failure: Failure) -> ControlFlow<()> {
        lock(&self.failure).get_or_insert(failure);
        ControlFlow::Break(())
    }

    /// An evaluator that has learned how loops run best from a point that is the same for all, see
    /// [`crate::target::StanTarget`].
    fn evaluator(&self) -> Evaluator {
        let mut evaluator = self.model.evaluator();
        let origin = vec![0.0; self.model.dimension()];
        // A mistake in the program comes up again in the first draw, where it is reported.
        let _ = evaluator.quantities(&origin, self.keep.key, ALL);
        evaluator.take_messages();
        evaluator
    }

    /// Whether a draw is one of those that are kept, counted from the beginning of its phase.
    fn keeps(&self, draw: &Draw<'_>) -> bool {
        let position = if draw.warmup { draw.iteration } else { draw.iteration - self.keep.warmup };
        (self.keep.save_warmup || !draw.warmup) && position.is_multiple_of(self.keep.thin)
    }

    fn store(&self, draw: &Draw<'_>) -> Result<(), Failure> {
        let mut evaluator = lock(&self.evaluators[(draw.chain as usize - 1) / self.share]);
        let evaluator = evaluator.get_or_insert_with(|| self.evaluator());
        let key = self.keep.key.chain(draw.chain).step(draw.iteration as u64);
        let quantities = evaluator.quantities(&draw.state.q, key, ALL).map_err(Failure::Program)?;
        let printed = evaluator.take_messages();
        printed.iter().for_each(|line| self.listener.message(&Message::Printed(line)));
        let sampler = self.keep.columns.values(draw);
        let mut record = self.record(draw.chain);
        if let Some(file) = &mut record.file {
            file.draw(&sampler, &quantities.numbers).map_err(Failure::File)?;
        }
        if let Some(rejection) = quantities.rejection {
            record.rejected += 1;
            record.reason.get_or_insert(rejection.message);
        }
        if record.warming_up != draw.warmup || record.rows.len() >= MOST_PENDING {
            record.flush();
        }
        record.warming_up = draw.warmup;
        record.rows.extend(&sampler);
        record.rows.extend(&quantities.numbers);
        Ok(())
    }

    /// Ends the files.
    pub fn finish(self) -> Result<Recorded, Failure> {
        if let Some(failure) = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        let total = self.begin.elapsed().as_secs_f64();
        let mut chains = Vec::with_capacity(self.records.len());
        let (mut warmup, mut divergences, mut rejected, mut reason) = (0.0_f64, 0, 0, None);
        for record in self.records {
            let mut record = record.into_inner().unwrap_or_else(PoisonError::into_inner);
            record.flush();
            // A chain that was interrupted has been warming up all the time.
            let warmed_up = record.warmed_up.unwrap_or(record.last);
            warmup = warmup.max(warmed_up);
            if let Some(file) = record.file {
                let elapsed = Elapsed { warmup: warmed_up, sampling: (record.last - warmed_up).max(0.0) };
                file.finish(elapsed).map_err(Failure::File)?;
            }
            divergences += record.divergences;
            rejected += record.rejected;
            reason = reason.or(record.reason);
            chains.push(record.draws);
        }
        let names = column_names(&self.model);
        let draws = Draws { sampler_names: self.keep.columns.names(), names, chains };
        let seconds = Elapsed { warmup, sampling: total - warmup };
        Ok(Recorded { draws, seconds, divergences, rejected, reason })
    }
}

impl Observer for Recorder<'_> {
    fn draw(&self, draw: &Draw<'_>) -> ControlFlow<()> {
        self.listener.progress(&Progress::Advance(1));
        if self.keeps(draw)
            && let Err(failure) = self.store(draw)
        {
            return self.fail(failure);
        }
        let mut record = self.record(draw.chain);
        record.divergences += usize::from(draw.statistics.divergent && !draw.warmup);
        record.last = self.begin.elapsed().as_secs_f64();
        ControlFlow::Continue(())
    }

    fn warmed_up(&self, chain: u32, kernel: &Kernel) -> ControlFlow<()> {
        let mut record = self.record(chain);
        record.warmed_up = Some(self.begin.elapsed().as_secs_f64());
        let written = record.file.as_mut().map(|file| file.adaptation(&adaptation(kernel)));
        match written {
            Some(Err(error)) => self.fail(Failure::File(error)),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// What warm-up found, as the files say it.
fn adaptation(kernel: &Kernel) -> Adaptation {
    let numbers = kernel.metric.inverse().unwrap_or_default();
    let inverse_metric = match &kernel.metric {
        Metric::Unit => InverseMetric::Unit,
        Metric::Diagonal(_) => InverseMetric::Diagonal(numbers.to_vec()),
        Metric::Dense(_) => {
            let rows = numbers.chunks(kernel.metric.dimension().unwrap_or(1).max(1));
            InverseMetric::Dense(rows.map(<[f64]>::to_vec).collect())
        }
    };
    Adaptation { step_size: kernel.step_size, inverse_metric }
}

/// The names of the quantities as `CmdStan` writes them. In the engine's, indices stand in brackets, so that a dot
/// without brackets is a part of a tuple.
fn column_names(model: &Model) -> Vec<String> {
    let column = |name: &String| if name.contains('[') { dotted(name) } else { name.replace('.', ":") };
    model.output_names(ALL).iter().map(column).collect()
}
