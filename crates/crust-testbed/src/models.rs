//! The three models of BDMC, section 6, with hand-written Gibbs kernels: clustering, low rank, binary attributes.
//!
//! Each is data Y (N × D) with its hyperparameters, which are fixed or have priors ([`hyper`]). What the state holds,
//! the path `f_β` and the conditionals of every kernel are written down at the top of each model. Sweeps allocate
//! nothing; inner loops run over rows that are padded to whole blocks of lanes, and are compiled for the instruction
//! sets of crust-math.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::doc_markdown, reason = "the subscripts of formulas are no code")]

pub mod binary;
pub mod choice;
pub mod clustering;
pub mod conditional;
pub mod hyper;
pub mod low_rank;
pub mod rows;
pub mod table1;

mod factor;

use crust_infer::anneal::{Direction, Moved};
use crust_infer::target::Fatal;
use crust_math::random::Stream;

/// A Gibbs kernel that updates latent variables, then hyperparameters. Its time reversal does the same in the opposite
/// order.
trait Scan {
    type State;

    /// All latent variables, one after the other, or in the opposite order.
    fn update_latents(&mut self, state: &mut Self::State, beta: f64, direction: Direction, stream: &mut Stream);

    fn update_hyperparameters(&mut self, state: &mut Self::State, beta: f64, stream: &mut Stream) -> Result<(), Fatal>;

    fn scan(
        &mut self,
        state: &mut Self::State,
        beta: f64,
        direction: Direction,
        stream: &mut Stream,
    ) -> Result<Moved, Fatal> {
        match direction {
            Direction::Forward => {
                self.update_latents(state, beta, direction, stream);
                self.update_hyperparameters(state, beta, stream)?;
            }
            Direction::Reverse => {
                self.update_hyperparameters(state, beta, stream)?;
                self.update_latents(state, beta, direction, stream);
            }
        }
        Ok(Moved { accept: 1.0, evaluations: 1 })
    }
}
