//! Lambert's W: the two real solutions of w eʷ = x.

use crate::density::Partials;
use std::f64::consts::E;

/// e minus its nearest double.
const E_REST: f64 = 1.445_646_891_729_250_2e-16;

/// W = −1 + Σ cₖ pᵏ around the branch point, p = ±√(2 (e x + 1)): c₁…c₉ (DLMF 4.13.6; Corless et al. 1996, eq. 4.22).
const BRANCH: [f64; 9] = [
    1.0,
    -1.0 / 3.0,
    11.0 / 72.0,
    -43.0 / 540.0,
    769.0 / 17_280.0,
    -221.0 / 8505.0,
    680_863.0 / 43_545_600.0,
    -1963.0 / 204_120.0,
    226_287_557.0 / 37_623_398_400.0,
];

/// The upper branch, W ≥ −1, for x ≥ −1/e.
pub fn lambert_w0(x: f64) -> f64 {
    lambert_w0_partials(x).value
}

/// [`lambert_w0`] with its derivative 1 / (eʷ (1 + w)).
pub fn lambert_w0_partials(x: f64) -> Partials<1> {
    if x == f64::INFINITY {
        return Partials { value: x, d: [0.0] };
    }
    let start = |p: f64| {
        if x < -0.25 {
            branch_series(p) - 1.0
        } else if x < 0.0 {
            x / (1.0 + x)
        } else if x < E {
            x.ln_1p() * (1.0 - x.ln_1p().ln_1p() / (2.0 + x.ln_1p()))
        } else {
            x.ln() - x.ln().ln()
        }
    };
    solve(x, 1.0, start)
}

/// The lower branch, W ≤ −1, for −1/e ≤ x < 0.
pub fn lambert_wm1(x: f64) -> f64 {
    lambert_wm1_partials(x).value
}

/// [`lambert_wm1`] with its derivative 1 / (eʷ (1 + w)).
pub fn lambert_wm1_partials(x: f64) -> Partials<1> {
    if x == 0.0 {
        return Partials { value: f64::NEG_INFINITY, d: [f64::NEG_INFINITY] };
    }
    if x > 0.0 {
        return Partials { value: f64::NAN, d: [f64::NAN] };
    }
    let start = |p: f64| if x < -0.25 { branch_series(p) - 1.0 } else { (-x).ln() - (-(-x).ln()).ln() };
    solve(x, -1.0, start)
}

/// 1 + W by its series around the branch point.
fn branch_series(p: f64) -> f64 {
    p * BRANCH.iter().rev().fold(0.0_f64, |sum, c| sum.mul_add(p, *c))
}

/// Newton's iteration for w + log w = log x in the form of Iacono and Boyd (2017): w ← w / (1 + w) (1 + log(x / w)).
fn solve(x: f64, branch: f64, start: impl Fn(f64) -> f64) -> Partials<1> {
    // e x + 1, without the cancellation next to −1/e
    let above = E_REST.mul_add(x, E.mul_add(x, 1.0));
    if above.is_nan() || above < -1e-16 {
        return Partials { value: f64::NAN, d: [f64::NAN] };
    }
    if x == 0.0 {
        return Partials { value: x, d: [1.0] };
    }
    let p = branch * (2.0 * above.max(0.0)).sqrt();
    if p.abs() < 0.02 {
        let shift = branch_series(p);
        let value = shift - 1.0;
        return Partials { value, d: [1.0 / (value.exp() * shift)] };
    }
    let mut w = start(p);
    for _ in 0..12 {
        let next = w / (1.0 + w) * (1.0 + (x / w).ln());
        let done = (next - w).abs() <= 2.0 * f64::EPSILON * w.abs();
        w = next;
        if done {
            break;
        }
    }
    // eʷ = x / w, which does not amplify the error of a large w
    Partials { value: w, d: [if w.abs() < 1.0 { 1.0 / (w.exp() * (1.0 + w)) } else { w / x / (1.0 + w) }] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::check;

    const TABLE: &str = include_str!("reference/other.txt");

    fn row(p: Partials<1>) -> [f64; 2] {
        [p.value, p.d[0]]
    }

    #[test]
    fn reference_values() {
        check(TABLE, "lambert_w0", [1e-14, 1e-12], |a| row(lambert_w0_partials(a[0])));
        check(TABLE, "lambert_wm1", [1e-14, 1e-12], |a| row(lambert_wm1_partials(a[0])));
    }

    #[test]
    fn edges() {
        let branch_point = -1.0 / E;
        for f in [lambert_w0, lambert_wm1] {
            assert!((f(branch_point) + 1.0).abs() < 1e-7);
            assert!(f(-0.37).is_nan() && f(f64::NAN).is_nan());
        }
        assert!(lambert_w0(0.0).abs() < 1e-300 && (lambert_w0_partials(0.0).d[0] - 1.0).abs() < 1e-15);
        assert!(lambert_w0(f64::INFINITY) > f64::MAX);
        assert!(lambert_wm1(0.0) < f64::MIN && lambert_wm1(0.1).is_nan());
    }

    #[test]
    fn inverts_its_definition() {
        // from both sides of each change of method
        for w in [-0.999_f64, -0.981, -0.979, -0.5, -0.36, -0.35, -1e-3, 1e-9, 0.5, 0.999, 1.001, 5.0, 300.0] {
            assert!((lambert_w0(w * w.exp()) - w).abs() < 1e-13 * (1.0 + w.abs()), "{w}");
        }
        for w in [-1.001_f64, -1.019, -1.021, -1.5, -2.15, -2.16, -5.0, -50.0, -600.0] {
            assert!((lambert_wm1(w * w.exp()) / w - 1.0).abs() < 1e-13, "{w}");
        }
    }
}
