//! What can be known of a program without running it: which variables depend on parameters, what a statement changes,
//! whether iterations of a loop may run side by side.

#![allow(clippy::match_same_arms, reason = "one line for each kind reads better")]

use std::collections::{BTreeSet, HashSet};

use crust_stan::ast::{BlockKind, MessageKind};
use crust_stan::typed::{
    Access, Call, Callee, Expr, ExprKind, Index, LoopOver, MessagePart, Origin, Place, Program, Stmt, StmtKind,
    VariableId,
};

/// Visits the statements directly below one.
pub fn children<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Stmt)) {
    match &stmt.kind {
        StmtKind::If { branches, otherwise } => {
            branches.iter().for_each(|(_, s)| visit(s));
            if let Some(s) = otherwise {
                visit(s);
            }
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => visit(body),
        StmtKind::Block(body) | StmtKind::Profile { body, .. } => body.iter().for_each(visit),
        _ => {}
    }
}

/// Visits a statement and all statements inside it.
pub fn walk<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Stmt)) {
    visit(stmt);
    children(stmt, &mut |child| walk(child, visit));
}

/// Visits the expressions that belong to a statement itself, those on its left-hand side included.
pub fn own_expressions<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::Declare { initial, .. } => initial.iter().for_each(visit),
        StmtKind::Assign { target, value, .. } => {
            place_expressions(target, visit);
            visit(value);
        }
        StmtKind::Call(call) => call.arguments.iter().for_each(visit),
        StmtKind::TargetPlus(e) | StmtKind::JacobianPlus(e) | StmtKind::While { condition: e, .. } => visit(e),
        StmtKind::Tilde(tilde) => {
            visit(&tilde.variate);
            tilde.arguments.iter().for_each(&mut *visit);
            if let Some(truncation) = &tilde.truncation {
                [&truncation.lower, &truncation.upper].into_iter().flatten().for_each(visit);
            }
        }
        StmtKind::If { branches, .. } => branches.iter().for_each(|(e, _)| visit(e)),
        StmtKind::For { over: LoopOver::Range { lower, upper }, .. } => {
            visit(lower);
            visit(upper);
        }
        StmtKind::For { over: LoopOver::Each(e), .. } | StmtKind::Return(Some(e)) => visit(e),
        StmtKind::Message { parts, .. } => {
            for part in parts {
                if let MessagePart::Value(e) = part {
                    visit(e);
                }
            }
        }
        StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(None)
        | StmtKind::Block(_)
        | StmtKind::Profile { .. }
        | StmtKind::Skip => {}
    }
}

fn place_expressions<'a>(place: &'a Place, visit: &mut dyn FnMut(&'a Expr)) {
    match place {
        Place::Variable { path, .. } => {
            for step in path {
                if let Access::Index(indices) = step {
                    indices.iter().flat_map(Index::parts).for_each(&mut *visit);
                }
            }
        }
        Place::Tuple(places) => places.iter().for_each(|p| place_expressions(p, visit)),
    }
}

/// Visits the expressions directly below one.
pub fn operands<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Imaginary(_)
        | ExprKind::Variable(_)
        | ExprKind::FunctionName { .. }
        | ExprKind::Target
        | ExprKind::Error => {}
        ExprKind::Call(call) => call.arguments.iter().for_each(visit),
        ExprKind::Index { base, indices } => {
            visit(base);
            indices.iter().flat_map(Index::parts).for_each(visit);
        }
        ExprKind::TuplePart { base, .. } | ExprKind::Transpose(base) => visit(base),
        ExprKind::Unary { operand, .. } => visit(operand),
        ExprKind::Binary { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExprKind::Ternary { condition, yes, no } => [condition, yes, no].into_iter().for_each(|e| visit(e)),
        ExprKind::Array(list) | ExprKind::RowVector(list) | ExprKind::Tuple(list) => list.iter().for_each(visit),
    }
}

/// Whether some expression inside this one, or itself, satisfies the test.
pub fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = test(expr);
    operands(expr, &mut |e| found = found || any(e, test));
    found
}

/// Adds the variables declared in the statements, loop variables among them.
pub fn declared(statements: &[Stmt], into: &mut Vec<VariableId>) {
    for stmt in statements {
        walk(stmt, &mut |s| match &s.kind {
            StmtKind::Declare { variable, .. } | StmtKind::For { variable, .. } => into.push(*variable),
            _ => {}
        });
    }
}

pub fn targets<'a>(place: &'a Place, into: &mut Vec<(VariableId, &'a [Access])>) {
    match place {
        Place::Variable { variable, path, .. } => into.push((*variable, path)),
        Place::Tuple(places) => places.iter().for_each(|p| targets(p, into)),
    }
}

/// What a statement assigns to, itself and everything inside it.
fn assigned(stmt: &Stmt) -> Vec<(VariableId, &[Access])> {
    let mut all = Vec::new();
    walk(stmt, &mut |s| {
        if let StmtKind::Assign { target, .. } = &s.kind {
            targets(target, &mut all);
        }
    });
    all
}

/// The statements of all functions and blocks.
fn bodies(program: &Program) -> impl Iterator<Item = &[Stmt]> {
    let functions = program.functions.iter().map(|f| f.body.as_slice());
    functions.chain(program.blocks.iter().flatten().map(|b| b.statements.as_slice()))
}

/// Adds the variables that a statement declares or assigns to itself, not by the statements inside it.
pub fn assigned_here(stmt: &Stmt, into: &mut BTreeSet<VariableId>) {
    match &stmt.kind {
        StmtKind::Declare { variable, .. } => {
            into.insert(*variable);
        }
        StmtKind::Assign { target, .. } => {
            let mut found = Vec::new();
            targets(target, &mut found);
            into.extend(found.into_iter().map(|(id, _)| id));
        }
        _ => {}
    }
}

/// The variables that are assigned by element somewhere.
pub fn mutable(program: &Program) -> HashSet<VariableId> {
    let statements = bodies(program).flatten();
    statements.flat_map(assigned).filter(|(_, path)| !path.is_empty()).map(|(id, _)| id).collect()
}

/// Whether all that a statement does is to add to the log density: no variable around it changes and control goes on
/// behind it.
pub fn is_pure(stmt: &Stmt) -> bool {
    if matches!(stmt.kind, StmtKind::Declare { .. }) {
        return false;
    }
    let mut inside = Vec::new();
    declared(std::slice::from_ref(stmt), &mut inside);
    let inside: HashSet<_> = inside.into_iter().collect();
    assigned(stmt).iter().all(|(id, _)| inside.contains(id)) && !leaves(stmt)
}

/// Whether control may leave the statement other than at its end.
fn leaves(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => true,
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => returns(body),
        _ => {
            let mut found = false;
            children(stmt, &mut |child| found = found || leaves(child));
            found
        }
    }
}

fn returns(stmt: &Stmt) -> bool {
    let mut found = false;
    walk(stmt, &mut |s| found = found || matches!(s.kind, StmtKind::Return(_)));
    found
}

/// Whether the iterations of a loop over `variable` may run side by side: each changes only what is its own.
///
/// A variable from outside may be assigned to if one of its indices is the loop variable, the same one wherever the
/// variable stands in the loop: then every iteration has its own part.
pub fn is_parallel(program: &Program, variable: VariableId, body: &Stmt) -> bool {
    let mut inside = Vec::new();
    declared(std::slice::from_ref(body), &mut inside);
    let inside: HashSet<_> = inside.into_iter().collect();
    if leaves(body) || has_order(program, body) {
        return false;
    }
    let mut changed: Vec<(VariableId, usize)> = Vec::new();
    for (id, path) in assigned(body) {
        if inside.contains(&id) {
            continue;
        }
        let Some(Access::Index(indices)) = path.first() else { return false };
        if path.iter().any(|step| matches!(step, Access::Part(_))) {
            return false;
        }
        let Some(place) = indices.iter().position(|i| is_index(i, variable)) else { return false };
        if changed.iter().any(|&(other, at)| other == id && at != place) {
            return false;
        }
        changed.push((id, place));
    }
    changed.iter().all(|&(id, place)| uses_own_part(body, variable, id, place))
}

fn is_index(index: &Index, variable: VariableId) -> bool {
    matches!(index, Index::One(Expr { kind: ExprKind::Variable(id), .. }) if *id == variable)
}

/// Whether the order of iterations shows: something is printed or drawn at random.
fn has_order(program: &Program, body: &Stmt) -> bool {
    let mut found = false;
    walk(body, &mut |s| {
        found |= matches!(s.kind, StmtKind::Message { kind: MessageKind::Print, .. });
        found |= matches!(&s.kind, StmtKind::Call(call) if draws(program, call));
        own_expressions(s, &mut |e| {
            found = found
                || any(e, &|e| match &e.kind {
                    ExprKind::Call(call) => draws(program, call),
                    ExprKind::Target => true,
                    _ => false,
                });
        });
    });
    found
}

fn draws(program: &Program, call: &Call) -> bool {
    match &call.callee {
        Callee::Library(name) => name.ends_with("_rng"),
        Callee::User(id) => program.function(*id).name.ends_with("_rng"),
    }
}

/// Whether `id` stands in `body` only with the loop variable as index number `place`.
fn uses_own_part(body: &Stmt, variable: VariableId, id: VariableId, place: usize) -> bool {
    fn expression(e: &Expr, variable: VariableId, id: VariableId, place: usize) -> bool {
        if let ExprKind::Index { base, indices } = &e.kind
            && matches!(base.kind, ExprKind::Variable(v) if v == id)
        {
            return indices.get(place).is_some_and(|i| is_index(i, variable))
                && indices.iter().flat_map(Index::parts).all(|e| expression(e, variable, id, place));
        }
        if matches!(e.kind, ExprKind::Variable(v) if v == id) {
            return false;
        }
        let mut fine = true;
        operands(e, &mut |e| fine = fine && expression(e, variable, id, place));
        fine
    }
    let mut fine = true;
    walk(body, &mut |s| own_expressions(s, &mut |e| fine = fine && expression(e, variable, id, place)));
    fine
}

/// Whether a statement contains a loop that [`is_parallel`].
pub fn has_parallel_loop(program: &Program, stmt: &Stmt) -> bool {
    let mut found = false;
    walk(stmt, &mut |s| {
        if let StmtKind::For { variable, over: LoopOver::Range { .. }, body } = &s.kind {
            found = found || is_parallel(program, *variable, body);
        }
    });
    found
}

/// What a program does with `target()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetReads {
    /// It looks at it at all: then it matters in which order terms are added.
    pub any: bool,
    /// It computes with it, and does not merely print it: then its derivative matters too.
    pub as_value: bool,
}

pub fn reads_target(program: &Program) -> TargetReads {
    let mut reads = TargetReads::default();
    for stmt in bodies(program).flatten() {
        walk(stmt, &mut |s| {
            let mut found = false;
            own_expressions(s, &mut |e| found = found || any(e, &|e| matches!(e.kind, ExprKind::Target)));
            reads.any |= found;
            reads.as_value |= found && !matches!(s.kind, StmtKind::Message { .. });
        });
    }
    reads
}

/// Whether an expression depends on nothing but data, and gives the same value whenever it is computed.
pub fn is_constant(program: &Program, expr: &Expr) -> bool {
    !any(expr, &|e| match &e.kind {
        ExprKind::Variable(id) => {
            let origin = program.variable(*id).origin;
            !matches!(origin, Origin::Block(BlockKind::Data | BlockKind::TransformedData))
        }
        // Which terms an unnormalised density drops is decided by each evaluation.
        ExprKind::Call(call) => call.unnormalised || draws(program, call) || is_lp(program, call),
        ExprKind::FunctionName { .. } | ExprKind::Target | ExprKind::Error => true,
        _ => false,
    })
}

fn is_lp(program: &Program, call: &Call) -> bool {
    matches!(&call.callee, Callee::User(id) if program.function(*id).name.ends_with("_lp"))
}
