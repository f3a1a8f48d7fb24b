use std::collections::BTreeMap;

use super::super::check::{Probabilities, Sample, count, integrated, normal_cdf, stream};
use super::*;

const N: usize = 100_000;

fn indices(mut draw: impl FnMut() -> usize) -> Vec<i64> {
    (0..N).map(|_| i64::try_from(draw()).unwrap()).collect()
}

fn proportional_to(weights: &[f64]) -> Probabilities {
    let total: f64 = weights.iter().sum();
    Probabilities { first: 0, p: weights.iter().map(|w| w / total).collect() }
}

#[test]
fn categories_have_their_weights() {
    let mut stream = stream(1);
    let cases: [&[f64]; 5] =
        [&[1.0], &[0.2, 0.3, 0.5], &[3.0, 0.0, 1e-3, 7.0], &[1e300, 2e300, 1e300], &[5e-320, 5e-320]];
    for weights in cases {
        let draws = indices(|| stream.categorical(weights).unwrap());
        let scaled: Vec<f64> = weights.iter().map(|w| w / weights[0]).collect();
        proportional_to(&scaled).describe("categorical", &draws);
        let zero = weights.iter().position(|&w| w == 0.0);
        assert!(zero.is_none_or(|i| !draws.contains(&i64::try_from(i).unwrap())));
    }
    for shift in [0.0, -1e5, 700.0, 1e10] {
        let log_weights = [shift, shift + 1.0, f64::NEG_INFINITY, shift - 4.0];
        let draws = indices(|| stream.categorical_log(&log_weights).unwrap());
        proportional_to(&[1.0, 1_f64.exp(), 0.0, (-4_f64).exp()]).describe("categorical_log", &draws);
        assert!(!draws.contains(&2));
    }
}

#[test]
fn impossible_weights_are_errors() {
    let mut s = stream(2);
    for weights in [&[][..], &[0.0, 0.0], &[1.0, -0.1], &[f64::NAN], &[f64::INFINITY, 1.0]] {
        assert!(s.categorical(weights).is_err());
        assert!(s.multinomial(2, weights, &mut vec![0; weights.len()]).is_err());
    }
    for log_weights in [&[][..], &[f64::NEG_INFINITY], &[f64::NAN, 0.0], &[f64::INFINITY, 1.0]] {
        assert!(s.categorical_log(log_weights).is_err());
    }
    assert!(s.dirichlet(&[1.0, 0.0], &mut [0.0; 2]).is_err());
    assert!(s.multinomial(-1, &[1.0], &mut [0]).is_err());
}

/// All ten ways to put three into three.
#[test]
fn multinomial_draws_are_joint() {
    let mut stream = stream(3);
    let weights = [2.0, 1.0, 5.0];
    let p: [f64; 3] = weights.map(|w| w / 8.0);
    let factorial = [1.0, 1.0, 2.0, 6.0];
    let mut number = BTreeMap::new();
    let mut expected = vec![];
    for (i, j) in (0..4).flat_map(|i| (0..4 - i).map(move |j| (i, j))) {
        let k = 3 - i - j;
        number.insert([i, j, k], number.len());
        let ways = 6.0 / [i, j, k].map(|x| factorial[usize::try_from(x).unwrap()]).iter().product::<f64>();
        let powers = [i, j, k].map(|x| i32::try_from(x).unwrap());
        expected.push(ways * p.iter().zip(powers).map(|(p, x)| p.powi(x)).product::<f64>());
    }
    let draws = indices(|| {
        let mut out = [0; 3];
        stream.multinomial(3, &weights, &mut out).unwrap();
        number[&out]
    });
    Probabilities { first: 0, p: expected }.describe("multinomial", &draws);
}

#[test]
fn multinomial_margins_are_binomial() {
    let mut stream = stream(4);
    for (n, weights) in [(50, [0.1, 0.2, 0.0, 0.7]), (1_000_000, [1e-6, 0.5, 0.5, 1e-5]), (0, [1.0; 4])] {
        let mut draws = vec![[0; 4]; 20_000];
        for draw in &mut draws {
            stream.multinomial(n, &weights, draw).unwrap();
            assert_eq!(draw.iter().sum::<i64>(), n);
        }
        let total: f64 = weights.iter().sum();
        for part in (0..4).filter(|&i| weights[i] > 0.0 && n > 0) {
            let p = weights[part] / total;
            let sample = Sample(draws.iter().map(|draw| float(draw[part])).collect());
            sample.has_moments("margin", float(n) * p, float(n) * p * (1.0 - p));
        }
    }
}

/// Each part is a beta draw; its mean and variance, and for one case its distribution, are known.
#[test]
fn dirichlet_draws() {
    let mut stream = stream(5);
    for alpha in [[1.0, 1.0, 1.0], [0.2, 3.0, 0.6], [100.0, 5.0, 1e4], [0.05, 0.05, 0.1]] {
        let total: f64 = alpha.iter().sum();
        let mut draws = vec![[0.0; 3]; 50_000];
        for draw in &mut draws {
            stream.dirichlet(&alpha, draw).unwrap();
            assert!((draw.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
        for part in 0..3 {
            let (a, b) = (alpha[part], total - alpha[part]);
            let sample = Sample(draws.iter().map(|draw| draw[part]).collect());
            sample.has_moments("part", a / total, a * b / (total * total * (total + 1.0)));
            if a >= 1.0 && b >= 1.0 {
                let cdf = integrated(0.0, 1.0, |x| {
                    (a - 1.0).max(0.0) * x.ln().max(-1e9) + (b - 1.0) * (-x).ln_1p().max(-1e9)
                });
                sample.follows("part", cdf);
            }
        }
    }
}

#[test]
fn dirichlet_draws_with_tiny_concentrations_are_corners() {
    let mut stream = stream(6);
    for alpha in [1e-4, 1e-100, 1e-300] {
        let mut out = [0.0; 4];
        let corners = indices(|| {
            stream.log_dirichlet(&[alpha; 4], &mut out).unwrap();
            assert!(out.iter().all(|x| x.is_finite()));
            out.iter().position(|&x| x > -0.7).unwrap_or(0)
        });
        proportional_to(&[1.0; 4]).describe("corner", &corners);
    }
}

#[test]
fn all_orders_are_equally_likely() {
    let mut stream = stream(7);
    for (n, orders) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        let draws = indices(|| {
            let order = stream.permutation(n);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n));
            // The number of the order in the factorial system.
            (0..n).fold(0, |code, i| code * (n - i) + order[i + 1..].iter().filter(|&&x| x < order[i]).count())
        });
        Probabilities { first: 0, p: vec![1.0 / count(orders); orders] }.describe("orders", &draws);
    }
    assert!(stream.permutation(0).is_empty());
}

/// Every linear combination aᵀx is normal with mean aᵀm and variance |Lᵀa|².
#[test]
fn multivariate_normal_draws() {
    let mut stream = stream(8);
    let mean = [1.0, -2.0, 30.0];
    // Columns; above the diagonal is NaN, which must not be read.
    let factor = [2.0, -1.0, 0.5, f64::NAN, 0.3, 4.0, f64::NAN, f64::NAN, 1e-3];
    let mut draws = vec![[0.0; 3]; N];
    for draw in &mut draws {
        stream.multi_normal_cholesky(&mean, &factor, draw);
    }
    for a in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 2.0, -1.0], [-1.0, -40.0, 3.0]] {
        let dot = |x: &[f64; 3]| x.iter().zip(a).map(|(x, a)| x * a).sum::<f64>();
        let variance: f64 = (0..3).map(|j| (j..3).map(|i| factor[j * 3 + i] * a[i]).sum::<f64>().powi(2)).sum();
        let sample = Sample(draws.iter().map(|x| (dot(x) - dot(&mean)) / variance.sqrt()).collect());
        sample.follows("combination", normal_cdf);
        sample.has_moments("combination", 0.0, 1.0);
    }
    stream.multi_normal_cholesky(&[], &[], &mut []);
}
