//! Declared constraints: bounds of numbers, and types that are named after their constraint.

use super::split::{inverse, root};
use crate::ast::{BaseType, BinaryOp, SpecialType, UnaryOp};
use crate::typed::{Call, Callee, Constraint, Expr, ExprKind, Program, SizedKind, SizedType, VariableId};
use crate::types::Type;

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

/// Whether every number is a value of the parameter's elements, or of those that the others leave free: its transform is
/// the identity, or turns the unconstrained numbers so that they sum to zero, and has no Jacobian.
pub fn is_unbounded(program: &Program, id: VariableId) -> bool {
    match element(program, id).map(|ty| &ty.kind) {
        Some(SizedKind::Plain { base, constraint, .. }) => {
            constraint.is_none()
                && matches!(base, BaseType::Real | BaseType::Vector | BaseType::RowVector | BaseType::Matrix)
        }
        Some(SizedKind::Special { special, .. }) => {
            matches!(special, SpecialType::SumToZeroVector | SpecialType::SumToZeroMatrix)
        }
        _ => false,
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
            Callee::Library(name) => name == "negative_infinity" || name == "positive_infinity",
            Callee::User(_) => false,
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
        ExprKind::Unary { op: UnaryOp::Minus, operand } => constant(operand).map(|x| -x),
        ExprKind::Unary { op: UnaryOp::Plus, operand } => constant(operand),
        ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) => match arguments.as_slice() {
            [x] => of_constant(name, constant(x)?),
            _ => None,
        },
        ExprKind::Binary { op: BinaryOp::Subtract, left, right } if left == right => Some(0.0),
        // Stan divides integers by another rule.
        ExprKind::Binary { op, left, right } if e.ty != Type::Int || *op != BinaryOp::Divide => {
            let (a, b) = (constant(left)?, constant(right)?);
            match op {
                BinaryOp::Add => Some(a + b),
                BinaryOp::Subtract => Some(a - b),
                BinaryOp::Multiply => Some(a * b),
                BinaryOp::Divide => Some(a / b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A function that has an inverse, at a number: where the ends of bounds go.
fn of_constant(name: &str, x: f64) -> Option<f64> {
    Some(match name {
        "log" => x.ln(),
        "exp" => x.exp(),
        "sqrt" => x.sqrt(),
        "logit" => (x / (1.0 - x)).ln(),
        "inv_logit" => 1.0 / (1.0 + (-x).exp()),
        "log1p" => x.ln_1p(),
        "expm1" => x.exp_m1(),
        _ => return None,
    })
    .filter(|y| !y.is_nan())
}

/// A variate as a function of the variable behind it: the same expression with `x` in the place of the variable or its
/// element.
pub fn image(variate: &Expr, x: &Expr) -> Expr {
    let (kind, ty) = match &variate.kind {
        ExprKind::Transpose(e) => {
            let inner = image(e, x);
            if inner.ty.is_scalar() {
                return inner;
            }
            (ExprKind::Transpose(Box::new(inner)), variate.ty.clone())
        }
        ExprKind::Unary { op, operand } => {
            let operand = image(operand, x);
            let ty = operand.ty.clone();
            (ExprKind::Unary { op: *op, operand: Box::new(operand) }, ty)
        }
        ExprKind::Call(call) => match call.arguments.as_slice() {
            [y] => {
                let inner = image(y, x);
                let function = inverse_name(&call.callee).is_some();
                // A new arrangement of one number is that number.
                if !function && inner.ty.is_scalar() {
                    return inner;
                }
                let ty = if function { real_like(&inner.ty) } else { variate.ty.clone() };
                (ExprKind::Call(Call { arguments: vec![inner], ..call.clone() }), ty)
            }
            _ => return x.clone(),
        },
        ExprKind::Binary { op, left, right } => {
            let (on_left, ..) = sides(variate, left, right);
            let (left, right) =
                if on_left { (image(left, x), (**right).clone()) } else { ((**left).clone(), image(right, x)) };
            let ty = real_like(if left.ty.is_scalar() { &right.ty } else { &left.ty });
            (ExprKind::Binary { op: *op, left: Box::new(left), right: Box::new(right) }, ty)
        }
        _ => return x.clone(),
    };
    Expr { kind, ty, level: variate.level, span: variate.span }
}

/// Real numbers where a type has integers.
fn real_like(ty: &Type) -> Type {
    if *ty == Type::Int { Type::Real } else { ty.clone() }
}

/// Which operand a variate comes from: whether it is the left one, that operand, the other one.
pub fn sides<'a>(variate: &Expr, left: &'a Expr, right: &'a Expr) -> (bool, &'a Expr, &'a Expr) {
    let on_left = root(left).is_some() && root(left) == root(variate) && left.ty == variate.ty;
    if on_left { (true, left, right) } else { (false, right, left) }
}

/// Whether a variate rises with the variable behind it; `None` where that is not plain to see.
fn rises(variate: &Expr) -> Option<bool> {
    match &variate.kind {
        ExprKind::Variable(_) | ExprKind::Index { .. } => Some(true),
        ExprKind::Transpose(e) | ExprKind::Unary { op: UnaryOp::Plus, operand: e } => rises(e),
        ExprKind::Unary { op: UnaryOp::Minus, operand } => rises(operand).map(|up| !up),
        ExprKind::Call(call) => match call.arguments.as_slice() {
            [x] if inverse_name(&call.callee) != Some("inv") => rises(x),
            _ => None,
        },
        ExprKind::Binary { op, left, right } => {
            let (on_left, x, c) = sides(variate, left, right);
            let same = match op {
                BinaryOp::Add => true,
                BinaryOp::Subtract => on_left,
                _ => constant(c).filter(|c| *c != 0.0)? > 0.0,
            };
            rises(x).map(|up| up == same)
        }
        _ => None,
    }
}

/// The bounds of a variate whose variable has these bounds; `None` where they are not plain to see. An end at infinity
/// (`log(0)`) is none.
pub(super) fn bounds_of_image(variate: &Expr, bounds: Bounds<'_>) -> Option<[Option<Expr>; 2]> {
    let infinite = |e: &Expr| constant(e).is_some_and(f64::is_infinite);
    let [lower, upper] =
        [bounds.lower, bounds.upper].map(|bound| bound.map(|x| image(variate, x)).filter(|e| !infinite(e)));
    Some(if rises(variate)? { [lower, upper] } else { [upper, lower] })
}

fn inverse_name(callee: &Callee) -> Option<&'static str> {
    match callee {
        Callee::Library(name) => inverse(name),
        Callee::User(_) => None,
    }
}

/// Whether two expressions are plainly the same value.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    match (constant(a), constant(b)) {
        (Some(a), Some(b)) => (a - b).abs() == 0.0,
        _ => a == b,
    }
}
