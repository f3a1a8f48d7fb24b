//! Special functions.
//!
//! Thin names for what [`pxfm`] has to within an ulp, and our own for the rest. Each is Stan's function of that name.

/// log |Γ(x)|
#[inline]
pub fn lgamma(x: f64) -> f64 {
    pxfm::f_lgamma(x)
}

/// The derivative of [`lgamma`].
#[inline]
pub fn digamma(x: f64) -> f64 {
    pxfm::f_digamma(x)
}

#[inline]
pub fn erf(x: f64) -> f64 {
    pxfm::f_erf(x)
}

/// 1 − erf(x), accurate in the right tail.
#[inline]
pub fn erfc(x: f64) -> f64 {
    pxfm::f_erfc(x)
}

/// log(1 + exp(x)) without overflow.
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

/// log(1 − exp(x)) for x ≤ 0.
#[inline]
pub fn log1m_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// x log(y), which is 0 where x is 0.
#[inline]
pub fn lmultiply(x: f64, y: f64) -> f64 {
    if x == 0.0 && !y.is_nan() { 0.0 } else { x * y.ln() }
}

/// log Γ(a) + log Γ(b) − log Γ(a + b)
#[inline]
pub fn lbeta(a: f64, b: f64) -> f64 {
    lgamma(a) + lgamma(b) - lgamma(a + b)
}
