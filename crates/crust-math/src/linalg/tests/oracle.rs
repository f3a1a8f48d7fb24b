//! Decompositions against those of `faer`, which shares no code with ours.

use crate::linalg::cholesky::rows::{self, Rows};
use crate::linalg::gemm::{Operand, Target, gemm, multiply};
use crate::linalg::triangular::{Triangle, solve, solve_lower, solve_lower_transposed};
use crate::linalg::vectors::{dot, dot_in_order};
use crate::linalg::{LinalgError, cholesky, eigen, identity, lu, qr, svd};
use crate::random::{Purpose, StreamKey};
use faer::prelude::Solve;
use faer::{Mat, MatRef, Side};

/// All small sizes, where every path of the blocked algorithms begins and ends, and some with several blocks.
const SIZES: [usize; 26] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 31, 32, 33, 48, 65, 100, 129, 300];

pub(super) fn random(rows: usize, columns: usize, purpose: u32) -> Vec<f64> {
    let mut numbers = vec![0.0; rows * columns];
    StreamKey::new(u64::from(purpose), Purpose::TEST).stream().fill_normal(&mut numbers);
    numbers
}

fn view(a: &[f64], rows: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(a, rows, a.len() / rows)
}

/// A positive definite matrix whose condition is moderate: `B·Bᵀ/n + I`.
pub(super) fn positive(n: usize) -> Vec<f64> {
    let b = random(n, n, 7);
    let mut a = vec![0.0; n * n];
    identity(&mut a, n);
    let b = Operand::new(&b, n);
    gemm(&mut a, Target::whole(n, n), n, 1.0 / f64::from(u32::try_from(n).unwrap()), b, b.transposed());
    a
}

/// The largest difference of elements, for numbers of the size of 1.
fn check(what: &str, n: usize, found: &[f64], expected: MatRef<'_, f64>) {
    assert_eq!(found.len(), expected.nrows() * expected.ncols());
    for (k, x) in found.iter().enumerate() {
        let y = expected[(k % expected.nrows(), k / expected.nrows())];
        // NaN fails, too.
        assert!((x - y).abs() <= 1e-11 * (1.0 + y.abs()), "{what} of size {n}: {x} is not {y}");
    }
}

#[test]
fn products_are_those_of_faer() {
    for n in SIZES {
        let (m, k) = (n / 2 + 1, n + 3);
        let (a, b) = (random(m, k, 1), random(k, n, 2));
        let mut c = vec![0.0; m * n];
        multiply(&mut c, (m, k, n), Operand::new(&a, m), Operand::new(&b, k));
        check("product", n, &c, (view(&a, m) * view(&b, k)).as_ref());
        let (a, b) = (random(k, m, 1), random(n, k, 2));
        multiply(&mut c, (m, k, n), Operand::new(&a, k).transposed(), Operand::new(&b, n).transposed());
        check("transposed product", n, &c, (view(&a, k).transpose() * view(&b, n).transpose()).as_ref());
    }
}

#[test]
fn cholesky_factors_are_those_of_faer() {
    for n in SIZES {
        let a = positive(n);
        let mut l = a.clone();
        cholesky::factor(&mut l, n).unwrap();
        let expected = view(&a, n).llt(Side::Lower).unwrap();
        check("factor", n, &l, expected.L());
        let mut inverse = vec![f64::NAN; n * n];
        cholesky::inverse(&l, n, &mut inverse);
        check("inverse", n, &inverse, expected.solve(Mat::<f64>::identity(n, n)).as_ref());
        let b = random(n, 3, 3);
        let mut x = b.clone();
        cholesky::solve_factored(&l, n, &mut x, 3);
        check("solution", n, &x, expected.solve(view(&b, n)).as_ref());
        let mut x = b[..n].to_vec();
        solve_lower(&l, n, &mut x);
        solve_lower_transposed(&l, n, &mut x);
        check("solution of one side", n, &x, expected.solve(view(&b[..n], n)).as_ref());
    }
}

/// Rows with gaps and packed ones, in any order of summation.
#[test]
fn factors_by_rows_are_those_of_faer() {
    for n in SIZES {
        let a = positive(n);
        let expected = view(&a, n).llt(Side::Lower).unwrap();
        for layout in [Rows::Packed, Rows::Apart(n), Rows::Apart(n + 3)] {
            let mut l = vec![0.5; layout.start(n)];
            let lower = |i: usize| (0..=i).map(move |j| (i, j));
            (0..n).flat_map(lower).for_each(|(i, j)| l[layout.start(i) + j] = a[i + j * n]);
            rows::factor(&mut l, n, layout, |a, x, y| a - dot(x, y)).unwrap();
            for (i, j) in (0..n).flat_map(lower) {
                assert!((l[layout.start(i) + j] - expected.L()[(i, j)]).abs() < 1e-12, "{layout:?} {n}");
            }
        }
    }
}

/// With `f(A) = Σ Wᵢⱼ·Lᵢⱼ` for any weights `W`, the adjoint is `Φ = L⁻ᵀ·P(Lᵀ·W̄)·L⁻¹` symmetrised (Murray 2016,
/// equation 10), here with the matrices of `faer`.
#[test]
fn the_reverse_of_cholesky_is_the_formula() {
    for n in SIZES {
        let a = positive(n);
        let mut l = a.clone();
        cholesky::factor(&mut l, n).unwrap();
        let weights = random(n, n, 5);
        let mut adjoint = weights.clone();
        cholesky::reverse(&l, &mut adjoint, n);
        let lower = Mat::from_fn(n, n, |i, j| if i >= j { weights[i + j * n] } else { 0.0 });
        let product = view(&l, n).transpose() * &lower;
        let half = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 0.5 * product[(i, j)],
            std::cmp::Ordering::Greater => product[(i, j)],
        });
        let inverse = view(&l, n).partial_piv_lu().solve(Mat::<f64>::identity(n, n));
        let s = inverse.transpose() * half * &inverse;
        let expected = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => s[(i, i)],
            std::cmp::Ordering::Greater => s[(i, j)] + s[(j, i)],
        });
        for j in 0..n {
            adjoint[j * n..j * n + j].fill(0.0);
        }
        check("reverse", n, &adjoint, expected.as_ref());
    }
}

#[test]
fn linear_systems_are_those_of_faer() {
    for n in SIZES {
        let mut a = random(n, n, 8);
        // Far from singular, so that digits can be compared; rows are still exchanged.
        (0..n).for_each(|i| a[(i + 1) % n + i * n] += 2.0 * f64::from(u32::try_from(n).unwrap()));
        let b = random(n, 5, 9);
        let mut memory = vec![0.0; lu::scratch(n)];
        let factors = lu::decompose(&a, n, &mut memory);
        let oracle = view(&a, n).partial_piv_lu();
        let mut x = b.clone();
        factors.solve(&mut x, 5);
        check("solution", n, &x, oracle.solve(view(&b, n)).as_ref());
        let mut x = b.clone();
        factors.solve_transposed(&mut x, 5);
        let transposed = view(&a, n).transpose().to_owned();
        check("transposed solution", n, &x, transposed.partial_piv_lu().solve(view(&b, n)).as_ref());
        let determinant = view(&a, n).determinant();
        assert!((factors.determinant() / determinant - 1.0).abs() < 1e-10 || determinant.is_infinite(), "{n}");
        let alone = lu::Factors::new(n, &a).unwrap();
        let mut x = b[..n].to_vec();
        alone.solve(&mut x);
        check("solution of one side", n, &x, oracle.solve(view(&b[..n], n)).as_ref());
        let mut x = b[..n].to_vec();
        alone.solve_transposed(&mut x);
        check("transposed one side", n, &x, transposed.partial_piv_lu().solve(view(&b[..n], n)).as_ref());
    }
}

#[test]
fn triangular_systems_are_those_of_faer() {
    for n in SIZES {
        let mut t = random(n, n, 10);
        t.iter_mut().for_each(|x| *x *= 0.1);
        t.iter_mut().step_by(n + 1).for_each(|x| *x += 2.0);
        let b = random(n, 6, 11);
        let operand = Operand::new(&t, n);
        let (l, u) = (view(&t, n).to_owned(), view(&t, n).transpose().to_owned());
        for (what, operand, triangle, expected) in [
            ("lower", operand, Triangle::Lower, {
                let mut x = view(&b, n).to_owned();
                l.as_ref().solve_lower_triangular_in_place(x.as_mut());
                x
            }),
            ("upper", operand.transposed(), Triangle::Upper, {
                let mut x = view(&b, n).to_owned();
                u.as_ref().solve_upper_triangular_in_place(x.as_mut());
                x
            }),
            ("unit lower", operand, Triangle::UnitLower, {
                let mut x = view(&b, n).to_owned();
                l.as_ref().solve_unit_lower_triangular_in_place(x.as_mut());
                x
            }),
        ] {
            let mut x = b.clone();
            solve(operand, triangle, n, &mut x, 6);
            check(what, n, &x, expected.as_ref());
        }
    }
}

#[test]
fn eigenvalues_are_those_of_faer() {
    for n in SIZES {
        let mut a = random(n, n, 12);
        for j in 0..n {
            (0..j).for_each(|i| a[i + j * n] = a[j + i * n]);
        }
        let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
        eigen::decompose(&a, &mut values, &mut vectors, n, &mut vec![0.0; eigen::scratch(n)]).unwrap();
        let expected = view(&a, n).self_adjoint_eigenvalues(Side::Lower).unwrap();
        for (x, y) in values.iter().zip(expected) {
            assert!((x - y).abs() < 1e-12 * f64::from(u32::try_from(n).unwrap()), "{n}: {x} is not {y}");
        }
        // Vectors have any sign, so A·V = V·Λ is checked.
        let products = view(&a, n) * view(&vectors, n);
        let scaled: Vec<f64> = (0..n * n).map(|k| vectors[k] * values[k / n]).collect();
        check("vectors", n, &scaled, products.as_ref());
    }
}

#[test]
fn singular_values_are_those_of_faer() {
    for n in SIZES {
        for (rows, columns) in [(n, n), (n + 4, n), (n, n + 4)] {
            let a = random(rows, columns, 13);
            let mut memory = vec![0.0; svd::scratch(rows, columns)];
            let found = svd::decompose(&a, rows, columns, &mut memory).unwrap();
            let expected = view(&a, rows).singular_values().unwrap();
            for (x, y) in found.values.iter().zip(expected) {
                assert!((x - y).abs() < 1e-12 * f64::from(u32::try_from(n).unwrap()), "{n}: {x} is not {y}");
            }
            let k = found.values.len();
            let scaled = Mat::from_fn(rows, k, |i, j| found.u[i + j * rows] * found.values[j]);
            let product = scaled * view(found.v, columns).transpose();
            check("singular values", n, &a, product.as_ref());
        }
    }
}

#[test]
fn reflections_are_those_of_faer() {
    for n in SIZES {
        let rows = n + 2;
        let a = random(rows, n, 14);
        let (mut factors, mut taus, mut q) = (a.clone(), vec![0.0; n], vec![0.0; rows * n]);
        let factors = qr::factor(&mut factors, &mut taus, rows);
        qr::form_q(factors, &mut q);
        let r = Mat::from_fn(n, n, |i, j| if i <= j { factors.numbers[i + j * rows] } else { 0.0 });
        check("product", n, &a, (view(&q, rows) * &r).as_ref());
        let expected = view(&a, rows).qr();
        for j in 0..n {
            for i in 0..=j {
                // Rows of R are determined up to their signs.
                assert!((r[(i, j)].abs() - expected.R()[(i, j)].abs()).abs() < 1e-12, "{n}");
            }
        }
    }
}

#[test]
fn what_has_no_decomposition_is_an_error() {
    let mut a = [1.0, 2.0, 2.0, 1.0];
    assert_eq!(cholesky::factor(&mut a, 2), Err(LinalgError::NotPositiveDefinite { row: 2, pivot: -3.0 }));
    let in_order = |a: f64, x: &[f64], y: &[f64]| a - dot_in_order(x, y);
    let mut a = [1.0, 2.0, 1.0];
    let expected = Err(LinalgError::NotPositiveDefinite { row: 2, pivot: -3.0 });
    assert_eq!(rows::factor(&mut a, 2, Rows::Packed, in_order), expected);
    assert!(rows::factor(&mut [f64::INFINITY], 1, Rows::Packed, in_order).is_err());
    assert!(cholesky::factor(&mut [f64::NAN], 1).is_err());
    assert!(cholesky::factor(&mut [0.0], 1).is_err());
    // The last pivot of a large matrix, in the last block.
    let mut a = positive(100);
    a[99 * 101] = -1.0;
    assert!(matches!(cholesky::factor(&mut a, 100), Err(LinalgError::NotPositiveDefinite { row: 100, .. })));
    let singular = lu::Factors::new(2, &[1.0, 2.0, 2.0, 4.0]).err();
    assert_eq!(singular, Some(LinalgError::Singular { column: 2 }));
}
