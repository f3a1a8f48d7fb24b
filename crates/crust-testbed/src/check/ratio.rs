//! The conditional-ratio identity: p(x | u) / p(x′ | u) = p(x, u) / p(x′, u) for *any* triple (x, x′, u).
//!
//! It holds exactly, so a conditional distribution that is wrong fails it at once; a normaliser that is missing from
//! both sides does not show, which is what [`crate::check::enumerate`] is for.

use crate::models::conditional::Conditional;

/// The two sides of the identity, as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sides {
    /// log p(x | u) − log p(x′ | u)
    pub conditional: f64,
    /// log p(x, u) − log p(x′, u)
    pub joint: f64,
}

impl Sides {
    /// How far apart they are, relative to 1 + their size.
    pub fn discrepancy(&self) -> f64 {
        (self.conditional - self.joint).abs() / (1.0 + self.joint.abs())
    }
}

/// Both sides at one triple. `log_joint` evaluates p(·, u).
pub fn sides<C: Conditional, E>(
    conditional: &C,
    x: &C::Value,
    other: &C::Value,
    mut log_joint: impl FnMut(&C::Value) -> Result<f64, E>,
) -> Result<Sides, E> {
    Ok(Sides {
        conditional: conditional.log_density(x) - conditional.log_density(other),
        joint: log_joint(x)? - log_joint(other)?,
    })
}
