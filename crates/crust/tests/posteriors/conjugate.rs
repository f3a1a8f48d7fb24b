//! Conjugate posteriors.

use crate::Truth;
use crate::algebra::{Matrix, apply, elements, gamma_of_half, inverse, normal_from_precision};
use crate::posterior;
use serde_json::json;

#[test]
fn beta_binomial() {
    let (n, y) = (17.0, 5.0);
    let (a, b) = (2.0 + y, 3.0 + n - y);
    let sum: f64 = a + b;
    let variance = a * b / (sum * sum * (sum + 1.0));
    let truths = [
        Truth::new("theta", a / sum, variance.sqrt()),
        // the beta-binomial distribution
        Truth::new("again", n * a / sum, (n * (sum + n) * variance).sqrt()),
    ];
    posterior!("beta_binomial", json!({"n": 17, "y": 5}), truths);
}

#[test]
fn gamma_poisson() {
    let y = [3_u32, 0, 2, 5, 1, 4];
    let (shape, rate) = (f64::from(3 + y.iter().sum::<u32>()), 2.0 + y.len() as f64);
    let truths = [
        Truth::new("lambda", shape / rate, shape.sqrt() / rate),
        // the negative binomial distribution
        Truth::new("next", shape / rate, (shape / rate * (1.0 + 1.0 / rate)).sqrt()),
    ];
    posterior!("gamma_poisson", json!({"N": y.len(), "y": y}), truths);
}

#[test]
fn normal_inverse_gamma() {
    let y = [2.1, -0.4, 3.3, 1.7, 0.9, 2.8, 4.0, 1.2];
    let n = y.len() as f64;
    let mean = y.iter().sum::<f64>() / n;
    let squares: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    let (prior_mean, prior_size) = (1.0, 2.0);
    let size = prior_size + n;
    let shape = 4.0 + n / 2.0;
    let rate: f64 = 6.0 + 0.5 * squares + 0.5 * prior_size * n / size * (mean - prior_mean).powi(2);
    let v = rate / (shape - 1.0);
    // the root of an inverse gamma has the mean √rate·Γ(shape − ½)/Γ(shape); here the shape is 8
    let sigma = rate.sqrt() * gamma_of_half(15) / gamma_of_half(16);
    assert!((shape - 8.0).abs() < 1e-12);
    let truths = [
        Truth::new("v", v, v / (shape - 2.0).sqrt()),
        Truth::new("sigma", sigma, (v - sigma * sigma).sqrt()),
        // Student's distribution with twice the shape as degrees of freedom
        Truth::new("mu", (prior_size * prior_mean + n * mean) / size, (v / size).sqrt()),
    ];
    posterior!("normal_inverse_gamma", json!({"N": y.len(), "y": y}), truths);
}

/// Moments of the elements of a Dirichlet vector.
pub fn dirichlet(alpha: &[f64], name: impl Fn(usize) -> String) -> Vec<Truth> {
    let sum: f64 = alpha.iter().sum();
    let sd = |a: f64| (a * (sum - a) / (sum * sum * (sum + 1.0))).sqrt();
    alpha.iter().enumerate().map(|(i, &a)| Truth::new(&name(i + 1), a / sum, sd(a))).collect()
}

#[test]
fn dirichlet_multinomial() {
    let (alpha, y) = ([0.5, 1.0, 2.0, 1.5], [3, 0, 11, 6]);
    let posterior: Vec<f64> = alpha.iter().zip(y).map(|(a, y)| a + f64::from(y)).collect();
    let truths = dirichlet(&posterior, |i| format!("p[{i}]"));
    posterior!("dirichlet_multinomial", json!({"K": 4, "alpha": alpha, "y": y}), truths);
}

#[test]
fn multivariate_normal() {
    let prior_mean = [1.0, 0.0, -1.0];
    let prior = vec![vec![4.0, 1.0, 0.0], vec![1.0, 2.0, -0.5], vec![0.0, -0.5, 1.0]];
    let noise = vec![vec![2.0, 1.6, 0.3], vec![1.6, 2.0, 0.1], vec![0.3, 0.1, 0.5]];
    let y = [[0.3, 1.1, -2.0], [2.2, 1.9, -1.1], [1.4, 0.2, -0.3], [0.9, 1.0, -1.9]];
    let (prior_precision, noise_precision) = (inverse(&prior), inverse(&noise));
    let count = y.len() as f64;
    let add = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a + count * b).collect();
    let precision: Matrix = prior_precision.iter().zip(&noise_precision).map(add).collect();
    let sums: Vec<f64> = (0..3).map(|k| y.iter().map(|y| y[k]).sum()).collect();
    let (from_prior, from_data) = (apply(&prior_precision, &prior_mean), apply(&noise_precision, &sums));
    let h: Vec<f64> = from_prior.iter().zip(from_data).map(|(a, b)| a + b).collect();
    let truths = elements("mu", &normal_from_precision(&precision, &h));
    let data = json!({"K": 3, "N": y.len(), "m": prior_mean, "S_prior": prior, "S": noise, "y": y});
    posterior!("multivariate_normal", data, truths);
}

#[test]
fn linear_regression() {
    let covariates = [0.2, -1.3, 0.7, 1.9, -0.6, 0.1, 2.4, -1.8, 1.1, 0.5, -0.9, 1.5];
    // a constant, a line, a correlated wave and a switch
    let row = |(i, &x): (usize, &f64)| vec![1.0, x, x + (3.0 * x).sin(), f64::from(u8::from(i % 3 == 0))];
    let x: Matrix = covariates.iter().enumerate().map(row).collect();
    let y = [1.4, -2.9, 2.5, 5.1, -1.2, 0.9, 6.3, -3.0, 3.8, 2.3, -1.1, 3.2];
    let (sigma, scale): (f64, [f64; 4]) = (0.8, [5.0, 2.0, 2.0, 1.0]);
    let product = |j: usize, k: usize| x.iter().map(|row| row[j] * row[k]).sum::<f64>() / sigma.powi(2);
    let entry = |j: usize, k: usize| product(j, k) + if j == k { scale[k].powi(-2) } else { 0.0 };
    let precision: Matrix = (0..4).map(|j| (0..4).map(|k| entry(j, k)).collect()).collect();
    let h: Vec<f64> = (0..4).map(|k| x.iter().zip(y).map(|(row, y)| row[k] * y).sum::<f64>() / sigma.powi(2)).collect();
    let (mean, covariance) = normal_from_precision(&precision, &h);
    let variance = covariance[1][1] + covariance[2][2] - 2.0 * covariance[1][2];
    let mut truths = vec![Truth::new("difference", mean[1] - mean[2], variance.sqrt())];
    truths.extend(elements("beta", &(mean, covariance)));
    let data = json!({"N": y.len(), "K": 4, "x": x, "y": y, "sigma": sigma, "scale": scale});
    posterior!("linear_regression", data, truths);
}

/// Values at known places given their sum with noise: mean K(K + σ²I)⁻¹y, covariance K − K(K + σ²I)⁻¹K.
#[test]
fn gaussian_process() {
    let x: [f64; 7] = [0.0, 0.4, 1.1, 1.5, 2.3, 3.0, 3.2];
    let y = [0.4, 1.0, 1.7, 1.2, -0.8, -1.9, -1.1];
    let kernel = |a: f64, b: f64| 1.5_f64.powi(2) * (-0.5 * ((a - b) / 0.8).powi(2)).exp();
    let with_diagonal = |extra: f64| -> Matrix {
        let entry = |i: usize, j: usize| kernel(x[i], x[j]) + if i == j { extra } else { 0.0 };
        (0..x.len()).map(|i| (0..x.len()).map(|j| entry(i, j)).collect()).collect()
    };
    let (prior, solve) = (with_diagonal(0.0), inverse(&with_diagonal(0.6_f64.powi(2))));
    let mean = apply(&prior, &apply(&solve, &y));
    let column = |row: &Vec<f64>| -> Vec<f64> {
        let lost = apply(&prior, &apply(&solve, row));
        row.iter().zip(lost).map(|(a, b)| a - b).collect()
    };
    let covariance: Matrix = prior.iter().map(column).collect();
    posterior!("gaussian_process", json!({"N": x.len(), "x": x, "y": y}), elements("f", &(mean, covariance)));
}

#[test]
fn local_level() {
    let y = [0.8, 1.9, 1.1, 0.0, 3.1, 2.2, 4.0, 3.6];
    let seen = [1, 1, 1, 0, 1, 1, 1, 1];
    let step = 0.7_f64.powi(-2);
    let mut precision: Matrix = vec![vec![0.0; y.len()]; y.len()];
    precision[0][0] += 0.25;
    for t in 1..y.len() {
        precision[t][t] += step;
        precision[t - 1][t - 1] += step;
        precision[t][t - 1] -= step;
        precision[t - 1][t] -= step;
    }
    for (t, seen) in seen.into_iter().enumerate() {
        precision[t][t] += f64::from(seen);
    }
    let h: Vec<f64> = y.iter().zip(seen).map(|(y, seen)| y * f64::from(seen)).collect();
    let truths = elements("level", &normal_from_precision(&precision, &h));
    posterior!("local_level", json!({"T": y.len(), "seen": seen, "y": y}), truths);
}
