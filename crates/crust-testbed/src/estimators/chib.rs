//! The estimator of Chib, as Murray and Salakhutdinov made it unbiased (section 5.2).

use crust_diagnose::sandwich::log_mean_exp;
use crust_infer::anneal::{Direction, Schedule};
use crust_math::random::{Stream, StreamKey};

use super::{Error, Estimator, Kind, Knob, Problem, at_least};
use crate::model::Transition;

/// p(Y) = p(x\*, Y) / p(x\* | Y) (Eq. 42), with the denominator estimated by the mean of 𝒯(x\* | xₛ) over a chain of S
/// states (Eq. 43).
///
/// The chain is made as in Murray and Salakhutdinov (2009): a place s in it is drawn uniformly, xₛ comes from the
/// reverse operator 𝒯̃(· | x\*) (Eq. 44), the states after it from 𝒯 and those before it from 𝒯̃. That chain has the
/// probability of a stationary one times the mean of 𝒯(x\* | xₛ)/p(x\* | Y), so the expectation of the reciprocal of
/// that mean is 1/p(x\* | Y), whatever x\* is. (With s always the first, as the BDMC paper's text may be read, that
/// would hold only for a chain of one state.)
#[derive(Clone, Copy, Debug)]
pub struct ChibMurraySalakhutdinov {
    /// S.
    pub transitions: usize,
    /// x\* is where an annealed chain of this length ends: a place of high probability, independent of what follows.
    pub pilot: usize,
}

impl ChibMurraySalakhutdinov {
    fn place<M: Transition>(&self, model: &mut M, stream: &mut Stream) -> Result<M::State, Error> {
        let mut state = model.draw_initial(stream)?;
        for beta in Schedule::linear(self.pilot)?.betas() {
            model.step(&mut state, *beta, stream)?;
        }
        Ok(state)
    }
}

impl<M: Transition> Estimator<M> for ChibMurraySalakhutdinov {
    fn name(&self) -> &'static str {
        "CMS"
    }

    fn kind(&self) -> Kind {
        Kind::StochasticLowerBound
    }

    fn knob(&self) -> Knob {
        Knob::new("transitions", self.transitions)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("the CMS estimator", "transitions", 1, self.transitions)?;
        let mut model = problem.model.clone();
        let place = self.place(&mut model, &mut key.step(1).stream())?;
        let mut stream = key.step(2).stream();
        let before = stream.index_below(self.transitions);
        let after = self.transitions - 1 - before;
        let mut middle = place.clone();
        model.step_reversed(&mut middle, 1.0, &mut stream)?;
        let mut log_transitions = vec![model.log_transition(&middle, &place, 1.0, Direction::Forward)?];
        for (direction, length) in [(Direction::Forward, after), (Direction::Reverse, before)] {
            let mut state = middle.clone();
            for _ in 0..length {
                problem.tick()?;
                match direction {
                    Direction::Forward => model.step(&mut state, 1.0, &mut stream)?,
                    Direction::Reverse => model.step_reversed(&mut state, 1.0, &mut stream)?,
                };
                log_transitions.push(model.log_transition(&state, &place, 1.0, Direction::Forward)?);
            }
        }
        Ok(model.log_joint(&place, 1.0)? - log_mean_exp(&log_transitions))
    }
}
