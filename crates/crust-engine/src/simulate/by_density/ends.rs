//! What lies beyond the points at which a density is looked at: nothing that counts, values that are not told apart, or
//! more than there is.

use super::super::SimulateError;
use super::line::{Along, Atoms, Landmarks, NEGLIGIBLE, Search, sort};

/// Sides on which the likelihood is the same everywhere, up to infinity: values there are not told apart, as in
/// `if (y > L) … else target += normal_lcdf(L | …)`. The probability of all of them is that of the value which the data
/// have there.
pub fn fold(
    all: &mut dyn Along,
    searches: &mut [Search],
    atoms: &mut [Atoms],
    landmarks: &Landmarks,
) -> Result<(), SimulateError> {
    for side in [1.0, -1.0] {
        let levels = searches.iter().enumerate().filter_map(|(i, s)| Level::find(i, s, side, landmarks));
        let mut levels: Vec<Level> = levels.collect();
        for _ in 0..ROUNDS {
            let mut requests = Vec::new();
            for level in &levels {
                let line = searches[level.search].line;
                requests.extend((1..PARTS).map(|k| (line, level.between(k))));
            }
            let found = all.log_densities(&requests)?;
            for (level, found) in levels.iter_mut().zip(found.chunks_exact(PARTS as usize - 1)) {
                level.narrow(found);
            }
        }
        for level in levels {
            let (search, atoms) = (&mut searches[level.search], &mut atoms[level.search]);
            search.points.retain(|p| side * (p.0 - level.inside.0) <= 0.0);
            search.points.extend([level.inside, (level.edge, level.inside.1)]);
            search.open[usize::from(side > 0.0)] = false;
            atoms.retain(|(x, _)| side * (x - level.edge) < 0.0);
            atoms.push((level.value, level.log));
        }
    }
    sort(searches);
    Ok(())
}

/// Into how many parts the way to the edge of a level is cut, and how often.
const PARTS: u32 = 16;
const ROUNDS: usize = 10;

/// A side on which nothing changes.
struct Level {
    search: usize,
    /// The log likelihood there.
    log: f64,
    /// How far it goes, as far as is known, and the first point that is not on it.
    edge: f64,
    inside: (f64, f64),
    /// The value of the data that stands for it.
    value: f64,
}

impl Level {
    fn find(number: usize, search: &Search, side: f64, landmarks: &Landmarks) -> Option<Self> {
        let end = if side > 0.0 { search.domain.upper } else { search.domain.lower };
        let mut points = search.points.clone();
        points.sort_by(|a, b| (side * b.0).total_cmp(&(side * a.0)));
        let log = points.first()?.1;
        let flat = points.iter().take_while(|p| same(p.1, log)).count();
        if end.is_finite() || log == f64::NEG_INFINITY || flat < LEAST_FLAT {
            return None;
        }
        let (edge, inside) = (points[flat - 1].0, *points.get(flat)?);
        let on_level = |x: &&f64| side * (*x - edge) >= 0.0;
        let value = landmarks.repeated.iter().filter(on_level).min_by(|a, b| (side * *a).total_cmp(&(side * *b)));
        Some(Self { search: number, log, edge, inside, value: *value? })
    }

    fn between(&self, k: u32) -> f64 {
        self.edge + (self.inside.0 - self.edge) * f64::from(k) / f64::from(PARTS)
    }

    fn narrow(&mut self, found: &[f64]) {
        let points: Vec<(f64, f64)> = (1..PARTS).map(|k| self.between(k)).zip(found.iter().copied()).collect();
        let flat = points.iter().take_while(|p| same(p.1, self.log)).count();
        if let Some(last) = flat.checked_sub(1) {
            self.edge = points[last].0;
        }
        if let Some(first) = points.get(flat) {
            self.inside = *first;
        }
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + b.abs())
}

/// So many points at the same level are no chance.
const LEAST_FLAT: usize = 20;

/// Whether what lies beyond the last points cannot be left out. There a density falls like 1 / xᵃ⁺¹ at most slowly: what
/// is beyond x is f(x) x / a, relative to what has been seen.
pub fn is_endless(search: &Search) -> bool {
    let top = search.top();
    if top == f64::NEG_INFINITY {
        return false;
    }
    [1.0, -1.0].iter().any(|side| {
        let edge = if *side > 0.0 { search.domain.upper } else { search.domain.lower };
        let mut points = search.points.clone();
        points.sort_by(|a, b| (side * b.0).total_cmp(&(side * a.0)));
        let [end, before, ..] = points.as_slice() else { return false };
        if edge.is_finite() || end.1 < top - NEGLIGIBLE || !search.open[usize::from(*side > 0.0)] {
            return false;
        }
        let centre = points[points.len() / 2].0;
        let (far, near) = ((end.0 - centre).abs(), (before.0 - centre).abs());
        let power = (before.1 - end.1) / (far / near).ln() - 1.0;
        let seen: f64 = points.windows(2).map(|w| (w[0].0 - w[1].0).abs() * (w[0].1.max(w[1].1) - top).exp()).sum();
        power.is_nan() || power <= 0.0 || (end.1 - top).exp() * far / power > MOST_BEYOND * seen
    })
}

/// The share of a density that may lie beyond what is looked at.
const MOST_BEYOND: f64 = 1e-7;
