//! Draws of vectors and matrices. Matrices are stored by columns.

use super::numeric::float;
use super::{Draw, Stream};
use crate::density::{Domain, DomainError};
use crate::distributions::multivariate::{Containers, hmm_filtered, hmm_memory};
use crate::linalg::vectors::add_scaled;
use crate::linalg::{products, triangular};

/// The Cholesky factor of a symmetric matrix, with zeros above the diagonal.
fn factor(domain: Domain, name: &'static str, matrix: &[f64], n: usize) -> Draw<Vec<f64>> {
    let mut out = vec![0.0; n * n];
    domain.factor(name, matrix, n, &mut out)?;
    Ok(out)
}

fn check_factor(domain: Domain, name: &'static str, factor: &[f64], n: usize) -> Draw<()> {
    domain.lower_triangular(name, factor, n)?;
    domain.positive_diagonal(name, factor, n)
}

/// L Lᵀ
fn times_its_transpose(l: &[f64], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    products::add_product_transposed(1.0, l, l, &mut out, (n, n));
    products::symmetrize(&mut out, n);
    out
}

/// A dimension as a number.
fn dimension(n: usize) -> f64 {
    float(i64::try_from(n).unwrap_or(i64::MAX))
}

/// n from n² numbers of a square matrix.
fn side(numbers: usize) -> usize {
    let n = numbers.isqrt();
    assert_eq!(n * n, numbers, "the matrix is square");
    n
}

impl Stream {
    /// A normal vector by its covariance.
    pub fn multi_normal(&mut self, mean: &[f64], covariance: &[f64], out: &mut [f64]) -> Draw<()> {
        let domain = Domain("multi_normal_rng");
        domain.all_finite("Location parameter", mean)?;
        let factor = factor(domain, "Covariance matrix", covariance, mean.len())?;
        self.multi_normal_cholesky(mean, &factor, out);
        Ok(())
    }

    /// A normal vector by its precision L Lᵀ: mean + L⁻ᵀ z.
    pub fn multi_normal_prec(&mut self, mean: &[f64], precision: &[f64], out: &mut [f64]) -> Draw<()> {
        let domain = Domain("multi_normal_prec_rng");
        domain.all_finite("Location parameter", mean)?;
        let factor = factor(domain, "Precision matrix", precision, mean.len())?;
        self.fill_normal(out);
        if !mean.is_empty() {
            triangular::solve_lower_transposed(&factor, mean.len(), out);
        }
        add_scaled(out, 1.0, mean);
        Ok(())
    }

    /// A Student vector by the matrix of its scale.
    pub fn multi_student_t(&mut self, degrees: f64, mean: &[f64], scale: &[f64], out: &mut [f64]) -> Draw<()> {
        let domain = Domain("multi_student_t_rng");
        let factor = factor(domain, "Scale parameter", scale, mean.len())?;
        self.student_vector(domain, degrees, mean, &factor, out)
    }

    /// A Student vector by the Cholesky factor of its scale.
    pub fn multi_student_t_cholesky(&mut self, degrees: f64, mean: &[f64], l: &[f64], out: &mut [f64]) -> Draw<()> {
        let domain = Domain("multi_student_t_cholesky_rng");
        check_factor(domain, "Cholesky factor", l, mean.len())?;
        self.student_vector(domain, degrees, mean, l, out)
    }

    /// A normal vector over the root of χ²/ν.
    fn student_vector(
        &mut self,
        domain: Domain,
        degrees: f64,
        mean: &[f64],
        factor: &[f64],
        out: &mut [f64],
    ) -> Draw<()> {
        domain.positive_finite("Degrees of freedom parameter", degrees)?;
        domain.all_finite("Location parameter", mean)?;
        let stretch = (degrees / self.chi_square(degrees)?).sqrt();
        self.multi_normal_cholesky(mean, factor, out);
        out.iter_mut().zip(mean).for_each(|(x, m)| *x = m + stretch * (*x - m));
        Ok(())
    }

    /// The Cholesky factor of a Wishart draw with scale L Lᵀ: L A with A of Bartlett (1933), χ on the diagonal and
    /// normal below.
    pub fn wishart_cholesky(&mut self, degrees: f64, l: &[f64], out: &mut [f64]) -> Draw<()> {
        let n = side(l.len());
        let domain = Domain("wishart_cholesky_rng");
        check_degrees(domain, degrees, n)?;
        check_factor(domain, "Cholesky Scale matrix", l, n)?;
        let a = self.bartlett(n, |j| degrees - dimension(j))?;
        out.fill(0.0);
        products::add_product(1.0, l, &a, out, (n, n));
        Ok(())
    }

    /// A Wishart draw; its mean is ν S.
    pub fn wishart(&mut self, degrees: f64, scale: &[f64], out: &mut [f64]) -> Draw<()> {
        let (domain, n) = (Domain("wishart_rng"), side(scale.len()));
        check_degrees(domain, degrees, n)?;
        let mut l = vec![0.0; n * n];
        self.wishart_cholesky(degrees, &factor(domain, "Scale matrix", scale, n)?, &mut l)?;
        out.copy_from_slice(&times_its_transpose(&l, n));
        Ok(())
    }

    /// The Cholesky factor of an inverse Wishart draw with scale L Lᵀ: L B⁻¹, where Bᵀ B is a Wishart draw.
    pub fn inv_wishart_cholesky(&mut self, degrees: f64, l: &[f64], out: &mut [f64]) -> Draw<()> {
        let n = side(l.len());
        let domain = Domain("inv_wishart_cholesky_rng");
        check_degrees(domain, degrees, n)?;
        check_factor(domain, "Cholesky Scale matrix", l, n)?;
        let b = self.bartlett(n, |j| degrees - dimension(n - 1 - j))?;
        out.copy_from_slice(l);
        // X B = L from the last column to the first
        for j in (0..n).rev() {
            let (now, after) = out.split_at_mut((j + 1) * n);
            let column = &mut now[j * n..];
            for (k, later) in after.chunks_exact(n).enumerate() {
                add_scaled(column, -b[j * n + j + 1 + k], later);
            }
            column.iter_mut().for_each(|x| *x /= b[j * (n + 1)]);
        }
        Ok(())
    }

    /// An inverse Wishart draw; its mean is S/(ν − n − 1).
    pub fn inv_wishart(&mut self, degrees: f64, scale: &[f64], out: &mut [f64]) -> Draw<()> {
        let (domain, n) = (Domain("inv_wishart_rng"), side(scale.len()));
        check_degrees(domain, degrees, n)?;
        let mut l = vec![0.0; n * n];
        self.inv_wishart_cholesky(degrees, &factor(domain, "Scale matrix", scale, n)?, &mut l)?;
        out.copy_from_slice(&times_its_transpose(&l, n));
        Ok(())
    }

    /// A lower triangular matrix: normal below the diagonal, on it the root of χ² with the degrees for its column.
    fn bartlett(&mut self, n: usize, degrees: impl Fn(usize) -> f64) -> Draw<Vec<f64>> {
        let mut a = vec![0.0; n * n];
        for j in 0..n {
            a[j * (n + 1)] = self.chi_square(degrees(j))?.sqrt();
            self.fill_normal(&mut a[j * (n + 1) + 1..(j + 1) * n]);
        }
        Ok(a)
    }

    /// The Cholesky factor of a correlation matrix: partial correlations are independent, 2 beta − 1 (Lewandowski,
    /// Kurowicka and Joe 2009, section 2.4).
    pub fn lkj_corr_cholesky(&mut self, n: usize, shape: f64, out: &mut [f64]) -> Draw<()> {
        let domain = Domain("lkj_corr_cholesky_rng");
        domain.positive_finite("Shape parameter", shape)?;
        assert_eq!(out.len(), n * n, "the matrix is square");
        out.fill(0.0);
        // what is left of the squares of each row, as it fills from the left
        let mut rest = vec![1.0; n];
        for i in 0..n {
            out[i * (n + 1)] = f64::sqrt(rest[i]);
            let a = shape + 0.5 * dimension(n - 2_usize.min(n)) - 0.5 * dimension(i);
            for j in i + 1..n {
                let b = self.beta(a, a)?;
                out[i * n + j] = (2.0 * b - 1.0) * f64::sqrt(rest[j]);
                // 1 − (2b − 1)² without cancellation
                rest[j] *= 4.0 * b * (1.0 - b);
            }
        }
        Ok(())
    }

    /// A correlation matrix with density |R|^(shape − 1).
    pub fn lkj_corr(&mut self, n: usize, shape: f64, out: &mut [f64]) -> Draw<()> {
        Domain("lkj_corr_rng").positive_finite("Shape parameter", shape)?;
        let mut l = vec![0.0; n * n];
        self.lkj_corr_cholesky(n, shape, &mut l)?;
        out.copy_from_slice(&times_its_transpose(&l, n));
        (0..n).for_each(|j| out[j * (n + 1)] = 1.0);
        Ok(())
    }

    /// [`Self::multinomial`] by logits.
    pub fn multinomial_logit(&mut self, n: i64, logits: &[f64], out: &mut [i64]) -> Draw<()> {
        let domain = Domain("multinomial_logit_rng");
        domain.all_finite("Log-probabilities parameter", logits)?;
        let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logits.iter().map(|x| pxfm::f_exp(x - top)).collect();
        self.multinomial(n, &weights, out)
    }

    /// Counts whose probabilities are a Dirichlet draw.
    pub fn dirichlet_multinomial(&mut self, n: i64, concentration: &[f64], out: &mut [i64]) -> Draw<()> {
        let mut weights = vec![0.0; concentration.len()];
        self.dirichlet(concentration, &mut weights)?;
        self.multinomial(n, &weights, out)
    }

    /// A category from 0, one more than the cutpoints below a logistic draw around `location`.
    pub fn ordered_logistic(&mut self, location: f64, cuts: &[f64]) -> Draw<usize> {
        check_cuts(Domain("ordered_logistic_rng"), location, cuts)?;
        let latent = self.logistic(location, 1.0)?;
        Ok(cuts.partition_point(|&c| c < latent))
    }

    /// A category from 0, one more than the cutpoints below a normal draw around `location`.
    pub fn ordered_probit(&mut self, location: f64, cuts: &[f64]) -> Draw<usize> {
        check_cuts(Domain("ordered_probit_rng"), location, cuts)?;
        let latent = self.normal(location, 1.0)?;
        Ok(cuts.partition_point(|&c| c < latent))
    }

    /// The hidden states (from 0) of a Markov model given what is seen: `log_omega` has a row for each state and a
    /// column for each time. The last state first, then each given the one after it.
    pub fn hmm_latent(&mut self, log_omega: &[f64], gamma: &[f64], rho: &[f64], out: &mut [usize]) -> Draw<()> {
        let k = rho.len();
        assert_eq!(log_omega.len(), k * out.len(), "a column for each time");
        let mut memory = vec![0.0; hmm_memory(k, out.len())];
        let forward = hmm_filtered("hmm_latent_rng", [log_omega, gamma, rho], &mut memory)?;
        for (t, alpha) in forward.alpha.chunks_exact_mut(k).enumerate().rev() {
            if let Some(&next) = out.get(t + 1) {
                alpha.iter_mut().zip(&gamma[next * k..]).for_each(|(a, g)| *a *= g);
            }
            out[t] = self.categorical(alpha)?;
        }
        Ok(())
    }
}

fn check_degrees(domain: Domain, degrees: f64, n: usize) -> Result<(), DomainError> {
    let ok = degrees > dimension(n) - 1.0 && degrees.is_finite();
    domain.that(ok, "Degrees of freedom parameter", degrees, "greater than the dimension less 1")
}

fn check_cuts(domain: Domain, location: f64, cuts: &[f64]) -> Draw<()> {
    domain.finite("Location parameter", location)?;
    domain.that(!cuts.is_empty(), "Size of cut points parameter", 0.0, "positive")?;
    domain.all_finite("Cut points parameter", cuts)?;
    cuts.windows(2).try_for_each(|pair| domain.that(pair[0] < pair[1], "Cut points parameter", pair[1], "ordered"))
}

#[cfg(test)]
#[path = "multivariate_tests.rs"]
mod tests;
