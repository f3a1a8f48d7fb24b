//! Distributions of counts, in Stan's parametrisation.

use pxfm::{f_exp, f_log, f_log1p};

use super::numeric::{float, integer, log_binomial, log_poisson};
use super::{Draw, Stream};
use crate::density::Domain;

/// Means from here on are for rejection, below for inversion. Hörmann's methods need at least 10.
const LARGE_MEAN: f64 = 10.0;

/// No count beyond has a probability that inversion could see: with mean 10 it is below 10⁻¹⁰⁰.
const LAST_BY_INVERSION: i64 = 200;

/// The largest Poisson rate. Up to here the counts are exact in a double and their log probabilities keep 8 digits.
const LARGEST_RATE: f64 = 1e15;

impl Stream {
    pub fn poisson(&mut self, rate: f64) -> Draw<i64> {
        let domain = Domain("poisson_rng");
        domain.nonnegative("Rate parameter", rate)?;
        domain.that(rate <= LARGEST_RATE, "Rate parameter", rate, "at most 1e15")?;
        Ok(self.poisson_draw(rate))
    }

    fn poisson_draw(&mut self, rate: f64) -> i64 {
        if rate < LARGE_MEAN {
            self.invert(f_exp(-rate), LAST_BY_INVERSION, |k| rate / k)
        } else {
            self.poisson_by_rejection(rate)
        }
    }

    /// PTRS of Hörmann, "The transformed rejection method for generating Poisson random variables" (1993).
    fn poisson_by_rejection(&mut self, rate: f64) -> i64 {
        let b = 0.931 + 2.53 * rate.sqrt();
        let hat = Hat {
            a: -0.059 + 0.024_83 * b,
            b,
            center: rate + 0.43,
            inside: 0.9277 - 3.6224 / (b - 2.0),
            scale: 1.1239 + 1.1328 / (b - 3.4),
            last: f64::INFINITY,
        };
        self.transformed_rejection(&hat, |k| log_poisson(k, rate))
    }

    /// The number of successes in `n` trials.
    pub fn binomial(&mut self, n: i64, p: f64) -> Draw<i64> {
        let domain = Domain("binomial_rng");
        domain.nonnegative("Population size parameter", float(n))?;
        domain.bounded("Probability parameter", p, 0.0, 1.0, "in the interval [0, 1]")?;
        Ok(self.binomial_draw(n, p))
    }

    pub(super) fn binomial_draw(&mut self, n: i64, p: f64) -> i64 {
        if p > 0.5 {
            return n - self.binomial_draw(n, 1.0 - p);
        }
        let size = float(n);
        if size * p >= LARGE_MEAN {
            return self.binomial_by_rejection(size, p);
        }
        let odds = p / (1.0 - p);
        let none = f_exp(size * f_log1p(-p));
        self.invert(none, n.min(LAST_BY_INVERSION), |k| odds * ((size - k + 1.0) / k))
    }

    /// BTRS of Hörmann, "The generation of binomial random variates" (1993), for p ≤ 1/2.
    fn binomial_by_rejection(&mut self, n: f64, p: f64) -> i64 {
        let q = 1.0 - p;
        let deviation = (n * p * q).sqrt();
        let b = 1.15 + 2.53 * deviation;
        let hat = Hat {
            a: -0.0873 + 0.0248 * b + 0.01 * p,
            b,
            center: n * p + 0.5,
            inside: 0.92 - 4.2 / b,
            scale: (2.83 + 5.1 / b) * deviation,
            last: n,
        };
        let mode = ((n + 1.0) * p).floor();
        let at_mode = log_binomial(mode, n, p, q);
        self.transformed_rejection(&hat, |k| log_binomial(k, n, p, q) - at_mode)
    }

    /// Transformed rejection with squeeze, which both methods of Hörmann share.
    fn transformed_rejection(&mut self, hat: &Hat, log_probability: impl Fn(f64) -> f64) -> i64 {
        loop {
            let u = self.uniform() - 0.5;
            let v = self.uniform();
            let us = 0.5 - u.abs();
            let k = ((2.0 * hat.a / us + hat.b) * u + hat.center).floor();
            if us >= 0.07 && v <= hat.inside {
                return integer(k);
            }
            if k < 0.0 || k > hat.last || (us < 0.013 && v > us) {
                continue;
            }
            if f_log(v * hat.scale / (hat.a / (us * us) + hat.b)) <= log_probability(k) {
                return integer(k);
            }
        }
    }

    /// Inversion by search from 0. `ratio(k)` is the probability of k over that of k − 1.
    fn invert(&mut self, none: f64, last: i64, ratio: impl Fn(f64) -> f64) -> i64 {
        loop {
            let mut u = self.uniform();
            let mut probability = none;
            for k in 0..=last {
                if u <= probability {
                    return k;
                }
                u -= probability;
                probability *= ratio(float(k + 1));
            }
            // Rounding has lost 10⁻¹⁶ of probability, and u fell in there.
        }
    }

    /// Failures before success number `shape`, as a Poisson draw whose rate is a gamma draw.
    pub fn neg_binomial(&mut self, shape: f64, inverse_scale: f64) -> Draw<i64> {
        let domain = Domain("neg_binomial_rng");
        domain.positive_finite("Shape parameter", shape)?;
        domain.positive_finite("Inverse scale parameter", inverse_scale)?;
        let rate = self.standard_gamma(shape) / inverse_scale;
        self.poisson_of_gamma(domain, rate)
    }

    /// [`Self::neg_binomial`] by its mean and its precision: the variance is mean + mean²/precision.
    pub fn neg_binomial_2(&mut self, mean: f64, precision: f64) -> Draw<i64> {
        let domain = Domain("neg_binomial_2_rng");
        domain.positive_finite("Location parameter", mean)?;
        domain.positive_finite("Precision parameter", precision)?;
        let rate = self.standard_gamma(precision) * (mean / precision);
        self.poisson_of_gamma(domain, rate)
    }

    fn poisson_of_gamma(&mut self, domain: Domain, rate: f64) -> Draw<i64> {
        let argument = "Random number that came from gamma distribution";
        domain.that(rate <= LARGEST_RATE, argument, rate, "at most 1e15")?;
        Ok(self.poisson_draw(rate))
    }

    /// The number of successes in `n` trials whose probability is a beta draw.
    pub fn beta_binomial(&mut self, n: i64, a: f64, b: f64) -> Draw<i64> {
        let domain = Domain("beta_binomial_rng");
        domain.nonnegative("Population size parameter", float(n))?;
        domain.positive_finite("First prior sample size parameter", a)?;
        domain.positive_finite("Second prior sample size parameter", b)?;
        let p = self.beta_draw(a, b);
        Ok(self.binomial_draw(n, p))
    }

    /// The number of marked ones among `draws` taken without replacement from `marked` and `unmarked`.
    pub fn hypergeometric(&mut self, draws: i64, marked: i64, unmarked: i64) -> Draw<i64> {
        let domain = Domain("hypergeometric_rng");
        domain.nonnegative("Successes in population parameter", float(marked))?;
        domain.nonnegative("Failures in population parameter", float(unmarked))?;
        let total = float(marked) + float(unmarked);
        let holds = draws >= 0 && float(draws) <= total;
        domain.that(holds, "Draws parameter", float(draws), "between 0 and the size of the population")?;
        domain.that(total <= LARGEST_RATE, "Population size", total, "at most 1e15")?;
        Ok(self.hypergeometric_draw(float(draws), float(marked), float(unmarked)))
    }

    /// Devroye, "A simple generator for discrete log-concave distributions" (1987): with mode m of probability P, the
    /// probability of m + x is at most P min(1, exp(1 − P |x|)). About five trials for any parameters; no set-up but P.
    fn hypergeometric_draw(&mut self, draws: f64, marked: f64, unmarked: f64) -> i64 {
        let total = marked + unmarked;
        let (first, last) = ((draws - unmarked).max(0.0), draws.min(marked));
        if first >= last {
            return integer(first);
        }
        let (p, q) = (draws / total, (total - draws) / total);
        // Up to a constant.
        let log_probability = |k: f64| log_binomial(k, marked, p, q) + log_binomial(draws - k, unmarked, p, q);
        let mode = ((draws + 1.0) * ((marked + 1.0) / (total + 2.0))).floor().clamp(first, last);
        let at_mode = log_probability(mode);
        let peak = f_exp(at_mode - log_binomial(draws, total, p, q));
        let w = 1.0 + 0.5 * peak;
        loop {
            let flat = self.uniform() * (1.0 + w) <= w;
            let height = if flat { self.uniform() * w } else { w + self.standard_exponential() };
            let distance = (height / peak).round();
            let x = if self.next_u32() & 1 == 0 { distance } else { -distance };
            let k = mode + x;
            let v = self.uniform();
            if k >= first && k <= last && f_log(v) + (w - height).min(0.0) <= log_probability(k) - at_mode {
                return integer(k);
            }
        }
    }
}

/// The constants of transformed rejection, in Hörmann's letters where he has some: `v_r` is `inside`, α or 1/α is
/// `scale`.
struct Hat {
    a: f64,
    b: f64,
    center: f64,
    inside: f64,
    scale: f64,
    last: f64,
}

#[cfg(test)]
#[path = "discrete_tests.rs"]
mod tests;
