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
    /// Steps per second of CPU time of WebPPL 0.9.15 on Node 20, where it was measured for issue 20.
    recorded: f64,
}

const MODELS: &[Model] = &[
    Model {
        name: "geometric, MH",
        text: include_str!("models/geometric.wppl"),
        ours: 1_000_000,
        theirs: 100_000,
        recorded: 175_000.0,
    },
    Model {
        name: "hidden Markov model, MH",
        text: include_str!("models/hmm.wppl"),
        ours: 300_000,
        theirs: 40_000,
        recorded: 45_000.0,
    },
    Model {
        name: "the same, SMC of 200 x 50",
        text: include_str!("models/hmm_smc.wppl"),
        ours: 300,
        theirs: 50,
        recorded: 9.1,
    },
    Model {
        name: "Gaussian mixture, MH",
        text: include_str!("models/mixture.wppl"),
        ours: 200_000,
        theirs: 10_000,
        recorded: 11_000.0,
    },
    Model {
        name: "factorization 10x5x10, MH",
        text: include_str!("models/factorization_small.wppl"),
        ours: 300_000,
        theirs: 2_000,
        recorded: 2_050.0,
    },
    Model {
        name: "factorization 10x5x10, HMC",
        text: include_str!("models/factorization_hmc.wppl"),
        ours: 10_000,
        theirs: 100,
        recorded: 140.0,
    },
    Model {
        name: "factorization 50x5x25, MH",
        text: include_str!("models/factorization.wppl"),
        ours: 100_000,
        theirs: 300,
        recorded: 270.0,
    },
    Model {
        name: "factorization 50x5x25, AIS",
        text: include_str!("models/factorization_ais.wppl"),
        ours: 100_000,
        theirs: 300,
        recorded: 270.0,
    },
    Model {
        name: "the same, collapsed, MH",
        text: include_str!("models/factorization_collapsed.wppl"),
        ours: 10_000,
        theirs: 100,
        recorded: 70.0,
    },
];

/// CPU time of this process in seconds; the time on the clock where the system does not tell.
fn cpu_seconds(start: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Vec<f64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    if ticks.len() == 2 { (ticks[0] + ticks[1]) / 100.0 } else { start.elapsed().as_secs_f64() }
}

/// Steps per second of our machine.
fn ours(model: &Model) -> f64 {
    let seconds = |steps: u32| {
        let program = Program::compile(model.name, &model.text.replace("STEPS", &steps.to_string())).expect("compiles");
        let start = Instant::now();
        let before = cpu_seconds(start);
        run(&program, &Options::default()).expect("runs");
        cpu_seconds(start) - before
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
    let wanted: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let head = ["crust", "WebPPL here", "ratio", "recorded", "ratio"];
    println!(
        "{:<28} {:>12} {:>12} {:>7} {:>10} {:>7}",
        "steps per CPU second", head[0], head[1], head[2], head[3], head[4]
    );
    for model in MODELS.iter().filter(|model| wanted.is_empty() || wanted.iter().any(|name| model.name.contains(name)))
    {
        let us = ours(model);
        let (them, ratio) = match folder.as_ref().and_then(|f| theirs(model, Path::new(f))) {
            Some(them) => (format!("{them:.0}"), format!("{:.1}", us / them)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let recorded = model.recorded;
        println!("{:<28} {us:>12.0} {them:>12} {ratio:>7} {recorded:>10.0} {:>7.1}", model.name, us / recorded);
    }
}
