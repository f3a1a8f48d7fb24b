//! Expressions: operator precedence, postfix forms, literals, calls and indices.

use super::{MAX_CHAIN, Parse, Parser};
use crate::ast::{BinaryOp, Call, Expr, ExprKind, Ident, Index, PREFIX_PRECEDENCE, UnaryOp};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::token::{Keyword, TokenKind};

/// Longer chains of postfix forms (`a[1][2]…`, `a'''…`) are taken for a mistake: each one nests.
const MAX_POSTFIX: usize = 100;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        let left = self.operand()?;
        self.expression_from(left)
    }

    /// The rest of an expression that starts with `left`.
    pub(super) fn expression_from(&mut self, left: Expr) -> Parse<Expr> {
        let condition = self.binary_from(left, 0)?;
        if !self.take(TokenKind::Question) {
            return Ok(condition);
        }
        self.nested(|p| {
            let yes = p.expression()?;
            p.expect(TokenKind::Colon, "in `condition ? a : b`")?;
            let no = p.expression()?;
            let span = condition.span.to(no.span);
            let kind = ExprKind::Ternary { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) };
            Ok(Expr { kind, span })
        })
    }

    /// An expression inside `<…>`: no comparisons, logic or ternary, since `>` ends it.
    pub(super) fn constraint_expression(&mut self) -> Parse<Expr> {
        let left = self.operand()?;
        self.binary_from(left, BinaryOp::Add.precedence())
    }

    /// Climbs the precedences: takes every operator that binds at least as tightly as `least`.
    fn binary_from(&mut self, mut left: Expr, least: u8) -> Parse<Expr> {
        let mut length = 0;
        while let Some(op) = binary_operator(self.peek()) {
            if op.precedence() < least {
                break;
            }
            length += 1;
            if length > MAX_CHAIN {
                return Err(self.too_deep(&format!("at most {MAX_CHAIN} operators in a row")));
            }
            self.advance();
            let right_least = op.precedence() + u8::from(!op.groups_right());
            let right = self.nested(|p| {
                let right = p.operand()?;
                p.binary_from(right, right_least)
            })?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, span };
        }
        Ok(left)
    }

    /// A prefix operator with its operand, or a primary expression with its postfix forms.
    fn operand(&mut self) -> Parse<Expr> {
        let op = match self.peek() {
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Not => UnaryOp::Not,
            _ => return self.postfix_expression(),
        };
        let start = self.advance().span;
        let operand = self.nested(|p| {
            let inner = p.operand()?;
            p.binary_from(inner, PREFIX_PRECEDENCE)
        })?;
        let span = start.to(operand.span);
        Ok(Expr { kind: ExprKind::Unary { op, operand: Box::new(operand) }, span })
    }

    /// A primary expression followed by any of `[…]`, `'` and `.1`.
    pub(super) fn postfix_expression(&mut self) -> Parse<Expr> {
        let mut base = self.primary()?;
        let span = base.span;
        for length in 0.. {
            let kind = match self.peek() {
                _ if length == MAX_POSTFIX => {
                    return Err(self.too_deep(&format!("at most {MAX_POSTFIX} indices in a row")));
                }
                TokenKind::OpenBracket => {
                    if let ExprKind::Transpose(_) = base.kind {
                        let problem = Diagnostic::error(
                            "index-of-transpose",
                            "a transpose cannot be indexed as it is",
                            self.here(),
                        )
                        .help("put it into parentheses: `(x')[i]`");
                        self.report(problem);
                    }
                    self.advance();
                    let indices = self.nested(Self::indices)?;
                    ExprKind::Index { base: Box::new(base), indices }
                }
                TokenKind::Quote => {
                    self.advance();
                    ExprKind::Transpose(Box::new(base))
                }
                TokenKind::DotNumber => {
                    let number = self.advance().span;
                    let part = self.slice(number)[1..].parse().unwrap_or(u32::MAX);
                    ExprKind::TuplePart { base: Box::new(base), part }
                }
                _ => break,
            };
            base = Expr { kind, span: span.to(self.previous()) };
        }
        Ok(base)
    }

    fn primary(&mut self) -> Parse<Expr> {
        let span = self.here();
        let number = |p: &mut Self| {
            p.advance();
            p.slice(span).to_owned()
        };
        let kind = match self.peek() {
            TokenKind::Int => ExprKind::Int(number(self)),
            TokenKind::Real | TokenKind::DotNumber => ExprKind::Real(number(self)),
            TokenKind::Imaginary => {
                let text = number(self);
                ExprKind::Imaginary(text.trim_end_matches('i').to_owned())
            }
            TokenKind::Ident => {
                let name = Ident { name: number(self), span };
                if self.take(TokenKind::OpenParen) {
                    ExprKind::Call(self.nested(|p| p.call_arguments(name))?)
                } else {
                    ExprKind::Variable(name.name)
                }
            }
            TokenKind::Keyword(Keyword::Target) if self.peek_second() == TokenKind::OpenParen => {
                self.advance();
                self.advance();
                self.expect(TokenKind::CloseParen, "after `target(`")?;
                ExprKind::Target
            }
            TokenKind::OpenParen => {
                self.advance();
                self.nested(Self::parenthesis)?
            }
            TokenKind::OpenBrace => {
                self.advance();
                self.nested(|p| p.array_literal(span))?
            }
            TokenKind::OpenBracket => {
                self.advance();
                ExprKind::RowVector(self.nested(|p| p.list(TokenKind::CloseBracket, "in the row vector"))?)
            }
            _ => return Err(self.expected_expression()),
        };
        Ok(Expr { kind, span: span.to(self.previous()) })
    }

    /// Behind `(`: a parenthesised expression or a tuple.
    fn parenthesis(&mut self) -> Parse<ExprKind> {
        let first = self.expression()?;
        if !self.is(TokenKind::Comma) {
            self.expect(TokenKind::CloseParen, "after the expression")?;
            return Ok(ExprKind::Paren(Box::new(first)));
        }
        let mut parts = vec![first];
        while self.take(TokenKind::Comma) {
            // A tuple of one value is written `(a,)`.
            if parts.len() == 1 && self.is(TokenKind::CloseParen) {
                break;
            }
            parts.push(self.expression()?);
        }
        self.expect(TokenKind::CloseParen, "after the tuple")?;
        Ok(ExprKind::Tuple(parts))
    }

    fn array_literal(&mut self, open: Span) -> Parse<ExprKind> {
        let elements = self.list(TokenKind::CloseBrace, "in the array")?;
        if elements.is_empty() {
            let span = open.to(self.previous());
            self.report(
                Diagnostic::error("empty-array", "an array literal needs an element, which gives its type", span)
                    .help("an array without elements is made with `rep_array(0, 0)` or `rep_array(0.0, 0)`"),
            );
            return Ok(ExprKind::Error);
        }
        Ok(ExprKind::Array(elements))
    }

    /// Expressions separated by commas, up to and with `close`.
    fn list(&mut self, close: TokenKind, place: &str) -> Parse<Vec<Expr>> {
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            if self.take(close) {
                return Ok(items);
            }
            if !self.take(TokenKind::Comma) {
                return Err(self.expected(close.describe(), place));
            }
        }
    }

    /// Behind the opening parenthesis of a call.
    pub(super) fn call_arguments(&mut self, function: Ident) -> Parse<Call> {
        if self.take(TokenKind::CloseParen) {
            return Ok(Call { function, arguments: Vec::new(), bar: false });
        }
        let mut arguments = vec![self.expression()?];
        let bar = self.take(TokenKind::Bar);
        if bar && self.take(TokenKind::CloseParen) {
            return Ok(Call { function, arguments, bar });
        }
        if bar {
            arguments.push(self.expression()?);
        }
        while self.take(TokenKind::Comma) {
            arguments.push(self.expression()?);
        }
        if self.is(TokenKind::Bar) {
            let place = if bar { "a call has one `|` only" } else { "the `|` stands behind the first argument" };
            let problem = Diagnostic::error("misplaced-bar", "`|` cannot stand here", self.here()).note(place);
            return Err(self.report(problem));
        }
        self.expect(TokenKind::CloseParen, &format!("after the arguments of `{}`", function.name))?;
        Ok(Call { function, arguments, bar })
    }

    /// Behind `[`: the indices, up to and with `]`.
    fn indices(&mut self) -> Parse<Vec<Index>> {
        let mut indices = Vec::new();
        loop {
            indices.push(self.index()?);
            if self.take(TokenKind::CloseBracket) {
                return Ok(indices);
            }
            self.expect(TokenKind::Comma, "or `]` after the index")?;
        }
    }

    fn index(&mut self) -> Parse<Index> {
        let ends = |p: &Self| matches!(p.peek(), TokenKind::Comma | TokenKind::CloseBracket);
        let span = self.here();
        if ends(self) {
            return Ok(Index::All(span));
        }
        if self.take(TokenKind::Colon) {
            return Ok(if ends(self) { Index::All(span) } else { Index::UpTo(self.expression()?) });
        }
        let first = self.expression()?;
        if !self.take(TokenKind::Colon) {
            return Ok(Index::One(first));
        }
        Ok(if ends(self) { Index::From(first) } else { Index::Between(first, self.expression()?) })
    }
}

fn binary_operator(token: TokenKind) -> Option<BinaryOp> {
    Some(match token {
        TokenKind::Or => BinaryOp::Or,
        TokenKind::And => BinaryOp::And,
        TokenKind::Equal => BinaryOp::Equal,
        TokenKind::NotEqual => BinaryOp::NotEqual,
        TokenKind::Less => BinaryOp::Less,
        TokenKind::LessEqual => BinaryOp::LessEqual,
        TokenKind::Greater => BinaryOp::Greater,
        TokenKind::GreaterEqual => BinaryOp::GreaterEqual,
        TokenKind::Plus => BinaryOp::Add,
        TokenKind::Minus => BinaryOp::Subtract,
        TokenKind::Star => BinaryOp::Multiply,
        TokenKind::Slash => BinaryOp::Divide,
        TokenKind::IntDivide => BinaryOp::IntDivide,
        TokenKind::Percent => BinaryOp::Modulo,
        TokenKind::Backslash => BinaryOp::LeftDivide,
        TokenKind::EltTimes => BinaryOp::EltMultiply,
        TokenKind::EltDivide => BinaryOp::EltDivide,
        TokenKind::Caret => BinaryOp::Power,
        TokenKind::EltPower => BinaryOp::EltPower,
        _ => return None,
    })
}
