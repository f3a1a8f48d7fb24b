//! What decompositions and inverses must satisfy, products against the most simple loops, and known values.

#![allow(clippy::unreadable_literal, clippy::excessive_precision, reason = "known values are written with all digits")]

use super::{Shape, Value, call, stream, value};
use crate::linalg::gemm::{Operand, Target, gemm};

const SIZES: [usize; 9] = [1, 2, 3, 5, 8, 16, 17, 33, 100];

fn diagonal(values: &Value) -> Value {
    let n = values.numbers.len();
    Value::from_fn(n, n, |i, j| if i == j { values.numbers[i] } else { 0.0 })
}

#[test]
fn products_of_all_sizes_and_orders() {
    let mut rng = stream(1);
    for (rows, depth, columns) in
        [(1, 1, 1), (3, 2, 5), (16, 16, 4), (17, 17, 5), (40, 300, 9), (8, 1, 8), (33, 129, 1)]
    {
        let a = Value::random_matrix(rows, depth, &mut rng);
        let b = Value::random_matrix(depth, columns, &mut rng);
        let c = Value::random_matrix(rows, columns, &mut rng);
        let product = a.times(&b);
        let expected = Value::from_fn(rows, columns, |i, j| c.at(i, j) - 0.5 * product.at(i, j));
        let (a_transposed, b_transposed) = (a.transposed(), b.transposed());
        let left = [Operand::new(&a.numbers, rows), Operand::new(&a_transposed.numbers, depth).transposed()];
        let right = [Operand::new(&b.numbers, depth), Operand::new(&b_transposed.numbers, columns).transposed()];
        let results: Vec<Value> = [(0, 0), (0, 1), (1, 0), (1, 1)]
            .map(|(i, j)| {
                let mut out = c.clone();
                gemm(&mut out.numbers, Target::whole(rows, columns), depth, -0.5, left[i], right[j]);
                out.assert_near(&expected, 1e-12);
                out
            })
            .to_vec();
        assert!(results.iter().all(|result| result.numbers == results[0].numbers), "the order changes the rounding");
    }
}

#[test]
fn products_inside_one_slice() {
    let mut rng = stream(2);
    let whole = Value::random_matrix(20, 20, &mut rng);
    let part = |i: usize, j: usize| Value::from_fn(9, 9, |k, l| whole.at(i + k, j + l));
    let mut out = whole.numbers.clone();
    let target = Target { offset: 10 + 20 * 10, stride: 20, rows: 9, columns: 9 };
    gemm(&mut out, target, 9, 1.0, Operand::here(10, 20), Operand::here(20 * 10, 20));
    let product = part(10, 0).times(&part(0, 10));
    for k in 0..400 {
        let inside = (10..19).contains(&(k % 20)) && (10..19).contains(&(k / 20));
        let added = if inside { product.at(k % 20 - 10, k / 20 - 10) } else { 0.0 };
        assert!((out[k] - whole.numbers[k] - added).abs() < 1e-13);
    }
}

#[test]
fn cholesky_and_its_inverse() {
    for n in SIZES {
        let a = Value::random_spd(n, &mut stream(3));
        let l = value("cholesky_decompose", &[&a]);
        l.times(&l.transposed()).assert_near(&a, 1e-13);
        assert!((0..n * n).all(|k| k % n >= k / n || l.numbers[k] == 0.0));
        assert!(l.numbers.iter().step_by(n + 1).all(|&x| x > 0.0));
        value("multiply_lower_tri_self_transpose", &[&l]).assert_near(&a, 1e-13);
        let inverse = value("inverse_spd", &[&a]);
        a.times(&inverse).assert_near(&Value::identity(n), 1e-11);
        value("chol2inv", &[&l]).assert_near(&inverse, 1e-11);
        let log = value("log_determinant_spd", &[&a]).numbers[0];
        let general = value("log_determinant", &[&a]).numbers[0];
        assert!((log - general).abs() < 1e-12 * (1.0 + log.abs()));
    }
}

#[test]
fn general_inverse_and_determinant() {
    for n in SIZES {
        let (a, b) = (Value::random_matrix(n, n, &mut stream(4)), Value::random_matrix(n, n, &mut stream(5)));
        a.times(&value("inverse", &[&a])).assert_near(&Value::identity(n), 1e-10);
        value("generalized_inverse", &[&a]).times(&a).assert_near(&Value::identity(n), 1e-9);
        let determinant = |a: &Value| value("determinant", &[a]).numbers[0];
        let (product, both) = (determinant(&a) * determinant(&b), determinant(&a.times(&b)));
        assert!((product - both).abs() <= 1e-11 * both.abs(), "{n}: {product} {both}");
        let log = value("log_determinant", &[&a]).numbers[0];
        assert!((determinant(&a).abs().ln() - log).abs() < 1e-11 * (1.0 + log.abs()));
    }
}

#[test]
fn division_undoes_multiplication() {
    for n in SIZES {
        for columns in [1, 4, 7] {
            let mut rng = stream(6);
            let (x, y) = (Value::random_matrix(n, columns, &mut rng), Value::random_matrix(columns, n, &mut rng));
            let matrices = [
                ("", Value::random_matrix(n, n, &mut rng)),
                ("_spd", Value::random_spd(n, &mut rng)),
                ("_tri_low", value("cholesky_decompose", &[&Value::random_spd(n, &mut rng)])),
            ];
            for (kind, a) in matrices {
                value(&format!("mdivide_left{kind}"), &[&a, &a.times(&x)]).assert_near(&x, 1e-8);
                value(&format!("mdivide_right{kind}"), &[&y.times(&a), &a]).assert_near(&y, 1e-8);
            }
        }
    }
}

#[test]
fn orthogonal_times_triangular() {
    for (rows, columns) in [(1, 1), (3, 3), (5, 2), (2, 5), (20, 17), (17, 20), (60, 60)] {
        let a = Value::random_matrix(rows, columns, &mut stream(7));
        for (names, q_columns) in [(["qr_Q", "qr_R"], rows), (["qr_thin_Q", "qr_thin_R"], rows.min(columns))] {
            let [q, r] = names.map(|name| value(name, &[&a]));
            assert_eq!((q.shape, r.shape), (Shape::matrix(rows, q_columns), Shape::matrix(q_columns, columns)));
            q.times(&r).assert_near(&a, 1e-13);
            q.transposed().times(&q).assert_near(&Value::identity(q_columns), 1e-13);
            for k in 0..r.numbers.len() {
                let (i, j) = (k % q_columns, k / q_columns);
                assert!(i < j || (i == j && r.numbers[k] >= 0.0) || r.numbers[k] == 0.0);
            }
        }
    }
}

#[test]
fn singular_values_and_vectors() {
    for (rows, columns) in [(1, 1), (3, 3), (5, 2), (2, 5), (20, 17), (17, 40)] {
        let a = Value::random_matrix(rows, columns, &mut stream(8));
        let [u, s, v] = ["svd_U", "singular_values", "svd_V"].map(|name| value(name, &[&a]));
        let k = rows.min(columns);
        u.times(&diagonal(&s)).times(&v.transposed()).assert_near(&a, 1e-13);
        u.transposed().times(&u).assert_near(&Value::identity(k), 1e-13);
        v.transposed().times(&v).assert_near(&Value::identity(k), 1e-13);
        assert!(s.numbers.windows(2).all(|pair| pair[0] >= pair[1]) && s.numbers[k - 1] >= 0.0);
    }
}

/// The four conditions of Moore and Penrose, also for a matrix of lower rank, whose vectors are still orthonormal.
#[test]
fn generalized_inverse_of_any_rank() {
    let mut rng = stream(9);
    let low = Value::random_matrix(6, 2, &mut rng).times(&Value::random_matrix(2, 5, &mut rng));
    let zero = Value::from_fn(4, 3, |_, _| 0.0);
    for a in [Value::random_matrix(7, 3, &mut rng), Value::random_matrix(3, 7, &mut rng), low, zero] {
        let p = value("generalized_inverse", &[&a]);
        a.times(&p).times(&a).assert_near(&a, 1e-13);
        p.times(&a).times(&p).assert_near(&p, 1e-13);
        let (ap, pa) = (a.times(&p), p.times(&a));
        ap.transposed().assert_near(&ap, 1e-13);
        pa.transposed().assert_near(&pa, 1e-13);
        for name in ["svd_U", "svd_V"] {
            let u = value(name, &[&a]);
            u.transposed().times(&u).assert_near(&Value::identity(u.shape.columns()), 1e-13);
        }
    }
}

#[test]
fn eigenvalues_and_eigenvectors() {
    for n in SIZES {
        let a = Value::random_matrix(n, n, &mut stream(10));
        let a = Value::from_fn(n, n, |i, j| a.at(i, j) + a.at(j, i));
        let (values, vectors) = (value("eigenvalues_sym", &[&a]), value("eigenvectors_sym", &[&a]));
        assert!(values.numbers.is_sorted());
        vectors.transposed().times(&vectors).assert_near(&Value::identity(n), 1e-12);
        vectors.times(&diagonal(&values)).times(&vectors.transposed()).assert_near(&a, 1e-12);
    }
}

/// Already diagonal matrices, equal eigenvalues, and blocks that fall apart at once.
#[test]
fn special_eigenvalue_problems() {
    let split = Value::from_fn(6, 6, |i, j| if i / 3 == j / 3 { 2.0 } else { 0.0 });
    for a in [diagonal(&Value::new(Shape::vector(4), &[3.0, -1.0, 2.0, -1.0])), Value::identity(5), split] {
        let n = a.shape.rows();
        let (values, vectors) = (value("eigenvalues_sym", &[&a]), value("eigenvectors_sym", &[&a]));
        vectors.transposed().times(&vectors).assert_near(&Value::identity(n), 1e-14);
        vectors.times(&diagonal(&values)).times(&vectors.transposed()).assert_near(&a, 1e-14);
    }
}

#[test]
fn exponentials() {
    let mut rng = stream(11);
    let nilpotent = Value::from_fn(4, 4, |i, j| if i + 1 == j { 2.0 } else { 0.0 });
    let expected = Value::from_fn(4, 4, |i, j| if i <= j { [1.0, 2.0, 2.0, 8.0 / 6.0][j - i] } else { 0.0 });
    value("matrix_exp", &[&nilpotent]).assert_near(&expected, 1e-15);
    for scale in [1e-9, 1e-3, 0.1, 0.5, 1.0, 20.0] {
        let d = Value::random(Shape::vector(5), &mut rng);
        let d = Value::from_fn(5, 1, |i, _| scale * d.numbers[i]);
        let exp = Value::from_fn(5, 1, |i, _| d.numbers[i].exp());
        value("matrix_exp", &[&diagonal(&d)]).assert_near(&diagonal(&exp), 1e-13);
        let a = Value::random_matrix(6, 6, &mut rng);
        let a = Value::from_fn(6, 6, |i, j| scale.min(3.0) * a.at(i, j));
        let minus = Value::from_fn(6, 6, |i, j| -a.at(i, j));
        let b = Value::random_matrix(6, 2, &mut rng);
        let (plus, minus) = (value("matrix_exp", &[&a]), value("matrix_exp", &[&minus]));
        plus.times(&minus).assert_near(&Value::identity(6), 1e-11);
        value("matrix_exp_multiply", &[&a, &b]).assert_near(&plus.times(&b), 1e-14);
        value("scale_matrix_exp_multiply", &[&Value::scalar(-2.0), &a, &b])
            .assert_near(&minus.times(&minus).times(&b), 1e-11);
    }
    assert!(value("matrix_exp", &[&Value::matrix(&[[f64::INFINITY]])]).numbers[0].is_nan());
}

/// Values from arithmetic with 40 digits.
#[test]
fn known_values() {
    value("matrix_exp", &[&Value::matrix(&[[1.0, 2.0], [3.0, 4.0]])]).assert_near(
        &Value::matrix(&[
            [51.968956198705003658, 74.73656456700321255],
            [112.10484685050481882, 164.07380304920982248],
        ]),
        1e-14,
    );
    // The classic case in which the plain series fails.
    value("matrix_exp", &[&Value::matrix(&[[-49.0, 24.0], [-64.0, 31.0]])]).assert_near(
        &Value::matrix(&[
            [-0.73575875814475307964, 0.55181909965809770062],
            [-1.471517599088260535, 1.1036382407155725891],
        ]),
        1e-12,
    );
    value("matrix_exp", &[&Value::matrix(&[[-30.0, 20.0, 10.0], [5.0, -6.0, 1.0], [0.5, 100.0, -100.5]])]).assert_near(
        &Value::matrix(&[
            [0.13999443362092988184, 0.8377400500974112967, 0.022265516281658821469],
            [0.13999443362092953764, 0.8377400500974116879, 0.022265516281658774452],
            [0.13999443362092951413, 0.83774005009741171462, 0.022265516281658771241],
        ]),
        1e-13,
    );
    let a = Value::matrix(&[[2.0, -1.0, 0.5], [1.0, 3.0, -2.0], [0.25, 4.0, 1.0]]);
    assert!((value("determinant", &[&a]).numbers[0] - 25.125).abs() < 1e-13);
    assert!((value("log_determinant", &[&a]).numbers[0] - 3.2238633663792398228).abs() < 1e-15);
    value("inverse", &[&a]).assert_near(
        &Value::matrix(&[
            [0.4378109452736318408, 0.11940298507462686567, 0.019900497512437810945],
            [-0.059701492537313432836, 0.074626865671641791045, 0.17910447761194029851],
            [0.12935323383084577114, -0.3283582089552238806, 0.27860696517412935323],
        ]),
        1e-15,
    );
    let l = value("cholesky_decompose", &[&Value::matrix(&[[4.0, 2.0, 0.6], [2.0, 5.0, 1.5], [0.6, 1.5, 3.0]])]);
    l.assert_near(&Value::matrix(&[[2.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.3, 0.6, 1.5968719422671311999]]), 1e-15);
    let hilbert = Value::from_fn(4, 4, |i, j| 1.0 / f64::from(u8::try_from(i + j + 1).unwrap_or(0)));
    let values = [0.000096702304022600176023, 0.0067382736057607222822, 0.16914122022145004103, 1.5002142800592428117];
    value("eigenvalues_sym", &[&hilbert]).assert_near(&Value::new(Shape::vector(4), &values), 1e-15);
    let descending: Vec<f64> = values.iter().rev().copied().collect();
    value("singular_values", &[&hilbert]).assert_near(&Value::new(Shape::vector(4), &descending), 1e-15);
    let s = value("singular_values", &[&Value::matrix(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])]);
    s.assert_near(&Value::new(Shape::vector(2), &[9.5255180915651082153, 0.51430058065864427249]), 1e-15);
}

/// Each form against its definition.
#[test]
fn forms_and_products() {
    let mut rng = stream(12);
    let (a, b, d) = (
        Value::random_matrix(4, 4, &mut rng),
        Value::random_matrix(4, 3, &mut rng),
        Value::random_matrix(3, 3, &mut rng),
    );
    let (w, spd) = (Value::random(Shape::vector(4), &mut rng), Value::random_spd(4, &mut rng));
    let form = |a: &Value| b.transposed().times(a).times(&b);
    let trace = |a: &Value| (0..a.shape.rows()).map(|i| a.at(i, i)).sum::<f64>();
    let number = |x: f64| Value::from_fn(1, 1, |_, _| x);
    let weights = diagonal(&w);
    value("quad_form", &[&a, &b]).assert_near(&form(&a), 1e-14);
    value("quad_form_sym", &[&spd, &b]).assert_near(&form(&spd), 1e-14);
    value("quad_form", &[&a, &w]).assert_near(&number(w.transposed().times(&a).times(&w).numbers[0]), 1e-14);
    value("trace_quad_form", &[&a, &b]).assert_near(&number(trace(&form(&a))), 1e-14);
    value("trace_gen_quad_form", &[&d, &a, &b]).assert_near(&number(trace(&d.times(&form(&a)))), 1e-14);
    value("trace_dot", &[&b.transposed(), &b]).assert_near(&number(trace(&b.transposed().times(&b))), 1e-14);
    value("crossprod", &[&b]).assert_near(&b.transposed().times(&b), 1e-14);
    value("tcrossprod", &[&b]).assert_near(&b.times(&b.transposed()), 1e-14);
    value("diag_pre_multiply", &[&w, &b]).assert_near(&weights.times(&b), 1e-15);
    value("diag_post_multiply", &[&a, &w]).assert_near(&a.times(&weights), 1e-15);
    value("quad_form_diag", &[&a, &w]).assert_near(&weights.times(&a).times(&weights), 1e-15);
    let ab = value("rows_dot_product", &[&a, &spd]);
    assert_eq!(ab.shape, Shape::vector(4));
    ab.assert_near(&Value::from_fn(4, 1, |i, _| a.times(&spd.transposed()).at(i, i)), 1e-14);
    let ab = value("columns_dot_self", &[&b]);
    assert_eq!(ab.shape, Shape::row_vector(3));
    ab.assert_near(&Value::from_fn(1, 3, |_, j| b.transposed().times(&b).at(j, j)), 1e-14);
    value("matrix_power", &[&a, &Value::scalar(5.0)]).assert_near(&a.times(&a).times(&a).times(&a).times(&a), 1e-13);
    value("matrix_power", &[&a, &Value::scalar(0.0)]).assert_near(&Value::identity(4), 0.0);
}

/// The example of Stan's manual: a matrix with an empty row.
#[test]
fn sparse_matrices() {
    let a = Value::matrix(&[[19.0, 27.0], [0.0, 0.0], [0.0, 52.0], [81.0, 0.0]]);
    let [w, v, u] = ["csr_extract_w", "csr_extract_v", "csr_extract_u"].map(|name| value(name, &[&a]));
    assert_eq!(w.numbers, [19.0, 27.0, 52.0, 81.0]);
    assert_eq!(v.numbers, [1.0, 2.0, 2.0, 1.0]);
    assert_eq!(u.numbers, [1.0, 3.0, 3.0, 4.0, 5.0]);
    assert_eq!((w.shape, v.shape), (Shape::vector(4), Shape::array(&[4])));
    let (m, n) = (Value::scalar(4.0), Value::scalar(2.0));
    assert_eq!(value("csr_to_dense_matrix", &[&m, &n, &w, &v, &u]).numbers, a.numbers);
    let b = Value::new(Shape::vector(2), &[2.0, -1.0]);
    assert_eq!(value("csr_matrix_times_vector", &[&m, &n, &w, &v, &u, &b]).numbers, a.times(&b).numbers);
}

#[test]
fn nothing_in_nothing_out() {
    let empty = Value::from_fn(0, 0, |_, _| 0.0);
    for name in [
        "cholesky_decompose",
        "inverse",
        "inverse_spd",
        "matrix_exp",
        "qr_Q",
        "svd_U",
        "eigenvectors_sym",
        "generalized_inverse",
    ] {
        assert!(value(name, &[&empty]).numbers.is_empty(), "{name}");
    }
    assert_eq!(value("determinant", &[&empty]).numbers, [1.0]);
    assert_eq!(value("log_determinant", &[&empty]).numbers, [0.0]);
    assert_eq!(value("log_determinant_spd", &[&empty]).numbers, [0.0]);
    assert_eq!(value("trace", &[&empty]).numbers, [0.0]);
    let none = Value::new(Shape::matrix(0, 3), &[]);
    assert!(value("mdivide_left", &[&empty, &none]).numbers.is_empty());
    assert_eq!(value("crossprod", &[&none]).numbers, [0.0; 9]);
    assert_eq!(value("columns_dot_self", &[&none]).numbers, [0.0; 3]);
}

/// A singular matrix has the determinant 0; to divide by it gives no number, but no error either, as in Stan.
#[test]
fn singular_matrix() {
    let a = Value::matrix(&[[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]);
    assert_eq!(value("determinant", &[&a]).numbers, [0.0]);
    assert_eq!(value("log_determinant", &[&a]).numbers, [f64::NEG_INFINITY]);
    assert!(call("inverse", &[&a]).is_ok_and(|inverse| inverse.numbers.iter().any(|x| !x.is_finite())));
}
