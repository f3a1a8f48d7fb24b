//! Functions applied element by element, with broadcasting over elements, iterations and lanes.

use crust_math::density::{DomainError, Terms};
use crust_math::functions::Shape;
use crust_math::functions::elementwise::{Binary, Ternary, Unary};
use crust_stan::span::Span;

use super::driver::{Driver, Mode, Rows};
use super::tape::Entry;
use super::value::View;
use super::{Machine, Run, fatal};
use crate::kernels::arithmetic::{self, Arithmetic};
use crate::memory::{Block, Flags};

/// The most arguments that a function of scalars has.
pub const MOST: usize = 5;

/// Computes a function for a row of items. Vectorised kernels say `false` where an argument is outside of the domain;
/// the function is then computed again item by item.
pub type RowKernel = fn(&mut Rows) -> bool;

/// Computes a function for one item: value and partial derivatives.
pub type ItemFunction<'f> = &'f dyn Fn(&[f64], Terms) -> Result<(f64, [f64; MOST]), DomainError>;

/// A function of scalars.
#[derive(Clone, Copy)]
pub struct ScalarFunction<'f> {
    pub arity: usize,
    pub fast: Option<RowKernel>,
    pub item: ItemFunction<'f>,
    pub terms: Terms,
}

impl Machine {
    pub(super) fn unary(&mut self, function: &'static Unary, x: View) -> Run<View> {
        if self.is_symbolic(x) {
            return self.traced_map(&[x], x.shape, |graph, x| graph.unary(function, x[0]));
        }
        let y = self.allocate(x.block.count(), x.block.flags)?;
        let width = self.width;
        let (low, out) = self.arena.below(y, width);
        (function.value)(&low[x.block.range(width)], out);
        if y.gradient() {
            self.tape.push(Entry::Unary { function, x: x.block, y });
        }
        Ok(View { shape: x.shape, block: y })
    }

    pub(super) fn negate(&mut self, x: View) -> Run<View> {
        if self.is_symbolic(x) {
            return self.traced_map(&[x], x.shape, |graph, x| graph.negate(x[0]));
        }
        let y = self.allocate(x.block.count(), x.block.flags)?;
        let width = self.width;
        let (low, out) = self.arena.below(y, width);
        for (y, x) in out.iter_mut().zip(&low[x.block.range(width)]) {
            *y = -x;
        }
        if y.gradient() {
            self.tape.push(Entry::Negate { x: x.block, y });
        }
        Ok(View { shape: x.shape, block: y })
    }

    /// The shape of the result of an element-by-element operation: a scalar fits everything, others must be equal in
    /// size.
    pub(super) fn common_shape(views: &[View], what: &str, span: Span) -> Run<Shape> {
        let mut shape: Option<Shape> = None;
        for view in views.iter().filter(|v| !v.shape.is_scalar()) {
            match shape {
                None => shape = Some(view.shape),
                Some(other) if other.len() == view.shape.len() => {}
                Some(other) => {
                    let message = format!("sizes do not fit in {what}: {other} and {}", view.shape);
                    return fatal("size-mismatch", message, span);
                }
            }
        }
        Ok(shape.unwrap_or(Shape::SCALAR))
    }

    pub(super) fn arithmetic(&mut self, operator: Arithmetic, a: View, b: View, span: Span) -> Run<View> {
        let shape = if a.shape.is_scalar() && b.shape.is_scalar() {
            Shape::SCALAR
        } else {
            let same = a.shape == b.shape || a.shape.is_scalar() || b.shape.is_scalar();
            if !same {
                let message = format!("sizes do not fit: {} and {}", a.shape, b.shape);
                return fatal("size-mismatch", message, span);
            }
            if a.shape.is_scalar() { b.shape } else { a.shape }
        };
        if self.any_symbolic(&[a, b]) {
            return self.traced_map(&[a, b], shape, |graph, x| graph.arithmetic(operator, x[0], x[1]));
        }
        let y = self.allocate(shape.len(), a.block.flags.with(b.block.flags))?;
        arithmetic::forward(&mut self.arena, self.width, operator, [a.block, b.block], y);
        if y.gradient() {
            self.tape.push(Entry::Arithmetic { operator, a: a.block, b: b.block, y });
        }
        Ok(View { shape, block: y })
    }

    pub(super) fn binary_function(&mut self, function: &'static Binary, views: &[View; 2], span: Span) -> Run<View> {
        let item = |x: &[f64], _: Terms| {
            let p = (function.at)(x[0], x[1])?;
            Ok((p.value, [p.d[0], p.d[1], 0.0, 0.0, 0.0]))
        };
        let scalar = ScalarFunction { arity: 2, fast: None, item: &item, terms: Terms::ALL };
        let shape = Self::common_shape(views, function.name, span)?;
        if self.any_symbolic(views) {
            return self.traced_binary(function, views, shape);
        }
        let y = self.allocate(shape.len(), Self::axes(views))?;
        if self.tracing && y.gradient() {
            self.tape.push(Entry::Binary { function, a: views[0].block, b: views[1].block, y });
        }
        self.apply(scalar, views, y, Mode::Map, span)?;
        Ok(View { shape, block: y })
    }

    pub(super) fn ternary_function(&mut self, function: &'static Ternary, views: &[View; 3], span: Span) -> Run<View> {
        let item = |x: &[f64], _: Terms| {
            let p = (function.at)(x[0], x[1], x[2])?;
            Ok((p.value, [p.d[0], p.d[1], p.d[2], 0.0, 0.0]))
        };
        let scalar = ScalarFunction { arity: 3, fast: None, item: &item, terms: Terms::ALL };
        if self.any_symbolic(views) {
            let shape = Self::common_shape(views, function.name, span)?;
            return self.traced_ternary(function, views, shape);
        }
        self.map(scalar, views, function.name, span)
    }

    fn axes(views: &[View]) -> Flags {
        views.iter().fold(Flags::UNIFORM, |flags, v| flags.with(v.block.flags)).axes()
    }

    /// Applies a function to each element; the result has the shape of the arguments.
    pub(super) fn map(&mut self, function: ScalarFunction, views: &[View], name: &str, span: Span) -> Run<View> {
        let shape = Self::common_shape(views, name, span)?;
        let flags = Self::axes(views);
        let y = self.allocate(shape.len(), flags)?;
        self.apply(function, views, y, Mode::Map, span)?;
        Ok(View { shape, block: y })
    }

    /// Applies a function to each element and adds up the results.
    pub(super) fn map_sum(&mut self, function: ScalarFunction, views: &[View], name: &str, span: Span) -> Run<View> {
        Self::common_shape(views, name, span)?;
        let y = self.allocate(1, Self::axes(views))?;
        self.arena.of_mut(y, self.width).fill(0.0);
        self.apply(function, views, y, Mode::Sum, span)?;
        Ok(View::scalar(y))
    }

    /// Applies a function to each element and adds the results to `total`, and the derivatives, times `seed`, to the
    /// adjoints of the arguments. Nothing is left to be done in the reverse pass.
    pub(super) fn map_into_total(
        &mut self,
        function: ScalarFunction,
        views: &[View],
        (total, seed): (Block, Block),
        name: &str,
        span: Span,
    ) -> Run<()> {
        Self::common_shape(views, name, span)?;
        self.apply(function, views, total, Mode::Total { seed }, span)
    }

    fn apply(&mut self, function: ScalarFunction, views: &[View], y: Block, mode: Mode, span: Span) -> Run<()> {
        let n = views.iter().filter(|v| !v.shape.is_scalar()).map(|v| v.shape.len()).next().unwrap_or(1);
        if n == 0 {
            return Ok(());
        }
        let mut blocks = [y; MOST];
        let mut wanted = 0;
        for (k, view) in views.iter().enumerate() {
            blocks[k] = view.block;
            if view.block.gradient() && self.recording {
                wanted |= 1 << k;
            }
        }
        let unused = Block { at: blocks[0].at, n: 1, flags: Flags::UNIFORM };
        blocks[views.len()..].fill(unused);
        // Saved derivatives lie above the result, so that the reverse pass finds everything below it.
        let mut saved = [None; MOST];
        if !matches!(mode, Mode::Total { .. }) {
            for k in (0..views.len()).filter(|k| wanted >> k & 1 == 1) {
                let elements = if matches!(mode, Mode::Map) { n } else { blocks[k].count() };
                let block = self.allocate(elements, y.flags.without(Flags::GRADIENT))?;
                if block.count() < n {
                    self.arena.of_mut(block, self.width).fill(0.0);
                }
                saved[k] = Some(block);
                self.tape.push(Entry::Partial { x: blocks[k], partial: block, y });
            }
        }
        let mut driver = Driver::new(function, [n, views.len()], y, mode, (saved, wanted), blocks, self.width);
        let mut scratch = self.chunks.take().unwrap_or_default();
        let result = driver.run(self, &mut scratch, span);
        self.chunks = Some(scratch);
        result
    }
}
