//! Integers: all values between bounds, or until what is left is negligible; combinations of few values.

use crust_math::random::Stream;

use super::super::SimulateError;
use super::evaluate::{Blocks, Values};
use super::{Domain, Table};

/// Values that are so much less likely than the likeliest are left out: e⁻³⁷ is a unit in the last place.
const NEGLIGIBLE: f64 = 37.0;

/// A walk over integers ends here.
const FARTHEST: f64 = 100_000.0;

type Listed = Vec<(Values, f64)>;

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
fn combined(
    all: &mut Blocks<'_>,
    blocks: &[usize],
    domains: &[Domain],
) -> Result<Vec<(usize, Listed)>, SimulateError> {
    let mut tables: Vec<(usize, Listed)> = blocks.iter().map(|b| (*b, Vec::new())).collect();
    for number in 0.. {
        let mut changes = Vec::new();
        for (b, _) in &tables {
            if let Some(values) = combination(&all.structure.blocks[*b].elements, domains, number) {
                changes.push((*b, values));
            }
        }
        if changes.is_empty() {
            break;
        }
        let found = all.evaluate(&changes)?;
        for ((b, values), x) in changes.into_iter().zip(found) {
            if let Some((_, list)) = tables.iter_mut().find(|(own, _)| *own == b) {
                list.push((values, x));
            }
        }
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

/// A walk in one direction from the given value.
struct Walk {
    block: usize,
    at: f64,
    step: f64,
    end: f64,
    open: bool,
    last: f64,
    /// Values without density in a row.
    empty: u32,
}

/// Single integers: up and down from the given value.
fn walked(all: &mut Blocks<'_>, blocks: &[usize], domains: &[Domain]) -> Result<Vec<(usize, Listed)>, SimulateError> {
    let mut tables: Vec<(usize, Listed, f64)> = Vec::new();
    let mut walks = Vec::new();
    for b in blocks {
        let e = all.structure.blocks[*b].elements[0];
        let (x, domain, start) = (all.base[e], domains[e], all.at_base(*b));
        tables.push((*b, vec![(vec![x], start)], start));
        for (step, end) in [(1.0, domain.upper), (-1.0, domain.lower)] {
            walks.push(Walk { block: tables.len() - 1, at: x, step, end, open: true, last: start, empty: 0 });
        }
    }
    let mut steps = 0.0;
    for direction in [0, 1] {
        loop {
            let mut turns = Vec::new();
            for (i, walk) in walks.iter_mut().enumerate().filter(|(i, w)| i % 2 == direction && w.open) {
                walk.at += walk.step;
                walk.open = if walk.step > 0.0 { walk.at <= walk.end } else { walk.at >= walk.end };
                if walk.open {
                    turns.push(i);
                }
            }
            if turns.is_empty() {
                break;
            }
            let changes: Vec<(usize, Values)> =
                turns.iter().map(|i| (tables[walks[*i].block].0, vec![walks[*i].at])).collect();
            let found = all.evaluate(&changes)?;
            steps += 1.0;
            for (i, x) in turns.into_iter().zip(found) {
                let walk = &mut walks[i];
                let (_, list, top) = &mut tables[walk.block];
                list.push((vec![walk.at], x));
                *top = top.max(x);
                walk.empty = if x == f64::NEG_INFINITY { walk.empty + 1 } else { 0 };
                // The rest of a tail that falls faster than geometrically is below x / (1 − ratio).
                let ratio = (x - walk.last).exp();
                let rest = if ratio < 1.0 { x - (-ratio).ln_1p() } else { f64::INFINITY };
                let beyond = walk.empty >= 3 || (walk.empty == 0 && rest < *top - NEGLIGIBLE);
                walk.open = !beyond && steps < FARTHEST;
                if x > f64::NEG_INFINITY {
                    walk.last = x;
                }
            }
        }
    }
    Ok(tables.into_iter().map(|(b, list, _)| (b, list)).collect())
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
