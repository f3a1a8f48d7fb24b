//! `crust compare`.

use crate::arguments::{Common, Compare};
use crate::screen::Screen;
use crate::{Exit, output, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Compare, common: &Common) -> Result<Exit, Error> {
    let (screen, annealing) = (Screen::new(common), &arguments.annealing);
    terminal::check_writable(common.json.as_deref())?;
    let data = arguments.data.as_deref();
    let problems = arguments.models.iter().map(|model| annealing.includes.problem(model, data));
    let problems = problems.collect::<Result<Vec<_>, _>>()?;
    let run = crust_api::compare(&problems, &arguments.options()?, &screen.session(&annealing.computing));
    screen.end();
    let run = run?;
    let exit = run.diagnosis.into();
    output::deliver(run, Results::Compare, annealing.out.as_deref(), common)?;
    Ok(exit)
}
