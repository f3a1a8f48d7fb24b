//! A model that is small enough to sum over all of its states: cases in groups, with a Pólya urn as the prior.
//!
//! θ ~ Dirichlet(α, …, α), zᵢ ~ θ, and yᵢ has the likelihood `table[i][zᵢ]`. θ is integrated out of everything but the
//! variational approximation, the fit, and held-out cases, so that the zᵢ depend on each other.

use crust_infer::anneal::{Direction, Moved, System};
use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_math::special::{digamma, lgamma};

use crate::estimators::float;
use crate::model::{Constrained, Fit, Floor, HeldOut, Model, Proposal, Sequential, Transition, Variational};

#[derive(Clone, Debug)]
pub struct Urn {
    /// log p(yᵢ | zᵢ = k).
    pub table: Vec<Vec<f64>>,
    pub alpha: f64,
}

type State = Vec<usize>;

impl Urn {
    fn groups(&self) -> usize {
        self.table[0].len()
    }

    /// A table of N × K normal numbers.
    pub fn random(cases: usize, groups: usize, spread: f64, stream: &mut Stream) -> Self {
        let table = (0..cases).map(|_| (0..groups).map(|_| spread * stream.standard_normal()).collect()).collect();
        Self { table, alpha: 0.7 }
    }

    fn counts(&self, z: &[usize]) -> Vec<f64> {
        let mut counts = vec![0.0; self.groups()];
        z.iter().for_each(|&k| counts[k] += 1.0);
        counts
    }

    fn log_prior(&self, z: &[usize]) -> f64 {
        let total = self.alpha * float(self.groups());
        let each: f64 = self.counts(z).iter().map(|c| lgamma(c + self.alpha) - lgamma(self.alpha)).sum();
        each + lgamma(total) - lgamma(total + float(z.len()))
    }

    /// All states, as numbers to the base K.
    pub fn states(&self) -> Vec<State> {
        let (n, k) = (self.table.len(), self.groups());
        let digits = |s: usize| (0..n).scan(s, |s, _| Some(std::mem::replace(s, *s / k) % k)).collect();
        (0..k.pow(u32::try_from(n).unwrap())).map(digits).collect()
    }

    pub fn log_evidence(&mut self) -> f64 {
        let joints: Vec<f64> = self.states().iter().map(|z| self.log_joint(z, 1.0).unwrap()).collect();
        let top = joints.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        top + joints.iter().map(|j| (j - top).exp()).sum::<f64>().ln()
    }

    /// The posterior, of which draws are exact.
    pub fn posterior(&mut self) -> Posterior {
        let states = self.states();
        let log_joints = states.iter().map(|z| self.log_joint(z, 1.0).unwrap()).collect();
        Posterior { states, log_joints }
    }

    /// log p(zᵢ = k | the others) + β log likelihood, up to a constant.
    pub(super) fn conditional(&self, z: &[usize], i: usize, beta: f64) -> Vec<f64> {
        let mut counts = self.counts(z);
        counts[z[i]] -= 1.0;
        counts.iter().zip(&self.table[i]).map(|(c, l)| (c + self.alpha).ln() + beta * l).collect()
    }

    /// log p(zₙ₊₁ = k | z), up to a constant.
    pub(super) fn log_shares(&self, z: &[usize]) -> Vec<f64> {
        self.counts(z).iter().map(|c| (c + self.alpha).ln()).collect()
    }

    /// What the group of the next case is drawn from, up to a constant.
    pub(super) fn log_proposal(&self, z: &[usize], proposal: Proposal) -> Vec<f64> {
        let share = if proposal == Proposal::Posterior { 1.0 } else { 0.0 };
        self.log_shares(z).iter().zip(&self.table[z.len()]).map(|(p, l)| p + share * l).collect()
    }

    fn sweep(&self, z: &mut State, beta: f64, order: impl Iterator<Item = usize>, stream: &mut Stream) {
        for i in order {
            z[i] = stream.categorical_log(&self.conditional(z, i, beta)).unwrap();
        }
    }
}

pub struct Posterior {
    states: Vec<State>,
    log_joints: Vec<f64>,
}

impl Posterior {
    pub fn draw(&self, stream: &mut Stream) -> State {
        self.states[stream.categorical_log(&self.log_joints).unwrap()].clone()
    }
}

fn normalised(logs: &[f64], k: usize) -> f64 {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs[k] - top - logs.iter().map(|l| (l - top).exp()).sum::<f64>().ln()
}

const GIBBS: Moved = Moved { accept: 1.0, evaluations: 1 };

impl System for Urn {
    type State = State;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<State, Fatal> {
        let mut z = vec![];
        for _ in 0..self.table.len() {
            z.push(stream.categorical_log(&self.log_shares(&z)).map_err(Fatal::new)?);
        }
        Ok(z)
    }

    fn log_ratio(&mut self, z: &State, from: f64, to: f64) -> Result<f64, Fatal> {
        Ok((to - from) * z.iter().zip(&self.table).map(|(&k, row)| row[k]).sum::<f64>())
    }

    fn step(&mut self, z: &mut State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.sweep(z, beta, 0..z.len(), stream);
        Ok(GIBBS)
    }

    fn step_reversed(&mut self, z: &mut State, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.sweep(z, beta, (0..z.len()).rev(), stream);
        Ok(GIBBS)
    }
}

impl Model for Urn {
    fn log_joint(&mut self, z: &State, beta: f64) -> Result<f64, Fatal> {
        Ok(self.log_prior(z) + self.log_ratio(z, 0.0, beta)?)
    }

    fn cases(&self) -> usize {
        self.table.len()
    }
}

impl Transition for Urn {
    fn log_transition(&mut self, from: &State, to: &State, beta: f64, direction: Direction) -> Result<f64, Fatal> {
        let mut z = from.clone();
        let mut order: Vec<usize> = (0..z.len()).collect();
        if direction == Direction::Reverse {
            order.reverse();
        }
        let mut log = 0.0;
        for i in order {
            log += normalised(&self.conditional(&z, i, beta), to[i]);
            z[i] = to[i];
        }
        Ok(log)
    }
}

impl Sequential for Urn {
    type Particle = State;

    fn begin(&mut self, _: &mut Stream) -> Result<State, Fatal> {
        Ok(vec![])
    }

    fn extend(&mut self, z: &mut State, proposal: Proposal, stream: &mut Stream) -> Result<f64, Fatal> {
        z.push(stream.categorical_log(&self.log_proposal(z, proposal)).unwrap());
        let mut whole = z.clone();
        self.retract(&mut whole, proposal)
    }

    fn retract(&mut self, z: &mut State, proposal: Proposal) -> Result<f64, Fatal> {
        let last = z.pop().unwrap();
        let total = float(z.len()) + self.alpha * float(self.groups());
        let row = &self.table[z.len()];
        Ok(match proposal {
            Proposal::Prior => row[last],
            Proposal::Posterior => {
                self.counts(z).iter().zip(row).map(|(c, l)| (c + self.alpha) / total * l.exp()).sum::<f64>().ln()
            }
        })
    }

    fn refresh(&mut self, z: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        self.sweep(z, 1.0, 0..z.len(), stream);
        Ok(())
    }

    fn refresh_reversed(&mut self, z: &mut State, stream: &mut Stream) -> Result<(), Fatal> {
        self.sweep(z, 1.0, (0..z.len()).rev(), stream);
        Ok(())
    }

    fn particle(&mut self, z: &State) -> Result<State, Fatal> {
        Ok(z.clone())
    }
}

impl Constrained for Urn {
    fn step_constrained(&mut self, z: &mut State, floor: &Floor, stream: &mut Stream) -> Result<f64, Fatal> {
        for i in 0..z.len() {
            let mut logs = self.conditional(z, i, 0.0);
            for (k, log) in logs.iter_mut().enumerate() {
                z[i] = k;
                *log += floor.share(self.log_likelihood(z)?).ln();
            }
            z[i] = stream.categorical_log(&logs).unwrap();
        }
        self.log_likelihood(z)
    }
}

impl Variational for Urn {
    /// qᵢ(k), one row for each case.
    type Factors = Vec<Vec<f64>>;

    fn initial_factors(&mut self, stream: &mut Stream) -> Result<Self::Factors, Fatal> {
        let row = |_: &Vec<f64>| {
            let mut q = vec![0.0; self.groups()];
            stream.dirichlet(&vec![1.0; q.len()], &mut q).unwrap();
            q
        };
        Ok(self.table.iter().map(row).collect())
    }

    fn update(&mut self, q: &mut Self::Factors) -> Result<(), Fatal> {
        let shapes = self.shapes(q);
        for (q, row) in q.iter_mut().zip(&self.table) {
            let logs: Vec<f64> = shapes.iter().zip(row).map(|(a, l)| digamma(*a) + l).collect();
            (0..q.len()).for_each(|k| q[k] = normalised(&logs, k).exp());
        }
        Ok(())
    }

    /// With the optimal q(θ), which is Dirichlet(α + Σ qᵢ): ℱ = log B(α + Σ qᵢ) − log B(α) + Σ qᵢ (log likelihood − log
    /// qᵢ).
    fn bound(&mut self, q: &Self::Factors) -> Result<f64, Fatal> {
        let log_b = |shapes: &[f64]| shapes.iter().map(|a| lgamma(*a)).sum::<f64>() - lgamma(shapes.iter().sum());
        let terms = q.iter().flatten().zip(self.table.iter().flatten());
        let data: f64 = terms.map(|(q, l)| if *q > 0.0 { q * (l - q.ln()) } else { 0.0 }).sum();
        Ok(log_b(&self.shapes(q)) - log_b(&vec![self.alpha; self.groups()]) + data)
    }

    fn log_symmetries(&self) -> f64 {
        lgamma(1.0 + float(self.groups()))
    }
}

impl Urn {
    fn shapes(&self, q: &[Vec<f64>]) -> Vec<f64> {
        (0..self.groups()).map(|k| self.alpha + q.iter().map(|q| q[k]).sum::<f64>()).collect()
    }
}

impl Fit for Urn {
    fn maximum_log_likelihood(&mut self, stream: &mut Stream) -> Result<f64, Fatal> {
        let mut theta = vec![0.0; self.groups()];
        stream.dirichlet(&vec![1.0; theta.len()], &mut theta).unwrap();
        let mut total = 0.0;
        for _ in 0..2000 {
            let mut counts = vec![0.0; theta.len()];
            total = 0.0;
            for row in &self.table {
                let each: Vec<f64> = theta.iter().zip(row).map(|(t, l)| t * l.exp()).collect();
                let sum: f64 = each.iter().sum();
                total += sum.ln();
                counts.iter_mut().zip(&each).for_each(|(c, e)| *c += e / sum);
            }
            theta.iter_mut().zip(&counts).for_each(|(t, c)| *t = c / float(self.table.len()));
        }
        Ok(total)
    }

    fn free_parameters(&self) -> usize {
        self.groups() - 1
    }
}

impl HeldOut for Urn {
    type Parameters = Vec<f64>;
    /// One case alone, whose urn has had so many draws that its shares are θ.
    type Case = Choice;

    fn parameters(&mut self, z: &State, stream: &mut Stream) -> Result<Vec<f64>, Fatal> {
        let shapes: Vec<f64> = self.counts(z).iter().map(|c| c + self.alpha).collect();
        let mut theta = vec![0.0; shapes.len()];
        stream.dirichlet(&shapes, &mut theta).map_err(Fatal::new)?;
        Ok(theta)
    }

    fn case(&self, theta: &Vec<f64>, y: &[f64]) -> Choice {
        Choice { log_prior: theta.iter().map(|t| t.ln()).collect(), log_likelihood: y.to_vec() }
    }

    fn log_held_out(&mut self, theta: &Vec<f64>, y: &[f64]) -> Result<Option<f64>, Fatal> {
        Ok(Some(theta.iter().zip(y).map(|(t, l)| t * l.exp()).sum::<f64>().ln()))
    }
}

/// One variable with a few values.
#[derive(Clone, Debug)]
pub struct Choice {
    log_prior: Vec<f64>,
    log_likelihood: Vec<f64>,
}

impl System for Choice {
    type State = usize;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<usize, Fatal> {
        stream.categorical_log(&self.log_prior).map_err(Fatal::new)
    }

    fn log_ratio(&mut self, k: &usize, from: f64, to: f64) -> Result<f64, Fatal> {
        Ok((to - from) * self.log_likelihood[*k])
    }

    fn step(&mut self, k: &mut usize, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        let logs: Vec<f64> = self.log_prior.iter().zip(&self.log_likelihood).map(|(p, l)| p + beta * l).collect();
        *k = stream.categorical_log(&logs).map_err(Fatal::new)?;
        Ok(GIBBS)
    }

    fn step_reversed(&mut self, k: &mut usize, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.step(k, beta, stream)
    }
}

impl Model for Choice {
    fn log_joint(&mut self, k: &usize, beta: f64) -> Result<f64, Fatal> {
        Ok(self.log_prior[*k] + beta * self.log_likelihood[*k])
    }

    fn cases(&self) -> usize {
        1
    }
}
