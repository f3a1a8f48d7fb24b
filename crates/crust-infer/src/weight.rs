//! The weight exp(H₀ − H) of a point of a trajectory, and of many: a sum that neither overflows nor needs a logarithm.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crust_math::lanes::scalar;
use pxfm::f_exp;

/// `scale` · exp(`offset`). As good as always the offset is 0, and weights are added as the numbers that they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weight {
    offset: f64,
    scale: f64,
}

/// Up to here exp(H₀ − H) is a number whose sums and ratios lose nothing.
const FAR: f64 = 300.0;

impl Weight {
    pub(crate) const ONE: Self = Self { offset: 0.0, scale: 1.0 };

    /// exp(x).
    #[inline(always)]
    pub(crate) fn exp(x: f64) -> Self {
        if x.abs() < FAR { Self { offset: 0.0, scale: scalar::exp(x) } } else { Self { offset: x, scale: 1.0 } }
    }

    /// min(1, weight): the probability that Metropolis accepts.
    #[inline(always)]
    pub(crate) fn at_most_one(self) -> f64 {
        if self.offset == 0.0 { self.scale.min(1.0) } else { f_exp(self.offset.min(0.0)) }
    }

    /// The quotient, as a number: infinite where it is too large for one.
    #[inline(always)]
    pub(crate) fn over(self, other: Self) -> f64 {
        let ratio = self.scale / other.scale;
        if self.offset.to_bits() == other.offset.to_bits() { ratio } else { ratio * f_exp(self.offset - other.offset) }
    }

    /// The sum, and the share of the other in it.
    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> (Self, f64) {
        let offset = if self.offset < other.offset { other.offset } else { self.offset };
        let mine = self.relative_to(offset);
        let others = other.relative_to(offset);
        let scale = mine + others;
        (Self { offset, scale }, others / scale)
    }

    #[inline(always)]
    fn relative_to(self, offset: f64) -> f64 {
        if self.offset.to_bits() == offset.to_bits() { self.scale } else { self.scale * f_exp(self.offset - offset) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_shares_and_quotients_are_those_of_exponentials() {
        for (a, b) in
            [(0.0, 0.0), (-1.0, 2.0), (3.0, -4.0), (-1000.0, 5.0), (700.0, -700.0), (2000.0, 1999.0), (-299.0, -301.0)]
        {
            let (sum, share) = Weight::exp(a).plus(Weight::exp(b));
            let log_sum = f64::max(a, b) + (-(a - b).abs()).exp().ln_1p();
            assert!((sum.offset + sum.scale.ln() - log_sum).abs() < 1e-12 * log_sum.abs().max(1.0), "{a} {b}");
            assert!((share - 1.0 / (1.0 + (a - b).exp())).abs() < 1e-15, "{a} {b}");
            let quotient = Weight::exp(a).over(Weight::exp(b));
            let expected = (a - b).exp();
            assert!(
                quotient.to_bits() == expected.to_bits() || (quotient / expected - 1.0).abs() < 1e-12,
                "{a} {b}: {quotient}"
            );
            assert!((Weight::exp(a).at_most_one() - a.min(0.0).exp()).abs() < 1e-15, "{a}");
        }
    }

    #[test]
    fn many_weights_add_up() {
        let logs: Vec<f64> = (0..50).map(|i| f64::from(i) * 17.0 - 420.0).collect();
        let sum = logs.iter().skip(1).fold(Weight::exp(logs[0]), |sum, &x| sum.plus(Weight::exp(x)).0);
        let largest = logs[49];
        let expected = largest + logs.iter().map(|x| (x - largest).exp()).sum::<f64>().ln();
        assert!((sum.offset + sum.scale.ln() - expected).abs() < 1e-12 * expected);
    }
}
