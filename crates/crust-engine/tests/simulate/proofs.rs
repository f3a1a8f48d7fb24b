//! Every program of the repository that can be read is proven to be read rightly.

use std::fs;
use std::path::{Path, PathBuf};

use crust_engine::data::{Calculator, read_data};
use crust_engine::{Misreading, ProveError, ProveOptions, Simulator, prove};
use crust_math::random::{Purpose, Stream, StreamKey};
use crust_stan::ast::BlockKind;
use crust_stan::data::{Calculator as _, Data, Limits, Options};
use crust_stan::front_end::{Reading, read};
use crust_stan::joint::{Joint, ReadOptions, declared_bounds};
use crust_stan::source::IncludeFiles;
use crust_stan::typed::{Expr, Program};
use crust_stan::value::{Cell, Item, Numbers, Shape, Tensor, Value};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All programs below a folder.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(list) = fs::read_dir(folder) else { return };
    let mut list: Vec<PathBuf> = list.flatten().map(|entry| entry.path()).collect();
    list.sort();
    for path in list {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|e| e == "stan") {
            found.push(path);
        }
    }
}

/// Data for a program: the file of the same name, another one beside it that fits, or made up.
fn data_for(path: &Path, reading: &Reading, joint: &Joint) -> Option<Data> {
    let names = joint.outcome_names();
    let allow_missing = move |name: &str| names.contains(name);
    let options = Options { allow_missing: &allow_missing, ..Options::default() };
    let mut files = vec![path.with_extension("json")];
    for folder in [path.parent().map(Path::to_path_buf), path.parent().and_then(|p| Some(p.parent()?.join("data")))] {
        let list = folder.and_then(|folder| fs::read_dir(folder).ok());
        files.extend(
            list.into_iter()
                .flatten()
                .flatten()
                .map(|e| e.path())
                .filter(|p| p.extension().is_some_and(|e| e == "json")),
        );
    }
    files.sort_by_key(|f| *f != path.with_extension("json"));
    let found = files.iter().find_map(|file| {
        let json = fs::read_to_string(file).ok()?;
        read_data(&reading.typed, &reading.source, &json, &options).ok()
    });
    found.or_else(|| made_up(&reading.typed, joint))
}

/// Small data that fit the declarations; outcomes are missing.
fn made_up(program: &Program, joint: &Joint) -> Option<Data> {
    let mut stream = StreamKey::new(1, Purpose::TEST).stream();
    let mut data = Data::empty(program.variables.len());
    for id in program.declared_in(BlockKind::Data) {
        let mut calculator = Calculator::knowing(program, &data, Limits::default());
        let declared = program.variable(id).declared.as_ref()?;
        let shape = calculator.shape(declared).ok()?.ok()?;
        let bounds = declared_bounds(program, id);
        let mut side = |e: Option<&Expr>| e.and_then(|e| calculator.expression(e).ok()?.to_reals()?.first().copied());
        let (low, high) = (side(bounds.lower), side(bounds.upper));
        data.set(id, value(&shape, low, high, &mut stream)?);
    }
    let text = crust_stan::data::write_json(program, &data);
    let names = joint.outcome_names();
    let allow_missing = move |name: &str| names.contains(name);
    let options = Options { allow_missing: &allow_missing, ..Options::default() };
    let reading = read("none.stan", None, "", &IncludeFiles { folders: Vec::new() });
    read_data(program, &reading.source, &text, &options).ok()
}

#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
fn value(shape: &Shape, low: Option<f64>, high: Option<f64>, stream: &mut Stream) -> Option<Value> {
    let Item::Cell(cell) = &shape.item else { return None };
    let n = shape.numbers()?;
    let integer = *cell == Cell::Int;
    let mut draw = || match (low, high) {
        (Some(a), Some(b)) => a + (b - a) * stream.uniform(),
        (Some(a), None) if integer => a + if n == 1 { 3.0 } else { 2.0 * stream.uniform() },
        (Some(a), None) => a + 0.5 + stream.uniform(),
        (None, Some(b)) => b - 0.5 - stream.uniform(),
        (None, None) if integer => 4.0,
        (None, None) => stream.standard_normal(),
    };
    let numbers: Vec<f64> = (0..n).map(|_| draw()).collect();
    let whole = |x: f64| x.round() as i32;
    Some(match (cell, shape.array.as_slice()) {
        (Cell::Int, []) => Value::Int(whole(numbers[0])),
        (Cell::Real, []) => Value::Real(numbers[0]),
        (Cell::Int, _) => {
            let numbers = Numbers::Int(numbers.into_iter().map(whole).collect());
            Tensor { array: shape.array.clone(), cell: *cell, numbers }.into()
        }
        _ => Tensor { array: shape.array.clone(), cell: *cell, numbers: Numbers::Real(numbers) }.into(),
    })
}

/// How many seeds each program is proven with; `PROOF_SEEDS` says another number, `PROOF_FOLDERS` more folders.
fn seeds() -> u64 {
    std::env::var("PROOF_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

#[test]
#[allow(clippy::print_stderr, reason = "says what was skipped when it is asked")]
fn readings_of_the_repository_are_proven() {
    let mut found = Vec::new();
    for folder in [
        "examples",
        "crates/crust-engine/tests",
        "crates/crust/tests",
        "crates/crust-api/tests",
        "crates/crust-stan/tests/corpus/valid",
    ] {
        programs(&repository().join(folder), &mut found);
    }
    for folder in std::env::var("PROOF_FOLDERS").unwrap_or_default().split(':').filter(|f| !f.is_empty()) {
        programs(Path::new(folder), &mut found);
    }
    let mut wrong = Vec::new();
    let mut proven = 0;
    for path in &found {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let name = path.to_string_lossy().into_owned();
        let reading = read(&name, None, &text, &IncludeFiles { folders: Vec::new() });
        if reading.has_errors() || !crust_engine::unsupported(&reading.typed).is_empty() {
            continue;
        }
        if reading.typed.declared_in(BlockKind::Parameters).next().is_none() {
            continue;
        }
        let joint = match Joint::read(&reading.typed, &ReadOptions::default()) {
            Ok(joint) => joint,
            Err(problems) => {
                eprintln!("not read: {name}: {}", problems[0].message);
                continue;
            }
        };
        let Some(data) = data_for(path, &reading, &joint) else {
            eprintln!("no data: {name}");
            continue;
        };
        let simulator = match Simulator::new(&reading.typed, &joint, &data, None) {
            Ok(simulator) => simulator,
            Err(error) => {
                eprintln!("no simulator: {name}: {error}");
                continue;
            }
        };
        for seed in 1..=seeds() {
            let before = std::time::Instant::now();
            match prove(&reading.typed, &simulator, &ProveOptions { seed, ..ProveOptions::default() }) {
                Ok(proof) => {
                    proven += 1;
                    if seed == 1 {
                        eprintln!("proven in {:?}: {name}: {proof:?}", before.elapsed());
                    }
                }
                // Refused, with both numbers: the prior is not the product that its statements seem to be.
                Err(ProveError::Misreading(error @ Misreading::Weighs(_))) => {
                    eprintln!("not a product: {name}: {error}");
                    break;
                }
                Err(ProveError::Misreading(error)) => {
                    eprintln!("MISREAD: {name} (seed {seed}): {error}");
                    wrong.push(format!("{name} (seed {seed}): {error}"));
                    break;
                }
                // What is refused while drawing has been refused before.
                Err(error) => {
                    eprintln!("not drawn: {name}: {error}");
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} proven\n{}", proven, wrong.join("\n"));
    assert!(proven > 40, "{proven}");
}

/// A covariance matrix that is nearly singular: digits are lost in its factor, but the same ones in the program and in
/// what is read of it, since both factorise one matrix at a time.
#[test]
fn digits_that_are_lost_are_the_same_on_both_sides() {
    let text = "data { int N; vector[N] y; array[N] real x; }
        parameters { real<lower=0> a; real<lower=0> l; vector[N] z; real<lower=0> s; }
        model { vector[N] f = cholesky_decompose(add_diag(gp_exp_quad_cov(x, a, l), 1e-9)) * z;
          a ~ normal(0, 30); l ~ inv_gamma(2, 0.5); z ~ normal(0, 1); s ~ normal(0, 1); y ~ normal(f, s); }";
    let list = |f: &dyn Fn(f64) -> f64| (0..40).map(|i| f(f64::from(i) / 40.0)).collect::<Vec<f64>>();
    let json = format!("{{\"N\": 40, \"x\": {:?}, \"y\": {:?}}}", list(&|x| x), list(&|x| (6.0 * x).sin()));
    let case = super::case(text, &json);
    for seed in 1..=3 {
        let options = ProveOptions { seed, ..ProveOptions::default() };
        prove(&case.reading.typed, &case.simulator, &options).unwrap_or_else(|error| panic!("{error}"));
    }
}
