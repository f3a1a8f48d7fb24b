//! Small instances whose states can all be listed: the exact evidence, and kernels as matrices.

use crust_infer::anneal::Direction;
use crust_infer::target::Fatal;
use crust_math::special::log_sum_exp_slice;
use pxfm::f_exp;

use crate::model::{Model, Transition};
use crate::models::binary::{self, BinaryAttributes};
use crate::models::clustering::{self, Clustering};
use crate::models::hyper::{Probabilities, Variance, Weights};
use crate::models::rows::Rows;

/// Models whose states are finitely many.
pub trait Enumerable: Model {
    /// All of them, or nothing if there are more than `most`, or if hyperparameters have priors.
    fn all_states(&self, most: usize) -> Option<Vec<Self::State>>;
}

/// n to the power of m, if it is at most `most`.
fn power(n: usize, m: usize, most: usize) -> Option<usize> {
    n.checked_pow(u32::try_from(m).ok()?).filter(|&power| power <= most)
}

impl Enumerable for Clustering {
    fn all_states(&self, most: usize) -> Option<Vec<clustering::State>> {
        let clustering::Prior { components, weights, between, within } = self.prior();
        let (Weights::Fixed(weights), Variance::Fixed(between), Variance::Fixed(within)) = (weights, between, within)
        else {
            return None;
        };
        let logs: Vec<f64> = weights.iter().map(|&w| pxfm::f_log(w)).collect();
        let digits = |mut code: usize| {
            let digit = |_| {
                let digit = code % components;
                code /= components;
                digit
            };
            (0..self.cases()).map(digit).collect()
        };
        let count = power(*components, self.cases(), most)?;
        Some((0..count).map(|code| self.state(digits(code), &logs, *between, *within)).collect())
    }
}

impl Enumerable for BinaryAttributes {
    fn all_states(&self, most: usize) -> Option<Vec<binary::State>> {
        let binary::Prior { components, probabilities, features, noise } = self.prior();
        let (Probabilities::Fixed(probabilities), Variance::Fixed(features), Variance::Fixed(noise)) =
            (probabilities, features, noise)
        else {
            return None;
        };
        let hyper = binary::Hyper::new(probabilities.clone(), *features, *noise);
        let bit = |code: usize, at: usize| f64::from(u8::from(code >> at & 1 == 1));
        let attributes = |code| Rows::from_fn(self.cases(), *components, |i, k| bit(code, i * components + k));
        let count = power(2, components * self.cases(), most)?;
        Some((0..count).map(|code| self.state(attributes(code), hyper.clone())).collect())
    }
}

/// log Σ `f_β`(x) over the given states: at β = 1 the log evidence, at β = 0 the logarithm of 1.
pub fn log_normaliser<M: Model>(model: &mut M, states: &[M::State], beta: f64) -> Result<f64, Fatal> {
    let logs = states.iter().map(|state| model.log_joint(state, beta)).collect::<Result<Vec<f64>, Fatal>>()?;
    Ok(log_sum_exp_slice(&logs))
}

/// A kernel and its reversal as matrices, with the distribution that they should leave invariant.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    /// `p_β`(x)
    pub distribution: Vec<f64>,
    /// 𝒯(x′ | x), in row x and column x′.
    pub forward: Vec<Vec<f64>>,
    /// 𝒯̃(x′ | x)
    pub reverse: Vec<Vec<f64>>,
}

/// What is wrong with a kernel: each is 0 for a correct one, up to rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// max |Σ 𝒯(x′ | x) − 1|, for both directions: transition probabilities are not normalised.
    pub normalisation: f64,
    /// max |Σₓ p(x) 𝒯(x′ | x) − p(x′)|, for both directions: the distribution is not invariant.
    pub invariance: f64,
    /// max |p(x) 𝒯(x′ | x) − p(x′) 𝒯̃(x | x′)|: the one is not the time reversal of the other.
    pub reversal: f64,
}

impl Matrices {
    /// Of a list that must be complete.
    pub fn new<M: Transition>(model: &mut M, states: &[M::State], beta: f64) -> Result<Self, Fatal> {
        let total = log_normaliser(model, states, beta)?;
        let probability = |state| Ok(f_exp(model.log_joint(state, beta)? - total));
        let distribution = states.iter().map(probability).collect::<Result<_, Fatal>>()?;
        let mut matrix = |direction| {
            let mut row = |from| {
                let log = |to| model.log_transition(from, to, beta, direction).map(f_exp);
                states.iter().map(log).collect::<Result<Vec<f64>, Fatal>>()
            };
            states.iter().map(&mut row).collect::<Result<Vec<_>, Fatal>>()
        };
        Ok(Self { distribution, forward: matrix(Direction::Forward)?, reverse: matrix(Direction::Reverse)? })
    }

    pub fn faults(&self) -> Faults {
        let Self { distribution, forward, reverse } = self;
        let n = distribution.len();
        let mut faults = Faults { normalisation: 0.0, invariance: 0.0, reversal: 0.0 };
        for matrix in [forward, reverse] {
            for (x, row) in matrix.iter().enumerate() {
                faults.normalisation = faults.normalisation.max((row.iter().sum::<f64>() - 1.0).abs());
                let arriving: f64 = (0..n).map(|from| distribution[from] * matrix[from][x]).sum();
                faults.invariance = faults.invariance.max((arriving - distribution[x]).abs());
            }
        }
        for x in 0..n {
            for to in 0..n {
                let difference = distribution[x] * forward[x][to] - distribution[to] * reverse[to][x];
                faults.reversal = faults.reversal.max(difference.abs());
            }
        }
        faults
    }
}
