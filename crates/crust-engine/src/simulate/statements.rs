//! Statements of the model as statements that draw.

use std::collections::{BTreeMap, BTreeSet};

use crust_stan::ast::{SpecialType, UnaryOp};
use crust_stan::joint::mixture;
use crust_stan::joint::{
    Bounds, Joint, Role, Sampler, call, declared_bounds, definitions, image, resolve, root, sampler, special_type,
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
use super::solve::{as_place, jacobians, solve};

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
            careful: Careful::new(joint, phase),
            masks: BTreeSet::new(),
            locals: Vec::new(),
            first_local: joint.program.variables.len() + 4 * helpers.len(),
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
        list.iter().any(works).then_some(Stmt { kind: StmtKind::Block(list), span: stmt.span })
    }

    fn statement(&mut self, stmt: &Stmt, before: &[Stmt], out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let push = |kind: StmtKind, out: &mut Vec<Stmt>| out.push(Stmt { kind, span });
        match &stmt.kind {
            StmtKind::Declare { variable: id, .. } if !self.careful.exists(*id) => {}
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
            StmtKind::Tilde(_) | StmtKind::TargetPlus(_)
                if self.phase == Phase::Parameters && self.joint.is_linked(stmt) => {}
            StmtKind::Tilde(tilde) => out.extend(self.tilde(tilde, span)),
            StmtKind::TargetPlus(e) => {
                let before: Vec<&Stmt> = before.iter().collect();
                if let Some(found) = mixture::read(&self.joint.split, e, &before) {
                    out.extend(self.mixture(&found, &before, span));
                } else if self.phase == Phase::Outcomes && self.is_loose(e) {
                    let note = self.note("loose", e.clone(), span);
                    out.push(self.careful.guarded(&[e], note));
                }
            }
            StmtKind::If { branches, otherwise } => out.extend(self.branches(branches, otherwise.as_deref(), span)),
            StmtKind::For { variable, over, body } => {
                let Some(inner) = self.body(body) else { return };
                let bounds: Vec<&Expr> = match over {
                    LoopOver::Range { lower, upper } => vec![lower, upper],
                    LoopOver::Each(e) => vec![e],
                };
                // Outcomes are not there while parameters are drawn, nor is what loops over them.
                if !bounds.iter().all(|e| self.careful.can_be_known(e)) {
                    return;
                }
                let open: Vec<&Expr> = bounds.into_iter().filter(|e| self.careful.is_open(e)).collect();
                let kind = StmtKind::For { variable: *variable, over: over.clone(), body: Box::new(inner) };
                out.push(self.careful.guarded(&open, Stmt { kind, span }));
            }
            StmtKind::While { condition, body } => {
                let Some(inner) = self.body(body).filter(|_| self.careful.can_be_known(condition)) else { return };
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
        let known = branches.iter().all(|(condition, _)| self.careful.can_be_known(condition));
        if (bodies.iter().all(Option::is_none) && otherwise.is_none()) || !known {
            return None;
        }
        let empty = || Stmt { kind: StmtKind::Block(Vec::new()), span };
        let open: Vec<Expr> = conditions.iter().filter(|e| self.careful.is_open(e)).cloned().collect();
        let list = conditions.into_iter().zip(bodies.into_iter().map(|b| b.unwrap_or_else(empty))).collect();
        let stmt = Stmt { kind: StmtKind::If { branches: list, otherwise: otherwise.map(Box::new) }, span };
        Some(self.careful.guarded(&open.iter().collect::<Vec<_>>(), stmt))
    }

    /// Whether a term depends on data alone: it weighs no parameter and draws nothing, but varies with simulated data.
    fn is_loose(&self, e: &Expr) -> bool {
        let depends = &self.joint.split.depends;
        e.ty.is_scalar() && !depends.is_parametric(e) && depends.sources(e).iter().any(|id| self.joint.is_outcome(*id))
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
            let all = std::iter::once(&tilde.variate).chain(&tilde.arguments).cloned().collect();
            let call = Call { callee: tilde.density.clone(), arguments: all, unnormalised: false };
            let density = Expr { kind: ExprKind::Call(call), ty: Type::Real, level: Level::Data, span };
            let note = self.note("weigh", density, span);
            let known: Vec<&Expr> = std::iter::once(&variate).chain(arguments).collect();
            return vec![self.count(&variate, span), draw, self.careful.guarded(&known, note)];
        }
        let Callee::Library(name) = &tilde.density else { return Vec::new() };
        let stem = Suffix::split(name).0;
        let mut arguments = vec![variate.clone()];
        arguments.extend(tilde.arguments.iter().cloned());
        let name = match sampler(stem) {
            Some(Sampler::Scalar) => {
                let free = role == Role::Prior && self.joint.cut_together.contains(&id);
                let special = special_type(&self.joint.program, id).filter(|_| role == Role::Prior && !free);
                let declared = if free { Bounds::default() } else { declared_bounds(&self.joint.program, id) };
                arguments.extend(self.bounds(declared, &variate, tilde, special));
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

    /// Lower and upper bound of a draw: those of `T[,]`, and of the declaration of what is drawn. A declaration bounds
    /// the variable; where an image of it is drawn, the bounds go the same way.
    #[allow(clippy::unused_self, reason = "beside the other parts of a draw")]
    fn bounds(&self, declared: Bounds<'_>, variate: &Expr, tilde: &Tilde, special: Option<SpecialType>) -> Vec<Expr> {
        let stated = tilde.truncation.as_ref();
        let number = |x: f64| Expr { kind: ExprKind::Real(x), ty: Type::Real, level: Level::Data, span: variate.span };
        let nothing = Expr { kind: ExprKind::Error, ty: variate.ty.clone(), level: Level::Data, span: variate.span };
        let (place, _) = solve(variate, nothing);
        let lower = declared
            .lower
            .map(|e| like(e, &place))
            .or_else(|| (special == Some(SpecialType::PositiveOrdered)).then(|| number(0.0)));
        let upper = declared.upper.map(|e| like(e, &place));
        let [lower, upper] = of_image(variate, &place, [lower, upper], &number);
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
        vec![lower.unwrap_or_else(|| number(f64::NEG_INFINITY)), upper.unwrap_or_else(|| number(f64::INFINITY))]
    }

    /// Assigns `value` to a variate, computed back where that is an image of a variable.
    #[allow(clippy::unused_self, reason = "beside the other ways to draw")]
    pub fn draw_into(&self, variate: &Expr, value: Expr, span: Span) -> Stmt {
        let (place, value) = solve(variate, value);
        let Some(target) = as_place(&place) else { return Stmt { kind: StmtKind::Skip, span } };
        let value = if place == *variate {
            value
        } else {
            // What is there already is not computed back again: it would change in the last digits.
            let mut arguments = vec![place.clone(), value];
            arguments.extend(jacobians(variate));
            step("keep", arguments, place.ty.clone(), span)
        };
        Stmt { kind: StmtKind::Assign { target, op: None, value }, span }
    }

    /// Counts the elements of a variate as drawn.
    fn count(&self, variate: &Expr, span: Span) -> Stmt {
        let nothing = Expr { kind: ExprKind::Error, ty: variate.ty.clone(), level: Level::Data, span };
        let (place, _) = solve(variate, nothing);
        let Some((id, own)) = root(&place).and_then(|id| Some((id, self.helpers.get(&id)?))) else {
            return Stmt { kind: StmtKind::Skip, span };
        };
        let counter = renamed(&place, id, own.count);
        let numbers = renamed(&place, id, own.numbers);
        let value = step("count", vec![counter.clone(), numbers], counter.ty.clone(), span);
        match as_place(&counter) {
            Some(target) => Stmt { kind: StmtKind::Assign { target, op: None, value }, span },
            None => Stmt { kind: StmtKind::Skip, span },
        }
    }
}

/// Whether a statement does anything.
fn works(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Declare { .. } | StmtKind::Skip => false,
        StmtKind::Block(list) => list.iter().any(works),
        _ => true,
    }
}

/// An expression with one variable exchanged for another of the same type.
fn renamed(e: &Expr, from: VariableId, to: VariableId) -> Expr {
    walk::map(e, &|e| match e.kind {
        ExprKind::Variable(id) if id == from => Some(Expr { kind: ExprKind::Variable(to), ..e.clone() }),
        _ => None,
    })
}

/// The bounds of a variate that is an image of the place which has these bounds.
fn of_image(
    variate: &Expr,
    place: &Expr,
    bounds: [Option<Expr>; 2],
    number: &dyn Fn(f64) -> Expr,
) -> [Option<Expr>; 2] {
    if variate == place || bounds.iter().all(Option::is_none) {
        return bounds;
    }
    let rises = matches!(&variate.kind, ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. })
        if name != "inv" && arguments.first() == Some(place));
    let [lower, upper] = bounds;
    if rises {
        return [lower, upper].map(|bound| bound.map(|e| image(variate, &e)));
    }
    // A factor may be negative: which side is which shows when its value is known.
    let ends = [lower.unwrap_or_else(|| number(f64::NEG_INFINITY)), upper.unwrap_or_else(|| number(f64::INFINITY))];
    let [a, b] = ends.map(|e| image(variate, &e));
    let ty = if a.ty.is_scalar() { b.ty.clone() } else { a.ty.clone() };
    ["fmin", "fmax"].map(|function| Some(call(function, vec![a.clone(), b.clone()], ty.clone())))
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
