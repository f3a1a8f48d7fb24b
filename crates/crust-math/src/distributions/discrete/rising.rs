//! Differences of log Γ that do not cancel: Γ(a + δ) / Γ(a), binomial coefficients, Poisson limits.

use crate::special::{STIRLING, lgamma};

/// From here on Stirling's series (Abramowitz & Stegun 6.1.41) has all digits.
const LARGE: f64 = 10.0;

/// An integer as a real number.
#[inline]
#[allow(clippy::cast_precision_loss)] // Stan's integers have 32 bits; beyond 2⁵³ the nearest real is what is wanted
pub(super) fn real(n: i64) -> f64 {
    n as f64
}

/// log(1 + x) − x with all digits also near 0.
pub(super) fn log1pmx(x: f64) -> f64 {
    pxfm::f_log1pmx(x)
}

/// A function of `a` and its derivative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    pub value: f64,
    pub d: f64,
}

/// log Γ(a + δ) − log Γ(a) − δ log a and its derivative for a, where a ≥ 10 and δ ≥ 0. It goes to 0 like δ² / 2a.
pub(super) fn rising_excess(a: f64, delta: f64) -> Slope {
    let y = delta / a;
    let (u, v) = (1.0 / a, 1.0 / (a + delta));
    let gap = y * v; // u − v
    // h is the sum over i + j = m of uⁱ vʲ, so that u^(m+1) − v^(m+1) = (u − v) h
    let (mut h, mut power, mut value, mut slope, mut order) = (1.0, 1.0, 0.0, 0.0, 1.0);
    for c in STIRLING {
        value += c * h;
        power *= v;
        h = u * h + power;
        slope += c * order * h;
        power *= v;
        h = u * h + power;
        order += 2.0;
    }
    let l = log1pmx(y);
    Slope { value: a * l + (delta - 0.5) * y.ln_1p() - gap * value, d: l + gap * (0.5 + slope) }
}

/// log Γ(a + δ) − log Γ(a) for a > 0, δ ≥ 0, and ψ(a + δ) − ψ(a): the derivative for a.
pub(super) fn log_rising(a: f64, delta: f64) -> Slope {
    // Γ(z + 1) = z Γ(z) up to where Stirling's series holds; `lift` is Π (1 + δ / (a + i)) − 1
    let (mut base, mut lift, mut slope) = (a, 0.0, 0.0);
    while base < LARGE {
        let e = delta / base;
        lift += e + lift * e;
        slope += e / (base + delta);
        base += 1.0;
    }
    let excess = rising_excess(base, delta);
    let lifted = if lift.is_finite() { lift.ln_1p() } else { log_lift(a, delta) };
    Slope { value: excess.value + delta * base.ln() - lifted, d: excess.d + delta / base + slope }
}

/// log Π (1 + δ / (a + i)) over all a + i < 10, where the product overflows.
#[cold]
fn log_lift(a: f64, delta: f64) -> f64 {
    let mut base = a;
    let mut sum = 0.0;
    while base < LARGE {
        sum += if delta / base < 1e300 { (delta / base).ln_1p() } else { delta.ln() - base.ln() };
        base += 1.0;
    }
    sum
}

/// log n!
pub(super) fn log_factorial(n: f64) -> f64 {
    lgamma(n + 1.0)
}

/// log of the binomial coefficient (n over k) for 0 ≤ k ≤ n.
pub(super) fn log_choose(n: f64, k: f64) -> f64 {
    let k = k.min(n - k);
    if k == 0.0 { 0.0 } else { log_rising(n - k + 1.0, k).value - log_factorial(k) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::digamma;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} is not {b}");
    }

    #[test]
    fn rising_is_the_difference_of_lgamma() {
        for a in [0.003, 0.7, 1.0, 3.5, 9.99, 10.0, 40.0] {
            for delta in [0.0, 0.01, 1.0, 2.5, 30.0, 400.0] {
                let r = log_rising(a, delta);
                close(r.value, lgamma(a + delta) - lgamma(a), 1e-14);
                close(r.d, digamma(a + delta) - digamma(a), 1e-13);
            }
        }
    }

    /// For integers δ both are finite sums: of log(a + i) and 1 / (a + i).
    #[test]
    fn rising_of_integers_is_a_product() {
        for a in [1e-300, 0.25, 7.0, 1e3, 1e9, 1e15, 1e100] {
            for n in [1, 2, 7, 60] {
                let r = log_rising(a, f64::from(n));
                let product: f64 = (0..n).map(|i| (a + f64::from(i)).ln()).sum();
                let slope: f64 = (0..n).map(|i| 1.0 / (a + f64::from(i))).sum();
                assert!((r.value / product - 1.0).abs() < 1e-14, "{a} {n}: {} {product}", r.value);
                assert!((r.d / slope - 1.0).abs() < 1e-14, "{a} {n}: {} {slope}", r.d);
                if a >= 10.0 && n > 1 {
                    let e = rising_excess(a, f64::from(n));
                    let excess: f64 = (0..n).map(|i| (f64::from(i) / a).ln_1p()).sum();
                    let d: f64 = (0..n).map(|i| -f64::from(i) / a / (a + f64::from(i))).sum();
                    assert!((e.value - excess).abs() <= 1e-13 * excess, "{a} {n}: {} {excess}", e.value);
                    assert!((e.d - d).abs() <= 1e-13 * d.abs(), "{a} {n}: {} {d}", e.d);
                }
            }
        }
    }

    #[test]
    fn log1pmx_has_all_digits() {
        close(log1pmx(1e-9) / -5e-19, 1.0 - 2e-9 / 3.0, 1e-15);
        close(log1pmx(0.1) / -0.004_689_820_195_675_14, 1.0, 2e-15);
        close(log1pmx(-0.1) / -0.005_360_515_657_826_301, 1.0, 2e-15);
        close(log1pmx(0.100_001), 0.100_001_f64.ln_1p() - 0.100_001, 1e-16);
    }
}
