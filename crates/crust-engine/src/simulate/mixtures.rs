//! Mixtures: the component is drawn from its weights, then the variate from the component.

use crust_stan::ast::BaseType;
use crust_stan::joint::mixture::{Components, Mixture};
use crust_stan::joint::{Role, Source, root, walk};
use crust_stan::span::Span;
use crust_stan::typed::{Access, Expr, ExprKind, Level, Origin, Place, Stmt, StmtKind, Tilde, Variable, VariableId};
use crust_stan::types::Type;

use super::program::{drawn_in, step};
use super::statements::Rewriter;

impl Rewriter<'_> {
    /// Draws a component, then the variate from it.
    pub(super) fn mixture(&mut self, found: &Mixture, before: &[&Stmt], span: Span) -> Vec<Stmt> {
        let role = self.joint.split.of_variate(&found.variate);
        let outcome = root(&found.variate)
            .is_some_and(|id| self.joint.outcomes.iter().any(|(o, s)| *o == id && *s == Source::Likelihood));
        if !drawn_in(self.phase, role) || (role == Role::Likelihood && !outcome) {
            return Vec::new();
        }
        let chosen = self.local(Type::Int);
        match &found.components {
            Components::Listed(list) => {
                let weights: Vec<Expr> = list.iter().map(|(weight, _)| weight.clone()).collect();
                let total =
                    Expr { kind: ExprKind::RowVector(weights.clone()), ty: Type::RowVector, level: Level::Data, span };
                let mut guards: Vec<Expr> = weights;
                let mut out = vec![Self::choose(chosen, total, span)];
                for ((_, densities), k) in list.iter().zip(1..) {
                    let draws: Vec<Stmt> = densities.iter().flat_map(|t| self.tilde(t, span)).collect();
                    guards.extend(densities.iter().flat_map(|t| t.arguments.iter().cloned()));
                    out.push(Self::if_chosen(chosen, int(k, span), draws, span));
                }
                out.push(self.note("close", variable_of(chosen, span), span));
                let block = Stmt { kind: StmtKind::Block(out), span };
                vec![self.careful.guarded(&guards.iter().collect::<Vec<_>>(), block)]
            }
            Components::Collected { variable, total } => {
                let own: Vec<&Stmt> = before.iter().copied().filter(|s| collects(s, *variable)).collect();
                let mut out: Vec<Stmt> = own.iter().map(|s| self.weights(s)).collect();
                let vector = Expr { kind: total.kind.clone(), ty: total.ty.clone(), level: Level::Data, span };
                out.push(Self::choose(chosen, vector, span));
                let mut drawing = Vec::new();
                for stmt in &own {
                    drawing.extend(self.select(stmt, *variable, chosen));
                }
                out.extend(drawing);
                out.push(self.note("close", variable_of(chosen, span), span));
                vec![Stmt { kind: StmtKind::Block(out), span }]
            }
        }
    }

    /// The declaration of the component, drawn from its log weights.
    fn choose(chosen: VariableId, log_weights: Expr, span: Span) -> Stmt {
        let value = step("component", vec![log_weights], Type::Int, span);
        Stmt { kind: StmtKind::Declare { variable: chosen, initial: Some(value) }, span }
    }

    fn if_chosen(chosen: VariableId, k: Expr, draws: Vec<Stmt>, span: Span) -> Stmt {
        let condition = step("enter", vec![variable_of(chosen, span), k], Type::Int, span);
        let body = Stmt { kind: StmtKind::Block(draws), span };
        Stmt { kind: StmtKind::If { branches: vec![(condition, body)], otherwise: None }, span }
    }

    /// A statement that collects terms, with densities left out: what stays are the log weights.
    fn weights(&self, stmt: &Stmt) -> Stmt {
        let without = |e: &Expr| match &e.kind {
            ExprKind::Call(call) if self.joint.split.is_density(call) => {
                Some(Expr { kind: ExprKind::Real(0.0), ty: Type::Real, level: Level::Data, span: e.span })
            }
            _ => None,
        };
        map_statement(stmt, &without)
    }

    /// A statement that collects terms as one that draws from the component whose term it is.
    fn select(&mut self, stmt: &Stmt, variable: VariableId, chosen: VariableId) -> Option<Stmt> {
        let span = stmt.span;
        let kind = match &stmt.kind {
            StmtKind::Assign { target: Place::Variable { variable: id, path, .. }, value, .. } if *id == variable => {
                let Some(Access::Index(indices)) = path.first() else { return None };
                let crust_stan::typed::Index::One(k) = indices.last()? else { return None };
                let mut draws = Vec::new();
                walk::parts(value, &mut |e| {
                    if let ExprKind::Call(call) = &e.kind
                        && self.joint.split.is_density(call)
                        && let Some((variate, arguments)) = call.arguments.split_first()
                    {
                        let tilde = Tilde {
                            variate: variate.clone(),
                            density: call.callee.clone(),
                            arguments: arguments.to_vec(),
                            truncation: None,
                        };
                        draws.push(tilde);
                    }
                });
                let draws: Vec<Stmt> = draws.iter().flat_map(|t| self.tilde(t, span)).collect();
                return Some(Self::if_chosen(chosen, k.clone(), draws, span));
            }
            StmtKind::For { variable: index, over, body } => {
                let body = Box::new(self.select(body, variable, chosen)?);
                StmtKind::For { variable: *index, over: over.clone(), body }
            }
            StmtKind::Block(list) => {
                let mut kept = Vec::new();
                for stmt in list {
                    match &stmt.kind {
                        StmtKind::Declare { .. } => kept.push(stmt.clone()),
                        StmtKind::Assign { target, .. } if !walk::assigned(target).contains(&variable) => {
                            kept.push(stmt.clone());
                        }
                        _ => kept.extend(self.select(stmt, variable, chosen)),
                    }
                }
                StmtKind::Block(kept)
            }
            _ => return None,
        };
        Some(Stmt { kind, span })
    }

    /// A statement that tells the score something, which draws nothing.
    pub(super) fn note(&mut self, what: &str, e: Expr, span: Span) -> Stmt {
        let ty = e.ty.clone();
        let value = step(what, vec![e], ty.clone(), span);
        let declare = StmtKind::Declare { variable: self.local(ty), initial: Some(value) };
        Stmt { kind: StmtKind::Block(vec![Stmt { kind: declare, span }]), span }
    }

    fn local(&mut self, ty: Type) -> VariableId {
        let id = self.first_local + self.locals.len();
        let span = Span::default();
        let kind = crust_stan::typed::SizedKind::Plain {
            base: if ty == Type::Int { BaseType::Int } else { BaseType::Real },
            constraint: crust_stan::typed::Constraint::default(),
            sizes: Vec::new(),
        };
        self.locals.push(Variable {
            name: "component".to_owned(),
            ty,
            declared: Some(crust_stan::typed::SizedType { kind, span }),
            origin: Origin::Local,
            level: Level::Data,
            span,
        });
        VariableId(u32::try_from(id).unwrap_or(u32::MAX))
    }
}

/// Whether a statement assigns to the variable, or declares it.
fn collects(stmt: &Stmt, variable: VariableId) -> bool {
    let mut found = false;
    walk::each(stmt, &mut |s| match &s.kind {
        StmtKind::Assign { target, .. } => found |= walk::assigned(target).contains(&variable),
        StmtKind::Declare { variable: id, .. } => found |= *id == variable,
        _ => {}
    });
    found
}

/// A copy of a statement, expressions replaced.
fn map_statement(stmt: &Stmt, replace: walk::Replace<'_>) -> Stmt {
    let one = |e: &Expr| walk::map(e, replace);
    let boxed = |s: &Stmt| Box::new(map_statement(s, replace));
    let kind = match &stmt.kind {
        StmtKind::Declare { variable, initial } => {
            StmtKind::Declare { variable: *variable, initial: initial.as_ref().map(one) }
        }
        StmtKind::Assign { target, op, value } => {
            StmtKind::Assign { target: target.clone(), op: *op, value: one(value) }
        }
        StmtKind::For { variable, over, body } => {
            StmtKind::For { variable: *variable, over: over.clone(), body: boxed(body) }
        }
        StmtKind::If { branches, otherwise } => StmtKind::If {
            branches: branches.iter().map(|(e, s)| (one(e), map_statement(s, replace))).collect(),
            otherwise: otherwise.as_ref().map(|s| boxed(s)),
        },
        StmtKind::Block(list) => StmtKind::Block(list.iter().map(|s| map_statement(s, replace)).collect()),
        other => other.clone(),
    };
    Stmt { kind, span: stmt.span }
}

fn variable_of(id: VariableId, span: Span) -> Expr {
    Expr { kind: ExprKind::Variable(id), ty: Type::Int, level: Level::Data, span }
}

fn int(n: i64, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(n), ty: Type::Int, level: Level::Data, span }
}
