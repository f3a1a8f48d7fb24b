//! Functions of the library that call a function of the program.

use crust_math::functions::Shape;
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::value::{Value, View};
use super::{Machine, Run, Stop, fatal};
use crate::code::{HigherOrder, HigherOrderKind};

impl Machine {
    pub(super) fn higher_order(&mut self, call: &HigherOrder, span: Span) -> Run<View> {
        let mut values: SmallVec<[Value; 8]> = SmallVec::new();
        for argument in &call.arguments {
            values.push(self.eval(argument)?);
        }
        // The arguments are in another order than those of the function: all count if one does.
        let varies = if call.arguments.iter().any(|a| self.counts_as_varying(a)) { u64::MAX } else { 0 };
        match call.kind {
            HigherOrderKind::ReduceSum => self.reduce_sum(call, &values, varies, span),
            HigherOrderKind::MapRect => self.map_rect(call, &values, varies, span),
            HigherOrderKind::Solve(_) if self.tracer.is_some() => Err(Stop::LanesUnfit),
            HigherOrderKind::Solve(solver) => self.solve(call, solver, &values, span),
        }
    }

    fn view(value: Option<&Value>, span: Span) -> Run<View> {
        match value {
            Some(Value::Numbers(view)) => Ok(*view),
            _ => fatal("not-supported", "the engine needs numbers here", span),
        }
    }

    /// `reduce_sum(f, x, grainsize, …)` is `f(x, 1, size(x), …)`: the sum over all slices at once.
    fn reduce_sum(&mut self, call: &HigherOrder, values: &[Value], varies: u64, span: Span) -> Run<View> {
        let sliced = Self::view(values.first(), span)?;
        let n = sliced.shape.size(0);
        if n == 0 {
            return self.number(0.0);
        }
        let one = self.number(1.0)?;
        #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
        let last = self.number(n as f64)?;
        let mut arguments: SmallVec<[Value; 8]> = SmallVec::new();
        arguments.extend([values[0], Value::Numbers(one), Value::Numbers(last)]);
        arguments.extend_from_slice(&values[2..]);
        match self.call_with(call.function, &arguments, varies, call.propto, span)? {
            Some(Value::Numbers(view)) => Ok(view),
            _ => fatal("internal", "the function returns no number", span),
        }
    }

    /// `map_rect(f, φ, θ, xr, xi)` puts `f(φ, θ[n], xr[n], xi[n])` for all `n` one after the other.
    fn map_rect(&mut self, call: &HigherOrder, values: &[Value], varies: u64, span: Span) -> Run<View> {
        let shared = Self::view(values.first(), span)?;
        let own =
            [Self::view(values.get(1), span)?, Self::view(values.get(2), span)?, Self::view(values.get(3), span)?];
        let jobs = own[0].shape.size(0);
        if own.iter().any(|v| v.shape.size(0) != jobs) {
            return fatal("size-mismatch", "map_rect: the arrays differ in size", span);
        }
        let mut results: SmallVec<[View; 16]> = SmallVec::new();
        for job in 0..jobs {
            let element = |this: &Self, v: View| {
                let shape = v.shape.element();
                let n = shape.len();
                Value::Numbers(View { shape, block: v.block.elements(job * n, n, this.width) })
            };
            let arguments =
                [Value::Numbers(shared), element(self, own[0]), element(self, own[1]), element(self, own[2])];
            match self.call_with(call.function, &arguments, varies, false, span)? {
                Some(Value::Numbers(view)) => results.push(view),
                _ => return fatal("internal", "the function returns no vector", span),
            }
        }
        if results.is_empty() {
            let block = self.uniform(&[])?;
            return Ok(View { shape: Shape::vector(0), block });
        }
        let block = self.concatenate(&results)?;
        Ok(View { shape: Shape::vector(block.count()), block })
    }
}
