//! Reductions over rows: for each lane the logarithm of the sum of exponentials, and its derivatives.

use super::dispatch::{InstructionSet, Kernel, dispatch_on};
use super::scalar::{exp, log};

/// Lanes that are carried through all rows at once: their maxima and sums stay in the first-level cache.
const TILE: usize = 64;

/// For each lane `out = log Σ exp(row)` over the rows of `x` (row-major, `out.len()` lanes each).
///
/// No rows, or only -∞: -∞. Some +∞: +∞. NaN anywhere in a lane: NaN.
pub fn log_sum_exp(x: &[f64], out: &mut [f64]) {
    log_sum_exp_on(InstructionSet::best(), x, out, None);
}

/// [`log_sum_exp`] with its partial derivatives, `weights = exp(x - out)`, in the same pass.
///
/// Where the sum is -∞ all weights are 0; where it is +∞ they are NaN.
pub fn softmax(x: &[f64], out: &mut [f64], weights: &mut [f64]) {
    assert_eq!(x.len(), weights.len(), "one weight for each term");
    log_sum_exp_on(InstructionSet::best(), x, out, Some(weights));
}

/// Both on an instruction set of choice.
pub(super) fn log_sum_exp_on(set: InstructionSet, x: &[f64], out: &mut [f64], weights: Option<&mut [f64]>) {
    if !out.is_empty() {
        assert_eq!(x.len() % out.len(), 0, "whole rows");
        dispatch_on(set, LogSumExp { x, out, weights });
    }
}

struct LogSumExp<'a> {
    x: &'a [f64],
    out: &'a mut [f64],
    weights: Option<&'a mut [f64]>,
}

impl Kernel for LogSumExp<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let lanes = self.out.len();
        for (tile, out) in self.out.chunks_mut(TILE).enumerate() {
            let place = Place { lanes, start: tile * TILE, width: out.len() };
            let mut largest = [f64::NEG_INFINITY; TILE];
            let largest = &mut largest[..place.width];
            maxima(self.x, place, largest);
            let mut sum = [0.0; TILE];
            let sum = &mut sum[..place.width];
            if let Some(weights) = self.weights.as_deref_mut() {
                sums_with_terms(self.x, place, largest, sum, weights);
                totals(out, sum, largest);
                normalise(weights, place, sum);
            } else {
                sums(self.x, place, largest, sum);
                totals(out, sum, largest);
            }
        }
    }
}

/// Some lanes of all rows.
#[derive(Clone, Copy)]
struct Place {
    lanes: usize,
    start: usize,
    width: usize,
}

impl Place {
    #[inline(always)]
    fn rows(self, x: &[f64]) -> impl Iterator<Item = &[f64]> {
        x.chunks_exact(self.lanes).map(move |row| &row[self.start..self.start + self.width])
    }

    #[inline(always)]
    fn rows_mut(self, x: &mut [f64]) -> impl Iterator<Item = &mut [f64]> {
        x.chunks_exact_mut(self.lanes).map(move |row| &mut row[self.start..self.start + self.width])
    }
}

/// The largest finite term of each lane; 0 if there is none, so that exp(x - 0) is right for ±∞.
#[inline(always)]
fn maxima(x: &[f64], place: Place, largest: &mut [f64]) {
    for row in place.rows(x) {
        for (m, &x) in largest.iter_mut().zip(row) {
            *m = if x > *m { x } else { *m };
        }
    }
    for m in largest {
        *m = if m.abs() < f64::INFINITY { *m } else { 0.0 };
    }
}

#[inline(always)]
fn sums(x: &[f64], place: Place, largest: &[f64], sum: &mut [f64]) {
    for row in place.rows(x) {
        for ((s, &x), &m) in sum.iter_mut().zip(row).zip(largest) {
            *s += exp(x - m);
        }
    }
}

#[inline(always)]
fn sums_with_terms(x: &[f64], place: Place, largest: &[f64], sum: &mut [f64], terms: &mut [f64]) {
    for (row, terms) in place.rows(x).zip(place.rows_mut(terms)) {
        for (((s, term), &x), &m) in sum.iter_mut().zip(terms).zip(row).zip(largest) {
            *term = exp(x - m);
            *s += *term;
        }
    }
}

#[inline(always)]
fn totals(out: &mut [f64], sum: &[f64], largest: &[f64]) {
    for ((out, &s), &m) in out.iter_mut().zip(sum).zip(largest) {
        *out = m + log(s);
    }
}

/// Divides by the sums. A sum that is not at least 1 is 0 or NaN, and where it is 0 all terms are.
#[inline(always)]
fn normalise(terms: &mut [f64], place: Place, sum: &mut [f64]) {
    for s in &mut *sum {
        *s = if *s == 0.0 { 0.0 } else { 1.0 / *s };
    }
    for row in place.rows_mut(terms) {
        for (term, &s) in row.iter_mut().zip(&*sum) {
            *term *= s;
        }
    }
}
