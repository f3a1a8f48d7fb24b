//! Tests of inference code by the means of BDMC, appendix B, for any model that implements the traits of
//! [`crate::model`].
//!
//! In the order in which they find bugs: the conditional-ratio identity ([`ratio`]), enumeration of all states of a
//! small instance ([`enumerate`]), the balance of a kernel and its reversal ([`reversal`]), local optimality of
//! variational updates ([`ascent`]), and Geweke's test of everything together ([`geweke`](mod@geweke)).

pub mod ascent;
pub mod enumerate;
pub mod geweke;
pub mod ratio;
pub mod reversal;
