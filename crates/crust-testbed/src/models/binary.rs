//! Binary attributes (BDMC, section 6): Y = Z A + noise, Z binary, A integrated out.
//!
//! > zᵢₖ ~ Bernoulli(πₖ), aₖⱼ ~ N(0, σ_a²), yᵢⱼ ~ N(Σₖ zᵢₖ aₖⱼ, σ_n²)
//!
//! The state is Z (and π, σ_a², σ_n² where these have priors). With c = β/σ_n² and Λ = I/σ_a² + c ZᵀZ = L Lᵀ the path
//! is
//!
//! > log `f_β` = log prior − ½ [ β n D log 2πσ_n² + c Σ y² + D (K log σ_a² + log det Λ) − |L⁻¹ c ZᵀY|² ]
//!
//! since exp(−c (y − za)²/2) is Gaussian in A with noise of variance σ_n²/β, and (2πσ_n²)^(−β/2) is the factor that
//! remains.
//!
//! Kernel: zᵢₖ for each case i and each k within it, then π, then both variances given an A that is drawn for that and
//! forgotten (which is reversible). Its reversal does the same in the opposite order. A bit costs O(K + D): the
//! posterior of A without case i is kept up to date by rank-one changes (Doshi-Velez and Ghahramani 2009), see `sweep`.

mod enumerate;
mod held_out;
mod sequential;
mod sweep;
mod variational;

use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

use crust_infer::anneal::{Direction, Moved, System};
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use pxfm::{f_log, f_log1p};

use self::sweep::{Posterior, Scratch};
use super::Scan;
use super::choice::{Constrained as Above, Drawn, Flip, FollowedBits};
use super::conditional::{Bernoulli, Beta, Conditional};
use super::hyper::{BadModel, NeedsFixed, Probabilities, Variance, check_data};
use super::rows::{Rows, add_scaled, dot, padded, vectorised};
use crate::grid::float;
use crate::model::{Constrained, Floor, Model, Simulate, Transition};

pub use held_out::{Case, Features};
pub use variational::Factors;

/// Attributes and what is known of them before there are data.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// K
    pub components: usize,
    /// πₖ
    pub probabilities: Probabilities,
    /// σ_a²
    pub features: Variance,
    /// σ_n²
    pub noise: Variance,
}

/// What to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub cases: usize,
    pub dimensions: usize,
    pub prior: Prior,
}

impl Setting {
    /// The sizes of section 6.4.
    pub fn paper() -> Self {
        let components = 10;
        let prior = Prior {
            components,
            probabilities: Probabilities::Fixed(vec![0.5; components]),
            features: Variance::Fixed(1.0),
            noise: Variance::Fixed(1.0),
        };
        Self { cases: 50, dimensions: 25, prior }
    }
}

/// The model, given data.
#[derive(Clone, Debug)]
pub struct BinaryAttributes {
    data: Rows,
    /// Σ y² over the first n cases.
    squares_up_to: Vec<f64>,
    prior: Prior,
    scratch: Scratch,
}

/// Z and hyperparameters, with the sufficient statistics of the cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// n × K, of 0 and 1.
    z: Rows,
    hyper: Hyper,
    /// ZᵀZ, K × K.
    gram: Rows,
    /// ZᵀY, K × D.
    cross: Rows,
}

/// πₖ with their log odds, σ_a² and σ_n².
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hyper {
    probabilities: Vec<f64>,
    /// Padded.
    log_odds: Vec<f64>,
    features: f64,
    noise: f64,
}

impl Hyper {
    pub fn new(probabilities: Vec<f64>, features: f64, noise: f64) -> Self {
        let log_odds = vec![0.0; padded(probabilities.len())];
        let mut hyper = Self { probabilities, log_odds, features, noise };
        hyper.refresh();
        hyper
    }

    fn refresh(&mut self) {
        for (odds, &p) in self.log_odds.iter_mut().zip(&self.probabilities) {
            *odds = f_log(p) - f_log1p(-p);
        }
    }

    fn draw(prior: &Prior, stream: &mut Stream) -> Result<Self, Fatal> {
        let probabilities = prior.probabilities.draw(prior.components, stream)?;
        Ok(Self::new(probabilities, prior.features.draw(stream)?, prior.noise.draw(stream)?))
    }

    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// σ_a²
    pub fn features(&self) -> f64 {
        self.features
    }

    /// σ_n²
    pub fn noise(&self) -> f64 {
        self.noise
    }
}

impl State {
    /// Z, of 0 and 1.
    pub fn attributes(&self) -> &Rows {
        &self.z
    }

    pub fn hyper(&self) -> &Hyper {
        &self.hyper
    }
}

impl BinaryAttributes {
    pub fn new(data: Rows, prior: Prior) -> Result<Self, BadModel> {
        check_data(&data)?;
        if prior.components == 0 {
            return Err(BadModel::NoComponents);
        }
        prior.probabilities.check(prior.components)?;
        prior.features.check("the variance of the features")?;
        prior.noise.check("the variance of the noise")?;
        let mut squares_up_to = vec![0.0];
        for row in data.iter() {
            squares_up_to.push(squares_up_to[squares_up_to.len() - 1] + dot(row, row));
        }
        let scratch = Scratch::new(prior.components, data.columns());
        Ok(Self { data, squares_up_to, prior, scratch })
    }

    pub fn data(&self) -> &Rows {
        &self.data
    }

    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// A state with given attributes (n × K, of 0 and 1) of the first cases.
    pub fn state(&self, z: Rows, hyper: Hyper) -> State {
        let k = self.prior.components;
        let mut state = State { z, hyper, gram: Rows::zeros(k, k), cross: Rows::zeros(k, self.data.columns()) };
        self.refresh_statistics(&mut state);
        state
    }

    /// Replaces the data by a draw given the state: one half of Geweke's test. The features are integrated out, hence
    /// drawn anew.
    pub fn redraw_data(&mut self, state: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        let data = draw_data(&state.z, &state.hyper, self.data.columns(), stream);
        *self = Self::new(data, self.prior.clone()).map_err(Fatal::new)?;
        self.refresh_statistics(state);
        Ok(())
    }

    /// Computes ZᵀZ and ZᵀY anew: no rounding errors pile up from sweep to sweep.
    #[inline(always)]
    fn refresh_statistics(&self, state: &mut State) {
        state.gram.fill(0.0);
        state.cross.fill(0.0);
        for (z, y) in state.z.iter().zip(self.data.iter()) {
            for k in 0..self.prior.components {
                if z[k] > 0.0 {
                    add_scaled(state.gram.row_mut(k), 1.0, z);
                    add_scaled(state.cross.row_mut(k), 1.0, y);
                }
            }
        }
    }

    /// The part of log `f_β` that depends on β.
    fn log_collapsed(&mut self, state: &State, beta: f64) -> f64 {
        let (n, d, k) = (state.z.rows(), float(self.data.columns()), float(self.prior.components));
        let Hyper { features, noise, .. } = state.hyper;
        let c = beta / noise;
        let (log_determinant, fit) = self.scratch.collapse(&state.gram, &state.cross, features, c);
        let remains = beta * float(n) * f_log(TAU * noise);
        0.5 * (fit - d * (k * f_log(features) + log_determinant + remains) - c * self.squares_up_to[n])
    }

    fn log_prior(&self, state: &State) -> f64 {
        let Hyper { probabilities, features, noise, .. } = &state.hyper;
        let n = float(state.z.rows());
        let hyper = self.prior.probabilities.log_prior(probabilities) + self.prior.features.log_prior(*features);
        let bits = |(k, &p): (usize, &f64)| {
            let ones = state.gram.row(k)[k];
            ones * f_log(p) + (n - ones) * f_log1p(-p)
        };
        hyper + self.prior.noise.log_prior(*noise) + probabilities.iter().enumerate().map(bits).sum::<f64>()
    }

    fn sweep(&mut self, state: &mut State, beta: f64, direction: Direction, flip: &mut impl Flip) {
        let mut scratch = std::mem::take(&mut self.scratch);
        sweep::attributes(self, state, beta, direction, flip, &mut scratch);
        self.scratch = scratch;
    }

    /// p(zᵢₖ | everything else), at β.
    pub fn conditional_attribute(&mut self, state: &State, case: usize, k: usize, beta: f64) -> Bernoulli {
        let mut scratch = std::mem::take(&mut self.scratch);
        let to_flip = sweep::conditional(self, state, case, k, beta, &mut scratch);
        self.scratch = scratch;
        Bernoulli { log_odds: if state.z.row(case)[k] > 0.0 { -to_flip } else { to_flip } }
    }

    /// p(πₖ | everything else), where it is not fixed.
    pub fn conditional_probability(&self, state: &State, k: usize) -> Option<Beta> {
        self.prior.probabilities.conditional(state.gram.row(k)[k], float(state.z.rows()))
    }

    /// A | Z, Y at β: columns are independent, N(μⱼ, Σ) with Σ = Λ⁻¹ and μ = Σ c ZᵀY.
    fn draw_features(&mut self, state: &State, beta: f64, stream: &mut Stream) -> Rows {
        let c = beta / state.hyper.noise;
        let posterior = &mut self.scratch.posterior;
        vectorised(|| posterior.solve(&state.gram, &state.cross, state.hyper.features, c));
        let Posterior { mean, inverse, .. } = &self.scratch.posterior;
        let mut a = mean.clone();
        for j in 0..self.data.columns() {
            // L⁻ᵀ ε has covariance Λ⁻¹.
            for row in inverse.iter() {
                let noise = stream.standard_normal();
                for (k, weight) in row[..self.prior.components].iter().enumerate() {
                    a.row_mut(k)[j] += weight * noise;
                }
            }
        }
        a
    }

    /// Draws π given the attributes, where it is not fixed.
    fn redraw_probabilities(&self, state: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        for k in 0..self.prior.components {
            if let Some(conditional) = self.conditional_probability(state, k) {
                state.hyper.probabilities[k] = conditional.sample(stream)?;
            }
        }
        state.hyper.refresh();
        Ok(())
    }
}

fn draw_attributes(hyper: &Hyper, cases: usize, stream: &mut Stream) -> Rows {
    let bit = |k: usize, stream: &mut Stream| f64::from(u8::from(stream.uniform() < hyper.probabilities[k]));
    Rows::from_fn(cases, hyper.probabilities.len(), |_, k| bit(k, stream))
}

fn draw_data(z: &Rows, hyper: &Hyper, dimensions: usize, stream: &mut Stream) -> Rows {
    let (spread, noise) = (hyper.features.sqrt(), hyper.noise.sqrt());
    let a = Rows::from_fn(z.columns(), dimensions, |_, _| spread * stream.standard_normal());
    let mut data = Rows::from_fn(z.rows(), dimensions, |_, _| noise * stream.standard_normal());
    for (i, z) in z.iter().enumerate() {
        for (&z, a) in z.iter().zip(a.iter()) {
            add_scaled(data.row_mut(i), z, a);
        }
    }
    data
}

impl Scan for BinaryAttributes {
    type State = State;

    fn update_latents(&mut self, state: &mut State, beta: f64, direction: Direction, stream: &mut Stream) {
        let mut thresholds = std::mem::take(&mut self.scratch.thresholds);
        self.sweep(state, beta, direction, &mut Drawn { stream, thresholds: &mut thresholds });
        self.scratch.thresholds = thresholds;
    }

    /// Draws π, then σ_a² and σ_n² by way of A: given A both are inverse gamma, that of the noise with the powers of a
    /// tempered likelihood.
    fn update_hyperparameters(&mut self, state: &mut State, beta: f64, stream: &mut Stream) -> Result<(), Fatal> {
        self.redraw_probabilities(state, stream)?;
        if self.prior.features.is_fixed() && self.prior.noise.is_fixed() {
            return Ok(());
        }
        let a = self.draw_features(state, beta, stream);
        // |Y − ZA|² = Σ y² − 2 ⟨ZᵀY, A⟩ + ⟨ZᵀZ, AAᵀ⟩.
        let mut residual = self.squares_up_to[state.z.rows()] - 2.0 * dot(state.cross.values(), a.values());
        for (k, row) in a.iter().enumerate() {
            for (l, other) in a.iter().enumerate() {
                residual += state.gram.row(k)[l] * dot(row, other);
            }
        }
        let Hyper { features, noise, .. } = &mut state.hyper;
        self.prior.features.redraw(features, 1.0, a.entries(), a.sum_of_squares(), stream)?;
        let observed = float(state.z.rows()) * float(self.data.columns());
        self.prior.noise.redraw(noise, beta, observed, residual.max(0.0), stream)
    }
}

impl System for BinaryAttributes {
    type State = State;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<State, Fatal> {
        let hyper = Hyper::draw(&self.prior, stream)?;
        let z = draw_attributes(&hyper, self.data.rows(), stream);
        Ok(self.state(z, hyper))
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

impl Model for BinaryAttributes {
    fn log_joint(&mut self, state: &State, beta: f64) -> Result<f64, Fatal> {
        Ok(self.log_prior(state) + self.log_collapsed(state, beta))
    }

    fn cases(&self) -> usize {
        self.data.rows()
    }
}

impl Simulate for BinaryAttributes {
    type Setting = Setting;

    fn simulate(setting: &Setting, stream: &mut Stream) -> Result<(Self, State), Fatal> {
        let Setting { cases, dimensions, prior } = setting;
        // Checks the setting.
        Self::new(Rows::zeros(*cases, *dimensions), prior.clone()).map_err(Fatal::new)?;
        let hyper = Hyper::draw(prior, stream)?;
        let z = draw_attributes(&hyper, *cases, stream);
        let data = draw_data(&z, &hyper, *dimensions, stream);
        let model = Self::new(data, prior.clone()).map_err(Fatal::new)?;
        let state = model.state(z, hyper);
        Ok((model, state))
    }
}

impl Transition for BinaryAttributes {
    fn log_transition(&mut self, from: &State, to: &State, beta: f64, direction: Direction) -> Result<f64, Fatal> {
        if !(self.prior.features.is_fixed() && self.prior.noise.is_fixed()) {
            // They are drawn by way of features that are forgotten: their density is an integral over these.
            let what = "a transition density";
            return Err(Fatal::new(NeedsFixed { what, which: "variances", model: "binary attribute" }));
        }
        let components = self.prior.components;
        let bits = |z: &Rows| z.iter().flat_map(|row| row[..components].to_vec()).collect::<Vec<f64>>();
        let differs: Vec<bool> =
            bits(&from.z).into_iter().zip(bits(&to.z)).map(|(a, b)| a.total_cmp(&b).is_ne()).collect();
        let mut flip = FollowedBits { differs: &differs, components, row: 0, log_probability: 0.0 };
        let mut state = from.clone();
        if direction == Direction::Reverse {
            state.hyper.clone_from(&to.hyper);
        }
        self.sweep(&mut state, beta, direction, &mut flip);
        // Probabilities are drawn after the attributes, in reverse before them.
        let given = if direction == Direction::Forward { to } else { from };
        let log_density = |(k, p)| self.conditional_probability(given, k).map_or(0.0, |c: Beta| c.log_density(p));
        Ok(flip.log_probability + to.hyper.probabilities.iter().enumerate().map(log_density).sum::<f64>())
    }
}

impl Constrained for BinaryAttributes {
    fn step_constrained(&mut self, state: &mut State, floor: &Floor, stream: &mut Stream) -> Result<f64, Fatal> {
        let log_likelihood = self.log_likelihood(state)?;
        self.sweep(state, 1.0, Direction::Forward, &mut Above { stream, floor, log_likelihood });
        let Prior { features, noise, .. } = self.prior;
        let mut trial = state.clone();
        let at = |value: f64| {
            trial.hyper.features = value;
            self.log_likelihood(&trial)
        };
        state.hyper.features = features.move_constrained(state.hyper.features, floor, at, stream)?;
        trial.hyper.features = state.hyper.features;
        let at = |value: f64| {
            trial.hyper.noise = value;
            self.log_likelihood(&trial)
        };
        state.hyper.noise = noise.move_constrained(state.hyper.noise, floor, at, stream)?;
        // Given the attributes, the likelihood does not depend on their probabilities.
        self.redraw_probabilities(state, stream)?;
        self.log_likelihood(state)
    }
}

#[cfg(test)]
mod tests;
