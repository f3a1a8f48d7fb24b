//! Transforms of one element each: identity, bounds, offset and multiplier.
//!
//! | declared | constrained value | log Jacobian |
//! | --- | --- | --- |
//! | `lower=a` | a + exp(x) | x |
//! | `upper=b` | b − exp(x) | x |
//! | `lower=a, upper=b` | a + (b − a) logit⁻¹(x) | log(b − a) + log logit⁻¹(x) + log logit⁻¹(−x) |
//! | `offset=m, multiplier=s` | m + s x | log s |
//!
//! An infinite bound is no bound: the transform falls back to the one without it.

use super::error::{Problem, TransformError};
use super::{Bound, Forward, Reverse, Row, row, row_mut};
use crate::lanes;

/// One element's constrained value and log Jacobian with the derivatives for the free value and for the two bounds.
/// Callers that use few of the fields pay for few: everything is inlined.
#[derive(Clone, Copy, Default)]
struct Element {
    value: f64,
    log_jacobian: f64,
    /// Of the value, for (free, first, second).
    d: [f64; 3],
    /// Of the log Jacobian, for (free, first, second).
    dj: [f64; 3],
}

#[inline]
fn identity_at(x: f64) -> Element {
    Element { value: x, d: [1.0, 0.0, 0.0], ..Element::default() }
}

#[inline]
fn lower_at(x: f64, lower: f64) -> Element {
    if lower == f64::NEG_INFINITY {
        return identity_at(x);
    }
    let e = x.exp();
    Element { value: lower + e, log_jacobian: x, d: [e, 1.0, 0.0], dj: [1.0, 0.0, 0.0] }
}

#[inline]
fn upper_at(x: f64, upper: f64) -> Element {
    if upper == f64::INFINITY {
        return identity_at(x);
    }
    let e = x.exp();
    Element { value: upper - e, log_jacobian: x, d: [-e, 0.0, 1.0], dj: [1.0, 0.0, 0.0] }
}

#[inline]
fn lower_upper_at(x: f64, lower: f64, upper: f64) -> Element {
    if upper == f64::INFINITY {
        return lower_at(x, lower);
    }
    if lower == f64::NEG_INFINITY {
        return upper_at(x, upper);
    }
    let width = if lower < upper { upper - lower } else { f64::NAN };
    // logit⁻¹(−|x|) and its complement, without cancellation
    let e = (-x.abs()).exp();
    let (small, large) = (e / (1.0 + e), 1.0 / (1.0 + e));
    let (p, q) = if x < 0.0 { (small, large) } else { (large, small) };
    Element {
        value: lower + width * p,
        log_jacobian: width.ln() - x.abs() - 2.0 * e.ln_1p(),
        d: [width * p * q, q, p],
        dj: [q - p, -1.0 / width, 1.0 / width],
    }
}

#[inline]
fn offset_multiplier_at(x: f64, offset: f64, multiplier: f64) -> Element {
    let valid = offset.is_finite() && multiplier > 0.0 && multiplier < f64::INFINITY;
    let s = if valid { multiplier } else { f64::NAN };
    Element { value: offset + s * x, log_jacobian: s.ln(), d: [s, 1.0, x], dj: [0.0, 0.0, 1.0 / s] }
}

/// Calls `$run` with a function from lane to the bound, compiled once for a uniform and once for a varying bound, so
/// that the loop over lanes has no branch on the kind of bound.
macro_rules! with_row {
    ($row:expr, |$at:ident| $run:expr) => {
        match $row {
            Row::Uniform(value) => {
                let $at = |_: usize| value;
                $run
            }
            Row::Varying(values) => {
                let $at = |lane: usize| values[lane];
                $run
            }
        }
    };
}

fn forward(f: &mut Forward<'_>, size: usize, at: impl Fn(f64, f64, f64) -> Element + Copy) {
    for e in 0..size {
        let free = row(f.free, e, f.lanes);
        let out = row_mut(f.out, e, f.lanes);
        let jacobian = f.log_jacobian.as_deref_mut();
        with_row!(f.bounds.first.row(e, f.lanes), |first| with_row!(f.bounds.second.row(e, f.lanes), |second| {
            forward_row(free, out, jacobian, |x, l| at(x, first(l), second(l)));
        }));
    }
}

#[inline]
fn forward_row(free: &[f64], out: &mut [f64], jacobian: Option<&mut [f64]>, at: impl Fn(f64, usize) -> Element) {
    match jacobian {
        Some(jacobian) => {
            for (l, ((&x, y), j)) in free.iter().zip(out).zip(jacobian).enumerate() {
                let element = at(x, l);
                *y = element.value;
                *j += element.log_jacobian;
            }
        }
        None => {
            for (l, (&x, y)) in free.iter().zip(out).enumerate() {
                *y = at(x, l).value;
            }
        }
    }
}

fn reverse(r: &mut Reverse<'_>, size: usize, at: impl Fn(f64, f64, f64) -> Element + Copy) {
    let (lanes, weight) = (r.lanes, r.jacobian_adjoint);
    for e in 0..size {
        let (free, adjoint) = (row(r.free, e, lanes), row(r.out_adjoint, e, lanes));
        let free_adjoint = row_mut(r.free_adjoint, e, lanes);
        let first_adjoint = r.first_adjoint.as_deref_mut().and_then(|a| r.bounds.first.adjoint_row(a, e, lanes));
        let second_adjoint = r.second_adjoint.as_deref_mut().and_then(|a| r.bounds.second.adjoint_row(a, e, lanes));
        with_row!(r.bounds.first.row(e, lanes), |first| with_row!(r.bounds.second.row(e, lanes), |second| {
            let at = |l: usize| at(free[l], first(l), second(l));
            reverse_row::<0>(adjoint, weight, free_adjoint, at);
            if let Some(target) = first_adjoint {
                reverse_row::<1>(adjoint, weight, target, at);
            }
            if let Some(target) = second_adjoint {
                reverse_row::<2>(adjoint, weight, target, at);
            }
        }));
    }
}

#[inline]
fn reverse_row<const ARGUMENT: usize>(adjoint: &[f64], weight: f64, target: &mut [f64], at: impl Fn(usize) -> Element) {
    for (l, (&a, t)) in adjoint.iter().zip(target).enumerate() {
        let element = at(l);
        *t += a * element.d[ARGUMENT] + weight * element.dj[ARGUMENT];
    }
}

pub(super) fn identity(f: &mut Forward<'_>, size: usize) {
    let n = size * f.lanes;
    f.out[..n].copy_from_slice(&f.free[..n]);
}

pub(super) fn identity_reverse(r: &mut Reverse<'_>, size: usize) {
    for (t, &a) in r.free_adjoint[..size * r.lanes].iter_mut().zip(r.out_adjoint) {
        *t += a;
    }
}

pub(super) fn lower(f: &mut Forward<'_>, size: usize) {
    if is_zero(f.bounds.first) {
        return positive(f, size);
    }
    forward(f, size, |x, a, _| lower_at(x, a));
}

pub(super) fn lower_reverse(r: &mut Reverse<'_>, size: usize) {
    if is_zero(r.bounds.first) {
        return positive_reverse(r, size);
    }
    reverse(r, size, |x, a, _| lower_at(x, a));
}

fn is_zero(bound: Bound<'_>) -> bool {
    matches!(bound, Bound::Scalar(a) if a == 0.0)
}

/// exp(x), by far the most common of all: in vector registers.
fn positive(f: &mut Forward<'_>, size: usize) {
    let n = size * f.lanes;
    lanes::exp(&f.free[..n], &mut f.out[..n]);
    if let Some(jacobian) = f.log_jacobian.as_deref_mut() {
        for row in f.free[..n].chunks_exact(f.lanes) {
            jacobian.iter_mut().zip(row).for_each(|(j, x)| *j += x);
        }
    }
}

/// The derivative of exp(x) is the value.
fn positive_reverse(r: &mut Reverse<'_>, size: usize) {
    let (n, weight) = (size * r.lanes, r.jacobian_adjoint);
    for ((t, &a), &y) in r.free_adjoint[..n].iter_mut().zip(r.out_adjoint).zip(r.out) {
        *t += a * y + weight;
    }
}

pub(super) fn upper(f: &mut Forward<'_>, size: usize) {
    forward(f, size, |x, _, b| upper_at(x, b));
}

pub(super) fn upper_reverse(r: &mut Reverse<'_>, size: usize) {
    reverse(r, size, |x, _, b| upper_at(x, b));
}

pub(super) fn lower_upper(f: &mut Forward<'_>, size: usize) {
    forward(f, size, lower_upper_at);
}

pub(super) fn lower_upper_reverse(r: &mut Reverse<'_>, size: usize) {
    reverse(r, size, lower_upper_at);
}

pub(super) fn offset_multiplier(f: &mut Forward<'_>, size: usize) {
    forward(f, size, offset_multiplier_at);
}

pub(super) fn offset_multiplier_reverse(r: &mut Reverse<'_>, size: usize) {
    reverse(r, size, offset_multiplier_at);
}

/// The inverse of `lower_upper_at`; bounds on one side are those with the other at infinity.
pub(super) fn free_lower_upper(element: usize, y: f64, lower: f64, upper: f64) -> Result<f64, Problem> {
    let (open_below, open_above) = (lower == f64::NEG_INFINITY, upper == f64::INFINITY);
    let above = y >= lower;
    let below = y <= upper;
    match (open_below, open_above) {
        (true, true) => Ok(y),
        (false, _) if !above => Err(Problem::BelowLower { element, value: y, lower }),
        (_, false) if !below => Err(Problem::AboveUpper { element, value: y, upper }),
        (false, true) => Ok((y - lower).ln()),
        (true, false) => Ok((upper - y).ln()),
        (false, false) if lower < upper => Ok(((y - lower) / (upper - y)).ln()),
        (false, false) => Err(Problem::EmptyInterval { element, lower, upper }),
    }
}

pub(super) fn free_offset_multiplier(element: usize, y: f64, offset: f64, multiplier: f64) -> Result<f64, Problem> {
    if !offset.is_finite() {
        return Err(Problem::Offset { element, value: offset });
    }
    if !(multiplier > 0.0 && multiplier < f64::INFINITY) {
        return Err(Problem::Multiplier { element, value: multiplier });
    }
    Ok((y - offset) / multiplier)
}

/// Applies an inverse of one element to all elements and lanes.
pub(super) fn unconstrain(
    (declared, size, lanes): (&'static str, usize, usize),
    (first, second): (Bound<'_>, Bound<'_>),
    constrained: &[f64],
    free: &mut [f64],
    inverse: impl Fn(usize, f64, f64, f64) -> Result<f64, Problem>,
) -> Result<(), TransformError> {
    for e in 0..size {
        let (a, b) = (first.row(e, lanes), second.row(e, lanes));
        for (lane, (&y, x)) in row(constrained, e, lanes).iter().zip(row_mut(free, e, lanes)).enumerate() {
            let result = inverse(e + 1, y, a.at(lane), b.at(lane));
            *x = result.map_err(|problem| TransformError { lane, declared, problem })?;
        }
    }
    Ok(())
}
