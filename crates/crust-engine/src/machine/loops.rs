//! Loops. Iterations that do not depend on each other run side by side in tiles: the loop variable is then a value with
//! one number for each iteration, and everything computed from it works on all iterations of the tile and all lanes at
//! once.
//!
//! Iterations of a tile may turn out to take different branches, or to need something that only one iteration can do.
//! Until that is known of a loop, its tiles run as transactions: nothing is added to the log density before the tile is
//! done, so that it can be given up, taken apart and run again. What is learned is kept for the next evaluation.

use crust_math::functions::{Cell, Shape};
use crust_stan::span::Span;

use super::statements::Flow;
use super::tape::Entry;
use super::value::{Value, View};
use super::{Machine, Run, Stop, Variable, fatal};
use crate::code::{For, Node, Over, Stmt};
use crate::memory::{Block, Flags};

/// What is known about a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Experience {
    state: State,
    pub(super) flat: super::flat::Compiled,
    /// How often the loop ran by tiles in this evaluation.
    runs: u32,
    /// Whether a tile had to be taken apart in this evaluation.
    parted: bool,
    /// Whether branches of its iterations depend on parameters. What one evaluation meets is then no guide for the next
    /// one, and nothing may be made of it: the last digits of a chain would depend on the points of others.
    fickle: bool,
    /// The iterations that took the same branches together, in this evaluation.
    classes: Vec<(Vec<bool>, Vec<f64>)>,
    /// Iterations that ran alone, in this evaluation.
    alone: Vec<Vec<f64>>,
}

#[derive(Clone, Debug, Default)]
enum State {
    /// Tiles run as transactions.
    #[default]
    New,
    /// Tiles run straight away.
    Plain,
    /// As well, but these iterations together: they take the same branches.
    Classes(Vec<Vec<f64>>),
    /// The branches change from one evaluation to the next: transactions for ever.
    Changing,
    /// Iterations cannot run side by side.
    Sequential,
}

impl Machine {
    pub(super) fn for_loop(&mut self, for_loop: &For, pure: bool, span: Span) -> Run<Flow> {
        if self.flat_loop(for_loop)? {
            return Ok(Flow::Next);
        }
        let (low, high) = match &for_loop.over {
            Over::Range(low, high) => (self.int(low)?, self.int(high)?),
            Over::Each(node) => return self.for_each(for_loop, node, (pure, span)),
        };
        if high < low {
            return Ok(Flow::Next);
        }
        let count = high - low + 1;
        let experience = &self.loops[for_loop.id as usize];
        let tiles = for_loop.parallel
            && self.tracer.is_none()
            && self.width.tile == 1
            && count > 1
            && !matches!(experience.state, State::Sequential)
            && (count >= 8 || !for_loop.parallel_inside)
            && self.tile_size() > 1;
        if tiles {
            self.spend(u64::try_from(count).unwrap_or(u64::MAX), span)?;
            return self.tiles(for_loop, low, high, pure).map(|()| Flow::Next);
        }
        #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
        if self.tracer.is_some() {
            return self.traced_rounds(low..=high, |machine, i| machine.iteration(for_loop, i as f64, pure));
        }
        let mut rounds = self.rounds();
        #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
        for i in low..=high {
            match self.iteration(for_loop, i as f64, pure)? {
                Flow::Break => break,
                flow @ Flow::Return(_) => return Ok(flow),
                _ => {}
            }
            self.next_round(&mut rounds, span)?;
        }
        Ok(Flow::Next)
    }

    pub(super) fn while_loop(&mut self, condition: &Node, body: &[Stmt], span: Span) -> Run<Flow> {
        let mut rounds = self.rounds();
        loop {
            let truth = self.numbers(condition)?;
            if !self.decide(truth)? {
                return Ok(Flow::Next);
            }
            match self.statements(body)? {
                Flow::Break => return Ok(Flow::Next),
                flow @ Flow::Return(_) => return Ok(flow),
                _ => {}
            }
            self.next_round(&mut rounds, span)?;
        }
    }

    fn iteration(&mut self, for_loop: &For, i: f64, pure: bool) -> Run<Flow> {
        let mark = self.mark();
        let view = self.number(i)?;
        *self.slot_mut(for_loop.slot) = Variable::of(Value::Numbers(view));
        let flow = self.statements(&for_loop.body)?;
        if pure && !self.transaction {
            self.reverse(mark.tape);
            self.release(mark);
        }
        Ok(flow)
    }

    fn for_each(&mut self, for_loop: &For, node: &Node, (pure, span): (bool, Span)) -> Run<Flow> {
        let Value::Numbers(whole) = self.eval(node)? else {
            return fatal("not-supported", "the engine cannot loop over an array of tuples", node.span);
        };
        let whole = match self.own(Value::Numbers(whole), false)? {
            Value::Numbers(view) => view,
            _ => whole,
        };
        // Arrays give their elements, vectors and matrices their numbers.
        let element = if whole.shape.array_rank() > 0 { whole.shape.element() } else { Shape::SCALAR };
        let n = element.len();
        let count = whole.block.count().checked_div(n).unwrap_or(0);
        let by_rows = whole.shape.array_rank() == 0 && whole.shape.cell() == Cell::Matrix;
        let (rows, columns) = (whole.shape.rows(), whole.shape.columns());
        let bind = |machine: &mut Self, i: usize| {
            // Stan goes through a matrix row by row.
            let at = if by_rows { (i % columns) * rows + i / columns } else { i * n };
            let block = whole.block.elements(at, n, machine.width);
            let block = Block { flags: block.flags.with(Flags::SHARED), ..block };
            *machine.slot_mut(for_loop.slot) = Variable::of(Value::Numbers(View { shape: element, block }));
        };
        if self.tracer.is_some() {
            return self.traced_rounds(0..count, |machine, i| {
                let mark = machine.mark();
                bind(machine, i);
                let flow = machine.statements(&for_loop.body)?;
                if pure {
                    machine.release(mark);
                }
                Ok(flow)
            });
        }
        let mut rounds = self.rounds();
        for i in 0..count {
            let mark = self.mark();
            bind(self, i);
            match self.statements(&for_loop.body)? {
                Flow::Break => break,
                flow @ Flow::Return(_) => return Ok(flow),
                _ => {}
            }
            if pure && !self.transaction {
                self.reverse(mark.tape);
                self.release(mark);
            }
            self.next_round(&mut rounds, span)?;
        }
        Ok(Flow::Next)
    }

    fn tiles(&mut self, for_loop: &For, low: i64, high: i64, pure: bool) -> Run<()> {
        let id = for_loop.id as usize;
        let size = self.tile_size();
        self.loops[id].runs += 1;
        let state = std::mem::take(&mut self.loops[id].state);
        let result = match &state {
            State::Plain => self.plain_tiles(for_loop, (low, high), size, pure),
            State::Classes(classes) => {
                let mut tiles = classes.iter().flat_map(|class| class.chunks(size));
                tiles.try_for_each(|tile| self.tile(for_loop, tile, pure))
            }
            State::New | State::Changing | State::Sequential => {
                self.loops[id].state = state;
                return self.tried_tiles(for_loop, (low, high), size, pure);
            }
        };
        self.loops[id].state = match result {
            Err(Stop::TileParts) => State::Changing,
            Err(Stop::TileUnfit) if self.loops[id].fickle => State::Changing,
            Err(Stop::TileUnfit) => State::Sequential,
            _ => state,
        };
        match result {
            Err(Stop::TileParts | Stop::TileUnfit) => Err(Stop::Again),
            other => other,
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
    fn plain_tiles(&mut self, for_loop: &For, (low, high): (i64, i64), size: usize, pure: bool) -> Run<()> {
        let mut start = low;
        let mut numbers = std::mem::take(&mut self.tile_numbers);
        let mut result = Ok(());
        while start <= high && result.is_ok() {
            let end = high.min(start + i64::try_from(size).unwrap_or(1) - 1);
            numbers.clear();
            numbers.extend((start..=end).map(|i| i as f64));
            result = self.tile(for_loop, &numbers, pure);
            start = end + 1;
        }
        self.tile_numbers = numbers;
        result
    }

    /// Runs tiles as transactions; those whose iterations part ways are taken apart.
    #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
    fn tried_tiles(&mut self, for_loop: &For, (low, high): (i64, i64), size: usize, pure: bool) -> Run<()> {
        let id = for_loop.id as usize;
        let all: Vec<f64> = (low..=high).map(|i| i as f64).collect();
        let mut waiting: Vec<Vec<f64>> = all.chunks(size).rev().map(<[f64]>::to_vec).collect();
        while let Some(tile) = waiting.pop() {
            if tile.len() > 1 && !matches!(self.loops[id].state, State::Sequential) {
                let mark = self.mark();
                self.fickle = false;
                let result = self.transaction(for_loop, &tile, pure);
                self.loops[id].fickle |= self.fickle;
                match result {
                    Ok(()) => {
                        self.remember(id, &tile);
                        continue;
                    }
                    Err(Stop::TileParts) => {
                        self.undo(mark);
                        self.loops[id].parted = true;
                        let (yes, no): (Vec<_>, Vec<_>) = tile.iter().zip(&self.split).partition(|(_, way)| **way);
                        waiting.push(no.into_iter().map(|(i, _)| *i).collect());
                        waiting.push(yes.into_iter().map(|(i, _)| *i).collect());
                        continue;
                    }
                    Err(Stop::TileUnfit) => {
                        self.undo(mark);
                        let experience = &mut self.loops[id];
                        experience.state = if experience.fickle { State::Changing } else { State::Sequential };
                    }
                    Err(other) => {
                        self.width.tile = 1;
                        self.transaction = false;
                        return Err(other);
                    }
                }
            }
            for &i in &tile {
                self.iteration(for_loop, i, pure)?;
            }
            if tile.len() == 1 && matches!(self.loops[id].state, State::New) {
                // Nothing is known of the branches that it took: it stays alone.
                self.loops[id].alone.push(tile);
            }
        }
        Ok(())
    }

    /// Notes that the iterations of a tile took the same branches.
    fn remember(&mut self, id: usize, tile: &[f64]) {
        let experience = &mut self.loops[id];
        if !matches!(experience.state, State::New) {
            return;
        }
        match experience.classes.iter_mut().find(|(path, _)| *path == self.path) {
            Some((_, iterations)) => iterations.extend_from_slice(tile),
            None => experience.classes.push((self.path.clone(), tile.to_vec())),
        }
    }

    /// Called after an evaluation that went through: what was learned about loops is used from now on. Says whether
    /// anything was: then the evaluation should be done again, for its last digits depend on the way in which loops are
    /// run.
    pub(crate) fn settle_loops(&mut self) -> bool {
        let mut learned = false;
        for experience in &mut self.loops {
            if matches!(experience.state, State::New) && experience.runs > 0 {
                learned = true;
                experience.state = if !experience.parted {
                    State::Plain
                } else if experience.runs == 1 && !experience.fickle {
                    let classes = experience.classes.drain(..).map(|(_, iterations)| iterations);
                    State::Classes(classes.chain(experience.alone.drain(..)).collect())
                } else {
                    State::Changing
                };
            }
            experience.runs = 0;
            experience.parted = false;
            experience.classes.clear();
            experience.alone.clear();
        }
        learned
    }

    /// Forgets what this evaluation has learned so far: it is going to be begun again.
    pub(crate) fn unsettle_loops(&mut self) {
        for experience in &mut self.loops {
            experience.runs = 0;
            experience.parted = false;
            experience.classes.clear();
            experience.alone.clear();
        }
    }

    /// Takes back what a tile did that was given up: elements that it assigned, and everything on the tape.
    fn undo(&mut self, mark: super::Mark) {
        self.pending.clear();
        self.transaction = false;
        self.restore(mark.tape);
        self.width.tile = 1;
        self.release(mark);
    }

    fn transaction(&mut self, for_loop: &For, tile: &[f64], pure: bool) -> Run<()> {
        self.transaction = true;
        self.pending.clear();
        let result = self.tile_body(for_loop, tile);
        // Whoever gives the tile up needs the state as it is.
        let (mark, base) = result?;
        self.transaction = false;
        let mut pending = std::mem::take(&mut self.pending);
        for (block, factor) in pending.drain(..) {
            self.add_block(block, factor);
        }
        self.pending = pending;
        self.leave_tile(tile.len(), mark, base, pure);
        Ok(())
    }

    fn tile(&mut self, for_loop: &For, tile: &[f64], pure: bool) -> Run<()> {
        // One iteration alone is no tile: loops inside of it may run by tiles.
        if let [i] = tile {
            return self.iteration(for_loop, *i, pure).map(|_| ());
        }
        match self.tile_body(for_loop, tile) {
            Ok((mark, base)) => {
                self.leave_tile(tile.len(), mark, base, pure);
                Ok(())
            }
            Err(stop) => {
                self.width.tile = 1;
                Err(stop)
            }
        }
    }

    fn tile_body(&mut self, for_loop: &For, tile: &[f64]) -> Run<(super::Mark, usize)> {
        let mark = self.mark();
        let base = self.tile_base;
        self.path.clear();
        if self.recording {
            self.tape.push(Entry::Tile(1));
        }
        self.width.tile = tile.len();
        self.tile_base = self.arena.top();
        let block = self.allocate(1, Flags::TILE)?;
        self.arena.of_mut(block, self.width).copy_from_slice(tile);
        *self.slot_mut(for_loop.slot) = Variable::of(Value::Numbers(View::scalar(block)));
        self.statements(&for_loop.body)?;
        Ok((mark, base))
    }

    fn leave_tile(&mut self, tile: usize, mark: super::Mark, base: usize, pure: bool) {
        if self.recording {
            self.tape.push(Entry::Tile(crate::memory::cast(tile)));
        }
        if pure {
            self.reverse(mark.tape);
            self.release(mark);
        } else if !self.recording {
            // Assignments have been remembered only for the case that the tile is given up.
            self.tape.release(mark.tape);
        }
        self.width.tile = 1;
        self.tile_base = base;
    }
}
