//! `crust bread`.

use crate::arguments::{Bread, Common};
use crate::screen::Screen;
use crate::{Exit, output, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Bread, common: &Common) -> Result<Exit, Error> {
    let (screen, annealing) = (Screen::new(common), &arguments.annealing);
    terminal::check_writable(common.json.as_deref())?;
    let (options, session) = (arguments.options()?, screen.session(&annealing.computing));
    let data = arguments.data.as_deref();
    let run = match annealing.webppl(&arguments.model, data)? {
        Some(problem) => crust_api::bread_webppl(&problem, &options, &session),
        None if data.is_none() => Err(Error::option("data", "", "is missing: `crust bread MODEL.stan DATA.json`")),
        None => crust_api::bread(&annealing.includes.problem(&arguments.model, data)?, &options, &session),
    };
    screen.end();
    let run = run?;
    let exit = run.diagnosis.into();
    output::deliver(run, Results::Bread, annealing.out.as_deref(), common)?;
    Ok(exit)
}
