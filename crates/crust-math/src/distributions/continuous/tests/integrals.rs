//! Quadrature by double exponential substitution (Takahasi and Mori 1974).

use std::f64::consts::FRAC_PI_2;

/// ∫ f over [low, high], split at `centre`; the ends may be infinite or singular.
pub(super) fn integrate(f: impl Fn(f64) -> f64, low: f64, high: f64, centre: f64, scale: f64) -> f64 {
    let piece = |from: f64, to: f64| {
        if from.is_infinite() {
            half_line(|s| f(to - s), scale)
        } else if to.is_infinite() {
            half_line(|s| f(from + s), scale)
        } else {
            interval(&f, from, to)
        }
    };
    if centre > low && centre < high { piece(low, centre) + piece(centre, high) } else { piece(low, high) }
}

/// The trapezoidal rule for g on the real line, halved until it settles.
fn settle(g: impl Fn(f64) -> f64) -> f64 {
    let sum = |step: f64, first: f64| {
        let mut total = 0.0;
        for direction in [-1.0, 1.0] {
            let mut t = first;
            while t < 6.5 {
                if t > 0.0 || direction > 0.0 {
                    let value = g(direction * t);
                    total += if value.is_finite() { value } else { 0.0 };
                }
                t += step;
            }
        }
        total * step
    };
    let mut step = 0.25;
    let mut value = sum(step, 0.0);
    for _ in 0..8 {
        let refined = 0.5 * (value + sum(step, 0.5 * step));
        step *= 0.5;
        if (refined - value).abs() < 1e-13 && step < 0.1 {
            return refined;
        }
        value = refined;
    }
    value
}

/// s = scale · exp(½π sinh t)
fn half_line(f: impl Fn(f64) -> f64, scale: f64) -> f64 {
    settle(|t| {
        let s = scale * (FRAC_PI_2 * t.sinh()).exp();
        f(s) * s * FRAC_PI_2 * t.cosh()
    })
}

/// x = tanh(½π sinh t) of the interval, with the distance to the nearer end kept exactly
fn interval(f: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let width = to - from;
    settle(|t| {
        let u = FRAC_PI_2 * t.sinh();
        // the distance from the nearer end, as a fraction of the width
        let part = 1.0 / (1.0 + (2.0 * u.abs()).exp());
        let x = if u < 0.0 { from + width * part } else { to - width * part };
        f(x) * width * 2.0 * part * (1.0 - part) * FRAC_PI_2 * t.cosh()
    })
}
