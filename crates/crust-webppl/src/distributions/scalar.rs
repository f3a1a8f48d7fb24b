//! Log densities of one number with their partial derivatives.

use super::{Dist, Family, Parts};
use crate::error::Run;
use crate::record::Op;
use crate::tape::Num;
use crate::value::Value;
use crust_math::density::{Density, Terms};
use crust_math::distributions::continuous as c;
use crust_math::special::{digamma, lchoose, lgamma};

const LOG_2PI: f64 = 1.837_877_066_409_345_3;
const MINUS_INFINITY: Num = Num::Plain(f64::NEG_INFINITY);

/// The value with the partials for the variate and two parameters.
type Score = (f64, [f64; 3]);

const ZERO: Score = (f64::NEG_INFINITY, [0.0; 3]);

/// Stan's density with its partials; outside of its domain there is no density.
fn stan<const N: usize>(density: &Density<N>) -> Score {
    match density {
        Ok(p) => {
            let mut d = [0.0; 3];
            for (to, from) in d.iter_mut().zip(p.d) {
                *to = from;
            }
            (p.value, d)
        }
        Err(_) => ZERO,
    }
}

fn gaussian(x: f64, mu: f64, sigma: f64) -> Score {
    let z = (x - mu) / sigma;
    (-0.5 * (LOG_2PI + 2.0 * sigma.ln() + z * z), [-z / sigma, z / sigma, (z * z - 1.0) / sigma])
}

fn score(family: Family, x: f64, a: f64, b: f64) -> Score {
    let all = Terms::ALL;
    match family {
        Family::Gaussian => gaussian(x, a, b),
        Family::Uniform if x < a || x > b => ZERO,
        Family::Uniform => (-(b - a).ln(), [0.0, 1.0 / (b - a), -1.0 / (b - a)]),
        Family::Beta if x <= 0.0 || x >= 1.0 => ZERO,
        Family::Beta => stan(&c::beta_lpdf(x, a, b, all)),
        Family::Cauchy => stan(&c::cauchy_lpdf(x, a, b, all)),
        Family::Exponential if x < 0.0 => ZERO,
        Family::Exponential => (a.ln() - a * x, [-a, 1.0 / a - x, 0.0]),
        Family::Gamma if x <= 0.0 => ZERO,
        Family::Gamma => {
            // Stan's second parameter is the rate
            let (value, d) = stan(&c::gamma_lpdf(x, a, 1.0 / b, all));
            (value, [d[0], d[1], -d[2] / (b * b)])
        }
        Family::Laplace => stan(&c::double_exponential_lpdf(x, a, b, all)),
        Family::LogNormal if x <= 0.0 => ZERO,
        Family::LogNormal => stan(&c::lognormal_lpdf(x, a, b, all)),
        Family::IspNormal => {
            // x = log(1 + exp u) with a normal u
            let u = x.exp_m1().ln();
            let du = x.exp() / x.exp_m1();
            let (value, d) = gaussian(u, a, b);
            (value + x - u, [d[0] * du + 1.0 - du, d[1], d[2]])
        }
        Family::Poisson if x < 0.0 => ZERO,
        Family::Poisson => (x * a.ln() - a - lgamma(x + 1.0), [a.ln() - digamma(x + 1.0), x / a - 1.0, 0.0]),
        Family::Binomial if x < 0.0 || x > b || x.fract() != 0.0 => ZERO,
        Family::Binomial => {
            let term = |k: f64, p: f64| if k == 0.0 { 0.0 } else { k * p.ln() };
            let value = lchoose(b, x) + term(x, a) + term(b - x, 1.0 - a);
            let slope = |k: f64, p: f64| if k == 0.0 { 0.0 } else { k / p };
            (value, [0.0, slope(x, a) - slope(b - x, 1.0 - a), 0.0])
        }
        Family::RandomInteger if x.fract() != 0.0 || x < 0.0 || x >= a => ZERO,
        Family::RandomInteger => (-a.ln(), [0.0; 3]),
        _ => (0.0, [0.0; 3]),
    }
}

/// The log density of a number.
#[inline]
pub fn value(family: Family, x: f64, a: f64, b: f64) -> f64 {
    if family == Family::Gaussian {
        return gaussian_score(x, a, b, b.ln());
    }
    score(family, x, a, b).0
}

/// log N(x; μ, σ²), where log σ is known.
#[inline]
pub fn gaussian_score(x: f64, mu: f64, sigma: f64, log_sigma: f64) -> f64 {
    let z = (x - mu) / sigma;
    -0.5 * (LOG_2PI + 2.0 * log_sigma + z * z)
}

/// Its partials.
#[inline]
pub fn slopes(family: Family, x: f64, a: f64, b: f64) -> [f64; 3] {
    if family == Family::Gaussian {
        let (z, precision) = ((x - a) / b, 1.0 / b);
        return [-z * precision, z * precision, (z * z - 1.0) * precision];
    }
    score(family, x, a, b).1
}

impl Dist {
    pub(super) fn score_scalar(&self, value: &Value) -> Run<Num> {
        let [a, b] = &self.args;
        if self.family == Family::Bernoulli {
            return Ok(match value.primal() {
                Value::Bool(true) => a.ln(),
                Value::Bool(false) => Num::Plain(1.0).sub(a).ln(),
                _ => MINUS_INFINITY,
            });
        }
        if self.family == Family::ImproperUniform {
            return Ok(Num::Plain(0.0));
        }
        let x = match Num::of(value) {
            Some(x) => x,
            None => match value {
                Value::Bool(b) if !matches!(self.family, Family::Binomial) => Num::Plain(f64::from(u8::from(*b))),
                _ => return Ok(MINUS_INFINITY),
            },
        };
        if let Parts::Logit(params) = &self.parts {
            return Ok(logit_normal(&x, params));
        }
        if let (Num::Plain(x), Num::Plain(a), Num::Plain(b)) = (&x, a, b) {
            return Ok(Num::Plain(self::value(self.family, *x, *a, *b)));
        }
        let (value, d) = score(self.family, x.raw(), a.raw(), b.raw());
        Ok(Num::function(Op::Score(self.family), &[&x, a, b], value, &d))
    }
}

fn logit_normal(v: &Num, params: &[Num; 4]) -> Num {
    let [mu, sigma, a, b] = params;
    if v.value() <= a.value() || v.value() >= b.value() {
        return MINUS_INFINITY;
    }
    let one = Num::Plain(1.0);
    let width = b.sub(a);
    let y = v.sub(a).div(&width);
    let rest = one.sub(&y);
    let x = y.div(&rest).ln();
    let (value, d) = gaussian(x.raw(), mu.raw(), sigma.raw());
    Num::function(Op::Score(Family::Gaussian), &[&x, mu, sigma], value, &d).sub(&y.mul(&rest).mul(&width).ln())
}
