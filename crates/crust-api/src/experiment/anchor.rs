//! What is kept of a fit, and what data are simulated with: hyperparameters, or draws.

use super::fit::Chain;
use super::{StanExperiment, TWIN};
use crate::error::Trouble;
use crate::target::{Evaluation, StanTarget};
use crust_diagnose::experiment::REAL;
use crust_diagnose::result::Simulation;
use crust_engine::Values;
use crust_infer::conditioned::Conditioned;
use crust_infer::path::{AnyPath, Fitted, Reference};
use crust_infer::target::Target;
use crust_math::random::Purpose;
use serde::{Deserialize, Serialize};

/// What is kept of a fit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Anchor {
    /// η.
    pub eta: Values,
    /// Draws that the reference distribution is fitted to, by chain: those of the first halves of the chains.
    pub reference: Vec<Vec<Vec<f64>>>,
    /// Draws that data are simulated with and that reverse chains begin with: those of the second halves.
    pub truths: Vec<Vec<f64>>,
}

/// Where all paths begin.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    first: Fitted,
    is_damped: bool,
}

/// Draws of all chains that a reference is fitted to …
const REFERENCE: usize = 1000;
/// … and fewer numbers than this.
const MOST_NUMBERS: usize = 400_000;
/// Draws that data are simulated with.
const TRUTHS: usize = 400;
/// Datasets from here on, those of the confirmation, take draws from the end of the list.
const FROM_THE_END: u32 = 1_000_000;

impl Anchor {
    /// From the draws of a fit. The halves of a chain are about independent, so that the reference knows nothing of the
    /// draws that chains begin with.
    pub fn new(eta: Values, chains: &[Chain]) -> Self {
        let dimension = chains.iter().find_map(|chain| chain.points.first()).map_or(1, Vec::len).max(1);
        let most = REFERENCE.min(MOST_NUMBERS / dimension).max(8);
        let each = |total: usize| total.div_ceil(chains.len().max(1));
        let halves = |chain: &Chain| chain.points.len() / 2;
        let reference = chains.iter().map(|chain| thinned(&chain.points[..halves(chain)], each(most))).collect();
        let of_chain = |chain: &Chain| thinned(&chain.points[halves(chain)..], each(TRUTHS.min(most)));
        let columns: Vec<Vec<Vec<f64>>> = chains.iter().map(of_chain).collect();
        // one of each chain after the other, so that the first few are of all chains
        let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
        let truths = (0..longest).flat_map(|i| columns.iter().filter_map(move |column| column.get(i).cloned()));
        Self { eta, reference, truths: truths.collect() }
    }

    /// θ* of a dataset.
    pub fn truth(&self, dataset: u32) -> Option<&Vec<f64>> {
        let n = self.truths.len();
        let place = |number: u32| number as usize % n.max(1);
        let index = match dataset {
            TWIN => 0,
            d if d >= FROM_THE_END => n.checked_sub(1 + place(d - FROM_THE_END))?,
            d => place(d.saturating_sub(1)),
        };
        self.truths.get(index)
    }
}

/// Some of the draws, at equal distances.
fn thinned(draws: &[Vec<f64>], most: usize) -> Vec<Vec<f64>> {
    let step = draws.len().div_ceil(most.max(1)).max(1);
    draws.iter().step_by(step).cloned().collect()
}

impl<'a> StanExperiment<'a> {
    /// The path from the reference, which was fitted to draws of the real data's posterior, to the posterior of the
    /// real data, and of another dataset as well unless it is that of the real data alone.
    pub(super) fn conditional_path(&mut self, dataset: u32) -> Result<AnyPath<'a>, Trouble> {
        let Shared { first, is_damped } = self.shared_reference()?;
        let real = self.real_posterior()?;
        if dataset == REAL || self.settings.simulation == Simulation::Nothing {
            return self.path_from(real, first, is_damped);
        }
        let evaluation = Evaluation::of_many(self.model(REAL)?);
        let other = self.posterior(dataset, evaluation)?.with_prior_integral(self.prior_integral());
        let differs = self.prior_differs(real.clone(), other.clone());
        self.path_from(Conditioned::new(real, other, differs), first, is_damped)
    }

    fn path_from<T: Target + Clone + Send + 'a>(
        &self,
        target: T,
        first: Fitted,
        is_damped: bool,
    ) -> Result<AnyPath<'a>, Trouble> {
        let draws = &self.anchor.reference;
        let damping = if is_damped { Some(self.damping_of(target.clone(), &first, draws)?) } else { None };
        Ok(AnyPath::new(Reference::new(target, first).through(damping)))
    }

    fn prior_integral(&self) -> f64 {
        self.loaded.log_prior_integral.unwrap_or(0.0)
    }

    fn real_posterior(&self) -> Result<StanTarget<'a>, Trouble> {
        Ok(self.many(REAL)?.with_prior_integral(self.prior_integral()))
    }

    /// Whether the prior looks at the outcomes.
    pub(super) fn prior_differs(&self, mut real: StanTarget<'a>, mut other: StanTarget<'a>) -> bool {
        let truths = &self.anchor.truths;
        !real.states_prior_of(&mut other, &truths[..truths.len().min(4)])
    }

    /// q, fitted once: all datasets share it, and whether their paths are damped, so that they can be compared.
    fn shared_reference(&mut self) -> Result<Shared, Trouble> {
        if let Some(shared) = &self.shared {
            return Ok(shared.clone());
        }
        let first = self.fit_reference(&self.anchor.reference, REAL)?;
        let heavy = self.heavy_tail(self.real_posterior()?, &first, self.key(Purpose::PRIOR, REAL))?;
        heavy.into_iter().for_each(|shape| self.tell_damped(shape));
        Ok(self.shared.insert(Shared { first, is_damped: heavy.is_some() }).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(number: usize) -> Chain {
        let points = (0..1000).map(|i| vec![f64::from(u32::try_from(10_000 * number + i).expect("small"))]).collect();
        Chain { points, ..Chain::default() }
    }

    /// No draw is in both halves, and datasets that are looked at together have draws of their own.
    #[test]
    fn draws_of_the_reference_are_no_truths() {
        let anchor = Anchor::new(Values::new(), &[chain(1), chain(2), chain(3), chain(4)]);
        assert_eq!((anchor.reference.len(), anchor.reference[0].len(), anchor.truths.len()), (4, 250, 400));
        assert!(anchor.reference.iter().flatten().all(|x| x[0] % 10_000.0 < 500.0));
        assert!(anchor.truths.iter().all(|x| x[0] % 10_000.0 >= 500.0));
        let of = |dataset: u32| anchor.truth(dataset).expect("a draw")[0];
        let mut all: Vec<f64> = (1..=100).chain(FROM_THE_END..FROM_THE_END + 10).map(of).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        assert_eq!(all.len(), 110);
        assert!(of(1) < 20_000.0 && of(2) >= 20_000.0, "chains take turns");
    }
}
