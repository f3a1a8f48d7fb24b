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
    let run = crust_api::taddaa(&problem, &arguments.options()?, &screen.session(&arguments.computing));
    screen.end();
    let run = run?;
    let text = common.tells().then(|| crust_report::terminal::taddaa(&run.result, terminal::width()));
    if let Some(file) = &common.json {
        terminal::deliver(&Results::Taddaa(run.result), file)?;
    }
    text.iter().for_each(|text| terminal::say(text));
    Ok(run.diagnosis.into())
}
