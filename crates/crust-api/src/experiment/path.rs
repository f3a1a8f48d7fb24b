//! The path of a dataset: from a distribution that can be drawn from to the posterior.

use super::StanExperiment;
use super::fit::{self, Effort};
use crate::annealing::PathChoice;
use crate::error::Trouble;
use crate::subset::{Cut, SubsetTarget, Subsets};
use crate::target::{Evaluation, StanTarget};
use crust_diagnose::experiment::REAL;
use crust_infer::drive::Driver;
use crust_infer::path::{AnyPath, Damped, Damping, Fitted, Reference, sides, tail_points};
use crust_math::random::Purpose;
use std::sync::Arc;

/// Iterations of the NUTS chains that a reference is fitted to. They know nothing of the chains that count.
const WARMUP: usize = 300;
const DRAWS: usize = 250;
/// k of the damped likelihood.
const POWER: f64 = 2.0;

impl<'a> StanExperiment<'a> {
    /// The path that is annealed along.
    pub(super) fn path(&mut self, dataset: u32) -> Result<AnyPath<'a>, Trouble> {
        match self.settings.path.clone() {
            PathChoice::Reference if self.settings.simulation.rests_on_fit() => self.conditional_path(dataset),
            PathChoice::Prior => Ok(AnyPath::new(self.many(dataset)?)),
            PathChoice::Reference => {
                let chains = self.pilot_draws(dataset)?;
                let first = self.fit_reference(&chains, dataset)?;
                // Draws from the prior are normalised by themselves; its density has to be.
                let integral = self.loaded.log_prior_integral.unwrap_or(0.0);
                let target = self.many(dataset)?.with_prior_integral(integral);
                let damping = match self.heavy_tail(target.clone(), &first, self.key(Purpose::PRIOR, dataset))? {
                    None => None,
                    Some(_) => Some(self.damping_of(target.clone(), &first, &chains)?),
                };
                Ok(AnyPath::new(Reference::new(target, first).through(damping)))
            }
            PathChoice::Damped => {
                let damping = self.damping(dataset)?;
                Ok(AnyPath::new(Damped::new(self.many(dataset)?, damping)))
            }
            PathChoice::Data(name) => self.subset_path(dataset, &name),
        }
    }

    /// The posterior for many chains at once.
    pub(super) fn many(&self, dataset: u32) -> Result<StanTarget<'a>, Trouble> {
        self.posterior(dataset, Evaluation::of_many(self.model(dataset)?))
    }

    /// Draws of short NUTS chains, one list for each chain.
    fn pilot_draws(&self, dataset: u32) -> Result<Vec<Vec<Vec<f64>>>, Trouble> {
        let evaluation = Evaluation::of(self.model(dataset)?, fit::CHAINS as usize);
        let target = self.posterior(dataset, evaluation)?;
        let chains = fit::draw(target, self.key(Purpose::FIT, dataset), Effort::new(WARMUP, DRAWS), &self.settings)?;
        Ok(chains.into_iter().map(|chain| chain.points).collect())
    }

    /// q, fitted to draws of a posterior, with tails as the density has them.
    pub(super) fn fit_reference(&self, chains: &[Vec<Vec<f64>>], dataset: u32) -> Result<Fitted, Trouble> {
        let (centre, deviation) = centre(chains);
        let mut driver = Driver::new(self.many(dataset)?, self.settings.how);
        let points = tail_points(&centre, &deviation);
        let found = driver.evaluate_points(&points, 1.0, false, &self.settings.control)?;
        let densities: Vec<f64> = found.iter().map(|at| at.densities.log_density()).collect();
        Ok(Fitted::fit(chains, &sides(&densities))?)
    }

    /// The constants of the damped likelihood: ℓ* is the greatest log likelihood of draws, c their distance from it.
    fn damping(&self, dataset: u32) -> Result<Damping, Trouble> {
        let draws = self.pilot_draws(dataset)?.concat();
        let mut driver = Driver::new(self.many(dataset)?, self.settings.how);
        let found = driver.evaluate_points(&draws, 1.0, false, &self.settings.control)?;
        let mut values: Vec<f64> = found.iter().map(|at| at.densities.log_likelihood).collect();
        values.sort_by(f64::total_cmp);
        let top = values.last().copied().unwrap_or(0.0);
        let median = values.get(values.len() / 2).copied().unwrap_or(0.0);
        Ok(Damping { top, scale: (top - median).max(1.0), power: POWER })
    }

    /// Observations are added one at a time.
    fn subset_path(&mut self, dataset: u32, name: &str) -> Result<AnyPath<'a>, Trouble> {
        let subsets = match &self.subsets {
            Some((number, subsets)) if *number == dataset => Arc::clone(subsets),
            _ => {
                let data = if dataset == REAL { self.loaded.data.clone() } else { self.draw(dataset)?.1 };
                let witness =
                    self.prior.draw_parameters(None, self.key(Purpose::PRIOR, dataset).chain(u32::MAX - 1))?;
                let cannot = |error| Trouble::Path { counter: name.to_owned(), error };
                let cut = Cut::along(self.program(), name).map_err(cannot)?;
                let model = self.model(dataset)?;
                let how = (self.settings.seed, Evaluation::of_many(model));
                let subsets = Subsets::new((self.loaded, cut), data, model, witness, how, &self.settings.faults);
                Arc::new(subsets.map_err(cannot)?)
            }
        };
        self.subsets = Some((dataset, Arc::clone(&subsets)));
        Ok(AnyPath::new(SubsetTarget::new(&subsets, &self.loaded.scales)))
    }
}

/// Mean and standard deviation of each coordinate over all chains.
pub(crate) fn centre(chains: &[Vec<Vec<f64>>]) -> (Vec<f64>, Vec<f64>) {
    let all: Vec<&Vec<f64>> = chains.iter().flatten().collect();
    let dimension = all.first().map_or(0, |x| x.len());
    let column = |i: usize| -> Vec<f64> { all.iter().map(|x| x[i]).collect() };
    (0..dimension)
        .map(|i| {
            let values = column(i);
            (crust_diagnose::convergence::mean(&values), crust_diagnose::convergence::sd(&values))
        })
        .unzip()
}
