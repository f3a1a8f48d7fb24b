//! Square roots of covariance matrices in which few directions stand out.

use serde::{Deserialize, Serialize};

use crate::vector::{add_scaled, dot};

/// S = diag(s) (I + V diag(c) Vᵀ), where the r columns of V are orthonormal and all c are above −1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LowRank {
    diagonal: Vec<f64>,
    columns: Vec<Vec<f64>>,
    stretch: Vec<f64>,
}

impl LowRank {
    /// The root of diag(s²) + B Bᵀ, given s and the columns of diag(s)⁻¹B: these are made orthogonal by Jacobi
    /// rotations, after which I + U Uᵀ has the eigenvalues 1 + |uᵢ|².
    pub fn new(diagonal: Vec<f64>, mut columns: Vec<Vec<f64>>) -> Self {
        const SWEEPS: usize = 60;
        for _ in 0..SWEEPS {
            let mut turned = false;
            for i in 0..columns.len() {
                for j in 0..i {
                    let [a, b] = columns.get_disjoint_mut([j, i]).expect("j is below i, which is in range");
                    turned |= rotate(a, b);
                }
            }
            if !turned {
                break;
            }
        }
        columns.retain(|u| dot(u, u) > f64::MIN_POSITIVE);
        let squares: Vec<f64> = columns.iter().map(|u| dot(u, u)).collect();
        for (u, square) in columns.iter_mut().zip(&squares) {
            u.iter_mut().for_each(|u| *u /= square.sqrt());
        }
        let stretch = squares.iter().map(|square| square / ((1.0 + square).sqrt() + 1.0)).collect();
        Self { diagonal, columns, stretch }
    }

    /// Whether this is a root of a covariance matrix, which numbers from a file need not be.
    pub(crate) fn is_valid(&self) -> bool {
        let d = self.dimension();
        self.diagonal.iter().all(|s| s.is_finite() && *s > 0.0)
            && self.columns.len() == self.stretch.len()
            && self.columns.iter().all(|v| v.len() == d && (dot(v, v) - 1.0).abs() < 1e-9)
            && self.stretch.iter().all(|c| c.is_finite() && *c > -1.0)
    }

    pub fn dimension(&self) -> usize {
        self.diagonal.len()
    }

    pub fn rank(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn diagonal_mut(&mut self) -> &mut Vec<f64> {
        &mut self.diagonal
    }

    /// x ← (I + V diag(f(c)) Vᵀ) x. The columns are orthogonal, so that it does not matter which is first.
    fn stretched(&self, x: &mut [f64], f: impl Fn(f64) -> f64) {
        for (v, &c) in self.columns.iter().zip(&self.stretch) {
            let along = f(c) * dot(v, x);
            add_scaled(x, along, v);
        }
    }

    fn undone(c: f64) -> f64 {
        -c / (1.0 + c)
    }

    fn multiply(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.diagonal).for_each(|(x, s)| *x *= s);
    }

    fn divide(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.diagonal).for_each(|(x, s)| *x /= s);
    }

    /// x ← S x.
    pub(crate) fn apply(&self, x: &mut [f64]) {
        self.stretched(x, |c| c);
        self.multiply(x);
    }

    /// g ← Sᵀ g.
    pub(crate) fn apply_transposed(&self, g: &mut [f64]) {
        self.multiply(g);
        self.stretched(g, |c| c);
    }

    /// x ← S⁻¹ x.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        self.divide(x);
        self.stretched(x, Self::undone);
    }

    /// g ← S⁻ᵀ g.
    pub(crate) fn solve_transposed(&self, g: &mut [f64]) {
        self.stretched(g, Self::undone);
        self.divide(g);
    }

    /// log |S|.
    pub(crate) fn log_determinant(&self) -> f64 {
        self.diagonal.iter().map(|s| s.ln()).sum::<f64>() + self.stretch.iter().map(|c| c.ln_1p()).sum::<f64>()
    }

    /// For each coordinate, its deviation given all others as a share of its whole deviation: the root of
    /// 1/((SSᵀ)ᵢᵢ (SSᵀ)⁻¹ᵢᵢ), in which s cancels.
    pub(crate) fn conditional_shares(&self) -> Vec<f64> {
        let share = |i: usize| {
            let (mut whole, mut precision) = (1.0, 1.0);
            for (v, c) in self.columns.iter().zip(&self.stretch) {
                let square = (1.0 + c).powi(2);
                whole += v[i] * v[i] * (square - 1.0);
                precision += v[i] * v[i] * (1.0 / square - 1.0);
            }
            (whole * precision).sqrt().recip()
        };
        (0..self.dimension()).map(share).collect()
    }
}

/// Makes two vectors orthogonal by a rotation of the pair. False if they were already.
fn rotate(a: &mut [f64], b: &mut [f64]) -> bool {
    let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
    if ab.abs() <= 1e-15 * (aa * bb).sqrt() {
        return false;
    }
    let tau = (bb - aa) / (2.0 * ab);
    let t = tau.signum() / (tau.abs() + tau.hypot(1.0));
    let cosine = 1.0 / t.hypot(1.0);
    let sine = t * cosine;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::linalg::cholesky;

    fn example() -> LowRank {
        LowRank::new(vec![2.0, 0.5, 1.0, 3.0], vec![vec![1.0, 2.0, 0.0, -1.0], vec![0.5, 0.0, 3.0, 0.2]])
    }

    /// S Sᵀ by rows.
    fn covariance(root: &LowRank) -> Vec<f64> {
        let d = root.dimension();
        let row = |i: usize| {
            let mut x = vec![0.0; d];
            x[i] = 1.0;
            root.apply_transposed(&mut x);
            root.apply(&mut x);
            x
        };
        (0..d).flat_map(row).collect()
    }

    #[test]
    fn all_four_products_belong_together() {
        let root = example();
        assert!(root.is_valid());
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13);
        let x = [0.3, -1.0, 2.0, 0.7];
        let mut y = x;
        root.apply(&mut y);
        root.solve(&mut y);
        assert!(close(&x, &y), "{y:?}");
        root.apply_transposed(&mut y);
        root.solve_transposed(&mut y);
        assert!(close(&x, &y), "{y:?}");
        // xᵀ S e = (Sᵀ x)ᵀ e
        let (mut image, mut back) = ([0.0, 0.0, 1.0, 0.0], x);
        root.apply(&mut image);
        root.apply_transposed(&mut back);
        assert!((dot(&image, &x) - back[2]).abs() < 1e-13);
    }

    #[test]
    fn determinants_and_conditional_widths_are_those_of_the_matrix() {
        let root = example();
        let mut lower = covariance(&root);
        let whole: Vec<f64> = (0..4).map(|i| lower[i * 4 + i]).collect();
        cholesky::factor(&mut lower, 4).expect("positive definite");
        assert!((cholesky::log_diagonal(&lower, 4) - root.log_determinant()).abs() < 1e-12);
        let mut inverse = vec![0.0; 16];
        cholesky::inverse(&lower, 4, &mut inverse);
        for (i, share) in root.conditional_shares().into_iter().enumerate() {
            assert!((share - (inverse[i * 4 + i] * whole[i]).sqrt().recip()).abs() < 1e-12);
        }
    }
}
