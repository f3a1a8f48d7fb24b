//! Sums over iterations: of what goes to the log density, and of adjoints that are the same in all iterations.

use super::super::rows::{add_to, load, sum, sum_of_rows};
use super::super::steps::{self, Tile, at_mut};
use super::super::{Argument, GROUP, Into};
use super::Span;

/// Adds what a lane alone found for so many blocks, one after the other.
#[inline(always)]
pub(super) fn add_in_order(found: &[f64], to: &mut [f64; GROUP]) {
    to[0] = found.iter().fold(to[0], |sum, x| sum + x);
}

/// Adds sums over blocks to what the blocks before had, one after the other.
#[inline(always)]
pub(super) fn add_blocks<const L: usize, const S: bool>(span: Span, numbers: &[f64], to: &mut [f64; GROUP]) {
    if S && span.is_flat() {
        add_to(to, sum_of_rows::<1>(&numbers[..span.rows]));
    } else if S {
        add_in_order(&sum_of_rows::<L>(numbers)[..span.blocks], to);
    } else {
        for block in numbers.chunks_exact(span.rows * L) {
            add_to(to, sum_of_rows::<L>(block));
        }
    }
}

/// The sum of a body over the rows of a block of `W` numbers each, in the order of [`sum_of_rows`]; names stand for the
/// numbers of registers.
macro_rules! sum_of_block {
    ($W:expr, $first:expr, $rows:expr, [$($x:ident),*], $body:expr) => {{
        let (first, rows): (usize, usize) = ($first, $rows);
        let (mut row, mut parts) = (0, [[0.0; $W]; 4]);
        while row + 4 <= rows {
            for p in 0..4 {
                let from = (first + row + p) * $W;
                $(let $x = load::<{ $W }>($x, from);)*
                for l in 0..$W {
                    $(let $x = $x[l];)*
                    parts[p][l] += $body;
                }
            }
            row += 4;
        }
        for p in 0..3 {
            if row + p < rows {
                let from = (first + row + p) * $W;
                $(let $x = load::<{ $W }>($x, from);)*
                for l in 0..$W {
                    $(let $x = $x[l];)*
                    parts[p][l] += $body;
                }
            }
        }
        sum(sum(parts[0], parts[2]), sum(parts[1], parts[3]))
    }};
}

/// As [`add_blocks`] for a body, in which names stand for the numbers of registers.
macro_rules! add_up {
    ($span:expr, $to:expr, [$($x:ident),*], $body:expr) => {{
        let (span, to): (Span, &mut [f64; GROUP]) = ($span, $to);
        if S && span.is_flat() {
            add_to(to, sum_of_block!(1, 0, span.rows, [$($x),*], $body));
        } else if S {
            add_in_order(&sum_of_block!(L, 0, span.rows, [$($x),*], $body)[..span.blocks], to);
        } else {
            for b in 0..span.blocks {
                add_to(to, sum_of_block!(L, b * span.rows, span.rows, [$($x),*], $body));
            }
        }
    }};
}

/// Takes contributions to adjoints: into registers, or into sums where there is one contribution only.
pub(super) struct Taker<'a> {
    pub span: Span,
    pub sums: &'a mut [[f64; GROUP]],
}

impl Taker<'_> {
    #[inline(always)]
    fn sum(&mut self, x: Argument) -> (Span, &mut [f64; GROUP]) {
        (self.span, &mut self.sums[usize::from(x.register)])
    }

    /// See [`steps::pull`].
    #[inline(always)]
    pub fn pull<const L: usize, const S: bool>(&mut self, x: Argument, low: &mut [Tile], adjoint: &[f64], scale: f64) {
        if x.into == Into::Sum {
            let (span, to) = self.sum(x);
            add_up!(span, to, [adjoint], scale * adjoint);
        } else {
            steps::pull(x.into, at_mut(low, x.register, adjoint.len()), adjoint, scale);
        }
    }

    /// See [`steps::pull_times`].
    #[inline(always)]
    pub fn pull_times<const L: usize, const S: bool>(
        &mut self,
        x: Argument,
        low: &mut [Tile],
        adjoint: &[f64],
        partial: &[f64],
    ) {
        if x.into == Into::Sum {
            let (span, to) = self.sum(x);
            add_up!(span, to, [adjoint, partial], adjoint * partial);
        } else {
            steps::pull_times(x.into, at_mut(low, x.register, adjoint.len()), adjoint, partial);
        }
    }

    /// See [`steps::pull_difference`].
    #[inline(always)]
    pub fn pull_difference<const L: usize, const S: bool>(
        &mut self,
        of: Argument,
        low: &mut [Tile],
        adjoint: &[f64],
        [a, b]: [&[f64]; 2],
    ) {
        if of.into == Into::Sum {
            let (span, to) = self.sum(of);
            add_up!(span, to, [adjoint, a, b], adjoint * (2.0 * (a - b)));
        } else {
            steps::pull_difference(of.into, at_mut(low, of.register, adjoint.len()), adjoint, a, b);
        }
    }
}
