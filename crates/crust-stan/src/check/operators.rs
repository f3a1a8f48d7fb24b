//! Types of operators: each stands for functions of the library.

use super::{Checker, errors};
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::signatures::{self, Resolution};
use crate::span::Span;
use crate::typed::{Expr, ExprKind};
use crate::types::Type;

/// The library functions whose signatures an operator has.
fn binary_functions(op: BinaryOp) -> &'static [&'static str] {
    match op {
        BinaryOp::Or => &["logical_or"],
        BinaryOp::And => &["logical_and"],
        BinaryOp::Equal => &["logical_eq"],
        BinaryOp::NotEqual => &["logical_neq"],
        BinaryOp::Less => &["logical_lt"],
        BinaryOp::LessEqual => &["logical_lte"],
        BinaryOp::Greater => &["logical_gt"],
        BinaryOp::GreaterEqual => &["logical_gte"],
        BinaryOp::Add => &["add"],
        BinaryOp::Subtract => &["subtract"],
        BinaryOp::Multiply => &["multiply"],
        BinaryOp::Divide => &["divide", "mdivide_right"],
        BinaryOp::IntDivide => &[],
        BinaryOp::Modulo => &["modulus"],
        BinaryOp::LeftDivide => &["mdivide_left"],
        BinaryOp::EltMultiply => &["elt_multiply"],
        BinaryOp::EltDivide => &["elt_divide"],
        BinaryOp::Power | BinaryOp::EltPower => &["pow"],
    }
}

/// The type that an operator gives, or `None` if it does not take these operands.
pub(super) fn binary_type(op: BinaryOp, left: &Type, right: &Type) -> Option<Type> {
    if op == BinaryOp::IntDivide {
        let int = |t: &Type| matches!(t, Type::Int | Type::Unknown);
        return (int(left) && int(right)).then_some(Type::Int);
    }
    let operands = [left.clone(), right.clone()];
    binary_functions(op).iter().find_map(|name| returned(signatures::resolve(name, &operands)))
}

fn returned(resolution: Resolution) -> Option<Type> {
    match resolution {
        Resolution::Match(found) => found.returns,
        _ => None,
    }
}

impl Checker {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &ast::Expr, span: Span) -> Expr {
        let operand = self.expression(operand);
        let function = match op {
            UnaryOp::Plus => "plus",
            UnaryOp::Minus => "minus",
            UnaryOp::Not => "logical_negation",
        };
        let ty = returned(signatures::resolve(function, std::slice::from_ref(&operand.ty))).unwrap_or_else(|| {
            self.report(errors::unary_operand(op, &operand.ty, operand.span));
            Type::Unknown
        });
        let level = operand.level;
        Expr { kind: ExprKind::Unary { op, operand: Box::new(operand) }, ty, level, span }
    }

    pub(super) fn transpose(&mut self, operand: &ast::Expr, span: Span) -> Expr {
        let operand = self.expression(operand);
        let ty = returned(signatures::resolve("transpose", std::slice::from_ref(&operand.ty))).unwrap_or_else(|| {
            self.report(errors::transpose_operand(&operand.ty, operand.span));
            Type::Unknown
        });
        let level = operand.level;
        Expr { kind: ExprKind::Transpose(Box::new(operand)), ty, level, span }
    }

    /// A chain of operators can be thousands long, so its left spine is walked in a loop.
    pub(super) fn binary(&mut self, e: &ast::Expr) -> Expr {
        let mut spine = Vec::new();
        let mut leftmost = e;
        while let ast::ExprKind::Binary { op, left, right } = &leftmost.kind {
            spine.push((*op, right, leftmost.span));
            leftmost = left;
        }
        let mut left = self.expression(leftmost);
        for (op, right, span) in spine.into_iter().rev() {
            let right = self.expression(right);
            left = self.binary_node(op, left, right, span);
        }
        left
    }

    fn binary_node(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let ty = binary_type(op, &left.ty, &right.ty).unwrap_or_else(|| {
            self.report(errors::binary_operands(op, &left, &right, span));
            Type::Unknown
        });
        let level = left.level.max(right.level);
        Expr { kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, ty, level, span }
    }
}
