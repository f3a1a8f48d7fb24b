//! `crust approximate`.

use crate::arguments::{Approximate, Common};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Approximate, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    let problem = arguments.program.problem()?;
    terminal::check_writable(common.json.as_deref())?;
    terminal::check_writable(arguments.out.as_deref())?;
    let run = crust_api::approximate(&problem, &arguments.options(), &screen.session(&arguments.computing));
    screen.end();
    let result = run?;
    let text = common.tells().then(|| crust_report::terminal::approximate(&result, terminal::width()));
    if let Some(file) = &common.json {
        terminal::deliver(&Results::Approximate(result), file)?;
    }
    text.iter().for_each(|text| terminal::say(text));
    Ok(Exit::Fine)
}
