//! `crust taddaa`.

use crate::arguments::{Common, Taddaa};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Taddaa, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    let problem = arguments.program.problem()?;
    terminal::check_writable(common.json.as_deref())?;
    terminal::report_folder(arguments.out.as_deref(), "taddaa", &problem)?;
    let run = crust_api::taddaa(&problem, &arguments.options()?, &screen.session(&arguments.computing));
    screen.end();
    let run = run?;
    let text = common.tells().then(|| crust_report::terminal::taddaa(&run.result, terminal::width()));
    let page = arguments.out.as_ref().map(|_| crust_report::taddaa::page(&run.result));
    let results = Results::Taddaa(run.result);
    if let Some(file) = &common.json {
        terminal::deliver(&results, file)?;
    }
    text.iter().for_each(|text| terminal::say(text));
    if let (Some(folder), Some(page)) = (&arguments.out, page) {
        terminal::deliver_report(&results, &page, folder, common.tells())?;
    }
    Ok(run.diagnosis.into())
}
