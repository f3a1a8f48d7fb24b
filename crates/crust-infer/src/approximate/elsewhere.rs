//! Whether starting points lead to different places: a fit that begins at one of them may leave out a mode.

use super::Error;
use super::evaluate::{Evaluations, Points};
use super::family::{Approximation, float};
use super::pathfinder::Path;
use crate::target::Target;

/// Another end of the paths, as good as that of the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elsewhere {
    /// By how much its bound is lower, with few draws.
    pub nats: f64,
    /// Where the two are farthest apart, from 1, and how far in standard deviations of the wider one.
    pub coordinate: usize,
    pub deviations: f64,
}

/// Ends whose bounds differ by less are comparable.
const COMPARABLE: f64 = 5.0;
/// Ends that are so many standard deviations apart are not the same.
const APART: f64 = 4.0;
/// Between two modes the log density falls below both by so much at least. On the way along a ridge it does not, however
/// narrow the distributions are that paths have found on it.
const VALLEY: f64 = 2.0;
/// Points on the way from one to the other.
const BETWEEN: u32 = 9;

/// The best of the ends that are not where the best path ends.
pub fn elsewhere<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    best: &Path,
    paths: &[Path],
) -> Result<Option<Elsewhere>, Error> {
    let mut others: Vec<(Elsewhere, &Path)> = paths
        .iter()
        .filter(|path| best.elbo - path.elbo < COMPARABLE)
        .filter_map(|path| apart(best, path).map(|found| (found, path)))
        .collect();
    others.sort_by(|a, b| a.0.nats.total_cmp(&b.0.nats));
    for (found, path) in others {
        if has_valley(evaluations, &best.approximation.mean, &path.approximation.mean)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn apart(best: &Path, path: &Path) -> Option<Elsewhere> {
    let (a, b) = (&best.approximation, &path.approximation);
    let widths = a.variances().into_iter().zip(b.variances()).map(|(v, w)| v.max(w).sqrt());
    let distances = a.mean.iter().zip(&b.mean).zip(widths).map(|((x, y), sd)| (x - y).abs() / sd);
    let (at, deviations) = distances.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (deviations > APART).then(|| Elsewhere { nats: best.elbo - path.elbo, coordinate: at + 1, deviations })
}

fn has_valley<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    from: &[f64],
    to: &[f64],
) -> Result<bool, Error> {
    let at = |k: u32| {
        let share = f64::from(k) / f64::from(BETWEEN + 1);
        from.iter().zip(to).map(move |(a, b)| a + share * (b - a))
    };
    let mut points = Points::new(from.len(), (0..=BETWEEN + 1).flat_map(at).collect());
    evaluations.evaluate(&mut points, false)?;
    let p = &points.log_density;
    let lowest = p.iter().copied().fold(f64::INFINITY, f64::min);
    let ends = p[0].min(p[p.len() - 1]);
    // In many dimensions the log density at a draw is d/2 lower than at the mode, and ends are not modes exactly.
    Ok(ends - lowest > VALLEY + 0.01 * float(from.len()))
}
