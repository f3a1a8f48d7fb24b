//! Variates that are images of a variable, computed back to it.

use crust_stan::ast::{BinaryOp, UnaryOp};
use crust_stan::joint::{call, inverse, root};
use crust_stan::typed::{Access, Call, Callee, Expr, ExprKind, Level, Place};
use crust_stan::types::Type;

/// Solves `variate = value` for the place at the bottom of the variate.
pub fn solve(variate: &Expr, value: Expr) -> (Expr, Expr) {
    let span = variate.span;
    let binary = |op, left: Expr, right: Expr, ty: &Type| {
        let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
        Expr { kind, ty: ty.clone(), level: Level::Data, span }
    };
    match &variate.kind {
        ExprKind::Transpose(e) => {
            let kind = ExprKind::Transpose(Box::new(value));
            solve(e, Expr { kind, ty: e.ty.clone(), level: Level::Data, span })
        }
        ExprKind::Unary { op: UnaryOp::Minus, operand } => {
            let kind = ExprKind::Unary { op: UnaryOp::Minus, operand: Box::new(value) };
            solve(operand, Expr { kind, ty: operand.ty.clone(), level: Level::Data, span })
        }
        ExprKind::Unary { op: UnaryOp::Plus, operand } => solve(operand, value),
        ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) => {
            match (arguments.as_slice(), inverse(name)) {
                ([x], Some(other)) => solve(x, call(other, vec![value], x.ty.clone())),
                ([x], None) => solve(x, rearranged(x, value)),
                _ => (variate.clone(), value),
            }
        }
        ExprKind::Binary { op, left, right } => {
            let on_left = root(left).is_some() && root(left) == root(variate) && left.ty == variate.ty;
            let (x, c) = if on_left { (left, right) } else { (right, left) };
            let c = (**c).clone();
            let value = match (op, on_left) {
                (BinaryOp::Add, _) => binary(BinaryOp::Subtract, value, c, &x.ty),
                (BinaryOp::Subtract, true) => binary(BinaryOp::Add, value, c, &x.ty),
                (BinaryOp::Subtract, false) => binary(BinaryOp::Subtract, c, value, &x.ty),
                (BinaryOp::Divide, _) => binary(BinaryOp::Multiply, value, c, &x.ty),
                _ => binary(BinaryOp::Divide, value, c, &x.ty),
            };
            solve(x, value)
        }
        _ => (variate.clone(), value),
    }
}

/// Numbers in another arrangement back in that of `x`.
fn rearranged(x: &Expr, value: Expr) -> Expr {
    let size = |function: &str| call(function, vec![x.clone()], Type::Int);
    match &x.ty {
        Type::Vector => call("to_vector", vec![value], Type::Vector),
        Type::RowVector => call("to_row_vector", vec![value], Type::RowVector),
        Type::Matrix => call("to_matrix", vec![value, size("rows"), size("cols")], Type::Matrix),
        Type::Array(_) if x.ty == Type::Real.in_array(1) => call("to_array_1d", vec![value], x.ty.clone()),
        _ => value,
    }
}

/// A place that can be assigned to.
pub fn as_place(e: &Expr) -> Option<Place> {
    let span = e.span;
    match &e.kind {
        ExprKind::Variable(id) => Some(Place::Variable { variable: *id, path: Vec::new(), ty: e.ty.clone(), span }),
        ExprKind::Index { base, indices } => match as_place(base)? {
            Place::Variable { variable, mut path, .. } => {
                path.push(Access::Index(indices.clone()));
                Some(Place::Variable { variable, path, ty: e.ty.clone(), span })
            }
            Place::Tuple(_) => None,
        },
        _ => None,
    }
}
