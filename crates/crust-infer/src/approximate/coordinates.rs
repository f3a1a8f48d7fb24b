//! Variational families as functions of free parameters, seen from a frame in which the approximation is about
//! standard.
//!
//! x = m₀ + S₀ y with y = u + A z. The frame (m₀, S₀) is fixed while an optimiser moves u and A; from close by, all
//! parameters then matter about alike.

use super::curvature::Curvature;
use super::family::{Approximation, Elliptical};
use super::map::{Map, Sums, compose_square, square};
use super::scale::{LowRank, Scale};
use super::{Error, near};
use crate::metric::cholesky;
use crate::vector::dot;

/// Which matrices A are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Diagonal.
    MeanField,
    /// Lower triangular.
    FullRank,
    /// Covariance of a diagonal matrix and one of this rank.
    LowRank(usize),
}

/// A family seen from a frame.
#[derive(Clone, Debug)]
pub struct Coordinates {
    pub family: Family,
    frame: Elliptical,
    log_determinant: f64,
}

impl Coordinates {
    /// About an approximation. A family that is diagonal keeps the variances only: low rank those of each coordinate,
    /// mean field those given the others.
    pub fn new(family: Family, about: &Elliptical) -> Self {
        let diagonal = || Scale::Diagonal(about.scale.variances().iter().map(|v| v.sqrt()).collect());
        let scale = match (family, &about.scale) {
            // Triangular: seen from a new frame, fixed draws then stay where they are.
            (Family::FullRank, Scale::Lower(lower)) => Scale::Lower(lower.clone()),
            (Family::FullRank, scale) => {
                Scale::of_covariance(about.mean.len(), &scale.covariance()).unwrap_or_else(|_| diagonal())
            }
            (Family::MeanField | Family::LowRank(_), Scale::Diagonal(s)) => Scale::Diagonal(s.clone()),
            // The best normal distribution without correlations for one with them has the standard deviations that are
            // left when all other coordinates are known.
            (Family::MeanField, scale) => Scale::Diagonal(scale.precisions().iter().map(|p| 1.0 / p.sqrt()).collect()),
            (Family::LowRank(_), _) => diagonal(),
        };
        let frame = Elliptical { scale, ..about.clone() };
        Self { family, log_determinant: frame.scale.log_determinant(), frame }
    }

    pub fn dimension(&self) -> usize {
        self.frame.mean.len()
    }

    /// How many standard normal numbers make a draw.
    pub fn noise(&self) -> usize {
        match self.family {
            Family::LowRank(rank) => self.dimension() + rank,
            Family::MeanField | Family::FullRank => self.dimension(),
        }
    }

    /// The free parameters: u, the logarithms of the diagonal of A, and the rest of A.
    pub fn parameters(&self) -> usize {
        let d = self.dimension();
        match self.family {
            Family::MeanField => 2 * d,
            Family::FullRank => 2 * d + d * (d - 1) / 2,
            Family::LowRank(rank) => (2 + rank) * d,
        }
    }

    /// The parameters of the frame itself. Columns of a low-rank part start small and unlike each other: at 0 they
    /// would stay there.
    pub fn origin(&self) -> Vec<f64> {
        let d = self.dimension();
        let mut parameters = vec![0.0; self.parameters()];
        if let Family::LowRank(_) = self.family {
            for (k, b) in parameters[2 * d..].iter_mut().enumerate() {
                let (column, row) = (k / d, k % d);
                // Waves of different lengths.
                *b = 0.3
                    * (std::f64::consts::PI * super::family::float((column + 1) * (2 * row + 1))
                        / super::family::float(2 * d))
                    .cos();
            }
        }
        parameters
    }

    /// x = m + S z, with the parameters worked in.
    pub fn map(&self, parameters: &[f64]) -> Map {
        Map::new(self.family, &self.frame.mean, &self.frame.scale, parameters)
    }

    /// Nothing added up yet.
    pub fn sums(&self) -> Sums {
        Sums::new(self.family, self.dimension())
    }

    /// Adds w times the derivative of what sums were made of to the gradient.
    pub fn pull(&self, parameters: &[f64], sums: &Sums, w: f64, gradient: &mut [f64]) {
        let d = self.dimension();
        sums.pull(&self.frame.scale, &parameters[d..2 * d], w, gradient);
    }

    /// Σ (S₀ᵀ g) zᵀ for Σ g zᵀ by rows, where the frame is diagonal.
    pub fn seen(&self, mut products: Vec<f64>) -> Vec<f64> {
        if let Scale::Diagonal(s) = &self.frame.scale {
            let rows = products.chunks_exact_mut(s.len()).zip(s);
            rows.for_each(|(row, s)| row.iter_mut().for_each(|p| *p *= s));
        }
        products
    }

    /// The triangle of A in parameters (or derivatives), as a matrix by rows. This is added to the diagonal.
    pub fn matrix_of(&self, parameters: &[f64], add: f64) -> Vec<f64> {
        let d = self.dimension();
        let (diagonal, mut rest) = parameters[d..].split_at(d);
        let mut matrix = vec![0.0; d * d];
        for (i, a) in diagonal.iter().enumerate() {
            let (row, after) = rest.split_at(i.min(rest.len()));
            matrix[i * d..][..row.len()].copy_from_slice(row);
            matrix[i * d + i] = a + add;
            rest = after;
        }
        matrix
    }

    /// Newton's step from the frame for a gradient of −ELBO: the parameters of the mean B⁻¹ E g and the covariance B⁻¹,
    /// or, for mean field, variances 1/Bᵢᵢ.
    pub fn newton(&self, curvature: &Curvature, gradient: &[f64]) -> Option<Vec<f64>> {
        let d = self.dimension();
        let mut parameters: Vec<f64> = gradient[..d].iter().map(|g| -g).collect();
        curvature.solve(&mut parameters);
        if self.family == Family::FullRank {
            let root = curvature.inverse_root()?;
            parameters.extend((0..d).map(|i| root[i * d + i].ln()));
            (0..d).for_each(|i| parameters.extend_from_slice(&root[i * d..][..i]));
        } else {
            parameters.extend((0..d).map(|i| -0.5 * curvature.diagonal(i).ln()));
        }
        parameters.iter().all(|p| p.is_finite()).then_some(parameters)
    }

    /// g ← H₀ g with the inverse Hessian of −ELBO in the frame, for a density that curves like this on average: B⁻¹ for
    /// the mean, ½/Bᵢᵢ for logarithms of the diagonal. Full rank has B = I close to the optimum, and so has what is not
    /// known.
    pub fn precondition(&self, curvature: Option<&Curvature>, gradient: &mut [f64]) {
        let d = self.dimension();
        let curvature = curvature.filter(|_| self.family == Family::MeanField);
        let (mean, rest) = gradient.split_at_mut(d);
        if let Some(curvature) = curvature {
            curvature.solve(mean);
        }
        for (i, g) in rest[..d].iter_mut().enumerate() {
            *g *= 0.5 / curvature.map_or(1.0, |curvature| curvature.diagonal(i));
        }
    }

    /// ½ log |Σ| of the approximation, whose derivative is added to the gradient.
    pub fn log_determinant(&self, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let d = self.dimension();
        let a = &parameters[d..];
        let diagonal: f64 = a[..d].iter().sum();
        gradient[d..2 * d].iter_mut().for_each(|g| *g += 1.0);
        let low = match self.family {
            Family::LowRank(rank) => low_rank_determinant(d, rank, a, &mut gradient[d..]),
            Family::MeanField | Family::FullRank => 0.0,
        };
        self.log_determinant + diagonal + low
    }

    /// The approximation that parameters stand for.
    pub fn build(&self, parameters: &[f64]) -> Result<Elliptical, Error> {
        let d = self.dimension();
        let (u, a) = parameters.split_at(d);
        let diagonal: Vec<f64> = a[..d].iter().map(|a| a.exp()).collect();
        let mean = self.frame.place(u);
        let scale = match (self.family, &self.frame.scale) {
            (Family::MeanField, Scale::Diagonal(s)) => {
                Scale::Diagonal(s.iter().zip(&diagonal).map(|(s, a)| s * a).collect())
            }
            (Family::LowRank(_), Scale::Diagonal(s)) => {
                let columns =
                    a[d..].chunks_exact(d).map(|column| column.iter().zip(&diagonal).map(|(b, a)| b / a).collect());
                LowRank::new(s.iter().zip(&diagonal).map(|(s, a)| s * a).collect(), columns.collect()).into()
            }
            (_, frame) => {
                let lower = compose_square(frame, &square(&diagonal, &a[d..]));
                let sds: Vec<f64> = lower.chunks_exact(d).map(|row| dot(row, row).sqrt()).collect();
                near(&mean, &sds)?;
                Scale::Lower(lower)
            }
        };
        Ok(Elliptical { mean, scale, degrees: self.frame.degrees })
    }

    pub fn degrees(&self) -> Option<f64> {
        self.frame.degrees
    }

    /// Makes the frame narrower, for a density that is zero at some draws.
    pub fn shrink(&mut self) {
        self.frame.scale = Scale::Diagonal(self.frame.variances().iter().map(|v| 0.5 * v.sqrt()).collect());
        self.log_determinant = self.frame.scale.log_determinant();
    }
}

impl From<LowRank> for Scale {
    fn from(low: LowRank) -> Self {
        Self::LowRank(low)
    }
}

/// ½ log |I + Uᵀ U| for U = diag(e^−ω) B, with its derivatives in ω and B added to the gradient. With M = I + Uᵀ U and
/// V = U M⁻¹ the derivative in U is V.
fn low_rank_determinant(d: usize, rank: usize, a: &[f64], gradient: &mut [f64]) -> f64 {
    let columns: Vec<Vec<f64>> =
        a[d..].chunks_exact(d).map(|column| column.iter().zip(a).map(|(b, w)| b * (-w).exp()).collect()).collect();
    let mut inner = vec![0.0; rank * rank];
    for i in 0..rank {
        for j in 0..rank {
            inner[i * rank + j] = dot(&columns[i], &columns[j]) + f64::from(u8::from(i == j));
        }
    }
    let Ok(lower) = cholesky(rank, &inner) else { return f64::NEG_INFINITY };
    let scale = Scale::Lower(lower);
    let mut u = vec![0.0; rank];
    for row in 0..d {
        (0..rank).for_each(|k| u[k] = columns[k][row]);
        // M⁻¹ u by both triangles.
        let half = scale.solve(&u);
        let v = transposed_solve(&scale, &half);
        for k in 0..rank {
            gradient[d + k * d + row] += v[k] * (-a[row]).exp();
            gradient[row] -= v[k] * u[k];
        }
    }
    scale.log_determinant()
}

/// L⁻ᵀ x.
fn transposed_solve(scale: &Scale, x: &[f64]) -> Vec<f64> {
    let Scale::Lower(lower) = scale else { return x.to_vec() };
    let d = x.len();
    let mut x = x.to_vec();
    for row in (0..d).rev() {
        let (before, rest) = x.split_at_mut(row);
        rest[0] /= lower[row * d + row];
        before.iter_mut().zip(&lower[row * d..]).for_each(|(s, l)| *s -= l * rest[0]);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approximate::blocks::LANES;
    use crate::approximate::family::float;

    /// A smooth function of x with its gradient.
    fn function(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.copy_from_slice(&[x[0].cos() * x[1], x[0].sin() + 2.0 * x[2], 2.0 * x[1] - x[2].powi(3)]);
        x[0].sin() * x[1] + 2.0 * x[1] * x[2] - x[2].powi(4) / 4.0
    }

    /// A block of the same draw.
    fn block(z: &[f64]) -> Vec<f64> {
        z.iter().flat_map(|z| [*z; LANES]).collect()
    }

    fn point(coordinates: &Coordinates, parameters: &[f64], z: &[f64]) -> Vec<f64> {
        let mut x = Vec::new();
        coordinates.map(parameters).place(z.len(), &block(z), &mut x);
        x.into_iter().step_by(LANES).collect()
    }

    fn value(coordinates: &Coordinates, parameters: &[f64], z: &[f64], gradient: &mut [f64]) -> f64 {
        let x = point(coordinates, parameters, z);
        let mut gradient_x = [0.0; 3];
        let value = function(&x, &mut gradient_x);
        let mut sums = coordinates.sums();
        sums.add(z.len(), &block(z), &block(&gradient_x));
        // All lanes are the same.
        coordinates.pull(parameters, &sums, 0.7 / float(LANES), gradient);
        0.7 * value + coordinates.log_determinant(parameters, gradient)
    }

    #[test]
    fn gradients_are_finite_differences_and_determinants_those_of_what_is_built() {
        let lower = Scale::Lower(vec![1.0, 0.0, 0.0, 0.4, 0.8, 0.0, -0.2, 0.1, 1.3]);
        let about = Elliptical::normal(vec![0.3, -0.1, 0.5], lower);
        for (family, narrower) in
            [Family::MeanField, Family::FullRank, Family::LowRank(2)].into_iter().flat_map(|f| [(f, false), (f, true)])
        {
            let mut coordinates = Coordinates::new(family, &about);
            if narrower {
                coordinates.shrink();
            }
            let z = [0.4, -1.1, 0.6, 0.9, -0.3];
            let z = &z[..coordinates.noise()];
            let mut parameters: Vec<f64> = coordinates.origin();
            parameters.iter_mut().zip([0.1, -0.2, 0.3].iter().cycle()).for_each(|(p, add)| *p += add);
            let mut gradient = vec![0.0; parameters.len()];
            value(&coordinates, &parameters, z, &mut gradient);
            for i in 0..parameters.len() {
                let at = |by: f64| {
                    let mut moved = parameters.clone();
                    moved[i] += by;
                    value(&coordinates, &moved, z, &mut vec![0.0; parameters.len()])
                };
                let h = 1e-5;
                let slope = (at(h) - at(-h)) / (2.0 * h);
                assert!((slope - gradient[i]).abs() < 1e-8, "{family:?} {i}: {slope} {}", gradient[i]);
            }
            let built = coordinates.build(&parameters).unwrap();
            let determinant = coordinates.log_determinant(&parameters, &mut gradient);
            assert!((built.scale.log_determinant() - determinant).abs() < 1e-12, "{family:?}");
            if family != Family::LowRank(2) {
                // A triangular or diagonal A has a draw for each z; roots differ by rotations only.
                let x = point(&coordinates, &parameters, z);
                let square = built.scale.solve(&x.iter().zip(&built.mean).map(|(x, m)| x - m).collect::<Vec<f64>>());
                assert!((dot(&square, &square) - dot(z, z)).abs() < 1e-10);
            }
        }
    }
}
