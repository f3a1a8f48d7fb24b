//! Which parameters have a prior whose width depends on hyperparameters, and how: measured, not read off a program.

use std::collections::BTreeMap;

use pxfm::f_log;

use super::population::spread;
use super::widths::{Frame, Widths};
use crate::drive::{Control, Driver, Evaluated};
use crate::error::Error;
use crate::path::Path;
use std::sync::Arc;

/// Groups of coordinates whose widths depend on hyperparameters in the same way.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Scales {
    /// The coordinates of the hyperparameters.
    pub base: Vec<usize>,
    pub groups: Vec<Group>,
    /// Where the prior has its centre, one for each coordinate.
    pub centre: Vec<f64>,
}

/// Coordinates with one width.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Group {
    /// b, the derivative of the logarithm of the width with respect to each hyperparameter.
    pub slopes: Vec<f64>,
    pub members: Vec<usize>,
}

/// More hyperparameters than this are not looked at: their slopes could not be told apart.
const MOST: usize = 16;
/// Slopes are multiples of 1 over this. The usual ones (a scale: 1, a variance: ½, a precision: −½) are met exactly.
const GRAIN: f64 = 16.0;
/// The share of the variance of log widths that slopes must explain.
const EXPLAINED: f64 = 0.5;
/// Var[log |z|] of a standard normal z is π²/8; λ is taken to change by 0.25 or so from one β to the next.
const CAUTION: f64 = 1.23 / (0.25 * 0.25);

impl Scales {
    /// Measures how the curvature of the log prior depends on hyperparameters at some draws of it.
    ///
    /// If θᵢ given the hyperparameters is normal and independent of the other members, then a shift of all members by v
    /// changes ∂ log prior/∂θᵢ by −vᵢ/σᵢ², and θᵢ + σᵢ² ∂ log prior/∂θᵢ is the mean. Other priors give some curvature,
    /// too; where it follows no law there is no group.
    pub(super) fn measure<P: Path + Clone + Send>(
        driver: &mut Driver<P>,
        draws: &[Vec<f64>],
        control: &Control,
    ) -> Result<Option<Self>, Error> {
        let dimension = driver.dimension();
        let mut base: Vec<usize> = driver.path().hyperparameters().into_iter().filter(|&h| h < dimension).collect();
        base.sort_unstable();
        base.dedup();
        if base.is_empty() || base.len() > MOST.min(draws.len() / 3) || base.len() == dimension {
            return Ok(None);
        }
        let column = |i: usize| draws.iter().map(|draw| draw[i]).collect::<Vec<f64>>();
        let shift: Vec<f64> = (0..dimension)
            .map(|i| if base.contains(&i) { 0.0 } else { spread(column(i)).map_or(1.0, |s| s.variance.sqrt()) })
            .collect();
        let moved = |draw: &Vec<f64>| draw.iter().zip(&shift).map(|(x, v)| x + v).collect::<Vec<f64>>();
        let points = [draws.to_vec(), draws.iter().map(moved).collect()].concat();
        let found = driver.evaluate_points(&points, 0.0, true, control)?;
        let probes: Vec<Probe<'_>> = points.iter().zip(&found).map(|(x, found)| Probe::new(x, found)).collect();
        let (here, there) = probes.split_at(draws.len());
        let pairs: Vec<(&Probe<'_>, &Probe<'_>)> =
            here.iter().zip(there).filter(|(a, b)| a.finite && b.finite).collect();
        Ok(Self::from_curvatures(base, &pairs, &shift))
    }

    fn from_curvatures(base: Vec<usize>, pairs: &[(&Probe<'_>, &Probe<'_>)], shift: &[f64]) -> Option<Self> {
        if pairs.len() < 2 * base.len() + 4 {
            return None;
        }
        let columns: Vec<Vec<f64>> = base.iter().map(|&h| pairs.iter().map(|(a, _)| a.x[h]).collect()).collect();
        let mut groups: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
        let mut centre = vec![0.0; shift.len()];
        for i in (0..shift.len()).filter(|i| !base.contains(i)) {
            let precision = |(a, b): &(&Probe<'_>, &Probe<'_>)| (a.gradient[i] - b.gradient[i]) / shift[i];
            let precisions: Vec<f64> = pairs.iter().map(precision).collect();
            if !precisions.iter().all(|p| *p > 0.0 && p.is_finite()) {
                continue;
            }
            let log_widths = precisions.iter().map(|&p| -0.5 * f_log(p)).collect();
            if let Some(slopes) = regress(log_widths, &columns) {
                let means = pairs.iter().zip(&precisions).map(|((a, _), p)| a.x[i] + a.gradient[i] / p).collect();
                centre[i] = median(means);
                groups.entry(slopes).or_default().push(i);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "slopes are small")]
        let group = |(slopes, members): (Vec<i64>, Vec<usize>)| Group {
            slopes: slopes.into_iter().map(|slope| slope as f64 / GRAIN).collect(),
            members,
        };
        let groups: Vec<Group> = groups.into_iter().map(group).collect();
        (!groups.is_empty()).then_some(Self { base, groups, centre })
    }

    /// Numbers for a chart that fits a population.
    ///
    /// λ is the slope of log |θᵢ − cᵢ| on what the prior says, over all members of a group: 1 where the members'
    /// distances from the prior's centre follow the hyperparameters as in the prior, 0 where the data determine them.
    pub(super) fn frame(&self, population: &[&[f64]], before: Option<&Frame>) -> Frame {
        let column = |h: usize| population.iter().map(|x| x[h]).collect::<Vec<f64>>();
        let origin: Vec<f64> = self.base.iter().map(|&h| spread(column(h)).map_or(0.0, |s| s.centre)).collect();
        let share = |(g, group): (usize, &Group)| {
            let before = before.map_or(1.0, |frame| frame.share[g]);
            let lambda = self.slope(group, population, before);
            if lambda.is_finite() { lambda.clamp(0.0, 1.0) } else { before }
        };
        Frame { origin, share: self.groups.iter().enumerate().map(share).collect() }
    }

    /// λ of a group by least squares, drawn towards what it was before.
    fn slope(&self, group: &Group, population: &[&[f64]], before: f64) -> f64 {
        /// Distances below this count as this.
        const NEAREST: f64 = 1e-300;
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let members = group.members.len() as f64;
        let along = |x: &&[f64]| self.base.iter().zip(&group.slopes).map(|(&h, slope)| slope * x[h]).sum::<f64>();
        let distance = |x: &[f64], i: usize| f_log((x[i] - self.centre[i]).abs().max(NEAREST));
        let log_width = |x: &&[f64]| group.members.iter().map(|&i| distance(x, i)).sum::<f64>();
        let expected: Vec<f64> = population.iter().map(along).collect();
        let log_widths: Vec<f64> = population.iter().map(log_width).collect();
        let (mean_x, mean_y) = (mean(&expected), mean(&log_widths));
        let (mut xx, mut xy) = (0.0, 0.0);
        for (x, y) in expected.iter().zip(&log_widths) {
            xx += members * (x - mean_x) * (x - mean_x);
            xy += (x - mean_x) * (y - mean_y);
        }
        (xy + CAUTION * before) / (xx + CAUTION)
    }

    /// The chart with the numbers of a frame.
    pub(super) fn chart(self: &Arc<Self>, frame: Frame) -> Widths {
        Widths { scales: Arc::clone(self), frame }
    }
}

/// Slopes of a linear regression with an intercept, in grains; `None` if nothing depends on anything. The columns are
/// nearly independent, so that fitting one after the other converges fast.
fn regress(mut y: Vec<f64>, columns: &[Vec<f64>]) -> Option<Vec<i64>> {
    const SWEEPS: usize = 100;
    let centred = |x: &[f64]| {
        let middle = mean(x);
        x.iter().map(|x| x - middle).collect::<Vec<f64>>()
    };
    y = centred(&y);
    let columns: Vec<Vec<f64>> = columns.iter().map(|column| centred(column)).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let total = dot(&y, &y);
    let mut slopes = vec![0.0; columns.len()];
    for _ in 0..SWEEPS {
        for (slope, column) in slopes.iter_mut().zip(&columns) {
            let change = dot(&y, column) / dot(column, column);
            if change.is_finite() {
                *slope += change;
                y.iter_mut().zip(column).for_each(|(y, x)| *y -= change * x);
            }
        }
    }
    let explained = 1.0 - dot(&y, &y) / total;
    #[expect(clippy::cast_possible_truncation, reason = "casts saturate")]
    let grains: Vec<i64> = slopes.iter().map(|slope: &f64| (slope * GRAIN).round() as i64).collect();
    (explained >= EXPLAINED && grains.iter().any(|&slope| slope != 0)).then_some(grains)
}

fn mean(values: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "populations are small")]
    let n = values.len() as f64;
    values.iter().sum::<f64>() / n
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().filter(|x| x.is_finite()).unwrap_or(0.0)
}

/// What the prior looks like at a point.
struct Probe<'a> {
    x: &'a [f64],
    gradient: &'a [f64],
    finite: bool,
}

impl<'a> Probe<'a> {
    fn new(x: &'a [f64], found: &'a Evaluated) -> Self {
        let finite = found.densities.log_prior.is_finite() && found.gradient.iter().all(|g| g.is_finite());
        Self { x, gradient: &found.gradient, finite }
    }
}

#[cfg(test)]
mod tests {
    use crust_math::random::{Purpose, StreamKey};

    use super::*;
    use crate::drive::Parallelism;
    use crate::target::{Batch, Fatal, Target};

    /// v ~ N(0, 1), w ~ N(0, 1); x₂, x₃ ~ N(4, e^v); x₄ ~ N(0, e^(2w − v)); x₅ ~ N(0, 1); log x₆ ~ N(0, e^(2v)).
    #[derive(Clone)]
    struct Hierarchy;

    const LOG_VARIANCES: [(f64, f64, f64); 5] =
        [(4.0, 1.0, 0.0), (4.0, 1.0, 0.0), (0.0, -1.0, 2.0), (0.0, 0.0, 0.0), (0.0, 2.0, 0.0)];

    impl Target for Hierarchy {
        fn dimension(&self) -> usize {
            7
        }

        fn hyperparameters(&self) -> Vec<usize> {
            vec![1, 0]
        }

        fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
            for lane in 0..batch.lanes {
                let x: Vec<f64> = batch.point(lane).collect();
                let mut gradient = vec![-x[0], -x[1], 0.0, 0.0, 0.0, 0.0, 0.0];
                let mut log = -0.5 * (x[0] * x[0] + x[1] * x[1]);
                for (i, (mean, v, w)) in LOG_VARIANCES.iter().enumerate() {
                    let log_variance = v * x[0] + w * x[1];
                    let off = x[i + 2] - mean;
                    let square = off * off * (-log_variance).exp();
                    log -= 0.5 * (square + log_variance);
                    gradient[i + 2] = -off * (-log_variance).exp();
                    gradient[0] -= 0.5 * v * (1.0 - square);
                    gradient[1] -= 0.5 * w * (1.0 - square);
                }
                (batch.log_prior[lane], batch.log_likelihood[lane]) = (log, 0.0);
                if batch.wants_gradient() {
                    let column = batch.gradient.iter_mut().skip(lane).step_by(batch.lanes);
                    column.zip(&gradient).for_each(|(to, g)| *to = *g);
                }
            }
            Ok(())
        }
    }

    fn draws(n: u32) -> Vec<Vec<f64>> {
        let draw = |k| {
            let mut stream = StreamKey::new(1, Purpose::TEST).chain(k).stream();
            let mut x = vec![stream.standard_normal(), stream.standard_normal()];
            for (mean, v, w) in LOG_VARIANCES {
                let deviation = (0.5 * (v * x[0] + w * x[1])).exp();
                x.push(mean + deviation * stream.standard_normal());
            }
            x
        };
        (0..n).map(draw).collect()
    }

    fn measured() -> Scales {
        let mut driver = Driver::new(Hierarchy, Parallelism::default());
        Scales::measure(&mut driver, &draws(64), &Control::default()).expect("no error").expect("groups")
    }

    #[test]
    fn slopes_and_centres_are_those_of_the_prior() {
        let scales = measured();
        assert_eq!(scales.base, [0, 1]);
        let group = |slopes: [f64; 2], members: &[usize]| Group { slopes: slopes.to_vec(), members: members.to_vec() };
        let expected = [group([-0.5, 1.0], &[4]), group([0.5, 0.0], &[2, 3]), group([1.0, 0.0], &[6])];
        assert_eq!(scales.groups, expected);
        assert!((scales.centre[2] - 4.0).abs() < 1e-9 && scales.centre[4].abs() < 1e-9);
    }

    /// A population from the prior wants λ = 1; one whose members are determined by data wants λ = 0.
    #[test]
    fn shares_follow_the_population() {
        let scales = measured();
        let mut population = draws(1000);
        let views: Vec<&[f64]> = population.iter().map(Vec::as_slice).collect();
        let prior = scales.frame(&views, None);
        assert!(prior.share.iter().all(|share| *share > 0.9), "{prior:?}");
        for (k, x) in population.iter_mut().enumerate() {
            let mut stream = StreamKey::new(2, Purpose::TEST).chain(u32::try_from(k).unwrap()).stream();
            x[2..].iter_mut().for_each(|x| *x = 7.0 + 0.1 * stream.standard_normal());
        }
        let views: Vec<&[f64]> = population.iter().map(Vec::as_slice).collect();
        let data = scales.frame(&views, Some(&prior));
        assert!(data.share.iter().all(|share| *share < 0.2), "{data:?}");
    }

    #[test]
    fn without_hyperparameters_there_is_nothing_to_measure() {
        #[derive(Clone)]
        struct Plain(Hierarchy);
        impl Target for Plain {
            fn dimension(&self) -> usize {
                Target::dimension(&self.0)
            }
            fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
                Target::evaluate(&mut self.0, batch)
            }
        }
        let mut driver = Driver::new(Plain(Hierarchy), Parallelism::default());
        assert_eq!(Scales::measure(&mut driver, &draws(64), &Control::default()).expect("no error"), None);
    }
}
