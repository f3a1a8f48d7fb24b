//! Powers: the logarithm as a sum of two numbers (about 2^-65), times y, and the exponential of the sum.

use super::exponential::{LN2_HI, LN2_LO, clamp, exp_sum};
use super::logarithm::{Split, split};

/// A number as the unevaluated sum of two (Dekker 1971).
#[derive(Clone, Copy)]
struct Double {
    high: f64,
    low: f64,
}

/// ⅓.
const THIRD: Double = Double { high: 0.3333333333333333, low: 1.850371707708594e-17 };

impl Double {
    /// a + b for |a| ≥ |b| or a = 0, and a further small part.
    #[inline(always)]
    fn sum(a: f64, b: f64, small: f64) -> Self {
        let high = a + b;
        Self { high, low: (a - high) + b + small }
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let high = self.high * other.high;
        let error = self.high.mul_add(other.high, -high);
        Self { high, low: self.high.mul_add(other.low, self.low.mul_add(other.high, error)) }
    }
}

/// The logarithm of a positive finite number, as a sum: 2 atanh(s) = 2s·(1 + z/3 + z²·P(z)) with s = f / (2 + f), z =
/// s².
#[inline(always)]
fn log_double(x: f64) -> Double {
    let Split { e, f } = split(x);
    let t = 2.0 + f;
    let t_low = f - (t - 2.0);
    let reciprocal = 1.0 / t;
    let high = f * reciprocal;
    let s = Double { high, low: reciprocal * (-high).mul_add(t_low, (-high).mul_add(t, f)) };
    let z = s.times(s);
    let zh = z.high;
    let series = zh
        .mul_add(0.05994824511602096, 0.05837371114249311)
        .mul_add(zh, 0.06668160586688829)
        .mul_add(zh, 0.07692278386750825)
        .mul_add(zh, 0.09090909435871128)
        .mul_add(zh, 0.11111111108762423)
        .mul_add(zh, 0.14285714285722578)
        .mul_add(zh, 0.1999999999999999);
    let cubic = Double::sum(THIRD.high, zh * series, THIRD.low);
    let correction = s.times(z.times(cubic));
    let atanh = Double::sum(s.high, correction.high, s.low + correction.low);
    Double::sum(e * LN2_HI, 2.0 * atanh.high, e.mul_add(LN2_LO, 2.0 * atanh.low))
}

/// x to the power y and log x, for positive finite x and finite y: with the logarithm, which the power needs anyway,
/// come the derivatives.
#[inline(always)]
pub fn pow_with_log(x: f64, y: f64) -> (f64, f64) {
    let log = log_double(x);
    (exp_product(log, y), log.high + log.low)
}

/// exp(y·log)
#[inline(always)]
fn exp_product(log: Double, y: f64) -> f64 {
    let product = y * log.high;
    let error = y.mul_add(log.low, y.mul_add(log.high, -product));
    // Far outside of the range of the exponential the error may be infinite or NaN, and does not matter.
    let error = if product.abs() < 1000.0 { error } else { 0.0 };
    exp_sum(clamp(product, -1000.0, 1000.0), error)
}

/// x to the power y, with the special cases of IEEE 754 (C99 Annex F).
#[inline(always)]
pub fn pow(x: f64, y: f64) -> f64 {
    let a = x.abs();
    let power = exp_product(log_double(a), y);

    let (at_zero, at_infinity) = if y < 0.0 { (f64::INFINITY, 0.0) } else { (0.0, f64::INFINITY) };
    let power = if a == 0.0 { at_zero } else { power };
    let power = if a == f64::INFINITY { at_infinity } else { power };
    let power = if a == 1.0 { 1.0 } else { power };

    let integer = y.trunc() == y;
    let half = 0.5 * y;
    let odd = integer & (half.trunc() != half);
    let sign = if odd { x.to_bits() & (1 << 63) } else { 0 };
    let signed = f64::from_bits(power.to_bits() | sign);

    let undefined = (x < 0.0) & !integer & (a < f64::INFINITY) & (a != 0.0);
    let signed = if undefined | x.is_nan() | y.is_nan() { f64::NAN } else { signed };
    if (y == 0.0) | (x == 1.0) { 1.0 } else { signed }
}
