//! Step sizes: the first guess, and dual averaging towards a mean acceptance probability.

use crust_math::random::{Purpose, Stream, StreamKey};
use pxfm::{f_exp, f_log, f_pow};

use crate::kernel::{Densities, State};
use crate::leapfrog::Phase;
use crate::metric::Metric;
use crate::vector::Arena;

/// Constants of dual averaging: Hoffman and Gelman, "The No-U-Turn sampler" (2014), section 3.2, with Stan's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Averaging {
    /// δ, the mean acceptance probability to reach.
    pub delta: f64,
    /// γ, the inverse of how far log ε moves from μ.
    pub gamma: f64,
    /// t₀, which damps the first iterations.
    pub t0: f64,
    /// κ, how fast the weights of old iterations decay.
    pub kappa: f64,
}

impl Default for Averaging {
    fn default() -> Self {
        Self { delta: 0.8, gamma: 0.05, t0: 10.0, kappa: 0.75 }
    }
}

/// Dual averaging of log ε:
///
/// > H̄ₜ = (1 − 1/(t + t₀)) H̄ₜ₋₁ + (δ − αₜ)/(t + t₀), log εₜ = μ − √t/γ · H̄ₜ, log ε̄ₜ = t^−κ log εₜ + (1 − t^−κ) log
/// > ε̄ₜ₋₁.
#[derive(Clone, Debug)]
pub(crate) struct DualAveraging {
    constants: Averaging,
    mu: f64,
    t: f64,
    error: f64,
    log_average: f64,
}

impl DualAveraging {
    pub(crate) fn new(constants: Averaging, mu: f64) -> Self {
        Self { constants, mu, t: 0.0, error: 0.0, log_average: 0.0 }
    }

    pub(crate) fn restart(&mut self, mu: f64) {
        *self = Self::new(self.constants, mu);
    }

    /// The next step size.
    pub(crate) fn learn(&mut self, accept_stat: f64) -> f64 {
        let Averaging { delta, gamma, t0, kappa } = self.constants;
        self.t += 1.0;
        let weight = 1.0 / (self.t + t0);
        self.error = (1.0 - weight) * self.error + weight * (delta - accept_stat.min(1.0));
        let log_step = self.mu - self.error * self.t.sqrt() / gamma;
        let weight = f_pow(self.t, -kappa);
        self.log_average = (1.0 - weight) * self.log_average + weight * log_step;
        f_exp(log_step)
    }

    /// The averaged step size, if anything was learnt since the last restart.
    pub(crate) fn average(&self) -> Option<f64> {
        (self.t > 0.0).then(|| f_exp(self.log_average))
    }
}

/// Why there is no step size to start with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchFailure {
    #[error("steps of any length are accepted: the posterior is improper, check the model")]
    TooLong,
    #[error("no step is short enough to be accepted: perhaps the density is not continuous")]
    TooShort,
}

/// The energy error at which a single step is neither short nor long.
fn log_threshold() -> f64 {
    f_log(0.8)
}

/// The longest step that is tried.
const LONGEST: f64 = 1e7;

/// Doubles or halves the step size until the acceptance probability of a single leapfrog step crosses 0.8. Each try has
/// its own momentum; the first, which decides the direction, is followed by a second one with the same step size, as in
/// Stan.
#[derive(Clone, Debug)]
pub(crate) struct StepSizeSearch {
    arena: Arena,
    current: Phase,
    step_size: f64,
    longer: Option<bool>,
    initial_energy: f64,
    stream: Stream,
}

impl StepSizeSearch {
    pub(crate) fn new(dimension: usize) -> Self {
        let mut arena = Arena::new(dimension);
        let current = Phase::reserve(&mut arena);
        let stream = StreamKey::new(0, Purpose::NUTS).stream();
        Self { arena, current, step_size: 1.0, longer: None, initial_energy: 0.0, stream }
    }

    /// Whether a search can start from here.
    pub(crate) fn is_sensible(step_size: f64) -> bool {
        step_size > 0.0 && step_size <= LONGEST
    }

    pub(crate) fn begin(&mut self, step_size: f64, metric: &Metric, state: &State, stream: Stream) {
        self.step_size = step_size;
        self.longer = None;
        self.stream = stream;
        self.begin_try(metric, state);
    }

    fn begin_try(&mut self, metric: &Metric, state: &State) {
        let current = self.current;
        self.arena.get_mut(current.q).copy_from_slice(&state.q);
        self.arena.get_mut(current.gradient).copy_from_slice(&state.gradient);
        metric.draw_momentum(self.arena.get_mut(current.p), &mut self.stream);
        self.initial_energy = current.kinetic_energy(&mut self.arena, metric) - state.log_density();
        current.begin_step(&mut self.arena, metric, self.step_size);
    }

    pub(crate) fn position(&self) -> &[f64] {
        self.arena.get(self.current.q)
    }

    pub(crate) fn gradient_mut(&mut self) -> &mut [f64] {
        self.arena.get_mut(self.current.gradient)
    }

    /// `Some` step size at the end.
    pub(crate) fn advance(
        &mut self,
        metric: &Metric,
        state: &State,
        found: Densities,
    ) -> Result<Option<f64>, SearchFailure> {
        let kinetic = self.current.end_step(&mut self.arena, metric, self.step_size);
        let energy = kinetic - found.log_density();
        let gain = if energy.is_nan() { f64::NEG_INFINITY } else { self.initial_energy - energy };
        let accepted = gain > log_threshold();
        match self.longer {
            None => self.longer = Some(accepted),
            Some(longer) if longer != accepted => return Ok(Some(self.step_size)),
            Some(longer) => self.step_size *= if longer { 2.0 } else { 0.5 },
        }
        if self.step_size > LONGEST {
            return Err(SearchFailure::TooLong);
        }
        if self.step_size == 0.0 {
            return Err(SearchFailure::TooShort);
        }
        self.begin_try(metric, state);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A response α(ε) = exp(−ε) has the mean acceptance probability δ at ε = −log δ; noise of ±0.05 alternates.
    #[test]
    fn dual_averaging_reaches_delta() {
        for delta in [0.6, 0.8, 0.95] {
            let mut averaging = DualAveraging::new(Averaging { delta, ..Averaging::default() }, f_log(10.0));
            let mut step: f64 = 1.0;
            for t in 0..2000 {
                let noise = if t % 2 == 0 { 0.05 } else { -0.05 };
                step = averaging.learn(((-step).exp() + noise).clamp(0.0, 1.0));
            }
            let average = averaging.average().unwrap();
            assert!(((-average).exp() - delta).abs() < 0.02, "{delta}: {average}");
        }
    }

    /// The first two iterations by hand.
    #[test]
    fn dual_averaging_follows_its_formulas() {
        let mut averaging = DualAveraging::new(Averaging::default(), 1.0);
        assert!(averaging.average().is_none());
        let h1: f64 = (0.8 - 0.5) / 11.0;
        let x1 = 1.0 - h1 / 0.05;
        assert!((averaging.learn(0.5).ln() - x1).abs() < 1e-14);
        let h2 = (1.0 - 1.0 / 12.0) * h1 + (0.8 - 1.0) / 12.0;
        let x2 = 1.0 - 2.0_f64.sqrt() / 0.05 * h2;
        assert!((averaging.learn(7.0).ln() - x2).abs() < 1e-14, "above 1 is 1");
        let w = 2.0_f64.powf(-0.75);
        assert!((averaging.average().unwrap().ln() - (w * x2 + (1.0 - w) * x1)).abs() < 1e-14);
        averaging.restart(0.0);
        assert!(averaging.average().is_none());
    }

    /// Runs the search on −½ Σ (x/s)², or on another density of the first coordinate.
    fn search(start: f64, log_density: impl Fn(f64) -> (f64, f64)) -> Result<f64, SearchFailure> {
        let at = |log_prior| Densities { log_prior, ..Densities::default() };
        let (log_prior, gradient) = log_density(0.5);
        let state = State { q: vec![0.5], gradient: vec![gradient], densities: at(log_prior) };
        let mut search = StepSizeSearch::new(1);
        search.begin(start, &Metric::Unit, &state, StreamKey::new(3, Purpose::TEST).stream());
        loop {
            let (log_prior, gradient) = log_density(search.position()[0]);
            search.gradient_mut()[0] = gradient;
            if let Some(step) = search.advance(&Metric::Unit, &state, at(log_prior))? {
                return Ok(step);
            }
        }
    }

    #[test]
    fn search_finds_the_scale() {
        for scale in [1e-4, 1.0, 1e4] {
            for start in [1e-3, 1.0, 1e3] {
                let step = search(start, |x| (-0.5 * (x / scale).powi(2), -x / (scale * scale))).unwrap();
                // A leapfrog step is unstable beyond 2 scales, and from 0.5 the narrow one is far up the wall.
                assert!((0.05..20.0).contains(&(step / scale)), "{step} for {scale}");
                assert!((step / start).log2().fract().abs() < 1e-12, "a power of 2 from the start");
            }
        }
    }

    #[test]
    fn search_fails_in_words() {
        assert_eq!(search(1.0, |_| (0.0, 0.0)), Err(SearchFailure::TooLong));
        let first = std::cell::Cell::new(true);
        let only_at_the_start = |_| (if first.replace(false) { 0.0 } else { f64::NEG_INFINITY }, 0.0);
        assert_eq!(search(1.0, only_at_the_start), Err(SearchFailure::TooShort));
    }
}
