//! Random draws: each lane has its own stream.

use crust_math::random::{Draw, Stream};
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::value::View;
use super::{Machine, Run, fatal};
use crate::memory::Flags;
use crate::random::Generator;

impl Machine {
    /// A draw for each element and lane.
    pub(super) fn random(&mut self, generator: Generator, views: &[View], span: Span) -> Run<View> {
        if views.len() != generator.arity() {
            return fatal("internal", "a generator has other arguments", span);
        }
        if self.width.tile > 1 {
            return Err(super::Stop::TileUnfit);
        }
        if self.streams.len() < self.width.lanes {
            return fatal("no-randomness", "random draws are not possible here", span);
        }
        let shape = Self::common_shape(views, generator.name(), span)?;
        let y = self.allocate(shape.len(), Flags::LANES)?;
        let (width, lanes) = (self.width, self.width.lanes);
        let strides: SmallVec<[[usize; 3]; 4]> = views.iter().map(|v| v.block.strides(width)).collect();
        let mut streams = std::mem::take(&mut self.streams);
        let mut trouble: SmallVec<[(usize, String); 1]> = SmallVec::new();
        let (low, out) = self.arena.below(y, width);
        for e in 0..shape.len() {
            for l in 0..lanes {
                let mut x = [0.0; 3];
                for ((x, view), [by_element, _, by_lane]) in x.iter_mut().zip(views).zip(&strides) {
                    *x = low[view.block.start() + e * by_element + l * by_lane];
                }
                out[e * lanes + l] = draw(generator, &mut streams[l], x).unwrap_or_else(|error| {
                    trouble.push((l, error.to_string()));
                    f64::NAN
                });
            }
        }
        self.streams = streams;
        for (lane, message) in trouble {
            self.reject(lane, || message, span)?;
        }
        Ok(View { shape, block: y })
    }
}

/// Stan refuses means this large: a count would not fit an `int`.
const LARGEST_LOG_RATE: f64 = 20.794_415_416_798_357;

#[allow(clippy::cast_possible_truncation, reason = "Stan's int has 32 bits")]
#[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
fn draw(generator: Generator, stream: &mut Stream, [a, b, c]: [f64; 3]) -> Draw<f64> {
    use Generator as G;
    let count = |n: Draw<i64>| n.map(|n| n as f64);
    let inv_logit = |x: f64| 1.0 / (1.0 + (-x).exp());
    match generator {
        G::Normal => stream.normal(a, b),
        G::StdNormal => Ok(stream.standard_normal()),
        G::Uniform => stream.uniform_range(a, b),
        G::Exponential => stream.exponential(a),
        G::Cauchy => stream.cauchy(a, b),
        G::Gamma => stream.gamma(a, b),
        G::InvGamma => stream.inv_gamma(a, b),
        G::Beta => stream.beta(a, b),
        G::ChiSquare => stream.chi_square(a),
        G::InvChiSquare => stream.inv_chi_square(a),
        G::ScaledInvChiSquare => stream.scaled_inv_chi_square(a, b),
        G::StudentT => stream.student_t(a, b, c),
        G::VonMises => stream.von_mises(a, b),
        G::Lognormal => stream.lognormal(a, b),
        G::DoubleExponential => stream.double_exponential(a, b),
        G::Logistic => stream.logistic(a, b),
        G::Gumbel => stream.gumbel(a, b),
        G::Weibull => stream.weibull(a, b),
        G::Frechet => stream.frechet(a, b),
        G::Rayleigh => stream.rayleigh(a),
        G::Pareto => stream.pareto(a, b),
        G::SkewNormal => stream.skew_normal(a, b, c),
        G::ExpModNormal => stream.exp_mod_normal(a, b, c),
        G::Bernoulli => stream.bernoulli(a).map(f64::from),
        G::BernoulliLogit => stream.bernoulli(inv_logit(a)).map(f64::from),
        G::Poisson => count(stream.poisson(a)),
        G::PoissonLog => count(stream.poisson(a.min(LARGEST_LOG_RATE).exp())),
        G::Binomial => count(stream.binomial(a as i64, b)),
        G::BinomialLogit => count(stream.binomial(a as i64, inv_logit(b))),
        G::BetaBinomial => count(stream.beta_binomial(a as i64, b, c)),
        G::NegBinomial => count(stream.neg_binomial(a, b)),
        G::NegBinomial2 => count(stream.neg_binomial_2(a, b)),
        G::NegBinomial2Log => count(stream.neg_binomial_2(a.min(LARGEST_LOG_RATE).exp(), b)),
        G::Hypergeometric => count(stream.hypergeometric(a as i64, b as i64, c as i64)),
    }
}
