//! Where the parameters behind simulated data come from, and the posterior that a method is judged on.
//!
//! From the *prior*, θ* is an exact draw of p(θ | y′). *Conditionally*, θ* is a draw of p(θ | y) for the real data y, and
//! an exact draw of p(θ | y, y′) if the fit to y is right (posterior SBC; Säilynoja, Schmitt, Bürkner and Vehtari 2025):
//! datasets are like the real one, and the prior may be flat or vague.

use super::trial::{Trouble, nuts};
use crate::error::Faults;
use crate::experiment::Whole;
use crate::generative::Generative;
use crate::session::Session;
use crate::target::{Evaluation, StanTarget};
use crust_diagnose::result::SbcFit;
use crust_engine::{Model, Simulator};
use crust_infer::conditioned::Conditioned;
use crust_infer::drive::Driver;
use crust_math::random::{Purpose, StreamKey};
use std::sync::Arc;

/// Warm-up of the fit to the real data, and draws of a chain: more of them until they are worth as many independent ones
/// as there are datasets. Places of draws that depend on each other are not uniform together.
const WARMUP: usize = 1000;
const FEWEST_DRAWS: usize = 1000;
const MOST_DRAWS: usize = 16_000;

pub enum Origin<'a> {
    Prior,
    /// The posterior of the real data, and a draw of it for each dataset.
    Conditional {
        real: Box<StanTarget<'a>>,
        truths: Vec<Vec<f64>>,
    },
}

impl<'a> Origin<'a> {
    /// Fits the real data.
    pub fn fitted(
        loaded: &'a Generative<'a>,
        datasets: usize,
        (session, faults): (&Session<'_>, &Faults),
    ) -> Result<(Self, SbcFit), Trouble> {
        let model = Arc::new(loaded.bind(&loaded.data, session.seed)?);
        let real = target(loaded, &model, faults);
        let mut driver = Driver::new(real.clone(), session.parallelism());
        let (names, key) = (model.unconstrained_names(), StreamKey::new(session.seed, Purpose::FIT));
        let mut draws = FEWEST_DRAWS;
        let (drawn, fit) = loop {
            let drawn = nuts(&mut driver, key, (WARMUP, draws), session.stop.control())?;
            let fit = drawn.fit(&names);
            if fit.is_worth(datasets) || draws >= MOST_DRAWS {
                break (drawn, fit);
            }
            draws *= 4;
        };
        let points = drawn.points();
        let truths = (0..datasets).map(|i| points[(2 * i + 1) * points.len() / (2 * datasets)].clone()).collect();
        Ok((Self::Conditional { real: Box::new(real), truths }, fit))
    }

    /// The parameters behind a dataset.
    pub fn parameters(&self, simulator: &mut Simulator, number: usize, key: StreamKey) -> Result<Vec<f64>, Trouble> {
        match self {
            Self::Prior => Ok(simulator.draw_parameters(None, key)?),
            Self::Conditional { truths, .. } => Ok(truths[number].clone()),
        }
    }

    /// What those parameters are an exact draw of.
    pub fn posterior(&self, loaded: &'a Generative<'a>, model: &Arc<Model>, faults: &Faults) -> Whole<'a> {
        let other = target(loaded, model, faults);
        match self {
            Self::Prior => Whole::One(other),
            Self::Conditional { real, truths } => {
                let differs = !real.clone().states_prior_of(&mut other.clone(), &truths[..truths.len().min(4)]);
                Whole::Both(Box::new(Conditioned::new((**real).clone(), other, differs)))
            }
        }
    }
}

fn target<'a>(loaded: &'a Generative<'a>, model: &Arc<Model>, faults: &Faults) -> StanTarget<'a> {
    let evaluation = Evaluation::of(model, super::trial::CHAINS as usize);
    StanTarget::path(model, loaded.program().text(), evaluation).reporting_to(faults)
}
