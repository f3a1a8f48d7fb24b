//! Particle learning with the features integrated out (BDMC, Eqs. 21–22): the sum over the bits of a new case is exact
//! up to 14 attributes. Beyond, bits are proposed one after the other, those that are still to come being at their
//! prior means.

use std::f64::consts::TAU;

use crust_infer::anneal::Direction;
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_math::special::log1p_exp;
use pxfm::{f_log, f_log1p};

use super::super::Scan;
use super::enumerate::{self, LARGEST, Quadratic, bits};
use super::{BinaryAttributes, Hyper, State};
use crate::grid::float;
use crate::model::{Proposal, Sequential};
use crate::models::rows::{add_scaled, vectorised};

/// p(y | z, earlier cases) as a function of the bits z of the next case.
struct Predictive {
    variance: Quadratic,
    error: Quadratic,
    noise: f64,
    dimensions: f64,
}

impl Predictive {
    /// −½ (D log 2πσ_n² + D log(1 + q/σ_n²) + |y − zμ|²/(σ_n² + q)).
    fn log(&self, q: f64, error: f64) -> f64 {
        let variance = self.noise + q;
        -0.5 * (self.dimensions * f_log(TAU * variance) + error / variance)
    }

    fn at(&self, z: &[f64]) -> f64 {
        self.log(self.variance.at(z), self.error.at(z))
    }

    /// log p(z, y | earlier cases) for all settings of the bits.
    fn everywhere(&self, hyper: &Hyper) -> Vec<f64> {
        let k = hyper.probabilities.len();
        let zeros: f64 = hyper.probabilities.iter().map(|p| f_log1p(-p)).sum();
        let mut variances = self.variance.everywhere();
        variances.iter_mut().for_each(|q| *q += self.noise);
        let mut logs = variances.clone();
        crust_math::lanes::log_in_place(&mut logs);
        let constant = zeros - 0.5 * self.dimensions * f_log(TAU);
        let (errors, priors) = (self.error.everywhere(), enumerate::linear(&hyper.log_odds[..k]));
        for (((log, variance), error), prior) in logs.iter_mut().zip(&variances).zip(&errors).zip(&priors) {
            *log = constant + prior - 0.5 * (self.dimensions * *log + error / variance);
        }
        logs
    }

    /// Bits one after the other, chosen by `choose` given their log odds; returns log p(y, z | …) − log q(z).
    fn guided(&self, hyper: &Hyper, z: &mut [f64], mut choose: impl FnMut(usize, f64) -> bool) -> f64 {
        let mut tentative = hyper.probabilities.clone();
        let mut log_factor = 0.0;
        for k in 0..z.len() {
            tentative[k] = 1.0;
            let one = self.at(&tentative);
            tentative[k] = 0.0;
            let log_odds = hyper.log_odds[k] + one - self.at(&tentative);
            let bit = choose(k, log_odds);
            let p = hyper.probabilities[k];
            log_factor += if bit { f_log(p) } else { f_log1p(-p) } + log1p_exp(if bit { -log_odds } else { log_odds });
            tentative[k] = f64::from(u8::from(bit));
            z[k] = tentative[k];
        }
        log_factor + self.at(z)
    }
}

impl BinaryAttributes {
    fn predictive(&mut self, state: &State) -> Predictive {
        let Hyper { features, noise, .. } = state.hyper;
        let posterior = &mut self.scratch.posterior;
        let (y, dimensions) = (self.data.row(state.z.rows()), float(self.data.columns()));
        vectorised(|| {
            posterior.solve(&state.gram, &state.cross, features, 1.0 / noise);
            let variance = Quadratic::variance(&posterior.covariance);
            Predictive { variance, error: Quadratic::error(y, &posterior.mean), noise, dimensions }
        })
    }

    /// Adds (sign 1) or takes away (sign −1) the bits of a case.
    fn count(&self, state: &mut State, case: usize, z: &[f64], sign: f64) {
        for (k, &bit) in z.iter().enumerate() {
            if bit > 0.0 {
                add_scaled(&mut state.gram.row_mut(k)[..z.len()], sign, z);
                add_scaled(state.cross.row_mut(k), sign, self.data.row(case));
            }
        }
    }
}

impl Sequential for BinaryAttributes {
    type Particle = State;

    fn begin(&mut self, stream: &mut Stream) -> Result<State, Fatal> {
        let hyper = Hyper::draw(&self.prior, stream)?;
        Ok(self.state(super::Rows::zeros(0, self.prior.components), hyper))
    }

    fn extend(&mut self, particle: &mut State, proposal: Proposal, stream: &mut Stream) -> Result<f64, Fatal> {
        let (case, k) = (particle.z.rows(), self.prior.components);
        if case == self.data.rows() {
            return Err(Fatal::new("a particle with all cases has none to take in"));
        }
        let predictive = self.predictive(particle);
        let mut z = vec![0.0; k];
        let log_factor = match proposal {
            Proposal::Prior => {
                let p = &particle.hyper.probabilities;
                z.iter_mut().zip(p).for_each(|(z, p)| *z = f64::from(u8::from(stream.uniform() < *p)));
                predictive.at(&z)
            }
            Proposal::Posterior if k <= LARGEST => {
                let mut weights = predictive.everywhere(&particle.hyper);
                let (log_total, total) = enumerate::softmax(&mut weights);
                let mut rest = stream.uniform() * total;
                let chosen = weights.iter().position(|w| {
                    rest -= w;
                    rest < 0.0
                });
                z.iter_mut().zip(bits(chosen.unwrap_or(weights.len() - 1), k)).for_each(|(z, bit)| *z = bit);
                log_total
            }
            Proposal::Posterior => {
                let draw = |_: usize, log_odds: f64| log1p_exp(-log_odds) < -f_log(stream.uniform());
                predictive.guided(&particle.hyper, &mut z, draw)
            }
        };
        particle.z.resize(case + 1);
        particle.z.row_mut(case)[..k].copy_from_slice(&z);
        self.count(particle, case, &z, 1.0);
        Ok(log_factor)
    }

    fn retract(&mut self, particle: &mut State, proposal: Proposal) -> Result<f64, Fatal> {
        let Some(case) = particle.z.rows().checked_sub(1) else {
            return Err(Fatal::new("a particle without cases has none to give up"));
        };
        let k = self.prior.components;
        let mut z = particle.z.row(case)[..k].to_vec();
        particle.z.resize(case);
        self.count(particle, case, &z, -1.0);
        let predictive = self.predictive(particle);
        Ok(match proposal {
            Proposal::Prior => predictive.at(&z),
            Proposal::Posterior if k <= LARGEST => enumerate::softmax(&mut predictive.everywhere(&particle.hyper)).0,
            Proposal::Posterior => {
                let known = z.clone();
                predictive.guided(&particle.hyper, &mut z, |k, _| known[k] > 0.0)
            }
        })
    }

    fn refresh(&mut self, particle: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        self.scan(particle, 1.0, Direction::Forward, stream).map(|_| ())
    }

    fn refresh_reversed(&mut self, particle: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        self.scan(particle, 1.0, Direction::Reverse, stream).map(|_| ())
    }

    fn particle(&mut self, state: &State) -> Result<State, Fatal> {
        Ok(state.clone())
    }
}
