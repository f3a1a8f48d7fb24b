//! Types of expressions.

use super::{Checker, Region, error_expression, errors};
use crate::ast::{self, BlockKind, ExprKind as Ast};
use crate::names::{Suffix, normalised};
use crate::signatures;
use crate::span::Span;
use crate::typed::{Callee, Expr, ExprKind, Index, Level};
use crate::types::{Type, common_type};

/// Stan's integers have 32 bits; a literal has no sign.
const MAX_INT: i64 = i32::MAX as i64;

impl Checker {
    /// A value: functions are not values.
    pub(super) fn expression(&mut self, e: &ast::Expr) -> Expr {
        let typed = self.argument(e);
        if let Type::Function(_) = typed.ty {
            self.report(errors::function_as_value(&self.name_of(&typed), e.span));
            return error_expression(e.span);
        }
        typed
    }

    /// A value, or the name of a function where a higher-order function may want one.
    pub(super) fn argument(&mut self, e: &ast::Expr) -> Expr {
        match &e.kind {
            Ast::Int(text) => self.int_literal(text, e.span),
            Ast::Real(text) => literal(ExprKind::Real(parse_real(text)), Type::Real, e.span),
            Ast::Imaginary(text) => literal(ExprKind::Imaginary(parse_real(text)), Type::Complex, e.span),
            Ast::Variable(name) => self.variable(name, e.span),
            Ast::Call(call) => self.value_call(call, e.span),
            Ast::Target => self.target(e.span),
            Ast::Index { base, indices } => self.index(base, indices, e.span),
            Ast::TuplePart { base, part } => self.tuple_part(base, *part, e.span),
            Ast::Unary { op, operand } => self.unary(*op, operand, e.span),
            Ast::Transpose(operand) => self.transpose(operand, e.span),
            Ast::Binary { .. } => self.binary(e),
            Ast::Ternary { condition, yes, no } => self.ternary(condition, yes, no, e.span),
            Ast::Array(elements) => self.array_literal(elements, e.span),
            Ast::RowVector(elements) => self.row_vector_literal(elements, e.span),
            Ast::Tuple(parts) => self.tuple_literal(parts, e.span),
            Ast::Paren(inner) => {
                // Parentheses have done their work in the tree's shape.
                let inner = self.argument(inner);
                Expr { span: e.span, ..inner }
            }
            Ast::Error => error_expression(e.span),
        }
    }

    fn int_literal(&mut self, text: &str, span: Span) -> Expr {
        match text.replace('_', "").parse::<i64>() {
            Ok(value) if value <= MAX_INT => literal(ExprKind::Int(value), Type::Int, span),
            _ => {
                self.report(errors::int_too_large(text, span));
                Expr { ty: Type::Int, ..error_expression(span) }
            }
        }
    }

    fn variable(&mut self, name: &str, span: Span) -> Expr {
        if let Some(id) = self.lookup(name) {
            let variable = self.program.variable(id);
            // Behind the sampler, parameters are numbers like any other.
            let behind = self.region == Region::Block(BlockKind::GeneratedQuantities);
            let level = if behind { Level::Data } else { variable.level };
            return Expr { kind: ExprKind::Variable(id), ty: variable.ty.clone(), level, span };
        }
        let function = normalised(name);
        if let Some(ids) = self.functions.get(&function) {
            let id = ids[0];
            let unnormalised = Suffix::of(name).is_unnormalised();
            if unnormalised && !self.region.allows_unnormalised() {
                self.report(errors::unnormalised_not_allowed(&ast::Ident { name: name.to_owned(), span }));
            }
            let ty = Type::Function(Box::new(self.program.function(id).ty.clone()));
            let kind = ExprKind::FunctionName { callee: Callee::User(id), unnormalised };
            return Expr { kind, ty, level: Level::Data, span };
        }
        if signatures::is_function(name) {
            // Its overloads are looked at where it is used; a bare type is enough to tell that it is a function.
            let ty = signatures::expand(name).into_iter().next().map_or(Type::Unknown, |f| Type::Function(Box::new(f)));
            let unnormalised = Suffix::of(name).is_unnormalised();
            let kind = ExprKind::FunctionName { callee: Callee::Library(name.to_owned()), unnormalised };
            return Expr { kind, ty, level: Level::Data, span };
        }
        let suggestion = crate::suggest::closest(name, self.visible_variables()).map(str::to_owned);
        let problem = if crate::token::RESERVED.contains(&name) {
            errors::reserved_as_value(name, span)
        } else {
            errors::undeclared_variable(name, suggestion.as_deref(), span)
        };
        if self.undeclared.insert(name.to_owned()) {
            self.report(problem);
        }
        error_expression(span)
    }

    pub(super) fn name_of(&self, e: &Expr) -> String {
        match &e.kind {
            ExprKind::FunctionName { callee: Callee::User(id), .. } => self.program.function(*id).name.clone(),
            ExprKind::FunctionName { callee: Callee::Library(name), .. } => name.clone(),
            _ => "this".into(),
        }
    }

    fn target(&mut self, span: Span) -> Expr {
        if !self.region.allows_target() {
            self.report(errors::target_not_allowed("`target()`", span));
        }
        Expr { kind: ExprKind::Target, ty: Type::Real, level: Level::Parameter, span }
    }

    fn index(&mut self, base: &ast::Expr, indices: &[ast::Index], span: Span) -> Expr {
        let base = self.expression(base);
        let indices: Vec<_> = indices.iter().map(|i| self.one_index(i)).collect();
        let ty = self.indexed_type(&base.ty, &indices, base.span);
        let level = indices.iter().flat_map(Index::parts).map(|e| e.level).fold(base.level, Level::max);
        Expr { kind: ExprKind::Index { base: Box::new(base), indices }, ty, level, span }
    }

    pub(super) fn one_index(&mut self, index: &ast::Index) -> Index {
        let mut bound = |e: &ast::Expr| {
            let e = self.expression(e);
            if !matches!(e.ty, Type::Int | Type::Unknown) {
                self.report(errors::range_bound_type(&e.ty, e.span));
            }
            e
        };
        match index {
            ast::Index::All(_) => Index::All,
            ast::Index::From(e) => Index::From(bound(e)),
            ast::Index::UpTo(e) => Index::UpTo(bound(e)),
            ast::Index::Between(a, b) => {
                let a = bound(a);
                Index::Between(a, bound(b))
            }
            ast::Index::One(e) => {
                let mut e = self.expression(e);
                if !(matches!(e.ty, Type::Int | Type::Unknown) || e.ty == Type::Int.in_array(1)) {
                    self.report(errors::index_type(&e.ty, e.span));
                    e.ty = Type::Unknown;
                }
                Index::One(e)
            }
        }
    }

    /// The type of `base[indices]`. Each single index removes a dimension, each multiple one keeps it; a row of a
    /// matrix is a row vector, a column a vector.
    pub(super) fn indexed_type(&mut self, base: &Type, indices: &[Index], span: Span) -> Type {
        let dimensions = dimensions(base);
        if base.is_unknown() {
            return Type::Unknown;
        }
        if dimensions == 0 {
            self.report(errors::not_indexable(base, span));
            return Type::Unknown;
        }
        if indices.len() > dimensions {
            self.report(errors::too_many_indices(base, dimensions, indices.len(), span));
            return Type::Unknown;
        }
        index_type(base, indices)
    }

    fn tuple_part(&mut self, base: &ast::Expr, part: u32, span: Span) -> Expr {
        let base = self.expression(base);
        let ty = self.part_type(&base.ty, part, span);
        // A part of a tuple that is written out has its own level.
        let level = match &base.kind {
            ExprKind::Tuple(parts) => parts.get((part as usize).wrapping_sub(1)).map_or(base.level, |p| p.level),
            _ => base.level,
        };
        Expr { kind: ExprKind::TuplePart { base: Box::new(base), part }, ty, level, span }
    }

    pub(super) fn part_type(&mut self, base: &Type, part: u32, span: Span) -> Type {
        match base {
            Type::Unknown => Type::Unknown,
            Type::Tuple(parts) => {
                let found = (part as usize).checked_sub(1).and_then(|i| parts.get(i));
                if found.is_none() {
                    self.report(errors::tuple_part_missing(part, parts.len(), span));
                }
                found.cloned().unwrap_or(Type::Unknown)
            }
            other => {
                self.report(errors::not_a_tuple(other, span));
                Type::Unknown
            }
        }
    }

    fn ternary(&mut self, condition: &ast::Expr, yes: &ast::Expr, no: &ast::Expr, span: Span) -> Expr {
        let condition = self.condition(condition, "`? :`");
        let yes = self.expression(yes);
        let no = self.expression(no);
        let ty = common_type(&yes.ty, &no.ty).unwrap_or_else(|| {
            self.report(errors::ternary_mismatch(&yes, &no, span));
            Type::Unknown
        });
        let level = condition.level.max(yes.level).max(no.level);
        let kind = ExprKind::Ternary { condition: Box::new(condition), yes: Box::new(yes), no: Box::new(no) };
        Expr { kind, ty, level, span }
    }

    /// A condition must be an integer; `of` says whose.
    pub(super) fn condition(&mut self, e: &ast::Expr, of: &str) -> Expr {
        let e = self.expression(e);
        if !matches!(e.ty, Type::Int | Type::Unknown) {
            self.report(errors::condition_type(of, &e.ty, e.span));
        }
        e
    }

    fn array_literal(&mut self, elements: &[ast::Expr], span: Span) -> Expr {
        let elements: Vec<_> = elements.iter().map(|e| self.expression(e)).collect();
        let mut ty = Type::Unknown;
        for element in &elements {
            if let Some(common) = common_type(&ty, &element.ty) {
                ty = common;
            } else {
                self.report(errors::array_mismatch(&ty, element, elements[0].span));
                ty = Type::Unknown;
                break;
            }
        }
        let level = elements.iter().map(|e| e.level).max().unwrap_or(Level::Data);
        Expr { kind: ExprKind::Array(elements), ty: ty.in_array(1), level, span }
    }

    fn row_vector_literal(&mut self, elements: &[ast::Expr], span: Span) -> Expr {
        let elements: Vec<_> = elements.iter().map(|e| self.expression(e)).collect();
        let all = |allowed: fn(&Type) -> bool| elements.iter().all(|e| allowed(&e.ty) || e.ty.is_unknown());
        let complex = elements.iter().any(|e| e.ty.has_complex());
        let ty = if all(Type::is_scalar) {
            if complex { Type::ComplexRowVector } else { Type::RowVector }
        } else if all(|t| matches!(t, Type::RowVector | Type::ComplexRowVector)) {
            if complex { Type::ComplexMatrix } else { Type::Matrix }
        } else {
            let first = elements.iter().find(|e| !e.ty.is_unknown());
            let wants_rows = first.is_some_and(|e| matches!(e.ty, Type::RowVector | Type::ComplexRowVector));
            let fits = |e: &&Expr| {
                e.ty.is_unknown()
                    || if wants_rows {
                        matches!(e.ty, Type::RowVector | Type::ComplexRowVector)
                    } else {
                        e.ty.is_scalar()
                    }
            };
            if let Some(bad) = elements.iter().find(|e| !fits(e)) {
                self.problems.push(errors::row_vector_element(wants_rows, &bad.ty, bad.span));
            }
            Type::Unknown
        };
        let level = elements.iter().map(|e| e.level).max().unwrap_or(Level::Data);
        Expr { kind: ExprKind::RowVector(elements), ty, level, span }
    }

    fn tuple_literal(&mut self, parts: &[ast::Expr], span: Span) -> Expr {
        let parts: Vec<_> = parts.iter().map(|e| self.expression(e)).collect();
        let ty = Type::Tuple(parts.iter().map(|e| e.ty.clone()).collect());
        let level = parts.iter().map(|e| e.level).max().unwrap_or(Level::Data);
        Expr { kind: ExprKind::Tuple(parts), ty, level, span }
    }
}

fn literal(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, level: Level::Data, span }
}

fn parse_real(text: &str) -> f64 {
    text.replace('_', "").parse().unwrap_or(f64::NAN)
}

/// How many indices a type takes.
fn dimensions(ty: &Type) -> usize {
    let (element, arrays) = ty.array_parts();
    arrays
        + match element {
            Type::Vector | Type::RowVector | Type::ComplexVector | Type::ComplexRowVector => 1,
            Type::Matrix | Type::ComplexMatrix => 2,
            _ => 0,
        }
}

fn index_type(base: &Type, indices: &[Index]) -> Type {
    let Some((first, rest)) = indices.split_first() else { return base.clone() };
    match base {
        Type::Array(element) if first.is_multiple() => index_type(element, rest).in_array(1),
        Type::Array(element) => index_type(element, rest),
        Type::Vector | Type::RowVector if !first.is_multiple() => Type::Real,
        Type::ComplexVector | Type::ComplexRowVector if !first.is_multiple() => Type::Complex,
        Type::Matrix => matrix_index(first, rest, [Type::Matrix, Type::RowVector, Type::Vector, Type::Real]),
        Type::ComplexMatrix => {
            matrix_index(first, rest, [Type::ComplexMatrix, Type::ComplexRowVector, Type::ComplexVector, Type::Complex])
        }
        other => other.clone(),
    }
}

fn matrix_index(row: &Index, rest: &[Index], [matrix, row_vector, vector, scalar]: [Type; 4]) -> Type {
    match (row.is_multiple(), rest.first().is_none_or(Index::is_multiple)) {
        (true, true) => matrix,
        (false, true) => row_vector,
        (true, false) => vector,
        (false, false) => scalar,
    }
}
