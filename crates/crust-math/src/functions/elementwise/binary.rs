//! Functions of two numbers. An integer argument has the partial derivative 0.

#![expect(clippy::float_cmp, reason = "the special points of these functions are exact")]

use super::Binary;
use crate::density::{Density, Domain, Partials};
use crate::special;

pub(super) const ALL: &[Binary] = &[
    Binary { name: "atan2", at: |x, y| Ok(atan2(x, y)) },
    Binary { name: "bessel_first_kind", at: bessel_first_kind },
    Binary { name: "bessel_second_kind", at: bessel_second_kind },
    Binary { name: "beta", at: |a, b| Ok(special::beta_partials(a, b)) },
    Binary { name: "binary_log_loss", at: |y, p| Ok(binary_log_loss(y, p)) },
    Binary { name: "binomial_coefficient_log", at: lchoose },
    Binary { name: "choose", at: choose },
    Binary { name: "falling_factorial", at: falling_factorial },
    Binary { name: "fdim", at: |x, y| Ok(fdim(x, y)) },
    Binary { name: "fmax", at: |x, y| Ok(larger(x, y)) },
    Binary { name: "fmin", at: |x, y| Ok(smaller(x, y)) },
    Binary { name: "fmod", at: |x, y| Ok(Partials { value: x % y, d: [1.0, -(x / y).trunc()] }) },
    Binary { name: "gamma_p", at: gamma_p },
    Binary { name: "gamma_q", at: gamma_q },
    Binary { name: "hypergeometric_1F0", at: hypergeometric_1f0 },
    Binary { name: "hypot", at: |x, y| Ok(hypot(x, y)) },
    Binary { name: "lbeta", at: lbeta },
    Binary { name: "lchoose", at: lchoose },
    Binary { name: "ldexp", at: |x, n| Ok(Partials { value: ldexp(x, n), d: [ldexp(1.0, n), 0.0] }) },
    Binary { name: "lmgamma", at: lmgamma },
    Binary { name: "lmultiply", at: |x, y| Ok(special::lmultiply_partials(x, y)) },
    Binary { name: "log_diff_exp", at: |x, y| Ok(log_diff_exp(x, y)) },
    Binary { name: "log_falling_factorial", at: log_falling_factorial },
    Binary { name: "log_inv_logit_diff", at: |x, y| Ok(special::log_inv_logit_diff_partials(x, y)) },
    Binary { name: "log_modified_bessel_first_kind", at: log_modified_bessel_first_kind },
    Binary { name: "log_rising_factorial", at: log_rising_factorial },
    Binary { name: "log_sum_exp", at: |x, y| Ok(log_sum_exp(x, y)) },
    Binary { name: "max", at: |x, y| Ok(larger(x, y)) },
    Binary { name: "min", at: |x, y| Ok(smaller(x, y)) },
    Binary { name: "modified_bessel_first_kind", at: modified_bessel_first_kind },
    Binary { name: "modified_bessel_second_kind", at: modified_bessel_second_kind },
    Binary { name: "multiply_log", at: |x, y| Ok(special::lmultiply_partials(x, y)) },
    Binary { name: "owens_t", at: |h, a| Ok(special::owens_t_partials(h, a)) },
    Binary { name: "pow", at: |x, y| Ok(pow(x, y)) },
    Binary { name: "rising_factorial", at: rising_factorial },
    Binary { name: "squared_distance", at: squared_distance },
];

const NOWHERE: Partials<2> = Partials { value: f64::NAN, d: [f64::NAN; 2] };

/// A function of an integer, which has no derivative, and a number.
fn of_second(p: Partials<1>) -> Partials<2> {
    Partials { value: p.value, d: [0.0, p.d[0]] }
}

/// A function of a number and an integer.
fn of_first(p: Partials<1>) -> Partials<2> {
    Partials { value: p.value, d: [p.d[0], 0.0] }
}

/// An integer argument; beyond the range of `int` there is none.
#[expect(clippy::cast_possible_truncation, reason = "integers of Stan have 32 bits")]
fn int(n: f64) -> i32 {
    n as i32
}

/// The derivatives of the angle are y / r² and −x / r², where r may be larger than the root of the largest number.
fn atan2(x: f64, y: f64) -> Partials<2> {
    let r = x.hypot(y);
    Partials { value: x.atan2(y), d: [y / r / r, -(x / r) / r] }
}

fn bessel_first_kind(order: f64, x: f64) -> Density<2> {
    Domain("bessel_first_kind").not_nan("z", x)?;
    Ok(of_second(special::bessel_first_kind_partials(int(order), x)))
}

fn bessel_second_kind(order: f64, x: f64) -> Density<2> {
    Domain("bessel_second_kind").positive("z", x)?;
    Ok(of_second(special::bessel_second_kind_partials(int(order), x)))
}

fn modified_bessel_first_kind(order: f64, x: f64) -> Density<2> {
    Domain("modified_bessel_first_kind").not_nan("z", x)?;
    Ok(of_second(special::modified_bessel_first_kind_partials(int(order), x)))
}

fn modified_bessel_second_kind(order: f64, x: f64) -> Density<2> {
    Domain("modified_bessel_second_kind").positive("z", x)?;
    Ok(of_second(special::modified_bessel_second_kind_partials(int(order), x)))
}

fn log_modified_bessel_first_kind(v: f64, x: f64) -> Density<2> {
    let domain = Domain("log_modified_bessel_first_kind");
    domain.nonnegative("second argument (variable)", x)?;
    domain.that(v >= -1.0, "first argument (order)", v, "at least -1")?;
    Ok(special::log_modified_bessel_first_kind_partials(v, x))
}

/// −log p for an outcome of 1, −log(1 − p) for 0.
fn binary_log_loss(y: f64, p: f64) -> Partials<2> {
    if y == 0.0 {
        Partials { value: -(-p).ln_1p(), d: [0.0, 1.0 / (1.0 - p)] }
    } else {
        Partials { value: -p.ln(), d: [0.0, -1.0 / p] }
    }
}

fn choose(n: f64, k: f64) -> Density<2> {
    let domain = Domain("choose");
    domain.nonnegative("n", n)?;
    domain.nonnegative("k", k)?;
    let value = special::choose(i64::from(int(n)), i64::from(int(k)));
    domain.that(value <= f64::from(i32::MAX), "n choose k", value, "at most 2147483647")?;
    Ok(Partials::constant(value))
}

fn lchoose(n: f64, k: f64) -> Density<2> {
    if n.is_nan() || k.is_nan() {
        return Ok(NOWHERE);
    }
    let domain = Domain("lchoose");
    domain.that(n >= -1.0, "first argument", n, "at least -1")?;
    domain.that(k >= -1.0, "second argument", k, "at least -1")?;
    domain.nonnegative("(first argument - second argument + 1)", n - k + 1.0)?;
    Ok(special::lchoose_partials(n, k))
}

fn factorial_degree(name: &'static str, x: f64, n: f64) -> Result<u32, crate::density::DomainError> {
    let domain = Domain(name);
    domain.not_nan("first argument", x)?;
    domain.nonnegative("second argument", n)?;
    Ok(int(n).unsigned_abs())
}

fn falling_factorial(x: f64, n: f64) -> Density<2> {
    let n = factorial_degree("falling_factorial", x, n)?;
    Ok(of_first(special::falling_factorial_partials(x, n)))
}

fn rising_factorial(x: f64, n: f64) -> Density<2> {
    let n = factorial_degree("rising_factorial", x, n)?;
    Ok(of_first(special::rising_factorial_partials(x, n)))
}

fn log_falling_factorial(x: f64, n: f64) -> Density<2> {
    if x.is_nan() || n.is_nan() {
        return Ok(NOWHERE);
    }
    Domain("log_falling_factorial").positive("first argument", x)?;
    Ok(special::log_falling_factorial_partials(x, n))
}

fn log_rising_factorial(x: f64, n: f64) -> Density<2> {
    if x.is_nan() || n.is_nan() {
        return Ok(NOWHERE);
    }
    Domain("log_rising_factorial").positive("first argument", x)?;
    Ok(special::log_rising_factorial_partials(x, n))
}

/// x − y where that is positive, and 0 elsewhere.
fn fdim(x: f64, y: f64) -> Partials<2> {
    if x <= y {
        Partials::constant(0.0)
    } else if x > y {
        Partials { value: x - y, d: [1.0, -1.0] }
    } else {
        NOWHERE
    }
}

/// The larger of two numbers, and the number where one of them is none. Of two equal ones it is the second.
fn larger(x: f64, y: f64) -> Partials<2> {
    if x.is_nan() && y.is_nan() {
        NOWHERE
    } else if x > y || y.is_nan() {
        Partials { value: x, d: [1.0, 0.0] }
    } else {
        Partials { value: y, d: [0.0, 1.0] }
    }
}

/// The smaller of two numbers, and the number where one of them is none. Of two equal ones it is the second.
fn smaller(x: f64, y: f64) -> Partials<2> {
    if x.is_nan() && y.is_nan() {
        NOWHERE
    } else if x < y || y.is_nan() {
        Partials { value: x, d: [1.0, 0.0] }
    } else {
        Partials { value: y, d: [0.0, 1.0] }
    }
}

fn gamma_p(a: f64, x: f64) -> Density<2> {
    if a.is_nan() || x.is_nan() {
        return Ok(NOWHERE);
    }
    let domain = Domain("gamma_p");
    domain.positive("first argument (z)", a)?;
    domain.nonnegative("second argument (a)", x)?;
    Ok(special::gamma_p_partials(a, x))
}

fn gamma_q(a: f64, x: f64) -> Density<2> {
    if a.is_nan() || x.is_nan() {
        return Ok(NOWHERE);
    }
    let domain = Domain("gamma_q");
    domain.positive("first argument (z)", a)?;
    domain.nonnegative("second argument (a)", x)?;
    Ok(special::gamma_q_partials(a, x))
}

fn hypergeometric_1f0(a: f64, z: f64) -> Density<2> {
    Domain("hypergeometric_1F0").that(z.abs() < 1.0, "abs(z)", z.abs(), "less than 1")?;
    Ok(special::hypergeometric_1F0_partials(a, z))
}

fn hypot(x: f64, y: f64) -> Partials<2> {
    let value = x.hypot(y);
    Partials { value, d: [x / value, y / value] }
}

fn lbeta(a: f64, b: f64) -> Density<2> {
    if a.is_nan() || b.is_nan() {
        return Ok(NOWHERE);
    }
    let domain = Domain("lbeta");
    domain.nonnegative("first argument", a)?;
    domain.nonnegative("second argument", b)?;
    let p = special::lbeta_partials(a, b);
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    Ok(match (low == 0.0, high == f64::INFINITY) {
        (true, _) => Partials { value: f64::INFINITY, ..p },
        (false, true) => Partials { value: f64::NEG_INFINITY, ..p },
        (false, false) => p,
    })
}

/// x·2ⁿ. Each step is exact, but for the last if the result is subnormal.
fn ldexp(x: f64, n: f64) -> f64 {
    // 2⁻⁹⁶⁹ leaves the 53 digits of a normal number
    let (step, size) = if n < 0.0 { (2.0f64.powi(-969), -969_i32) } else { (2.0f64.powi(1023), 1023) };
    let (mut x, mut n) = (x, int(n).clamp(-4000, 4000));
    while n.abs() > size.abs() {
        x *= step;
        n -= size;
    }
    x * 2.0f64.powi(n)
}

fn lmgamma(k: f64, x: f64) -> Density<2> {
    Domain("lmgamma").nonnegative("k", k)?;
    let k = int(k).unsigned_abs();
    Ok(Partials { value: special::lmgamma(k, x), d: [0.0, special::lmgamma_derivative(k, x)] })
}

/// At x = y the value is −∞ and the derivatives are infinite; where both are −∞ it moves with x.
fn log_diff_exp(x: f64, y: f64) -> Partials<2> {
    let p = special::log_diff_exp_partials(x, y);
    if p.value == f64::NEG_INFINITY {
        let dx = if y == f64::NEG_INFINITY { 1.0 } else { f64::INFINITY };
        return Partials { value: p.value, d: [dx, f64::NEG_INFINITY] };
    }
    p
}

/// Where both terms are −∞ the value moves with each of them.
fn log_sum_exp(x: f64, y: f64) -> Partials<2> {
    let p = special::log_sum_exp_partials(x, y);
    if p.value == f64::NEG_INFINITY { Partials { value: p.value, d: [1.0, 1.0] } } else { p }
}

/// xʸ with y xʸ⁻¹ and xʸ log x. At x = 0 Stan has derivatives for the exponents that it knows by name (1, 2, −1, −2, ½,
/// −½), and says 0 for all others and for the derivative in y.
fn pow(x: f64, y: f64) -> Partials<2> {
    let value = x.powf(y);
    if x != 0.0 {
        return Partials { value, d: [value * y / x, value * x.ln()] };
    }
    let dx = if y == 1.0 {
        1.0
    } else if y == -2.0 {
        -2.0 / x
    } else if y == -1.0 || y == -0.5 {
        f64::NEG_INFINITY
    } else {
        0.0
    };
    Partials { value, d: [dx, 0.0] }
}

fn squared_distance(x: f64, y: f64) -> Density<2> {
    let domain = Domain("squared_distance");
    domain.finite("a", x)?;
    domain.finite("b", y)?;
    let difference = x - y;
    Ok(Partials { value: difference * difference, d: [2.0 * difference, -2.0 * difference] })
}
