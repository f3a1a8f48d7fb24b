//! The path from prior to posterior of a bound program.

use crust_engine::{Batch as EngineBatch, Evaluator, Model, Terms};
use crust_infer::target::{Batch, Fatal, Target};
use crust_stan::source::Source;
use std::sync::Arc;

/// Normalising constants belong to the marginal likelihood; parameters move on the unconstrained scale.
const TERMS: Terms = Terms { propto: false, jacobian: true };

/// Log prior and log likelihood of a program on its unconstrained parameters.
///
/// A lane's numbers do not depend on the others as long as there are two or more, so that batches are filled up to an even number:
/// however they are divided, no lane is alone.
pub struct Path<'a> {
    evaluator: Evaluator,
    source: &'a Source,
    room: Room,
}

#[derive(Default)]
struct Room {
    lanes: usize,
    points: Vec<f64>,
    beta: Vec<f64>,
    log_prior: Vec<f64>,
    log_likelihood: Vec<f64>,
    gradient: Vec<f64>,
}

impl<'a> Path<'a> {
    pub fn new(model: &Arc<Model>, source: &'a Source) -> Self {
        Self { evaluator: model.evaluator(), source, room: Room::default() }
    }
}

impl Clone for Path<'_> {
    fn clone(&self) -> Self {
        Self::new(self.evaluator.model(), self.source)
    }
}

impl Room {
    /// Takes in a batch; the last lane may stand there twice.
    fn fill(&mut self, batch: &Batch, dimension: usize) {
        let lanes = batch.lanes.next_multiple_of(2);
        self.lanes = lanes;
        self.points.clear();
        for row in batch.x.chunks_exact(batch.lanes) {
            self.points.extend_from_slice(row);
            self.points.extend(row.last().filter(|_| lanes > batch.lanes));
        }
        self.beta.clear();
        self.beta.extend_from_slice(&batch.beta);
        self.beta.resize(lanes, batch.beta.last().copied().unwrap_or(1.0));
        self.log_prior.resize(lanes, 0.0);
        self.log_likelihood.resize(lanes, 0.0);
        self.gradient.resize(if batch.wants_gradient() { lanes * dimension } else { 0 }, 0.0);
    }
}

impl Target for Path<'_> {
    fn dimension(&self) -> usize {
        self.evaluator.model().dimension()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        let room = &mut self.room;
        room.fill(batch, self.evaluator.model().dimension());
        let mut even = EngineBatch {
            lanes: room.lanes,
            points: &room.points,
            beta: Some(&room.beta),
            log_prior: &mut room.log_prior,
            log_likelihood: &mut room.log_likelihood,
            gradient: &mut room.gradient,
        };
        self.evaluator.evaluate(&mut even, TERMS).map_err(Fatal::new)?;
        batch.log_prior.copy_from_slice(&room.log_prior[..batch.lanes]);
        batch.log_likelihood.copy_from_slice(&room.log_likelihood[..batch.lanes]);
        let rows = batch.gradient.chunks_exact_mut(batch.lanes).zip(room.gradient.chunks_exact(room.lanes));
        rows.for_each(|(to, from)| to.copy_from_slice(&from[..to.len()]));
        // what the program prints would be printed millions of times
        self.evaluator.take_messages();
        Ok(())
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        let rejection = self.evaluator.rejections().get(lane)?.as_ref()?;
        Some(format!("{}, line {}", rejection.message, self.source.location(rejection.span).line))
    }
}
