//! Runs a program and prints its value as JSON: `wppl PROGRAM.wppl [SEED]`.

use crust_webppl::{Options, Program, run};

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = args.first() else {
        eprintln!("usage: wppl PROGRAM.wppl [SEED]");
        return 2.into();
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return 2.into();
        }
    };
    let seed = args.get(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let folder = std::path::Path::new(path).parent().map(std::path::Path::to_path_buf);
    let options = Options { seed, folder, ..Options::default() };
    let outcome = Program::compile(path, &text)
        .map_err(|e| e.to_string())
        .and_then(|program| run(&program, &options).map_err(|e| e.to_string()));
    match outcome {
        Ok(outcome) => {
            outcome.printed.iter().for_each(|line| eprintln!("{line}"));
            println!("{{\"value\":{}}}", outcome.json);
            0.into()
        }
        Err(error) => {
            eprintln!("{error}");
            2.into()
        }
    }
}
