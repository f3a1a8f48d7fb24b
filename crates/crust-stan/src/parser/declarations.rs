//! Types: with sizes and constraints in declarations, without them in the heads of functions.

use super::{Parse, Parser, messages};
use crate::ast::{BaseType, Constraint, Declaration, Declarator, DeclaredKind, DeclaredType, Expr, Ident, SpecialType};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::token::{Keyword, TokenKind};
use crate::types::Type;

pub(super) fn starts_type(keyword: Keyword) -> bool {
    base_type(keyword).is_some()
        || special_type(keyword).is_some()
        || matches!(keyword, Keyword::Array | Keyword::Tuple)
}

fn base_type(keyword: Keyword) -> Option<BaseType> {
    Some(match keyword {
        Keyword::Int => BaseType::Int,
        Keyword::Real => BaseType::Real,
        Keyword::Complex => BaseType::Complex,
        Keyword::Vector => BaseType::Vector,
        Keyword::RowVector => BaseType::RowVector,
        Keyword::Matrix => BaseType::Matrix,
        Keyword::ComplexVector => BaseType::ComplexVector,
        Keyword::ComplexRowVector => BaseType::ComplexRowVector,
        Keyword::ComplexMatrix => BaseType::ComplexMatrix,
        _ => return None,
    })
}

fn retired_array_list(span: Span) -> Diagnostic {
    Diagnostic::error("retired-array-list", "sizes behind a name cannot stand in a list of names", span)
        .help("declare each of the variables by itself")
}

fn special_type(keyword: Keyword) -> Option<SpecialType> {
    SpecialType::ALL.into_iter().find(|t| t.name() == keyword.word())
}

impl Parser<'_> {
    pub(super) fn at_type(&self) -> bool {
        matches!(self.peek(), TokenKind::Keyword(k) if starts_type(k))
    }

    /// A type with its names and their initial values, without the `;`.
    pub(super) fn declaration(&mut self) -> Parse<Declaration> {
        let mut ty = self.declared_type()?;
        let mut declarators = Vec::new();
        let mut retired = false;
        loop {
            let name = self.declared_name(!declarators.is_empty())?;
            if self.is(TokenKind::OpenBracket) {
                ty = self.retired_array(ty, &name.name, !declarators.is_empty())?;
                retired = true;
            }
            let initial = if self.take(TokenKind::Assign) {
                Some(self.expression()?)
            } else if self.at_arrow() {
                let span = self.here().to(self.tokens[self.at + 1].span);
                self.report(messages::retired("assignment with `<-`", "=", span));
                self.advance();
                self.advance();
                Some(self.expression()?)
            } else {
                None
            };
            declarators.push(Declarator { name, initial });
            if retired && self.is(TokenKind::Comma) {
                let problem = retired_array_list(self.here());
                return Err(self.report(problem));
            }
            if !self.take(TokenKind::Comma) {
                return Ok(Declaration { ty, declarators });
            }
        }
    }

    /// A name behind a type, or behind the names before it.
    fn declared_name(&mut self, in_list: bool) -> Parse<Ident> {
        if in_list && self.at_type() {
            let problem = Diagnostic::error("type-in-list", "a list of names has one type", self.here())
                .help("end the declaration with `;` before another type");
            return Err(self.report(problem));
        }
        self.identifier("after the type")
    }

    /// `real x[N]`, which is `array[N] real x` today.
    fn retired_array(&mut self, element: DeclaredType, name: &str, several: bool) -> Parse<DeclaredType> {
        let open = self.here();
        let sizes = self.sizes()?;
        let span = open.to(self.previous());
        if let DeclaredKind::Array { .. } = element.kind {
            let problem =
                Diagnostic::error("retired-array-list", "sizes stand both before the type and behind the name", span)
                    .help("give all sizes of the array before the type");
            return Err(self.report(problem));
        }
        if several || self.is(TokenKind::Comma) {
            return Err(self.report(retired_array_list(span)));
        }
        let inner = span.range();
        let inner = &self.text[inner.start + 1..inner.end - 1];
        let replacement = format!("array[{}] {} {name}", inner.trim(), self.slice(element.span));
        self.report(messages::retired("an array size behind the name", &replacement, span));
        let span = element.span.to(span);
        Ok(DeclaredType { kind: DeclaredKind::Array { sizes, element: Box::new(element) }, span })
    }

    fn declared_type(&mut self) -> Parse<DeclaredType> {
        self.nested(|p| {
            let start = p.here();
            let TokenKind::Keyword(keyword) = p.peek() else { return Err(p.expected("a type", "")) };
            let kind = if let Some(base) = base_type(keyword) {
                p.advance();
                p.plain_type(base)?
            } else if let Some(special) = special_type(keyword) {
                p.advance();
                let sizes = p.type_sizes(special.name(), special.size_counts())?;
                DeclaredKind::Special { special, sizes }
            } else if keyword == Keyword::Array {
                p.advance();
                let sizes = p.sizes()?;
                DeclaredKind::Array { sizes, element: Box::new(p.array_element()?) }
            } else if keyword == Keyword::Tuple {
                p.advance();
                DeclaredKind::Tuple(p.tuple_types(start, Self::declared_type)?)
            } else {
                return Err(p.expected("a type", ""));
            };
            Ok(DeclaredType { kind, span: start.to(p.previous()) })
        })
    }

    fn array_element(&mut self) -> Parse<DeclaredType> {
        if self.is_keyword(Keyword::Array) {
            let problem = Diagnostic::error("array-of-array", "an array of arrays is declared in one", self.here())
                .help("give all sizes at once: `array[N, M] real x;`");
            return Err(self.report(problem));
        }
        if !self.at_type() {
            return Err(self.expected("the type of the elements", "after `array[…]`"));
        }
        self.declared_type()
    }

    fn plain_type(&mut self, base: BaseType) -> Parse<DeclaredKind> {
        let constraint = self.constraint()?;
        let name = base.ty().to_string();
        let sizes = match base.size_count() {
            0 if self.is(TokenKind::OpenBracket) => {
                let open = self.here();
                self.sizes()?;
                let span = open.to(self.previous());
                let problem = Diagnostic::error("size-count", format!("`{name}` takes no size"), span)
                    .help(format!("an array is declared as `array{} {name}`", self.slice(span)));
                return Err(self.report(problem));
            }
            0 => Vec::new(),
            n => self.type_sizes(&name, &[n])?,
        };
        Ok(DeclaredKind::Plain { base, constraint, sizes })
    }

    /// `[a, b]` behind a type that needs `counts` of them.
    fn type_sizes(&mut self, name: &str, counts: &[usize]) -> Parse<Vec<Expr>> {
        if self.is(TokenKind::Less) {
            let problem =
                Diagnostic::error("special-constraint", format!("`{name}` takes no further constraint"), self.here());
            return Err(self.report(problem));
        }
        if !self.is(TokenKind::OpenBracket) {
            let span = self.previous();
            let sizes = if counts[0] == 1 { "[N]" } else { "[M, N]" };
            let problem = Diagnostic::error("size-count", format!("`{name}` needs its size"), span)
                .help(format!("write `{name}{sizes}`"));
            return Err(self.report(problem));
        }
        let open = self.here();
        let sizes = self.sizes()?;
        if !counts.contains(&sizes.len()) {
            let needed: Vec<_> = counts.iter().map(ToString::to_string).collect();
            let plural = if counts == [1] { "size" } else { "sizes" };
            let message = format!("`{name}` takes {} {plural}, found {}", needed.join(" or "), sizes.len());
            self.report(Diagnostic::error("size-count", message, open.to(self.previous())));
        }
        Ok(sizes)
    }

    /// `[a, b]` with at least one size.
    fn sizes(&mut self) -> Parse<Vec<Expr>> {
        self.expect(TokenKind::OpenBracket, "before the sizes")?;
        let mut sizes = vec![self.expression()?];
        while self.take(TokenKind::Comma) {
            sizes.push(self.expression()?);
        }
        self.expect(TokenKind::CloseBracket, "after the sizes")?;
        Ok(sizes)
    }

    fn constraint(&mut self) -> Parse<Constraint> {
        let mut constraint = Constraint { span: self.here(), ..Constraint::default() };
        if !self.take(TokenKind::Less) {
            return Ok(constraint);
        }
        loop {
            let span = self.here();
            let words = ["lower", "upper", "offset", "multiplier"];
            let Some(which) = words.iter().position(|w| self.slice(span) == *w) else {
                let place = "in the constraint";
                return Err(self.expected("`lower`, `upper`, `offset` or `multiplier`", place));
            };
            self.advance();
            self.expect(TokenKind::Assign, &format!("after `{}`", words[which]))?;
            let value = self.constraint_expression()?;
            let slot = match which {
                0 => &mut constraint.lower,
                1 => &mut constraint.upper,
                2 => &mut constraint.offset,
                _ => &mut constraint.multiplier,
            };
            if slot.replace(value).is_some() {
                let message = format!("`{}` is given twice", words[which]);
                self.report(Diagnostic::error("duplicate-constraint", message, span));
            }
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        if !self.is(TokenKind::Greater) {
            let (found, span) = self.found();
            let problem =
                Diagnostic::error("syntax", format!("expected `>` after the constraint, found {found}"), span)
                    .help("comparisons and logical operators need parentheses here");
            return Err(self.report(problem));
        }
        constraint.span = constraint.span.to(self.advance().span);
        let bounds = constraint.lower.is_some() || constraint.upper.is_some();
        if bounds && (constraint.offset.is_some() || constraint.multiplier.is_some()) {
            self.report(
                Diagnostic::error(
                    "mixed-constraint",
                    "bounds do not go together with offset and multiplier",
                    constraint.span,
                )
                .note("each names a transform of its own, and a variable has one"),
            );
        }
        Ok(constraint)
    }

    /// `(type, type, …)` of a tuple type.
    fn tuple_types<T>(&mut self, start: Span, each: fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.expect(TokenKind::OpenParen, "after `tuple`")?;
        let mut types = Vec::new();
        let mut commas = 0;
        while !self.is(TokenKind::CloseParen) {
            types.push(each(self)?);
            if !self.take(TokenKind::Comma) {
                break;
            }
            commas += 1;
        }
        self.expect(TokenKind::CloseParen, "or `,` after the type")?;
        // Only a tuple of one part has a comma behind its last.
        if commas == 0 || (commas == types.len() && commas > 1) {
            let span = start.to(self.previous());
            let problem = Diagnostic::error("tuple-size", "a tuple type lists the types of its parts", span)
                .help("write `tuple(int, real)`; a tuple of one part is `tuple(int,)`");
            return Err(self.report(problem));
        }
        Ok(types)
    }

    /// A type in the head of a function: no sizes, no constraints.
    pub(super) fn unsized_type(&mut self) -> Parse<Type> {
        self.nested(|p| {
            let start = p.here();
            let TokenKind::Keyword(keyword) = p.peek() else { return Err(p.expected("a type", "")) };
            if keyword == Keyword::Array {
                p.advance();
                let open = p.expect(TokenKind::OpenBracket, "after `array`")?;
                let dimensions = p.dimensions(open)?;
                let element = p.unsized_type()?;
                if matches!(element, Type::Array(_)) {
                    let problem = Diagnostic::error("array-of-array", "an array of arrays is written in one", start)
                        .help("give all dimensions at once: `array[,] real x`");
                    return Err(p.report(problem));
                }
                return Ok(element.in_array(dimensions));
            }
            if keyword == Keyword::Tuple {
                p.advance();
                return p.tuple_types(start, Self::unsized_type).map(Type::Tuple);
            }
            let ty = match (base_type(keyword), special_type(keyword)) {
                (Some(base), _) => base.ty(),
                (None, Some(special)) => {
                    let problem = messages::argument_with_constraint(start);
                    p.report(problem);
                    special.ty()
                }
                (None, None) => return Err(p.expected("a type", "")),
            };
            p.advance();
            if p.is(TokenKind::Less) {
                p.constraint()?;
                let problem = messages::argument_with_constraint(start.to(p.previous()));
                p.report(problem);
            }
            if !p.is(TokenKind::OpenBracket) {
                return Ok(ty);
            }
            p.retired_dimensions(start, ty)
        })
    }

    /// `real[,]`, which is `array[,] real` today; `vector[3]` is a mistake.
    fn retired_dimensions(&mut self, start: Span, element: Type) -> Parse<Type> {
        let open = self.advance().span;
        if !matches!(self.peek(), TokenKind::Comma | TokenKind::CloseBracket) {
            while !matches!(self.peek(), TokenKind::CloseBracket | TokenKind::CloseParen | TokenKind::End) {
                self.advance();
            }
            self.take(TokenKind::CloseBracket);
            let problem = messages::argument_with_size(start.to(self.previous()), &element.to_string());
            self.report(problem);
            return Ok(element);
        }
        let dimensions = self.dimensions(open)?;
        let ty = element.in_array(dimensions);
        self.report(messages::retired(
            "an array written behind its element",
            &ty.to_string(),
            start.to(self.previous()),
        ));
        Ok(ty)
    }

    /// Behind `[`: only commas may follow.
    fn dimensions(&mut self, open: Span) -> Parse<usize> {
        let mut dimensions = 1;
        while self.take(TokenKind::Comma) {
            dimensions += 1;
        }
        if self.is(TokenKind::CloseBracket) {
            self.advance();
            return Ok(dimensions);
        }
        let problem = messages::argument_with_size(open.to(self.here()), "array[] …");
        Err(self.report(problem))
    }
}
