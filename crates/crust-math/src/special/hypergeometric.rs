//! Generalised hypergeometric functions by their series, with all partial derivatives.

#![expect(non_snake_case, reason = "Stan writes F as in mathematics")]

use super::gamma::{digamma, tgamma};
use crate::density::Partials;

const MAX_TERMS: u32 = 1_000_000;

/// The value of a hypergeometric function with its partials for the upper parameters a, the lower parameters b and z.
#[derive(Clone, Debug, PartialEq)]
pub struct HypergeometricPartials {
    pub value: f64,
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub z: f64,
}

impl HypergeometricPartials {
    fn nan(p: usize, q: usize) -> Self {
        Self { value: f64::NAN, a: vec![f64::NAN; p], b: vec![f64::NAN; q], z: f64::NAN }
    }
}

/// Σ Πᵢ (aᵢ)ₖ / Πⱼ (bⱼ)ₖ zᵏ / k!, with p upper parameters aᵢ and q lower parameters bⱼ.
pub fn hypergeometric_pFq(a: &[f64], b: &[f64], z: f64) -> f64 {
    hypergeometric_pFq_partials(a, b, z).value
}

/// [`hypergeometric_pFq`] with its partials: the derivatives of the terms follow their own recurrence, which also holds
/// where a factor aᵢ + k is 0 (DLMF 16.2.1). NaN where the series diverges.
pub fn hypergeometric_pFq_partials(a: &[f64], b: &[f64], z: f64) -> HypergeometricPartials {
    let (p, q) = (a.len(), b.len());
    let is_polynomial = a.iter().any(|a| *a <= 0.0 && a.fract() == 0.0);
    // here only polynomials have a value, and no derivative for the parameter that makes them one
    let outside = z != 0.0 && (p > q + 1 || (p == q + 1 && z.abs() > 1.0));
    if (outside && !is_polynomial) || z.is_nan() || z.is_infinite() || a.iter().chain(b).any(|x| !x.is_finite()) {
        return HypergeometricPartials::nan(p, q);
    }
    let mut sum = HypergeometricPartials { value: 1.0, a: vec![0.0; p], b: vec![0.0; q], z: 0.0 };
    let mut term = 1.0_f64;
    let mut d_term = vec![0.0_f64; p + q];
    for k in 0..MAX_TERMS {
        let k = f64::from(k);
        let lower = b.iter().fold(k + 1.0, |product, b| product * (b + k));
        let upper = |skip: usize| a.iter().enumerate().filter(|&(i, _)| i != skip).map(|(_, a)| a + k).product::<f64>();
        let ratio = z * upper(p) / lower;
        let mut largest = 0.0_f64;
        for (i, d) in d_term.iter_mut().enumerate() {
            let d_ratio = if i < p { z * upper(i) / lower } else { -ratio / (b[i - p] + k) };
            *d = *d * ratio + term * d_ratio;
            let total = if i < p { &mut sum.a[i] } else { &mut sum.b[i - p] };
            *total += *d;
            largest = largest.max(d.abs() / total.abs().max(f64::MIN_POSITIVE));
        }
        // the power's derivative needs no division by z
        sum.z += term * upper(p) / lower * (k + 1.0);
        term *= ratio;
        sum.value += term;
        let shrinks = ratio.abs() < 1.0 && k > 4.0;
        let rest = 1e-17 * (1.0 - ratio.abs());
        if shrinks && term.abs() <= rest * sum.value.abs() && largest <= 10.0 * rest {
            break;
        }
        if term == 0.0 && (outside || d_term.iter().all(|d| *d == 0.0)) {
            break;
        }
    }
    sum
}

/// ₁F₀(a; z) = (1 − z)⁻ᵃ for |z| < 1, with its partials for a and z.
pub fn hypergeometric_1F0_partials(a: f64, z: f64) -> Partials<2> {
    if z.abs() >= 1.0 {
        return Partials { value: f64::NAN, d: [f64::NAN; 2] };
    }
    let log = (-z).ln_1p();
    let value = (-a * log).exp();
    Partials { value, d: [-value * log, value * a / (1.0 - z)] }
}

/// ₁F₀(a; z) = (1 − z)⁻ᵃ for |z| < 1.
pub fn hypergeometric_1F0(a: f64, z: f64) -> f64 {
    hypergeometric_1F0_partials(a, z).value
}

/// Gauss's ₂F₁(a₁, a₂; b; z) for z ≤ 1.
pub fn hypergeometric_2F1(a1: f64, a2: f64, b: f64, z: f64) -> f64 {
    hypergeometric_2F1_partials(a1, a2, b, z).value
}

/// [`hypergeometric_2F1`] with its partials for a₁, a₂, b and z. For negative z Pfaff's transformation (DLMF 15.8.1)
/// leads to an argument between 0 and 1: ₂F₁(a₁, a₂; b; z) = (1 − z)^−a₁ ₂F₁(a₁, b − a₂; b; z / (z − 1)).
pub fn hypergeometric_2F1_partials(a1: f64, a2: f64, b: f64, z: f64) -> Partials<4> {
    if (1.0..=1.0).contains(&z) {
        return gauss(a1, a2, b);
    }
    if z < 0.0 {
        // the parameter that grows the terms least is the one to be reflected
        if (b - a1).abs() < (b - a2).abs() {
            let Partials { value, d } = pfaff(a2, a1, b, z);
            return Partials { value, d: [d[1], d[0], d[2], d[3]] };
        }
        return pfaff(a1, a2, b, z);
    }
    let f = hypergeometric_pFq_partials(&[a1, a2], &[b], z);
    Partials { value: f.value, d: [f.a[0], f.a[1], f.b[0], f.z] }
}

fn pfaff(a1: f64, a2: f64, b: f64, z: f64) -> Partials<4> {
    let f = hypergeometric_pFq_partials(&[a1, b - a2], &[b], z / (z - 1.0));
    let log = (-z).ln_1p();
    let scale = (-a1 * log).exp();
    let dz = a1 / (1.0 - z) * f.value - f.z / ((1.0 - z) * (1.0 - z));
    let d = [f.a[0] - log * f.value, -f.a[1], f.a[1] + f.b[0], dz];
    Partials { value: scale * f.value, d: d.map(|d| scale * d) }
}

/// Gauss's value at z = 1 (DLMF 15.4.20), which is finite for b > a₁ + a₂.
fn gauss(a1: f64, a2: f64, b: f64) -> Partials<4> {
    let at_one = |a1: f64, a2: f64, b: f64| tgamma(b) / tgamma(b - a1) * (tgamma(b - a1 - a2) / tgamma(b - a2));
    let rest = b - a1 - a2;
    if rest.is_nan() || rest <= 0.0 {
        return Partials { value: f64::NAN, d: [f64::NAN; 4] };
    }
    let value = at_one(a1, a2, b);
    let psi = digamma(rest);
    let d1 = digamma(b - a1) - psi;
    let d2 = digamma(b - a2) - psi;
    let db = digamma(b) + psi - digamma(b - a1) - digamma(b - a2);
    let dz = if rest > 1.0 { a1 * a2 / b * at_one(a1 + 1.0, a2 + 1.0, b + 1.0) } else { f64::INFINITY };
    Partials { value, d: [value * d1, value * d2, value * db, dz] }
}

/// ₃F₂(a; b; z) for |z| ≤ 1.
pub fn hypergeometric_3F2(a: [f64; 3], b: [f64; 2], z: f64) -> f64 {
    hypergeometric_pFq(&a, &b, z)
}

/// [`hypergeometric_3F2`] with its partials.
pub fn hypergeometric_3F2_partials(a: [f64; 3], b: [f64; 2], z: f64) -> HypergeometricPartials {
    hypergeometric_pFq_partials(&a, &b, z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::check;

    const TABLE: &str = include_str!("reference/other.txt");

    #[test]
    fn gauss_function() {
        check(TABLE, "hypergeometric_2F1", [1e-12, 1e-11], |a| {
            let p = hypergeometric_2F1_partials(a[0], a[1], a[2], a[3]);
            [p.value, p.d[0], p.d[1], p.d[2], p.d[3]]
        });
    }

    #[test]
    fn others() {
        check(TABLE, "hypergeometric_1F0", [1e-14, 1e-14], |a| {
            let p = hypergeometric_1F0_partials(a[0], a[1]);
            [p.value, p.d[0], p.d[1]]
        });
        // alternating for negative z, where it cancels
        check(TABLE, "hypergeometric_3F2", [1e-12, 1e-11], |a| {
            let p = hypergeometric_3F2_partials([a[0], a[1], a[2]], [a[3], a[4]], a[5]);
            [p.value, p.a[0], p.z]
        });
    }

    #[test]
    fn elementary_cases() {
        // ₀F₀(; ; z) = exp(z), ₁F₁(1; 2; z) = (eᶻ − 1) / z, ₂F₁(1, 1; 2; z) = −log(1 − z) / z
        assert!((hypergeometric_pFq(&[], &[], 1.5) / 1.5_f64.exp() - 1.0).abs() < 1e-14);
        assert!((hypergeometric_pFq(&[1.0], &[2.0], 3.0) * 3.0 / 3.0_f64.exp_m1() - 1.0).abs() < 1e-14);
        assert!((hypergeometric_2F1(1.0, 1.0, 2.0, 0.97) * 0.97 / -0.03_f64.ln() - 1.0).abs() < 1e-13);
        // a polynomial, here 1 − 2 z + z², at a point where the series for other parameters diverges
        assert!((hypergeometric_pFq(&[-2.0, 3.0], &[3.0], 4.0) - 9.0).abs() < 1e-12);
        assert!(hypergeometric_2F1(1.0, 1.0, 2.0, 1.5).is_nan() && hypergeometric_1F0(1.0, 1.0).is_nan());
    }

    #[test]
    fn at_one_the_series_has_gausss_value() {
        let at_one = hypergeometric_2F1_partials(0.3, 0.4, 9.5, 1.0);
        let series = hypergeometric_pFq_partials(&[0.3, 0.4], &[9.5], 1.0);
        assert!((at_one.value / series.value - 1.0).abs() < 1e-12);
        for (d, expected) in at_one.d.iter().zip([series.a[0], series.a[1], series.b[0], series.z]) {
            assert!((d / expected - 1.0).abs() < 1e-10, "{d} {expected}");
        }
    }
}
