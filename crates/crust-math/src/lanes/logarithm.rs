//! Kernels around the logarithm: x = 2^e·(1 + f) with 1 + f in [√½, √2), and a series in s = f / (2 + f).

use super::exponential::{LN2_HI, LN2_LO, ROUND, exp, expm1};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

const TWO_52: f64 = 4503599627370496.0;
const MANTISSA: u64 = (1 << 52) - 1;
const ONE: u64 = 1.0_f64.to_bits();

/// A positive finite number as 2^e·(1 + f).
pub(super) struct Split {
    pub(super) e: f64,
    pub(super) f: f64,
}

/// Splits a positive finite number, subnormal or not. Other arguments give unspecified numbers.
#[inline(always)]
pub(super) fn split(x: f64) -> Split {
    let subnormal = x < f64::MIN_POSITIVE;
    let scaled = if subnormal { x * TWO_52 } else { x };
    let bias = if subnormal { TWO_52 + 1023.0 + 52.0 } else { TWO_52 + 1023.0 };
    split_normal(scaled, bias)
}

/// Splits a normal number; `bias` is 2^52 + 1023 plus what is to be subtracted from the exponent.
#[inline(always)]
fn split_normal(x: f64, bias: f64) -> Split {
    // Shifted so that the exponent field changes at √½ instead of 1.
    let shifted = x.to_bits().wrapping_add(ONE - FRAC_1_SQRT_2.to_bits());
    let e = f64::from_bits((shifted >> 52) | TWO_52.to_bits()) - bias;
    let m = f64::from_bits((shifted & MANTISSA).wrapping_add(FRAC_1_SQRT_2.to_bits()));
    Split { e, f: m - 1.0 }
}

/// e ln 2 + log(1 + f + low), where `low` is at most about half a unit in the last place of f.
///
/// log(1 + f) = f - s·(f - R(s²)) with s = f / (2 + f), as in fdlibm (Sun 1993); the fit is our own, with error 2^-58.5
/// in R. The sum e ln 2 + f is kept with its rounding error.
#[inline(always)]
fn log_split(split: Split, low: f64) -> f64 {
    let s = split.f / (2.0 + split.f);
    log_series(split, low, s)
}

/// The same where s is known.
#[inline(always)]
fn log_series(Split { e, f }: Split, low: f64, s: f64) -> f64 {
    let z = s * s;
    let z2 = z * z;
    let c6 = z.mul_add(0.14796728714199203, 0.15313977034671328);
    let c4 = z.mul_add(0.18183567022039315, 0.22222198524909909);
    let c2 = z.mul_add(0.2857142874282078, 0.3999999999941291);
    let series = c6.mul_add(z2, c4).mul_add(z2, c2).mul_add(z, 0.6666666666666735);
    let sum = e.mul_add(LN2_HI, f);
    let error = e.mul_add(LN2_HI, -sum) + f;
    let tail = (-s).mul_add((-z).mul_add(series, f), e.mul_add(LN2_LO, error + low));
    sum + tail
}

/// Replaces the result for arguments of the logarithm that are not positive and finite.
#[inline(always)]
fn with_specials(x: f64, result: f64) -> f64 {
    let result = if x < f64::INFINITY { result } else { x };
    let outside = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    if x <= 0.0 { outside } else { result }
}

/// The natural logarithm.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    with_specials(x, log_split(split(x), 0.0))
}

/// A positive finite number as 2^e·m, with m in [√½, √2): logarithms of products need one logarithm, of the product of
/// the m.
#[inline(always)]
pub fn exponent_and_mantissa(x: f64) -> (f64, f64) {
    let Split { e, f } = split(x);
    (e, 1.0 + f)
}

/// log(2^e·m) for a positive finite m and an integer e of no more than twelve bits.
#[inline(always)]
pub fn log_scaled(e: f64, m: f64) -> f64 {
    let own = split(m);
    log_split(Split { e: own.e + e, f: own.f }, 0.0)
}

/// log(1 + x).
///
/// With u the rounded 1 + x and c its rounding error, the reduced f of u is corrected by c·2^-e.
#[inline(always)]
pub fn log1p(x: f64) -> f64 {
    let u = 1.0 + x;
    let c = if x < 1.0 { x - (u - 1.0) } else { 1.0 - (u - x) };
    let Split { e, f } = split_normal(u, TWO_52 + 1023.0);
    // 2^-e; above 2^60 the correction is lost in any case, and 2^-e might be subnormal.
    let scale = f64::from_bits((TWO_52 + 1023.0 - e).to_bits() << 52);
    let c = if x < 1.0e18 { c * scale } else { 0.0 };
    let high = f + c;
    let low = (f - high) + c;
    // d log(1 + f) = df / (1 + f), where two terms of the series are more than enough for a rounding error.
    let slope = high.mul_add(high - 1.0, 1.0);
    let result = log_split(Split { e, f: high }, low * slope);
    let result = with_specials(u, result);
    if x == 0.0 { x } else { result }
}

/// log(1 + exp(x)), without overflow.
#[inline(always)]
pub fn log1p_exp(x: f64) -> f64 {
    let positive = if x > 0.0 { x } else { 0.0 };
    positive + log1p_unit(exp(-x.abs()))
}

/// log(1 / (1 + exp(-x))).
#[inline(always)]
pub fn log_inv_logit(x: f64) -> f64 {
    -log1p_exp(-x)
}

/// log(1 + exp(x)) and its derivative `inv_logit(x)`, with one exponential.
#[inline(always)]
pub fn log1p_exp_with_slope(x: f64) -> (f64, f64) {
    let e = exp(-x.abs());
    let positive = if x > 0.0 { x } else { 0.0 };
    let numerator = if x < 0.0 { e } else { 1.0 };
    let (log, reciprocal) = log1p_unit_with_reciprocal(e);
    (positive + log, numerator * reciprocal)
}

/// log(1 - exp(-x)) and its derivative 1/(exp(x) - 1), for positive x.
///
/// Below log 2 it is the logarithm of -(exp(-x) - 1); above, where 1 - exp(-x) is rounded, the rounding error is added to
/// the first order.
#[inline(always)]
pub fn log1m_exp_with_slope(x: f64) -> (f64, f64) {
    let (e, difference) = (exp(-x), -expm1(-x));
    let complement = 1.0 - e;
    let small = x < LN_2;
    let p = if small { difference } else { complement };
    let error = if small { 0.0 } else { (1.0 - complement) - e };
    let inverse = 1.0 / p;
    (error * inverse + log(p), e * inverse)
}

/// log(exp(a) + exp(b)) and its derivatives, with one exponential. No number where neither a nor b is above −∞.
#[inline(always)]
pub fn log_add_exp_with_slopes(a: f64, b: f64) -> (f64, [f64; 2]) {
    let difference = b - a;
    let e = exp(-difference.abs());
    let largest = if difference > 0.0 { b } else { a };
    let (log, reciprocal) = log1p_unit_with_reciprocal(e);
    let less = e * reciprocal;
    let slopes = if difference > 0.0 { [less, reciprocal] } else { [reciprocal, less] };
    (largest + log, slopes)
}

/// log(1 + x) for x in [0, 1]; NaN stays.
#[inline(always)]
fn log1p_unit(x: f64) -> f64 {
    let (split, low) = split_unit(x);
    log_split(split, low)
}

/// log(1 + x) and 1/(1 + x) for x in [0, 1], with one division: s is f times a reciprocal, which costs it less than it
/// costs to divide again, and the result of the series half of that.
#[inline(always)]
fn log1p_unit_with_reciprocal(x: f64) -> (f64, f64) {
    let (split, low) = split_unit(x);
    let (a, b) = (2.0 + split.f, 1.0 + x);
    let reciprocal = 1.0 / (a * b);
    let s = split.f * (b * reciprocal);
    (log_series(split, low, s), a * reciprocal)
}

/// 1 + x for x in [0, 1], and the rounding error of f. There e is 0 or 1, and no special value is possible.
#[inline(always)]
fn split_unit(x: f64) -> (Split, f64) {
    // 1 above √2 - 1 and 0 below, by rounding x + 0.0858 to the nearest integer. (With a comparison the compiler would
    // see two constants, and compute all that follows twice.)
    let e = ((x + 0.08578643762690495) + ROUND) - ROUND;
    // Where e = 1 the sum is halved: (1 + x)/2 - 1 = (x - 1)/2, with a rounding error below x = ½.
    let shifted = x - 1.0;
    let f = if e > 0.5 { 0.5 * shifted } else { x };
    // ½ / (1 + f) is about 0.69 where the error is not 0.
    let low = (0.69 * e) * (x - (shifted + 1.0));
    (Split { e, f }, low)
}
