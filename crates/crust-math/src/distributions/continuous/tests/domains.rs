//! The edges of domains and supports are Stan's, and the far tails are finite.

use super::super::{ALL, ContinuousDistribution, by_name};
use super::points::{Stream, typical};
use crate::density::Terms;

const INF: f64 = f64::INFINITY;

fn lpdf(name: &str, point: &[f64]) -> Option<f64> {
    (by_name(name).unwrap().lpdf)(point, Terms::ALL).ok().map(|(value, _)| value)
}

/// Whether each function of the distribution rejects the point.
fn rejections(d: &ContinuousDistribution, point: &[f64]) -> Vec<bool> {
    let mut list = vec![(d.lpdf)(point, Terms::ALL).is_err()];
    list.extend([d.cdf, d.lcdf, d.lccdf].into_iter().flatten().map(|f| f(point).is_err()));
    list
}

#[test]
fn nan_is_rejected_everywhere() {
    for d in ALL {
        let mut stream = Stream::new(d.name);
        let point = typical(d.name, &mut stream);
        for i in 0..d.arity {
            let mut broken = point.clone();
            broken[i] = f64::NAN;
            assert!(rejections(d, &broken).iter().all(|r| *r), "{}{broken:?}", d.name);
        }
    }
}

/// Positions of scales and shapes that must be positive; those that must be finite too come first.
#[rustfmt::skip]
const POSITIVE: &[(&str, &[usize], &[usize])] = &[
    ("normal", &[], &[2]), ("student_t", &[1, 3], &[]), ("cauchy", &[2], &[]), ("double_exponential", &[2], &[]),
    ("logistic", &[2], &[]), ("gumbel", &[], &[2]), ("skew_normal", &[], &[2]), ("skew_double_exponential", &[2], &[]),
    ("exp_mod_normal", &[2, 3], &[]), ("lognormal", &[2], &[]), ("exponential", &[1], &[]), ("gamma", &[1, 2], &[]),
    ("inv_gamma", &[1, 2], &[]), ("chi_square", &[1], &[]), ("inv_chi_square", &[1], &[]),
    ("scaled_inv_chi_square", &[1, 2], &[]), ("weibull", &[1, 2], &[]), ("frechet", &[1, 2], &[]), ("rayleigh", &[], &[1]),
    ("loglogistic", &[1, 2], &[]), ("pareto", &[1, 2], &[]), ("pareto_type_2", &[2, 3], &[]), ("beta", &[1, 2], &[]),
    ("beta_proportion", &[2], &[]), ("von_mises", &[], &[]),
];

#[test]
fn scales_and_shapes_are_positive() {
    for (name, finite, positive) in POSITIVE {
        let d = by_name(name).unwrap();
        let mut stream = Stream::new(name);
        let point = typical(name, &mut stream);
        for i in finite.iter().chain(*positive) {
            for value in [0.0, -0.5, -INF] {
                let mut broken = point.clone();
                broken[*i] = value;
                assert!(rejections(d, &broken).iter().all(|r| *r), "{name}{broken:?}");
            }
            let mut infinite = point.clone();
            infinite[*i] = INF;
            assert_eq!(rejections(d, &infinite)[0], finite.contains(i), "{name}{infinite:?}");
        }
    }
}

#[test]
fn locations_are_finite() {
    for name in [
        "normal",
        "cauchy",
        "double_exponential",
        "logistic",
        "gumbel",
        "skew_normal",
        "exp_mod_normal",
        "lognormal",
        "von_mises",
        "uniform",
    ] {
        let d = by_name(name).unwrap();
        for value in [INF, -INF] {
            let mut point = typical(name, &mut Stream::new(name));
            point[1] = value;
            assert!(rejections(d, &point).iter().all(|r| *r), "{name}{point:?}");
        }
    }
}

/// Outside of the support: −∞ for some distributions, an error for others, as in Stan.
#[test]
fn outside_of_the_support() {
    for (name, point) in [
        ("inv_gamma", &[-1.0, 2.0, 1.0] as &[f64]),
        ("inv_gamma", &[0.0, 2.0, 1.0]),
        ("inv_chi_square", &[0.0, 2.0]),
        ("scaled_inv_chi_square", &[-3.0, 2.0, 1.0]),
        ("weibull", &[-1.0, 2.0, 1.0]),
        ("lognormal", &[0.0, 0.5, 1.0]),
        ("pareto", &[0.9, 1.0, 2.0]),
        ("uniform", &[-0.1, 0.0, 1.0]),
        ("uniform", &[1.1, 0.0, 1.0]),
        ("normal", &[INF, 0.0, 1.0]),
        ("gumbel", &[-INF, 0.0, 1.0]),
        ("skew_double_exponential", &[INF, 0.0, 1.0, 0.5]),
    ] {
        assert_eq!(lpdf(name, point), Some(-INF), "{name}{point:?}");
    }
    for (name, point) in [
        ("gamma", &[0.0, 2.0, 1.0] as &[f64]),
        ("gamma", &[INF, 2.0, 1.0]),
        ("chi_square", &[-1.0, 2.0]),
        ("exponential", &[-1e-9, 2.0]),
        ("lognormal", &[-1.0, 0.0, 1.0]),
        ("frechet", &[0.0, 2.0, 1.0]),
        ("rayleigh", &[0.0, 2.0]),
        ("weibull", &[INF, 2.0, 1.0]),
        ("loglogistic", &[0.0, 2.0, 1.0]),
        ("pareto_type_2", &[0.9, 1.0, 2.0, 3.0]),
        ("beta", &[1.1, 1.0, 2.0]),
        ("beta_proportion", &[0.5, 1.0, 2.0]),
        ("logistic", &[INF, 0.0, 1.0]),
        ("double_exponential", &[-INF, 0.0, 1.0]),
        ("von_mises", &[INF, 0.0, 1.0]),
        ("von_mises", &[0.0, 0.0, -1.0]),
        ("uniform", &[0.5, 1.0, 1.0]),
        ("skew_double_exponential", &[0.0, 0.0, 1.0, 1.1]),
    ] {
        assert_eq!(lpdf(name, point), None, "{name}{point:?}");
    }
}

#[test]
fn ends_of_the_support() {
    for d in ALL {
        let point = typical(d.name, &mut Stream::new(d.name));
        let (low, high, ..) = super::points::support(d.name, &point);
        for (end, lower, upper) in [(low, -INF, 0.0), (high, 0.0, -INF)] {
            let mut at = point.clone();
            at[0] = end;
            for (function, expected) in [(d.lcdf, lower), (d.lccdf, upper), (d.cdf, lower.exp())] {
                let Some(Ok((value, partials))) = function.map(|f| f(&at)) else { continue };
                assert!(
                    value.total_cmp(&expected).is_eq() || value.abs() + expected.abs() <= 0.0,
                    "{}{at:?}: {value}",
                    d.name
                );
                assert!(partials.iter().all(|p| !p.is_nan()), "{}{at:?}: {partials:?}", d.name);
            }
        }
    }
}

#[test]
fn far_tails_are_finite() {
    for (name, points) in [
        ("normal", &[&[-1e8, 0.0, 1.0] as &[f64], &[1e8, 0.0, 1.0]] as &[&[f64]]),
        ("student_t", &[&[-1e150, 3.0, 0.0, 1.0], &[1e150, 0.5, 0.0, 1.0]]),
        ("cauchy", &[&[-1e200, 0.0, 1.0], &[1e250, 0.0, 1.0]]),
        ("double_exponential", &[&[-1e8, 0.0, 1.0], &[1e8, 0.0, 1.0]]),
        ("logistic", &[&[-1e8, 0.0, 1.0], &[1e8, 0.0, 1.0]]),
        ("gumbel", &[&[-700.0, 0.0, 1.0], &[1e8, 0.0, 1.0]]),
        ("skew_normal", &[&[-1e4, 0.0, 1.0, 3.0], &[1e4, 0.0, 1.0, 3.0], &[-1e4, 0.0, 1.0, -3.0]]),
        ("exp_mod_normal", &[&[-1e4, 0.0, 1.0, 1.0], &[1e5, 0.0, 1.0, 1.0]]),
        ("lognormal", &[&[1e-300, 0.0, 1.0], &[1e300, 0.0, 1.0]]),
        ("gamma", &[&[1e-250, 2.0, 1.0], &[1e6, 2.0, 1.0]]),
        ("inv_gamma", &[&[1e-6, 2.0, 1.0], &[1e250, 2.0, 1.0]]),
        ("weibull", &[&[1e-300, 2.0, 1.0], &[1e100, 2.0, 1.0]]),
        ("frechet", &[&[1e-100, 2.0, 1.0], &[1e300, 2.0, 1.0]]),
        ("pareto", &[&[1e300, 1.0, 4.0]]),
        ("beta", &[&[1e-300, 2.0, 3.0], &[0.5, 1e4, 1.0], &[0.5, 1.0, 1e4]]),
        ("von_mises", &[&[-3.0, 0.0, 1e4], &[3.0, 0.0, 1e4]]),
    ] {
        let d = by_name(name).unwrap();
        for point in points {
            let density = (d.lpdf)(point, Terms::ALL).unwrap();
            assert!(
                density.0.is_finite() && density.1.iter().all(|p| p.is_finite()),
                "{name}_lpdf{point:?}: {density:?}"
            );
            for function in [d.lcdf, d.lccdf].into_iter().flatten() {
                let (value, partials) = function(point).unwrap();
                assert!(
                    value.is_finite() && partials.iter().all(|p| p.is_finite()),
                    "{name}{point:?}: {value} {partials:?}"
                );
            }
        }
    }
}
