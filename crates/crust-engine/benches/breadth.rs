//! Time per gradient per chain on programs of many kinds, against real Stan.
//!
//! `cargo bench -p crust-engine --bench breadth [NAME…]` prints the table, of the named programs or of all. Where the
//! environment variable `REALSTAN` names a command that builds real Stan (called with a program, it leaves an
//! executable that is asked for `bench DATA.json SECONDS` and `density DATA.json POINTS.json`), its times are measured
//! in the same run and its densities compared with ours. `bits` says whether a lane is the same to the last bit alone
//! and in a group of eight. `LANES=64` measures only that width, `SECONDS_EACH` is how
//! long each is measured: for profilers; `IR=1` prints lists. `PROGRAMS` names a folder with other programs, `NAME.stan` with `NAME.json`.

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
    /// Whether a lane has the same bits alone and in a group.
    alike: bool,
}

/// As many points are gone through in turn: the ones that `bench` of real Stan uses.
const POINTS: usize = 64;

/// The points of real Stan's `bench`: numbers between −2 and 2 of the 64-bit Mersenne twister that was seeded with 42.
fn points(dimension: usize) -> Vec<Vec<f64>> {
    const N: usize = 312;
    let mut state = [0_u64; N];
    state[0] = 42;
    for i in 1..N {
        let last = state[i - 1];
        state[i] = 6_364_136_223_846_793_005_u64.wrapping_mul(last ^ last >> 62).wrapping_add(i as u64);
    }
    let mut at = N;
    let mut next = || {
        if at == N {
            at = 0;
            for i in 0..N {
                let x = state[i] & 0xffff_ffff_8000_0000 | state[(i + 1) % N] & 0x7fff_ffff;
                let odd = if x & 1 == 1 { 0xb502_6f5a_a966_19e9 } else { 0 };
                state[i] = state[(i + 156) % N] ^ x >> 1 ^ odd;
            }
        }
        let mut x = state[at];
        at += 1;
        x ^= x >> 29 & 0x5555_5555_5555_5555;
        x ^= x << 17 & 0x71d6_7fff_eda6_0000;
        x ^= x << 37 & 0xfff7_eee0_0000_0000;
        x ^ x >> 43
    };
    #[allow(clippy::cast_precision_loss, reason = "as libstdc++ does")]
    let mut number = || (next() as f64 / 18_446_744_073_709_551_616.0) * 4.0 - 2.0;
    (0..POINTS).map(|_| (0..dimension).map(|_| number()).collect()).collect()
}

/// The log density and gradient of lanes.
struct Evaluation {
    /// For each turn a row of lanes for each dimension.
    turns: Vec<Vec<f64>>,
    turn: usize,
    log_prior: Vec<f64>,
    log_likelihood: Vec<f64>,
    gradient: Vec<f64>,
}

impl Evaluation {
    fn new(dimension: usize, lanes: usize) -> Self {
        let numbers = vec![0.0; lanes];
        let gradient = vec![0.0; dimension * lanes];
        let all = points(dimension);
        let rows = |own: &[Vec<f64>]| (0..dimension).flat_map(|k| own.iter().map(move |p| p[k])).collect();
        let turns = all.chunks_exact(lanes).map(rows).collect();
        Self { turns, turn: 0, log_prior: numbers.clone(), log_likelihood: numbers, gradient }
    }

    fn run(&mut self, evaluator: &mut crust_engine::Evaluator) {
        let points = &self.turns[self.turn % self.turns.len()];
        self.turn += 1;
        let mut batch = Batch {
            lanes: self.log_prior.len(),
            points,
            beta: None,
            log_prior: &mut self.log_prior,
            log_likelihood: &mut self.log_likelihood,
            gradient: &mut self.gradient,
        };
        evaluator.evaluate(&mut batch, Terms { propto: true, jacobian: true }).expect("it runs");
    }
}

/// Microseconds per gradient per chain: the least of many short measurements, as real Stan's `bench` does it.
fn ours(model: &Arc<Model>, lanes: usize, seconds: f64) -> f64 {
    let mut evaluation = Evaluation::new(model.dimension(), lanes);
    let mut evaluator = Arc::clone(model).evaluator();
    (0..POINTS).for_each(|_| evaluation.run(&mut evaluator));
    let (begin, mut best) = (Instant::now(), f64::INFINITY);
    (0..POINTS).for_each(|_| evaluation.run(&mut evaluator));
    #[allow(clippy::cast_precision_loss, reason = "few lanes")]
    let (turns, chains) = (POINTS as f64, lanes as f64);
    // Others may share the processor: short rounds are measured by the clock, of which the least counts; long ones by
    // processor time, which is known to some milliseconds.
    let once = begin.elapsed().as_secs_f64() / turns;
    let long = once > 5e-4;
    let clock = || if long { processor_seconds() } else { None }.unwrap_or_else(|| begin.elapsed().as_secs_f64());
    let (round, seconds) = if long { (0.05, seconds.max(0.15)) } else { (1.5e-3, seconds) };
    let count = (round / once).max(1.0);
    let start = clock();
    while clock() - start < seconds {
        let (mut done, begin) = (0.0, clock());
        while done < count || clock() <= begin {
            evaluation.run(&mut evaluator);
            done += 1.0;
        }
        best = best.min((clock() - begin) * 1e6 / (done * chains));
    }
    best
}

/// Whether lanes have the same bits alone and in a group of eight.
fn alike(model: &Arc<Model>) -> bool {
    let lanes = 8;
    let [mut group, mut alone] = [lanes, 1].map(|lanes| Evaluation::new(model.dimension(), lanes));
    let [mut wide, mut single] = [(); 2].map(|()| Arc::clone(model).evaluator());
    (0..4).all(|_| {
        group.run(&mut wide);
        (0..lanes).all(|l| {
            alone.run(&mut single);
            let pairs = [(&group.log_prior, &alone.log_prior), (&group.log_likelihood, &alone.log_likelihood)];
            let own = group.gradient.iter().skip(l).step_by(lanes);
            let mut all = own.zip(&alone.gradient).chain(pairs.map(|(a, b)| (&a[l], &b[0])));
            all.all(|(a, b)| a.to_bits() == b.to_bits())
        })
    })
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
    let lanes = 8;
    let mut evaluation = Evaluation::new(model.dimension(), lanes);
    let mut evaluator = Arc::clone(model).evaluator();
    (0..3).for_each(|_| {
        evaluation.turn = 0;
        evaluation.run(&mut evaluator);
    });
    let point = |l: usize| -> Vec<f64> { evaluation.turns[0].iter().skip(l).step_by(lanes).copied().collect() };
    let file = folder.join("points.json");
    std::fs::write(&file, serde_json::to_string(&(0..lanes).map(point).collect::<Vec<_>>()).ok()?).ok()?;
    let theirs = ask(executable, &["density", data, file.to_str()?, "--propto"])?;
    let mut worst = 0.0_f64;
    let mut compare = |ours: f64, theirs: &serde_json::Value| {
        let Some(theirs) = theirs.as_f64() else { return worst = f64::NAN };
        worst = worst.max((ours - theirs).abs() / theirs.abs().max(1.0));
    };
    for (l, result) in theirs["points"].as_array()?.iter().enumerate() {
        if result.get("error").is_some() && evaluation.log_likelihood[l] == f64::NEG_INFINITY {
            continue;
        }
        compare(evaluation.log_prior[l] + evaluation.log_likelihood[l], &result["log_density"]);
        for (k, theirs) in result["gradient"].as_array()?.iter().enumerate() {
            compare(evaluation.gradient[k * lanes + l], theirs);
        }
    }
    Some(worst)
}

fn measure(program: &Path, name: &str, folder: &Path, seconds: f64) -> Measured {
    let text = std::fs::read_to_string(program).expect("the program is there");
    let own = std::fs::read_to_string(program.with_extension("json")).ok();
    let json = own.unwrap_or_else(|| data::of(name).to_string());
    let file = folder.join(format!("{name}.json"));
    std::fs::write(&file, &json).expect("the folder can be written to");
    let begin = Instant::now();
    let model = bind(&text, &json);
    Evaluation::new(model.dimension(), 1).run(&mut Arc::clone(&model).evaluator());
    let bind = begin.elapsed().as_secs_f64() * 1e3;
    if std::env::var_os("IR").is_some() {
        let mut evaluator = Arc::clone(&model).evaluator();
        Evaluation::new(model.dimension(), 1).run(&mut evaluator);
        println!("{}", evaluator.ir());
    }
    let only: Option<usize> = std::env::var("LANES").ok().and_then(|s| s.parse().ok());
    let wanted = |lanes| only.is_none_or(|only| only == lanes);
    let ours = WIDTHS.map(|lanes| if wanted(lanes) { ours(&model, lanes, seconds) } else { f64::NAN });
    let executable = real_stan(program);
    let data = file.to_string_lossy();
    let stan = executable.as_ref().and_then(|e| ask(e, &["bench", &data, "0.5"])?["us_per_gradient"].as_f64());
    let error = executable.as_ref().and_then(|e| difference(e, &data, folder, &model));
    Measured { bind, ours, stan, error, alike: alike(&model) }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let seconds = std::env::var("SECONDS_EACH").ok().and_then(|s| s.parse().ok()).unwrap_or(0.2);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/breadth");
    let programs = std::env::var_os("PROGRAMS").map_or(own, PathBuf::from);
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
        "{:<24} {:>7} {:>4} {:>10} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9}",
        "program", "bind", "bits", "Stan", "1 lane", "8 lanes", "64 lanes", "×1", "×8", "×64", "error"
    );
    let mut ratios: [Vec<f64>; 3] = Default::default();
    for program in &names {
        let name = program.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let Measured { bind, ours, stan, error, alike } = measure(program, &name, &folder, seconds);
        print!("{name:<24} {bind:>7.1} {:>4} ", if alike { "=" } else { "≠" });
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
