//! Writes reports of made-up results into a folder, to be looked at:
//! `cargo run -p crust-report --example gallery -- FOLDER`.
#![allow(clippy::print_stdout, reason = "stories are for the terminal")]

#[path = "../tests/common/mod.rs"]
mod common;

use crust_diagnose::result::{Bread, Results};
use crust_report::{html, picture, terminal};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let mut partial = common::bread();
    partial.partial = true;
    partial.calibration = None;
    partial.simulated.rungs.truncate(2);
    partial.real.rungs.truncate(1);
    partial.simulated.rungs[0].jeffreys_bound = -0.3;
    let all = [
        ("bread", Results::Bread(common::bread()), &["simulated-1", "real"]),
        ("bdmc", Results::Bdmc(common::bdmc()), &["simulated-1", ""]),
        ("violation", Results::Bdmc(common::violation()), &["simulated-1", ""]),
        ("compare", Results::Compare(common::compare()), &["uncollapsed.stan", "collapsed.stan"]),
        ("partial", Results::Bread(partial), &["simulated-1", "real"]),
        ("empty", Results::Bread(Bread::default()), &["", ""]),
    ];
    for (name, results, timed) in all {
        std::fs::write(
            Path::new(&folder).join(format!("{name}.html")),
            html::report(&results, Some(&common::timing(timed))).unwrap_or_default(),
        )?;
        if let Some(picture) = picture(&results) {
            std::fs::write(Path::new(&folder).join(format!("{name}.svg")), picture)?;
        }
        println!("{}\n", terminal::story(&results, 80, true).unwrap_or_default());
    }
    Ok(())
}
