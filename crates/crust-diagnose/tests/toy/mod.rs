//! y ~ normal(0, σ) with σ ~ exponential(1), on u = log σ: the marginal likelihood is an integral over one number.

use crust_diagnose::bread::Fitted;
use crust_diagnose::experiment::{Densities, Experiment, Group, Moves, REAL, Work};
use crust_diagnose::result::{Fit, KernelAt};
use crust_math::random::{Purpose, Stream, StreamKey};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::convert::Infallible;

pub struct Toy {
    pub seed: u64,
    pub observations: usize,
    /// Planted mistake: simulated data have this times the scale that they should have.
    pub noise: f64,
    /// Planted mistake: without it, transitions leave a density invariant that lacks the Jacobian.
    pub jacobian: bool,
    /// Metropolis steps in a transition.
    pub moves: usize,
    /// How many times the run may ask before it is interrupted.
    pub patience: Option<usize>,
    pub asked: Cell<usize>,
    /// Planted mistake: the fit is off by this.
    pub fit_offset: f64,
    /// In place of annealing, all chains are within a tenth of a nat; but with fewer distributions than this, those
    /// forward on the datasets of the confirmation are 50 nats worse.
    pub unconfirmed_below: Option<usize>,
    pub data: BTreeMap<u32, Vec<f64>>,
    pub fixed: Option<f64>,
}

fn number(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::NAN, f64::from)
}

impl Toy {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            observations: 10,
            noise: 1.0,
            jacobian: true,
            moves: 5,
            patience: None,
            asked: Cell::new(0),
            fit_offset: 0.0,
            unconfirmed_below: None,
            data: BTreeMap::new(),
            fixed: None,
        }
    }

    fn key(&self, purpose: Purpose, dataset: u32) -> StreamKey {
        StreamKey::new(self.seed, purpose).dataset(dataset)
    }

    fn data(&mut self, dataset: u32) -> Vec<f64> {
        if dataset == REAL && !self.data.contains_key(&REAL) {
            let mut stream = self.key(Purpose::DATA, 1000).stream();
            let y = (0..self.observations).map(|_| 1.5 * stream.standard_normal()).collect();
            self.data.insert(REAL, y);
        }
        self.data.get(&dataset).cloned().unwrap_or_default()
    }

    fn densities_at(y: &[f64], u: f64) -> Densities {
        let sigma = u.exp();
        let term = |y: &f64| -0.5 * (y / sigma).powi(2) - u - 0.5 * std::f64::consts::TAU.ln();
        Densities { log_prior: u - sigma, log_likelihood: y.iter().map(term).sum() }
    }

    /// By the trapezoidal rule, which is exact to many digits for smooth functions that vanish at both ends.
    pub fn log_marginal_likelihood(&mut self, dataset: u32) -> f64 {
        let y = self.data(dataset);
        let grid: Vec<f64> = (0..=20_000).map(|i| -15.0 + 0.001 * f64::from(i)).collect();
        let log = |u: &f64| {
            let d = Self::densities_at(&y, *u);
            d.log_prior + d.log_likelihood
        };
        let values: Vec<f64> = grid.iter().map(log).collect();
        let top = values.iter().copied().fold(f64::MIN, f64::max);
        top + (0.001 * values.iter().map(|v| (v - top).exp()).sum::<f64>()).ln()
    }

    fn transition(&self, y: &[f64], mut u: f64, beta: f64, stream: &mut Stream) -> f64 {
        let log = |u: f64| {
            let d = Self::densities_at(y, u);
            d.log_prior + beta * d.log_likelihood - if self.jacobian { 0.0 } else { u }
        };
        for _ in 0..self.moves {
            let proposal = u + 0.7 * stream.standard_normal();
            if stream.uniform().ln() < log(proposal) - log(u) {
                u = proposal;
            }
        }
        u
    }

    fn draw_prior(stream: &mut Stream) -> f64 {
        (-stream.uniform().ln()).ln()
    }

    fn chain(&self, y: &[f64], group: Group, k: u32, start: Option<f64>) -> Work {
        let purpose = if start.is_some() { Purpose::REVERSE } else { Purpose::FORWARD };
        let mut stream = self.key(purpose, group.dataset).chain(k).step(group.t as u64).stream();
        let last = group.t - 1;
        let beta = |t: usize| number(t) / number(last);
        let likelihood = |u: f64| Self::densities_at(y, u).log_likelihood;
        let mut log_weight = 0.0;
        if let Some(mut u) = start {
            for t in (1..=last).rev() {
                u = self.transition(y, u, beta(t), &mut stream);
                log_weight += (beta(t - 1) - beta(t)) * likelihood(u);
            }
        } else {
            let mut u = Self::draw_prior(&mut stream);
            for t in 1..=last {
                log_weight += (beta(t) - beta(t - 1)) * likelihood(u);
                u = self.transition(y, u, beta(t), &mut stream);
            }
        }
        if let Some(least) = self.unconfirmed_below {
            let worse = group.dataset >= 1_000_000 && group.t < least && start.is_none();
            log_weight = 0.1 * stream.uniform() - if worse { 50.0 } else { 0.0 };
        }
        let evaluations = (self.moves * group.t) as u64;
        Work { log_weight, accept: 0.5, evaluations, divergences: 0, rejected: false }
    }
}

impl Experiment for Toy {
    type Error = Infallible;
    type Kernels = ();
    type State = Vec<f64>;

    fn interrupted(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.patience.is_some_and(|patience| self.asked.get() > 4 * (patience + 1))
    }

    fn simulate(&mut self, dataset: u32) -> Result<Vec<f64>, Infallible> {
        let mut stream = self.key(Purpose::DATA, dataset).stream();
        let drawn = Self::draw_prior(&mut stream);
        let u = self.fixed.unwrap_or(drawn);
        let y = (0..self.observations).map(|_| self.noise * u.exp() * stream.standard_normal()).collect();
        self.data.insert(dataset, y);
        Ok(vec![u])
    }

    fn tune(&mut self, _dataset: u32) -> Result<(), Infallible> {
        Ok(())
    }

    fn table(&self, (): &()) -> Vec<KernelAt> {
        vec![]
    }

    fn forward(&mut self, (): &(), group: Group) -> Result<Vec<Work>, Infallible> {
        let y = self.data(group.dataset);
        let chains = u32::try_from(group.chains).unwrap_or(0);
        Ok((group.first..group.first + chains).map(|k| self.chain(&y, group, k, None)).collect())
    }

    fn reverse(&mut self, (): &(), group: Group, starts: &[Vec<f64>]) -> Result<Vec<Work>, Infallible> {
        let y = self.data(group.dataset);
        Ok((group.first..).zip(starts).map(|(k, start)| self.chain(&y, group, k, Some(start[0]))).collect())
    }

    fn equilibrate(
        &mut self,
        (): &(),
        dataset: u32,
        starts: &[Vec<f64>],
        steps: usize,
        moves: Moves,
    ) -> Result<Vec<Vec<f64>>, Infallible> {
        let y = self.data(dataset);
        let key = self.key(Purpose::KERNEL, dataset).step(moves as u64);
        let run = |(k, start): (u32, &Vec<f64>)| {
            let mut stream = key.chain(k).stream();
            vec![(0..steps).fold(start[0], |u, _| self.transition(&y, u, 1.0, &mut stream))]
        };
        Ok((0..).zip(starts).map(run).collect())
    }

    fn densities(&mut self, dataset: u32, points: &[Vec<f64>]) -> Result<Vec<Densities>, Infallible> {
        let y = self.data(dataset);
        Ok(points.iter().map(|point| Self::densities_at(&y, point[0])).collect())
    }

    fn coordinates(&self, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }
}

impl Fitted for Toy {
    type Hyperparameters = f64;

    fn fit(&mut self) -> Result<(Fit, f64), Infallible> {
        let y = self.data(REAL);
        let square = y.iter().map(|y| y * y).sum::<f64>() / number(y.len());
        let fit = Fit { chains: 4, draws: 1000, worst_r_hat: 1.0, least_ess: 4000.0, ..Fit::default() };
        Ok((fit, 0.5 * square.ln() + self.fit_offset))
    }

    fn fix(&mut self, hyperparameters: &f64) {
        self.fixed = Some(*hyperparameters);
    }
}
