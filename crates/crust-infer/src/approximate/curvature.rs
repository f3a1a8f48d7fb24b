//! How a density curves on average over an approximation, and what follows from that for a fit on fixed draws.
//!
//! In the frame of the approximation, x = m + S z, let g be the gradients in z. By Stein's identity the mean curvature
//! is B = −E ∇² log p = −E g zᵀ: on draws with Σ z zᵀ/n = I and with −z for each z it is exact for quadratic log p. It
//! is the Hessian of −ELBO in the mean, and Newton's step for the whole distribution is the mean B⁻¹ E g with the
//! covariance B⁻¹ (its diagonal for mean field).

use super::dense;
use super::family::float;
use crate::metric::cholesky;
use crate::vector::dot;

/// B in the frame of an approximation, with its Cholesky factor by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Curvature {
    dimension: usize,
    matrix: Vec<f64>,
    lower: Vec<f64>,
}

impl Curvature {
    /// From B by rows, of which the lower triangle is read. `None` if it is not positive definite.
    pub fn new(dimension: usize, mut matrix: Vec<f64>) -> Option<Self> {
        for i in 0..dimension {
            for j in 0..i {
                matrix[j * dimension + i] = matrix[i * dimension + j];
            }
        }
        let lower = if dimension < dense::LEAST {
            cholesky(dimension, &matrix).ok()?
        } else {
            dense::root(dimension, &matrix)?
        };
        Some(Self { dimension, matrix, lower })
    }

    /// −½ (P + Pᵀ)/n for the sum P = Σ g zᵀ of n draws and gradients, by rows.
    pub fn of_products(dimension: usize, n: usize, products: &[f64]) -> Option<Self> {
        let d = dimension;
        let w = -0.5 / float(n);
        let mut matrix = vec![0.0; d * d];
        for i in 0..d {
            (0..=i).for_each(|j| matrix[i * d + j] = w * (products[i * d + j] + products[j * d + i]));
        }
        Self::new(dimension, matrix)
    }

    pub fn diagonal(&self, i: usize) -> f64 {
        self.matrix[i * self.dimension + i]
    }

    /// g ← B⁻¹ g.
    pub fn solve(&self, g: &mut [f64]) {
        self.half_solve(g);
        self.back(g);
    }

    /// g ← L⁻¹ g, whose square is gᵀ B⁻¹ g.
    fn half_solve(&self, g: &mut [f64]) {
        let d = self.dimension;
        for i in 0..d {
            let row = &self.lower[i * d..][..=i];
            g[i] = (g[i] - dot(&row[..i], &g[..i])) / row[i];
        }
    }

    /// The Cholesky factor of B⁻¹ by rows. `None` if rounding spoils it.
    pub fn inverse_root(&self) -> Option<Vec<f64>> {
        dense::inverse_root(self.dimension, &self.matrix)
    }

    /// ½ (zᵀ(B − I) z − tr(B − I)): what log p − log q has less of on average than at z, by its quadratic part. Its
    /// mean is 0, so that it can be added to log p − log q; what is left varies less, where the curvature is from other
    /// draws.
    pub fn control(&self, z: &[f64]) -> f64 {
        let d = self.dimension;
        let mut sum = 0.0;
        for (i, zi) in z.iter().enumerate() {
            let row = &self.matrix[i * d..][..i];
            let own = self.diagonal(i) - 1.0;
            sum += zi * (2.0 * dot(row, &z[..i]) + own * zi) - own;
        }
        0.5 * sum
    }

    /// g ← L⁻ᵀ g.
    fn back(&self, g: &mut [f64]) {
        let d = self.dimension;
        for i in (0..d).rev() {
            let (before, rest) = g.split_at_mut(i);
            rest[0] /= self.lower[i * d + i];
            before.iter_mut().zip(&self.lower[i * d..]).for_each(|(g, l)| *g -= l * rest[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approximate::quasi::{even_normals, whitened_normals};
    use crust_math::random::{Purpose, StreamKey};

    const B: [f64; 9] = [2.0, 0.3, 0.1, 0.3, 1.0, -0.2, 0.1, -0.2, 4.0];

    fn key(seed: u64) -> StreamKey {
        StreamKey::new(seed, Purpose::TEST)
    }

    /// Gradients of −½ zᵀ B z + cᵀz.
    fn gradients(z: &[f64]) -> Vec<f64> {
        z.chunks_exact(3).flat_map(|z| (0..3).map(|i| 0.5 - dot(&B[3 * i..][..3], z)).collect::<Vec<f64>>()).collect()
    }

    #[test]
    fn the_curvature_of_a_quadratic_is_exact_and_can_be_inverted() {
        let z = whitened_normals(3, 64, key(1));
        let g = gradients(&z);
        let products: Vec<f64> = (0..9).map(|k| (0..64).map(|n| g[3 * n + k / 3] * z[3 * n + k % 3]).sum()).collect();
        let found = Curvature::of_products(3, 64, &products).unwrap();
        found.matrix.iter().zip(&B).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        let mut x = vec![0.7, -0.4, 1.1];
        found.solve(&mut x);
        for i in 0..3 {
            assert!((dot(&B[3 * i..][..3], &x) - [0.7, -0.4, 1.1][i]).abs() < 1e-12);
        }
        let root = found.inverse_root().unwrap();
        for i in 0..3 {
            let mut unit = vec![0.0; 3];
            unit[i] = 1.0;
            found.solve(&mut unit);
            (0..3).for_each(|j| assert!((dot(&root[3 * i..][..3], &root[3 * j..][..3]) - unit[j]).abs() < 1e-12));
        }
        assert!(Curvature::new(2, vec![1.0, 0.0, 2.0, 1.0]).is_none());
    }

    /// ½ (zᵀ(B − I) z − tr(B − I)) added to −½ zᵀ(B − I) z leaves its mean.
    #[test]
    fn the_control_variate_takes_the_quadratic_part_away() {
        let curvature = Curvature::new(3, B.to_vec()).unwrap();
        for z in even_normals(3, 20, key(2)).chunks_exact(3) {
            let quadratic: f64 = (0..3).map(|i| z[i] * (dot(&B[3 * i..][..3], z) - z[i])).sum();
            assert!((curvature.control(z) - 0.5 * quadratic + 0.5 * 4.0).abs() < 1e-12);
        }
    }
}
