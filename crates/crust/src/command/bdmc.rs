//! `crust bdmc`.

use crate::arguments::{Bdmc, Common};
use crate::screen::Screen;
use crate::{Exit, output, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Bdmc, common: &Common) -> Result<Exit, Error> {
    let (screen, annealing) = (Screen::new(common), &arguments.annealing);
    terminal::check_writable(common.json.as_deref())?;
    let (options, session) = (arguments.options()?, screen.session(&annealing.computing));
    let data = arguments.data.as_deref();
    let run = match annealing.webppl(&arguments.model, data)? {
        Some(problem) => crust_api::bdmc_webppl(&problem, &options, &session),
        None => crust_api::bdmc(&annealing.includes.problem(&arguments.model, data)?, &options, &session),
    };
    screen.end();
    let run = run?;
    let exit = run.diagnosis.into();
    output::deliver(run, Results::Bdmc, annealing.out.as_deref(), common)?;
    Ok(exit)
}
