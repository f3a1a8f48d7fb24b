//! `crust check`.

use crate::arguments::{Check, Common};
use crate::{Exit, terminal};
use crust_api::result::Results;
use crust_api::{Error, WebPplProblem};

pub fn run(arguments: &Check, common: &Common) -> Result<Exit, Error> {
    if WebPplProblem::is_program(&arguments.model) {
        return webppl(arguments, common);
    }
    let program = arguments.includes.program(&arguments.model)?;
    let data = arguments.data.as_deref().map(terminal::source).transpose()?;
    let run = crust_api::check(program, data.as_ref(), arguments.options())?;
    let ok = run.result.ok;
    if !common.json.as_deref().is_some_and(terminal::is_stdout) {
        let problems = run.problems(terminal::look(common.quiet));
        if !problems.is_empty() {
            terminal::complain(problems.strip_suffix('\n').unwrap_or(&problems));
        }
        if ok && arguments.canonical {
            terminal::say(run.canonical().trim_end());
        } else if let (true, Some(text)) = (!common.quiet, crust_report::terminal::check(&run.result)) {
            terminal::say(&text);
        }
    }
    if let Some(file) = &common.json {
        terminal::deliver(&Results::Check(run.result), file)?;
    }
    Ok(if ok { Exit::Fine } else { Exit::BadInput })
}

/// A `WebPPL` program.
fn webppl(arguments: &Check, common: &Common) -> Result<Exit, Error> {
    let source = terminal::source(&arguments.model)?;
    let data = arguments.data.as_deref().map(terminal::source).transpose()?;
    let (checked, mistakes) = crust_api::check_webppl(source, data, arguments.model_name.as_deref())?;
    let ok = checked.ok;
    if !common.json.as_deref().is_some_and(terminal::is_stdout) {
        if let Some(mistakes) = mistakes {
            terminal::complain(&mistakes.to_string());
        } else if let (true, Some(text)) = (!common.quiet, crust_report::terminal::check(&checked)) {
            terminal::say(&text);
        }
    }
    if let Some(file) = &common.json {
        terminal::deliver(&Results::Check(checked), file)?;
    }
    Ok(if ok { Exit::Fine } else { Exit::BadInput })
}
