//! Visits every statement and expression of a program, inner ones first.

use super::Migration;
use crate::ast::{
    Block, BlockKind, DeclaredKind, DeclaredType, Expr, ExprKind, Index, LoopOver, MessagePart, Program, Stmt, StmtKind,
};

pub(super) trait Visitor {
    fn expression(&mut self, e: &mut Expr);
    fn statement(&mut self, statement: &mut Stmt);
}

impl Visitor for Migration {
    fn expression(&mut self, e: &mut Expr) {
        Migration::expression(self, e);
    }

    fn statement(&mut self, statement: &mut Stmt) {
        Migration::statement(self, statement);
    }
}

pub(super) fn program(program: &mut Program, visitor: &mut dyn Visitor) {
    let functions = program.functions.iter_mut().flat_map(|b| &mut b.functions);
    for body in functions.filter_map(|f| f.body.as_mut()) {
        block(body, visitor);
    }
    for kind in BlockKind::ALL {
        if let Some(b) = program.block_mut(kind) {
            block(b, visitor);
        }
    }
}

fn block(block: &mut Block, visitor: &mut dyn Visitor) {
    statements(&mut block.statements, visitor);
}

fn statements(list: &mut [Stmt], visitor: &mut dyn Visitor) {
    list.iter_mut().for_each(|s| statement(s, visitor));
}

fn statement(s: &mut Stmt, visitor: &mut dyn Visitor) {
    match &mut s.kind {
        StmtKind::Declare(declaration) => {
            declared_type(&mut declaration.ty, visitor);
            declaration.declarators.iter_mut().filter_map(|d| d.initial.as_mut()).for_each(|e| expression(e, visitor));
        }
        StmtKind::Assign { target, value, .. } => {
            expression(target, visitor);
            expression(value, visitor);
        }
        StmtKind::Call(call) => expressions(&mut call.arguments, visitor),
        StmtKind::TargetPlus(e) | StmtKind::JacobianPlus(e) | StmtKind::Return(Some(e)) => expression(e, visitor),
        StmtKind::Tilde(tilde) => {
            expression(&mut tilde.variate, visitor);
            expressions(&mut tilde.arguments, visitor);
            if let Some(truncation) = &mut tilde.truncation {
                truncation.lower.iter_mut().chain(&mut truncation.upper).for_each(|e| expression(e, visitor));
            }
        }
        StmtKind::If { branches, otherwise } => {
            for branch in branches {
                expression(&mut branch.condition, visitor);
                statement(&mut branch.body, visitor);
            }
            otherwise.iter_mut().for_each(|s| statement(s, visitor));
        }
        StmtKind::For { over, body, .. } => {
            match over {
                LoopOver::Range { lower, upper } => [lower, upper].into_iter().for_each(|e| expression(e, visitor)),
                LoopOver::Each(e) => expression(e, visitor),
            }
            statement(body, visitor);
        }
        StmtKind::While { condition, body } => {
            expression(condition, visitor);
            statement(body, visitor);
        }
        StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => statements(list, visitor),
        StmtKind::Message { parts, .. } => {
            for part in parts {
                if let MessagePart::Value(e) = part {
                    expression(e, visitor);
                }
            }
        }
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) | StmtKind::Skip | StmtKind::Error => {}
    }
    visitor.statement(s);
}

fn declared_type(ty: &mut DeclaredType, visitor: &mut dyn Visitor) {
    match &mut ty.kind {
        DeclaredKind::Plain { constraint, sizes, .. } => {
            let parts =
                [&mut constraint.lower, &mut constraint.upper, &mut constraint.offset, &mut constraint.multiplier];
            parts.into_iter().flatten().for_each(|e| expression(e, visitor));
            expressions(sizes, visitor);
        }
        DeclaredKind::Special { sizes, .. } => expressions(sizes, visitor),
        DeclaredKind::Array { sizes, element } => {
            expressions(sizes, visitor);
            declared_type(element, visitor);
        }
        DeclaredKind::Tuple(parts) => parts.iter_mut().for_each(|p| declared_type(p, visitor)),
    }
}

fn expressions(list: &mut [Expr], visitor: &mut dyn Visitor) {
    list.iter_mut().for_each(|e| expression(e, visitor));
}

fn expression(e: &mut Expr, visitor: &mut dyn Visitor) {
    match &mut e.kind {
        ExprKind::Call(call) => expressions(&mut call.arguments, visitor),
        ExprKind::Index { base, indices } => {
            expression(base, visitor);
            for index in indices {
                match index {
                    Index::All(_) => {}
                    Index::One(e) | Index::From(e) | Index::UpTo(e) => expression(e, visitor),
                    Index::Between(a, b) => {
                        expression(a, visitor);
                        expression(b, visitor);
                    }
                }
            }
        }
        ExprKind::TuplePart { base, .. } => expression(base, visitor),
        ExprKind::Unary { operand, .. } | ExprKind::Transpose(operand) | ExprKind::Paren(operand) => {
            expression(operand, visitor);
        }
        ExprKind::Binary { .. } => left_spine(e, visitor),
        ExprKind::Ternary { condition, yes, no } => {
            [condition, yes, no].into_iter().for_each(|e| expression(e, visitor));
        }
        ExprKind::Array(list) | ExprKind::RowVector(list) | ExprKind::Tuple(list) => expressions(list, visitor),
        ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Imaginary(_)
        | ExprKind::Variable(_)
        | ExprKind::Target
        | ExprKind::Error => {}
    }
    visitor.expression(e);
}

/// A chain of operators may be thousands long: down its left side without recursion. (Operators themselves are not
/// replaced, so the visitor need not see the inner ones.)
fn left_spine(mut e: &mut Expr, visitor: &mut dyn Visitor) {
    loop {
        if !matches!(e.kind, ExprKind::Binary { .. }) {
            return expression(e, visitor);
        }
        let ExprKind::Binary { left, right, .. } = &mut e.kind else { return };
        expression(right, visitor);
        e = left;
    }
}
