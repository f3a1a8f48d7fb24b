//! Where scouts start: where the fit's chains would not have.

use crust_infer::sample::Start;
use crust_math::random::StreamKey;
use std::ops::Range;

/// Coordinates of starts lie so far out, in units of the largest distance from 0 that the fit has in them …
const FAR: [f64; 2] = [2.0, 10.0];
/// … or of that of Stan's starts, if the fit is nearer.
const LEAST: f64 = 2.0;

/// Ways to start on the scale of the fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A draw of the fit seen in a mirror: some of its coordinates, or all, have the other sign. Symmetries put modes
    /// there, whatever their distance.
    Mirrored,
    /// A draw of the fit with one coordinate anywhere.
    Moved,
    /// All coordinates anywhere.
    Anywhere,
    /// A draw of the fit with a whole parameter, or all of them, much nearer to 0: the spike of a spike and slab, which every
    /// chain that has lost it passes by.
    Shrunk,
}

/// How much nearer.
const SHRUNK: [f64; 3] = [0.01, 0.1, 0.001];

impl Place {
    pub const ALL: [Self; 4] = [Self::Mirrored, Self::Moved, Self::Anywhere, Self::Shrunk];

    /// A point of this kind, for scout `number` of it.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "indices")]
    pub fn point(self, fit: &Scale, number: usize, key: StreamKey) -> Vec<f64> {
        let mut random = key.stream();
        let mut uniform = || random.uniform();
        let pick = |u: f64, n: usize| ((u * n as f64) as usize).min(n.saturating_sub(1));
        let mut point = fit.draws[pick(uniform(), fit.draws.len())].clone();
        let d = point.len();
        let far = |i: usize, u: f64| FAR[number % FAR.len()] * fit.reach[i] * (2.0 * u - 1.0);
        match self {
            // all, then one, then each with probability ½
            Self::Mirrored if number == 0 => point.iter_mut().for_each(|x| *x = -*x),
            Self::Mirrored if number % 2 == 1 => {
                let i = pick(uniform(), d);
                point[i] = -point[i];
            }
            Self::Mirrored => point.iter_mut().for_each(|x| {
                if uniform() < 0.5 {
                    *x = -*x;
                }
            }),
            Self::Moved => {
                let i = if d <= number { number % d } else { pick(uniform(), d) };
                point[i] = far(i, uniform());
            }
            Self::Anywhere => (0..d).for_each(|i| point[i] = far(i, uniform())),
            Self::Shrunk => {
                let blocks = &fit.blocks;
                let factor = SHRUNK[(number / blocks.len() + number) % SHRUNK.len()];
                point[blocks[number % blocks.len()].clone()].iter_mut().for_each(|x| *x *= factor);
            }
        }
        point
    }
}

/// A draw of the fit with a whole parameter as another point has it, such as a draw of the prior: all other numbers are
/// where the posterior is, so that a chain is not thrown out of a narrow place by what is wrong elsewhere.
pub(crate) fn with_block_of(fit: &Scale, other: &[f64], number: usize, key: StreamKey) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "indices")]
    let at = (key.stream().uniform() * fit.draws.len() as f64) as usize;
    let mut point = fit.draws[at.min(fit.draws.len() - 1)].clone();
    // the first block is all of them, which is a draw of the prior
    let block = fit.blocks[(number + 1) % fit.blocks.len()].clone();
    point[block.clone()].copy_from_slice(&other[block]);
    point
}

/// The coordinates of all parameters, then those of each, containers first: `b[1]` and `b[2]` are those of one.
fn blocks(names: &[String]) -> Vec<Range<usize>> {
    let stem = |name: &str| name.split(['[', '.']).next().unwrap_or_default().to_owned();
    let mut each: Vec<Range<usize>> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        match each.last_mut() {
            Some(last) if stem(&names[last.start]) == stem(name) => last.end = i + 1,
            _ => each.push(i..i + 1),
        }
    }
    each.sort_by_key(|block| block.len() == 1);
    std::iter::once(0..names.len()).chain(each).collect()
}

/// Where Stan would start: within 2 of 0.
pub(super) fn within(dimension: usize, key: StreamKey) -> Vec<f64> {
    let mut random = key.stream();
    (0..dimension).map(|_| LEAST * (2.0 * random.uniform() - 1.0)).collect()
}

/// Draws of a fit, and how far from 0 they get.
pub(crate) struct Scale<'a> {
    draws: Vec<&'a Vec<f64>>,
    reach: Vec<f64>,
    blocks: Vec<Range<usize>>,
}

impl<'a> Scale<'a> {
    /// `None` without draws or coordinates.
    pub fn of(draws: impl Iterator<Item = &'a Vec<f64>>, names: &[String]) -> Option<Self> {
        let draws: Vec<&Vec<f64>> = draws.collect();
        let mut reach = vec![LEAST; draws.first().filter(|point| !point.is_empty())?.len()];
        for point in &draws {
            reach.iter_mut().zip(*point).for_each(|(reach, x)| *reach = reach.max(x.abs()));
        }
        let dimension = reach.len();
        let whole = || std::iter::once(0..dimension).collect();
        let blocks = if names.len() == dimension { blocks(names) } else { whole() };
        Some(Self { draws, reach, blocks })
    }
}

/// Stan's starts.
pub(super) fn random(first: u32, how_many: usize) -> Vec<Start> {
    (first..).take(how_many).map(Start::random).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::Purpose;

    #[test]
    fn starts_are_on_the_scale_of_the_fit() {
        let draws = [vec![-40.0, 0.5], vec![-41.0, -0.5]];
        let scale = Scale::of(draws.iter(), &[]).unwrap();
        let key = |number: u32| StreamKey::new(1, Purpose::TEST).chain(number);
        let starts = |place: Place| -> Vec<Vec<f64>> {
            (0..40_usize).zip(0..).map(|(n, chain)| place.point(&scale, n, key(chain))).collect()
        };
        let mirrored = starts(Place::Mirrored);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let same = |point: &[f64], other: [f64; 2]| near(point[0], other[0]) && near(point[1], other[1]);
        assert!(same(&mirrored[0], [40.0, -0.5]) || same(&mirrored[0], [41.0, 0.5]));
        let abs = |point: &[f64]| [point[0].abs(), point[1].abs()];
        let is_mirrored = |point: &Vec<f64>| same(&abs(point), [40.0, 0.5]) || same(&abs(point), [41.0, 0.5]);
        assert!(mirrored.iter().all(is_mirrored));
        let moved = starts(Place::Moved);
        let known = |x: f64| [40.0, 41.0, 0.5].iter().any(|y| near(x.abs(), *y));
        assert!(moved.iter().all(|point| known(point[0]) != known(point[1])), "one coordinate each");
        let anywhere = starts(Place::Anywhere);
        for i in 0..2 {
            let least = anywhere.iter().map(|point| point[i]).fold(f64::INFINITY, f64::min);
            let largest = anywhere.iter().map(|point| point[i]).fold(f64::NEG_INFINITY, f64::max);
            // of 20 that are uniform within 10 times the reach, none below −1 times it: (0.55)²⁰ = 6e-6
            assert!(least < -scale.reach[i] && largest > scale.reach[i], "{least} {largest}");
            assert!(least >= -10.0 * scale.reach[i] && largest <= 10.0 * scale.reach[i]);
        }
        assert!(same(&scale.reach, [41.0, 2.0]));
        assert!(Scale::of([].iter(), &[]).is_none() && Scale::of([vec![]].iter(), &[]).is_none());
    }

    /// Whole parameters are shrunk, or taken from another point, each within eight starts; the others stay draws.
    #[test]
    fn parameters_are_moved_as_a_whole() {
        let names = ["a", "b[1]", "b[2]", "s"].map(str::to_owned);
        let draws = [vec![5.0, 6.0, 7.0, 8.0]];
        let scale = Scale::of(draws.iter(), &names).unwrap();
        assert_eq!(scale.blocks, [0..4, 1..3, 0..1, 3..4]);
        let key = StreamKey::new(1, Purpose::TEST);
        let changed =
            |point: &[f64]| -> Vec<usize> { (0..4).filter(|&i| (point[i] - draws[0][i]).abs() > 1e-12).collect() };
        let shrunk: Vec<Vec<f64>> = (0..8).map(|n| Place::Shrunk.point(&scale, n, key)).collect();
        for block in [vec![0, 1, 2, 3], vec![1, 2], vec![0], vec![3]] {
            assert!(shrunk.iter().any(|point| changed(point) == block), "{block:?}");
        }
        assert!(shrunk.iter().all(|point| changed(point).iter().all(|&i| point[i] <= 0.11 * draws[0][i])));
        let taken = with_block_of(&scale, &[1.0; 4], 0, key);
        assert_eq!(taken, [5.0, 1.0, 1.0, 8.0]);
    }
}
