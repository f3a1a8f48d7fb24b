//! Walks over integers, until what is left is negligible, and a look at what lies behind a valley.

use std::collections::BTreeSet;

use super::super::super::SimulateError;
use super::super::line::Along;
use super::{Listed, NEGLIGIBLE, Start};

/// A walk over integers that is not over by then never is.
const FARTHEST: f64 = 100_000.0;

/// What is known of a line.
pub struct Found {
    pub list: Listed,
    /// The largest log density.
    pub top: f64,
    seen: BTreeSet<i64>,
    /// Whether walks have ended, downwards or upwards, where there is no density at all: beyond a domain.
    blocked: [bool; 2],
}

impl Found {
    pub fn new(at: f64, value: f64) -> Self {
        let mut found = Self { list: Vec::new(), top: f64::NEG_INFINITY, seen: BTreeSet::new(), blocked: [false; 2] };
        found.add(at, value);
        found
    }

    /// Says whether the value is new.
    pub fn add(&mut self, at: f64, value: f64) -> bool {
        let new = self.seen.insert(whole(at));
        if new {
            self.list.push((vec![at], value));
            self.top = self.top.max(value);
        }
        new
    }

    fn has(&self, at: f64) -> bool {
        self.seen.contains(&whole(at))
    }

    fn value(&self, at: f64) -> f64 {
        let own = self.list.iter().find(|(x, _)| whole(x[0]) == whole(at));
        own.map_or(f64::NEG_INFINITY, |(_, value)| *value)
    }
}

#[allow(clippy::cast_possible_truncation, reason = "integers of Stan have 32 bits")]
fn whole(x: f64) -> i64 {
    x as i64
}

/// A walk in one direction.
struct Walk {
    line: usize,
    at: f64,
    step: f64,
    end: f64,
    open: bool,
    last: f64,
    /// Values without density in a row.
    empty: u32,
}

impl Walk {
    /// The next values, at most so many.
    fn next(&self, most: usize) -> Vec<f64> {
        let inside = |x: &f64| if self.step > 0.0 { *x <= self.end } else { *x >= self.end };
        let ahead = std::iter::successors(Some(self.at + self.step), |x| Some(x + self.step));
        ahead.take_while(inside).take(if self.open { most } else { 0 }).collect()
    }
}

/// How many values are looked at in one go: few at first, since many walks end soon.
const STRIDES: [usize; 4] = [4, 8, 16, 32];

/// Goes up and down from values that are known, until what is left is negligible, or known.
pub fn walk_from(
    all: &mut dyn Along,
    starts: &[Start],
    from: &[(usize, f64)],
    found: &mut [Found],
) -> Result<(), SimulateError> {
    for step in [1.0, -1.0] {
        let walk = |&(line, at): &(usize, f64)| {
            let domain = starts[line].domain;
            let end = if step > 0.0 { domain.upper } else { domain.lower };
            Walk { line, at, step, end, open: true, last: found[line].value(at), empty: 0 }
        };
        let mut walks: Vec<Walk> = from.iter().map(walk).collect();
        let mut steps = 0.0;
        for round in 0.. {
            let stride = STRIDES[round.min(STRIDES.len() - 1)];
            let (mut requests, mut who) = (Vec::new(), Vec::new());
            for (i, walk) in walks.iter_mut().enumerate() {
                let next = walk.next(stride);
                walk.open = !next.is_empty();
                who.extend(next.iter().map(|_| i));
                requests.extend(next.into_iter().map(|x| (starts[walk.line].line, x)));
            }
            if requests.is_empty() {
                break;
            }
            let values = all.log_densities(&requests)?;
            #[allow(clippy::cast_precision_loss, reason = "strides are short")]
            let far = steps + stride as f64;
            steps = far;
            for ((i, (_, at)), x) in who.into_iter().zip(requests).zip(values) {
                let walk = &mut walks[i];
                if !walk.open {
                    continue;
                }
                walk.at = at;
                // What is known has been gone on from.
                if !found[walk.line].add(at, x) {
                    walk.open = false;
                    continue;
                }
                walk.empty = if x == f64::NEG_INFINITY { walk.empty + 1 } else { 0 };
                // The rest of a tail that falls faster than geometrically is below x / (1 − ratio).
                let ratio = (x - walk.last).exp();
                let rest = if ratio < 1.0 { x - (-ratio).ln_1p() } else { f64::INFINITY };
                let negligible = rest < found[walk.line].top - NEGLIGIBLE;
                walk.open = walk.empty < 3 && (walk.empty > 0 || !negligible);
                found[walk.line].blocked[usize::from(step > 0.0)] |= walk.empty >= 3;
                if x > f64::NEG_INFINITY {
                    walk.last = x;
                }
            }
            if steps >= FARTHEST && walks.iter().any(|walk| walk.open) {
                return Err(SimulateError::Endless);
            }
        }
    }
    Ok(())
}

/// Values of other elements that are looked at for each.
const MARKS: usize = 8;

/// How often the way to a peak is halved at most: as often as a number of 17 bits.
const HALVINGS: usize = 18;

/// A value that is at least as high as its neighbours among those that have been looked at.
struct Peak {
    line: usize,
    at: f64,
    value: f64,
    /// The neighbours.
    low: f64,
    high: f64,
}

/// Peaks that no walk has come to, since there is a valley between: zeros and ones that are more than a count beside
/// counts that are large. It is looked at distances that double, at what other elements have, and at 0 and 1; from what
/// is higher there than at its neighbours it is gone up.
pub fn elsewhere(
    all: &mut dyn Along,
    starts: &[Start],
    found: &[Found],
) -> Result<Vec<(usize, f64, f64)>, SimulateError> {
    let marks = marks(starts);
    let looked: Vec<Vec<f64>> = starts.iter().zip(found).map(|(start, found)| looks(start, found, &marks)).collect();
    let requests: Vec<(usize, f64)> =
        starts.iter().zip(&looked).flat_map(|(start, at)| at.iter().map(|x| (start.line, *x))).collect();
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = all.log_densities(&requests)?.into_iter();
    let mut peaks = Vec::new();
    for (line, (at, found)) in looked.into_iter().zip(found).enumerate() {
        let own: Vec<f64> = values.by_ref().take(at.len()).collect();
        peaks.extend(higher(line, &at, &own, found));
    }
    for _ in 0..HALVINGS {
        let middle = |a: f64, b: f64| (0.5 * (a + b)).floor();
        let tries = |p: &Peak| [middle(p.low, p.at), middle(p.at, p.high)];
        let new = |p: &Peak| tries(p).map(|x| if x > p.low && x < p.high { x } else { p.at });
        let requests: Vec<(usize, f64)> = peaks.iter().flat_map(|p| new(p).map(|x| (starts[p.line].line, x))).collect();
        if peaks.iter().all(|p| new(p).iter().all(|x| whole(*x) == whole(p.at))) {
            break;
        }
        let values = all.log_densities(&requests)?;
        for (peak, values) in peaks.iter_mut().zip(values.chunks_exact(2)) {
            let [below, above] = new(peak);
            if values[0] > peak.value && values[0] >= values[1] {
                (peak.high, peak.at, peak.value) = (peak.at, below, values[0]);
            } else if values[1] > peak.value {
                (peak.low, peak.at, peak.value) = (peak.at, above, values[1]);
            } else {
                (peak.low, peak.high) = (below.min(peak.at), above.max(peak.at));
                if whole(below) == whole(peak.at) {
                    peak.low = peak.at - 1.0;
                }
                if whole(above) == whole(peak.at) {
                    peak.high = peak.at + 1.0;
                }
            }
        }
    }
    let fresh = peaks.iter().filter(|p| p.value > f64::NEG_INFINITY && !found[p.line].has(p.at));
    Ok(fresh.map(|p| (p.line, p.at, p.value)).collect())
}

/// Some of the values that elements have, and 0 and 1.
fn marks(starts: &[Start]) -> Vec<f64> {
    let mut given: Vec<f64> = starts.iter().map(|start| start.at).collect();
    given.sort_by(f64::total_cmp);
    given.dedup();
    let n = given.len();
    let mut marks: Vec<f64> = (0..=MARKS).filter_map(|i| given.get(i * n.saturating_sub(1) / MARKS).copied()).collect();
    marks.extend([0.0, 1.0]);
    marks
}

/// Where a line is looked at, in order; nowhere if all of it is known.
fn looks(start: &Start, found: &Found, marks: &[f64]) -> Vec<f64> {
    let domain = start.domain;
    let mut at: Vec<f64> = marks.to_vec();
    let mut distance = 1.0;
    while distance <= FARTHEST {
        let ways = [start.at - distance, start.at + distance].into_iter().zip(found.blocked);
        at.extend(ways.filter(|(_, blocked)| !blocked).map(|(x, _)| x));
        distance *= 2.0;
    }
    at.extend([domain.lower, domain.upper].into_iter().filter(|x| x.is_finite()));
    at.retain(|x| *x >= domain.lower && *x <= domain.upper && !found.has(*x));
    at.sort_by(f64::total_cmp);
    at.dedup();
    at
}

/// Those that are at least as high as their neighbours, which may be known ones.
fn higher(line: usize, at: &[f64], values: &[f64], found: &Found) -> Vec<Peak> {
    let mut all: Vec<(f64, f64, bool)> = at.iter().zip(values).map(|(x, value)| (*x, *value, true)).collect();
    all.extend(found.list.iter().map(|(x, value)| (x[0], *value, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let neighbour = |i: Option<usize>, otherwise: f64| {
        i.and_then(|i| all.get(i)).map_or((otherwise, f64::NEG_INFINITY), |(x, value, _)| (*x, *value))
    };
    let mut peaks = Vec::new();
    for (i, &(x, value, new)) in all.iter().enumerate() {
        let (below, above) = (neighbour(i.checked_sub(1), x - 1.0), neighbour(Some(i + 1), x + 1.0));
        if new && value > f64::NEG_INFINITY && value >= below.1 && value >= above.1 {
            peaks.push(Peak { line, at: x, value, low: below.0, high: above.0 });
        }
    }
    peaks
}
