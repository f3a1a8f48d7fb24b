//! Statements of the model as statements that draw.

use std::collections::{BTreeMap, BTreeSet};

use crust_stan::ast::{SpecialType, UnaryOp};
use crust_stan::joint::mixture;
use crust_stan::joint::{
    Bounds, Joint, Role, Sampler, call, declared_bounds, definitions, resolve, root, sampler, special_type,
    user_sampler, walk,
};
use crust_stan::names::Suffix;
use crust_stan::span::Span;
use crust_stan::typed::{
    Call, Callee, Expr, ExprKind, Level, LoopOver, Place, Stmt, StmtKind, Tilde, Variable, VariableId,
};
use crust_stan::types::Type;

use super::careful::Careful;
use super::program::{Helpers, Phase, drawn_in, is_ordered, step};
use super::solve::{as_place, solve};

pub struct Rewriter<'a> {
    pub joint: &'a Joint,
    pub(super) phase: Phase,
    helpers: &'a BTreeMap<VariableId, Helpers>,
    definitions: BTreeMap<VariableId, Expr>,
    pub careful: Careful<'a>,
    /// Outcomes whose given values decide what is drawn.
    pub masks: BTreeSet<VariableId>,
    /// Variables that the drawing program has beside those of the program and the helpers.
    pub locals: Vec<Variable>,
    pub(super) first_local: usize,
}

impl<'a> Rewriter<'a> {
    pub fn new(joint: &'a Joint, phase: Phase, helpers: &'a BTreeMap<VariableId, Helpers>) -> Self {
        Self {
            joint,
            phase,
            helpers,
            definitions: definitions(&joint.program),
            careful: Careful { joint, phase },
            masks: BTreeSet::new(),
            locals: Vec::new(),
            first_local: joint.program.variables.len() + 3 * helpers.len(),
        }
    }

    pub fn statements(&mut self, list: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for (i, stmt) in list.iter().enumerate() {
            self.statement(stmt, &list[..i], &mut out);
        }
        out
    }

    fn body(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let list = match &stmt.kind {
            StmtKind::Block(list) => self.statements(list),
            _ => self.statements(std::slice::from_ref(stmt)),
        };
        let works = list.iter().any(|s| !matches!(s.kind, StmtKind::Declare { .. } | StmtKind::Skip));
        works.then_some(Stmt { kind: StmtKind::Block(list), span: stmt.span })
    }

    fn statement(&mut self, stmt: &Stmt, before: &[Stmt], out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let push = |kind: StmtKind, out: &mut Vec<Stmt>| out.push(Stmt { kind, span });
        match &stmt.kind {
            StmtKind::Declare { variable: id, initial } => {
                let own = |initial| StmtKind::Declare { variable: *id, initial };
                match initial {
                    Some(value) if self.careful.is_wanted(value) && !self.careful.needs_guard(value) => {
                        push(own(Some(value.clone())), out);
                    }
                    Some(value) if self.careful.is_wanted(value) => {
                        push(own(None), out);
                        let variable = self.joint.program.variable(*id);
                        let place = Place::Variable {
                            variable: *id,
                            path: Vec::new(),
                            ty: variable.ty.clone(),
                            span: variable.span,
                        };
                        let assign = StmtKind::Assign { target: place, op: None, value: value.clone() };
                        out.push(self.careful.guarded(&[value], Stmt { kind: assign, span }));
                    }
                    _ => push(own(None), out),
                }
            }
            StmtKind::Assign { target, value, .. } => {
                let mut indices = Vec::new();
                walk::in_place(target, &mut |e| indices.push(e));
                if self.careful.is_wanted(value) && indices.iter().all(|e| self.careful.is_wanted(e)) {
                    let moving: Vec<&Expr> = indices.into_iter().filter(|e| self.careful.is_open(e)).collect();
                    let mut parts = if self.careful.needs_guard(value) { vec![value] } else { Vec::new() };
                    parts.extend(moving);
                    out.push(self.careful.guarded(&parts, stmt.clone()));
                }
            }
            StmtKind::Tilde(tilde) => out.extend(self.tilde(tilde, span)),
            StmtKind::TargetPlus(e) => {
                let before: Vec<&Stmt> = before.iter().collect();
                if let Some(found) = mixture::read(&self.joint.split, e, &before) {
                    out.extend(self.mixture(&found, &before, span));
                }
            }
            StmtKind::If { branches, otherwise } => out.extend(self.branches(branches, otherwise.as_deref(), span)),
            StmtKind::For { variable, over, body } => {
                let Some(inner) = self.body(body) else { return };
                let bounds: Vec<&Expr> = match over {
                    LoopOver::Range { lower, upper } => vec![lower, upper],
                    LoopOver::Each(e) => vec![e],
                };
                let open: Vec<&Expr> = bounds.into_iter().filter(|e| self.careful.is_open(e)).collect();
                let kind = StmtKind::For { variable: *variable, over: over.clone(), body: Box::new(inner) };
                out.push(self.careful.guarded(&open, Stmt { kind, span }));
            }
            StmtKind::While { condition, body } => {
                let Some(inner) = self.body(body) else { return };
                let kind = StmtKind::While { condition: condition.clone(), body: Box::new(inner) };
                out.push(self.careful.guarded(&[condition], Stmt { kind, span }));
            }
            StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => {
                let list = self.statements(list);
                push(StmtKind::Block(list), out);
            }
            StmtKind::Break | StmtKind::Continue => out.push(stmt.clone()),
            // Messages, calls and Jacobians draw nothing.
            _ => {}
        }
    }

    /// A condition that looks at the very element that it guards decides what is drawn: it looks at the given data.
    fn branches(&mut self, branches: &[(Expr, Stmt)], otherwise: Option<&Stmt>, span: Span) -> Option<Stmt> {
        let mut variates: Vec<Expr> = Vec::new();
        for stmt in branches.iter().map(|(_, s)| s).chain(otherwise) {
            walk::each(stmt, &mut |s| {
                if let StmtKind::Tilde(tilde) = &s.kind {
                    variates.push(tilde.variate.clone());
                }
            });
        }
        let mut used = BTreeSet::new();
        let mut conditions = Vec::new();
        for (condition, _) in branches {
            let seen = std::cell::RefCell::new(BTreeSet::new());
            let mapped = walk::map(condition, &|e| {
                let id = root(e)?;
                let own = self.helpers.get(&id).filter(|_| self.phase == Phase::Outcomes)?;
                if !variates.contains(e) {
                    return None;
                }
                seen.borrow_mut().insert(id);
                Some(renamed(e, id, own.given))
            });
            used.extend(seen.into_inner());
            conditions.push(mapped);
        }
        self.masks.extend(&used);
        let bodies: Vec<Option<Stmt>> = branches.iter().map(|(_, s)| self.body(s)).collect();
        let otherwise = otherwise.and_then(|s| self.body(s));
        if bodies.iter().all(Option::is_none) && otherwise.is_none() {
            return None;
        }
        let empty = || Stmt { kind: StmtKind::Block(Vec::new()), span };
        let open: Vec<Expr> = conditions.iter().filter(|e| self.careful.is_open(e)).cloned().collect();
        let list = conditions.into_iter().zip(bodies.into_iter().map(|b| b.unwrap_or_else(empty))).collect();
        let stmt = Stmt { kind: StmtKind::If { branches: list, otherwise: otherwise.map(Box::new) }, span };
        Some(self.careful.guarded(&open.iter().collect::<Vec<_>>(), stmt))
    }

    /// `v ~ d(a, b)` as an assignment of what is missing in `v`.
    pub(super) fn tilde(&mut self, tilde: &Tilde, span: Span) -> Vec<Stmt> {
        let role = self.joint.split.of_tilde(tilde);
        let variate = resolve(&self.joint.program, &self.definitions, &tilde.variate);
        let Some(id) = root(&variate) else { return Vec::new() };
        if !drawn_in(self.phase, role) || !self.helpers.contains_key(&id) {
            return Vec::new();
        }
        if let Some(function) = user_sampler(&self.joint.program, &tilde.density) {
            let call = Call { callee: Callee::User(function), arguments: tilde.arguments.clone(), unnormalised: false };
            let value = Expr { kind: ExprKind::Call(call), ty: variate.ty.clone(), level: Level::Data, span };
            let draw = self.draw_into(&variate, value, span);
            let arguments: Vec<&Expr> = tilde.arguments.iter().collect();
            let missing = not(self.careful.ready(&[&variate], span));
            let kind = StmtKind::If { branches: vec![(missing, draw)], otherwise: None };
            let draw = self.careful.guarded(&arguments, Stmt { kind, span });
            return vec![self.count(&variate, span), draw];
        }
        let Callee::Library(name) = &tilde.density else { return Vec::new() };
        let stem = Suffix::split(name).0;
        let mut arguments = vec![variate.clone()];
        arguments.extend(tilde.arguments.iter().cloned());
        let name = match sampler(stem) {
            Some(Sampler::Scalar) => {
                let special = special_type(&self.joint.program, id).filter(|_| role == Role::Prior);
                arguments.extend(self.bounds(id, &variate, tilde, role, special));
                let alike = tilde.arguments.iter().all(|a| a.ty.is_scalar());
                match (is_ordered(special), alike) {
                    (false, _) => format!("free:{stem}"),
                    (true, true) => format!("sorted:{stem}"),
                    (true, false) => format!("ordered:{stem}"),
                }
            }
            Some(Sampler::Counts(_)) => {
                let Some(own) = self.helpers.get(&id) else { return Vec::new() };
                self.masks.insert(id);
                arguments.push(renamed(&variate, id, own.given));
                format!("cells:{stem}")
            }
            Some(Sampler::Cell(_)) => format!("cells:{stem}"),
            None => return Vec::new(),
        };
        let guards: Vec<&Expr> =
            tilde.arguments.iter().chain(walk::bounds(tilde)).filter(|e| self.careful.needs_guard(e)).collect();
        let value = step(&name, arguments, variate.ty.clone(), span);
        let draw = self.draw_into(&variate, value, span);
        vec![self.count(&variate, span), self.careful.guarded(&guards, draw)]
    }

    /// Lower and upper bound of a draw: those of `T[,]`, and of a parameter's declaration.
    fn bounds(
        &self,
        id: VariableId,
        variate: &Expr,
        tilde: &Tilde,
        role: Role,
        special: Option<SpecialType>,
    ) -> Vec<Expr> {
        let declared = if role == Role::Prior { declared_bounds(&self.joint.program, id) } else { Bounds::default() };
        let stated = tilde.truncation.as_ref();
        let zero = Expr { kind: ExprKind::Real(0.0), ty: Type::Real, level: Level::Data, span: variate.span };
        let lower = declared
            .lower
            .map(|e| like(e, variate))
            .or_else(|| (special == Some(SpecialType::PositiveOrdered)).then_some(zero));
        let upper = declared.upper.map(|e| like(e, variate));
        let join = |a: Option<Expr>, b: Option<&Expr>, function: &str| match (a, b) {
            (Some(a), Some(b)) => {
                let ty = if a.ty.is_scalar() { b.ty.clone() } else { a.ty.clone() };
                Some(call(function, vec![a, b.clone()], ty))
            }
            (a, b) => a.or_else(|| b.cloned()),
        };
        let lower = join(lower, stated.and_then(|t| t.lower.as_ref()), "fmax");
        let upper = join(upper, stated.and_then(|t| t.upper.as_ref()), "fmin");
        if lower.is_none() && upper.is_none() {
            return Vec::new();
        }
        let infinite =
            |x: f64| Expr { kind: ExprKind::Real(x), ty: Type::Real, level: Level::Data, span: variate.span };
        vec![lower.unwrap_or_else(|| infinite(f64::NEG_INFINITY)), upper.unwrap_or_else(|| infinite(f64::INFINITY))]
    }

    /// Assigns `value` to a variate, computed back where that is an image of a variable.
    pub fn draw_into(&self, variate: &Expr, value: Expr, span: Span) -> Stmt {
        let (place, value) = solve(variate, value);
        let Some(target) = as_place(&place) else { return Stmt { kind: StmtKind::Skip, span } };
        let assign = Stmt { kind: StmtKind::Assign { target, op: None, value }, span };
        if place == *variate {
            return assign;
        }
        // What is there already is not computed back again: it would change in the last digits.
        let missing = not(self.careful.ready(&[&place], span));
        Stmt { kind: StmtKind::If { branches: vec![(missing, assign)], otherwise: None }, span }
    }

    /// Counts the elements of a variate as drawn.
    fn count(&self, variate: &Expr, span: Span) -> Stmt {
        let nothing = Expr { kind: ExprKind::Error, ty: variate.ty.clone(), level: Level::Data, span };
        let (place, _) = solve(variate, nothing);
        let Some((id, own)) = root(&place).and_then(|id| Some((id, self.helpers.get(&id)?))) else {
            return Stmt { kind: StmtKind::Skip, span };
        };
        let counter = renamed(&place, id, own.count);
        let value = step("count", vec![counter.clone()], counter.ty.clone(), span);
        match as_place(&counter) {
            Some(target) => Stmt { kind: StmtKind::Assign { target, op: None, value }, span },
            None => Stmt { kind: StmtKind::Skip, span },
        }
    }
}

/// An expression with one variable exchanged for another of the same type.
fn renamed(e: &Expr, from: VariableId, to: VariableId) -> Expr {
    walk::map(e, &|e| match e.kind {
        ExprKind::Variable(id) if id == from => Some(Expr { kind: ExprKind::Variable(to), ..e.clone() }),
        _ => None,
    })
}

/// A bound for the elements of a variate: indexed like it where it is a container.
fn like(bound: &Expr, variate: &Expr) -> Expr {
    match &variate.kind {
        ExprKind::Index { indices, .. } if !bound.ty.is_scalar() => Expr {
            kind: ExprKind::Index { base: Box::new(bound.clone()), indices: indices.clone() },
            ty: variate.ty.clone(),
            level: Level::Data,
            span: bound.span,
        },
        _ => bound.clone(),
    }
}

fn not(e: Expr) -> Expr {
    let span = e.span;
    let kind = ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(e) };
    Expr { kind, ty: Type::Int, level: Level::Data, span }
}
