//! Time per gradient per chain on programs of many kinds, against real Stan.
//!
//! `cargo bench -p crust-engine --bench breadth [NAME…]` prints the table, of the named programs or of all. Where the
//! environment variable `REALSTAN` names a command that builds real Stan (called with a program, it leaves an
//! executable that is asked for `bench DATA.json SECONDS` and `density DATA.json POINTS.json`), its times are measured
//! in the same run and its densities compared with ours.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "breadth/data.rs"]
mod data;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use common::bind;
use crust_engine::{Batch, Model, Terms};

const WIDTHS: [usize; 3] = [1, 8, 64];

/// What was measured of a program.
struct Measured {
    bind: f64,
    /// Microseconds per gradient per chain, for each width.
    ours: [f64; 3],
    stan: Option<f64>,
    /// The largest difference from real Stan, of log densities and gradients.
    error: Option<f64>,
}

/// Points between −1 and 1, a row of lanes for each dimension.
fn points(dimension: usize, lanes: usize) -> Vec<f64> {
    let mut state = 0.123_f64;
    (0..dimension * lanes)
        .map(|_| {
            state = (state * 16_807.0).fract();
            2.0 * state - 1.0
        })
        .collect()
}

/// The log density and gradient of lanes.
struct Evaluation {
    points: Vec<f64>,
    log_prior: Vec<f64>,
    log_likelihood: Vec<f64>,
    gradient: Vec<f64>,
}

impl Evaluation {
    fn new(dimension: usize, lanes: usize) -> Self {
        let numbers = vec![0.0; lanes];
        let gradient = vec![0.0; dimension * lanes];
        Self { points: points(dimension, lanes), log_prior: numbers.clone(), log_likelihood: numbers, gradient }
    }

    fn run(&mut self, evaluator: &mut crust_engine::Evaluator) {
        let mut batch = Batch {
            lanes: self.log_prior.len(),
            points: &self.points,
            beta: None,
            log_prior: &mut self.log_prior,
            log_likelihood: &mut self.log_likelihood,
            gradient: &mut self.gradient,
        };
        evaluator.evaluate(&mut batch, Terms { propto: true, jacobian: true }).expect("it runs");
    }
}

/// Microseconds per gradient per chain: the least of many short measurements.
fn ours(model: &Arc<Model>, lanes: usize, seconds: f64) -> f64 {
    let mut evaluation = Evaluation::new(model.dimension(), lanes);
    let mut evaluator = Arc::clone(model).evaluator();
    (0..5).for_each(|_| evaluation.run(&mut evaluator));
    let (begin, mut best) = (Instant::now(), f64::INFINITY);
    // Others may share the processor: short rounds are measured by the clock, of which the least counts; long ones by
    // processor time, which is known to some milliseconds.
    evaluation.run(&mut evaluator);
    let long = begin.elapsed().as_secs_f64() > 5e-4;
    let clock = || if long { processor_seconds() } else { None }.unwrap_or_else(|| begin.elapsed().as_secs_f64());
    let (round_seconds, seconds) = if long { (0.05, seconds.max(0.15)) } else { (1e-3, seconds) };
    let start = clock();
    while clock() - start < seconds {
        let (mut count, round) = (0_u32, clock());
        while clock() - round < round_seconds {
            evaluation.run(&mut evaluator);
            count += 1;
        }
        #[allow(clippy::cast_precision_loss, reason = "few lanes")]
        let chains = f64::from(count) * lanes as f64;
        best = best.min((clock() - round) * 1e6 / chains);
    }
    best
}

/// Processor time of this thread, where the system tells.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}

/// The executable of real Stan for a program, if it can be built.
fn real_stan(program: &Path) -> Option<PathBuf> {
    let built = Command::new(std::env::var_os("REALSTAN")?).arg(program).output().ok()?;
    Some(PathBuf::from(String::from_utf8_lossy(&built.stdout).lines().last()?.trim()))
}

fn ask(executable: &Path, arguments: &[&str]) -> Option<serde_json::Value> {
    let output = Command::new(executable).args(arguments).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

/// The largest difference from real Stan, relative where numbers are large.
fn difference(executable: &Path, data: &str, folder: &Path, model: &Arc<Model>) -> Option<f64> {
    let lanes = 3;
    let mut evaluation = Evaluation::new(model.dimension(), lanes);
    (0..3).for_each(|_| evaluation.run(&mut Arc::clone(model).evaluator()));
    let point = |l: usize| -> Vec<f64> { evaluation.points.iter().skip(l).step_by(lanes).copied().collect() };
    let file = folder.join("points.json");
    std::fs::write(&file, serde_json::to_string(&(0..lanes).map(point).collect::<Vec<_>>()).ok()?).ok()?;
    let theirs = ask(executable, &["density", data, file.to_str()?, "--propto"])?;
    let mut worst = 0.0_f64;
    let mut compare = |ours: f64, theirs: &serde_json::Value| {
        let Some(theirs) = theirs.as_f64() else { return worst = f64::NAN };
        worst = worst.max((ours - theirs).abs() / theirs.abs().max(1.0));
    };
    for (l, result) in theirs["points"].as_array()?.iter().enumerate() {
        compare(evaluation.log_prior[l] + evaluation.log_likelihood[l], &result["log_density"]);
        for (k, theirs) in result["gradient"].as_array()?.iter().enumerate() {
            compare(evaluation.gradient[k * lanes + l], theirs);
        }
    }
    Some(worst)
}

fn measure(program: &Path, name: &str, folder: &Path, seconds: f64) -> Measured {
    let text = std::fs::read_to_string(program).expect("the program is there");
    let json = data::of(name).to_string();
    let file = folder.join(format!("{name}.json"));
    std::fs::write(&file, &json).expect("the folder can be written to");
    let begin = Instant::now();
    let model = bind(&text, &json);
    Evaluation::new(model.dimension(), 1).run(&mut Arc::clone(&model).evaluator());
    let bind = begin.elapsed().as_secs_f64() * 1e3;
    let ours = WIDTHS.map(|lanes| ours(&model, lanes, seconds));
    let executable = real_stan(program);
    let data = file.to_string_lossy();
    let stan = executable.as_ref().and_then(|e| ask(e, &["bench", &data, "0.5"])?["us_per_gradient"].as_f64());
    let error = executable.as_ref().and_then(|e| difference(e, &data, folder, &model));
    Measured { bind, ours, stan, error }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let seconds = std::env::var("SECONDS_EACH").ok().and_then(|s| s.parse().ok()).unwrap_or(0.2);
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/breadth");
    let mut names: Vec<PathBuf> = std::fs::read_dir(&programs)
        .expect("the programs are there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "stan"))
        .collect();
    names.sort();
    let folder = std::env::temp_dir().join("crust-breadth");
    std::fs::create_dir_all(&folder).expect("a folder for the data");
    println!(
        "µs per gradient per chain, one thread; ratios are real Stan / crust; bind is milliseconds to the first gradient\n"
    );
    println!(
        "{:<24} {:>7} {:>10} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9}",
        "program", "bind", "Stan", "1 lane", "8 lanes", "64 lanes", "×1", "×8", "×64", "error"
    );
    let mut ratios: [Vec<f64>; 3] = Default::default();
    for program in &names {
        let name = program.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let Measured { bind, ours, stan, error } = measure(program, &name, &folder, seconds);
        print!("{name:<24} {bind:>7.1} ");
        match stan {
            None => println!("{:>10} {:>9.2} {:>9.2} {:>9.3}", "", ours[0], ours[1], ours[2]),
            Some(stan) => {
                let times = ours.map(|us| stan / us);
                ratios.iter_mut().zip(times).for_each(|(all, x)| all.push(x));
                println!(
                    "{stan:>10.2} {:>9.2} {:>9.2} {:>9.3} {:>7.2}× {:>7.1}× {:>7.1}× {:>9.1e}",
                    ours[0],
                    ours[1],
                    ours[2],
                    times[0],
                    times[1],
                    times[2],
                    error.unwrap_or(f64::NAN)
                );
            }
        }
    }
    for (all, lanes) in ratios.iter_mut().zip(WIDTHS) {
        all.sort_by(f64::total_cmp);
        if let (Some(least), Some(median)) = (all.first(), all.get(all.len() / 2)) {
            println!("{lanes:>2} lanes: median {median:.2}×, least {least:.2}×");
        }
    }
}
