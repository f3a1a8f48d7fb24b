//! Long runs need no more memory than short ones.
#![cfg(target_os = "linux")]

use crust_webppl::{Options, Program, run};

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    4096 * text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("pages")
}

/// A million steps of Metropolis–Hastings: with the machine, with functions that know each other (which keep each other
/// alive), and in a graph.
#[test]
fn a_million_steps_do_not_grow() {
    let models = [
        "var geometric = function(p) { return flip(p) ? 1 + geometric(p) : 1; };
         var model = function() { return geometric(0.5); };",
        "var model = function() {
           var start = flip(0.5);
           var even = function(n) { return n <= 0 ? flip(0.4) : odd(n - 1); };
           var odd = function(n) { return n <= 0 ? flip(0.6) : even(n - 1); };
           return start ? even(2) : odd(3); };",
        "var model = function() {
           var mu = gaussian(0, 1);
           map(function(x) { observe(Gaussian({mu: mu, sigma: 1}), x); }, [1, 2, 3]);
           return mu > 0; };",
    ];
    for model in models {
        let steps = |n: u32| {
            let text =
                format!("{model} Infer({{method: 'MCMC', burn: {n}, samples: 1, model: model}}).support().length");
            let program = Program::compile("memory.wppl", &text).expect("compiles");
            run(&program, &Options::default()).expect("runs");
        };
        steps(10_000);
        let before = resident();
        steps(1_000_000);
        let grown = resident().saturating_sub(before);
        assert!(grown < 32 << 20, "{grown} bytes: {model}");
    }
}
