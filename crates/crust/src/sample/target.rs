//! A Stan program as a target of samplers.

use crate::terminal;
use crust_engine::{Batch as EngineBatch, Evaluator, Model, Terms};
use crust_infer::target::{Batch, Fatal, Target, tempered};
use crust_stan::source::Source;
use std::num::NonZero;
use std::sync::Arc;

/// As Stan's samplers see a program: constants do not matter, and `lp__` is without them.
const TERMS: Terms = Terms { propto: true, jacobian: true };

/// The log density of a bound program.
///
/// The last digits of a density may depend on how many lanes are evaluated together, so that it is always the same number: a batch with
/// fewer chains is filled up. Draws are then the same however many chains there are and however they are spread over threads.
pub struct Posterior<'a> {
    evaluator: Evaluator,
    /// How many lanes are evaluated together.
    width: NonZero<usize>,
    source: &'a Source,
    quiet: bool,
    room: Room,
}

/// A full batch.
#[derive(Default)]
struct Room {
    lanes: usize,
    points: Vec<f64>,
    beta: Vec<f64>,
    log_prior: Vec<f64>,
    log_likelihood: Vec<f64>,
    gradient: Vec<f64>,
}

impl<'a> Posterior<'a> {
    pub fn new(model: &Arc<Model>, source: &'a Source, width: NonZero<usize>, quiet: bool) -> Self {
        let evaluator = model.evaluator().with_width(width.get());
        Self { evaluator, width, source, quiet, room: Room::default() }
    }
}

impl Clone for Posterior<'_> {
    fn clone(&self) -> Self {
        Self::new(self.evaluator.model(), self.source, self.width, self.quiet)
    }
}

impl Room {
    /// Takes in the points of a batch; lanes beyond its last repeat the last.
    fn fill(&mut self, batch: &Batch, dimension: usize, width: NonZero<usize>) {
        let lanes = batch.lanes.next_multiple_of(width.get());
        self.lanes = lanes;
        self.points.clear();
        for row in batch.x.chunks_exact(batch.lanes) {
            self.points.extend_from_slice(row);
            self.points.resize(self.points.len() + lanes - batch.lanes, row[batch.lanes - 1]);
        }
        self.beta.clear();
        self.beta.extend_from_slice(&batch.beta);
        self.beta.resize(lanes, batch.beta[batch.lanes - 1]);
        self.log_prior.resize(lanes, 0.0);
        self.log_likelihood.resize(lanes, 0.0);
        self.gradient.resize(if batch.wants_gradient() { lanes * dimension } else { 0 }, 0.0);
    }
}

impl Target for Posterior<'_> {
    fn dimension(&self) -> usize {
        self.evaluator.model().dimension()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        let room = &mut self.room;
        room.fill(batch, self.evaluator.model().dimension(), self.width);
        let mut full = EngineBatch {
            lanes: room.lanes,
            points: &room.points,
            beta: Some(&room.beta),
            log_prior: &mut room.log_prior,
            log_likelihood: &mut room.log_likelihood,
            gradient: &mut room.gradient,
        };
        self.evaluator.evaluate(&mut full, TERMS).map_err(Fatal::new)?;
        batch.log_prior.copy_from_slice(&room.log_prior[..batch.lanes]);
        batch.log_likelihood.copy_from_slice(&room.log_likelihood[..batch.lanes]);
        let rows = batch.gradient.chunks_exact_mut(batch.lanes).zip(room.gradient.chunks_exact(room.lanes));
        rows.for_each(|(to, from)| to.copy_from_slice(&from[..to.len()]));
        let printed = self.evaluator.take_messages();
        if !self.quiet {
            printed.iter().for_each(|line| terminal::complain(line));
        }
        Ok(())
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        if let Some(rejection) = self.evaluator.rejections().get(lane)? {
            let line = self.source.location(rejection.span).line;
            return Some(format!("{}, line {line}", rejection.message));
        }
        let room = &self.room;
        let value = tempered(room.log_prior[lane], room.log_likelihood[lane], room.beta[lane]);
        (!value.is_finite()).then(|| format!("the log density is {value}"))
    }
}
