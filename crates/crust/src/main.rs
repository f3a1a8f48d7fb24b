//! The `crust` command: reads the arguments, runs one command, turns its outcome into an exit code.

mod arguments;
mod bdmc;
mod bench;
mod bread;
mod check;
mod compare;
mod density;
mod evidence;
mod experiment;
mod finite;
mod program;
mod reproduce;
mod run;
mod sample;
mod simulate;
mod subset;
mod target;
mod terminal;
mod testbed;

use arguments::{Arguments, Command};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        // clap prints help and version to stdout with success, mistakes to stderr.
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { Outcome::BadInput.into() } else { Outcome::Fine.into() };
        }
    };
    let outcome = match &arguments.command {
        Command::Check(check) => check::run(check, &arguments.common),
        Command::Density(density) => density::run(density, &arguments.common),
        Command::Bench(bench) => bench::run(bench, &arguments.common),
        Command::Sample(sample) => sample::run(sample, &arguments.common),
        Command::Run(program) => run::run(program, &arguments.common),
        Command::Simulate(simulate) => simulate::run(simulate, &arguments.common),
        Command::Bdmc(bdmc) => bdmc::run(bdmc, &arguments.common),
        Command::Bread(bread) => bread::run(bread, &arguments.common),
        Command::Compare(compare) => compare::run(compare, &arguments.common),
        Command::Evidence(evidence) => evidence::run(evidence, &arguments.common),
        Command::Reproduce(reproduce) => reproduce::run(reproduce, &arguments.common),
        Command::Testbed(testbed) => testbed::run(testbed, &arguments.common),
    };
    match outcome {
        Ok(outcome) => outcome.into(),
        Err(message) => {
            terminal::error(&message);
            Outcome::BadInput.into()
        }
    }
}

/// How a command ended, as its exit code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Fine,
    /// The diagnosis is bad: a failed gate, or bounds that contradict each other.
    BadDiagnosis,
    /// The input is wrong or not supported.
    BadInput,
    /// Ctrl-C ended the run; what was finished was delivered.
    Interrupted,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::BadDiagnosis => Self::from(1),
            Outcome::BadInput => Self::from(2),
            Outcome::Interrupted => Self::from(130),
        }
    }
}
