//! Arguments outside of the domain are rejected, sizes that do not fit are mistakes, and nothing costs nothing.

use super::{Maker, Moves, Value, arguments, evaluate, find, integers, real};
use crate::density::Terms;
use crate::functions::{Cell, Shape};

fn rejected(name: &str, values: &[Value], argument: &str) {
    let error = evaluate(name, values, Terms::ALL).expect_err(name);
    assert_eq!((error.function, error.argument), (name, argument), "{error}");
}

fn mistake(name: &str, values: &[Value], words: &str) {
    let error = find(name).check(&arguments(values)).expect_err(name);
    assert!(error.to_string().contains(words), "{name}: {error}");
}

fn given(shape: Shape, numbers: &[f64]) -> Value {
    Value { moves: Moves::No, shape, numbers: numbers.to_vec(), step: 0.0 }
}

#[test]
fn matrices_outside_of_their_domain_are_rejected() {
    let mut m = Maker::new(41);
    let [y, mu] = [m.vector(2), m.vector(2)];
    let square = |x: &[f64]| given(Shape::matrix(2, 2), x);
    let (indefinite, skew) = (square(&[1.0, 2.0, 2.0, 1.0]), square(&[1.0, 0.1, 0.2, 1.0]));
    for matrix in [indefinite.clone(), skew.clone()] {
        rejected("multi_normal_lpdf", &[y.clone(), mu.clone(), matrix.clone()], "Covariance matrix");
        rejected("multi_normal_prec_lpdf", &[y.clone(), mu.clone(), matrix.clone()], "Precision matrix");
        let spd = m.covariance(2, 1.0);
        rejected("wishart_lpdf", &[matrix.clone(), real(3.0), spd.clone()], "random variable");
        rejected("inv_wishart_lpdf", &[spd, real(3.0), matrix], "scale parameter");
    }
    rejected("lkj_corr_lpdf", &[indefinite.clone(), real(1.0)], "Correlation matrix");
    rejected("lkj_corr_lpdf", &[square(&[1.1, 0.0, 0.0, 1.0]), real(1.0)], "Correlation matrix");
    let upper = square(&[1.0, 0.0, 0.5, 1.0]);
    rejected("lkj_corr_cholesky_lpdf", &[upper.clone(), real(1.0)], "Random variable");
    let twice = m.vectors(2, 2);
    rejected("multi_normal_cholesky_lpdf", &[twice, mu.clone(), upper.clone()], "Cholesky factor");
    // as in Stan, one observation looks only at the lower triangle
    assert!(evaluate("multi_normal_cholesky_lpdf", &[y.clone(), mu, upper], Terms::ALL).is_ok());
    let negative = square(&[1.0, 0.5, 0.0, -1.0]);
    rejected("multi_normal_cholesky_lpdf", &[y.clone(), y.clone(), negative], "Cholesky factor");
    let nan = given(Shape::vector(2), &[f64::NAN, 0.0]);
    rejected("multi_normal_lpdf", &[nan.clone(), y.clone(), m.covariance(2, 1.0)], "Random variable");
    rejected("multi_normal_lpdf", &[y, nan, m.covariance(2, 1.0)], "Location parameter");
}

#[test]
fn parameters_outside_of_their_domain_are_rejected() {
    let mut m = Maker::new(42);
    let (spd, vector) = (m.covariance(3, 1.0), m.vector(3));
    rejected("wishart_lpdf", &[spd.clone(), real(2.0), spd.clone()], "Degrees of freedom parameter");
    let student = [vector.clone(), real(0.0), vector.clone(), spd];
    rejected("multi_student_t_lpdf", &student, "Degrees of freedom parameter");
    let [theta, alpha] = [m.simplexes(Shape::vector(3)), m.positive(3)];
    rejected("dirichlet_lpdf", &[alpha.clone(), alpha], "probabilities");
    rejected("dirichlet_lpdf", &[theta.clone(), vector.clone()], "prior sample sizes");
    rejected("categorical_lpmf", &[integers(&[4]), theta.clone()], "element of outcome array");
    rejected("categorical_lpmf", &[integers(&[0]), theta.clone()], "element of outcome array");
    rejected(
        "categorical_logit_lpmf",
        &[integers(&[1]), given(Shape::vector(1), &[f64::INFINITY])],
        "log odds parameter",
    );
    rejected("multinomial_lpmf", &[integers(&[1, -1, 2]), theta], "Number of trials variable");
    let falling = given(Shape::vector(2), &[1.0, 0.5]);
    rejected("ordered_logistic_lpmf", &[integers(&[1]), real(0.0), falling], "Cut-points");
    let (seen, rho) = (m.matrix(2, 2), m.simplexes(Shape::vector(2)));
    let rows = given(Shape::matrix(2, 2), &[0.5, 0.5, 0.5, 0.4]);
    rejected("hmm_marginal", &[seen, rows, rho], "Gamma[i, ]");
    let one = |x: f64| given(Shape::matrix(1, 1), &[x]);
    let state = given(Shape::vector(1), &[0.0]);
    let series = [one(0.1), one(1.0), one(1.0), one(1.0), one(-0.1), state, one(1.0)];
    rejected("gaussian_dlm_obs_lpdf", &series, "W");
}

#[test]
fn sizes_that_do_not_fit_are_mistakes() {
    let mut m = Maker::new(43);
    let (two, three, spd) = (m.vector(2), m.vector(3), m.covariance(2, 1.0));
    mistake("multi_normal_lpdf", &[two.clone(), three.clone(), spd.clone()], "location");
    mistake("multi_normal_lpdf", &[three.clone(), three.clone(), spd.clone()], "scale matrix");
    let arrays = [m.vectors(2, 2), m.vectors(3, 2), spd];
    mistake("multi_normal_lpdf", &arrays, "length of the array");
    mistake("dirichlet_lpdf", &[two.clone(), three.clone()], "size of the probabilities");
    mistake("multinomial_lpmf", &[integers(&[1, 2]), three.clone()], "size of the array of counts");
    mistake("ordered_logistic_lpmf", &[integers(&[1, 2]), three.clone(), two.clone()], "array of outcomes");
    mistake("hmm_marginal", &[m.matrix(2, 5), m.transitions(3), two.clone()], "transition matrix");
    mistake("wishart_lpdf", &[m.matrix(2, 3), real(3.0), m.matrix(2, 2)], "columns of the random variable");
    mistake("wiener_lpdf", &[two, real(1.0), three, real(0.5), real(0.0)], "size of the random variable");
    mistake("lkj_corr_lpdf", &[m.matrix(2, 2)], "1 arguments");
}

#[test]
fn nothing_has_the_log_density_zero() {
    let mut m = Maker::new(44);
    let none = given(Shape::new(&[0], Cell::Vector, &[2]), &[]);
    let [mu, spd] = [m.vector(2), m.covariance(2, 1.0)];
    assert_eq!(evaluate("multi_normal_lpdf", &[none.clone(), mu, spd], Terms::ALL), Ok(0.0));
    assert_eq!(evaluate("dirichlet_lpdf", &[none, m.positive(2)], Terms::ALL), Ok(0.0));
    let empty = given(Shape::matrix(0, 0), &[]);
    assert_eq!(evaluate("lkj_corr_lpdf", &[empty.clone(), real(1.0)], Terms::ALL), Ok(0.0));
    assert_eq!(evaluate("wishart_lpdf", &[empty.clone(), real(1.0), empty], Terms::ALL), Ok(0.0));
    assert_eq!(evaluate("categorical_lpmf", &[integers(&[]), m.simplexes(Shape::vector(2))], Terms::ALL), Ok(0.0));
    assert_eq!(evaluate("multinomial_lpmf", &[integers(&[0, 0]), m.simplexes(Shape::vector(2))], Terms::ALL), Ok(0.0));
}

/// A state without noise: W of rank one and a known start are semidefinite.
#[test]
fn semidefinite_noise_is_allowed() {
    let mut m = Maker::new(45);
    let w = given(Shape::matrix(2, 2), &[0.49, 0.21, 0.21, 0.09]);
    let known = given(Shape::matrix(2, 2), &[0.0; 4]);
    let values =
        [m.matrix(1, 5), m.matrix(2, 1), m.matrix(2, 2), given(Shape::vector(1), &[0.3]), w, m.vector(2), known];
    assert!(evaluate("gaussian_dlm_obs_lpdf", &values, Terms::ALL).is_ok_and(f64::is_finite));
}
