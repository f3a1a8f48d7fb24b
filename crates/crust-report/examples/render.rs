//! Draws the report of a finished run again: `cargo run -p crust-report --example render -- FOLDER [PICTURE.svg]`.
//!
//! Reads `result.json` and `timing.json` of the folder, writes `report.html` beside them, and the two main plots to the
//! picture.
#![allow(clippy::print_stdout, reason = "the story is for the terminal")]

use crust_diagnose::result::{Results, Timing};
use crust_report::{html, picture, terminal};
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder?")?;
    let folder = Path::new(&folder);
    let results: Results = serde_json::from_str(&fs::read_to_string(folder.join("result.json"))?)?;
    let timing: Option<Timing> = match fs::read_to_string(folder.join("timing.json")) {
        Ok(text) => Some(serde_json::from_str(&text)?),
        Err(_) => None,
    };
    fs::write(folder.join("report.html"), html::report(&results, timing.as_ref()).ok_or("the command has no page")?)?;
    if let Some(file) = arguments.next() {
        fs::write(file, picture(&results).ok_or("no rung is complete: there is nothing to draw")?)?;
    }
    println!("{}", terminal::story(&results, 80, false).unwrap_or_default());
    Ok(())
}
