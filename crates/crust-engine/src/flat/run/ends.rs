//! What happens before and after the first tile, each tile, and the last one: registers that are the same in all
//! iterations, and sums.

use crust_math::lanes::scalar::log;
use crust_math::special::LN_SQRT_TAU;

use smallvec::SmallVec;

use super::super::rows::{add_to, fill, load, store, sum};
use super::super::steps::{self, at, below};
use super::super::{GROUP, LogOdds, Normal, Step, Uniform};
use super::{Group, Room, add_blocks, part, place};
use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::fma;

impl Group<'_> {
    /// Copies operands and their adjoints, so that elements lie together.
    #[inline(always)]
    fn pack<const L: usize>(&mut self) {
        if !self.is_packed() {
            return;
        }
        for &operand in &self.strip.sources {
            let (block, at) = (self.call.operands[operand], self.room.packed_at[operand]);
            let own = at..at + block.count() * L;
            let mut from = self.place(block, 0);
            for to in self.room.packed[own.clone()].chunks_exact_mut(L) {
                to.copy_from_slice(&self.values[from..from + L]);
                from += self.call.lanes;
            }
            if block.gradient() {
                let mut from = self.place(block, 0) - self.base;
                for to in self.room.packed_adjoints[own].chunks_exact_mut(L) {
                    to.copy_from_slice(&self.adjoints[from..from + L]);
                    from += self.call.lanes;
                }
            }
        }
    }

    /// Gives back the adjoints of operands.
    #[inline(always)]
    fn unpack<const L: usize>(&mut self) {
        if !self.is_packed() {
            return;
        }
        for &operand in &self.strip.sources {
            let (block, at) = (self.call.operands[operand], self.room.packed_at[operand]);
            if !block.gradient() {
                continue;
            }
            let mut to = self.place(block, 0) - self.base;
            for from in self.room.packed_adjoints[at..at + block.count() * L].chunks_exact(L) {
                store(self.adjoints, to, load::<L>(from, 0));
                to += self.call.lanes;
            }
        }
    }

    #[inline(always)]
    pub(super) fn begin<const L: usize, const S: bool>(&mut self) {
        self.pack::<L>();
        self.list_sums();
        let used = self.used::<L, S>();
        if let Some(totals) = self.call.totals {
            for (p, (_, seed)) in totals.into_iter().enumerate() {
                let from = self.place(seed, 0);
                Self::spread::<L, S>(self.values, seed, from, &mut self.room.seeds[p].0[..used]);
            }
        }
        for &(register, uniform) in &self.strip.uniforms {
            let (low, out) = below(&mut self.room.registers, register, used);
            match uniform {
                Uniform::Constant(x) => fill(out, x),
                Uniform::Operand { operand, element } => {
                    let block = self.call.operands[operand];
                    let from = place(self.call, self.lane, block, element);
                    Self::spread::<L, S>(self.values, block, from, out);
                }
                Uniform::Inverse(x) => steps::invert(at(low, x, used), out),
                Uniform::Weight(x, factor) => {
                    steps::arithmetic(Arithmetic::Multiply, at(low, x, used), &self.room.seeds[part(factor)].0, out);
                }
                Uniform::Sum => {}
            }
        }
    }

    /// Makes room for what is summed over iterations.
    fn list_sums(&mut self) {
        let together = self.call.lanes > 1 || self.adds_together();
        self.room.together = together;
        let Room { sums, products, .. } = &mut *self.room;
        sums.clear();
        sums.resize(self.strip.registers + 2 + self.strip.steps.len(), [0.0; GROUP]);
        *products = self.strip.steps.iter().any(|step| matches!(step, Step::AddNormalProducts { .. }));
    }

    /// Whether adjoints of operands may be added to step by step: see [`Room`].
    fn adds_together(&self) -> bool {
        let looks_back =
            |step: &Step| matches!(step, Step::Store { operand, .. } if self.strip.sources.contains(operand));
        if self.strip.recurrent || self.strip.steps.iter().any(looks_back) {
            return true;
        }
        let overlap = |a: usize, b: usize| {
            let [a, b] = [a, b].map(|operand| self.call.operands[operand]);
            a.start() < b.start() + b.count() && b.start() < a.start() + a.count()
        };
        let mut before: SmallVec<[usize; 16]> = SmallVec::new();
        for step in &self.strip.steps {
            let own = step.adds_to();
            if own.iter().flatten().any(|&a| before.iter().any(|&b| overlap(a, b))) {
                return false;
            }
            before.extend(own.into_iter().flatten());
        }
        true
    }

    /// Takes in the sums over these iterations, block after block.
    #[inline(always)]
    pub(super) fn fold<const L: usize, const S: bool>(&mut self) {
        if !self.is_reversed() {
            return;
        }
        let (n, span) = (self.numbers::<L, S>(), self.span);
        let Room { adjoints, sums, .. } = &mut *self.room;
        for register in &self.strip.folded {
            add_blocks::<L, S>(span, at(adjoints, *register, n), &mut sums[usize::from(*register)]);
        }
    }

    #[inline(always)]
    pub(super) fn end<const L: usize, const S: bool>(&mut self) {
        for (number, step) in self.strip.steps.iter().enumerate() {
            match step {
                Step::AddNormal(normal) | Step::AddNormalProducts { normal, .. } => self.end_normal::<L>(normal),
                Step::Add { factor, .. }
                | Step::AddDensity { factor, .. }
                | Step::AddLogOdds(LogOdds { factor, .. }) => {
                    let own = self.room.sums[self.total(number)];
                    add_to(&mut self.room.sums[self.strip.registers + part(*factor)], own);
                }
                _ => {}
            }
        }
        if let Some(totals) = self.call.totals {
            for (p, (total, _)) in totals.into_iter().enumerate() {
                let (sums, to) = (self.room.sums[self.strip.registers + p], self.place(total, 0));
                give::<L, S>(self.values, to, sums);
                for l in 0..L {
                    self.fine[l] &= sums[l].abs() < f64::INFINITY;
                }
            }
        }
        if !self.is_reversed() {
            return;
        }
        self.unpack::<L>();
        for &(register, uniform) in &self.strip.uniforms {
            let Uniform::Operand { operand, element } = uniform else { continue };
            let block = self.call.operands[operand];
            if block.gradient() {
                let to = self.place(block, element) - self.base;
                give::<L, S>(self.adjoints, to, self.room.sums[usize::from(register)]);
            }
        }
    }

    /// `−½ Σz² − n (log σ + ½ log 2π)`, and its derivative `(Σz² − n)/σ` by σ.
    #[inline(always)]
    #[allow(clippy::cast_precision_loss, reason = "counts are small")]
    fn end_normal<const L: usize>(&mut self, normal: &Normal) {
        let terms = self.terms(normal.propto, normal.varying);
        let n = normal.count as f64;
        let p = part(normal.factor);
        let Room { registers, sums, seeds, .. } = &mut *self.room;
        let squares = sums[usize::from(normal.squares)];
        let (sigma, inverse) =
            (load::<L>(at(registers, normal.sigma, L), 0), load::<L>(at(registers, normal.inverse, L), 0));
        let seeds = load::<L>(&seeds[p].0, 0);
        let mut value = [0.0; L];
        if terms.keep(0b111) {
            for l in 0..L {
                value[l] -= 0.5 * squares[l];
            }
        }
        if terms.keep(0b100) {
            for l in 0..L {
                value[l] -= n * log(sigma[l]);
            }
        }
        let constant = if terms.keep(0) { n * LN_SQRT_TAU } else { 0.0 };
        let (mut total, mut adjoint) = (sums[self.strip.registers + p], sums[usize::from(normal.sigma)]);
        for l in 0..L {
            total[l] += value[l] - constant;
            adjoint[l] = fma(seeds[l] * inverse[l], squares[l] - n, adjoint[l]);
            self.fine[l] &= sigma[l] > 0.0;
        }
        sums[self.strip.registers + p] = total;
        sums[usize::from(normal.sigma)] = adjoint;
    }
}

/// Adds what was found for our lanes.
#[inline(always)]
fn give<const L: usize, const S: bool>(into: &mut [f64], to: usize, found: [f64; GROUP]) {
    if S {
        into[to] += found[0];
    } else {
        store(into, to, sum(load::<L>(into, to), load::<L>(&found, 0)));
    }
}
