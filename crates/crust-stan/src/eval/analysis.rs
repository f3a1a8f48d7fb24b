//! What a statement may do, found without running it: needed where it is not known whether it runs.

use crate::typed::{Place, Stmt, StmtKind, VariableId};

/// How a statement may leave the statements around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exits {
    /// `break` or `continue` of a loop around the statement.
    pub from_loop: bool,
    pub from_function: bool,
}

/// Adds the variables that a statement may assign to.
pub(super) fn assigned(stmt: &Stmt, into: &mut Vec<VariableId>) {
    match &stmt.kind {
        StmtKind::Assign { target, .. } => targets(target, into),
        StmtKind::Declare { variable, .. } => into.push(*variable),
        _ => {}
    }
    children(stmt, &mut |child| assigned(child, into));
}

fn targets(place: &Place, into: &mut Vec<VariableId>) {
    match place {
        Place::Variable { variable, .. } => into.push(*variable),
        Place::Tuple(places) => places.iter().for_each(|p| targets(p, into)),
    }
}

/// Adds the variables declared in the statements, loop variables among them.
pub(super) fn declared(statements: &[Stmt], into: &mut Vec<VariableId>) {
    for stmt in statements {
        match &stmt.kind {
            StmtKind::Declare { variable, .. } | StmtKind::For { variable, .. } => into.push(*variable),
            _ => {}
        }
        children(stmt, &mut |child| declared(std::slice::from_ref(child), into));
    }
}

pub(super) fn exits(stmt: &Stmt) -> Exits {
    let mut exits = Exits::default();
    match &stmt.kind {
        StmtKind::Break | StmtKind::Continue => exits.from_loop = true,
        StmtKind::Return(_) => exits.from_function = true,
        _ => {}
    }
    let is_loop = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
    children(stmt, &mut |child| {
        let inner = self::exits(child);
        exits.from_loop |= inner.from_loop && !is_loop;
        exits.from_function |= inner.from_function;
    });
    exits
}

/// Visits the statements directly below one.
fn children(stmt: &Stmt, visit: &mut dyn FnMut(&Stmt)) {
    match &stmt.kind {
        StmtKind::If { branches, otherwise } => {
            for (_, body) in branches {
                visit(body);
            }
            if let Some(body) = otherwise {
                visit(body);
            }
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => visit(body),
        StmtKind::Block(body) | StmtKind::Profile { body, .. } => body.iter().for_each(visit),
        _ => {}
    }
}
