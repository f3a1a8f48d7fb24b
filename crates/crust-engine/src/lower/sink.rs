//! Declarations that stand before a loop but serve each of its iterations anew:
//! `array[K] real ps; for (n in 1:N) { for (k in 1:K) ps[k] = …; … }`. Moved into the loop they do not tie its
//! iterations to each other.

use std::borrow::Cow;

use crust_stan::ast::BlockKind;
use crust_stan::typed::{
    Access, Expr, ExprKind, Index, LoopOver, Origin, Place, Program, SizedKind, SizedType, Stmt, StmtKind, VariableId,
};

use super::analysis::{any, own_expressions, targets, walk};

/// The statements, with declarations inside of loops where that makes no difference.
pub fn into_loops<'a>(program: &Program, list: &'a [Stmt]) -> Cow<'a, [Stmt]> {
    let mut list = Cow::Borrowed(list);
    let mut at = 0;
    while at < list.len() {
        let Some(reader) = only_loop(program, &list, at) else {
            at += 1;
            continue;
        };
        let owned = list.to_mut();
        let declaration = owned.remove(at);
        if let StmtKind::For { body, .. } = &mut owned[reader - 1].kind {
            let span = body.span;
            let inside = match std::mem::replace(&mut body.kind, StmtKind::Skip) {
                StmtKind::Block(inside) => inside,
                kind => vec![Stmt { kind, span }],
            };
            body.kind = StmtKind::Block(std::iter::once(declaration).chain(inside).collect());
        }
    }
    list
}

/// The loop that is all that needs a declaration, if each of its iterations assigns the whole variable before it looks
/// at it.
fn only_loop(program: &Program, list: &[Stmt], at: usize) -> Option<usize> {
    let StmtKind::Declare { variable, initial: None } = list[at].kind else { return None };
    let info = program.variable(variable);
    let sizes = sizes(program, info.declared.as_ref()?)?;
    if info.origin != Origin::Local {
        return None;
    }
    let mut users = (at + 1..list.len()).filter(|&i| mentions(&list[i], variable));
    let (Some(user), None) = (users.next(), users.next()) else { return None };
    renews(&list[user], variable, sizes).then_some(user)
}

/// Whether each iteration of a loop, or of the loop inside of it that is all that needs a variable, assigns the whole
/// of it before it looks at it.
fn renews(stmt: &Stmt, variable: VariableId, sizes: &[Expr]) -> bool {
    let StmtKind::For { over: LoopOver::Range { lower, upper }, body, .. } = &stmt.kind else { return false };
    if [lower, upper].into_iter().any(|bound| reads(bound, variable)) {
        return false;
    }
    let mut users = inside(body).iter().filter(|stmt| mentions(stmt, variable));
    let Some(first) = users.next() else { return false };
    fills(first, variable, sizes) || (users.next().is_none() && renews(first, variable, sizes))
}

/// The size of a variable without constraints and with at most one dimension, if it is known from data.
fn sizes<'a>(program: &Program, declared: &'a SizedType) -> Option<&'a [Expr]> {
    let numbers = |declared: &'a SizedType| match &declared.kind {
        SizedKind::Plain { constraint, sizes, .. } if constraint.is_none() => Some(&sizes[..]),
        _ => None,
    };
    let sizes = match &declared.kind {
        SizedKind::Array { sizes, element } if numbers(element)?.is_empty() => &sizes[..],
        _ => numbers(declared)?,
    };
    let is_data = |size: &Expr| match size.kind {
        ExprKind::Int(_) => true,
        ExprKind::Variable(variable) => {
            matches!(program.variable(variable).origin, Origin::Block(BlockKind::Data | BlockKind::TransformedData))
        }
        _ => false,
    };
    (sizes.len() <= 1 && sizes.iter().all(is_data)).then_some(sizes)
}

fn inside(body: &Stmt) -> &[Stmt] {
    if let StmtKind::Block(list) = &body.kind { list } else { std::slice::from_ref(body) }
}

/// Whether a statement assigns all of a variable, without looking at it.
fn fills(stmt: &Stmt, variable: VariableId, sizes: &[Expr]) -> bool {
    match &stmt.kind {
        StmtKind::Assign { target: Place::Variable { path, .. }, op: None, value } => {
            path.is_empty() && !reads(value, variable)
        }
        StmtKind::For { variable: index, over: LoopOver::Range { lower, upper }, body } => {
            let mut users = inside(body).iter().filter(|stmt| mentions(stmt, variable));
            let (Some(only), None) = (users.next(), users.next()) else { return false };
            let StmtKind::Assign { target: Place::Variable { path, .. }, op: None, value } = &only.kind else {
                return false;
            };
            let [Access::Index(indices)] = &path[..] else { return false };
            let by_index = matches!(&indices[..], [Index::One(Expr { kind: ExprKind::Variable(i), .. })] if i == index);
            let whole = matches!(lower.kind, ExprKind::Int(1)) && sizes == std::slice::from_ref(upper);
            by_index && whole && !reads(value, variable)
        }
        _ => false,
    }
}

fn reads(expr: &Expr, variable: VariableId) -> bool {
    any(expr, &|e| matches!(e.kind, ExprKind::Variable(v) if v == variable))
}

/// Whether a statement, or one inside of it, looks at a variable or assigns to it.
fn mentions(stmt: &Stmt, variable: VariableId) -> bool {
    let mut found = false;
    walk(stmt, &mut |s| {
        own_expressions(s, &mut |e| found = found || reads(e, variable));
        if let StmtKind::Assign { target, .. } = &s.kind {
            let mut all = Vec::new();
            targets(target, &mut all);
            found = found || all.iter().any(|(v, _)| *v == variable);
        }
    });
    found
}
