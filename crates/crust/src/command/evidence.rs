//! `crust evidence`.

use crate::arguments::{Common, Evidence};
use crate::screen::Screen;
use crate::{Exit, terminal};
use crust_api::Error;
use crust_api::result::Results;

pub fn run(arguments: &Evidence, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    terminal::check_writable(common.json.as_deref())?;
    let problem = arguments.includes.problem(&arguments.model, arguments.data.as_deref())?;
    terminal::report_folder(arguments.out.as_deref(), "evidence", &problem)?;
    let run = crust_api::evidence(&problem, &arguments.options(), &screen.session(&arguments.computing));
    screen.end();
    let run = run?;
    let text = crust_report::terminal::evidence(&run.result, &run.timing, terminal::width());
    let results = Results::Evidence(run.result);
    if let Some(folder) = &arguments.out {
        terminal::deliver(&results, &folder.join("result.json"))?;
        let path = folder.join("timing.json");
        let timing = serde_json::to_string(&run.timing)? + "\n";
        std::fs::write(&path, timing).map_err(Error::write(&path))?;
    }
    if let Some(file) = &common.json {
        terminal::deliver(&results, file)?;
    }
    if common.tells() {
        terminal::say(text.trim_end());
    }
    Ok(Exit::Fine)
}
