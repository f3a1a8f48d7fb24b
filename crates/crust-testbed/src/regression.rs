//! Linear regression with known variances: everything about it has a closed form, for every β.

use std::f64::consts::TAU;

use crust_math::random::{Stream, StreamKey};
use pxfm::f_log;

use crate::grid::float;
use crate::linear::{cholesky, solve_lower, solve_upper};
use crate::pointwise::Pointwise;
use crust_math::linalg::vectors::dot_in_order as dot;

/// w ~ N(0, τ² I), y ~ N(X w, σ² I).
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    observations: usize,
    dimension: usize,
    prior_deviation: f64,
    noise: f64,
    /// Xᵀ X by rows, Xᵀ y and yᵀ y are all that the density needs.
    gram: Vec<f64>,
    cross: Vec<f64>,
    squares: f64,
}

/// A problem with an exact draw of its posterior: the weights that the data were simulated with.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated<M> {
    pub model: M,
    pub truth: Vec<f64>,
}

impl Regression {
    /// Covariates by rows.
    pub fn new(x: &[f64], y: &[f64], prior_deviation: f64, noise: f64) -> Self {
        let observations = y.len();
        let dimension = x.len() / observations.max(1);
        let column = |j: usize| x.iter().skip(j).step_by(dimension);
        let gram = |k: usize| column(k / dimension).zip(column(k % dimension)).map(|(a, b)| a * b).sum();
        Self {
            observations,
            dimension,
            prior_deviation,
            noise,
            gram: (0..dimension * dimension).map(gram).collect(),
            cross: (0..dimension).map(|j| column(j).zip(y).map(|(a, b)| a * b).sum()).collect(),
            squares: dot(y, y),
        }
    }

    /// Weights from the prior, and data given them. Covariates are standard normal.
    pub fn simulate(
        observations: usize,
        dimension: usize,
        prior_deviation: f64,
        noise: f64,
        stream: &mut Stream,
    ) -> Simulated<Self> {
        let x: Vec<f64> = (0..observations * dimension).map(|_| stream.standard_normal()).collect();
        let truth: Vec<f64> = (0..dimension).map(|_| prior_deviation * stream.standard_normal()).collect();
        let y: Vec<f64> =
            x.chunks_exact(dimension).map(|row| dot(row, &truth) + noise * stream.standard_normal()).collect();
        Simulated { model: Self::new(&x, &y, prior_deviation, noise), truth }
    }

    /// A small problem of random size and scales, with its simulated data.
    pub fn random(key: StreamKey) -> Simulated<Self> {
        let mut stream = key.stream();
        let mut up_to = |n: usize| 1 + crate::scale::floor(float(n) * stream.uniform());
        let (observations, dimension) = (up_to(12), up_to(3));
        let mut scale = || pxfm::f_exp(2.3 * (stream.uniform() - 0.5));
        let (prior_deviation, noise) = (scale(), scale());
        Self::simulate(observations, dimension, prior_deviation, noise, &mut stream)
    }

    /// A draw from the prior.
    pub fn draw_prior(&self, stream: &mut Stream) -> Vec<f64> {
        (0..self.dimension).map(|_| self.prior_deviation * stream.standard_normal()).collect()
    }

    /// L with L Lᵀ = I/τ² + β Xᵀ X/σ², the precision of `p_β`.
    fn precision_root(&self, beta: f64) -> Vec<f64> {
        let d = self.dimension;
        let mut precision: Vec<f64> = self.gram.iter().map(|g| beta * g / self.noise.powi(2)).collect();
        precision.iter_mut().step_by(d + 1).for_each(|p| *p += self.prior_deviation.powi(-2));
        cholesky(d, &precision)
    }

    /// The mean of `p_β`.
    pub fn mean(&self, beta: f64) -> Vec<f64> {
        let root = self.precision_root(beta);
        let b: Vec<f64> = self.cross.iter().map(|c| beta * c / self.noise.powi(2)).collect();
        solve_upper(&root, &solve_lower(&root, &b))
    }

    /// An exact draw of `p_β`.
    pub fn draw(&self, beta: f64, stream: &mut Stream) -> Vec<f64> {
        let z: Vec<f64> = (0..self.dimension).map(|_| stream.standard_normal()).collect();
        let deviation = solve_upper(&self.precision_root(beta), &z);
        self.mean(beta).iter().zip(deviation).map(|(m, d)| m + d).collect()
    }

    /// log `Z_β`, the normaliser of prior · likelihood^β; log p(y) at β = 1.
    pub fn log_normaliser(&self, beta: f64) -> f64 {
        let (d, n) = (self.dimension, float(self.observations));
        let root = self.precision_root(beta);
        let log_determinant: f64 = (0..d).map(|i| 2.0 * f_log(root[i * d + i])).sum();
        let b: Vec<f64> = self.cross.iter().map(|c| beta * c / self.noise.powi(2)).collect();
        let half = solve_lower(&root, &b);
        let constant = -0.5 * beta * n * f_log(TAU * self.noise.powi(2)) - float(d) * f_log(self.prior_deviation);
        constant - 0.5 * log_determinant - 0.5 * beta * self.squares / self.noise.powi(2) + 0.5 * dot(&half, &half)
    }
}

impl Pointwise for Regression {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn at(&self, w: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let (d, n) = (self.dimension, float(self.observations));
        let (tau, sigma) = (self.prior_deviation.powi(2), self.noise.powi(2));
        // Xᵀ (X w − y), and wᵀ times it, which is |X w − y|² less the terms that have y on the left.
        let mut quadratic = self.squares;
        for (j, row) in self.gram.chunks_exact(d).enumerate() {
            let product = dot(row, w);
            quadratic += w[j] * (product - 2.0 * self.cross[j]);
            gradient[j] = -w[j] / tau - beta * (product - self.cross[j]) / sigma;
        }
        let log_prior = -0.5 * float(d) * f_log(TAU * tau) - 0.5 * dot(w, w) / tau;
        (log_prior, -0.5 * n * f_log(TAU * sigma) - 0.5 * quadratic / sigma)
    }
}
