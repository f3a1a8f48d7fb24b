//! Compiles the expressions of a loop.

use crust_math::functions::elementwise::UNARY;
use crust_math::functions::{Cell, Shape};
use crust_math::special::LN_SQRT_TAU;

use super::builder::Item;
use super::statements::Compiler;
use super::{Fit, Obstacle};
use crate::code::{Code, DensityCall, Kind, Node, Slot};
use crate::density::{self, Scalar};
use crate::flat::{Density, Function, Operand, Step};
use crate::kernels::arithmetic::Arithmetic;

/// The most elements of a container that are computed one by one.
pub const MOST_ELEMENTS: usize = 64;

/// What an expression looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dependence {
    /// Variables of the loop.
    pub space: bool,
    /// Something that is not data.
    pub runtime: bool,
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub struct Val {
    pub shape: Shape,
    pub numbers: Numbers,
}

impl Val {
    pub fn list(shape: Shape, items: Vec<Item>) -> Self {
        Self { shape, numbers: Numbers::Items(items) }
    }
}

#[derive(Clone, Debug)]
pub enum Numbers {
    /// What the machine computes before the loop.
    Operand(usize),
    Items(Vec<Item>),
}

impl Compiler<'_> {
    pub fn dependence(&self, node: &Node) -> Dependence {
        let mut all = Dependence::default();
        match &node.kind {
            Kind::Variable { slot, .. } => return self.of_variable(*slot),
            // Computed once, from data.
            Kind::Hoisted(index, _) if self.machine.hoisted[*index as usize].is_some() => return all,
            Kind::Random(..) | Kind::HigherOrder(_) | Kind::Target | Kind::User { .. } => all.runtime = true,
            // Each evaluation decides which terms it drops.
            Kind::Density(call) if call.propto => all.runtime = true,
            _ => {}
        }
        node.children(&mut |child| {
            let Dependence { space, runtime } = self.dependence(child);
            all.space |= space;
            all.runtime |= runtime;
        });
        all
    }

    pub(super) fn of_variable(&self, slot: Slot) -> Dependence {
        use crate::machine::Value;
        if self.builder.space.loops.iter().any(|(s, _)| *s == slot) {
            return Dependence { space: true, runtime: false };
        }
        if self.locals.contains_key(&slot) {
            return Dependence { space: true, runtime: true };
        }
        if let Some(definition) = self.definitions.get(&slot) {
            return self.dependence(definition);
        }
        if self.kept.contains(&slot) || self.filled.iter().any(|filled| filled.slot == slot) {
            return Dependence { space: false, runtime: true };
        }
        let constant = match self.machine.variable(slot).value {
            Value::Numbers(view) => self.machine.arena.is_constant(view.block),
            Value::Tuple { .. } | Value::Unset => false,
        };
        // A number of the program that parameters choose, or one for each iteration of a loop around, is no data.
        let Code { by_parameters, in_loops, .. } = &**self.machine.code;
        let changes = by_parameters.contains(&slot) || in_loops.contains(&slot);
        Dependence { space: false, runtime: !constant || changes }
    }

    /// The value of an expression with one number.
    pub fn scalar(&mut self, node: &Node) -> Fit<Item> {
        let val = self.value(node)?;
        if !val.shape.is_scalar() {
            return Err(Obstacle::Unfit);
        }
        Self::items(&val)?.into_iter().next().ok_or(Obstacle::Unfit)
    }

    /// All numbers of a value.
    pub fn items(val: &Val) -> Fit<Vec<Item>> {
        match &val.numbers {
            Numbers::Items(items) => Ok(items.clone()),
            Numbers::Operand(operand) if val.shape.len() <= MOST_ELEMENTS => {
                Ok((0..val.shape.len()).map(|element| Item::Uniform { operand: *operand, element }).collect())
            }
            Numbers::Operand(_) => Err(Obstacle::Unfit),
        }
    }

    pub(super) fn one(item: Item) -> Val {
        Val { shape: Shape::SCALAR, numbers: Numbers::Items(vec![item]) }
    }

    pub fn value(&mut self, node: &Node) -> Fit<Val> {
        let Dependence { space, runtime } = self.dependence(node);
        match (space, runtime) {
            (false, false) => {
                let view = self.machine.numbers(node)?;
                if view.shape.len() > MOST_ELEMENTS || !view.block.uniform() {
                    return Err(Obstacle::Unfit);
                }
                let numbers = self.machine.arena.of(view.block, self.machine.width);
                let items = numbers.iter().map(|&x| Item::Constant(x)).collect();
                Ok(Val { shape: view.shape, numbers: Numbers::Items(items) })
            }
            (false, true) => {
                if self.terms && !matches!(node.kind, Kind::Variable { .. }) {
                    match self.varying_value(node) {
                        Err(Obstacle::Unfit) => {}
                        other => return other,
                    }
                }
                let (operand, shape) = self.operand(node)?;
                Ok(Val { shape, numbers: Numbers::Operand(operand) })
            }
            (true, false) => {
                let space = self.builder.space.clone();
                let node = self.resolved(node);
                let columns = self.machine.columns(&node, &space)?;
                if columns.elements.len() > MOST_ELEMENTS {
                    return Err(Obstacle::Unfit);
                }
                let items = columns.elements.into_iter().map(Item::Column).collect();
                Ok(Val { shape: columns.shape, numbers: Numbers::Items(items) })
            }
            (true, true) => self.varying_value(node),
        }
    }

    /// The expression with the variables of the loop replaced by what they stand for.
    pub fn resolved(&self, node: &Node) -> Node {
        let mut node = node.clone();
        self.resolve(&mut node);
        node
    }

    pub(super) fn resolve(&self, node: &mut Node) {
        if let Kind::Variable { slot, .. } = &node.kind
            && let Some(definition) = self.definitions.get(slot)
        {
            *node = definition.clone();
        }
        node.children_mut(&mut |child| self.resolve(child));
    }

    /// Something that the machine computes before the loop.
    pub(super) fn operand(&mut self, node: &Node) -> Fit<(usize, Shape)> {
        let shape = self.machine.numbers(node)?.shape;
        // What the machine computes before a recurrence cannot know what that assigns.
        if !matches!(node.kind, Kind::Variable { .. }) && self.kept.iter().any(|slot| node.reads(*slot)) {
            return Err(Obstacle::Unfit);
        }
        let same = |Operand { node: known, .. }: &Operand| match (&known.kind, &node.kind) {
            (Kind::Variable { slot: a, .. }, Kind::Variable { slot: b, .. }) => a == b,
            _ => known.span == node.span && node.span.start < node.span.end && same_kind(known, node),
        };
        if let Some(at) = self.flat.operands.iter().position(same) {
            return Ok((at, shape));
        }
        self.flat.operands.push(Operand { node: node.clone(), shape });
        Ok((self.flat.operands.len() - 1, shape))
    }

    /// An expression that depends on parameters and differs between iterations.
    pub(super) fn varying_value(&mut self, node: &Node) -> Fit<Val> {
        match &node.kind {
            Kind::Variable { slot, .. } => {
                if let Some(val) = self.known.get(slot).or_else(|| self.locals.get(slot)) {
                    return Ok(val.clone());
                }
                let Some(definition) = self.definitions.get(slot).cloned() else { return Err(Obstacle::Unfit) };
                let val = self.value(&definition)?;
                self.known.insert(*slot, val.clone());
                Ok(val)
            }
            Kind::Index { base, indices } => self.indexed(base, indices),
            Kind::Negate(x) => {
                let val = self.value(x)?;
                self.each(&val, |compiler, item| compiler.builder.affine(item, -1.0, None, None))
            }
            Kind::Arithmetic(operator, parts) => {
                let [a, b] = &**parts;
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.arithmetic(*operator, &a, &b)
            }
            Kind::Unary(function, x) => {
                if let Some(hoisted) = self.hoist(function, node, x)? {
                    return Ok(hoisted);
                }
                let val = self.value(x)?;
                self.each(&val, |compiler, item| {
                    let x = compiler.builder.argument(item)?;
                    compiler.builder.step(|out| Step::Unary { function, x, out })
                })
            }
            Kind::Binary(function, parts) => self.function(Function::binary(function), &**parts),
            Kind::TernaryFunction(function, parts) => self.function(Function::Ternary(function), &**parts),
            Kind::Product(parts) => {
                let [a, b] = &**parts;
                self.product(a, b, &Item::Constant(0.0)).map(Self::one)
            }
            Kind::Vector(call, arguments) if call.0.name() == "dot_product" => {
                self.dot(&arguments[0], &arguments[1]).map(Self::one)
            }
            Kind::DotSelf(x) => self.dot_self(x).map(Self::one),
            Kind::Transpose(x) => {
                let val = self.value(x)?;
                let n = val.shape.len();
                match (val.shape.cell(), val.shape.array_rank()) {
                    (Cell::Vector, 0) => Ok(Val { shape: Shape::row_vector(n), ..val }),
                    (Cell::RowVector, 0) => Ok(Val { shape: Shape::vector(n), ..val }),
                    _ => Err(Obstacle::Unfit),
                }
            }
            Kind::Sum(x) => {
                let val = self.value(x)?;
                let items = Self::items(&val)?;
                self.sum(items).map(Self::one)
            }
            Kind::LogSumExp(x) => {
                let val = self.value(x)?;
                let items = Self::items(&val)?;
                let xs = items.iter().map(|item| self.builder.argument(item)).collect::<Fit<Vec<_>>>()?;
                if xs.is_empty() {
                    return Err(Obstacle::Unfit);
                }
                let n = xs.len();
                self.builder.step_with(n, |weights, out| Step::LogSumExp { xs, weights, out }).map(Self::one)
            }
            Kind::Density(call) => {
                let (propto, varying) = (call.propto, self.varying(&call.arguments));
                let mut terms = Vec::new();
                let all = self.densities(call)?;
                if let Some(item) = self.normal_value(call, &all)? {
                    return Ok(Self::one(item));
                }
                for (function, items) in all {
                    terms.push(self.apply(function, &items, (propto, varying))?);
                }
                self.sum(terms).map(Self::one)
            }
            _ => Err(Obstacle::Unfit),
        }
    }

    /// A function of an element of a parameter is an element of the function of the parameter: computed once for each
    /// element.
    pub(super) fn hoist(
        &mut self,
        function: &'static crust_math::functions::elementwise::Unary,
        node: &Node,
        x: &Node,
    ) -> Fit<Option<Val>> {
        let Kind::Index { base, indices } = &x.kind else { return Ok(None) };
        if self.dependence(base).space || self.is_inlinable(base) || self.kept.iter().any(|slot| base.reads(*slot)) {
            return Ok(None);
        }
        let (_, shape) = self.operand(base)?;
        if shape.len() >= self.builder.space.iterations {
            return Ok(None);
        }
        let whole = Node { kind: Kind::Unary(function, base.clone()), span: node.span, varies: node.varies };
        self.indexed(&whole, indices).map(Some)
    }

    pub(super) fn each(&mut self, val: &Val, f: impl Fn(&mut Self, &Item) -> Fit<Item>) -> Fit<Val> {
        let items = Self::items(val)?;
        let items = items.iter().map(|item| f(self, item)).collect::<Fit<Vec<_>>>()?;
        Ok(Val { shape: val.shape, numbers: Numbers::Items(items) })
    }

    pub(super) fn arithmetic(&mut self, operator: Arithmetic, a: &Val, b: &Val) -> Fit<Val> {
        let (left, right) = (Self::items(a)?, Self::items(b)?);
        let shape = match (a.shape.is_scalar(), b.shape.is_scalar()) {
            (true, true) => Shape::SCALAR,
            (true, false) => b.shape,
            (false, true) => a.shape,
            (false, false) if a.shape == b.shape => a.shape,
            (false, false) => return Err(Obstacle::Unfit),
        };
        let mut items = Vec::new();
        for e in 0..shape.len() {
            let a = if a.shape.is_scalar() { &left[0] } else { &left[e] };
            let b = if b.shape.is_scalar() { &right[0] } else { &right[e] };
            items.push(self.operate(operator, a, b)?);
        }
        Ok(Val { shape, numbers: Numbers::Items(items) })
    }

    pub(super) fn operate(&mut self, operator: Arithmetic, a: &Item, b: &Item) -> Fit<Item> {
        use Arithmetic::{Add, Divide, Multiply, Subtract};
        match (operator, a, b) {
            (Add, Item::Constant(0.0), x) | (Add | Subtract, x, Item::Constant(0.0)) => return Ok(x.clone()),
            (Multiply, Item::Constant(c), x) | (Multiply, x, Item::Constant(c)) => {
                return self.builder.affine(x, *c, None, None);
            }
            (Divide, x, Item::Constant(_) | Item::Uniform { .. }) => return self.builder.affine(x, 1.0, Some(b), None),
            (Add, x, y) if self.builder.multiple(y).is_some() => return self.builder.affine(y, 1.0, None, Some(x)),
            (Add, x, y) if self.builder.multiple(x).is_some() => return self.builder.affine(x, 1.0, None, Some(y)),
            (Subtract, x, y) if self.builder.multiple(y).is_some() => {
                return self.builder.affine(y, -1.0, None, Some(x));
            }
            _ => {}
        }
        let (a, b) = (self.builder.argument(a)?, self.builder.argument(b)?);
        self.builder.step(|out| Step::Arithmetic { operator, a, b, out })
    }

    pub(super) fn sum(&mut self, items: Vec<Item>) -> Fit<Item> {
        let mut rest = items.into_iter();
        let Some(first) = rest.next() else { return Ok(Item::Constant(0.0)) };
        rest.try_fold(first, |sum, item| self.operate(Arithmetic::Add, &sum, &item))
    }

    pub(super) fn function(&mut self, function: Function, arguments: &[Node]) -> Fit<Val> {
        let items = arguments.iter().map(|node| self.scalar(node)).collect::<Fit<Vec<_>>>()?;
        self.apply(function, &items, (false, 0)).map(Self::one)
    }

    pub(super) fn apply(&mut self, function: Function, items: &[Item], (propto, varying): (bool, u32)) -> Fit<Item> {
        let arguments = items.iter().map(|item| self.builder.argument(item)).collect::<Fit<Vec<_>>>()?;
        let n = arguments.len();
        let density = Density { function, arguments, propto, varying };
        self.builder.step_with(n, |partials, out| Step::Density { density, partials, out })
    }

    /// The terms of a log density: one for each element of its arguments.
    pub fn densities(&mut self, call: &DensityCall) -> Fit<Vec<(Function, Vec<Item>)>> {
        let density::Density::Scalar(scalar) = call.density else { return Err(Obstacle::Unfit) };
        if let Some(logit) = self.log_odds(&scalar, call)? {
            return Ok(vec![logit]);
        }
        let vals = call.arguments.iter().map(|node| self.value(node)).collect::<Fit<Vec<_>>>()?;
        // Probabilities of elements are multiplied, not added.
        if scalar.product && vals.iter().any(|val| !val.shape.is_scalar()) {
            return Err(Obstacle::Unfit);
        }
        let n = vals.iter().filter(|v| !v.shape.is_scalar()).map(|v| v.shape.len()).max().unwrap_or(1);
        let lists = vals.iter().map(Self::items).collect::<Fit<Vec<_>>>()?;
        if lists.iter().zip(&vals).any(|(list, val)| !val.shape.is_scalar() && list.len() != n) {
            return Err(Obstacle::Unfit);
        }
        let term = |e: usize| {
            let items = lists.iter().zip(&vals).map(|(list, v)| list[if v.shape.is_scalar() { 0 } else { e }].clone());
            (Function::Density(scalar), items.collect())
        };
        Ok((0..n).map(term).collect())
    }

    /// A sum of normal log densities with one scale: `−½ Σ (y − μ)²/σ² − n (log σ + ½ log 2π)`, nothing of which is
    /// dropped.
    #[allow(clippy::cast_precision_loss, reason = "few terms")]
    fn normal_value(&mut self, call: &DensityCall, terms: &[(Function, Vec<Item>)]) -> Fit<Option<Item>> {
        let density::Density::Scalar(scalar) = call.density else { return Ok(None) };
        let scale = &call.arguments[call.arguments.len() - 1];
        if call.propto || !scalar.is_normal_density() || !self.value(scale)?.shape.is_scalar() {
            return Ok(None);
        }
        let (n, sigma) = (terms.len() as f64, self.scalar(scale)?);
        let rest = Item::Constant(-n * LN_SQRT_TAU);
        let logs = match &sigma {
            Item::Constant(sigma) if *sigma > 0.0 && *sigma < f64::INFINITY => {
                Item::Constant(-n * (sigma.ln() + LN_SQRT_TAU))
            }
            Item::Uniform { .. } => {
                let Some(log) = UNARY.iter().find(|function| function.name == "log") else { return Ok(None) };
                let kind = Kind::Unary(log, Box::new(scale.clone()));
                let (operand, _) = self.operand(&Node { kind, span: scale.span, varies: scale.varies })?;
                self.builder.affine(&Item::Uniform { operand, element: 0 }, -n, None, Some(&rest))?
            }
            _ => return Ok(None),
        };
        let mut pairs = Vec::new();
        for (_, items) in terms {
            pairs.push([self.builder.argument(&items[0])?, self.builder.argument(&items[1])?]);
        }
        let squares = self.builder.step(|out| Step::SquaredDistance { pairs, out })?;
        if let Item::Constant(sigma) = sigma {
            return self.builder.affine(&squares, -0.5 / (sigma * sigma), None, Some(&logs)).map(Some);
        }
        let half = self.builder.affine(&squares, -0.5, Some(&sigma), None)?;
        self.builder.affine(&half, 1.0, Some(&sigma), Some(&logs)).map(Some)
    }

    /// `bernoulli(inv_logit(α))` is `bernoulli_logit(α)`, without the detour. Where the detour would lose digits the
    /// machine goes the way that the program states.
    pub(super) fn log_odds(&mut self, scalar: &Scalar, call: &DensityCall) -> Fit<Option<(Function, Vec<Item>)>> {
        let Kind::Unary(function, alpha) = &call.arguments[call.arguments.len() - 1].kind else { return Ok(None) };
        if scalar.name != "bernoulli" || !scalar.is_probability() || function.name != "inv_logit" {
            return Ok(None);
        }
        let Some(density::Density::Scalar(logit)) = density::Density::named("bernoulli_logit_lpmf") else {
            return Ok(None);
        };
        let items = vec![self.scalar(&call.arguments[0])?, self.scalar(alpha)?];
        Ok(Some((Function::LogOdds(logit), items)))
    }
}

/// Whether two expressions at the same place are the same: one of them may be a part of the other.
fn same_kind(a: &Node, b: &Node) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Unary(f, x), Kind::Unary(g, y)) => std::ptr::eq(*f, *g) && same_kind(x, y),
        (Kind::Variable { slot: a, .. }, Kind::Variable { slot: b, .. }) => a == b,
        _ => false,
    }
}
