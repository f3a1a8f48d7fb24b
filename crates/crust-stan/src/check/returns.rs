//! Whether a function always comes to a `return`.

use crate::ast::{Expr, ExprKind, MessageKind, Stmt, StmtKind};

/// Whether no run gets behind the end of the statements, by the official compiler's rule: what counts is the last
/// statement that can be reached, and a loop whose body always returns counts although it may have no iterations.
pub(super) fn always_returns(statements: &[Stmt]) -> bool {
    reachable(statements).last().is_some_and(returns)
}

/// The statements up to the first one that ends the list.
fn reachable(statements: &[Stmt]) -> &[Stmt] {
    let ends = |s: &Stmt| {
        use MessageKind::{FatalError, Reject};
        matches!(
            s.kind,
            StmtKind::Return(_)
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Message { kind: Reject | FatalError, .. }
        )
    };
    statements.iter().position(ends).map_or(statements, |i| &statements[..=i])
}

fn returns(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Return(_)
        | StmtKind::Message { kind: MessageKind::Reject | MessageKind::FatalError, .. }
        // What could not be read may have returned.
        | StmtKind::Error => true,
        StmtKind::Block(statements) | StmtKind::Profile { body: statements, .. } => always_returns(statements),
        StmtKind::If { branches, otherwise } => {
            otherwise.as_ref().is_some_and(|s| returns(s)) && branches.iter().all(|b| returns(&b.body))
        }
        StmtKind::For { body, .. } => returns(body) && !breaks(body),
        StmtKind::While { condition, body } => (returns(body) || is_true(condition)) && !breaks(body),
        _ => false,
    }
}

/// Whether the statement can leave the loop around it.
fn breaks(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Break => true,
        StmtKind::Block(statements) | StmtKind::Profile { body: statements, .. } => {
            reachable(statements).iter().any(breaks)
        }
        StmtKind::If { branches, otherwise } => {
            branches.iter().any(|b| breaks(&b.body)) || otherwise.as_ref().is_some_and(|s| breaks(s))
        }
        _ => false,
    }
}

fn is_true(condition: &Expr) -> bool {
    matches!(&condition.kind, ExprKind::Int(text) if text.bytes().any(|b| (b'1'..=b'9').contains(&b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse;
    use crate::source::Source;

    fn returns_always(body: &str) -> bool {
        let (source, _) = Source::from_text("f", &format!("functions {{ real f(real x) {{ {body} }} }}"));
        let program = parse(&source).program;
        let functions = program.functions.expect("a functions block");
        always_returns(&functions.functions[0].body.as_ref().expect("a body").statements)
    }

    /// The verdicts are those of the official compiler, 2.39.
    #[test]
    fn the_last_reachable_statement_decides() {
        for body in [
            "return 1;",
            "return 1; k = 2;",
            "for (i in 1:2) { return 1; k = 2; }",
            "for (i in 1:2) { return 1; break; }",
            "for (i in 1:2) { return 1; if (x > 1) { break; } }",
            "{ return 1; } return 2;",
            "if (x > 1) return 2; { return 1; }",
            "if (x > 1) return 1; else return 2;",
            "while (1) { if (x > 1) return 1; }",
            "reject(\"no\");",
            "profile(\"p\") { return x; }",
        ] {
            assert!(returns_always(body), "{body}");
        }
        for body in [
            "",
            "{ return 1; } k = 3;",
            "for (i in 1:2) { return 1; } k = 3;",
            "while (1) { return 1; } k = 3;",
            "if (x > 1) { return 1; k = 2; } else { return 2; } k = 3;",
            "for (i in 1:2) { for (j in 1:2) { return 1; } k = 2; }",
            "for (i in 1:2) { continue; return 1; }",
            "for (i in 1:3) { if (x > 1) break; return 1; }",
            "while (1) { if (x > 1) break; return 1; }",
            "if (x > 1) return 1;",
            "{ reject(\"a\"); } k = 3;",
        ] {
            assert!(!returns_always(body), "{body}");
        }
    }
}
