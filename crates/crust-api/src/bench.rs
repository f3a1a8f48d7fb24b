//! `crust bench`: compile time, and time per gradient at several batch widths.

use crate::arguments::{Bench, Common};
use crate::program::{Bound, bind, show_engine_error};
use crate::{Outcome, terminal};
use crust_engine::{Batch, EngineError, Evaluator, Terms};
use crust_math::random::{Purpose, StreamKey};
use serde::Serialize;
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
    if !(arguments.seconds > 0.0 && arguments.seconds.is_finite()) {
        return Err("--seconds needs a number above 0".to_owned());
    }
    let start = Instant::now();
    let Some(bound) = bind(&arguments.program, arguments.seed, common.quiet)? else { return Ok(Outcome::BadInput) };
    let report = match measure(&bound, arguments, start) {
        Ok(report) => report?,
        Err(error) => {
            show_engine_error(&bound.reading, &error);
            return Ok(Outcome::BadInput);
        }
    };
    if let Some(file) = &common.json {
        terminal::deliver(&report, file)?;
    }
    if !common.quiet && !common.json.as_deref().is_some_and(terminal::is_stdout) {
        terminal::say(&table(&report));
    }
    Ok(Outcome::Fine)
}

/// The inner error says that there are no points to measure at.
fn measure(bound: &Bound, arguments: &Bench, start: Instant) -> Result<Result<Report, String>, EngineError> {
    let dimension = bound.model.dimension();
    let mut first = Points::new(dimension, 1, arguments.seed);
    let mut evaluator = bound.model.evaluator();
    evaluator.evaluate(&mut first.batch(), TERMS)?;
    let compile_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut rows = Vec::new();
    for &lanes in &arguments.lanes {
        let mut points = Points::new(dimension, lanes, arguments.seed);
        let mut evaluator = bound.model.evaluator();
        if let Some(why) = points.replace_rejected(&mut evaluator)? {
            return Ok(Err(format!(
                "the program rejects every point that was tried ({why}); there is nothing to measure"
            )));
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
    Ok(Ok(Report { compile_ms, dimension, rows }))
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

    /// A rejected point takes less time than others, or more: its place is taken by one that is not. Says why there is none.
    fn replace_rejected(&mut self, evaluator: &mut Evaluator) -> Result<Option<String>, EngineError> {
        const TRIES: u64 = 100;
        let mut why = String::new();
        for step in 1..=TRIES {
            evaluator.evaluate(&mut self.batch(), TERMS)?;
            let mut stream = StreamKey::new(0, Purpose::INITIAL).step(step).stream();
            let mut rejected = false;
            for lane in 0..self.lanes {
                let value = self.log_prior[lane] + self.log_likelihood[lane];
                if value.is_finite() {
                    continue;
                }
                rejected = true;
                let message = evaluator.rejections()[lane].as_ref().map(|r| r.message.clone());
                why = message.unwrap_or_else(|| format!("the log density is {value}"));
                for x in self.numbers.iter_mut().skip(lane).step_by(self.lanes) {
                    *x = 4.0 * stream.uniform() - 2.0;
                }
            }
            if !rejected {
                return Ok(None);
            }
        }
        Ok(Some(why))
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
