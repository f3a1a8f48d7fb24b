//! How many chains, and how long.

use super::quantiles::{chi_square, student};
use crate::number::count;

/// What errors are worth noticing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Of means, in standard deviations.
    pub mean: f64,
    /// Of log variances.
    pub log_variance: f64,
    /// The error probability of an interval.
    pub alpha: f64,
}

impl Default for Tolerances {
    /// The paper's (section 4).
    fn default() -> Self {
        Self { mean: 0.1, log_variance: 0.15, alpha: super::ALPHA }
    }
}

impl Tolerances {
    /// N of equation 6: the smallest number of chains whose intervals have these margins.
    ///
    /// The margin of a log variance is half the width of its interval, log(χ²(1−α/2)/χ²(α/2))/2, as the margin of a
    /// mean is half the width of its own. With the whole width, as equation 6 is printed, N would be 1,371 and not the
    /// 386 of the paper.
    pub fn chains(&self) -> usize {
        let mean = smallest(|n| student(count(n - 1), 1.0 - 0.5 * self.alpha) / count(n).sqrt() <= self.mean);
        let variance = smallest(|n| {
            let nu = count(n - 1);
            let ratio = chi_square(nu, 1.0 - 0.5 * self.alpha) / chi_square(nu, 0.5 * self.alpha);
            0.5 * ratio.ln() <= self.log_variance
        });
        mean.max(variance)
    }
}

/// The smallest n from 2 on with a property that, once true, stays so.
fn smallest(fine: impl Fn(usize) -> bool) -> usize {
    const MOST: usize = 1 << 24;
    let mut high = 2;
    while high < MOST && !fine(high) {
        high *= 2;
    }
    let mut low = high / 2 + 1;
    while low < high {
        let middle = usize::midpoint(low, high);
        if fine(middle) { high = middle } else { low = middle + 1 }
    }
    high.max(2)
}

/// c of equations 7 and 8, as the paper suggests it.
pub const EFFORT: f64 = 50.0;

/// T of equation 7, ⌊c d^(1/3)⌋, for kernels with one evaluation; of equation 8, ⌊c d^(1/4)/L⌋, for Hamiltonian ones
/// with L > 1. At least 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
pub fn iterations(dimension: usize, leapfrog_steps: Option<usize>, effort: f64) -> usize {
    let d = count(dimension);
    let length = leapfrog_steps.map_or_else(|| effort * d.cbrt(), |l| effort * d.powf(0.25) / count(l.max(1)));
    (length + 1e-9).floor().max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_equations() {
        let n = Tolerances::default().chains();
        // Exactly, t₃₈₅(0.975)/√386 = 0.10007 is just above the tolerance; the paper rounds to 386.
        assert_eq!(n, 387);
        let margin = |n: usize| student(count(n - 1), 0.975) / count(n).sqrt();
        assert!(margin(n) <= 0.1 && margin(n - 1) > 0.1);
        assert!(Tolerances { log_variance: 0.05, ..Tolerances::default() }.chains() > 3000);
        assert_eq!(iterations(30, None, EFFORT), 155);
        assert_eq!(iterations(8, None, EFFORT), 100);
        assert_eq!(iterations(16, Some(10), EFFORT), 10);
        assert_eq!(iterations(1, Some(1000), EFFORT), 1);
    }
}
