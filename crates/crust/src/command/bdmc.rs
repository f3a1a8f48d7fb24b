//! `crust bdmc`.

use crate::arguments::{Bdmc, Common};
use crate::screen::Screen;
use crate::{Exit, output, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Bdmc, common: &Common) -> Result<Exit, Error> {
    let (screen, annealing) = (Screen::new(common), &arguments.annealing);
    terminal::check_writable(common.json.as_deref())?;
    let problem = annealing.includes.problem(&arguments.model, arguments.data.as_deref())?;
    let run = crust_api::bdmc(&problem, &arguments.options()?, &screen.session(&annealing.computing));
    screen.end();
    let run = run?;
    let exit = run.diagnosis.into();
    output::deliver(run, Results::Bdmc, annealing.out.as_deref(), common)?;
    Ok(exit)
}
