//! One of the two parts into which a cut divides a probability distribution, and the other part from it.

use super::logs::{log1m_exp, log1m_exp_derivative};
use crate::density::Partials;

/// The log probability on one side of a cut with its partials. Algorithms compute the side that they can get without
/// cancellation; the other is one minus it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail<const N: usize> {
    pub is_lower: bool,
    pub log: Partials<N>,
}

impl<const N: usize> Tail<N> {
    /// A cut outside of which there is no probability at all.
    pub fn empty(is_lower: bool) -> Self {
        Self { is_lower, log: Partials::constant(f64::NEG_INFINITY) }
    }

    /// The same tail of the mirrored distribution.
    pub fn mirrored(self) -> Self {
        Self { is_lower: !self.is_lower, ..self }
    }

    /// The log probability of the lower (or upper) side.
    pub fn log_side(&self, lower: bool) -> Partials<N> {
        if lower == self.is_lower {
            return self.log;
        }
        // for an empty tail the factor is 0 and the derivative may be infinite: their product is 0
        let factor = log1m_exp_derivative(self.log.value);
        let d = self.log.d.map(|d| if factor == 0.0 { 0.0 } else { factor * d });
        Partials { value: log1m_exp(self.log.value), d }
    }

    /// The probability of the lower (or upper) side.
    pub fn side(&self, lower: bool) -> Partials<N> {
        let p = self.log.value.exp();
        let scale = |sign: f64| self.log.d.map(|d| if p == 0.0 { 0.0 } else { sign * p * d });
        if lower == self.is_lower {
            Partials { value: p, d: scale(1.0) }
        } else {
            Partials { value: -self.log.value.exp_m1(), d: scale(-1.0) }
        }
    }
}

/// Nodes and weights of Gauss and Legendre's rule with 20 points on [−1, 1], the positive half (DLMF 3.5.(v)).
const GAUSS_LEGENDRE: [(f64, f64); 10] = [
    (0.076_526_521_133_497_34, 0.152_753_387_130_725_84),
    (0.227_785_851_141_645_07, 0.149_172_986_472_603_74),
    (0.373_706_088_715_419_55, 0.142_096_109_318_382_04),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_64),
    (0.636_053_680_726_515, 0.118_194_531_961_518_43),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_44),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_75),
    (0.912_234_428_251_326, 0.062_672_048_334_109_07),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_94),
    (0.993_128_599_185_094_9, 0.017_614_007_139_152_118),
];

/// ∫₀ʷ f by Gauss and Legendre's rule on four panels, for an `f` that is smooth and falls over not much more than the
/// interval; `f` may have several components.
pub(super) fn integrate<const N: usize>(width: f64, f: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    let half = width / 8.0;
    let mut sums = [0.0; N];
    for panel in [1.0, 3.0, 5.0, 7.0] {
        for (node, weight) in GAUSS_LEGENDRE {
            for s in [half * (panel - node), half * (panel + node)] {
                sums.iter_mut().zip(f(s)).for_each(|(sum, y)| *sum += weight * half * y);
            }
        }
    }
    sums
}

/// log(1 + u) − u, where `ratio` is 1 + u computed without rounding u first.
pub(super) fn log1p_minus(u: f64, ratio: f64) -> f64 {
    if u.abs() < 0.5 { pxfm::f_log1pmx(u) } else { ratio.ln() - u }
}
