//! Runs flat loops: strip by strip, eight lanes (or the only one) at a time, tile by tile.

#![allow(unsafe_code, reason = "positions are checked once for each run, not for each element")]

mod ends;
mod products;
mod room;

pub use products::MOST_KEPT;
pub use room::Room;
use room::{Repeats, make_room};

use crust_math::density::Terms;
use crust_math::functions::elementwise::Binary;
use crust_math::lanes::{Kernel, dispatch};

use super::rows::{column, fill, load, load_unchecked, store, store_unchecked, sum};
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
    for strip in &call.flat.strips {
        check_positions(call, strip);
        make_room(call, strip, room);
        let step = if call.lanes == 1 { 1 } else { GROUP };
        for lane in (0..call.lanes).step_by(step) {
            let group = Group { call, strip, values, adjoints, base, lane, room, fine: [true; GROUP] };
            let found = if call.lanes == 1 { dispatch(One(group)) } else { dispatch(Eight(group)) };
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
    /// For each lane.
    fine: [bool; GROUP],
}

struct One<'a>(Group<'a>);
struct Eight<'a>(Group<'a>);

impl Kernel for One<'_> {
    type Output = [bool; GROUP];

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.0.all::<1>()
    }
}

impl Kernel for Eight<'_> {
    type Output = [bool; GROUP];

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.0.all::<GROUP>()
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
    fn all<const L: usize>(mut self) -> [bool; GROUP] {
        self.begin::<L>();
        // Elements of a recurrence are assigned once, and never looked at before: on the way back each iteration finds
        // what it saw on the way there.
        let per_tile = if self.strip.recurrent { 1 } else { TILE / L };
        let backwards = self.strip.recurrent && self.call.backward;
        let tiles = self.strip.iterations.div_ceil(per_tile);
        for tile in 0..tiles {
            let start = per_tile * if backwards { tiles - 1 - tile } else { tile };
            let m = per_tile.min(self.strip.iterations - start);
            self.forward::<L>(start, m);
            if self.call.gradient && (!self.call.stores() || self.call.backward) {
                self.reverse::<L>(start, m);
            }
        }
        self.end::<L>();
        self.fine
    }

    /// How much of a register is in use.
    #[inline(always)]
    fn used<const L: usize>(&self) -> usize {
        TILE.min(self.strip.iterations * L)
    }

    /// Where the numbers of our lanes begin, for an element of a block.
    #[inline(always)]
    fn place(&self, block: Block, element: usize) -> usize {
        place(self.call, self.lane, block, element)
    }

    /// The same number, for each lane, in all iterations.
    #[inline(always)]
    fn spread<const L: usize>(values: &[f64], block: Block, from: usize, to: &mut [f64]) {
        if block.lanes() {
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
    fn forward<const L: usize>(&mut self, start: usize, m: usize) {
        let n = m * L;
        for step in &self.strip.steps {
            match step {
                Step::Column { numbers, out } => {
                    let out = at_mut(&mut self.room.registers, *out, n);
                    column::<L>(&numbers[start..start + m], out);
                }
                Step::Gather { from, out } => self.gather::<L>(from, *out, start, m),
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
                    self.row_dot::<L>((rows, *inner), *operand, (plus.register, *out), start, m);
                }
                Step::PairDot { lists, out } => self.pair_dot::<L>(lists, *out, start, m),
                Step::LogSumExp { xs, weights, out } => {
                    steps::log_sum_exp(&mut self.room.registers, xs, *weights, *out, n);
                }
                Step::Density { density, partials, out } => {
                    self.density::<L>(density, *partials, *out, n);
                }
                Step::Add { x, factor } => {
                    let p = part(*factor);
                    let (totals, seeds) = (&mut self.room.totals[p].0, &self.room.seeds[p].0);
                    steps::pull(Into::Add, &mut totals[..n], at(&self.room.registers, x.register, n), 1.0);
                    if self.call.gradient {
                        steps::pull(x.into, at_mut(&mut self.room.adjoints, x.register, n), seeds, 1.0);
                    }
                }
                Step::AddDensity { density, factor } => self.add_density::<L>(density, part(*factor), n),
                Step::AddNormal(normal) => self.add_normal::<L>(normal, start, m),
                Step::AddNormalProducts { lists, normal } => self.add_normal_products::<L>(lists, normal, start, m),
                Step::AddLogOdds(odds) => self.add_log_odds::<L>(odds, start, m),
                Step::Store { x, operand, elements } => {
                    if !self.call.backward {
                        self.store::<L>(x.register, *operand, &elements[start..start + m], n);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn gather<const L: usize>(&mut self, from: &Positions, out: Register, start: usize, m: usize) {
        let (origin, step) = self.source(from.operand);
        let packed = self.is_packed();
        let Room { registers, packed: copies, .. } = &mut *self.room;
        let values: &[f64] = if packed { copies } else { self.values };
        let out = at_mut(registers, out, m * L);
        for (row, &e) in out.chunks_exact_mut(L).zip(&from.elements[start..start + m]) {
            // SAFETY: the element is one of the operand, which lies whole in `values`, with all its lanes
            // (`check_positions`).
            store(row, 0, unsafe { load_unchecked::<L>(values, origin + e as usize * step) });
        }
    }

    #[inline(always)]
    fn store<const L: usize>(&mut self, x: Register, operand: usize, elements: &[u32], n: usize) {
        let origin = self.place(self.call.operands[operand], 0);
        let rows = at(&self.room.registers, x, n).chunks_exact(L);
        for (row, &e) in rows.zip(elements) {
            let to = origin + e as usize * self.call.lanes;
            let row = load::<L>(row, 0);
            store(self.values, to, row);
            // The machine says what is wrong with it, if anything is.
            for l in 0..L {
                self.fine[l] &= !row[l].is_nan();
            }
        }
    }

    fn terms(&self, propto: bool, varying: u32) -> Terms {
        if propto && self.call.propto { Terms::varying(varying) } else { Terms::ALL }
    }

    /// A log density and its derivatives, in the room for them.
    #[inline(never)]
    fn evaluate(&mut self, density: &Density, (width, summed): (usize, bool), n: usize) {
        let terms = self.terms(density.propto, density.varying);
        let Room { registers, value, partials, repeats, .. } = &mut *self.room;
        let mut arguments: [&[f64]; MOST] = [&[]; MOST];
        let (mut wanted, mut fixed, mut patterns) = (0, 0, [None; MOST]);
        for (k, argument) in density.arguments.iter().enumerate() {
            arguments[k] = at(registers, argument.register, n);
            wanted |= u32::from(argument.into != Into::Nothing) << k;
            let repeats = repeats[usize::from(argument.register)];
            fixed |= u32::from(repeats == Repeats::Lanes) << k;
            patterns[k] = repeats.pattern(width);
        }
        let fast = density.function.fast();
        let arity = density.arguments.len();
        let summed = summed.then_some(Summed { lanes: width, fixed });
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
    fn density<const L: usize>(&mut self, density: &Density, partials: Register, out: Register, n: usize) {
        self.evaluate(density, (L, false), n);
        let Room { registers, value, partials: from, .. } = &mut *self.room;
        at_mut(registers, out, n).copy_from_slice(&value.0[..n]);
        for (k, to) in (0..density.arguments.len()).zip(partials..) {
            at_mut(registers, to, n).copy_from_slice(&from[k][..n]);
        }
    }

    #[inline(always)]
    fn add_density<const L: usize>(&mut self, density: &Density, p: usize, n: usize) {
        self.evaluate(density, (L, true), n);
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
    fn add_normal<const L: usize>(&mut self, normal: &Normal, start: usize, m: usize) {
        let n = m * L;
        let Room { registers, adjoints, value, .. } = &mut *self.room;
        let (low, squares) = below(registers, normal.squares, n);
        let rows = [at(low, normal.mu.register, n), at(low, normal.inverse, n), at(low, normal.weight, n)];
        let direct = normal.mu.into == Into::Set && normal.y.into == Into::Nothing;
        let slope = if direct { at_mut(adjoints, normal.mu.register, n) } else { &mut value.0[..n] };
        match &normal.column {
            Some(column) => steps::normal_data::<L>(&column[start..start + m], rows, squares, slope),
            None => steps::normal([at(low, normal.y.register, n), rows[0], rows[1], rows[2]], squares, slope),
        }
        if self.call.gradient && !direct {
            steps::pull(normal.mu.into, at_mut(adjoints, normal.mu.register, n), &value.0, 1.0);
            steps::pull(normal.y.into, at_mut(adjoints, normal.y.register, n), &value.0, -1.0);
        }
    }

    #[inline(always)]
    fn add_log_odds<const L: usize>(&mut self, odds: &LogOdds, start: usize, m: usize) {
        let (n, p) = (m * L, part(odds.factor));
        let Room { registers, adjoints, totals, seeds, value, .. } = &mut *self.room;
        let most = if odds.detour { MOST_LOG_ODDS } else { f64::INFINITY };
        let direct = odds.x.into == Into::Set;
        let slope = if direct { at_mut(adjoints, odds.x.register, n) } else { &mut value.0[..n] };
        let x = at(registers, odds.x.register, n);
        steps::log_odds::<L>(&odds.signs[start..start + m], (x, most), &seeds[p].0, &mut totals[p].0, slope);
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
    fn reverse<const L: usize>(&mut self, start: usize, m: usize) {
        let n = m * L;
        for step in self.strip.steps.iter().rev() {
            match step {
                Step::Column { .. }
                | Step::Add { .. }
                | Step::AddDensity { .. }
                | Step::AddNormal(_)
                | Step::AddNormalProducts { .. }
                | Step::AddLogOdds(_) => {}
                Step::Gather { from, out } => self.scatter::<L>(from, *out, start, m),
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
                Step::RowDot { rows, inner, operand, plus, out } => {
                    let (low, adjoint) = adjoint_and_below(&mut self.room.adjoints, *out, n);
                    steps::pull(plus.into, at_mut(low, plus.register, n), adjoint, 1.0);
                    self.row_dot_reverse::<L>((rows, *inner), *operand, *out, start, m);
                }
                Step::PairDot { lists, out } => self.pair_dot_reverse::<L>(lists, *out, start, m),
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
                    self.unstore::<L>(*x, *operand, &elements[start..start + m], n);
                }
            }
        }
    }

    #[inline(always)]
    fn scatter<const L: usize>(&mut self, from: &Positions, out: Register, start: usize, m: usize) {
        let block = self.call.operands[from.operand];
        if !block.gradient() {
            return;
        }
        let ((origin, step), packed) = (self.target(from.operand), self.is_packed());
        let Room { adjoints, packed_adjoints, .. } = &mut *self.room;
        let into: &mut [f64] = if packed { packed_adjoints } else { self.adjoints };
        let rows = at(adjoints, out, m * L).chunks_exact(L);
        for (row, &e) in rows.zip(&from.elements[start..start + m]) {
            let to = origin + e as usize * step;
            // SAFETY: as in `gather`; adjoints lie as values do.
            unsafe { store_unchecked(into, to, sum(load_unchecked::<L>(into, to), load::<L>(row, 0))) };
        }
    }

    /// Takes the adjoints of assigned elements: what was there before has none of them.
    #[inline(always)]
    fn unstore<const L: usize>(&mut self, x: Argument, operand: usize, elements: &[u32], n: usize) {
        let origin = self.place(self.call.operands[operand], 0) - self.base;
        let to = at_mut(&mut self.room.adjoints, x.register, n);
        if x.into == Into::Set {
            fill(to, 0.0);
        }
        for (row, &e) in to.chunks_exact_mut(L).zip(elements) {
            let from = origin + e as usize * self.call.lanes;
            store(row, 0, sum(load::<L>(row, 0), load::<L>(self.adjoints, from)));
            store(self.adjoints, from, [0.0; L]);
        }
    }
}
