//! Arguments that do not fit, and arguments outside of the domain.

use super::{Argument, Shape, Value, call, function, stream};

fn shape_error(name: &str, arguments: &[&Value]) -> String {
    let list: Vec<Argument> = arguments.iter().map(|value| value.argument()).collect();
    function(name).shape(&list).err().unwrap_or_else(|| panic!("{name} accepts {list:?}")).to_string()
}

#[test]
fn sizes_that_do_not_fit() {
    let mut rng = stream(1);
    let [a, b, w] =
        [Shape::matrix(3, 2), Shape::matrix(3, 3), Shape::vector(2)].map(|shape| Value::random(shape, &mut rng));
    let row = Value::random(Shape::row_vector(3), &mut rng);
    for name in [
        "cholesky_decompose",
        "chol2inv",
        "inverse",
        "inverse_spd",
        "determinant",
        "log_determinant",
        "log_determinant_spd",
        "matrix_exp",
        "eigenvalues_sym",
        "eigenvectors_sym",
    ] {
        assert_eq!(shape_error(name, &[&a]), "the matrix must be square, but has 3 rows and 2 columns", "{name}");
    }
    assert_eq!(
        shape_error("mdivide_left", &[&b, &w]),
        "rows of the right-hand side (2) must be as many as columns of the matrix (3)"
    );
    shape_error("mdivide_left", &[&b, &row]);
    shape_error("mdivide_right", &[&a, &b]);
    shape_error("mdivide_right", &[&w, &b]);
    shape_error("quad_form", &[&b, &w]);
    shape_error("quad_form_sym", &[&a, &a]);
    shape_error("quad_form_diag", &[&b, &w]);
    shape_error("trace_gen_quad_form", &[&b, &b, &a]);
    shape_error("diag_pre_multiply", &[&w, &b]);
    shape_error("diag_post_multiply", &[&b, &w]);
    shape_error("add_diag", &[&b, &w]);
    shape_error("rows_dot_product", &[&a, &b]);
    shape_error("trace", &[&w]);
    shape_error("matrix_exp_multiply", &[&b, &w]);
    shape_error("inverse", &[&b, &b]);
}

fn domain_error(name: &str, arguments: &[&Value]) -> String {
    call(name, arguments).err().unwrap_or_else(|| panic!("{name} accepts {arguments:?}")).to_string()
}

#[test]
fn matrices_must_be_symmetric_and_positive_definite() {
    let asymmetric = Value::matrix(&[[2.0, 0.5], [0.5 + 2e-8, 2.0]]);
    let nearly = Value::matrix(&[[2.0, 0.5], [0.5 + 0.9e-8, 2.0]]);
    let indefinite = Value::matrix(&[[1.0, 2.0], [2.0, 1.0]]);
    let semidefinite = Value::matrix(&[[0.0, 0.0], [0.0, 1.0]]);
    let nan = Value::matrix(&[[1.0, f64::NAN], [f64::NAN, 1.0]]);
    let nan_on_diagonal = Value::matrix(&[[1.0, 0.0], [0.0, f64::NAN]]);
    let side = Value::new(Shape::vector(2), &[1.0, 2.0]);
    for name in ["cholesky_decompose", "inverse_spd", "log_determinant_spd", "mdivide_left_spd"] {
        let with = |a| if name == "mdivide_left_spd" { vec![a, &side] } else { vec![a] };
        assert!(domain_error(name, &with(&asymmetric)).ends_with("must be symmetric"));
        assert!(call(name, &with(&nearly)).is_ok(), "{name}");
        for bad in [&indefinite, &semidefinite, &nan_on_diagonal] {
            assert!(domain_error(name, &with(bad)).contains("not positive definite"), "{name}");
        }
        domain_error(name, &with(&nan));
    }
    for name in ["eigenvalues_sym", "eigenvectors_sym"] {
        domain_error(name, &[&asymmetric]);
        assert!(call(name, &[&nearly]).is_ok());
    }
    domain_error("quad_form_sym", &[&asymmetric, &side]);
    // The pivot that fails is in a later block.
    let mut large = Value::random_spd(40, &mut stream(1));
    large.numbers[39 * 41] = -1.0;
    assert!(domain_error("cholesky_decompose", &[&large]).contains("not positive definite"));
}

/// Squares of these numbers overflow, so that the steps never end by themselves.
#[test]
fn eigenvalues_that_do_not_converge_reject_the_point() {
    let huge = Value::matrix(&[[1e200, 2e200, 3e200], [2e200, 1e200, 4e200], [3e200, 4e200, 1e200]]);
    for name in ["eigenvalues_sym", "eigenvectors_sym", "eigendecompose_sym.1", "eigendecompose_sym.2"] {
        let expected = "Number of iterations is 90, but must be less: eigenvalues have not converged";
        assert_eq!(domain_error(name, &[&huge]), format!("{name}: {expected}"));
    }
}

#[test]
fn other_domains() {
    domain_error("chol2inv", &[&Value::matrix(&[[1.0, 0.5], [0.0, 1.0]])]);
    domain_error("matrix_power", &[&Value::identity(2), &Value::scalar(-1.0)]);
    domain_error("matrix_power", &[&Value::matrix(&[[f64::INFINITY]]), &Value::scalar(2.0)]);
}

#[test]
fn sparse_indices() {
    let (two, zero) = (Value::scalar(2.0), Value::scalar(0.0));
    let w = Value::new(Shape::vector(2), &[1.0, 2.0]);
    let csr = |m: &Value, n: &Value, v: &[f64], u: &[f64]| {
        let (v, u) = (Value::integers(v), Value::integers(u));
        let arguments = [m, n, &w, &v, &u].map(Value::argument);
        function("csr_to_dense_matrix").shape(&arguments)
    };
    assert_eq!(csr(&two, &two, &[1.0, 2.0], &[1.0, 2.0, 3.0]), Ok(Shape::matrix(2, 2)));
    assert!(csr(&zero, &two, &[1.0, 2.0], &[1.0]).is_err());
    assert!(csr(&two, &two, &[1.0], &[1.0, 2.0, 3.0]).is_err());
    assert!(csr(&two, &two, &[1.0, 3.0], &[1.0, 2.0, 3.0]).is_err());
    assert!(csr(&two, &two, &[0.0, 2.0], &[1.0, 2.0, 3.0]).is_err());
    assert!(csr(&two, &two, &[1.0, 2.0], &[1.0, 3.0]).is_err());
    assert!(csr(&two, &two, &[1.0, 2.0], &[1.0, 4.0, 3.0]).is_err());
    assert!(csr(&two, &two, &[1.0, 2.0], &[0.0, 2.0, 3.0]).is_err());
    assert!(csr(&two, &two, &[1.0, 2.0], &[1.0, 2.0, 4.0]).is_err());
    let parameter = Argument { numbers: &[], shape: Shape::matrix(2, 2) };
    assert!(function("csr_extract_w").shape(&[parameter]).is_err());
}
