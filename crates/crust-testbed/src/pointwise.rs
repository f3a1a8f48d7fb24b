//! Models that are written point by point, as targets.

use crust_infer::target::{Batch, Fatal, Target};

/// A density of one point at a time.
pub trait Pointwise {
    fn dimension(&self) -> usize;

    /// log prior and log likelihood, normalisers included, and ∇ log `f_β` written to `gradient`.
    fn at(&self, x: &[f64], beta: f64, gradient: &mut [f64]) -> (f64, f64);
}

/// A [`Pointwise`] model as a target: one lane after the other.
#[derive(Clone, Debug)]
pub struct Lanes<P>(pub P);

impl<P: Pointwise> Target for Lanes<P> {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        let mut x = vec![0.0; self.0.dimension()];
        let mut gradient = x.clone();
        for lane in 0..batch.lanes {
            x.iter_mut().zip(batch.point(lane)).for_each(|(to, x)| *to = x);
            (batch.log_prior[lane], batch.log_likelihood[lane]) = self.0.at(&x, batch.beta[lane], &mut gradient);
            if batch.wants_gradient() {
                let column = batch.gradient.iter_mut().skip(lane).step_by(batch.lanes);
                column.zip(&gradient).for_each(|(to, &g)| *to = g);
            }
        }
        Ok(())
    }
}
