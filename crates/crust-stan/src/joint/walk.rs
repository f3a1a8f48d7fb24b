//! Ways through a typed program: every statement, every expression, and copies with something replaced.

use crate::typed::{
    Access, Call, Callee, Constraint, Expr, ExprKind, Index, LoopOver, MessagePart, Place, SizedKind, SizedType, Stmt,
    StmtKind, Tilde, Truncation, VariableId,
};

/// Visits the statements directly below one.
pub fn children<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Stmt)) {
    match &stmt.kind {
        StmtKind::If { branches, otherwise } => {
            branches.iter().for_each(|(_, s)| visit(s));
            otherwise.iter().for_each(|s| visit(s));
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => visit(body),
        StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => list.iter().for_each(visit),
        _ => {}
    }
}

/// Visits a statement and all inside it, each before those inside of it.
pub fn each<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Stmt)) {
    visit(stmt);
    children(stmt, &mut |child| each(child, visit));
}

/// Visits the expressions that a statement itself reads: not those of statements inside it, not sizes of declarations.
pub fn own<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::Declare { initial, .. } => initial.iter().for_each(visit),
        StmtKind::Assign { target, value, .. } => {
            in_place(target, visit);
            visit(value);
        }
        StmtKind::Call(call) => call.arguments.iter().for_each(visit),
        StmtKind::TargetPlus(e)
        | StmtKind::JacobianPlus(e)
        | StmtKind::Return(Some(e))
        | StmtKind::For { over: LoopOver::Each(e), .. }
        | StmtKind::While { condition: e, .. } => visit(e),
        StmtKind::Tilde(tilde) => {
            visit(&tilde.variate);
            tilde.arguments.iter().for_each(&mut *visit);
            bounds(tilde).for_each(visit);
        }
        StmtKind::If { branches, .. } => branches.iter().for_each(|(e, _)| visit(e)),
        StmtKind::For { over: LoopOver::Range { lower, upper }, .. } => [lower, upper].into_iter().for_each(visit),
        StmtKind::Message { parts, .. } => {
            for part in parts {
                if let MessagePart::Value(e) = part {
                    visit(e);
                }
            }
        }
        _ => {}
    }
}

/// Visits what decides whether, and how often, the statements below one are run: conditions, the bounds of a loop, and
/// the conditions under which `break` or `continue` leaves it.
pub fn decides<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::If { branches, .. } => branches.iter().for_each(|(e, _)| visit(e)),
        StmtKind::While { condition, body } => {
            visit(condition);
            leaves(body, &mut Vec::new(), visit);
        }
        StmtKind::For { over, body, .. } => {
            if let LoopOver::Range { lower, upper } = over {
                [lower, upper].into_iter().for_each(&mut *visit);
            }
            leaves(body, &mut Vec::new(), visit);
        }
        _ => {}
    }
}

/// Visits the conditions around each `break` and `continue` of the loop that has this body.
fn leaves<'a>(stmt: &'a Stmt, around: &mut Vec<&'a Expr>, visit: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::Break | StmtKind::Continue => around.iter().for_each(|e| visit(e)),
        // those inside leave the inner loop
        StmtKind::For { .. } | StmtKind::While { .. } => {}
        StmtKind::If { branches, .. } => {
            around.extend(branches.iter().map(|(e, _)| e));
            children(stmt, &mut |child| leaves(child, around, visit));
            around.truncate(around.len() - branches.len());
        }
        _ => children(stmt, &mut |child| leaves(child, around, visit)),
    }
}

/// The bounds of a truncation.
pub fn bounds(tilde: &Tilde) -> impl Iterator<Item = &Expr> {
    tilde.truncation.iter().flat_map(|t| t.lower.iter().chain(&t.upper))
}

/// Visits the expressions in the indices of a place.
pub fn in_place<'a>(place: &'a Place, visit: &mut dyn FnMut(&'a Expr)) {
    match place {
        Place::Tuple(parts) => parts.iter().for_each(|p| in_place(p, visit)),
        Place::Variable { path, .. } => {
            for access in path {
                if let Access::Index(indices) = access {
                    indices.iter().flat_map(Index::parts).for_each(&mut *visit);
                }
            }
        }
    }
}

/// The variables that a place stands for.
pub fn assigned(place: &Place) -> Vec<VariableId> {
    match place {
        Place::Variable { variable, .. } => vec![*variable],
        Place::Tuple(parts) => parts.iter().flat_map(assigned).collect(),
    }
}

/// Visits the expressions directly below one.
pub fn operands<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Call(call) => call.arguments.iter().for_each(visit),
        ExprKind::Index { base, indices } => {
            visit(base);
            indices.iter().flat_map(Index::parts).for_each(visit);
        }
        ExprKind::TuplePart { base: e, .. } | ExprKind::Transpose(e) | ExprKind::Unary { operand: e, .. } => visit(e),
        ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|e| visit(e)),
        ExprKind::Ternary { condition, yes, no } => [condition, yes, no].into_iter().for_each(|e| visit(e)),
        ExprKind::Array(list) | ExprKind::RowVector(list) | ExprKind::Tuple(list) => list.iter().for_each(visit),
        _ => {}
    }
}

/// Visits an expression and all inside it.
pub fn parts<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(expr);
    operands(expr, &mut |e| parts(e, visit));
}

/// Whether some part of an expression passes a test.
pub fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    parts(expr, &mut |e| found = found || test(e));
    found
}

/// Whether a variable stands in an expression.
pub fn mentions(expr: &Expr, id: VariableId) -> bool {
    any(expr, &|e| matches!(e.kind, ExprKind::Variable(v) if v == id))
}

/// The variables in an expression.
pub fn variables(expr: &Expr) -> Vec<VariableId> {
    let mut found = Vec::new();
    parts(expr, &mut |e| {
        if let ExprKind::Variable(id) = e.kind
            && !found.contains(&id)
        {
            found.push(id);
        }
    });
    found
}

/// The variables whose values an expression looks at: `size(x)` does not look at those of `x`.
pub fn looked_at(expr: &Expr) -> Vec<VariableId> {
    let mut found = Vec::new();
    look(expr, &mut found);
    found
}

fn look(expr: &Expr, found: &mut Vec<VariableId>) {
    match &expr.kind {
        ExprKind::Variable(id) if !found.contains(id) => found.push(*id),
        ExprKind::Call(Call { callee: Callee::Library(name), .. })
            if matches!(name.as_str(), "size" | "num_elements" | "rows" | "cols" | "dims") => {}
        _ => operands(expr, &mut |e| look(e, found)),
    }
}

/// Visits the expressions in a declared type: sizes and constraints.
pub fn in_type<'a>(ty: &'a SizedType, visit: &mut dyn FnMut(&'a Expr)) {
    match &ty.kind {
        SizedKind::Plain { constraint, sizes, .. } => {
            sizes.iter().for_each(&mut *visit);
            let Constraint { lower, upper, offset, multiplier } = constraint;
            [lower, upper, offset, multiplier].into_iter().flatten().for_each(visit);
        }
        SizedKind::Special { sizes, .. } => sizes.iter().for_each(visit),
        SizedKind::Array { sizes, element } => {
            sizes.iter().for_each(&mut *visit);
            in_type(element, visit);
        }
        SizedKind::Tuple(parts) => parts.iter().for_each(|p| in_type(p, visit)),
    }
}

/// What a copy replaces: an expression for which this gives another one is not looked into any further.
pub type Replace<'r> = &'r dyn Fn(&Expr) -> Option<Expr>;

/// A copy of an expression.
#[must_use]
pub fn map(expr: &Expr, replace: Replace<'_>) -> Expr {
    if let Some(other) = replace(expr) {
        return other;
    }
    let one = |e: &Expr| map(e, replace);
    let boxed = |e: &Expr| Box::new(map(e, replace));
    let list = |l: &[Expr]| l.iter().map(one).collect::<Vec<_>>();
    let kind = match &expr.kind {
        ExprKind::Call(call) => ExprKind::Call(map_call(call, replace)),
        ExprKind::Index { base, indices } => {
            ExprKind::Index { base: boxed(base), indices: map_indices(indices, replace) }
        }
        ExprKind::TuplePart { base, part } => ExprKind::TuplePart { base: boxed(base), part: *part },
        ExprKind::Unary { op, operand } => ExprKind::Unary { op: *op, operand: boxed(operand) },
        ExprKind::Transpose(e) => ExprKind::Transpose(boxed(e)),
        ExprKind::Binary { op, left, right } => ExprKind::Binary { op: *op, left: boxed(left), right: boxed(right) },
        ExprKind::Ternary { condition, yes, no } => {
            ExprKind::Ternary { condition: boxed(condition), yes: boxed(yes), no: boxed(no) }
        }
        ExprKind::Array(l) => ExprKind::Array(list(l)),
        ExprKind::RowVector(l) => ExprKind::RowVector(list(l)),
        ExprKind::Tuple(l) => ExprKind::Tuple(list(l)),
        other => other.clone(),
    };
    Expr { kind, ..expr.clone_outside() }
}

impl Expr {
    /// The same type, level and place, with nothing in it: spares a copy of what is going to be replaced.
    fn clone_outside(&self) -> Self {
        Self { kind: ExprKind::Error, ty: self.ty.clone(), level: self.level, span: self.span }
    }
}

/// A copy of a call.
#[must_use]
pub fn map_call(call: &Call, replace: Replace<'_>) -> Call {
    let arguments = call.arguments.iter().map(|e| map(e, replace)).collect();
    Call { callee: call.callee.clone(), arguments, unnormalised: call.unnormalised }
}

fn map_indices(indices: &[Index], replace: Replace<'_>) -> Vec<Index> {
    let one = |e: &Expr| map(e, replace);
    indices
        .iter()
        .map(|index| match index {
            Index::All => Index::All,
            Index::One(e) => Index::One(one(e)),
            Index::From(e) => Index::From(one(e)),
            Index::UpTo(e) => Index::UpTo(one(e)),
            Index::Between(a, b) => Index::Between(one(a), one(b)),
        })
        .collect()
}

/// A copy of a place; variables that `rename` gives another one for are exchanged.
#[must_use]
pub fn map_place(place: &Place, replace: Replace<'_>, rename: &dyn Fn(VariableId) -> VariableId) -> Place {
    match place {
        Place::Tuple(parts) => Place::Tuple(parts.iter().map(|p| map_place(p, replace, rename)).collect()),
        Place::Variable { variable, path, ty, span } => {
            let path = path
                .iter()
                .map(|access| match access {
                    Access::Index(indices) => Access::Index(map_indices(indices, replace)),
                    Access::Part(part) => Access::Part(*part),
                })
                .collect();
            Place::Variable { variable: rename(*variable), path, ty: ty.clone(), span: *span }
        }
    }
}

/// A copy of a declared type.
#[must_use]
pub fn map_type(ty: &SizedType, replace: Replace<'_>) -> SizedType {
    let list = |l: &[Expr]| l.iter().map(|e| map(e, replace)).collect::<Vec<_>>();
    let side = |e: &Option<Expr>| e.as_ref().map(|e| map(e, replace));
    let kind = match &ty.kind {
        SizedKind::Plain { base, constraint, sizes } => SizedKind::Plain {
            base: *base,
            constraint: Constraint {
                lower: side(&constraint.lower),
                upper: side(&constraint.upper),
                offset: side(&constraint.offset),
                multiplier: side(&constraint.multiplier),
            },
            sizes: list(sizes),
        },
        SizedKind::Special { special, sizes } => SizedKind::Special { special: *special, sizes: list(sizes) },
        SizedKind::Array { sizes, element } => {
            SizedKind::Array { sizes: list(sizes), element: Box::new(map_type(element, replace)) }
        }
        SizedKind::Tuple(parts) => SizedKind::Tuple(parts.iter().map(|p| map_type(p, replace)).collect()),
    };
    SizedType { kind, span: ty.span }
}

/// A copy of a `~` statement.
#[must_use]
pub fn map_tilde(tilde: &Tilde, replace: Replace<'_>) -> Tilde {
    let side = |e: &Option<Expr>| e.as_ref().map(|e| map(e, replace));
    Tilde {
        variate: map(&tilde.variate, replace),
        density: tilde.density.clone(),
        arguments: tilde.arguments.iter().map(|e| map(e, replace)).collect(),
        truncation: tilde.truncation.as_ref().map(|t| Truncation { lower: side(&t.lower), upper: side(&t.upper) }),
    }
}
