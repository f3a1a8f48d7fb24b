//! Iterations that reach their limit are errors.

use super::oracle::random;
use crate::linalg::{LinalgError, eigen, svd};

#[test]
fn eigenvalues_that_do_not_converge_are_an_error() {
    let n = 6;
    let mut a = random(n, n, 1);
    (0..n).for_each(|j| (0..j).for_each(|i| a[i + j * n] = a[j + i * n]));
    let within = |limit| {
        let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
        eigen::decompose_within(limit, &a, &mut values, &mut vectors, n, &mut vec![0.0; eigen::scratch(n)])
    };
    assert_eq!(within(0), Err(LinalgError::NoConvergence { limit: 0 }));
    assert_eq!(within(3), Err(LinalgError::NoConvergence { limit: 3 }));
    assert_eq!(within(30 * n), Ok(()));
    // A diagonal matrix needs no step.
    a.fill(0.0);
    let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
    let memory = &mut vec![0.0; eigen::scratch(n)];
    assert_eq!(eigen::decompose_within(0, &a, &mut values, &mut vectors, n, memory), Ok(()));
}

#[test]
fn singular_values_that_do_not_converge_are_an_error() {
    let (rows, columns) = (7, 5);
    let a = random(rows, columns, 2);
    let mut memory = vec![0.0; svd::scratch(rows, columns)];
    let mut within = |limit| svd::decompose_within(limit, &a, rows, columns, &mut memory).map(|_| ());
    assert_eq!(within(0), Err(LinalgError::NoConvergence { limit: 0 }));
    assert_eq!(within(2), Err(LinalgError::NoConvergence { limit: 2 }));
    assert_eq!(within(60), Ok(()));
}

/// Long sums of products round more: the sweeps must end for them, too.
#[test]
fn singular_values_of_long_columns_converge() {
    for (rows, columns) in [(5_000, 20), (400, 200)] {
        let a = random(rows, columns, 3);
        let mut memory = vec![0.0; svd::scratch(rows, columns)];
        assert!(svd::decompose_within(14, &a, rows, columns, &mut memory).is_ok(), "{rows} × {columns}");
    }
}
