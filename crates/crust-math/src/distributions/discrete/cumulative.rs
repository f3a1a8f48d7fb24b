//! Cumulative distribution functions: P(N ≤ n), its logarithm, and that of the complement.

use super::bounded::{beta_binomial_domain, beta_binomial_lpmf, binomial_lpmf, discrete_range_domain};
use super::counts::{
    beta_neg_binomial_domain, beta_neg_binomial_lpmf, neg_binomial_2_domain, neg_binomial_2_lpmf, neg_binomial_domain,
    neg_binomial_lpmf, poisson_lpmf,
};
use super::dual::Dual;
use super::rising::{log_factorial, log_rising, real};
use super::tails::{Tails, beta_fraction, beta_fraction_is_fast, power_law_remainder, sum_from};
use crate::density::{Density, Domain, DomainError, Partials, Terms};

/// Stan takes the largest integer for infinity.
const INFINITE: i64 = i32::MAX as i64;

/// A tail beyond this does not leave enough digits for its complement: then the other one is summed.
const HALF: f64 = -std::f64::consts::LN_2;

/// Terms of a sum that are smaller than this part of it end the sum.
const NEGLIGIBLE: f64 = 1e-20;

macro_rules! cumulative {
    ($tails:ident($($argument:ident: $type:ty),*) -> $k:literal, $cdf:ident, $lcdf:ident, $lccdf:ident) => {
        /// P(N ≤ n)
        pub fn $cdf(n: i64, $($argument: $type),*) -> Density<$k> {
            Ok($tails(Domain(stringify!($cdf)), n, $($argument),*)?.cdf())
        }

        /// log P(N ≤ n)
        pub fn $lcdf(n: i64, $($argument: $type),*) -> Density<$k> {
            Ok($tails(Domain(stringify!($lcdf)), n, $($argument),*)?.lower)
        }

        /// log P(N > n)
        pub fn $lccdf(n: i64, $($argument: $type),*) -> Density<$k> {
            Ok($tails(Domain(stringify!($lccdf)), n, $($argument),*)?.upper)
        }
    };
}

cumulative!(bernoulli(theta: f64) -> 2, bernoulli_cdf, bernoulli_lcdf, bernoulli_lccdf);
cumulative!(binomial(trials: i64, theta: f64) -> 3, binomial_cdf, binomial_lcdf, binomial_lccdf);
cumulative!(
    beta_binomial(trials: i64, alpha: f64, beta: f64) -> 4,
    beta_binomial_cdf, beta_binomial_lcdf, beta_binomial_lccdf
);
cumulative!(
    discrete_range(lower: i64, upper: i64) -> 3,
    discrete_range_cdf, discrete_range_lcdf, discrete_range_lccdf
);
cumulative!(poisson(lambda: f64) -> 2, poisson_cdf, poisson_lcdf, poisson_lccdf);
cumulative!(
    neg_binomial(alpha: f64, beta: f64) -> 3,
    neg_binomial_cdf, neg_binomial_lcdf, neg_binomial_lccdf
);
cumulative!(
    neg_binomial_2(mu: f64, phi: f64) -> 3,
    neg_binomial_2_cdf, neg_binomial_2_lcdf, neg_binomial_2_lccdf
);
cumulative!(
    beta_neg_binomial(r: f64, alpha: f64, beta: f64) -> 4,
    beta_neg_binomial_cdf, beta_neg_binomial_lcdf, beta_neg_binomial_lccdf
);
cumulative!(yule_simon(alpha: f64) -> 2, yule_simon_cdf, yule_simon_lcdf, yule_simon_lccdf);

type Both<const K: usize> = Result<Tails<K>, DomainError>;

fn bernoulli(domain: Domain, n: i64, theta: f64) -> Both<2> {
    domain.bounded("Probability parameter", theta, 0.0, 1.0, "in the interval [0, 1]")?;
    Ok(match n {
        ..0 => Tails::none(),
        0 => Tails {
            lower: Partials { value: (-theta).ln_1p(), d: [0.0, -1.0 / (1.0 - theta)] },
            upper: Partials { value: theta.ln(), d: [0.0, 1.0 / theta] },
        },
        1.. => Tails::all(),
    })
}

/// Sums P(N = k) downwards from n or upwards from n + 1; the slope of P(N ≤ n) is −(N − n) P(N = n) / (1 − θ).
fn binomial(domain: Domain, n: i64, trials: i64, theta: f64) -> Both<3> {
    domain.nonnegative("Population size parameter", real(trials))?;
    domain.bounded("Probability parameter", theta, 0.0, 1.0, "in the interval [0, 1]")?;
    if n < 0 {
        return Ok(Tails::none());
    }
    if n >= trials {
        return Ok(Tails::all());
    }
    let (mut k, all) = (real(n), real(trials));
    let (rest, odds) = (all - k, theta / (1.0 - theta));
    if theta <= 0.0 {
        let slope = if n == 0 { -rest } else { 0.0 };
        let lower = Partials { value: 0.0, d: [0.0, 0.0, slope] };
        return Ok(Tails { lower, ..Tails::all() });
    }
    if theta >= 1.0 {
        return Ok(Tails::none());
    }
    let (mut weight, mut sum) = (1.0, 1.0);
    if k < all * theta {
        while k > 0.0 && weight > NEGLIGIBLE * sum {
            weight *= k / ((all - k + 1.0) * odds);
            sum += weight;
            k -= 1.0;
        }
        let here = binomial_lpmf(n, trials, theta, Terms::ALL)?.value;
        let slope = -rest / (1.0 - theta) / sum;
        return Ok(Tails::from_lower(Partials { value: here + sum.ln(), d: [0.0, 0.0, slope] }));
    }
    k += 1.0;
    while k < all && weight > NEGLIGIBLE * sum {
        weight *= (all - k) / (k + 1.0) * odds;
        sum += weight;
        k += 1.0;
    }
    let next = binomial_lpmf(n + 1, trials, theta, Terms::ALL)?.value;
    // (N − n) P(N = n) / (1 − θ) = (n + 1) P(N = n + 1) / θ
    let slope = (real(n) + 1.0) / theta / sum;
    Ok(Tails::from_upper(Partials { value: next + sum.ln(), d: [0.0, 0.0, slope] }))
}

fn discrete_range(domain: Domain, y: i64, lower: i64, upper: i64) -> Both<3> {
    discrete_range_domain(domain, lower, upper)?;
    if y < lower {
        return Ok(Tails::none());
    }
    if y >= upper {
        return Ok(Tails::all());
    }
    let size = real(upper - lower + 1);
    Ok(Tails {
        lower: Partials::constant((real(y - lower + 1) / size).ln()),
        upper: Partials::constant((real(upper - y) / size).ln()),
    })
}

/// Sums P(N = k) downwards from n or upwards from n + 1; the slope of P(N ≤ n) is −P(N = n).
fn poisson(domain: Domain, n: i64, lambda: f64) -> Both<2> {
    domain.nonnegative("Rate parameter", lambda)?;
    if n < 0 || lambda.is_infinite() {
        return Ok(Tails::none());
    }
    if lambda == 0.0 {
        let lower = Partials { value: 0.0, d: [0.0, if n == 0 { -1.0 } else { 0.0 }] };
        return Ok(Tails { lower, ..Tails::all() });
    }
    let (mut k, mut weight, mut sum) = (real(n), 1.0, 1.0);
    if k < lambda {
        while k > 0.0 && weight > NEGLIGIBLE * sum {
            weight *= k / lambda;
            sum += weight;
            k -= 1.0;
        }
        let here = poisson_lpmf(n, lambda, Terms::ALL)?.value;
        return Ok(Tails::from_lower(Partials { value: here + sum.ln(), d: [0.0, -1.0 / sum] }));
    }
    k += 1.0;
    while weight > NEGLIGIBLE * sum {
        k += 1.0;
        weight *= lambda / k;
        sum += weight;
    }
    let next = poisson_lpmf(n + 1, lambda, Terms::ALL)?.value;
    // P(N = n) = P(N = n + 1) (n + 1) / λ
    Ok(Tails::from_upper(Partials { value: next + sum.ln(), d: [0.0, (real(n) + 1.0) / lambda / sum] }))
}

/// A negative binomial distribution: shape α, P(N = k + 1) / P(N = k) = q (k + α) / (k + 1), and p = 1 − q.
struct NegativeBinomial<S> {
    alpha: f64,
    p: f64,
    q: f64,
    /// The slopes of α and of q for the two parameters.
    shape_and_odds: [[f64; 2]; 2],
    /// The slopes of log(q (k + α)) for the two parameters, without cancellation.
    log_ratio: S,
}

/// From this shape on the tails are sums: they are short, and the continued fraction would suffer from the rounding of
/// p.
const LARGE_SHAPE: f64 = 100.0;

impl<S: Fn(f64) -> [f64; 2]> NegativeBinomial<S> {
    fn tails(&self, n: i64, lpmf: impl Fn(i64) -> Density<3>) -> Both<3> {
        if n < 0 {
            return Ok(Tails::none());
        }
        if n >= INFINITE {
            return Ok(Tails::all());
        }
        let k = real(n);
        if self.alpha < LARGE_SHAPE {
            return Ok(self.by_fraction(k, lpmf(n + 1)?));
        }
        Ok(if k < self.alpha * self.q / self.p {
            Tails::from_lower(sum_from(lpmf(n)?, self.downwards(k), [1, 2]))
        } else {
            Tails::from_upper(sum_from(lpmf(n + 1)?, self.upwards(k + 1.0), [1, 2]))
        })
    }

    /// P(N > n) = `I_q(n + 1, α)` and P(N ≤ n) = `I_p(α, n + 1)`, relative to the probability of n + 1.
    fn by_fraction(&self, k: f64, next: Partials<3>) -> Tails<3> {
        let shape = Dual::parameter(self.alpha, 0);
        let failures = Dual::constant(k + 1.0);
        let upper = beta_fraction_is_fast(k + 1.0, self.alpha, self.q);
        let fraction = if upper {
            beta_fraction(failures, shape, Dual::parameter(self.q, 1))
        } else {
            beta_fraction(shape, failures, Dual { value: self.p, d: [0.0, -1.0] }) * shape * (1.0 / (k + 1.0))
        };
        let mut tail = next;
        tail.value -= fraction.value.ln();
        for (d, [d_alpha, d_q]) in tail.d[1..].iter_mut().zip(self.shape_and_odds) {
            *d -= (fraction.d[0] * d_alpha + fraction.d[1] * d_q) / fraction.value;
        }
        if upper { Tails::from_upper(tail) } else { Tails::from_lower(tail) }
    }

    /// Σ P(N = j) / P(N = k) over j from k to 0.
    fn downwards(&self, mut k: f64) -> Dual<2> {
        let mut weight = Dual::constant(1.0);
        let mut sum = weight;
        while k > 0.0 && weight.value > NEGLIGIBLE * sum.value {
            k -= 1.0;
            let ratio = (k + 1.0) / ((k + self.alpha) * self.q);
            weight = weight * Dual { value: ratio, d: (self.log_ratio)(k).map(|d| -d * ratio) };
            sum += weight;
        }
        sum
    }

    /// Σ P(N = j) / P(N = k) over j ≥ k.
    fn upwards(&self, mut k: f64) -> Dual<2> {
        let mut weight = Dual::constant(1.0);
        let mut sum = weight;
        while weight.value > NEGLIGIBLE * sum.value * self.p {
            let ratio = self.q * (k + self.alpha) / (k + 1.0);
            weight = weight * Dual { value: ratio, d: (self.log_ratio)(k).map(|d| d * ratio) };
            sum += weight;
            k += 1.0;
        }
        sum
    }
}

fn neg_binomial(domain: Domain, n: i64, alpha: f64, beta: f64) -> Both<3> {
    neg_binomial_domain(domain, alpha, beta)?;
    let (p, q) = (beta / (1.0 + beta), 1.0 / (1.0 + beta));
    let shape_and_odds = [[1.0, 0.0], [0.0, -q * q]];
    let log_ratio = |k: f64| [1.0 / (k + alpha), -q];
    NegativeBinomial { alpha, p, q, shape_and_odds, log_ratio }
        .tails(n, |n| neg_binomial_lpmf(n, alpha, beta, Terms::ALL))
}

fn neg_binomial_2(domain: Domain, n: i64, mu: f64, phi: f64) -> Both<3> {
    neg_binomial_2_domain(domain, mu, phi)?;
    let (p, q) = (1.0 / (1.0 + mu / phi), 1.0 / (1.0 + phi / mu));
    let shape_and_odds = [[0.0, p * q / mu], [1.0, -p * q / phi]];
    let log_ratio = |k: f64| [p / mu, (mu - k) / (k + phi) / (mu + phi)];
    NegativeBinomial { alpha: phi, p, q, shape_and_odds, log_ratio }
        .tails(n, |n| neg_binomial_2_lpmf(n, mu, phi, Terms::ALL))
}

/// Sums probabilities with all slopes, on the side of n away from the mean, or on the other side if that is the
/// smaller.
fn beta_binomial(domain: Domain, n: i64, trials: i64, alpha: f64, beta: f64) -> Both<4> {
    beta_binomial_domain(domain, trials, alpha, beta)?;
    if n < 0 {
        return Ok(Tails::none());
    }
    if n >= trials {
        return Ok(Tails::all());
    }
    let (a, b) = (Dual::parameter(alpha, 0), Dual::parameter(beta, 1));
    // the number of failures has the same distribution with α and β exchanged
    let lower = || -> Density<4> {
        let first = beta_binomial_lpmf(n, trials, alpha, beta, Terms::ALL)?;
        Ok(sum_from(first, beta_binomial_upwards(real(trials - n), real(trials), b, a), [2, 3]))
    };
    let upper = || -> Density<4> {
        let first = beta_binomial_lpmf(n + 1, trials, alpha, beta, Terms::ALL)?;
        Ok(sum_from(first, beta_binomial_upwards(real(n + 1), real(trials), a, b), [2, 3]))
    };
    both_sides(real(n + 1) <= real(trials) * alpha / (alpha + beta), lower, upper)
}

/// Σ P(N = j) / P(N = k) over j from k to `trials`.
fn beta_binomial_upwards(k: f64, trials: f64, alpha: Dual<2>, beta: Dual<2>) -> Dual<2> {
    let one_peak = alpha.value >= 1.0 && beta.value >= 1.0;
    let mut weight = Dual::constant(1.0);
    let mut sum = weight;
    let mut k = k;
    while k < trials {
        let ratio = (alpha + k) / (beta + (trials - k - 1.0)) * ((trials - k) / (k + 1.0));
        weight = weight * ratio;
        sum += weight;
        k += 1.0;
        if one_peak && ratio.value < 1.0 && weight.value < NEGLIGIBLE * sum.value {
            break;
        }
    }
    sum
}

fn both_sides<const K: usize>(
    lower_first: bool,
    lower: impl Fn() -> Density<K>,
    upper: impl Fn() -> Density<K>,
) -> Both<K> {
    let first = if lower_first { lower()? } else { upper()? };
    Ok(match (lower_first, first.value > HALF) {
        (true, false) => Tails::from_lower(first),
        (false, true) => Tails::from_lower(lower()?),
        (true, true) | (false, false) => Tails::from_upper(if lower_first { upper()? } else { first }),
    })
}

fn beta_neg_binomial(domain: Domain, n: i64, r: f64, alpha: f64, beta: f64) -> Both<4> {
    beta_neg_binomial_domain(domain, r, alpha, beta)?;
    if n < 0 {
        return Ok(Tails::none());
    }
    if n >= INFINITE {
        return Ok(Tails::all());
    }
    let k = real(n);
    let parameters = [Dual::parameter(r, 0), Dual::parameter(alpha, 1), Dual::parameter(beta, 2)];
    let lower = || -> Density<4> {
        let first = beta_neg_binomial_lpmf(n, r, alpha, beta, Terms::ALL)?;
        Ok(sum_from(first, beta_neg_binomial_downwards(k, parameters), [1, 2, 3]))
    };
    let upper = || -> Density<4> {
        let first = beta_neg_binomial_lpmf(n + 1, r, alpha, beta, Terms::ALL)?;
        Ok(sum_from(first, beta_neg_binomial_upwards(k + 1.0, parameters), [1, 2, 3]))
    };
    let rising = (k + r) * (k + beta) > (k + 1.0) * (k + r + alpha + beta);
    both_sides(rising, lower, upper)
}

/// Σ P(N = j) / P(N = k) over j from k to 0.
fn beta_neg_binomial_downwards(k: f64, [r, alpha, beta]: [Dual<3>; 3]) -> Dual<3> {
    let s = r + alpha + beta;
    let (mut k, mut weight, mut sum) = (k, Dual::constant(1.0), Dual::constant(1.0));
    while k > 0.0 {
        let ratio = (s + (k - 1.0)) * k / ((r + (k - 1.0)) * (beta + (k - 1.0)));
        weight = weight * ratio;
        sum += weight;
        k -= 1.0;
        if r.value >= 1.0 && beta.value >= 1.0 && ratio.value < 1.0 && weight.value < NEGLIGIBLE * sum.value {
            break;
        }
    }
    sum
}

/// Σ P(N = j) / P(N = k) over all j ≥ k. Terms fall like a power of j: after ten times the scale the rest is a series.
fn beta_neg_binomial_upwards(k: f64, [r, alpha, beta]: [Dual<3>; 3]) -> Dual<3> {
    let s = r + alpha + beta;
    let end = 10.0 * (s.value + 2.0);
    let (mut k, mut weight, mut sum) = (k, Dual::constant(1.0), Dual::constant(0.0));
    while k < end {
        sum += weight;
        weight = weight * ((r + k) * (beta + k) / ((s + k) * (k + 1.0)));
        k += 1.0;
        if weight.value * k < NEGLIGIBLE * alpha.value * sum.value {
            return sum;
        }
    }
    sum + weight * power_law_remainder(k, r, beta, s)
}

/// log P(N > n) = log n! + log Γ(α + 1) − log Γ(n + α + 1)
fn yule_simon(domain: Domain, n: i64, alpha: f64) -> Both<2> {
    domain.positive_finite("Shape parameter", alpha)?;
    if n < 1 {
        return Ok(Tails::none());
    }
    if n >= INFINITE {
        return Ok(Tails::all());
    }
    let k = real(n);
    let rising = log_rising(alpha + 1.0, k);
    let value = if k > alpha {
        log_rising(1.0, alpha).value - log_rising(k + 1.0, alpha).value
    } else {
        log_factorial(k) - rising.value
    };
    Ok(Tails::from_upper(Partials { value, d: [0.0, -rising.d] }))
}
