//! Any text as a Stan program.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| crust_stan::fuzzing::front_end(text));
