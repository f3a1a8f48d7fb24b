//! Log densities, and what adds them up.

use crust_math::density::Terms;

use super::super::rows::{add_to, load};
use super::super::steps::{self, at, at_mut, below};
use super::super::{Density, Function, Into, LogOdds, Normal, Register};
use super::room::Repeats;
use super::take::{Taker, add_blocks, add_in_order};
use super::{Group, MOST_LOG_ODDS, Room, Span, part};
use crate::machine::{MOST, Rows, Summed};

impl Group<'_> {
    pub(super) fn terms(&self, propto: bool, varying: u32) -> Terms {
        if propto && self.call.propto { Terms::varying(varying) } else { Terms::ALL }
    }

    /// A log density and its derivatives, in the room for them. Numbers of a register that are the same in all
    /// iterations repeat themselves after `period`; if only sums over blocks matter, `summed` says how many of them
    /// stand beside each other.
    #[inline(never)]
    pub(super) fn evaluate(&mut self, density: &Density, (period, summed): (usize, Option<usize>), n: usize) {
        let terms = self.terms(density.propto, density.varying);
        let Room { registers, value, partials, repeats, .. } = &mut *self.room;
        let mut arguments: [&[f64]; MOST] = [&[]; MOST];
        let (mut wanted, mut fixed, mut patterns) = (0, 0, [None; MOST]);
        for (k, argument) in density.arguments.iter().enumerate() {
            arguments[k] = at(registers, argument.register, n);
            wanted |= u32::from(argument.into != Into::Nothing) << k;
            let repeats = repeats[usize::from(argument.register)];
            fixed |= u32::from(repeats == Repeats::Lanes) << k;
            patterns[k] = repeats.pattern(period);
        }
        let fast = density.function.fast();
        let arity = density.arguments.len();
        let summed = summed.map(|lanes| Summed { lanes, fixed });
        let mut rows = Rows { arguments, value: &mut value.0[..n], partials, wanted, terms, patterns, summed };
        rows.compute(fast, |rows, i| {
            let mut x = [0.0; MOST];
            for (x, row) in x.iter_mut().zip(&arguments[..arity]) {
                *x = row[i];
            }
            // The machine knows what to say about mistakes.
            let (value, d) = density.function.at(&x[..arity], terms).unwrap_or((f64::NAN, [f64::NAN; MOST]));
            rows.set(i, value, d);
        });
    }

    #[inline(always)]
    pub(super) fn density<const L: usize, const S: bool>(
        &mut self,
        density: &Density,
        partials: Register,
        out: Register,
        n: usize,
    ) {
        self.evaluate(density, (if S { 1 } else { L }, None), n);
        let Room { registers, value, partials: from, .. } = &mut *self.room;
        at_mut(registers, out, n).copy_from_slice(&value.0[..n]);
        for (k, to) in (0..density.arguments.len()).zip(partials..) {
            at_mut(registers, to, n).copy_from_slice(&from[k][..n]);
        }
    }

    #[inline(always)]
    pub(super) fn add_density<const L: usize, const S: bool>(
        &mut self,
        density: &Density,
        (p, total): (usize, usize),
        n: usize,
    ) {
        let span = self.span;
        // A kernel that adds up must see no more than there is.
        let (lanes, all) = if S && span.is_flat() { (1, span.rows) } else { (L, n) };
        let summed = if span.is_summed() { Some(lanes) } else { None };
        self.evaluate(density, (if S { 1 } else { L }, summed), all);
        let Room { registers, adjoints, sums, seeds, value, partials, .. } = &mut *self.room;
        if let Function::LogOdds(_) = density.function {
            // Beyond, a probability that is not given by its log odds has fewer digits: the machine computes that.
            for (value, x) in value.0[..n].iter_mut().zip(at(registers, density.arguments[1].register, n)) {
                *value = if x.abs() < MOST_LOG_ODDS { *value } else { f64::NAN };
            }
        }
        add_blocks::<L, S>(span, &value.0[..n], &mut sums[total]);
        if self.call.gradient {
            let mut taker = Taker { span, sums };
            for (argument, partial) in density.arguments.iter().zip(&*partials) {
                taker.pull_times::<L, S>(*argument, adjoints, &seeds[p].0[..n], partial);
            }
        }
    }

    #[inline(always)]
    pub(super) fn add_normal<const L: usize, const S: bool>(&mut self, normal: &Normal, n: usize) {
        let (Span { start, rows: length, .. }, span) = (self.span, self.span);
        let own = start..start + self.span.iterations();
        let Room { registers, adjoints, value, sums, .. } = &mut *self.room;
        let (low, squares) = below(registers, normal.squares, n);
        let [mu, inverse, weight] = [normal.mu.register, normal.inverse, normal.weight].map(|x| at(low, x, n));
        let direct = normal.mu.into == Into::Set && normal.y.into == Into::Nothing;
        let slope = if direct { at_mut(adjoints, normal.mu.register, n) } else { &mut value.0[..n] };
        if let Some(column) = &normal.column {
            let scale = steps::Scale { inverse: load::<L>(inverse, 0), weight: load::<L>(weight, 0) };
            let sums = &mut sums[usize::from(normal.squares)];
            if S && span.is_flat() {
                let found = steps::normal_alone::<L>(&column[own], mu, scale, slope);
                add_to(sums, found);
            } else if S {
                add_in_order(&steps::normal_beside::<L>(&column[own], mu, scale, slope)[..span.blocks], sums);
            } else {
                for (b, column) in column[own].chunks_exact(length).enumerate() {
                    let block = b * length * L..(b + 1) * length * L;
                    let found = steps::normal_data::<L>(column, &mu[block.clone()], scale, &mut slope[block]);
                    add_to(sums, found);
                }
            }
        } else {
            steps::normal([at(low, normal.y.register, n), mu, inverse, weight], squares, slope);
            add_blocks::<L, S>(span, squares, &mut sums[usize::from(normal.squares)]);
        }
        if self.call.gradient && !direct {
            let mut taker = Taker { span, sums };
            taker.pull::<L, S>(normal.mu, adjoints, &value.0[..n], 1.0);
            taker.pull::<L, S>(normal.y, adjoints, &value.0[..n], -1.0);
        }
    }

    #[inline(always)]
    pub(super) fn add_log_odds<const L: usize, const S: bool>(&mut self, odds: &LogOdds, total: usize, n: usize) {
        let p = part(odds.factor);
        let (Span { start, rows: length, .. }, span) = (self.span, self.span);
        let signs = &odds.signs[start..start + self.span.iterations()];
        let Room { registers, adjoints, sums, seeds, value, .. } = &mut *self.room;
        let most = if odds.detour { MOST_LOG_ODDS } else { f64::INFINITY };
        let direct = odds.x.into == Into::Set;
        let slope = if direct { at_mut(adjoints, odds.x.register, n) } else { &mut value.0[..n] };
        let (x, seeds) = (at(registers, odds.x.register, n), load::<L>(&seeds[p].0, 0));
        if S && span.is_flat() {
            sums[total][0] -= steps::log_odds_alone::<L>(signs, (x, most), seeds, slope);
        } else if S {
            let found = steps::log_odds::<L, S>(signs, (x, most), seeds, slope);
            sums[total][0] = found[..span.blocks].iter().fold(sums[total][0], |sum, x| sum - x);
        } else {
            for (b, signs) in signs.chunks_exact(length).enumerate() {
                let block = b * length * L..(b + 1) * length * L;
                let found = steps::log_odds::<L, S>(signs, (&x[block.clone()], most), seeds, &mut slope[block]);
                for l in 0..L {
                    sums[total][l] -= found[l];
                }
            }
        }
        if self.call.gradient && !direct {
            Taker { span, sums }.pull::<L, S>(odds.x, adjoints, &value.0[..n], 1.0);
        }
    }
}
