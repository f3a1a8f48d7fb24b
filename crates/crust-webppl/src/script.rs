//! All random decisions of a computation, one after the other: sums over every path through it.

use crate::distributions::Dist;
use crate::error::{Run, fail};
use crate::value::Value;

/// Which way each decision goes. [`Script::next`] leads to the path after this one.
#[derive(Default)]
pub struct Script {
    /// For each decision the way that is taken, and how many there are.
    path: Vec<[usize; 2]>,
    at: usize,
    /// The probability of the path so far.
    pub probability: f64,
}

impl Script {
    pub fn first() -> Self {
        Self { path: Vec::new(), at: 0, probability: 1.0 }
    }

    fn decide(&mut self, ways: usize) -> usize {
        if self.at == self.path.len() {
            self.path.push([0, ways]);
        }
        self.at += 1;
        self.path[self.at - 1][0]
    }

    pub fn draw(&mut self, dist: &Dist) -> Run<Value> {
        let Value::Array(support) = dist.support()? else { return fail("only finite choices can be summed over") };
        let i = self.decide(support.items().len());
        let value = support.items()[i].clone();
        self.probability *= dist.score(&value)?.value().exp();
        Ok(value)
    }

    pub fn index_below(&mut self, n: usize) -> usize {
        self.probability /= n as f64;
        self.decide(n)
    }

    pub fn accepts(&mut self, log_ratio: f64) -> bool {
        let yes = self.decide(2) == 0;
        let p = log_ratio.exp().min(1.0);
        self.probability *= if yes { p } else { 1.0 - p };
        yes
    }

    /// The next path; `None` after the last.
    pub fn next(mut self) -> Option<Self> {
        self.path.truncate(self.at);
        while let Some([way, ways]) = self.path.pop() {
            if way + 1 < ways {
                self.path.push([way + 1, ways]);
                return Some(Self { path: self.path, at: 0, probability: 1.0 });
            }
        }
        None
    }
}
