//! Logarithms and exponentials composed so that nothing overflows or cancels.

use crate::density::Partials;
use std::f64::consts::LN_2;

/// log(1 + exp(x)) without overflow. Its derivative is [`inv_logit`].
#[inline]
pub fn log1p_exp(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// 1 / (1 + exp(−x))
#[inline]
pub fn inv_logit(x: f64) -> f64 {
    if x < 0.0 {
        let e = x.exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}

/// The derivative of [`inv_logit`], accurate in both tails: p (1 − p).
#[inline]
pub fn inv_logit_derivative(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    e / ((1.0 + e) * (1.0 + e))
}

/// log(x / (1 − x)). Its derivative is 1 / (x (1 − x)).
#[inline]
pub fn logit(x: f64) -> f64 {
    // near 1/2 the quotient is near 1 and its logarithm would keep few digits
    if (0.25..=0.75).contains(&x) { ((2.0 * x - 1.0) / (1.0 - x)).ln_1p() } else { x.ln() - (-x).ln_1p() }
}

/// log(1 / (1 + exp(−x))). Its derivative is `inv_logit(-x)`.
#[inline]
pub fn log_inv_logit(x: f64) -> f64 {
    -log1p_exp(-x)
}

/// log(1 − 1 / (1 + exp(−x))). Its derivative is `-inv_logit(x)`.
#[inline]
pub fn log1m_inv_logit(x: f64) -> f64 {
    -log1p_exp(x)
}

/// 1 − exp(−exp(x)), the inverse of the complementary log-log link.
#[inline]
pub fn inv_cloglog(x: f64) -> f64 {
    -(-x.exp()).exp_m1()
}

/// The derivative of [`inv_cloglog`].
#[inline]
pub fn inv_cloglog_derivative(x: f64) -> f64 {
    (x - x.exp()).exp()
}

/// log(1 − x)
#[inline]
pub fn log1m(x: f64) -> f64 {
    (-x).ln_1p()
}

/// log(1 − exp(x)) for x ≤ 0. The change of formula at −log 2 is that of Mächler (2012), "Accurately computing
/// log(1 − exp(−|a|))".
#[inline]
pub fn log1m_exp(x: f64) -> f64 {
    if x > -LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// The derivative of [`log1m_exp`]: −exp(x) / (1 − exp(x)).
#[inline]
pub fn log1m_exp_derivative(x: f64) -> f64 {
    -1.0 / (-x).exp_m1()
}

/// log(exp(x) − exp(y)) for x ≥ y.
#[inline]
#[expect(clippy::float_cmp, reason = "equal infinities cannot be subtracted")]
pub fn log_diff_exp(x: f64, y: f64) -> f64 {
    if x == f64::INFINITY {
        if y == f64::INFINITY { f64::NAN } else { x }
    } else if x == y {
        f64::NEG_INFINITY
    } else {
        x + log1m_exp(y - x)
    }
}

/// [`log_diff_exp`] with its partials.
pub fn log_diff_exp_partials(x: f64, y: f64) -> Partials<2> {
    Partials { value: log_diff_exp(x, y), d: [-1.0 / (y - x).exp_m1(), -1.0 / (x - y).exp_m1()] }
}

/// log(exp(x) + exp(y))
#[inline]
pub fn log_sum_exp(x: f64, y: f64) -> f64 {
    let (low, high) = if x < y { (x, y) } else { (y, x) };
    if low == f64::NEG_INFINITY || high == f64::INFINITY && !low.is_nan() {
        return high;
    }
    high + (low - high).exp().ln_1p()
}

/// [`log_sum_exp`] with its partials, the weights of the two terms.
pub fn log_sum_exp_partials(x: f64, y: f64) -> Partials<2> {
    Partials { value: log_sum_exp(x, y), d: [inv_logit(x - y), inv_logit(y - x)] }
}

/// log Σ exp(xᵢ), which is −∞ for no terms.
pub fn log_sum_exp_slice(terms: &[f64]) -> f64 {
    let (mut high, mut at) = (f64::NEG_INFINITY, 0);
    for (i, &x) in terms.iter().enumerate() {
        if x.is_nan() {
            return f64::NAN;
        }
        if x > high {
            (high, at) = (x, i);
        }
    }
    if high.is_infinite() {
        return high;
    }
    let others: f64 = terms.iter().enumerate().filter(|&(i, _)| i != at).map(|(_, x)| (x - high).exp()).sum();
    high + others.ln_1p()
}

/// log of the mean of exp(xᵢ): −∞ of nothing but −∞, and of nothing.
pub fn log_mean_exp(terms: &[f64]) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]
    let n = terms.len() as f64;
    let sum = log_sum_exp_slice(terms);
    if sum.is_infinite() { sum } else { sum - n.ln() }
}

/// log(`inv_logit`(x) − `inv_logit`(y)) for x ≥ y.
#[inline]
pub fn log_inv_logit_diff(x: f64, y: f64) -> f64 {
    // the difference is (e^x − e^y) / ((1 + e^x) (1 + e^y)); multiplied through by e^-x
    if x == f64::INFINITY { -log1p_exp(y) } else { log1m_exp(y - x) - log1p_exp(-x) - log1p_exp(y) }
}

/// [`log_inv_logit_diff`] with its partials p′(x) / (p(x) − p(y)) and −p′(y) / (p(x) − p(y)), p being [`inv_logit`],
/// in which the numbers near 1 have been cancelled by hand.
pub fn log_inv_logit_diff_partials(x: f64, y: f64) -> Partials<2> {
    let gap = (y - x).exp_m1();
    let (dx, dy) = if x > 0.0 {
        let e = (-x).exp();
        (-(e + (y - x).exp()) / ((1.0 + e) * gap), inv_logit(y) * (1.0 + e) / gap)
    } else {
        let (ex, ey) = (1.0 + x.exp(), 1.0 + y.exp());
        (-ey / (ex * gap), -ex / (ey * (x - y).exp_m1()))
    };
    Partials { value: log_inv_logit_diff(x, y), d: [dx, dy] }
}

/// x log(y), which is 0 where x is 0.
#[inline]
pub fn lmultiply(x: f64, y: f64) -> f64 {
    if x == 0.0 && !y.is_nan() { 0.0 } else { x * y.ln() }
}

/// [`lmultiply`] with its partials. At x = y = 0 the derivative for y is ∞, as in Stan.
pub fn lmultiply_partials(x: f64, y: f64) -> Partials<2> {
    let dy = if x == 0.0 && y == 0.0 { f64::INFINITY } else { x / y };
    Partials { value: lmultiply(x, y), d: [y.ln(), dy] }
}

/// log(θ exp(x) + (1 − θ) exp(y))
pub fn log_mix(theta: f64, x: f64, y: f64) -> f64 {
    log_mix_partials(theta, x, y).value
}

/// [`log_mix`] with its partials.
pub fn log_mix_partials(theta: f64, x: f64, y: f64) -> Partials<3> {
    let (first, second) = (theta.ln() + x, log1m(theta) + y);
    let value = log_sum_exp(first, second);
    let d_theta = (x - value).exp() - (y - value).exp();
    Partials { value, d: [d_theta, inv_logit(first - second), inv_logit(second - first)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::check;

    const TABLE: &str = include_str!("reference/other.txt");

    fn row<const N: usize, const M: usize>(p: Partials<N>) -> [f64; M] {
        std::array::from_fn(|i| if i == 0 { p.value } else { p.d[i - 1] })
    }

    #[test]
    fn of_one_argument() {
        check(TABLE, "log1p_exp", [1e-15, 1e-15], |a| [log1p_exp(a[0]), inv_logit(a[0])]);
        check(TABLE, "inv_logit", [1e-15, 1e-15], |a| [inv_logit(a[0]), inv_logit_derivative(a[0])]);
        check(TABLE, "inv_cloglog", [1e-15, 1e-14], |a| [inv_cloglog(a[0]), inv_cloglog_derivative(a[0])]);
        check(TABLE, "log1m_exp", [1e-15, 1e-15], |a| [log1m_exp(a[0]), log1m_exp_derivative(a[0])]);
        check(TABLE, "logit", [1e-15, 0.0], |a| [logit(a[0])]);
    }

    #[test]
    fn of_several_arguments() {
        // log(eˣ − eʸ) for x near y: the rounding of x − y is not ours
        check(TABLE, "log_diff_exp", [1e-14, 1e-14], |a| row::<2, 3>(log_diff_exp_partials(a[0], a[1])));
        check(TABLE, "log_sum_exp", [1e-14, 1e-14], |a| row::<2, 3>(log_sum_exp_partials(a[0], a[1])));
        check(TABLE, "log_mix", [1e-13, 1e-12], |a| row::<3, 4>(log_mix_partials(a[0], a[1], a[2])));
        check(TABLE, "log_inv_logit_diff", [1e-14, 1e-12], |a| row::<2, 3>(log_inv_logit_diff_partials(a[0], a[1])));
    }

    #[test]
    fn slices() {
        assert!(log_sum_exp_slice(&[]) < f64::MIN);
        assert!(log_sum_exp_slice(&[f64::NEG_INFINITY; 3]) < f64::MIN);
        assert!(log_sum_exp_slice(&[0.0, f64::INFINITY]) > f64::MAX);
        assert!(log_sum_exp_slice(&[0.0, f64::NAN]).is_nan() && log_sum_exp(f64::NAN, f64::INFINITY).is_nan());
        assert!((log_sum_exp_slice(&[1000.0, 1000.0, 999.0]) - (1000.0 + (2.0 + (-1.0_f64).exp()).ln())).abs() < 1e-12);
        assert!((log_sum_exp_slice(&[3.0, -1.0]) - log_sum_exp(-1.0, 3.0)).abs() < 1e-15);
    }

    #[test]
    fn edges() {
        assert!(log1m_exp(0.0) < f64::MIN && log1m_exp(0.1).is_nan() && log1m(1.0) < f64::MIN);
        assert!(log_diff_exp(2.0, 2.0) < f64::MIN && log_diff_exp(1.0, 2.0).is_nan());
        assert!((log_diff_exp(2.0, f64::NEG_INFINITY) - 2.0).abs() < 1e-15);
        assert!(log_sum_exp(f64::NEG_INFINITY, f64::NEG_INFINITY) < f64::MIN);
        assert!(log_sum_exp(f64::INFINITY, f64::INFINITY) > f64::MAX);
        assert!(lmultiply(0.0, 0.0).abs() < 1e-300 && lmultiply(0.0, f64::NAN).is_nan());
        assert!(logit(0.0) < f64::MIN && logit(1.0) > f64::MAX && logit(1.5).is_nan());
        assert!((log_inv_logit_diff(f64::INFINITY, 0.0) + LN_2).abs() < 1e-15);
        assert!((log_mix(1.0, 2.0, 5.0) - 2.0).abs() < 1e-15 && (log_mix(0.0, 2.0, 5.0) - 5.0).abs() < 1e-15);
        for f in [log1p_exp, inv_logit, log1m_exp, logit, log_inv_logit, inv_cloglog] {
            assert!(f(f64::NAN).is_nan());
        }
    }
}
