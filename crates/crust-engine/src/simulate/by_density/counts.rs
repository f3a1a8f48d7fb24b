//! Integers: all values between bounds, or until what is left is negligible; combinations of few values.

mod walk;

use std::collections::BTreeMap;

use crust_math::random::Stream;

use super::super::SimulateError;
use super::evaluate::{Blocks, Values};
use super::line::Along;
use super::{Domain, Table};
use walk::{Found, elsewhere, walk_from};

/// Values that are so much less likely than the likeliest are left out: e⁻³⁷ is a unit in the last place.
const NEGLIGIBLE: f64 = 37.0;

pub type Listed = Vec<(Values, f64)>;

/// The distributions of all blocks of integers.
pub fn tables(all: &mut Blocks<'_>, domains: &[Domain]) -> Result<Vec<(Vec<usize>, Table)>, SimulateError> {
    let structure = all.structure;
    let discrete = |b: &usize| structure.blocks[*b].elements.iter().all(|e| domains[*e].integer);
    let (joint, alone): (Vec<usize>, Vec<usize>) =
        (0..structure.blocks.len()).filter(discrete).partition(|b| structure.blocks[*b].elements.len() > 1);
    let mut found = combined(all, &joint, domains)?;
    found.extend(walked(all, &alone, domains)?);
    let list = |(b, list): (usize, Listed)| (structure.blocks[b].elements.clone(), Table::Listed(list));
    Ok(found.into_iter().map(list).collect())
}

/// All combinations of the values of several elements.
fn combined(all: &mut Blocks<'_>, blocks: &[usize], domains: &[Domain]) -> Result<Vec<(usize, Listed)>, SimulateError> {
    let mut changes = Vec::new();
    for b in blocks {
        let elements = &all.structure.blocks[*b].elements;
        changes.extend((0..).map_while(|number| combination(elements, domains, number)).map(|values| (*b, values)));
    }
    let found = all.evaluate(&changes)?;
    let mut tables: Vec<(usize, Listed)> = blocks.iter().map(|b| (*b, Vec::new())).collect();
    let place: BTreeMap<usize, usize> = blocks.iter().copied().zip(0..).collect();
    for ((b, values), x) in changes.into_iter().zip(found) {
        tables[place[&b]].1.push((values, x));
    }
    Ok(tables)
}

/// A combination of values by its number.
fn combination(elements: &[usize], domains: &[Domain], number: u64) -> Option<Values> {
    let mut rest = number;
    let mut values = Vec::new();
    for e in elements {
        let domain = domains[*e];
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounds are close to each other")]
        let count = (domain.upper - domain.lower + 1.0) as u64;
        #[allow(clippy::cast_precision_loss, reason = "bounds are close to each other")]
        values.push(domain.lower + (rest % count) as f64);
        rest /= count;
    }
    (rest == 0).then_some(values)
}

/// Single integers: up and down from the given value.
fn walked(all: &mut Blocks<'_>, blocks: &[usize], domains: &[Domain]) -> Result<Vec<(usize, Listed)>, SimulateError> {
    let start = |b: &usize| {
        let e = all.structure.blocks[*b].elements[0];
        Start { line: *b, at: all.base[e], value: all.at_base(*b), domain: domains[e] }
    };
    let starts: Vec<Start> = blocks.iter().map(start).collect();
    let lists = walk(all, &starts)?;
    Ok(blocks.iter().copied().zip(lists).collect())
}

/// One integer.
pub fn along(all: &mut dyn Along, at: f64, domain: Domain) -> Result<Listed, SimulateError> {
    let value = all.log_densities(&[(0, at)])?[0];
    Ok(walk(all, &[Start { line: 0, at, value, domain }])?.remove(0))
}

/// A line along which there are integers, and the one that is given.
struct Start {
    line: usize,
    at: f64,
    value: f64,
    domain: Domain,
}

fn walk(all: &mut dyn Along, starts: &[Start]) -> Result<Vec<Listed>, SimulateError> {
    let own: Vec<(usize, f64)> = starts.iter().enumerate().map(|(i, s)| (i, s.at)).collect();
    let mut found: Vec<Found> = starts.iter().map(|s| Found::new(s.at, s.value)).collect();
    walk_from(all, starts, &own, &mut found)?;
    let peaks = elsewhere(all, starts, &found)?;
    for (i, _, value) in &peaks {
        found[*i].top = found[*i].top.max(*value);
    }
    let mut more = Vec::new();
    for (i, at, value) in peaks {
        if value > found[i].top - NEGLIGIBLE && found[i].add(at, value) {
            more.push((i, at));
        }
    }
    walk_from(all, starts, &more, &mut found)?;
    Ok(found.into_iter().map(|found| found.list).collect())
}
/// log Σ exp.
pub fn log_sum(list: &[(Values, f64)]) -> f64 {
    let top = list.iter().map(|(_, x)| *x).fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + list.iter().map(|(_, x)| (x - top).exp()).sum::<f64>().ln()
}

/// One of the combinations, and the logarithm of the sum of all weights.
pub fn draw(list: &[(Values, f64)], stream: &mut Stream) -> (Values, f64) {
    let total = log_sum(list);
    let mut u = stream.uniform();
    for (values, x) in list {
        u -= (x - total).exp();
        if u < 0.0 {
            return (values.clone(), total);
        }
    }
    let best = list.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    (best.map(|(values, _)| values.clone()).unwrap_or_default(), total)
}
