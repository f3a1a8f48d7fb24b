//! The gamma and beta distributions in units of their scales: both tails from the incomplete gamma and beta functions.

use super::tails::Tails;
use crate::density::Partials;
use crate::special::{log_gamma_p_partials, log_gamma_q_partials, log_inc_beta_xy_partials};

/// The gamma distribution with shape a and unit rate at x: F = P(a, x), with slopes for x and a.
pub(super) fn gamma_tails(a: f64, x: f64) -> Tails<2> {
    if x == 0.0 {
        return Tails::lowest();
    }
    if x == f64::INFINITY {
        return Tails::highest();
    }
    let tails = from_sides(log_gamma_p_partials(a, x), log_gamma_q_partials(a, x), 1);
    let [d_a, d_x] = tails.slope;
    tails.with_slope([d_x, d_a])
}

/// The beta distribution at x, given also 1 − x: F = `I_x(a, b)`, with slopes for x, a and b.
pub(super) fn beta_tails(a: f64, b: f64, x: f64, x_complement: f64) -> Tails<3> {
    if x == 0.0 {
        return Tails::lowest();
    }
    if x_complement == 0.0 {
        return Tails::highest();
    }
    let lower = log_inc_beta_xy_partials(a, b, x, x_complement);
    // 1 − I_x(a, b) = I_{1−x}(b, a)
    let mirrored = log_inc_beta_xy_partials(b, a, x_complement, x);
    let [d_b, d_a, d_complement] = mirrored.d;
    let upper = Partials { value: mirrored.value, d: [d_a, d_b, -d_complement] };
    let tails = from_sides(lower, upper, 2);
    let [d_a, d_b, d_x] = tails.slope;
    tails.with_slope([d_x, d_a, d_b])
}

/// From log F and log(1 − F), where argument number `variate` is x itself. The slopes come from the smaller side, where
/// nothing cancels: ∂F/∂θ / f is the same on both.
fn from_sides<const N: usize>(lower: Partials<N>, upper: Partials<N>, variate: usize) -> Tails<N> {
    let side = if lower.value < upper.value { lower } else { upper };
    let rate = side.d[variate];
    let slope = side.d.map(|d| if d == 0.0 { 0.0 } else { d / rate });
    Tails {
        lower: lower.value,
        upper: upper.value,
        density: side.value.exp() * rate.abs(),
        lower_rate: lower.d[variate],
        upper_rate: -upper.d[variate],
        slope,
    }
}
