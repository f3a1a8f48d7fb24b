//! Correlations as functions of a squared distance, with their logarithmic derivatives.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crate::lanes::scalar;
use std::f64::consts::{PI, TAU};

/// The correlation k as a function of s, and of a further parameter if there is one. All of it must be
/// `#[inline(always)]`.
pub(super) trait Radial: Sync {
    const NAME: &'static str;
    /// Names of σ, of ρ, and of the further parameter, which comes between them.
    const PARAMETERS: (&'static str, &'static str, Option<&'static str>) = ("magnitude", "length scale", None);
    /// Whether the parameters must be finite, too.
    const FINITE: bool = true;

    fn correlation(s: f64, shape: f64) -> f64;
    /// d log k / ds; any finite number at s = 0, where the points are the same and s does not change with them.
    fn slope(s: f64, shape: f64) -> f64;
    /// d log k / d shape
    #[inline(always)]
    fn shape_slope(_s: f64, _shape: f64) -> f64 {
        0.0
    }
}

/// k = exp(−s / 2)
pub(super) struct ExpQuad;

impl Radial for ExpQuad {
    const NAME: &'static str = "gp_exp_quad_cov";
    const FINITE: bool = false;

    #[inline(always)]
    fn correlation(s: f64, _: f64) -> f64 {
        scalar::exp(-0.5 * s)
    }

    #[inline(always)]
    fn slope(_: f64, _: f64) -> f64 {
        -0.5
    }
}

/// [`ExpQuad`] under the name that it had before.
pub(super) struct RetiredExpQuad;

impl Radial for RetiredExpQuad {
    const NAME: &'static str = "cov_exp_quad";
    const FINITE: bool = false;

    #[inline(always)]
    fn correlation(s: f64, shape: f64) -> f64 {
        ExpQuad::correlation(s, shape)
    }

    #[inline(always)]
    fn slope(s: f64, shape: f64) -> f64 {
        ExpQuad::slope(s, shape)
    }
}

/// k = exp(−√s)
pub(super) struct Exponential;

impl Radial for Exponential {
    const NAME: &'static str = "gp_exponential_cov";

    #[inline(always)]
    fn correlation(s: f64, _: f64) -> f64 {
        scalar::exp(-s.sqrt())
    }

    #[inline(always)]
    fn slope(s: f64, _: f64) -> f64 {
        if s == 0.0 { 0.0 } else { -0.5 / s.sqrt() }
    }
}

/// k = (1 + r) exp(−r) with r = √(3s), and dk/ds = −3/2 exp(−r).
pub(super) struct Matern32;

impl Radial for Matern32 {
    const NAME: &'static str = "gp_matern32_cov";

    #[inline(always)]
    fn correlation(s: f64, _: f64) -> f64 {
        let r = (3.0 * s).sqrt();
        (1.0 + r) * scalar::exp(-r)
    }

    #[inline(always)]
    fn slope(s: f64, _: f64) -> f64 {
        -1.5 / (1.0 + (3.0 * s).sqrt())
    }
}

/// k = (1 + r + r²/3) exp(−r) with r = √(5s), and dk/ds = −5/6 (1 + r) exp(−r).
pub(super) struct Matern52;

impl Radial for Matern52 {
    const NAME: &'static str = "gp_matern52_cov";

    #[inline(always)]
    fn correlation(s: f64, _: f64) -> f64 {
        let r = (5.0 * s).sqrt();
        (1.0 + r + 5.0 / 3.0 * s) * scalar::exp(-r)
    }

    #[inline(always)]
    fn slope(s: f64, _: f64) -> f64 {
        let r = (5.0 * s).sqrt();
        -5.0 / 6.0 * (1.0 + r) / (1.0 + r + 5.0 / 3.0 * s)
    }
}

/// k = exp(−2 sin²(πu) / ℓ²) with u = √s: the distance in periods.
pub(super) struct Periodic;

/// u reduced to a part of a period, which sin²(πu) and sin(2πu) do not see.
#[inline(always)]
fn phase(u: f64) -> f64 {
    u - u.round_ties_even()
}

impl Radial for Periodic {
    const NAME: &'static str = "gp_periodic_cov";
    const PARAMETERS: (&'static str, &'static str, Option<&'static str>) =
        ("signal standard deviation", "period", Some("length-scale"));
    const FINITE: bool = false;

    #[inline(always)]
    fn correlation(s: f64, shape: f64) -> f64 {
        let sine = scalar::sin(PI * phase(s.sqrt()));
        scalar::exp(-2.0 * sine * sine / (shape * shape))
    }

    #[inline(always)]
    fn slope(s: f64, shape: f64) -> f64 {
        let u = s.sqrt();
        let slope = -PI / (shape * shape * u) * scalar::sin(TAU * phase(u));
        if s == 0.0 { 0.0 } else { slope }
    }

    #[inline(always)]
    fn shape_slope(s: f64, shape: f64) -> f64 {
        let sine = scalar::sin(PI * phase(s.sqrt()));
        4.0 * sine * sine / (shape * shape * shape)
    }
}
