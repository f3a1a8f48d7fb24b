//! More distributions of positive numbers: Pareto, log-logistic, Fréchet, Rayleigh, scaled inverse χ².

use crust_math::lanes::scalar::{digamma, lgamma, log, log1p, log1p_exp_with_slope, pow};

use super::row::{Space, all, each, factor, finite, inverse_of, log_of, nonnegative, ordinary};
use crate::machine::Rows;

/// Whether `y − least` is not negative anywhere.
#[inline(always)]
fn not_below(y: &[f64], least: &[f64]) -> bool {
    let mut above = Space::empty();
    above.zeros(y.len());
    each!([y, least], [], [above], { *above = y - least });
    all(&above, nonnegative)
}

/// log α + α log m − (α + 1) log y for y ≥ m
#[inline(always)]
pub fn pareto(rows: &mut Rows) -> bool {
    let ([y, least, alpha, ..], terms, wanted) = (rows.arguments, rows.terms, rows.wanted);
    let fine = all(y, ordinary) && all(least, ordinary) && all(alpha, ordinary) && not_below(y, least);
    if !(terms.keep(0b111) && fine) {
        return false;
    }
    let of_alpha = wanted & 0b100 != 0;
    let (mut log_y, mut log_least, mut log_alpha) = (Space::empty(), Space::empty(), Space::empty());
    let (mut inverse_y, mut inverse_least, mut inverse_alpha) = (Space::empty(), Space::empty(), Space::empty());
    log_of(rows.hoisted(0), terms.keep(0b101) || of_alpha, &mut log_y);
    log_of(rows.hoisted(1), terms.keep(0b110) || of_alpha, &mut log_least);
    log_of(rows.hoisted(2), terms.keep(0b100), &mut log_alpha);
    inverse_of(rows.hoisted(0), wanted & 0b001 != 0, &mut inverse_y);
    inverse_of(rows.hoisted(1), wanted & 0b010 != 0, &mut inverse_least);
    inverse_of(rows.hoisted(2), of_alpha, &mut inverse_alpha);
    let [power, scale] = [0b101, 0b110].map(|mask| factor(terms.keep(mask)));
    let value = &mut *rows.value;
    let [d_y, d_least, d_alpha, ..] = rows.partials;
    each!(
        [alpha, log_y, log_least, log_alpha, inverse_y, inverse_least, inverse_alpha],
        [power, scale],
        [value, d_y, d_least, d_alpha],
        {
            *value = log_alpha + scale * (alpha * log_least) - power * ((alpha + 1.0) * log_y);
            *d_y = -(alpha + 1.0) * inverse_y;
            *d_least = alpha * inverse_least;
            *d_alpha = inverse_alpha + log_least - log_y;
        }
    );
    all(value, finite)
}

/// log α − log λ − (α + 1) log(1 + (y − μ)/λ) for y ≥ μ
#[inline(always)]
pub fn pareto_type_2(rows: &mut Rows) -> bool {
    let ([y, mu, lambda, alpha, ..], terms) = (rows.arguments, rows.terms);
    let fine = all(y, finite) && all(mu, finite) && all(lambda, ordinary) && all(alpha, ordinary);
    if !(terms.keep(0b1111) && fine && not_below(y, mu)) {
        return false;
    }
    let (mut log_lambda, mut log_alpha) = (Space::empty(), Space::empty());
    let (mut inverse_lambda, mut inverse_alpha) = (Space::empty(), Space::empty());
    log_of(rows.hoisted(2), terms.keep(0b0100), &mut log_lambda);
    log_of(rows.hoisted(3), terms.keep(0b1000), &mut log_alpha);
    inverse_of(rows.hoisted(2), true, &mut inverse_lambda);
    inverse_of(rows.hoisted(3), rows.wanted & 0b1000 != 0, &mut inverse_alpha);
    let value = &mut *rows.value;
    let [d_y, d_mu, d_lambda, d_alpha, ..] = rows.partials;
    each!(
        [y, mu, lambda, alpha, log_lambda, log_alpha, inverse_lambda, inverse_alpha],
        [],
        [value, d_y, d_mu, d_lambda, d_alpha],
        {
            let ratio = (y - mu) * inverse_lambda;
            let log_ratio = log1p(ratio);
            let inverse = 1.0 / (lambda + (y - mu));
            let slope = (alpha + 1.0) * inverse;
            *value = log_alpha - log_lambda - (alpha + 1.0) * log_ratio;
            *d_y = -slope;
            *d_mu = slope;
            *d_lambda = (alpha * ratio - 1.0) * inverse;
            *d_alpha = inverse_alpha - log_ratio;
        }
    );
    all(value, finite)
}

/// log β − β log α + (β − 1) log y − 2 log(1 + (y/α)^β)
#[inline(always)]
pub fn loglogistic(rows: &mut Rows) -> bool {
    let ([y, alpha, beta, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b111) && all(y, ordinary) && all(alpha, ordinary) && all(beta, ordinary)) {
        return false;
    }
    let (mut log_y, mut log_alpha, mut log_beta) = (Space::empty(), Space::empty(), Space::empty());
    let (mut inverse_y, mut inverse_alpha, mut inverse_beta) = (Space::empty(), Space::empty(), Space::empty());
    log_of(rows.hoisted(0), true, &mut log_y);
    log_of(rows.hoisted(1), terms.keep(0b110), &mut log_alpha);
    log_of(rows.hoisted(2), terms.keep(0b110), &mut log_beta);
    inverse_of(rows.hoisted(0), rows.wanted & 0b001 != 0, &mut inverse_y);
    inverse_of(rows.hoisted(1), true, &mut inverse_alpha);
    inverse_of(rows.hoisted(2), rows.wanted & 0b100 != 0, &mut inverse_beta);
    let value = &mut *rows.value;
    let [d_y, d_alpha, d_beta, ..] = rows.partials;
    each!(
        [y, alpha, beta, log_y, log_alpha, log_beta, inverse_y, inverse_alpha, inverse_beta],
        [],
        [value, d_y, d_alpha, d_beta],
        {
            let log_ratio = log(y / alpha);
            let z = beta * log_ratio;
            let (softplus, tail) = log1p_exp_with_slope(-z.abs());
            let positive = if z > 0.0 { z } else { 0.0 };
            // 1 − 2F, by whichever tail is small.
            let centred = (1.0 - 2.0 * tail).copysign(-z);
            *value = (beta - 1.0) * log_y - 2.0 * (positive + softplus) + (log_beta - beta * log_alpha);
            *d_y = (beta * centred - 1.0) * inverse_y;
            *d_alpha = -beta * inverse_alpha * centred;
            *d_beta = inverse_beta + log_ratio * centred;
        }
    );
    all(value, finite)
}

/// log α − (α + 1) log y + α log σ − (σ/y)^α
#[inline(always)]
pub fn frechet(rows: &mut Rows) -> bool {
    let ([y, alpha, sigma, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b111) && all(y, ordinary) && all(alpha, ordinary) && all(sigma, ordinary)) {
        return false;
    }
    let (mut log_y, mut log_alpha, mut log_sigma) = (Space::empty(), Space::empty(), Space::empty());
    let (mut inverse_y, mut inverse_alpha, mut inverse_sigma) = (Space::empty(), Space::empty(), Space::empty());
    log_of(rows.hoisted(0), true, &mut log_y);
    log_of(rows.hoisted(1), terms.keep(0b010), &mut log_alpha);
    log_of(rows.hoisted(2), true, &mut log_sigma);
    inverse_of(rows.hoisted(0), rows.wanted & 0b001 != 0, &mut inverse_y);
    inverse_of(rows.hoisted(1), rows.wanted & 0b010 != 0, &mut inverse_alpha);
    inverse_of(rows.hoisted(2), rows.wanted & 0b100 != 0, &mut inverse_sigma);
    let [shape, scale] = [0b011, 0b110].map(|mask| factor(terms.keep(mask)));
    let value = &mut *rows.value;
    let [d_y, d_alpha, d_sigma, ..] = rows.partials;
    each!(
        [y, alpha, sigma, log_y, log_alpha, log_sigma, inverse_y, inverse_alpha, inverse_sigma],
        [shape, scale],
        [value, d_y, d_alpha, d_sigma],
        {
            let power = pow(sigma / y, alpha);
            *value = log_alpha - shape * ((alpha + 1.0) * log_y) + scale * (alpha * log_sigma) - power;
            *d_y = (alpha * power - (alpha + 1.0)) * inverse_y;
            *d_alpha = inverse_alpha + (1.0 - power) * (log_sigma - log_y);
            *d_sigma = alpha * inverse_sigma * (1.0 - power);
        }
    );
    all(value, finite)
}

/// log y − 2 log σ − ½ (y/σ)²
#[inline(always)]
pub fn rayleigh(rows: &mut Rows) -> bool {
    let ([y, sigma, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b11) && all(y, ordinary) && all(sigma, ordinary)) {
        return false;
    }
    let (mut log_y, mut log_sigma) = (Space::empty(), Space::empty());
    let (mut inverse_y, mut inverse) = (Space::empty(), Space::empty());
    log_of(rows.hoisted(0), terms.keep(0b01), &mut log_y);
    log_of(rows.hoisted(1), terms.keep(0b10), &mut log_sigma);
    inverse_of(rows.hoisted(0), rows.wanted & 0b01 != 0, &mut inverse_y);
    inverse_of(rows.hoisted(1), true, &mut inverse);
    let value = &mut *rows.value;
    let [d_y, d_sigma, ..] = rows.partials;
    each!([y, log_y, log_sigma, inverse_y, inverse], [], [value, d_y, d_sigma], {
        let z = y * inverse;
        *value = log_y - 2.0 * log_sigma - 0.5 * z * z;
        *d_y = inverse_y - z * inverse;
        *d_sigma = (z * z - 2.0) * inverse;
    });
    all(value, finite)
}

/// Neither its square nor that of its reciprocal leaves the range of numbers.
#[inline(always)]
fn square(s: f64) -> bool {
    s > 1e-140 && s < 1e140
}

/// h log h − log Γ(h) + ν log s − (h + 1) log y − h s²/y, h = ½ν
#[inline(always)]
pub fn scaled_inv_chi_square(rows: &mut Rows) -> bool {
    let ([y, nu, s, ..], terms, wanted) = (rows.arguments, rows.terms, rows.wanted);
    if !(terms.keep(0b111) && all(y, ordinary) && all(nu, ordinary) && all(s, square)) {
        return false;
    }
    let of_nu = wanted & 0b010 != 0;
    let (mut log_y, mut log_s, mut norm, mut psi) = (Space::empty(), Space::empty(), Space::empty(), Space::empty());
    let (mut inverse_y, mut inverse_s) = (Space::empty(), Space::empty());
    log_of(rows.hoisted(0), terms.keep(0b011) || of_nu, &mut log_y);
    log_of(rows.hoisted(2), terms.keep(0b110) || of_nu, &mut log_s);
    inverse_of(rows.hoisted(0), true, &mut inverse_y);
    inverse_of(rows.hoisted(2), wanted & 0b100 != 0, &mut inverse_s);
    let mut hoisted = rows.hoisted(1);
    hoisted.map(
        terms.keep(0b010),
        &mut norm,
        #[inline(always)]
        |nu| 0.5 * nu * log(0.5 * nu) - lgamma(0.5 * nu),
    );
    hoisted.map(
        of_nu,
        &mut psi,
        #[inline(always)]
        |nu| (log(0.5 * nu) + 1.0) - digamma(0.5 * nu),
    );
    let [scale, power] = [0b110, 0b011].map(|mask| factor(terms.keep(mask)));
    let value = &mut *rows.value;
    let [d_y, d_nu, d_s, ..] = rows.partials;
    each!([nu, s, log_y, log_s, norm, psi, inverse_y, inverse_s], [scale, power], [value, d_y, d_nu, d_s], {
        let half = 0.5 * nu;
        let ratio = s * s * inverse_y;
        *value = norm + scale * (nu * log_s) - power * ((half + 1.0) * log_y) - half * ratio;
        *d_y = (half * ratio - half - 1.0) * inverse_y;
        *d_nu = 0.5 * (psi - log_y - ratio) + log_s;
        *d_s = nu * inverse_s - nu * s * inverse_y;
    });
    all(value, finite)
}
