//! Steps backward.

use std::ops::Range;

use super::super::rows::fill;
use super::super::steps::{self, adjoint_and_below, at, at_mut};
use super::super::{Affine, Argument, Divisor, Into, Register, Step};
use super::take::Taker;
use super::{Group, Room};
use crate::kernels::arithmetic::Arithmetic;

impl Group<'_> {
    /// Adds to the adjoints of operands, for some blocks.
    #[inline(always)]
    fn operands<const L: usize, const S: bool>(&mut self, step: &Step, blocks: Range<usize>) {
        if let Step::AddNormalProducts { lists, normal } = step {
            self.add_normal_products::<L, S>(lists, normal, blocks);
            return;
        }
        if !self.is_reversed() {
            return;
        }
        match step {
            Step::Gather { from, out } => self.scatter::<L, S>(from, *out, blocks),
            Step::RowDot { rows, inner, operand, out, .. } => {
                self.row_dot_reverse::<L, S>((rows, *inner), *operand, *out, blocks);
            }
            Step::PairDot { lists, out } => self.pair_dot_reverse::<L, S>(lists, *out, blocks),
            _ => {}
        }
    }

    #[inline(always)]
    pub(super) fn affine_reverse<const L: usize, const S: bool>(&mut self, affine: &Affine, n: usize) {
        let Affine { x, factor, divisor, plus, out } = affine;
        let span = self.span;
        let Room { registers, adjoints, sums, .. } = &mut *self.room;
        let mut taker = Taker { span, sums };
        let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
        if let Some(plus) = plus {
            taker.pull::<L, S>(*plus, low, adjoint, 1.0);
        }
        match divisor {
            None => taker.pull::<L, S>(*x, low, adjoint, *factor),
            Some(Divisor { by, inverse }) => {
                let (values, inverse) = (at(registers, x.register, n), at(registers, *inverse, n));
                steps::pull_divisor(by.into, at_mut(low, by.register, n), adjoint, (*factor, values), inverse);
                steps::pull_affine(x.into, at_mut(low, x.register, n), adjoint, *factor, inverse);
            }
        }
    }

    #[inline(always)]
    pub(super) fn squared_distance_reverse<const L: usize, const S: bool>(
        &mut self,
        pairs: &[[Argument; 2]],
        out: Register,
        n: usize,
    ) {
        let span = self.span;
        let Room { registers, adjoints, sums, .. } = &mut *self.room;
        let mut taker = Taker { span, sums };
        let (low, adjoint) = adjoint_and_below(adjoints, out, n);
        for [a, b] in pairs {
            let (x, y) = (at(registers, a.register, n), at(registers, b.register, n));
            taker.pull_difference::<L, S>(*a, low, adjoint, [x, y]);
            taker.pull_difference::<L, S>(*b, low, adjoint, [y, x]);
        }
    }

    /// Goes back over the steps. Sums of products with their log densities go forward and backward at once: here.
    ///
    /// For a lane alone, adjoints of operands are added up tile by tile, as in a group, where two steps add to the same
    /// operand: in rounds of their own.
    #[inline(always)]
    pub(super) fn reverse<const L: usize, const S: bool>(&mut self) {
        let reversed = self.is_reversed();
        if !reversed && !self.room.products {
            return;
        }
        let (n, all) = (self.numbers::<L, S>(), self.span.blocks);
        let most = self.span.blocks_of_tile();
        let together = !S || self.room.together;
        let rounds = if together { 1 } else { 1 + all.div_ceil(most) };
        for round in 0..rounds {
            let blocks = if together { 0..all } else { round.saturating_sub(1) * most..all.min(round * most) };
            for step in self.strip.steps.iter().rev() {
                if together || round > 0 {
                    self.operands::<L, S>(step, blocks.clone());
                }
                if reversed && round == 0 {
                    self.step_reverse::<L, S>(step, n);
                }
            }
        }
    }

    #[inline(always)]
    fn step_reverse<const L: usize, const S: bool>(&mut self, step: &Step, n: usize) {
        let span = self.span;
        match step {
            Step::Column { .. }
            | Step::Add { .. }
            | Step::AddDensity { .. }
            | Step::AddNormal(_)
            | Step::AddNormalProducts { .. }
            | Step::AddLogOdds(_)
            | Step::PairDot { .. }
            | Step::Gather { .. } => {}
            Step::Arithmetic { operator, a, b, out } => {
                let Room { registers, adjoints, sums, .. } = &mut *self.room;
                let mut taker = Taker { span, sums };
                let (values_a, values_b) = (at(registers, a.register, n), at(registers, b.register, n));
                let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
                match operator {
                    Arithmetic::Add | Arithmetic::Subtract => {
                        let sign = if *operator == Arithmetic::Add { 1.0 } else { -1.0 };
                        taker.pull::<L, S>(*a, low, adjoint, 1.0);
                        taker.pull::<L, S>(*b, low, adjoint, sign);
                    }
                    Arithmetic::Multiply => {
                        taker.pull_times::<L, S>(*a, low, adjoint, values_b);
                        taker.pull_times::<L, S>(*b, low, adjoint, values_a);
                    }
                    Arithmetic::Divide => {
                        steps::pull_over(a.into, at_mut(low, a.register, n), adjoint, values_b);
                        let y = at(registers, *out, n);
                        steps::pull_denominator(b.into, at_mut(low, b.register, n), adjoint, y, values_b);
                    }
                }
            }
            Step::Affine(affine) => self.affine_reverse::<L, S>(affine, n),
            Step::SquaredDistance { pairs, out } => self.squared_distance_reverse::<L, S>(pairs, *out, n),
            Step::Unary { function, x, out } => {
                let Room { registers, adjoints, .. } = &mut *self.room;
                let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
                let into = at_mut(low, x.register, n);
                if x.into == Into::Set {
                    fill(into, 0.0);
                }
                (function.reverse)(at(registers, x.register, n), at(registers, *out, n), adjoint, into);
            }
            Step::RowDot { plus, out, .. } => {
                let Room { adjoints, sums, .. } = &mut *self.room;
                let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
                Taker { span, sums }.pull::<L, S>(*plus, low, adjoint, 1.0);
            }
            Step::LogSumExp { xs, weights: partials, out } => {
                let Room { registers, adjoints, sums, .. } = &mut *self.room;
                let mut taker = Taker { span, sums };
                let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
                for (x, partial) in xs.iter().zip(*partials..) {
                    let partial = at(registers, partial, n);
                    taker.pull_times::<L, S>(*x, low, adjoint, partial);
                }
            }
            Step::Density { density, partials, out } => {
                let Room { registers, adjoints, sums, .. } = &mut *self.room;
                let mut taker = Taker { span, sums };
                let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
                for (x, partial) in density.arguments.iter().zip(*partials..) {
                    let partial = at(registers, partial, n);
                    taker.pull_times::<L, S>(*x, low, adjoint, partial);
                }
            }
            Step::Store { x, operand, elements } => {
                self.unstore::<L, S>(*x, *operand, elements);
            }
        }
    }
}
