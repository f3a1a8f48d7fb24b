//! A posterior that is conditioned on a second dataset: p(θ) L(y | θ) L(y′ | θ).
//!
//! With θ* drawn from p(θ | y) and y′ from p(y | θ*), θ* is an exact draw of p(θ | y, y′) (posterior simulation-based
//! calibration; Säilynoja, Schmitt, Bürkner and Vehtari 2025). No draw from the prior is needed for it, so that the
//! prior may be flat.

use crate::target::{Batch, Fatal, Target};

/// The product of a prior and the likelihoods of two datasets. Both targets state the same prior.
///
/// Targets give gradients of log prior + β log likelihood. Evaluated at 2β, their mean is what is wanted:
///
/// > ½ (∇ log p + 2β ∇ log L(y)) + ½ (∇ log p + 2β ∇ log L(y′)) = ∇ log p + β ∇ (log L(y) + log L(y′)).
#[derive(Clone, Debug)]
pub struct Conditioned<T> {
    first: T,
    second: T,
    /// Whether the prior of the second differs, since it looks at the data: then only its likelihood counts.
    prior_differs: bool,
    other: Batch,
    beta: Vec<f64>,
}

impl<T: Target> Conditioned<T> {
    /// The prior is that of the first target. `prior_differs` says that the second states another one, which costs an
    /// evaluation more.
    pub fn new(first: T, second: T, prior_differs: bool) -> Self {
        Self { first, second, prior_differs, other: Batch::default(), beta: vec![] }
    }

    /// The second target at the points of a batch, its gradient being that at some multiple of β.
    fn look(&mut self, batch: &Batch, factor: f64) -> Result<(), Fatal> {
        self.other.resize(self.first.dimension(), batch.lanes, batch.wants_gradient());
        self.other.x.copy_from_slice(&batch.x);
        self.other.beta.iter_mut().zip(&self.beta).for_each(|(to, beta)| *to = factor * beta);
        self.second.evaluate(&mut self.other)
    }
}

impl<T: Target> Target for Conditioned<T> {
    fn dimension(&self) -> usize {
        self.first.dimension()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        self.beta.clone_from(&batch.beta);
        let factor = if self.prior_differs { 1.0 } else { 2.0 };
        batch.beta.iter_mut().for_each(|beta| *beta *= factor);
        let evaluated = self.first.evaluate(batch);
        batch.beta.copy_from_slice(&self.beta);
        evaluated?;
        self.look(batch, factor)?;
        batch.log_likelihood.iter_mut().zip(&self.other.log_likelihood).for_each(|(sum, other)| *sum += other);
        let share = if self.prior_differs { 1.0 } else { 0.5 };
        batch.gradient.iter_mut().zip(&self.other.gradient).for_each(|(sum, other)| *sum = share * (*sum + other));
        if self.prior_differs && batch.wants_gradient() {
            self.look(batch, 0.0)?;
            batch.gradient.iter_mut().zip(&self.other.gradient).for_each(|(sum, prior)| *sum -= prior);
        }
        Ok(())
    }

    fn hyperparameters(&self) -> Vec<usize> {
        self.first.hyperparameters()
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        self.first.rejection(lane).or_else(|| self.second.rejection(lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x ~ N(centre, 1), y ~ N(x, ½), the exponents without constants.
    #[derive(Clone)]
    struct Normal {
        centre: f64,
        y: Vec<f64>,
    }

    impl Target for Normal {
        fn dimension(&self) -> usize {
            1
        }

        fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
            for lane in 0..batch.lanes {
                let x = batch.x[lane];
                batch.log_prior[lane] = -0.5 * (x - self.centre).powi(2);
                batch.log_likelihood[lane] = self.y.iter().map(|y| -2.0 * (y - x).powi(2)).sum();
                if let Some(gradient) = batch.gradient.get_mut(lane) {
                    let slope: f64 = self.y.iter().map(|y| 4.0 * (y - x)).sum();
                    *gradient = self.centre - x + batch.beta[lane] * slope;
                }
            }
            Ok(())
        }
    }

    fn evaluate(target: &mut impl Target) -> Batch {
        let mut batch = Batch::default();
        batch.resize(1, 3, true);
        batch.x = vec![-1.0, 0.3, 2.0];
        batch.beta = vec![0.0, 0.4, 1.0];
        target.evaluate(&mut batch).expect("it evaluates");
        batch
    }

    /// Two datasets are one dataset with all their values.
    #[test]
    fn likelihoods_are_multiplied_and_the_prior_counts_once() {
        let model = |centre: f64, y: &[f64]| Normal { centre, y: y.to_vec() };
        let whole = evaluate(&mut model(0.5, &[1.0, 0.2, 2.0, -1.0]));
        let (first, second) = (model(0.5, &[1.0, 0.2]), model(0.5, &[2.0, -1.0]));
        let other_prior = model(7.0, &[2.0, -1.0]);
        let both = [Conditioned::new(first.clone(), second, false), Conditioned::new(first, other_prior, true)];
        for mut target in both {
            let found = evaluate(&mut target);
            assert_eq!((&found.beta, &found.x), (&whole.beta, &whole.x));
            let pairs = [
                (&found.log_prior, &whole.log_prior),
                (&found.log_likelihood, &whole.log_likelihood),
                (&found.gradient, &whole.gradient),
            ];
            for (found, wanted) in pairs {
                assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {wanted:?}");
            }
        }
    }
}
