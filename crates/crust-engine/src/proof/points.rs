//! Where the densities are compared: at draws, and at points from elsewhere.

use crust_math::random::Stream;

use crate::simulate::Simulator;

/// How much is compared: less for large programs.
pub struct Work {
    pub draws: u32,
    pub sets: usize,
    /// Pairs of parameters and data.
    pub pairs: usize,
    /// Draws that are bet on.
    pub bets: u32,
}

/// A data set with more numbers is large.
const LARGE: usize = 300;

/// About how many numbers may be scored for the likelihood.
const BUDGET: usize = 20_000;

impl Work {
    pub fn of(simulator: &Simulator) -> Self {
        let size = simulator.outcome_size().max(1);
        let pairs = (BUDGET / size).clamp(6, 64);
        let sets = match (size > LARGE, simulator.is_complete()) {
            (false, _) => 4,
            (true, false) => 2,
            (true, true) => 1,
        };
        Self { draws: 20, sets, pairs, bets: u32::try_from(BUDGET / size).unwrap_or(u32::MAX).clamp(8, 60) }
    }
}

/// Points of the parameters, draws first.
pub struct Points {
    pub all: Vec<Vec<f64>>,
    /// How many of them are draws.
    pub own: usize,
}

/// Parameters that stand for draws where the likelihood alone is read: given points, and those where Stan begins.
pub fn starts(given: &[Vec<f64>], dimension: usize, number: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let step = given.len().div_ceil(number.max(1)).max(1);
    let mut all: Vec<Vec<f64>> =
        given.iter().filter(|p| p.len() == dimension).step_by(step).take(number).cloned().collect();
    while all.len() < number {
        all.push((0..dimension).map(|_| 4.0 * stream.uniform() - 2.0).collect());
    }
    all
}

/// How many coordinates are moved by themselves.
const ALONE: usize = 16;

/// How many points each kind of disturbance makes.
const EACH: usize = 8;

impl Points {
    /// Points around draws: moved a little and a lot, put together from the coordinates of two, and independent of
    /// them.
    pub fn around(own: Vec<Vec<f64>>, given: &[Vec<f64>], stream: &mut Stream) -> Self {
        let (n, number) = (own.len(), own.len());
        let mut all = own;
        let dimension = all.first().map_or(0, Vec::len);
        for scale in [0.2, 1.0, 3.0] {
            for i in 0..EACH.min(n) {
                let moved: Vec<f64> = all[i].iter().map(|x| x + scale * stream.standard_normal()).collect();
                all.push(moved);
            }
        }
        // One coordinate far out, the others as they are: what is cut off shows.
        for k in 0..dimension.min(ALONE * usize::from(n > 0)) {
            for far in [-8.0, -2.0, 2.0, 8.0] {
                let mut moved = all[k % n].clone();
                moved[k] += far;
                all.push(moved);
            }
        }
        for i in 0..EACH.min(n) {
            let other = (i + 1) % n;
            let mixed: Vec<f64> =
                (0..dimension).map(|k| if stream.uniform() < 0.5 { all[i][k] } else { all[other][k] }).collect();
            all.push(mixed);
        }
        for _ in 0..EACH {
            // where Stan begins
            all.push((0..dimension).map(|_| 4.0 * stream.uniform() - 2.0).collect());
        }
        all.extend(given.iter().filter(|p| p.len() == dimension).cloned());
        Self { all, own: number }
    }

    /// The points themselves, and no others.
    pub fn exactly(own: Vec<Vec<f64>>, given: &[Vec<f64>]) -> Self {
        let (number, mut all) = (own.len(), own);
        all.extend(given.iter().cloned());
        Self { all, own: number }
    }

    /// Some points for a data set: that which it was drawn from, other draws, and points from elsewhere.
    pub fn choose(&self, from: Option<usize>, number: usize, turn: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = from.into_iter().collect();
        let (own, elsewhere) = (self.own.max(1), self.all.len() - self.own);
        for k in 0..number {
            let at = if k % 2 == 0 || elsewhere == 0 {
                (turn + 1 + k / 2) % own
            } else {
                // from the last ones on, so that those which were given are among them
                self.all.len() - 1 - (turn + k / 2 * 3) % elsewhere
            };
            if !chosen.contains(&at) {
                chosen.push(at);
            }
        }
        chosen
    }
}
