//! Functions whose values only the log density needs: their adjoint is known, so that they run forward and backward at
//! once, chunk by chunk, and neither values nor derivatives go to memory.

mod normal;

use super::forward::evaluate;
use super::reverse::seed;
use super::run::{Room, Whole, chunks, each_lane, part};
use super::schedule::{Ending, List, Operand};
use super::stage::{Row, pattern, stage};
use crate::flat::rows::{load, store};
use crate::kernels::fma;
use crate::machine::{CHUNK as MOST_ITEMS, MOST, Summed};

/// The values of a list, and their adjoints.
struct Numbers<'a> {
    values: &'a [f64],
    adjoints: &'a mut [f64],
}

impl Whole<'_> {
    /// What endings add to the parts of the log density. Adds to adjoints where these are wanted.
    #[inline(always)]
    pub fn endings<const L: usize>(&mut self, backward: bool) -> [[f64; L]; 2] {
        let (list, mut sums) = (self.call.list, [[0.0; L]; 2]);
        let Room { values, adjoints, rows, partials, .. } = &mut *self.room;
        let Some(partials) = partials.as_deref_mut() else { return sums };
        let values = &values[self.at..][..list.all_slots * L];
        for ending in &list.endings {
            let p = part(ending.factor);
            let totals = self.call.totals.filter(|_| backward);
            let seed = totals.map(|totals| seed::<L>(self.arena, totals.part(p).1, self.lane));
            let numbers = Numbers { values, adjoints: &mut *adjoints };
            let sum = if ending.normal {
                normal::end::<L>(list, ending, numbers, seed, rows, partials)
            } else {
                let (sum, refused) = end::<L>(list, ending, numbers, seed, rows, partials);
                self.refused |= refused;
                sum
            };
            sums[p] = each_lane!(l, sums[p][l] + sum[l]);
        }
        sums
    }
}

/// Whether all items of a lane have the same number.
#[inline(always)]
fn fixed(operand: Operand) -> bool {
    matches!(operand, Operand::Same(_) | Operand::Uniform(_))
}

/// [`stage`] for one chunk after the other: what is the same for all items is there after the first.
#[inline(always)]
fn restage<'a, const L: usize>(
    list: &'a List,
    values: &'a [f64],
    operand: Operand,
    chunk: (usize, usize),
    row: &'a mut Row,
) -> &'a [f64] {
    if fixed(operand) && chunk.0 > 0 { &row.0[..chunk.1 * L] } else { stage::<L>(list, values, operand, chunk, row) }
}

/// The sum of the values of an ending, and whether a kernel refused some of its items.
#[inline(always)]
fn end<const L: usize>(
    list: &List,
    ending: &Ending,
    Numbers { values, adjoints }: Numbers,
    seed: Option<[f64; L]>,
    rows: &mut [Row],
    partials: &mut [[f64; MOST_ITEMS]; MOST],
) -> ([f64; L], bool) {
    let from = &list.operands[ending.operands.0 as usize..][..ending.operands.1 as usize];
    let Some((value, staged)) = rows.split_last_mut() else { return ([0.0; L], false) };
    let (mut sum, mut shared, mut refused) = ([0.0; L], [[0.0; L]; MOST], false);
    for chunk in chunks(ending.items as usize, MOST_ITEMS / L) {
        let mut arguments: [&[f64]; MOST] = [&[]; MOST];
        let (mut wanted, mut same, mut patterns) = (0, 0, [None; MOST]);
        for (k, (operand, row)) in from.iter().zip(&mut *staged).enumerate() {
            arguments[k] = restage::<L>(list, values, *operand, chunk, row);
            patterns[k] = pattern::<L>(*operand);
            let constant = matches!(operand, Operand::Column(_) | Operand::Uniform(_));
            wanted |= u32::from(seed.is_some() && !constant) << k;
            same |= u32::from(fixed(*operand)) << k;
        }
        let value = &mut value.0[..chunk.1 * L];
        let summed = Some(Summed { lanes: L, fixed: same });
        let function = &list.functions[ending.function as usize];
        refused |= evaluate(function, arguments, (wanted, summed, patterns), value, partials);
        sum = add_items::<L>(sum, value, chunk.1);
        let Some(seed) = seed else { continue };
        for (k, &operand) in from.iter().enumerate() {
            pull::<L>(list, adjoints, operand, chunk, (seed, &partials[k]), &mut shared[k]);
        }
    }
    for (&operand, shared) in from.iter().zip(shared) {
        if let (Operand::Same(slot), Some(seed)) = (operand, seed) {
            add(adjoints, slot, seed, shared);
        }
    }
    (sum, refused)
}

/// Adds the derivatives of items, times the seed, to the adjoints of an operand. Those of one that all items share are
/// added up first.
#[inline(always)]
fn pull<const L: usize>(
    list: &List,
    adjoints: &mut [f64],
    operand: Operand,
    (start, m): (usize, usize),
    (seed, partials): ([f64; L], &[f64]),
    shared: &mut [f64; L],
) {
    match operand {
        Operand::Column(_) | Operand::Uniform(_) => {}
        Operand::Same(_) => *shared = add_items::<L>(*shared, &partials[..m * L], m),
        Operand::Run(slot) => {
            let to = &mut adjoints[(slot as usize + start) * L..][..m * L];
            for i in 0..m {
                let (sum, d) = (load::<L>(to, i * L), load::<L>(partials, i * L));
                store(to, i * L, each_lane!(l, fma(seed[l], d[l], sum[l])));
            }
        }
        Operand::Table(at) => {
            for (i, &slot) in list.tables[at as usize + start..][..m].iter().enumerate() {
                add(adjoints, slot, seed, load::<L>(partials, i * L));
            }
        }
    }
}

#[inline(always)]
fn add<const L: usize>(adjoints: &mut [f64], slot: u32, seed: [f64; L], d: [f64; L]) {
    let sum = load::<L>(adjoints, slot as usize * L);
    store(adjoints, slot as usize * L, each_lane!(l, fma(seed[l], d[l], sum[l])));
}

/// Items that are added up before they are added to the sum. Chunks have a multiple of them whatever the number of
/// lanes is, and so the order of additions does not depend on it.
const BLOCK: usize = 8;

/// The sum of a number and of items, for each lane.
#[inline(always)]
fn add_items<const L: usize>(mut sum: [f64; L], rows: &[f64], m: usize) -> [f64; L] {
    let whole = m - m % BLOCK;
    for i in (0..whole).step_by(BLOCK) {
        let rows = &rows[i * L..][..BLOCK * L];
        for l in 0..L {
            let lower = (rows[l] + rows[4 * L + l]) + (rows[L + l] + rows[5 * L + l]);
            let upper = (rows[2 * L + l] + rows[6 * L + l]) + (rows[3 * L + l] + rows[7 * L + l]);
            sum[l] += lower + upper;
        }
    }
    for i in whole..m {
        let row = load::<L>(rows, i * L);
        sum = each_lane!(l, sum[l] + row[l]);
    }
    sum
}
