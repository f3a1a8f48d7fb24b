//! Where the chains of a fit begin, and along which axes they move.

use super::fit::{CHAINS, Chain, Fitted, is_short};
use crust_diagnose::convergence::{mean, sd};
use crust_infer::axes::Axes;
use crust_infer::sample::{SEVERAL, Start};
use crust_math::linalg::cholesky;
use std::sync::Arc;

/// Where chains begin and along which axes they move.
pub(super) struct Way {
    pub(super) starts: Vec<Start>,
    pub(super) axes: Option<Arc<Axes>>,
    /// Of how many random starting points each chain takes the best.
    pub(super) candidates: u32,
}

/// How often axes are looked for again: chains that have just begun to move along a ridge do not show all of it.
pub(super) const TURNS: u32 = 6;
/// What is a ridge: a width, given other coordinates, of a tenth (a correlation of 0.995).
const NARROW: f64 = 0.1;

/// The axes of chains that lie on a ridge.
pub(super) fn ridge(chains: &[Chain]) -> Option<Axes> {
    let chains: Vec<&[Vec<f64>]> = chains.iter().map(|chain| chain.points.as_slice()).collect();
    Axes::of(&chains).filter(|axes| axes.narrowest() < NARROW)
}

/// The axes of the normal distribution that has the curvature of the density at the best draw: where a ridge is so long
/// that chains do not move along it at all, their draws do not show it, and gradients do. `None` where the density is not
/// curved downwards in all directions.
pub(super) fn by_curvature(gradients: impl Fn(&[Vec<f64>]) -> Option<Vec<Vec<f64>>>, chains: &[Chain]) -> Option<Axes> {
    /// As for draws, too many coordinates for products with a matrix at each step.
    const MOST: usize = 150;
    /// The differences, in deviations within chains.
    const STEP: f64 = 0.05;
    let draws = chains.iter().flat_map(|chain| chain.points.iter().zip(&chain.log_densities));
    let (best, _) = draws.max_by(|a, b| a.1.total_cmp(b.1))?;
    let d = best.len();
    if d > MOST {
        return None;
    }
    let widths: Vec<f64> = (0..d).map(|i| spread_within(chains, i)).collect();
    let moved = |i: usize, by: f64| {
        let mut point = best.clone();
        point[i] += by * STEP * widths[i];
        point
    };
    let points: Vec<Vec<f64>> = (0..d).flat_map(|i| [moved(i, 1.0), moved(i, -1.0)]).collect();
    let found = gradients(&points)?;
    // Minus second derivatives in units of the widths, from both sides of the diagonal.
    let slope = |i: usize, j: usize| (found[2 * i + 1][j] - found[2 * i][j]) * widths[j] / (2.0 * STEP);
    let mut precision: Vec<f64> = (0..d * d).map(|k| 0.5 * (slope(k / d, k % d) + slope(k % d, k / d))).collect();
    cholesky::factor(&mut precision, d).ok()?;
    let mut covariance = vec![0.0; d * d];
    cholesky::inverse(&precision, d, &mut covariance);
    cholesky::factor(&mut covariance, d).ok()?;
    // columns to rows
    let rows: Vec<f64> = (0..d * d).map(|k| widths[k / d] * covariance[(k % d) * d + k / d]).collect();
    Axes::new(d, &rows).ok()
}

/// The standard deviation of a coordinate within chains.
fn spread_within(chains: &[Chain], i: usize) -> f64 {
    let square = |chain: &Chain| sd(&chain.points.iter().map(|point| point[i]).collect::<Vec<f64>>()).powi(2);
    mean(&chains.iter().map(square).collect::<Vec<f64>>()).sqrt()
}

/// A start at a point in the coordinates of axes; one that is not given as a whole stays random.
pub(super) fn start_along(axes: &Axes, start: &Start) -> Start {
    let given: Option<Vec<f64>> = start.given.iter().copied().collect();
    match given.filter(|point| point.len() == axes.dimension()) {
        Some(point) => {
            let mut z = vec![0.0; point.len()];
            axes.to_coordinates(&point, &mut z);
            Start { given: z.into_iter().map(Some).collect(), ..start.clone() }
        }
        None => start.clone(),
    }
}

/// Whether chains got further than those before them: on a ridge that is longer than they are, the way that they made
/// shows before R-hat does.
pub(super) fn got_further(chains: &[Chain], before: &[Chain]) -> bool {
    const FURTHER: f64 = 1.3;
    let dimension = chains.first().and_then(|chain| chain.points.first()).map_or(0, Vec::len);
    (0..dimension).any(|i| spread_within(chains, i) > FURTHER * spread_within(before, i))
}

impl Way {
    /// As Stan does, but each chain chooses among some starting points. Chains from other starts look for what they may
    /// miss by that.
    pub(super) fn first() -> Self {
        Self { starts: (1..=CHAINS).map(Start::random).collect(), axes: None, candidates: SEVERAL }
    }

    /// Along the axes of the draws that there are, if these are not enough and lie on a ridge. A diagonal metric makes
    /// steps as short as a ridge is narrow, so that chains hardly move; more draws would not help. They begin where they
    /// ended, so that chains in different modes still are.
    pub(super) fn along_ridges(fitted: &Fitted, turn: u32, curvature: impl Fn() -> Option<Axes>) -> Option<Self> {
        if !is_short(&fitted.fit) || fitted.fit.unfinished {
            return None;
        }
        let axes = ridge(&fitted.chains).or_else(|| curvature().filter(|axes| axes.narrowest() < NARROW))?;
        // Other chains than before, so that their random numbers are others.
        let numbers = turn * CHAINS + 1..;
        let start = |(number, chain): (u32, &Chain)| Some(start_along(&axes, &Start::at(number, chain.points.last()?)));
        let starts = numbers.zip(&fitted.chains).map(start).collect::<Option<_>>()?;
        Some(Self { starts, axes: Some(Arc::new(axes)), candidates: 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_diagnose::result::Fit;

    fn fitted(worst_r_hat: f64, slope: f64) -> Fitted {
        let point = |i: u32, k: u32| vec![f64::from(i), slope * f64::from(i) + f64::from((7 * i + k) % 5)];
        let chain = |k| Chain { points: (0..40).map(|i| point(i, k)).collect(), ..Chain::default() };
        let fit = Fit { chains: 4, draws: 40, worst_r_hat, least_ess: 500.0, ..Fit::default() };
        Fitted { fit, mean: Vec::new(), chains: (0..4).map(chain).collect() }
    }

    /// Chains that move twice as far got further, those that have only moved to another place did not.
    #[test]
    fn the_way_along_a_ridge_is_measured() {
        let fitted = |scale: f64, shift: f64| {
            let mut fitted = fitted(1.5, 1000.0);
            let points = fitted.chains.iter_mut().flat_map(|chain| &mut chain.points);
            points.for_each(|point| point.iter_mut().for_each(|x| *x = shift + scale * *x));
            fitted.chains
        };
        assert!(got_further(&fitted(2.0, 0.0), &fitted(1.0, 0.0)));
        assert!(!got_further(&fitted(1.1, 0.0), &fitted(1.0, 0.0)));
        assert!(!got_further(&fitted(1.0, 1e4), &fitted(1.0, 0.0)));
        let axes = ridge(&fitted(1.0, 0.0)).unwrap();
        let random = Start::random(3);
        assert_eq!(start_along(&axes, &random), random);
    }

    /// Draws that stand still along a ridge do not show it; the gradient −Λx does, exactly.
    #[test]
    fn curvature_shows_ridges_that_draws_do_not() {
        let chain = |k: u32| {
            let point = |i: u32| vec![f64::from(k) + 1e-3 * f64::from(i % 7), 1e-3 * f64::from(i % 5)];
            Chain { points: (0..40).map(point).collect(), log_densities: vec![0.0; 40], ..Chain::default() }
        };
        let chains: Vec<Chain> = (0..4).map(chain).collect();
        assert!(ridge(&chains).is_none());
        // variances 2500 and 0.25 + 10⁻⁴, correlation 0.9998: Σ = [[2500, 25], [25, 0.2501]]
        let (a, b, c) = (2500.0, 25.0, 0.2501);
        let determinant = a * c - b * b;
        let gradient = |x: &Vec<f64>| vec![-(c * x[0] - b * x[1]) / determinant, -(a * x[1] - b * x[0]) / determinant];
        let axes = by_curvature(|points| Some(points.iter().map(gradient).collect()), &chains).unwrap();
        let mut image = [0.0; 2];
        axes.to_parameters(&[1.0, 0.0], &mut image);
        assert!((image[0] - 50.0).abs() < 1e-6 && (image[1] - 0.5).abs() < 1e-8, "{image:?}");
        axes.to_parameters(&[0.0, 1.0], &mut image);
        assert!(image[0].abs() < 1e-9 && (image[1] - 0.01).abs() < 1e-8, "{image:?}");
        let upwards = |points: &[Vec<f64>]| Some(points.to_vec());
        assert!(by_curvature(upwards, &chains).is_none(), "a density that rises outwards");
    }

    /// Chains of a fit on a ridge go on where they are, under other numbers; others begin as before.
    #[test]
    fn ridges_are_gone_along() {
        assert!(Way::along_ridges(&fitted(1.5, 0.01), 1, || None).is_none(), "no ridge");
        assert!(Way::along_ridges(&fitted(1.005, 1000.0), 1, || None).is_none(), "nothing is wrong");
        let fitted = fitted(1.5, 1000.0);
        let way = Way::along_ridges(&fitted, 2, || None).unwrap();
        assert_eq!(way.starts.iter().map(|start| start.chain).collect::<Vec<_>>(), [9, 10, 11, 12]);
        let mut point = vec![0.0; 2];
        let start: Vec<f64> = way.starts[3].given.iter().map(|x| x.unwrap()).collect();
        way.axes.unwrap().to_parameters(&start, &mut point);
        let last = fitted.chains[3].points.last().unwrap();
        assert!(point.iter().zip(last).all(|(a, b)| (a - b).abs() < 1e-9), "{point:?} {last:?}");
    }
}
