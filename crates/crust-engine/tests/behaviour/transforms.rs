//! Parameters of every type: values in their sets, and log Jacobians equal to those of differences.

use crate::common::{agree, bind, evaluate};
use crate::harness::{NO_JACOBIAN, NORMALISED, check, differences, quantities, spread};

/// The log of the absolute determinant, by elimination with pivots.
fn log_determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut sum = 0.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("there is a row");
        a.swap(k, pivot);
        sum += a[k][k].abs().ln();
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    sum
}

/// Compares the log Jacobian of a declaration with the determinant of differences of its coordinates (the numbers of
/// the output at these places, which determine the others).
fn check_jacobian(declarations: &str, coordinates: &[usize]) {
    let model = bind(&format!("parameters {{ {declarations} }} model {{ }}"), "{}");
    assert_eq!(model.dimension(), coordinates.len(), "{declarations}");
    let points = spread(5, model.dimension());
    let with = evaluate(&mut model.evaluator(), &points, None, NORMALISED);
    let without = evaluate(&mut model.evaluator(), &points, None, NO_JACOBIAN);
    for (l, x) in points.iter().enumerate() {
        let rows = coordinates.iter().map(|&c| differences(x, |x| quantities(&model, x)[c].1)).collect();
        let (found, expected) = (with.log_density(l) - without.log_density(l), log_determinant(rows));
        assert!(agree(found, expected, 1e-8), "{declarations} at {x:?}: {found} is not {expected}");
    }
}

#[test]
fn log_jacobians_are_determinants() {
    check_jacobian("real<lower=2> a; real<upper=-1> b; real<lower=-1, upper=3> c;", &[0, 1, 2]);
    check_jacobian("real<offset=3, multiplier=0.4> a;", &[0]);
    check_jacobian("ordered[4] a;", &[0, 1, 2, 3]);
    check_jacobian("positive_ordered[3] a;", &[0, 1, 2]);
    // Matrices are put out by columns.
    check_jacobian("cholesky_factor_corr[3] a;", &[1, 2, 5]);
    check_jacobian("corr_matrix[3] a;", &[1, 2, 5]);
    check_jacobian("cov_matrix[3] a;", &[0, 1, 2, 4, 5, 8]);
    check_jacobian("cholesky_factor_cov[3] a;", &[0, 1, 2, 4, 5, 8]);
    check_jacobian("cholesky_factor_cov[3, 2] a;", &[0, 1, 2, 4, 5]);
    check_jacobian("array[2] ordered[2] a;", &[0, 2, 1, 3]);
}

/// Bounds, offsets and multipliers that depend on parameters: the set of the whole program is a triangular change of
/// variables.
#[test]
fn bounds_depend_on_other_parameters() {
    check_jacobian("real a; real<lower=a> b; real<lower=a, upper=b> c; real<upper=b * a> d;", &[0, 1, 2, 3]);
    check_jacobian("real a; real<lower=0> s; vector<offset=a, multiplier=s>[2] b;", &[0, 1, 2, 3]);
    check_jacobian("vector[2] a; vector<lower=a, upper=a + exp(a)>[2] b;", &[0, 1, 2, 3]);
}

/// The simplex and the stochastic matrices: the log Jacobian is that of the map to all but one coordinate, up to a
/// constant.
#[test]
fn log_jacobians_of_simplices_differ_from_determinants_by_a_constant() {
    let model = bind("parameters { simplex[4] a; } model { }", "{}");
    let points = spread(6, 3);
    let found = evaluate(&mut model.evaluator(), &points, None, NORMALISED);
    let gaps: Vec<f64> = points
        .iter()
        .enumerate()
        .map(|(l, x)| {
            let rows = (0..3).map(|c| differences(x, |x| quantities(&model, x)[c].1)).collect();
            found.log_density(l) - log_determinant(rows)
        })
        .collect();
    assert!(gaps.iter().all(|g| agree(*g, gaps[0], 1e-8)), "{gaps:?}");
}

#[test]
fn every_type_is_a_parameter() {
    let program = "
        data { int K; }
        parameters {
          simplex[K] theta; ordered[K] o; positive_ordered[2] po; unit_vector[3] u; sum_to_zero_vector[4] z;
          cholesky_factor_corr[3] L; corr_matrix[3] R; cov_matrix[2] S; cholesky_factor_cov[3, 2] F;
          array[2] simplex[2] pis; real mu; real<lower=0> tau; vector<offset=mu, multiplier=tau>[2] b;
          real<lower=mu> above; row_vector<lower=-1, upper=1>[2] r; matrix<upper=2>[2, 2] m;
          column_stochastic_matrix[2, 3] C; row_stochastic_matrix[3, 2] W; sum_to_zero_matrix[3, 2] Z;
        }
        model {
          vector[K] w = linspaced_vector(K, 1, 2);
          target += dot_product(w, log(theta)) - dot_self(o) - sum(po) + dot_product(u, [1, 2, -1]') - dot_self(z - z[2]);
          target += -sum(square(to_vector(L * R))) + sum(S .* [[-1, 0.2], [0.2, -2]]) - sum(square(F));
          for (p in pis) target += p[1] * 3;
          b ~ normal(mu, tau); mu ~ normal(0, 1); tau ~ lognormal(0, 1); above ~ normal(0, 1);
          target += -sum(square(r)) + sum(exp(m)) * -0.1 + sum(C .* C) - sum(W[1] .* W[2]) - sum(Z .* Z);
          L ~ lkj_corr_cholesky(2); R ~ lkj_corr(1.5); S ~ inv_wishart(4, identity_matrix(2));
        }";
    let (model, points) = check(program, r#"{"K": 3}"#);
    let values: std::collections::HashMap<String, f64> = quantities(&model, &points[3]).into_iter().collect();
    let v = |name: &str| values[name];
    assert!(agree(v("theta[1]") + v("theta[2]") + v("theta[3]"), 1.0, 1e-14));
    assert!(v("o[1]") < v("o[2]") && v("o[2]") < v("o[3]") && 0.0 < v("po[1]") && v("po[1]") < v("po[2]"));
    assert!(agree(v("u[1]").powi(2) + v("u[2]").powi(2) + v("u[3]").powi(2), 1.0, 1e-14));
    assert!(agree(v("L[3,1]").powi(2) + v("L[3,2]").powi(2) + v("L[3,3]").powi(2), 1.0, 1e-14));
    assert!(agree(v("R[2,2]"), 1.0, 1e-14) && agree(v("R[3,1]"), v("R[1,3]"), 1e-14));
    assert!(agree(v("z[1]") + v("z[2]") + v("z[3]") + v("z[4]"), 0.0, 1e-14));
    assert!(agree(v("C[1,2]") + v("C[2,2]"), 1.0, 1e-14) && agree(v("W[3,1]") + v("W[3,2]"), 1.0, 1e-14));
    assert!(v("above") > v("mu") && v("r[1]").abs() < 1.0 && v("m[2,2]") < 2.0);
}
