//! Outcomes that the likelihood looks at through a statistic.
//!
//! A program may state the distribution of a number that is computed from the outcome, `binomial_lpmf(sum(y[i]) | T, p)`
//! say. Over the values of y that adds up to more than 1, since many have the same sum. But the posterior knows y through
//! the statistic alone: it is enough to draw that, and to take any y that has it. So values that have the same likelihood
//! at all parameters share the probability of one.

use std::collections::BTreeMap;

use super::Table;

/// How many combinations of values of a block have the same likelihood as each one, by the block's first element: the
/// logarithm, in the order in which combinations are gone through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classes(BTreeMap<usize, Vec<f64>>);

/// Likelihoods are the same if their logarithms agree to so many digits.
const DIGITS: f64 = 1e-10;

impl Classes {
    /// From the distributions at some points of the parameters. Likelihoods that differ at one of them differ.
    pub fn of(tables: &[&[(Vec<usize>, Table)]]) -> Self {
        let mut all = BTreeMap::new();
        let Some((first, others)) = tables.split_first() else { return Self::default() };
        for (at, (elements, table)) in first.iter().enumerate() {
            let (Table::Listed(list), Some(name), true) = (table, elements.first(), elements.len() > 1) else {
                continue;
            };
            let also = others.iter().filter_map(|other| match other.get(at) {
                Some((_, Table::Listed(list))) => Some(list),
                _ => None,
            });
            let lists: Vec<_> = std::iter::once(list).chain(also).collect();
            let alike = |a: usize, b: usize| lists.iter().all(|list| is_same(list[a].1, list[b].1));
            let same = |a: usize| (0..list.len()).filter(|b| alike(a, *b)).count();
            #[allow(clippy::cast_precision_loss, reason = "combinations are few")]
            let sizes = (0..list.len()).map(|a| (same(a) as f64).ln()).collect();
            all.insert(*name, sizes);
        }
        Self(all)
    }

    /// Divides the probability of what the likelihood cannot tell apart.
    pub fn share(&self, blocks: &mut [(Vec<usize>, Table)]) {
        for (elements, table) in blocks {
            let sizes = elements.first().and_then(|first| self.0.get(first));
            if let (Table::Listed(list), Some(sizes)) = (table, sizes) {
                list.iter_mut().zip(sizes).for_each(|((_, x), size)| *x -= size);
            }
        }
    }
}

fn is_same(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq() || (a - b).abs() <= DIGITS * (1.0 + a.abs())
}
