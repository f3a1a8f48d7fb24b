//! What all commands share: random numbers, the machine, who listens, and how to end a run.

use crate::annealing::Annealed;
use crate::error::Error;
use crust_diagnose::result::{Bread, TaddaaTarget, Testbed, TestbedTiming, ToyRow};
use crust_infer::drive::{Control, Parallelism};
use crust_stan::diagnostics::Diagnostic;
use crust_stan::source::Source as ProgramText;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The surroundings of a run. Results depend on the seed alone.
#[derive(Clone)]
pub struct Session<'a> {
    /// Of all random numbers.
    pub seed: u64,
    /// How many threads; all cores unless told otherwise.
    pub threads: Option<NonZero<usize>>,
    /// How many chains a thread evaluates together.
    pub lanes: NonZero<usize>,
    pub observer: &'a dyn Observer,
    pub stop: Stop,
}

impl Default for Session<'_> {
    /// Seed 1, all cores, and nobody listens.
    fn default() -> Self {
        Self { seed: 1, threads: None, lanes: Parallelism::default().width, observer: &Nobody, stop: Stop::default() }
    }
}

impl Session<'_> {
    /// How chains are spread over the machine.
    pub fn parallelism(&self) -> Parallelism {
        Parallelism { threads: self.threads(), width: self.lanes }
    }

    pub(crate) fn threads(&self) -> NonZero<usize> {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        self.threads.unwrap_or_else(cores)
    }

    pub(crate) fn message(&self, message: Message<'_>) {
        self.observer.message(&message);
    }

    /// Tells what the program has printed.
    pub(crate) fn printed(&self, lines: &[String]) {
        lines.iter().for_each(|line| self.message(Message::Printed(line)));
    }

    /// Says that something new begins.
    pub(crate) fn begin(&self, what: &str, total: usize, unit: Unit) {
        self.observer.progress(&Progress::Begin { what, total: total as u64, unit });
    }
}

/// Ends a run from another thread, and tells how far it is. Copies belong together.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Control>);

impl Stop {
    /// Ends the run soon. What is finished is kept, and told as far as it is of use.
    pub fn stop(&self) {
        self.0.interrupt();
    }

    pub fn is_stopped(&self) -> bool {
        self.0.is_interrupted()
    }

    /// Transitions of all chains so far.
    pub fn transitions(&self) -> u64 {
        self.0.iterations()
    }

    /// Evaluations of densities so far.
    pub fn evaluations(&self) -> u64 {
        self.0.evaluations()
    }

    pub(crate) fn control(&self) -> &Arc<Control> {
        &self.0
    }
}

/// Whoever wants to know how a run gets on. It is called from all threads.
pub trait Observer: Sync {
    fn progress(&self, _progress: &Progress<'_>) {}

    fn message(&self, _message: &Message<'_>) {}

    /// A part of a long result is there. An error ends the run.
    fn part(&self, _part: &Part<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Something new begins; `total` is 0 where its length is not known.
    Begin { what: &'a str, total: u64, unit: Unit },
    /// So much of it is done since the last call. Transitions are not told one by one: see [`Stop::transitions`].
    Advance(u64),
    /// The whole run plans to be over by then.
    Until(Instant),
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of annealed chains.
    Transitions,
    /// Of `sample`.
    Iterations,
    /// Of the testbed.
    Trials,
}

/// Something to be said while a command runs.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// About the program, with a place in it.
    Warning { text: &'a ProgramText, warning: &'a Diagnostic },
    /// A sentence.
    Note(&'a str),
    /// What a long command is about to do.
    Stage(&'a str),
    /// A line that the program prints once for each dataset, point or draw that is kept.
    Printed(&'a str),
    /// A line that the program prints while it is evaluated.
    PrintedInPassing(&'a str),
}

/// A part of a long result.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A row of a toy experiment.
    Toy(&'a ToyRow),
    /// Stochastic lower bounds of one dataset of each model of Table 1: a row for the data, a column for the model.
    Table1 { dataset: u32, wanted: u32, bounds: &'a [[f64; 3]; 3] },
    /// A model of the testbed is finished, the last one in the result so far.
    Testbed { result: &'a Testbed, timing: &'a TestbedTiming },
    /// A distribution of the experiments of TADDAA is finished.
    Taddaa(&'a TaddaaTarget),
    /// A run of `bread` on one of the papers' models is finished.
    RealData { folder: &'a Path, run: &'a Annealed<Bread> },
}
