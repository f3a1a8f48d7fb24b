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
use crate::kernels::normal::{self, Normal};
use crate::memory::{Block, Flags};

const LANES: Flags = Flags::LANES;
const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;

impl Machine {
    pub(super) fn terms(&self, call: &DensityCall) -> Terms {
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
        if self.any_symbolic(views) {
            return self.traced_density(scalar, views, terms, span);
        }
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
        if scalar.is_normal_density() && views[2].block.n == 1 && !views[2].block.tile() {
            return self.normal_into_total(&views, terms, places, span);
        }
        let item = |x: &[f64], terms: Terms| scalar.at(x, terms);
        let function = ScalarFunction { arity: scalar.arity, fast: scalar.fast, item: &item, terms };
        self.map_into_total(function, &views, places, scalar.name, span)
    }

    /// The normal log density where all items share a scale.
    #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
    fn normal_into_total(
        &mut self,
        views: &[View],
        terms: Terms,
        (total, seed): (Block, Block),
        span: Span,
    ) -> Run<()> {
        let shape = Self::common_shape(views, "normal", span)?;
        let (y, mu, sigma) = (views[0].block, views[1].block, views[2].block);
        let n = shape.len();
        if n == 0 {
            return Ok(());
        }
        let (width, lanes) = (self.width, self.width.lanes);
        let tile_varies = y.tile() || mu.tile();
        // What does not vary over the tile counts once for each of its iterations.
        let times = if tile_varies { 1.0 } else { width.tile as f64 };
        let count = (n * if tile_varies { width.tile } else { 1 }) as f64;
        let (inverse, weight) = (self.allocate(1, LANES)?, self.allocate(1, LANES)?);
        let squares = self.allocate(1, LANES)?;
        let log_scale = self.allocate(1, LANES)?;
        let (low, high) = self.arena.values_mut().split_at_mut(inverse.start());
        let at =
            |block: Block| if block.lanes() { &low[block.range(width)] } else { &low[block.start()..=block.start()] };
        let (inverse_at, weight_at) = (0, weight.start() - inverse.start());
        let log_at = log_scale.start() - inverse.start();
        let (rows, logs) = high.split_at_mut(log_at);
        let (inverse_row, weight_row) = rows.split_at_mut(weight_at);
        normal::scales(
            (at(sigma), at(seed), times),
            &mut inverse_row[inverse_at..lanes],
            &mut weight_row[..lanes],
            &mut logs[..lanes],
        );
        normal::sums(&mut self.arena, width, n, Normal { y, mu, inverse, weight, squares });
        // Scale and location count as varying where Stan says so.
        let factors = normal::Factors {
            squares: if terms.keep(0b111) { -0.5 * times } else { 0.0 },
            log_scale: if terms.keep(0b100) { -count * times } else { 0.0 },
            constant: if terms.keep(0) { -count * times * HALF_LOG_TWO_PI } else { 0.0 },
            count,
        };
        let bad = normal::finish(&mut self.arena, width, factors, [sigma, weight, squares, log_scale, total]);
        if bad {
            self.reject_normal([y, mu, sigma], squares, span)?;
        }
        Ok(())
    }

    fn any_in_lane(&self, block: Block, lane: usize, test: impl Fn(f64) -> bool) -> bool {
        let numbers = self.arena.of(block, self.width);
        if block.lanes() {
            return numbers.iter().skip(lane).step_by(self.width.lanes).any(|&x| test(x));
        }
        numbers.iter().any(|&x| test(x))
    }

    /// Says why lanes have no normal density.
    #[cold]
    fn reject_normal(&mut self, [y, mu, sigma]: [Block; 3], squares: Block, span: Span) -> Run<()> {
        for l in 0..self.width.lanes {
            let scale = self.arena.values()[sigma.start() + if sigma.lanes() { l } else { 0 }];
            let sum = self.arena.values()[squares.start() + l];
            if scale <= 0.0 || scale.is_nan() {
                let message = || format!("normal_lpdf: Scale parameter is {scale}, but must be positive");
                self.reject(l, message, span)?;
            } else if sum.is_nan() || self.any_in_lane(mu, l, |x| !x.is_finite()) || self.any_in_lane(y, l, f64::is_nan)
            {
                // A square that is too large is no mistake: the density is 0.
                let message = || "normal_lpdf: Random variable or location parameter is not finite".to_owned();
                self.reject(l, message, span)?;
            }
        }
        Ok(())
    }

    /// The arguments of the density that a generalised linear model stands for: `α + x β` in the place of `x`, `α` and
    /// `β`.
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
