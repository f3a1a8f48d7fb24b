//! Markov kernels over many chains at once, and the drivers that run them.
//!
//! Nothing here knows how a density is written down: a [`Target`](target::Target) evaluates points, and that is all.
//! Chains are state machines that ask for one evaluation after the other ([`Walker`](drive::Walker)); a
//! [`Driver`](drive::Driver) answers all of them in batches. A [`Kernel`](kernel::Kernel) is frozen;
//! [`Warmup`](warmup::Warmup) is what makes one.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use crust_infer::drive::{Control, Driver, Parallelism};
//! use crust_infer::sample::{Draw, Observer, Settings, Start, sample};
//! use crust_infer::target::{Batch, Fatal, Target};
//! use crust_math::random::{Purpose, StreamKey};
//!
//! /// The standard normal distribution.
//! #[derive(Clone)]
//! struct Normal;
//!
//! impl Target for Normal {
//!     fn dimension(&self) -> usize {
//!         1
//!     }
//!
//!     fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
//!         for lane in 0..batch.lanes {
//!             let x = batch.x[lane];
//!             batch.log_prior[lane] = -0.5 * x * x;
//!             batch.log_likelihood[lane] = 0.0;
//!             batch.gradient[lane] = -x;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! struct Ignore;
//!
//! impl Observer for Ignore {
//!     fn draw(&self, _draw: &Draw<'_>) -> ControlFlow<()> {
//!         ControlFlow::Continue(())
//!     }
//! }
//!
//! let settings = Settings { warmup: 200, draws: 100, ..Settings::new(StreamKey::new(1, Purpose::NUTS)) };
//! let starts: Vec<Start> = (1..=4).map(Start::random).collect();
//! let mut driver = Driver::new(Normal, Parallelism::default());
//! let outcomes = sample(&mut driver, &settings, &starts, &Ignore, &Control::default())?;
//! assert!(outcomes.iter().all(|chain| chain.draws == 100));
//! # Ok::<(), crust_infer::error::Error>(())
//! ```

pub mod anneal;
pub mod approximate;
pub mod axes;
pub mod conditioned;
pub mod drive;
pub mod error;
pub mod evidence;
pub mod improve;
pub mod kernel;
pub mod metric;
pub mod path;
pub mod sample;
pub mod step_size;
pub mod target;
pub mod warmup;
pub mod windows;

mod barker;
mod chain;
mod covariance;
mod first_metric;
mod hmc;
mod leapfrog;
mod method;
mod metropolis;
mod nuts;
mod vector;
mod weight;
