//! Covariance functions of squared distances for eight items at once.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]

use std::marker::PhantomData;

use super::correlations::Radial;
use crate::functions::{LaneArgument, Row};
use crate::lanes::{Kernel, dispatch};
use crate::linalg::lanes::{add_product, minus, times};

/// Rows of scratch: weights and their adjoints, squared distances and slopes of a column.
pub(super) fn scratch(dimension: usize, points: usize) -> usize {
    2 * (dimension + points)
}

/// Points, one after the other, and parameters.
#[derive(Clone, Copy)]
struct Problem<'a> {
    first: &'a [Row],
    second: &'a [Row],
    n: [usize; 2],
    symmetric: bool,
    /// 1 / ρ² for each coordinate.
    weights: &'a [Row],
    variance: Row,
    shape: Row,
}

impl Problem<'_> {
    /// The squared distance of two points.
    #[inline(always)]
    fn square(&self, i: usize, j: usize) -> Row {
        let dimension = self.weights.len();
        let (x, y) = (&self.first[i * dimension..][..dimension], &self.second[j * dimension..][..dimension]);
        let mut sum = [0.0; 8];
        for d in 0..dimension {
            let difference = minus(x[d], y[d]);
            sum = add_product(sum, difference, times(self.weights[d], difference));
        }
        sum
    }

    /// The rows of column j that are computed.
    #[inline(always)]
    fn rows(&self, j: usize) -> std::ops::Range<usize> {
        if self.symmetric { j + 1..self.n[0] } else { 0..self.n[0] }
    }
}

/// The problem, with weights in the scratch; none where some item is outside of the domain.
fn problem<'a, R: Radial>(
    arguments: &[LaneArgument<'a>],
    [sigma, shape, rho]: [usize; 3],
    two: bool,
    weights: &'a mut [Row],
) -> Option<Problem<'a>> {
    let positive = |x: f64| x > 0.0 && (!R::FINITE || x.is_finite());
    let fine = |at: usize| arguments[at].numbers.iter().flatten().all(|&x| positive(x));
    let last = &arguments[sigma - 1];
    let points = arguments[..sigma].iter().all(|x| x.numbers.iter().flatten().all(|x| !x.is_nan()));
    if !(points && fine(sigma) && fine(shape) && fine(rho)) {
        return None;
    }
    for (weight, rho) in weights.iter_mut().zip(arguments[rho].numbers.iter().cycle()) {
        *weight = rho.map(|rho| 1.0 / (rho * rho));
    }
    Some(Problem {
        first: arguments[0].numbers,
        second: last.numbers,
        n: [arguments[0].shape.cells(), last.shape.cells()],
        symmetric: !two,
        weights,
        variance: arguments[sigma].numbers[0].map(|x| x * x),
        shape: arguments[shape].numbers[0],
    })
}

/// The covariances; `false` where some item is outside of the domain.
pub(super) fn value<R: Radial>(
    arguments: &[LaneArgument],
    positions: [usize; 3],
    two: bool,
    out: &mut [Row],
    scratch: &mut [Row],
) -> bool {
    let dimension = arguments[0].shape.cell_len();
    let problem = problem::<R>(arguments, positions, two, &mut scratch[..dimension]);
    problem.is_some_and(|problem| {
        dispatch(Fill { problem, out, radial: PhantomData::<R> });
        true
    })
}

struct Fill<'a, R> {
    problem: Problem<'a>,
    out: &'a mut [Row],
    radial: PhantomData<R>,
}

impl<R: Radial> Kernel for Fill<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { problem, out, .. } = self;
        let [n, m] = problem.n;
        for j in 0..m {
            for i in problem.rows(j) {
                let square = problem.square(i, j);
                let mut k = [0.0; 8];
                for l in 0..8 {
                    k[l] = problem.variance[l] * R::correlation(square[l], problem.shape[l]);
                }
                out[j * n + i] = k;
                if problem.symmetric {
                    out[i * n + j] = k;
                }
            }
            if problem.symmetric {
                out[j * n + j] = problem.variance;
            }
        }
    }
}

/// Adjoints of parameters; `false` where those of points are wanted.
pub(super) fn reverse<R: Radial>(
    arguments: &[LaneArgument],
    positions: [usize; 3],
    two: bool,
    (out, adjoint): (&[Row], &[Row]),
    adjoints: &mut [&mut [Row]],
    scratch: &mut [Row],
) -> bool {
    let [sigma, shape, rho] = positions;
    let dimension = arguments[0].shape.cell_len();
    if adjoints[..sigma].iter().any(|to| !to.is_empty()) {
        return false;
    }
    let (weights, rest) = scratch.split_at_mut(dimension);
    let (to_weights, rest) = rest.split_at_mut(dimension);
    let (squares, slopes) = rest.split_at_mut(arguments[0].shape.cells());
    let Some(problem) = problem::<R>(arguments, positions, two, weights) else { return false };
    to_weights.fill([0.0; 8]);
    let radial = PhantomData::<R>;
    let work = [squares, slopes];
    let (log_variance, by_shape) =
        dispatch(Reverse { problem, out, adjoint, to_weights: &mut *to_weights, work, radial });
    for (to, sigma) in adjoints[sigma].iter_mut().zip(arguments[sigma].numbers) {
        (0..8).for_each(|l| to[l] += 2.0 * log_variance[l] / sigma[l]);
    }
    if shape != sigma {
        adjoints[shape].iter_mut().for_each(|to| (0..8).for_each(|l| to[l] += by_shape[l]));
    }
    // dw = −2 dρ / ρ³; one length scale has all weights.
    let scales = arguments[rho].numbers;
    if let ([_], [first, others @ ..]) = (scales, &mut *to_weights) {
        others.iter().for_each(|other| (0..8).for_each(|l| first[l] += other[l]));
    }
    for ((to, scale), sum) in adjoints[rho].iter_mut().zip(scales).zip(&*to_weights) {
        for l in 0..8 {
            let cube = -2.0 / (scale[l] * scale[l] * scale[l]);
            to[l] = cube.mul_add(sum[l], to[l]);
        }
    }
    true
}

struct Reverse<'a, R> {
    problem: Problem<'a>,
    out: &'a [Row],
    adjoint: &'a [Row],
    to_weights: &'a mut [Row],
    /// Room for squared distances and for adjoints of them.
    work: [&'a mut [Row]; 2],
    radial: PhantomData<R>,
}

impl<R: Radial> Kernel for Reverse<'_, R> {
    /// Adjoints of log σ² and of the shape.
    type Output = (Row, Row);

    #[inline(always)]
    fn run(self) -> (Row, Row) {
        let Self { problem, out, adjoint, to_weights, work: [squares, slopes], .. } = self;
        let ([n, m], dimension) = (problem.n, problem.weights.len());
        let (mut log_variance, mut by_shape) = ([0.0; 8], [0.0; 8]);
        // Sums go over columns, each in eight parts, as for a single item.
        for j in 0..m {
            let rows = problem.rows(j);
            let (start, count) = (rows.start, rows.len());
            let (squares, slopes) = (&mut squares[..count], &mut slopes[..count]);
            for i in rows {
                let mut slope = times(adjoint[j * n + i], out[j * n + i]);
                if problem.symmetric {
                    slope = add_product(slope, adjoint[i * n + j], out[i * n + j]);
                }
                slopes[i - start] = slope;
                squares[i - start] = problem.square(i, j);
            }
            if problem.symmetric {
                log_variance = add_product(log_variance, adjoint[j * n + j], out[j * n + j]);
            }
            let (by_variance, by_shape_here) = sums::<R>(squares, slopes, problem.shape);
            for l in 0..8 {
                log_variance[l] += by_variance[l];
                by_shape[l] += by_shape_here[l];
            }
            let (x, y) = (&problem.first[start * dimension..], &problem.second[j * dimension..]);
            for d in 0..dimension {
                let sum = distances_sum(slopes, (x, y[d]), (dimension, d));
                (0..8).for_each(|l| to_weights[d][l] += sum[l]);
            }
        }
        (log_variance, by_shape)
    }
}

/// Sums over a column for log σ² and the shape; slopes become those by squared distances.
#[inline(always)]
fn sums<R: Radial>(squares: &[Row], slopes: &mut [Row], shape: Row) -> (Row, Row) {
    let mut parts = [[[0.0; 8]; 8]; 2];
    let mut first = 0;
    while first < slopes.len() {
        // Numbers that are known, so that parts stay in registers.
        for p in 0..8 {
            if first + p < slopes.len() {
                let (mut slope, square) = (slopes[first + p], squares[first + p]);
                for l in 0..8 {
                    parts[0][p][l] += slope[l];
                    parts[1][p][l] += slope[l] * R::shape_slope(square[l], shape[l]);
                    slope[l] *= R::slope(square[l], shape[l]);
                }
                slopes[first + p] = slope;
            }
        }
        first += 8;
    }
    (total(&parts[0]), total(&parts[1]))
}

/// The sum over a column of slopes times squared differences in one coordinate.
#[inline(always)]
fn distances_sum(slopes: &[Row], (x, y): (&[Row], Row), (dimension, d): (usize, usize)) -> Row {
    let mut parts = [[0.0; 8]; 8];
    let mut first = 0;
    while first < slopes.len() {
        for p in 0..8 {
            if first + p < slopes.len() {
                let (slope, difference) = (slopes[first + p], minus(x[(first + p) * dimension + d], y));
                for l in 0..8 {
                    parts[p][l] += slope[l] * difference[l] * difference[l];
                }
            }
        }
        first += 8;
    }
    total(&parts)
}

/// As [`crate::linalg::vectors::total`].
#[inline(always)]
fn total(s: &[Row; 8]) -> Row {
    let mut sum = [0.0; 8];
    for l in 0..8 {
        sum[l] = ((s[0][l] + s[4][l]) + (s[2][l] + s[6][l])) + ((s[1][l] + s[5][l]) + (s[3][l] + s[7][l]));
    }
    sum
}
