//! Evaluations of a bound model for many chains at once.

mod again;
mod agree;
mod quantities;

use std::sync::Arc;

use crate::flat::GROUP;
use crate::machine::{Machine, Rejection, Rejections, Stop, Totals, Wanted};
use crate::memory::Flags;
use crate::model::{EngineError, Model, grow};

/// With more numbers to compute than this, a lane alone fills the vector registers.
const LITTLE_WORK: usize = 500;

/// How much more a number costs in functions of whole containers, which take lanes one after the other.
const LANE_BY_LANE: usize = 5;

pub use quantities::{Include, Quantities};

/// A batch of points and what is to be computed for them. Everything with a row of lanes for each dimension lies as
/// `x[dimension * lanes + lane]`.
#[derive(Debug)]
pub struct Batch<'a> {
    pub lanes: usize,
    /// Unconstrained points.
    pub points: &'a [f64],
    /// The exponent of the likelihood in each lane; 1 where it is not given.
    pub beta: Option<&'a [f64]>,
    /// The log prior in each lane, with the log Jacobian where it is asked for; −∞ for a rejected point.
    pub log_prior: &'a mut [f64],
    /// The log likelihood in each lane, not multiplied with `beta`; −∞ for a rejected point.
    pub log_likelihood: &'a mut [f64],
    /// The gradient of `log prior + β · log likelihood`; not computed where the slice is empty, NaN for a rejected
    /// point.
    pub gradient: &'a mut [f64],
}

/// Which terms belong to the log density.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Drop constant terms of `~` and `_lupdf` statements.
    pub propto: bool,
    /// Add the log Jacobian of the parameter transforms.
    pub jacobian: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self { propto: false, jacobian: true }
    }
}

/// Evaluates a model. It keeps its memory from one evaluation to the next.
pub struct Evaluator {
    model: Arc<Model>,
    pub(crate) machine: Machine,
    /// The most lanes that run together.
    width: usize,
    /// Whether exactly that many lanes run together, always.
    fixed: bool,
    flat: bool,
    /// Whether the prior is part of gradients.
    prior: bool,
    /// Why the last evaluation rejected points, by lane.
    rejections: Rejections,
    spare: Vec<Spare>,
    settled: Option<again::Settled>,
}

/// Room for a part of a batch.
#[derive(Clone, Debug, Default)]
struct Spare {
    points: Vec<f64>,
    beta: Vec<f64>,
    log_prior: Vec<f64>,
    log_likelihood: Vec<f64>,
    gradient: Vec<f64>,
    lanes: Vec<usize>,
    rejections: Rejections,
}

/// The widest batch that runs together.
pub const WIDEST: usize = 64;

/// A batch is not made narrower than this, even if its values do not fit in the cache.
const NARROWEST: usize = 16;

/// How much memory the values of an evaluation should take at most, in numbers: half a second-level cache.
const CACHE: usize = 1 << 16;

/// How often an evaluation may be begun again: each time something is learned about a variable or a loop, so that there
/// is an end.
const MOST_RESTARTS: usize = 100_000;

/// Copies numbers, and repeats the last of them as often as there is room.
pub(crate) fn repeat_last(to: &mut [f64], from: &[f64]) {
    let (given, more) = to.split_at_mut(from.len());
    given.copy_from_slice(from);
    if let Some(&last) = from.last() {
        more.fill(last);
    }
}

/// Some of the lanes of a row.
fn pick(to: &mut [f64], from: &[f64], lanes: &[usize]) {
    for (to, &lane) in to.iter_mut().zip(lanes) {
        *to = from[lane];
    }
}

/// Puts numbers where the lanes are that they belong to.
fn place(to: &mut [f64], from: &[f64], lanes: &[usize]) {
    for (&from, &lane) in from.iter().zip(lanes) {
        to[lane] = from;
    }
}

/// A part of a batch: its lanes, and where they begin.
#[derive(Clone, Copy)]
struct Piece {
    from: usize,
    lanes: usize,
    /// How many lanes are run: the last one is repeated.
    width: usize,
}

impl Piece {
    fn own(self) -> std::ops::Range<usize> {
        self.from..self.from + self.lanes
    }
}

impl Evaluator {
    pub(crate) fn new(model: Arc<Model>, machine: Machine) -> Self {
        Self {
            model,
            machine,
            width: WIDEST,
            fixed: false,
            flat: true,
            prior: true,
            rejections: Rejections::default(),
            spare: Vec::new(),
            settled: None,
        }
    }

    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Fixes how lanes are run: one by one, or in groups of eight, of which as many run together as `width` says. The
    /// last lane is repeated until a group is full, so that a lane's numbers are the same to the last bit whatever
    /// batch it stands in. Those of lanes that run one by one may differ in the last digits from those in groups.
    #[must_use]
    pub fn with_width(mut self, width: usize) -> Self {
        self.width = if width <= 1 { 1 } else { width.next_multiple_of(GROUP) };
        self.fixed = true;
        self
    }

    /// Whether loops may be compiled to straight-line programs over tables of iterations. Without, the machine runs
    /// them: slower, to the same numbers.
    #[must_use]
    pub fn with_flat_loops(mut self, flat: bool) -> Self {
        (self.flat, self.settled) = (flat, None);
        self
    }

    /// Leaves the prior and the log Jacobian out of gradients, so that they are those of β · log likelihood:
    /// likelihoods of several datasets can then be added to one prior. `log_prior` is without the Jacobian.
    #[must_use]
    pub fn with_likelihood_only(mut self) -> Self {
        (self.prior, self.settled) = (false, None);
        self
    }

    /// Whether regions of the program may be run as lists of operations. Without, flat loops and the machine do all.
    #[must_use]
    pub fn with_lists(mut self, lists: bool) -> Self {
        self.machine.lists_on = lists;
        self
    }

    /// How many loops have been compiled to straight-line programs so far.
    pub fn flat_loops(&self) -> usize {
        self.machine.flat_loops()
    }

    /// How many containers are computed inside of the loops and terms that look at them.
    pub fn inlined(&self) -> usize {
        self.machine.inlined()
    }

    /// How many regions of the program run as lists of operations, for the terms that were asked for so far.
    pub fn lists(&self) -> usize {
        self.machine.lists()
    }

    /// The lists that were run so far, as text: an instruction a line, with the slots that it fills and looks at.
    pub fn ir(&self) -> String {
        self.machine.lists_as_text()
    }

    /// How much memory the values of evaluations have taken so far, in bytes.
    pub fn memory(&self) -> usize {
        self.machine.memory() * size_of::<f64>()
    }

    /// Whether anything that was evaluated so far had to look at lanes one by one: parameters decided which way to go,
    /// or an equation was solved.
    pub fn parts_lanes(&self) -> bool {
        self.machine.apart
    }

    /// About how many numbers the last evaluation computed for a point, in loops and in memory, if it was of one point.
    /// The first one finds out how to run loops, which takes more.
    pub fn work(&self) -> usize {
        self.machine.arena.reached()
            + self.machine.flat_work()
            + self.machine.list_work()
            + LANE_BY_LANE * self.machine.lane_work
    }

    /// Whether a group of eight lanes takes little longer than one: there is little to compute, or a lane alone leaves
    /// vector registers empty. As with [`Self::work`], the last evaluation must have been of one point.
    pub fn is_thin(&self) -> bool {
        self.machine.has_thin_list().unwrap_or_else(|| self.work() <= LITTLE_WORK)
    }

    /// Evaluates a batch. An error is a mistake in the program; points outside of the support are no error.
    pub fn evaluate(&mut self, batch: &mut Batch, terms: Terms) -> Result<(), EngineError> {
        let dimension = self.model.dimension();
        assert_eq!(batch.points.len(), dimension * batch.lanes, "a number for each dimension and lane");
        self.rejections.reset(batch.lanes);
        let mut from = 0;
        let alone = batch.lanes == 1 && !self.fixed;
        while from < batch.lanes {
            let lanes = self.width.min(batch.lanes - from);
            let piece = Piece { from, lanes, width: if alone { 1 } else { self.filled(lanes) } };
            self.piece(batch, terms, piece)?;
            from += lanes;
            if lanes > GROUP {
                self.adapt_width();
            }
        }
        Ok(())
    }

    /// How many lanes run together if there are this many.
    fn filled(&self, lanes: usize) -> usize {
        if self.width == 1 { 1 } else { lanes.next_multiple_of(GROUP) }
    }

    /// Fewer lanes run together if their values do not fit in the cache.
    fn adapt_width(&mut self) {
        if self.width == WIDEST {
            let mut width = WIDEST;
            let mut need = self.machine.arena.highest();
            // What lists keep until the way back.
            let kept = self.machine.kept_by_lists();
            let narrowest = if kept * NARROWEST > CACHE { GROUP } else { NARROWEST };
            while need.max(kept * width) > CACHE && width > narrowest {
                width /= 2;
                need /= 2;
            }
            if width < WIDEST {
                self.width = width;
            }
        }
    }

    /// Why the points of the last batch were rejected, by lane.
    pub fn rejections(&self) -> &[Option<Rejection>] {
        &self.rejections
    }

    /// What the program printed since this was last asked.
    pub fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.machine.messages)
    }

    fn piece(&mut self, batch: &mut Batch, terms: Terms, piece: Piece) -> Result<(), EngineError> {
        if self.run_again(batch, terms, piece)? {
            return Ok(());
        }
        let printed = self.machine.messages.len();
        self.machine.flat_on = self.flat;
        let mut again = 0;
        loop {
            // A run that is begun again says everything again.
            self.machine.messages.truncate(printed);
            match self.run(batch, terms, piece) {
                Ok(()) => {
                    // What becomes a list need not be run again by the machine, so that both are asked.
                    let learned = self.machine.settle_loops();
                    if self.machine.make_plan(&self.model.code) || learned {
                        continue;
                    }
                    return Ok(());
                }
                Err(Stop::AllRejected) => {
                    self.machine.unsettle_loops();
                    self.store(batch, piece, None);
                    return Ok(());
                }
                Err(Stop::Full) => grow(&mut self.machine)?,
                Err(Stop::Again) => {
                    again += 1;
                    if again > MOST_RESTARTS {
                        return Err(internal("an evaluation was begun again and again"));
                    }
                    self.machine.unsettle_loops();
                }
                Err(Stop::FlatFails) => {
                    self.machine.unsettle_loops();
                    let fine = self.machine.split.clone();
                    let stored = std::mem::take(&mut self.machine.stored);
                    self.by_machine(batch, terms, piece, &fine)?;
                    if stored {
                        return Ok(());
                    }
                    return self.part(batch, terms, piece, |l| fine[l]);
                }
                Err(Stop::LanesPart) => {
                    self.machine.unsettle_loops();
                    let split = self.machine.split.clone();
                    for way in [true, false] {
                        self.part(batch, terms, piece, |l| split[l] == way)?;
                    }
                    return Ok(());
                }
                Err(Stop::LanesUnfit) => {
                    if piece.lanes == 1 {
                        return Err(internal("a lane does not run alone"));
                    }
                    self.machine.unsettle_loops();
                    for lane in 0..piece.lanes {
                        self.part(batch, terms, piece, |l| l == lane)?;
                    }
                    return Ok(());
                }
                Err(Stop::Fatal(diagnostic)) => return Err(EngineError::one(*diagnostic)),
                Err(Stop::TileParts | Stop::TileUnfit) => {
                    return Err(internal("a tile was left over"));
                }
            }
        }
    }

    /// Lanes for which flat loops and lists do not hold.
    fn by_machine(&mut self, batch: &mut Batch, terms: Terms, piece: Piece, fine: &[bool]) -> Result<(), EngineError> {
        let flat = std::mem::replace(&mut self.flat, false);
        let done = if piece.lanes == 1 {
            self.piece(batch, terms, piece)
        } else {
            self.part(batch, terms, piece, |l| !fine[l])
        };
        self.flat = flat;
        done
    }

    /// Evaluates some of the lanes of a piece by themselves.
    fn part(
        &mut self,
        batch: &mut Batch,
        terms: Terms,
        piece: Piece,
        chosen: impl Fn(usize) -> bool,
    ) -> Result<(), EngineError> {
        let mut spare = self.spare.pop().unwrap_or_default();
        spare.lanes.clear();
        spare.lanes.extend((0..piece.lanes).filter(|&l| chosen(l)));
        let n = spare.lanes.len();
        if n > 0 {
            let dimension = self.model.dimension();
            spare.points.resize(dimension * n, 0.0);
            let from = batch.points.chunks_exact(batch.lanes);
            for (to, from) in spare.points.chunks_exact_mut(n).zip(from) {
                pick(to, &from[piece.from..], &spare.lanes);
            }
            if let Some(beta) = batch.beta {
                spare.beta.resize(n, 0.0);
                pick(&mut spare.beta, &beta[piece.from..], &spare.lanes);
            }
            spare.log_prior.resize(n, 0.0);
            spare.log_likelihood.resize(n, 0.0);
            spare.gradient.resize(if batch.gradient.is_empty() { 0 } else { dimension * n }, 0.0);
            let mut inner = Batch {
                lanes: n,
                points: &spare.points,
                beta: batch.beta.map(|_| spare.beta.as_slice()),
                log_prior: &mut spare.log_prior,
                log_likelihood: &mut spare.log_likelihood,
                gradient: &mut spare.gradient,
            };
            std::mem::swap(&mut self.rejections, &mut spare.rejections);
            self.rejections.reset(n);
            self.piece(&mut inner, terms, Piece { from: 0, lanes: n, width: self.filled(n) })?;
            std::mem::swap(&mut self.rejections, &mut spare.rejections);
            place(&mut batch.log_prior[piece.from..], &spare.log_prior, &spare.lanes);
            place(&mut batch.log_likelihood[piece.from..], &spare.log_likelihood, &spare.lanes);
            if !batch.gradient.is_empty() {
                let to = batch.gradient.chunks_exact_mut(batch.lanes);
                for (to, from) in to.zip(spare.gradient.chunks_exact(n)) {
                    place(&mut to[piece.from..], from, &spare.lanes);
                }
            }
            if spare.rejections.any() {
                for (i, l) in spare.lanes.iter().enumerate() {
                    self.rejections.set(piece.from + l, spare.rejections.take(i));
                }
            }
        }
        self.spare.push(spare);
        Ok(())
    }

    /// Runs the program once for the lanes of a piece. Groups of lanes are always full, so that a lane is computed in
    /// the same way whoever else is there.
    fn run(&mut self, batch: &mut Batch, terms: Terms, piece: Piece) -> Result<(), Stop> {
        let Self { model, machine, .. } = self;
        let code = &model.code;
        let gradient = !batch.gradient.is_empty();
        let jacobian = terms.jacobian && self.prior;
        machine.clear(piece.width, Wanted { propto: terms.propto, jacobian, gradient });
        let one = machine.uniform(&[1.0])?;
        let prior = machine.allocate(1, Flags::LANES)?;
        let likelihood = machine.allocate(1, Flags::LANES)?;
        for block in [prior, likelihood] {
            machine.arena.of_mut(block, machine.width).fill(0.0);
        }
        let mut seed = |values: &[f64]| {
            if values == [1.0] && !code.reads_target {
                return Ok(one);
            }
            let seed = machine.allocate(1, Flags::LANES)?;
            repeat_last(machine.arena.of_mut(seed, machine.width), values);
            Ok::<_, Stop>(seed)
        };
        let prior_seed = seed(if self.prior { &[1.0] } else { &[0.0] })?;
        let likelihood_seed = seed(batch.beta.map_or(&[1.0], |beta| &beta[piece.own()]))?;
        machine.totals = Some(Totals { prior, likelihood, prior_seed, likelihood_seed });
        let free = machine.free_block(batch.points, batch.lanes, piece.own())?;
        if let Some((list, all)) = machine.run_direct(code, free) {
            let places = again::Places { prior, likelihood, seed: likelihood_seed, free };
            self.settle(batch, terms, piece, list, places);
            self.store(batch, piece, Some((prior, likelihood, free)));
            self.machine.stored = !all && !self.machine.refused;
            return if all { Ok(()) } else { Err(Stop::FlatFails) };
        }
        machine.constrain_parameters(code, free)?;
        machine.run_program(code)?;
        machine.reverse_all();
        machine.finish_regions()?;
        self.store(batch, piece, Some((prior, likelihood, free)));
        Ok(())
    }

    /// Hands out the results of a run; of none if all points have been rejected.
    fn store(
        &mut self,
        batch: &mut Batch,
        piece: Piece,
        results: Option<(crate::memory::Block, crate::memory::Block, crate::memory::Block)>,
    ) {
        let machine = &mut self.machine;
        let width = machine.width;
        let own = piece.own();
        if let Some((prior, likelihood, _)) = results {
            batch.log_prior[own.clone()].copy_from_slice(&machine.arena.of(prior, width)[..piece.lanes]);
            batch.log_likelihood[own.clone()].copy_from_slice(&machine.arena.of(likelihood, width)[..piece.lanes]);
        } else {
            batch.log_prior[own.clone()].fill(f64::NEG_INFINITY);
            batch.log_likelihood[own.clone()].fill(f64::NEG_INFINITY);
        }
        let rejected = machine.rejected.any();
        // What an evaluation that was begun again has said before does not count.
        if rejected || self.rejections.any() {
            for (l, lane) in own.clone().enumerate() {
                let rejection = machine.rejected.take(l);
                if rejection.is_some() {
                    (batch.log_prior[lane], batch.log_likelihood[lane]) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
                }
                self.rejections.set(lane, rejection);
            }
        }
        if batch.gradient.is_empty() {
            return;
        }
        let adjoint = results.map(|(.., free)| machine.arena.adjoint(free, width));
        if let (Some(adjoint), false) = (adjoint, rejected)
            && piece.width == batch.lanes
        {
            batch.gradient.copy_from_slice(adjoint);
            return;
        }
        for (row, out) in batch.gradient.chunks_exact_mut(batch.lanes).enumerate() {
            let out = &mut out[own.clone()];
            match adjoint {
                Some(adjoint) => out.copy_from_slice(&adjoint[row * piece.width..][..piece.lanes]),
                None => out.fill(f64::NAN),
            }
            for (l, d) in out.iter_mut().enumerate().filter(|_| rejected) {
                if self.rejections[piece.from + l].is_some() {
                    *d = f64::NAN;
                }
            }
        }
    }
}

/// Something that cannot happen.
fn internal(message: &str) -> EngineError {
    let span = crust_stan::span::Span::default();
    EngineError::one(crust_stan::diagnostics::Diagnostic::error("internal", message, span))
}
