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
        _ => {
            let (webppl, stan): (Vec<_>, Vec<_>) = arguments.models.iter().partition(|model| is_webppl(model));
            let stan = stan.into_iter().map(|model| annealing.includes.problem(model, data));
            let webppl = webppl.into_iter().map(|model| terminal::source(model)).collect::<Result<Vec<_>, _>>()?;
            let webppl = (webppl.as_slice(), annealing.model_name.as_deref());
            crust_api::compare_both(&stan.collect::<Result<Vec<_>, _>>()?, webppl, &options, &session)
        }
    };
    screen.end();
    let run = run?;
    let exit = run.diagnosis.into();
    output::deliver(run, Results::Compare, annealing.out.as_deref(), common)?;
    Ok(exit)
}
