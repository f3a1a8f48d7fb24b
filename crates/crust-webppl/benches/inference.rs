//! Steps of inference per second of CPU time on the models of issue 20, and the same on WebPPL if `WEBPPL` names the
//! folder of its npm package: `WEBPPL=node_modules/webppl cargo bench -p crust-webppl`.

use crust_webppl::{Options, Program, run};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A model: its program with the number of steps left open, and how many steps each side is given.
struct Model {
    name: &'static str,
    text: &'static str,
    ours: u32,
    theirs: u32,
}

const MODELS: &[Model] = &[
    Model { name: "geometric, MH", text: include_str!("models/geometric.wppl"), ours: 1_000_000, theirs: 100_000 },
    Model { name: "hidden Markov model, MH", text: include_str!("models/hmm.wppl"), ours: 200_000, theirs: 40_000 },
    Model { name: "hidden Markov model, SMC", text: include_str!("models/hmm_smc.wppl"), ours: 20_000, theirs: 2_000 },
    Model { name: "Gaussian mixture, MH", text: include_str!("models/mixture.wppl"), ours: 50_000, theirs: 10_000 },
    Model {
        name: "factorization 10x5x10, MH",
        text: include_str!("models/factorization_small.wppl"),
        ours: 20_000,
        theirs: 2_000,
    },
    Model {
        name: "factorization 10x5x10, HMC",
        text: include_str!("models/factorization_hmc.wppl"),
        ours: 2_000,
        theirs: 100,
    },
    Model {
        name: "factorization 50x5x25, MH",
        text: include_str!("models/factorization.wppl"),
        ours: 5_000,
        theirs: 300,
    },
];

/// Steps per second of our machine.
fn ours(model: &Model) -> f64 {
    let seconds = |steps: u32| {
        let program = Program::compile(model.name, &model.text.replace("STEPS", &steps.to_string())).expect("compiles");
        let start = Instant::now();
        run(&program, &Options::default()).expect("runs");
        start.elapsed().as_secs_f64()
    };
    f64::from(model.ours) / (seconds(model.ours) - seconds(1)).max(1e-9)
}

/// Steps per second of WebPPL, without its start.
fn theirs(model: &Model, folder: &Path) -> Option<f64> {
    let script = "const webppl = require(process.argv[1] + '/src/main'); global.suppressWarnings = true;
        const time = n => { const code = process.argv[2].replace(/STEPS/g, n); const start = process.cpuUsage().user;
            webppl.run(code, () => {}); return process.cpuUsage().user - start; };
        time(1); const base = time(1); console.log((time(process.argv[3]) - base) / 1e6);";
    let folder = folder.canonicalize().ok()?;
    let output = Command::new("node")
        .arg("-e")
        .arg(script)
        .arg(folder)
        .arg(model.text)
        .arg(model.theirs.to_string())
        .output()
        .ok()?;
    let seconds: f64 = String::from_utf8_lossy(&output.stdout).trim().lines().last()?.parse().ok()?;
    Some(f64::from(model.theirs) / seconds)
}

#[allow(clippy::print_stdout)]
fn main() {
    let folder = std::env::var_os("WEBPPL");
    println!("{:<28} {:>14} {:>14} {:>8}", "steps per second", "crust", "WebPPL", "ratio");
    for model in MODELS {
        let us = ours(model);
        match folder.as_ref().and_then(|f| theirs(model, Path::new(f))) {
            Some(them) => println!("{:<28} {us:>14.0} {them:>14.0} {:>8.1}", model.name, us / them),
            None => println!("{:<28} {us:>14.0} {:>14} {:>8}", model.name, "-", "-"),
        }
    }
}
