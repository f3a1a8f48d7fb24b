//! The machine with symbols in the place of numbers: what it would compute becomes a list of operations.
//!
//! Everything that moves numbers (indexing, assignments, calls, loops) is done by the machine as always, on blocks
//! without lanes. A number that depends on parameters is a symbol there: a NaN whose bits say which operation of the
//! list it is the result of. Everything that computes asks first whether it is given symbols, and adds to the list if
//! so; what depends on data only is computed at once.

mod branches;
mod containers;
mod dense;
mod elliptical;

use std::collections::HashSet;

use crust_math::density::Terms;
use crust_math::functions::Shape;
use crust_math::functions::elementwise::{Binary, Ternary, UNARY, Unary};
use crust_stan::ast::MessageKind;
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::value::View;
use super::{Machine, Run, Stop};
use crate::code::{Comparison, Factor, Kind, Node};
use crate::density::{Density, Scalar};
use crate::flat::Function;
use crate::ir::{Graph, Ref, ScalarCall};
use crate::kernels::arithmetic::Arithmetic;
use crate::memory::{Block, Flags};

/// What is known while a list is being made.
#[derive(Debug, Default)]
pub struct Tracer {
    pub graph: Graph,
    /// The condition under which the statements that are being traced run; none where they always do.
    path: Option<Ref>,
    /// What assignments in branches have overwritten: place and number.
    journal: Vec<(usize, f64)>,
    /// How many branches we are in.
    depth: usize,
    /// Whether tracing stops because nobody comes here, up to the next branch.
    elsewhere: bool,
    /// The functions that we are in.
    functions: Vec<u32>,
    /// Results of `softmax`: nobody has to check that they are simplexes.
    simplexes: HashSet<Refs>,
}

/// The upper half of a symbol's bits: a NaN that nothing else produces.
const TAG: u64 = 0x7ffb_c0de;

/// The operation that a symbol stands for.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the lower half")]
pub(super) fn symbol(x: f64) -> Option<Ref> {
    let bits = x.to_bits();
    (bits >> 32 == TAG).then_some(bits as u32)
}

pub(super) fn to_symbol(x: Ref) -> f64 {
    f64::from_bits(TAG << 32 | u64::from(x))
}

/// Powers with larger exponents are not written as products.
const MOST_FACTORS: f64 = 64.0;

/// Powers of positive numbers with larger exponents neither: those of one number then have its logarithm in common.
const FEW_FACTORS: f64 = 3.0;

fn factors(graph: &Graph, x: Ref) -> f64 {
    if graph.positive(x) { FEW_FACTORS } else { MOST_FACTORS }
}

/// `xⁿ`, by squares.
fn product(graph: &mut Graph, x: Ref, n: f64) -> Ref {
    let (mut square, mut left, mut result) = (x, n, None);
    loop {
        if left % 2.0 != 0.0 {
            result = Some(result.map_or(square, |y| graph.arithmetic(Arithmetic::Multiply, y, square)));
        }
        left = (left / 2.0).floor();
        match result {
            Some(result) if left == 0.0 => return result,
            _ => square = graph.arithmetic(Arithmetic::Multiply, square, square),
        }
    }
}

/// Short lists of operations.
pub(super) type Refs = SmallVec<[Ref; 16]>;

/// A function of the library by its name.
pub(super) fn unary_named(name: &str) -> Run<&'static Unary> {
    UNARY.iter().find(|f| f.name == name).ok_or(Stop::LanesUnfit)
}

impl Machine {
    /// Whether there are symbols among the numbers of a value.
    #[inline]
    pub(super) fn is_symbolic(&self, view: View) -> bool {
        self.tracer.is_some() && self.arena.of(view.block, self.width).iter().any(|&x| symbol(x).is_some())
    }

    #[inline]
    pub(super) fn any_symbolic(&self, views: &[View]) -> bool {
        self.tracer.is_some() && views.iter().any(|&view| self.is_symbolic(view))
    }

    /// The list that is being made.
    pub(super) fn graph(&mut self) -> &mut Graph {
        &mut self.tracer.get_or_insert_default().graph
    }

    /// A number as an operation: what a symbol stands for, or a constant.
    pub(super) fn operation(&mut self, x: f64) -> Ref {
        symbol(x).unwrap_or_else(|| self.graph().constant(x))
    }

    /// An operation as a number: a symbol, or what a constant is.
    pub(super) fn number_of(&mut self, x: Ref) -> f64 {
        self.graph().known(x).unwrap_or_else(|| to_symbol(x))
    }

    /// All elements of a value as operations.
    pub(super) fn operations(&mut self, view: View) -> Refs {
        let range = view.block.range(self.width);
        range.map(|at| self.operation(self.arena.values()[at])).collect()
    }

    /// A value of operations.
    pub(super) fn symbols(&mut self, refs: &[Ref], shape: Shape) -> Run<View> {
        if self.graph().useless {
            return Err(Stop::LanesUnfit);
        }
        let block = self.allocate(refs.len(), Flags::UNIFORM)?;
        for (at, &x) in block.range(self.width).zip(refs) {
            self.arena.values_mut()[at] = self.number_of(x);
        }
        Ok(View { shape, block })
    }

    /// An operation on the elements of values, of which those with one element go with all.
    pub(super) fn traced_map(
        &mut self,
        views: &[View],
        shape: Shape,
        mut f: impl FnMut(&mut Graph, &[Ref]) -> Ref,
    ) -> Run<View> {
        let n = shape.len();
        let block = self.allocate(n, Flags::UNIFORM)?;
        for e in 0..n {
            let mut arguments = SmallVec::<[Ref; 5]>::new();
            for view in views {
                let at = view.block.start() + if view.block.n == 1 { 0 } else { e };
                arguments.push(self.operation(self.arena.values()[at]));
            }
            let y = f(self.graph(), &arguments);
            self.arena.values_mut()[block.start() + e] = self.number_of(y);
        }
        if self.graph().useless { Err(Stop::LanesUnfit) } else { Ok(View { shape, block }) }
    }

    /// An operation on all elements of a value together.
    pub(super) fn traced_whole(&mut self, x: View, f: impl FnOnce(&mut Graph, &[Ref]) -> Ref) -> Run<View> {
        let all = self.operations(x);
        let y = f(self.graph(), &all);
        self.symbols(&[y], Shape::SCALAR)
    }

    pub(super) fn traced_product(&mut self, a: View, b: View, plus: Option<View>, shape: Shape) -> Run<View> {
        let (rows, inner, columns) = (a.shape.rows(), a.shape.columns(), b.shape.columns());
        let (left, right) = (self.operations(a), self.operations(b));
        let plus = plus.map(|view| self.operations(view)[0]);
        let mut results = Refs::new();
        for (j, i) in (0..columns).flat_map(|j| (0..rows).map(move |i| (j, i))) {
            let row: Refs = (0..inner).map(|k| left[i + k * rows]).collect();
            let column = &right[j * inner..][..inner];
            let graph = self.graph();
            if graph.useless {
                return Err(Stop::LanesUnfit);
            }
            let mut y = if inner == 0 { graph.constant(0.0) } else { graph.dot(&row, column) };
            if let Some(plus) = plus {
                y = graph.arithmetic(Arithmetic::Add, y, plus);
            }
            results.push(y);
        }
        self.symbols(&results, shape)
    }

    pub(super) fn traced_binary(&mut self, function: &'static Binary, views: &[View], shape: Shape) -> Run<View> {
        let call = ScalarCall { function: Function::binary(function), terms: Terms::ALL };
        match function.name {
            "log_sum_exp" => self.traced_map(views, shape, Graph::log_sum_exp),
            "pow" => {
                let (exp, log) = (unary_named("exp")?, unary_named("log")?);
                self.traced_map(views, shape, |graph, x| match graph.known(x[1]) {
                    Some(power) if power.fract() == 0.0 && (1.0..=factors(graph, x[0])).contains(&power) => {
                        product(graph, x[0], power)
                    }
                    // xᶜ = exp(c log x); of negative numbers there is none, as the machine will say.
                    power if graph.positive(x[0]) || power.is_some_and(|power| power.fract() != 0.0) => {
                        let logarithm = graph.unary(log, x[0]);
                        let product = graph.arithmetic(Arithmetic::Multiply, x[1], logarithm);
                        graph.unary(exp, product)
                    }
                    _ => graph.function(call, x),
                })
            }
            _ => self.traced_map(views, shape, |graph, x| graph.function(call, x)),
        }
    }

    pub(super) fn traced_ternary(&mut self, function: &'static Ternary, views: &[View], shape: Shape) -> Run<View> {
        if function.name == "log_mix" {
            // log(θ eᵃ + (1 − θ) eᵇ)
            let (log, log1m) = (unary_named("log")?, unary_named("log1m")?);
            return self.traced_map(views, shape, |graph, x| {
                let weights = [graph.unary(log, x[0]), graph.unary(log1m, x[0])];
                let first = graph.arithmetic(Arithmetic::Add, weights[0], x[1]);
                let second = graph.arithmetic(Arithmetic::Add, weights[1], x[2]);
                graph.log_sum_exp(&[first, second])
            });
        }
        let call = ScalarCall { function: Function::Ternary(function), terms: Terms::ALL };
        self.traced_map(views, shape, |graph, x| graph.function(call, x))
    }

    /// The log densities of all elements.
    fn density_elements(&mut self, scalar: &Scalar, views: &[View], terms: Terms, span: Span) -> Run<View> {
        let shape = Self::common_shape(views, scalar.name, span)?;
        let call = ScalarCall { function: Function::Density(*scalar), terms };
        if scalar.is_poisson_tail() {
            let tail = unary_named("log1m_exp")?;
            return self.traced_map(views, shape, |graph, x| {
                // P(n > 0) = 1 − e^(−λ)
                if graph.known(x[0]) == Some(0.0) && graph.positive(x[1]) {
                    let minus = graph.negate(x[1]);
                    graph.unary(tail, minus)
                } else {
                    graph.function(call, x)
                }
            });
        }
        self.traced_map(views, shape, |graph, x| graph.function(call, x))
    }

    pub(super) fn traced_density(&mut self, scalar: &Scalar, views: &[View], terms: Terms, span: Span) -> Run<View> {
        let all = self.density_elements(scalar, views, terms, span)?;
        if scalar.product {
            return if all.shape.is_scalar() { Ok(all) } else { Err(Stop::LanesUnfit) };
        }
        self.sum(View { shape: Shape::vector(all.block.count()), ..all })
    }

    /// `target += value`
    pub(super) fn traced_add(&mut self, value: &Node, factor: Factor) -> Run<()> {
        let factor = match (factor, &value.kind) {
            (Factor::ByVariate, Kind::Density(call)) => self.factor_of(&call.arguments)?,
            (Factor::ByVariate, Kind::User { arguments, .. }) => self.factor_of(arguments)?,
            _ => factor,
        };
        if let Kind::Density(call) = &value.kind
            && let Density::Scalar(scalar) = &call.density
            && !scalar.product
        {
            let terms = self.terms(call);
            let views = self.list(&call.arguments)?;
            if self.any_symbolic(&views) {
                let all = self.density_elements(scalar, &views, terms, value.span)?;
                self.traced_terms(all, factor);
                return Ok(());
            }
        }
        let view = self.numbers(value)?;
        self.traced_terms(view, factor);
        Ok(())
    }

    /// Adds to the log density, under the condition of the branches that we are in.
    pub(super) fn traced_terms(&mut self, view: View, factor: Factor) {
        let path = self.tracer.as_ref().and_then(|tracer| tracer.path);
        for x in self.operations(view) {
            let graph = self.graph();
            let x = path.map_or(x, |path| {
                let zero = graph.constant(0.0);
                graph.select(path, x, zero)
            });
            graph.add(x, factor);
        }
    }

    /// The list holds only where the condition does, as far as we come here at all.
    pub(super) fn traced_guard(&mut self, condition: Ref) {
        let path = self.tracer.as_ref().and_then(|tracer| tracer.path);
        let graph = self.graph();
        let condition = path.map_or(condition, |path| {
            let elsewhere = graph.not(path);
            graph.connect(true, elsewhere, condition)
        });
        graph.guard(condition);
    }

    /// Lanes that come here are left to the machine, and what would come after that need not be traced.
    fn elsewhere<T>(&mut self) -> Run<T> {
        let never = self.graph().constant(0.0);
        self.traced_guard(never);
        self.nobody()
    }

    /// Nobody comes here: what comes next need not be traced, up to the next branch.
    fn nobody<T>(&mut self) -> Run<T> {
        if let Some(tracer) = &mut self.tracer {
            tracer.elsewhere = true;
        }
        Err(Stop::LanesUnfit)
    }

    pub(super) fn traced_bound(&mut self, variate: View, bound: View, upper: bool) -> Run<()> {
        let comparison = if upper { Comparison::LessEqual } else { Comparison::GreaterEqual };
        let shape = if variate.block.n == 1 { bound.shape } else { variate.shape };
        let all = self.traced_map(&[variate, bound], shape, |graph, x| graph.compare(comparison, x[0], x[1]))?;
        for condition in self.operations(all) {
            self.traced_guard(condition);
        }
        Ok(())
    }

    pub(super) fn traced_message(&mut self, kind: MessageKind) -> Run<()> {
        let path = self.tracer.as_ref().and_then(|tracer| tracer.path);
        match (kind, path) {
            (MessageKind::Reject, Some(_)) => self.elsewhere(),
            // Lanes that print are left to the machine.
            (MessageKind::Print, Some(_)) => {
                let never = self.graph().constant(0.0);
                self.traced_guard(never);
                Ok(())
            }
            _ => Err(Stop::LanesUnfit),
        }
    }

    /// Assigns to elements; what was there is kept where we may have to go back to it.
    pub(super) fn traced_assignment(&mut self, x: Block, picks: &[u32], value: Block) {
        for (e, &pick) in picks.iter().enumerate() {
            let from = value.start() + if value.n == 1 { 0 } else { e };
            self.overwrite(x.start() + pick as usize, self.arena.values()[from]);
        }
    }

    fn overwrite(&mut self, at: usize, x: f64) {
        let values = self.arena.values_mut();
        let old = std::mem::replace(&mut values[at], x);
        if let Some(tracer) = &mut self.tracer
            && tracer.depth > 0
        {
            tracer.journal.push((at, old));
        }
    }
}
