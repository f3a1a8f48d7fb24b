//! Operands of items as rows of numbers, and adjoints back to where they belong.

use crate::density::Pattern;
use crate::flat::rows::{column, fill, load, store};
use crate::kernels::row_sum;

use super::schedule::{List, Operand};

/// Items that are worked on at once. Sums are added up by chunks, so that this does not depend on the number of lanes.
pub const CHUNK: usize = 64;

/// The most lanes that an instruction works on.
pub const WIDEST: usize = 32;

/// Numbers of a chunk. A few more than there can be: rows that lie a multiple of 4 KiB apart get in each other's way.
const ROW: usize = CHUNK * WIDEST + 40;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Row(pub [f64; ROW]);

#[allow(clippy::large_stack_arrays, reason = "rows lie on the heap")]
impl Row {
    pub const ZERO: Self = Self([0.0; ROW]);
}

/// The items from `start` on, `m` of them, with all lanes.
#[inline(always)]
pub fn stage<'a, const L: usize>(
    list: &'a List,
    values: &'a [f64],
    operand: Operand,
    (start, m): (usize, usize),
    row: &'a mut Row,
) -> &'a [f64] {
    match operand {
        Operand::Run(slot) => &values[(slot as usize + start) * L..][..m * L],
        Operand::Column(at) if L == 1 => &list.columns[at as usize + start..][..m],
        Operand::Column(at) => {
            column::<L>(&list.columns[at as usize + start..][..m], &mut row.0[..m * L]);
            &row.0[..m * L]
        }
        Operand::Uniform(x) => {
            fill(&mut row.0[..m * L], x);
            &row.0[..m * L]
        }
        Operand::Same(slot) => {
            let numbers = load::<L>(values, slot as usize * L);
            for i in 0..m {
                store(&mut row.0, i * L, numbers);
            }
            &row.0[..m * L]
        }
        Operand::Table(at) => {
            let table = &list.tables[at as usize + start..][..m];
            for (i, &slot) in table.iter().enumerate() {
                store(&mut row.0, i * L, load::<L>(values, slot as usize * L));
            }
            &row.0[..m * L]
        }
    }
}

/// The lanes of one item. Where operands lie scattered this is cheaper than to put them side by side first.
#[inline(always)]
pub fn fetch<const L: usize>(list: &List, values: &[f64], operand: Operand, item: usize) -> [f64; L] {
    match operand {
        Operand::Run(slot) => load::<L>(values, (slot as usize + item) * L),
        Operand::Column(at) => [list.columns[at as usize + item]; L],
        Operand::Uniform(x) => [x; L],
        Operand::Same(slot) => load::<L>(values, slot as usize * L),
        Operand::Table(at) => load::<L>(values, list.tables[at as usize + item] as usize * L),
    }
}

/// How such a row repeats itself, if that is known: slots of a table may come again.
#[inline(always)]
pub fn pattern<const L: usize>(operand: Operand) -> Option<Pattern> {
    match operand {
        Operand::Uniform(_) => Some(Pattern::Period(1)),
        Operand::Same(_) => Some(Pattern::Period(L)),
        Operand::Column(_) if L > 1 => Some(Pattern::Runs { first: L, rest: L }),
        Operand::Run(_) => Some(Pattern::Free),
        Operand::Column(_) | Operand::Table(_) => None,
    }
}

/// The sum over items, with eight running sums.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]
pub fn item_sum<const L: usize>(rows: &[f64], m: usize) -> [f64; L] {
    if L == 1 {
        let rows = &rows[..m];
        return [row_sum(
            m,
            #[inline(always)]
            |i| rows[i],
        ); L];
    }
    item_sum_of::<L>(
        m,
        #[inline(always)]
        |i| load::<L>(rows, i * L),
    )
}

/// The same of rows that are computed.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]
pub fn item_sum_of<const L: usize>(m: usize, of: impl Fn(usize) -> [f64; L]) -> [f64; L] {
    let mut sums = [[0.0; L]; 8];
    let whole = m - m % 8;
    let mut i = 0;
    while i < whole {
        for (j, sum) in sums.iter_mut().enumerate() {
            let row = of(i + j);
            for l in 0..L {
                sum[l] += row[l];
            }
        }
        i += 8;
    }
    let mut rest = [0.0; L];
    for i in whole..m {
        let row = of(i);
        for l in 0..L {
            rest[l] += row[l];
        }
    }
    std::array::from_fn(
        #[inline(always)]
        |l| {
            ((sums[0][l] + sums[4][l]) + (sums[1][l] + sums[5][l]))
                + ((sums[2][l] + sums[6][l]) + (sums[3][l] + sums[7][l]))
                + rest[l]
        },
    )
}

#[inline(always)]
fn add_to<const L: usize>(to: &mut [f64], at: usize, row: [f64; L]) {
    let mut sum = load::<L>(to, at);
    for l in 0..L {
        sum[l] += row[l];
    }
    store(to, at, sum);
}

/// Adds adjoints of items to those of their operands, which are not neighbours.
#[inline(always)]
pub fn scatter<const L: usize>(
    list: &List,
    adjoints: &mut [f64],
    operand: Operand,
    (start, m): (usize, usize),
    rows: &[f64],
) {
    match operand {
        Operand::Column(_) | Operand::Uniform(_) => {}
        Operand::Same(slot) => add_to(adjoints, slot as usize * L, item_sum::<L>(rows, m)),
        Operand::Run(slot) => {
            let to = &mut adjoints[(slot as usize + start) * L..][..m * L];
            for (to, x) in to.iter_mut().zip(&rows[..m * L]) {
                *to += x;
            }
        }
        Operand::Table(at) => {
            let table = &list.tables[at as usize + start..][..m];
            for (i, &slot) in table.iter().enumerate() {
                add_to(adjoints, slot as usize * L, load::<L>(rows, i * L));
            }
        }
    }
}
