//! Quadrature over (−1, 1) by x = tanh(π/2 sinh t), whose nodes crowd towards the ends and reach down to 10⁻²⁷⁵.

use std::f64::consts::FRAC_PI_2;

use super::Estimate;
use crate::solvers::SolverError;

/// The rows of nodes: row 0 has t = 0, 1, …, 6, row k the odd multiples of 2⁻ᵏ below 6.
const LARGEST: usize = 6;
const REFINEMENTS: usize = 15;
/// Rows that are always used.
const ALWAYS: usize = 4;
/// Nodes with a complement below this may be given up where the function is not finite there.
const NEAR_END: f64 = 0.5;

/// The limit to which a node is nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Upper,
}

/// The function at the node at a distance `complement` (of the half interval) from the limit at `side`.
type Function<'f> = dyn FnMut(Side, f64) -> Result<f64, SolverError> + 'f;

/// A row of nodes, as complements 1 − |x|, and their weights.
struct Row {
    complements: Vec<f64>,
    weights: Vec<f64>,
}

impl Row {
    fn new(row: usize) -> Self {
        let (count, spacing) = if row == 0 { (LARGEST + 1, 1.0) } else { (LARGEST << (row - 1), halves(row)) };
        let t = |j: usize| if row == 0 { whole(j) } else { whole(2 * j + 1) * spacing };
        // 1 − tanh u = 1/(eᵘ cosh u)
        let u = |j: usize| FRAC_PI_2 * t(j).sinh();
        let weight = |j: usize| FRAC_PI_2 * t(j).cosh() / (u(j).cosh() * u(j).cosh());
        Self {
            complements: (0..count).map(|j| 1.0 / (u(j).exp() * u(j).cosh())).collect(),
            weights: (0..count).map(weight).collect(),
        }
    }
}

fn whole(j: usize) -> f64 {
    crate::solvers::numbers::real(j)
}

fn halves(row: usize) -> f64 {
    1.0 / whole(1 << row)
}

/// How far one side is summed: the position of the outermost node among all nodes of the rows so far, and that node's
/// index in the current row.
struct Reach {
    side: Side,
    position: usize,
    index: usize,
    closest: f64,
    value: f64,
    truncate: bool,
}

impl Reach {
    /// In the first row: the outermost node at which the function is finite and matters.
    fn first(f: &mut Function, row: &Row, side: Side, closest: f64, negligible: f64) -> Result<Self, SolverError> {
        let mut position = LARGEST;
        while position > 1 && row.complements[position] < closest {
            position -= 1;
        }
        let mut value = f(side, row.complements[position])?;
        while position > 0 && !value.is_finite() {
            position -= 1;
            value = f(side, row.complements[position])?;
        }
        while position > 1 && (value * row.weights[position]).abs() <= negligible {
            position -= 1;
            value = f(side, row.complements[position])?;
        }
        if position == 0 {
            return Err(SolverError::IntegrandNotFinite);
        }
        Ok(Self { side, position, index: position, closest, value, truncate: false })
    }

    /// In a further row: one node beyond the reach so far if it is not too close to the limit.
    fn extend(&mut self, f: &mut Function, row: &Row, negligible: f64) -> Result<(), SolverError> {
        self.index = self.position - 1;
        self.position *= 2;
        if row.complements.get(self.index + 1).is_some_and(|&c| c > self.closest) {
            self.position += 1;
            self.index += 1;
        }
        loop {
            self.value = f(self.side, row.complements[self.index])?;
            if self.value.is_finite() {
                break;
            }
            if self.position <= 2 {
                return Err(SolverError::IntegrandNotFinite);
            }
            self.position -= 2;
            self.index -= 1;
            if row.complements[self.index] > NEAR_END {
                break;
            }
        }
        self.truncate = negligible > self.term(row).abs();
        Ok(())
    }

    /// The outermost node's term.
    fn term(&self, row: &Row) -> f64 {
        self.value * row.weights[self.index]
    }

    /// Whether the terms grow towards a limit that the nodes do not reach.
    fn grows_outwards(&self, f: &mut Function, row: &Row) -> Result<bool, SolverError> {
        let beyond = row.complements.get(self.index + 1);
        if self.index == 0 || beyond.is_none_or(|&c| c <= self.closest) {
            return Ok(false);
        }
        let inner = f(self.side, row.complements[self.index - 1])? * row.weights[self.index - 1];
        let outer = f(self.side, row.complements[self.index])? * row.weights[self.index];
        Ok(outer.abs() > inner.abs())
    }
}

/// Sums of the function and of its absolute value over the nodes of a row.
fn sum_row(f: &mut Function, row: &Row, skip: usize, reaches: &[Reach; 2]) -> Result<(f64, f64), SolverError> {
    let mut sum: f64 = reaches.iter().map(|reach| reach.term(row)).sum();
    let mut norm: f64 = reaches.iter().map(|reach| reach.term(row).abs()).sum();
    for j in skip..row.weights.len() {
        for reach in reaches.iter().filter(|reach| j < reach.index) {
            let value = f(reach.side, row.complements[j])? * row.weights[j];
            sum += value;
            norm += value.abs();
        }
    }
    Ok((sum, norm))
}

/// ∫₋₁¹ f. Nodes with a complement below `closest` (lower, upper) are not used.
pub(super) fn tanh_sinh(f: &mut Function, closest: [f64; 2], tolerance: f64) -> Result<Estimate, SolverError> {
    let tail = f64::EPSILON.max(tolerance * tolerance);
    let row = Row::new(0);
    let middle = FRAC_PI_2 * f(Side::Upper, 1.0)?;
    let negligible = (middle * tail).abs();
    let mut reaches = [
        Reach::first(f, &row, Side::Lower, closest[0], negligible)?,
        Reach::first(f, &row, Side::Upper, closest[1], negligible)?,
    ];
    let (sum, norm) = sum_row(f, &row, 1, &reaches)?;
    let mut now = Estimate { value: middle + sum, error: 0.0, norm: middle.abs() + norm };
    let mut thrashed = 0;
    for level in 1..REFINEMENTS {
        let before = now;
        let row = Row::new(level);
        for reach in &mut reaches {
            reach.extend(f, &row, 0.5 * before.norm * tail)?;
        }
        let ends: f64 = reaches.iter().map(|reach| reach.term(&row).abs()).sum();
        let (sum, norm) = sum_row(f, &row, 0, &reaches)?;
        now.value = 0.5 * before.value + halves(level) * sum;
        now.norm = 0.5 * before.norm + halves(level) * norm;
        now.error = (before.value - now.value).abs();
        if !now.value.is_finite() {
            return Err(SolverError::IntegrandNotFinite);
        }
        if now.error * 1.5 > before.error && level >= ALWAYS {
            thrashed += 1;
            if hopeless(thrashed, before.error, now.error, (ends / sum).abs()) {
                return Ok(Estimate { error: before.error + ends, ..before });
            }
        }
        if now.error <= (tolerance * now.norm).abs() && level + 1 >= ALWAYS {
            for reach in &reaches {
                if reach.grows_outwards(f, &row)? {
                    return Err(SolverError::IntegrandNotFinite);
                }
            }
            now.error += ends;
            return Ok(now);
        }
        for reach in reaches.iter_mut().filter(|reach| reach.truncate && reach.position > 1) {
            reach.position -= 1;
        }
    }
    Ok(now)
}

/// Whether refinement has stopped to help: rounding errors dominate.
fn hopeless(thrashed: u32, last_error: f64, error: f64, ends: f64) -> bool {
    (thrashed > 1 && last_error < 1e-3) || thrashed > 2 || last_error < f64::EPSILON.sqrt() || ends > error
}
