//! Whether the way from a reference goes through a damped density, and which one.
//!
//! B is finite only if ℓ = log f − log q has a mean under q. The tails of q are chosen so that it has one along each
//! coordinate; where coordinates act together (a volatility e^(s z) with log s and z unbounded) it may have none, and
//! then the lowest of draws shows it.

use super::StanExperiment;
use crate::error::Trouble;
use crate::session::Message;
use crust_diagnose::sandwich::mean_limit;
use crust_infer::drive::Driver;
use crust_infer::path::{Damping, FirstDistribution, Fitted};
use crust_infer::target::Target;
use crust_math::random::StreamKey;

/// Draws of q that are looked at.
const DRAWS: u32 = 1000;
/// From this shape on values have no variance, and a few of a hundred chains decide what their mean is.
const HEAVY: f64 = 0.5;
/// Losses that differ by no more than this, in nats, are those of a q that fits: their tail says nothing about their mean,
/// since also what has all moments (z³ of a normal z) looks heavy in a thousand draws.
const NEAR: f64 = 5.0;
/// k: under q e^g the tail of ℓ falls with the k-th power at least, so that ℓ has a mean that 100 chains can tell.
const POWER: f64 = 4.0;
/// c is at least so many times k, so that g rises at most half as fast as ℓ: q e^g is between q and f.
const WIDTHS: f64 = 2.0;

impl StanExperiment<'_> {
    /// The shape of the lower tail of ℓ under q, if it is so heavy that the path has to be damped.
    pub(super) fn heavy_tail<T: Target + Clone + Send>(
        &self,
        target: T,
        q: &Fitted,
        key: StreamKey,
    ) -> Result<Option<f64>, Trouble> {
        // no chain has draws of this number
        let draws: Vec<Vec<f64>> = (0..DRAWS).map(|k| q.draw(&mut key.step(u64::MAX).chain(k).stream())).collect();
        let losses: Vec<f64> = self.log_ratios(target, q, &draws)?.iter().map(|ratio| -ratio).collect();
        let shape = mean_limit(&losses).khat;
        Ok((shape > HEAVY && reach(losses) > NEAR).then_some(shape))
    }

    /// ℓ* is the greatest ℓ of draws of the posterior, and c their distance from it.
    pub(super) fn damping_of<T: Target + Clone + Send>(
        &self,
        target: T,
        q: &Fitted,
        chains: &[Vec<Vec<f64>>],
    ) -> Result<Damping, Trouble> {
        let mut ratios = self.log_ratios(target, q, &chains.concat())?;
        ratios.retain(|ratio| ratio.is_finite());
        ratios.sort_by(f64::total_cmp);
        let top = ratios.last().copied().unwrap_or(0.0);
        let median = ratios.get(ratios.len() / 2).copied().unwrap_or(0.0);
        Ok(Damping { top, scale: (top - median).max(WIDTHS * POWER), power: POWER })
    }

    /// Says why.
    pub(super) fn tell_damped(&self, shape: f64) {
        let how = if shape.is_finite() { format!("k-hat {shape:.1}") } else { "it is zero at some draws".to_owned() };
        let text = format!(
            "the density falls so steeply beside the posterior that its logarithm may have no mean under the reference \
             ({how}): the path goes through a damped density first"
        );
        self.settings.observer.message(&Message::Note(&text));
    }

    fn log_ratios<T: Target + Clone + Send>(
        &self,
        target: T,
        q: &Fitted,
        points: &[Vec<f64>],
    ) -> Result<Vec<f64>, Trouble> {
        let mut driver = Driver::new(target, self.settings.how);
        let found = driver.evaluate_points(points, 1.0, false, &self.settings.control)?;
        let ratio = |(at, x): (&crust_infer::drive::Evaluated, &Vec<f64>)| {
            at.densities.log_density() - q.log_density(x, &mut [])
        };
        Ok(found.iter().zip(points).map(ratio).collect())
    }
}

/// How far the largest loss is above the median.
fn reach(mut losses: Vec<f64>) -> f64 {
    losses.sort_by(f64::total_cmp);
    let median = losses.get(losses.len() / 2).copied().unwrap_or(0.0);
    // where f is 0 at some draws, it is infinite
    losses.last().map_or(0.0, |most| if most.is_finite() { most - median } else { f64::INFINITY })
}
