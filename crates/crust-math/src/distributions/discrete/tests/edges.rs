//! The edges of domains and supports, and what Stan drops.

use super::super::table::TABLE;
use super::super::*;
use super::{close, find, lpmf};
use crate::density::Terms;

const INFINITY: f64 = f64::INFINITY;

/// A point of each distribution's domain.
const INSIDE: [(&str, &[i64], &[f64]); 21] = [
    ("bernoulli", &[1], &[0.4]),
    ("bernoulli_logit", &[0], &[0.4]),
    ("binomial", &[2, 5], &[0.4]),
    ("binomial_logit", &[2, 5], &[0.4]),
    ("beta_binomial", &[2, 5], &[0.4, 1.4]),
    ("hypergeometric", &[2, 5, 6, 7], &[]),
    ("discrete_range", &[2, 1, 6], &[]),
    ("poisson", &[2], &[0.4]),
    ("poisson_log", &[2], &[0.4]),
    ("neg_binomial", &[2], &[0.4, 1.4]),
    ("neg_binomial_2", &[2], &[0.4, 1.4]),
    ("neg_binomial_2_log", &[2], &[0.4, 1.4]),
    ("beta_neg_binomial", &[2], &[0.4, 1.4, 2.0]),
    ("yule_simon", &[2], &[0.4]),
    ("categorical", &[2], &[0.25, 0.75]),
    ("categorical_logit", &[2], &[0.25, 0.75]),
    ("ordered_logistic", &[2], &[0.4, 1.4, 2.0]),
    ("ordered_probit", &[2], &[0.4, 1.4, 2.0]),
    ("multinomial", &[2, 3], &[0.25, 0.75]),
    ("multinomial_logit", &[2, 3], &[0.25, 0.75]),
    ("dirichlet_multinomial", &[2, 3], &[0.25, 0.75]),
];

/// NaN in any place, and −1 where no negative number may be, is an error of this function.
#[test]
fn discrete_domain_errors() {
    for ((name, n, x), distribution) in INSIDE.iter().zip(TABLE) {
        assert_eq!(*name, distribution.name);
        assert!(lpmf(&distribution, n, x, Terms::ALL).is_ok(), "{name}");
        let unbounded = name.contains("log") || name.contains("ordered");
        for i in 0..x.len() {
            let positive = !unbounded || (*name == "neg_binomial_2_log" && i == 1);
            for bad in [f64::NAN, -1.0, INFINITY] {
                let mut x = x.to_vec();
                x[i] = bad;
                let negative_is_fine = bad < 0.0 && !positive;
                let infinity_is_fine = bad > 0.0 && ["bernoulli_logit", "poisson", "poisson_log"].contains(name);
                if negative_is_fine && name.contains("ordered") {
                    continue; // whether cutpoints stay in order
                }
                let result = lpmf(&distribution, n, &x, Terms::ALL);
                assert_eq!(result.is_ok(), negative_is_fine || infinity_is_fine, "{name} {x:?} {result:?}");
                if let Err(error) = result {
                    assert_eq!(error.function, format!("{name}_lpmf"));
                }
                if let Some(c) = distribution.cumulative {
                    let mut d = vec![0.0; x.len()];
                    let results = [c.cdf, c.lcdf, c.lccdf].map(|f| f(n, &x, &mut d).is_ok());
                    assert_eq!(results, [infinity_is_fine; 3], "{name} {x:?}");
                }
            }
        }
    }
}

/// Where Stan throws, and where it answers −∞.
#[test]
fn discrete_variates_outside_of_the_support() {
    for (name, n, x) in INSIDE {
        let mut outside = n.to_vec();
        outside[0] = -1;
        let result = lpmf(find(name), &outside, x, Terms::ALL).map(|(value, _)| value);
        match name {
            "beta_binomial" | "discrete_range" => assert_eq!(result, Ok(f64::NEG_INFINITY), "{name}"),
            _ => assert!(result.is_err(), "{name}"),
        }
    }
    for (name, n, x) in [
        ("bernoulli", vec![2], vec![0.5]),
        ("bernoulli_logit", vec![2], vec![0.5]),
        ("binomial", vec![6, 5], vec![0.5]),
        ("binomial_logit", vec![6, 5], vec![0.5]),
        ("hypergeometric", vec![3, 2, 5, 5], vec![]),
        ("hypergeometric", vec![1, 9, 5, 5], vec![]),
        ("yule_simon", vec![0], vec![0.5]),
        ("categorical", vec![0], vec![1.0]),
        ("categorical", vec![2], vec![1.0]),
        ("categorical_logit", vec![2], vec![1.0]),
        ("ordered_logistic", vec![4], vec![0.0, 1.0, 2.0]),
        ("ordered_logistic", vec![2], vec![0.0, 2.0, 2.0]),
        ("ordered_probit", vec![1], vec![0.0]),
        ("multinomial", vec![1], vec![0.5, 0.5]),
        ("multinomial", vec![1, 1], vec![0.5, 0.500_001]),
    ] {
        assert!(lpmf(find(name), &n, &x, Terms::ALL).is_err(), "{name} {n:?} {x:?}");
    }
    close("beta_binomial", beta_binomial_lpmf(6, 5, 1.0, 1.0, Terms::ALL).unwrap().value, -INFINITY, 0.0, 0.0);
    close("discrete_range", discrete_range_lpmf(6, 1, 5, Terms::ALL).unwrap().value, -INFINITY, 0.0, 0.0);
}

#[test]
fn discrete_edges() {
    let value = |name: &str, n: &[i64], x: &[f64]| lpmf(find(name), n, x, Terms::ALL).unwrap();
    for (name, n, x, expected, slope) in [
        ("bernoulli", vec![1], vec![0.0], -INFINITY, INFINITY),
        ("bernoulli", vec![0], vec![0.0], 0.0, -1.0),
        ("bernoulli", vec![1], vec![1.0], 0.0, 1.0),
        ("bernoulli_logit", vec![1], vec![INFINITY], 0.0, 0.0),
        ("bernoulli_logit", vec![0], vec![INFINITY], -INFINITY, -1.0),
        ("binomial", vec![0, 0], vec![0.0], 0.0, 0.0),
        ("binomial", vec![0, 5], vec![0.0], 0.0, -5.0),
        ("binomial", vec![5, 5], vec![1.0], 0.0, 5.0),
        ("binomial", vec![2, 5], vec![1.0], -INFINITY, -INFINITY),
        ("binomial_logit", vec![0, 0], vec![3.0], 0.0, 0.0),
        ("beta_binomial", vec![0, 0], vec![2.0, 3.0], 0.0, 0.0),
        ("poisson", vec![0], vec![0.0], 0.0, -1.0),
        ("poisson", vec![1], vec![0.0], -INFINITY, 0.0),
        ("poisson", vec![1], vec![INFINITY], -INFINITY, 0.0),
        ("poisson_log", vec![0], vec![-INFINITY], 0.0, 0.0),
        ("poisson_log", vec![1], vec![-INFINITY], -INFINITY, 0.0),
        ("poisson_log", vec![1], vec![INFINITY], -INFINITY, 0.0),
        ("categorical", vec![1], vec![0.0, 1.0], -INFINITY, INFINITY),
        ("ordered_logistic", vec![1], vec![0.7], 0.0, 0.0),
        ("multinomial", vec![0, 1], vec![0.0, 1.0], 0.0, 0.0),
        ("multinomial", vec![1, 0], vec![0.0, 1.0], -INFINITY, INFINITY),
    ] {
        let (v, d) = value(name, &n, &x);
        close(&format!("{name} {n:?} {x:?}"), v, expected, 0.0, 0.0);
        close(&format!("{name} {n:?} {x:?} partial"), d[0], slope, 0.0, 0.0);
    }
}

#[test]
fn discrete_cumulative_edges() {
    for (d, expected) in [
        (bernoulli_cdf(0, 1.0).unwrap(), (0.0, -1.0)),
        (bernoulli_cdf(0, 0.0).unwrap(), (1.0, -1.0)),
        (bernoulli_cdf(1, 0.3).unwrap(), (1.0, 0.0)),
        (bernoulli_lccdf(-1, 0.3).unwrap(), (0.0, 0.0)),
        (poisson_cdf(0, 0.0).unwrap(), (1.0, -1.0)),
        (poisson_lcdf(3, 0.0).unwrap(), (0.0, 0.0)),
        (poisson_cdf(3, INFINITY).unwrap(), (0.0, 0.0)),
        (poisson_lccdf(3, 0.0).unwrap(), (-INFINITY, 0.0)),
        (yule_simon_lcdf(i64::from(i32::MAX), 0.1).unwrap(), (0.0, 0.0)),
    ] {
        close("value", d.value, expected.0, 0.0, 0.0);
        close("partial", d.d[1], expected.1, 0.0, 0.0);
    }
    for (d, expected) in [
        (binomial_cdf(0, 4, 0.0).unwrap(), (1.0, -4.0)),
        (binomial_lcdf(3, 4, 1.0).unwrap(), (-INFINITY, 0.0)),
        (binomial_lcdf(4, 4, 1.0).unwrap(), (0.0, 0.0)),
        (binomial_cdf(0, 0, 0.3).unwrap(), (1.0, 0.0)),
        (neg_binomial_lcdf(i64::from(i32::MAX), 0.1, 1e-9).unwrap(), (0.0, 0.0)),
        (neg_binomial_2_lccdf(-1, 3.0, 2.0).unwrap(), (0.0, 0.0)),
    ] {
        close("value", d.value, expected.0, 0.0, 0.0);
        close("partial", d.d[2], expected.1, 0.0, 0.0);
    }
}

/// Large negative binomial precisions approach the Poisson distribution like 1 / φ.
#[test]
fn discrete_poisson_limit() {
    for (n, mu) in [(0, 0.3), (3, 2.5), (50, 60.0), (200, 100.0)] {
        let poisson = poisson_lpmf(n, mu, Terms::ALL).unwrap();
        for phi in [1e12, 1e15, 1e30, 1e100, 1e300] {
            let near = neg_binomial_2_lpmf(n, mu, phi, Terms::ALL).unwrap();
            close("value", near.value, poisson.value, 2e-14, 2e4 / phi);
            close("mu", near.d[1], poisson.d[1], 2e-14, 2e4 / phi);
            let other = neg_binomial_lpmf(n, phi, phi / mu, Terms::ALL).unwrap();
            close("alpha, beta", other.value, poisson.value, 2e-13, 2e4 / phi);
            let log = neg_binomial_2_log_lpmf(n, mu.ln(), phi, Terms::ALL).unwrap();
            close("log", log.value, poisson.value, 2e-13, 2e4 / phi);
        }
    }
}

/// Exactly the terms that Stan keeps.
#[test]
fn discrete_propto_keeps_what_stan_keeps() {
    let [n, mu, phi] = [4.0_f64, 2.5, 3.5];
    let choose = crate::special::lgamma(n + phi) - crate::special::lgamma(phi) - crate::special::lgamma(n + 1.0);
    let both = -phi * (mu / phi).ln_1p() - n * (mu + phi).ln();
    let (one, two) = (Terms::varying(0b10), Terms::varying(0b100));
    for (name, value, expected) in [
        ("neg_binomial_2 μ", neg_binomial_2_lpmf(4, mu, phi, one).unwrap().value, both + n * mu.ln()),
        ("neg_binomial_2 φ", neg_binomial_2_lpmf(4, mu, phi, two).unwrap().value, both + choose),
        ("neg_binomial_2_log η", neg_binomial_2_log_lpmf(4, mu.ln(), phi, one).unwrap().value, both + n * mu.ln()),
        ("neg_binomial_2_log φ", neg_binomial_2_log_lpmf(4, mu.ln(), phi, two).unwrap().value, both + choose),
        (
            "neg_binomial β",
            neg_binomial_lpmf(4, phi, phi / mu, two).unwrap().value,
            -phi * (mu / phi).ln_1p() - n * (phi / mu).ln_1p(),
        ),
        ("poisson", poisson_lpmf(4, mu, one).unwrap().value, n * mu.ln() - mu),
        ("poisson_log", poisson_log_lpmf(4, mu.ln(), one).unwrap().value, n * mu.ln() - mu),
        ("binomial", binomial_lpmf(4, 9, 0.3, two).unwrap().value, 4.0 * 0.3_f64.ln() + 5.0 * 0.7_f64.ln()),
        ("yule_simon", yule_simon_lpmf(2, 1.0, one).unwrap().value, -6.0_f64.ln()),
        ("discrete_range", discrete_range_lpmf(9, 1, 5, Terms::varying(u32::MAX)).unwrap().value, 0.0),
        ("beta_binomial", beta_binomial_lpmf(1, 2, 1.0, 1.0, two).unwrap().value, -6.0_f64.ln()),
        (
            "beta_neg_binomial",
            beta_neg_binomial_lpmf(2, 1.0, 1.0, 1.0, one).unwrap().value,
            2.0_f64.ln() - 12.0_f64.ln(),
        ),
    ] {
        close(name, value, expected, 1e-14, 0.0);
    }
    let mut d = [0.0; 2];
    let value = dirichlet_multinomial_lpmf(&[2, 3], &[1.0, 1.0], one, &mut d).unwrap();
    // B(2, 5) / (B(1, 2) B(1, 3))
    close("dirichlet_multinomial", value, (2.0 * 3.0 / 30.0_f64).ln(), 1e-14, 0.0);
    let value = multinomial_lpmf(&[2, 3], &[0.5, 0.5], one, &mut d).unwrap();
    close("multinomial", value, 5.0 * 0.5_f64.ln(), 1e-14, 0.0);
}

/// Counts of up to 10⁹ against mpmath: here log Γ of the size of the counts leaves 1e-9 of the logs.
#[test]
fn discrete_large_counts() {
    for (name, n, x, lower, upper) in [
        ("poisson", vec![1010], vec![1e3], -0.459_123_902_076_789_3, -0.999_229_379_529_043_7),
        ("poisson", vec![990_000], vec![1e6], -53.393_667_921_028_815, -6.477_757_015_289_886e-24),
        ("binomial", vec![500_000, 1_000_000], vec![0.5], -0.692_349_614_339_125_6, -0.693_945_383_400_421_7),
        ("binomial", vec![10, 1_000_000_000], vec![1e-8], -0.539_499_912_806_738_5, -0.874_764_385_930_778_4),
        ("neg_binomial_2", vec![1_000_000], vec![1e5, 0.1], -0.024_423_174_229_832_555, -3.724_409_567_333_728),
        ("neg_binomial_2", vec![50_000], vec![1e5, 50.0], -11.869_563_192_221_321, -7.000_285_023_599_354e-6),
        ("neg_binomial_2", vec![120_000], vec![1e5, 99.0], -0.028_930_000_353_405_767, -3.557_306_275_493_103),
        ("neg_binomial_2", vec![100], vec![1e5, 2.0], -13.093_983_624_402_684, -2.057_574_706_670_434_6e-6),
        ("neg_binomial_2", vec![100_000], vec![1e5, 1e4], -0.690_108_791_178_169_5, -0.696_194_829_894_243_4),
        ("beta_neg_binomial", vec![10_000], vec![1e3, 0.5, 3.0], -0.759_094_689_153_088_3, -0.631_280_981_027_166),
    ] {
        let c = find(name).cumulative.expect("tails");
        let what = format!("{name} {n:?} {x:?}");
        close(&what, super::cumulative(c.lcdf, &n, &x).0, lower, 1e-9, 0.0);
        close(&what, super::cumulative(c.lccdf, &n, &x).0, upper, 1e-9, 0.0);
    }
}
