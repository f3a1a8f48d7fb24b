//! Functions of two numbers that are no densities but stand where densities stand: in loops over all observations.

use crust_math::lanes::scalar::{log, log1m_exp_with_slope, log1p_exp_with_slope, pow_with_log};

use super::row::{all, each, finite, ordinary};
use crate::machine::Rows;

/// log(eˣ − eʸ) = x + log(1 − e^{−(x − y)}), where x is above y.
#[inline(always)]
pub fn log_diff_exp(rows: &mut Rows) -> bool {
    let [x, y, ..] = rows.arguments;
    if !(all(x, finite) && all(y, finite)) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_x, d_y, ..] = rows.partials;
    each!([x, y], [], [value, d_x, d_y], {
        let (complement, slope) = log1m_exp_with_slope(x - y);
        *value = x + complement;
        *d_x = 1.0 + slope;
        *d_y = -slope;
    });
    all(value, finite)
}

/// With s(x) = 1/(1 + e⁻ˣ): log(s(x) − s(y)) = log s(x) + log s(−y) + log(1 − e^{−(x − y)}), where x is above y.
#[inline(always)]
pub fn log_inv_logit_diff(rows: &mut Rows) -> bool {
    let [x, y, ..] = rows.arguments;
    if !(all(x, finite) && all(y, finite)) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_x, d_y, ..] = rows.partials;
    each!([x, y], [], [value, d_x, d_y], {
        let (complement, slope) = log1m_exp_with_slope(x - y);
        let ((above, s_above), (below, s_below)) = (log1p_exp_with_slope(-x), log1p_exp_with_slope(y));
        *value = complement - (above + below);
        *d_x = s_above + slope;
        *d_y = -(s_below + slope);
    });
    all(value, finite)
}

/// Of two equal numbers it is the second.
#[inline(always)]
pub fn fmax(rows: &mut Rows) -> bool {
    chosen(rows, 1.0)
}

/// As well.
#[inline(always)]
pub fn fmin(rows: &mut Rows) -> bool {
    chosen(rows, -1.0)
}

#[inline(always)]
fn chosen(rows: &mut Rows, sign: f64) -> bool {
    let [x, y, ..] = rows.arguments;
    if !(all(x, finite) && all(y, finite)) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_x, d_y, ..] = rows.partials;
    each!([x, y], [sign], [value, d_x, d_y], {
        let first = sign * x > sign * y;
        *value = if first { x } else { y };
        *d_x = if first { 1.0 } else { 0.0 };
        *d_y = if first { 0.0 } else { 1.0 };
    });
    true
}

/// x log y
#[inline(always)]
pub fn lmultiply(rows: &mut Rows) -> bool {
    let [x, y, ..] = rows.arguments;
    if !(all(x, finite) && all(y, ordinary)) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_x, d_y, ..] = rows.partials;
    each!([x, y], [], [value, d_x, d_y], {
        let logarithm = log(y);
        *value = x * logarithm;
        *d_x = logarithm;
        *d_y = x / y;
    });
    all(value, finite)
}

#[inline(always)]
pub fn multiply_log(rows: &mut Rows) -> bool {
    lmultiply(rows)
}

/// xʸ of positive x.
#[inline(always)]
pub fn pow(rows: &mut Rows) -> bool {
    let [x, y, ..] = rows.arguments;
    if !(all(x, ordinary) && all(y, finite)) {
        return false;
    }
    let value = &mut *rows.value;
    let [d_x, d_y, ..] = rows.partials;
    each!([x, y], [], [value, d_x, d_y], {
        let (power, logarithm) = pow_with_log(x, y);
        *value = power;
        *d_x = y * (power / x);
        *d_y = power * logarithm;
    });
    let n = value.len();
    all(value, ordinary) && all(&d_x[..n], finite) && all(&d_y[..n], finite)
}
