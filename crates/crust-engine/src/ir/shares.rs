//! Which operations of a kind share a batch: a mixture asks for the same density at the numbers of one component after
//! those of another one. In a batch for each component nothing has to be gathered, and what does not vary is computed
//! once.

use super::graph::{Graph, Op, Ref};

/// Groups with fewer arguments in all stay together.
const FEWEST: usize = 64;

/// So many parts at most.
const MOST_PARTS: usize = 8;

/// What it costs to begin with a batch, in numbers that are gathered.
const BATCH: usize = 8;

/// What it costs if a function is not told that an argument is the same for all items, in numbers that are gathered.
const UNTOLD: usize = 3;

/// The parts of a group of operations of one kind. Those whose slots follow each other are neighbours.
pub fn parts(graph: &Graph, group: &[Ref], slot: &[u32]) -> Vec<Vec<Ref>> {
    let op = graph.op(group[0]);
    let arguments = graph.arguments(group[0]).len();
    if group.len() * arguments < FEWEST || matches!(op, Op::Call(_) | Op::Density(_)) {
        return vec![group.to_vec()];
    }
    let mut best = (cost(graph, group, slot), None);
    // Products with the same data for all items need none of it side by side.
    let kinds = if op == Op::Dot { &[false, true][..] } else { &[false] };
    for &constants in kinds {
        let Some(parts) = by_common(graph, group, constants) else { continue };
        let apart = parts.iter().map(|part| cost(graph, part, slot)).sum();
        if apart < best.0 {
            best = (apart, Some(parts));
        }
    }
    best.1.unwrap_or_else(|| vec![group.to_vec()])
}

/// Operations by those of their arguments of which there are few: constants, or others.
fn by_common(graph: &Graph, group: &[Ref], constants: bool) -> Option<Vec<Vec<Ref>>> {
    let few = |&k: &usize| {
        let mut seen: Vec<Ref> = Vec::new();
        for &node in group {
            let x = graph.arguments(node)[k];
            if !seen.contains(&x) {
                seen.push(x);
                if seen.len() > MOST_PARTS || graph.known(x).is_some() != constants {
                    return false;
                }
            }
        }
        seen.len() > 1
    };
    let common: Vec<usize> = (0..graph.arguments(group[0]).len()).filter(few).collect();
    if common.is_empty() {
        return None;
    }
    let mut parts: Vec<(Vec<Ref>, Vec<Ref>)> = Vec::new();
    for &node in group {
        let key = || common.iter().map(|&k| graph.arguments(node)[k]);
        if let Some((_, part)) = parts.iter_mut().find(|(known, _)| key().eq(known.iter().copied())) {
            part.push(node);
        } else if parts.len() == MOST_PARTS {
            return None;
        } else {
            parts.push((key().collect(), vec![node]));
        }
    }
    Some(parts.into_iter().map(|(_, part)| part).collect())
}

/// What it costs to get the operands of a batch.
fn cost(graph: &Graph, batch: &[Ref], slot: &[u32]) -> usize {
    let untold = if matches!(graph.op(batch[0]), Op::Function(_)) { UNTOLD } else { 1 };
    let of = |k: usize| {
        let first = graph.arguments(batch[0])[k];
        let xs = batch.iter().map(|&node| graph.arguments(node)[k]);
        let at = |x: Ref| slot[x as usize];
        let same = graph.known(first).is_some() || xs.clone().all(|x| x == first);
        let neighbours = || xs.clone().zip(0..).all(|(x, i)| at(x).checked_sub(i) == Some(at(first)));
        if same || neighbours() { 0 } else { batch.len() * untold }
    };
    BATCH + (0..graph.arguments(batch[0]).len()).map(of).sum::<usize>()
}
