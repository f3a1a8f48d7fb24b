//! The kernels for one lane. They are branch-free and always inlined: a loop over lanes that calls them inside of a
//! [`Kernel`](super::Kernel) is vectorised by the compiler together with everything else that the loop does.

pub use super::exponential::{exp, expm1, inv_logit, tanh};
pub use super::gamma::{digamma, lgamma, rising_product};
pub use super::logarithm::{
    exponent_and_mantissa, log, log_add_exp_with_slopes, log_inv_logit, log_scaled, log1m_exp_with_slope, log1p,
    log1p_exp, log1p_exp_with_slope,
};
pub use super::normal::{erf, erfc, log_phi_with_rate, phi, phi_factors};
pub use super::power::{pow, pow_with_log};
pub use super::quantile::inv_phi;
pub use super::trigonometric::{TRIGONOMETRIC_LIMIT, cos, sin};

/// The square root.
#[inline(always)]
pub fn sqrt(x: f64) -> f64 {
    x.sqrt()
}

/// 1 / √x.
#[inline(always)]
pub fn inv_sqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// x².
#[inline(always)]
pub fn square(x: f64) -> f64 {
    x * x
}
