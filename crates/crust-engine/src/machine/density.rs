//! Log densities.

use crust_math::density::Terms;
use crust_math::functions::Shape;
use crust_stan::span::Span;

use super::elementwise::ScalarFunction;
use super::expressions::Views;
use super::value::View;
use super::{Machine, Run, fatal};
use crate::code::{DensityCall, Factor};
use crate::density::{Density, Linear, Scalar};
use crate::kernels::arithmetic::Arithmetic;

impl Machine {
    fn terms(&self, call: &DensityCall) -> Terms {
        if !(call.propto && self.propto) {
            return Terms::ALL;
        }
        let varying = call.arguments.iter().enumerate().filter(|(_, a)| self.counts_as_varying(a));
        Terms::varying(varying.fold(0, |mask, (k, _)| mask | 1 << k))
    }

    /// A log density as a value.
    pub(super) fn density(&mut self, call: &DensityCall, span: Span) -> Run<View> {
        let terms = self.terms(call);
        let views = self.list(&call.arguments)?;
        match call.density {
            Density::Scalar(scalar) => self.scalar_density(&scalar, &views, terms, span),
            Density::Vector(density) => self.vector_density(density.0, &views, terms, span),
            Density::Linear(linear) => {
                let (views, terms) = self.linear(&linear, &views, terms, call, span)?;
                self.scalar_density(&linear.inner, &views, terms, span)
            }
        }
    }

    fn scalar_density(&mut self, scalar: &Scalar, views: &[View], terms: Terms, span: Span) -> Run<View> {
        let item = |x: &[f64], terms: Terms| scalar.at(x, terms);
        let function = ScalarFunction { arity: scalar.arity, fast: scalar.fast, item: &item, terms };
        if scalar.product && views.iter().any(|v| !v.shape.is_scalar()) {
            let all = self.map(function, views, scalar.name, span)?;
            let all = View { shape: Shape::vector(all.block.count()), ..all };
            return match crate::lower::vector_function("prod") {
                Some(product) => self.vector_function(product, &[all], span),
                None => fatal("not-supported", "the engine has no `prod`", span),
            };
        }
        self.map_sum(function, views, scalar.name, span)
    }

    /// A log density that is added to the total: value and derivatives go where they belong at once.
    pub(super) fn density_into_total(&mut self, call: &DensityCall, factor: Factor, span: Span) -> Run<()> {
        let terms = self.terms(call);
        let views = self.list(&call.arguments)?;
        let factor = match factor {
            Factor::ByVariate if views[0].block.gradient() => Factor::Prior,
            Factor::ByVariate => Factor::Likelihood,
            factor => factor,
        };
        let (scalar, views, terms) = match call.density {
            Density::Scalar(scalar) if !scalar.product => (scalar, views, terms),
            Density::Linear(linear) => {
                let (views, terms) = self.linear(&linear, &views, terms, call, span)?;
                (linear.inner, views, terms)
            }
            Density::Vector(density) => {
                let view = self.vector_density(density.0, &views, terms, span)?;
                self.add_view(view, factor);
                return Ok(());
            }
            Density::Scalar(scalar) => {
                let view = self.scalar_density(&scalar, &views, terms, span)?;
                self.add_view(view, factor);
                return Ok(());
            }
        };
        let Some(places) = self.total(factor) else { return Ok(()) };
        let item = |x: &[f64], terms: Terms| scalar.at(x, terms);
        let function = ScalarFunction { arity: scalar.arity, fast: scalar.fast, item: &item, terms };
        self.map_into_total(function, &views, places, scalar.name, span)
    }

    /// The arguments of the density that a generalised linear model stands for: `α + x β` in the place of `x`, `α` and `β`.
    fn linear(
        &mut self,
        linear: &Linear,
        views: &[View],
        terms: Terms,
        call: &DensityCall,
        span: Span,
    ) -> Run<(Views, Terms)> {
        let at = linear.before;
        let (x, alpha, beta) = (views[at], views[at + 1], views[at + 2]);
        if x.shape.columns() != beta.shape.len() {
            let message = format!("{}: {} and coefficients {} do not fit", linear.name, x.shape, beta.shape);
            return fatal("size-mismatch", message, span);
        }
        // One row of predictors may stand for all observations.
        let x = if x.shape.cell() == crust_math::functions::Cell::RowVector {
            View { shape: Shape::matrix(1, x.shape.len()), ..x }
        } else {
            x
        };
        let mut product = self.product(x, beta, span)?;
        if product.shape.len() == 1 {
            product.shape = Shape::SCALAR;
        }
        let predictor = self.arithmetic(Arithmetic::Add, product, alpha, span)?;
        let mut list = Views::from_slice(&views[..at]);
        list.push(predictor);
        list.extend_from_slice(&views[at + 3..]);
        if terms == Terms::ALL {
            return Ok((list, terms));
        }
        let varies = |k: usize| self.counts_as_varying(&call.arguments[k]);
        let mut mask = (0..at).filter(|&k| varies(k)).fold(0, |mask, k| mask | 1 << k);
        if (at..at + 3).any(varies) {
            mask |= 1 << at;
        }
        for k in at + 3..call.arguments.len() {
            if varies(k) {
                mask |= 1 << (k - 2);
            }
        }
        Ok((list, Terms::varying(mask)))
    }
}
