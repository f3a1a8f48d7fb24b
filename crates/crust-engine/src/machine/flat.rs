//! Flat loops in the machine: when a loop is compiled, how it is run, and how it is gone through backwards.

mod builder;
mod elements;
mod expressions;
mod locals;
mod products;
mod recurrence;
mod space;
mod squares;
mod statements;
mod sums;
mod vectors;

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use smallvec::SmallVec;

use super::assign::Home;
use super::tape::Entry;
use super::value::Value;
use super::{Machine, Own, Run, Stop, own};
use crate::code::{Factor, Filled, For, Node, Slot, Stmt};
use crate::flat::{self, Flat, GROUP, Operand, Stored, Strip};
use crate::kernels::gather;
use crate::memory::{Block, Flags};

/// What is known about a loop as a flat one.
#[derive(Clone, Debug, Default)]
pub(super) enum Compiled {
    #[default]
    Untried,
    Unfit,
    Ready(Own<Flat>),
}

/// Why a loop is not compiled.
pub(super) enum Obstacle {
    /// It does not fit.
    Unfit,
    /// The machine has to begin again.
    Stop(Stop),
}

pub(super) type Fit<T> = Result<T, Obstacle>;

impl From<Stop> for Obstacle {
    fn from(stop: Stop) -> Self {
        match stop {
            // If something is wrong with the loop, the machine will find the words for it.
            Stop::Fatal(_) | Stop::TileParts | Stop::TileUnfit | Stop::LanesUnfit => Self::Unfit,
            // What came before the loop is not yet as it should be.
            Stop::Full | Stop::FlatFails | Stop::Again | Stop::LanesPart | Stop::AllRejected => Self::Stop(stop),
        }
    }
}

/// A flat loop that assigned to a variable: what it was run with.
#[derive(Clone, Debug)]
pub(super) struct Past {
    flat: Own<Flat>,
    operands: SmallVec<[Block; 8]>,
    /// What assigned elements held before, for each assigned variable, if anybody has looked at it.
    before: SmallVec<[Option<Block>; 1]>,
}

impl Machine {
    /// Whether loops may be run flat now.
    pub(super) fn flat_allowed(&self) -> bool {
        let lanes = self.width.lanes;
        self.flat_on
            && self.width.tile == 1
            && !self.transaction
            && self.tracer.is_none()
            && (lanes == 1 || lanes.is_multiple_of(GROUP))
            && self.locals.is_empty()
    }

    /// How many loops are known to be flat.
    pub(crate) fn flat_loops(&self) -> usize {
        self.loops.iter().filter(|l| matches!(&l.flat, Compiled::Ready(flat) if !flat.terms)).count()
    }

    fn ready(&self) -> impl Iterator<Item = &Flat> {
        self.loops.iter().filter_map(|l| if let Compiled::Ready(flat) = &l.flat { Some(&***flat) } else { None })
    }

    /// How many containers are computed inside of flat loops and terms.
    pub(crate) fn inlined(&self) -> usize {
        let all: HashSet<Slot> = self.ready().flat_map(|flat| &flat.inlined).copied().collect();
        all.len()
    }

    /// How many numbers flat loops compute for one lane.
    pub(crate) fn flat_work(&self) -> usize {
        self.ready().flat_map(|flat| &flat.strips).map(Strip::work).sum()
    }

    /// Runs a loop flat if that is possible, and says whether it was.
    pub(super) fn flat_loop(&mut self, for_loop: &For) -> Run<bool> {
        if !self.flat_allowed() || matches!(for_loop.slot, Slot::Local(_)) {
            return Ok(false);
        }
        let id = for_loop.id as usize;
        self.compiled(id, |machine| {
            if for_loop.parallel { machine.compile(for_loop) } else { machine.compile_recurrence(for_loop) }
        })?;
        let Compiled::Ready(flat) = &self.loops[id].flat else { return Ok(false) };
        let flat = Arc::clone(flat);
        if flat.stored.is_empty() && self.totals.is_none() {
            return Ok(false);
        }
        self.run_flat(&flat)
    }

    /// Makes sure that a loop has been compiled, or is known not to fit: once for all machines with the same program
    /// and data.
    fn compiled(&mut self, id: usize, compile: impl FnOnce(&mut Self) -> Fit<Flat>) -> Run<()> {
        if !matches!(self.loops[id].flat, Compiled::Untried) {
            return Ok(());
        }
        let shared = Arc::clone(&self.shared_loops);
        let known = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = known()[id].clone();
        if matches!(found, Compiled::Untried) {
            found = match compile(self) {
                Ok(flat) => Compiled::Ready(own(&Arc::new(flat))),
                Err(Obstacle::Unfit) => Compiled::Unfit,
                Err(Obstacle::Stop(stop)) => return Err(stop),
            };
            known()[id] = found.clone();
        }
        self.loops[id].flat = match found {
            Compiled::Ready(flat) => Compiled::Ready(own(flat.as_ref())),
            other => other,
        };
        Ok(())
    }

    /// Adds terms to the log density: compiled together, except those that do not fit.
    pub(super) fn terms_of(&mut self, body: &[Stmt], id: u32, inside: (&[(Slot, Node)], &[Filled])) -> Run<()> {
        if !self.flat_allowed() || self.totals.is_none() {
            return self.statements(body).map(|_| ());
        }
        let at = id as usize;
        self.compiled(at, |machine| machine.compile_terms(body, inside))?;
        let Compiled::Ready(flat) = &self.loops[at].flat else { return self.statements(body).map(|_| ()) };
        let flat = Arc::clone(flat);
        for &left in &flat.left {
            self.statements(&body[left..=left])?;
        }
        self.run_flat(&flat).map(|_| ())
    }

    /// Whether the variable is computed inside of a flat loop, so that nobody needs it otherwise.
    pub(super) fn is_inlined(&self, slot: Slot, id: u32) -> bool {
        self.flat_allowed()
            && self.totals.is_some()
            && matches!(&self.loops[id as usize].flat, Compiled::Ready(flat) if flat.inlined.contains(&slot))
    }

    fn run_flat(&mut self, flat: &Own<Flat>) -> Run<bool> {
        let mark = self.mark();
        let mut before = SmallVec::new();
        for Stored { slot, elements, .. } in &flat.stored {
            let Value::Numbers(view) = self.variable(*slot).value else { return Ok(false) };
            let block = self.storage(Home::Slot(*slot), view, Flags::LANES.with(Flags::GRADIENT))?;
            before.push(self.save(Home::Slot(*slot), elements.len(), block.flags, |this, saved| {
                gather::save(&mut this.arena, this.width, block, elements, saved);
            })?);
        }
        let mut operands: SmallVec<[Block; 8]> = SmallVec::new();
        for (at, Operand { node, shape }) in flat.operands.iter().enumerate() {
            let stored = flat.stored.iter().find(|stored| stored.operand == at);
            let view = match stored.map(|stored| self.variable(stored.slot).value) {
                Some(Value::Numbers(view)) => view,
                Some(_) => return Ok(false),
                None => self.numbers(node)?,
            };
            if view.shape != *shape {
                return Err(self.other_shape());
            }
            operands.push(if stored.is_some() { view.block } else { self.with_lanes(view.block)? });
        }
        self.execute_flat(flat, &operands, false);
        // The machine does it again for lanes without a result, and says what is wrong. The others must not notice.
        if self.rejected.any() {
            for (fine, rejected) in self.split.iter_mut().zip(self.rejected.iter()) {
                *fine |= rejected.is_some();
            }
        }
        if self.split.contains(&false) {
            return Err(Stop::FlatFails);
        }
        if flat.stored.is_empty() {
            // Everything is where it belongs: operands may be gone back over.
            self.reverse(mark.tape);
            self.release(mark);
        } else if self.recording {
            let past = Past { flat: Arc::clone(flat), operands, before };
            self.tape.push(Entry::Flat(crate::memory::cast(self.past.len())));
            self.past.push(past);
        }
        Ok(true)
    }

    /// A size that is not what something was compiled for: it may depend on parameters, by way of a comparison. The
    /// machine does everything again, for all lanes.
    pub(super) fn other_shape(&mut self) -> Stop {
        self.split.clear();
        self.split.resize(self.width.lanes, false);
        Stop::FlatFails
    }

    /// A block with a number for each lane.
    fn with_lanes(&mut self, block: Block) -> Run<Block> {
        if block.lanes() {
            return Ok(block);
        }
        let all = self.allocate(block.count(), block.flags.with(Flags::LANES))?;
        self.spread(block, all);
        Ok(all)
    }

    pub(super) fn reverse_flat(&mut self, at: u32) {
        let Past { flat, operands, before } = self.past[at as usize].clone();
        self.past.truncate(at as usize);
        self.execute_flat(&flat, &operands, true);
        for (Stored { operand, elements, .. }, before) in flat.stored.iter().zip(before) {
            if before.is_some() {
                let block = operands[*operand];
                let nobody = Block { flags: Flags::UNIFORM, ..block };
                gather::unassign(&mut self.arena, self.width, block, elements, nobody, before);
            }
        }
    }

    fn execute_flat(&mut self, flat: &Flat, operands: &[Block], backward: bool) {
        let totals = match (flat.stored.is_empty(), self.total(Factor::Prior), self.total(Factor::Likelihood)) {
            (true, Some(prior), Some(likelihood)) => Some([prior, likelihood]),
            _ => None,
        };
        let call = flat::Call {
            flat,
            operands,
            lanes: self.width.lanes,
            totals,
            gradient: self.recording,
            propto: self.propto,
            backward,
        };
        let mut room = self.flat_room.take().unwrap_or_default();
        let (values, mut adjoints) = self.arena.both();
        let base = adjoints.base();
        let all = adjoints.all();
        flat::run(call, values, (all, base), &mut room, &mut self.split);
        self.flat_room = Some(room);
    }
}
