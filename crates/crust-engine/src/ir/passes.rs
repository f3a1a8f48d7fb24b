//! Passes over the graph.

use super::graph::{Graph, Op, Ref};
use crate::flat::Function;

/// Which operations anybody needs. A log density is always needed: its arguments may be outside of its domain.
pub fn live(graph: &Graph) -> Vec<bool> {
    let may_fail = |op: Op| match op {
        Op::Function(index) => matches!(graph.functions[index as usize].function, Function::Density(_)),
        Op::Density(_) => true,
        _ => false,
    };
    let mut live: Vec<bool> = graph.nodes.iter().map(|node| may_fail(node.op)).collect();
    let ends = graph.adds.iter().map(|term| &term.x).chain(&graph.guards).chain(&graph.outputs);
    ends.for_each(|&x| live[x as usize] = true);
    for node in (0..crate::memory::cast(live.len())).rev() {
        if live[node as usize] {
            graph.arguments(node).iter().for_each(|&x| live[x as usize] = true);
        }
    }
    live
}

/// How often each number is used by operations that are needed.
fn uses(graph: &Graph, live: &[bool]) -> Vec<u32> {
    let mut uses = vec![0; live.len()];
    for node in (0..crate::memory::cast(live.len())).filter(|&node| live[node as usize]) {
        graph.arguments(node).iter().for_each(|&x| uses[x as usize] += 1);
    }
    let ends = graph.adds.iter().map(|term| &term.x).chain(&graph.guards).chain(&graph.outputs);
    ends.for_each(|&x| uses[x as usize] += 1);
    uses
}

/// Functions of a few numbers whose values only the log density needs, once. Nothing has to be kept of them: their
/// derivatives go to the adjoints of their arguments at once. Where others need numbers of the list the way back comes
/// later, and they would be computed twice.
pub fn endings(graph: &Graph, live: &[bool]) -> Vec<bool> {
    let mut ending = vec![false; live.len()];
    if !graph.outputs.is_empty() {
        return ending;
    }
    let uses = uses(graph, live);
    for term in &graph.adds {
        let x = term.x as usize;
        ending[x] = uses[x] == 1 && term.plain() && matches!(graph.op(term.x), Op::Function(_));
    }
    ending
}

/// Products that are only added to something become one operation with the sum.
pub fn fuse(graph: &mut Graph) {
    let live = live(graph);
    let uses = uses(graph, &live);
    for node in (0..crate::memory::cast(live.len())).filter(|&node| live[node as usize]) {
        let op = graph.op(node);
        let &[a, b] = graph.arguments(node) else { continue };
        let product = |graph: &Graph, x: Ref| match (graph.op(x), graph.arguments(x)) {
            (Op::Multiply, &[p, q]) if uses[x as usize] == 1 => Some([p, q]),
            _ => None,
        };
        match op {
            Op::Add => {
                if let Some([p, q]) = product(graph, b) {
                    graph.replace(node, Op::MultiplyAdd, &[p, q, a]);
                } else if let Some([p, q]) = product(graph, a) {
                    graph.replace(node, Op::MultiplyAdd, &[p, q, b]);
                }
            }
            Op::Subtract => {
                if let Some([p, q]) = product(graph, b) {
                    graph.replace(node, Op::MultiplySubtract, &[p, q, a]);
                }
            }
            _ => {}
        }
    }
}
