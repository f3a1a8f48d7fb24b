//! Warnings about programs that are valid, but perhaps not meant (`--pedantic`).

mod operators;
mod priors;
mod unused;

use crate::ast::BlockKind;
use crate::diagnostics::Diagnostic;
use crate::typed::{Access, Expr, Index, LoopOver, MessagePart, Place, Program, SizedKind, SizedType, Stmt, StmtKind};

/// The pedantic warnings for a program without errors.
pub fn pedantic(program: &Program) -> Vec<Diagnostic> {
    let mut warnings = unused::unused_variables(program);
    warnings.extend(priors::priors(program));
    warnings.extend(operators::operators(program));
    warnings
}

/// All statements of the program, each before those inside it.
fn each_statement<'a>(program: &'a Program, visit: &mut dyn FnMut(&'a Stmt)) {
    let bodies = program.functions.iter().map(|f| f.body.as_slice());
    for statements in bodies.chain(BlockKind::ALL.iter().map(|k| program.block(*k))) {
        statements.iter().for_each(|s| within(s, visit));
    }
}

/// A statement and all inside it.
fn within<'a>(statement: &'a Stmt, visit: &mut dyn FnMut(&'a Stmt)) {
    visit(statement);
    match &statement.kind {
        StmtKind::If { branches, otherwise } => {
            branches.iter().for_each(|(_, s)| within(s, visit));
            otherwise.iter().for_each(|s| within(s, visit));
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => within(body, visit),
        StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => list.iter().for_each(|s| within(s, visit)),
        _ => {}
    }
}

/// The expressions that a statement reads, without those of statements inside it.
fn read_by<'a>(program: &'a Program, statement: &'a Stmt) -> Vec<&'a Expr> {
    let mut read = Vec::new();
    match &statement.kind {
        StmtKind::Declare { variable, initial } => {
            read.extend(initial);
            if let Some(declared) = &program.variable(*variable).declared {
                read_by_type(declared, &mut read);
            }
        }
        StmtKind::Assign { target, value, .. } => {
            read_by_place(target, &mut read);
            read.push(value);
        }
        StmtKind::Call(call) => read.extend(&call.arguments),
        StmtKind::TargetPlus(e)
        | StmtKind::JacobianPlus(e)
        | StmtKind::Return(Some(e))
        | StmtKind::For { over: LoopOver::Each(e), .. }
        | StmtKind::While { condition: e, .. } => read.push(e),
        StmtKind::Tilde(tilde) => {
            read.push(&tilde.variate);
            read.extend(&tilde.arguments);
            if let Some(truncation) = &tilde.truncation {
                read.extend(truncation.lower.iter().chain(&truncation.upper));
            }
        }
        StmtKind::If { branches, .. } => read.extend(branches.iter().map(|(condition, _)| condition)),
        StmtKind::For { over: LoopOver::Range { lower, upper }, .. } => read.extend([lower, upper]),
        StmtKind::Message { parts, .. } => read.extend(parts.iter().filter_map(|p| match p {
            MessagePart::Value(e) => Some(e),
            MessagePart::Text(_) => None,
        })),
        _ => {}
    }
    read
}

fn read_by_type<'a>(ty: &'a SizedType, read: &mut Vec<&'a Expr>) {
    match &ty.kind {
        SizedKind::Plain { constraint, sizes, .. } => {
            read.extend(sizes);
            let parts = [&constraint.lower, &constraint.upper, &constraint.offset, &constraint.multiplier];
            read.extend(parts.into_iter().flatten());
        }
        SizedKind::Special { sizes, .. } => read.extend(sizes),
        SizedKind::Array { sizes, element } => {
            read.extend(sizes);
            read_by_type(element, read);
        }
        SizedKind::Tuple(parts) => parts.iter().for_each(|p| read_by_type(p, read)),
    }
}

fn read_by_place<'a>(place: &'a Place, read: &mut Vec<&'a Expr>) {
    match place {
        Place::Tuple(parts) => parts.iter().for_each(|p| read_by_place(p, read)),
        Place::Variable { path, .. } => {
            for access in path {
                let Access::Index(indices) = access else { continue };
                read.extend(indices.iter().flat_map(Index::parts));
            }
        }
    }
}
