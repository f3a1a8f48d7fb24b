//! `crust bread`.

use crate::arguments::{Bread, Common};
use crate::screen::Screen;
use crate::{Exit, output, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Bread, common: &Common) -> Result<Exit, Error> {
    let (screen, annealing) = (Screen::new(common), &arguments.annealing);
    terminal::check_writable(common.json.as_deref())?;
    let problem = annealing.includes.problem(&arguments.model, Some(&arguments.data))?;
    let run = crust_api::bread(&problem, &arguments.options()?, &screen.session(&annealing.computing));
    screen.end();
    let run = run?;
    let exit = run.diagnosis.into();
    output::deliver(run, Results::Bread, annealing.out.as_deref(), common)?;
    Ok(exit)
}
