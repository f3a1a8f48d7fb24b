//! Declarations and their types.

use super::Printer;
use super::expressions::{IN_CONSTRAINT, List, last};
use crate::ast::{Constraint, Declaration, Declarator, DeclaredKind, DeclaredType, Expr};
use crate::span::Span;

impl<'a> Printer<'a> {
    pub(super) fn declaration(&mut self, declaration: &'a Declaration) {
        self.declared_type(&declaration.ty);
        self.space();
        match declaration.declarators.as_slice() {
            [only] => self.declarator(only),
            several => self.list(&List::bare(), several, |d| Some(place(d)), Self::declarator),
        }
        self.text(";");
    }

    fn declarator(&mut self, declarator: &'a Declarator) {
        self.text(&*declarator.name.name);
        if let Some(value) = &declarator.initial {
            self.text(" =");
            self.value(value);
        }
    }

    fn declared_type(&mut self, ty: &'a DeclaredType) {
        let end = ty.span.range().end;
        match &ty.kind {
            DeclaredKind::Plain { base, constraint, sizes } => {
                self.text(base.ty().to_string());
                self.constraint(constraint);
                self.sizes(sizes, self.closing_before(end));
            }
            DeclaredKind::Special { special, sizes } => {
                self.text(special.name());
                self.sizes(sizes, self.closing_before(end));
            }
            DeclaredKind::Array { sizes, element } => self.array(sizes, element),
            DeclaredKind::Tuple(parts) => {
                self.text("tuple");
                self.list(&List::tuple(last(ty.span)), parts, |p| Some(p.span), Self::declared_type);
            }
        }
    }

    /// An array of arrays, which has no syntax, is an array with the sizes of both.
    fn array(&mut self, sizes: &'a [Expr], element: &'a DeclaredType) {
        let mut all: Vec<&Expr> = sizes.iter().collect();
        let mut element = element;
        while let DeclaredKind::Array { sizes, element: inner } = &element.kind {
            all.extend(sizes);
            element = inner;
        }
        self.text("array");
        self.expressions(&List::square(0), all);
        self.space();
        self.declared_type(element);
    }

    fn sizes(&mut self, sizes: &'a [Expr], close_at: usize) {
        if !sizes.is_empty() {
            self.expressions(&List::square(close_at), sizes);
        }
    }

    fn constraint(&mut self, constraint: &'a Constraint) {
        if constraint.is_none() {
            return;
        }
        self.list(
            &List::angle(last(constraint.span)),
            constraint.parts(),
            |(_, value)| Some(value.span),
            |p, (word, value)| {
                p.text(word);
                p.text("=");
                p.expression(value, IN_CONSTRAINT);
            },
        );
    }
}

/// Where a variable with its value stands.
fn place(declarator: &Declarator) -> Span {
    let name = declarator.name.span;
    declarator.initial.as_ref().map_or(name, |e| name.to(e.span))
}
