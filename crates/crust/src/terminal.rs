//! The only place that writes to the terminal.

use std::io::{self, IsTerminal, Write};

/// Whether messages on standard error may have colours.
pub fn colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// A line on standard output. A reader that has gone away is not our problem.
pub fn say(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Text on standard error as it is, with a line's end.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// An error that has no place in a program.
pub fn error(message: &str) {
    complain(&if colour() { format!("\u{1b}[1;31merror\u{1b}[0m: {message}") } else { format!("error: {message}") });
}
