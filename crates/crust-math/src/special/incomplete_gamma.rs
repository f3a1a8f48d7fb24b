//! The regularised incomplete gamma functions.

/// P(a, x) = ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt / Γ(a)
pub fn gamma_p(a: f64, x: f64) -> f64 {
    pxfm::f_gamma_p(a, x)
}

/// Q(a, x) = 1 − P(a, x)
pub fn gamma_q(a: f64, x: f64) -> f64 {
    pxfm::f_gamma_q(a, x)
}
