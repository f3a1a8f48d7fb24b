//! Sine and cosine: reduction by multiples of π/2 in three parts (Cody and Waite 1980) and two polynomials.

use super::exponential::ROUND;
use std::f64::consts::FRAC_2_PI;

/// The largest |x| for which the reduction is exact enough; beyond it the kernels here give NaN.
pub const TRIGONOMETRIC_LIMIT: f64 = 1.0e5;

/// π/2 in parts of 35, 35 and 53 bits: multiples up to 2^18 of the first two are exact.
const PIO2: [f64; 3] = [1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23];

/// sin(x + quadrant·π/2).
#[inline(always)]
fn sin_quadrant(x: f64, quadrant: u64) -> f64 {
    let marker = x.mul_add(FRAC_2_PI, ROUND);
    let k = ROUND - marker;
    let first = k.mul_add(PIO2[0], x);
    let second = k.mul_add(PIO2[1], first);
    let second_low = k.mul_add(PIO2[1], first - second);
    let r = k.mul_add(PIO2[2], second);
    let r_low = k.mul_add(PIO2[2], second - r) + second_low;
    let n = marker.to_bits().wrapping_add(quadrant);
    let value = if n & 1 == 0 { sin_reduced(r, r_low) } else { cos_reduced(r, r_low) };
    let signed = f64::from_bits(value.to_bits() ^ ((n & 2) << 62));
    if x.abs() <= TRIGONOMETRIC_LIMIT { signed } else { f64::NAN }
}

/// sin(r + low) for |r| ≤ π/4. Minimax fit of our own; error 2^-58.
#[inline(always)]
fn sin_reduced(r: f64, low: f64) -> f64 {
    let z = r * r;
    let series = z
        .mul_add(1.5896795378750696e-10, -2.5050758112431017e-08)
        .mul_add(z, 2.755731369191766e-06)
        .mul_add(z, -0.00019841269829807892)
        .mul_add(z, 0.008333333333322413)
        .mul_add(z, -0.16666666666666632);
    let slope = z.mul_add(-0.5, 1.0);
    r + (r * z).mul_add(series, low * slope)
}

/// cos(r + low) for |r| ≤ π/4. Minimax fit of our own; error 2^-64.
#[inline(always)]
fn cos_reduced(r: f64, low: f64) -> f64 {
    let z = r * r;
    let series = z
        .mul_add(-1.1359647829820196e-11, 2.0875723274695576e-09)
        .mul_add(z, -2.7557314352351183e-07)
        .mul_add(z, 2.4801587289482272e-05)
        .mul_add(z, -0.0013888888888874125)
        .mul_add(z, 0.0416666666666666);
    let main = z.mul_add(-0.5, 1.0);
    let error = z.mul_add(-0.5, 1.0 - main);
    main + (z * z).mul_add(series, (-r).mul_add(low, error))
}

/// sin(x) for |x| ≤ [`TRIGONOMETRIC_LIMIT`]; NaN beyond.
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    let result = sin_quadrant(x, 0);
    if x == 0.0 { x } else { result }
}

/// cos(x) for |x| ≤ [`TRIGONOMETRIC_LIMIT`]; NaN beyond.
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    sin_quadrant(x, 1)
}
