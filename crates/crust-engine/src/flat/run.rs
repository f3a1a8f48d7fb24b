//! Runs flat loops: strip by strip, eight lanes (or the only one) at a time, tile by tile.

#![allow(unsafe_code, reason = "positions are checked once for each run, not for each element")]

mod ends;
mod gathers;
mod pairs;
mod products;
mod room;
mod span;

pub use pairs::MOST_KEPT;
pub use room::Room;
use room::{Repeats, make_room};
use span::Span;

use std::ops::Range;

use crust_math::density::Terms;
use crust_math::functions::elementwise::Binary;
use crust_math::lanes::{Kernel, dispatch};

use super::rows::{add_to, column, fill, load, repeat_last, store};
use super::steps::{self, Tile, adjoint_and_below, at, at_mut, below};
use super::{
    Affine, Argument, Density, Divisor, Flat, Function, GROUP, Into, LogOdds, Normal, Positions, Register, Step, Strip,
    TILE,
};
use crate::code::Factor;
use crate::kernels::arithmetic::Arithmetic;
use crate::machine::{MOST, RowKernel, Rows, Summed};
use crate::memory::Block;

/// A loop to be run, and what it works on.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub flat: &'a Flat,
    pub operands: &'a [Block],
    /// All lanes: 1, or a multiple of [`GROUP`].
    pub lanes: usize,
    /// Where the parts of the log density are, and their adjoints: prior, likelihood.
    pub totals: Option<[(Block, Block); 2]>,
    pub gradient: bool,
    /// Whether constant terms are dropped.
    pub propto: bool,
    /// Goes backwards through a loop that assigns.
    pub backward: bool,
}

impl Call<'_> {
    /// Whether elements of operands are assigned.
    fn stores(&self) -> bool {
        !self.flat.stored.is_empty()
    }
}

/// Runs a loop. Says `false` in `fine` for lanes in which something is not finite, or outside of a domain: what was
/// added to their adjoints is then useless.
pub fn run(
    call: Call,
    values: &mut [f64],
    (adjoints, base): (&mut [f64], usize),
    room: &mut Room,
    fine: &mut Vec<bool>,
) {
    let most = call.flat.strips.iter().map(|s| s.registers).max().unwrap_or(0);
    if room.registers.len() < most {
        room.registers.resize(most, Tile::ZERO);
        room.adjoints.resize(most, Tile::ZERO);
    }
    fine.clear();
    fine.resize(call.lanes, true);
    let single = call.lanes == 1;
    let strips = if single { call.flat.single.get_or_init(|| call.flat.side_by_side()) } else { &call.flat.strips };
    for strip in strips {
        check_positions(call, strip);
        make_room(call, strip, room);
        let step = if single { 1 } else { GROUP };
        for lane in (0..call.lanes).step_by(step) {
            let fine_here = [true; GROUP];
            let group = Group { call, strip, values, adjoints, base, lane, room, span: Span::ONE, fine: fine_here };
            let found = match (single, strip.recurrent) {
                (false, _) => dispatch(Eight(group)),
                (true, false) => dispatch(Blocks(group)),
                (true, true) => dispatch(One(group)),
            };
            fine[lane..lane + step].iter_mut().zip(found).for_each(|(fine, found)| *fine &= found);
        }
    }
}

/// Makes sure that all positions are those of elements: they are not looked at again in the loops.
fn check_positions(call: Call, strip: &Strip) {
    let inside = |from: &Positions| (from.last as usize) < call.operands[from.operand].count();
    let fine = strip.steps.iter().all(|step| match step {
        Step::Gather { from, .. } => inside(from),
        Step::PairDot { lists, .. } | Step::AddNormalProducts { lists, .. } => inside(&lists.a) && inside(&lists.b),
        _ => true,
    });
    let lanes = strip.sources.iter().all(|&operand| call.operands[operand].lanes());
    assert!(fine && lanes, "positions of elements, in operands with lanes");
}

/// A strip for some lanes.
pub(super) struct Group<'a> {
    call: Call<'a>,
    strip: &'a Strip,
    values: &'a mut [f64],
    adjoints: &'a mut [f64],
    /// The adjoint of the value at `i` is at `i - base`.
    base: usize,
    /// The first of the lanes.
    lane: usize,
    room: &'a mut Room,
    /// What is computed at the moment.
    span: Span,
    /// For each lane.
    fine: [bool; GROUP],
}

// A register has rows of `L` numbers. If there is a single lane (`S`), those are one number of each of eight blocks
// of iterations, or the number of the only iteration; otherwise one number for each lane.

/// A lane alone, iteration by iteration.
struct One<'a>(Group<'a>);
/// A lane alone, eight blocks of iterations at a time.
struct Blocks<'a>(Group<'a>);
/// Eight lanes.
struct Eight<'a>(Group<'a>);

impl Kernel for One<'_> {
    type Output = [bool; GROUP];

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.0.all::<1, true>()
    }
}

impl Kernel for Blocks<'_> {
    type Output = [bool; GROUP];

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.0.all::<GROUP, true>()
    }
}

impl Kernel for Eight<'_> {
    type Output = [bool; GROUP];

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.0.all::<GROUP, false>()
    }
}

/// Where a probability that is not given by its log odds still has nearly all its digits.
const MOST_LOG_ODDS: f64 = 30.0;

impl Function {
    /// The vectorised version, where there is one.
    pub(crate) fn fast(&self) -> Option<RowKernel> {
        match self {
            Self::Density(scalar) | Self::LogOdds(scalar) => scalar.fast,
            Self::Binary(_, fast) => *fast,
            Self::Ternary(_) => None,
        }
    }

    pub(crate) fn binary(function: &'static Binary) -> Self {
        Self::Binary(function, crate::density::pair(function.name))
    }

    /// Value and derivatives for one item; nothing outside of the domain.
    pub(crate) fn at(&self, x: &[f64], terms: Terms) -> Option<(f64, [f64; MOST])> {
        let mut all = [0.0; MOST];
        match self {
            Self::Density(scalar) => scalar.at(x, terms).ok(),
            Self::LogOdds(_) => None,
            Self::Binary(function, _) => {
                let p = (function.at)(x[0], x[1]).ok()?;
                all[..2].copy_from_slice(&p.d);
                Some((p.value, all))
            }
            Self::Ternary(function) => {
                let p = (function.at)(x[0], x[1], x[2]).ok()?;
                all[..3].copy_from_slice(&p.d);
                Some((p.value, all))
            }
        }
    }
}

/// Where the numbers of our lanes begin, for an element of a block.
#[inline(always)]
fn place(call: Call, lane: usize, block: Block, element: usize) -> usize {
    if block.lanes() { block.start() + element * call.lanes + lane } else { block.start() + element }
}

fn part(factor: Factor) -> usize {
    usize::from(factor != Factor::Prior)
}

impl Group<'_> {
    #[inline(always)]
    fn all<const L: usize, const S: bool>(mut self) -> [bool; GROUP] {
        self.begin::<L, S>();
        let iterations = self.strip.iterations;
        if self.strip.recurrent {
            // Elements of a recurrence are assigned once, and never looked at before: on the way back each iteration
            // finds what it saw on the way there.
            self.clear::<L, S>();
            for i in 0..iterations {
                let start = if self.call.backward { iterations - 1 - i } else { i };
                self.tile::<L, S>(Span { start, ..Span::ONE });
            }
            self.fold::<L, S>();
        } else {
            for span in Span::all(iterations) {
                if S {
                    self.cleared_tile::<L, S>(span);
                } else {
                    span.tiles().for_each(
                        #[inline(always)]
                        |tile| self.cleared_tile::<L, S>(tile),
                    );
                }
            }
        }
        self.end::<L, S>();
        self.fine
    }

    #[inline(always)]
    fn cleared_tile<const L: usize, const S: bool>(&mut self, span: Span) {
        self.span = span;
        self.clear::<L, S>();
        self.tile::<L, S>(span);
        self.fold::<L, S>();
    }

    #[inline(always)]
    fn tile<const L: usize, const S: bool>(&mut self, span: Span) {
        self.span = span;
        self.forward::<L, S>();
        if self.is_reversed() {
            self.reverse::<L, S>();
        }
        self.operands::<L, S>();
    }

    /// What looks at operands and adds to their adjoints: those of registers are complete by now. For a lane alone they
    /// are added up as in a group, tile by tile.
    #[inline(always)]
    fn operands<const L: usize, const S: bool>(&mut self) {
        let all = self.span.blocks;
        let most = if S { self.span.blocks_of_tile() } else { all };
        for first in (0..all).step_by(most) {
            let blocks = first..all.min(first + most);
            for step in &self.strip.steps {
                if let Step::AddNormalProducts { lists, normal } = step {
                    self.add_normal_products::<L, S>(lists, normal, blocks.clone());
                }
            }
            if self.is_reversed() && !self.room.at_once {
                for step in self.strip.steps.iter().rev() {
                    self.operand_adjoints::<L, S>(step, blocks.clone());
                }
            }
        }
    }

    /// Adds to the adjoints of operands, for some blocks.
    #[inline(always)]
    fn operand_adjoints<const L: usize, const S: bool>(&mut self, step: &Step, blocks: Range<usize>) {
        match step {
            Step::Gather { from, out } => self.scatter::<L, S>(from, *out, blocks),
            Step::RowDot { rows, inner, operand, out, .. } => {
                self.row_dot_reverse::<L, S>((rows, *inner), *operand, *out, blocks);
            }
            Step::PairDot { lists, out } => self.pair_dot_reverse::<L, S>(lists, *out, blocks),
            _ => {}
        }
    }

    /// Whether the way back is gone, too.
    #[inline(always)]
    fn is_reversed(&self) -> bool {
        self.call.gradient && (!self.call.stores() || self.call.backward)
    }

    /// How many numbers of a register are computed at the moment.
    #[inline(always)]
    fn numbers<const L: usize, const S: bool>(&self) -> usize {
        if S { self.span.rows * L } else { self.span.iterations() * L }
    }

    /// How many numbers of a register are ever in use.
    #[inline(always)]
    fn used<const L: usize, const S: bool>(&self) -> usize {
        let iterations = self.strip.iterations;
        TILE.min(if S { iterations.next_multiple_of(L) } else { iterations * L })
    }

    /// Where the numbers of our lanes begin, for an element of a block.
    #[inline(always)]
    fn place(&self, block: Block, element: usize) -> usize {
        place(self.call, self.lane, block, element)
    }

    /// The same number, for each lane, in all iterations.
    #[inline(always)]
    fn spread<const L: usize, const S: bool>(values: &[f64], block: Block, from: usize, to: &mut [f64]) {
        if block.lanes() && !S {
            let (numbers, mut at) = (load::<L>(values, from), 0);
            while at + L <= to.len() {
                store(to, at, numbers);
                at += L;
            }
        } else {
            fill(to, values[from]);
        }
    }

    /// Whether operands are used as copies without the other lanes.
    #[inline(always)]
    fn is_packed(&self) -> bool {
        self.room.is_packed
    }

    /// Where the elements of an operand begin, and how far apart they are.
    #[inline(always)]
    fn source(&self, operand: usize) -> (usize, usize) {
        if self.is_packed() {
            (self.room.packed_at[operand], GROUP)
        } else {
            (self.call.operands[operand].start() + self.lane, self.call.lanes)
        }
    }

    /// The same for adjoints.
    #[inline(always)]
    fn target(&self, operand: usize) -> (usize, usize) {
        let (origin, step) = self.source(operand);
        (if self.is_packed() { origin } else { origin - self.base }, step)
    }

    #[inline(always)]
    fn forward<const L: usize, const S: bool>(&mut self) {
        let (n, m, start) = (self.numbers::<L, S>(), self.span.iterations(), self.span.start);
        for step in &self.strip.steps {
            match step {
                Step::Column { numbers, out } => {
                    let out = at_mut(&mut self.room.registers, *out, n);
                    if S {
                        repeat_last(out, &numbers[start..start + m]);
                    } else {
                        column::<L>(&numbers[start..start + m], out);
                    }
                }
                Step::Gather { from, out } => self.gather::<L, S>(from, *out),
                Step::Arithmetic { operator, a, b, out } => {
                    let (low, out) = below(&mut self.room.registers, *out, n);
                    steps::arithmetic(*operator, at(low, a.register, n), at(low, b.register, n), out);
                }
                Step::Affine(affine) => self.affine(affine, n),
                Step::SquaredDistance { pairs, out } => self.squared_distance(pairs, *out, n),
                Step::Unary { function, x, out } => {
                    let (low, out) = below(&mut self.room.registers, *out, n);
                    (function.value)(at(low, x.register, n), out);
                }
                Step::RowDot { rows, inner, operand, plus, out } => {
                    self.row_dot::<L, S>((rows, *inner), *operand, (plus.register, *out));
                }
                Step::PairDot { lists, out } => self.pair_dot::<L, S>(lists, *out),
                Step::LogSumExp { xs, weights, out } => {
                    steps::log_sum_exp(&mut self.room.registers, xs, *weights, *out, n);
                }
                Step::Density { density, partials, out } => {
                    self.density::<L, S>(density, *partials, *out, n);
                }
                Step::Add { x, factor } => {
                    let p = part(*factor);
                    let (totals, seeds) = (&mut self.room.totals[p].0, &self.room.seeds[p].0);
                    steps::pull(Into::Add, &mut totals[..n], at(&self.room.registers, x.register, n), 1.0);
                    if self.call.gradient {
                        steps::pull(x.into, at_mut(&mut self.room.adjoints, x.register, n), seeds, 1.0);
                    }
                }
                Step::AddDensity { density, factor } => self.add_density::<L, S>(density, part(*factor), n),
                Step::AddNormal(normal) => self.add_normal::<L, S>(normal, n),
                Step::AddNormalProducts { .. } => {}
                Step::AddLogOdds(odds) => self.add_log_odds::<L, S>(odds, n),
                Step::Store { x, operand, elements } => {
                    if !self.call.backward {
                        self.store::<L, S>(x.register, *operand, elements);
                    }
                }
            }
        }
    }

    fn terms(&self, propto: bool, varying: u32) -> Terms {
        if propto && self.call.propto { Terms::varying(varying) } else { Terms::ALL }
    }

    /// A log density and its derivatives, in the room for them. Numbers of a register that are the same in all
    /// iterations repeat themselves after `period`; if only sums over blocks matter, `summed` says how many of them
    /// stand beside each other.
    #[inline(never)]
    fn evaluate(&mut self, density: &Density, (period, summed): (usize, Option<usize>), n: usize) {
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
    fn density<const L: usize, const S: bool>(
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
    fn add_density<const L: usize, const S: bool>(&mut self, density: &Density, p: usize, n: usize) {
        let summed = if self.span.is_summed() { Some(L) } else { None };
        self.evaluate(density, (if S { 1 } else { L }, summed), n);
        let Room { registers, adjoints, totals, seeds, value, partials, .. } = &mut *self.room;
        if let Function::LogOdds(_) = density.function {
            // Beyond, a probability that is not given by its log odds has fewer digits: the machine computes that.
            for (value, x) in value.0[..n].iter_mut().zip(at(registers, density.arguments[1].register, n)) {
                *value = if x.abs() < MOST_LOG_ODDS { *value } else { f64::NAN };
            }
        }
        steps::pull(Into::Add, &mut totals[p].0[..n], &value.0, 1.0);
        if self.call.gradient {
            for (argument, partial) in density.arguments.iter().zip(&*partials) {
                steps::pull_times(argument.into, at_mut(adjoints, argument.register, n), &seeds[p].0, partial);
            }
        }
    }

    #[inline(always)]
    fn add_normal<const L: usize, const S: bool>(&mut self, normal: &Normal, n: usize) {
        let Span { start, rows: length, .. } = self.span;
        let own = start..start + self.span.iterations();
        let Room { registers, adjoints, value, sums, .. } = &mut *self.room;
        let (low, squares) = below(registers, normal.squares, n);
        let [mu, inverse, weight] = [normal.mu.register, normal.inverse, normal.weight].map(|x| at(low, x, n));
        let direct = normal.mu.into == Into::Set && normal.y.into == Into::Nothing;
        let slope = if direct { at_mut(adjoints, normal.mu.register, n) } else { &mut value.0[..n] };
        match &normal.column {
            Some(column) => {
                let scale = steps::Scale { inverse: load::<L>(inverse, 0), weight: load::<L>(weight, 0) };
                let sums = &mut sums[usize::from(normal.squares)];
                if S {
                    let found = steps::normal_beside::<L>(&column[own], mu, scale, slope);
                    sums[0] = found[..self.span.blocks].iter().fold(sums[0], |sum, x| sum + x);
                } else {
                    for (b, column) in column[own].chunks_exact(length).enumerate() {
                        let block = b * length * L..(b + 1) * length * L;
                        let found = steps::normal_data::<L>(column, &mu[block.clone()], scale, &mut slope[block]);
                        add_to(sums, found);
                    }
                }
            }
            None => steps::normal([at(low, normal.y.register, n), mu, inverse, weight], squares, slope),
        }
        if self.call.gradient && !direct {
            steps::pull(normal.mu.into, at_mut(adjoints, normal.mu.register, n), &value.0, 1.0);
            steps::pull(normal.y.into, at_mut(adjoints, normal.y.register, n), &value.0, -1.0);
        }
    }

    #[inline(always)]
    fn add_log_odds<const L: usize, const S: bool>(&mut self, odds: &LogOdds, n: usize) {
        let p = part(odds.factor);
        let Span { start, rows: length, .. } = self.span;
        let signs = &odds.signs[start..start + self.span.iterations()];
        let Room { registers, adjoints, totals, seeds, value, .. } = &mut *self.room;
        let most = if odds.detour { MOST_LOG_ODDS } else { f64::INFINITY };
        let direct = odds.x.into == Into::Set;
        let slope = if direct { at_mut(adjoints, odds.x.register, n) } else { &mut value.0[..n] };
        let (x, seeds) = (at(registers, odds.x.register, n), load::<L>(&seeds[p].0, 0));
        let length = if S { signs.len() } else { length };
        for (b, signs) in signs.chunks_exact(length).enumerate() {
            let block = if S { 0..n } else { b * length * L..(b + 1) * length * L };
            let (x, slope) = (&x[block.clone()], &mut slope[block.clone()]);
            steps::log_odds::<L, S>(signs, (x, most), seeds, &mut totals[p].0[block], slope);
        }
        if self.call.gradient && !direct {
            steps::pull(odds.x.into, at_mut(adjoints, odds.x.register, n), &value.0, 1.0);
        }
    }

    #[inline(always)]
    fn affine(&mut self, affine: &Affine, n: usize) {
        let Affine { x, factor, divisor, plus, out } = affine;
        let (low, out) = below(&mut self.room.registers, *out, n);
        let (x, plus) = (at(low, x.register, n), plus.map(|plus| at(low, plus.register, n)));
        match divisor {
            None => steps::affine(*factor, x, plus, out),
            Some(divisor) => steps::affine_over(*factor, at(low, divisor.inverse, n), x, plus, out),
        }
    }

    #[inline(always)]
    fn affine_reverse(&mut self, affine: &Affine, n: usize) {
        let Affine { x, factor, divisor, plus, out } = affine;
        let Room { registers, adjoints, .. } = &mut *self.room;
        let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
        if let Some(plus) = plus {
            steps::pull(plus.into, at_mut(low, plus.register, n), adjoint, 1.0);
        }
        match divisor {
            None => steps::pull(x.into, at_mut(low, x.register, n), adjoint, *factor),
            Some(Divisor { by, inverse }) => {
                let (values, inverse) = (at(registers, x.register, n), at(registers, *inverse, n));
                steps::pull_divisor(by.into, at_mut(low, by.register, n), adjoint, (*factor, values), inverse);
                steps::pull_affine(x.into, at_mut(low, x.register, n), adjoint, *factor, inverse);
            }
        }
    }

    #[inline(always)]
    fn squared_distance(&mut self, pairs: &[[Argument; 2]], out: Register, n: usize) {
        let (low, out) = below(&mut self.room.registers, out, n);
        let rest = match pairs {
            [[a, b], [c, d], rest @ ..] => {
                let rows =
                    [at(low, a.register, n), at(low, b.register, n), at(low, c.register, n), at(low, d.register, n)];
                steps::square_differences(rows, out);
                rest
            }
            [[a, b], rest @ ..] => {
                steps::square_difference(true, at(low, a.register, n), at(low, b.register, n), out);
                rest
            }
            [] => return fill(out, 0.0),
        };
        for [a, b] in rest {
            steps::square_difference(false, at(low, a.register, n), at(low, b.register, n), out);
        }
    }

    #[inline(always)]
    fn squared_distance_reverse(&mut self, pairs: &[[Argument; 2]], out: Register, n: usize) {
        let Room { registers, adjoints, .. } = &mut *self.room;
        let (low, adjoint) = adjoint_and_below(adjoints, out, n);
        for [a, b] in pairs {
            let (x, y) = (at(registers, a.register, n), at(registers, b.register, n));
            steps::pull_difference(a.into, at_mut(low, a.register, n), adjoint, x, y);
            steps::pull_difference(b.into, at_mut(low, b.register, n), adjoint, y, x);
        }
    }

    #[inline(always)]
    fn reverse<const L: usize, const S: bool>(&mut self) {
        let n = self.numbers::<L, S>();
        for step in self.strip.steps.iter().rev() {
            if self.room.at_once {
                self.operand_adjoints::<L, S>(step, 0..self.span.blocks);
            }
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
                    let Room { registers, adjoints, .. } = &mut *self.room;
                    let (values_a, values_b) = (at(registers, a.register, n), at(registers, b.register, n));
                    let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
                    match operator {
                        Arithmetic::Add | Arithmetic::Subtract => {
                            let sign = if *operator == Arithmetic::Add { 1.0 } else { -1.0 };
                            steps::pull(a.into, at_mut(low, a.register, n), adjoint, 1.0);
                            steps::pull(b.into, at_mut(low, b.register, n), adjoint, sign);
                        }
                        Arithmetic::Multiply => {
                            steps::pull_times(a.into, at_mut(low, a.register, n), adjoint, values_b);
                            steps::pull_times(b.into, at_mut(low, b.register, n), adjoint, values_a);
                        }
                        Arithmetic::Divide => {
                            steps::pull_over(a.into, at_mut(low, a.register, n), adjoint, values_b);
                            let y = at(registers, *out, n);
                            steps::pull_denominator(b.into, at_mut(low, b.register, n), adjoint, y, values_b);
                        }
                    }
                }
                Step::Affine(affine) => self.affine_reverse(affine, n),
                Step::SquaredDistance { pairs, out } => self.squared_distance_reverse(pairs, *out, n),
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
                    let (low, adjoint) = adjoint_and_below(&mut self.room.adjoints, *out, n);
                    steps::pull(plus.into, at_mut(low, plus.register, n), adjoint, 1.0);
                }
                Step::LogSumExp { xs, weights: partials, out } => {
                    let Room { registers, adjoints, .. } = &mut *self.room;
                    let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
                    for (x, partial) in xs.iter().zip(*partials..) {
                        let partial = at(registers, partial, n);
                        steps::pull_times(x.into, at_mut(low, x.register, n), adjoint, partial);
                    }
                }
                Step::Density { density, partials, out } => {
                    let Room { registers, adjoints, .. } = &mut *self.room;
                    let (low, adjoint) = adjoint_and_below(adjoints, *out, n);
                    for (x, partial) in density.arguments.iter().zip(*partials..) {
                        let partial = at(registers, partial, n);
                        steps::pull_times(x.into, at_mut(low, x.register, n), adjoint, partial);
                    }
                }
                Step::Store { x, operand, elements } => {
                    self.unstore::<L, S>(*x, *operand, elements);
                }
            }
        }
    }
}
