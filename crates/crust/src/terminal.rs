//! The only place that writes to the terminal.

use crust_api::result::Results;
use crust_api::{Error, Look, Problem, Source, claim_folder};
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::OnceLock;

/// Whether messages on standard error may have colours.
pub fn colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// How errors are shown there.
pub fn look(quiet: bool) -> Look {
    Look { colour: colour(), quiet }
}

/// A file, or standard input for `-`.
pub fn source(path: &Path) -> Result<Source, Error> {
    if path != Path::new("-") {
        return Ok(Source::file(path));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    Ok(Source::read_from(path, String::from_utf8_lossy(&bytes)))
}

/// Whether standard output may have colours.
pub fn colour_on_stdout() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// How many columns there are, as far as the shell says so; not so many that lines become hard to read.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    columns.unwrap_or(100).clamp(40, 120)
}

/// Why something that was said did not arrive.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// A line on standard output. A reader that has gone away is not our problem; a full device is, see [`lost`].
pub fn say(text: &str) {
    let mut out = io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error);
    }
}

/// What went wrong with standard output so far.
pub fn lost() -> Option<&'static io::Error> {
    LOST.get()
}

/// Text on standard error as it is, with a line's end.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a result as JSON to a file, or to standard output for `-`.
pub fn deliver(results: &Results, file: &Path) -> Result<(), Error> {
    let json = results.to_json()?;
    if is_stdout(file) {
        say(&json);
        return Ok(());
    }
    std::fs::write(file, json + "\n").map_err(Error::write(file))
}

/// Makes a folder for a report, where nothing is lost by it.
pub fn report_folder(folder: Option<&Path>, command: &str, problem: &Problem) -> Result<(), Error> {
    folder.map_or(Ok(()), |folder| claim_folder(folder, command, &problem.program().file_name()))
}

/// Writes `report.html` and `result.json`, and says where the page is.
pub fn deliver_report(results: &Results, page: &str, folder: &Path, tells: bool) -> Result<(), Error> {
    deliver(results, &folder.join("result.json"))?;
    let path = folder.join("report.html");
    std::fs::write(&path, page).map_err(Error::write(&path))?;
    if tells {
        say(&format!("\nreport: {}", path.display()));
    }
    Ok(())
}

/// Says at once if a result could not be written at the end of a long run.
pub fn check_writable(file: Option<&Path>) -> Result<(), Error> {
    match file {
        // Opened for more, so that what an earlier run left is there until there is something new.
        Some(file) if !is_stdout(file) => {
            let new = !file.exists();
            std::fs::File::options().append(true).create(true).open(file).map_err(Error::write(file))?;
            // A run that fails leaves no empty file behind.
            if new { std::fs::remove_file(file).map_err(Error::write(file)) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

pub fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// An error that has no place in a program.
pub fn error(message: &str) {
    complain(&if colour() { format!("\u{1b}[1;31merror\u{1b}[0m: {message}") } else { format!("error: {message}") });
}
