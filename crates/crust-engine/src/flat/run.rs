//! Runs flat loops: strip by strip, eight lanes (or the only one) at a time, tile by tile.

mod densities;
mod ends;
mod gathers;
mod pairs;
mod products;
mod reverse;
mod room;
mod span;
mod take;

pub use pairs::MOST_KEPT;
pub use room::Room;
use room::make_room;
use span::Span;
use take::{Taker, add_blocks};

use crust_math::density::Terms;
use crust_math::functions::elementwise::Binary;
use crust_math::lanes::{Kernel, dispatch};

use super::rows::{column, fill, load, repeat_last, store};
use super::steps::{self, Tile, at, at_mut, below};
use super::{Affine, Argument, Flat, Function, GROUP, Positions, Register, Step, Strip, TILE};
use crate::code::Factor;
use crate::machine::{MOST, RowKernel};
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
            for i in 0..iterations {
                let start = if self.call.backward { iterations - 1 - i } else { i };
                self.tile::<L, S>(Span { start, ..Span::ONE });
            }
        } else if self.strip.is_products() && iterations > 0 {
            // They go from one iteration to the next, and need no registers.
            self.span = Span { rows: iterations, ..Span::ONE };
            self.reverse::<L, S>();
        } else {
            for span in Span::all(iterations) {
                if S {
                    self.tile::<L, S>(span);
                } else {
                    // No closure: it would not be compiled for the instruction set of its caller.
                    let mut first = 0;
                    while first < span.blocks {
                        let tile = span.tile(first);
                        self.tile::<L, S>(tile);
                        first += tile.blocks;
                    }
                }
            }
        }
        self.end::<L, S>();
        self.fine
    }

    #[inline(always)]
    fn tile<const L: usize, const S: bool>(&mut self, span: Span) {
        self.span = span;
        self.forward::<L, S>();
        self.reverse::<L, S>();
        self.fold::<L, S>();
    }

    /// Whether the way back is gone, too.
    #[inline(always)]
    fn is_reversed(&self) -> bool {
        self.call.gradient && (!self.call.stores() || self.call.backward)
    }

    /// How many numbers of a register are computed at the moment.
    #[inline(always)]
    fn numbers<const L: usize, const S: bool>(&self) -> usize {
        match (S, self.span.is_flat()) {
            (true, true) => self.span.rows.next_multiple_of(L),
            (true, false) => self.span.rows * L,
            (false, _) => self.span.iterations() * L,
        }
    }

    /// How many numbers of a register are ever in use.
    #[inline(always)]
    fn used<const L: usize, const S: bool>(&self) -> usize {
        let iterations = self.strip.iterations;
        TILE.min(if S { iterations.next_multiple_of(L) } else { iterations * L })
    }

    /// Where what a step adds to the log density is summed.
    #[inline(always)]
    fn total(&self, step: usize) -> usize {
        self.strip.registers + 2 + step
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
        for (number, step) in self.strip.steps.iter().enumerate() {
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
                    let (span, total) = (self.span, self.total(number));
                    let Room { registers, adjoints, seeds, sums, .. } = &mut *self.room;
                    add_blocks::<L, S>(span, at(registers, x.register, n), &mut sums[total]);
                    if self.call.gradient {
                        let seeds = &seeds[part(*factor)].0[..n];
                        Taker { span, sums }.pull::<L, S>(*x, adjoints, seeds, 1.0);
                    }
                }
                Step::AddDensity { density, factor } => {
                    self.add_density::<L, S>(density, (part(*factor), self.total(number)), n);
                }
                Step::AddNormal(normal) => self.add_normal::<L, S>(normal, n),
                Step::AddNormalProducts { .. } => {}
                Step::AddLogOdds(odds) => self.add_log_odds::<L, S>(odds, self.total(number), n),
                Step::Store { x, operand, elements } => {
                    if !self.call.backward {
                        self.store::<L, S>(x.register, *operand, elements);
                    }
                }
            }
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
}
