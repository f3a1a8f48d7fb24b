//! Quadrature over the half line, x = exp(π/2 sinh t), and over the whole line, x = sinh(π/2 sinh t).

use std::f64::consts::FRAC_PI_2;

use super::Estimate;
use crate::solvers::SolverError;

/// Halvings of the spacing, from 1.
const REFINEMENTS: i32 = 9;
/// The nodes' range: x from about 10⁻¹⁶² to 10¹⁵³, so that squares of large nodes stay finite.
const HALF_LINE_FROM: f64 = -6.164_062_5;
const TO: f64 = 6.114_056_619_798_598;

type Function<'f> = dyn FnMut(f64) -> Result<f64, SolverError> + 'f;

/// The new nodes of a refinement: every t for the first, then those halfway between the known ones.
fn new_nodes(from: f64, level: i32) -> impl Iterator<Item = f64> {
    let spacing = 0.5_f64.powi(level);
    let (first, stride) = if level == 0 { (from, 1.0) } else { (from + spacing, 2.0 * spacing) };
    (0_u32..).map(move |j| first + f64::from(j) * stride).take_while(|&t| t < TO)
}

/// Sums of the function and of its absolute value over nodes.
#[derive(Clone, Copy, Default)]
struct Sums {
    value: f64,
    norm: f64,
}

/// ∫₀^∞ f.
pub(super) fn exp_sinh(f: &mut Function, tolerance: f64) -> Result<Estimate, SolverError> {
    let node = |t: f64| {
        let x = (FRAC_PI_2 * t.sinh()).exp();
        (x, t.cosh() * FRAC_PI_2 * x)
    };
    // The range of x in which the first two rows found anything.
    let (mut from, mut to) = (0.0, f64::MAX);
    let mut sums = Sums::default();
    for t in new_nodes(HALF_LINE_FROM, 0) {
        let (x, weight) = node(t);
        let y = f(x)?;
        let before = sums.value;
        sums.value += y * weight;
        sums.norm += y.abs() * weight;
        if unchanged(before, sums.value) && sums.value != 0.0 {
            to = x;
            break;
        }
    }
    let first = sums;
    let row: Vec<(f64, f64)> = new_nodes(HALF_LINE_FROM, 1).map(node).collect();
    let mut found = false;
    for (i, &(x, weight)) in row.iter().enumerate().take_while(|(_, (x, _))| *x < to) {
        let y = f(x)?;
        let before = sums.value;
        sums.value += y * weight;
        sums.norm += y.abs() * weight;
        if found || !unchanged(before, sums.value) || row.get(i + 1).is_some_and(|next| next.0 > to) {
            found = true;
        } else {
            from = x;
        }
    }
    if first.value == 0.0 {
        (from, to) = (0.0, f64::MAX);
    }
    let mut row = |level: i32, _: f64| {
        let mut new = Sums::default();
        for (x, weight) in new_nodes(HALF_LINE_FROM, level).map(node) {
            if x >= from && x < to {
                let y = f(x)?;
                new.value += y * weight;
                new.norm += y.abs() * weight;
            }
        }
        Ok(new)
    };
    refine(first, sums, tolerance, &mut row)
}

/// ∫ f over the real line; the function must vanish at both ends.
pub(super) fn sinh_sinh(f: &mut Function, tolerance: f64) -> Result<Estimate, SolverError> {
    for end in [f64::MAX, -f64::MAX] {
        let value = f(end)?;
        if value.abs() > f64::EPSILON {
            return Err(SolverError::IntegrandDoesNotVanish { value });
        }
    }
    let middle = f(0.0)? * FRAC_PI_2;
    let mut pairs = |level: i32, negligible: f64| {
        let mut new = Sums::default();
        let mut last = 1.0;
        let from = if level == 0 { 1.0 } else { 0.0 };
        for t in new_nodes(from, level) {
            let u = FRAC_PI_2 * t.sinh();
            let (x, weight) = (u.sinh(), t.cosh() * FRAC_PI_2 * u.cosh());
            let (right, left) = (f(x)?, f(-x)?);
            let size = (right.abs() + left.abs()) * weight;
            new.value += (right + left) * weight;
            new.norm += size;
            // Two small terms in a row: one alone could be a zero of f.
            if x > 100.0 && size < negligible && last < negligible {
                break;
            }
            last = size;
        }
        Ok(new)
    };
    let (zeroth, other) = (pairs(0, 0.0)?, pairs(1, 0.0)?);
    let first = Sums { value: middle + zeroth.value, norm: middle.abs() + zeroth.norm };
    let second = Sums { value: first.value + other.value, norm: first.norm + other.norm };
    refine(first, second, tolerance, &mut pairs)
}

#[expect(clippy::float_cmp, reason = "a term is negligible when it leaves the sum as it is")]
fn unchanged(before: f64, after: f64) -> bool {
    before == after
}

/// Halves the spacing until the estimates agree: each is half of the one before plus the sum over the new nodes, given
/// by `row` for a level and a size below which terms do not count.
fn refine(
    first: Sums,
    second: Sums,
    tolerance: f64,
    row: &mut dyn FnMut(i32, f64) -> Result<Sums, SolverError>,
) -> Result<Estimate, SolverError> {
    let mut now = Sums { value: 0.5 * second.value, norm: 0.5 * second.norm };
    let mut error = (first.value - now.value).abs();
    for level in 2..=REFINEMENTS {
        let before = now;
        let spacing = 0.5_f64.powi(level);
        let new = row(level, f64::EPSILON * 0.5 * before.norm)?;
        now.value = 0.5 * before.value + spacing * new.value;
        now.norm = 0.5 * before.norm + spacing * new.norm;
        error = (before.value - now.value).abs();
        if !now.norm.is_finite() {
            return Err(SolverError::IntegrandNotFinite);
        }
        if error <= tolerance * now.norm {
            break;
        }
    }
    Ok(Estimate { value: now.value, error, norm: now.norm })
}
