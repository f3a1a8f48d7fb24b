//! Chains that move alike: by one kernel, with one step size and one preconditioner.

use super::funnel::Funnel;
use super::{Improver, Proposal, Settings, barker, chain_number, langevin, random_walk};
use crate::approximate::Error;
use crate::approximate::evaluate::{Evaluations, Points};
use crate::approximate::family::float;
use crate::approximate::scale::Scale;
use crate::target::Target;
use crate::vector::add_scaled;
use crust_math::random::StreamKey;

/// All of them between two iterations.
pub(super) struct Population {
    /// The number of the first chain.
    pub(super) first: usize,
    pub(super) dimension: usize,
    /// n × d.
    pub(super) x: Vec<f64>,
    /// n × d: ∇ log p, empty where no kernel looks at it.
    pub(super) slope: Vec<f64>,
    /// n × d: Sᵀ∇ log p, with respect to straight coordinates where there is a funnel.
    pub(super) gradient: Vec<f64>,
    pub(super) log_density: Vec<f64>,
    /// What straightens the posterior before S does the rest.
    pub(super) funnel: Option<Funnel>,
    /// S of the approximation, and as it is now.
    pub(super) original: Scale,
    pub(super) scale: Scale,
    /// The step size.
    pub(super) h: f64,
    pub(super) adapts: bool,
}

impl Population {
    pub(super) fn new<T: Target + Clone + Send>(
        evaluations: &mut Evaluations<'_, T>,
        mut starts: Points,
        first: usize,
        scale: &Scale,
        settings: &Settings,
    ) -> Result<Self, Error> {
        evaluations.evaluate(&mut starts, settings.kernel.needs_gradient())?;
        let Points { dimension, x, log_density, gradient: slope } = starts;
        let h = settings.kernel.first_step_size(dimension);
        let (original, scale) = (scale.clone(), scale.clone());
        let adapts = settings.adapts;
        let mut new = Self {
            first,
            dimension,
            x,
            slope,
            gradient: vec![],
            log_density,
            funnel: None,
            original,
            scale,
            h,
            adapts,
        };
        new.gradient = new.turned(&new.x, &new.slope);
        Ok(new)
    }

    pub(super) fn len(&self) -> usize {
        self.log_density.len()
    }

    pub(super) fn positions(&self) -> &[f64] {
        &self.x
    }

    /// Sᵀ g of each point x, g being the gradient of the log density with respect to straight coordinates.
    pub(super) fn turned(&self, x: &[f64], slopes: &[f64]) -> Vec<f64> {
        let points = x.chunks_exact(self.dimension).zip(slopes.chunks_exact(self.dimension));
        let one = |(x, g): (&[f64], &[f64])| match &self.funnel {
            None => self.scale.apply_transposed(g),
            Some(funnel) => {
                let mut g = g.to_vec();
                funnel.pull(x, &mut g);
                self.scale.apply_transposed(&g)
            }
        };
        points.flat_map(one).collect()
    }

    /// The positions of all chains in straight coordinates.
    pub(super) fn straight(&self) -> Vec<f64> {
        let mut all = self.x.clone();
        if let Some(funnel) = &self.funnel {
            all.chunks_exact_mut(self.dimension).for_each(|x| funnel.straighten(x));
        }
        all
    }

    /// The points x of straight coordinates.
    pub(super) fn bent(&self, straight: &[f64]) -> Points {
        let mut x = straight.to_vec();
        if let Some(funnel) = &self.funnel {
            x.chunks_exact_mut(self.dimension).for_each(|x| funnel.bend(x));
        }
        Points::new(self.dimension, x)
    }

    /// By how much the log density of a point in straight coordinates is above that of where a chain is.
    pub(super) fn log_ratio(&self, chain: usize, to: &Points) -> f64 {
        let volume = |x: &[f64]| self.funnel.as_ref().map_or(0.0, |funnel| funnel.log_determinant(x));
        let here = &self.x[chain * self.dimension..][..self.dimension];
        to.log_density[chain] - self.log_density[chain] + volume(to.point(chain)) - volume(here)
    }

    /// Takes the coordinates that another population suggests.
    pub(super) fn learn(&mut self, other: &Self) {
        let funnel = Funnel::learn(&other.x, self.dimension);
        if let Some(scale) = other.suggested_scale(funnel.as_ref()) {
            (self.funnel, self.scale) = (funnel, scale);
            self.gradient = self.turned(&self.x, &self.slope);
        }
    }

    /// One iteration; returns the mean acceptance probability.
    pub(super) fn step<T: Target + Clone + Send>(
        &mut self,
        evaluations: &mut Evaluations<'_, T>,
        kernel: Improver,
        key: StreamKey,
    ) -> Result<f64, Error> {
        match kernel {
            Improver::RandomWalk => self.propose(evaluations, &random_walk::RandomWalk, key, false),
            Improver::Mala => self.propose(evaluations, &langevin::Langevin, key, true),
            Improver::Barker => self.propose(evaluations, &barker::Barker, key, true),
            Improver::Hmc { most_steps } => self.hamiltonian(evaluations, most_steps, key),
        }
    }

    fn propose<T: Target + Clone + Send>(
        &mut self,
        evaluations: &mut Evaluations<'_, T>,
        proposal: &impl Proposal,
        key: StreamKey,
        with_gradient: bool,
    ) -> Result<f64, Error> {
        let (d, n, h) = (self.dimension, self.len(), self.h);
        let mut steps = vec![0.0; n * d];
        let mut uniforms = Vec::with_capacity(n);
        let mut straight = self.straight();
        for (chain, step) in steps.chunks_exact_mut(d).enumerate() {
            let mut stream = key.chain(chain_number(self.first + chain)).stream();
            uniforms.push(stream.uniform());
            proposal.propose(h, self.gradient(chain), &mut stream, step);
            add_scaled(&mut straight[chain * d..][..d], 1.0, &self.scale.apply(step));
        }
        let mut to = self.bent(&straight);
        evaluations.evaluate(&mut to, with_gradient)?;
        let gradient = self.turned(&to.x, &to.gradient);
        let mut total = 0.0;
        for (chain, step) in steps.chunks_exact(d).enumerate() {
            let g_to = gradient.get(chain * d..(chain + 1) * d).unwrap_or_default();
            let ratio = proposal.log_ratio(h, self.gradient(chain), step, g_to);
            let ratio = self.log_ratio(chain, &to) + ratio;
            total += self.decide(chain, ratio, uniforms[chain], &to, &gradient);
        }
        Ok(total / float(n))
    }

    /// Accepts with probability min(1, e^ratio), which is returned. Whoever starts at a point without density leaves it
    /// for any that has one.
    pub(super) fn decide(&mut self, chain: usize, log_ratio: f64, uniform: f64, to: &Points, gradient: &[f64]) -> f64 {
        let probability = if log_ratio.is_nan() { 0.0 } else { log_ratio.min(0.0).exp() };
        if uniform < probability {
            let at = chain * self.dimension..(chain + 1) * self.dimension;
            self.x[at.clone()].copy_from_slice(&to.x[at.clone()]);
            if !gradient.is_empty() {
                self.slope[at.clone()].copy_from_slice(&to.gradient[at.clone()]);
                self.gradient[at.clone()].copy_from_slice(&gradient[at]);
            }
            self.log_density[chain] = to.log_density[chain];
        }
        probability
    }

    /// Empty without gradients.
    fn gradient(&self, chain: usize) -> &[f64] {
        self.gradient.get(chain * self.dimension..(chain + 1) * self.dimension).unwrap_or_default()
    }
}
