//! Code that depends on data only: it runs once, may be wrong in every way, and nobody goes back over it.

use crust_math::functions::Shape;
use crust_stan::data::Limits;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::span::Span;

use super::value::{Value, View};
use super::{Machine, Mark, Run, Stop, fatal, loops};
use crate::code::Code;
use crate::memory::Flags;

/// Rounds of loops and calls of functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    pub most: u64,
    pub left: u64,
    /// How many numbers one container may have.
    pub numbers: usize,
}

/// So many numbers lie around before they are cleared away.
const MUCH: usize = 1 << 16;

/// Where memory stood before a loop, and when it is time to clear it.
pub(super) struct Rounds {
    mark: Mark,
    due: usize,
}

/// A value that is about to move; numbers wait in a list.
enum Moved {
    Numbers(View),
    Tuple(Vec<Moved>),
    /// It lies where nothing changes.
    Still(Value),
}

impl Machine {
    /// Makes the machine one for data only, with all steps before it.
    pub(crate) fn count_steps(&mut self, limits: Limits) {
        let Limits { steps, numbers } = limits;
        self.steps = Some(Steps { most: steps, left: steps, numbers });
    }

    /// Takes on code with more literals, loops and declarations than before. Memory must be clear.
    pub(crate) fn make_room_for(&mut self, code: &Code) {
        for &x in &code.literals[self.literals.len()..] {
            self.literals.push(View::scalar(self.arena.constant(1, std::iter::once(x))));
        }
        self.loops.resize(code.loops, loops::Experience::default());
        self.learned.resize(code.declares, Flags::UNIFORM);
    }

    /// Gives a variable a copy of its numbers, to be written to.
    pub(crate) fn copy_global(&mut self, slot: u32) -> Run<()> {
        let mut numbers = Vec::new();
        let all = Mark { tape: self.tape.mark(), top: 0, tuples: 0 };
        let moved = self.lift(self.globals[slot as usize].value, all, &mut numbers);
        self.globals[slot as usize].value = self.put(moved, &mut &numbers[..])?;
        Ok(())
    }

    /// Counts steps, where they are counted.
    #[inline]
    pub(super) fn spend(&mut self, count: u64, span: Span) -> Run<()> {
        let Some(steps) = &mut self.steps else { return Ok(()) };
        if let Some(left) = steps.left.checked_sub(count) {
            steps.left = left;
            return Ok(());
        }
        let message = format!("this part of the program is not done after {} steps", steps.most);
        let endless = Diagnostic::error("too-many-steps", message, span)
            .label("the program was here")
            .help("check that the loops here come to an end");
        Err(Stop::Fatal(Box::new(endless)))
    }

    /// Refuses a container that is too large, where data are computed.
    pub(super) fn room_for(&self, shape: Shape, span: Span) -> Run<()> {
        match self.steps {
            Some(Steps { numbers, .. }) if shape.len() > numbers => {
                fatal("too-large", format!("{shape} is too large: more than {numbers} numbers"), span)
            }
            _ => Ok(()),
        }
    }

    #[cold]
    pub(super) fn too_deep<T>(span: Span) -> Run<T> {
        let deep = Diagnostic::error("too-deep", "functions call each other without end, or too deeply", span)
            .label("the nesting was given up here")
            .help("check that the recursion comes to an end");
        Err(Stop::Fatal(Box::new(deep)))
    }

    /// Integers, if they fit Stan's `int`. One that has no value is let pass.
    pub(super) fn checked_ints(&mut self, view: View, span: Span) -> Run<View> {
        let beyond = |x: f64| x < f64::from(i32::MIN) || x > f64::from(i32::MAX);
        match self.arena.of(view.block, self.width).iter().find(|x| beyond(**x)) {
            Some(x) => {
                let message = format!("the result is {x}, which does not fit Stan's int, which has 32 bits");
                fatal("integer-overflow", message, span)
            }
            None => Ok(view),
        }
    }

    /// A loop begins.
    pub(super) fn rounds(&self) -> Rounds {
        let mark = self.mark();
        Rounds { mark, due: mark.top + MUCH }
    }

    /// A round of a loop is over: where data are computed, only what variables hold matters now.
    #[inline]
    pub(super) fn next_round(&mut self, rounds: &mut Rounds, span: Span) -> Run<()> {
        if self.steps.is_none() {
            return Ok(());
        }
        self.spend(1, span)?;
        let plain = !self.recording && !self.transaction && self.width.tile == 1 && self.tracer.is_none();
        if plain && (self.arena.top() > rounds.due || self.tuples.len() > rounds.mark.tuples + MUCH) {
            self.clear_away(rounds.mark)?;
            let kept = self.arena.top() - rounds.mark.top;
            rounds.due = rounds.mark.top + (2 * kept).max(MUCH);
        }
        Ok(())
    }

    /// Gives back everything above a mark but what variables hold, which moves down.
    fn clear_away(&mut self, mark: Mark) -> Run<()> {
        let mut numbers = Vec::new();
        let globals: Vec<Moved> = self.globals.iter().map(|v| self.lift(v.value, mark, &mut numbers)).collect();
        let locals: Vec<Moved> = self.locals.iter().map(|v| self.lift(v.value, mark, &mut numbers)).collect();
        let parts: Vec<Moved> = self.tuples[..mark.tuples].iter().map(|v| self.lift(*v, mark, &mut numbers)).collect();
        self.release(mark);
        let mut rest = &numbers[..];
        for (i, moved) in globals.into_iter().enumerate() {
            self.globals[i].value = self.put(moved, &mut rest)?;
        }
        for (i, moved) in locals.into_iter().enumerate() {
            self.locals[i].value = self.put(moved, &mut rest)?;
        }
        for (i, moved) in parts.into_iter().enumerate() {
            self.tuples[i] = self.put(moved, &mut rest)?;
        }
        Ok(())
    }

    fn lift(&self, value: Value, mark: Mark, numbers: &mut Vec<f64>) -> Moved {
        match value {
            Value::Numbers(view) if view.block.n > 0 && view.block.start() >= mark.top => {
                numbers.extend_from_slice(self.arena.of(view.block, self.width));
                Moved::Numbers(view)
            }
            Value::Tuple { first, parts }
                if first as usize >= mark.tuples && (first + parts) as usize <= self.tuples.len() =>
            {
                let parts = first..first + parts;
                Moved::Tuple(parts.map(|p| self.lift(self.tuples[p as usize], mark, numbers)).collect())
            }
            still => Moved::Still(still),
        }
    }

    fn put(&mut self, moved: Moved, rest: &mut &[f64]) -> Run<Value> {
        Ok(match moved {
            Moved::Still(value) => value,
            Moved::Numbers(view) => {
                let mut block = self.allocate(view.block.count(), view.block.flags.axes())?;
                let len = block.len(self.width);
                let (own, others) = rest.split_at(len);
                self.arena.of_mut(block, self.width).copy_from_slice(own);
                *rest = others;
                block.flags = view.block.flags;
                Value::Numbers(View { shape: view.shape, block })
            }
            Moved::Tuple(parts) => {
                let mut values = Vec::with_capacity(parts.len());
                for part in parts {
                    values.push(self.put(part, rest)?);
                }
                self.push_tuple(&values)
            }
        })
    }
}
