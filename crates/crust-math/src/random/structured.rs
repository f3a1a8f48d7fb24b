//! Draws with parts: categories, simplexes, permutations, vectors.

use pxfm::{f_exp, f_log};

use super::numeric::float;
use super::{Draw, Stream};
use crate::density::Domain;

impl Stream {
    /// An index with probability proportional to its weight. Weights need no normalisation; one of them must be
    /// positive.
    pub fn categorical(&mut self, weights: &[f64]) -> Draw<usize> {
        let total = check_weights(Domain("categorical_rng"), weights)?;
        Ok(self.pick(total, weights.iter().copied()))
    }

    /// An index with probability proportional to the exponential of its weight.
    pub fn categorical_log(&mut self, log_weights: &[f64]) -> Draw<usize> {
        let domain = Domain("categorical_logit_rng");
        log_weights
            .iter()
            .try_for_each(|&w| domain.that(w < f64::INFINITY, "Log odds parameter", w, "finite or -inf"))?;
        let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        domain.that(largest.is_finite(), "Largest log odds parameter", largest, "finite")?;
        let weights = || log_weights.iter().map(|w| f_exp(w - largest));
        let total = weights().sum();
        Ok(self.pick(total, weights()))
    }

    /// Needs a positive weight.
    fn pick(&mut self, total: f64, weights: impl Iterator<Item = f64>) -> usize {
        let mut rest = self.uniform() * total;
        let mut last_possible = 0;
        for (index, weight) in weights.enumerate() {
            if weight > 0.0 {
                last_possible = index;
                if rest < weight {
                    return index;
                }
            }
            rest -= weight;
        }
        // Rounding: the rest is a few ulps.
        last_possible
    }

    /// How many of `n` fall in each category. Weights need no normalisation.
    ///
    /// One binomial draw for each category, given those after it. Sums from the front are exact to the last bit that
    /// counts, while 1 − (what is gone) is not.
    pub fn multinomial(&mut self, n: i64, weights: &[f64], out: &mut [i64]) -> Draw<()> {
        assert_eq!(weights.len(), out.len(), "one count for each weight");
        let domain = Domain("multinomial_rng");
        domain.nonnegative("Number of trials", float(n))?;
        check_weights(domain, weights)?;
        let mut sum = 0.0;
        let mut up_to_here = Vec::with_capacity(weights.len());
        for weight in weights {
            sum += weight;
            up_to_here.push(sum);
        }
        out.fill(0);
        let mut rest = n;
        for index in (0..weights.len()).rev() {
            if rest == 0 {
                break;
            }
            if weights[index] > 0.0 {
                out[index] = self.binomial_draw(rest, (weights[index] / up_to_here[index]).min(1.0));
                rest -= out[index];
            }
        }
        Ok(())
    }

    /// A point of the simplex.
    pub fn dirichlet(&mut self, concentration: &[f64], out: &mut [f64]) -> Draw<()> {
        self.log_dirichlet(concentration, out)?;
        out.iter_mut().for_each(|x| *x = f_exp(*x));
        Ok(())
    }

    /// The logarithms of a point of the simplex: gamma draws over their sum. Finite, however small the concentrations.
    pub fn log_dirichlet(&mut self, concentration: &[f64], out: &mut [f64]) -> Draw<()> {
        assert_eq!(concentration.len(), out.len(), "one part for each concentration");
        let domain = Domain("dirichlet_rng");
        concentration.iter().try_for_each(|&a| domain.positive_finite("Prior sample sizes", a))?;
        out.iter_mut().zip(concentration).for_each(|(x, &a)| *x = self.standard_log_gamma(a));
        let largest = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = out.iter().map(|x| f_exp(x - largest)).sum();
        // Two subtractions: with tiny concentrations the largest may be −10³⁰⁰, and the log of the sum would drown in
        // it.
        let log_sum = f_log(sum);
        out.iter_mut().for_each(|x| *x = (*x - largest) - log_sum);
        Ok(())
    }

    /// Puts the items in an order drawn from all orders with equal probability: Fisher and Yates, in Durstenfeld's form
    /// (1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.index_below(end + 1));
        }
    }

    /// A permutation of 0, …, n − 1.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }

    /// [`Self::below`] for indices.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the draw is below an index")]
    pub fn index_below(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    /// A multivariate normal draw: mean + L z. `factor` is the lower-triangular L in columns; what is above its
    /// diagonal is not read.
    pub fn multi_normal_cholesky(&mut self, mean: &[f64], factor: &[f64], out: &mut [f64]) {
        let n = mean.len();
        assert_eq!(out.len(), n, "one number for each mean");
        assert_eq!(factor.len(), n * n, "the factor is square");
        self.fill_normal(out);
        // From the last column to the first: then out[j] is still z[j] when its turn comes, and memory is read in
        // order.
        for j in (0..n).rev() {
            let z = out[j];
            let column = &factor[j * n + j..(j + 1) * n];
            out[j] = 0.0;
            out[j..].iter_mut().zip(column).for_each(|(x, l)| *x += l * z);
        }
        out.iter_mut().zip(mean).for_each(|(x, m)| *x += m);
    }
}

/// The sum of the weights, which is positive and finite.
fn check_weights(domain: Domain, weights: &[f64]) -> Draw<f64> {
    weights.iter().try_for_each(|&w| domain.nonnegative("Probabilities parameter", w))?;
    let total = weights.iter().sum();
    domain.positive_finite("Sum of the probabilities parameter", total)?;
    Ok(total)
}

#[cfg(test)]
#[path = "structured_tests.rs"]
mod tests;
