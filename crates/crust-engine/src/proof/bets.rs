//! Simulators without a known density: bets against them that nobody wins if they are right.
//!
//! If y ~ p(· | θ), then E[p(y | θ′) / p(y | θ)] ≤ 1 for every θ′, and p(y | θ) is only needed up to a factor that
//! depends on y. For θ′ near θ this is Stein's identity E[∂ log p / ∂u] = 0. Starting with 1 and betting a part λ on
//! such a ratio in every draw gives the wealth Π (1 − λ + λ ratio), whose mean is at most 1, and so is that of the mean
//! over many ways to bet. By Markov's inequality it exceeds 1/α with probability α at most, whatever the tails of the
//! ratios are.

use crust_math::random::Stream;

use super::points::Points;
use super::program::{ProgramValue, Target};
use super::{Misreading, Part, ProveError, Prover};
use crate::simulate::SimulateError;

/// The wealth that is believed: the rate of false alarms is at most one in this many.
const ENOUGH: f64 = 1e5;

/// How far the other point is away.
const STEPS: [f64; 5] = [1.0, 0.3, 0.1, 0.03, 0.01];

/// Which part of the wealth is put at stake.
const STAKES: [f64; 3] = [0.05, 0.3, 0.9];

/// What is paid for a draw that has no density: it never happens if the simulator is right, but rounding may do it now
/// and then.
const IMPOSSIBLE: f64 = 10.0;

/// How many coordinates are moved by themselves.
const ALONE: usize = 6;

/// How many directions move all coordinates.
const TOGETHER: usize = 2;

impl Prover<'_> {
    /// Bets against what draws the outcomes, or the parameters; those need one data set only.
    pub(super) fn bet(
        &mut self,
        part: Part,
        number: u32,
        first: Option<&mut Target>,
        points: &Points,
    ) -> Result<(), ProveError> {
        let mut first = first;
        let rules = (part, self.accuracy.solves);
        let mut directions = Vec::new();
        let mut log_wealth: Vec<f64> = Vec::new();
        for i in 0..number {
            // The mean ratio is at most 1 for every θ, so that parameters need not be drawn.
            let given = &points.all[..points.own];
            let given = given.get(i as usize % given.len().max(1)).filter(|_| self.simulator.joint().likelihood_only);
            let drawn = match given {
                Some(point) => Ok(point.clone()),
                None => self.simulator.draw_parameters(None, self.key(4).dataset(i)),
            };
            let point = match drawn {
                Ok(point) => point,
                Err(SimulateError::Rejected(_) | SimulateError::Unconstrain(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            if directions.is_empty() {
                directions = choose(point.len(), &mut self.key(6).stream());
            }
            let ratios = if let Some(target) = &mut first {
                ratios(target, &point, &directions, rules)?
            } else {
                let data = match self.simulator.draw_data(&point, self.key(5).dataset(i)) {
                    Ok(data) => data,
                    Err(SimulateError::Rejected(_)) => continue,
                    Err(error) => return Err(error.into()),
                };
                ratios(&mut Target::new(self.program, &data)?, &point, &directions, rules)?
            };
            if ratios.is_empty() {
                continue;
            }
            stake(&mut log_wealth, &ratios);
            let wealth = mean(&log_wealth);
            if wealth >= ENOUGH {
                self.proof.wealth = Some(wealth);
                return Err(Misreading::Supplied { part, span: self.span_of_outcome(part), wealth }.into());
            }
        }
        self.proof.wealth = Some(self.proof.wealth.unwrap_or(0.0).max(mean(&log_wealth)));
        Ok(())
    }

    fn span_of_outcome(&self, part: Part) -> Option<crust_stan::span::Span> {
        let joint = self.simulator.joint();
        let wanted = |f: &&crust_stan::joint::Factor| match part {
            Part::Prior => f.role == crust_stan::joint::Role::Prior,
            Part::Likelihood => f.role == crust_stan::joint::Role::Likelihood,
        };
        joint.factors.iter().find(wanted).map(|f| f.span)
    }
}

/// Directions in which parameters are moved: some coordinates alone, and all together with random signs.
fn choose(dimension: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let mut order: Vec<(f64, usize)> = (0..dimension).map(|i| (stream.uniform(), i)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut all: Vec<Vec<f64>> =
        order.iter().take(ALONE).map(|&(_, i)| (0..dimension).map(|k| f64::from(u8::from(k == i))).collect()).collect();
    if dimension > 1 {
        for _ in 0..TOGETHER {
            all.push((0..dimension).map(|_| if stream.uniform() < 0.5 { -1.0 } else { 1.0 }).collect());
        }
    }
    all
}

/// The ratios for every bet: forwards, backwards, and half of each; nothing where the draw itself says nothing. A point
/// that cannot be computed pays nothing, which only makes the bet worse.
fn ratios(
    target: &mut Target,
    point: &[f64],
    directions: &[Vec<f64>],
    (part, solves): (Part, bool),
) -> Result<Vec<f64>, ProveError> {
    let mut points = vec![point.to_vec()];
    for direction in directions {
        for step in STEPS {
            for sign in [1.0, -1.0] {
                points.push(point.iter().zip(direction).map(|(x, d)| x + sign * step * d).collect());
            }
        }
    }
    let values = match part {
        Part::Prior => target.on_free_scale(&points, part)?,
        Part::Likelihood => target.evaluate(&points, part)?,
    };
    let Some((own, others)) = values.split_first() else { return Ok(Vec::new()) };
    // A refusal of the prior is perhaps one of the likelihood, and one of a solver is none of the density.
    let silent = own.rejection.is_some() && (part == Part::Prior || solves);
    if silent || own.log_density.is_nan() || own.log_density == f64::INFINITY {
        return Ok(Vec::new());
    }
    let ratio = |other: &ProgramValue| {
        let log = other.log_density - own.log_density;
        if own.log_density == f64::NEG_INFINITY {
            IMPOSSIBLE
        } else if log.is_nan() {
            0.0
        } else {
            log.exp()
        }
    };
    Ok(others
        .chunks_exact(2)
        .flat_map(|pair| {
            let (up, down) = (ratio(&pair[0]), ratio(&pair[1]));
            [up, down, 0.5 * (up + down)]
        })
        .collect())
}

/// Puts every stake on every ratio.
fn stake(log_wealth: &mut Vec<f64>, ratios: &[f64]) {
    log_wealth.resize(ratios.len() * STAKES.len(), 0.0);
    let bets = ratios.iter().flat_map(|ratio| STAKES.map(|part| (part, *ratio)));
    for (wealth, (part, ratio)) in log_wealth.iter_mut().zip(bets) {
        *wealth += (part * (ratio - 1.0)).ln_1p();
    }
}

fn mean(log_wealth: &[f64]) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "bets are few")]
    let n = log_wealth.len().max(1) as f64;
    log_wealth.iter().map(|w| w.exp()).sum::<f64>() / n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    /// The wealth against `normal(0, scale)` for data that are taken for `normal(0, 1)`, with one location to move.
    fn wealth(seed: u64, scale: f64, shift: f64) -> f64 {
        let mut stream = StreamKey::new(seed, Purpose::TEST).stream();
        let mut log_wealth = Vec::new();
        for _ in 0..60 {
            let y: Vec<f64> = (0..10).map(|_| shift + scale * stream.standard_normal()).collect();
            let log = |mu: f64| -> f64 { y.iter().map(|y| -0.5 * (y - mu).powi(2)).sum() };
            let mut all = Vec::new();
            for step in STEPS {
                let (up, down) = ((log(step) - log(0.0)).exp(), (log(-step) - log(0.0)).exp());
                all.extend([up, down, 0.5 * (up + down)]);
            }
            stake(&mut log_wealth, &all);
        }
        mean(&log_wealth)
    }

    /// The mean wealth is 1, so that 2,000 runs exceed 1,000 about twice at most: five times has a probability below
    /// 0.06, ten times below 5e-5.
    #[test]
    fn a_right_simulator_wins_nothing() {
        let large = (0..2000).filter(|seed| wealth(*seed, 1.0, 0.0) > 1000.0).count();
        assert!(large < 10, "{large}");
    }

    #[test]
    fn wrong_simulators_lose() {
        for seed in 0..20 {
            assert!(wealth(seed, 2.0, 0.0) > ENOUGH, "scale");
            assert!(wealth(seed, 1.0, 0.5) > ENOUGH, "shift");
        }
    }
}
