//! Statements.

use crust_stan::ast::MessageKind;
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::tape::Entry;
use super::value::{Value, View};
use super::{Machine, Run, Stop, fatal};
use crate::code::{Factor, Kind, Message, Node, Stmt, StmtKind, Truncation};
use crate::ir::Ref;
use crate::memory::{Block, Flags};

/// How control goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flow {
    Next,
    Break,
    Continue,
    Return(Option<Value>),
    /// While a list is made: some lanes leave the loop, and some go on to the next round.
    Part {
        breaks: Ref,
        continues: Ref,
    },
    /// While a list is made: nobody comes to the end of this way.
    Never,
}

impl Machine {
    pub(crate) fn statements(&mut self, list: &[Stmt]) -> Run<Flow> {
        if self.tracer.is_some() {
            return self.traced_statements(list);
        }
        for stmt in list {
            let flow = if stmt.pure { self.pure(stmt)? } else { self.statement(stmt)? };
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// Runs a statement that only adds to the log density: forward, backward, and away with it.
    pub(super) fn pure(&mut self, stmt: &Stmt) -> Run<Flow> {
        if self.transaction {
            return self.statement(stmt);
        }
        let mark = self.mark();
        let flow = self.statement(stmt)?;
        self.reverse(mark.tape);
        self.release(mark);
        Ok(flow)
    }

    pub(super) fn statement(&mut self, stmt: &Stmt) -> Run<Flow> {
        match &stmt.kind {
            StmtKind::Declare { slot, declared, initial, mutable, id } => {
                self.declare(*slot, declared, initial.as_ref(), (*mutable, *id))?;
            }
            StmtKind::Assign { slot, path, value, mutable } => {
                let value = self.eval(value)?;
                self.assign(*slot, path, value, *mutable, stmt.span)?;
            }
            StmtKind::AssignTuple { places, value } => {
                let Value::Tuple { first, .. } = self.eval(value)? else {
                    return fatal("internal", "this is not a tuple", stmt.span);
                };
                // `(x, y) = (y, x)`: all parts are known before the first is written.
                let mut values: SmallVec<[Value; 8]> = SmallVec::new();
                for (_, part) in places.iter().zip(first..) {
                    values.push(self.own(self.tuples[part as usize], false)?);
                }
                for ((slot, path, mutable), value) in places.iter().zip(values) {
                    self.assign(*slot, path, value, *mutable, stmt.span)?;
                }
            }
            StmtKind::Target { value, factor } => self.add(value, *factor)?,
            StmtKind::Jacobian(value) => {
                if self.wanted.jacobian {
                    self.add(value, Factor::Prior)?;
                }
            }
            StmtKind::Truncate(truncation) => self.truncate(truncation, stmt.span)?,
            StmtKind::Call(node) => self.call_statement(node)?,
            StmtKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    let condition = self.numbers(condition)?;
                    if self.decide(condition)? {
                        return self.statements(body);
                    }
                }
                return self.statements(otherwise);
            }
            StmtKind::For(for_loop) => return self.for_loop(for_loop, stmt.pure, stmt.span),
            StmtKind::While { condition, body } if self.tracer.is_some() => return self.traced_while(condition, body),
            StmtKind::While { condition, body } => return self.while_loop(condition, body, stmt.span),
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Return(None) => return Ok(Flow::Return(None)),
            StmtKind::Return(Some(value)) => return Ok(Flow::Return(Some(self.eval(value)?))),
            StmtKind::Block(body) => return self.statements(body),
            StmtKind::Terms { body, id, inlinable, filled } => self.terms_of(body, *id, (inlinable, filled))?,
            StmtKind::Inlinable { stmt, slot, id } => {
                if !self.is_inlined(*slot, *id) {
                    return self.statement(stmt);
                }
                // What an earlier evaluation has left there is nobody's business.
                self.slot_mut(*slot).value = Value::Unset;
            }
            StmtKind::Message { kind, parts } => self.message(*kind, parts, stmt.span)?,
        }
        Ok(Flow::Next)
    }

    /// `target += value`.
    fn add(&mut self, value: &Node, factor: Factor) -> Run<()> {
        if self.tracer.is_some() {
            return self.traced_add(value, factor);
        }
        if let Kind::Density(call) = &value.kind
            && !self.transaction
            && !self.code.reads_target
        {
            return self.density_into_total(call, factor, value.span);
        }
        let factor = match (factor, &value.kind) {
            (Factor::ByVariate, Kind::Density(call)) => self.factor_of(&call.arguments)?,
            (Factor::ByVariate, Kind::User { arguments, .. }) => self.factor_of(arguments)?,
            _ => factor,
        };
        let view = self.numbers(value)?;
        self.add_view(view, factor);
        Ok(())
    }

    pub(super) fn factor_of(&mut self, arguments: &[Node]) -> Run<Factor> {
        let variate = self.numbers(&arguments[0])?;
        Ok(if variate.block.gradient() || self.is_symbolic(variate) { Factor::Prior } else { Factor::Likelihood })
    }

    /// Adds numbers to the log density, at once or when the tile is done.
    pub(super) fn add_view(&mut self, view: View, factor: Factor) {
        if self.tracer.is_some() {
            self.traced_terms(view, factor);
        } else if self.transaction {
            self.pending.push((view.block, factor));
        } else {
            self.add_block(view.block, factor);
        }
    }

    /// Where a term of the log density goes, and its adjoint. Outside of the model there is no such place.
    pub(super) fn total(&self, factor: Factor) -> Option<(Block, Block)> {
        let totals = self.totals?;
        Some(match factor {
            Factor::Prior => (totals.prior, totals.prior_seed),
            Factor::Likelihood | Factor::ByVariate => (totals.likelihood, totals.likelihood_seed),
        })
    }

    /// Adds numbers to the log density. The adjoint of that is known from the start unless the program computes with
    /// `target()`: then the reverse pass hands it out.
    pub(super) fn add_block(&mut self, block: Block, factor: Factor) {
        let Some((total, _)) = self.total(factor) else { return };
        if !self.code.reads_target {
            self.seed_term(block, factor);
        } else if self.recording {
            self.tape.push(Entry::Add { x: block, factor });
        }
        let (width, times) = (self.width, self.times(block));
        let lanes = if block.lanes() { width.lanes } else { 1 };
        let values = self.arena.values_mut();
        for at in block.range(width).step_by(lanes) {
            for l in 0..width.lanes {
                values[total.start() + l] += times * values[at + if lanes == 1 { 0 } else { l }];
            }
        }
    }

    /// What does not vary over the tile is added once for each of its iterations.
    #[allow(clippy::cast_precision_loss, reason = "tiles are small")]
    fn times(&self, block: Block) -> f64 {
        if block.tile() { 1.0 } else { self.width.tile as f64 }
    }

    /// Adds the adjoint of the log density to that of a term.
    pub(super) fn seed_term(&mut self, block: Block, factor: Factor) {
        let Some((_, seed)) = self.total(factor) else { return };
        if !block.gradient() {
            return;
        }
        let (width, times) = (self.width, self.times(block));
        let lanes = if block.lanes() { width.lanes } else { 1 };
        let (values, mut adjoints) = self.arena.both();
        let seed_lanes = seed.lanes();
        for row in adjoints.of(block, width).chunks_exact_mut(lanes) {
            for (l, d) in row.iter_mut().enumerate() {
                *d += times * values[seed.start() + if seed_lanes { l } else { 0 }];
            }
        }
    }

    fn truncate(&mut self, truncation: &Truncation, span: Span) -> Run<()> {
        let variate = self.numbers(&truncation.variate)?;
        for (bound, upper) in [(&truncation.lower, false), (&truncation.upper, true)] {
            let Some(bound) = bound else { continue };
            let bound = self.numbers(bound)?;
            self.within(variate, bound, (upper, true), span)?;
        }
        let factor = match truncation.factor {
            Factor::ByVariate if variate.block.gradient() || self.is_symbolic(variate) => Factor::Prior,
            factor => factor,
        };
        let view = self.numbers(&truncation.normaliser)?;
        self.add_view(view, factor);
        Ok(())
    }

    /// Rejects the lanes in which a number is beyond a bound.
    pub(super) fn within(
        &mut self,
        variate: View,
        bound: View,
        (upper, nan_fits): (bool, bool),
        span: Span,
    ) -> Run<()> {
        if self.any_symbolic(&[variate, bound]) {
            return self.traced_bound(variate, bound, upper);
        }
        let flags = variate.block.flags.with(bound.block.flags);
        let lanes = self.width.lanes;
        let walk = crate::memory::Walk::new(variate.block.count(), self.width, [variate.block, bound.block]);
        let values = self.arena.values();
        let mut outside = Vec::new();
        let mut item = 0;
        walk.rows(|[x, b]| {
            for i in 0..walk.inner {
                let x = values[x + if walk.unit[0] { i } else { 0 }];
                let b = values[b + if walk.unit[1] { i } else { 0 }];
                let beyond = if upper { x > b } else { x < b };
                if beyond || (x.is_nan() && !nan_fits) {
                    outside.push((item % lanes, x, b));
                }
                item += 1;
            }
        });
        for (lane, x, b) in outside {
            let message = || format!("{x} is {} the bound {b}", if upper { "above" } else { "below" });
            if flags.has(Flags::LANES) {
                self.reject(lane, message, span)?;
            } else {
                for lane in 0..lanes {
                    self.reject(lane, message, span)?;
                }
            }
        }
        Ok(())
    }

    fn message(&mut self, kind: MessageKind, parts: &[Message], span: Span) -> Run<()> {
        if self.tracer.is_some() {
            return self.traced_message(kind);
        }
        let mut text = String::new();
        for part in parts {
            match part {
                Message::Text(t) => text.push_str(t),
                Message::Value(node) => {
                    let value = self.eval(node)?;
                    self.show(value, &mut text);
                }
            }
        }
        match kind {
            MessageKind::Reject | MessageKind::FatalError if self.steps.is_some() => {
                fatal("rejected", format!("the program stops with `{}`: {text}", kind.word()), span)
            }
            MessageKind::Print => {
                if self.messages.len() < 1000 {
                    self.messages.push(text);
                }
                Ok(())
            }
            MessageKind::Reject => {
                for lane in 0..self.width.lanes {
                    self.reject(lane, || text.clone(), span)?;
                }
                Err(Stop::AllRejected)
            }
            MessageKind::FatalError => fatal("fatal-error", text, span),
        }
    }

    /// A value as text, in the first lane.
    fn show(&self, value: Value, out: &mut String) {
        use std::fmt::Write;
        match value {
            Value::Unset => out.push('?'),
            Value::Tuple { first, parts } => {
                out.push('(');
                for part in first..first + parts {
                    if part > first {
                        out.push_str(", ");
                    }
                    self.show(self.tuples[part as usize], out);
                }
                out.push(')');
            }
            Value::Numbers(view) => {
                let row = view.block.item_len(self.width);
                let number = |e: usize| self.arena.values()[view.block.start() + e * row];
                if view.shape.is_scalar() {
                    let _ = write!(out, "{}", number(0));
                    return;
                }
                out.push('[');
                for e in 0..view.block.count() {
                    let comma = if e > 0 { ", " } else { "" };
                    let _ = write!(out, "{comma}{}", number(e));
                }
                out.push(']');
            }
        }
    }

    /// The log density so far, log prior and log likelihood together: a value like any other.
    pub(super) fn target_so_far(&mut self) -> Run<View> {
        let differentiated = self.code.reads_target && self.totals.is_some();
        let flags = if differentiated { Flags::LANES.with(Flags::GRADIENT) } else { Flags::LANES };
        let y = self.allocate(1, flags)?;
        let width = self.width;
        let (low, out) = self.arena.below(y, width);
        out.fill(0.0);
        if let Some(totals) = self.totals {
            for block in [totals.prior, totals.likelihood] {
                for (to, x) in out.iter_mut().zip(&low[block.range(width)]) {
                    *to += x;
                }
            }
        }
        if y.gradient() {
            self.tape.push(Entry::TargetSoFar { y });
        }
        Ok(View::scalar(y))
    }

    /// With `y = Σ_{k before} t_k` the adjoint of each of these terms is that of the log density plus that of `y`. The
    /// reverse pass meets them after `y`, so that it is enough to add to what they are given.
    pub(super) fn reverse_target_so_far(&mut self, y: Block) {
        let Some(totals) = self.totals else { return };
        let width = self.width;
        let (values, mut adjoints) = self.arena.both();
        for seed in [totals.prior_seed, totals.likelihood_seed] {
            for (to, d) in values[seed.range(width)].iter_mut().zip(adjoints.of(y, width).iter()) {
                *to += d;
            }
        }
    }
}
