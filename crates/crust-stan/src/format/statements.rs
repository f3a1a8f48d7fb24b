//! Statements.

use super::Printer;
use super::comments::Mark;
use super::expressions::{ALONE, ANY, List, last};
use super::layout::{Item, Shape};
use crate::ast::{Branch, Expr, ExprKind, LoopOver, MessageKind, MessagePart, Stmt, StmtKind, Tilde, Truncation};

impl<'a> Printer<'a> {
    /// A statement on a line of its own.
    pub(super) fn statement(&mut self, statement: &'a Stmt) {
        let span = statement.span.range();
        self.start_line(span.start);
        self.statement_here(statement);
        self.printed = self.printed.max(span.end);
    }

    fn statement_here(&mut self, statement: &'a Stmt) {
        let end = statement.span.range().end;
        match &statement.kind {
            StmtKind::Declare(declaration) => self.declaration(declaration),
            StmtKind::Assign { target, op, value } => {
                self.expression(target, ANY);
                self.text(format!(" {}", op.symbol()));
                self.value(value);
                self.text(";");
            }
            StmtKind::Call(call) => {
                self.call(call, self.closing_before(end));
                self.text(";");
            }
            StmtKind::TargetPlus(value) => self.increment("target +=", value),
            StmtKind::JacobianPlus(value) => self.increment("jacobian +=", value),
            StmtKind::Tilde(tilde) => self.tilde(tilde, end),
            StmtKind::If { branches, otherwise } => self.if_chain(branches, otherwise.as_deref()),
            StmtKind::For { variable, over, body } => {
                self.text(format!("for ({} in ", variable.name));
                match over {
                    LoopOver::Range { lower, upper } => self.range(lower, upper),
                    LoopOver::Each(container) => self.expression(container, ANY),
                }
                self.text(")");
                self.body(body, false);
            }
            StmtKind::While { condition, body } => {
                self.head("while", condition);
                self.body(body, false);
            }
            StmtKind::Break => self.text("break;"),
            StmtKind::Continue => self.text("continue;"),
            StmtKind::Return(None) => self.text("return;"),
            StmtKind::Return(Some(value)) => self.increment("return", value),
            StmtKind::Block(statements) => self.braces(end, |p| p.statements(statements)),
            StmtKind::Profile { name, body } => {
                self.text(format!("profile(\"{name}\") "));
                self.braces(end, |p| p.statements(body));
            }
            StmtKind::Message { kind, parts } => self.message(*kind, parts, end),
            StmtKind::Skip => self.text(";"),
            StmtKind::Error => self.raw(statement.span),
        }
    }

    /// A word with a value behind it.
    fn increment(&mut self, word: &'static str, value: &'a Expr) {
        self.text(word);
        self.value(value);
        self.text(";");
    }

    /// A value behind `=` or the like.
    pub(super) fn value(&mut self, value: &'a Expr) {
        self.open(Shape::Hang);
        self.late_line(value.span);
        self.expression(value, ANY);
        self.close();
    }

    fn tilde(&mut self, tilde: &'a Tilde, end: usize) {
        let Tilde { variate, distribution, arguments, truncation } = tilde;
        self.expression(variate, if reads_as_block(variate) { ALONE } else { ANY });
        self.text(" ~ ");
        self.text(&*distribution.name);
        let end = truncation.as_ref().map_or(end, |t| t.span.range().start);
        self.expressions(&List::round(self.closing_before(end)), arguments);
        if let Some(truncation) = truncation {
            self.truncation(truncation);
        }
        self.text(";");
    }

    fn truncation(&mut self, truncation: &'a Truncation) {
        let Truncation { lower, upper, span } = truncation;
        self.text(" T[");
        self.open(Shape::List);
        if let Some(lower) = lower {
            self.expression(lower, ANY);
        }
        self.separator(Mark::Behind(","), lower.as_ref().map(|e| e.span), upper.as_ref().map(|e| e.span));
        if let Some(upper) = upper {
            self.expression(upper, ANY);
        }
        self.comments_before_close(last(*span));
        self.close();
        self.text("]");
    }

    fn message(&mut self, kind: MessageKind, parts: &'a [MessagePart], end: usize) {
        self.text(kind.word());
        let place = |part: &&MessagePart| match part {
            MessagePart::Text(_) => None,
            MessagePart::Value(value) => Some(value.span),
        };
        self.list(&List::round(self.closing_before(end)), parts, place, |p, part| match part {
            MessagePart::Text(text) => p.text(format!("\"{text}\"")),
            MessagePart::Value(value) => p.expression(value, ANY),
        });
        self.text(";");
    }

    fn if_chain(&mut self, branches: &'a [Branch], otherwise: Option<&'a Stmt>) {
        for (i, branch) in branches.iter().enumerate() {
            if i > 0 {
                self.else_word(&branches[i - 1].body, branch.condition.span.range().start);
                self.space();
            }
            self.head("if", &branch.condition);
            let else_follows = i + 1 < branches.len() || otherwise.is_some();
            self.body(&branch.body, else_follows && takes_else(&branch.body));
        }
        let (Some(last), Some(otherwise)) = (branches.last(), otherwise) else { return };
        self.else_word(&last.body, otherwise.span.range().start);
        if let StmtKind::If { branches, otherwise } = &otherwise.kind {
            self.space();
            self.if_chain(branches, otherwise.as_deref());
        } else {
            self.body(otherwise, false);
        }
    }

    /// `else`, which stands between the body before it and `to`, with the comments before it.
    fn else_word(&mut self, before: &Stmt, to: usize) {
        let place = self.comments.skip_blank(before.span.range().end);
        let place = if self.source.text().get(place..).is_some_and(|t| t.starts_with("else")) { place } else { to };
        let flushed = self.flush(place);
        let braced = matches!(before.kind, StmtKind::Block(_)) || takes_else(before);
        if flushed.leads || (braced && !flushed.broken) {
            self.space();
        } else {
            self.items.push(Item::Hard);
        }
        self.text("else");
    }

    /// `word (condition)`
    fn head(&mut self, word: &str, condition: &'a Expr) {
        self.text(format!("{word} ("));
        self.expression(condition, ANY);
        self.text(")");
    }

    /// What a head governs: a block begins on its line, anything else stands below it, `braced` if need be.
    fn body(&mut self, body: &'a Stmt, braced: bool) {
        if let StmtKind::Block(statements) = &body.kind {
            self.space();
            self.braces(body.span.range().end, |p| p.statements(statements));
        } else if braced {
            self.space();
            self.braces(body.span.range().end, |p| p.statement(body));
        } else {
            self.open(Shape::Indent);
            self.first = true;
            self.statement(body);
            self.close();
        }
    }
}

/// Whether the statement ends with an `if` that an `else` behind it would belong to. No parser makes a body like this
/// before an `else`, but it may come about when a tree is changed.
fn takes_else(statement: &Stmt) -> bool {
    let mut last = statement;
    loop {
        last = match &last.kind {
            StmtKind::If { otherwise: Some(otherwise), .. } => otherwise,
            StmtKind::If { otherwise: None, .. } => return true,
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => body,
            _ => return false,
        };
    }
}

/// Whether the brace with which the expression starts would be taken for that of a block: the parser knows an array by
/// what stands behind it.
fn reads_as_block(expression: &Expr) -> bool {
    let (mut here, mut array_may_be_here) = (expression, true);
    loop {
        (here, array_may_be_here) = match &here.kind {
            ExprKind::Index { base, .. } | ExprKind::TuplePart { base, .. } => (base, true),
            ExprKind::Binary { left: inner, .. }
            | ExprKind::Ternary { condition: inner, .. }
            | ExprKind::Transpose(inner) => (inner, false),
            ExprKind::Array(_) => return !array_may_be_here,
            _ => return false,
        };
    }
}
