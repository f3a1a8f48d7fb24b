//! Evaluations that are like the one before.
//!
//! Where the whole program is one list (see `machine/regions/direct`), what surrounds the list takes as long as the list
//! does in small programs: memory is laid out, parameters are put into it, results are looked for. If the next
//! evaluation asks for the same, everything is where it was, and only numbers change.

use super::{Batch, EngineError, Evaluator, Piece, Terms, repeat_last};
use crate::machine::DirectList;
use crate::memory::Block;

/// What must be the same for memory to be laid out alike.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Like {
    width: usize,
    terms: Terms,
    gradient: bool,
    /// Whether the adjoint of the likelihood is a number for each lane.
    by_lane: bool,
}

/// Where the last evaluation has put things.
pub(super) struct Settled {
    like: Like,
    /// Nobody has laid out memory since.
    layout: u64,
    list: DirectList,
    places: Places,
}

/// The blocks of an evaluation.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub prior: Block,
    pub likelihood: Block,
    /// The adjoint of the likelihood.
    pub seed: Block,
    /// The unconstrained numbers.
    pub free: Block,
}

impl Like {
    fn of(batch: &Batch, terms: Terms, piece: Piece) -> Self {
        let by_lane = batch.beta.is_some_and(|beta| beta[piece.own()] != [1.0]);
        let gradient = !batch.gradient.is_empty();
        Self { width: piece.width, terms, gradient, by_lane }
    }
}

impl Evaluator {
    /// Keeps in mind where things are.
    pub(super) fn settle(&mut self, batch: &Batch, terms: Terms, piece: Piece, list: DirectList, places: Places) {
        let (like, layout) = (Like::of(batch, terms, piece), self.machine.arena.layout());
        self.settled = Some(Settled { like, layout, list, places });
    }

    /// Runs the list again, if the last evaluation was like this one; lanes that fail are run by the machine. Says
    /// `false` if it was not: then the whole way is gone.
    pub(super) fn run_again(&mut self, batch: &mut Batch, terms: Terms, piece: Piece) -> Result<bool, EngineError> {
        let like = Like::of(batch, terms, piece);
        let Some(settled) = &self.settled else { return Ok(false) };
        if !self.flat || settled.like != like || settled.layout != self.machine.arena.layout() {
            return Ok(false);
        }
        let (machine, places) = (&mut self.machine, settled.places);
        let width = machine.width;
        for block in [places.prior, places.likelihood] {
            machine.arena.of_mut(block, width).fill(0.0);
        }
        if let (Some(beta), true) = (batch.beta, like.by_lane) {
            repeat_last(machine.arena.of_mut(places.seed, width), &beta[piece.own()]);
        }
        machine.fill_free_block(places.free, batch.points, batch.lanes, piece.own());
        if like.gradient {
            machine.arena.adjoint_mut(places.free, width).fill(0.0);
        }
        let all = machine.run_list(&settled.list);
        if !all && machine.refused {
            return Ok(false);
        }
        self.store(batch, piece, Some((places.prior, places.likelihood, places.free)));
        if !all {
            let fine = self.machine.split.clone();
            self.by_machine(batch, terms, piece, &fine)?;
        }
        Ok(true)
    }
}
