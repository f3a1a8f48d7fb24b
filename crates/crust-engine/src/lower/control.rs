//! Loops in statements and in the functions that they call.

use crate::code::{Code, DensityCall, Kind, Node, Stmt, StmtKind};
use crate::density::Density;

/// Functions that call each other so deeply count as loops.
const DEEPEST: usize = 8;

/// Whether there are loops in a statement, or in the functions that it calls.
pub fn has_control(code: &Code, stmt: &Stmt) -> bool {
    controls(code, stmt, 0)
}

fn controls(code: &Code, stmt: &Stmt, depth: usize) -> bool {
    let mut found = depth == DEEPEST || matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. });
    stmt.nodes(&mut |node| found = found || calls_loops(code, node, depth));
    stmt.children(&mut |child| found = found || controls(code, child, depth));
    found
}

fn calls_loops(code: &Code, node: &Node, depth: usize) -> bool {
    let mut found = match &node.kind {
        Kind::User { function, .. } => {
            code.functions[*function as usize].body.iter().any(|stmt| controls(code, stmt, depth + 1))
        }
        Kind::HigherOrder(_) => true,
        // The machine takes outcomes one by one, as a loop does.
        Kind::Density(DensityCall { density: Density::Vector(density), .. }) => {
            density.0.name() == "ordered_logistic_lpmf"
        }
        // Computed once, from data.
        Kind::Hoisted(..) => return false,
        _ => false,
    };
    node.children(&mut |child| found = found || calls_loops(code, child, depth));
    found
}
