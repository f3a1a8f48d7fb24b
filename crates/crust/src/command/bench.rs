//! `crust bench`.

use crate::arguments::{Bench, Common};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Bench, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    let program = arguments.program.includes.program(&arguments.program.model)?;
    let data = arguments.program.data.as_deref().map(terminal::source).transpose()?;
    let result = crust_api::bench(program, data, &arguments.options(), &screen.short_session(arguments.seed))?;
    let text = crust_report::terminal::bench(&result);
    if let Some(file) = &common.json {
        terminal::deliver(&Results::Bench(result), file)?;
    }
    if common.tells() {
        terminal::say(&text);
    }
    Ok(Exit::Fine)
}
