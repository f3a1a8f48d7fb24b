//! Stan's other generators of single numbers: known distributions with their parameters on another scale.

use pxfm::{f_exp, f_expm1, f_log1p};

use super::numeric::integer;
use super::{Draw, Stream};
use crate::density::Domain;

/// 1/(1 + e⁻ˣ)
fn inverse_logit(x: f64) -> f64 {
    1.0 / (1.0 + f_exp(-x))
}

impl Stream {
    /// True with the probability whose log odds are given.
    pub fn bernoulli_logit(&mut self, log_odds: f64) -> Draw<bool> {
        Domain("bernoulli_logit_rng").finite("Logit transformed probability parameter", log_odds)?;
        self.bernoulli(inverse_logit(log_odds))
    }

    /// [`Self::binomial`] by log odds.
    pub fn binomial_logit(&mut self, n: i64, log_odds: f64) -> Draw<i64> {
        Domain("binomial_logit_rng").finite("Probability parameter", log_odds)?;
        self.binomial(n, inverse_logit(log_odds))
    }

    /// [`Self::poisson`] by the logarithm of its rate.
    pub fn poisson_log(&mut self, log_rate: f64) -> Draw<i64> {
        Domain("poisson_log_rng").finite("Log rate parameter", log_rate)?;
        self.poisson(f_exp(log_rate))
    }

    /// [`Self::neg_binomial_2`] by the logarithm of its mean.
    pub fn neg_binomial_2_log(&mut self, log_mean: f64, precision: f64) -> Draw<i64> {
        Domain("neg_binomial_2_log_rng").finite("Log-location parameter", log_mean)?;
        self.neg_binomial_2(f_exp(log_mean), precision)
    }

    /// A negative binomial draw whose probability of success is a beta draw.
    pub fn beta_neg_binomial(&mut self, successes: f64, a: f64, b: f64) -> Draw<i64> {
        let domain = Domain("beta_neg_binomial_rng");
        domain.positive_finite("Number of successes parameter", successes)?;
        domain.positive_finite("Prior success parameter", a)?;
        domain.positive_finite("Prior failure parameter", b)?;
        // the odds of a beta draw are a ratio of gamma draws: no 1 − p
        let odds = f_exp(self.standard_log_gamma(a) - self.standard_log_gamma(b));
        self.neg_binomial(successes, odds)
    }

    /// One more than the failures before a success whose probability is e⁻ʷ with w exponential. (A draw beyond the
    /// integers is the largest integer.)
    pub fn yule_simon(&mut self, shape: f64) -> Draw<i64> {
        Domain("yule_simon_rng").positive_finite("Shape parameter", shape)?;
        let log_p = -self.standard_exponential() / shape;
        // P(failures ≥ k) = (1 − p)ᵏ
        let failures = self.standard_exponential() / -log1m_exp(log_p);
        Ok(integer(failures).saturating_add(1))
    }

    /// [`Self::beta`] by its mean and the sum of its parameters.
    pub fn beta_proportion(&mut self, mean: f64, precision: f64) -> Draw<f64> {
        let domain = Domain("beta_proportion_rng");
        domain.that(mean > 0.0 && mean < 1.0, "Location parameter", mean, "between 0 and 1")?;
        domain.positive_finite("Precision parameter", precision)?;
        self.beta(mean * precision, precision - mean * precision)
    }

    /// e to the power of a logistic draw.
    pub fn loglogistic(&mut self, scale: f64, shape: f64) -> Draw<f64> {
        let domain = Domain("loglogistic_rng");
        domain.positive_finite("Scale parameter", scale)?;
        domain.positive_finite("Shape parameter", shape)?;
        Ok(scale * f_exp(self.logistic(0.0, 1.0)? / shape))
    }

    /// The Laplace distribution with the probability `skewness` below the location.
    pub fn skew_double_exponential(&mut self, location: f64, scale: f64, skewness: f64) -> Draw<f64> {
        let domain = Domain("skew_double_exponential_rng");
        domain.finite("Location parameter", location)?;
        domain.positive_finite("Scale parameter", scale)?;
        domain.bounded("Skewness parameter", skewness, 0.0, 1.0, "in the interval [0, 1]")?;
        let below = self.bernoulli(skewness)?;
        let step = 0.5 * scale * self.standard_exponential();
        Ok(if below { location - step / (1.0 - skewness) } else { location + step / skewness })
    }

    /// Lomax: (1 + (y − location)/scale)^−shape is the probability beyond y.
    pub fn pareto_type_2(&mut self, location: f64, scale: f64, shape: f64) -> Draw<f64> {
        let domain = Domain("pareto_type_2_rng");
        domain.finite("Location parameter", location)?;
        domain.positive_finite("Scale parameter", scale)?;
        domain.positive_finite("Shape parameter", shape)?;
        Ok(location + scale * f_expm1(self.standard_exponential() / shape))
    }
}

/// log(1 − eˣ) for x < 0
fn log1m_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { pxfm::f_log(-f_expm1(x)) } else { f_log1p(-f_exp(x)) }
}

#[cfg(test)]
mod tests {
    use super::super::check::{Probabilities, Sample, stream};
    use super::super::numeric::float;
    use super::*;
    use crate::special::{inc_beta, lbeta};

    const N: usize = 40_000;

    #[test]
    fn continuous_draws_follow_their_distribution_functions() {
        let mut s = stream(51);
        Sample::draw(N, &mut s, |s| s.loglogistic(2.0, 3.0).unwrap())
            .follows("loglogistic", |y| 1.0 / (1.0 + (y / 2.0).powi(-3)));
        Sample::draw(N, &mut s, |s| s.pareto_type_2(-1.0, 2.0, 1.5).unwrap())
            .follows("pareto_type_2", |y| 1.0 - (1.5 + 0.5 * y).powf(-1.5));
        Sample::draw(N, &mut s, |s| s.beta_proportion(0.3, 5.0).unwrap())
            .follows("beta_proportion", |y| inc_beta(1.5, 3.5, y));
        Sample::draw(N, &mut s, |s| s.skew_double_exponential(1.0, 0.8, 0.3).unwrap()).follows("skew", |y| {
            let z = 2.0 * (y - 1.0) / 0.8;
            if z < 0.0 { 0.3 * (0.7 * z).exp() } else { 1.0 - 0.7 * (-0.3 * z).exp() }
        });
    }

    fn counts(seed: u64, mut draw: impl FnMut(&mut Stream) -> i64) -> Vec<i64> {
        let mut s = stream(seed);
        (0..N).map(|_| draw(&mut s)).collect()
    }

    #[test]
    fn counts_have_their_probabilities() {
        Probabilities { first: 0, p: vec![inverse_logit(0.7), inverse_logit(-0.7)] }
            .describe("bernoulli_logit", &counts(52, |s| i64::from(!s.bernoulli_logit(0.7).unwrap())));
        let odds = 0.4_f64.exp();
        Probabilities::from_ratios(0, 5, 9, |k| odds * float(9 - k) / float(k + 1))
            .describe("binomial_logit", &counts(53, |s| s.binomial_logit(9, 0.4).unwrap()));
        Probabilities::from_ratios(0, 4, 60, |k| 1.5_f64.exp() / float(k + 1))
            .describe("poisson_log", &counts(54, |s| s.poisson_log(1.5).unwrap()));
        let mean = 0.8_f64.exp();
        Probabilities::from_ratios(0, 2, 400, |k| (float(k) + 3.0) / float(k + 1) * mean / (mean + 3.0))
            .describe("neg_binomial_2_log", &counts(55, |s| s.neg_binomial_2_log(0.8, 3.0).unwrap()));
    }

    /// Heavy tails: the last cell holds everything from 60 on.
    #[test]
    fn heavy_tails_have_their_probabilities() {
        let describe = |name: &str, first: i64, p: &dyn Fn(f64) -> f64, draws: Vec<i64>| {
            let mut cells: Vec<f64> = (first..60).map(|k| p(float(k))).collect();
            cells.push(1.0 - cells.iter().sum::<f64>());
            let draws: Vec<i64> = draws.into_iter().map(|k| k.min(60)).collect();
            Probabilities { first, p: cells }.describe(name, &draws);
        };
        let (r, a, b) = (2.5, 3.0, 1.7);
        let p = |k: f64| {
            let log = crate::special::lgamma(k + r) - crate::special::lgamma(r) - crate::special::lgamma(k + 1.0);
            (log + lbeta(a + r, b + k) - lbeta(a, b)).exp()
        };
        describe("beta_neg_binomial", 0, &p, counts(56, |s| s.beta_neg_binomial(r, a, b).unwrap()));
        let p = |k: f64| 1.5 * lbeta(k, 2.5).exp();
        describe("yule_simon", 1, &p, counts(57, |s| s.yule_simon(1.5).unwrap()));
    }

    #[test]
    fn impossible_parameters_are_errors() {
        let mut s = stream(58);
        assert!(s.bernoulli_logit(f64::NAN).is_err());
        assert!(s.poisson_log(f64::INFINITY).is_err() && s.poisson_log(60.0).is_err());
        assert!(s.beta_proportion(1.0, 2.0).is_err());
        assert!(s.skew_double_exponential(0.0, 1.0, 1.5).is_err());
        assert!(s.yule_simon(0.0).is_err());
        assert!(s.pareto_type_2(0.0, -1.0, 1.0).is_err());
    }
}
