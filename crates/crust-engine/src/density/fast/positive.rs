//! Distributions of positive numbers, and of numbers in an interval.

use std::f64::consts::LN_2;

use crust_math::lanes::scalar::{digamma, lgamma, log, log1p, pow};

use super::row::{Hoisted, Space, all, each, factor, finite, map, nonnegative, ordinary, reciprocal};
use crate::machine::Rows;

/// log β − β y
#[inline(always)]
pub fn exponential(rows: &mut Rows) -> bool {
    let ([y, beta, ..], terms, wanted) = (rows.arguments, rows.terms, rows.wanted);
    if !(all(y, nonnegative) && all(y, finite) && all(beta, ordinary)) {
        return false;
    }
    let (mut log_beta, mut inverse) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(1);
    hoisted.map(
        terms.keep(0b10),
        &mut log_beta,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        wanted & 0b10 != 0,
        &mut inverse,
        #[inline(always)]
        |x| reciprocal(x),
    );
    let linear = factor(terms.keep(0b11));
    let value = &mut *rows.value;
    let [d_y, d_beta, ..] = rows.partials;
    each!([y, beta, log_beta, inverse], [linear], [value, d_y, d_beta], {
        *value = log_beta - linear * (beta * y);
        *d_y = -beta;
        *d_beta = inverse - y;
    });
    all(value, finite)
}

/// The functions of a shape α and a rate or scale β that the gamma and the inverse gamma distribution have in common.
struct Shape {
    lgamma: Space,
    digamma: Space,
    log_beta: Space,
    inverse_beta: Space,
}

impl Shape {
    #[inline(always)]
    fn empty() -> Self {
        Self { lgamma: Space::empty(), digamma: Space::empty(), log_beta: Space::empty(), inverse_beta: Space::empty() }
    }

    #[inline(always)]
    fn fill(&mut self, rows: &Rows) {
        let (terms, wanted) = (rows.terms, rows.wanted);
        let with_alpha = wanted & 0b10 != 0;
        let mut hoisted = rows.hoisted(1);
        hoisted.map(
            terms.keep(0b10),
            &mut self.lgamma,
            #[inline(always)]
            |x| lgamma(x),
        );
        hoisted.map(
            with_alpha,
            &mut self.digamma,
            #[inline(always)]
            |x| digamma(x),
        );
        let mut hoisted = rows.hoisted(2);
        hoisted.map(
            terms.keep(0b110) || with_alpha,
            &mut self.log_beta,
            #[inline(always)]
            |x| log(x),
        );
        hoisted.map(
            wanted & 0b100 != 0,
            &mut self.inverse_beta,
            #[inline(always)]
            |x| reciprocal(x),
        );
    }
}

/// α log β − log Γ(α) + (α − 1) log y − β y
#[inline(always)]
pub fn gamma(rows: &mut Rows) -> bool {
    let ([y, alpha, beta, ..], terms, wanted) = (rows.arguments, rows.terms, rows.wanted);
    if !(terms.keep(0b111) && all(y, ordinary) && all(alpha, ordinary) && all(beta, ordinary)) {
        return false;
    }
    let mut shape = Shape::empty();
    shape.fill(rows);
    let Shape { lgamma, digamma, log_beta, inverse_beta } = &shape;
    let (mut log_y, mut inverse_y) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(0);
    hoisted.map(
        terms.keep(0b011) || wanted & 0b10 != 0,
        &mut log_y,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        wanted & 1 != 0,
        &mut inverse_y,
        #[inline(always)]
        |x| reciprocal(x),
    );
    let [norm, power, linear] = [0b110, 0b011, 0b101].map(|mask| factor(terms.keep(mask)));
    let value = &mut *rows.value;
    let [d_y, d_alpha, d_beta, ..] = rows.partials;
    each!(
        [y, alpha, beta, lgamma, digamma, log_beta, inverse_beta, log_y, inverse_y],
        [norm, power, linear],
        [value, d_y, d_alpha, d_beta],
        {
            *value = norm * (alpha * log_beta) - lgamma + power * ((alpha - 1.0) * log_y) - linear * (beta * y);
            *d_y = (alpha - 1.0) * inverse_y - beta;
            *d_alpha = log_beta - digamma + log_y;
            *d_beta = alpha * inverse_beta - y;
        }
    );
    all(value, finite)
}

/// α log β − log Γ(α) − (α + 1) log y − β/y
#[inline(always)]
pub fn inv_gamma(rows: &mut Rows) -> bool {
    let ([y, alpha, beta, ..], terms, wanted) = (rows.arguments, rows.terms, rows.wanted);
    if !(terms.keep(0b111) && all(y, ordinary) && all(alpha, ordinary) && all(beta, ordinary)) {
        return false;
    }
    let mut shape = Shape::empty();
    shape.fill(rows);
    let Shape { lgamma, digamma, log_beta, inverse_beta } = &shape;
    let (mut log_y, mut inverse_y) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(0);
    hoisted.map(
        terms.keep(0b011) || wanted & 0b10 != 0,
        &mut log_y,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        true,
        &mut inverse_y,
        #[inline(always)]
        |x| reciprocal(x),
    );
    let [norm, power, linear] = [0b110, 0b011, 0b101].map(|mask| factor(terms.keep(mask)));
    let value = &mut *rows.value;
    let [d_y, d_alpha, d_beta, ..] = rows.partials;
    each!(
        [alpha, beta, lgamma, digamma, log_beta, inverse_beta, log_y, inverse_y],
        [norm, power, linear],
        [value, d_y, d_alpha, d_beta],
        {
            let ratio = beta * inverse_y;
            *value = norm * (alpha * log_beta) - lgamma - power * ((alpha + 1.0) * log_y) - linear * ratio;
            *d_y = (ratio - alpha - 1.0) * inverse_y;
            *d_alpha = log_beta - digamma - log_y;
            *d_beta = alpha * inverse_beta - inverse_y;
        }
    );
    all(value, finite)
}

/// (½ν − 1) log y − ½ y − ½ν log 2 − log Γ(½ν)
#[inline(always)]
pub fn chi_square(rows: &mut Rows) -> bool {
    chi_square_of::<false>(rows)
}

/// −(½ν + 1) log y − 1/(2y) − ½ν log 2 − log Γ(½ν)
#[inline(always)]
pub fn inv_chi_square(rows: &mut Rows) -> bool {
    chi_square_of::<true>(rows)
}

/// With x = y, or x = 1/y for the inverse, the density of y is that of x, times x² for the inverse.
#[inline(always)]
fn chi_square_of<const INVERSE: bool>(rows: &mut Rows) -> bool {
    let ([y, nu, ..], terms, wanted) = (rows.arguments, rows.terms, rows.wanted);
    if !(terms.keep(0b11) && all(y, ordinary) && all(nu, ordinary)) {
        return false;
    }
    let (mut norm, mut psi, mut log_y, mut inverse_y) =
        (Space::empty(), Space::empty(), Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(1);
    hoisted.map(
        terms.keep(0b10),
        &mut norm,
        #[inline(always)]
        |nu| (0.5 * nu) * LN_2 + lgamma(0.5 * nu),
    );
    hoisted.map(
        wanted & 0b10 != 0,
        &mut psi,
        #[inline(always)]
        |nu| digamma(0.5 * nu) + LN_2,
    );
    let mut hoisted = rows.hoisted(0);
    hoisted.map(
        true,
        &mut log_y,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        INVERSE || wanted & 1 != 0,
        &mut inverse_y,
        #[inline(always)]
        |x| reciprocal(x),
    );
    let linear = factor(terms.keep(0b01));
    let value = &mut *rows.value;
    let [d_y, d_nu, ..] = rows.partials;
    if INVERSE {
        each!([nu, norm, psi, log_y, inverse_y], [linear], [value, d_y, d_nu], {
            let half = 0.5 * nu;
            *value = -(half + 1.0) * log_y - norm - linear * (0.5 * inverse_y);
            *d_y = (0.5 * inverse_y - half - 1.0) * inverse_y;
            *d_nu = -0.5 * (psi + log_y);
        });
    } else {
        each!([y, nu, norm, psi, log_y, inverse_y], [linear], [value, d_y, d_nu], {
            let half = 0.5 * nu;
            *value = (half - 1.0) * log_y - norm - linear * (0.5 * y);
            *d_y = (half - 1.0) * inverse_y - 0.5;
            *d_nu = 0.5 * (log_y - psi);
        });
    }
    all(value, finite)
}

/// log α + (α − 1) log y − α log σ − (y/σ)^α
#[inline(always)]
pub fn weibull(rows: &mut Rows) -> bool {
    let ([y, alpha, sigma, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b111) && all(y, ordinary) && all(alpha, ordinary) && all(sigma, ordinary)) {
        return false;
    }
    let (mut log_alpha, mut inverse_alpha) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(1);
    hoisted.map(
        terms.keep(0b010),
        &mut log_alpha,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        rows.wanted & 0b10 != 0,
        &mut inverse_alpha,
        #[inline(always)]
        |x| reciprocal(x),
    );
    let (mut log_sigma, mut inverse_sigma) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(2);
    hoisted.map(
        true,
        &mut log_sigma,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        true,
        &mut inverse_sigma,
        #[inline(always)]
        |x| reciprocal(x),
    );
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
    let [shape, scale] = [0b011, 0b110].map(|mask| factor(terms.keep(mask)));
    let value = &mut *rows.value;
    let [d_y, d_alpha, d_sigma, ..] = rows.partials;
    each!(
        [y, alpha, sigma, log_alpha, inverse_alpha, log_sigma, inverse_sigma, log_y, inverse_y],
        [shape, scale],
        [value, d_y, d_alpha, d_sigma],
        {
            let power = pow(y / sigma, alpha);
            *value = log_alpha + shape * ((alpha - 1.0) * log_y) - scale * (alpha * log_sigma) - power;
            *d_y = (alpha * (1.0 - power) - 1.0) * inverse_y;
            *d_alpha = inverse_alpha + (1.0 - power) * (log_y - log_sigma);
            *d_sigma = alpha * inverse_sigma * (power - 1.0);
        }
    );
    all(value, finite)
}

/// Strictly between 0 and 1, and not so small that the reciprocal leaves the range of numbers.
#[inline(always)]
pub fn inner(y: f64) -> bool {
    y > 1e-290 && y < 1.0
}

/// (α − 1) log y + (β − 1) log(1 − y) + log Γ(α + β) − log Γ(α) − log Γ(β)
#[inline(always)]
pub fn beta(rows: &mut Rows) -> bool {
    let ([y, alpha, beta, ..], terms, wanted) = (rows.arguments, rows.terms, rows.wanted);
    if !(terms.keep(0b111) && all(y, inner) && all(alpha, ordinary) && all(beta, ordinary)) {
        return false;
    }
    let (of_alpha, of_beta) = (wanted & 0b010 != 0, wanted & 0b100 != 0);
    let (mut lgamma_alpha, mut psi_alpha) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(1);
    hoisted.map(
        terms.keep(0b010),
        &mut lgamma_alpha,
        #[inline(always)]
        |x| lgamma(x),
    );
    hoisted.map(
        of_alpha,
        &mut psi_alpha,
        #[inline(always)]
        |x| digamma(x),
    );
    let (mut lgamma_beta, mut psi_beta) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(2);
    hoisted.map(
        terms.keep(0b100),
        &mut lgamma_beta,
        #[inline(always)]
        |x| lgamma(x),
    );
    hoisted.map(
        of_beta,
        &mut psi_beta,
        #[inline(always)]
        |x| digamma(x),
    );
    let (mut both, mut lgamma_both, mut psi_both) = (Space::empty(), Space::empty(), Space::empty());
    both.zeros(y.len());
    each!([alpha, beta], [], [both], { *both = alpha + beta });
    let mut hoisted = Hoisted::new(&both);
    hoisted.map(
        terms.keep(0b110),
        &mut lgamma_both,
        #[inline(always)]
        |x| lgamma(x),
    );
    hoisted.map(
        of_alpha || of_beta,
        &mut psi_both,
        #[inline(always)]
        |x| digamma(x),
    );
    let (mut log_y, mut log1m_y) = (Space::empty(), Space::empty());
    let mut hoisted = rows.hoisted(0);
    hoisted.map(
        terms.keep(0b011) || of_alpha,
        &mut log_y,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        terms.keep(0b101) || of_beta,
        &mut log1m_y,
        #[inline(always)]
        |y| log1p(-y),
    );
    let [low, high] = [0b011, 0b101].map(|mask| factor(terms.keep(mask)));
    let value = &mut *rows.value;
    let [d_y, d_alpha, d_beta, ..] = rows.partials;
    each!([alpha, beta, lgamma_alpha, lgamma_beta, lgamma_both, log_y, log1m_y], [low, high], [value], {
        let norm = lgamma_both - lgamma_alpha - lgamma_beta;
        *value = low * ((alpha - 1.0) * log_y) + high * ((beta - 1.0) * log1m_y) + norm;
    });
    each!([psi_alpha, psi_beta, psi_both, log_y, log1m_y], [], [d_alpha, d_beta], {
        *d_alpha = log_y + psi_both - psi_alpha;
        *d_beta = log1m_y + psi_both - psi_beta;
    });
    if wanted & 1 != 0 {
        each!([y, alpha, beta], [], [d_y], {
            *d_y = (alpha - 1.0) / y - (beta - 1.0) / (1.0 - y);
        });
    }
    all(value, finite)
}

/// −log(β − α) for y in [α, β]
#[inline(always)]
pub fn uniform(rows: &mut Rows) -> bool {
    let ([y, alpha, beta, ..], terms) = (rows.arguments, rows.terms);
    let (mut width, mut inside) = (Space::empty(), Space::empty());
    width.zeros(y.len());
    inside.zeros(y.len());
    each!([y, alpha, beta], [], [width, inside], {
        *width = beta - alpha;
        *inside = if y >= alpha && y <= beta { 1.0 } else { 0.0 };
    });
    if !(terms.keep(0b111)
        && all(&width, ordinary)
        && all(
            &inside,
            #[inline(always)]
            |x| x > 0.5,
        ))
    {
        return false;
    }
    let (mut log_width, mut inverse) = (Space::empty(), Space::empty());
    let mut hoisted = Hoisted::new(&width);
    hoisted.map(
        terms.keep(0b110),
        &mut log_width,
        #[inline(always)]
        |x| log(x),
    );
    hoisted.map(
        true,
        &mut inverse,
        #[inline(always)]
        |x| reciprocal(x),
    );
    let value = &mut *rows.value;
    let [d_y, d_alpha, d_beta, ..] = rows.partials;
    map(
        &log_width,
        value,
        #[inline(always)]
        |x| 0.0 - x,
    );
    each!([inverse], [], [d_y, d_alpha, d_beta], {
        *d_y = 0.0;
        *d_alpha = inverse;
        *d_beta = -inverse;
    });
    true
}
