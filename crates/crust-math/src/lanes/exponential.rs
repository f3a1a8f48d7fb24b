//! Kernels around the exponential function: reduction to |r| ≤ ln 2 / 2 (Cody and Waite 1980) and a polynomial.

use std::f64::consts::LOG2_E;

/// 1.5·2^52: after adding it the last bits of the representation hold the nearest integer.
pub(super) const ROUND: f64 = 6755399441055744.0;
/// ln 2 = `LN2_HI` + `LN2_LO`; `LN2_HI` has 41 bits, so that its product with an exponent is exact.
pub(super) const LN2_HI: f64 = 0.693147180559663;
pub(super) const LN2_LO: f64 = 2.8235290563031577e-13;

/// An argument reduced to x = k ln 2 + r, with `r` rounded. `marker` holds k + 2046 in its last bits.
struct Reduced {
    marker: f64,
    k: f64,
    r: f64,
}

/// Reduces `x + low`, where `low` is at most a few units in the last place of `x`; |x| ≤ 750.
#[inline(always)]
fn reduce(x: f64, low: f64) -> Reduced {
    let marker = x.mul_add(LOG2_E, ROUND + 2046.0);
    let k = marker - (ROUND + 2046.0);
    let r = (-k).mul_add(LN2_HI, x) + (-k).mul_add(LN2_LO, low);
    Reduced { marker, k, r }
}

/// exp(r)·2^k. The power of two is applied in two steps, so that results near both ends of the range are right.
#[inline(always)]
fn exp_reduced(Reduced { marker, k, r }: Reduced) -> f64 {
    let p = r.mul_add(r.mul_add(exp_tail(r), 1.0), 1.0);
    let half = k.mul_add(0.5, ROUND + 1023.0);
    let first = f64::from_bits(half.to_bits() << 52);
    let second = f64::from_bits(marker.to_bits().wrapping_sub(half.to_bits()) << 52);
    p * first * second
}

/// (exp(r) - 1 - r) / r² for |r| ≤ ln 2 / 2. Minimax fit of our own; error 2^-57.9 relative to exp(r).
#[inline(always)]
fn exp_tail(r: f64) -> f64 {
    let r2 = r * r;
    let c10 = r.mul_add(2.5000084424763782e-08, 2.763024879550909e-07);
    let c8 = r.mul_add(2.7557586290886264e-06, 2.480149309782968e-05);
    let c6 = r.mul_add(0.00019841269506688846, 0.0013888888943631083);
    let c4 = r.mul_add(0.008333333333494399, 0.041666666666530155);
    let c2 = r.mul_add(0.16666666666666413, 0.5000000000000011);
    c10.mul_add(r2, c8).mul_add(r2, c6).mul_add(r2, c4).mul_add(r2, c2)
}

/// Restricts to [low, high]; NaN stays.
#[inline(always)]
pub(super) fn clamp(x: f64, low: f64, high: f64) -> f64 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// exp(x).
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let x = clamp(x, -746.0, 710.0);
    let marker = x.mul_add(LOG2_E, ROUND + 2046.0);
    let k = marker - (ROUND + 2046.0);
    let r = (-k).mul_add(LN2_LO, (-k).mul_add(LN2_HI, x));
    exp_reduced(Reduced { marker, k, r })
}

/// exp(x + low), where `low` is small against `x`.
#[inline(always)]
pub(super) fn exp_sum(x: f64, low: f64) -> f64 {
    exp_reduced(reduce(clamp(x, -746.0, 710.0), low))
}

/// (exp(r) - 1 - r) / r² for |r| ≤ ln 2 / 2. Minimax fit of our own; error 2^-61.7 relative to exp(r) - 1.
#[inline(always)]
fn expm1_tail(r: f64) -> f64 {
    let r2 = r * r;
    let c11 = r.mul_add(2.0924477702925824e-09, 2.5109044865949755e-08);
    let c9 = r.mul_add(2.7557242632695126e-07, 2.755724418206006e-06);
    let c7 = r.mul_add(2.4801587360731425e-05, 0.00019841269886158327);
    let c5 = r.mul_add(0.0013888888888866728, 0.008333333333321615);
    let c3 = r.mul_add(0.0416666666666667, 0.16666666666666677);
    c11.mul_add(r2, c9).mul_add(r2, c7).mul_add(r2, c5).mul_add(r2, c3).mul_add(r, 0.5)
}

/// exp(x) - 1.
///
/// With s = 2^(k-1) the result is 2·((s - ½) + s·(exp(r) - 1)); s - ½, its sum with s·r, and r itself are kept with
/// their rounding errors.
#[inline(always)]
pub fn expm1(x: f64) -> f64 {
    let bounded = clamp(x, -40.0, 710.0);
    let marker = bounded.mul_add(LOG2_E, ROUND + 1022.0);
    let k = marker - (ROUND + 1022.0);
    let high = (-k).mul_add(LN2_HI, bounded);
    let r = (-k).mul_add(LN2_LO, high);
    let r_low = (-k).mul_add(LN2_LO, high - r);
    let tail = r.mul_add(r.mul_add(expm1_tail(r), r_low), r_low);
    let s = f64::from_bits(marker.to_bits() << 52);
    let offset = s - 0.5;
    let sum = s.mul_add(r, offset);
    let error = s.mul_add(r, offset - sum) + ((s - offset) - 0.5);
    let result = 2.0 * (sum + s.mul_add(tail, error));
    // Below 2^-54 the result is x, including the sign of zero and subnormal numbers.
    if x.abs() < 5.0e-17 { x } else { result }
}

/// 1 / (1 + exp(-x)).
#[inline(always)]
pub fn inv_logit(x: f64) -> f64 {
    let e = exp(-x.abs());
    let numerator = if x < 0.0 { e } else { 1.0 };
    numerator / (1.0 + e)
}

/// tanh(x) = e / (e + 2) with e = exp(2x) - 1, divided with the rounding error of the denominator.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let e = expm1(2.0 * clamp(x.abs(), 0.0, 20.0));
    let (larger, smaller) = if e > 2.0 { (e, 2.0) } else { (2.0, e) };
    let denominator = larger + smaller;
    let low = smaller - (denominator - larger);
    let reciprocal = 1.0 / denominator;
    let quotient = e * reciprocal;
    let rest = (-quotient).mul_add(low, (-quotient).mul_add(denominator, e));
    let result = rest.mul_add(reciprocal, quotient);
    // Below 2^-28 the result is x; e would be rounded if it is subnormal.
    if x.abs() < 3.0e-9 { x } else { result.copysign(x) }
}
