//! Random streams: named, independent, the same everywhere; and exact samplers that draw from them.
//!
//! ```
//! use crust_math::random::{Purpose, StreamKey};
//!
//! let key = StreamKey::new(7, Purpose::FORWARD).chain(3);
//! let mut stream = key.step(1).stream();
//! let x = stream.normal(0.0, 2.0)?;
//! assert_eq!(key.step(1).stream().normal(0.0, 2.0)?, x);
//! assert_ne!(key.step(2).stream().normal(0.0, 2.0)?, x);
//! # Ok::<(), crust_math::density::DomainError>(())
//! ```

mod continuous;
mod derived;
mod discrete;
mod multivariate;
mod numeric;
mod philox;
mod stream;
mod structured;
mod transformed;
mod ziggurat;

#[cfg(test)]
mod check;

pub use philox::philox4x32;
pub use stream::{Purpose, Stream, StreamKey};

use crate::density::DomainError;

/// A draw, or the parameter that has none, in the words of Stan's `_rng` functions.
pub type Draw<T> = Result<T, DomainError>;
