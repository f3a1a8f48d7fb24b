//! Compiles the expressions of a loop.

use std::rc::Rc;

use crust_math::functions::{Cell, Shape};

use super::builder::Item;
use super::statements::Compiler;
use super::{Fit, Obstacle};
use crate::code::{DensityCall, Filled, Index, Kind, Node, Slot, Varies};
use crate::density::{self, Scalar};
use crate::flat::{Density, Function, Positions, Step};
use crate::kernels::arithmetic::Arithmetic;
use crate::machine::index::strides;
use crate::memory::cast;

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

/// Elements that an index expression picks.
pub struct Picked {
    /// The first element, for each iteration.
    pub first: Vec<u32>,
    /// The shape of what is left, and how far its elements are apart.
    pub kept: Option<(Shape, u32)>,
}

/// Elements at equal distances, other ones in each iteration.
struct Strand {
    operand: usize,
    first: Vec<u32>,
    stride: u32,
    shape: Shape,
}

impl Compiler<'_> {
    pub fn dependence(&self, node: &Node) -> Dependence {
        let mut all = Dependence::default();
        match &node.kind {
            Kind::Variable { slot, .. } => return self.of_variable(*slot),
            // Computed once, from data.
            Kind::Hoisted(index, _) if self.machine.hoisted[*index as usize].is_some() => return all,
            Kind::Random(..) | Kind::HigherOrder(_) | Kind::Target | Kind::User { .. } => all.runtime = true,
            _ => {}
        }
        node.children(&mut |child| {
            let Dependence { space, runtime } = self.dependence(child);
            all.space |= space;
            all.runtime |= runtime;
        });
        all
    }

    fn of_variable(&self, slot: Slot) -> Dependence {
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
        if self.filled.iter().any(|filled| filled.slot == slot) {
            return Dependence { space: false, runtime: true };
        }
        let constant = match self.machine.variable(slot).value {
            Value::Numbers(view) => self.machine.arena.is_constant(view.block),
            Value::Tuple { .. } | Value::Unset => false,
        };
        Dependence { space: false, runtime: !constant }
    }

    /// The value of an expression with one number.
    pub fn scalar(&mut self, node: &Node) -> Fit<Item> {
        let val = self.value(node)?;
        if !val.shape.is_scalar() {
            return Err(Obstacle::Unfit);
        }
        self.items(&val)?.into_iter().next().ok_or(Obstacle::Unfit)
    }

    /// All numbers of a value.
    pub fn items(&self, val: &Val) -> Fit<Vec<Item>> {
        match &val.numbers {
            Numbers::Items(items) => Ok(items.clone()),
            Numbers::Operand(operand) if val.shape.len() <= MOST_ELEMENTS => {
                Ok((0..val.shape.len()).map(|element| Item::Uniform { operand: *operand, element }).collect())
            }
            Numbers::Operand(_) => Err(Obstacle::Unfit),
        }
    }

    fn one(item: Item) -> Val {
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

    fn resolve(&self, node: &mut Node) {
        if let Kind::Variable { slot, .. } = &node.kind
            && let Some(definition) = self.definitions.get(slot)
        {
            *node = definition.clone();
        }
        node.children_mut(&mut |child| self.resolve(child));
    }

    /// Something that the machine computes before the loop.
    fn operand(&mut self, node: &Node) -> Fit<(usize, Shape)> {
        let shape = self.machine.numbers(node)?.shape;
        let same = |known: &Node| match (&known.kind, &node.kind) {
            (Kind::Variable { slot: a, .. }, Kind::Variable { slot: b, .. }) => a == b,
            _ => known.span == node.span && node.span.start < node.span.end && same_kind(known, node),
        };
        if let Some(at) = self.flat.operands.iter().position(same) {
            return Ok((at, shape));
        }
        self.flat.operands.push(node.clone());
        Ok((self.flat.operands.len() - 1, shape))
    }

    /// An expression that depends on parameters and differs between iterations.
    fn varying_value(&mut self, node: &Node) -> Fit<Val> {
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
                self.each(&val, |compiler, item| {
                    let x = compiler.builder.argument(item)?;
                    compiler.builder.step(|out| Step::Negate { x, out })
                })
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
            Kind::Binary(function, parts) => self.function(Function::Binary(function), &**parts),
            Kind::TernaryFunction(function, parts) => self.function(Function::Ternary(function), &**parts),
            Kind::Product(parts) => {
                let [a, b] = &**parts;
                self.product(a, b, Item::Constant(0.0)).map(Self::one)
            }
            Kind::Vector(call, arguments) if call.0.name() == "dot_product" => {
                self.dot(&arguments[0], &arguments[1]).map(Self::one)
            }
            Kind::DotSelf(x) => self.dot(x, x).map(Self::one),
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
                let items = self.items(&val)?;
                self.sum(items).map(Self::one)
            }
            Kind::LogSumExp(x) => {
                let val = self.value(x)?;
                let items = self.items(&val)?;
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
                for (function, items) in self.densities(call)? {
                    terms.push(self.apply(function, &items, (propto, varying))?);
                }
                self.sum(terms).map(Self::one)
            }
            _ => Err(Obstacle::Unfit),
        }
    }

    /// A function of an element of a parameter is an element of the function of the parameter: computed once for each element.
    fn hoist(
        &mut self,
        function: &'static crust_math::functions::elementwise::Unary,
        node: &Node,
        x: &Node,
    ) -> Fit<Option<Val>> {
        let Kind::Index { base, indices } = &x.kind else { return Ok(None) };
        if self.dependence(base).space || self.is_inlinable(base) {
            return Ok(None);
        }
        let (_, shape) = self.operand(base)?;
        if shape.len() >= self.builder.space.iterations {
            return Ok(None);
        }
        let whole = Node { kind: Kind::Unary(function, base.clone()), span: node.span, varies: node.varies };
        self.indexed(&whole, indices).map(Some)
    }

    fn each(&mut self, val: &Val, f: impl Fn(&mut Self, &Item) -> Fit<Item>) -> Fit<Val> {
        let items = self.items(val)?;
        let items = items.iter().map(|item| f(self, item)).collect::<Fit<Vec<_>>>()?;
        Ok(Val { shape: val.shape, numbers: Numbers::Items(items) })
    }

    fn arithmetic(&mut self, operator: Arithmetic, a: &Val, b: &Val) -> Fit<Val> {
        let (left, right) = (self.items(a)?, self.items(b)?);
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

    fn operate(&mut self, operator: Arithmetic, a: &Item, b: &Item) -> Fit<Item> {
        let uniform = matches!(b, Item::Constant(_) | Item::Uniform { .. });
        let (a, b) = (self.builder.argument(a)?, self.builder.argument(b)?);
        if uniform && operator == Arithmetic::Divide {
            let inverse = self.builder.inverse(b.register)?;
            return self.builder.step(|out| Step::Scale { x: a, by: b, inverse, out });
        }
        self.builder.step(|out| Step::Arithmetic { operator, a, b, out })
    }

    fn sum(&mut self, items: Vec<Item>) -> Fit<Item> {
        let mut rest = items.into_iter();
        let Some(first) = rest.next() else { return Ok(Item::Constant(0.0)) };
        rest.try_fold(first, |sum, item| self.operate(Arithmetic::Add, &sum, &item))
    }

    fn function(&mut self, function: Function, arguments: &[Node]) -> Fit<Val> {
        let items = arguments.iter().map(|node| self.scalar(node)).collect::<Fit<Vec<_>>>()?;
        self.apply(function, &items, (false, 0)).map(Self::one)
    }

    fn apply(&mut self, function: Function, items: &[Item], (propto, varying): (bool, u32)) -> Fit<Item> {
        let arguments = items.iter().map(|item| self.builder.argument(item)).collect::<Fit<Vec<_>>>()?;
        let n = arguments.len();
        let density = Density { function, arguments, propto, varying };
        self.builder.step_with(n, |partials, out| Step::Density { density, partials, out })
    }

    /// The terms of a log density: one for each element of its arguments.
    pub fn densities(&mut self, call: &DensityCall) -> Fit<Vec<(Function, Vec<Item>)>> {
        let density::Density::Scalar(scalar) = call.density else { return Err(Obstacle::Unfit) };
        if scalar.product {
            return Err(Obstacle::Unfit);
        }
        if let Some(logit) = self.log_odds(&scalar, call)? {
            return Ok(vec![logit]);
        }
        let vals = call.arguments.iter().map(|node| self.value(node)).collect::<Fit<Vec<_>>>()?;
        let n = vals.iter().filter(|v| !v.shape.is_scalar()).map(|v| v.shape.len()).max().unwrap_or(1);
        let lists = vals.iter().map(|val| self.items(val)).collect::<Fit<Vec<_>>>()?;
        if lists.iter().zip(&vals).any(|(list, val)| !val.shape.is_scalar() && list.len() != n) {
            return Err(Obstacle::Unfit);
        }
        let term = |e: usize| {
            let items = lists.iter().zip(&vals).map(|(list, v)| list[if v.shape.is_scalar() { 0 } else { e }].clone());
            (Function::Density(scalar), items.collect())
        };
        Ok((0..n).map(term).collect())
    }

    /// `bernoulli(inv_logit(α))` is `bernoulli_logit(α)`, without the detour. Where the detour would lose digits the
    /// machine goes the way that the program states.
    fn log_odds(&mut self, scalar: &Scalar, call: &DensityCall) -> Fit<Option<(Function, Vec<Item>)>> {
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

    fn is_inlinable(&self, node: &Node) -> bool {
        matches!(&node.kind, Kind::Variable { slot, .. } if self.inlinable.iter().any(|(s, _)| s == slot))
    }

    fn indexed(&mut self, base: &Node, indices: &[Index]) -> Fit<Val> {
        if let Kind::Variable { slot, .. } = &base.kind
            && let Some((slot, definition)) = self.inlinable.iter().find(|(s, _)| s == slot)
        {
            match self.element(definition, indices) {
                Ok(item) => {
                    self.flat.inlined.push(*slot);
                    return Ok(Self::one(item));
                }
                Err(Obstacle::Unfit) => {}
                Err(stop) => return Err(stop),
            }
        }
        if let Kind::Variable { slot, .. } = &base.kind {
            if let Some(local) = self.locals.get(slot).cloned() {
                let at = self.fixed_element(&local.shape, indices)?;
                return Ok(Self::one(self.items(&local)?[at].clone()));
            }
            if let Some(filled) = self.filled.iter().find(|f| f.slot == *slot) {
                match self.filled_elements(filled, indices) {
                    Ok(val) => {
                        self.flat.inlined.push(filled.slot);
                        return Ok(val);
                    }
                    Err(Obstacle::Unfit) => {}
                    Err(stop) => return Err(stop),
                }
            }
        }
        let strand = self.picked(base, indices)?;
        let (n, stride) = (strand.shape.len(), strand.stride);
        if n > MOST_ELEMENTS {
            return Err(Obstacle::Unfit);
        }
        let mut items = Vec::new();
        for e in 0..cast(n) {
            let elements = strand.first.iter().map(|first| first + e * stride).collect();
            items.push(self.builder.gather(Positions::new(strand.operand, elements, (1, 0)))?);
        }
        Ok(Val { shape: strand.shape, numbers: Numbers::Items(items) })
    }

    /// The position of an element that is the same in all iterations.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions are checked")]
    #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
    pub fn fixed_element(&mut self, shape: &Shape, indices: &[Index]) -> Fit<usize> {
        if indices.len() != shape.rank() {
            return Err(Obstacle::Unfit);
        }
        let mut at = 0;
        for (d, (index, &stride)) in indices.iter().zip(strides(shape).iter()).enumerate() {
            let Index::Single(node) = index else { return Err(Obstacle::Unfit) };
            let Item::Constant(x) = self.scalar(node)? else { return Err(Obstacle::Unfit) };
            if !(x >= 1.0 && x <= shape.size(d) as f64) {
                return Err(Obstacle::Unfit);
            }
            at += (x as usize - 1) * stride;
        }
        Ok(at)
    }

    /// Elements of an array that a loop before has filled: what that loop computes for them. Indices that are left out run over all.
    #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
    fn filled_elements(&mut self, filled: &Filled, indices: &[Index]) -> Fit<Val> {
        let mut value = filled.value.clone();
        let mut rest = None;
        for (d, (slot, low, high)) in filled.loops.iter().enumerate() {
            let (low, high) = (self.machine.int(low)?, self.machine.int(high)?);
            match indices.get(d) {
                Some(Index::Single(node)) => {
                    let node = self.resolved(node);
                    let within = |&x: &f64| x >= low as f64 && x <= high as f64;
                    if !self.scalar_data(&node)?.iter().all(within) {
                        return Err(Obstacle::Unfit);
                    }
                    value = value.with(*slot, &node);
                }
                None if rest.is_none() && low == 1 && high - low < MOST_ELEMENTS as i64 => rest = Some((*slot, high)),
                _ => return Err(Obstacle::Unfit),
            }
        }
        let Some((slot, high)) = rest else { return self.scalar(&value).map(Self::one) };
        let mut items = Vec::new();
        for i in 1..=high {
            let number = Node { kind: Kind::Number(i as f64), span: value.span, varies: Varies::No };
            items.push(self.scalar(&value.clone().with(slot, &number))?);
        }
        Ok(Val::list(Shape::array(&[items.len()]), items))
    }

    /// Elements of something that does not differ between iterations.
    fn picked(&mut self, base: &Node, indices: &[Index]) -> Fit<Strand> {
        if self.dependence(base).space {
            return Err(Obstacle::Unfit);
        }
        let (operand, shape) = self.operand(base)?;
        let Picked { first, kept } = self.pick(&shape, indices)?;
        let (shape, stride) = kept.unwrap_or((Shape::SCALAR, 0));
        Ok(Strand { operand, first, stride, shape })
    }

    /// Resolves indices, of which all but one pick a single position.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions are checked")]
    #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
    pub fn pick(&mut self, shape: &Shape, indices: &[Index]) -> Fit<Picked> {
        if indices.len() > shape.rank() {
            return Err(Obstacle::Unfit);
        }
        let mut first = vec![0_u32; self.builder.space.iterations];
        let mut kept = None;
        for (d, &stride) in strides(shape).iter().enumerate() {
            let size = shape.size(d);
            match indices.get(d) {
                None | Some(Index::All) => {
                    if kept.is_some() {
                        return Err(Obstacle::Unfit);
                    }
                    kept = Some((kept_shape(shape, d), cast(stride)));
                }
                Some(Index::Single(node)) => {
                    let at = self.scalar_data(node)?;
                    for (first, &at) in first.iter_mut().zip(at.iter()) {
                        if !(at >= 1.0 && at <= size as f64) {
                            return Err(Obstacle::Unfit);
                        }
                        *first += (at as u32 - 1) * cast(stride);
                    }
                }
                Some(_) => return Err(Obstacle::Unfit),
            }
        }
        Ok(Picked { first, kept })
    }

    /// A data-only number in each iteration.
    fn scalar_data(&mut self, node: &Node) -> Fit<Rc<Vec<f64>>> {
        if self.dependence(node).runtime {
            return Err(Obstacle::Unfit);
        }
        let iterations = self.builder.space.iterations;
        match self.scalar(node)? {
            Item::Constant(x) => Ok(Rc::new(vec![x; iterations])),
            Item::Column(column) => Ok(column),
            Item::Uniform { .. } | Item::Register(_) => Err(Obstacle::Unfit),
        }
    }

    /// A row times a vector, plus a number.
    fn product(&mut self, a: &Node, b: &Node, plus: Item) -> Fit<Item> {
        if let Some(item) = self.strands(a, b)? {
            return self.operate(Arithmetic::Add, &item, &plus);
        }
        let other = self.dependence(b);
        if !self.dependence(a).runtime && other.runtime && !other.space {
            let row = self.resolved(a);
            return self.data_row(&row, b, &plus);
        }
        let row = self.value(a)?;
        if row.shape.cell() != Cell::RowVector || row.shape.array_rank() > 0 {
            return Err(Obstacle::Unfit);
        }
        let (items, other) = (self.items(&row)?, self.value(b)?);
        let item = self.dot_items(&items, &other)?;
        self.operate(Arithmetic::Add, &item, &plus)
    }

    /// A row of data times a vector of parameters, plus a number.
    fn data_row(&mut self, row: &Node, vector: &Node, plus: &Item) -> Fit<Item> {
        let space = self.builder.space.clone();
        let columns = self.machine.columns(row, &space)?;
        if columns.shape.cell() != Cell::RowVector || columns.shape.array_rank() > 0 {
            return Err(Obstacle::Unfit);
        }
        let inner = columns.elements.len();
        let rows = columns.elements.iter().flat_map(|column| column.iter().copied()).collect();
        let (operand, shape) = self.operand(vector)?;
        if shape.len() != inner || shape.cell() != Cell::Vector || shape.array_rank() > 0 {
            return Err(Obstacle::Unfit);
        }
        let plus = self.builder.argument(plus)?;
        self.builder.step(|out| Step::RowDot { rows, inner, operand, plus, out })
    }

    fn dot(&mut self, a: &Node, b: &Node) -> Fit<Item> {
        if let Some(item) = self.strands(a, b)? {
            return Ok(item);
        }
        let (a, b) = (self.value(a)?, self.value(b)?);
        let items = self.items(&a)?;
        self.dot_items(&items, &b)
    }

    fn dot_items(&mut self, a: &[Item], b: &Val) -> Fit<Item> {
        let b = self.items(b)?;
        if a.len() != b.len() {
            return Err(Obstacle::Unfit);
        }
        let mut terms = Vec::new();
        for (a, b) in a.iter().zip(&b) {
            terms.push(self.operate(Arithmetic::Multiply, a, b)?);
        }
        self.sum(terms)
    }

    /// The sum of products of two lists of elements of parameters.
    fn strands(&mut self, a: &Node, b: &Node) -> Fit<Option<Item>> {
        fn plain(node: &Node) -> &Node {
            if let Kind::Transpose(x) = &node.kind { x } else { node }
        }
        let (Kind::Index { base: x, indices: i }, Kind::Index { base: y, indices: j }) =
            (&plain(a).kind, &plain(b).kind)
        else {
            return Ok(None);
        };
        for base in [x, y] {
            let Dependence { space, runtime } = self.dependence(base);
            if space || !runtime || self.is_inlinable(base) {
                return Ok(None);
            }
        }
        let (a, b) = (self.picked(x, i)?, self.picked(y, j)?);
        if a.shape.is_scalar() || a.shape.len() != b.shape.len() {
            return Err(Obstacle::Unfit);
        }
        self.pair_dot(a, b).map(Some)
    }

    fn pair_dot(&mut self, a: Strand, b: Strand) -> Fit<Item> {
        let (strides, inner) = ([a.stride, b.stride], a.shape.len());
        let a = Positions::new(a.operand, a.first, (inner, a.stride));
        let b = Positions::new(b.operand, b.first, (inner, b.stride));
        self.builder.step(|out| Step::PairDot { a, b, strides, inner, out })
    }

    /// One element of an expression that is the same in all iterations, without computing the others.
    fn element(&mut self, node: &Node, indices: &[Index]) -> Fit<Item> {
        let data = !self.dependence(node).runtime;
        if data {
            let kind = Kind::Index { base: Box::new(node.clone()), indices: indices.to_vec() };
            return self.scalar(&Node { kind, span: node.span, varies: node.varies });
        }
        if let Kind::Variable { .. } = &node.kind {
            let val = self.indexed(node, indices)?;
            return self.items(&val)?.into_iter().next().ok_or(Obstacle::Unfit);
        }
        let part = |compiler: &mut Self, node: &Node| {
            if compiler.machine.numbers(node)?.shape.is_scalar() {
                compiler.scalar(node)
            } else {
                compiler.element(node, indices)
            }
        };
        match &node.kind {
            Kind::Product(parts) => {
                let [a, b] = &**parts;
                self.product_element(a, b, indices, &Item::Constant(0.0))
            }
            Kind::Affine(parts) => {
                let [a, b, c] = &**parts;
                let plus = self.scalar(c)?;
                self.product_element(a, b, indices, &plus)
            }
            Kind::Arithmetic(operator, parts) => {
                let [a, b] = &**parts;
                let (a, b) = (part(self, a)?, part(self, b)?);
                self.operate(*operator, &a, &b)
            }
            Kind::Negate(x) => {
                let x = part(self, x)?;
                let x = self.builder.argument(&x)?;
                self.builder.step(|out| Step::Negate { x, out })
            }
            Kind::Unary(function, x) => {
                let x = part(self, x)?;
                let x = self.builder.argument(&x)?;
                self.builder.step(|out| Step::Unary { function, x, out })
            }
            _ => Err(Obstacle::Unfit),
        }
    }

    /// An element of a product of matrices, or of a matrix and a vector.
    fn product_element(&mut self, a: &Node, b: &Node, indices: &[Index], plus: &Item) -> Fit<Item> {
        let (left, right) = (self.dependence(a), self.dependence(b));
        let with = |base: &Node, indices: Vec<Index>| Node {
            kind: Kind::Index { base: Box::new(base.clone()), indices },
            span: base.span,
            varies: base.varies,
        };
        match indices {
            [row] if !left.runtime && right.runtime => {
                let row = self.resolved(&with(a, vec![row.clone()]));
                self.data_row(&row, b, plus)
            }
            [row, column] if left.runtime && right.runtime => {
                let a = self.picked(a, &[row.clone(), Index::All])?;
                let b = self.picked(b, &[Index::All, column.clone()])?;
                if a.shape.len() != b.shape.len() {
                    return Err(Obstacle::Unfit);
                }
                let dot = self.pair_dot(a, b)?;
                if matches!(plus, Item::Constant(x) if *x == 0.0) {
                    return Ok(dot);
                }
                self.operate(Arithmetic::Add, &dot, plus)
            }
            _ => Err(Obstacle::Unfit),
        }
    }
}

/// Whether two expressions at the same place are the same: one of them may be a part of the other.
fn same_kind(a: &Node, b: &Node) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Unary(f, x), Kind::Unary(g, y)) => std::ptr::eq(*f, *g) && same_kind(x, y),
        (Kind::Variable { slot: a, .. }, Kind::Variable { slot: b, .. }) => a == b,
        (Kind::Index { .. }, Kind::Index { .. }) => false,
        _ => false,
    }
}

/// The shape of what is left if only one dimension is kept.
fn kept_shape(shape: &Shape, d: usize) -> Shape {
    let (n, arrays) = (shape.size(d), shape.array_rank());
    match shape.cell() {
        _ if d < arrays => Shape::array(&[n]),
        Cell::Matrix if d == arrays => Shape::vector(n),
        Cell::Matrix | Cell::RowVector => Shape::row_vector(n),
        Cell::Vector | Cell::Scalar => Shape::vector(n),
    }
}
