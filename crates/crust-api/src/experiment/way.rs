//! Where the chains of a fit begin, and along which axes they move.

use super::fit::{CHAINS, Chain, Fitted, is_short};
use crust_infer::axes::Axes;
use crust_infer::sample::{SEVERAL, Start};
use std::sync::Arc;

/// Where chains begin and along which axes they move.
pub(super) struct Way {
    pub(super) starts: Vec<Start>,
    pub(super) axes: Option<Arc<Axes>>,
    /// Of how many random starting points each chain takes the best.
    pub(super) candidates: u32,
}

/// How often axes are looked for again: chains that have just begun to move along a ridge do not show all of it.
pub(super) const TURNS: u32 = 2;

impl Way {
    /// As Stan does, but each chain chooses among some starting points. Chains from other starts look for what they may
    /// miss by that.
    pub(super) fn first() -> Self {
        Self { starts: (1..=CHAINS).map(Start::random).collect(), axes: None, candidates: SEVERAL }
    }

    /// Along the axes of the draws that there are, if these are not enough and lie on a ridge. A diagonal metric makes
    /// steps as short as a ridge is narrow, so that chains hardly move; more draws would not help. They begin where they
    /// ended, so that chains in different modes still are.
    pub(super) fn along_ridges(fitted: &Fitted, turn: u32) -> Option<Self> {
        /// What is a ridge: a width, given other coordinates, of a tenth (a correlation of 0.995).
        const NARROW: f64 = 0.1;
        if !is_short(&fitted.fit) || fitted.fit.unfinished {
            return None;
        }
        let chains: Vec<&[Vec<f64>]> = fitted.chains.iter().map(|chain| chain.points.as_slice()).collect();
        let axes = Axes::of(&chains).filter(|axes| axes.narrowest() < NARROW)?;
        // Other chains than before, so that their random numbers are others.
        let numbers = turn * CHAINS + 1..;
        let start = |(number, chain): (u32, &Chain)| {
            let last = chain.points.last()?;
            let mut z = vec![0.0; last.len()];
            axes.to_coordinates(last, &mut z);
            Some(Start::at(number, &z))
        };
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

    /// Chains of a fit on a ridge go on where they are, under other numbers; others begin as before.
    #[test]
    fn ridges_are_gone_along() {
        assert!(Way::along_ridges(&fitted(1.5, 0.01), 1).is_none(), "no ridge");
        assert!(Way::along_ridges(&fitted(1.005, 1000.0), 1).is_none(), "nothing is wrong");
        let fitted = fitted(1.5, 1000.0);
        let way = Way::along_ridges(&fitted, 2).unwrap();
        assert_eq!(way.starts.iter().map(|start| start.chain).collect::<Vec<_>>(), [9, 10, 11, 12]);
        let mut point = vec![0.0; 2];
        let start: Vec<f64> = way.starts[3].given.iter().map(|x| x.unwrap()).collect();
        way.axes.unwrap().to_parameters(&start, &mut point);
        let last = fitted.chains[3].points.last().unwrap();
        assert!(point.iter().zip(last).all(|(a, b)| (a - b).abs() < 1e-9), "{point:?} {last:?}");
    }
}
