//! Numbers of elements in formulas.

/// A number of elements as a number.
#[expect(clippy::cast_precision_loss, reason = "sizes are below 2⁵³")]
pub(in crate::functions) fn count(n: usize) -> f64 {
    n as f64
}
