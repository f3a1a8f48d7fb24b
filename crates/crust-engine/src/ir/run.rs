//! Runs a list forward: instruction by instruction, each for all its items and eight lanes or more (or the only one).

use crust_math::lanes::scalar::{exp, inv_logit, log, log1p, log1p_exp_with_slope, sqrt};
use crust_math::lanes::{Kernel, dispatch};

use super::calls::forward_call;
use super::forward::{forward_batch, reduce};
use super::schedule::{Batch, Inputs, Instruction, List, Operand, Place, Single, Step, Terms};
use super::stage::{CHUNK, Row, WIDEST, fetch, item_sum, stage};
use crate::code::Factor;
use crate::flat::GROUP;
use crate::flat::rows::{column, copy, fill, load, store};
use crate::kernels::fma;
use crate::machine::{CHUNK as MOST_ITEMS, MOST, Totals};
use crate::memory::{Aligned, Block};

/// A row whose lanes are the value of an expression. No closure: only what is inlined is compiled for the instruction
/// set of its caller.
macro_rules! each_lane {
    ($l:ident, $x:expr) => {{
        let mut row = [0.0; L];
        for $l in 0..L {
            row[$l] = $x;
        }
        row
    }};
}
pub(super) use each_lane;

/// What of a list is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Forward and, where there is a gradient, backward: nobody needs its results but the log density.
    Both,
    /// Forward; everything is kept for the way back.
    Forward,
    Backward,
}

/// A list to be run, and what it works on.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub list: &'a List,
    /// The values that inputs are elements of.
    pub operands: &'a [Block],
    /// Where outputs go: for each of them a block and an element.
    pub outputs: &'a [(Block, u32)],
    /// All lanes: 1, or a multiple of [`GROUP`].
    pub lanes: usize,
    /// Where the parts of the log density are, and their adjoints. Not copied: that would wait for what was just written.
    pub totals: Option<&'a Totals>,
    pub gradient: bool,
    pub pass: Pass,
}

/// Rows that instructions work with.
const ROWS: usize = 7;

/// Memory for lists; used again and again.
#[derive(Debug, Default)]
pub struct Room {
    pub(super) values: Aligned,
    pub(super) adjoints: Aligned,
    pub(super) rows: Vec<Row>,
    pub(super) partials: Option<Box<[[f64; MOST_ITEMS]; MOST]>>,
    pub(super) scratch: Aligned,
    /// How many lanes and groups the constants in `values` are for.
    filled: (usize, usize),
    /// Whether a kernel refused items of the last run.
    pub refused: bool,
}

impl Room {
    /// How many numbers there is room for.
    pub fn len(&self) -> usize {
        self.values.len() + self.adjoints.len() + self.scratch.len()
    }

    fn prepare(&mut self, list: &List, width: usize, groups: usize) {
        // Asked first: rows are long, and one to fill others with would be made for every evaluation.
        if self.rows.is_empty() {
            self.rows.resize(ROWS, Row::ZERO);
        }
        self.partials.get_or_insert_with(|| Box::new([[0.0; MOST_ITEMS]; MOST]));
        if self.filled == (width, groups) {
            return;
        }
        let each = list.all_slots * width;
        self.values.resize(0);
        self.values.resize(each * groups);
        self.adjoints.resize(0);
        self.adjoints.resize(list.slots * width);
        for group in 0..groups {
            let slots = &mut self.values[group * each + list.inputs.len() * width..];
            for (row, &x) in slots.chunks_exact_mut(width).zip(&list.constants) {
                row.fill(x);
            }
        }
        self.filled = (width, groups);
    }
}

/// Runs a list. Says `false` in `fine` for lanes in which it does not hold, or something is not finite.
pub fn run(call: Call, values: &mut [f64], adjoints: (&mut [f64], usize), room: &mut Room, fine: &mut Vec<bool>) {
    let width = if call.lanes == 1 { 1 } else { call.list.width(call.lanes) };
    let groups = call.lanes / width;
    room.prepare(call.list, width, if call.pass == Pass::Both { 1 } else { groups });
    fine.clear();
    fine.resize(call.lanes, true);
    let (adjoints, base) = adjoints;
    room.refused = false;
    for group in 0..groups {
        let lane = group * width;
        let at = if call.pass == Pass::Both { 0 } else { group * call.list.all_slots * width };
        let fine = &mut fine[lane..lane + width];
        let outside = [false; WIDEST];
        let mut whole =
            Whole { call: &call, arena: values, adjoints, base, lane, room, at, fine, outside, refused: false };
        match width {
            1 => dispatch(Lanes::<1>(&mut whole)),
            16 => dispatch(Lanes::<16>(&mut whole)),
            WIDEST => dispatch(Lanes::<WIDEST>(&mut whole)),
            _ => dispatch(Lanes::<GROUP>(&mut whole)),
        }
    }
}

/// A list for some lanes.
pub(super) struct Whole<'a> {
    pub call: &'a Call<'a>,
    pub arena: &'a mut [f64],
    pub adjoints: &'a mut [f64],
    pub base: usize,
    pub lane: usize,
    pub room: &'a mut Room,
    /// Where the values of these lanes begin.
    pub at: usize,
    pub fine: &'a mut [bool],
    /// Lanes whose density is 0: nothing else has to be said of them, and nobody needs their derivatives.
    pub outside: [bool; WIDEST],
    /// Whether a kernel refused items of a lane. Lanes that fail are then run apart from the others: the last digits of
    /// these might depend on it.
    pub refused: bool,
}

/// So many lanes.
struct Lanes<'a, 'w, const L: usize>(&'w mut Whole<'a>);

impl<const L: usize> Kernel for Lanes<'_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.all::<L>();
    }
}

/// Values that fit in a second-level cache, with their adjoints.
const CACHED: usize = 3 << 14;

/// How much a number costs in a function of containers.
const CALL: usize = 5;

/// With fewer numbers in an instruction, on average, it pays to have several lanes in it even if most are of no use.
const THIN: usize = 2;

/// With fewer items in an instruction, on average, it pays to have more lanes in it.
const FEW_ITEMS: usize = 8;

impl List {
    /// How many numbers of a lane are kept for the way back.
    pub fn kept(&self) -> usize {
        self.all_slots
    }

    /// About how many numbers are computed for a lane. Functions of containers look at all their numbers several times.
    pub fn work(&self) -> usize {
        let calls = self.instructions.iter().map(|instruction| match instruction {
            Instruction::Call { count, .. } => CALL * *count as usize,
            _ => 0,
        });
        self.operations + calls.sum::<usize>()
    }

    /// Whether instructions have so few items that a group of lanes takes little longer than one.
    pub fn is_thin(&self) -> bool {
        let instructions = self.instructions.len() + self.singles.len() + self.endings.len();
        self.work() < THIN * instructions
    }

    /// How many lanes instructions work on at once. What a lane gets does not depend on it: this only makes up for
    /// instructions that have few items, or wait for each other.
    fn width(&self, lanes: usize) -> usize {
        let instructions = self.instructions.len() + self.singles.len() + self.endings.len();
        if self.operations > FEW_ITEMS * instructions {
            return GROUP;
        }
        let fits = |width: &usize| lanes.is_multiple_of(*width) && self.all_slots * width <= CACHED;
        [WIDEST, 16].into_iter().find(fits).unwrap_or(GROUP)
    }
}

/// So many terms are added up one after the other.
pub(super) const FEW_TERMS: u32 = 8;

/// The weight of a term.
#[inline(always)]
pub(super) fn weight(list: &List, terms: &Terms, item: usize) -> f64 {
    terms.weights.map_or(1.0, |at| list.columns[at as usize + item])
}

pub(super) fn part(factor: Factor) -> usize {
    usize::from(factor != Factor::Prior)
}

/// The operands of a batch.
#[inline(always)]
pub(super) fn operands<'a>(list: &'a List, batch: &Batch) -> &'a [Operand] {
    &list.operands[batch.operands.0 as usize..][..batch.operands.1 as usize]
}

/// The chunks of a number of items: where they begin and how many there are.
#[inline(always)]
pub(super) fn chunks(items: usize, most: usize) -> Chunks {
    Chunks { start: 0, items, most }
}

/// The iterators of the standard library count them first, which takes longer than the few items of small programs.
pub(super) struct Chunks {
    start: usize,
    items: usize,
    most: usize,
}

impl Iterator for Chunks {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        let start = self.start;
        if start >= self.items {
            return None;
        }
        self.start += self.most;
        Some((start, self.most.min(self.items - start)))
    }
}

impl Whole<'_> {
    #[inline(always)]
    fn all<const L: usize>(&mut self) {
        let forward = self.call.pass != Pass::Backward;
        let backward = self.call.gradient && self.call.pass != Pass::Forward;
        if forward {
            self.load_inputs::<L>();
            self.forward::<L>();
        }
        if backward {
            for &(slot, count) in &self.call.list.zeroed {
                fill(&mut self.room.adjoints[slot as usize * L..][..count as usize * L], 0.0);
            }
        }
        let ended = self.endings::<L>(backward);
        if forward {
            self.finish::<L>(ended);
        }
        if backward {
            self.reverse::<L>();
        }
        self.room.refused |= self.refused;
    }

    /// Where our lanes of an element begin.
    #[inline(always)]
    pub fn place(&self, block: Block, element: u32) -> usize {
        if block.lanes() {
            block.start() + element as usize * self.call.lanes + self.lane
        } else {
            block.start() + element as usize
        }
    }

    #[inline(always)]
    fn load_inputs<const L: usize>(&mut self) {
        for &Inputs { slot, operand, element, count } in &self.call.list.input_runs {
            let (block, count) = (self.call.operands[operand as usize], count as usize);
            let from = self.place(block, element);
            let to = &mut self.room.values[self.at + slot as usize * L..][..count * L];
            if !block.lanes() {
                column::<L>(&self.arena[from..from + count], to);
            } else if self.call.lanes == L {
                copy(&self.arena[from..], to);
            } else {
                for i in 0..count {
                    store(to, i * L, load::<L>(self.arena, from + i * self.call.lanes));
                }
            }
        }
    }

    #[inline(always)]
    fn forward<const L: usize>(&mut self) {
        let list = self.call.list;
        let Room { values, rows, partials, scratch, .. } = &mut *self.room;
        let values = &mut values[self.at..][..list.all_slots * L];
        for instruction in &list.instructions {
            match instruction {
                Instruction::Singles { first, count } => {
                    for &Step { op, arguments, out } in list.singles(*first, *count) {
                        single::<L>(op, arguments, out, values);
                    }
                }
                Instruction::Batch(batch) => {
                    self.refused |= forward_batch::<L>(list, batch, values, rows, partials.as_deref_mut());
                }
                Instruction::Reduce { a, b, count, out } => reduce::<L>(list, (*a, *b), *count, *out, values, rows),
                Instruction::Call { call, out, extra, table, count } => {
                    let slots = &list.tables[*table as usize..][..*count as usize];
                    forward_call::<L>(&list.calls[*call as usize], slots, (*out, *extra), values, scratch);
                }
            }
        }
    }

    /// Adds up the log density, to what endings have added to it, hands out outputs, and says which lanes are fine.
    #[inline(always)]
    fn finish<const L: usize>(&mut self, ended: [[f64; L]; 2]) {
        let list = self.call.list;
        let mut fine = [true; L];
        let mut sums = ended;
        for (sum, constant) in sums.iter_mut().zip(list.constant_terms) {
            *sum = each_lane!(l, sum[l] + constant);
        }
        let Room { values, rows, .. } = &mut *self.room;
        let values = &values[self.at..][..list.all_slots * L];
        for terms in &list.terms {
            let sum = &mut sums[part(terms.factor)];
            if terms.count <= FEW_TERMS {
                for item in 0..terms.count as usize {
                    let (row, weight) = (fetch::<L>(list, values, terms.from, item), weight(list, terms, item));
                    *sum = each_lane!(l, fma(weight, row[l], sum[l]));
                }
                continue;
            }
            for chunk in chunks(terms.count as usize, CHUNK) {
                let [r0, r1, ..] = &mut rows[..] else { continue };
                let mut row = stage::<L>(list, values, terms.from, chunk, r0);
                if terms.weights.is_some() {
                    let weighted = &mut r1.0[..chunk.1 * L];
                    for i in 0..chunk.1 {
                        let (x, by) = (load::<L>(row, i * L), weight(list, terms, chunk.0 + i));
                        store(weighted, i * L, each_lane!(l, by * x[l]));
                    }
                    row = weighted;
                }
                let more = item_sum::<L>(row, chunk.1);
                *sum = each_lane!(l, sum[l] + more[l]);
            }
        }
        for l in 0..L {
            // Mistakes are no numbers.
            let allowed = sums[0][l] < f64::INFINITY && sums[1][l] < f64::INFINITY;
            let finite = allowed && sums[0][l] + sums[1][l] > f64::NEG_INFINITY;
            fine[l] &= finite || (allowed && !self.refused);
            self.outside[l] = allowed && !finite;
        }
        for &guard in &list.guards {
            let row = load::<L>(values, guard as usize * L);
            for l in 0..L {
                fine[l] &= row[l] != 0.0;
            }
        }
        for (place, (block, element)) in list.outputs.iter().zip(self.call.outputs) {
            if let Place::Slot(slot) = place {
                let row = load::<L>(values, *slot as usize * L);
                for l in 0..L {
                    fine[l] &= !row[l].is_nan();
                }
                let to = block.start() + *element as usize * self.call.lanes + self.lane;
                store(self.arena, to, row);
            }
        }
        if let Some(totals) = self.call.totals {
            for (part, sum) in sums.into_iter().enumerate() {
                let (total, _) = totals.part(part);
                for l in 0..L {
                    self.arena[total.start() + self.lane + l] += sum[l];
                }
            }
        }
        self.fine.copy_from_slice(&fine);
    }
}

#[inline(always)]
fn single<const L: usize>(op: Single, slots: [u32; 3], out: u32, values: &mut [f64]) {
    let a = load::<L>(values, slots[0] as usize * L);
    let b = load::<L>(values, slots[1] as usize * L);
    let y = match op {
        Single::Add => each_lane!(l, a[l] + b[l]),
        Single::Subtract => each_lane!(l, a[l] - b[l]),
        Single::Multiply => each_lane!(l, a[l] * b[l]),
        Single::Divide => each_lane!(l, a[l] / b[l]),
        Single::Negate => each_lane!(l, -a[l]),
        Single::MultiplyAdd => {
            let c = load::<L>(values, slots[2] as usize * L);
            each_lane!(l, fma(a[l], b[l], c[l]))
        }
        Single::MultiplySubtract => {
            let c = load::<L>(values, slots[2] as usize * L);
            each_lane!(l, fma(-a[l], b[l], c[l]))
        }
        Single::Exp => each_lane!(l, exp(a[l])),
        Single::Log => each_lane!(l, log(a[l])),
        Single::Sqrt => each_lane!(l, sqrt(a[l])),
        Single::Square => each_lane!(l, a[l] * a[l]),
        Single::InvLogit => each_lane!(l, inv_logit(a[l])),
        Single::Log1pExp => {
            let (mut row, mut slopes) = ([0.0; L], [0.0; L]);
            for l in 0..L {
                (row[l], slopes[l]) = log1p_exp_with_slope(a[l]);
            }
            store(values, slots[2] as usize * L, slopes);
            row
        }
        Single::Log1p => each_lane!(l, log1p(a[l])),
    };
    store(values, out as usize * L, y);
}
