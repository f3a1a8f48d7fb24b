//! Sums over ever longer stretches of the same numbers (`log_sum_exp(x[n:N])` for all n): each is the one before it and
//! a little more, so that the list grows with the numbers, not with their square.

use std::collections::HashMap;

use super::graph::{Graph, Op, Ref};
use super::passes::live;

/// So many numbers have to be in common: where a sum waits for another one, they cannot run side by side.
const LEAST: usize = 16;

/// Additions are cheap.
const LEAST_OF_SUMS: usize = 64;

/// Writes sums as what other sums lack.
pub fn nest(graph: &mut Graph) {
    let live = live(graph);
    let least = |op: Op| match op {
        Op::LogSumExp => LEAST,
        Op::Sum => LEAST_OF_SUMS,
        _ => usize::MAX,
    };
    let long: Vec<Ref> = (0..crate::memory::cast(live.len()))
        .filter(|&node| live[node as usize] && graph.arguments(node).len() >= least(graph.op(node)))
        .collect();
    let mut written: HashMap<Ref, Vec<Ref>> = HashMap::new();
    for last in [true, false] {
        let mut families: HashMap<(Op, Ref), Vec<Ref>> = HashMap::new();
        for &node in &long {
            let xs = graph.arguments(node);
            let end = if last { xs[xs.len() - 1] } else { xs[0] };
            families.entry((graph.op(node), end)).or_default().push(node);
        }
        for family in families.values_mut() {
            family.sort_by_key(|&node| (graph.arguments(node).len(), node));
            for pair in family.windows(2) {
                let (short, long) = (graph.arguments(pair[0]), graph.arguments(pair[1]));
                let Some(more) = (if last { long.strip_suffix(short) } else { long.strip_prefix(short) }) else {
                    continue;
                };
                if !more.is_empty() && !written.contains_key(&pair[1]) {
                    written.insert(pair[1], [&[pair[0]], more].concat());
                }
            }
        }
    }
    if written.is_empty() {
        return;
    }
    for (node, xs) in written {
        let op = match (graph.op(node), xs.len()) {
            (Op::Sum, 2) => Op::Add,
            (op, _) => op,
        };
        graph.replace(node, op, &xs);
    }
    reorder(graph);
}

/// Puts operations after those whose results they need.
fn reorder(graph: &mut Graph) {
    let n = graph.nodes.len();
    let (mut place, mut order) = (vec![None; n], Vec::with_capacity(n));
    for node in 0..crate::memory::cast(n) {
        let mut open = vec![node];
        while let Some(&node) = open.last() {
            if place[node as usize].is_some() {
                open.pop();
                continue;
            }
            let before = open.len();
            open.extend(graph.arguments(node).iter().filter(|&&x| place[x as usize].is_none()));
            if open.len() == before {
                open.pop();
                place[node as usize] = Some(crate::memory::cast(order.len()));
                order.push(node);
            }
        }
    }
    graph.rearrange(&order, |x| place[x as usize].unwrap_or(x));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Factor;

    fn inputs(graph: &mut Graph, n: u32) -> Vec<Ref> {
        (0..n).map(|element| graph.input(0, element)).collect()
    }

    #[test]
    fn stretches_with_one_end_are_written_by_each_other() {
        for (last, least) in [(true, LEAST), (false, LEAST)] {
            let mut graph = Graph::default();
            let xs = inputs(&mut graph, 40);
            let slice = |k: usize| if last { &xs[k..] } else { &xs[..40 - k] };
            let sums: Vec<Ref> = (0..40).map(|k| graph.log_sum_exp(slice(k))).collect();
            sums.iter().for_each(|&x| graph.add(x, Factor::Likelihood));
            nest(&mut graph);
            let lengths: Vec<usize> = graph.adds.iter().map(|term| graph.arguments(term.x).len()).collect();
            assert!(lengths[..40 - least].iter().all(|&n| n == 2), "{lengths:?}");
            assert_eq!(lengths[40 - least], least);
            for node in 0..crate::memory::cast(graph.nodes.len()) {
                assert!(graph.arguments(node).iter().all(|&x| x < node), "what is needed comes first");
            }
        }
    }

    #[test]
    fn other_sums_stay() {
        let mut graph = Graph::default();
        let xs = inputs(&mut graph, 40);
        let sums = [graph.log_sum_exp(&xs[..20]), graph.log_sum_exp(&xs[20..]), graph.log_sum_exp(&xs[1..21])];
        sums.iter().for_each(|&x| graph.add(x, Factor::Likelihood));
        nest(&mut graph);
        assert!(graph.adds.iter().all(|term| graph.arguments(term.x).len() == 20));
    }
}
