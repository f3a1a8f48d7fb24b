//! The densities that are written out. Terms are dropped as the density itself drops them.

use std::f64::consts::LN_2;

use crust_math::density::Terms;
use crust_math::special::{LN_SQRT_TAU, lchoose, lgamma};

use super::super::graph::{Ref, ScalarCall};
use super::known::{bounds, in_unit, positive};
use super::logarithms::scaled;
use super::{Pieces, Writer};
use crate::density::Function as Density;
use crate::flat::Function;
use crate::kernels::arithmetic::Arithmetic::{Divide, Multiply, Subtract};

/// More normal densities than this are computed together faster than each for itself.
const FEW_NORMALS: u32 = 8;

/// The same of densities that need a logarithm each.
const FEW: u32 = 4;

/// A sample of fewer numbers is not put together.
const SMALL_SAMPLE: usize = 4;

const LN_PI: f64 = 1.144_729_885_849_400_2;

#[allow(clippy::float_cmp, reason = "0 and 1 are exact")]
fn is_bit(n: f64) -> bool {
    n == 0.0 || n == 1.0
}

/// A density whose terms are written out.
struct Written<'a> {
    index: u32,
    node: Ref,
    terms: Terms,
    x: &'a [Ref],
    known: &'a [Option<f64>],
}

impl Written<'_> {
    /// A constant, if the density keeps it.
    fn kept(&self, mask: u32, x: f64) -> f64 {
        if self.terms.keep(mask) { x } else { 0.0 }
    }
}

impl Writer<'_> {
    /// The terms of a density, if that is to be written out.
    pub(super) fn density(&mut self, index: u32, node: Ref, weight: f64) -> Option<Pieces> {
        let ScalarCall { function: Function::Density(scalar), terms } = self.graph.functions[index as usize] else {
            return None;
        };
        if !matches!(scalar.function, Density::Density(_) | Density::Probability(_)) {
            return None;
        }
        let x: Vec<Ref> = self.graph.arguments(node).to_vec();
        let known: Vec<Option<f64>> = x.iter().map(|&x| self.graph.known(x)).collect();
        if known.iter().flatten().any(|x| !x.is_finite()) {
            return None;
        }
        let own = Written { index, node, terms, x: &x, known: &known };
        match (scalar.name, &known[..]) {
            ("normal", &[.., Some(scale)]) => self.normal(&own, scale),
            ("normal", _) => self.normal_with_scale(&own, weight),
            ("std_normal", _) => {
                let square = (self.kind(index, node) <= FEW_NORMALS).then(|| self.unary("square", x[0]))??;
                let constant = self.constant(own.kept(0, -LN_SQRT_TAU));
                Some(Pieces::from_slice(&[(square, -0.5), constant]))
            }
            ("lognormal", &[None, Some(_), Some(sigma)]) => self.lognormal(&own, sigma),
            ("cauchy", &[None, Some(_), Some(sigma)]) => {
                let constant = own.kept(0, -LN_PI) - own.kept(0b100, sigma.ln());
                self.heavy_tail(&own, [sigma, 1.0], [-1.0, constant])
            }
            ("student_t", &[None, Some(nu), Some(_), Some(sigma)]) => {
                let shape = own.kept(0b10, lgamma(0.5 * nu + 0.5) - lgamma(0.5 * nu) - 0.5 * nu.ln());
                let constant = shape + own.kept(0, -0.5 * LN_PI) - own.kept(0b1000, sigma.ln());
                self.heavy_tail(&own, [sigma, nu], [-0.5 * (nu + 1.0), constant])
            }
            ("exponential", _) => self.exponential(&own),
            ("gamma", _) => self.gamma(&own, false),
            ("inv_gamma", &[None, Some(_), Some(_)]) => self.gamma(&own, true),
            ("chi_square", &[None, Some(nu)]) if nu > 0.0 && positive(self.graph, x[0], 0) => {
                let mut pieces = scaled(self.log(x[0])?, 0.5 * nu - 1.0);
                let constant = self.constant(own.kept(0b10, -0.5 * nu * LN_2 - lgamma(0.5 * nu)));
                pieces.extend([(x[0], -0.5), constant]);
                Some(pieces)
            }
            ("weibull", &[Some(y), None, None]) if y > 0.0 && self.has_company(index, node) => self.weibull(&own, y),
            ("beta", &[None, Some(a), Some(b)]) if a > 0.0 && b > 0.0 && in_unit(self.graph, x[0], 0) => {
                let mut pieces = self.odds(x[0], a - 1.0, b - 1.0)?;
                let both = own.kept(0b110, lgamma(a + b));
                pieces.push(self.constant(both - own.kept(0b010, lgamma(a)) - own.kept(0b100, lgamma(b))));
                Some(pieces)
            }
            ("uniform", &[None, Some(low), Some(high)]) if low < high => {
                let inside = bounds(self.graph, x[0], 0).is_some_and(|[least, most]| low <= least && most <= high);
                inside.then(|| Pieces::from_slice(&[self.constant(own.kept(0b110, -(high - low).ln()))]))
            }
            ("bernoulli", &[Some(n), None]) if is_bit(n) => self.trials(&own, [n, 1.0], x[1]),
            ("binomial", &[Some(n), Some(trials), None]) if 0.0 <= n && n <= trials => {
                self.trials(&own, [n, trials], x[2])
            }
            ("bernoulli_logit", &[Some(n), None]) if is_bit(n) => self.logit_trials(&own, [n, 1.0], x[1]),
            ("binomial_logit", &[Some(n), Some(trials), None]) if 0.0 <= n && n <= trials => {
                self.logit_trials(&own, [n, trials], x[2])
            }
            ("poisson", &[Some(n), None]) if n >= 0.0 && terms.keep(0b10) => self.poisson(&own, n),
            ("poisson_log", &[Some(n), None]) if n >= 0.0 && terms.keep(0b10) && self.has_company(index, node) => {
                let rate = self.unary("exp", x[1])?;
                let constant = self.constant(own.kept(0, -lgamma(n + 1.0)));
                Some(Pieces::from_slice(&[(x[1], n), (rate, -1.0), constant]))
            }
            _ => None,
        }
    }

    /// `(x − μ)/σ`, where σ is a constant.
    fn standardised(&mut self, x: Ref, mu: Ref, sigma: f64) -> Ref {
        let difference = self.graph.arithmetic(Subtract, x, mu);
        let inverse = self.graph.constant(1.0 / sigma);
        self.graph.arithmetic(Multiply, difference, inverse)
    }

    /// `−½ ((y − μ)/σ)²` with a σ that is data.
    fn normal(&mut self, own: &Written, sigma: f64) -> Option<Pieces> {
        let prior = own.known[0].is_none() && own.known[1].is_some();
        let few = if prior { FEW_NORMALS } else { FEW };
        // What is 0 twice has no derivative here, but this is no place to say so.
        if sigma <= 0.0 || self.kind(own.index, own.node) > few || !own.terms.keep(0b011) {
            return None;
        }
        let difference = self.graph.arithmetic(Subtract, own.x[0], own.x[1]);
        let square = self.unary("square", difference)?;
        let constant = self.constant(own.kept(0, -LN_SQRT_TAU) - own.kept(0b100, sigma.ln()));
        Some(Pieces::from_slice(&[(square, -0.5 / (sigma * sigma)), constant]))
    }

    /// A normal density with a scale that depends on parameters: data of one location and scale are put together, and
    /// of others the logarithm of the scale is left to what the scale was made of.
    fn normal_with_scale(&mut self, own: &Written, weight: f64) -> Option<Pieces> {
        if !own.terms.keep(0b100) || !positive(self.graph, own.x[2], 0) {
            return None;
        }
        let company = (own.index, self.varying(own.node));
        if let Some(y) = own.known[0]
            && self.company.get(&company).is_some_and(|n| *n as usize >= SMALL_SAMPLE)
        {
            let key = (own.index, own.x[1], own.x[2]);
            let sample = self.samples.entry(key).or_default();
            if sample.is_empty() {
                self.order.push(key);
            }
            sample.push((y, weight));
            return Some(Pieces::new());
        }
        #[allow(clippy::float_cmp, reason = "weights of single terms are exact")]
        if !self.at_end || weight != 1.0 || !own.terms.keep(0b011) {
            return None;
        }
        let log = self.free_log(own.x[2], 0)?;
        let varying = (0..2).filter(|&k| own.terms.keep(1 << k)).fold(0, |mask, k| mask | 1 << k);
        let call = ScalarCall { terms: Terms::varying(varying), ..self.graph.functions[own.index as usize] };
        let rest = self.graph.function(call, own.x);
        let mut pieces = scaled(log, -1.0);
        pieces.push(self.constant(own.kept(0, -LN_SQRT_TAU)));
        // Twice the same would not run at the end, where alone its derivative by the scale is without the logarithm's.
        if self.total.places.contains_key(&rest) {
            return None;
        }
        // Not taken apart again: it has no scale to keep.
        self.total.add(rest, 1.0);
        Some(pieces)
    }

    /// Samples: with mean ȳ and weights that add up to W, `Σ w (y − μ)² = W (ȳ − μ)² + Σ w (y − ȳ)²`.
    pub(super) fn samples(&mut self) {
        for key in std::mem::take(&mut self.order) {
            let Some(sample) = self.samples.remove(&key) else { continue };
            let (index, mu, sigma) = key;
            let terms = self.graph.functions[index as usize].terms;
            let total: f64 = sample.iter().map(|(_, w)| w).sum();
            let mean = sample.iter().map(|(y, w)| y * w).sum::<f64>() / total;
            let squares: f64 = sample.iter().map(|(y, w)| w * (y - mean) * (y - mean)).sum();
            let (centre, one) = (self.graph.constant(mean), self.graph.constant(1.0));
            let difference = self.graph.arithmetic(Subtract, mu, centre);
            let inverse = self.graph.arithmetic(Divide, one, sigma);
            let (Some(log), Some(square), Some(weight)) =
                (self.log(sigma), self.unary("square", difference), self.unary("square", inverse))
            else {
                continue;
            };
            let product = self.graph.arithmetic(Multiply, square, weight);
            self.term(product, -0.5 * total);
            self.term(weight, -0.5 * squares);
            for (x, by) in log {
                self.term(x, -by * total);
            }
            if terms.keep(0) {
                self.total.constant -= total * LN_SQRT_TAU;
            }
        }
    }

    fn lognormal(&mut self, own: &Written, sigma: f64) -> Option<Pieces> {
        let log = self.free_log(own.x[0], 0)?;
        let (&[(u, 1.0)], true) = (&log[..], sigma > 0.0) else { return None };
        let difference = self.graph.arithmetic(Subtract, u, own.x[1]);
        let square = self.unary("square", difference)?;
        // The constant of this density stays in every mode.
        let constant = self.constant(-LN_SQRT_TAU - own.kept(0b100, sigma.ln()));
        Some(Pieces::from_slice(&[(square, -0.5 / (sigma * sigma)), (u, -1.0), constant]))
    }

    /// `by · log(1 + z²/ν) + constant`
    fn heavy_tail(&mut self, own: &Written, [sigma, nu]: [f64; 2], [by, constant]: [f64; 2]) -> Option<Pieces> {
        if sigma <= 0.0 || nu <= 0.0 || self.kind(own.index, own.node) > FEW {
            return None;
        }
        let mu = own.x[own.x.len() - 2];
        let z = self.standardised(own.x[0], mu, sigma * nu.sqrt());
        let square = self.unary("square", z)?;
        let log = self.unary("log1p", square)?;
        Some(Pieces::from_slice(&[(log, by), self.constant(constant)]))
    }

    /// `log β − β y`
    fn exponential(&mut self, own: &Written) -> Option<Pieces> {
        let (&[y, beta], &[y_known, beta_known]) = (own.x, own.known) else { return None };
        if !own.terms.keep(0b11) || !positive(self.graph, beta, 0) {
            return None;
        }
        if !positive(self.graph, y, 0) && y_known != Some(0.0) {
            return None;
        }
        let mut pieces = Pieces::new();
        if own.terms.keep(0b10) {
            pieces = match self.free_log(beta, 0) {
                Some(log) => log,
                None if self.has_company(own.index, own.node) => self.log(beta)?,
                None => return None,
            };
        }
        let product = match (y_known, beta_known) {
            (Some(y), _) => (beta, -y),
            (_, Some(beta)) => (y, -beta),
            _ => (self.graph.arithmetic(Multiply, beta, y), -1.0),
        };
        pieces.push(product);
        Some(pieces)
    }

    /// `α log β − log Γ(α) + (α − 1) log y − β y`, and the same for 1/y less 2 log y where this is the inverse gamma.
    fn gamma(&mut self, own: &Written, inverse: bool) -> Option<Pieces> {
        let &[y, alpha, beta] = own.x else { return None };
        if !own.x.iter().all(|&x| positive(self.graph, x, 0)) {
            return None;
        }
        let log_y = if inverse { scaled(self.log(y)?, -1.0) } else { self.log(y)? };
        let (mut pieces, linear) = match *own.known {
            [None, Some(a), Some(b)] => {
                let constant = own.kept(0b110, a * b.ln()) - own.kept(0b010, lgamma(a));
                let power = if inverse { a + 1.0 } else { a - 1.0 };
                let mut pieces = scaled(log_y, power);
                pieces.push(self.constant(constant));
                let linear = if inverse {
                    let one = self.graph.constant(1.0);
                    self.graph.arithmetic(Divide, one, y)
                } else {
                    y
                };
                (pieces, (linear, -b))
            }
            // Observations that have their parameters in common.
            [Some(value), ..] if self.has_company(own.index, own.node) => {
                let log_beta = if own.terms.keep(0b110) { self.log(beta)? } else { Pieces::new() };
                let mut pieces = self.times(log_beta, alpha);
                if own.terms.keep(0b010) {
                    let gamma = self.unary("lgamma", alpha)?;
                    pieces.push((gamma, -1.0));
                }
                if own.terms.keep(0b011) {
                    pieces.extend([(alpha, value.ln()), self.constant(-value.ln())]);
                }
                (pieces, (beta, -own.kept(0b101, value)))
            }
            _ => return None,
        };
        pieces.push(linear);
        Some(pieces)
    }

    /// `log α + (α − 1) log y − α log σ − exp(α (log y − log σ))` for observations that have α and σ in common
    fn weibull(&mut self, own: &Written, y: f64) -> Option<Pieces> {
        let &[_, alpha, sigma] = own.x else { return None };
        if !positive(self.graph, alpha, 0) || !positive(self.graph, sigma, 0) || !own.terms.keep(0b111) {
            return None;
        }
        let &[(log_sigma, one)] = &self.log(sigma)?[..] else { return None };
        if one.to_bits() != 1.0_f64.to_bits() {
            return None;
        }
        let log_y = self.graph.constant(y.ln());
        let difference = self.graph.arithmetic(Subtract, log_y, log_sigma);
        let exponent = self.graph.arithmetic(Multiply, alpha, difference);
        let power = self.unary("exp", exponent)?;
        let mut pieces = Pieces::from_slice(&[(power, -1.0)]);
        if own.terms.keep(0b010) {
            pieces.extend(self.log(alpha)?);
        }
        if own.terms.keep(0b011) {
            pieces.extend([(alpha, y.ln()), self.constant(-y.ln())]);
        }
        if own.terms.keep(0b110) {
            pieces.push((self.graph.arithmetic(Multiply, alpha, log_sigma), -1.0));
        }
        Some(pieces)
    }

    /// `n log θ + m log(1 − θ)`
    fn odds(&mut self, theta: Ref, n: f64, m: f64) -> Option<Pieces> {
        let mut pieces = Pieces::new();
        if n != 0.0 {
            pieces.extend(scaled(self.log(theta)?, n));
        }
        if m != 0.0 {
            pieces.extend(scaled(self.log1m(theta)?, m));
        }
        Some(pieces)
    }

    /// Bernoulli and binomial distribution.
    fn trials(&mut self, own: &Written, [n, trials]: [f64; 2], theta: Ref) -> Option<Pieces> {
        if !own.terms.keep(1 << (own.x.len() - 1)) || !in_unit(self.graph, theta, 0) {
            return None;
        }
        // Log and log1m of θ are there already, or will serve several terms.
        if self.free_log(theta, 0).is_none() && !self.has_company(own.index, own.node) {
            return None;
        }
        let mut pieces = self.odds(theta, n, trials - n)?;
        if own.x.len() == 3 {
            pieces.push(self.constant(own.kept(0, lchoose(trials, n))));
        }
        Some(pieces)
    }

    /// `−n log(1 + e⁻ᵅ) − m log(1 + eᵅ)`, where one logarithm is the other one and α.
    fn logit_trials(&mut self, own: &Written, [n, trials]: [f64; 2], alpha: Ref) -> Option<Pieces> {
        if !own.terms.keep(1 << (own.x.len() - 1)) || !self.has_company(own.index, own.node) {
            return None;
        }
        let minus = self.graph.negate(alpha);
        let softplus = self.unary("log1p_exp", minus)?;
        let mut pieces = Pieces::from_slice(&[(softplus, -trials), (alpha, n - trials)]);
        if own.x.len() == 3 {
            pieces.push(self.constant(own.kept(0, lchoose(trials, n))));
        }
        Some(pieces)
    }

    /// `n log λ − λ − log n!`
    fn poisson(&mut self, own: &Written, n: f64) -> Option<Pieces> {
        let lambda = own.x[1];
        if !positive(self.graph, lambda, 0) {
            return None;
        }
        let mut pieces = match self.free_log(lambda, 0) {
            Some(log) => scaled(log, n),
            None if self.has_company(own.index, own.node) => scaled(self.log(lambda)?, n),
            None => return None,
        };
        pieces.extend([(lambda, -1.0), self.constant(own.kept(0, -lgamma(n + 1.0)))]);
        Some(pieces)
    }
}
