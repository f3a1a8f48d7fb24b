//! The first passage time of a Wiener process with drift. The mathematics are those of `crust_math`; here both series
//! are computed for all items, from few exponentials: their terms are powers of each other.

use std::f64::consts::PI;

use crust_math::lanes::scalar::{cos, exp, log, sin};

use crust_math::special::LN_SQRT_TAU;

use super::row::{all, each, finite, ordinary};
use crate::machine::Rows;

/// log π
const LN_PI: f64 = 1.144_729_885_849_400_2;

/// From here on the late series is taken, as in the exact density.
const LATE: f64 = 0.4;

/// Σ (w + 2k) e, Σ (w + 2k)³ e and Σ (1 − (w + 2k)²/x) e over k = −4 … 4 with e = exp(−2k (w + k)/x), from the smallest
/// terms to the largest.
#[inline(always)]
fn early(x: f64, w: f64) -> [f64; 3] {
    let inverse = 1.0 / x;
    // e₁ and e₋₁; the factor from one term to the next grows by their product squared.
    let (up, down) = (exp(-2.0 * (1.0 + w) * inverse), exp(-2.0 * (1.0 - w) * inverse));
    let grows = exp(-4.0 * inverse);
    let (mut ups, mut downs) = ([up; 4], [down; 4]);
    let (mut to_up, mut to_down) = (up * grows, down * grows);
    for m in 1..4 {
        ups[m] = ups[m - 1] * to_up;
        downs[m] = downs[m - 1] * to_down;
        to_up *= grows;
        to_down *= grows;
    }
    let (mut sum, mut d_x, mut d_w) = (0.0, 0.0, 0.0);
    for (m, k) in [(3, 8.0), (2, 6.0), (1, 4.0), (0, 2.0)] {
        for (a, e) in [(w + k, ups[m]), (w - k, downs[m])] {
            sum += a * e;
            d_x += a * a * a * e;
            d_w += (1.0 - a * a * inverse) * e;
        }
    }
    [sum + w, d_x + w * w * w, d_w + (1.0 - w * w * inverse)]
}

/// Σ k q^(k² − 1) sin(kπw), the same times −½k²π², and its derivative by w, over k = 6 … 1 with q = exp(−½π²x).
#[inline(always)]
fn late(x: f64, w: f64) -> [f64; 3] {
    let q = exp(-0.5 * PI * PI * x);
    let (q2, sine, cosine) = (q * q, sin(PI * w), cos(PI * w));
    let (q3, q4) = (q2 * q, q2 * q2);
    let q8 = q4 * q4;
    let (q15, q24) = (q8 * q4 * q3, q8 * q8 * q8);
    let powers = [1.0, q3, q8, q15, q24, q24 * q8 * q3];
    let (mut sines, mut cosines) = ([sine; 6], [cosine; 6]);
    for k in 1..6 {
        sines[k] = sines[k - 1] * cosine + cosines[k - 1] * sine;
        cosines[k] = cosines[k - 1] * cosine - sines[k - 1] * sine;
    }
    let (mut sum, mut d_x, mut d_w) = (0.0, 0.0, 0.0);
    for (i, k) in [(5, 6.0), (4, 5.0), (3, 4.0), (2, 3.0), (1, 2.0), (0, 1.0)] {
        let e = k * powers[i];
        sum += e * sines[i];
        d_x -= 0.5 * k * k * PI * PI * e * sines[i];
        d_w += k * PI * e * cosines[i];
    }
    [sum, d_x, d_w]
}

/// δ α w − ½ δ² t − 2 log α + log φ(x, w) with t = y − τ, x = t/α² and w = 1 − β
#[inline(always)]
pub fn wiener(rows: &mut Rows) -> bool {
    let [y, alpha, tau, beta, delta] = rows.arguments;
    let inside = all(beta, |beta| beta > 0.0 && beta < 1.0) && all(tau, |tau| tau > 0.0);
    if !(inside && all(y, finite) && all(alpha, ordinary) && all(tau, finite) && all(delta, finite)) {
        return false;
    }
    let mut before = 0_u64;
    for (y, tau) in y.iter().zip(tau) {
        before |= u64::from(y.partial_cmp(tau) != Some(std::cmp::Ordering::Greater));
    }
    if before != 0 {
        return false;
    }
    let value = &mut *rows.value;
    let [d_y, d_alpha, d_tau, d_beta, d_delta] = rows.partials;
    each!([y, alpha, tau, beta, delta], [], [value, d_y, d_alpha, d_tau, d_beta, d_delta], {
        let (t, w, inverse) = (y - tau, 1.0 - beta, 1.0 / alpha);
        let x = t * inverse * inverse;
        let (soon, later) = (early(x, w), late(x, w));
        let is_late = x >= LATE;
        let (sum, by_x, by_w) = (
            if is_late { later[0] } else { soon[0] },
            if is_late { later[1] } else { soon[1] },
            if is_late { later[2] } else { soon[2] },
        );
        let (inverse_sum, inverse_x, log_x) = (1.0 / sum, 1.0 / x, log(x));
        let of_early = -0.5 * w * w * inverse_x - LN_SQRT_TAU - 1.5 * log_x;
        let of_late = LN_PI - 0.5 * PI * PI * x;
        let kernel = log(sum) + if is_late { of_late } else { of_early };
        let slope_early = 0.5 * by_x * inverse_sum * inverse_x * inverse_x - 1.5 * inverse_x;
        let d_x = if is_late { by_x * inverse_sum } else { slope_early };
        let d_w = by_w * inverse_sum;
        let start = alpha * w;
        let d_t = -0.5 * delta * delta + d_x * inverse * inverse;
        *value = delta * start - 0.5 * delta * delta * t - 2.0 * log(alpha) + kernel;
        *d_y = d_t;
        *d_alpha = delta * w - 2.0 * inverse - 2.0 * d_x * x * inverse;
        *d_tau = -d_t;
        *d_beta = -delta * alpha - d_w;
        *d_delta = start - delta * t;
    });
    all(value, finite)
}
