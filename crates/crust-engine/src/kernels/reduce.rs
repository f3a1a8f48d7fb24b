//! Sums over the elements of a block, and over the iterations of a tile.

use crust_math::lanes::{Kernel, dispatch};

use super::{lanes_sum, row_sum};
use crate::memory::{Arena, Block, Width};

struct AddRows<'a> {
    rows: &'a [f64],
    into: &'a mut [f64],
}

impl Kernel for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { rows, into } = self;
        if into.len() == 1 {
            into[0] += row_sum(
                rows.len(),
                #[inline(always)]
                |i| rows[i],
            );
            return;
        }
        let lanes = into.len();
        let (eights, _) = into.as_chunks_mut::<8>();
        for (k, to) in eights.iter_mut().enumerate() {
            let sum = lanes_sum(
                rows.len() / lanes,
                #[inline(always)]
                |i| rows[i * lanes + k * 8..].first_chunk().copied().unwrap_or_default(),
            );
            to.iter_mut().zip(sum).for_each(|(to, x)| *to += x);
        }
        let rest = lanes - lanes % 8;
        for row in rows.chunks_exact(lanes) {
            for (to, x) in into[rest..].iter_mut().zip(&row[rest..]) {
                *to += x;
            }
        }
    }
}

/// Adds each row of `rows` to `into`, which is as long as a row.
pub fn add_rows(rows: &[f64], into: &mut [f64]) {
    if !into.is_empty() {
        dispatch(AddRows { rows, into });
    }
}

/// The sum over elements: `y = Σₑ x[e]`.
pub fn sum(arena: &mut Arena, width: Width, x: Block, y: Block) {
    let (low, out) = arena.below(y, width);
    out.fill(0.0);
    add_rows(&low[x.range(width)], out);
}

struct SpreadRows<'a> {
    rows: &'a mut [f64],
    from: &'a [f64],
}

impl Kernel for SpreadRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { rows, from } = self;
        if let [x] = from {
            rows.iter_mut().for_each(|to| *to += x);
            return;
        }
        for row in rows.chunks_exact_mut(from.len()) {
            for (to, x) in row.iter_mut().zip(from) {
                *to += x;
            }
        }
    }
}

/// Adds `from` to each row of `rows`.
pub fn spread_rows(from: &[f64], rows: &mut [f64]) {
    if !from.is_empty() {
        dispatch(SpreadRows { rows, from });
    }
}

/// `x̄[e] += ȳ`.
pub fn sum_reverse(arena: &mut Arena, width: Width, x: Block, y: Block) {
    let (_, mut adjoints) = arena.both();
    let base = adjoints.base();
    let (low, adjoint) = adjoints.below(y, width);
    let range = x.range(width);
    spread_rows(adjoint, &mut low[range.start - base..range.end - base]);
}
