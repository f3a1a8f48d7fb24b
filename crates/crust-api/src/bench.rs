//! `crust bench`: compile time, and time per gradient at several batch widths.

use crate::error::{Error, Refusal};
use crate::problem::{Problem, Source};
use crate::session::Session;
use crust_diagnose::result::{Bench, BenchRow};
use crust_engine::{Batch, EngineError, Evaluator, Model, Terms};
use crust_math::random::{Purpose, StreamKey};
use std::sync::Arc;
use std::time::Instant;

/// Options of `bench`.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// How many chains are evaluated at once, one row for each.
    pub lanes: Vec<usize>,
    /// How long to measure each row.
    pub seconds: f64,
    /// Whether the lists of operations that the program became are part of the result.
    pub ir: bool,
}

impl Default for BenchOptions {
    fn default() -> Self {
        Self { lanes: vec![1, 4, 16, 64], seconds: 0.5, ir: false }
    }
}

/// Measures a program with its data, from the text on.
pub fn bench(
    program: Source,
    data: Option<Source>,
    options: &BenchOptions,
    session: &Session<'_>,
) -> Result<Bench, Error> {
    if options.lanes.is_empty() || options.lanes.contains(&0) {
        return Err(Error::option("lanes", "", "needs numbers of at least 1"));
    }
    if !(options.seconds > 0.0 && options.seconds.is_finite()) {
        return Err(Error::option("seconds", "", "needs a number above 0"));
    }
    let start = Instant::now();
    let problem = Problem::read(program, data)?;
    let model = problem.model(session.seed)?;
    session.printed(&model.messages);
    measure(&model, options, session.seed, start).map_err(|stop| match stop {
        Stop::Engine(error) => problem.program().engine(error),
        Stop::AllRejected { why } => Refusal::AllRejected { why }.into(),
    })
}

/// Why there is nothing to measure.
enum Stop {
    Engine(EngineError),
    AllRejected { why: String },
}

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

fn measure(model: &Arc<Model>, options: &BenchOptions, seed: u64, start: Instant) -> Result<Bench, Stop> {
    let dimension = model.dimension();
    let mut first = Points::new(dimension, 1, seed);
    let mut evaluator = model.evaluator();
    evaluator.evaluate(&mut first.batch(), TERMS)?;
    let compile_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut rows = Vec::new();
    for &lanes in &options.lanes {
        let mut points = Points::new(dimension, lanes, seed);
        let mut evaluator = model.evaluator();
        if let Some(why) = points.replace_rejected(&mut evaluator)? {
            return Err(Stop::AllRejected { why });
        }
        let mut time = |count: u32| -> Result<f64, Stop> {
            let round = Instant::now();
            for _ in 0..count {
                evaluator.evaluate(&mut points.batch(), TERMS)?;
            }
            Ok(round.elapsed().as_secs_f64())
        };
        let begin = Instant::now();
        // Rounds of a millisecond at least, for which the clock is exact enough; to read it more often would be measured.
        let (mut count, mut round) = (1, time(1)?);
        while round < ROUND {
            count *= 2;
            round = time(count)?;
        }
        while begin.elapsed().as_secs_f64() < options.seconds {
            round = round.min(time(count)?);
        }
        #[allow(clippy::cast_precision_loss, reason = "few lanes")]
        let us_per_gradient = round * 1e6 / (f64::from(count) * lanes as f64);
        rows.push(BenchRow { lanes, us_per_gradient, memory: evaluator.memory() });
    }
    let ir = options.ir.then(|| evaluator.ir());
    Ok(Bench { compile_ms, dimension, rows, ir })
}

/// Seconds of a round of evaluations that are measured together.
const ROUND: f64 = 1e-3;

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

    /// A rejected point takes less time than others, or more: its place is taken by one that is not. Says why there is
    /// none.
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
