//! Square roots S of covariance matrices Σ = S Sᵀ, in the forms that fits give them.

use std::rc::Rc;

use crate::metric::cholesky;
use crate::vector::{add_scaled, dot};

use super::Error;
use super::lbfgs::Pair;

/// A square matrix S that can be applied, undone and measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    Diagonal(Vec<f64>),
    /// A lower triangular matrix by rows, zeros included.
    Lower(Vec<f64>),
    Product(Product),
    LowRank(LowRank),
}

/// S = (I + pₖqₖᵀ) ⋯ (I + p₁q₁ᵀ) diag(s): the product form of the BFGS estimate of the inverse Hessian.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    diagonal: Vec<f64>,
    /// The first one first.
    updates: Vec<Update>,
}

/// I + pqᵀ.
#[derive(Clone, Debug, PartialEq)]
struct Update {
    p: Vec<f64>,
    q: Vec<f64>,
    /// Its determinant, 1 + qᵀp.
    determinant: f64,
}

/// S = diag(s) (I + V diag(c) Vᵀ), where the r columns of V are orthonormal.
#[derive(Clone, Debug, PartialEq)]
pub struct LowRank {
    diagonal: Vec<f64>,
    columns: Vec<Vec<f64>>,
    stretch: Vec<f64>,
}

impl Product {
    /// BFGS updates of diag(s)², as S of H = S Sᵀ: an update is (I + p qᵀ) H (I + q pᵀ) with p = s/(sᵀy) and
    /// q = √(sᵀy / sᵀBs) B s − y, where B = H⁻¹ (Brodlie, Gourlay & Greenstadt 1973).
    pub fn new(diagonal: Vec<f64>, pairs: &[Rc<Pair>]) -> Self {
        let mut root = Self { diagonal, updates: Vec::with_capacity(pairs.len()) };
        for pair in pairs {
            let mut image = root.solve(&pair.s);
            // sᵀ B s = |S⁻¹ s|² and B s = S⁻ᵀ S⁻¹ s.
            let square = dot(&image, &image);
            root.solve_transposed(&mut image);
            let stretch = (pair.product / square).sqrt();
            let q: Vec<f64> = image.iter().zip(&pair.y).map(|(b, y)| stretch * b - y).collect();
            let p: Vec<f64> = pair.s.iter().map(|s| s / pair.product).collect();
            let determinant = 1.0 + dot(&p, &q);
            let usable = q.iter().all(|q| q.is_finite()) && determinant > 0.0;
            if usable {
                root.updates.push(Update { p, q, determinant });
            }
        }
        root
    }

    fn apply_to(&self, z: &[f64], to: &mut Vec<f64>) {
        let first = to.len();
        to.extend(z.iter().zip(&self.diagonal).map(|(z, s)| z * s));
        let x = &mut to[first..];
        for Update { p, q, .. } in &self.updates {
            let along = dot(q, x);
            add_scaled(x, along, p);
        }
    }

    fn apply_transposed(&self, g: &[f64]) -> Vec<f64> {
        let mut g = g.to_vec();
        for Update { p, q, .. } in self.updates.iter().rev() {
            let along = dot(p, &g);
            add_scaled(&mut g, along, q);
        }
        g.iter_mut().zip(&self.diagonal).for_each(|(g, s)| *g *= s);
        g
    }

    /// (I + pqᵀ)⁻¹ = I − pqᵀ/(1 + qᵀp).
    fn solve(&self, x: &[f64]) -> Vec<f64> {
        let mut z = x.to_vec();
        for Update { p, q, determinant } in self.updates.iter().rev() {
            let along = -dot(q, &z) / determinant;
            add_scaled(&mut z, along, p);
        }
        z.iter_mut().zip(&self.diagonal).for_each(|(z, s)| *z /= s);
        z
    }

    fn solve_transposed(&self, g: &mut [f64]) {
        g.iter_mut().zip(&self.diagonal).for_each(|(g, s)| *g /= s);
        for Update { p, q, determinant } in &self.updates {
            let along = -dot(p, g) / determinant;
            add_scaled(g, along, q);
        }
    }

    fn log_determinant(&self) -> f64 {
        let updates = self.updates.iter().map(|update| update.determinant.ln());
        self.diagonal.iter().map(|s| s.ln()).sum::<f64>() + updates.sum::<f64>()
    }
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

    /// x ← (I + V diag(f(c)) Vᵀ) x.
    fn stretched(&self, x: &mut [f64], f: impl Fn(f64) -> f64) {
        let along: Vec<f64> = self.columns.iter().zip(&self.stretch).map(|(v, &c)| f(c) * dot(v, x)).collect();
        along.iter().zip(&self.columns).for_each(|(a, v)| add_scaled(x, *a, v));
    }

    fn apply_to(&self, z: &[f64], to: &mut Vec<f64>) {
        let first = to.len();
        to.extend_from_slice(z);
        let x = &mut to[first..];
        self.stretched(x, |c| c);
        x.iter_mut().zip(&self.diagonal).for_each(|(x, s)| *x *= s);
    }

    fn apply_transposed(&self, g: &[f64]) -> Vec<f64> {
        let mut g: Vec<f64> = g.iter().zip(&self.diagonal).map(|(g, s)| g * s).collect();
        self.stretched(&mut g, |c| c);
        g
    }

    fn solve(&self, x: &[f64]) -> Vec<f64> {
        let mut z: Vec<f64> = x.iter().zip(&self.diagonal).map(|(x, s)| x / s).collect();
        self.stretched(&mut z, |c| -c / (1.0 + c));
        z
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

impl Scale {
    /// The root of a covariance matrix, of which the lower triangle is read.
    pub fn of_covariance(dimension: usize, covariance: &[f64]) -> Result<Self, Error> {
        Ok(Self::Lower(cholesky(dimension, covariance).map_err(|bad| Error::Covariance { row: bad.row })?))
    }

    pub fn dimension(&self) -> usize {
        match self {
            Self::Diagonal(diagonal)
            | Self::Product(Product { diagonal, .. })
            | Self::LowRank(LowRank { diagonal, .. }) => diagonal.len(),
            Self::Lower(lower) => lower.len().isqrt(),
        }
    }

    /// S z.
    pub fn apply(&self, z: &[f64]) -> Vec<f64> {
        let mut x = Vec::with_capacity(z.len());
        self.apply_to(z, &mut x);
        x
    }

    /// Adds S z to a list.
    pub fn apply_to(&self, z: &[f64], to: &mut Vec<f64>) {
        match self {
            Self::Diagonal(s) => to.extend(z.iter().zip(s).map(|(z, s)| z * s)),
            Self::Lower(lower) => {
                to.extend(lower.chunks_exact(z.len()).enumerate().map(|(i, row)| dot(&row[..=i], &z[..=i])));
            }
            Self::Product(product) => product.apply_to(z, to),
            Self::LowRank(low) => low.apply_to(z, to),
        }
    }

    /// c S.
    #[must_use]
    pub fn scaled(mut self, c: f64) -> Self {
        let all = match &mut self {
            Self::Diagonal(s) | Self::Lower(s) => s,
            Self::Product(Product { diagonal, .. }) | Self::LowRank(LowRank { diagonal, .. }) => diagonal,
        };
        all.iter_mut().for_each(|s| *s *= c);
        self
    }

    /// Sᵀ g.
    pub fn apply_transposed(&self, g: &[f64]) -> Vec<f64> {
        match self {
            Self::Diagonal(s) => g.iter().zip(s).map(|(g, s)| g * s).collect(),
            Self::Lower(lower) => {
                let mut out = vec![0.0; g.len()];
                for ((i, row), g) in lower.chunks_exact(g.len()).enumerate().zip(g) {
                    add_scaled(&mut out[..=i], *g, &row[..=i]);
                }
                out
            }
            Self::Product(product) => product.apply_transposed(g),
            Self::LowRank(low) => low.apply_transposed(g),
        }
    }

    /// S⁻¹ x.
    pub fn solve(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Self::Diagonal(s) => x.iter().zip(s).map(|(x, s)| x / s).collect(),
            Self::Lower(lower) => {
                let mut z = x.to_vec();
                for (i, row) in lower.chunks_exact(x.len()).enumerate() {
                    z[i] = (x[i] - dot(&row[..i], &z[..i])) / row[i];
                }
                z
            }
            Self::Product(product) => product.solve(x),
            Self::LowRank(low) => low.solve(x),
        }
    }

    /// diag(r) S, for positive r.
    #[must_use]
    pub fn rescaled(&self, r: &[f64]) -> Self {
        let times = |x: &[f64]| -> Vec<f64> { x.iter().zip(r).map(|(x, r)| x * r).collect() };
        match self {
            Self::Diagonal(s) => Self::Diagonal(times(s)),
            Self::Lower(lower) => {
                let rows = lower.chunks_exact(r.len().max(1)).zip(r);
                Self::Lower(rows.flat_map(|(row, r)| row.iter().map(move |l| l * r)).collect())
            }
            // diag(r) (I + pqᵀ) = (I + (rp)(q/r)ᵀ) diag(r).
            Self::Product(product) => {
                let over = |x: &[f64]| x.iter().zip(r).map(|(x, r)| x / r).collect();
                let rescaled = |update: &Update| Update { p: times(&update.p), q: over(&update.q), ..*update };
                let updates = product.updates.iter().map(rescaled).collect();
                Self::Product(Product { diagonal: times(&product.diagonal), updates })
            }
            Self::LowRank(low) => Self::LowRank(LowRank { diagonal: times(&low.diagonal), ..low.clone() }),
        }
    }

    /// log |S|.
    pub fn log_determinant(&self) -> f64 {
        match self {
            Self::Diagonal(s) => s.iter().map(|s| s.ln()).sum(),
            Self::Lower(lower) => lower.iter().step_by(self.dimension() + 1).map(|l| l.ln()).sum(),
            Self::Product(product) => product.log_determinant(),
            Self::LowRank(low) => {
                low.diagonal.iter().map(|s| s.ln()).sum::<f64>() + low.stretch.iter().map(|c| c.ln_1p()).sum::<f64>()
            }
        }
    }

    /// The diagonal of S Sᵀ.
    pub fn variances(&self) -> Vec<f64> {
        match self {
            Self::Diagonal(s) => s.iter().map(|s| s * s).collect(),
            Self::Lower(lower) => lower.chunks_exact(self.dimension()).map(|row| dot(row, row)).collect(),
            Self::Product(_) | Self::LowRank(_) => {
                let d = self.dimension();
                let mut unit = vec![0.0; d];
                let row = |i: usize| {
                    unit.fill(0.0);
                    unit[i] = 1.0;
                    let row = self.apply_transposed(&unit);
                    dot(&row, &row)
                };
                (0..d).map(row).collect()
            }
        }
    }

    /// The diagonal of (S Sᵀ)⁻¹, whose elements are |S⁻¹ eᵢ|².
    pub fn precisions(&self) -> Vec<f64> {
        let d = self.dimension();
        let mut unit = vec![0.0; d];
        let column = |i: usize| {
            unit.fill(0.0);
            unit[i] = 1.0;
            let column = self.solve(&unit);
            dot(&column, &column)
        };
        (0..d).map(column).collect()
    }

    /// S Sᵀ by rows.
    pub fn covariance(&self) -> Vec<f64> {
        let d = self.dimension();
        let mut unit = vec![0.0; d];
        let row = |i: usize| {
            unit.fill(0.0);
            unit[i] = 1.0;
            self.apply_transposed(&unit)
        };
        let rows: Vec<Vec<f64>> = (0..d).map(row).collect();
        let mut covariance = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..=i {
                let c = dot(&rows[i], &rows[j]);
                (covariance[i * d + j], covariance[j * d + i]) = (c, c);
            }
        }
        covariance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approximate::lbfgs::Place;
    use crust_math::random::{Purpose, StreamKey};

    fn close(a: &[f64], b: &[f64], tolerance: f64) {
        a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < tolerance, "{a} for {b}"));
    }

    /// The gradient of a quadratic function with a given Hessian.
    fn place(hessian: &[f64], x: Vec<f64>) -> Place {
        let gradient = hessian.chunks_exact(x.len()).map(|row| dot(row, &x)).collect();
        Place { x, value: 0.0, gradient }
    }

    fn roots() -> Vec<Scale> {
        let mut stream = StreamKey::new(3, Purpose::TEST).stream();
        let mut normals = |n: usize| (0..n).map(|_| stream.standard_normal()).collect::<Vec<f64>>();
        let root = normals(16);
        let hessian: Vec<f64> = (0..16)
            .map(|k| dot(&root[k / 4 * 4..][..4], &root[k % 4 * 4..][..4]) + f64::from(u8::from(k % 5 == 0)))
            .collect();
        let places: Vec<Place> = (0..4).map(|_| place(&hessian, normals(4))).collect();
        let pairs: Vec<Rc<Pair>> =
            places.windows(2).filter_map(|two| Pair::new(&two[0], &two[1]).map(Rc::new)).collect();
        assert_eq!(pairs.len(), 3);
        vec![
            Scale::Diagonal(vec![0.5, 2.0, 1.0, 3.0]),
            Scale::of_covariance(4, &hessian).unwrap(),
            Scale::Product(Product::new(vec![1.0, 0.5, 2.0, 1.5], &pairs)),
            Scale::LowRank(LowRank::new(vec![1.0, 0.5, 2.0, 1.5], vec![normals(4), normals(4)])),
        ]
    }

    #[test]
    fn roots_can_be_undone_and_measured() {
        let (z, g) = ([0.3, -1.0, 0.7, 2.0], [1.0, 0.2, -0.4, 0.9]);
        for scale in roots() {
            close(&scale.solve(&scale.apply(&z)), &z, 1e-12);
            assert!((dot(&scale.apply(&z), &g) - dot(&z, &scale.apply_transposed(&g))).abs() < 1e-12);
            let covariance = scale.covariance();
            close(&scale.variances(), &[covariance[0], covariance[5], covariance[10], covariance[15]], 1e-12);
            let lower = Scale::of_covariance(4, &covariance).unwrap();
            assert!((lower.log_determinant() - scale.log_determinant()).abs() < 1e-12, "{scale:?}");
            let r = [2.0, 0.1, 3.0, 0.7];
            let stretched: Vec<f64> = scale.apply(&z).iter().zip(&r).map(|(x, r)| x * r).collect();
            close(&scale.rescaled(&r).apply(&z), &stretched, 1e-12);
        }
    }

    #[test]
    fn the_product_form_maps_changes_of_the_gradient_to_steps() {
        // The secant equation H y = s, which defines BFGS together with the least change.
        let mut stream = StreamKey::new(4, Purpose::TEST).stream();
        let mut normals = || (0..3).map(|_| stream.standard_normal()).collect::<Vec<f64>>();
        let hessian = [2.0, 0.3, 0.1, 0.3, 1.0, -0.2, 0.1, -0.2, 4.0];
        let places: Vec<Place> = (0..3).map(|_| place(&hessian, normals())).collect();
        let pairs: Vec<Rc<Pair>> =
            places.windows(2).filter_map(|two| Pair::new(&two[0], &two[1]).map(Rc::new)).collect();
        let scale = Scale::Product(Product::new(vec![1.0, 2.0, 0.5], &pairs));
        let last = pairs.last().unwrap();
        close(&scale.apply(&scale.apply_transposed(&last.y)), &last.s, 1e-12);
    }

    #[test]
    fn low_rank_roots_have_the_covariance_they_stand_for() {
        let (s, u) = ([1.0, 0.5, 2.0], [vec![1.0, -0.3, 0.2], vec![0.5, 0.9, 0.1]]);
        let covariance = Scale::LowRank(LowRank::new(s.to_vec(), u.to_vec())).covariance();
        for i in 0..3 {
            for j in 0..3 {
                let inner: f64 = u.iter().map(|u| u[i] * u[j]).sum::<f64>() + f64::from(u8::from(i == j));
                assert!((covariance[i * 3 + j] - s[i] * s[j] * inner).abs() < 1e-13);
            }
        }
    }
}
