//! Declarations: sizes, constraints and initial values.

use super::statements::any_part;
use super::{Checker, Region, errors};
use crate::ast::{self, BaseType, BlockKind, DeclaredKind};
use crate::names::Suffix;
use crate::span::Span;
use crate::typed::{Callee, Constraint, Expr, ExprKind, Origin, SizedKind, SizedType, Stmt, StmtKind, Variable};
use crate::types::{Type, promotion_steps};

impl Checker {
    pub(super) fn declaration(
        &mut self,
        declaration: &ast::Declaration,
        top_level: bool,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let sized = self.sized_type(&declaration.ty, top_level);
        self.check_constraints(&sized, &sized.ty());
        let ty = sized.ty();
        self.check_int_parameters(&ty, top_level, declaration.ty.span);
        let origin = match self.region {
            Region::Block(block) if top_level => Origin::Block(block),
            _ => Origin::Local,
        };
        for declarator in &declaration.declarators {
            let level = self.level_here(&ty);
            let variable = self.declare(Variable {
                name: declarator.name.name.clone(),
                ty: ty.clone(),
                declared: Some(sized.clone()),
                origin,
                level,
                span: declarator.name.span,
            });
            let initial = declarator.initial.as_ref().map(|e| {
                let value = self.expression(e);
                if promotion_steps(&value.ty, &ty).is_none() {
                    self.report(errors::initial_type(&declarator.name, &ty, &value));
                }
                value
            });
            let span = if declaration.declarators.len() == 1 { span } else { declarator.name.span };
            out.push(Stmt { kind: StmtKind::Declare { variable, initial }, span });
        }
    }

    fn check_int_parameters(&mut self, ty: &Type, top_level: bool, span: Span) {
        if let Region::Block(block @ (BlockKind::Parameters | BlockKind::TransformedParameters)) = self.region
            && top_level
            && ty.has_int()
        {
            self.report(errors::int_parameter(block, span));
        }
    }

    fn sized_type(&mut self, ty: &ast::DeclaredType, top_level: bool) -> SizedType {
        let kind = match &ty.kind {
            DeclaredKind::Plain { base, constraint, sizes } => {
                if !top_level && !constraint.is_none() {
                    self.report(errors::local_constraint(constraint.span));
                }
                SizedKind::Plain {
                    base: *base,
                    constraint: self.constraint(constraint),
                    sizes: self.sizes(sizes, top_level),
                }
            }
            DeclaredKind::Special { special, sizes } => {
                if !top_level {
                    self.report(errors::local_special_type(*special, ty.span));
                }
                SizedKind::Special { special: *special, sizes: self.sizes(sizes, top_level) }
            }
            DeclaredKind::Array { sizes, element } => {
                let sizes = self.sizes(sizes, top_level);
                SizedKind::Array { sizes, element: Box::new(self.sized_type(element, top_level)) }
            }
            DeclaredKind::Tuple(parts) => {
                SizedKind::Tuple(parts.iter().map(|p| self.sized_type(p, top_level)).collect())
            }
        };
        SizedType { kind, span: ty.span }
    }

    fn constraint(&mut self, constraint: &ast::Constraint) -> Constraint {
        let mut part = |e: &Option<ast::Expr>| e.as_ref().map(|e| self.expression(e));
        Constraint {
            lower: part(&constraint.lower),
            upper: part(&constraint.upper),
            offset: part(&constraint.offset),
            multiplier: part(&constraint.multiplier),
        }
    }

    fn sizes(&mut self, sizes: &[ast::Expr], top_level: bool) -> Vec<Expr> {
        sizes.iter().map(|e| self.size(e, top_level)).collect()
    }

    /// Sizes are integers; at the top of a block they must be known from the data before anything else runs.
    fn size(&mut self, e: &ast::Expr, top_level: bool) -> Expr {
        let e = self.expression(e);
        if !matches!(e.ty, Type::Int | Type::Unknown) {
            self.report(errors::size_type(&e.ty, e.span));
        } else if top_level {
            let mut changing = None;
            any_part(&e, &mut |part| {
                if let ExprKind::Variable(id) = part.kind
                    && let Origin::Block(block) = self.program.variable(id).origin
                    && !matches!(block, BlockKind::Data | BlockKind::TransformedData)
                {
                    changing = Some((self.program.variable(id).name.clone(), block));
                }
                changing.is_some()
            });
            if let Some((name, block)) = changing {
                self.report(errors::size_not_data(&name, block, e.span));
            }
            let random = |part: &Expr| match &part.kind {
                ExprKind::Call(call) => match &call.callee {
                    Callee::Library(name) => Suffix::of(name) == Suffix::Rng,
                    Callee::User(id) => Suffix::of(&self.program.function(*id).name) == Suffix::Rng,
                },
                _ => false,
            };
            // Where random numbers are not allowed at all, that has been said.
            if self.region.allows_random_numbers() && any_part(&e, &mut { random }) {
                self.report(errors::size_random(e.span));
            }
        }
        e
    }

    /// Bounds and the like have the type of a number of the variable, or of the whole variable; each part of a tuple is
    /// a variable of its own.
    fn check_constraints(&mut self, sized: &SizedType, whole: &Type) {
        match &sized.kind {
            SizedKind::Tuple(parts) => {
                for part in parts {
                    self.check_constraints(part, &part.ty());
                }
            }
            SizedKind::Array { element, .. } => self.check_constraints(element, whole),
            SizedKind::Special { .. } => {}
            SizedKind::Plain { base, constraint, .. } => self.check_constraint(*base, constraint, whole),
        }
    }

    fn check_constraint(&mut self, base: BaseType, constraint: &Constraint, whole: &Type) {
        if base.ty().has_complex() && !constraint.is_none() {
            let span = [&constraint.lower, &constraint.upper, &constraint.offset, &constraint.multiplier];
            let span = span.into_iter().flatten().map(|e| e.span).reduce(Span::to).unwrap_or_default();
            self.report(errors::complex_constraint(span));
            return;
        }
        if base == BaseType::Int {
            for (word, e) in [("offset", &constraint.offset), ("multiplier", &constraint.multiplier)] {
                if let Some(e) = e {
                    self.report(errors::int_affine(word, e.span));
                }
            }
        }
        let parts = [
            ("lower", &constraint.lower),
            ("upper", &constraint.upper),
            ("offset", &constraint.offset),
            ("multiplier", &constraint.multiplier),
        ];
        for (word, e) in parts {
            let Some(e) = e else { continue };
            let is_scalar = matches!(e.ty, Type::Int | Type::Real | Type::Unknown);
            if *whole == Type::Int && e.ty == Type::Real {
                self.report(errors::int_bound(word, e.span));
            } else if !is_scalar && e.ty != *whole {
                self.report(errors::constraint_type(word, whole, &e.ty, e.span));
            }
        }
    }
}
