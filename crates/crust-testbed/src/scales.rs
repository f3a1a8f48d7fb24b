//! The linear regression of BREAD's appendix: both variances are unknown, with broad inverse-gamma priors.

use std::f64::consts::TAU;

use crust_math::random::Stream;
use pxfm::{f_exp, f_log};

use crate::grid::float;
use crate::pointwise::Pointwise;
use crate::regression::Simulated;
use crust_math::linalg::vectors::dot_in_order as dot;

/// σ² ~ `InvGamma`(1, 1), s² ~ `InvGamma`(1, 1), w ~ N(0, s² I), y ~ N(X w, σ² I), in the coordinates (log σ², log s²,
/// w).
///
/// The prior is far wider than the posterior, and so heavy-tailed that the mean of the log likelihood under it is
/// infinite.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    observations: usize,
    weights: usize,
    /// Xᵀ X by rows, Xᵀ y and yᵀ y are all that the density needs.
    gram: Vec<f64>,
    cross: Vec<f64>,
    squares: f64,
}

impl Scales {
    /// Parameters from the prior, and data given them. Covariates are standard normal.
    pub fn simulate(observations: usize, weights: usize, stream: &mut Stream) -> Simulated<Self> {
        let truth = draw(weights, stream);
        let noise = f_exp(0.5 * truth[0]);
        let x: Vec<f64> = (0..observations * weights).map(|_| stream.standard_normal()).collect();
        let y: Vec<f64> =
            x.chunks_exact(weights).map(|row| dot(row, &truth[2..]) + noise * stream.standard_normal()).collect();
        let column = |j: usize| x.iter().skip(j).step_by(weights);
        let gram = |k: usize| column(k / weights).zip(column(k % weights)).map(|(a, b)| a * b).sum();
        let model = Self {
            observations,
            weights,
            gram: (0..weights * weights).map(gram).collect(),
            cross: (0..weights).map(|j| column(j).zip(&y).map(|(a, b)| a * b).sum()).collect(),
            squares: dot(&y, &y),
        };
        Simulated { model, truth }
    }

    /// A draw from the prior.
    pub fn draw_prior(&self, stream: &mut Stream) -> Vec<f64> {
        draw(self.weights, stream)
    }
}

/// A draw of `InvGamma`(1, 1) is one over an exponential draw.
fn draw(weights: usize, stream: &mut Stream) -> Vec<f64> {
    let mut x: Vec<f64> = (0..2).map(|_| -f_log(stream.standard_exponential())).collect();
    let spread = f_exp(0.5 * x[1]);
    x.extend((0..weights).map(|_| spread * stream.standard_normal()));
    x
}

impl Pointwise for Scales {
    fn dimension(&self) -> usize {
        2 + self.weights
    }

    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64) {
        let (k, n) = (float(self.weights), float(self.observations));
        let [noise, spread] = [f_exp(-x[0]), f_exp(-x[1])];
        let w = &x[2..];
        let mut residual = self.squares;
        for (j, row) in self.gram.chunks_exact(self.weights).enumerate() {
            let product = dot(row, w);
            residual += w[j] * (product - 2.0 * self.cross[j]);
            gradient[2 + j] = -w[j] * spread - beta * (product - self.cross[j]) * noise;
        }
        let size = dot(w, w);
        gradient[0] = -1.0 + noise + 0.5 * beta * (residual * noise - n);
        gradient[1] = -1.0 + spread + 0.5 * (size * spread - k);
        // InvGamma(1, 1) with the Jacobian of the logarithm: e^(−x − e^(−x)).
        let log_prior = -x[0] - noise - x[1] - spread - 0.5 * k * (f_log(TAU) + x[1]) - 0.5 * size * spread;
        (log_prior, -0.5 * n * (f_log(TAU) + x[0]) - 0.5 * residual * noise)
    }
}
