//! The `crust` command: reads the arguments, runs one command, turns what came of it into an exit code.

mod arguments;
mod command;
mod output;
mod screen;
mod terminal;

use arguments::{Arguments, Command};
use crust_api::{Diagnosis, Error};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        // clap prints help and version to stdout with success, mistakes to stderr.
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { Exit::BadInput.into() } else { Exit::Fine.into() };
        }
    };
    let common = &arguments.common;
    let exit = match &arguments.command {
        Command::Check(check) => command::check::run(check, common),
        Command::Density(density) => command::density::run(density, common),
        Command::Bench(bench) => command::bench::run(bench, common),
        Command::Sample(sample) => command::sample::run(sample, common),
        Command::Approximate(approximate) => command::approximate::run(approximate, common),
        Command::Taddaa(taddaa) => command::taddaa::run(taddaa, common),
        Command::Run(run) => command::run::run(run, common),
        Command::Simulate(simulate) => command::simulate::run(simulate, common),
        Command::Bdmc(bdmc) => command::bdmc::run(bdmc, common),
        Command::Bread(bread) => command::bread::run(bread, common),
        Command::Sbc(sbc) => command::sbc::run(sbc, common),
        Command::Compare(compare) => command::compare::run(compare, common),
        Command::Evidence(evidence) => command::evidence::run(evidence, common),
        Command::Reproduce(reproduce) => command::reproduce::run(reproduce, common),
        Command::Testbed(testbed) => command::testbed::run(testbed, common),
    };
    if let (Ok(_), Some(error)) = (&exit, terminal::lost()) {
        terminal::error(&format!("cannot write to standard output: {error}"));
        return Exit::BadInput.into();
    }
    match exit {
        Ok(exit) => exit.into(),
        Err(Error::Interrupted) => Exit::Interrupted.into(),
        Err(error) => {
            terminal::complain(&crust_api::render(&error, terminal::look(common.quiet)));
            Exit::BadInput.into()
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Fine,
    /// The diagnosis is bad: a failed gate, or bounds that contradict each other.
    BadDiagnosis,
    /// The input is wrong or not supported.
    BadInput,
    /// Ctrl-C ended the run; what was finished was delivered.
    Interrupted,
}

impl From<Diagnosis> for Exit {
    fn from(diagnosis: Diagnosis) -> Self {
        match diagnosis {
            Diagnosis::Fine => Self::Fine,
            Diagnosis::Bad => Self::BadDiagnosis,
            Diagnosis::Partial => Self::Interrupted,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Fine => Self::SUCCESS,
            Exit::BadDiagnosis => Self::from(1),
            Exit::BadInput => Self::from(2),
            Exit::Interrupted => Self::from(130),
        }
    }
}
