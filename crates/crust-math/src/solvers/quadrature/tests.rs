//! Integrals with known values.

use super::*;
use std::f64::consts::PI;

/// An integrand without parameters.
struct Plain<F>(F);

impl<F: FnMut(f64, f64) -> f64> Integrand for Plain<F> {
    fn parameters(&self) -> usize {
        0
    }

    fn value(&mut self, x: f64, xc: f64) -> Result<f64, SolverError> {
        Ok((self.0)(x, xc))
    }

    fn gradient(&mut self, x: f64, xc: f64, _: &mut [f64]) -> Result<f64, SolverError> {
        self.value(x, xc)
    }
}

fn integral(f: impl FnMut(f64, f64) -> f64, lower: f64, upper: f64) -> f64 {
    integrate_1d(&mut Plain(f), lower, upper, RELATIVE_TOLERANCE).expect("integrable")
}

#[test]
fn known_integrals_on_all_kinds_of_intervals() {
    let inf = f64::INFINITY;
    let root_pi = PI.sqrt();
    let cases: [(f64, f64); 12] = [
        (integral(|x, _| x.exp(), 1.0, 2.0), 2.0_f64.exp() - 1.0_f64.exp()),
        (integral(|x, _| x.cos(), -1.0, 3.0), 3.0_f64.sin() + 1.0_f64.sin()),
        (integral(|x, _| x.ln(), 0.0, 1.0), -1.0),
        (integral(|x, _| 1.0 / x.sqrt(), 0.0, 4.0), 4.0),
        (integral(|x, _| (-x * x).exp(), -inf, inf), root_pi),
        (integral(|x, _| (-x * x).exp(), 0.0, inf), root_pi / 2.0),
        (integral(|x, _| (-x).exp(), 3.0, inf), (-3.0_f64).exp()),
        (integral(|x, _| (-x.abs()).exp(), -2.0, inf), 2.0 - (-2.0_f64).exp()),
        (integral(|x, _| x.exp(), -inf, -1.5), (-1.5_f64).exp()),
        (integral(|x, _| (-x.abs()).exp(), -inf, 1.5), 2.0 - (-1.5_f64).exp()),
        (integral(|x, _| 1.0 / (1.0 + x * x), -inf, inf), PI),
        (integral(|x, _| x.powi(-2), 2.0, inf), 0.5),
    ];
    for (i, (found, expected)) in cases.into_iter().enumerate() {
        assert!((found / expected - 1.0).abs() < 1e-13, "{i}: {found} instead of {expected}");
    }
}

#[test]
fn complement_resolves_a_singularity_at_a_limit() {
    // ∫₀² (2 − x)^(−0.9) dx = 2^0.1/0.1: 2 − x itself has too few digits
    let found = integral(|x, xc| if x > 1.0 { xc.powf(-0.9) } else { (2.0 - x).powf(-0.9) }, 0.0, 2.0);
    assert!((found / (2.0_f64.powf(0.1) / 0.1) - 1.0).abs() < 1e-9, "{found}");
    // the complement is the nearer limit minus x
    integral(
        |x, xc| {
            let nearer = if x < 2.0 { 1.0 - x } else { 3.0 - x };
            assert!((xc - nearer).abs() < 1e-15, "{x} {xc}");
            1.0
        },
        1.0,
        3.0,
    );
}

#[test]
fn derivative_by_a_parameter_is_the_integral_of_the_derivative() {
    struct Decay(f64);
    impl Integrand for Decay {
        fn parameters(&self) -> usize {
            1
        }
        fn value(&mut self, x: f64, _: f64) -> Result<f64, SolverError> {
            Ok((-self.0 * x).exp())
        }
        fn gradient(&mut self, x: f64, xc: f64, by_parameter: &mut [f64]) -> Result<f64, SolverError> {
            by_parameter[0] = -x * (-self.0 * x).exp();
            self.value(x, xc)
        }
    }
    let mut gradient = [0.5];
    integrate_1d_gradient(&mut Decay(1.7), 0.0, f64::INFINITY, RELATIVE_TOLERANCE, &mut gradient).expect("smooth");
    assert!((gradient[0] - 0.5 + 1.7_f64.powi(-2)).abs() < 1e-14, "{gradient:?}");
    let (lower, upper) = integrate_1d_by_limits(&mut Decay(1.7), 0.5, f64::INFINITY).expect("smooth");
    assert!((lower + (-0.85_f64).exp()).abs() < 1e-16 && upper == 0.0);
}

#[test]
fn bad_integrals_are_refused() {
    let mut constant = Plain(|_, _| 1.0);
    let inf = f64::INFINITY;
    let mut fail = |a, b| integrate_1d(&mut constant, a, b, 1e-8).expect_err("no integral").to_string();
    assert!(fail(1.0, 0.0).contains("must be at most the upper limit"));
    assert!(fail(inf, inf).contains("both limits"));
    assert!(fail(-inf, inf).contains("must go to zero"));
    assert!(fail(f64::NAN, 1.0).contains("lower limit"));
    let error = integrate_1d(&mut Plain(|x: f64, _| (1e4 * x).sin().signum()), 0.0, 1.0, 1e-12);
    assert!(matches!(error, Err(SolverError::IntegralTolerance { .. })), "{error:?}");
    let error = integrate_1d(&mut Plain(|_, _| f64::NAN), 0.0, 1.0, 1e-8);
    assert!(matches!(error, Err(SolverError::IntegrandNotFinite)), "{error:?}");
    let zero = integrate_1d(&mut Plain(|_, _| f64::NAN), 2.0, 2.0, 1e-8).expect("empty");
    assert!(zero == 0.0);
}
