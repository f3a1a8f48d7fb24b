//! The preconditioner that a half of the chains suggests to the other half.

use super::funnel::Funnel;
use super::population::Population;
use crate::approximate::family::float;
use crate::approximate::scale::Scale;
use crate::vector::add_scaled;

impl Population {
    /// A root of (1 − λ) C + λ D R D, where C is the covariance of these n chains, D its standard deviations and R the
    /// correlations of the approximation. λ = d/n: of n normal draws, C has the eigenvalues (1 ± √λ)² where they should
    /// be 1 (Marchenko & Pastur 1967); (1 − λ)(1 ± √λ)² + λ lies between 0.43 and 2 for all λ, while a direction that is
    /// much too narrow in R keeps 1 − λ of its variance in C. With fewer chains than dimensions only D R D is left,
    /// whose root is that of R with rows stretched. `None` where some variance is no positive number. All this is in
    /// the straight coordinates of a funnel, where there is one; R is the unit matrix there.
    pub(super) fn suggested_scale(&self, funnel: Option<&Funnel>) -> Option<Scale> {
        let (n, d) = (self.len(), self.dimension);
        let mut centred = self.x.clone();
        if let Some(funnel) = funnel {
            centred.chunks_exact_mut(d).for_each(|x| funnel.straighten(x));
        }
        let original = if funnel.is_some() { &Scale::Diagonal(vec![1.0; d]) } else { &self.original };
        let mut mean = vec![0.0; d];
        centred.chunks_exact(d).for_each(|x| add_scaled(&mut mean, 1.0 / float(n), x));
        centred.chunks_exact_mut(d).for_each(|x| add_scaled(x, -1.0, &mean));
        let mut variances = vec![0.0; d];
        for x in centred.chunks_exact(d) {
            variances.iter_mut().zip(x).for_each(|(v, x)| *v += x * x / (float(n) - 1.0));
        }
        let stretch: Vec<f64> =
            variances.iter().zip(original.variances()).map(|(now, then)| (now / then).sqrt()).collect();
        if stretch.iter().any(|r| !(r.is_finite() && *r > 0.0)) {
            return None;
        }
        let stretched = original.rescaled(&stretch);
        if n <= d {
            return Some(stretched);
        }
        let lambda = float(d) / float(n);
        let mut covariance = stretched.covariance();
        covariance.iter_mut().for_each(|c| *c *= lambda);
        let share = (1.0 - lambda) / (float(n) - 1.0);
        for x in centred.chunks_exact(d) {
            for (i, row) in covariance.chunks_exact_mut(d).enumerate() {
                add_scaled(&mut row[..=i], share * x[i], &x[..=i]);
            }
        }
        Some(Scale::of_covariance(d, &covariance).unwrap_or(stretched))
    }
}
