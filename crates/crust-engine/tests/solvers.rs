//! Programs that call solvers: against the numbers of real Stan, against differences of the log density, and lane by
//! lane.

mod common;

use std::sync::Arc;

use common::{agree, bind, evaluate, folder, try_bind, try_evaluate};
use crust_engine::{Include, Model, Terms};
use crust_math::random::{Purpose, StreamKey};

const PROGRAMS: [&str; 4] = ["lotka_volterra", "michaelis_menten", "sir", "integrals_roots"];

fn read(name: &str) -> String {
    std::fs::read_to_string(folder("reference-solvers").join(name)).expect("the file is there")
}

fn model(name: &str) -> Arc<Model> {
    bind(&read(&format!("{name}.stan")), &read(&format!("{name}.json")))
}

fn points(name: &str) -> Vec<Vec<f64>> {
    serde_json::from_str(&read(&format!("{name}.points.json"))).expect("points")
}

/// The steps of a solver depend on the last digits of what it is given, so a few digits are lost on the way.
#[test]
fn log_densities_and_gradients_are_those_of_stan() {
    for name in PROGRAMS {
        let golden: serde_json::Value = serde_json::from_str(&read(&format!("{name}.golden.json"))).expect("numbers");
        let found = evaluate(&mut model(name).evaluator(), &points(name), None, Terms::default());
        for (l, expected) in golden["points"].as_array().expect("points").iter().enumerate() {
            let value = expected["log_density"].as_f64().expect("a number");
            assert!(agree(found.log_density(l), value, 1e-10), "{name} {l}: {} is not {value}", found.log_density(l));
            let gradient =
                expected["gradient"].as_array().expect("numbers").iter().map(|x| x.as_f64().expect("a number"));
            for (d, (a, b)) in found.gradient[l].iter().zip(gradient).enumerate() {
                assert!(agree(*a, b, 1e-8), "{name} {l} gradient {d}: {a} is not {b}");
            }
        }
    }
}

/// Central differences of order 4, along each axis.
fn differences(model: &Arc<Model>, point: &[f64], h: f64) -> Vec<f64> {
    let mut evaluator = model.evaluator();
    let steps = [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)];
    let along = |axis: usize| {
        let moved = steps.map(|(step, _)| {
            let mut x = point.to_vec();
            x[axis] += step * h;
            x
        });
        let found = evaluate(&mut evaluator, &moved, None, Terms::default());
        steps.iter().enumerate().map(|(l, (_, weight))| weight * found.log_density(l)).sum::<f64>() / (12.0 * h)
    };
    (0..point.len()).map(along).collect()
}

fn check_gradient(model: &Arc<Model>, point: &[f64], tolerance: f64) {
    let found = evaluate(&mut model.evaluator(), &[point.to_vec()], None, Terms::default());
    for (d, (a, b)) in found.gradient[0].iter().zip(differences(model, point, 1e-2)).enumerate() {
        assert!(agree(*a, b, tolerance), "gradient {d} at {point:?}: {a} is not {b}");
    }
}

/// The tolerances of the solvers limit how smooth the log density is.
#[test]
fn gradients_are_differences_of_the_log_density() {
    for (name, tolerance) in [("michaelis_menten", 1e-5), ("sir", 1e-4), ("integrals_roots", 1e-6)] {
        check_gradient(&model(name), &points(name)[0], tolerance);
    }
}

#[test]
fn lanes_do_not_depend_on_each_other() {
    for name in PROGRAMS {
        let (model, points) = (model(name), points(name));
        let mut evaluator = model.evaluator();
        let together = evaluate(&mut evaluator, &points, None, Terms::default());
        for (l, point) in points.iter().enumerate() {
            let alone = evaluate(&mut evaluator, std::slice::from_ref(point), None, Terms::default());
            assert!(agree(alone.log_density(0), together.log_density(l), 1e-14), "{name} {l}");
            for (a, b) in alone.gradient[0].iter().zip(&together.gradient[l]) {
                assert!(agree(*a, *b, 1e-12), "{name} {l}: {a} is not {b}");
            }
        }
    }
}

/// Every ODE solver on y' = A y + b with tight tolerances; the exact solution is a matrix exponential.
const LINEAR: &str = "
functions {
  vector linear(real t, vector y, tuple(matrix, vector) system, int sign) {
    vector[2] rate = system.2;
    for (i in 1 : 2) {
      for (j in 1 : 2) rate[i] += sign * system.1[i, j] * y[j];
    }
    return rate;
  }
  array[] real old_linear(real t, array[] real y, array[] real theta, array[] real x_r, array[] int x_i) {
    if (size(y) != 2) reject(\"two states\");
    return to_array_1d(to_matrix(theta[1 : 4], 2, 2) * to_vector(y) + to_vector(theta[5 : 6]));
  }
}
data {
  array[3] real ts;
}
parameters {
  matrix[2, 2] A;
  vector[2] b;
  vector[2] y0;
}
model {
  // x' = [A b; 0 0] x with x = (y, 1).
  matrix[3, 3] B = append_row(append_col(A, b), rep_row_vector(0, 3));
  for (n in 1 : 3) {
    vector[2] exact = (matrix_exp(B * ts[n]) * append_row(y0, 1))[1 : 2];
    target += METHOD;
  }
}";

fn linear(method: &str) -> Arc<Model> {
    bind(&LINEAR.replace("METHOD", method), r#"{"ts": [0.3, 0.9, 1.7]}"#)
}

#[test]
fn every_solver_finds_the_exact_solution_and_its_derivatives() {
    let point = vec![0.3, -0.8, 0.7, -0.2, 0.4, -0.5, 1.1, 0.6];
    let exact = linear("n * exact[1] * exact[2]");
    let expected = evaluate(&mut exact.evaluator(), std::slice::from_ref(&point), None, Terms::default());
    let variadic = |name: &str| format!("{name}(linear, y0, 0, ts, 1e-11, 1e-11, 100000, (A, b), 1)");
    let old = |name: &str| {
        format!(
            "{name}(old_linear, to_array_1d(y0), 0, ts, append_array(to_array_1d(to_vector(A)), to_array_1d(b)), rep_array(0.0, 0), rep_array(0, 0), 1e-11, 1e-11, 100000)"
        )
    };
    let adjoint = "ode_adjoint_tol_ctl(linear, y0, 0, ts, 1e-11, rep_vector(1e-11, 2), 1e-9, rep_vector(1e-9, 2), 1e-9, 1e-9, 100000, 100, 1, 2, 2, (A, b), 1)";
    let mut calls: Vec<String> =
        ["ode_rk45_tol", "ode_ckrk_tol", "ode_bdf_tol", "ode_adams_tol"].map(variadic).to_vec();
    calls.extend(["integrate_ode_rk45", "integrate_ode_bdf", "integrate_ode_adams"].map(old));
    calls.push(adjoint.to_owned());
    for call in calls {
        let model = linear(&format!("n * {call}[n, 1] * {call}[n, 2]"));
        let found = evaluate(&mut model.evaluator(), std::slice::from_ref(&point), None, Terms::default());
        assert!(agree(found.log_density(0), expected.log_density(0), 2e-8), "{call}: {}", found.log_density(0));
        for (d, (a, b)) in found.gradient[0].iter().zip(&expected.gradient[0]).enumerate() {
            assert!(agree(*a, *b, 1e-7), "{call} gradient {d}: {a} is not {b}");
        }
    }
    for call in ["ode_rk45", "ode_ckrk", "ode_bdf", "ode_adams"] {
        let call = format!("{call}(linear, y0, 0, ts, (A, b), 1)");
        let model = linear(&format!("n * {call}[n, 1] * {call}[n, 2]"));
        let found = evaluate(&mut model.evaluator(), std::slice::from_ref(&point), None, Terms::default());
        assert!(agree(found.log_density(0), expected.log_density(0), 1e-5), "{call}: {}", found.log_density(0));
    }
}

/// Solvers take eight lanes at a time, which step together and wait for each other; what a lane gets are the bits that
/// it gets alone.
#[test]
fn many_lanes_have_the_bits_of_one() {
    let point = [0.3, -0.8, 0.7, -0.2, 0.4, -0.5, 1.1, 0.6];
    let moved = |l: u32| point.iter().map(|x| x * (1.0 + 0.1 * f64::from(l))).collect::<Vec<_>>();
    let points: Vec<_> = (0..11).map(moved).collect();
    let adjoint = "ode_adjoint_tol_ctl(linear, y0, 0, ts, 1e-9, rep_vector(1e-9, 2), 1e-9, rep_vector(1e-9, 2), 1e-9, 1e-9, 100000, 100, 1, 1, 1, (A, b), 1)";
    let solvers =
        ["ode_rk45", "ode_ckrk", "ode_bdf", "ode_adams"].map(|name| format!("{name}(linear, y0, 0, ts, (A, b), 1)"));
    for call in solvers.into_iter().chain([adjoint.to_owned()]) {
        let model = linear(&format!("n * {call}[n, 1] * {call}[n, 2]"));
        let mut evaluator = model.evaluator();
        // The first time there is no list of operations yet.
        let together = [0, 1].map(|_| evaluate(&mut evaluator, &points, None, Terms::default()));
        for (l, point) in points.iter().enumerate() {
            let alone = evaluate(&mut evaluator, std::slice::from_ref(point), None, Terms::default());
            for together in &together {
                assert_eq!(alone.log_density(0).to_bits(), together.log_density(l).to_bits(), "{call}, lane {l}");
                let bits = |gradient: &[f64]| gradient.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&alone.gradient[0]), bits(&together.gradient[l]), "{call}, lane {l}");
            }
        }
    }
}

/// With y' = 1 the solution is y₀ + t − t₀: the derivative by the start counts even where the state is data.
#[test]
fn beginnings_and_output_times_have_derivatives() {
    let model = bind(
        "functions { vector one(real t, vector y, real a) { return [a * t]'; } }
         parameters { real t0; real<lower=t0> t; real a; }
         model { array[2] vector[1] y = ode_bdf_tol(one, [2.0]', t0, {t, t + 1}, 1e-10, 1e-10, 10000, a); target += y[1, 1] + square(y[2, 1]); }",
        "{}",
    );
    check_gradient(&model, &[0.3, -0.2, 0.8], 1e-6);
}

#[test]
fn solvers_work_in_loops_and_inside_each_other() {
    let model = bind(
        "functions {
           real density(real x, real xc, array[] real theta, array[] real x_r, array[] int x_i) {
             return exp(-theta[1] * square(x));
           }
           vector decay(real t, vector y, array[] real theta, int n) {
             return [-integrate_1d(density, 0, 1, theta, rep_array(0.0, 0), rep_array(0, 0)) * y[1] * n]';
           }
           vector cube(vector x, real a) { return [pow(x[1], 3) - a]'; }
         }
         data { int N; vector[N] z; }
         parameters { real<lower=0> a; vector<lower=0>[N] b; }
         model {
           for (n in 1 : N) {
             array[1] vector[1] y = ode_rk45_tol(decay, [b[n]]', 0, {0.5}, 1e-9, 1e-9, 1000, {a}, n);
             z[n] ~ normal(y[1, 1] + solve_newton_tol(cube, [1.0]', 1e-9, 1e-13, 100, a * b[n])[1], 1);
           }
         }",
        r#"{"N": 3, "z": [0.4, 1.2, 2.5]}"#,
    );
    check_gradient(&model, &[0.2, -0.1, 0.3, 0.5], 1e-6);
    let points = [vec![0.2, -0.1, 0.3, 0.5], vec![-0.4, 0.6, 0.1, -0.2], vec![0.9, 0.0, 0.0, 0.3]];
    let together = evaluate(&mut model.evaluator(), &points, None, Terms::default());
    for (l, point) in points.iter().enumerate() {
        let alone = evaluate(&mut model.evaluator(), std::slice::from_ref(point), None, Terms::default());
        assert!(agree(alone.log_density(0), together.log_density(l), 1e-13), "{l}");
    }
}

/// Branches on time, loops over states and rejections inside of the function.
const BRANCHES: &str = "
functions {
  vector infusion(real t, vector y, real k, real most) {
    int n = num_elements(y);
    vector[n] rate = -k * y;
    if (t < 1) rate[1] += 2;
    for (i in 2 : n) rate[i] += k * y[i - 1];
    if (k > most) reject(\"too fast: \", k);
    return rate;
  }
}
parameters { real<lower=0> k; }
model {
  array[2] vector[12] y = ode_rk45_tol(infusion, rep_vector(1, 12), 0, {1.0, 2.0}, 1e-9, 1e-9, 10000, k, 3);
  target += sum(y[2]) + 0.1 * y[1, 12];
}";

#[test]
fn branches_and_loops_inside_of_the_function() {
    let model = bind(BRANCHES, "{}");
    check_gradient(&model, &[0.3], 1e-5);
    let mut evaluator = model.evaluator();
    let points = [vec![0.3], vec![2.0], vec![-0.4]];
    let found = evaluate(&mut evaluator, &points, None, Terms::default());
    let rejection = evaluator.rejections()[1].clone().expect("it is rejected");
    assert!(rejection.message.starts_with("too fast: 7.38"), "{}", rejection.message);
    assert!(found.log_density(1) < f64::MIN);
    for l in [0, 2] {
        let alone = evaluate(&mut model.evaluator(), &points[l..=l], None, Terms::default());
        assert!(agree(found.log_density(l), alone.log_density(0), 1e-14) && found.gradient[l][0].is_finite());
    }
    let alone = evaluate(&mut evaluator, &points[1..2], None, Terms::default());
    assert!(alone.log_density(0) < f64::MIN);
}

#[test]
fn failures_reject_and_mistakes_are_errors() {
    let program = |call: &str| {
        format!(
            "functions {{ vector f(real t, vector y, real a) {{ return [a * square(y[1])]'; }}
               vector two(vector x, real a) {{ return [a, x[1]]'; }}
               vector never(vector x, real a) {{ return [1 + square(x[1] * a)]'; }} }}
             parameters {{ real a; }} model {{ target += {call}; }}"
        )
    };
    let rejected = |call: &str| {
        let model = bind(&program(call), "{}");
        let mut evaluator = model.evaluator();
        let found = evaluate(&mut evaluator, &[vec![1.0]], None, Terms::default());
        assert!(found.log_density(0) < f64::MIN, "{call}");
        evaluator.rejections()[0].clone().expect("it is rejected").message
    };
    // The solution 1 / (1 − t) ends at 1.
    assert!(rejected("ode_rk45_tol(f, [1.0]', 0, {2.0}, 1e-6, 1e-6, 500, a)[1, 1]").contains("max_num_steps"));
    assert!(rejected("ode_bdf(f, [1.0]', 0, {0.5, 0.2}, a)[1, 1]").contains("decrease"));
    assert!(rejected("ode_adams(f, [1.0]', 1, {0.5}, a)[1, 1]").contains("initial time"));
    rejected("solve_powell(never, [1.0]', a)[1]");
    let model = bind(&program("solve_newton(two, [1.0]', a)[1]"), "{}");
    let error = try_evaluate(&mut model.evaluator(), &[vec![1.0]], None, Terms::default()).err().expect("a mistake");
    assert!(error.to_string().contains("must return 1 numbers, but returns 2"), "{error}");
}

/// Solvers in transformed data, and in generated quantities without a gradient.
#[test]
fn solvers_run_without_gradients() {
    let model = bind(
        "functions {
           vector decay(real t, vector y, real k) { print(\"called\"); return -k * y; }
           vector root(vector x, real a) { return [square(x[1]) - a]'; }
         }
         transformed data { array[1] vector[1] y = ode_bdf(decay, [1.0]', 0, {1.0}, 2); }
         parameters { real<lower=0> k; }
         generated quantities {
           real same = y[1, 1];
           real other = ode_adams(decay, [1.0]', 0, {1.0}, k)[1, 1];
           real two = solve_newton_tol(root, [1.0]', 1e-8, 1e-12, 100, 4 * k)[1];
         }",
        "{}",
    );
    let include = Include { transformed: true, generated: true };
    let key = StreamKey::new(1, Purpose::GENERATED);
    let mut evaluator = model.evaluator();
    let found = evaluator.quantities(&[0.0], key, include).expect("it runs").numbers;
    assert!(evaluator.take_messages().iter().any(|m| m == "called"), "printing reaches the outside");
    for (a, b) in found.iter().zip([1.0, (-2.0_f64).exp(), (-1.0_f64).exp(), 2.0]) {
        assert!(agree(*a, b, 1e-8), "{found:?}");
    }
}

#[test]
fn a_function_of_the_library_cannot_be_passed() {
    let text = "parameters { real a; } model { target += solve_newton(exp, [a]')[1]; }";
    assert!(try_bind(text, "{}").is_err());
}

/// A rate that changes with time, in steps and with branches of all kinds; the exact solution is
/// `y0 exp(−k min(t, 1) − k^1.5 clamp(t − 1, 0, 1))`.
const DECAY: &str = "
functions {
  vector decay(real t, vector y, real k, data real power, data int loud) {
    real rate = 0;
    if (t > 1 && !(t >= 2)) rate = pow(k, power);
    else if (t <= 1) rate = k;
    if (loud) print(t);
    return -(y[1] > 0.5 ? rate * y : fmax(rate, -1) * y);
  }
}
data {
  int loud;
  array[5] real ts;
}
parameters {
  real<lower=0> k;
  real<lower=0> y0;
}
model {
  array[5] vector[1] y = METHOD(decay, [y0]', 0, ts, 1e-9, 1e-9, 100000, k, 1.5, loud);
  for (n in 1 : 5) target += n * (y[n, 1] - y0 * exp(-k * fmin(ts[n], 1) - k ^ 1.5 * fmax(fmin(ts[n] - 1, 1), 0)));
}";

/// With `loud`, the function prints: it then is no list of operations, and the machine runs all of it.
#[test]
fn branches_of_the_function_are_followed() {
    let points = [vec![0.3, 0.1], vec![-0.7, -0.4], vec![0.9, 1.3]];
    for method in ["ode_rk45_tol", "ode_ckrk_tol", "ode_bdf_tol", "ode_adams_tol"] {
        let program = DECAY.replace("METHOD", method);
        let [quiet, loud] = [0, 1].map(|loud| {
            let data = format!(r#"{{"loud": {loud}, "ts": [0.4, 0.9, 1.5, 1.8, 2.7]}}"#);
            evaluate(&mut bind(&program, &data).evaluator(), &points, None, Terms { propto: false, jacobian: false })
        });
        for l in 0..points.len() {
            assert!(quiet.log_density(l).abs() < 1e-5, "{method} {l}: {}", quiet.log_density(l));
            assert!(agree(1.0 + quiet.log_density(l), 1.0 + loud.log_density(l), 1e-9), "{method} {l}");
            for (a, b) in quiet.gradient[l].iter().zip(&loud.gradient[l]) {
                assert!(a.abs() < 1e-4 && (a - b).abs() < 1e-8, "{method} {l}: {a} and {b} should be 0");
            }
        }
    }
}
