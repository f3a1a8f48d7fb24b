//! Decompositions beside those of `faer`, for one matrix on one core: microseconds of each, and how many times faster
//! ours is.
//!
//! All checks and copies are in the time.
//!
//! `cargo bench -p crust-math --bench linalg [-- n…]`

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::cast_precision_loss, reason = "small counts")]

use crust_math::density::Terms;
use crust_math::distributions::multivariate::ALL;
use crust_math::functions::{Argument, Shape};
use crust_math::linalg::gemm::{Operand, multiply};
use crust_math::linalg::triangular::{Triangle, solve};
use crust_math::linalg::{cholesky, eigen, lu, svd};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use std::hint::black_box;
use std::time::Instant;

const SIZES: [usize; 8] = [4, 10, 20, 50, 100, 200, 500, 1000];
/// Above this size the slowest ones are left out.
const SLOW: usize = 500;

/// Nanoseconds that this thread has been on a processor, where the system tells: others do not count on a shared
/// machine.
fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The least time over many short runs, in microseconds: on a shared machine the least is what the code needs. What
/// takes long enough to be interrupted is measured by the time on the processor, which is known to a few milliseconds.
fn microseconds(repeat: usize, mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    run();
    if let Some(before) = on_processor().filter(|_| begin.elapsed().as_micros() > 1000) {
        for runs in 1.. {
            run();
            match on_processor() {
                Some(now) if now - before < 3e8 => {}
                Some(now) => return (now - before) / f64::from(runs) / 1e3,
                None => break,
            }
        }
    }
    let mut best = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed().as_millis() < 400 {
        let begin = Instant::now();
        for _ in 0..repeat {
            run();
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / repeat as f64);
    }
    best / 1e3
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

fn row(what: &str, n: usize, ours: f64, theirs: f64) {
    println!("{n:5} {what:<16} {ours:12.2} {theirs:12.2} {:8.2}", theirs / ours);
}

fn view(a: &[f64], n: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(a, n, n)
}

/// The formula that the reverse of the factor is, with products of `faer`: two triangular solutions and a product.
fn reverse_of_faer(l: MatRef<'_, f64>, adjoint: MatRef<'_, f64>) -> Mat<f64> {
    let n = l.nrows();
    let mut p = Mat::zeros(n, n);
    matmul(p.as_mut(), Accum::Replace, l.transpose(), adjoint, 1.0, Par::Seq);
    // The lower triangle with half of the diagonal.
    for j in 0..n {
        (0..j).for_each(|i| p[(i, j)] = 0.0);
        p[(j, j)] *= 0.5;
    }
    l.transpose().solve_upper_triangular_in_place(p.as_mut());
    l.transpose().solve_upper_triangular_in_place(p.as_mut().transpose_mut());
    p
}

fn measure(n: usize) {
    let a = covariance(n);
    let repeat = (200_000 / (n * n * n)).max(1);
    let mut out = vec![0.0; n * n];
    let ours = microseconds(repeat, || {
        out.copy_from_slice(black_box(&a));
        assert!(cholesky::factor(&mut out, n).is_ok(), "positive definite");
    });
    let mut other = vec![0.0; n * n];
    let need =
        faer::linalg::cholesky::llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, faer::Spec::default());
    let mut buffer = faer::dyn_stack::MemBuffer::new(need);
    let theirs = microseconds(repeat, || {
        other.copy_from_slice(black_box(&a));
        let matrix = MatMut::from_column_major_slice_mut(&mut other, n, n);
        let stack = faer::dyn_stack::MemStack::new(&mut buffer);
        let done = cholesky_in_place(matrix, LltRegularization::default(), Par::Seq, stack, faer::Spec::default());
        assert!(done.is_ok(), "positive definite");
    });
    row("cholesky", n, ours, theirs);

    let l = out.clone();
    let adjoint = covariance(n);
    let ours = microseconds(repeat, || {
        out.copy_from_slice(black_box(&adjoint));
        cholesky::reverse(&l, &mut out, n);
    });
    let theirs = microseconds(repeat, || {
        black_box(reverse_of_faer(view(&l, n), view(&adjoint, n)));
    });
    row("its reverse", n, ours, theirs);

    let ours = microseconds(repeat, || cholesky::inverse(black_box(&l), n, &mut out));
    let theirs = microseconds(repeat, || {
        let mut x = Mat::<f64>::identity(n, n);
        view(&l, n).solve_lower_triangular_in_place(x.as_mut());
        view(&l, n).transpose().solve_upper_triangular_in_place(x.as_mut());
        black_box(x);
    });
    row("its inverse", n, ours, theirs);

    let ours = microseconds(repeat, || {
        out.copy_from_slice(black_box(&a));
        solve(Operand::new(&l, n), Triangle::Lower, n, &mut out, n);
    });
    let theirs = microseconds(repeat, || {
        other.copy_from_slice(black_box(&a));
        let sides = MatMut::from_column_major_slice_mut(&mut other, n, n);
        solve_lower_triangular_in_place(view(&l, n), sides, Par::Seq);
    });
    row("triangular", n, ours, theirs);

    let ours = microseconds(repeat, || multiply(&mut out, (n, n, n), Operand::new(&a, n), Operand::new(&l, n)));
    let theirs = microseconds(repeat, || {
        let c = MatMut::from_column_major_slice_mut(&mut other, n, n);
        matmul(c, Accum::Replace, view(&a, n), view(&l, n), 1.0, Par::Seq);
    });
    row("product", n, ours, theirs);

    let mut memory = vec![0.0; lu::scratch(n)];
    let ours =
        microseconds(repeat, || assert!(lu::decompose(black_box(&a), n, &mut memory).check().is_ok(), "regular"));
    let theirs = microseconds(repeat, || {
        black_box(view(&a, n).partial_piv_lu());
    });
    row("lu", n, ours, theirs);
    if n <= SLOW {
        decompositions(&a, n);
    }
}

fn decompositions(a: &[f64], n: usize) {
    let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
    let mut memory = vec![0.0; eigen::scratch(n)];
    let ours = microseconds(1, || {
        let done = eigen::decompose(black_box(a), &mut values, &mut vectors, n, &mut memory);
        assert!(done.is_ok(), "converges");
    });
    let theirs = microseconds(1, || {
        let found = view(a, n).self_adjoint_eigen(Side::Lower);
        assert!(black_box(found).is_ok(), "converges");
    });
    row("eigen", n, ours, theirs);
    let mut memory = vec![0.0; svd::scratch(n, n)];
    let ours = microseconds(1, || assert!(svd::decompose(black_box(a), n, n, &mut memory).is_ok(), "converges"));
    let theirs = microseconds(1, || assert!(black_box(view(a, n).thin_svd()).is_ok(), "converges"));
    row("svd", n, ours, theirs);
}

/// The value and gradient of `multi_normal`, which has no counterpart in `faer`.
fn density(n: usize) {
    let Some(density) = ALL.iter().find(|density| density.name() == "multi_normal_lpdf") else { return };
    let (y, mean, sigma) = (vec![0.5; n], vec![0.0; n], covariance(n));
    let shapes = [Shape::vector(n), Shape::vector(n), Shape::matrix(n, n)];
    let arguments =
        [(&y, shapes[0]), (&mean, shapes[1]), (&sigma, shapes[2])].map(|(numbers, shape)| Argument { numbers, shape });
    let (mut scratch, mut adjoint) = (vec![0.0; density.scratch(&shapes)], vec![0.0; n * n]);
    let ours = microseconds((200_000 / (n * n * n)).max(1), || {
        let adjoints: &mut [&mut [f64]] = &mut [&mut [], &mut [], &mut adjoint];
        let value = density.log_density(black_box(&arguments), Terms::ALL, 1.0, adjoints, &mut scratch);
        assert!(black_box(value).is_ok(), "positive definite");
    });
    println!("{n:5} {:<16} {ours:12.2}", "multi_normal");
}

fn main() {
    faer::set_global_parallelism(Par::Seq);
    let chosen: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    println!("{:>5} {:<16} {:>12} {:>12} {:>8}", "n", "", "crust µs", "faer µs", "ratio");
    for &n in if chosen.is_empty() { &SIZES[..] } else { &chosen[..] } {
        measure(n);
        density(n);
    }
}
