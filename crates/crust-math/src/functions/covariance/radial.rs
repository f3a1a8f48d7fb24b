//! Covariance functions σ² k(s) of the squared distance s = Σ (xᵢ − yᵢ)² / ρᵢ², with one length scale or one for each
//! coordinate.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use super::correlations::Radial;
use super::points::{Signature, add_transposed, transpose};
use crate::density::{Domain, DomainError};
use crate::functions::{Argument, LaneArgument, Row, Shape, ShapeError, VectorFunction};
use crate::lanes::{Kernel, dispatch};
use crate::linalg::vectors::{sum, sum_by2};
use std::marker::PhantomData;

/// All that the loops need; coordinates lie one after the other.
#[derive(Clone, Copy)]
struct Problem<'a> {
    first: &'a [f64],
    second: &'a [f64],
    /// Numbers of points; with one array of points the second is the first.
    n: [usize; 2],
    symmetric: bool,
    /// 1 / ρ² for each coordinate.
    weights: &'a [f64],
    variance: f64,
    shape: f64,
}

impl Problem<'_> {
    /// The first row of column j that is computed: of a symmetric matrix the part below the diagonal.
    #[inline(always)]
    fn start(&self, j: usize) -> usize {
        if self.symmetric { j + 1 } else { 0 }
    }

    /// The coordinates d of the points from `start` on, and that of the point j.
    #[inline(always)]
    fn coordinates(&self, d: usize, j: usize) -> (&[f64], f64) {
        let [n, m] = self.n;
        (&self.first[d * n + self.start(j)..(d + 1) * n], self.second[d * m + j])
    }

    /// Writes the squared distances of the points from `start` on to the point j.
    #[inline(always)]
    fn squares(&self, j: usize, out: &mut [f64]) {
        out.fill(0.0);
        for (d, &weight) in self.weights.iter().enumerate() {
            let (x, y) = self.coordinates(d, j);
            for (out, &x) in out.iter_mut().zip(x) {
                *out = (x - y).mul_add(weight * (x - y), *out);
            }
        }
    }
}

struct Fill<'a, R> {
    problem: Problem<'a>,
    out: &'a mut [f64],
    radial: PhantomData<R>,
}

impl<R: Radial> Kernel for Fill<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { problem, out, .. } = self;
        let [n, m] = problem.n;
        for j in 0..m {
            let part = &mut out[j * n + problem.start(j)..(j + 1) * n];
            problem.squares(j, part);
            for k in part {
                *k = problem.variance * R::correlation(*k, problem.shape);
            }
        }
        if problem.symmetric {
            for j in 0..n {
                out[j * n + j] = problem.variance;
                for i in j + 1..n {
                    out[i * n + j] = out[j * n + i];
                }
            }
        }
    }
}

/// Sums for the adjoints: of log σ² and the shape, of each weight, and of coordinates (empty where not wanted).
struct Sums<'a> {
    log_variance: f64,
    shape: f64,
    weights: &'a mut [f64],
    first: &'a mut [f64],
    second: &'a mut [f64],
}

struct Reverse<'a, 'b, R> {
    problem: Problem<'a>,
    out: &'a [f64],
    adjoint: &'a [f64],
    sums: &'a mut Sums<'b>,
    /// Room for squared distances and for adjoints of them.
    work: [&'a mut [f64]; 2],
    radial: PhantomData<R>,
}

impl<R: Radial> Kernel for Reverse<'_, '_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { problem, out, adjoint, sums, work: [squares, slopes], .. } = self;
        let [n, m] = problem.n;
        for j in 0..m {
            let start = problem.start(j);
            let column = j * n + start..(j + 1) * n;
            let (squares, slopes) = (&mut squares[start..n], &mut slopes[start..n]);
            problem.squares(j, squares);
            for ((slope, &a), &k) in slopes.iter_mut().zip(&adjoint[column.clone()]).zip(&out[column]) {
                *slope = a * k;
            }
            if problem.symmetric {
                sums.log_variance = adjoint[j * n + j].mul_add(out[j * n + j], sums.log_variance);
                for (i, slope) in slopes.iter_mut().enumerate() {
                    let at = (start + i) * n + j;
                    *slope = adjoint[at].mul_add(out[at], *slope);
                }
            }
            sums.log_variance += sum(slopes);
            sums.shape += sum_by2(slopes, squares, |a, s| a * R::shape_slope(s, problem.shape));
            for (slope, &s) in slopes.iter_mut().zip(&*squares) {
                *slope *= R::slope(s, problem.shape);
            }
            distances_reverse(problem, j, slopes, sums);
        }
    }
}

/// From the adjoints of the squared distances to the point j to those of weights and coordinates.
#[inline(always)]
fn distances_reverse(problem: Problem<'_>, j: usize, slopes: &[f64], sums: &mut Sums<'_>) {
    let [n, m] = problem.n;
    for (d, &weight) in problem.weights.iter().enumerate() {
        let (x, y) = problem.coordinates(d, j);
        sums.weights[d] += sum_by2(slopes, x, |a, x| a * (x - y) * (x - y));
        if !sums.first.is_empty() {
            let to = &mut sums.first[d * n + problem.start(j)..(d + 1) * n];
            for ((to, &a), &x) in to.iter_mut().zip(slopes).zip(x) {
                *to = (2.0 * weight * a).mul_add(x - y, *to);
            }
        }
        let to = if problem.symmetric { &mut *sums.first } else { &mut *sums.second };
        if !to.is_empty() {
            to[d * m + j] -= 2.0 * weight * sum_by2(slopes, x, |a, x| a * (x - y));
        }
    }
}

/// The covariance function of a [`Radial`] correlation: `(x, σ, [shape,] ρ)` or `(x1, x2, σ, [shape,] ρ)`.
pub(super) struct Covariance<R>(pub(super) PhantomData<R>);

impl<R: Radial> Covariance<R> {
    const PARAMETERS: usize = if R::PARAMETERS.2.is_some() { 3 } else { 2 };

    fn signature(arguments: usize) -> Signature {
        Signature::of(arguments, Self::PARAMETERS).expect("the shape was checked")
    }

    /// Positions of σ, of the shape (that of σ if there is none), and of ρ.
    fn positions(arguments: usize) -> [usize; 3] {
        let sigma = Self::signature(arguments).parameters;
        [sigma, sigma + Self::PARAMETERS - 2, sigma + Self::PARAMETERS - 1]
    }
}

/// Memory for one call: coordinates of both arrays of points, weights, and all that is summed up.
struct Memory<'a> {
    coordinates: [&'a mut [f64]; 2],
    weights: &'a mut [f64],
    to_coordinates: [&'a mut [f64]; 2],
    to_weights: &'a mut [f64],
    work: [&'a mut [f64]; 2],
}

impl<'a> Memory<'a> {
    fn size(shapes: &[Shape], signature: Signature) -> usize {
        let (first, last) = (shapes[0], shapes[signature.parameters - 1]);
        2 * (first.len() + last.len() + first.cell_len().max(last.cell_len()) + first.cells())
    }

    fn of(scratch: &'a mut [f64], first: Shape, last: Shape, two: bool) -> Self {
        let mut rest = scratch;
        let mut take = |n: usize| {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(n);
            rest = after;
            part
        };
        let (n, m) = (first.len(), if two { last.len() } else { 0 });
        let dimension = first.cell_len();
        Self {
            coordinates: [take(n), take(m)],
            weights: take(dimension),
            to_coordinates: [take(n), take(m)],
            to_weights: take(dimension),
            work: [take(first.cells()), take(first.cells())],
        }
    }
}

/// Writes coordinates and weights.
fn prepare(arguments: &[Argument], scale: &[f64], memory: &mut Memory<'_>, two: bool) {
    let dimension = memory.weights.len();
    transpose(arguments[0].numbers, dimension, memory.coordinates[0]);
    if two {
        transpose(arguments[1].numbers, dimension, memory.coordinates[1]);
    }
    for (weight, rho) in memory.weights.iter_mut().zip(scale.iter().cycle()) {
        *weight = 1.0 / (rho * rho);
    }
}

impl<R: Radial> Covariance<R> {
    fn problem<'a>(
        arguments: &[Argument],
        coordinates: [&'a [f64]; 2],
        weights: &'a [f64],
        signature: Signature,
    ) -> Problem<'a> {
        let [sigma, shape, _] = Self::positions(arguments.len());
        let sigma = arguments[sigma].numbers[0];
        let n = [arguments[0].shape.cells(), arguments[signature.parameters - 1].shape.cells()];
        Problem {
            first: coordinates[0],
            second: if signature.two { coordinates[1] } else { coordinates[0] },
            n,
            symmetric: !signature.two,
            weights,
            variance: sigma * sigma,
            shape: arguments[shape].numbers[0],
        }
    }

    fn check(arguments: &[Argument], signature: Signature) -> Result<(), DomainError> {
        let domain = Domain(R::NAME);
        let positive = |what, x| if R::FINITE { domain.positive_finite(what, x) } else { domain.positive(what, x) };
        signature.check(R::NAME, arguments)?;
        let (sigma, scale, shape) = R::PARAMETERS;
        let at = Self::positions(arguments.len());
        for (what, at) in [(Some(sigma), at[0]), (shape, at[1]), (Some(scale), at[2])] {
            if let Some(what) = what {
                arguments[at].numbers.iter().try_for_each(|&x| positive(what, x))?;
            }
        }
        Ok(())
    }
}

impl<R: Radial> VectorFunction for Covariance<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let Some(signature) = Signature::of(arguments.len(), Self::PARAMETERS) else {
            return Err(ShapeError::NoVersion { given: arguments.len() });
        };
        let (scale, dimension) = (arguments[arguments.len() - 1].shape, arguments[0].shape.cell_len());
        let shape = signature.shape(arguments)?;
        if !scale.is_scalar() && scale.len() != dimension && !shape.is_empty() {
            return Err(ShapeError::LengthScales { scales: scale.len(), dimension });
        }
        Ok(shape)
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        Memory::size(arguments, Self::signature(arguments.len()))
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let signature = Self::signature(arguments.len());
        if out.is_empty() {
            return Ok(());
        }
        Self::check(arguments, signature)?;
        let last = arguments[signature.parameters - 1].shape;
        let mut memory = Memory::of(scratch, arguments[0].shape, last, signature.two);
        prepare(arguments, arguments[arguments.len() - 1].numbers, &mut memory, signature.two);
        let [first, second] = memory.coordinates;
        let problem = Self::problem(arguments, [first, second], memory.weights, signature);
        dispatch(Fill { problem, out, radial: PhantomData::<R> });
        Ok(())
    }

    fn reverse(
        &self,
        arguments: &[Argument],
        out: &[f64],
        adjoint: &[f64],
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) {
        let signature = Self::signature(arguments.len());
        if out.is_empty() {
            return;
        }
        let last = arguments[signature.parameters - 1].shape;
        let mut memory = Memory::of(scratch, arguments[0].shape, last, signature.two);
        let scale = arguments[arguments.len() - 1].numbers;
        prepare(arguments, scale, &mut memory, signature.two);
        let [first, second] = memory.coordinates;
        let [to_first, to_second] = memory.to_coordinates;
        let wanted = |position: usize, n: usize| if adjoints[position].is_empty() { 0 } else { n };
        let to_first = &mut to_first[..wanted(0, arguments[0].shape.len())];
        let to_second = if signature.two { &mut to_second[..wanted(1, last.len())] } else { to_second };
        to_first.fill(0.0);
        to_second.fill(0.0);
        memory.to_weights.fill(0.0);
        let mut sums =
            Sums { log_variance: 0.0, shape: 0.0, weights: memory.to_weights, first: to_first, second: to_second };
        let problem = Self::problem(arguments, [first, second], memory.weights, signature);
        let work = memory.work;
        dispatch(Reverse { problem, out, adjoint, sums: &mut sums, work, radial: PhantomData::<R> });
        Self::add(arguments, &sums, signature, adjoints, scale);
    }

    fn lanes_scratch(&self, arguments: &[Shape]) -> Option<usize> {
        Some(super::lanes::scratch(arguments[0].cell_len(), arguments[0].cells()))
    }

    fn value_lanes(&self, arguments: &[LaneArgument], out: &mut [Row], scratch: &mut [Row]) -> bool {
        let two = Self::signature(arguments.len()).two;
        super::lanes::value::<R>(arguments, Self::positions(arguments.len()), two, out, scratch)
    }

    fn reverse_lanes(
        &self,
        arguments: &[LaneArgument],
        out: &[Row],
        adjoint: &[Row],
        adjoints: &mut [&mut [Row]],
        scratch: &mut [Row],
    ) -> bool {
        let two = Self::signature(arguments.len()).two;
        let positions = Self::positions(arguments.len());
        super::lanes::reverse::<R>(arguments, positions, two, (out, adjoint), adjoints, scratch)
    }
}

impl<R: Radial> Covariance<R> {
    /// Adds what was summed up: d log σ² = 2 dσ / σ and dw = −2 dρ / ρ³.
    fn add(arguments: &[Argument], sums: &Sums<'_>, signature: Signature, adjoints: &mut [&mut [f64]], scale: &[f64]) {
        let dimension = sums.weights.len();
        for (position, to) in [&*sums.first, &*sums.second].into_iter().enumerate().take(signature.parameters) {
            if !to.is_empty() {
                add_transposed(to, dimension, adjoints[position]);
            }
        }
        let [sigma, shape, rho] = Self::positions(arguments.len());
        for to in adjoints[sigma].iter_mut() {
            *to += 2.0 * sums.log_variance / arguments[sigma].numbers[0];
        }
        if shape != sigma {
            adjoints[shape].iter_mut().for_each(|to| *to += sums.shape);
        }
        let cube = |rho: f64| -2.0 / (rho * rho * rho);
        if arguments[rho].shape.is_scalar() {
            let total: f64 = sums.weights.iter().sum();
            adjoints[rho].iter_mut().for_each(|to| *to = cube(scale[0]).mul_add(total, *to));
        } else {
            for ((to, &rho), sum) in adjoints[rho].iter_mut().zip(scale).zip(&*sums.weights) {
                *to = cube(rho).mul_add(*sum, *to);
            }
        }
    }
}
