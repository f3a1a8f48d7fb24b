//! Draws at every distribution of a path, and three ways to use them: thermodynamic integration, stepping stones, bridges.

use crust_diagnose::sandwich::lower_bound;
use crust_infer::anneal::Schedule;
use crust_math::random::StreamKey;

use super::{Error, Estimator, Kind, Knob, Problem, at_least, from_both_sides, mean};
use crate::model::Model;

/// How the log ratio of two neighbouring normalisers follows from Δ = log f′(x) − log f(x) at draws of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathMethod {
    /// The mean of Δ over the draws of both neighbours: the trapezoidal rule for ∫ E[d log `f_β`/dβ] dβ (Gelman and Meng 1998). E[Δ] is
    /// below log Z′/Z at the one and above at the other.
    Thermodynamic,
    /// log of the mean of e^Δ over the draws of the first (Xie et al. 2011).
    SteppingStone,
    /// The optimal bridge between the two (Meng and Wong 1996), which is Bennett's acceptance ratio.
    Bridge,
}

/// One chain that visits the distributions one after the other, and stays at each for a while.
#[derive(Clone, Copy, Debug)]
pub struct PathSampling {
    pub method: PathMethod,
    pub distributions: usize,
    /// Draws at each distribution.
    pub sweeps: usize,
}

/// Δ to the next distribution and from the previous one, at the draws of one.
struct Visit {
    up: Vec<f64>,
    down: Vec<f64>,
}

impl PathSampling {
    fn visit<M: Model>(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<Vec<Visit>, Error> {
        let schedule = Schedule::sigmoid(self.distributions, 4.0)?;
        let betas = schedule.betas();
        let mut model = problem.model.clone();
        let mut stream = key.stream();
        let mut state = model.draw_initial(&mut stream)?;
        let mut visits = Vec::with_capacity(betas.len());
        for (t, &beta) in betas.iter().enumerate() {
            let mut visit = Visit { up: vec![], down: vec![] };
            for _ in 0..self.sweeps {
                problem.tick()?;
                if t == 0 {
                    // Exact draws are as cheap as moves.
                    state = model.draw_initial(&mut stream)?;
                } else {
                    model.step(&mut state, beta, &mut stream)?;
                    visit.down.push(model.log_ratio(&state, betas[t - 1], beta)?);
                }
                if let Some(&next) = betas.get(t + 1) {
                    visit.up.push(model.log_ratio(&state, beta, next)?);
                }
            }
            visits.push(visit);
        }
        Ok(visits)
    }
}

impl<M: Model> Estimator<M> for PathSampling {
    fn name(&self) -> &'static str {
        match self.method {
            PathMethod::Thermodynamic => "TI",
            PathMethod::SteppingStone => "stepping stone",
            PathMethod::Bridge => "bridge",
        }
    }

    /// Draws of one distribution are the start of the next: no expectation is known.
    fn kind(&self) -> Kind {
        Kind::NoGuarantee
    }

    fn knob(&self) -> Knob {
        Knob::new("distributions", self.distributions)
    }

    fn estimate(&self, problem: &Problem<'_, M>, key: StreamKey) -> Result<f64, Error> {
        at_least("path sampling", "draws at each distribution", 1, self.sweeps)?;
        let visits = self.visit(problem, key)?;
        let pairs = visits.windows(2).map(|two| (&two[0].up[..], &two[1].down[..]));
        Ok(match self.method {
            PathMethod::Thermodynamic => pairs.map(|(up, down)| f64::midpoint(mean(up), mean(down))).sum(),
            PathMethod::SteppingStone => pairs.map(|(up, _)| lower_bound(up)).sum(),
            PathMethod::Bridge => pairs.map(|(up, down)| from_both_sides(up, down)).sum(),
        })
    }
}
