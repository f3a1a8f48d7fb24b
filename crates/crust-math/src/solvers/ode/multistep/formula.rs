//! The coefficients of Adams–Moulton and backward differentiation formulas for steps of any lengths.
//!
//! The history is kept as a Nordsieck array z with zⱼ = hʲ y⁽ʲ⁾/j! of the interpolating polynomial. A step predicts by
//! Taylor's formula, finds a correction e of the state, and adds lⱼ e to zⱼ; l are the coefficients of a polynomial Λ
//! with Λ(0) = 1 that vanishes where the formula interpolates (Byrne and Hindmarsh 1975; for the fixed leading
//! coefficient of BDF, Jackson and Sacks-Davis 1980). The error constants are those of CVODE (Hindmarsh et al. 2005).

use crate::solvers::numbers::real;

/// The family of formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Adams,
    Bdf,
}

impl Family {
    pub(super) fn max_order(self) -> usize {
        match self {
            Self::Adams => 12,
            Self::Bdf => 5,
        }
    }
}

/// One more than the largest order, and room for the order above it.
pub(super) const SIZE: usize = 14;

/// The lengths of the current step and of those before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    pub(super) h: f64,
    /// `past[1]` is the length of the last accepted step; `past[0]` is not used.
    pub(super) past: [f64; SIZE],
}

/// A formula for the next step. The local error of the step is `error · e`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Formula {
    pub(super) l: [f64; SIZE],
    /// The factor of the correction that estimates the local error.
    pub(super) error: f64,
    /// Likewise at one order less, as a factor of the highest zⱼ; known only where an order change is considered.
    pub(super) error_below: f64,
    /// Likewise at one order more, as a factor of the change of the corrections.
    pub(super) error_above: f64,
    /// Relates the corrections of two steps to the derivative of order q + 1.
    pub(super) above_scale: f64,
}

impl Formula {
    /// The formula of the given order; `at_change` asks for the error constants of the neighbouring orders.
    pub(super) fn new(family: Family, order: usize, steps: &Steps, at_change: bool) -> Self {
        match family {
            Family::Adams => adams(order, steps, at_change),
            Family::Bdf => bdf(order, steps, at_change),
        }
    }
}

/// Multiplies the polynomial Σ aᵢ xⁱ by (1 + x r), where its degree is at most `degree` afterwards.
fn multiply(a: &mut [f64; SIZE], degree: usize, r: f64) {
    for i in (1..=degree).rev() {
        a[i] += a[i - 1] * r;
    }
}

fn bdf(q: usize, steps: &Steps, at_change: bool) -> Formula {
    let h = steps.h;
    let order = real(q);
    let mut l = [0.0; SIZE];
    (l[0], l[1]) = (1.0, 1.0);
    // The leading coefficient is the one of equal steps, −Σ 1/j; `actual` is the one that the last steps imply.
    let (mut fixed, mut actual) = (-1.0, -1.0);
    let (mut root, mut fixed_root) = (1.0, 1.0);
    let mut distance = h;
    if q > 1 {
        for j in 2..q {
            distance += steps.past[j - 1];
            root = h / distance;
            fixed -= 1.0 / real(j);
            multiply(&mut l, j, root);
        }
        fixed -= 1.0 / order;
        fixed_root = -l[1] - fixed;
        distance += steps.past[q - 1];
        root = h / distance;
        actual = -l[1] - root;
        multiply(&mut l, q, fixed_root);
    }
    let a1 = 1.0 - actual + fixed;
    let a2 = 1.0 + order * a1;
    let mut formula = Formula {
        l,
        error: (a1 / (fixed * a2)).abs(),
        error_below: 1.0,
        error_above: 1.0,
        above_scale: (a2 * fixed_root / (l[q] * root)).abs(),
    };
    if at_change {
        if q > 1 {
            let below = fixed + 1.0 / order;
            formula.error_below = (fixed_root / l[q] * (1.0 - (actual + root) + below) / below).abs();
        }
        let root = h / (distance + steps.past[q]);
        let above = fixed - 1.0 / (order + 1.0);
        let ratio = (1.0 - (actual - root) + above) / a2;
        formula.error_above = (ratio / (root * (order + 2.0) * above)).abs();
    }
    formula
}

/// ∫₋₁⁰ xᵏ⁻¹ Σ aᵢ xⁱ dx up to the sign (−1)ᵏ⁻¹: the alternating sum of aᵢ / (i + k).
fn alternating_sum(a: &[f64], k: usize) -> f64 {
    a.iter().enumerate().map(|(i, v)| if i % 2 == 0 { v / real(i + k) } else { -v / real(i + k) }).sum()
}

fn adams(q: usize, steps: &Steps, at_change: bool) -> Formula {
    let h = steps.h;
    let mut l = [0.0; SIZE];
    l[0] = 1.0;
    if q == 1 {
        l[1] = 1.0;
        return Formula { l, error: 0.5, error_below: 1.0, error_above: 1.0 / 12.0, above_scale: 1.0 };
    }
    // m is the derivative of Λ up to a factor: it vanishes at the past points.
    let mut m = [0.0; SIZE];
    m[0] = 1.0;
    let mut error_below = 1.0;
    let mut distance = h;
    for j in 1..q {
        if j == q - 1 && at_change {
            error_below = real(q) * alternating_sum(&m[..q - 1], 2) / m[q - 2];
        }
        multiply(&mut m, j, h / distance);
        distance += steps.past[j];
    }
    let whole = alternating_sum(&m[..q], 1);
    let moment = alternating_sum(&m[..q], 2);
    for i in 1..=q {
        l[i] = 1.0 / whole * (m[i - 1] / real(i));
    }
    let root = distance / h;
    let mut formula =
        Formula { l, error: moment * (1.0 / whole) / root, error_below, error_above: 1.0, above_scale: root / l[q] };
    if at_change {
        multiply(&mut m, q, 1.0 / root);
        formula.error_above = alternating_sum(&m[..=q], 2) * (1.0 / whole) / real(q + 1);
    }
    formula
}

/// How a history of order q becomes one of order q + 1: z_{q+1} = `highest` times the stored correction, and zⱼ gains
/// `lower[j]` z_{q+1}.
pub(super) struct Raise {
    pub(super) highest: f64,
    pub(super) lower: [f64; SIZE],
}

/// The change from order q to q + 1, with `steps.h` the step to which the history is scaled.
pub(super) fn raise(family: Family, q: usize, steps: &Steps) -> Raise {
    let mut lower = [0.0; SIZE];
    if family == Family::Adams {
        return Raise { highest: 0.0, lower };
    }
    lower[2] = 1.0;
    let (mut fixed, mut actual, mut product, mut last) = (-1.0, 1.0, 1.0, 1.0);
    let mut distance = steps.h;
    for j in 1..q {
        distance += steps.past[j + 1];
        let root = distance / steps.h;
        product *= root;
        fixed -= 1.0 / real(j + 1);
        actual += 1.0 / root;
        shift(&mut lower, 2, j + 2, last);
        last = root;
    }
    Raise { highest: (-fixed - actual) / product, lower }
}

/// The change from order q to q − 1: zⱼ loses the j-th number times the highest, so that the polynomial keeps its
/// values (BDF) or slopes (Adams) at the past points.
pub(super) fn lower(family: Family, q: usize, steps: &Steps) -> [f64; SIZE] {
    let mut l = [0.0; SIZE];
    let first = if family == Family::Adams { 1 } else { 2 };
    l[first] = 1.0;
    let mut distance = 0.0;
    for j in 1..q.saturating_sub(1) {
        distance += steps.past[j];
        shift(&mut l, first, j + first, distance / steps.h);
    }
    if family == Family::Adams {
        // The integral of the polynomial would divide each coefficient by its own power. CVODE (and VODE before it)
        // lets each result enter the next; what is lost is below the error test, and Stan's steps depend on it.
        for j in 1..q.saturating_sub(1) {
            l[j + 1] = real(q) * (l[j] / real(j + 1));
        }
    }
    l
}

/// Multiplies the polynomial by (x + r), for the coefficients from `first` to `last`.
fn shift(l: &mut [f64; SIZE], first: usize, last: usize, r: f64) {
    for i in (first..=last).rev() {
        l[i] = l[i] * r + l[i - 1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal_steps() -> Steps {
        Steps { h: 0.25, past: [0.25; SIZE] }
    }

    #[test]
    fn leading_coefficients_of_equal_steps_are_the_classical_ones() {
        // h/l₁ is the weight of the implicit rate: 1, 2/3, 6/11, … for BDF, and 1, 1/2, 5/12, 3/8, 251/720 for Adams
        let bdf = [1.0, 2.0 / 3.0, 6.0 / 11.0, 12.0 / 25.0, 60.0 / 137.0];
        let adams = [1.0, 0.5, 5.0 / 12.0, 3.0 / 8.0, 251.0 / 720.0];
        for q in 1..=5 {
            let found = 1.0 / Formula::new(Family::Bdf, q, &equal_steps(), true).l[1];
            assert!((found - bdf[q - 1]).abs() < 1e-14, "BDF {q}: {found}");
            let found = 1.0 / Formula::new(Family::Adams, q, &equal_steps(), true).l[1];
            assert!((found - adams[q - 1]).abs() < 1e-14, "Adams {q}: {found}");
        }
    }

    #[test]
    fn correction_vanishes_at_the_past_points() {
        let mut steps = equal_steps();
        steps.past = [0.0, 0.3, 0.11, 0.4, 0.2, 0.1, 0.5, 0.25, 0.33, 0.17, 0.2, 0.2, 0.2, 0.2];
        for q in 3..=12 {
            let l = Formula::new(Family::Adams, q, &steps, false).l;
            let slope = |x: f64| (1..=q).rev().fold(0.0, |sum, i| sum * x + real(i) * l[i]);
            let mut x = -1.0;
            for j in 1..q - 1 {
                assert!(slope(x).abs() < 1e-8 * l[1], "Adams {q}: slope {} at {x}", slope(x));
                x -= steps.past[j] / steps.h;
            }
            let value: f64 = (0..=q).rev().fold(0.0, |sum, i| l[i] - sum);
            assert!(value.abs() < 1e-10, "Adams {q}: {value}");
        }
        for q in 2..=5 {
            let l = Formula::new(Family::Bdf, q, &steps, false).l;
            let mut x = -1.0;
            for j in 1..q {
                let value: f64 = (0..=q).rev().fold(0.0, |sum, i| sum * x + l[i]);
                assert!(value.abs() < 1e-11, "BDF {q}: {value} at {x}");
                x -= steps.past[j] / steps.h;
            }
        }
    }
}
