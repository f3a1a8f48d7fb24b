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
    /// How many steps were made.
    steps: u32,
    /// The logarithm of the distance from 0, and what was found there, the last three times that the number of steps was
    /// a power of 2.
    doubled: [[f64; 2]; 3],
}

impl Walk {
    /// The next values, at most so many.
    fn next(&self, most: usize) -> Vec<f64> {
        let inside = |x: &f64| if self.step > 0.0 { *x <= self.end } else { *x >= self.end };
        let ahead = std::iter::successors(Some(self.at + self.step), |x| Some(x + self.step));
        ahead.take_while(inside).take(if self.open { most } else { 0 }).collect()
    }

    /// Notes a value, and says whether the walk will not come to an end: a tail that falls like a power of the distance,
    /// x^(−p), and so slowly that what is left is not negligible at the farthest value. Tails that fall geometrically
    /// have a p that doubles with the distance.
    fn is_hopeless(&mut self, x: f64, top: f64) -> bool {
        self.steps += 1;
        if !self.steps.is_power_of_two() {
            return false;
        }
        let [_, a, b] = self.doubled;
        let c = [self.at.abs().max(1.0).ln(), x];
        self.doubled = [a, b, c];
        let power = |from: [f64; 2], to: [f64; 2]| (from[1] - to[1]) / (to[0] - from[0]);
        let (p, next) = (power(a, b), power(b, c));
        let steady = p >= 0.0 && next >= 0.0 && next <= STEADY * p;
        let at_end = x - next * (FARTHEST.ln() - c[0]).max(0.0);
        self.steps >= TELLING && steady && at_end > top - NEGLIGIBLE
    }
}

/// After so many steps the way in which a tail falls is known.
const TELLING: u32 = 4096;

/// By how much the power of a tail may seem to grow when the distance doubles.
const STEADY: f64 = 1.05;

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
            Walk {
                line,
                at,
                step,
                end,
                open: true,
                last: found[line].value(at),
                empty: 0,
                steps: 0,
                doubled: [[0.0; 2]; 3],
            }
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
                if walk.open && walk.is_hopeless(x, found[walk.line].top) {
                    return Err(SimulateError::Endless);
                }
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

#[cfg(test)]
mod tests {
    use super::super::super::Domain;
    use super::*;

    /// A density of one number, and how often it was asked for.
    struct Density<F: Fn(f64) -> f64> {
        log: F,
        asked: usize,
    }

    impl<F: Fn(f64) -> f64> Along for Density<F> {
        fn log_densities(&mut self, requests: &[(usize, f64)]) -> Result<Vec<f64>, SimulateError> {
            self.asked += requests.len();
            Ok(requests.iter().map(|(_, x)| (self.log)(*x)).collect())
        }
    }

    /// Walks up from 1; the log of the sum, if there is an end, and how many values were looked at.
    fn walked(log: impl Fn(f64) -> f64) -> (Option<f64>, usize) {
        let domain = Domain { integer: true, lower: 1.0, upper: f64::INFINITY };
        let start = Start { line: 0, at: 1.0, value: log(1.0), domain };
        let mut found = vec![Found::new(start.at, start.value)];
        let mut density = Density { log, asked: 0 };
        let ended = walk_from(&mut density, &[start], &[(0, 1.0)], &mut found).is_ok();
        (ended.then(|| super::super::log_sum(&found[0].list)), density.asked)
    }

    /// Powers, whatever they are, and constants are given up early; what falls geometrically or faster is walked to its
    /// end, however slowly it begins.
    #[test]
    fn walks_without_an_end_are_given_up_early() {
        for power in [0.0, 0.5, 1.0, 1.5, 2.5] {
            let (sum, asked) = walked(|x| -power * x.ln());
            assert!(sum.is_none() && asked < 5000, "x^-{power}: {asked}");
        }
        for ratio in [0.5_f64, 0.99, 0.999, 0.9994] {
            let (sum, _) = walked(|x| x * ratio.ln());
            let exact = (ratio / (1.0 - ratio)).ln();
            assert!(sum.is_some_and(|sum| (sum - exact).abs() < 1e-9), "{ratio}: {sum:?}, {exact}");
        }
        // x e^(−x/1500), which grows at first, and x^(−2) e^(−x/1500), which begins as a power
        for (log, name) in [
            (Box::new(|x: f64| x.ln() - x / 1500.0) as Box<dyn Fn(f64) -> f64>, "gamma"),
            (Box::new(|x: f64| -2.0 * x.ln() - x / 1500.0), "power, then geometric"),
        ] {
            let (sum, asked) = walked(log);
            assert!(sum.is_some() && asked > 10_000, "{name}: {asked}");
        }
    }
}
