//! Accuracy against mpmath and the standard library, special values, and equality over lengths and instruction sets.

mod accuracy;
mod shapes;
mod specials;

use super::{InstructionSet, UNARY};

/// Splitmix64 (Steele, Lea and Flood 2014).
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Any representation: all exponents, subnormal numbers, infinities and NaNs.
    fn any(&mut self) -> f64 {
        f64::from_bits(self.next())
    }

    #[allow(clippy::cast_precision_loss, reason = "53 bits")]
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.next() >> 11) as f64 / 9_007_199_254_740_992.0)
    }
}

/// The distance between a number and the next one away from zero.
fn ulp(x: f64) -> f64 {
    let x = x.abs().min(f64::MAX.next_down());
    x.next_up() - x
}

/// The same number, the same infinity, or both NaN; zeros with their signs.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn evaluate(name: &str, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    let (_, function) = UNARY.iter().find(|(other, _)| *other == name).expect("the function exists");
    function(InstructionSet::best(), x, &mut out);
    out
}
