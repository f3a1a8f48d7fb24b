//! Points at which a density is infinite, such as 0 for a beta density with a first argument below 1.
//!
//! Near such a point the density is a power of the distance d to it, c dᵖ with −1 < p < 0. No rule of quadrature sees
//! all of what lies there: with p = −0.8 a fiftieth of a uniform beginning lies within 10⁻⁸·⁵ of it. But
//!
//! > ∫₀ʳ c dᵖ dd = c rᵖ⁺¹ / (p + 1),
//!
//! and a draw from that part is d = r u^(1 / (p + 1)).

use crust_math::special::erfcx;

use super::super::SimulateError;
use super::line::{Along, Atoms, Search, sort};

/// What lies between such a point and its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Pole {
    at: f64,
    /// How far it goes, and in which direction.
    reach: f64,
    power: f64,
    /// The logarithm of its integral.
    pub log: f64,
}

/// How often the way to the point is halved before the density there is taken for a power of the distance.
const HALVINGS: i32 = 30;

/// Smaller powers than this grow too slowly to matter.
const LEAST_POWER: f64 = 1e-3;

impl Pole {
    /// A draw from this part, by a uniform number.
    pub fn draw(&self, u: f64) -> f64 {
        let x = self.at + self.reach * u.powf(1.0 / (1.0 + self.power));
        // The point itself may have a probability of its own.
        if x.total_cmp(&self.at).is_eq() { self.at + self.reach } else { x }
    }

    /// Whether the panel between two points is this part.
    pub fn covers(&self, from: f64, to: f64) -> bool {
        let other = self.at + self.reach;
        from >= self.at.min(other) && to <= self.at.max(other)
    }
}

/// A point beside which there may be such parts.
struct Candidate {
    search: usize,
    at: f64,
    /// To the next points on both sides that have been looked at, where there are any.
    ways: Vec<f64>,
}

/// Looks beside values that have a probability of their own, and at bounds at which the density is infinite.
pub fn find(all: &mut dyn Along, searches: &mut [Search], atoms: &[Atoms]) -> Result<(), SimulateError> {
    sort(searches);
    let mut candidates = Vec::new();
    for (i, (search, atoms)) in searches.iter().zip(atoms).enumerate() {
        let infinite = search.points.iter().filter(|(_, log)| *log == f64::INFINITY).map(|(x, _)| *x);
        for at in atoms.iter().map(|(x, _)| *x).chain(infinite) {
            let finite = || search.points.iter().filter(|p| p.1.is_finite());
            let above = finite().find(|p| p.0 > at);
            let below = finite().rev().find(|p| p.0 < at);
            let ways = above.into_iter().chain(below).map(|p| p.0 - at).collect();
            candidates.push(Candidate { search: i, at, ways });
        }
    }
    let mut requests = Vec::new();
    for c in &candidates {
        for way in &c.ways {
            requests.extend(halves().map(|part| (searches[c.search].line, c.at + part * way)));
        }
    }
    let found = if requests.is_empty() { Vec::new() } else { all.log_densities(&requests)? };
    let mut rungs = requests.iter().map(|(_, x)| *x).zip(found);
    for c in &candidates {
        let sides: Vec<Vec<(f64, f64)>> =
            c.ways.iter().map(|_| rungs.by_ref().take(halves().count()).collect()).collect();
        settle(&mut searches[c.search], c.at, &sides)?;
    }
    sort(searches);
    Ok(())
}

/// Parts of the way to a point.
fn halves() -> impl Iterator<Item = f64> {
    (1..=HALVINGS).map(|k| 0.5_f64.powi(k))
}

/// Adds the parts beside a point, where the density grows towards it. Other points come closer to it by halves.
fn settle(search: &mut Search, at: f64, sides: &[Vec<(f64, f64)>]) -> Result<(), SimulateError> {
    // On a side without such a part the density goes on to the point.
    let mut here = f64::NEG_INFINITY;
    let mut poles = Vec::new();
    for rungs in sides {
        let [.., earlier, before, last] = rungs.as_slice() else { continue };
        let power = (before.1 - last.1) / std::f64::consts::LN_2;
        let bend = (2.0 * before.1 - earlier.1 - last.1) / std::f64::consts::LN_2.powi(2);
        if !(power < -LEAST_POWER && last.1.is_finite()) {
            here = last.1;
            continue;
        }
        if power <= -1.0 + LEAST_POWER {
            return Err(SimulateError::Endless);
        }
        let reach = last.0 - at;
        poles.push(Pole { at, reach, power, log: last.1 + reach.abs().ln() + log_part(1.0 + power, bend) });
    }
    let own = search.points.iter().position(|p| p.0.total_cmp(&at).is_eq());
    if poles.is_empty() && own.is_none_or(|own| search.points[own].1.is_finite()) {
        return Ok(());
    }
    match own {
        Some(own) => search.points[own].1 = here,
        None => search.points.push((at, here)),
    }
    search.points.extend(sides.iter().flatten());
    search.poles.extend(poles);
    Ok(())
}

/// log ∫ e^(pu − qu²/2) du from −∞ to 0: what lies beside a point, relative to the density times the distance, if in u = log
/// of the distance the density is that of a normal variate, as a lognormal one is. With q = 0 that is −log p, and with
/// a = p/√(2q) it is log √(π/2q) e^(a²) erfc(a). The slope is that between two points, so that half of what it changes is
/// added.
fn log_part(p: f64, q: f64) -> f64 {
    /// Below, rounding makes it.
    const LEAST_BEND: f64 = 1e-6;
    if q < LEAST_BEND {
        return -p.ln();
    }
    let slope = p + 0.5 * q * std::f64::consts::LN_2;
    0.5 * (std::f64::consts::FRAC_PI_2 / q).ln() + erfcx(slope / (2.0 * q).sqrt()).ln()
}
