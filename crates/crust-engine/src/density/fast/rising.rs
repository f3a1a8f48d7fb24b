//! Distributions of integers made of rising factorials Γ(a + δ)/Γ(a): negative binomial and beta-binomial.

use crust_math::lanes::scalar::{log, log1p, rising_product};

use super::counts::{log_choose, log_factorial, possible, stirling};
use super::row::{Space, all, each, factor, finite, nonnegative};
use crate::machine::Rows;

/// log Γ(a + δ) − log Γ(a) = δ log(base) + excess − log(lift), and ψ(a + δ) − ψ(a).
struct Rising {
    base: f64,
    excess: f64,
    lift: f64,
    slope: f64,
}

/// For an integer δ ≥ 0 and a shape as [`shape`] has it.
///
/// Below 8 both arguments go eight steps up: base = a + 8, and lift = P(a + δ)/P(a) with the [`rising_product`] P. There
/// log Γ(x) = (x − ½) log x − x + ½ log 2π + S(x) holds, so that with l = log(1 + δ/base) the difference is
/// (base + δ − ½) l + δ log(base) − δ + S(base + δ) − S(base). Apart from δ log(base) no term is larger than δ, however
/// large a is: callers put that logarithm together with others that nearly cancel it.
#[inline(always)]
fn rising(a: f64, delta: f64) -> Rising {
    let up = a < 8.0;
    let base = if up { a + 8.0 } else { a };
    let ((low, low_slope), (high, high_slope)) = (rising_product(a), rising_product(a + delta));
    let inverse = 1.0 / (low * high);
    let lift = if up { (high * high) * inverse } else { 1.0 };
    let lift_slope = if up { (high_slope * low - low_slope * high) * inverse } else { 0.0 };
    let (u, v) = (1.0 / base, 1.0 / (base + delta));
    let l = log1p(delta * u);
    let ((series_low, slope_low), (series_high, slope_high)) = (stirling(u), stirling(v));
    let excess = (base + (delta - 0.5)) * l - delta + (series_high - series_low);
    let slope = l + 0.5 * delta * u * v + (slope_high - slope_low) - lift_slope;
    Rising { base, excess, lift, slope }
}

/// Neither the [`rising_product`]s nor their ratios leave the range of numbers, for integers of 32 bits; three lifts
/// together do not either.
#[inline(always)]
fn shape(a: f64) -> bool {
    a > 1e-20 && a < 1e15
}

/// log (n + α − 1 over n) − α log(1 + 1/β) − n log(1 + β)
#[inline(always)]
pub fn neg_binomial(rows: &mut Rows) -> bool {
    let ([n, alpha, beta, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b110) && all(n, nonnegative) && all(alpha, shape) && all(beta, shape)) {
        return false;
    }
    let mut factorial = Space::empty();
    rows.hoisted(0).map(
        terms.keep(0b10),
        &mut factorial,
        #[inline(always)]
        |x| log_factorial(x),
    );
    // Without its terms the binomial coefficient is 1.
    let with_alpha = factor(terms.keep(0b10));
    let value = &mut *rows.value;
    let [d_n, d_alpha, d_beta, ..] = rows.partials;
    each!([n, alpha, beta, factorial], [with_alpha], [value, d_n, d_alpha, d_beta], {
        let Rising { base, excess, lift, slope } = rising(alpha, n);
        let inverse = 1.0 / (1.0 + beta);
        let numerator = if with_alpha > 0.5 { base } else { 1.0 };
        let failures = with_alpha * (excess - log(lift)) + n * log(numerator * inverse);
        let log_inverse = log1p(1.0 / beta);
        *value = (failures - factorial) - alpha * log_inverse;
        *d_n = 0.0;
        *d_alpha = slope - log_inverse;
        *d_beta = (alpha / beta - n) * inverse;
    });
    all(value, finite)
}

/// log (N over n) + log B(n + α, N − n + β) − log B(α, β)
///
/// With a rising factorial for n and α, one for N − n and β, and one for N and α + β below the line.
#[inline(always)]
pub fn beta_binomial(rows: &mut Rows) -> bool {
    let ([n, trials, alpha, beta, ..], terms) = (rows.arguments, rows.terms);
    if !(terms.keep(0b1100) && possible(n, trials) && all(alpha, shape) && all(beta, shape)) {
        return false;
    }
    let mut choose = Space::empty();
    log_choose(terms.keep(0), n, trials, &mut choose);
    let value = &mut *rows.value;
    let [d_n, d_trials, d_alpha, d_beta, ..] = rows.partials;
    each!([n, trials, alpha, beta, choose], [], [value, d_n, d_trials, d_alpha, d_beta], {
        let misses = trials - n;
        let (first, second) = (rising(alpha, n), rising(beta, misses));
        let both = rising(alpha + beta, trials);
        let inverse = 1.0 / both.base;
        let powers = n * log(first.base * inverse) + misses * log(second.base * inverse);
        let lift = log(first.lift * second.lift / both.lift);
        *value = choose + powers + ((first.excess + second.excess) - both.excess - lift);
        *d_n = 0.0;
        *d_trials = 0.0;
        *d_alpha = first.slope - both.slope;
        *d_beta = second.slope - both.slope;
    });
    all(value, finite)
}
