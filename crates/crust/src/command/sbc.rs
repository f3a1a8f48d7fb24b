//! `crust sbc`.

use crate::arguments::{Common, Sbc};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Sbc, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    terminal::check_writable(common.json.as_deref())?;
    let problem = arguments.includes.problem(&arguments.model, arguments.data.as_deref())?;
    terminal::report_folder(arguments.out.as_deref(), "sbc", &problem)?;
    let run = crust_api::sbc(&problem, &arguments.options()?, &screen.session(&arguments.computing));
    screen.end();
    let run = run?;
    let text = crust_report::terminal::sbc(&run.result, terminal::width());
    let page = arguments.out.as_ref().map(|_| crust_report::sbc::page(&run.result));
    let results = Results::Sbc(run.result);
    if let Some(file) = &common.json {
        terminal::deliver(&results, file)?;
    }
    if common.tells() {
        terminal::say(text.trim_end());
    }
    if let (Some(folder), Some(page)) = (&arguments.out, page) {
        terminal::deliver_report(&results, &page, folder, common.tells())?;
    }
    Ok(run.diagnosis.into())
}
