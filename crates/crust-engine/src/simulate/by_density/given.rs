//! Likelihoods that are conditional on the first elements of a block.
//!
//! The likelihood of the capture history of an animal in the model of Cormack, Jolly and Seber begins when the animal is
//! first seen. Added up over all histories it is the number of times at which that may be: a constant, but not one.
//! Given the elements up to the first capture it is one. So these stay as they are, and the others are drawn.

use std::collections::BTreeMap;

use super::Table;

/// How many elements of a block stay as they are, by its first element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given(BTreeMap<usize, usize>);

/// How close to one a sum of probabilities is.
const DIGITS: f64 = 1e-9;

impl Given {
    /// From the distributions at some points of the parameters: the fewest elements given which the likelihood of the
    /// others adds up to one. None where it does so without any, or never.
    pub fn of(tables: &[&[(Vec<usize>, Table)]], base: &[f64]) -> Self {
        let mut all = BTreeMap::new();
        let Some((first, others)) = tables.split_first() else { return Self::default() };
        for (at, (elements, table)) in first.iter().enumerate() {
            let (Table::Listed(_), Some(name), true) = (table, elements.first(), elements.len() > 1) else { continue };
            let lists: Vec<_> = std::iter::once(table)
                .chain(others.iter().filter_map(|other| other.get(at).map(|(_, table)| table)))
                .filter_map(|table| if let Table::Listed(list) = table { Some(list) } else { None })
                .collect();
            let is_one = |kept: usize| {
                let own = |values: &[f64]| is_given(values, elements, base, kept);
                let sum = |list: &[(Vec<f64>, f64)]| -> f64 {
                    list.iter().filter(|(values, _)| own(values)).map(|(_, x)| x.exp()).sum()
                };
                lists.iter().all(|list| (sum(list) - 1.0).abs() < DIGITS)
            };
            if let Some(kept) = (0..elements.len()).find(|kept| is_one(*kept)).filter(|kept| *kept > 0) {
                all.insert(*name, kept);
            }
        }
        Self(all)
    }

    /// Leaves out combinations that differ in what is given.
    pub fn keep(&self, blocks: &mut [(Vec<usize>, Table)], base: &[f64]) {
        for (elements, table) in blocks {
            let kept = elements.first().and_then(|first| self.0.get(first));
            if let (Table::Listed(list), Some(kept)) = (table, kept) {
                list.retain(|(values, _)| is_given(values, elements, base, *kept));
            }
        }
    }
}

fn is_given(values: &[f64], elements: &[usize], base: &[f64], kept: usize) -> bool {
    values.iter().zip(elements).take(kept).all(|(x, e)| x.total_cmp(&base[*e]).is_eq())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tosses that count from the first head on: the first toss is given if it is a head, both if the second is.
    #[test]
    fn what_comes_before_is_given() {
        let table = |p: f64| {
            let list = vec![
                (vec![0.0, 0.0], 0.0),
                (vec![0.0, 1.0], 0.0),
                (vec![1.0, 0.0], (1.0 - p).ln()),
                (vec![1.0, 1.0], p.ln()),
            ];
            vec![(vec![4, 5], Table::Listed(list))]
        };
        let (a, b) = (table(0.3), table(0.8));
        let base = [9.0, 9.0, 9.0, 9.0, 1.0, 0.0];
        let given = Given::of(&[&a, &b], &base);
        assert_eq!(given, Given(BTreeMap::from([(4, 1)])));
        let mut kept = table(0.3);
        given.keep(&mut kept, &base);
        assert!(matches!(&kept[0].1, Table::Listed(list) if list.len() == 2 && list[0].0 == [1.0, 0.0]));
        // a likelihood that is a density without it
        let fair =
            vec![(vec![0, 1], Table::Listed(vec![(vec![0.0, 0.0], 0.5_f64.ln()), (vec![1.0, 1.0], 0.5_f64.ln())]))];
        assert_eq!(Given::of(&[&fair], &[0.0, 0.0]), Given::default());
    }
}
