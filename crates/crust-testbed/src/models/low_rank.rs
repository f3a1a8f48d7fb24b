//! Low rank approximation (BDMC, section 6): Y = U V + noise, both factors in the state.
//!
//! > uᵢₖ ~ N(0, σ_u²), vₖⱼ ~ N(0, σ_v²), yᵢⱼ ~ N(uᵢ·vⱼ, σ_n²)
//!
//! With R = Σ (yᵢⱼ − uᵢ·vⱼ)² over the n cases of the state, the path is
//!
//! > log `f_β` = log prior(U, V) − (β/2) (n D log 2πσ_n² + R/σ_n²)
//!
//! Kernel: all rows of U given V, all columns of V given U, then the variances that have priors. With c = β/σ_n²,
//!
//! > uᵢ | V, Y ~ N(Λ⁻¹ c Σⱼ yᵢⱼ vⱼ, Λ⁻¹), Λ = I/σ_u² + c Σⱼ vⱼ vⱼᵀ,
//!
//! and the same for vⱼ with the roles exchanged. The reversal does the same in the opposite order.

mod constrained;
mod half;
mod held_out;
mod sequential;
mod variational;

use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

use crust_infer::anneal::{Direction, Moved, System};
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use pxfm::f_log;

use self::half::{Drawn, Followed, Half, Scratch, Settle};
use super::Scan;
use super::conditional::MultiNormal;
use super::hyper::{BadModel, Variance, check_data};
use super::rows::{Rows, distance};
use crate::grid::float;
use crate::model::{Model, Simulate, Transition};

pub use held_out::{Case, Loadings};
pub use variational::Factors;

/// The rank and what is known of the factors before there are data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// K
    pub components: usize,
    /// σ_u²
    pub rows: Variance,
    /// σ_v²
    pub columns: Variance,
    /// σ_n²
    pub noise: Variance,
}

/// What to simulate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    pub cases: usize,
    pub dimensions: usize,
    pub prior: Prior,
}

impl Setting {
    /// The sizes of section 6.4.
    pub fn paper() -> Self {
        let prior = Prior {
            components: 5,
            rows: Variance::Fixed(1.0),
            columns: Variance::Fixed(1.0),
            noise: Variance::Fixed(1.0),
        };
        Self { cases: 50, dimensions: 25, prior }
    }
}

/// The model, given data.
#[derive(Clone, Debug)]
pub struct LowRank {
    data: Rows,
    transposed: Rows,
    /// Σ y² over the first n cases.
    squares_up_to: Vec<f64>,
    prior: Prior,
    scratch: Scratch,
}

/// U, V and variances. Rows of `v` are the columns of the paper's V.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    u: Rows,
    v: Rows,
    variances: Variances,
    /// R
    residual: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variances {
    /// σ_u²
    pub rows: f64,
    /// σ_v²
    pub columns: f64,
    /// σ_n²
    pub noise: f64,
}

/// One of the two factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    U,
    V,
}

impl State {
    /// N × K
    pub fn u(&self) -> &Rows {
        &self.u
    }

    /// D × K
    pub fn v(&self) -> &Rows {
        &self.v
    }

    pub fn variances(&self) -> Variances {
        self.variances
    }

    /// The sum of squared differences between Y and U V.
    pub fn residual(&self) -> f64 {
        self.residual
    }
}

impl LowRank {
    pub fn new(data: Rows, prior: Prior) -> Result<Self, BadModel> {
        check_data(&data)?;
        if prior.components == 0 {
            return Err(BadModel::NoComponents);
        }
        prior.rows.check("the variance of U")?;
        prior.columns.check("the variance of V")?;
        prior.noise.check("the variance of the noise")?;
        let mut squares_up_to = vec![0.0];
        for row in data.iter() {
            squares_up_to.push(squares_up_to[squares_up_to.len() - 1] + row.iter().map(|y| y * y).sum::<f64>());
        }
        let scratch = Scratch::new(data.rows().max(data.columns()), prior.components);
        Ok(Self { transposed: data.transposed(), data, squares_up_to, prior, scratch })
    }

    pub fn data(&self) -> &Rows {
        &self.data
    }

    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// A state of given factors: U may have fewer rows than Y.
    pub fn state(&self, u: Rows, v: Rows, variances: Variances) -> State {
        let mut state = State { u, v, variances, residual: 0.0 };
        state.residual = self.residual(&state);
        state
    }

    /// Replaces the data by a draw given the state: one half of Geweke's test.
    pub fn redraw_data(&mut self, state: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        *self = Self::new(draw_data(state, stream), self.prior).map_err(Fatal::new)?;
        state.residual = self.residual(state);
        Ok(())
    }

    /// R, entry by entry.
    fn residual(&self, state: &State) -> f64 {
        let mut fitted = vec![0.0; self.data.stride()];
        let mut sum = 0.0;
        for (y, u) in self.data.iter().zip(state.u.iter()) {
            for (fitted, v) in fitted.iter_mut().zip(state.v.iter()) {
                *fitted = super::rows::dot(u, v);
            }
            sum += distance(y, &fitted);
        }
        sum
    }

    /// log p(Y | U, V) of the cases of the state.
    fn log_fit(&self, state: &State) -> f64 {
        let entries = float(state.u.rows()) * float(self.data.columns());
        -0.5 * (entries * f_log(TAU * state.variances.noise) + state.residual / state.variances.noise)
    }

    fn log_prior(&self, state: &State) -> f64 {
        let Variances { rows, columns, noise } = state.variances;
        let gaussian =
            |x: &Rows, variance: f64| -0.5 * (x.entries() * f_log(TAU * variance) + x.sum_of_squares() / variance);
        let hyper =
            self.prior.rows.log_prior(rows) + self.prior.columns.log_prior(columns) + self.prior.noise.log_prior(noise);
        hyper + gaussian(&state.u, rows) + gaussian(&state.v, columns)
    }

    /// All rows of one factor.
    fn update_side(&mut self, state: &mut State, side: Side, beta: f64, settle: &mut impl Settle) {
        let State { u, v, variances, residual } = state;
        let squares = self.squares_up_to[u.rows()];
        let (targets, others, data, variance) = match side {
            Side::U => (u, &*v, &self.data, variances.rows),
            Side::V => (v, &*u, &self.transposed, variances.columns),
        };
        let c = beta / variances.noise;
        let half = Half { targets, others, data, variance, c, settle, scratch: &mut self.scratch };
        *residual = (squares + half.run_on_best()).max(0.0);
    }

    /// p(uᵢ | V, Y), or p(vⱼ | U, Y), at β.
    pub fn conditional_row(&mut self, state: &State, side: Side, row: usize, beta: f64) -> MultiNormal {
        let Variances { rows, columns, noise } = state.variances;
        let (others, data, variance) = match side {
            Side::U => (&state.v, &self.data, rows),
            Side::V => (&state.u, &self.transposed, columns),
        };
        let (k, stride) = (others.columns(), others.stride());
        let mut products = vec![0.0; data.rows() * stride];
        half::multiply(data, others, row + 1, &mut products);
        self.scratch.prepare(others, variance, beta / noise);
        self.scratch.whiten(&products[row * stride..(row + 1) * stride], beta / noise, k);
        let mut mean = vec![0.0; stride];
        self.scratch.unwhiten(&self.scratch.whitened, &mut mean, k);
        mean.truncate(k);
        let lower = self.scratch.lower.chunks_exact(stride).take(k).flat_map(|row| row[..k].to_vec()).collect();
        MultiNormal { mean, lower }
    }

    fn draw_factors(&self, cases: usize, stream: &mut Stream) -> Result<State, Fatal> {
        draw_factors(&self.prior, cases, self.data.columns(), stream)
    }

    /// The log density of variances given the factors of a state, for those that have priors.
    fn log_variances(&self, variances: &Variances, given: &State, beta: f64) -> f64 {
        let State { u, v, residual, .. } = given;
        let Prior { rows, columns, noise, .. } = &self.prior;
        let observed = float(u.rows()) * float(v.rows());
        rows.log_conditional(variances.rows, 1.0, u.entries(), u.sum_of_squares())
            + columns.log_conditional(variances.columns, 1.0, v.entries(), v.sum_of_squares())
            + noise.log_conditional(variances.noise, beta, observed, *residual)
    }
}

/// A draw from the prior, whose residual is not known yet.
fn draw_factors(prior: &Prior, cases: usize, dimensions: usize, stream: &mut Stream) -> Result<State, Fatal> {
    let variances = Variances {
        rows: prior.rows.draw(stream)?,
        columns: prior.columns.draw(stream)?,
        noise: prior.noise.draw(stream)?,
    };
    let mut draw = |rows: usize, variance: f64| {
        let scale = variance.sqrt();
        Rows::from_fn(rows, prior.components, |_, _| scale * stream.standard_normal())
    };
    let (u, v) = (draw(cases, variances.rows), draw(dimensions, variances.columns));
    Ok(State { u, v, variances, residual: 0.0 })
}

fn draw_data(state: &State, stream: &mut Stream) -> Rows {
    let noise = state.variances.noise.sqrt();
    let State { u, v, .. } = state;
    let entry = |i: usize, j: usize| super::rows::dot(u.row(i), v.row(j)) + noise * stream.standard_normal();
    Rows::from_fn(u.rows(), v.rows(), entry)
}

impl Scan for LowRank {
    type State = State;

    fn update_latents(&mut self, state: &mut State, beta: f64, direction: Direction, stream: &mut Stream) {
        let order = if direction == Direction::Forward { [Side::U, Side::V] } else { [Side::V, Side::U] };
        for side in order {
            self.update_side(state, side, beta, &mut Drawn(stream));
        }
    }

    /// All three variances that have priors; given U and V they are independent.
    fn update_hyperparameters(&mut self, state: &mut State, beta: f64, stream: &mut Stream) -> Result<(), Fatal> {
        let State { u, v, variances, residual } = state;
        let Prior { rows, columns, noise, .. } = &self.prior;
        rows.redraw(&mut variances.rows, 1.0, u.entries(), u.sum_of_squares(), stream)?;
        columns.redraw(&mut variances.columns, 1.0, v.entries(), v.sum_of_squares(), stream)?;
        let observed = float(u.rows()) * float(v.rows());
        noise.redraw(&mut variances.noise, beta, observed, *residual, stream)
    }
}

impl System for LowRank {
    type State = State;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<State, Fatal> {
        let mut state = self.draw_factors(self.data.rows(), stream)?;
        state.residual = self.residual(&state);
        Ok(state)
    }

    fn log_ratio(&mut self, state: &State, from: f64, to: f64) -> Result<f64, Fatal> {
        Ok((to - from) * self.log_fit(state))
    }

    fn step(&mut self, state: &mut State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.scan(state, beta, Direction::Forward, stream)
    }

    fn step_reversed(&mut self, state: &mut State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.scan(state, beta, Direction::Reverse, stream)
    }
}

impl Model for LowRank {
    fn log_joint(&mut self, state: &State, beta: f64) -> Result<f64, Fatal> {
        Ok(self.log_prior(state) + beta * self.log_fit(state))
    }

    fn cases(&self) -> usize {
        self.data.rows()
    }
}

impl Simulate for LowRank {
    type Setting = Setting;

    fn simulate(setting: &Setting, stream: &mut Stream) -> Result<(Self, State), Fatal> {
        let Setting { cases, dimensions, prior } = setting;
        // Checks the setting.
        Self::new(Rows::zeros(*cases, *dimensions), *prior).map_err(Fatal::new)?;
        let mut state = draw_factors(prior, *cases, *dimensions, stream)?;
        let model = Self::new(draw_data(&state, stream), *prior).map_err(Fatal::new)?;
        state.residual = model.residual(&state);
        Ok((model, state))
    }
}

impl Transition for LowRank {
    fn log_transition(&mut self, from: &State, to: &State, beta: f64, direction: Direction) -> Result<f64, Fatal> {
        let mut state = from.clone();
        let mut u = Followed { to: &to.u, log_density: 0.0 };
        let mut v = Followed { to: &to.v, log_density: 0.0 };
        // Variances are drawn after the factors, in reverse before them.
        let variances = if direction == Direction::Forward {
            self.update_side(&mut state, Side::U, beta, &mut u);
            self.update_side(&mut state, Side::V, beta, &mut v);
            self.log_variances(&to.variances, &state, beta)
        } else {
            let variances = self.log_variances(&to.variances, from, beta);
            state.variances = to.variances;
            self.update_side(&mut state, Side::V, beta, &mut v);
            self.update_side(&mut state, Side::U, beta, &mut u);
            variances
        };
        Ok(u.log_density + v.log_density + variances)
    }
}

#[cfg(test)]
mod tests;
