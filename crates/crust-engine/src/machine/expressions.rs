//! Expressions.

use crust_math::functions::{Cell, Shape};
use crust_math::lanes;
use crust_stan::span::Span;

use smallvec::SmallVec;

use super::statements::Flow;
use super::tape::Entry;
use super::value::{Value, View};
use super::{DEEPEST, Machine, Run, Stop, Variable, fatal, stack_address};
use crate::code::{Comparison, Kind, Node, Varies};
use crate::ir::Graph;
use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::{product, reduce};
use crate::memory::{Block, Flags, Walk};

impl Machine {
    pub(crate) fn eval(&mut self, node: &Node) -> Run<Value> {
        let view = match &node.kind {
            Kind::Literal(index) => self.literals[*index as usize],
            Kind::Number(x) => self.number(*x)?,
            Kind::Variable { slot, mutable } => {
                let shared = if *mutable {
                    self.slot_mut(*slot).read = true;
                    Flags::SHARED.with(Flags::MUTABLE)
                } else {
                    Flags::SHARED
                };
                return match self.variable(*slot).value {
                    Value::Numbers(view) => Ok(Value::Numbers(View {
                        block: Block { flags: view.block.flags.with(shared), ..view.block },
                        ..view
                    })),
                    Value::Unset => fatal("no-value", "this variable has no value here", node.span),
                    tuple @ Value::Tuple { .. } => Ok(tuple),
                };
            }
            Kind::Hoisted(index, inner) => {
                return match self.hoisted[*index as usize] {
                    Some(value) => Ok(value),
                    None => self.eval(inner),
                };
            }
            Kind::Index { base, indices } => {
                return self.index(base, indices, node.span);
            }
            Kind::Part { base, part } => {
                return match self.eval(base)? {
                    Value::Tuple { first, .. } => Ok(self.tuples[first as usize + part]),
                    _ => fatal("internal", "this is not a tuple", node.span),
                };
            }
            Kind::Ternary(parts) => {
                let [condition, yes, no] = &**parts;
                let condition = self.numbers(condition)?;
                if self.is_symbolic(condition) {
                    return self.traced_choice(condition, yes, no);
                }
                return if self.decide(condition)? { self.eval(yes) } else { self.eval(no) };
            }
            Kind::Tuple(parts) => return self.tuple(parts),
            Kind::Array(parts) => return self.array(parts, node.span),
            Kind::VectorTuple(functions, arguments) => {
                let views = self.list(arguments)?;
                let mut parts: SmallVec<[Value; 8]> = SmallVec::new();
                for function in functions {
                    parts.push(Value::Numbers(self.vector_function(function.0, &views, node.span)?));
                }
                return Ok(self.push_tuple(&parts));
            }
            Kind::User { function, arguments, propto } => {
                let value = self.call(*function, arguments, *propto, node.span)?;
                return value.map_or_else(|| fatal("internal", "this function returns nothing", node.span), Ok);
            }
            _ => return self.numeric(node).map(Value::Numbers),
        };
        Ok(Value::Numbers(view))
    }

    /// Expressions whose value is numbers.
    #[allow(clippy::too_many_lines, reason = "one arm for each kind")]
    fn numeric(&mut self, node: &Node) -> Run<View> {
        let span = node.span;
        match &node.kind {
            Kind::Negate(x) => {
                let x = self.numbers(x)?;
                self.negate(x)
            }
            Kind::Not(x) => {
                let x = self.numbers(x)?;
                if self.is_symbolic(x) {
                    return self.traced_map(&[x], x.shape, |graph, x| graph.not(x[0]));
                }
                self.logical(&[x], |a| f64::from(a[0] == 0.0))
            }
            Kind::Whole(x) => {
                let x = self.numbers(x)?;
                self.checked_ints(x, span)
            }
            Kind::Arithmetic(operator, parts) => {
                let [a, b] = self.pair(parts)?;
                self.arithmetic(*operator, a, b, span)
            }
            Kind::Compare(comparison, parts) => {
                let pair = self.pair(parts)?;
                self.compare(*comparison, pair)
            }
            Kind::IntDivide(parts) => {
                let pair = self.pair(parts)?;
                self.no_zero(pair, "/", span)?;
                self.item_by_item(&pair, |a| (a[0] / a[1]).trunc())
            }
            Kind::Modulo(parts) => {
                let pair = self.pair(parts)?;
                self.no_zero(pair, "%", span)?;
                self.item_by_item(&pair, |a| a[0] % a[1])
            }
            Kind::And(parts) => self.connective(parts, false),
            Kind::Or(parts) => self.connective(parts, true),
            Kind::Product(parts) => {
                let [a, b] = self.pair(parts)?;
                self.product(a, b, span)
            }
            Kind::Affine(parts) => {
                let [a, b, c] = &**parts;
                let (a, b, c) = (self.numbers(a)?, self.numbers(b)?, self.numbers(c)?);
                self.affine(a, b, c, span)
            }
            Kind::Transpose(x) => {
                let x = self.numbers(x)?;
                self.transpose(x)
            }
            Kind::RowVector(parts) if parts.is_empty() => {
                let block = self.uniform(&[])?;
                Ok(View { shape: Shape::row_vector(0), block })
            }
            Kind::RowVector(parts) => {
                let views = self.list(parts)?;
                let n = views.len();
                let stacked = self.stack(&views, span)?;
                Ok(View { shape: Shape::row_vector(n), ..stacked })
            }
            Kind::Matrix(parts) => {
                let views = self.list(parts)?;
                let (rows, columns) = (views.len(), views.first().map_or(0, |v| v.shape.len()));
                let stacked = self.stack(&views, span)?;
                let transposed = View { shape: Shape::matrix(columns, rows), ..stacked };
                self.transpose(transposed)
            }
            Kind::Unary(function, x) => {
                let x = self.numbers(x)?;
                self.unary(function, x)
            }
            Kind::Binary(function, parts) => {
                let pair = self.pair(parts)?;
                self.binary_function(function, &pair, span)
            }
            Kind::TernaryFunction(function, parts) => {
                let [a, b, c] = &**parts;
                let views = [self.numbers(a)?, self.numbers(b)?, self.numbers(c)?];
                self.ternary_function(function, &views, span)
            }
            Kind::Sum(x) => {
                let x = self.numbers(x)?;
                self.sum(x)
            }
            Kind::LogSumExp(x) => {
                let x = self.numbers(x)?;
                self.log_sum_exp(x)
            }
            Kind::DotSelf(x) => {
                let x = self.numbers(x)?;
                let n = x.block.count();
                let (row, column) = (View { shape: Shape::row_vector(n), ..x }, View { shape: Shape::vector(n), ..x });
                self.product(row, column, span)
            }
            Kind::Mean(x) => {
                let x = self.numbers(x)?;
                let sum = self.sum(x)?;
                #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
                let n = self.number(x.block.count() as f64)?;
                self.arithmetic(Arithmetic::Divide, sum, n, span)
            }
            Kind::Structure(structure, arguments) => self.structure(*structure, arguments, span),
            Kind::Vector(function, arguments) => {
                let views = self.list(arguments)?;
                self.vector_function(function.0, &views, span)
            }
            Kind::Density(call) => self.density(call, span),
            Kind::Random(..) | Kind::Target if self.tracer.is_some() => Err(Stop::LanesUnfit),
            Kind::Random(generator, arguments) => {
                let views = self.list(arguments)?;
                self.random(*generator, &views, span)
            }
            Kind::HigherOrder(call) => self.higher_order(call, span),
            Kind::Target => self.target_so_far(),
            _ => fatal("internal", "this expression has no numbers", span),
        }
    }

    /// The value of an expression that is not a tuple.
    pub(crate) fn numbers(&mut self, node: &Node) -> Run<View> {
        match self.eval(node)? {
            Value::Numbers(view) => Ok(view),
            Value::Tuple { .. } | Value::Unset => fatal("internal", "numbers are expected here", node.span),
        }
    }

    pub(super) fn pair(&mut self, nodes: &[Node; 2]) -> Run<[View; 2]> {
        Ok([self.numbers(&nodes[0])?, self.numbers(&nodes[1])?])
    }

    pub(super) fn list(&mut self, nodes: &[Node]) -> Run<Views> {
        let mut views = Views::new();
        for node in nodes {
            views.push(self.numbers(node)?);
        }
        Ok(views)
    }

    /// An `int`, the same for all items.
    pub(crate) fn int(&mut self, node: &Node) -> Run<i64> {
        let view = self.numbers(node)?;
        self.int_of(view)
    }

    #[allow(clippy::cast_possible_truncation, reason = "Stan's int has 32 bits")]
    pub(super) fn int_of(&mut self, view: View) -> Run<i64> {
        let x = self.uniform_number(view)?;
        // An `int` without a value is Stan's least one.
        Ok(if x.is_nan() { i64::from(i32::MIN) } else { x as i64 })
    }

    fn tuple(&mut self, parts: &[Node]) -> Run<Value> {
        let mut values: SmallVec<[Value; 8]> = SmallVec::new();
        for part in parts {
            values.push(self.eval(part)?);
        }
        Ok(self.push_tuple(&values))
    }

    fn array(&mut self, parts: &[Node], span: Span) -> Run<Value> {
        let mut values: SmallVec<[Value; 8]> = SmallVec::new();
        for part in parts {
            values.push(self.eval(part)?);
        }
        self.stack_values(&values, span)
    }

    /// An array of values of one type; one of tuples is a tuple of arrays.
    fn stack_values(&mut self, values: &[Value], span: Span) -> Run<Value> {
        if let Some(Value::Tuple { parts, .. }) = values.first() {
            let mut arrays: SmallVec<[Value; 8]> = SmallVec::new();
            for k in 0..*parts {
                let column: SmallVec<[Value; 8]> = values
                    .iter()
                    .map(|value| match value {
                        Value::Tuple { first, .. } => self.tuples[(first + k) as usize],
                        other => *other,
                    })
                    .collect();
                arrays.push(self.stack_values(&column, span)?);
            }
            return Ok(self.push_tuple(&arrays));
        }
        let mut views = Views::new();
        for value in values {
            match value {
                Value::Numbers(view) => views.push(*view),
                _ => return fatal("internal", "numbers are expected here", span),
            }
        }
        self.stack(&views, span).map(Value::Numbers)
    }

    pub(crate) fn push_tuple(&mut self, parts: &[Value]) -> Value {
        let first = crate::memory::cast(self.tuples.len());
        self.tuples.extend_from_slice(parts);
        Value::Tuple { first, parts: crate::memory::cast(parts.len()) }
    }

    /// Which way to go. Where items would go different ways, the tile or the batch is taken apart.
    pub(super) fn decide(&mut self, condition: View) -> Run<bool> {
        if self.is_symbolic(condition) {
            return Err(Stop::LanesUnfit);
        }
        let (block, width) = (condition.block, self.width);
        self.fickle |= block.tile() && block.lanes();
        self.apart |= block.lanes();
        let numbers = self.arena.of(block, width);
        let first = numbers[0] != 0.0;
        if numbers.iter().all(|&x| (x != 0.0) == first) {
            if block.tile() {
                self.path.push(first);
            }
            return Ok(first);
        }
        let (tile, lanes) = (if block.tile() { width.tile } else { 1 }, if block.lanes() { width.lanes } else { 1 });
        // Lanes that have been rejected go along with the others.
        let alive = |l: usize| !block.lanes() || self.rejected[l].is_none();
        let truth = |t: usize, l: usize| numbers[t * lanes + l] != 0.0;
        self.split.clear();
        for t in 0..tile {
            let mut living = (0..lanes).filter(|&l| alive(l));
            let Some(some) = living.next() else { return Err(Stop::AllRejected) };
            let way = truth(t, some);
            if living.any(|l| truth(t, l) != way) {
                self.split.clear();
                let split = (0..lanes).map(|l| if alive(l) { truth(t, l) } else { way });
                self.split.extend(split);
                return Err(Stop::LanesPart);
            }
            self.split.push(way);
        }
        let way = self.split[0];
        if self.split.iter().all(|&w| w == way) {
            self.path.push(way);
            Ok(way)
        } else {
            Err(Stop::TileParts)
        }
    }

    /// A function of truth values.
    fn logical(&mut self, views: &[View], f: impl Fn(&[f64]) -> f64) -> Run<View> {
        let y = self.item_by_item(views, f)?;
        if self.tracing && y.block.lanes() {
            let operands = [views[0].block, views.last().unwrap_or(&views[0]).block];
            let truths = operands.map(|x| self.arena.first(x) != 0.0);
            self.tape.push(Entry::Logical { operands, truths, y: y.block });
        }
        Ok(y)
    }

    /// A function of numbers without a derivative, item by item; the operands are scalars.
    pub(super) fn item_by_item(&mut self, views: &[View], f: impl Fn(&[f64]) -> f64) -> Run<View> {
        if self.any_symbolic(views) {
            return Err(Stop::LanesUnfit);
        }
        let flags = views.iter().fold(Flags::UNIFORM, |flags, v| flags.with(v.block.flags));
        let n = views.iter().map(|v| v.block.count()).max().unwrap_or(1);
        let shape = views.iter().map(|v| v.shape).find(|s| !s.is_scalar()).unwrap_or(Shape::SCALAR);
        let y = self.allocate(n, flags.without(Flags::GRADIENT))?;
        let blocks = [views[0].block, views.last().unwrap_or(&views[0]).block];
        let walk = Walk::new(n, self.width, blocks);
        let (low, out) = self.arena.below(y, self.width);
        let mut out = out.iter_mut();
        walk.rows(|[a, b]| {
            for i in 0..walk.inner {
                let at = |k: usize, at: usize| low[at + if walk.unit[k] { i } else { 0 }];
                if let Some(to) = out.next() {
                    *to = f(&[at(0, a), at(1, b)]);
                }
            }
        });
        Ok(View { shape, block: y })
    }

    fn compare(&mut self, comparison: Comparison, pair: [View; 2]) -> Run<View> {
        if self.any_symbolic(&pair) {
            return self.traced_map(&pair, Shape::SCALAR, |graph, x| graph.compare(comparison, x[0], x[1]));
        }
        let y = self.item_by_item(&pair, |x| f64::from(comparison.holds(x[0], x[1])))?;
        if self.tracing && y.block.lanes() {
            let ([a, b], outcome) = (pair.map(|view| view.block), self.arena.first(y.block) != 0.0);
            self.tape.push(Entry::Compare { comparison, a, b, outcome, y: y.block });
        }
        Ok(y)
    }

    fn no_zero(&mut self, [a, b]: [View; 2], operator: &str, span: Span) -> Run<()> {
        if !self.arena.of(b.block, self.width).contains(&0.0) {
            return Ok(());
        }
        // Which of several numbers it was is not worth looking for.
        let a = if a.block.uniform() { self.arena.first(a.block).to_string() } else { "an integer".to_owned() };
        let message = format!("{a} {operator} 0: integers cannot be divided by zero");
        fatal("division-by-zero", message, span)
    }

    /// `a && b` and `a || b`: the second operand is looked at only where the first leaves the matter open.
    fn connective(&mut self, parts: &[Node; 2], decided_by: bool) -> Run<View> {
        let a = self.numbers(&parts[0])?;
        if self.is_symbolic(a) {
            let b = self.numbers(&parts[1])?;
            return self.traced_map(&[a, b], Shape::SCALAR, |graph, x| graph.connect(decided_by, x[0], x[1]));
        }
        let all = |this: &Self, view: View, truth: bool| {
            this.arena.of(view.block, this.width).iter().all(|&x| (x != 0.0) == truth)
        };
        if all(self, a, decided_by) {
            return self.number(f64::from(decided_by));
        }
        let b = self.numbers(&parts[1])?;
        if self.is_symbolic(b) {
            return self.traced_map(&[a, b], Shape::SCALAR, |graph, x| graph.connect(decided_by, x[0], x[1]));
        }
        self.logical(&[a, b], |x| {
            let (a, b) = (x[0] != 0.0, x[1] != 0.0);
            f64::from(if decided_by { a || b } else { a && b })
        })
    }

    pub(super) fn product(&mut self, a: View, b: View, span: Span) -> Run<View> {
        self.product_plus(a, b, None, span)
    }

    /// `a b + c`, where `c` is a number. It takes part in the product where it varies over no other axes.
    fn affine(&mut self, a: View, b: View, c: View, span: Span) -> Run<View> {
        let axes = a.block.flags.with(b.block.flags);
        if axes.has(c.block.flags.axes().without(Flags::GRADIENT)) && a.shape.columns() > 0 {
            return self.product_plus(a, b, Some(c), span);
        }
        let product = self.product_plus(a, b, None, span)?;
        self.arithmetic(Arithmetic::Add, product, c, span)
    }

    fn product_plus(&mut self, a: View, b: View, plus: Option<View>, span: Span) -> Run<View> {
        let (rows, inner, columns) = (a.shape.rows(), a.shape.columns(), b.shape.columns());
        if inner != b.shape.rows() {
            let message = format!("a {} cannot be multiplied with a {}", a.shape, b.shape);
            return fatal("size-mismatch", message, span);
        }
        let shape = match (a.shape.cell(), b.shape.cell()) {
            (Cell::RowVector, Cell::Vector) => Shape::SCALAR,
            (Cell::Matrix, Cell::Vector) => Shape::vector(rows),
            (Cell::RowVector, Cell::Matrix) => Shape::row_vector(columns),
            _ => Shape::matrix(rows, columns),
        };
        if self.any_symbolic(&[a, b, plus.unwrap_or(a)]) {
            return self.traced_product(a, b, plus, shape);
        }
        let mut flags = a.block.flags.with(b.block.flags);
        if let Some(plus) = plus {
            flags = flags.with(plus.block.flags);
        }
        let y = self.allocate(rows * columns, flags)?;
        let sizes = product::Sizes { rows, inner, columns };
        product::forward(&mut self.arena, self.width, sizes, [a.block, b.block], plus.map(|v| v.block), y);
        if let Some(plus) = plus.filter(|v| v.block.gradient() && y.gradient()) {
            self.tape.push(Entry::Spread { x: plus.block, y });
        }
        if y.gradient() {
            let [rows, inner, columns] = [rows, inner, columns].map(crate::memory::cast);
            self.tape.push(Entry::Product { rows, inner, columns, a: a.block, b: b.block, y });
        }
        Ok(View { shape, block: y })
    }

    pub(super) fn transpose(&mut self, x: View) -> Run<View> {
        let shape = x.shape.transposed();
        if x.shape.cell() != Cell::Matrix {
            return Ok(View { shape, block: x.block });
        }
        let (rows, columns) = (x.shape.rows(), x.shape.columns());
        let mut picks = self.take_picks();
        for i in 0..rows {
            picks.extend((0..columns).map(|j| crate::memory::cast(i + j * rows)));
        }
        self.pick(x, picks, shape)
    }

    /// Puts values of equal shape into an array.
    pub(super) fn stack(&mut self, views: &[View], span: Span) -> Run<View> {
        let Some(first) = views.first() else {
            return fatal("internal", "an array needs an element", span);
        };
        if let Some(other) = views.iter().find(|v| v.shape != first.shape) {
            let message = format!("elements of an array differ in size: {} and {}", first.shape, other.shape);
            return fatal("size-mismatch", message, span);
        }
        let shape = first.shape.in_array(views.len());
        let block = self.concatenate(views)?;
        Ok(View { shape, block })
    }

    /// The numbers of several values, one after the other.
    pub(super) fn concatenate(&mut self, views: &[View]) -> Run<Block> {
        let flags = views.iter().fold(Flags::UNIFORM, |flags, v| flags.with(v.block.flags));
        let n = views.iter().map(|v| v.block.count()).sum();
        let y = self.allocate(n, flags)?;
        let mut at = 0;
        for view in views {
            let part = y.elements(at, view.block.count(), self.width);
            at += view.block.count();
            self.spread(view.block, part);
        }
        Ok(y)
    }

    /// Copies `x` to `y`, which has as many elements and all the axes of `x`.
    pub(super) fn spread(&mut self, x: Block, y: Block) {
        if x.n == 0 {
            return;
        }
        let walk = Walk::new(y.count(), self.width, [x, y]);
        let values = self.arena.values_mut();
        walk.rows(|[from, to]| {
            if walk.unit[0] {
                values.copy_within(from..from + walk.inner, to);
            } else {
                let number = values[from];
                values[to..to + walk.inner].fill(number);
            }
        });
        if x.gradient() && y.gradient() {
            self.tape.push(Entry::Spread { x, y });
        }
    }

    pub(super) fn sum(&mut self, x: View) -> Run<View> {
        if x.block.n == 1 {
            return Ok(View::scalar(x.block));
        }
        if self.is_symbolic(x) {
            return self.traced_whole(x, Graph::sum);
        }
        let y = self.allocate(1, x.block.flags)?;
        reduce::sum(&mut self.arena, self.width, x.block, y);
        if y.gradient() && x.block.n > 0 {
            self.tape.push(Entry::Sum { x: x.block, y });
        }
        Ok(View::scalar(y))
    }

    fn log_sum_exp(&mut self, x: View) -> Run<View> {
        if self.is_symbolic(x) {
            return self.traced_whole(x, Graph::log_sum_exp);
        }
        let width = self.width;
        let y = self.allocate(1, x.block.flags)?;
        if !y.gradient() || x.block.n == 0 {
            let (low, out) = self.arena.below(y, width);
            lanes::log_sum_exp(&low[x.block.range(width)], out);
            return Ok(View::scalar(y));
        }
        let weights = self.allocate(x.block.count(), x.block.flags.without(Flags::GRADIENT))?;
        let (low, weight_numbers) = self.arena.values_mut().split_at_mut(weights.start());
        let (low, out) = low.split_at_mut(y.start());
        let (out, weight_numbers) = (&mut out[..y.len(width)], &mut weight_numbers[..weights.len(width)]);
        lanes::softmax(&low[x.block.range(width)], out, weight_numbers);
        self.tape.push(Entry::Partial { x: x.block, partial: weights, y });
        Ok(View::scalar(y))
    }

    /// Whether Stan takes the value of an expression for one that depends on parameters.
    pub(super) fn counts_as_varying(&self, node: &Node) -> bool {
        match node.varies {
            Varies::No => false,
            Varies::Yes => true,
            Varies::WithArguments(mask) => self.varies & mask != 0,
        }
    }

    /// Calls a function of the program with expressions as arguments.
    fn call(&mut self, function: u32, arguments: &[Node], propto: bool, span: Span) -> Run<Option<Value>> {
        let mut values: SmallVec<[Value; 8]> = SmallVec::new();
        for argument in arguments {
            values.push(self.eval(argument)?);
        }
        let varying = arguments.iter().zip(0..64).filter(|(a, _)| self.counts_as_varying(a));
        let varies = varying.fold(0, |mask, (_, i)| mask | 1_u64 << i);
        self.call_with(function, &values, varies, propto, span)
    }

    /// Calls a function of the program.
    pub(super) fn call_with(
        &mut self,
        function: u32,
        arguments: &[Value],
        varies: u64,
        propto: bool,
        span: Span,
    ) -> Run<Option<Value>> {
        self.spend(1, span)?;
        let has_room = match self.steps {
            Some(_) => crust_stan::deep::has_room(),
            None => self.stack.abs_diff(stack_address()) <= DEEPEST,
        };
        if !has_room {
            return Self::too_deep(span);
        }
        self.enter_call(function)?;
        let code = std::sync::Arc::clone(&self.code);
        let called = &code.functions[function as usize];
        let (frame, outer_varies, outer_propto) = (self.frame, self.varies, self.propto);
        self.frame = self.locals.len();
        self.locals.extend(arguments.iter().map(|&value| Variable::of(value)));
        self.locals.resize(self.frame + called.slots, Variable::UNSET);
        (self.varies, self.propto) = (varies, outer_propto && propto);
        let flow = self.statements(&called.body);
        self.locals.truncate(self.frame);
        (self.frame, self.varies, self.propto) = (frame, outer_varies, outer_propto);
        self.leave_call();
        match flow? {
            Flow::Return(value) => Ok(value),
            _ => Ok(None),
        }
    }

    /// A statement that calls a function and throws its value away, if it has one.
    pub(super) fn call_statement(&mut self, node: &Node) -> Run<()> {
        if let Kind::User { function, arguments, propto } = &node.kind {
            self.call(*function, arguments, *propto, node.span)?;
            return Ok(());
        }
        self.eval(node).map(|_| ())
    }
}

/// A list of views that needs no memory of its own where it is short.
pub type Views = SmallVec<[View; 8]>;
