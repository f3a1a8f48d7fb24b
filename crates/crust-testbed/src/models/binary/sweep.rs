//! The Gibbs sweep over attributes, with the posterior of A kept up to date by rank-one changes.
//!
//! Given Z the columns of A are independent, N(μⱼ, Σ) with Σ = Λ⁻¹ and μ = Σ c ZᵀY. Without case i, where v = Σz, q =
//! z·v, d = 1 − cq and g = y − zμ,
//!
//! > Σ₋ = Σ + (c/d) v vᵀ, μ₋ = μ − (c/d) v gᵀ,
//!
//! and with it again Σ = Σ₋ − (c/d) v vᵀ, μ = μ₋ + (c/d) v rᵀ, where v = Σ₋z, q = z·v, r = y − zμ₋ and d = 1 + cq. The
//! case adds
//!
//! > −(D/2) log(1 + cq) − (c/2) |r|² / (1 + cq)
//!
//! to log `f_β` but for a constant. Flipping bit k of z by δ = ±1 changes q by 2δvₖ + Σ₋ₖₖ and |r|² by −2δ r·μ₋ₖ +
//! |μ₋ₖ|².

use crust_infer::anneal::Direction;
use crust_math::lanes::{Kernel, dispatch, scalar};

use super::{BinaryAttributes, State};
use crate::grid::float;
use crate::models::choice::Flip;
use crate::models::factor::{factor, gram_of_inverse, invert_lower};
use crate::models::rows::{Rows, add_scaled, dot, padded};

/// N(μ, Σ), the posterior of the columns of A.
#[derive(Clone, Debug, Default)]
pub(super) struct Posterior {
    lower: Vec<f64>,
    /// L⁻¹, by rows.
    pub(super) inverse: Rows,
    /// Σ, K × K.
    pub(super) covariance: Rows,
    /// μ, K × D.
    pub(super) mean: Rows,
    pub(super) log_determinant: f64,
}

impl Posterior {
    fn new(components: usize, dimensions: usize) -> Self {
        let square = || Rows::zeros(components, components);
        Self {
            lower: vec![0.0; components * padded(components)],
            inverse: square(),
            covariance: square(),
            mean: Rows::zeros(components, dimensions),
            log_determinant: 0.0,
        }
    }

    #[inline(always)]
    fn factor(&mut self, gram: &Rows, features: f64, c: f64) {
        let (k, stride) = (gram.rows(), gram.stride());
        for (row, source) in self.lower.chunks_exact_mut(stride).zip(gram.iter()) {
            row.iter_mut().zip(source).for_each(|(x, g)| *x = c * g);
        }
        (0..k).for_each(|a| self.lower[a * stride + a] += 1.0 / features);
        // Positive definite by construction; a failure could only come from numbers that are not finite, and makes the
        // weight 0.
        self.log_determinant = factor(&mut self.lower, k, stride).unwrap_or(f64::NAN);
    }

    /// From scratch.
    #[inline(always)]
    pub(super) fn solve(&mut self, gram: &Rows, cross: &Rows, features: f64, c: f64) {
        let (k, stride) = (gram.rows(), gram.stride());
        self.factor(gram, features, c);
        invert_lower(&self.lower, self.inverse.values_mut(), k, stride);
        gram_of_inverse(self.inverse.values(), self.covariance.values_mut(), k, stride);
        self.mean.fill(0.0);
        for (a, row) in self.covariance.iter().enumerate() {
            for (&weight, source) in row.iter().zip(cross.iter()) {
                add_scaled(self.mean.row_mut(a), c * weight, source);
            }
        }
    }
}

/// Memory of a sweep, so that it need not allocate.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) posterior: Posterior,
    /// Σ₋ and μ₋, and what they are computed from where rank-one changes would lose digits.
    without: Posterior,
    gram: Rows,
    cross: Rows,
    row: Row,
    pub(super) thresholds: Vec<f64>,
}

/// What is known of the case whose bits are being drawn.
#[derive(Clone, Debug, Default)]
struct Row {
    z: Vec<f64>,
    /// Σ₋z
    v: Vec<f64>,
    q: f64,
    /// y − zμ₋
    residual: Vec<f64>,
    /// |r|²
    error: f64,
    /// |μ₋ₖ|², r·μ₋ₖ, Σ₋ₖₖ
    norms: Vec<f64>,
    dots: Vec<f64>,
    diagonal: Vec<f64>,
    /// q and |r|² after each flip; what the flip would change in the log likelihood.
    next_q: Vec<f64>,
    next_error: Vec<f64>,
    change: Vec<f64>,
}

/// Rows between two computations from scratch.
const FRESH: usize = 64;
/// Rank-one changes lose this many digits at most: below it, the posterior without a case is computed from scratch.
const SMALLEST_SHARE: f64 = 1e-4;

impl Scratch {
    pub(super) fn new(components: usize, dimensions: usize) -> Self {
        let k = || vec![0.0; padded(components)];
        let row = Row {
            z: k(),
            v: k(),
            q: 0.0,
            residual: vec![0.0; padded(dimensions)],
            error: 0.0,
            norms: k(),
            dots: k(),
            diagonal: k(),
            next_q: k(),
            next_error: k(),
            change: k(),
        };
        Self {
            posterior: Posterior::new(components, dimensions),
            without: Posterior::new(components, dimensions),
            gram: Rows::zeros(components, components),
            cross: Rows::zeros(components, dimensions),
            row,
            thresholds: vec![0.0; components],
        }
    }

    /// log det Λ and |L⁻¹ c ZᵀY|².
    pub(super) fn collapse(&mut self, gram: &Rows, cross: &Rows, features: f64, c: f64) -> (f64, f64) {
        dispatch(Collapse { scratch: self, gram, cross, features, c })
    }

    /// Takes case i out of the posterior: fills in `without` and `row`.
    #[inline(always)]
    fn take_out(&mut self, state: &State, case: usize, y: &[f64], c: f64) {
        let Self { posterior, without, row, .. } = self;
        let k = posterior.covariance.rows();
        row.z.copy_from_slice(state.z.row(case));
        row.v.fill(0.0);
        row.residual.copy_from_slice(y);
        for a in 0..k {
            if row.z[a] > 0.0 {
                add_scaled(&mut row.v, 1.0, posterior.covariance.row(a));
                add_scaled(&mut row.residual, -1.0, posterior.mean.row(a));
            }
        }
        row.q = dot(&row.z, &row.v);
        let share = 1.0 - c * row.q;
        if share < SMALLEST_SHARE {
            self.take_out_exactly(state, case, y, c);
        } else {
            let scale = c / share;
            for a in 0..k {
                let factor = scale * row.v[a];
                scaled_sum(without.covariance.row_mut(a), posterior.covariance.row(a), factor, &row.v);
                scaled_sum(without.mean.row_mut(a), posterior.mean.row(a), -factor, &row.residual);
            }
            row.v.iter_mut().for_each(|v| *v /= share);
            row.residual.iter_mut().for_each(|r| *r /= share);
            row.q /= share;
        }
        let Self { without, row, .. } = self;
        row.error = dot(&row.residual, &row.residual);
        for a in 0..k {
            let mean = without.mean.row(a);
            row.norms[a] = dot(mean, mean);
            row.dots[a] = dot(mean, &row.residual);
            row.diagonal[a] = without.covariance.row(a)[a];
        }
    }

    /// The same from scratch.
    #[cold]
    #[inline(never)]
    fn take_out_exactly(&mut self, state: &State, case: usize, y: &[f64], c: f64) {
        let z = state.z.row(case);
        self.gram.clone_from(&state.gram);
        self.cross.clone_from(&state.cross);
        for a in 0..self.gram.rows() {
            add_scaled(self.gram.row_mut(a), -z[a], z);
            add_scaled(self.cross.row_mut(a), -z[a], y);
        }
        self.without.solve(&self.gram, &self.cross, state.hyper.features, c);
        self.place(y);
    }

    /// Fills in v, q and r for the bits of `row`, given `without`.
    pub(super) fn place(&mut self, y: &[f64]) {
        let Self { without, row, .. } = self;
        row.v.fill(0.0);
        row.residual.copy_from_slice(y);
        for a in 0..without.mean.rows() {
            add_scaled(&mut row.v, row.z[a], without.covariance.row(a));
            add_scaled(&mut row.residual, -row.z[a], without.mean.row(a));
        }
        row.q = dot(&row.z, &row.v);
    }

    /// What each flip would change in the log likelihood.
    #[inline(always)]
    fn weigh(&mut self, c: f64, half_dimensions: f64) {
        let Row { z, v, q, error, norms, dots, diagonal, next_q, next_error, change, .. } = &mut self.row;
        let now = 1.0 + c * *q;
        let (fit, inverse) = (0.5 * c * *error / now, 1.0 / now);
        for k in 0..change.len() {
            let delta = 1.0 - 2.0 * z[k];
            next_q[k] = (2.0 * delta).mul_add(v[k], *q) + diagonal[k];
            next_error[k] = (-2.0 * delta).mul_add(dots[k], *error) + norms[k];
            let next = c.mul_add(next_q[k], 1.0);
            change[k] =
                (0.5 * c * next_error[k] / next - fit).mul_add(-1.0, -half_dimensions * scalar::log(next * inverse));
        }
    }

    #[inline(always)]
    fn flip(&mut self, k: usize) {
        let Self { without, row, .. } = self;
        let delta = 1.0 - 2.0 * row.z[k];
        row.z[k] += delta;
        add_scaled(&mut row.v, delta, without.covariance.row(k));
        add_scaled(&mut row.residual, -delta, without.mean.row(k));
        row.q = row.next_q[k];
        row.error = row.next_error[k];
        for (dot_, mean) in row.dots.iter_mut().zip(without.mean.iter()) {
            *dot_ = dot(mean, &row.residual);
        }
    }

    /// Puts the case back with its new bits.
    #[inline(always)]
    fn put_back(&mut self, state: &mut State, case: usize, y: &[f64], c: f64) {
        let Self { posterior, without, row, .. } = self;
        let k = row.z.len().min(without.mean.rows());
        let scale = c / (1.0 + c * row.q);
        for a in 0..k {
            let factor = scale * row.v[a];
            scaled_sum(posterior.covariance.row_mut(a), without.covariance.row(a), -factor, &row.v);
            scaled_sum(posterior.mean.row_mut(a), without.mean.row(a), factor, &row.residual);
        }
        let old = state.z.row_mut(case);
        for a in 0..k {
            add_scaled(state.gram.row_mut(a), -old[a], old);
            add_scaled(state.gram.row_mut(a), row.z[a], &row.z);
            let difference = row.z[a] - old[a];
            if difference != 0.0 {
                add_scaled(state.cross.row_mut(a), difference, y);
            }
        }
        old.copy_from_slice(&row.z);
    }
}

/// out = x + a y.
#[inline(always)]
fn scaled_sum(out: &mut [f64], x: &[f64], a: f64, y: &[f64]) {
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        *out = a.mul_add(y, x);
    }
}

struct Collapse<'a> {
    scratch: &'a mut Scratch,
    gram: &'a Rows,
    cross: &'a Rows,
    features: f64,
    c: f64,
}

impl Kernel for Collapse<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let Self { scratch, gram, cross, features, c } = self;
        scratch.posterior.factor(gram, features, c);
        let (lower, solved, stride) = (&scratch.posterior.lower, &mut scratch.cross, gram.stride());
        let mut fit = 0.0;
        for a in 0..gram.rows() {
            let (before, row) = solved.split_row_mut(a);
            row.copy_from_slice(cross.row(a));
            for (b, other) in before.chunks_exact(row.len()).enumerate() {
                add_scaled(row, -lower[a * stride + b], other);
            }
            let pivot = 1.0 / lower[a * stride + a];
            row.iter_mut().for_each(|x| *x *= pivot);
            fit += dot(row, row);
        }
        (scratch.posterior.log_determinant, c * c * fit)
    }
}

/// One sweep over all bits: cases in order and bits in order within them, or all of it in the opposite order.
pub(super) fn attributes<F: Flip>(
    model: &BinaryAttributes,
    state: &mut State,
    beta: f64,
    direction: Direction,
    flip: &mut F,
    scratch: &mut Scratch,
) {
    dispatch(Sweep { model, state, beta, direction, flip, scratch });
}

struct Sweep<'a, F> {
    model: &'a BinaryAttributes,
    state: &'a mut State,
    beta: f64,
    direction: Direction,
    flip: &'a mut F,
    scratch: &'a mut Scratch,
}

impl<F: Flip> Kernel for Sweep<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { model, state, beta, direction, flip, scratch } = self;
        let (n, k) = (state.z.rows(), model.prior.components);
        let (c, half) = (beta / state.hyper.noise, 0.5 * float(model.data.columns()));
        for turn in 0..n {
            if turn % FRESH == 0 {
                scratch.posterior.solve(&state.gram, &state.cross, state.hyper.features, c);
            }
            let case = if direction == Direction::Forward { turn } else { n - 1 - turn };
            let y = model.data.row(case);
            flip.begin(case);
            scratch.take_out(state, case, y, c);
            scratch.weigh(c, half);
            let mut changed = false;
            // Most bits stay: all are weighed at once, and again after each that flips.
            for place in 0..k {
                let bit = if direction == Direction::Forward { place } else { k - 1 - place };
                let log_prior = (1.0 - 2.0 * scratch.row.z[bit]) * state.hyper.log_odds[bit];
                if flip.flips(bit, log_prior, scratch.row.change[bit]) {
                    scratch.flip(bit);
                    scratch.weigh(c, half);
                    changed = true;
                }
            }
            if changed {
                scratch.put_back(state, case, y, c);
            }
        }
        model.refresh_statistics(state);
    }
}

/// The log odds of flipping one bit, by the same steps as the sweep.
pub(super) fn conditional(
    model: &BinaryAttributes,
    state: &State,
    case: usize,
    k: usize,
    beta: f64,
    scratch: &mut Scratch,
) -> f64 {
    let (c, half) = (beta / state.hyper.noise, 0.5 * float(model.data.columns()));
    scratch.posterior.solve(&state.gram, &state.cross, state.hyper.features, c);
    scratch.take_out(state, case, model.data.row(case), c);
    scratch.weigh(c, half);
    (1.0 - 2.0 * scratch.row.z[k]) * state.hyper.log_odds[k] + scratch.row.change[k]
}
