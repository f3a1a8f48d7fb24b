//! The regularised incomplete beta function and its logarithm, with all partial derivatives.
//!
//! As for the incomplete gamma functions, the side of x is computed that has a small relative error, as a log
//! probability with derivatives; see [`tail`].

use super::gamma::{STIRLING_FROM, digamma, digamma_difference, lbeta, lgamma_difference, lgamma1p, stirling_correction};
use super::normal::LN_SQRT_TAU;
use super::tail::{Tail, integrate, log1p_minus};
use crate::density::Partials;
use std::f64::consts::LN_2;

/// If both shapes are at least this, the density is close to normal, and quadrature takes fewer terms than fractions.
const LARGE: f64 = 2000.0;
/// Terms of a continued fraction. It needs the order of √max(a, b), where the smaller shape is below [`LARGE`].
const MAX_TERMS: u32 = 20_000;

/// I(x; a, b) = ∫₀ˣ tᵃ⁻¹ (1 − t)ᵇ⁻¹ dt / B(a, b)
pub fn inc_beta(a: f64, b: f64, x: f64) -> f64 {
    inc_beta_partials(a, b, x).value
}

/// [`inc_beta`] with its partials for a, b and x.
pub fn inc_beta_partials(a: f64, b: f64, x: f64) -> Partials<3> {
    tail(a, b, x, 1.0 - x).side(true)
}

/// 1 − I(x; a, b), with its partials for a, b and x.
pub fn inc_beta_complement_partials(a: f64, b: f64, x: f64) -> Partials<3> {
    tail(a, b, x, 1.0 - x).side(false)
}

/// log I(x; a, b), without underflow, with its partials for a, b and x.
pub fn log_inc_beta_partials(a: f64, b: f64, x: f64) -> Partials<3> {
    tail(a, b, x, 1.0 - x).log_side(true)
}

/// log(1 − I(x; a, b)), without underflow, with its partials for a, b and x.
pub fn log_inc_beta_complement_partials(a: f64, b: f64, x: f64) -> Partials<3> {
    tail(a, b, x, 1.0 - x).log_side(false)
}

/// [`log_inc_beta_partials`] for a caller who knows y = 1 − x to more digits than x has. Where x is near 1, that is
/// what decides: 1 − I(x; a, b) is this function of (b, a, y, x).
pub fn log_inc_beta_xy_partials(a: f64, b: f64, x: f64, y: f64) -> Partials<3> {
    tail(a, b, x, y).log_side(true)
}

/// [`inc_beta_partials`] for a caller who knows y = 1 − x to more digits than x has.
pub fn inc_beta_xy_partials(a: f64, b: f64, x: f64, y: f64) -> Partials<3> {
    tail(a, b, x, y).side(true)
}

/// The side of x whose log probability is computed directly; y = 1 − x. Derivatives are for a, b, x.
fn tail(a: f64, b: f64, x: f64, y: f64) -> Tail<3> {
    let nan = a.is_nan() || b.is_nan() || x.is_nan() || y.is_nan();
    if nan || a < 0.0 || b < 0.0 || x < 0.0 || y < 0.0 || (a == 0.0 && b == 0.0) || (a.is_infinite() && b.is_infinite())
    {
        return Tail { is_lower: true, log: Partials { value: f64::NAN, d: [f64::NAN; 3] } };
    }
    if x == 0.0 || y == 0.0 {
        return at_end(a, b, x == 0.0);
    }
    // all of the probability is at 0 or at 1
    if a == 0.0 || b == 0.0 || a.is_infinite() || b.is_infinite() {
        return Tail::empty(b == 0.0 || a.is_infinite());
    }
    if a.min(b) >= LARGE {
        return quadrature(a, b, x, y);
    }
    if x * (a + b + 2.0) < a + 1.0 { near_zero(a, b, x, y) } else { mirror(near_zero(b, a, y, x)) }
}

/// The distribution of 1 − t, in terms of that of t.
fn mirror(t: Tail<3>) -> Tail<3> {
    let [db, da, dy] = t.log.d;
    Tail { log: Partials { value: t.log.value, d: [da, db, -dy] }, ..t }.mirrored()
}

/// At x = 0 the lower side is empty, at x = 1 the upper. The derivative for x is the density there: 0, the other shape,
/// or ∞.
fn at_end(a: f64, b: f64, is_zero: bool) -> Tail<3> {
    let (near, far) = if is_zero { (a, b) } else { (b, a) };
    let density = if near < 1.0 {
        f64::INFINITY
    } else if near > 1.0 {
        0.0
    } else {
        far
    };
    let sign = if is_zero { -1.0 } else { 1.0 };
    Tail { is_lower: !is_zero, log: Partials { value: 0.0, d: [0.0, 0.0, sign * density] } }
}

/// For x below about the mean.
fn near_zero(a: f64, b: f64, x: f64, y: f64) -> Tail<3> {
    if a < 1.0 && b * x <= 1.5 {
        let log_scale = a * x.ln() + lgamma_difference(b, a) - lgamma1p(a);
        if log_scale > -LN_2 {
            return upper_series(a, b, x, y, log_scale);
        }
    }
    continued_fraction(a, b, x, y)
}

/// log(xᵃ yᵇ / B(a, b)). For large a and b the terms of their size are taken out (Loader 2000).
fn log_power(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if a.min(b) < STIRLING_FROM {
        let (log_x, log_y) = if x < y { (x.ln(), (-x).ln_1p()) } else { ((-y).ln_1p(), y.ln()) };
        return a * log_x + b * log_y - lbeta(a, b);
    }
    let n = a + b;
    // x and y relative to the mean: 1 + offset / a and 1 − offset / b
    let offset = if x < y { x.mul_add(n, -a) } else { (-y).mul_add(n, b) };
    let corrections = stirling_correction(n) - stirling_correction(a) - stirling_correction(b);
    let powers = a * log1p_minus(offset / a, x * n / a) + b * log1p_minus(-offset / b, y * n / b);
    powers + 0.5 * (a / n * b).ln() - LN_SQRT_TAU + corrections
}

/// 1 − I = 1 − eᴸ (1 + a J) for small a and x, where L = `log_scale` = log(xᵃ / (a B(a, b))) and
/// J = Σ (1 − b)ₙ xⁿ / (n! (a + n)), n ≥ 1 (DLMF 8.17.7). 1 − eᴸ does not cancel as 1 − I would for I near 1.
fn upper_series(a: f64, b: f64, x: f64, y: f64, log_scale: f64) -> Tail<3> {
    let (mut power, mut d_power) = (1.0, 0.0);
    let (mut j, mut j_a, mut j_b) = (0.0_f64, 0.0, 0.0);
    for n in 1..=400 {
        let n = f64::from(n);
        d_power = (d_power * (n - b) - power) * x / n;
        power *= (n - b) * x / n;
        let term = power / (a + n);
        j += term;
        j_a -= term / (a + n);
        j_b += d_power / (a + n);
        let negligible = 1e-18 * j.abs();
        if term.abs() <= negligible && d_power.abs() <= negligible && n > b {
            break;
        }
    }
    let scale = log_scale.exp();
    let q = -log_scale.exp_m1() - scale * a * j;
    let d_log_scale = x.ln() + digamma(a + b) - digamma(1.0 + a);
    let q_a = -scale * (d_log_scale * (1.0 + a * j) + j + a * j_a);
    let q_b = -scale * (digamma_difference(b, a) * (1.0 + a * j) + a * j_b);
    let density = a * scale / x * y.powf(b - 1.0);
    Tail { is_lower: false, log: Partials { value: q.ln(), d: [q_a / q, q_b / q, -density / q] } }
}

/// I = xᵃ yᵇ / (a B(a, b)) / (1 + d₁ / (1 + d₂ / …)), DLMF 8.17.22, with its derivatives for a and b carried along.
fn continued_fraction(a: f64, b: f64, x: f64, y: f64) -> Tail<3> {
    let mut lentz = Lentz { log: 0.0, d_log: [0.0; 2], c: 1.0, dc: [0.0; 2], d: 0.0, dd: [0.0; 2] };
    let mut fraction = 1.0;
    for m in 0..MAX_TERMS {
        let m = f64::from(m);
        let mut step = 1.0;
        if m > 0.0 {
            // d₂ₘ = m (b − m) x / ((a + 2m − 1) (a + 2m)), and its derivatives for a and b
            let (low, high) = (a + 2.0 * m - 1.0, a + 2.0 * m);
            let unit = m * x / (low * high);
            let even = unit * (b - m);
            step *= lentz.step(even, [-even * (1.0 / low + 1.0 / high), unit]);
        }
        // d₂ₘ₊₁ = −(a + m) (a + b + m) x / ((a + 2m) (a + 2m + 1))
        let (low, high) = (a + 2.0 * m, a + 2.0 * m + 1.0);
        let unit = -(a + m) * x / (low * high);
        let odd = unit * (a + b + m);
        let shrink = if m == 0.0 { 0.0 } else { m / ((a + m) * low) };
        let d_odd = unit + odd * (shrink - 1.0 / high);
        step *= lentz.step(odd, [d_odd, unit]);
        fraction *= step;
        if (step - 1.0).abs() < f64::EPSILON && m > 2.0 && lentz.is_settled() {
            break;
        }
    }
    let [d_a, d_b] = lentz.d_log;
    let value = log_power(a, b, x, y) - a.ln() - fraction.ln();
    let (log_x, log_y) = if x < y { (x.ln(), (-x).ln_1p()) } else { ((-y).ln_1p(), y.ln()) };
    // ψ(a + b) − ψ(a) − 1/a, where the poles at 0 would cancel
    let da = log_x + digamma_difference(a + 1.0, b) - 1.0 / (a + b) - d_a;
    let db = log_y + digamma_difference(b, a) - d_b;
    Tail { is_lower: true, log: Partials { value, d: [da, db, a * fraction / (x * y)] } }
}

/// The state of the method of Lentz (in the form of Thompson and Barnett 1986) for a fraction 1 + d₁ / (1 + d₂ / …) and
/// two partial derivatives of its logarithm.
struct Lentz {
    log: f64,
    d_log: [f64; 2],
    c: f64,
    dc: [f64; 2],
    d: f64,
    dd: [f64; 2],
}

impl Lentz {
    /// Takes the next numerator with its derivatives; the factor by which the fraction changes.
    fn step(&mut self, numerator: f64, d_numerator: [f64; 2]) -> f64 {
        let inverse = 1.0 + numerator * self.d;
        let d = 1.0 / inverse;
        let c = 1.0 + numerator / self.c;
        self.log = 0.0;
        for i in 0..2 {
            self.dd[i] = -(d_numerator[i] * self.d + numerator * self.dd[i]) * d * d;
            self.dc[i] = (d_numerator[i] - numerator * self.dc[i] / self.c) / self.c;
            let step = self.dc[i] / c + self.dd[i] / d;
            self.d_log[i] += step;
            self.log = self.log.max(step.abs() / (self.d_log[i].abs() + f64::MIN_POSITIVE));
        }
        self.c = c;
        self.d = d;
        c * d
    }

    /// Whether the derivatives no longer change.
    fn is_settled(&self) -> bool {
        self.log < 1e-13
    }
}

/// For large a and b: with t = x ± s the density relative to that at x is exp(−c s + …) with terms log(1 + u) − u for
/// both powers, and falls at least as fast as a normal tail. The derivative for a is the mean of
/// log t − ψ(a) + ψ(a + b).
fn quadrature(a: f64, b: f64, x: f64, y: f64) -> Tail<3> {
    const NEGLIGIBLE: f64 = 45.0;
    let is_lower = if x < y { x * (a + b) < a } else { y * (a + b) > b };
    let sign = if is_lower { -1.0 } else { 1.0 };
    let (a1, b1) = (a - 1.0, b - 1.0);
    let slope = sign * (b1 * x - a1 * y) / (x * y);
    let curvature = a1 / (x * x) + b1 / (y * y);
    let width = 2.0 * NEGLIGIBLE / (slope + (slope * slope + 2.0 * NEGLIGIBLE * curvature).sqrt());
    let width = width.min(if is_lower { x } else { y });
    let [mass, moment_x, moment_y] = integrate(width, |s| {
        let (u, v) = (sign * s / x, -sign * s / y);
        let relative = (-slope * s + a1 * log1p_minus(u, 1.0 + u) + b1 * log1p_minus(v, 1.0 + v)).exp();
        [relative, relative * u.ln_1p(), relative * v.ln_1p()]
    });
    let value = log_power(a, b, x, y) - (x * y).ln() + mass.ln();
    let (log_x, log_y) = if x < y { (x.ln(), (-x).ln_1p()) } else { ((-y).ln_1p(), y.ln()) };
    let da = log_x + digamma_difference(a, b) + moment_x / mass;
    let db = log_y + digamma_difference(b, a) + moment_y / mass;
    Tail { is_lower, log: Partials { value, d: [da, db, -sign / mass] } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::check;

    const TABLE: &str = include_str!("reference/incomplete_beta.txt");

    fn row(p: Partials<3>) -> [f64; 4] {
        [p.value, p.d[0], p.d[1], p.d[2]]
    }

    #[test]
    fn lower() {
        check(TABLE, "inc_beta", [1e-13, 1e-11], |a| row(inc_beta_partials(a[0], a[1], a[2])));
    }

    #[test]
    fn upper() {
        check(TABLE, "inc_beta_complement", [1e-13, 1e-11], |a| row(inc_beta_complement_partials(a[0], a[1], a[2])));
    }

    #[test]
    fn log_lower() {
        check(TABLE, "log_inc_beta", [1e-13, 1e-11], |a| row(log_inc_beta_partials(a[0], a[1], a[2])));
    }

    #[test]
    fn log_upper() {
        let f = |a: &[f64]| row(log_inc_beta_complement_partials(a[0], a[1], a[2]));
        check(TABLE, "log_inc_beta_complement", [1e-13, 1e-11], f);
    }
}
