//! Densities on ℝᵈ that are evaluated for many points at once.

use std::error::Error;

/// An error in the program that defines the density, or in crust. It ends the run; a point that merely has no density
/// is [rejected](Batch) instead.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Fatal(pub Box<dyn Error + Send + Sync>);

impl Fatal {
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// A prior and a likelihood: log `f_β`(x) = log prior(x) + β · log likelihood(x). That is the geometric path from the
/// prior to the posterior; others are [made of it](crate::path).
///
/// The values of a lane must not depend on the number of lanes nor on what is in the others: draws are the same however
/// chains are batched only if that holds to the last bit.
pub trait Target {
    /// d, the number of coordinates.
    fn dimension(&self) -> usize;

    /// Fills in `log_prior`, `log_likelihood` and, if it [is wanted](Batch::wants_gradient), `gradient` for all lanes.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal>;

    /// Coordinates on which the priors of others may depend, scales above all. Annealing looks for better coordinates
    /// there; one too many or too few costs time, never correctness.
    fn hyperparameters(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Why a lane of the last batch was rejected, in words for the user.
    fn rejection(&self, _lane: usize) -> Option<String> {
        None
    }
}

/// Points and what a [`Target`] has to say about them. Row i of a matrix holds coordinate i of all lanes: the element
/// of lane l is at `i * lanes + l`.
///
/// A lane is rejected if its log `f_β` is −∞, +∞ or NaN; its gradient is then ignored.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub lanes: usize,
    /// d × lanes.
    pub x: Vec<f64>,
    /// β of each lane.
    pub beta: Vec<f64>,
    pub log_prior: Vec<f64>,
    pub log_likelihood: Vec<f64>,
    /// ∇ log `f_β`, d × lanes; empty if it is not wanted.
    pub gradient: Vec<f64>,
}

impl Batch {
    /// A batch of a size, whose contents are unspecified. Allocates only if it was never as large before.
    pub fn resize(&mut self, dimension: usize, lanes: usize, with_gradient: bool) {
        self.lanes = lanes;
        self.x.resize(dimension * lanes, 0.0);
        self.beta.resize(lanes, 1.0);
        self.log_prior.resize(lanes, 0.0);
        self.log_likelihood.resize(lanes, 0.0);
        self.gradient.resize(if with_gradient { dimension * lanes } else { 0 }, 0.0);
    }

    /// Puts points into the lanes, one each.
    pub fn place(&mut self, points: &[Vec<f64>]) {
        let lanes = self.lanes;
        for (lane, point) in points.iter().enumerate() {
            self.x.iter_mut().skip(lane).step_by(lanes).zip(point).for_each(|(to, x)| *to = *x);
        }
    }

    /// Whether `gradient` is to be filled in.
    pub fn wants_gradient(&self) -> bool {
        !self.gradient.is_empty()
    }

    /// Coordinates of one lane, from the rows of all.
    pub fn point(&self, lane: usize) -> impl Iterator<Item = f64> + '_ {
        self.x.iter().skip(lane).step_by(self.lanes).copied()
    }
}

/// log `f_β`. At β = 0 the likelihood does not matter, even where it is 0: f₀ is the prior.
pub fn tempered(log_prior: f64, log_likelihood: f64, beta: f64) -> f64 {
    if beta == 0.0 { log_prior } else { log_prior + beta * log_likelihood }
}
