//! Sequential Monte Carlo along the geometric path, with temperatures that a pilot run finds.

use crust_diagnose::sandwich::log_mean_exp;
use crust_math::random::StreamKey;

use super::smc::{RESAMPLER, streams};
use super::weights::{Resampling, effective_size, take};
use super::{Error, Estimator, Kind, Knob, Problem, at_least, float};
use crate::model::Model;

/// Tempered SMC. A first population rises as far at each step as keeps a share of its effective number; a second one, which the
/// estimate is from, uses the temperatures of the first. Temperatures that depend on the particles they weigh would bias the
/// estimate; these do not, so it is a stochastic lower bound.
#[derive(Clone, Copy, Debug)]
pub struct TemperedSmc {
    pub particles: usize,
    /// Transitions at each temperature.
    pub sweeps: usize,
    /// The share of the effective number that a step keeps.
    pub efficiency: f64,
}

/// The smallest rise of β relative to the way that is left, so that the number of temperatures is bounded.
const LEAST_RISE: f64 = 1e-4;

/// Where the next β comes from.
enum Temperatures<'a> {
    Adaptive,
    Frozen(std::slice::Iter<'a, f64>),
}

impl TemperedSmc {
    fn population<M: Model>(
        &self,
        problem: &Problem<'_, M>,
        mut temperatures: Temperatures<'_>,
        key: StreamKey,
    ) -> Result<(f64, Vec<f64>), Error> {
        let mut model = problem.model.clone();
        let mut streams = streams(key, self.particles);
        let mut resampler = key.chain(RESAMPLER).stream();
        let mut particles = Vec::with_capacity(self.particles);
        for stream in &mut streams {
            particles.push(model.draw_initial(stream)?);
        }
        let (mut log_z, mut beta, mut visited) = (0.0, 0.0, vec![]);
        while beta < 1.0 {
            let next = match &mut temperatures {
                Temperatures::Adaptive => self.next(&mut model, &particles, beta)?,
                Temperatures::Frozen(betas) => betas.next().copied().unwrap_or(1.0),
            };
            let log_weights = ratios(&mut model, &particles, beta, next)?;
            log_z += log_mean_exp(&log_weights);
            particles = take(particles, &Resampling::Systematic.choose(&log_weights, &mut resampler));
            beta = next;
            visited.push(beta);
            if beta < 1.0 {
                for (particle, stream) in particles.iter_mut().zip(&mut streams) {
                    for _ in 0..self.sweeps {
                        problem.tick()?;
                        model.step(particle, beta, stream)?;
                    }
                }
            }
        }
        Ok((log_z, visited))
    }

    /// The largest β whose weights keep the efficiency, by bisection.
    fn next<M: Model>(&self, model: &mut M, particles: &[M::State], beta: f64) -> Result<f64, Error> {
        let enough = self.efficiency * float(self.particles);
        let mut reaches =
            |to: f64| -> Result<bool, Error> { Ok(effective_size(&ratios(model, particles, beta, to)?) >= enough) };
        if reaches(1.0)? {
            return Ok(1.0);
        }
        // In the logarithm of the rise: the first one may be by 10⁻³, the last ones by 10⁻¹.
        let (mut low, mut high) = (LEAST_RISE.ln(), 0.0);
        let at = |log_share: f64| beta + (1.0 - beta) * log_share.exp();
        for _ in 0..12 {
            let middle = f64::midpoint(low, high);
            if reaches(at(middle))? { low = middle } else { high = middle }
        }
        Ok(at(low))
    }
}

fn ratios<M: Model>(model: &mut M, particles: &[M::State], from: f64, to: f64) -> Result<Vec<f64>, Error> {
    let ratio = |state: &M::State| model.log_ratio(state, from, to).map_err(Error::from);
    particles.iter().map(ratio).collect()
}

impl<M: Model> Estimator<M> for TemperedSmc {
    fn name(&self) -> &'static str {
        "tempered SMC"
    }

    fn kind(&self) -> Kind {
        Kind::StochasticLowerBound
    }

    fn knob(&self) -> Knob {
        Knob::new("sweeps", self.sweeps)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("tempered SMC", "particles", 2, self.particles)?;
        let (_, betas) = self.population(problem, Temperatures::Adaptive, key.step(1))?;
        let (log_z, _) = self.population(problem, Temperatures::Frozen(betas.iter()), key.step(2))?;
        Ok(log_z)
    }
}
