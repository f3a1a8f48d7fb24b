//! How wrong means and standard deviations of an approximation q of p can be, at most (Huggins, Kasprzak, Campbell &
//! Broderick 2020).
//!
//! With χ² = `E_q` (p/q − 1)² = exp D₂(p‖q) − 1, where D₂ is Rényi's divergence of order 2, and any centre c:
//!
//! - Wₖ(p, q)ᵏ ≤ 2^(k−1) ∫ |x − c|ᵏ |p − q| dx (Villani 2009, theorem 6.15), and by Cauchy and Schwarz
//!   ∫ |x − c|ᵏ |p/q − 1| q dx ≤ (`E_q` |x − c|²ᵏ)^½ χ. So W₁ ≤ (`E_q` |x − c|²)^½ χ and
//!   W₂ ≤ √2 (`E_q` |x − c|⁴)^¼ √χ.
//! - D₂ of a coordinate is not above that of all, so the same holds for the distributions of one coordinate. Its mean is
//!   off by at most W₁, and its standard deviation by at most W₂.
//! - The second moment itself is `E_p` (x − m)² = s² + `E_q` (p/q − 1) ((x − m)² − s²), off by at most
//!   χ (`E_q` (x − m)⁴ − s⁴)^½ = e. So the variance of p lies between s² − e − s²χ² and s² + e, which is closer for small χ.
//!
//! Of w = p̃/q for the density p̃ as it is known, p = p̃/Z, D₂ = log `E_q` w² − 2 log Z. The first term can only be
//! estimated, and is estimated too low where the tail of w is heavy: it is infinite if k ≥ ½. A lower bound on log Z
//! makes the second one larger.

use crust_math::special::log_sum_exp_slice;
use serde::{Deserialize, Serialize};

/// Above this k-hat D₂ would be infinite if the tail were what it seems to be. (The paper goes on up to 0.7.)
const MOST_K_HAT: f64 = 0.5;
/// Standard errors that are added to estimates, on the safe side.
pub const MARGIN: f64 = 3.0;

/// Moments of an approximation about its mean; infinite where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// E (xᵢ − mᵢ)².
    pub variances: Vec<f64>,
    /// E (xᵢ − mᵢ)⁴.
    pub fourth: Vec<f64>,
    /// E |x − m|⁴.
    pub norm_fourth: f64,
}

/// Upper bounds on errors. They hold if the tail of the importance weights is no heavier than it looks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorBounds {
    /// An upper bound on D₂(p‖q), in nats.
    pub d2: f64,
    /// On the distances W₁ and W₂ between all coordinates together.
    pub wasserstein_1: f64,
    /// `null` where the approximation has no fourth moments.
    pub wasserstein_2: Option<f64>,
    /// On the error of the mean of each coordinate.
    pub mean_at_most: Vec<f64>,
    /// On the error of the standard deviation of each coordinate; `null` where there are no fourth moments.
    pub sd_at_most: Vec<Option<f64>>,
}

/// Of log p̃ − log q at draws of q and a lower bound on log Z. `None` where k-hat is too large, unknown, or where there
/// are no variances.
pub fn error_bounds(
    log_ratios: &[f64],
    k_hat: Option<f64>,
    log_z_lower: f64,
    moments: &Moments,
) -> Option<ErrorBounds> {
    if k_hat.is_none_or(|k| k > MOST_K_HAT) || moments.variances.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let d2 = (log_mean_square(log_ratios) - 2.0 * log_z_lower).max(0.0);
    let chi = d2.exp_m1().sqrt();
    if !chi.is_finite() {
        return None;
    }
    let finite = |x: f64| Some(x).filter(|x| x.is_finite());
    let second_distance = |fourth: f64| std::f64::consts::SQRT_2 * fourth.sqrt().sqrt() * chi.sqrt();
    Some(ErrorBounds {
        d2,
        wasserstein_1: moments.variances.iter().sum::<f64>().sqrt() * chi,
        wasserstein_2: finite(second_distance(moments.norm_fourth)),
        mean_at_most: moments.variances.iter().map(|v| v.sqrt() * chi).collect(),
        sd_at_most: moments
            .variances
            .iter()
            .zip(&moments.fourth)
            .map(|(v, fourth)| finite(second_distance(*fourth).min(of_moments(*v, *fourth, chi))))
            .collect(),
    })
}

/// The bound on a standard deviation from its second moment.
fn of_moments(variance: f64, fourth: f64, chi: f64) -> f64 {
    let e = chi * (fourth - variance * variance).max(0.0).sqrt();
    let (least, most) = ((variance - e - variance * chi * chi).max(0.0).sqrt(), (variance + e).sqrt());
    (variance.sqrt() - least).max(most - variance.sqrt())
}

/// log of the mean of w² with a margin for its Monte Carlo error, as far as the draws show it.
fn log_mean_square(log_ratios: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a number of draws")]
    let n = log_ratios.len() as f64;
    let squares: Vec<f64> = log_ratios.iter().map(|l| 2.0 * l).collect();
    let log_mean = log_sum_exp_slice(&squares) - n.ln();
    let spread: f64 = squares.iter().map(|s| ((s - log_mean).exp() - 1.0).powi(2)).sum::<f64>();
    let relative_error = (spread / (n * (n - 1.0))).sqrt();
    log_mean + (MARGIN * relative_error).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    const DRAWS: usize = 20_000;

    fn moments(sds: &[f64]) -> Moments {
        let variances: Vec<f64> = sds.iter().map(|s| s * s).collect();
        let (sum, squares) = (variances.iter().sum::<f64>(), variances.iter().map(|v| v * v).sum::<f64>());
        let fourth = variances.iter().map(|v| 3.0 * v * v).collect();
        Moments { variances, fourth, norm_fourth: sum * sum + 2.0 * squares }
    }

    /// Bounds of q = N(0, diag sd²) for p = N(mean, diag (sd·ratio)²), with log Z known to be 0.
    fn normals(sds: &[f64], shift: f64, ratio: f64) -> ErrorBounds {
        let mut stream = StreamKey::new(3, Purpose::TEST).stream();
        let mut log_ratio = || {
            let of = |z: f64| 0.5 * z * z - 0.5 * ((z - shift) / ratio).powi(2) - ratio.ln();
            sds.iter().map(|_| of(stream.standard_normal())).sum::<f64>()
        };
        let log_ratios: Vec<f64> = (0..DRAWS).map(|_| log_ratio()).collect();
        error_bounds(&log_ratios, Some(0.2), 0.0, &moments(sds)).expect("bounds")
    }

    /// Between N(0, 1) and N(δ, r²) D₂ = δ²/(2 − r²) − log (r √(2 − r²)), W₂² = δ² + (1 − r)²: everything is known. Bounds
    /// hold, and are at most a few times the truth; for small shifts that of the mean is the shift itself.
    #[test]
    fn bounds_of_normals_hold_and_have_the_right_order() {
        for (shift, ratio) in [(0.05, 1.0), (0.3, 1.0), (0.8, 1.0), (0.0, 0.9), (0.0, 1.1), (0.2, 0.8), (0.5, 1.1)] {
            let sds = [2.0, 0.1];
            let found = normals(&sds, shift, ratio);
            let one = shift * shift / (2.0 - ratio * ratio) - (ratio * (2.0 - ratio * ratio).sqrt()).ln();
            let d2 = 2.0 * one;
            assert!(found.d2 >= d2 && found.d2 < 1.5 * d2 + 0.01, "{shift} {ratio}: {} for {d2}", found.d2);
            let truth = (shift * shift + (1.0 - ratio).powi(2)).sqrt() * (4.0_f64 + 0.01).sqrt();
            let w2 = found.wasserstein_2.expect("a distance");
            assert!(w2 >= truth && found.wasserstein_1 >= shift * 4.01_f64.sqrt(), "{shift} {ratio}: {w2} for {truth}");
            assert!(w2 < 5.0 * truth.sqrt() * 2.0, "{shift} {ratio}: {w2} for {truth}");
            for ((mean, sd), scale) in found.mean_at_most.iter().zip(&found.sd_at_most).zip(sds) {
                let (mean, sd) = (mean / scale, sd.expect("an sd") / scale);
                assert!(mean >= shift && sd >= (ratio - 1.0).abs(), "{shift} {ratio}: {mean} {sd}");
                assert!(shift == 0.0 || ratio < 1.0 || mean < 3.0 * shift.exp() * shift, "{shift} {ratio}: {mean}");
                assert!(sd < 8.0 * (shift + (ratio - 1.0).abs()), "{shift} {ratio}: {sd}");
            }
        }
    }

    #[test]
    fn heavy_tails_have_no_bounds() {
        let q = moments(&[1.0]);
        let ratios = [0.1, -0.1, 0.3, 0.0];
        assert!(error_bounds(&ratios, Some(0.49), 0.0, &q).is_some());
        assert!(error_bounds(&ratios, Some(0.51), 0.0, &q).is_none());
        assert!(error_bounds(&ratios, None, 0.0, &q).is_none());
        let none = Moments { variances: vec![f64::INFINITY], ..q.clone() };
        assert!(error_bounds(&ratios, Some(0.1), 0.0, &none).is_none());
        // Three degrees of freedom: variances but no fourth moments.
        let heavy = Moments { fourth: vec![f64::INFINITY], norm_fourth: f64::INFINITY, ..q };
        let found = error_bounds(&ratios, Some(0.1), 0.0, &heavy).expect("bounds");
        assert_eq!((found.wasserstein_2, &found.sd_at_most[..]), (None, &[None][..]));
        assert!(found.mean_at_most[0] > 0.0);
    }
}
