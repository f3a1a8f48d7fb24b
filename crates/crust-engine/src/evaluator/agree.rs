//! Whether lanes have the same bits alone and in groups.

use std::sync::Arc;

use super::{Batch, Evaluator, Terms};
use crate::flat::GROUP;
use crate::model::Model;

/// How many groups of points are compared. Where sums are taken in two orders, a point shows it more often than not.
const GROUPS: usize = 4;

/// Where more numbers are computed than this, one group shows it.
const MUCH: usize = 100_000;

/// Numbers between −1 and 1, of which only the repeatability matters.
fn scattered() -> impl FnMut() -> f64 {
    let mut state = 0.247_f64;
    move || {
        state = (state * 16_807.0).fract();
        2.0 * state - 1.0
    }
}

/// The numbers of a batch of points: log prior, log likelihood and gradient.
struct Found {
    log_prior: Vec<f64>,
    log_likelihood: Vec<f64>,
    gradient: Vec<f64>,
}

impl Found {
    fn of(evaluator: &mut Evaluator, points: &[f64], lanes: usize) -> Option<Self> {
        let [log_prior, log_likelihood] = [(); 2].map(|()| vec![0.0; lanes]);
        let mut found = Self { log_prior, log_likelihood, gradient: vec![0.0; points.len()] };
        let mut batch = Batch {
            lanes,
            points,
            beta: None,
            log_prior: &mut found.log_prior,
            log_likelihood: &mut found.log_likelihood,
            gradient: &mut found.gradient,
        };
        evaluator.evaluate(&mut batch, Terms { propto: true, jacobian: true }).ok()?;
        Some(found)
    }

    fn lane(&self, lane: usize) -> impl Iterator<Item = u64> {
        let lanes = self.log_prior.len();
        let gradient = self.gradient.iter().skip(lane).step_by(lanes);
        // Not every NaN is the same.
        gradient
            .chain([&self.log_prior[lane], &self.log_likelihood[lane]])
            .map(|x| if x.is_nan() { 0 } else { x.to_bits() })
    }
}

impl Model {
    /// Whether a lane has the same bits alone and in a group. That is tried at some points, and not known where
    /// evaluations fail.
    pub fn lanes_agree(self: &Arc<Self>) -> bool {
        *self.agree.get_or_init(|| self.compare_lanes().unwrap_or(false))
    }

    fn compare_lanes(self: &Arc<Self>) -> Option<bool> {
        let (dimension, mut next) = (self.dimension(), scattered());
        let [mut group, mut alone] = [GROUP, 1].map(|width| self.evaluator().with_width(width));
        for _ in 0..GROUPS {
            let points: Vec<f64> = (0..dimension * GROUP).map(|_| next()).collect();
            let together = Found::of(&mut group, &points, GROUP)?;
            for lane in 0..GROUP {
                let point: Vec<f64> = points.iter().skip(lane).step_by(GROUP).copied().collect();
                if !Found::of(&mut alone, &point, 1)?.lane(0).eq(together.lane(lane)) {
                    return Some(false);
                }
            }
            if alone.work() > MUCH {
                break;
            }
        }
        Some(true)
    }
}
