//! The factors of the joint density: one for each `~` statement and each term of the target.

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::{constant, declared_bounds};
use super::samplers::{Support, sampler, scales, support, user_sampler};
use super::split::{Role, Split, inverse, is_rearrangement, root};
use super::{inline, mixture, walk};
use crate::ast::{BinaryOp, BlockKind, UnaryOp};
use crate::names::Suffix;
use crate::span::Span;
use crate::typed::{Call, Callee, Expr, ExprKind, Program, Stmt, StmtKind, Tilde, Truncation, VariableId};
use crate::types::Type;

/// One factor.
#[derive(Clone, Debug)]
pub struct Factor {
    /// The statement.
    pub span: Span,
    pub role: Role,
    /// What is drawn, with transformed variables replaced by what they are computed from.
    pub variate: Option<Expr>,
    /// The parameter or outcome that the variate is a part or an image of.
    pub root: Option<VariableId>,
    /// Without suffix; empty where there is no density.
    pub distribution: String,
    /// Those of the components of a mixture.
    pub components: Vec<String>,
    pub arguments: Vec<Expr>,
    pub truncation: Option<Truncation>,
    pub shape: Shape,
    /// Whether it stands in a branch, so that another statement may take its place.
    pub conditional: bool,
    /// All parameters and data that it depends on.
    pub sources: BTreeSet<VariableId>,
    /// The parameters that its distribution depends on, the variate aside.
    pub depends_on: BTreeSet<VariableId>,
    /// Those among them that are scales.
    pub scales: BTreeSet<VariableId>,
}

/// How a factor is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A draw of the variate.
    Draw,
    /// A draw of a component, then of the variate.
    Mixture,
    /// Depends on nothing: not read at all.
    Constant,
    /// A draw of a function of a parameter whose Jacobian depends on it. Read where terms beside it may be that
    /// Jacobian (`joint::curved`), and otherwise as [`Shape::NotInvertible`].
    Curved,
    /// A term that may be the log Jacobian of such draws.
    Jacobian,
    /// There is no sampler for the distribution.
    NoSampler,
    /// A density of the program's own without an `_rng` beside it.
    OwnDensity,
    /// The variate cannot be computed back to a parameter or outcome without a Jacobian.
    NotInvertible,
    /// Not all values of the distribution are values of the function on the left.
    OutOfRange,
    /// A distribution of real numbers, of which integers are wanted.
    IntegerVariate,
    /// The variate is a number of the program, not data.
    LiteralVariate,
    /// A term without a variate.
    NoDensity,
    /// Log densities of parameters and of data have been added up before.
    Mixed,
    /// A prior inside of a branch that depends on parameters.
    ParametricBranch,
    /// A function that adds to the target, and cannot be followed.
    LpFunction,
}

impl Shape {
    pub fn is_readable(self) -> bool {
        matches!(self, Self::Draw | Self::Mixture | Self::Constant | Self::Jacobian)
    }
}

impl Factor {
    /// Whether it is a density of this variable.
    pub fn draws(&self, id: VariableId) -> bool {
        self.root == Some(id)
    }

    /// Whether it depends on this variable in any way.
    pub fn touches(&self, id: VariableId) -> bool {
        self.sources.contains(&id)
    }

    /// Whether the whole variable is drawn at once.
    pub fn draws_whole(&self) -> bool {
        let whole = |e: &Expr| !walk::any(e, &|e| matches!(e.kind, ExprKind::Index { .. }));
        self.variate.as_ref().is_some_and(whole)
    }
}

/// All factors in the order of the program.
pub(super) fn factors(program: &Program, split: &Split) -> Vec<Factor> {
    let mut collector = Collector { program, split, definitions: definitions(program), found: Vec::new(), branches: 0 };
    for stmt in [BlockKind::TransformedParameters, BlockKind::Model].into_iter().flat_map(|k| program.block(k)) {
        collector.statement(stmt, false, &[]);
    }
    let mut found = collector.found;
    super::curved::settle(program, split, &mut found);
    found
}

/// Variables that are given a value once and as a whole, with that value.
pub fn definitions(program: &Program) -> BTreeMap<VariableId, Expr> {
    let mut seen: BTreeMap<VariableId, u32> = BTreeMap::new();
    let mut values: BTreeMap<VariableId, Expr> = BTreeMap::new();
    for stmt in program.blocks.iter().flatten().flat_map(|b| &b.statements) {
        walk::each(stmt, &mut |s| match &s.kind {
            StmtKind::Declare { variable, initial: Some(value) } => {
                *seen.entry(*variable).or_default() += 1;
                values.insert(*variable, value.clone());
            }
            StmtKind::Assign { target, op, value } => {
                for id in walk::assigned(target) {
                    let whole = matches!(target, crate::typed::Place::Variable { path, .. } if path.is_empty());
                    *seen.entry(id).or_default() += if whole && op.is_none() { 1 } else { 2 };
                    values.insert(id, value.clone());
                }
            }
            _ => {}
        });
    }
    values.retain(|id, _| seen.get(id) == Some(&1));
    values
}

struct Collector<'a> {
    program: &'a Program,
    split: &'a Split,
    definitions: BTreeMap<VariableId, Expr>,
    found: Vec<Factor>,
    /// How many branches are around the statement at hand.
    branches: u32,
}

impl Collector<'_> {
    fn statement(&mut self, stmt: &Stmt, parametric: bool, before: &[&Stmt]) {
        let mut inside = parametric;
        self.lp_functions(stmt);
        match &stmt.kind {
            StmtKind::Tilde(tilde) => self.tilde(tilde, stmt.span, parametric),
            StmtKind::TargetPlus(e) => self.term(e, stmt.span, before),
            _ => walk::decides(stmt, &mut |e| inside |= self.split.depends.is_parametric(e)),
        }
        let branch = u32::from(matches!(stmt.kind, StmtKind::If { .. }));
        self.branches += branch;
        match &stmt.kind {
            StmtKind::Block(list) => self.list(list, inside),
            _ => walk::children(stmt, &mut |child| self.statement(child, inside, &[])),
        }
        self.branches -= branch;
    }

    /// Functions that add to the target, as far as they have not been replaced by what they do.
    fn lp_functions(&mut self, stmt: &Stmt) {
        let is_lp = |e: &Expr| matches!(&e.kind, ExprKind::Call(call) if inline::changes_target(self.program, call));
        let mut found = matches!(&stmt.kind, StmtKind::Call(call) if inline::changes_target(self.program, call));
        let mut sources = BTreeSet::new();
        walk::own(stmt, &mut |e| {
            found = found || walk::any(e, &is_lp);
            sources.extend(self.split.depends.sources(e));
        });
        if !found {
            return;
        }
        let likelihood = sources.iter().any(|id| !self.split.depends.is_parameter(*id));
        let depends_on = sources.iter().copied().filter(|id| self.split.depends.is_parameter(*id)).collect();
        self.found.push(Factor {
            span: stmt.span,
            role: if likelihood { Role::Likelihood } else { Role::Prior },
            variate: None,
            root: None,
            distribution: String::new(),
            components: Vec::new(),
            arguments: Vec::new(),
            truncation: None,
            shape: Shape::LpFunction,
            conditional: self.branches > 0,
            sources,
            depends_on,
            scales: BTreeSet::new(),
        });
    }

    fn list(&mut self, list: &[Stmt], parametric: bool) {
        for (i, stmt) in list.iter().enumerate() {
            let before: Vec<&Stmt> = list[..i].iter().collect();
            self.statement(stmt, parametric, &before);
        }
    }

    fn tilde(&mut self, tilde: &Tilde, span: Span, parametric: bool) {
        let role = self.split.of_tilde(tilde);
        let variate = resolve(self.program, &self.definitions, &tilde.variate);
        let stem = self.stem(&tilde.density);
        let depends = &self.split.depends;
        let mut depends_on = BTreeSet::new();
        let mut sources = depends.sources(&tilde.variate);
        for e in tilde.arguments.iter().chain(walk::bounds(tilde)) {
            depends_on.extend(depends.parameters(e));
            sources.extend(depends.sources(e));
        }
        let of_scales = |i: &usize| tilde.arguments.get(*i).map(|e| depends.parameters(e)).unwrap_or_default();
        let root = root(&variate);
        let is_variable = |id: &VariableId| {
            use crate::typed::Origin::Block;
            matches!(self.program.variable(*id).origin, Block(BlockKind::Parameters | BlockKind::Data))
        };
        let invertible =
            |role: Role| root.is_some_and(|id| is_variable(&id) && self.invertible(&variate, id, role, false));
        let curved = role == Role::Prior && !invertible(role) && invertible(Role::Likelihood);
        let shape = if depends.sources(&variate).is_empty() {
            Shape::LiteralVariate
        } else if !invertible(role) && !curved {
            Shape::NotInvertible
        } else if !(reaches(&variate, &stem) || curved && self.keeps_to_range(&variate)) {
            Shape::OutOfRange
        } else if root.is_some_and(|id| is_integer(&self.program.variable(id).ty)) && !whole_numbers(tilde, &variate) {
            Shape::IntegerVariate
        } else if matches!(tilde.density, Callee::User(_)) && user_sampler(self.program, &tilde.density).is_none() {
            Shape::OwnDensity
        } else if matches!(tilde.density, Callee::Library(_)) && sampler(&stem).is_none() {
            Shape::NoSampler
        } else if parametric && role == Role::Prior {
            Shape::ParametricBranch
        } else {
            Shape::Draw
        };
        let shape = match shape {
            Shape::Draw if curved => Shape::Curved,
            _ if curved => Shape::NotInvertible,
            other => other,
        };
        self.found.push(Factor {
            span,
            role,
            root: root.filter(is_variable),
            variate: Some(variate),
            scales: scales(&stem).iter().flat_map(of_scales).collect(),
            distribution: stem,
            components: Vec::new(),
            arguments: tilde.arguments.clone(),
            truncation: tilde.truncation.clone(),
            shape,
            conditional: self.branches > 0,
            sources,
            depends_on,
        });
    }

    /// Whether the declaration of a parameter keeps draws of its square root to numbers that a square root can have: its
    /// bounds are those of the draw.
    fn keeps_to_range(&self, variate: &Expr) -> bool {
        let ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) = &variate.kind else { return false };
        let plain = arguments.first().is_some_and(|x| matches!(x.kind, ExprKind::Variable(_) | ExprKind::Index { .. }));
        let lower = root(variate).and_then(|id| declared_bounds(self.program, id).lower).and_then(constant);
        name == "sqrt" && plain && lower.is_some_and(|x| x >= 0.0)
    }

    fn term(&mut self, e: &Expr, span: Span, before: &[&Stmt]) {
        let role = self.split.terms(e).first().map_or(Role::Prior, |t| t.role);
        let depends = &self.split.depends;
        let sources = depends.sources(e);
        let parameters = depends.parameters(e);
        let blank = Factor {
            span,
            role,
            variate: None,
            root: None,
            distribution: String::new(),
            components: Vec::new(),
            arguments: Vec::new(),
            truncation: None,
            shape: Shape::NoDensity,
            conditional: self.branches > 0,
            sources,
            depends_on: parameters.clone(),
            scales: BTreeSet::new(),
        };
        // A constant that values of an outcome choose is a part of its distribution: `if (y[n] == 0) target += log(0.3)`.
        let chosen = self.split.is_chosen(e) && constant(e) != Some(0.0);
        let shape = if parameters.is_empty() && !chosen {
            Shape::Constant
        } else if self.split.is_mixed(e) {
            Shape::Mixed
        } else {
            Shape::NoDensity
        };
        let mixture = if shape == Shape::NoDensity { mixture::read(self.split, e, before) } else { None };
        self.found.push(match mixture {
            Some(found) => Factor {
                shape: Shape::Mixture,
                root: root(&found.variate),
                distribution: found.words(),
                components: found.distributions(),
                depends_on: found.needs(self.split).unwrap_or(parameters),
                variate: Some(found.variate),
                scales: self.scales_inside(e, before),
                ..blank
            },
            None => Factor { shape, ..blank },
        });
    }

    /// The scales of all densities that a mixture is made of.
    fn scales_inside(&self, e: &Expr, before: &[&Stmt]) -> BTreeSet<VariableId> {
        let mut found = BTreeSet::new();
        let mut look = |e: &Expr| {
            walk::parts(e, &mut |e| {
                if let ExprKind::Call(call) = &e.kind
                    && self.split.is_density(call)
                {
                    let arguments = scales(&self.stem(&call.callee)).iter().filter_map(|i| call.arguments.get(i + 1));
                    found.extend(arguments.flat_map(|e| self.split.depends.parameters(e)));
                }
            });
        };
        look(e);
        for stmt in before {
            walk::each(stmt, &mut |s| walk::own(s, &mut |e| look(e)));
        }
        found
    }

    fn stem(&self, density: &Callee) -> String {
        match density {
            Callee::Library(name) => Suffix::split(name).0.to_owned(),
            Callee::User(id) => Suffix::split(&self.program.function(*id).name).0.to_owned(),
        }
    }

    /// Whether the variate can be computed back to the variable behind it, with a Jacobian that weighs no parameter.
    /// For a *parameter* it must be constant: shifts, factors that are data, rearrangements. For data it may be that of
    /// any invertible function of data alone (and for a parameter whose Jacobian stands beside it, [`Shape::Curved`]). `curved` is said inside of such a function, where a shift changes the
    /// Jacobian.
    fn invertible(&self, e: &Expr, id: VariableId, role: Role, curved: bool) -> bool {
        let apart = |c: &Expr| !self.split.depends.sources(c).contains(&id);
        let factor = |c: &Expr| apart(c) && !self.split.depends.is_parametric(c);
        let free = |c: &Expr| if curved { factor(c) } else { apart(c) };
        let below = |e: &Expr| self.invertible(e, id, role, curved);
        match &e.kind {
            ExprKind::Variable(v) => *v == id,
            ExprKind::Index { base, indices } => {
                below(base)
                    && matches!(base.kind, ExprKind::Variable(_) | ExprKind::Index { .. })
                    && indices.iter().flat_map(crate::typed::Index::parts).all(apart)
            }
            ExprKind::Transpose(e) | ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Plus, operand: e } => below(e),
            ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) => match arguments.as_slice() {
                [x] if is_rearrangement(name) => below(x),
                [x] => role == Role::Likelihood && inverse(name).is_some() && self.invertible(x, id, role, true),
                _ => false,
            },
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Subtract, left, right } => {
                // Not a number that is spread over a vector: the variate would have more elements than what is drawn.
                (left.ty == e.ty && below(left) && free(right)) || (right.ty == e.ty && below(right) && free(left))
            }
            ExprKind::Binary { op: BinaryOp::Divide, left, right } => {
                right.ty.is_scalar() && below(left) && factor(right)
            }
            ExprKind::Binary { op: BinaryOp::Multiply, left, right } => {
                (right.ty.is_scalar() && below(left) && factor(right))
                    || (left.ty.is_scalar() && below(right) && factor(left))
            }
            _ => false,
        }
    }
}

/// Whether every value of the distribution is a value of the function that stands on the left: `exp(y)` is never
/// negative, so that a normal distribution of it cannot be drawn. Functions inside of others must reach all numbers.
fn reaches(variate: &Expr, stem: &str) -> bool {
    let name = |e: &Expr| match &e.kind {
        ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) if arguments.len() == 1 => {
            Some(name.clone()).filter(|name| inverse(name).is_some())
        }
        _ => None,
    };
    let fits = |name: &str| match name {
        "exp" | "sqrt" | "expm1" => matches!(support(stem), Support::Positive | Support::Unit),
        "inv_logit" => support(stem) == Support::Unit,
        _ => true,
    };
    let outer = name(variate).is_none_or(|name| fits(&name));
    let mut inner = true;
    walk::operands(variate, &mut |e| {
        walk::parts(e, &mut |e| {
            inner &= name(e).is_none_or(|name| matches!(name.as_str(), "log" | "logit" | "log1p" | "inv"));
        });
    });
    outer && inner
}

/// Whether the elements of a type are integers.
fn is_integer(ty: &Type) -> bool {
    match ty {
        Type::Array(element) => is_integer(element),
        other => *other == Type::Int,
    }
}

/// Whether draws are whole numbers, and stay so when they are computed back.
fn whole_numbers(tilde: &Tilde, variate: &Expr) -> bool {
    fn scaled(e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Binary { op: BinaryOp::Multiply | BinaryOp::Divide, .. } => true,
            ExprKind::Binary { left, right, .. } => scaled(if root(left).is_some() { left } else { right }),
            ExprKind::Unary { operand: e, .. } | ExprKind::Transpose(e) => scaled(e),
            _ => false,
        }
    }
    let continuous =
        matches!(&tilde.density, Callee::Library(name) if matches!(Suffix::of(name), Suffix::Lpdf | Suffix::Lupdf));
    !continuous && !scaled(variate)
}

/// The variate with variables that are computed from others replaced by how they are computed.
pub fn resolve(program: &Program, definitions: &BTreeMap<VariableId, Expr>, variate: &Expr) -> Expr {
    use crate::typed::Origin;
    let Some(id) = root(variate) else { return variate.clone() };
    let origin = program.variable(id).origin;
    if matches!(origin, Origin::Block(BlockKind::Parameters | BlockKind::Data)) {
        return variate.clone();
    }
    let Some(value) = definitions.get(&id) else { return variate.clone() };
    // What is computed from itself would go on for ever.
    if walk::mentions(value, id) {
        return variate.clone();
    }
    let replaced = walk::map(variate, &|e| match e.kind {
        ExprKind::Variable(v) if v == id => Some(value.clone()),
        _ => None,
    });
    resolve(program, definitions, &replaced)
}
