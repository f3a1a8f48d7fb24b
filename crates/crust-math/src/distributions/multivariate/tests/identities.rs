//! Integrals and sums of one, and densities that follow from each other.

use super::super::{hmm_hidden_state_prob, hmm_memory};
use super::{Maker, Moves, Value, gradients, integers, log_density, real};
use crate::functions::Shape;
use crate::linalg::cholesky::{self, log_diagonal};
use crate::linalg::products::{add_product_transposed, symmetrize};

fn value(shape: Shape, numbers: &[f64]) -> Value {
    Value { moves: Moves::No, shape, numbers: numbers.to_vec(), step: 0.0 }
}

/// The midpoints of `n` cells between two numbers.
fn midpoints(low: f64, high: f64, n: u32) -> impl Iterator<Item = f64> + Clone {
    (0..n).map(move |i| low + (high - low) * (f64::from(i) + 0.5) / f64::from(n))
}

fn one(name: &str, integral: f64, tolerance: f64) {
    assert!((integral - 1.0).abs() < tolerance, "{name} integrates to {integral}");
}

#[test]
fn normal_vectors_integrate_to_one() {
    for (name, matrix) in [
        ("multi_normal_lpdf", [1.3, 0.4, 0.4, 0.7]),
        ("multi_normal_prec_lpdf", [1.3, 0.4, 0.4, 0.7]),
        ("multi_normal_cholesky_lpdf", [1.1, 0.4, 0.0, 0.8]),
    ] {
        let mean = value(Shape::vector(2), &[0.3, -0.2]);
        let matrix = value(Shape::matrix(2, 2), &matrix);
        let grid = midpoints(-9.0, 9.0, 60);
        let sum: f64 = grid
            .clone()
            .flat_map(|x| grid.clone().map(move |y| [x, y]))
            .map(|y| log_density(name, &[value(Shape::vector(2), &y), mean.clone(), matrix.clone()]).exp())
            .sum();
        one(name, sum * 0.09, 1e-9);
    }
}

/// Polar coordinates with radius r = tan(s): the density falls as r⁻⁵.
#[test]
fn student_vectors_integrate_to_one() {
    for (name, matrix) in
        [("multi_student_t_lpdf", [1.3, 0.4, 0.4, 0.7]), ("multi_student_t_cholesky_lpdf", [1.1, 0.4, 0.0, 0.8])]
    {
        let (mean, matrix) = (value(Shape::vector(2), &[0.0; 2]), value(Shape::matrix(2, 2), &matrix));
        let (turns, radii) = (64, 2000);
        let mut sum = 0.0;
        for angle in midpoints(0.0, std::f64::consts::TAU, turns) {
            for s in midpoints(0.0, std::f64::consts::FRAC_PI_2, radii) {
                let y = value(Shape::vector(2), &[s.tan() * angle.cos(), s.tan() * angle.sin()]);
                let jacobian = s.tan() * (1.0 + s.tan().powi(2));
                sum += jacobian * log_density(name, &[y, real(3.0), mean.clone(), matrix.clone()]).exp();
            }
        }
        let cell = std::f64::consts::TAU / f64::from(turns) * std::f64::consts::FRAC_PI_2 / f64::from(radii);
        one(name, sum * cell, 1e-5);
    }
}

#[test]
fn dirichlet_integrates_to_one() {
    let alpha = value(Shape::vector(3), &[2.5, 3.0, 4.0]);
    let n = 150;
    let mut sum = 0.0;
    // (x, (1 − x) z, (1 − x)(1 − z))
    for x in midpoints(0.0, 1.0, n) {
        for z in midpoints(0.0, 1.0, n) {
            let theta = value(Shape::vector(3), &[x, (1.0 - x) * z, (1.0 - x) * (1.0 - z)]);
            sum += (1.0 - x) * log_density("dirichlet_lpdf", &[theta, alpha.clone()]).exp();
        }
    }
    one("dirichlet", sum / f64::from(n * n), 1e-4);
}

#[test]
fn correlation_matrices_integrate_to_one() {
    for eta in [2.0, 3.5] {
        let pair = |r: f64| value(Shape::matrix(2, 2), &[1.0, r, r, 1.0]);
        let sum: f64 =
            midpoints(-1.0, 1.0, 2000).map(|r| log_density("lkj_corr_lpdf", &[pair(r), real(eta)]).exp()).sum();
        one("lkj_corr, 2 × 2", sum / 1000.0, 1e-5);
        // r₂₃ = r₁₂ r₁₃ + p √((1 − r₁₂²)(1 − r₁₃²)) with a partial correlation p
        let n = 40;
        let grid = midpoints(-1.0, 1.0, n);
        let mut sum = 0.0;
        for (a, b) in grid.clone().flat_map(|a| grid.clone().map(move |b| (a, b))) {
            let jacobian = ((1.0 - a * a) * (1.0 - b * b)).sqrt();
            for p in grid.clone() {
                let c = a * b + p * jacobian;
                let matrix = value(Shape::matrix(3, 3), &[1.0, a, b, a, 1.0, c, b, c, 1.0]);
                sum += jacobian * log_density("lkj_corr_lpdf", &[matrix, real(eta)]).exp();
            }
        }
        one("lkj_corr, 3 × 3", sum * 8.0 / f64::from(n).powi(3), 2e-3);
    }
}

/// The Cholesky factors of 2 × 2 matrices.
#[test]
fn factors_of_wishart_matrices_integrate_to_one() {
    let scale = value(Shape::matrix(2, 2), &[0.9, 0.3, 0.0, 0.7]);
    let mut sum = 0.0;
    for a in midpoints(0.0, 9.0, 45) {
        for b in midpoints(-9.0, 9.0, 45) {
            for c in midpoints(0.0, 9.0, 45) {
                let factor = value(Shape::matrix(2, 2), &[a, b, 0.0, c]);
                sum += log_density("wishart_cholesky_lpdf", &[factor, real(5.5), scale.clone()]).exp();
            }
        }
    }
    one("wishart_cholesky", sum * 0.2 * 0.4 * 0.2, 1e-3);
}

/// The Jacobian of L ↦ L Lᵀ is 2ⁿ ∏ Lⱼⱼ^(n − j), with j from 0.
#[test]
fn densities_of_factors_are_those_of_matrices_times_the_jacobian() {
    let mut m = Maker::new(31);
    for n in 1..5_u8 {
        let size = usize::from(n);
        let square = |factor: &Value| {
            let mut matrix = vec![0.0; size * size];
            add_product_transposed(1.0, &factor.numbers, &factor.numbers, &mut matrix, (size, size));
            value(factor.shape, &matrix)
        };
        let (l, s) = (m.factor(size, 1.0), m.factor(size, 1.3));
        let diagonal: Vec<f64> = (0..size).map(|j| l.numbers[j * (size + 1)].ln()).collect();
        let powers = diagonal.iter().zip((1..=n).rev()).map(|(log, power)| f64::from(power) * log).sum::<f64>();
        let jacobian = f64::from(n) * std::f64::consts::LN_2 + powers;
        for (with_factors, with_matrices) in
            [("wishart_cholesky_lpdf", "wishart_lpdf"), ("inv_wishart_cholesky_lpdf", "inv_wishart_lpdf")]
        {
            let of_factors = log_density(with_factors, &[l.clone(), real(5.2), s.clone()]);
            let of_matrices = log_density(with_matrices, &[square(&l), real(5.2), square(&s)]);
            assert!((of_factors - of_matrices - jacobian).abs() < 1e-9, "{with_factors} {n}");
        }
    }
}

/// W is inverse Wishart with scale S if its inverse is Wishart with scale S⁻¹; the Jacobian of the inverse is |W|^−(n +
/// 1).
#[test]
fn the_inverse_of_a_wishart_matrix_is_inverse_wishart() {
    let mut m = Maker::new(32);
    let (w, s) = (m.covariance(3, 1.0), m.covariance(3, 0.6));
    let factor = |x: &Value| {
        let mut l = x.numbers.clone();
        cholesky::factor(&mut l, 3).expect("positive definite");
        l
    };
    let inverse = |x: &Value| {
        let mut out = vec![0.0; 9];
        cholesky::inverse(&factor(x), 3, &mut out);
        symmetrize(&mut out, 3);
        value(x.shape, &out)
    };
    let direct = log_density("inv_wishart_lpdf", &[w.clone(), real(4.4), s.clone()]);
    let inverted = log_density("wishart_lpdf", &[inverse(&w), real(4.4), inverse(&s)]);
    let jacobian = -8.0 * log_diagonal(&factor(&w), 3);
    assert!((direct - inverted - jacobian).abs() < 1e-10);
}

/// vec(y) is normal with precision D ⊗ Σ.
#[test]
fn a_normal_matrix_is_a_normal_vector() {
    let mut m = Maker::new(33);
    let [y, mean] = [m.matrix(2, 3), m.matrix(2, 3)];
    let (sigma, d) = (m.covariance(2, 1.0), m.covariance(3, 1.0));
    let product = |k: usize| {
        let (i, j) = (k % 6, k / 6);
        d.numbers[j / 2 * 3 + i / 2] * sigma.numbers[j % 2 * 2 + i % 2]
    };
    let precision: Vec<f64> = (0..36).map(product).collect();
    let vector = |x: &Value| value(Shape::vector(6), &x.numbers);
    let expected =
        log_density("multi_normal_prec_lpdf", &[vector(&y), vector(&mean), value(Shape::matrix(6, 6), &precision)]);
    let found = log_density("matrix_normal_prec_lpdf", &[y, mean, sigma, d]);
    assert!((found - expected).abs() < 1e-11, "{found} {expected}");
}

/// With states that never move, all observations share one normal state.
#[test]
fn a_constant_state_makes_observations_jointly_normal() {
    let y = [0.3, -0.7, 1.1];
    let scalar = |x: f64| value(Shape::matrix(1, 1), &[x]);
    let series = value(Shape::matrix(1, 3), &y);
    let values =
        [series, scalar(2.0), scalar(1.0), scalar(0.5), scalar(0.0), value(Shape::vector(1), &[0.4]), scalar(0.9)];
    let found = log_density("gaussian_dlm_obs_lpdf", &values);
    let covariance: Vec<f64> = (0..9).map(|k| 3.6 + if k % 4 == 0 { 0.5 } else { 0.0 }).collect();
    let matrix = value(Shape::matrix(3, 3), &covariance);
    let expected =
        log_density("multi_normal_lpdf", &[value(Shape::vector(3), &y), value(Shape::vector(3), &[0.8; 3]), matrix]);
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

#[test]
fn probabilities_of_outcomes_sum_to_one() {
    let mut m = Maker::new(34);
    let sum = |name: &str, parameters: &[Value]| -> f64 {
        let outcome = |y| Value { shape: Shape::SCALAR, ..integers(&[y]) };
        (1..=4)
            .map(|y| {
                let mut values = vec![outcome(y)];
                values.extend_from_slice(parameters);
                log_density(name, &values).exp()
            })
            .sum()
    };
    one("categorical", sum("categorical_lpmf", &[m.simplexes(Shape::vector(4))]), 1e-14);
    one("categorical_logit", sum("categorical_logit_lpmf", &[m.vector(4)]), 1e-14);
    let cuts = Value { shape: Shape::vector(3), ..m.cuts(1, 3) };
    one("ordered_logistic", sum("ordered_logistic_lpmf", &[real(0.3), cuts.clone()]), 1e-14);
    one("ordered_probit", sum("ordered_probit_lpmf", &[real(0.3), cuts]), 1e-14);
    for (name, parameter) in [
        ("multinomial_lpmf", m.simplexes(Shape::vector(3))),
        ("multinomial_logit_lpmf", m.vector(3)),
        ("dirichlet_multinomial_lpmf", m.positive(3)),
    ] {
        let ways = (0..=5).flat_map(|i| (0..=5 - i).map(move |j| [i, j, 5 - i - j]));
        one(name, ways.map(|ns| log_density(name, &[integers(&ns), parameter.clone()]).exp()).sum(), 1e-13);
    }
}

/// The derivative for log ω is the probability of the state, even after thousands of unlikely observations.
#[test]
fn hidden_states_are_the_derivative() {
    let mut m = Maker::new(35);
    let times = 3000;
    let mut seen = m.matrix(3, times);
    seen.numbers.iter_mut().for_each(|x| *x = 2.0 * *x - 900.0);
    let (gamma, rho) = (m.transitions(3), m.simplexes(Shape::vector(3)));
    let mut probabilities = vec![0.0; 3 * times];
    let mut scratch = vec![0.0; hmm_memory(3, times)];
    hmm_hidden_state_prob(&seen.numbers, &gamma.numbers, &rho.numbers, &mut probabilities, &mut scratch)
        .expect("simplexes");
    let values = [seen, gamma, rho];
    assert!(log_density("hmm_marginal", &values).is_finite());
    let slopes = &gradients("hmm_marginal", &values)[0];
    assert!(slopes.iter().zip(&probabilities).all(|(d, p)| (d - p).abs() < 1e-12));
    assert!(probabilities.chunks_exact(3).all(|p| (p.iter().sum::<f64>() - 1.0).abs() < 1e-14));
}
