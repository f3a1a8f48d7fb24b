//! Counts as numbers, and multiples of vectors.

/// A count as a real number.
#[expect(clippy::cast_precision_loss, reason = "orders and sizes are small")]
pub(super) fn real(n: usize) -> f64 {
    n as f64
}

/// `x ← a · x`.
pub(super) fn scale(x: &mut [f64], a: f64) {
    x.iter_mut().for_each(|v| *v *= a);
}
