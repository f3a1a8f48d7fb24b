//! What is done to vectors of all slots at once.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]

use super::{Chosen, SLOTS};
use crate::functions::Row;
use crate::lanes::Kernel;
use crate::solvers::numbers::real;
use crate::solvers::ode::Tolerances;

/// 1 for what is chosen: numbers are compared faster than bits are spread.
#[inline(always)]
fn spread(chosen: Chosen) -> Row {
    chosen.map(|chosen| f64::from(u8::from(chosen)))
}

/// The larger ones, where NaN wins.
#[inline(always)]
fn raise(worst: &mut Row, norms: &Row) {
    for l in 0..SLOTS {
        worst[l] = if norms[l] > worst[l] || norms[l].is_nan() { norms[l] } else { worst[l] };
    }
}

/// The roots of the mean squares of a weighted column.
#[inline(always)]
fn column_norm(column: &[Row], weights: &[Row]) -> Row {
    let mut sum = [0.0; SLOTS];
    for (v, w) in column.iter().zip(weights) {
        for l in 0..SLOTS {
            let weighted = v[l] * w[l];
            sum[l] += weighted * weighted;
        }
    }
    let count = real(column.len());
    for l in 0..SLOTS {
        sum[l] = (sum[l] / count).sqrt();
    }
    sum
}

/// The largest weighted norms of columns.
pub(super) struct Norms<'a> {
    pub n: usize,
    pub vector: &'a [Row],
    pub weights: &'a [Row],
}

impl Kernel for Norms<'_> {
    type Output = Row;

    #[inline(always)]
    fn run(self) -> Row {
        let Self { n, vector, weights } = self;
        let mut worst = [0.0; SLOTS];
        for (column, weights) in vector.chunks_exact(n).zip(weights.chunks_exact(n)) {
            raise(&mut worst, &column_norm(column, weights));
        }
        worst
    }
}

/// wᵢ = 1 / (rtol |zᵢ| + atol) in the chosen slots; then the norms of z.
pub(super) struct Weigh<'a> {
    pub tolerances: Tolerances,
    pub n: usize,
    pub chosen: Chosen,
    pub z: &'a [Row],
    pub weights: &'a mut [Row],
}

impl Kernel for Weigh<'_> {
    type Output = Row;

    #[inline(always)]
    fn run(self) -> Row {
        let Self { tolerances: Tolerances { relative, absolute, .. }, n, chosen, z, weights } = self;
        let chosen = spread(chosen);
        for (w, z) in weights.iter_mut().zip(z) {
            for l in 0..SLOTS {
                let own = 1.0 / (relative * z[l].abs() + absolute);
                w[l] = if chosen[l] > 0.0 { own } else { w[l] };
            }
        }
        Norms { n, vector: z, weights }.run()
    }
}

/// Taylor's formula as Pascal's triangle, or its inverse: each slot up to its own order.
pub(super) struct Pascal<'a> {
    pub history: &'a mut [Vec<Row>],
    pub orders: &'a Row,
    pub sign: f64,
}

impl Kernel for Pascal<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { history, orders, sign } = self;
        let highest = history.len() - 1;
        for k in 1..=highest {
            for j in (k..=highest).rev() {
                let (low, high) = history.split_at_mut(j);
                let order = real(j);
                for (low, high) in low[j - 1].iter_mut().zip(&high[0]) {
                    for l in 0..SLOTS {
                        let sum = low[l] + sign * high[l];
                        low[l] = if order <= orders[l] { sum } else { low[l] };
                    }
                }
            }
        }
    }
}

/// zⱼ ← fⱼ zⱼ
pub(super) struct Rescale<'a> {
    pub history: &'a mut [Vec<Row>],
    pub factors: &'a [Row],
}

impl Kernel for Rescale<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (z, factor) in self.history.iter_mut().zip(self.factors) {
            for row in z {
                for l in 0..SLOTS {
                    row[l] *= factor[l];
                }
            }
        }
    }
}

/// zⱼ ← zⱼ + lⱼ e up to the order of each slot; the last z of some slots keeps e.
pub(super) struct Complete<'a> {
    pub history: &'a mut [Vec<Row>],
    pub correction: &'a [Row],
    pub orders: &'a Row,
    pub l: &'a [Row],
    pub keep: Chosen,
}

impl Kernel for Complete<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { history, correction, orders, l: coefficients, keep } = self;
        for (j, (z, by)) in history.iter_mut().zip(coefficients).enumerate() {
            let order = real(j);
            for (z, e) in z.iter_mut().zip(correction) {
                for l in 0..SLOTS {
                    let sum = z[l] + by[l] * e[l];
                    z[l] = if order <= orders[l] { sum } else { z[l] };
                }
            }
        }
        if keep != [false; SLOTS]
            && let Some(last) = history.last_mut()
        {
            let keep = spread(keep);
            for (z, e) in last.iter_mut().zip(correction) {
                for l in 0..SLOTS {
                    z[l] = if keep[l] > 0.0 { e[l] } else { z[l] };
                }
            }
        }
    }
}

/// The predictions with their corrections.
pub(super) struct Place<'a> {
    pub point: &'a mut [Row],
    pub z: &'a [Row],
    pub correction: &'a [Row],
}

impl Kernel for Place<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((point, z), e) in self.point.iter_mut().zip(self.z).zip(self.correction) {
            for l in 0..SLOTS {
                point[l] = z[l] + e[l];
            }
        }
    }
}

/// 0 in the chosen slots.
pub(super) struct Clear<'a> {
    pub vector: &'a mut [Row],
    pub chosen: Chosen,
}

impl Kernel for Clear<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let chosen = spread(self.chosen);
        for row in self.vector {
            for l in 0..SLOTS {
                row[l] = if chosen[l] > 0.0 { 0.0 } else { row[l] };
            }
        }
    }
}

/// The rates of columns of S where f was linearised: (∂f/∂y) S + (0, ∂f/∂θ).
pub(super) struct ColumnRates<'a> {
    pub n: usize,
    /// Where the columns by parameters begin.
    pub first_parameter: usize,
    pub by_state: &'a [Row],
    pub by_parameter: &'a [Row],
    pub columns: &'a [Row],
    pub rates: &'a mut [Row],
}

impl Kernel for ColumnRates<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { n, first_parameter, by_state, by_parameter, columns, rates } = self;
        for (c, column) in columns.chunks_exact(n).enumerate() {
            for i in 0..n {
                let at = c * n + i;
                let mut sum = if at < first_parameter { [0.0; SLOTS] } else { by_parameter[at - first_parameter] };
                for (j, x) in column.iter().enumerate() {
                    let slope = &by_state[j * n + i];
                    for l in 0..SLOTS {
                        sum[l] += x[l] * slope[l];
                    }
                }
                rates[at] = sum;
            }
        }
    }
}

/// Newton's corrections of some columns: the residuals γ f − (z₁/l₁ + e), solved by the factors, times a factor. They
/// are added to the corrections of the chosen slots. The result is the largest of their norms.
pub(super) struct Newton<'a> {
    pub n: usize,
    pub chosen: Chosen,
    pub gamma: &'a Row,
    pub inverse: &'a Row,
    pub scale: &'a Row,
    pub factors: &'a [Row],
    pub pivots: &'a [[usize; SLOTS]],
    pub rates: &'a [Row],
    pub slope: &'a [Row],
    pub weights: &'a [Row],
    pub residual: &'a mut [Row],
    pub correction: &'a mut [Row],
}

impl Kernel for Newton<'_> {
    type Output = Row;

    #[inline(always)]
    fn run(self) -> Row {
        let Self { n, chosen, gamma, inverse, scale, factors, pivots, rates, slope, weights, residual, correction } =
            self;
        let chosen = spread(chosen);
        let exchanged = pivots.iter().enumerate().any(|(k, row)| *row != [k; SLOTS]);
        let mut worst = [0.0; SLOTS];
        for first in (0..residual.len()).step_by(n) {
            let column = &mut residual[first..first + n];
            for (i, own) in column.iter_mut().enumerate() {
                let (rate, z, e) = (&rates[first + i], &slope[first + i], &correction[first + i]);
                for l in 0..SLOTS {
                    own[l] = gamma[l] * rate[l] - (inverse[l] * z[l] + e[l]);
                }
            }
            if exchanged {
                exchange(column, pivots);
            }
            solve(factors, column);
            for (own, e) in column.iter_mut().zip(&mut correction[first..]) {
                for l in 0..SLOTS {
                    own[l] *= scale[l];
                    let sum = e[l] + own[l];
                    e[l] = if chosen[l] > 0.0 { sum } else { e[l] };
                }
            }
            raise(&mut worst, &column_norm(column, &weights[first..]));
        }
        worst
    }
}

fn exchange(column: &mut [Row], pivots: &[[usize; SLOTS]]) {
    for (k, row) in pivots.iter().enumerate() {
        for (l, &pivot) in row.iter().enumerate() {
            let other = column[pivot][l];
            column[pivot][l] = column[k][l];
            column[k][l] = other;
        }
    }
}

/// L and U of [`crate::linalg::lu::Factors`], in the same order.
#[inline(always)]
fn solve(factors: &[Row], b: &mut [Row]) {
    let n = b.len();
    for q in 0..n {
        let x = b[q];
        for i in q + 1..n {
            let by = &factors[q * n + i];
            for l in 0..SLOTS {
                b[i][l] -= x[l] * by[l];
            }
        }
    }
    for q in (0..n).rev() {
        let mut x = b[q];
        let diagonal = &factors[q * n + q];
        for l in 0..SLOTS {
            x[l] /= diagonal[l];
        }
        b[q] = x;
        for i in 0..q {
            let by = &factors[q * n + i];
            for l in 0..SLOTS {
                b[i][l] -= x[l] * by[l];
            }
        }
    }
}
