//! `crust compare`.

use crate::arguments::{Common, Compare};
use crate::screen::Screen;
use crate::{Exit, output, terminal};
use crust_api::result::Results;
use crust_api::{Error, WebPplProblem};

pub fn run(arguments: &Compare, common: &Common) -> Result<Exit, Error> {
    let (screen, annealing) = (Screen::new(common), &arguments.annealing);
    terminal::check_writable(common.json.as_deref())?;
    let data = arguments.data.as_deref();
    let (options, session) = (arguments.options()?, screen.session(&annealing.computing));
    let is_webppl = |model: &&std::path::PathBuf| WebPplProblem::is_program(model);
    let run = match arguments.models.iter().filter(is_webppl).count() {
        0 => {
            let problems = arguments.models.iter().map(|model| annealing.includes.problem(model, data));
            crust_api::compare(&problems.collect::<Result<Vec<_>, _>>()?, &options, &session)
        }
        n if n == arguments.models.len() => {
            let problems = arguments.models.iter().filter_map(|model| annealing.webppl(model, data).transpose());
            crust_api::compare_webppl(&problems.collect::<Result<Vec<_>, _>>()?, &options, &session)
        }
        _ => Err(Error::option("data", "", "programs of both languages cannot be compared yet")),
    };
    screen.end();
    let run = run?;
    let exit = run.diagnosis.into();
    output::deliver(run, Results::Compare, annealing.out.as_deref(), common)?;
    Ok(exit)
}
