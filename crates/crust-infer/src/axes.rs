//! Directions in which a distribution is isotropic: θ = L z with a lower triangular L.
//!
//! A posterior with a ridge (an intercept far from the data has a correlation of 0.9999 with its slope) has a width of
//! 1 along the ridge and of 0.01 across. With a diagonal metric steps must be as short as the ridge is wide, and chains
//! take thousands of them from one end to the other. With `LLᵀ` the covariance of a fit, z has the width 1
//! everywhere.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::covariance::shrunk_correlations;
use crate::metric::cholesky;
use crate::target::{Batch, Fatal, Target};

/// The columns of a lower triangular matrix with a positive diagonal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Numbers", into = "Numbers")]
pub struct Axes {
    dimension: usize,
    /// L by rows, only what is on and below the diagonal.
    lower: Vec<f64>,
}

/// As it is written.
#[derive(Clone, Serialize, Deserialize)]
struct Numbers {
    dimension: usize,
    lower: Vec<f64>,
}

/// Numbers that are no such matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("axes of {dimension} parameters are not a finite triangular matrix with a positive diagonal")]
pub struct BadAxes {
    dimension: usize,
}

impl Axes {
    /// The lower triangle of a square matrix by rows.
    pub fn new(dimension: usize, matrix: &[f64]) -> Result<Self, BadAxes> {
        if matrix.len() != dimension * dimension {
            return Err(BadAxes { dimension });
        }
        let lower = (0..dimension).flat_map(|i| matrix[i * dimension..=i * dimension + i].iter().copied()).collect();
        Numbers { dimension, lower }.try_into()
    }

    /// The axes of draws, about the means of their chains. `None` if they are too few, or there are too many coordinates
    /// for products with a matrix at each step.
    pub fn of(chains: &[&[Vec<f64>]]) -> Option<Self> {
        const MOST: usize = 150;
        let d = chains.first()?.first()?.len();
        let total: usize = chains.iter().map(|chain| chain.len()).sum();
        if d > MOST || total < 4 * d.max(8) {
            return None;
        }
        let mut draws: Vec<Vec<f64>> = Vec::with_capacity(total);
        for chain in chains {
            let mean: Vec<f64> = (0..d).map(|i| chain.iter().map(|x| x[i]).sum::<f64>() / count(chain.len())).collect();
            draws.extend(chain.iter().map(|x| x.iter().zip(&mean).map(|(x, m)| x - m).collect()));
        }
        let square = |i: usize| draws.iter().map(|x| x[i] * x[i]).sum::<f64>() / count(total);
        let deviation: Vec<f64> = (0..d).map(|i| square(i).sqrt()).collect();
        let views: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
        let mut covariance = shrunk_correlations(&views, &vec![0.0; d], &deviation);
        for (i, row) in covariance.chunks_exact_mut(d).enumerate() {
            row.iter_mut().zip(&deviation).for_each(|(c, s)| *c *= s * deviation[i]);
        }
        Self::new(d, &cholesky(d, &covariance).ok()?).ok()
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The least width of a coordinate where those before it are fixed, as a share of its whole width: 1 without
    /// correlations, near 0 on a ridge.
    pub fn narrowest(&self) -> f64 {
        let share = |(i, row): (usize, &[f64])| row[i] / row.iter().map(|l| l * l).sum::<f64>().sqrt();
        self.rows().map(share).fold(1.0, f64::min)
    }

    /// The rows of L, each up to its diagonal.
    fn rows(&self) -> impl DoubleEndedIterator<Item = (usize, &[f64])> {
        (0..self.dimension).map(|i| (i, &self.lower[i * (i + 1) / 2..=i * (i + 1) / 2 + i]))
    }

    /// θ = L z.
    pub fn to_parameters(&self, z: &[f64], parameters: &mut [f64]) {
        for (i, row) in self.rows() {
            parameters[i] = row.iter().zip(z).map(|(l, z)| l * z).sum();
        }
    }

    /// z = L⁻¹ θ.
    pub fn to_coordinates(&self, parameters: &[f64], z: &mut [f64]) {
        for (i, row) in self.rows() {
            let before: f64 = row[..i].iter().zip(&*z).map(|(l, z)| l * z).sum();
            z[i] = (parameters[i] - before) / row[i];
        }
    }

    /// The gradient with respect to z: Lᵀ g.
    pub(crate) fn pull_back(&self, gradient: &[f64], into: &mut [f64]) {
        into.fill(0.0);
        for (i, row) in self.rows() {
            into.iter_mut().zip(row).for_each(|(to, l)| *to += l * gradient[i]);
        }
    }

    /// The gradient with respect to θ from that with respect to z: L⁻ᵀ g.
    pub(crate) fn push_forward(&self, gradient: &[f64], into: &mut [f64]) {
        into.copy_from_slice(gradient);
        for (i, row) in self.rows().rev() {
            into[i] /= row[i];
            let value = into[i];
            into.iter_mut().zip(&row[..i]).for_each(|(to, l)| *to -= l * value);
        }
    }
}

/// A target in the coordinates of axes: log f(L z), but for the constant log |L|.
#[derive(Clone, Debug)]
pub struct Along<T> {
    target: T,
    axes: Arc<Axes>,
    z: Vec<f64>,
}

impl<T: Target> Along<T> {
    pub fn new(target: T, axes: Arc<Axes>) -> Self {
        Self { target, axes, z: vec![] }
    }
}

impl<T: Target> Target for Along<T> {
    fn dimension(&self) -> usize {
        self.target.dimension()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        let lanes = batch.lanes;
        self.z.clone_from(&batch.x);
        for (i, row) in self.axes.rows() {
            let to = &mut batch.x[i * lanes..(i + 1) * lanes];
            to.fill(0.0);
            for (l, z) in row.iter().zip(self.z.chunks_exact(lanes)) {
                to.iter_mut().zip(z).for_each(|(to, z)| *to += l * z);
            }
        }
        let evaluated = self.target.evaluate(batch);
        batch.x.copy_from_slice(&self.z);
        evaluated?;
        if batch.wants_gradient() {
            // Row j of Lᵀg needs g from j on: rows before it may be overwritten.
            for (i, row) in self.axes.rows() {
                let (before, here) = batch.gradient.split_at_mut(i * lanes);
                let here = &mut here[..lanes];
                for (l, to) in row[..i].iter().zip(before.chunks_exact_mut(lanes)) {
                    to.iter_mut().zip(&*here).for_each(|(to, g)| *to += l * g);
                }
                here.iter_mut().for_each(|g| *g *= row[i]);
            }
        }
        Ok(())
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        self.target.rejection(lane)
    }
}

#[expect(clippy::cast_precision_loss, reason = "draws are far fewer than 2⁵³")]
fn count(n: usize) -> f64 {
    n as f64
}

impl TryFrom<Numbers> for Axes {
    type Error = BadAxes;

    fn try_from(Numbers { dimension, lower }: Numbers) -> Result<Self, BadAxes> {
        let axes = Self { dimension, lower };
        let whole = axes.lower.len() == dimension * (dimension + 1) / 2 && axes.lower.iter().all(|l| l.is_finite());
        if whole && axes.rows().all(|(i, row)| row[i] > 0.0) { Ok(axes) } else { Err(BadAxes { dimension }) }
    }
}

impl From<Axes> for Numbers {
    fn from(Axes { dimension, lower }: Axes) -> Self {
        Self { dimension, lower }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const L: [f64; 9] = [2.0, 9.0, 9.0, -1.0, 0.5, 9.0, 3.0, 0.25, 4.0];

    /// By hand: what is above the diagonal does not count.
    #[test]
    fn maps_are_products_with_the_matrix() {
        let axes = Axes::new(3, &L).unwrap();
        let (mut x, mut z) = ([0.0; 3], [0.0; 3]);
        axes.to_parameters(&[1.0, 2.0, -1.0], &mut x);
        assert_eq!(x.to_vec(), [2.0, 0.0, -0.5]);
        axes.to_coordinates(&x, &mut z);
        assert_eq!(z.to_vec(), [1.0, 2.0, -1.0]);
        let (mut pulled, mut back) = ([0.0; 3], [0.0; 3]);
        axes.pull_back(&[1.0, 10.0, 100.0], &mut pulled);
        assert_eq!(pulled.to_vec(), [292.0, 30.0, 400.0]);
        axes.push_forward(&pulled, &mut back);
        assert_eq!(back.to_vec(), [1.0, 10.0, 100.0]);
    }

    #[test]
    fn only_triangles_with_a_positive_diagonal_are_axes() {
        assert!(Axes::new(3, &L[..8]).is_err());
        assert!(Axes::new(1, &[0.0]).is_err() && Axes::new(1, &[f64::NAN]).is_err());
        let axes = Axes::new(3, &L).unwrap();
        let text = serde_json::to_string(&axes).unwrap();
        assert_eq!(serde_json::from_str::<Axes>(&text).unwrap(), axes);
        assert!(serde_json::from_str::<Axes>(&text.replace("4.0", "-4.0")).is_err());
    }

    /// log f = Σ sin(k xₖ) + x₁x₂x₃ for a few lanes at once.
    #[derive(Clone)]
    struct Waves;

    impl Target for Waves {
        fn dimension(&self) -> usize {
            3
        }

        fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
            for lane in 0..batch.lanes {
                let x: Vec<f64> = batch.point(lane).collect();
                batch.log_prior[lane] = (x[0]).sin() + (2.0 * x[1]).sin() + (3.0 * x[2]).sin();
                batch.log_likelihood[lane] = x[0] * x[1] * x[2];
                let gradient = [
                    x[0].cos() + x[1] * x[2],
                    2.0 * (2.0 * x[1]).cos() + x[0] * x[2],
                    3.0 * (3.0 * x[2]).cos() + x[0] * x[1],
                ];
                batch.gradient.iter_mut().skip(lane).step_by(batch.lanes).zip(gradient).for_each(|(to, g)| *to = g);
            }
            Ok(())
        }
    }

    /// Values are those at L z, and gradients those of differences along z.
    #[test]
    fn a_target_along_axes_is_the_target_at_their_images() {
        let axes = Arc::new(Axes::new(3, &L).unwrap());
        let mut along = Along::new(Waves, Arc::clone(&axes));
        let value = |target: &mut Along<Waves>, z: [f64; 3]| {
            let mut batch = Batch::default();
            batch.resize(3, 2, true);
            batch.beta.fill(1.0);
            batch.place(&[vec![0.0; 3], z.to_vec()]);
            target.evaluate(&mut batch).unwrap();
            assert_eq!(batch.point(1).collect::<Vec<f64>>(), z, "points stay what they are");
            let gradient: Vec<f64> = batch.gradient.iter().skip(1).step_by(2).copied().collect();
            (batch.log_prior[1] + batch.log_likelihood[1], gradient)
        };
        let z = [0.3, -0.4, 0.2];
        let mut x = [0.0; 3];
        axes.to_parameters(&z, &mut x);
        let (here, gradient) = value(&mut along, z);
        let by_hand = x[0].sin() + (2.0 * x[1]).sin() + (3.0 * x[2]).sin() + x[0] * x[1] * x[2];
        assert!((here - by_hand).abs() < 1e-14);
        for i in 0..3 {
            let mut at = |step: f64| {
                let mut z = z;
                z[i] += step;
                value(&mut along, z).0
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((gradient[i] - difference).abs() < 1e-7, "{i}: {} {difference}", gradient[i]);
        }
    }

    /// Chains in different places share the directions in which they vary; a ridge shows.
    #[test]
    fn axes_are_those_within_chains() {
        use crust_math::random::{Purpose, StreamKey};
        let chain = |k: u32, at: f64| {
            let mut stream = StreamKey::new(5, Purpose::TEST).chain(k).stream();
            let mut draw = || {
                let along = stream.standard_normal();
                vec![at + along, 2.0 * at - 1e3 * along + stream.standard_normal()]
            };
            (0..500).map(|_| draw()).collect::<Vec<Vec<f64>>>()
        };
        let chains = [chain(1, 0.0), chain(2, 50.0)];
        let views: Vec<&[Vec<f64>]> = chains.iter().map(Vec::as_slice).collect();
        let axes = Axes::of(&views).unwrap();
        assert!((axes.narrowest() / 1e-3 - 1.0).abs() < 0.1, "{}", axes.narrowest());
        let mut x = [0.0; 2];
        axes.to_parameters(&[1.0, 0.0], &mut x);
        assert!((x[0] - 1.0).abs() < 0.1 && (x[1] / x[0] + 1e3).abs() < 0.2, "{x:?}");
        assert!(Axes::of(&[&chains[0][..20]]).is_none() && Axes::of(&[]).is_none());
    }
}
