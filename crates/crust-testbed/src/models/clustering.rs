//! Clustering (BDMC, section 6): a mixture of spherical Gaussians whose centres are integrated out.
//!
//! > zᵢ ~ Categorical(π), θₖⱼ ~ N(0, σ_θ²), yᵢⱼ ~ N(θ_zᵢⱼ, σ_n²)
//!
//! The state is z (and π, σ_θ², σ_n² where these have priors). With c = β/σ_n², nₖ the number and Sₖ the sum of the
//! cases of component k, the path is
//!
//! > log `f_β` = log prior + Σᵢ log π_zᵢ − (β n D/2) log 2πσ_n² − (c/2) Σᵢ |yᵢ|²
//! >   + Σₖ [ −(D/2) log(1 + c nₖ σ_θ²) + c² |Sₖ|² / (2 (1/σ_θ² + c nₖ)) ]
//!
//! since exp(−c (y − θ)²/2) is Gaussian in θ with variance σ_n²/β, and (2πσ_n²)^(−β/2) is the factor that remains. n is
//! the number of cases that the state knows: all of them, but for sequential estimators.
//!
//! Kernel: zᵢ for i = 1 … n from its conditional, then π, then both variances given centres that are drawn for that and
//! forgotten (which is reversible). Its reversal does the same in the opposite order.

mod held_out;
mod sequential;
mod sweep;
mod variational;

use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

use crust_infer::anneal::{Direction, Moved, System};
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use pxfm::f_log;

use super::Scan;
use super::choice::{Choose, Constrained as Above, Drawn, Followed};
use super::conditional::{Categorical, Conditional, Dirichlet};
use super::hyper::{BadModel, NeedsFixed, Variance, Weights, check_data};
use super::rows::{Rows, add_scaled, dot, padded};
use crate::grid::float;
use crate::model::{Constrained, Floor, Model, Simulate, Transition};

pub use held_out::{Case, Centres};
pub use variational::Factors;

/// Components and what is known of them before there are data.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    pub components: usize,
    pub weights: Weights,
    /// σ_θ²
    pub between: Variance,
    /// σ_n²
    pub within: Variance,
}

/// What to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub cases: usize,
    pub dimensions: usize,
    pub prior: Prior,
}

impl Setting {
    /// The sizes of section 6.4, with values that leave some of the assignments in doubt.
    pub fn paper() -> Self {
        let components = 10;
        let prior = Prior {
            components,
            weights: Weights::equal(components),
            between: Variance::Fixed(1.0),
            within: Variance::Fixed(1.5),
        };
        Self { cases: 50, dimensions: 25, prior }
    }
}

/// The model, given data.
#[derive(Clone, Debug)]
pub struct Clustering {
    data: Rows,
    /// |yᵢ|²
    squares: Vec<f64>,
    /// Σ |yᵢ|² over the first n cases.
    squares_up_to: Vec<f64>,
    prior: Prior,
    scratch: sweep::Scratch,
}

/// z and hyperparameters, with the sufficient statistics of the cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    z: Vec<usize>,
    /// log π, padded with −∞.
    #[serde(with = "crust_diagnose::number::list")]
    log_weights: Vec<f64>,
    between: f64,
    within: f64,
    counts: Vec<usize>,
    sums: Rows,
    /// |Sₖ|²
    norms: Vec<f64>,
}

impl State {
    pub fn assignments(&self) -> &[usize] {
        &self.z
    }

    pub fn log_weights(&self) -> &[f64] {
        &self.log_weights[..self.counts.len()]
    }

    /// σ_θ²
    pub fn between(&self) -> f64 {
        self.between
    }

    /// σ_n²
    pub fn within(&self) -> f64 {
        self.within
    }
}

impl Clustering {
    pub fn new(data: Rows, prior: Prior) -> Result<Self, BadModel> {
        check_data(&data)?;
        if prior.components == 0 {
            return Err(BadModel::NoComponents);
        }
        prior.weights.check(prior.components)?;
        prior.between.check("the variance between clusters")?;
        prior.within.check("the variance within clusters")?;
        let squares: Vec<f64> = data.iter().map(|row| dot(row, row)).collect();
        let mut squares_up_to = vec![0.0];
        squares.iter().for_each(|s| squares_up_to.push(squares_up_to[squares_up_to.len() - 1] + s));
        let scratch = sweep::Scratch::new(data.rows(), prior.components);
        Ok(Self { data, squares, squares_up_to, prior, scratch })
    }

    pub fn data(&self) -> &Rows {
        &self.data
    }

    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// Replaces the data by a draw given the state: one half of Geweke's test. The centres are integrated out, hence
    /// drawn anew.
    pub fn redraw_data(&mut self, state: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        let data = draw_data(&self.prior, state, self.data.columns(), stream);
        *self = Self::new(data, self.prior.clone()).map_err(Fatal::new)?;
        self.refresh_statistics(state);
        Ok(())
    }

    /// A state with given assignments of the first cases, and hyperparameters.
    pub fn state(&self, z: Vec<usize>, log_weights: &[f64], between: f64, within: f64) -> State {
        let k = self.prior.components;
        let mut padded_weights = vec![f64::NEG_INFINITY; padded(k)];
        padded_weights[..k].copy_from_slice(log_weights);
        let sums = Rows::zeros(k, self.data.columns());
        let mut state = State {
            z,
            log_weights: padded_weights,
            between,
            within,
            counts: vec![0; k],
            sums,
            norms: vec![0.0; padded(k)],
        };
        self.refresh_statistics(&mut state);
        state
    }

    /// Computes counts, sums and norms anew: no rounding errors pile up from sweep to sweep.
    #[inline(always)]
    fn refresh_statistics(&self, state: &mut State) {
        state.counts.fill(0);
        state.sums.fill(0.0);
        for (y, &k) in self.data.iter().zip(&state.z) {
            state.counts[k] += 1;
            add_scaled(state.sums.row_mut(k), 1.0, y);
        }
        for (norm, sum) in state.norms.iter_mut().zip(state.sums.iter()) {
            *norm = dot(sum, sum);
        }
    }

    /// The part of log `f_β` that depends on β.
    #[inline(always)]
    fn log_collapsed(&self, state: &State, beta: f64) -> f64 {
        let (d, n) = (float(self.data.columns()), state.z.len());
        let c = beta / state.within;
        let mut log_determinant = 0.0;
        let mut fit = 0.0;
        for (&count, norm) in state.counts.iter().zip(&state.norms) {
            let information = c * float(count);
            log_determinant += crust_math::lanes::scalar::log1p(information * state.between);
            fit += norm / (1.0 / state.between + information);
        }
        let remains = beta * float(n) * f_log(TAU * state.within);
        0.5 * (c * c * fit - d * (log_determinant + remains) - c * self.squares_up_to[n])
    }

    fn log_prior(&self, state: &State) -> f64 {
        let Prior { weights, between, within, .. } = &self.prior;
        let hyper = weights.log_prior(state.log_weights()) + between.log_prior(state.between);
        hyper + within.log_prior(state.within) + state.z.iter().map(|&k| state.log_weights[k]).sum::<f64>()
    }

    fn sweep(&mut self, state: &mut State, beta: f64, direction: Direction, choice: &mut impl Choose) {
        let mut scratch = std::mem::take(&mut self.scratch);
        sweep::assignments(self, state, beta, direction, choice, &mut scratch);
        self.scratch = scratch;
    }

    /// p(zᵢ | everything else), at β. Leaves the state as it is.
    pub fn conditional_assignment(&mut self, state: &State, case: usize, beta: f64) -> Categorical {
        let mut scratch = std::mem::take(&mut self.scratch);
        let log_weights = sweep::conditional(self, &mut state.clone(), case, beta, &mut scratch);
        self.scratch = scratch;
        Categorical { log_weights }
    }

    /// p(π | everything else), where it is not fixed.
    pub fn conditional_weights(&self, state: &State) -> Option<Dirichlet> {
        self.prior.weights.conditional(&state.counts)
    }

    /// Draws π given the assignments, where it is not fixed.
    fn redraw_weights(&self, state: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        if let Some(conditional) = self.conditional_weights(state) {
            let logs = conditional.sample(stream)?;
            state.log_weights[..logs.len()].copy_from_slice(&logs);
        }
        Ok(())
    }
}

fn draw_state(prior: &Prior, cases: usize, stream: &mut Stream) -> Result<(Vec<usize>, Vec<f64>, f64, f64), Fatal> {
    let log_weights = prior.weights.draw(prior.components, stream)?;
    let between = prior.between.draw(stream)?;
    let within = prior.within.draw(stream)?;
    let z = (0..cases).map(|_| stream.categorical_log(&log_weights).map_err(Fatal::new)).collect::<Result<_, _>>()?;
    Ok((z, log_weights, between, within))
}

fn draw_data(prior: &Prior, state: &State, dimensions: usize, stream: &mut Stream) -> Rows {
    let (spread, noise) = (state.between.sqrt(), state.within.sqrt());
    let centres = Rows::from_fn(prior.components, dimensions, |_, _| spread * stream.standard_normal());
    Rows::from_fn(state.z.len(), dimensions, |i, j| centres.row(state.z[i])[j] + noise * stream.standard_normal())
}

impl Scan for Clustering {
    type State = State;

    fn update_latents(&mut self, state: &mut State, beta: f64, direction: Direction, stream: &mut Stream) {
        self.sweep(state, beta, direction, &mut Drawn { stream, thresholds: &mut [] });
    }

    /// Draws π, then σ_θ² and σ_n² by way of the centres: given z, y and the variances
    ///
    /// > θₖ ~ N(c Sₖ / λₖ, 1/λₖ) with λₖ = 1/σ_θ² + c nₖ,
    ///
    /// and given θ both variances are inverse gamma, that of the noise with the powers of a tempered likelihood.
    fn update_hyperparameters(&mut self, state: &mut State, beta: f64, stream: &mut Stream) -> Result<(), Fatal> {
        self.redraw_weights(state, stream)?;
        if self.prior.between.is_fixed() && self.prior.within.is_fixed() {
            return Ok(());
        }
        let c = beta / state.within;
        let mut residual = self.squares_up_to[state.z.len()];
        let mut size = 0.0;
        for (&count, sum) in state.counts.iter().zip(state.sums.iter()) {
            let precision = 1.0 / state.between + c * float(count);
            let (scale, shrink) = (1.0 / precision.sqrt(), c / precision);
            for s in &sum[..self.data.columns()] {
                let centre = shrink * s + scale * stream.standard_normal();
                size += centre * centre;
                residual += centre * (float(count) * centre - 2.0 * s);
            }
        }
        let d = float(self.data.columns());
        let centres = d * float(state.counts.len());
        self.prior.between.redraw(&mut state.between, 1.0, centres, size, stream)?;
        let observed = d * float(state.z.len());
        self.prior.within.redraw(&mut state.within, beta, observed, residual.max(0.0), stream)
    }
}

impl System for Clustering {
    type State = State;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<State, Fatal> {
        let (z, log_weights, between, within) = draw_state(&self.prior, self.data.rows(), stream)?;
        Ok(self.state(z, &log_weights, between, within))
    }

    fn log_ratio(&mut self, state: &State, from: f64, to: f64) -> Result<f64, Fatal> {
        Ok(self.log_collapsed(state, to) - self.log_collapsed(state, from))
    }

    fn step(&mut self, state: &mut State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.scan(state, beta, Direction::Forward, stream)
    }

    fn step_reversed(&mut self, state: &mut State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.scan(state, beta, Direction::Reverse, stream)
    }
}

impl Model for Clustering {
    fn log_joint(&mut self, state: &State, beta: f64) -> Result<f64, Fatal> {
        Ok(self.log_prior(state) + self.log_collapsed(state, beta))
    }

    fn cases(&self) -> usize {
        self.data.rows()
    }
}

impl Simulate for Clustering {
    type Setting = Setting;

    fn simulate(setting: &Setting, stream: &mut Stream) -> Result<(Self, State), Fatal> {
        let Setting { cases, dimensions, prior } = setting;
        // Checks the setting too.
        let blank = Self::new(Rows::zeros(*cases, *dimensions), prior.clone()).map_err(Fatal::new)?;
        let (z, log_weights, between, within) = draw_state(prior, *cases, stream)?;
        let mut state = blank.state(z, &log_weights, between, within);
        let model = Self::new(draw_data(prior, &state, *dimensions, stream), prior.clone()).map_err(Fatal::new)?;
        model.refresh_statistics(&mut state);
        Ok((model, state))
    }
}

impl Transition for Clustering {
    fn log_transition(&mut self, from: &State, to: &State, beta: f64, direction: Direction) -> Result<f64, Fatal> {
        if !(self.prior.between.is_fixed() && self.prior.within.is_fixed()) {
            // They are drawn by way of centres that are forgotten: their density is an integral over these.
            return Err(Fatal::new(NeedsFixed {
                what: "a transition density",
                which: "variances",
                model: "clustering",
            }));
        }
        let mut state = from.clone();
        if direction == Direction::Reverse {
            state.log_weights.clone_from(&to.log_weights);
        }
        let mut choice = Followed { to: &to.z, log_probability: 0.0 };
        self.sweep(&mut state, beta, direction, &mut choice);
        // Weights are drawn after the assignments, in reverse before them.
        let given = if direction == Direction::Forward { to } else { from };
        let weights = self.conditional_weights(given).map_or(0.0, |c| c.log_density(&to.log_weights().to_vec()));
        Ok(choice.log_probability + weights)
    }
}

impl Constrained for Clustering {
    fn step_constrained(&mut self, state: &mut State, floor: &Floor, stream: &mut Stream) -> Result<f64, Fatal> {
        let log_likelihood = self.log_likelihood(state)?;
        self.sweep(state, 1.0, Direction::Forward, &mut Above { stream, floor, log_likelihood });
        let Prior { between, within, .. } = self.prior.clone();
        let mut trial = state.clone();
        let at = |value: f64| {
            trial.between = value;
            self.log_likelihood(&trial)
        };
        state.between = between.move_constrained(state.between, floor, at, stream)?;
        trial.between = state.between;
        let at = |value: f64| {
            trial.within = value;
            self.log_likelihood(&trial)
        };
        state.within = within.move_constrained(state.within, floor, at, stream)?;
        // Given the assignments, the likelihood does not depend on the weights.
        self.redraw_weights(state, stream)?;
        self.log_likelihood(state)
    }
}

#[cfg(test)]
mod tests;
