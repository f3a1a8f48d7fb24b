//! Operators that may not do what they seem to.

use super::{each_statement, read_by};
use crate::ast::BinaryOp;
use crate::check::statements::any_part;
use crate::diagnostics::Diagnostic;
use crate::typed::{Expr, ExprKind, Program};
use crate::types::Type;

pub(super) fn operators(program: &Program) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    each_statement(program, &mut |statement| {
        for e in read_by(program, statement) {
            any_part(e, &mut |part| {
                warnings.extend(warning(part));
                false
            });
        }
    });
    warnings
}

fn warning(e: &Expr) -> Option<Diagnostic> {
    let ExprKind::Binary { op, left, right } = &e.kind else { return None };
    if *op == BinaryOp::Divide && left.ty == Type::Int && right.ty == Type::Int && loses_remainder(left, right) {
        return Some(
            Diagnostic::warning("integer-division", "the division of integers drops the remainder", e.span)
                .help("write `%/%` if that is meant, or make one of them real: `1.0 * a / b`"),
        );
    }
    let compares = |op: BinaryOp| {
        matches!(
            op,
            BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
                | BinaryOp::Equal
                | BinaryOp::NotEqual
        )
    };
    if compares(*op) && matches!(left.kind, ExprKind::Binary { op, .. } if compares(op)) {
        return Some(
            Diagnostic::warning(
                "chained-comparison",
                "`a < b < c` compares the truth value of `a < b` with `c`",
                e.span,
            )
            .help("write `a < b && b < c`"),
        );
    }
    None
}

/// Of two literals it can be told that nothing is lost.
fn loses_remainder(left: &Expr, right: &Expr) -> bool {
    match (&left.kind, &right.kind) {
        (ExprKind::Int(a), ExprKind::Int(b)) if *b != 0 => a % b != 0,
        _ => true,
    }
}
