//! Where the draws of the fit are, and whether a chain is elsewhere: beyond all of them in a coordinate, in a direction,
//! or in the log density.

use super::super::fit::Chain;
use crust_diagnose::convergence;

/// Places beyond the draws of the fit by this share of their range are elsewhere.
const MARGIN: f64 = 0.25;

/// By how many nats a place may have less than the fit to be worth a word. Chains that stay in a place with a share of
/// e⁻¹⁵ have no business there; that they do says that others may, and that chance decided where the fit is. Beyond that
/// there is room for what is not normal about either.
#[expect(clippy::cast_precision_loss, reason = "dimensions are far fewer than 2⁵³")]
pub(crate) fn negligible(dimension: usize) -> f64 {
    15.0 + dimension as f64
}

/// Where the draws of the fit are.
pub(crate) struct Region<'a> {
    chains: &'a [Chain],
    /// The range of each coordinate, with a margin.
    ends: Vec<(f64, f64)>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
    /// The greatest log density, with a margin.
    highest: f64,
}

/// How a chain is beyond all draws of the fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    Coordinate(usize),
    /// In a direction in which several coordinates add up, of which this one has the largest part.
    Direction(usize),
    /// In the log density alone: a spike in the middle of a slab.
    Density,
}

impl Outside {
    /// By how many nats a place may have less than the fit to be worth a word. Directions and densities see more than
    /// coordinates do, chains that are still on their way too: there is less room.
    pub fn negligible(self, dimension: usize) -> f64 {
        match self {
            Self::Coordinate(_) => negligible(dimension),
            Self::Direction(_) | Self::Density => negligible(dimension / 5),
        }
    }

    pub fn words(self, names: &[String]) -> String {
        let name = |i: usize| names.get(i).cloned().unwrap_or_default();
        match self {
            Self::Coordinate(i) => name(i),
            Self::Direction(i) => format!("{} and others together", name(i)),
            Self::Density => "the log density".to_owned(),
        }
    }
}

impl<'a> Region<'a> {
    /// `whole` are the same chains, or some of their draws, with the program's own densities.
    pub fn of(chains: &'a [Chain], whole: &[Chain]) -> Self {
        let points = || chains.iter().flat_map(|chain| &chain.points);
        let dimension = points().next().map_or(0, Vec::len);
        let column = |i: usize| -> Vec<f64> { points().map(|point| point[i]).collect() };
        let (mut ends, mut mean, mut deviation) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..dimension {
            let column = column(i);
            ends.push(range_with_margin(&column));
            mean.push(convergence::mean(&column));
            deviation.push(convergence::sd(&column).max(f64::MIN_POSITIVE));
        }
        let densities: Vec<f64> = whole.iter().flat_map(|chain| &chain.log_densities).copied().collect();
        Self { chains, ends, mean, deviation, highest: range_with_margin(&densities).1 }
    }

    /// Whether all draws of a chain are beyond those of the fit, on one side of a coordinate; or of a direction.
    pub fn outside(&self, chain: &Chain) -> Option<Outside> {
        let coordinate = self.coordinate_outside(chain).map(Outside::Coordinate);
        coordinate.or_else(|| self.direction_outside(chain)).or_else(|| self.density_outside(chain))
    }

    /// Whether all densities of a chain are above those of the fit. What is below them all is a slab around the spike that
    /// the fit is in, and beyond it in a coordinate; or a chain on its way.
    fn density_outside(&self, chain: &Chain) -> Option<Outside> {
        let beyond = !chain.log_densities.is_empty() && chain.log_densities.iter().all(|x| *x > self.highest);
        beyond.then_some(Outside::Density)
    }

    fn coordinate_outside(&self, chain: &Chain) -> Option<usize> {
        let outside = |(i, (low, high)): (usize, &(f64, f64))| {
            let all = |beyond: &dyn Fn(f64) -> bool| chain.points.iter().all(|point| beyond(point[i]));
            all(&|x| x < *low) || all(&|x| x > *high)
        };
        self.ends.iter().enumerate().find(|&at| outside(at)).map(|(i, _)| i)
    }

    /// Modes of forty coordinates that are x and −x may overlap in each of them, and be far from each other all the same:
    /// in the direction from the fit's mean to that of the chain's first half, its second half is beyond all draws of the
    /// fit. By chance it is not, since the direction knows nothing of the second half.
    fn direction_outside(&self, chain: &Chain) -> Option<Outside> {
        let (first, second) = chain.points.split_at(chain.points.len() / 2);
        // The difference of the means, and what it has to be multiplied with, in deviations.
        let mut difference = vec![0.0; self.mean.len()];
        for point in first {
            let rows = difference.iter_mut().zip(point).zip(self.mean.iter().zip(&self.deviation));
            rows.for_each(|((to, x), (mean, deviation))| *to += (x - mean) / deviation);
        }
        let weights: Vec<f64> = difference.iter().zip(&self.deviation).map(|(x, deviation)| x / deviation).collect();
        let along = |x: &[f64]| x.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
        let fit: Vec<f64> = self.chains.iter().flat_map(|chain| &chain.points).map(|x| along(x)).collect();
        let (_, high) = range_with_margin(&fit);
        let largest = (0..difference.len()).max_by(|a, b| difference[*a].abs().total_cmp(&difference[*b].abs()))?;
        let beyond = !first.is_empty() && second.iter().all(|point| along(point) > high);
        beyond.then_some(Outside::Direction(largest))
    }
}

fn range_with_margin(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let margin = MARGIN * (high - low);
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    fn chain(points: &[[f64; 2]]) -> Chain {
        Chain { points: points.iter().map(|point| point.to_vec()).collect(), ..Chain::default() }
    }

    #[test]
    fn only_chains_that_stay_away_are_elsewhere() {
        let fit = [chain(&[[0.0, 5.0], [1.0, 6.0]]), chain(&[[2.0, 5.5], [-2.0, 5.2]])];
        let region = Region::of(&fit, &fit);
        assert_eq!(region.coordinate_outside(&chain(&[[2.9, 5.0], [9.0, 9.0]])), None, "within the margin at times");
        assert_eq!(region.coordinate_outside(&chain(&[[0.0, 8.0], [1.0, 6.3]])), Some(1));
        assert_eq!(region.coordinate_outside(&chain(&[[0.0, 8.0], [1.0, 3.0]])), None, "on both sides");
    }

    /// Normal draws of forty coordinates about ±0.9 each.
    fn normal_chain(number: u32, draws: usize, centre: f64) -> Chain {
        let mut stream = StreamKey::new(4, Purpose::TEST).chain(number).stream();
        let mut draw = || {
            let mut x = vec![0.0; 40];
            stream.fill_normal(&mut x);
            x.iter_mut().for_each(|x| *x += centre);
            x
        };
        Chain { points: (0..draws).map(|_| draw()).collect(), ..Chain::default() }
    }

    /// The mirror image of the fit overlaps with it in every coordinate; a hundred chains in the fit's own place are not
    /// elsewhere, short as they are.
    #[test]
    fn modes_that_overlap_in_every_coordinate_are_told_apart() {
        let fit = [normal_chain(1, 1000, 0.9), normal_chain(2, 1000, 0.9)];
        let region = Region::of(&fit, &fit);
        let mirrored = normal_chain(3, 50, -0.9);
        assert_eq!(region.coordinate_outside(&mirrored), None);
        assert!(matches!(region.outside(&mirrored), Some(Outside::Direction(_))));
        assert!((100..200).all(|number| region.outside(&normal_chain(number, 50, 0.9)).is_none()));
        // A spike in the middle of a slab has other densities and nothing else.
        let with_density = |mut chain: Chain, at: f64| {
            chain.log_densities = (0..50).map(|i| at + f64::from(i) / 10.0).collect();
            chain
        };
        let fit = [with_density(normal_chain(1, 50, 0.0), -5.0)];
        let region = Region::of(&fit, &fit);
        assert_eq!(region.outside(&with_density(normal_chain(1, 50, 0.0), 1.3)), Some(Outside::Density));
        assert_eq!(region.outside(&with_density(normal_chain(1, 50, 0.0), 1.0)), None);
        let words = Outside::Direction(1).words(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(words, "b and others together");
    }
}
