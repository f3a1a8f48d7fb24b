//! Whether the likelihood is a density of the outcome: summed or integrated over it, the same for all parameters.

use crust_stan::joint::Role;

use super::points::Points;
use super::{Misreading, Normalisers, ProveError, Prover};
use crate::simulate::SimulateError;

/// At how many points it is computed.
const POINTS: usize = 6;

/// How exactly sums and integrals are known: of all together, and of each number.
const TOLERANCE: (f64, f64) = (1e-5, 1e-6);

/// The sum of probabilities is 1. A factor that is the same for all parameters can be missing in a density, but is no
/// mistake that people make with probabilities: some of the integers say what the others are about.
const NOT_ONE: &str = "added up over all its values it is the same for all parameters, but not 1: some of them say what the others \
                       are about, as who plays whom or an index, and cannot be drawn";

/// Why nothing can be said of what is not drawn.
const UNSEEN: &str = "a part of the likelihood does not look at it but weighs parameters, as censored observations do";

fn spread(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least
}

impl Prover<'_> {
    /// Sums the likelihood up, or integrates it, at some points.
    pub(super) fn check_normaliser(&mut self, points: &Points) -> Result<(), ProveError> {
        let (mut seen, mut seen_only): (Vec<(usize, f64)>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut endless = None;
        for (i, point) in points.all.iter().enumerate() {
            let Some(found) = self.simulator.log_normaliser(point) else { return Ok(()) };
            match found {
                Ok(x) if x.log.is_finite() => {
                    seen.push((i, x.log));
                    seen_only.push(x.log - x.rest);
                }
                Ok(_) | Err(SimulateError::Rejected(_)) => {}
                // A recursion that explodes at some parameters has no digits left there.
                Err(error @ SimulateError::Endless) => endless = Some(error),
                Err(error) => return Err(error.into()),
            }
            if seen.len() == POINTS {
                break;
            }
        }
        if let Some(error) = endless.filter(|_| seen.is_empty()) {
            return Err(error.into());
        }
        let least = seen.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = seen.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let (Some(least), Some(most)) = (least, most) else { return Ok(()) };
        let size = self.simulator.outcome_size();
        #[allow(clippy::cast_precision_loss, reason = "sizes are small")]
        let tolerance = TOLERANCE.0 + TOLERANCE.1 * size as f64 + self.options.slack;
        if most.1 - least.1 > tolerance {
            let joint = self.simulator.joint();
            // What looks at the outcome is a density of it: something else weighs parameters, which is no mistake.
            let unseen = spread(&seen_only) <= tolerance;
            let why = unseen.then_some(UNSEEN).or_else(|| self.simulator.doubt());
            if let Some(why) = why {
                return Err(self.no_density(why).into());
            }
            let span = joint.factors.iter().find(|f| f.role == Role::Likelihood && !f.shape.is_readable());
            let span = span.map(|f| f.span);
            let outcomes = joint.outcome_names().into_iter().collect();
            let at = [least, most].map(|(i, _)| self.describe(&points.all[i]));
            let log = [least.1, most.1];
            return Err(Misreading::NotNormalised(Box::new(Normalisers { outcomes, span, size, log, at })).into());
        }
        let is_one = |log: &f64| log.abs() <= tolerance;
        let some_one = seen.iter().map(|s| &s.1).chain(&seen_only).any(is_one);
        if self.simulator.draws_integers() && !some_one {
            return Err(self.no_density(NOT_ONE).into());
        }
        self.proof.normaliser = Some((seen.len(), seen.first().map_or(f64::NAN, |s| s.1)));
        self.proof.log_likelihood_integral = seen.first().map(|s| s.1);
        Ok(())
    }

    fn no_density(&self, why: &str) -> SimulateError {
        let names = self.simulator.joint().outcome_names();
        let name = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        SimulateError::NoDensity { name, why: why.to_owned() }
    }
}
