//! `crust bench`: compile time, and time per gradient at several batch widths.

use crate::arguments::{Bench, Common};
use crate::program::{Bound, bind, show_engine_error};
use crate::{Outcome, terminal};
use crust_engine::{Batch, EngineError, Terms};
use crust_math::random::{Purpose, StreamKey};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

#[derive(Serialize)]
struct Report {
    /// From the program's text and the data to the first gradient.
    compile_ms: f64,
    dimension: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    lanes: usize,
    /// Per chain, on one thread.
    us_per_gradient: f64,
}

pub fn run(arguments: &Bench, common: &Common) -> Result<Outcome, String> {
    if arguments.lanes.is_empty() || arguments.lanes.contains(&0) {
        return Err("--lanes needs numbers of at least 1".to_owned());
    }
    let start = Instant::now();
    let Some(bound) =
        bind(&arguments.model, arguments.data.as_deref(), &arguments.include_path, arguments.seed, common.quiet)?
    else {
        return Ok(Outcome::BadInput);
    };
    let report = match measure(&bound, arguments, start) {
        Ok(report) => report,
        Err(error) => {
            show_engine_error(&bound.reading, &error);
            return Ok(Outcome::BadInput);
        }
    };
    let json = serde_json::to_string(&report).map_err(|e| e.to_string())?;
    match common.json.as_deref() {
        Some(file) if file == Path::new("-") => terminal::say(&json),
        file => {
            if let Some(file) = file {
                std::fs::write(file, json + "\n").map_err(|e| format!("cannot write {}: {e}", file.display()))?;
            }
            if !common.quiet {
                terminal::say(&table(&report));
            }
        }
    }
    Ok(Outcome::Fine)
}

fn measure(bound: &Bound, arguments: &Bench, start: Instant) -> Result<Report, EngineError> {
    let dimension = bound.model.dimension();
    let mut first = Points::new(dimension, 1, arguments.seed);
    let mut evaluator = bound.model.evaluator();
    evaluator.evaluate(&mut first.batch(), TERMS)?;
    let compile_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut rows = Vec::new();
    for &lanes in &arguments.lanes {
        let mut points = Points::new(dimension, lanes, arguments.seed);
        let mut evaluator = bound.model.evaluator();
        for _ in 0..3 {
            evaluator.evaluate(&mut points.batch(), TERMS)?;
        }
        let mut best = f64::INFINITY;
        let begin = Instant::now();
        while best.is_infinite() || begin.elapsed().as_secs_f64() < arguments.seconds {
            // Batches of evaluations of at least a millisecond: the clock is exact enough for that.
            let (mut count, round) = (0_u32, Instant::now());
            while round.elapsed().as_secs_f64() < 1e-3 {
                evaluator.evaluate(&mut points.batch(), TERMS)?;
                count += 1;
            }
            #[allow(clippy::cast_precision_loss, reason = "few lanes")]
            let chains = f64::from(count) * lanes as f64;
            best = best.min(round.elapsed().as_secs_f64() * 1e6 / chains);
        }
        rows.push(Row { lanes, us_per_gradient: best });
    }
    Ok(Report { compile_ms, dimension, rows })
}

/// As samplers evaluate: constants do not matter.
const TERMS: Terms = Terms { propto: true, jacobian: true };

/// Points uniform on (−2, 2), as samplers begin, and room for the results.
struct Points {
    lanes: usize,
    numbers: Vec<f64>,
    log_prior: Vec<f64>,
    log_likelihood: Vec<f64>,
    gradient: Vec<f64>,
}

impl Points {
    fn new(dimension: usize, lanes: usize, seed: u64) -> Self {
        let mut stream = StreamKey::new(seed, Purpose::INITIAL).stream();
        let numbers = (0..dimension * lanes).map(|_| 4.0 * stream.uniform() - 2.0).collect();
        let gradient = vec![0.0; dimension * lanes];
        Self { lanes, numbers, log_prior: vec![0.0; lanes], log_likelihood: vec![0.0; lanes], gradient }
    }

    fn batch(&mut self) -> Batch<'_> {
        Batch {
            lanes: self.lanes,
            points: &self.numbers,
            beta: None,
            log_prior: &mut self.log_prior,
            log_likelihood: &mut self.log_likelihood,
            gradient: &mut self.gradient,
        }
    }
}

fn table(report: &Report) -> String {
    let mut lines = vec![
        format!("compiled and bound in {:.2} ms; {} unconstrained parameters", report.compile_ms, report.dimension),
        format!("{:>6}  {:>24}", "lanes", "µs per gradient per chain"),
    ];
    lines.extend(report.rows.iter().map(|row| format!("{:>6}  {:>24.3}", row.lanes, row.us_per_gradient)));
    lines.join("\n")
}
