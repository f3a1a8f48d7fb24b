//! Any text as a WebPPL program, which is run for a while.
#![no_main]

use crust_webppl::{Limits, Options, Program, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(program) = Program::compile("fuzz.wppl", text) {
        let limits = Limits { depth: 10_000, steps: Some(50_000) };
        drop(run(&program, &Options { limits, ..Options::default() }));
    }
});
