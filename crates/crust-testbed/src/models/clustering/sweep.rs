//! The Gibbs sweep over assignments: for each case one product with the sums of all components, then a choice.

use crust_infer::anneal::Direction;
use crust_math::lanes::{Kernel, dispatch, scalar};

use super::{Clustering, State};
use crate::grid::float;
use crate::models::choice::Choose;
use crate::models::rows::{add_scaled, dot, padded};

/// Memory of a sweep, so that it need not allocate.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// For n = 0 …: −(D/2) log(1 + c n σ_θ²), and c² / (2 (1/σ_θ² + c n)).
    log_determinant: Vec<f64>,
    coefficient: Vec<f64>,
    /// For each component, given its count n and norm: what joining it adds but for the case's own product, and the
    /// coefficient of n + 1.
    constant: Vec<f64>,
    slope: Vec<f64>,
    log_likelihood: Vec<f64>,
    weights: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(cases: usize, components: usize) -> Self {
        let row = || vec![0.0; padded(components)];
        let table = || vec![0.0; padded(cases + 2)];
        Self {
            log_determinant: table(),
            coefficient: table(),
            constant: row(),
            slope: row(),
            log_likelihood: row(),
            weights: row(),
        }
    }

    /// The tables for counts up to one more than there are cases.
    #[inline(always)]
    fn prepare(&mut self, model: &Clustering, state: &State, beta: f64) {
        let (c, half) = (beta / state.within, 0.5 * float(model.data.columns()));
        let entries = padded(state.z.len() + 2);
        let (determinants, coefficients) = (&mut self.log_determinant[..entries], &mut self.coefficient[..entries]);
        let mut n = 0.0;
        for (determinant, coefficient) in determinants.iter_mut().zip(coefficients) {
            *determinant = c * n * state.between;
            *coefficient = 0.5 * c * c / (1.0 / state.between + c * n);
            n += 1.0;
        }
        for determinant in determinants {
            *determinant = -half * scalar::log1p(*determinant);
        }
        for k in 0..state.counts.len() {
            self.refresh(state, k);
        }
    }

    /// After the count or norm of a component has changed.
    #[inline(always)]
    fn refresh(&mut self, state: &State, k: usize) {
        let (n, norm) = (state.counts[k], state.norms[k]);
        self.slope[k] = self.coefficient[n + 1];
        self.constant[k] = self.log_determinant[n + 1] - self.log_determinant[n]
            + (self.coefficient[n + 1] - self.coefficient[n]) * norm;
    }

    /// What the case adds to log `f_β` by joining each of the components, but for the constant −c|y|²/2 − (βD/2) log
    /// 2πσ_n²:
    ///
    /// > |S + y|² = |S|² + 2 S·y + |y|².
    #[inline(always)]
    fn weigh(&mut self, state: &State, y: &[f64], square: f64) {
        for (out, sum) in self.log_likelihood.iter_mut().zip(state.sums.iter()) {
            *out = 2.0f64.mul_add(dot(sum, y), square);
        }
        for ((out, slope), constant) in self.log_likelihood.iter_mut().zip(&self.slope).zip(&self.constant) {
            *out = slope.mul_add(*out, *constant);
        }
    }

    #[inline(always)]
    fn join(&mut self, state: &mut State, k: usize, y: &[f64], square: f64) {
        let sum = state.sums.row_mut(k);
        state.norms[k] += 2.0f64.mul_add(dot(sum, y), square);
        add_scaled(sum, 1.0, y);
        state.counts[k] += 1;
        self.refresh(state, k);
    }

    #[inline(always)]
    fn leave(&mut self, state: &mut State, k: usize, y: &[f64], square: f64) {
        state.counts[k] -= 1;
        let sum = state.sums.row_mut(k);
        if state.counts[k] == 0 {
            // Exactly, where subtraction would leave a rounding error.
            sum.fill(0.0);
            state.norms[k] = 0.0;
        } else {
            state.norms[k] -= 2.0f64.mul_add(dot(sum, y), -square);
            add_scaled(sum, -1.0, y);
        }
        self.refresh(state, k);
    }
}

/// One sweep over all assignments, in the order of the cases or in the opposite one.
pub(super) fn assignments<C: Choose>(
    model: &Clustering,
    state: &mut State,
    beta: f64,
    direction: Direction,
    choice: &mut C,
    scratch: &mut Scratch,
) {
    dispatch(Sweep { model, state, beta, direction, choice, scratch });
}

struct Sweep<'a, C> {
    model: &'a Clustering,
    state: &'a mut State,
    beta: f64,
    direction: Direction,
    choice: &'a mut C,
    scratch: &'a mut Scratch,
}

impl<C: Choose> Kernel for Sweep<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { model, state, beta, direction, choice, scratch } = self;
        scratch.prepare(model, state, beta);
        let n = state.z.len();
        for turn in 0..n {
            let case = if direction == Direction::Forward { turn } else { n - 1 - turn };
            let (y, square, now) = (model.data.row(case), model.squares[case], state.z[case]);
            scratch.leave(state, now, y, square);
            scratch.weigh(state, y, square);
            let Scratch { log_likelihood, weights, .. } = scratch;
            let next = choice.choose(case, now, &state.log_weights, log_likelihood, weights);
            state.z[case] = next;
            scratch.join(state, next, y, square);
        }
        model.refresh_statistics(state);
    }
}

/// log p(zᵢ = k | …) up to a constant, by the same steps as the sweep.
pub(super) fn conditional(
    model: &Clustering,
    state: &mut State,
    case: usize,
    beta: f64,
    scratch: &mut Scratch,
) -> Vec<f64> {
    scratch.prepare(model, state, beta);
    let (y, square) = (model.data.row(case), model.squares[case]);
    scratch.leave(state, state.z[case], y, square);
    scratch.weigh(state, y, square);
    let prior = state.log_weights().iter();
    prior.zip(&scratch.log_likelihood).map(|(prior, likelihood)| prior + likelihood).collect()
}

/// What the next case, which the state does not know yet, would add to log f₁ in each component, but for the constant:
/// by the same steps as the sweep, into `log_likelihood`.
pub(super) fn predict<'a>(model: &Clustering, state: &State, scratch: &'a mut Scratch) -> (&'a [f64], &'a mut [f64]) {
    dispatch(Predict { model, state, scratch: &mut *scratch });
    (&scratch.log_likelihood, &mut scratch.weights)
}

struct Predict<'a> {
    model: &'a Clustering,
    state: &'a State,
    scratch: &'a mut Scratch,
}

impl Kernel for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let case = self.state.z.len();
        self.scratch.prepare(self.model, self.state, 1.0);
        self.scratch.weigh(self.state, self.model.data.row(case), self.model.squares[case]);
    }
}
