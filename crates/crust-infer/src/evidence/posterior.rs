//! Draws of the posterior by many short chains of the No-U-Turn sampler, which share one kernel once it is tuned.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crust_math::random::Purpose;
use pxfm::{f_exp, f_log};

use super::{Particle, Shared, float};
use crate::drive::Driver;
use crate::error::Error;
use crate::kernel::{Densities, Kernel};
use crate::metric::Metric;
use crate::sample::{Draw, KernelSource, Observer, SEVERAL, Settings, Start, sample};
use crate::target::Target;
use crate::warmup::Warmup;

/// How the posterior is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explorer {
    /// At least 2: that they differ by no more than they vary is how an error is told.
    pub chains: u32,
    /// Iterations in which each chain tunes a kernel of its own.
    pub warmup: usize,
    /// Draws of each chain in the first round; as many as there are already in each further one.
    pub draws: usize,
}

/// Draws so far.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The draws of each chain, in order.
    pub chains: Vec<Vec<Particle>>,
    pub divergences: usize,
    pub evaluations: u64,
    kernel: Kernel,
    rounds: u32,
}

/// Purposes of rounds: warm-up is the first.
fn purpose(round: u32) -> Purpose {
    Purpose(Purpose::FIRST_FREE.0 + 0x100 + round)
}

/// Tunes kernels from random starting points, pools them, and makes the first draws.
pub fn explore<T: Target + Clone + Send>(
    target: &T,
    explorer: Explorer,
    run: &Shared<'_>,
) -> Result<Exploration, Error> {
    if explorer.chains < 2 || explorer.draws < 2 {
        let (name, value) =
            ("the number of chains and of draws", format!("{} and {}", explorer.chains, explorer.draws));
        return Err(Error::Setting { name, value, must_be: "at least 2" });
    }
    let settings = Settings {
        warmup: explorer.warmup,
        draws: 0,
        kernel: KernelSource::Warmup(Warmup::default()),
        candidates: SEVERAL,
        ..Settings::new(run.key.purpose(purpose(0)))
    };
    let starts: Vec<Start> = (0..explorer.chains).map(Start::random).collect();
    let recorder = Recorder::new(0);
    let outcomes = sample(&mut Driver::new(target.clone(), run.how), &settings, &starts, &recorder, run.control)?;
    run.check_interrupt()?;
    let kernels: Vec<&Kernel> = outcomes.iter().map(|outcome| &outcome.kernel).collect();
    let mut exploration = Exploration {
        chains: outcomes.iter().map(|outcome| vec![particle(&outcome.state)]).collect(),
        divergences: 0,
        evaluations: outcomes.iter().map(|outcome| outcome.evaluations).sum(),
        kernel: pool(&kernels, target.dimension()),
        rounds: 0,
    };
    exploration.go_on(target, explorer.draws, run)?;
    // The end of warm-up is where draws start from, and none of them.
    exploration.chains.iter_mut().for_each(|chain| drop(chain.remove(0)));
    Ok(exploration)
}

impl Exploration {
    /// Draws of each chain.
    pub fn draws(&self) -> usize {
        self.chains.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// The log likelihoods of each chain's draws.
    pub fn log_likelihoods(&self) -> Vec<Vec<f64>> {
        self.chains.iter().map(|chain| chain.iter().map(|particle| particle.log_likelihood).collect()).collect()
    }

    /// More draws of each chain.
    pub fn go_on<T: Target + Clone + Send>(&mut self, target: &T, draws: usize, run: &Shared<'_>) -> Result<(), Error> {
        self.rounds += 1;
        let settings = Settings {
            warmup: 0,
            draws,
            kernel: KernelSource::Frozen(self.kernel.clone()),
            ..Settings::new(run.key.purpose(purpose(self.rounds)))
        };
        let last = |(chain, k): (&Vec<Particle>, u32)| Start::at(k, chain.last().map_or(&[], |p| &p.q));
        let starts: Vec<Start> = self.chains.iter().zip(0..).map(last).collect();
        let recorder = Recorder::new(starts.len());
        let outcomes = sample(&mut Driver::new(target.clone(), run.how), &settings, &starts, &recorder, run.control)?;
        run.check_interrupt()?;
        self.divergences += outcomes.iter().map(|outcome| outcome.divergences).sum::<usize>();
        self.evaluations += outcomes.iter().map(|outcome| outcome.evaluations).sum::<u64>();
        for (chain, new) in self.chains.iter_mut().zip(recorder.0) {
            chain.append(&mut new.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        Ok(())
    }
}

/// One kernel for all: the geometric means of step sizes and of variances.
fn pool(kernels: &[&Kernel], dimension: usize) -> Kernel {
    let n = float(kernels.len());
    let step_size = f_exp(kernels.iter().map(|kernel| f_log(kernel.step_size) / n).sum());
    let variance = |i: usize| {
        let log = |kernel: &&Kernel| kernel.metric.inverse().and_then(|v| v.get(i)).map_or(0.0, |v| f_log(*v));
        f_exp(kernels.iter().map(log).sum::<f64>() / n)
    };
    // A mean of positive and finite numbers is one.
    let metric = Metric::diagonal((0..dimension).map(variance).collect()).unwrap_or(Metric::Unit);
    Kernel { method: kernels[0].method, step_size, jitter: kernels[0].jitter, short: 0.0, metric }
}

fn particle(state: &crate::kernel::State) -> Particle {
    let Densities { log_prior, log_likelihood, .. } = state.densities;
    Particle { q: state.q.clone(), log_prior, log_likelihood }
}

/// The draws of each chain.
struct Recorder(Vec<Mutex<Vec<Particle>>>);

impl Recorder {
    fn new(chains: usize) -> Self {
        Self((0..chains).map(|_| Mutex::default()).collect())
    }
}

impl Observer for Recorder {
    fn draw(&self, draw: &Draw<'_>) -> ControlFlow<()> {
        if let (false, Some(chain)) = (draw.warmup, self.0.get(draw.chain as usize)) {
            chain.lock().unwrap_or_else(PoisonError::into_inner).push(particle(draw.state));
        }
        ControlFlow::Continue(())
    }
}
