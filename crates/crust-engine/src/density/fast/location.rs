//! Distributions with a location and a scale.

use std::f64::consts::LN_2;

use crust_math::lanes::scalar::{expm1, log, log1p, log1p_exp_with_slope};
use crust_math::special::{LN_SQRT_TAU, digamma, lgamma_difference};

use super::row::{
    Hoisted, Space, all, each, factor, finite, log_blocks, log1p_blocks, map, map_kept, number, ordinary, positive,
    reciprocal,
};
use crate::machine::{Rows, Summed};

/// log π
const LN_PI: f64 = 1.144_729_885_849_400_2;

/// 1/σ, and log σ where that is wanted.
pub(super) struct Scale {
    pub inverse: Space,
    pub log: Space,
}

impl Scale {
    #[inline(always)]
    pub fn empty() -> Self {
        Self { inverse: Space::empty(), log: Space::empty() }
    }

    #[inline(always)]
    pub fn fill(&mut self, mut hoisted: Hoisted, with_log: bool) {
        hoisted.map(
            true,
            &mut self.inverse,
            #[inline(always)]
            |x| reciprocal(x),
        );
        hoisted.map(
            with_log,
            &mut self.log,
            #[inline(always)]
            |x| log(x),
        );
    }
}

/// −½ z² − log σ − log √(2π), z = (y − μ)/σ
#[inline(always)]
pub fn normal(rows: &mut Rows) -> bool {
    let ([y, mu, sigma, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b111) && all(y, number) && all(mu, finite) && all(sigma, positive)) {
        return false;
    }
    let mut scale = Scale::empty();
    match rows.summed {
        Some(Summed { lanes, fixed }) if fixed & 0b100 == 0 && terms.keep(0b100) => {
            if !all(sigma, ordinary) {
                return false;
            }
            scale.fill(rows.hoisted(2), false);
            log_blocks(sigma, lanes, &mut scale.log);
        }
        _ => scale.fill(rows.hoisted(2), terms.keep(0b100)),
    }
    let Scale { inverse, log } = &scale;
    let constant = factor(terms.keep(0)) * LN_SQRT_TAU;
    let value = &mut *rows.value;
    let [d_y, d_mu, d_sigma, ..] = rows.partials;
    each!([y, mu, inverse, log], [constant], [value, d_y, d_mu, d_sigma], {
        let z = (y - mu) * inverse;
        let slope = z * inverse;
        *value = -0.5 * z * z - constant - log;
        *d_y = -slope;
        *d_mu = slope;
        *d_sigma = (z * z - 1.0) * inverse;
    });
    true
}

/// −½ y² − log √(2π)
#[inline(always)]
pub fn std_normal(rows: &mut Rows) -> bool {
    let ([y, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(1) && all(y, number)) {
        return false;
    }
    let constant = factor(terms.keep(0)) * LN_SQRT_TAU;
    let value = &mut *rows.value;
    let [d_y, ..] = rows.partials;
    each!([y], [constant], [value, d_y], {
        *value = -0.5 * y * y - constant;
        *d_y = -y;
    });
    true
}

/// −½ z² − log y − log σ − log √(2π), z = (log y − μ)/σ
#[inline(always)]
pub fn lognormal(rows: &mut Rows) -> bool {
    let ([y, mu, sigma, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b111) && all(y, ordinary) && all(mu, finite) && all(sigma, ordinary)) {
        return false;
    }
    let mut scale = Scale::empty();
    scale.fill(rows.hoisted(2), terms.keep(0b100));
    let Scale { inverse, log: log_sigma } = &scale;
    let (mut log_y, mut inverse_y) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(0);
    hoisted.map(
        true,
        &mut log_y,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        rows.wanted & 1 != 0,
        &mut inverse_y,
        #[inline(always)]
        |x| reciprocal(x),
    );
    let jacobian = factor(terms.keep(0b001));
    let value = &mut *rows.value;
    let [d_y, d_mu, d_sigma, ..] = rows.partials;
    each!([mu, inverse, log_sigma, log_y, inverse_y], [jacobian], [value, d_y, d_mu, d_sigma], {
        let z = (log_y - mu) * inverse;
        let slope = z * inverse;
        // Stan keeps the constant in every mode.
        *value = -LN_SQRT_TAU - 0.5 * z * z - log_sigma - jacobian * log_y;
        *d_y = -(1.0 + slope) * inverse_y;
        *d_mu = slope;
        *d_sigma = (z * z - 1.0) * inverse;
    });
    true
}

/// −½(ν+1) log(1 + z²/ν) + log Γ(½(ν+1)) − log Γ(½ν) − ½ log(νπ) − log σ, z = (y − μ)/σ
#[inline(always)]
pub fn student_t(rows: &mut Rows) -> bool {
    let ([y, nu, mu, sigma, ..], terms) = (rows.arguments, rows.terms);
    let fine = all(y, finite) && all(nu, ordinary) && all(mu, finite) && all(sigma, ordinary);
    if !(terms.keep(0b1111) && fine) {
        return false;
    }
    let mut scale = Scale::empty();
    scale.fill(rows.hoisted(3), terms.keep(0b1000));
    let Scale { inverse, log } = &scale;
    let (mut norm, mut psi, mut inverse_nu) = (Space::empty(), Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(1);
    map_kept!(hoisted, terms.keep(0b10), &mut norm, |nu| lgamma_difference(0.5 * nu, 0.5) - 0.5 * nu.ln());
    map_kept!(hoisted, rows.wanted & 0b10 != 0, &mut psi, |nu| digamma(0.5 * nu + 0.5) - digamma(0.5 * nu));
    hoisted.map(
        true,
        &mut inverse_nu,
        #[inline(always)]
        |x| reciprocal(x),
    );
    let constant = factor(terms.keep(0)) * 0.5 * LN_PI;
    // Sums of logarithms serve where they are all multiplied by the same number.
    let lanes = rows.summed.filter(|summed| summed.fixed & 0b10 != 0).map(|summed| summed.lanes);
    let (mut squares, mut tails) = (Space::empty(), Space::empty());
    let ratios = squares.zeros(y.len());
    each!([y, mu, inverse, inverse_nu], [], [ratios], {
        let z = (y - mu) * inverse;
        *ratios = z * z * inverse_nu;
    });
    log1p_items(&squares, lanes, &mut tails);
    let value = &mut *rows.value;
    let [d_y, d_nu, d_mu, d_sigma, ..] = rows.partials;
    each!([y, nu, mu, inverse, log, norm, psi, inverse_nu, tails], [constant], [value, d_y, d_nu, d_mu, d_sigma], {
        let z = (y - mu) * inverse;
        let square = z * z;
        // (ν + 1)/(ν + z²)
        let weight = (nu + 1.0) / (nu + square);
        let slope = weight * z * inverse;
        let excess = weight * square - 1.0;
        *value = norm - 0.5 * (nu + 1.0) * tails - constant - log;
        *d_y = -slope;
        *d_nu = 0.5 * (psi - tails + excess * inverse_nu);
        *d_mu = slope;
        *d_sigma = excess * inverse;
    });
    // The square overflows for very large z.
    all(value, finite)
}

/// log(1 + x) of items, or sums where only these matter.
#[inline(always)]
fn log1p_items(x: &[f64], lanes: Option<usize>, out: &mut Space) {
    match lanes {
        Some(lanes) => log1p_blocks(x, lanes, out),
        None => map(
            x,
            out.zeros(x.len()),
            #[inline(always)]
            |x| log1p(x),
        ),
    }
}

/// −log(1 + z²) − log σ − log π, z = (y − μ)/σ
#[inline(always)]
pub fn cauchy(rows: &mut Rows) -> bool {
    let ([y, mu, sigma, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b111) && all(y, finite) && all(mu, finite) && all(sigma, ordinary)) {
        return false;
    }
    let mut scale = Scale::empty();
    scale.fill(rows.hoisted(2), terms.keep(0b100));
    let Scale { inverse, log } = &scale;
    let constant = factor(terms.keep(0)) * LN_PI;
    let lanes = rows.summed.map(|summed| summed.lanes);
    let (mut squares, mut tails) = (Space::empty(), Space::empty());
    let room = squares.zeros(y.len());
    each!([y, mu, inverse], [], [room], {
        let z = (y - mu) * inverse;
        *room = z * z;
    });
    log1p_items(&squares, lanes, &mut tails);
    let value = &mut *rows.value;
    let [d_y, d_mu, d_sigma, ..] = rows.partials;
    each!([y, mu, inverse, log, tails], [constant], [value, d_y, d_mu, d_sigma], {
        let z = (y - mu) * inverse;
        let square = z * z;
        let weight = inverse / (1.0 + square);
        let slope = 2.0 * z * weight;
        *value = -tails - constant - log;
        *d_y = -slope;
        *d_mu = slope;
        *d_sigma = (square - 1.0) * weight;
    });
    // The square overflows for very large z.
    all(value, finite)
}

/// −|y − μ|/σ − log σ − log 2
#[inline(always)]
pub fn double_exponential(rows: &mut Rows) -> bool {
    let ([y, mu, sigma, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b111) && all(y, finite) && all(mu, finite) && all(sigma, ordinary)) {
        return false;
    }
    let mut scale = Scale::empty();
    scale.fill(rows.hoisted(2), terms.keep(0b100));
    let Scale { inverse, log } = &scale;
    let constant = factor(terms.keep(0)) * LN_2;
    let value = &mut *rows.value;
    let [d_y, d_mu, d_sigma, ..] = rows.partials;
    each!([y, mu, inverse, log], [constant], [value, d_y, d_mu, d_sigma], {
        let distance = (y - mu).abs() * inverse;
        let slope = if distance == 0.0 { 0.0 } else { inverse.copysign(y - mu) };
        *value = -distance - constant - log;
        *d_y = -slope;
        *d_mu = slope;
        *d_sigma = (distance - 1.0) * inverse;
    });
    true
}

/// −|z| − 2 log(1 + exp(−|z|)) − log σ, z = (y − μ)/σ
#[inline(always)]
pub fn logistic(rows: &mut Rows) -> bool {
    let ([y, mu, sigma, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b111) && all(y, finite) && all(mu, finite) && all(sigma, ordinary)) {
        return false;
    }
    let mut scale = Scale::empty();
    scale.fill(rows.hoisted(2), terms.keep(0b100));
    let Scale { inverse, log } = &scale;
    let value = &mut *rows.value;
    let [d_y, d_mu, d_sigma, ..] = rows.partials;
    each!([y, mu, inverse, log], [], [value, d_y, d_mu, d_sigma], {
        let z = (y - mu) * inverse;
        let (softplus, tail) = log1p_exp_with_slope(-z.abs());
        // 2F − 1
        let centred = (1.0 - 2.0 * tail).copysign(z);
        let slope = centred * inverse;
        *value = -z.abs() - 2.0 * softplus - log;
        *d_y = -slope;
        *d_mu = slope;
        *d_sigma = (z * centred - 1.0) * inverse;
    });
    all(value, finite)
}

/// −z − exp(−z) − log β, z = (y − μ)/β
#[inline(always)]
pub fn gumbel(rows: &mut Rows) -> bool {
    let ([y, mu, beta, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b111) && all(y, finite) && all(mu, finite) && all(beta, ordinary)) {
        return false;
    }
    let mut scale = Scale::empty();
    scale.fill(rows.hoisted(2), terms.keep(0b100));
    let Scale { inverse, log } = &scale;
    let value = &mut *rows.value;
    let [d_y, d_mu, d_beta, ..] = rows.partials;
    each!([y, mu, inverse, log], [], [value, d_y, d_mu, d_beta], {
        let z = (y - mu) * inverse;
        let excess = expm1(-z);
        let slope = -inverse * excess;
        *value = -(z + (excess + 1.0)) - log;
        *d_y = -slope;
        *d_mu = slope;
        *d_beta = slope * z - inverse;
    });
    all(value, finite)
}
