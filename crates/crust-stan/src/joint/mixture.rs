//! Mixtures: `log_mix` and `log_sum_exp` over log weights plus log densities of one variate.
//!
//! `p(y) = Σ_k w_k p_k(y)` is drawn by drawing `k` with probability `w_k`, then `y` from `p_k`. The log weights are
//! what is left of each term when its density is taken away; they must add up to one.

use std::collections::BTreeSet;

use super::normalise::{call, density};
use super::split::{Role, Split};
use super::walk;
use crate::ast::BinaryOp;
use crate::names::Suffix;
use crate::typed::{Access, Call, Callee, Expr, ExprKind, Index, Level, Place, Stmt, StmtKind, Tilde, VariableId};
use crate::types::Type;

/// A mixture as it stands in a program.
#[derive(Clone, Debug)]
pub struct Mixture {
    pub variate: Expr,
    pub components: Components,
}

#[derive(Clone, Debug)]
pub enum Components {
    /// All components in one expression: log weight and densities of each.
    Listed(Vec<(Expr, Vec<Tilde>)>),
    /// The terms are put into a local variable before; `total` is the vector of terms, made from that variable.
    Collected { variable: VariableId, total: Expr },
}

impl Mixture {
    /// What the mixture is made of, for people.
    pub fn words(&self) -> String {
        match self.distributions() {
            names if names.is_empty() => "mixture".to_owned(),
            names => format!("mixture of {}", names.join(" and ")),
        }
    }

    /// The distribution of each component, where they stand in one expression.
    pub fn distributions(&self) -> Vec<String> {
        let Components::Listed(list) = &self.components else { return Vec::new() };
        let name = |tilde: &Tilde| match &tilde.density {
            Callee::Library(name) => Suffix::split(name).0.to_owned(),
            Callee::User(_) => "own density".to_owned(),
        };
        list.iter().filter_map(|(_, densities)| densities.first().map(name)).collect()
    }

    /// The parameters that weights and components depend on, without the variate itself; nothing where that cannot be
    /// told.
    pub fn needs(&self, split: &Split) -> Option<BTreeSet<VariableId>> {
        let Components::Listed(list) = &self.components else { return None };
        let mut found = BTreeSet::new();
        let mut look = |e: &Expr| found.extend(split.depends.parameters(e));
        for (weight, densities) in list {
            look(weight);
            for tilde in densities {
                tilde.arguments.iter().chain(walk::bounds(tilde)).for_each(&mut look);
                if tilde.variate != self.variate {
                    look(&tilde.variate);
                }
            }
        }
        Some(found)
    }
}

/// Reads a term of the target as a mixture. `before` are the statements in front of it in the same block.
pub fn read(split: &Split, e: &Expr, before: &[&Stmt]) -> Option<Mixture> {
    let ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) = &e.kind else { return None };
    match (name.as_str(), arguments.as_slice()) {
        ("log_mix", [weight, first, second]) if weight.ty.is_scalar() => {
            let log = |function: &str| call(function, vec![weight.clone()], Type::Real);
            listed(split, vec![(Some(log("log")), first), (Some(log("log1m")), second)])
        }
        ("log_mix", [weights, terms]) => {
            let total = add(call("log", vec![weights.clone()], weights.ty.clone()), terms.clone());
            collected(split, terms, total, before)
        }
        ("log_sum_exp", [first, second]) => listed(split, vec![(None, first), (None, second)]),
        ("log_sum_exp", [terms]) => match &terms.kind {
            ExprKind::Array(list) | ExprKind::RowVector(list) => {
                listed(split, list.iter().map(|e| (None, e)).collect())
            }
            _ => collected(split, terms, terms.clone(), before),
        },
        _ => None,
    }
}

fn listed(split: &Split, terms: Vec<(Option<Expr>, &Expr)>) -> Option<Mixture> {
    let mut components = Vec::new();
    let mut variate: Option<Expr> = None;
    for (weight, term) in terms {
        let mut weight = weight;
        let mut densities = Vec::new();
        for part in split.terms(term) {
            match density(split, part.expr) {
                Some(tilde) if !part.negative => densities.push(tilde),
                _ if part.negative => return None,
                _ => {
                    weight = Some(match weight {
                        None => part.expr.clone(),
                        Some(sum) => add(sum, part.expr.clone()),
                    });
                }
            }
        }
        let own = densities.first()?.variate.clone();
        if variate.as_ref().is_some_and(|v| *v != own) {
            return None;
        }
        variate = Some(own);
        components.push((weight?, densities));
    }
    Some(Mixture { variate: variate?, components: Components::Listed(components) })
}

fn collected(split: &Split, terms: &Expr, total: Expr, before: &[&Stmt]) -> Option<Mixture> {
    let mut found: Option<(VariableId, Expr)> = None;
    // Terms of a matrix, or an element of an array of them, are sums over states, not over components of one draw.
    let in_parts = |id: &VariableId| {
        walk::any(terms, &|e| matches!(&e.kind, ExprKind::Index { base, .. } if walk::mentions(base, *id)))
    };
    let whole = walk::variables(terms).into_iter().filter(|id| !in_parts(id));
    for id in whole.filter(|id| before.iter().all(|s| only_collects(split, s, *id))) {
        for stmt in before {
            walk::each(stmt, &mut |s| {
                let value = match &s.kind {
                    StmtKind::Assign { target, value, .. } if is_element(target, id) => value,
                    _ => return,
                };
                walk::parts(value, &mut |e| {
                    if let Some(tilde) = density(split, e)
                        && found.is_none()
                        && split.of_variate(&tilde.variate) == Role::Likelihood
                    {
                        found = Some((id, tilde.variate));
                    }
                });
            });
        }
    }
    let (variable, variate) = found?;
    Some(Mixture { variate, components: Components::Collected { variable, total } })
}

/// Whether a statement does no more to the variable than to set single elements to terms that do not look at it, and
/// all of it to what is no density: otherwise the terms are not those of components.
fn only_collects(split: &Split, stmt: &Stmt, id: VariableId) -> bool {
    let mut fine = true;
    walk::each(stmt, &mut |s| match &s.kind {
        StmtKind::Assign { target, value, .. } if walk::assigned(target).contains(&id) => {
            fine &= !walk::mentions(value, id);
            fine &= is_element(target, id) || !split.holds_density(value);
        }
        _ => walk::own(s, &mut |e| fine &= !walk::mentions(e, id)),
    });
    fine
}

/// Whether a place is a single element of this variable.
pub fn is_element(place: &Place, id: VariableId) -> bool {
    let Place::Variable { variable, path, .. } = place else { return false };
    let one = |access: &Access| matches!(access, Access::Index(list) if matches!(list.as_slice(), [Index::One(_)]));
    *variable == id && matches!(path.as_slice(), [only] if one(only))
}

fn add(left: Expr, right: Expr) -> Expr {
    let (ty, span) = (right.ty.clone(), left.span.to(right.span));
    let kind = ExprKind::Binary { op: BinaryOp::Add, left: Box::new(left), right: Box::new(right) };
    Expr { kind, ty, level: Level::Parameter, span }
}
