//! The regularised incomplete beta function.

/// I(x; a, b) = ∫₀ˣ tᵃ⁻¹ (1 − t)ᵇ⁻¹ dt / B(a, b)
pub fn inc_beta(a: f64, b: f64, x: f64) -> f64 {
    pxfm::f_betainc_reg(a, b, x)
}
