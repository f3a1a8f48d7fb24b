use std::f64::consts::PI;

use super::super::check::{Sample, integrated, normal_cdf, stream};
use super::*;
use crate::special::log1p_exp;

const N: usize = 50_000;

/// The distribution function of log(X / a) for a gamma draw X of shape a and rate 1. Smooth for every shape.
fn log_gamma_cdf(a: f64) -> impl Fn(f64) -> f64 {
    let low = -(30.0 / a + 12.0 / a.sqrt());
    let high = (40.0 / a + 12.0 / a.sqrt()).ln_1p();
    integrated(low, high, move |x| if x.abs() < 1e-3 { -a * x * x * (0.5 + x / 6.0) } else { a * (x - x.exp_m1()) })
}

#[test]
fn normal_and_exponential_are_scaled() {
    for (location, scale) in [(0.0, 1.0), (-3.0, 1e-5), (1e6, 20.0), (2.0, 1e200)] {
        let sample = Sample::draw(N, &mut stream(1), |s| s.normal(location, scale).unwrap());
        sample.follows("normal", |x| normal_cdf((x - location) / scale));
    }
    for rate in [1e-300, 0.2, 1.0, 1e100] {
        let sample = Sample::draw(N, &mut stream(2), |s| s.exponential(rate).unwrap());
        sample.follows("exponential", |x| -(-x * rate).exp_m1());
    }
}

#[test]
fn gamma_draws_in_all_regimes() {
    for shape in [0.2, 0.7, 1.0, 1.5, 6.0, 300.0, 1e5, 1e10, 1e15] {
        for rate in [0.01, 3.0] {
            let name = format!("gamma({shape}, {rate})");
            let sample = Sample::draw(N, &mut stream(3), |s| s.gamma(shape, rate).unwrap());
            sample.map(|x| (x * rate / shape).ln()).follows(&name, log_gamma_cdf(shape));
            sample.has_moments(&name, shape / rate, shape / rate / rate);
        }
    }
}

#[test]
fn logarithms_of_gamma_draws_for_tiny_shapes() {
    for shape in [1e-8, 1e-3, 0.01, 0.5, 2.0, 1e4] {
        let sample = Sample::draw(N, &mut stream(4), |s| s.log_gamma(shape).unwrap());
        assert!(sample.0.iter().all(|x| x.is_finite()));
        sample.map(|x| x - shape.ln()).follows(&format!("log gamma({shape})"), log_gamma_cdf(shape));
    }
    // Log U / a dominates.
    let sample = Sample::draw(N, &mut stream(5), |s| s.log_gamma(1e-300).unwrap());
    sample.map(|x| -x * 1e-300).follows("log gamma(1e-300)", |e| -(-e).exp_m1());
}

/// The distribution function of logit(X) − log(a / b) for a beta draw X.
fn logit_beta_cdf(a: f64, b: f64) -> impl Fn(f64) -> f64 {
    let spread = 12.0 * (1.0 / a + 1.0 / b).sqrt();
    let center = (a / b).ln();
    integrated(-30.0 / a - spread, 30.0 / b + spread, move |x| {
        let y = x + center;
        -a * log1p_exp(-y) - b * log1p_exp(y)
    })
}

#[test]
fn beta_draws_in_all_regimes() {
    for (a, b) in [(1.0, 1.0), (0.5, 0.5), (0.05, 3.0), (2.0, 7.0), (40.0, 0.3), (1e5, 3e5), (1e9, 1e9), (3.0, 1e7)] {
        let name = format!("beta({a}, {b})");
        let sample = Sample::draw(N, &mut stream(6), |s| s.beta(a, b).unwrap());
        sample.map(|x| (x / (1.0 - x)).ln() - (a / b).ln()).follows(&name, logit_beta_cdf(a, b));
        sample.has_moments(&name, a / (a + b), a * b / ((a + b) * (a + b) * (a + b + 1.0)));
    }
}

/// Most draws are so near to 1 that they are 1: only those below a half can be looked at.
#[test]
fn beta_draws_with_tiny_shapes() {
    let (a, b) = (0.02, 0.01);
    let sample = Sample::draw(N, &mut stream(7), |s| s.beta(a, b).unwrap());
    sample.map(|x| f64::from(u8::from(x > 0.5))).has_moments("half", 2.0 / 3.0, 2.0 / 9.0);
    let cdf = logit_beta_cdf(a, b);
    let half = cdf(-(a / b).ln());
    let low = Sample(sample.0.into_iter().filter(|&x| x < 0.5).collect());
    low.map(|x| (x / (1.0 - x)).ln() - (a / b).ln()).follows("beta(0.02, 0.01)", |y| cdf(y) / half);
    let mut stream = stream(8);
    assert!((0..1000).map(|_| stream.beta(1e-200, 1e-200).unwrap()).all(|x| x <= 0.0 || x >= 1.0));
}

#[test]
fn chi_square_draws() {
    for degrees in [0.5, 1.0, 2.0, 9.0, 1e6] {
        let name = format!("chi_square({degrees})");
        let sample = Sample::draw(N, &mut stream(9), |s| s.chi_square(degrees).unwrap());
        sample.map(|x| (x / degrees).ln()).follows(&name, log_gamma_cdf(0.5 * degrees));
        sample.has_moments(&name, degrees, 2.0 * degrees);
    }
}

/// The distribution function of asinh(T), whose density is smooth and decays as exp(−ν |y|).
fn asinh_student_cdf(nu: f64) -> impl Fn(f64) -> f64 {
    let range = (30.0 / nu + 12.0).min(700.0);
    integrated(-range, range, move |y| {
        let away = (-2.0 * y.abs()).exp();
        let log_square = 2.0 * y.abs() + 2.0 * ((1.0 - away) / 2.0).ln() - nu.ln();
        let log_cosh = y.abs() + f64::midpoint(1.0, away).ln();
        log_cosh - 0.5 * (nu + 1.0) * log1p_exp(log_square)
    })
}

#[test]
fn student_t_draws() {
    for degrees in [0.05, 0.3, 1.0, 2.5, 30.0, 1e7] {
        let name = format!("student_t({degrees})");
        let sample = Sample::draw(N, &mut stream(10), |s| s.student_t(degrees, 0.0, 1.0).unwrap());
        sample.map(f64::asinh).follows(&name, asinh_student_cdf(degrees));
        if degrees > 4.0 {
            sample.has_moments(&name, 0.0, degrees / (degrees - 2.0));
        }
    }
    // With one degree of freedom it is the Cauchy distribution.
    let sample = Sample::draw(N, &mut stream(11), |s| s.student_t(1.0, -2.0, 3.0).unwrap());
    sample.follows("student_t(1, -2, 3)", |x| 0.5 + ((x + 2.0) / 3.0).atan() / PI);
    assert!(!stream(12).student_t(1e-3, 0.0, 1.0).unwrap().is_nan());
}

#[test]
fn cauchy_draws() {
    for (location, scale) in [(0.0, 1.0), (5.0, 0.01), (-1e3, 1e5), (0.0, 1e-300)] {
        let sample = Sample::draw(2 * N, &mut stream(13), |s| s.cauchy(location, scale).unwrap());
        sample.follows("cauchy", |x| 0.5 + ((x - location) / scale).atan() / PI);
    }
}

#[test]
fn von_mises_draws_in_all_regimes() {
    for kappa in [0.0, 1e-12, 0.1, 0.5, 1.0, 4.0, 60.0, 1e4, 1e9, 1e15, 1e200] {
        let name = format!("von_mises({kappa})");
        let scale = 1.0 / (1.0 + f64::sqrt(kappa));
        let range = PI.min(15.0 * scale) / scale;
        let cdf = integrated(-range, range, |x| -2.0 * (f64::sqrt(kappa) * (0.5 * x * scale).sin()).powi(2));
        let sample = Sample::draw(N, &mut stream(14), |s| s.von_mises(0.0, kappa).unwrap());
        sample.map(|x| x / scale).follows(&name, cdf);
    }
    let sample = Sample::draw(N, &mut stream(15), |s| s.von_mises(100.0, 0.0).unwrap());
    let center = 100.0 % TAU;
    sample.follows("location", |x| (x - center + PI) / TAU);
    assert!(stream(16).von_mises(0.0, f64::MAX).unwrap().abs() < 1e-140);
}

/// No parameter may make a sampler loop for ever.
#[test]
fn impossible_parameters_are_errors() {
    let mut s = stream(17);
    for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        assert!(s.normal(0.0, bad).is_err());
        assert!(s.exponential(bad).is_err());
        assert!(s.cauchy(0.0, bad).is_err());
        assert!(s.gamma(bad, 1.0).is_err() && s.gamma(1.0, bad).is_err() && s.log_gamma(bad).is_err());
        assert!(s.beta(bad, 1.0).is_err() && s.beta(1.0, bad).is_err());
        assert!(s.chi_square(bad).is_err());
        assert!(s.student_t(bad, 0.0, 1.0).is_err() && s.student_t(1.0, 0.0, bad).is_err());
        assert!(bad == 0.0 || s.von_mises(0.0, bad).is_err());
    }
    let error = s.gamma(-1.0, 1.0).unwrap_err();
    assert_eq!(error.to_string(), "gamma_rng: Shape parameter is -1, but must be positive finite");
}
