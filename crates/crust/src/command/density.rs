//! `crust density`.

use crate::arguments::{Common, Density};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Density, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    let problem = arguments.program.problem()?;
    let points = terminal::source(&arguments.at)?;
    let session = screen.short_session(arguments.seed);
    let result = crust_api::density(&problem, &points, arguments.options(), &session)?;
    let text = crust_report::terminal::density(&result);
    if let Some(file) = &common.json {
        terminal::deliver(&Results::Density(result), file)?;
    }
    if common.tells() {
        terminal::say(&text);
    }
    Ok(Exit::Fine)
}
