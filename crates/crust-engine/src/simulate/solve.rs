//! Variates that are images of a variable, computed back to it.

use crust_stan::ast::{BinaryOp, UnaryOp};
use crust_stan::joint::{call, inverse, sides};
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
            let (on_left, x, c) = sides(variate, left, right);
            let c = c.clone();
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

/// The log Jacobian of a variate as a function of the place at its bottom: one expression for each factor and each
/// function on the way.
pub fn jacobians(variate: &Expr) -> Vec<Expr> {
    let log = |e: Expr| {
        let ty = e.ty.clone();
        call("log", vec![call("abs", vec![e], ty.clone())], ty)
    };
    let times = |factor: f64, e: Expr| {
        let span = e.span;
        let number = Expr { kind: ExprKind::Real(factor), ty: Type::Real, level: Level::Data, span };
        let ty = e.ty.clone();
        let kind = ExprKind::Binary { op: BinaryOp::Multiply, left: Box::new(number), right: Box::new(e) };
        Expr { kind, ty, level: Level::Data, span }
    };
    let of = |name: &str, x: &Expr| call(name, vec![x.clone()], x.ty.clone());
    match &variate.kind {
        ExprKind::Transpose(e) | ExprKind::Unary { operand: e, .. } => jacobians(e),
        ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) => {
            let Some(x) = arguments.first() else { return Vec::new() };
            let mut all = jacobians(x);
            match name.as_str() {
                "log" => all.push(times(-1.0, log(x.clone()))),
                "exp" | "expm1" => all.push(x.clone()),
                "sqrt" => all.push(times(-0.5, log(times(4.0, x.clone())))),
                "logit" => all.extend([times(-1.0, of("log", x)), times(-1.0, of("log1m", x))]),
                "inv_logit" => all.extend([of("log_inv_logit", x), of("log1m_inv_logit", x)]),
                "log1p" => all.push(times(-1.0, of("log1p", x))),
                "inv" => all.push(times(-2.0, log(x.clone()))),
                _ => {}
            }
            all
        }
        ExprKind::Binary { op, left, right } => {
            let (_, x, c) = sides(variate, left, right);
            let mut all = jacobians(x);
            match op {
                BinaryOp::Multiply => all.push(log(c.clone())),
                BinaryOp::Divide => all.push(times(-1.0, log(c.clone()))),
                _ => {}
            }
            all
        }
        _ => Vec::new(),
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
