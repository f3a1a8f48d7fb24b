//! Statements.

use super::{Parse, Parser, messages};
use crate::ast::{
    AssignOp, BinaryOp, Branch, Expr, ExprKind, LoopOver, MessageKind, MessagePart, Stmt, StmtKind, Tilde, Truncation,
};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::token::{Keyword, TokenKind};

impl Parser<'_> {
    /// Statements up to, and without, the closing brace (or the end of the text).
    pub(super) fn statements(&mut self) -> Vec<Stmt> {
        let mut statements = Vec::new();
        while !matches!(self.peek(), TokenKind::CloseBrace | TokenKind::End) {
            // A closing brace was forgotten: the next block has begun.
            if self.at_line_start() && self.at_block_start() {
                break;
            }
            let before = self.at;
            let start = self.here();
            if let Ok(statement) = self.statement() {
                statements.push(statement);
            } else {
                self.synchronise(before);
                let span = start.to(self.previous());
                self.skipped.push(span);
                statements.push(Stmt { kind: StmtKind::Error, span });
            }
            if self.at == before {
                self.advance();
            }
        }
        statements
    }

    pub(super) fn statement(&mut self) -> Parse<Stmt> {
        self.nested(|p| {
            let start = p.here();
            let kind = p.statement_kind()?;
            Ok(Stmt { kind, span: start.to(p.previous()) })
        })
    }

    fn statement_kind(&mut self) -> Parse<StmtKind> {
        use Keyword as K;
        match self.peek() {
            TokenKind::Semicolon => {
                self.advance();
                Ok(StmtKind::Skip)
            }
            TokenKind::OpenBrace if !self.brace_is_array() => self.braces().map(StmtKind::Block),
            TokenKind::Keyword(keyword) => match keyword {
                K::If => self.if_statement(),
                K::For => self.for_statement(),
                K::While => self.while_statement(),
                K::Break => self.simple(StmtKind::Break),
                K::Continue => self.simple(StmtKind::Continue),
                K::Return => self.return_statement(),
                K::Profile => self.profile_statement(),
                K::Print => self.message_statement(MessageKind::Print),
                K::Reject => self.message_statement(MessageKind::Reject),
                K::FatalError => self.message_statement(MessageKind::FatalError),
                K::Target if self.peek_second() != TokenKind::OpenParen => {
                    self.increment("target", StmtKind::TargetPlus)
                }
                K::Jacobian => self.increment("jacobian", StmtKind::JacobianPlus),
                K::Data => {
                    let problem =
                        Diagnostic::error("data-qualifier", "`data` cannot stand before a declaration", self.here())
                            .note("it marks arguments of functions that must not depend on parameters")
                            .help("leave it out");
                    self.advance();
                    Err(self.report(problem))
                }
                K::Void => {
                    let problem = Diagnostic::error(
                        "function-in-block",
                        "functions are defined in the block `functions`",
                        self.here(),
                    );
                    Err(self.report(problem))
                }
                K::Else => {
                    let problem = Diagnostic::error("syntax", "`else` without `if`", self.here())
                        .note("the `if` before it has ended: several statements need braces around them");
                    self.advance();
                    Err(self.report(problem))
                }
                _ if self.at_type() => {
                    let declaration = self.declaration()?;
                    self.semicolon("after the declaration")?;
                    Ok(StmtKind::Declare(declaration))
                }
                _ => self.expression_statement(),
            },
            _ => self.expression_statement(),
        }
    }

    /// `{1, 2} ~ …` starts with an array, not with a block: no `;` in it, and no statement behind it.
    fn brace_is_array(&self) -> bool {
        let mut depth = 0;
        for (i, token) in self.tokens[self.at..].iter().enumerate() {
            match token.kind {
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace => depth -= 1,
                TokenKind::Semicolon => return false,
                _ => {}
            }
            if depth == 0 {
                let next = self.tokens.get(self.at + i + 1).map_or(TokenKind::End, |t| t.kind);
                return i > 1 && matches!(next, TokenKind::Tilde | TokenKind::OpenBracket | TokenKind::DotNumber);
            }
        }
        false
    }

    /// A `;` that must be there. Where it is forgotten at the end of a line, one message is enough and parsing goes on.
    pub(super) fn semicolon(&mut self, place: &str) -> Parse<()> {
        if self.take(TokenKind::Semicolon) {
            return Ok(());
        }
        let at_end = self.at_line_start() || matches!(self.peek(), TokenKind::CloseBrace | TokenKind::End);
        let reported = self.expected("`;`", place);
        if at_end { Ok(()) } else { Err(reported) }
    }

    fn simple(&mut self, kind: StmtKind) -> Parse<StmtKind> {
        let word = self.advance().span;
        let place = format!("after `{}`", self.slice(word));
        self.semicolon(&place)?;
        Ok(kind)
    }

    /// `{ statements }`
    pub(super) fn braces(&mut self) -> Parse<Vec<Stmt>> {
        let open = self.expect(TokenKind::OpenBrace, "")?;
        let statements = self.statements();
        if !self.take(TokenKind::CloseBrace) {
            let problem = Diagnostic::error("open-brace", "the brace is never closed", open).label("opened here");
            self.report(problem);
        }
        Ok(statements)
    }

    fn condition(&mut self, word: &str) -> Parse<Expr> {
        self.expect(TokenKind::OpenParen, &format!("after `{word}`"))?;
        let condition = self.expression()?;
        if self.is(TokenKind::Assign) {
            let problem = Diagnostic::error("assignment-in-condition", "`=` assigns, it does not compare", self.here())
                .help("write `==` to compare");
            return Err(self.report(problem));
        }
        self.expect(TokenKind::CloseParen, "after the condition")?;
        Ok(condition)
    }

    fn if_statement(&mut self) -> Parse<StmtKind> {
        let mut branches = Vec::new();
        loop {
            self.advance();
            let condition = self.condition("if")?;
            let body = self.statement()?;
            branches.push(Branch { condition, body });
            if !self.take_keyword(Keyword::Else) {
                return Ok(StmtKind::If { branches, otherwise: None });
            }
            if !self.is_keyword(Keyword::If) {
                let otherwise = Some(Box::new(self.statement()?));
                return Ok(StmtKind::If { branches, otherwise });
            }
        }
    }

    fn for_statement(&mut self) -> Parse<StmtKind> {
        self.advance();
        self.expect(TokenKind::OpenParen, "after `for`")?;
        let variable = self.identifier("for the loop variable")?;
        self.expect(TokenKind::Keyword(Keyword::In), "after the loop variable")?;
        let first = self.expression()?;
        let over = if self.take(TokenKind::Colon) {
            LoopOver::Range { lower: first, upper: self.expression()? }
        } else {
            LoopOver::Each(first)
        };
        self.expect(TokenKind::CloseParen, "after the range of the loop")?;
        let body = Box::new(self.statement()?);
        Ok(StmtKind::For { variable, over, body })
    }

    fn while_statement(&mut self) -> Parse<StmtKind> {
        self.advance();
        let condition = self.condition("while")?;
        let body = Box::new(self.statement()?);
        Ok(StmtKind::While { condition, body })
    }

    fn return_statement(&mut self) -> Parse<StmtKind> {
        self.advance();
        let value = if self.is(TokenKind::Semicolon) { None } else { Some(self.expression()?) };
        self.semicolon("after the returned value")?;
        Ok(StmtKind::Return(value))
    }

    fn profile_statement(&mut self) -> Parse<StmtKind> {
        self.advance();
        self.expect(TokenKind::OpenParen, "after `profile`")?;
        let name = self.expect(TokenKind::Text, "as the name of the profile")?;
        let name = self.slice(name).trim_matches('"').to_owned();
        self.expect(TokenKind::CloseParen, "after the name of the profile")?;
        if !self.is(TokenKind::OpenBrace) {
            return Err(self.expected("`{`", "after `profile(…)`"));
        }
        Ok(StmtKind::Profile { name, body: self.braces()? })
    }

    fn message_statement(&mut self, kind: MessageKind) -> Parse<StmtKind> {
        self.advance();
        self.expect(TokenKind::OpenParen, &format!("after `{}`", kind.word()))?;
        let mut parts = Vec::new();
        loop {
            if self.is(TokenKind::Text) {
                let span = self.advance().span;
                parts.push(MessagePart::Text(self.slice(span).trim_matches('"').to_owned()));
            } else {
                parts.push(MessagePart::Value(self.expression()?));
            }
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::CloseParen, &format!("after the arguments of `{}`", kind.word()))?;
        self.semicolon("after the statement")?;
        Ok(StmtKind::Message { kind, parts })
    }

    /// `target += e;` and `jacobian += e;`
    fn increment(&mut self, word: &str, make: fn(Expr) -> StmtKind) -> Parse<StmtKind> {
        self.advance();
        if !self.take(TokenKind::PlusAssign) {
            let (found, span) = self.found();
            let problem =
                Diagnostic::error("target-assignment", format!("`{word}` can only be added to, found {found}"), span)
                    .help(format!("write `{word} += …;`"));
            return Err(self.report(problem));
        }
        let value = self.expression()?;
        self.semicolon(&format!("after `{word} += …`"))?;
        Ok(make(value))
    }

    /// A statement that starts with a value: an assignment, a `~` statement or a call.
    fn expression_statement(&mut self) -> Parse<StmtKind> {
        let start = self.here();
        let left = match self.peek() {
            TokenKind::Plus | TokenKind::Minus | TokenKind::Not => self.expression()?,
            _ => {
                let left = self.postfix_expression()?;
                if self.assignment_operator().is_some() || self.at_arrow() { left } else { self.expression_from(left)? }
            }
        };
        if let Some(op) = self.assignment_operator() {
            self.advance();
            return self.assignment(left, op);
        }
        if self.at_arrow() {
            let span = self.advance().span.to(self.advance().span);
            self.report(messages::retired("assignment with `<-`", "=", span));
            return self.assignment(left, AssignOp::Set);
        }
        if self.take(TokenKind::Tilde) {
            return self.tilde(left);
        }
        match left.kind {
            ExprKind::Call(call) => {
                let foreign = messages::foreign_statement(&call.function).filter(|_| self.is(TokenKind::OpenBrace));
                if let Some(problem) = foreign {
                    return Err(self.report(problem));
                }
                self.semicolon("after the call")?;
                Ok(StmtKind::Call(call))
            }
            _ => Err(self.not_a_statement(&left, start)),
        }
    }

    fn not_a_statement(&mut self, left: &Expr, start: Span) -> super::Reported {
        let span = start.to(left.span);
        let (found, here) = self.found();
        let name = match &left.kind {
            ExprKind::Variable(name) => Some(name.as_str()),
            ExprKind::Index { base, .. } => match &base.kind {
                ExprKind::Variable(name) => Some(name.as_str()),
                _ => None,
            },
            _ => None,
        };
        let at_name = self.is(TokenKind::Ident) || self.at_type();
        let problem = match (name, self.peek()) {
            (Some(name), _) if at_name => {
                let problem = Diagnostic::error("unknown-type", format!("`{name}` is not a type or statement"), span);
                let near = || crate::suggest::closest(name, Keyword::ALL.iter().map(|(_, word)| *word));
                match messages::foreign_type(name).or_else(near) {
                    Some(word) => problem.help(format!("did you mean `{word}`?")),
                    None => problem,
                }
            }
            (Some(name), TokenKind::OpenBrace) => {
                Diagnostic::error("unknown-statement", format!("`{name}` does not start a statement or block"), span)
            }
            (_, TokenKind::Semicolon) => {
                Diagnostic::error("value-as-statement", "a value alone is not a statement", span)
                    .help("assign it with `=`, add it with `target +=`, or remove it")
            }
            _ => Diagnostic::error("syntax", format!("expected `=`, `~` or another operator, found {found}"), here),
        };
        self.report(problem)
    }

    fn assignment_operator(&self) -> Option<AssignOp> {
        Some(match self.peek() {
            TokenKind::Assign => AssignOp::Set,
            TokenKind::PlusAssign => AssignOp::Compound(BinaryOp::Add),
            TokenKind::MinusAssign => AssignOp::Compound(BinaryOp::Subtract),
            TokenKind::TimesAssign => AssignOp::Compound(BinaryOp::Multiply),
            TokenKind::DivideAssign => AssignOp::Compound(BinaryOp::Divide),
            TokenKind::EltTimesAssign => AssignOp::Compound(BinaryOp::EltMultiply),
            TokenKind::EltDivideAssign => AssignOp::Compound(BinaryOp::EltDivide),
            _ => return None,
        })
    }

    fn assignment(&mut self, target: Expr, op: AssignOp) -> Parse<StmtKind> {
        let assignable = is_assignable(&target, op == AssignOp::Set);
        if !assignable {
            self.report(messages::not_assignable(target.span));
        }
        let value = self.expression()?;
        self.semicolon("after the assignment")?;
        Ok(if assignable { StmtKind::Assign { target, op, value } } else { StmtKind::Error })
    }

    fn tilde(&mut self, variate: Expr) -> Parse<StmtKind> {
        let distribution = self.identifier("of a distribution after `~`")?;
        self.expect(TokenKind::OpenParen, &format!("after `{}`", distribution.name))?;
        let call = self.call_arguments(distribution)?;
        if call.bar {
            let problem = Diagnostic::error("misplaced-bar", "`|` cannot stand in a `~` statement", call.function.span)
                .help(format!("write `y ~ {}(…)` with the variate on the left", call.function.name));
            self.report(problem);
        }
        let truncation = self.truncation()?;
        self.semicolon("after the `~` statement")?;
        let (distribution, arguments) = (call.function, call.arguments);
        Ok(StmtKind::Tilde(Tilde { variate, distribution, arguments, truncation }))
    }

    /// `T[lower, upper]`, where either may be left out, but not the comma.
    fn truncation(&mut self) -> Parse<Option<Truncation>> {
        let start = self.here();
        if !(self.is(TokenKind::Ident) && self.slice(start) == "T") {
            return Ok(None);
        }
        self.advance();
        self.expect(TokenKind::OpenBracket, "after `T`")?;
        let lower = if self.is(TokenKind::Comma) { None } else { Some(self.expression()?) };
        self.expect(TokenKind::Comma, "in the truncation `T[lower, upper]`")?;
        let upper = if self.is(TokenKind::CloseBracket) { None } else { Some(self.expression()?) };
        self.expect(TokenKind::CloseBracket, "after the truncation")?;
        Ok(Some(Truncation { lower, upper, span: start.to(self.previous()) }))
    }
}

/// A name with indices and tuple parts, or (for a plain assignment) a tuple of such.
fn is_assignable(target: &Expr, tuples: bool) -> bool {
    match &target.kind {
        ExprKind::Variable(_) => true,
        ExprKind::Index { base, .. } | ExprKind::TuplePart { base, .. } => is_assignable(base, false),
        ExprKind::Tuple(parts) => tuples && parts.iter().all(|p| is_assignable(p, true)),
        _ => false,
    }
}
