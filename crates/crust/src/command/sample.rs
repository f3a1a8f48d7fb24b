//! `crust sample`.

use crate::arguments::{Common, Sample};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Sample, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    let problem = arguments.program.problem()?;
    terminal::check_writable(common.json.as_deref())?;
    let run = crust_api::sample(&problem, &arguments.options()?, &screen.session(&arguments.computing));
    screen.end();
    let result = run?.result;
    let text = common.tells().then(|| crust_report::terminal::sample(&result));
    if let Some(file) = &common.json {
        terminal::deliver(&Results::Sample(result), file)?;
    }
    text.iter().for_each(|text| terminal::say(text));
    Ok(Exit::Fine)
}
