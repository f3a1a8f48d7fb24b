//! Billions of operations in each second (GFlop/s) of the Cholesky factor and its reverse, for one matrix on one core.
//!
//! Counted are `n³/3` operations for the factor and `2n³/3` for the reverse, with all checks and copies in the time.
//!
//! `cargo bench -p crust-math --bench matrix [-- n…]`

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::cast_precision_loss, reason = "small counts")]

use crust_math::functions::{Argument, Shape, VectorFunction, matrix};
use std::hint::black_box;
use std::time::Instant;

const SIZES: [usize; 7] = [3, 10, 50, 100, 200, 350, 500];

/// The least time over many short runs, in nanoseconds: on a shared machine the least is what the code needs.
fn nanoseconds(mut run: impl FnMut(), repeat: usize) -> f64 {
    let mut best = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed().as_millis() < 200 {
        let begin = Instant::now();
        for _ in 0..repeat {
            run();
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / repeat as f64);
    }
    best
}

/// A covariance matrix as of a Gaussian process.
fn covariance(n: usize) -> Vec<f64> {
    (0..n * n)
        .map(|k| {
            let distance = (k % n).abs_diff(k / n) as f64;
            (-distance / 10.0).exp() + if distance == 0.0 { 0.1 } else { 0.0 }
        })
        .collect()
}

fn measure(cholesky: &dyn VectorFunction, n: usize) {
    let a = covariance(n);
    let shape = Shape::matrix(n, n);
    let arguments = [Argument { numbers: &a, shape }];
    let mut out = vec![0.0; n * n];
    let mut scratch = vec![0.0; cholesky.scratch(&[shape])];
    let repeat = (200_000 / (n * n * n)).max(1);
    let value = nanoseconds(
        || {
            let result = cholesky.value(black_box(&arguments), &mut out, &mut scratch);
            assert!(black_box(result).is_ok(), "the matrix is positive definite");
        },
        repeat,
    );
    let adjoint = vec![1.0; n * n];
    let mut to = vec![0.0; n * n];
    let reverse = nanoseconds(
        || cholesky.reverse(black_box(&arguments), &out, &adjoint, &mut [black_box(&mut to)], &mut scratch),
        repeat,
    );
    let operations = (n * n * n) as f64 / 3.0;
    let (rate, reverse_rate) = (operations / value, 2.0 * operations / reverse);
    println!("{n:5} {value:12.0} {rate:10.2} {reverse:12.0} {reverse_rate:10.2}");
}

fn main() {
    let Some(cholesky) = matrix::ALL.iter().find(|function| function.name() == "cholesky_decompose") else {
        return;
    };
    let chosen: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    println!("{:>5} {:>12} {:>10} {:>12} {:>10}", "n", "factor ns", "GFlop/s", "reverse ns", "GFlop/s");
    for &n in if chosen.is_empty() { &SIZES[..] } else { &chosen[..] } {
        measure(*cholesky, n);
    }
}
