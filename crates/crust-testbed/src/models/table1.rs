//! BDMC, Table 1: data of each model under each model, hyperparameters being integrated out.
//!
//! Data are simulated with the fixed hyperparameters of each model's `Setting::paper`; all three models then see them
//! with the same standard priors on their hyperparameters. The truth is no draw from that posterior, so there is no
//! upper bound: every entry is the stochastic lower bound of forward annealing.

use crust_infer::anneal::{Direction, Launch, Schedule, System, anneal_system, draw_initial};
use crust_infer::drive::{Control, Parallelism};
use crust_infer::error::Error;
use crust_infer::target::Fatal;
use crust_math::random::{Purpose, StreamKey};

use super::binary::{self, BinaryAttributes};
use super::clustering::{self, Clustering};
use super::conditional::{Beta, InverseGamma};
use super::hyper::{Probabilities, Variance, Weights};
use super::low_rank::{self, LowRank};
use super::rows::Rows;
use crate::model::Simulate;

/// One of the three models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Clustering,
    LowRank,
    Binary,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Clustering, Self::LowRank, Self::Binary];

    pub fn name(self) -> &'static str {
        match self {
            Self::Clustering => "clustering",
            Self::LowRank => "low rank",
            Self::Binary => "binary",
        }
    }

    /// Which dataset this is among those of all models, for keys of random numbers.
    fn number(self, dataset: u32) -> u32 {
        3 * dataset + self as u32
    }
}

/// The prior of every variance: broad, and proper.
const VARIANCE: Variance = Variance::Unknown(InverseGamma { shape: 1.0, scale: 1.0 });

/// Data of a model with its fixed hyperparameters, of the sizes of section 6.4.
pub fn simulate(kind: Kind, dataset: u32, seed: u64) -> Result<Rows, Fatal> {
    let mut stream = StreamKey::new(seed, Purpose::DATA).dataset(kind.number(dataset)).stream();
    Ok(match kind {
        Kind::Clustering => Clustering::simulate(&clustering::Setting::paper(), &mut stream)?.0.data().clone(),
        Kind::LowRank => LowRank::simulate(&low_rank::Setting::paper(), &mut stream)?.0.data().clone(),
        Kind::Binary => BinaryAttributes::simulate(&binary::Setting::paper(), &mut stream)?.0.data().clone(),
    })
}

/// What annealing is done with.
#[derive(Clone, Copy, Debug)]
pub struct Effort<'a> {
    /// T, on the paper's sigmoid schedule.
    pub distributions: usize,
    pub chains: u32,
    pub seed: u64,
    pub how: Parallelism,
    pub control: &'a Control,
}

/// Log weights of forward chains through a model with priors on its hyperparameters. The log of their mean is a
/// stochastic lower bound on the log marginal likelihood.
pub fn log_weights(model: Kind, data: &Rows, of: Kind, dataset: u32, effort: &Effort<'_>) -> Result<Vec<f64>, Error> {
    // The same numbers for no two cells of the table.
    let key = StreamKey::new(effort.seed, Purpose::FORWARD).dataset(3 * of.number(dataset) + model as u32);
    let bad = |e: super::hyper::BadModel| Error::from(Fatal::new(e));
    match model {
        Kind::Clustering => {
            let components = clustering::Setting::paper().prior.components;
            let weights = Weights::Unknown { concentration: 1.0 };
            let prior = clustering::Prior { components, weights, between: VARIANCE, within: VARIANCE };
            anneal(&Clustering::new(data.clone(), prior).map_err(bad)?, key, effort)
        }
        Kind::LowRank => {
            let components = low_rank::Setting::paper().prior.components;
            let prior = low_rank::Prior { components, rows: VARIANCE, columns: VARIANCE, noise: VARIANCE };
            anneal(&LowRank::new(data.clone(), prior).map_err(bad)?, key, effort)
        }
        Kind::Binary => {
            let components = binary::Setting::paper().prior.components;
            let probabilities = Probabilities::Unknown(Beta { a: 1.0, b: 1.0 });
            let prior = binary::Prior { components, probabilities, features: VARIANCE, noise: VARIANCE };
            anneal(&BinaryAttributes::new(data.clone(), prior).map_err(bad)?, key, effort)
        }
    }
}

fn anneal<S: System + Clone + Send>(model: &S, key: StreamKey, effort: &Effort<'_>) -> Result<Vec<f64>, Error> {
    let schedule = Schedule::sigmoid(effort.distributions, 4.0).map_err(Fatal::new)?;
    let starts = draw_initial(&mut model.clone(), effort.chains, 0, key.purpose(Purpose::PRIOR))?;
    let run = Launch { direction: Direction::Forward, first_chain: 0, key, how: effort.how, control: effort.control };
    Ok(anneal_system(model, &schedule, &starts, &run)?.into_iter().map(|outcome| outcome.log_weight).collect())
}
