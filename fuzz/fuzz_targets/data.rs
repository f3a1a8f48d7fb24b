//! Any text as data for one of a few programs.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| crust_engine::fuzzing::data(bytes));
