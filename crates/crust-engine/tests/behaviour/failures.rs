//! What goes wrong: in some lanes only, or for the whole program.

use crate::common::{agree, bind, evaluate, try_bind, try_evaluate};
use crate::harness::{NORMALISED, normal, spread};
use crust_stan::source::Source;

/// Evaluates points of which some are rejected; the others must be as if they had been alone.
fn check_rejections(program: &str, reason: &str, line: usize, rejected: impl Fn(&[f64]) -> bool) {
    let model = bind(program, "{}");
    let points = spread(17, model.dimension());
    assert!(points.iter().any(|p| rejected(p)) && points.iter().any(|p| !rejected(p)), "both cases occur");
    let mut evaluator = model.evaluator();
    let (source, _) = Source::from_text("model.stan", program);
    for _ in 0..3 {
        let found = evaluate(&mut evaluator, &points, None, NORMALISED);
        let rejections = evaluator.rejections().to_vec();
        for (l, p) in points.iter().enumerate() {
            if rejected(p) {
                assert_eq!(found.log_density(l), f64::NEG_INFINITY, "{p:?}");
                let rejection = rejections[l].as_ref().expect("there is a reason");
                assert!(rejection.message.contains(reason), "{}", rejection.message);
                assert_eq!(source.location(rejection.span).line, line, "{}", rejection.message);
            } else {
                assert_eq!(rejections[l], None);
                let alone = evaluate(&mut model.evaluator(), std::slice::from_ref(p), None, NORMALISED);
                assert!(agree(found.log_density(l), alone.log_density(0), 1e-13));
                for (a, b) in found.gradient[l].iter().zip(&alone.gradient[0]) {
                    assert!(a.is_finite() && agree(*a, *b, 1e-13), "{a} is not {b}");
                }
            }
        }
    }
}

#[test]
fn some_lanes_reject() {
    let program = "parameters { real a; real b; }
model {
  if (a > 0.3)
    reject(\"a is too large: \", a);
  a ~ normal(b, 1);
  b ~ normal(0, 1);
}";
    check_rejections(program, "a is too large", 4, |p| p[0] > 0.3);
}

#[test]
fn some_lanes_leave_a_domain() {
    let program = "parameters { real a; real b; }
model {
  b ~ normal(0, 1);
  1.5 ~ normal(b, a);
  a ~ normal(0, 1);
}";
    check_rejections(program, "normal_lpdf", 4, |p| p[0] <= 0.0);
}

#[test]
fn some_lanes_leave_a_domain_within_a_loop_of_a_function() {
    let program = "functions {
  real f(vector x) {
    real s = 0;
    for (i in 1:size(x))
      s += gamma_lpdf(1.2 | 1 + x[i], 1);
    return s;
  }
}
parameters { vector[3] a; }
model {
  target += f(a);
}";
    check_rejections(program, "gamma_lpdf", 5, |p| p.iter().any(|x| *x <= -1.0));
}

#[test]
fn some_lanes_break_a_constraint_of_transformed_parameters() {
    let program = "parameters { real a; }
transformed parameters {
  real<lower=0> b = a + 0.5;
}
model { b ~ exponential(1); a ~ normal(0, 1); }";
    check_rejections(program, "b", 3, |p| p[0] + 0.5 < 0.0);
}

#[test]
fn a_matrix_is_not_positive_definite_in_some_lanes() {
    let program = "parameters { real a; vector[2] y; }
model {
  y ~ multi_normal([0, 0]', [[1, a], [a, 1]]);
}";
    check_rejections(program, "", 3, |p| p[0].abs() >= 1.0);
}

/// Runs a program that has a mistake, and checks what the error says and where.
fn check_error(program: &str, data: &str, says: &str, line: usize) {
    let model = bind(program, data);
    let points = spread(3, model.dimension());
    let error = try_evaluate(&mut model.evaluator(), &points, None, NORMALISED).err().expect("there is an error");
    let (source, _) = Source::from_text("model.stan", program);
    assert!(error.to_string().contains(says), "{error}");
    assert_eq!(source.location(error.0[0].span).line, line, "{error}");
}

#[test]
fn indices_out_of_range_are_mistakes() {
    let head = "data { int N; vector[N] y; int k; }\nparameters { real a; vector[3] b; matrix[2, 2] m; }\nmodel {\n";
    let data = r#"{"N": 3, "y": [1, 2, 3], "k": 4}"#;
    for line in [
        "target += a * y[N + 1];",
        "target += b[k];",
        "target += b[0];",
        "target += sum(b[2:k]);",
        "target += m[1, k];",
        "target += sum(m[{1, k}, 1]);",
        "for (n in 1:k) target += b[n];",
        "vector[3] c = b; c[k] = 1; target += c;",
        "vector[3] c = b; c[2:k] = b; target += c;",
    ] {
        check_error(&format!("{head}  a ~ normal(0, 1);\n  {line}\n}}"), data, "", 5);
    }
}

#[test]
fn an_index_is_named_with_its_range() {
    let program = "data { int k; }\nparameters { vector[3] b; }\nmodel {\n  target += b[k];\n}";
    check_error(program, r#"{"k": 4}"#, "4", 4);
    check_error(program, r#"{"k": 4}"#, "3", 4);
}

#[test]
fn sizes_that_differ_are_mistakes() {
    let head = "data { int N; int M; }\nparameters { vector[N] a; vector[M] b; matrix[N, M] m; }\nmodel {\n";
    for line in [
        "target += sum(a + b);",
        "target += dot_product(a, b);",
        "target += sum(m * a);",
        "vector[N] c = b; target += c;",
        "a[1:2] = b; ",
        "a ~ normal(b, 1);",
        "target += sum(a .* b);",
    ] {
        let line = line.replace("a[1:2] = b;", "vector[N] d = a; d[1:2] = b; target += d;");
        check_error(&format!("{head}  a ~ normal(0, 1);\n  {line}\n}}"), r#"{"N": 2, "M": 3}"#, "", 5);
    }
}

#[test]
fn data_that_make_transformed_data_reject_cannot_be_bound() {
    let program =
        "data { int n; } transformed data { if (n > 2) reject(\"n is \", n); } parameters { real a; } model { }";
    assert!(try_bind(program, r#"{"n": 2}"#).is_ok());
    assert!(try_bind(program, r#"{"n": 3}"#).err().expect("it is refused").contains("n is 3"));
}

/// Rejected lanes leave no trace in the next evaluation.
#[test]
fn rejected_lanes_recover() {
    let program = "parameters { real a; } model { if (a > 1) reject(\"a\"); a ~ normal(0, 1); }";
    let model = bind(program, "{}");
    let mut evaluator = model.evaluator();
    for a in [[0.5, 2.0, -0.1], [2.0, 3.0, 4.0], [0.1, 0.2, 2.0], [0.3, 0.4, 0.5]] {
        let points: Vec<Vec<f64>> = a.iter().map(|a| vec![*a]).collect();
        let found = evaluate(&mut evaluator, &points, None, NORMALISED);
        for (l, a) in a.into_iter().enumerate() {
            let expected = if a > 1.0 { f64::NEG_INFINITY } else { normal(a, 0.0, 1.0) };
            assert!(agree(found.log_density(l), expected, 1e-14), "{a}: {}", found.log_density(l));
            assert_eq!(evaluator.rejections()[l].is_some(), a > 1.0);
        }
    }
}
