//! What happens before the first tile and after the last: registers that are the same in all iterations, and sums.

use crust_math::lanes::scalar::log;
use crust_math::special::LN_SQRT_TAU;

use super::super::rows::{fill, load, reduce, store, sum};
use super::super::steps::{self, at, at_mut, below};
use super::super::{Normal, Step, Uniform};
use super::{Group, Room, part, place};
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
    pub(super) fn begin<const L: usize>(&mut self) {
        self.pack::<L>();
        let used = self.used::<L>();
        if let Some(totals) = self.call.totals {
            for (p, (_, seed)) in totals.into_iter().enumerate() {
                fill(&mut self.room.totals[p].0[..used], 0.0);
                let from = self.place(seed, 0);
                Self::spread::<L>(self.values, seed, from, &mut self.room.seeds[p].0[..used]);
            }
        }
        for &(register, uniform) in &self.strip.uniforms {
            let (low, out) = below(&mut self.room.registers, register, used);
            match uniform {
                Uniform::Constant(x) => fill(out, x),
                Uniform::Operand { operand, element } => {
                    let block = self.call.operands[operand];
                    let from = place(self.call, self.lane, block, element);
                    Self::spread::<L>(self.values, block, from, out);
                    fill(at_mut(&mut self.room.adjoints, register, used), 0.0);
                }
                Uniform::Inverse(x) => steps::invert(at(low, x, used), out),
                Uniform::Weight(x, factor) => {
                    steps::arithmetic(Arithmetic::Multiply, at(low, x, used), &self.room.seeds[part(factor)].0, out);
                }
                Uniform::Sum => fill(out, 0.0),
            }
        }
    }

    #[inline(always)]
    pub(super) fn end<const L: usize>(&mut self) {
        let used = self.used::<L>();
        for step in &self.strip.steps {
            if let Step::AddNormal(normal) | Step::AddNormalProducts { normal, .. } = step {
                self.end_normal::<L>(normal);
            }
        }
        if let Some(totals) = self.call.totals {
            for (p, (total, _)) in totals.into_iter().enumerate() {
                let sums = reduce::<L>(&self.room.totals[p].0[..used]);
                let to = self.place(total, 0);
                store(self.values, to, sum(load::<L>(self.values, to), sums));
                for l in 0..L {
                    self.fine[l] &= sums[l].abs() < f64::INFINITY;
                }
            }
        }
        if !self.call.gradient || (self.call.stores() && !self.call.backward) {
            return;
        }
        self.unpack::<L>();
        for &(register, uniform) in &self.strip.uniforms {
            let Uniform::Operand { operand, element } = uniform else { continue };
            let block = self.call.operands[operand];
            if block.gradient() {
                let sums = reduce::<L>(at(&self.room.adjoints, register, used));
                let to = self.place(block, element) - self.base;
                store(self.adjoints, to, sum(load::<L>(self.adjoints, to), sums));
            }
        }
    }

    /// `−½ Σz² − n (log σ + ½ log 2π)`, and its derivative `(Σz² − n)/σ` by σ.
    #[inline(always)]
    #[allow(clippy::cast_precision_loss, reason = "counts are small")]
    fn end_normal<const L: usize>(&mut self, normal: &Normal) {
        let (terms, used) = (self.terms(normal.propto, normal.varying), self.used::<L>());
        let n = normal.count as f64;
        let p = part(normal.factor);
        let Room { registers, adjoints, totals, seeds, .. } = &mut *self.room;
        let squares = reduce::<L>(at(registers, normal.squares, used));
        let (sigma, inverse) =
            (load::<L>(at(registers, normal.sigma, L), 0), load::<L>(at(registers, normal.inverse, L), 0));
        let (seeds, mut total) = (load::<L>(&seeds[p].0, 0), load::<L>(&totals[p].0, 0));
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
        let into = at_mut(adjoints, normal.sigma, L);
        let mut adjoint = load::<L>(into, 0);
        for l in 0..L {
            total[l] += value[l] - constant;
            adjoint[l] = fma(seeds[l] * inverse[l], squares[l] - n, adjoint[l]);
            self.fine[l] &= sigma[l] > 0.0;
        }
        store(&mut totals[p].0, 0, total);
        store(into, 0, adjoint);
    }
}
