//! Declared constraints: bounds of numbers, and types that are named after their constraint.

use crate::ast::SpecialType;
use crate::typed::{Constraint, Expr, ExprKind, Program, SizedKind, SizedType, VariableId};

/// The bounds in a declaration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds<'a> {
    pub lower: Option<&'a Expr>,
    pub upper: Option<&'a Expr>,
}

impl Bounds<'_> {
    pub fn is_none(&self) -> bool {
        self.lower.is_none() && self.upper.is_none()
    }
}

/// The bounds of a variable; none for types that are named after their constraint.
pub fn declared_bounds(program: &Program, id: VariableId) -> Bounds<'_> {
    match element(program, id).map(|ty| &ty.kind) {
        Some(SizedKind::Plain { constraint: Constraint { lower, upper, .. }, .. }) => Bounds {
            lower: lower.as_ref().filter(|e| !is_infinite(e)),
            upper: upper.as_ref().filter(|e| !is_infinite(e)),
        },
        _ => Bounds::default(),
    }
}

/// The special type of a variable, such as `simplex`.
pub fn special_type(program: &Program, id: VariableId) -> Option<SpecialType> {
    match element(program, id).map(|ty| &ty.kind) {
        Some(SizedKind::Special { special, .. }) => Some(*special),
        _ => None,
    }
}

/// The declared type below all arrays.
fn element(program: &Program, id: VariableId) -> Option<&SizedType> {
    let mut ty = program.variable(id).declared.as_ref()?;
    while let SizedKind::Array { element, .. } = &ty.kind {
        ty = element;
    }
    Some(ty)
}

/// `negative_infinity()` as a bound is none.
fn is_infinite(e: &Expr) -> bool {
    let callee = |e: &Expr| match &e.kind {
        ExprKind::Call(call) => match &call.callee {
            crate::typed::Callee::Library(name) => name == "negative_infinity" || name == "positive_infinity",
            crate::typed::Callee::User(_) => false,
        },
        _ => false,
    };
    match &e.kind {
        ExprKind::Unary { operand, .. } => callee(operand),
        _ => callee(e),
    }
}

/// The number that an expression is, where that is plain to see.
pub(super) fn constant(e: &Expr) -> Option<f64> {
    match &e.kind {
        #[expect(clippy::cast_precision_loss, reason = "integers of a program have 32 bits")]
        ExprKind::Int(n) => Some(*n as f64),
        ExprKind::Real(x) => Some(*x),
        ExprKind::Unary { op: crate::ast::UnaryOp::Minus, operand } => constant(operand).map(|x| -x),
        _ => None,
    }
}

/// Whether two expressions are plainly the same value.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    match (constant(a), constant(b)) {
        (Some(a), Some(b)) => (a - b).abs() == 0.0,
        _ => a == b,
    }
}
