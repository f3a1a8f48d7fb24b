//! `crust bread`.

use crate::arguments::{ApproximationChoice, Bread, Common};
use crate::screen::Screen;
use crate::{Exit, output, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Bread, common: &Common) -> Result<Exit, Error> {
    let (screen, annealing) = (Screen::new(common), &arguments.annealing);
    terminal::check_writable(common.json.as_deref())?;
    let (options, session) = (arguments.options()?, screen.session(&annealing.computing));
    let data = arguments.data.as_deref();
    if let Some(choice) = arguments.approximation {
        return approximation(arguments, common, choice);
    }
    let run = match annealing.webppl(&arguments.model, data)? {
        Some(problem) => crust_api::bread_webppl(&problem, &options, &session),
        None => crust_api::bread(&annealing.includes.problem(&arguments.model, data)?, &options, &session),
    };
    screen.end();
    let run = run?;
    let exit = run.diagnosis.into();
    output::deliver(run, Results::Bread, annealing.out.as_deref(), common)?;
    Ok(exit)
}

/// `--method`: the verdict is about an approximation.
fn approximation(arguments: &Bread, common: &Common, choice: ApproximationChoice) -> Result<Exit, Error> {
    let (screen, annealing) = (Screen::new(common), &arguments.annealing);
    let data = arguments.data.as_deref();
    if annealing.webppl(&arguments.model, data)?.is_some() {
        return Err(Error::option("method", "", "is for Stan programs"));
    }
    let problem = annealing.includes.problem(&arguments.model, data)?;
    terminal::report_folder(annealing.out.as_deref(), "bread-approximation", &problem)?;
    let method = (choice.choice(arguments.rank), 2.0);
    let session = screen.session(&annealing.computing);
    let run = crust_api::bread_approximation(&problem, &arguments.options()?, method, &session);
    screen.end();
    let run = run?;
    let text = common.tells().then(|| crust_report::divergence::story(&run.result, terminal::width()));
    let page = annealing.out.as_ref().map(|_| crust_report::divergence::page(&run.result));
    let results = Results::BreadApproximation(run.result);
    if let Some(file) = &common.json {
        terminal::deliver(&results, file)?;
    }
    text.iter().for_each(|text| terminal::say(text));
    if let (Some(folder), Some(page)) = (&annealing.out, page) {
        terminal::deliver_report(&results, &page, folder, common.tells())?;
    }
    Ok(run.diagnosis.into())
}
