//! Which terms of the log density are prior and which are likelihood.

use std::collections::{BTreeMap, BTreeSet};

use super::depends::{Depends, numbers_in_terms, values_of_data};
use super::inside::variate_arguments;
use super::walk;
use crate::ast::{BinaryOp, BlockKind, UnaryOp};
use crate::names::Suffix;
use crate::typed::{Call, Callee, Expr, ExprKind, Level, Origin, Program, Stmt, StmtKind, Tilde, VariableId};
use serde::Serialize;

/// Which part of the joint density a factor belongs to: `p(θ)` or `p(y | θ)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Prior,
    Likelihood,
}

/// A term of `target += …`, where sums have been taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Term<'a> {
    pub expr: &'a Expr,
    /// Whether it is subtracted.
    pub negative: bool,
    pub role: Role,
}

/// The decision for every statement of a program.
#[derive(Clone, Debug)]
pub struct Split {
    pub depends: Depends,
    /// Data that are variates of densities.
    pub outcomes: BTreeSet<VariableId>,
    values: BTreeSet<VariableId>,
    /// What the variables hold log densities of.
    holds: Vec<Holds>,
    /// User functions that are log densities.
    densities: Vec<bool>,
    /// Parameters that are variates of densities.
    with_prior: BTreeSet<VariableId>,
    /// Terms that are added under a condition on outcomes, by their place: `if (y[n] == 0) target += log(p)`.
    under: BTreeSet<(u32, u32)>,
    /// What is assigned to each local variable or transformed parameter.
    assigned: BTreeMap<VariableId, Vec<Expr>>,
    /// See [`Program::censored_weigh`].
    censored_weigh: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Holds {
    prior: bool,
    likelihood: bool,
}

impl Holds {
    fn with(self, other: Self) -> Self {
        Self { prior: self.prior || other.prior, likelihood: self.likelihood || other.likelihood }
    }
}

impl From<Role> for Holds {
    fn from(role: Role) -> Self {
        Self { prior: role == Role::Prior, likelihood: role == Role::Likelihood }
    }
}

impl Split {
    /// Whether some term of the program is a [censored observation](Split::is_censored).
    pub fn has_censored(program: &Program) -> bool {
        let split = Self::of(program);
        let mut found = false;
        for stmt in [BlockKind::TransformedParameters, BlockKind::Model].into_iter().flat_map(|k| program.block(k)) {
            walk::each(stmt, &mut |s| {
                let (StmtKind::TargetPlus(added) | StmtKind::Assign { op: Some(BinaryOp::Add), value: added, .. }) =
                    &s.kind
                else {
                    return;
                };
                found |= split.terms(added).iter().any(|term| !term.negative && split.is_censored(term.expr));
            });
        }
        found
    }

    pub fn of(program: &Program) -> Self {
        let mut split = Self {
            depends: Depends::of(program),
            outcomes: BTreeSet::new(),
            values: values_of_data(program),
            holds: vec![Holds::default(); program.variables.len()],
            densities: program.functions.iter().map(|f| Suffix::of(&f.name).is_density()).collect(),
            with_prior: BTreeSet::new(),
            under: BTreeSet::new(),
            assigned: assigned(program),
            censored_weigh: program.censored_weigh,
        };
        split.variates(program);
        split.indices(program);
        split.branches(program);
        split.holders(program);
        split
    }

    /// Collects what stands on the left of densities.
    fn variates(&mut self, program: &Program) {
        let mut found = Vec::new();
        let inside = variate_arguments(program);
        for stmt in [BlockKind::TransformedParameters, BlockKind::Model].into_iter().flat_map(|k| program.block(k)) {
            walk::each(stmt, &mut |s| {
                if let StmtKind::Tilde(tilde) = &s.kind {
                    found.push(tilde.variate.clone());
                }
                walk::own(s, &mut |e| {
                    walk::parts(e, &mut |e| {
                        if let ExprKind::Call(call) = &e.kind {
                            found.extend(self.variate(call).cloned());
                            if let Callee::User(id) = &call.callee
                                && !self.is_density(call)
                            {
                                let places = inside[id.0 as usize].iter();
                                found.extend(places.filter_map(|&place| call.arguments.get(place)).cloned());
                            }
                        }
                    });
                });
            });
        }
        for variate in found {
            if self.of_variate(&variate) == Role::Prior {
                self.with_prior.extend(self.depends.parameters(&variate));
                continue;
            }
            for id in self.roots(&variate, DEPTH) {
                let is_data = program.variable(id).origin == Origin::Block(BlockKind::Data);
                let sources = self.depends.sources_of(id).iter().filter(|s| self.values.contains(s));
                self.outcomes.extend(if is_data { vec![id] } else { sources.copied().collect() });
            }
        }
    }

    /// Where no density has data on its left and no term looks at their values, data that are indices are the outcome:
    /// `target += log(phi[w[n]])`.
    fn indices(&mut self, program: &Program) {
        if !self.outcomes.is_empty() {
            return;
        }
        let mut sources = BTreeSet::new();
        for stmt in program.block(BlockKind::Model) {
            walk::each(stmt, &mut |s| {
                if let StmtKind::TargetPlus(e) = &s.kind {
                    sources.extend(self.depends.sources(e));
                }
            });
        }
        if sources.is_disjoint(&self.values) {
            let is_index = |id: &&VariableId| {
                program.variable(**id).origin == Origin::Block(BlockKind::Data)
                    && !program.variable(**id).ty.is_scalar()
            };
            self.values.extend(sources.iter().filter(is_index));
        }
        if sources.is_disjoint(&self.values) {
            // Counts that stand alone: `target += k * log(p) + (n - k) * log1m(p)`.
            self.values.extend(numbers_in_terms(program));
        }
    }

    /// Collects the terms that stand under conditions on outcomes.
    fn branches(&mut self, program: &Program) {
        let known = if self.outcomes.is_empty() { self.values.clone() } else { self.outcomes.clone() };
        for stmt in [BlockKind::TransformedParameters, BlockKind::Model].into_iter().flat_map(|k| program.block(k)) {
            self.below(stmt, false, &known);
        }
    }

    fn below(&mut self, stmt: &Stmt, inside: bool, known: &BTreeSet<VariableId>) {
        let mut inside = inside;
        match &stmt.kind {
            StmtKind::TargetPlus(e) if inside => {
                let mut list = Vec::new();
                additive(e, false, &mut list);
                self.under.extend(list.iter().map(|(e, _)| (e.span.start, e.span.end)));
            }
            _ => walk::decides(stmt, &mut |e| inside |= !self.depends.sources(e).is_disjoint(known)),
        }
        walk::children(stmt, &mut |child| self.below(child, inside, known));
    }

    /// The variables that a variate is an image of, through what is assigned to local variables.
    fn roots(&self, variate: &Expr, depth: u32) -> Vec<VariableId> {
        let Some(id) = root(variate) else { return Vec::new() };
        match self.assigned.get(&id) {
            Some(values) if depth > 0 => values.iter().flat_map(|e| self.roots(e, depth - 1)).collect(),
            _ => vec![id],
        }
    }

    /// Finds the variables that hold log densities.
    fn holders(&mut self, program: &Program) {
        loop {
            let before = self.holds.clone();
            for stmt in program.blocks.iter().flatten().flat_map(|b| &b.statements) {
                walk::each(stmt, &mut |s| {
                    let (ids, value) = match &s.kind {
                        StmtKind::Declare { variable, initial: Some(value) } => (vec![*variable], value),
                        StmtKind::Assign { target, value, .. } => (walk::assigned(target), value),
                        _ => return,
                    };
                    let held = self.held(value);
                    for id in ids {
                        let slot = &mut self.holds[id.0 as usize];
                        *slot = slot.with(held);
                    }
                });
            }
            if self.holds == before {
                return;
            }
        }
    }

    fn held(&self, expr: &Expr) -> Holds {
        let mut found = Holds::default();
        walk::parts(expr, &mut |e| match &e.kind {
            ExprKind::Variable(id) => found = found.with(self.holds[id.0 as usize]),
            ExprKind::Call(call) => {
                if let Some(variate) = self.variate(call) {
                    found = found.with(self.of_variate(variate).into());
                }
            }
            _ => {}
        });
        found
    }

    /// Whether log densities are in the value of an expression.
    pub fn holds_density(&self, expr: &Expr) -> bool {
        self.held(expr) != Holds::default()
    }

    /// Whether a density is called, by its name: `foo_lpdf(v | …)`.
    pub fn is_density(&self, call: &Call) -> bool {
        match &call.callee {
            Callee::Library(name) => Suffix::of(name).is_density(),
            Callee::User(id) => self.densities.get(id.0 as usize) == Some(&true),
        }
    }

    /// The variate of a call of a density.
    fn variate<'a>(&self, call: &'a Call) -> Option<&'a Expr> {
        match &call.callee {
            Callee::Library(name) if name == "reduce_sum" || name == "reduce_sum_static" => call.arguments.get(1),
            _ if self.is_density(call) => call.arguments.first(),
            _ => None,
        }
    }

    /// The role of a density of this variate: prior if it is a parameter or computed from one, likelihood if it is
    /// data. A residual, `y - mu`, is one of data, also if it has been put into a variable before.
    pub fn of_variate(&self, variate: &Expr) -> Role {
        let roots = self.roots(variate, DEPTH);
        let parametric = |id: &VariableId| self.depends.sources_of(*id).iter().any(|id| self.depends.is_parameter(*id));
        let prior = if roots.is_empty() { self.depends.is_parametric(variate) } else { roots.iter().any(parametric) };
        if prior { Role::Prior } else { Role::Likelihood }
    }

    pub fn of_tilde(&self, tilde: &Tilde) -> Role {
        self.of_variate(&tilde.variate)
    }

    /// The terms of `target += expr` with their roles. A term without a density in it (a normaliser, a constant) goes
    /// with the densities beside it; where there are none, what depends on outcomes is likelihood.
    pub fn terms<'a>(&self, expr: &'a Expr) -> Vec<Term<'a>> {
        let mut list = Vec::new();
        additive(expr, false, &mut list);
        let held: Vec<Holds> = list.iter().map(|(e, _)| self.held(e)).collect();
        let mut all = held.iter().fold(Holds::default(), |a, b| a.with(*b));
        if !all.prior && list.iter().any(|(e, _)| self.without_density(e) == Role::Likelihood) {
            all.likelihood = true;
        }
        let lone = self.is_lone(expr);
        list.iter()
            .zip(held)
            .map(|(&(expr, negative), held)| {
                // What is added is a term of its own; what is subtracted beside a density is its normaliser.
                let alone = !negative && self.without_density(expr) == Role::Likelihood;
                let own = held == Holds::default() && (alone || self.is_chosen(expr));
                if self.censored_weigh && !negative && self.is_censored(expr) {
                    return Term { expr, negative, role: Role::Prior };
                }
                let role = match (held.prior, held.likelihood || own, all.prior, all.likelihood) {
                    (_, true, ..) | (false, false, false, true) => Role::Likelihood,
                    (true, ..) | (false, false, true, false) => Role::Prior,
                    _ if lone => Role::Likelihood,
                    _ => self.without_density(expr),
                };
                Term { expr, negative, role }
            })
            .collect()
    }

    /// Whether a statement adds a constant: a part of the likelihood, as `-0.5 * n * log(2 * pi())`. (A prior that is divided by
    /// what it integrates to would lose it.) The probability of being beyond a number is the normaliser of a truncated prior.
    pub fn is_lone(&self, expr: &Expr) -> bool {
        let cumulative = |e: &Expr| match &e.kind {
            ExprKind::Call(Call { callee: Callee::Library(name), .. }) => {
                let suffix = Suffix::of(name);
                suffix.is_conditional() && !suffix.is_density()
            }
            _ => false,
        };
        !self.depends.is_parametric(expr) && !self.holds_density(expr) && !walk::any(expr, &cumulative)
    }

    /// Whether a term is added under a condition on outcomes.
    pub fn is_chosen(&self, expr: &Expr) -> bool {
        self.under.contains(&(expr.span.start, expr.span.end))
    }

    /// Whether data are used as more than a size or an index.
    pub fn is_value(&self, id: VariableId) -> bool {
        self.values.contains(&id)
    }

    /// Whether log densities of parameters and of data are mixed in a variable, so that they cannot be told apart.
    pub fn is_mixed(&self, expr: &Expr) -> bool {
        let held = self.held(expr);
        held.prior && held.likelihood
    }

    /// Whether this is the probability of an observation that is only known to lie beyond a value in the data:
    /// `weibull_lccdf(y | …)`, also times an indicator or a number of such observations.
    pub fn is_censored(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) if name == "sum" => {
                arguments.first().is_some_and(|e| self.is_censored(e))
            }
            ExprKind::Call(call) => self.is_cumulative_of_data(call),
            ExprKind::Binary { op: BinaryOp::Multiply, left, right } => {
                let factor = |e: &Expr| !self.depends.is_parametric(e);
                (factor(left) && self.is_censored(right)) || (factor(right) && self.is_censored(left))
            }
            _ => false,
        }
    }

    fn is_cumulative_of_data(&self, call: &Call) -> bool {
        let Callee::Library(name) = &call.callee else { return false };
        let suffix = Suffix::of(name);
        let is_data = |v: &Expr| !self.depends.is_parametric(v) && !self.depends.sources(v).is_empty();
        suffix.is_conditional() && !suffix.is_density() && call.arguments.first().is_some_and(is_data)
    }

    fn without_density(&self, expr: &Expr) -> Role {
        let cumulative_of_data =
            walk::any(expr, &|e| matches!(&e.kind, ExprKind::Call(call) if self.is_cumulative_of_data(call)));
        let sources = self.depends.sources(expr);
        if cumulative_of_data || !sources.is_disjoint(&self.outcomes) {
            return Role::Likelihood;
        }
        let sees_data = !sources.is_disjoint(&self.values);
        // What is left without another prior has it here.
        let parameters = self.depends.parameters(expr);
        let has_prior = !parameters.is_empty() && parameters.is_subset(&self.with_prior);
        let needed = self.outcomes.is_empty() || parameters.is_subset(&self.with_prior);
        // Where all of the likelihood is by hand, a part of it may see nothing but how many observations there are.
        let counts = self.outcomes.is_empty() && has_prior && sources.iter().any(|id| !parameters.contains(id));
        if counts {
            return Role::Likelihood;
        }
        if sees_data && needed { Role::Likelihood } else { Role::Prior }
    }
}

/// How many variables that are computed from each other are followed.
const DEPTH: u32 = 8;

/// What is assigned to the variables that are neither data nor parameters, as a whole or by element.
fn assigned(program: &Program) -> BTreeMap<VariableId, Vec<Expr>> {
    let mut found: BTreeMap<VariableId, Vec<Expr>> = BTreeMap::new();
    for stmt in [BlockKind::TransformedParameters, BlockKind::Model].into_iter().flat_map(|k| program.block(k)) {
        walk::each(stmt, &mut |s| match &s.kind {
            StmtKind::Declare { variable, initial: Some(value) } => {
                found.entry(*variable).or_default().push(value.clone());
            }
            StmtKind::Assign { target, value, .. } => {
                for id in walk::assigned(target) {
                    found.entry(id).or_default().push(value.clone());
                }
            }
            _ => {}
        });
    }
    found
}

/// Takes sums and differences apart.
fn additive<'a>(expr: &'a Expr, negative: bool, list: &mut Vec<(&'a Expr, bool)>) {
    match &expr.kind {
        ExprKind::Binary { op: BinaryOp::Add, left, right } if expr.ty.is_scalar() => {
            additive(left, negative, list);
            additive(right, negative, list);
        }
        ExprKind::Binary { op: BinaryOp::Subtract, left, right } if expr.ty.is_scalar() => {
            additive(left, negative, list);
            additive(right, !negative, list);
        }
        ExprKind::Unary { op: UnaryOp::Minus, operand } => additive(operand, !negative, list),
        ExprKind::Unary { op: UnaryOp::Plus, operand } => additive(operand, negative, list),
        _ => list.push((expr, negative)),
    }
}

/// The inverse of a function of one number.
pub fn inverse(name: &str) -> Option<&'static str> {
    Some(match name {
        "log" => "exp",
        "exp" => "log",
        "sqrt" => "square",
        "logit" => "inv_logit",
        "inv_logit" => "logit",
        "log1p" => "expm1",
        "expm1" => "log1p",
        "inv" => "inv",
        _ => return None,
    })
}

/// Functions that only arrange numbers anew.
pub fn is_rearrangement(name: &str) -> bool {
    matches!(name, "to_vector" | "to_row_vector" | "to_matrix" | "to_array_1d" | "to_array_2d")
}

/// The variable that a variate is an image of: `y` for `y[n]`, `to_vector(y)`, `y'`, `y - mu`.
pub fn root(variate: &Expr) -> Option<VariableId> {
    match &variate.kind {
        ExprKind::Variable(id) => Some(*id),
        ExprKind::Index { base, .. } | ExprKind::TuplePart { base, .. } | ExprKind::Transpose(base) => root(base),
        ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Plus, operand } => root(operand),
        ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) => match arguments.as_slice() {
            [x] if is_rearrangement(name) || inverse(name).is_some() => root(x),
            _ => None,
        },
        ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Subtract, left, right } => root(left).or_else(|| root(right)),
        ExprKind::Binary { op: BinaryOp::Multiply | BinaryOp::Divide, left, right } => {
            // What a number is multiplied with keeps its type; a factor that is data is only a factor.
            let fits = |e: &Expr| e.ty == variate.ty && (e.level == variate.level || variate.level == Level::Data);
            let (left, right) = (Some(left).filter(|e| fits(e)), Some(right).filter(|e| fits(e)));
            left.and_then(|e| root(e)).or_else(|| right.and_then(|e| root(e)))
        }
        _ => None,
    }
}
