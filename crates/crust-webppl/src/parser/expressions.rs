//! Expressions, by precedence climbing.

use super::{Parse, Parser, is_keyword, refused};
use crate::ast::{Binary, Expr, ExprKind, Name, Unary};
use crate::error::Mistake;
use crate::lexer::Token;
use std::rc::Rc;

/// Operators in one chain; longer ones are refused like deep nesting.
const MAX_CHAIN: usize = 1000;

enum Infix {
    Binary(Binary),
    And,
    Or,
}

fn infix(token: &Token) -> Option<(u8, Infix)> {
    use Binary as B;
    let (level, op) = match token {
        Token::Punctuation(p) => match *p {
            "||" => return Some((1, Infix::Or)),
            "&&" => return Some((2, Infix::And)),
            "|" => (3, B::BitOr),
            "^" => (4, B::BitXor),
            "&" => (5, B::BitAnd),
            "==" => (6, B::Equal),
            "!=" => (6, B::NotEqual),
            "===" => (6, B::Identical),
            "!==" => (6, B::NotIdentical),
            "<" => (7, B::Less),
            "<=" => (7, B::LessEqual),
            ">" => (7, B::Greater),
            ">=" => (7, B::GreaterEqual),
            "<<" => (8, B::ShiftLeft),
            ">>" => (8, B::ShiftRight),
            ">>>" => (8, B::ShiftRightZero),
            "+" => (9, B::Add),
            "-" => (9, B::Subtract),
            "*" => (10, B::Multiply),
            "/" => (10, B::Divide),
            "%" => (10, B::Remainder),
            "**" => (11, B::Power),
            _ => return None,
        },
        Token::Word(w) if &**w == "in" => (7, B::In),
        Token::Word(w) if &**w == "instanceof" => (7, B::InstanceOf),
        _ => return None,
    };
    Some((level, Infix::Binary(op)))
}

fn expr(kind: ExprKind, at: u32) -> Expr {
    Expr { kind, at }
}

impl Parser {
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        let first = self.assignment_named(None)?;
        if self.is(",") {
            return Err(self.mistake("the comma operator is not part of WebPPL").remedy("write two statements"));
        }
        Ok(first)
    }

    /// An expression without commas; a function takes the name of the variable that it is assigned to.
    pub(super) fn assignment_named(&mut self, name: Option<&Name>) -> Parse<Expr> {
        self.nested(|p| p.assignment(name))
    }

    fn assignment(&mut self, name: Option<&Name>) -> Parse<Expr> {
        let test = self.binary(0, name)?;
        if self.eat("?") {
            let at = test.at;
            let then = self.assignment_named(None)?;
            self.expect(":")?;
            let otherwise = self.assignment_named(None)?;
            return Ok(expr(ExprKind::Conditional(Box::new([test, then, otherwise])), at));
        }
        let Token::Punctuation(p) = *self.token() else { return Ok(test) };
        match p {
            "=" => self.store_assignment(test),
            "=>" => {
                Err(self.mistake("arrow functions are not part of WebPPL").remedy("write 'function(x) { return …; }'"))
            }
            "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | ">>>=" | "**=" | "++" | "--" => {
                if let (Some(key), Some((_, Infix::Binary(op)))) = (store_key(&test), compound(p)) {
                    return self.compound_assignment(test, key, op);
                }
                Err(self.mistake(&format!("the operator '{p}' assigns, which WebPPL does not allow")).remedy(ASSIGN))
            }
            _ => Ok(test),
        }
    }

    fn store_assignment(&mut self, target: Expr) -> Parse<Expr> {
        let at = self.here();
        let key = match target.kind {
            ExprKind::Member(object, name) if is_store(&object) => expr(ExprKind::Text(name), target.at),
            ExprKind::Index(object, key) if is_store(&object) => *key,
            _ => {
                return Err(Mistake::new(at, "assignment is allowed only to fields of globalStore").remedy(ASSIGN));
            }
        };
        self.advance();
        let value = self.assignment_named(None)?;
        Ok(expr(ExprKind::SetStore(Box::new(key), Box::new(value)), at))
    }

    /// `globalStore.key += value`
    fn compound_assignment(&mut self, old: Expr, key: ExprKind, op: Binary) -> Parse<Expr> {
        let at = self.here();
        self.advance();
        let value = self.assignment_named(None)?;
        let sum = expr(ExprKind::Binary(op, Box::new(old), Box::new(value)), at);
        Ok(expr(ExprKind::SetStore(Box::new(expr(key, at)), Box::new(sum)), at))
    }

    fn binary(&mut self, min: u8, name: Option<&Name>) -> Parse<Expr> {
        let mut left = self.unary(name)?;
        let mut length = 0;
        while let Some((level, op)) = infix(self.token()) {
            if level < min.max(1) {
                break;
            }
            length += 1;
            if length > MAX_CHAIN {
                return Err(self.mistake("this expression is too long").remedy("add up an array with sum or reduce"));
            }
            let at = self.here();
            self.advance();
            // `**` binds to the right
            let right = self.nested(|p| p.binary(if level == 11 { level } else { level + 1 }, None))?;
            let (left_box, right) = (Box::new(left), Box::new(right));
            let kind = match op {
                Infix::Binary(op) => ExprKind::Binary(op, left_box, right),
                Infix::And => ExprKind::And(left_box, right),
                Infix::Or => ExprKind::Or(left_box, right),
            };
            left = expr(kind, at);
        }
        Ok(left)
    }

    fn unary(&mut self, name: Option<&Name>) -> Parse<Expr> {
        let at = self.here();
        let op = match self.token() {
            Token::Punctuation("!") => Unary::Not,
            Token::Punctuation("-") => Unary::Negate,
            Token::Punctuation("+") => Unary::Plus,
            Token::Punctuation("~") => Unary::BitNot,
            Token::Punctuation(p @ ("++" | "--")) => {
                return Err(self
                    .mistake(&format!("the operator '{p}' assigns, which WebPPL does not allow"))
                    .remedy(ASSIGN));
            }
            Token::Word(w) if &**w == "typeof" => Unary::TypeOf,
            Token::Word(w) if &**w == "void" => Unary::Void,
            _ => return self.postfix(name),
        };
        self.advance();
        let operand = self.nested(|p| p.unary(None))?;
        if let (Unary::Negate, ExprKind::Number(x)) = (op, &operand.kind) {
            return Ok(expr(ExprKind::Number(-x), at));
        }
        Ok(expr(ExprKind::Unary(op, Box::new(operand)), at))
    }

    fn postfix(&mut self, name: Option<&Name>) -> Parse<Expr> {
        let mut value = self.primary(name)?;
        let mut length = 0;
        loop {
            length += 1;
            if length > MAX_CHAIN {
                return Err(self.mistake("this expression is too long"));
            }
            let at = self.here();
            if self.eat(".") {
                let Token::Word(member) = self.token().clone() else {
                    return Err(self.mistake(&format!("expected a property but found {}", self.found())));
                };
                self.advance();
                value = expr(ExprKind::Member(Box::new(value), member), at);
            } else if self.eat("[") {
                let index = self.expression()?;
                self.expect("]")?;
                value = expr(ExprKind::Index(Box::new(value), Box::new(index)), at);
            } else if self.is("(") {
                let start = value.at;
                let args = self.list("(", ")")?;
                value = expr(ExprKind::Call(Box::new(value), args), start);
            } else {
                return Ok(value);
            }
        }
    }

    /// Expressions with commas between them, in brackets.
    fn list(&mut self, open: &str, close: &str) -> Parse<Vec<Expr>> {
        let start = self.here();
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            if *self.token() == Token::End {
                return Err(Mistake::new(start, format!("this '{open}' has no matching '{close}'")));
            }
            if self.is("...") {
                return Err(self.mistake("spread is not part of WebPPL").remedy("use concat, or apply(f, args)"));
            }
            if self.is(",") {
                return Err(self.mistake("a value is missing here"));
            }
            items.push(self.assignment_named(None)?);
            if !self.is(close) {
                self.expect(",")?;
            }
        }
        Ok(items)
    }

    fn primary(&mut self, name: Option<&Name>) -> Parse<Expr> {
        let at = self.here();
        let kind = match self.token().clone() {
            Token::Number(x) => ExprKind::Number(x),
            Token::Text(text) => ExprKind::Text(text),
            Token::Regex { pattern, flags } => ExprKind::Regex { pattern, flags },
            Token::Punctuation("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Punctuation("[") => return Ok(expr(ExprKind::Array(self.list("[", "]")?), at)),
            Token::Punctuation("{") => return self.object(),
            Token::Word(word) => match &*word {
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                "null" => ExprKind::Null,
                "function" => {
                    self.advance();
                    let own = if self.is("(") { None } else { Some(self.name()?) };
                    let function = self.function(own.or_else(|| name.cloned()), at)?;
                    return Ok(expr(ExprKind::Function(function), at));
                }
                word if is_keyword(word) || word == "require" => {
                    let (message, remedy) = refused(word).unwrap_or(("a value is expected here", ""));
                    let mistake = Mistake::new(at, message);
                    return Err(if remedy.is_empty() { mistake } else { mistake.remedy(remedy) });
                }
                _ => ExprKind::Name(word),
            },
            _ => return Err(self.mistake(&format!("expected a value but found {}", self.found()))),
        };
        self.advance();
        Ok(expr(kind, at))
    }

    fn object(&mut self) -> Parse<Expr> {
        let at = self.here();
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.eat("}") {
            let key_at = self.here();
            let (key, word): (Name, bool) = match self.token().clone() {
                Token::Word(w) => (w, true),
                Token::Text(t) => (t, false),
                Token::Number(x) => (Rc::from(crate::format::number(x)), false),
                Token::End => return Err(Mistake::new(at, "this '{' has no matching '}'")),
                Token::Punctuation("[") => return Err(self.mistake("computed keys are not part of WebPPL")),
                _ => return Err(self.mistake(&format!("expected a key but found {}", self.found()))),
            };
            self.advance();
            let value = if self.eat(":") {
                self.assignment_named(None)?
            } else if self.is("(") {
                let function = self.nested(|p| p.function(None, key_at))?;
                expr(ExprKind::Function(function), key_at)
            } else if word && !is_keyword(&key) {
                expr(ExprKind::Name(key.clone()), key_at)
            } else {
                return Err(self.mistake(&format!("expected ':' but found {}", self.found())));
            };
            fields.push((key, value));
            if !self.is("}") {
                self.expect(",")?;
            }
        }
        Ok(expr(ExprKind::Object(fields), at))
    }
}

const ASSIGN: &str = "give the new value a new name with 'var', or keep state in globalStore";

/// The operator in `+=` and its like.
fn compound(token: &'static str) -> Option<(u8, Infix)> {
    infix(&Token::Punctuation(token.strip_suffix('=')?))
}

/// The key of a field of `globalStore`, if it can be read twice.
fn store_key(target: &Expr) -> Option<ExprKind> {
    match &target.kind {
        ExprKind::Member(object, name) if is_store(object) => Some(ExprKind::Text(name.clone())),
        ExprKind::Index(object, key) if is_store(object) => match &key.kind {
            ExprKind::Name(name) => Some(ExprKind::Name(name.clone())),
            ExprKind::Text(text) => Some(ExprKind::Text(text.clone())),
            ExprKind::Number(x) => Some(ExprKind::Number(*x)),
            _ => None,
        },
        _ => None,
    }
}

fn is_store(object: &Expr) -> bool {
    matches!(&object.kind, ExprKind::Name(n) if &**n == "globalStore")
}
