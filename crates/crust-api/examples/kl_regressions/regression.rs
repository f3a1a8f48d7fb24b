//! A regression with a normal prior and known noise: posterior, evidence and the best mean-field fit are known.

use crust_api::{Problem, Source};
use crust_math::linalg::cholesky::rows;
use crust_math::random::{Purpose, StreamKey};
use std::f64::consts::TAU;

const PROGRAM: &str = "data { int N; int D; matrix[N, D] x; vector[N] y; }
parameters { vector[D] b; }
model { b ~ normal(0, 2); y ~ normal(x * b, 1); }";
/// Of the prior.
const VARIANCE: f64 = 4.0;

pub struct Regression {
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
}

/// Exact divergences.
#[derive(Clone, Copy, Debug)]
pub struct Divergences {
    pub q_p: f64,
    pub p_q: f64,
}

impl Regression {
    /// Covariates with a common part, which makes coefficients correlated.
    pub fn new(dimension: usize, observations: usize, common: f64, seed: u64) -> Self {
        let mut stream = StreamKey::new(seed, Purpose::DATA).stream();
        let coefficients: Vec<f64> = (0..dimension).map(|_| 2.0 * stream.standard_normal()).collect();
        let rest = (1.0 - common * common).sqrt();
        let row = |_| {
            let shared = stream.standard_normal();
            (0..dimension).map(|_| common * shared + rest * stream.standard_normal()).collect::<Vec<f64>>()
        };
        let x: Vec<Vec<f64>> = (0..observations).map(row).collect();
        let mean = |row: &Vec<f64>| row.iter().zip(&coefficients).map(|(x, b)| x * b).sum::<f64>();
        let y = x.iter().map(|row| mean(row) + stream.standard_normal()).collect();
        Self { x, y }
    }

    pub fn problem(&self) -> Problem {
        let data = serde_json::json!({"N": self.y.len(), "D": self.x[0].len(), "x": self.x, "y": self.y});
        let data = Source::text("data.json", data.to_string());
        Problem::read(Source::text("regression.stan", PROGRAM), Some(data)).expect("a problem")
    }

    /// The precision of the posterior given so many datasets with these covariates: it does not depend on outcomes.
    fn precision(&self, datasets: f64) -> Vec<f64> {
        let d = self.x[0].len();
        let mut precision = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..d {
                let sum: f64 = self.x.iter().map(|row| row[i] * row[j]).sum();
                precision[i * d + j] = datasets * sum + if i == j { 1.0 / VARIANCE } else { 0.0 };
            }
        }
        precision
    }

    /// Of the best normal distribution without correlations, whose variances are 1/Λᵢᵢ: KL(q‖p) = ½ (Σ log Λᵢᵢ −
    /// log |Λ|) and KL(p‖q) = ½ (Σ Λᵢᵢ Sᵢᵢ − d − Σ log Λᵢᵢ + log |Λ|), S = Λ⁻¹.
    pub fn kl_mean_field(&self, datasets: f64) -> Divergences {
        let d = self.x[0].len();
        let precision = self.precision(datasets);
        let lower = cholesky(d, &precision);
        let log_determinant: f64 = (0..d).map(|i| 2.0 * lower[i * d + i].ln()).sum();
        let (mut logs, mut traces) = (0.0, 0.0);
        for i in 0..d {
            let own = precision[i * d + i];
            logs += own.ln();
            let mut unit = vec![0.0; d];
            unit[i] = 1.0;
            let z = solve(d, &lower, &unit);
            traces += own * z.iter().map(|z| z * z).sum::<f64>() - 1.0;
        }
        Divergences { q_p: 0.5 * (logs - log_determinant), p_q: 0.5 * (traces - logs + log_determinant) }
    }

    /// log p(y): y is normal with covariance I + 4 X Xᵀ.
    #[allow(dead_code, reason = "the example does not need it")]
    pub fn log_evidence(&self) -> f64 {
        let n = self.y.len();
        let mut covariance = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let product: f64 = self.x[i].iter().zip(&self.x[j]).map(|(a, b)| a * b).sum();
                covariance[i * n + j] = VARIANCE * product + if i == j { 1.0 } else { 0.0 };
            }
        }
        let lower = cholesky(n, &covariance);
        let z = solve(n, &lower, &self.y);
        let log_determinant: f64 = (0..n).map(|i| lower[i * n + i].ln()).sum();
        let squares: f64 = z.iter().map(|z| z * z + TAU.ln()).sum();
        -0.5 * squares - log_determinant
    }
}

/// By rows.
fn cholesky(n: usize, matrix: &[f64]) -> Vec<f64> {
    let subtract = |a: f64, x: &[f64], y: &[f64]| a - x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    rows::lower(n, matrix, subtract).expect("positive definite")
}

/// L⁻¹ x.
fn solve(n: usize, lower: &[f64], x: &[f64]) -> Vec<f64> {
    let mut z = x.to_vec();
    for i in 0..n {
        let before: f64 = (0..i).map(|j| lower[i * n + j] * z[j]).sum();
        z[i] = (z[i] - before) / lower[i * n + i];
    }
    z
}
