//! Factor analysis of draws: the few directions in which many coordinates vary together.
//!
//! The covariance is taken to be C = Ψ + F Fᵀ with a diagonal Ψ and k columns F. Given Ψ, the likelihood is greatest
//! with F = Ψ^½ V (Λ − 1)^½, where V and Λ are the k leading eigenvectors and eigenvalues of Ψ^(−½) S Ψ^(−½); given F,
//! with Ψ = diag(S − F Fᵀ) (Lawley 1940). Both are done in turn. S, the sample covariance of n draws, is never
//! computed: subspace iterations need products with the n × d matrix of draws only, and cost n d k.
//!
//! How many factors there are, the draws decide: the fit to one half must make the other half more likely.

use crust_math::linalg::gemm::{Operand, multiply};
use pxfm::f_log;

use crate::low_rank::LowRank;
use crate::vector::{add_scaled, dot};

/// Numbers of factors that are tried, up to the first one that does not help.
const RANKS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Numbers in the matrix of draws; of more draws than that, every so many are taken.
const MOST_NUMBERS: usize = 1 << 20;
const FEWEST_DRAWS: usize = 40;
/// More factors must be worth as many nats for each draw of the other half.
const WORTH: f64 = 0.1;
/// Rounds of subspace iterations and of Ψ.
const ROUNDS: usize = 40;
/// No coordinate is explained by factors but for less than this share of its variance.
const UNEXPLAINED: f64 = 1e-3;

/// S of C = S Sᵀ for draws about their mean; coordinates that are not to be linked stand for themselves. `None` if no
/// factors are found.
pub(crate) fn fit(draws: &[&[f64]], mean: &[f64], deviation: &[f64], linked: &[bool]) -> Option<LowRank> {
    let columns: Vec<usize> = (0..mean.len()).filter(|&i| linked[i]).collect();
    let d = columns.len();
    let step = (draws.len() * d).div_ceil(MOST_NUMBERS).max(1);
    let standardised = |x: &&[f64]| columns.iter().map(|&i| (x[i] - mean[i]) / deviation[i]).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = draws.iter().step_by(step).map(standardised).collect();
    if rows.len() < FEWEST_DRAWS || d < 2 {
        return None;
    }
    let (first, second) = rows.split_at(rows.len() / 2);
    let halves = [Draws::new(first), Draws::new(second)];
    let mut models = [Factors::none(d), Factors::none(d)];
    let score = |models: &[Factors; 2]| models[0].score(second) + models[1].score(first);
    let (mut best, mut rank) = (score(&models), 0);
    for k in RANKS.into_iter().take_while(|&k| 4 * k <= d && 8 * k <= rows.len()) {
        let next = [models[0].with_rank(k, &halves[0]), models[1].with_rank(k, &halves[1])];
        let value = score(&next);
        // One factor may not help where several do: two are tried in any case.
        if value.is_nan() || (value < best + 2.0 * WORTH && k > 1) {
            break;
        }
        if value >= best + 2.0 * WORTH {
            (best, rank) = (value, k);
        }
        models = next;
    }
    if rank == 0 {
        return None;
    }
    let whole = Draws::new(&rows);
    let model = RANKS.into_iter().take_while(|&k| k <= rank).fold(Factors::none(d), |m, k| m.with_rank(k, &whole));
    // back to the coordinates of the parameters
    let mut widths = deviation.to_vec();
    columns.iter().zip(&model.unique).for_each(|(&i, psi)| widths[i] *= psi.sqrt());
    let spread = |(v, square): (&Vec<f64>, &f64)| {
        let mut column = vec![0.0; mean.len()];
        let length = (square - 1.0).max(0.0).sqrt();
        columns.iter().zip(v).for_each(|(&i, v)| column[i] = v * length);
        column
    };
    Some(LowRank::new(widths, model.directions.iter().zip(&model.squares).map(spread).collect()))
}

/// Draws as a matrix, draw by draw.
struct Draws {
    n: usize,
    d: usize,
    numbers: Vec<f64>,
    /// The variance of each coordinate.
    variances: Vec<f64>,
}

impl Draws {
    fn new(rows: &[Vec<f64>]) -> Self {
        let d = rows.first().map_or(0, Vec::len);
        let mut variances = vec![0.0; d];
        for row in rows {
            variances.iter_mut().zip(row).for_each(|(v, x)| *v += x * x / count(rows.len()));
        }
        Self { n: rows.len(), d, numbers: rows.concat(), variances }
    }

    /// Ψ^(−½) S Ψ^(−½) V, with V given by columns and `scale` = Ψ^(−½).
    fn times(&self, vectors: &[Vec<f64>], scale: &[f64]) -> Vec<Vec<f64>> {
        let (n, d, k) = (self.n, self.d, vectors.len());
        let scaled: Vec<f64> = vectors.iter().flat_map(|v| v.iter().zip(scale).map(|(v, s)| v * s)).collect();
        let matrix = Operand::new(&self.numbers, d);
        let (mut along, mut back) = (vec![0.0; n * k], vec![0.0; d * k]);
        multiply(&mut along, (n, d, k), matrix.transposed(), Operand::new(&scaled, d));
        multiply(&mut back, (d, n, k), matrix, Operand::new(&along, n));
        let column = |c: &[f64]| c.iter().zip(scale).map(|(x, s)| x * s / count(n)).collect();
        back.chunks_exact(d).map(column).collect()
    }
}

/// Ψ + F Fᵀ, as the eigenvectors and eigenvalues of Ψ^(−½)(Ψ + F Fᵀ)Ψ^(−½) that are not 1.
#[derive(Clone)]
struct Factors {
    unique: Vec<f64>,
    directions: Vec<Vec<f64>>,
    squares: Vec<f64>,
}

impl Factors {
    fn none(d: usize) -> Self {
        Self { unique: vec![1.0; d], directions: vec![], squares: vec![] }
    }

    /// The fit with more factors, from this one on.
    fn with_rank(&self, k: usize, draws: &Draws) -> Self {
        let mut model = self.clone();
        // Any directions that are not orthogonal to what is looked for will do: draws themselves.
        for j in model.directions.len()..k {
            let at = j * (draws.n / k);
            model.directions.push(draws.numbers[at * draws.d..(at + 1) * draws.d].to_vec());
        }
        for _ in 0..ROUNDS {
            model.turn(draws);
            let mut explained = vec![0.0; draws.d];
            for (v, square) in model.directions.iter().zip(&model.squares) {
                let more = (square - 1.0).max(0.0);
                explained.iter_mut().zip(v).for_each(|(to, v)| *to += more * v * v);
            }
            for ((psi, share), variance) in model.unique.iter_mut().zip(explained).zip(&draws.variances) {
                let own = (variance - *psi * share).clamp(UNEXPLAINED * variance, *variance);
                // Half of the way on the scale of logarithms: whole steps may go back and forth for ever.
                *psi = (*psi * own).sqrt().max(f64::MIN_POSITIVE);
            }
        }
        model.turn(draws);
        model
    }

    /// Leading eigenvectors and eigenvalues, from those of a Ψ that was a little different.
    fn turn(&mut self, draws: &Draws) {
        let scale: Vec<f64> = self.unique.iter().map(|psi| psi.sqrt().recip()).collect();
        for _ in 0..2 {
            self.directions = draws.times(&self.directions, &scale);
            self.squares = orthogonal(&mut self.directions);
        }
    }

    /// The mean log density of draws but for a constant.
    fn score(&self, rows: &[Vec<f64>]) -> f64 {
        let squares = || self.squares.iter().map(|s| s.max(1.0));
        let log_determinant: f64 = self.unique.iter().map(|&psi| f_log(psi)).chain(squares().map(f_log)).sum();
        let scale: Vec<f64> = self.unique.iter().map(|psi| psi.sqrt().recip()).collect();
        let one = |row: &Vec<f64>| -> f64 {
            let w: Vec<f64> = row.iter().zip(&scale).map(|(x, s)| x * s).collect();
            let along = self.directions.iter().zip(squares()).map(|(v, s)| (1.0 - s.recip()) * dot(v, &w).powi(2));
            dot(&w, &w) - along.sum::<f64>()
        };
        let mean = rows.iter().map(one).sum::<f64>() / count(rows.len());
        -0.5 * (log_determinant + mean)
    }
}

/// Makes columns orthonormal, the longest first (Gram–Schmidt, twice), and returns their lengths: after A V they
/// converge to the eigenvalues of A.
fn orthogonal(columns: &mut [Vec<f64>]) -> Vec<f64> {
    let mut lengths = vec![0.0; columns.len()];
    for (i, length_of) in lengths.iter_mut().enumerate() {
        let (before, rest) = columns.split_at_mut(i);
        let column = &mut rest[0];
        for _ in 0..2 {
            for other in &*before {
                let along = -dot(other, column);
                add_scaled(column, along, other);
            }
        }
        let length = dot(column, column).sqrt();
        *length_of = length;
        // What lies in the span of the others is no direction of its own.
        let factor = if length > 0.0 { length.recip() } else { 0.0 };
        column.iter_mut().for_each(|x| *x *= factor);
    }
    lengths
}

#[expect(clippy::cast_precision_loss, reason = "draws are far fewer than 2⁵³")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    const D: usize = 60;

    /// The loading of a coordinate on each of two factors, and its own deviation.
    fn loadings(i: usize) -> ([f64; 2], f64) {
        let sign = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        ([3.0 * sign, if i < 20 { 1.5 } else { 0.0 }], 0.5 + 0.1 * count(i % 5))
    }

    fn draws(n: u32, with_factors: bool) -> Vec<Vec<f64>> {
        let draw = |k| {
            let mut stream = StreamKey::new(9, Purpose::TEST).chain(k).stream();
            let (a, b) = (stream.standard_normal(), stream.standard_normal());
            let mut one = |i| {
                let ([u, v], own) = loadings(i);
                let common = if with_factors { u * a + v * b } else { 0.0 };
                10.0 + common + own * stream.standard_normal()
            };
            (0..D).map(&mut one).collect()
        };
        (0..n).map(draw).collect()
    }

    fn fitted(draws: &[Vec<f64>], linked: &[bool]) -> Option<LowRank> {
        let views: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
        let mean: Vec<f64> = (0..D).map(|i| views.iter().map(|x| x[i]).sum::<f64>() / count(views.len())).collect();
        let square = |i: usize| views.iter().map(|x| (x[i] - mean[i]).powi(2)).sum::<f64>() / count(views.len());
        let deviation: Vec<f64> = (0..D).map(|i| square(i).sqrt()).collect();
        fit(&views, &mean, &deviation, linked)
    }

    /// Element (i, j) of S Sᵀ.
    fn covariance(root: &LowRank, i: usize, j: usize) -> f64 {
        let mut x = vec![0.0; D];
        x[j] = 1.0;
        root.apply_transposed(&mut x);
        root.apply(&mut x);
        x[i]
    }

    /// With as many draws as eight for each coordinate, covariances are those of the factors, to four standard errors
    /// of about 10 · √(2/480); what is not common is what coordinates have of their own, to a fifth.
    #[test]
    fn factors_are_found_again() {
        let root = fitted(&draws(480, true), &[true; D]).expect("two factors");
        assert_eq!(root.rank(), 2);
        for (i, j) in [(0, 0), (0, 1), (3, 30), (40, 41), (59, 5)] {
            let (([a, b], own), ([c, e], _)) = (loadings(i), loadings(j));
            let exact = a * c + b * e + if i == j { own * own } else { 0.0 };
            assert!((covariance(&root, i, j) - exact).abs() < 2.6, "{i} {j}: {} {exact}", covariance(&root, i, j));
        }
        // Coordinates that move together apart from their own noise: C₀₀ + C₂₂ − 2C₀₂.
        let apart = covariance(&root, 0, 0) + covariance(&root, 2, 2) - 2.0 * covariance(&root, 0, 2);
        let exact = loadings(0).1.powi(2) + loadings(2).1.powi(2);
        assert!((apart / exact - 1.0).abs() < 0.2, "{apart} {exact}");
    }

    #[test]
    fn chance_is_no_factor() {
        assert!(fitted(&draws(120, false), &[true; D]).is_none());
        assert!(fitted(&draws(30, true), &[true; D]).is_none(), "too few draws");
    }

    #[test]
    fn coordinates_that_are_not_linked_stand_for_themselves() {
        let mut linked = [true; D];
        linked[7] = false;
        let root = fitted(&draws(480, true), &linked).expect("two factors");
        assert!(covariance(&root, 7, 9).abs() < f64::MIN_POSITIVE);
        // 3² + 1.5² + 0.7²: to four standard errors of a variance
        assert!((covariance(&root, 7, 7) / 11.74 - 1.0).abs() < 4.0 * (2.0_f64 / 480.0).sqrt());
    }
}
