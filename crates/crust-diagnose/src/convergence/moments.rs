//! Mean, standard deviation, median, MAD and quantiles.

use super::order::Order;
use crate::number::count;
use crust_math::lanes::{Kernel, dispatch};

/// Normal draws have a standard deviation of 1 / Φ⁻¹(3/4) median absolute deviations; R's `mad` rounds it to this.
pub(super) const MAD_SCALE: f64 = 1.4826;

/// Σ f(x), with running sums that do not wait for each other.
struct Sum<'a, F> {
    values: &'a [f64],
    f: F,
}

impl<F: Fn(f64) -> f64> Kernel for Sum<'_, F> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut sums = [0.0; 16];
        let (chunks, rest) = self.values.as_chunks::<16>();
        for chunk in chunks {
            for i in 0..16 {
                sums[i] += (self.f)(chunk[i]);
            }
        }
        sums.iter().sum::<f64>() + rest.iter().map(|&x| (self.f)(x)).sum::<f64>()
    }
}

/// Σ x
pub(super) fn total(values: &[f64]) -> f64 {
    dispatch(Sum { values, f: |x| x })
}

/// The arithmetic mean; NaN of nothing.
pub fn mean(values: &[f64]) -> f64 {
    total(values) / count(values.len())
}

/// The arithmetic mean of the squares.
pub(super) fn mean_of_squares(values: &[f64]) -> f64 {
    dispatch(Sum { values, f: |x| x * x }) / count(values.len())
}

/// Σ (x − x̄)²
fn sum_of_squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    dispatch(Sum { values, f: |x| (x - centre) * (x - centre) })
}

/// The variance with denominator n − 1; NaN of fewer than two values.
pub(super) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 { f64::NAN } else { sum_of_squares(values) / (count(values.len()) - 1.0) }
}

/// The standard deviation with denominator n − 1; NaN of fewer than two values.
pub fn sd(values: &[f64]) -> f64 {
    variance(values).sqrt()
}

/// The median; NaN of nothing and of anything with a NaN in it.
pub fn median(values: &[f64]) -> f64 {
    Order::of(values).median()
}

/// The median absolute deviation from the median, scaled to be the standard deviation of normal draws, as R's `mad`.
pub fn mad(values: &[f64]) -> f64 {
    let centre = median(values);
    let deviations: Vec<f64> = values.iter().map(|x| (x - centre).abs()).collect();
    MAD_SCALE * median(&deviations)
}

/// The quantile that interpolates between order statistics (type 7 of Hyndman & Fan 1996), R's and `NumPy`'s default;
/// NaN of nothing, of anything with a NaN in it, and of a probability outside \[0, 1\].
pub fn quantile(values: &[f64], probability: f64) -> f64 {
    Order::of(values).quantile(probability)
}

/// The place of a quantile among so many values in ascending order, and how far it lies towards the next one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the position lies in 0..n")]
pub(super) fn place(n: usize, probability: f64) -> Option<(usize, f64)> {
    if n == 0 || !(0.0..=1.0).contains(&probability) {
        return None;
    }
    let position = probability * (count(n) - 1.0);
    let below = position.floor();
    Some((below as usize, position - below))
}

#[expect(clippy::float_cmp, reason = "a quantile between equal draws is that draw exactly: draws are compared with it")]
pub(super) fn between((low, high): (f64, f64), weight: f64) -> f64 {
    if weight == 0.0 || low == high { low } else { low + weight * (high - low) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(&values).to_bits(), 2.5_f64.to_bits());
        assert!((quantile(&values, 0.1) - 1.3).abs() < 1e-15);
        assert_eq!(quantile(&values, 0.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(quantile(&values, 1.0).to_bits(), 4.0_f64.to_bits());
        assert!(quantile(&values, 1.1).is_nan());
        assert!(quantile(&[], 0.5).is_nan());
        assert!(quantile(&[1.0, f64::NAN], 0.5).is_nan());
        assert_eq!(quantile(&[1.0, f64::INFINITY, f64::INFINITY], 0.75).to_bits(), f64::INFINITY.to_bits());
    }

    #[test]
    fn spread_of_known_values() {
        let values = [1.0, 2.0, 3.0, 4.0, 100.0];
        assert!((sd(&values) - 43.617_656_975_128_774).abs() < 1e-12, "{}", sd(&values));
        assert!((mad(&values) - 1.4826).abs() < 1e-15);
        assert!(sd(&[1.0]).is_nan());
    }
}
