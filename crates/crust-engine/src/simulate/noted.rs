//! Terms of the likelihood, noted one by one for many outcomes at the same time.

use std::collections::HashMap;
use std::sync::Arc;

/// The terms of one outcome, summed up for each iteration of the loops around them.
#[derive(Clone, Debug)]
pub struct TermSums {
    /// Numbers made of the loops and their iterations, in ascending order.
    pub keys: Arc<Vec<u64>>,
    pub values: Vec<f64>,
}

impl TermSums {
    pub fn get(&self, key: u64) -> Option<f64> {
        self.keys.binary_search(&key).ok().map(|at| self.values[at])
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, f64)> {
        self.keys.iter().copied().zip(self.values.iter().copied())
    }

    pub fn sum(&self) -> f64 {
        self.values.iter().sum()
    }
}

/// What has been noted so far: a row of lanes for each term.
#[derive(Clone, Debug, Default)]
pub struct Noted {
    /// How many outcomes there are.
    pub lanes: usize,
    /// The row of each term.
    rows: HashMap<u64, usize>,
    values: Vec<f64>,
    /// The loops that are being run, with their iterations.
    path: Vec<(u32, i64)>,
    /// Iterations of loops deeper than this are not told apart.
    pub finest: Option<u32>,
}

/// FNV-1a, begun.
const START: u64 = 0xcbf2_9ce4_8422_2325;

fn eat(hash: u64, x: u64) -> u64 {
    x.to_le_bytes().iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Noted {
    pub fn new(lanes: usize, finest: Option<u32>) -> Self {
        Self { lanes, finest, ..Self::default() }
    }

    /// The next iteration of a loop, by its index or by counting.
    pub fn mark(&mut self, depth: u32, number: u32, index: Option<i64>) {
        let depth = depth as usize;
        let before = self.path.get(depth).filter(|(own, _)| *own == number).map(|(_, n)| *n);
        let index = index.unwrap_or_else(|| before.map_or(1, |n| n + 1));
        self.path.truncate(depth);
        self.path.push((number, index));
    }

    /// The row of a term, to be added to; `element` is its number among others of the same statement.
    pub fn row(&mut self, depth: u32, element: Option<(u32, usize)>) -> &mut [f64] {
        self.path.truncate(depth as usize);
        let finest = self.finest.map_or(usize::MAX, |n| n as usize);
        let element = element.filter(|_| self.path.len() < finest);
        let mut hash = START;
        for (loop_number, index) in self.path.iter().take(finest) {
            hash = eat(eat(hash, u64::from(*loop_number)), index.cast_unsigned());
        }
        if let Some((statement, element)) = element {
            hash = eat(eat(hash, u64::from(statement) | 1 << 40), element as u64);
        }
        let (lanes, next) = (self.lanes, self.rows.len());
        let row = *self.rows.entry(hash).or_insert(next);
        if row == next {
            self.values.resize((next + 1) * lanes, 0.0);
        }
        &mut self.values[row * lanes..(row + 1) * lanes]
    }

    /// The terms of the first outcomes. `keys` are those of an earlier run, which are shared if they are the same.
    pub fn sums(&self, outcomes: usize, keys: &mut Arc<Vec<u64>>) -> Vec<TermSums> {
        let mut order: Vec<(u64, usize)> = self.rows.iter().map(|(key, row)| (*key, *row)).collect();
        order.sort_unstable();
        if !order.iter().map(|(key, _)| key).eq(keys.iter()) {
            *keys = Arc::new(order.iter().map(|(key, _)| *key).collect());
        }
        let of = |lane: usize| TermSums {
            keys: Arc::clone(keys),
            values: order.iter().map(|(_, row)| self.values[row * self.lanes + lane]).collect(),
        };
        (0..outcomes).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_one_iteration_are_one() {
        let mut noted = Noted::new(2, None);
        for i in 1..=3 {
            noted.mark(0, 0, Some(i));
            for x in noted.row(1, None) {
                *x += 1.0;
            }
            noted.row(1, None)[1] += 0.5;
        }
        noted.row(0, Some((7, 0)))[0] -= 1.0;
        let mut keys = Arc::default();
        let sums = noted.sums(2, &mut keys);
        assert_eq!(keys.len(), 4);
        assert!((sums[0].sum() - 2.0).abs() < 1e-15 && (sums[1].sum() - 4.5).abs() < 1e-15);
        let again = noted.sums(1, &mut keys);
        assert!(Arc::ptr_eq(&again[0].keys, &keys) && again[0].get(keys[1]).is_some());
        // all loops are one term
        let mut coarse = Noted::new(1, Some(0));
        coarse.mark(0, 0, Some(1));
        coarse.row(1, Some((3, 1)))[0] += 1.0;
        coarse.row(0, Some((4, 1)))[0] += 1.0;
        assert_eq!(coarse.sums(1, &mut keys)[0].values, [2.0]);
    }
}
