//! Containers that are computed inside of what looks at them. Each program is compared with one that says the same in a
//! way that this does not apply to.

use crate::common::{agree, bind, evaluate, try_evaluate};
use crate::harness::{NORMALISED, check, quantities, spread};
use crate::loops::{DATA, HEAD};
use crate::same::{same, same_inlined, same_with};
use crust_engine::Evaluator;

#[test]
fn what_is_inlined() {
    let parameters = "parameters { vector[G] a; real b; real<lower=0> s; }";
    let plain = format!(
        "{parameters} model {{ for (i in 1:N) target += student_t_lpdf(y[i] | 4, exp(a[g[i]]) + b * x[i, 1], s); }}"
    );
    for (inlined, how) in [
        (1, "vector[N] m; for (i in 1:N) m[i] = exp(a[g[i]]) + b * x[i, 1];"),
        (1, "vector[N] m = exp(a[g]) + b * x[, 1];"),
        (1, "vector[N] m; m = exp(a[g]); m += b * x[, 1];"),
        (1, "vector[N] m = exp(a[g]); for (i in 1:N) m[i] += b * x[i, 1];"),
        (1, "array[N] real m; for (i in 1:N) m[i] = exp(a[g[i]]) + b * x[i, 1];"),
        (1, "row_vector[N] m; for (i in 1:N) m[i] = b * x[i, 1] + exp(a[g[i]]);"),
        // Two halves, or two values for an element.
        (
            0,
            "vector[N] m; for (i in 1:5) m[i] = exp(a[g[i]]) + b * x[i, 1]; for (i in 6:N) m[i] = exp(a[g[i]]) + b * x[i, 1];",
        ),
        (0, "vector[N] m; for (i in 1:N) m[i] = a[g[i]]; for (i in 1:N) m[i] = exp(m[i]) + b * x[i, 1];"),
        // By positions that are no counters.
        (0, "vector[N] m; for (i in 1:N) m[N + 1 - i] = exp(a[g[N + 1 - i]]) + b * x[N + 1 - i, 1];"),
        // With something else in the loop.
        (
            0,
            "vector[N] m; for (i in 1:N) { if (g[i] > 2) m[i] = exp(a[g[i]]) + b * x[i, 1]; else m[i] = b * x[i, 1] + exp(a[g[i]]); }",
        ),
    ] {
        same_inlined(
            inlined,
            &format!("{parameters} model {{ {how} target += student_t_lpdf(y | 4, m, s); }}"),
            &plain,
        );
        let outside = format!(
            "{parameters} transformed parameters {{ {how} }} model {{ target += student_t_lpdf(y | 4, m, s); }}"
        );
        same_inlined(inlined, &outside, &plain);
    }
}

/// Braces around what is no loop mean nothing.
#[test]
fn braces() {
    let parameters = "parameters { vector[K] b; real<lower=0> s; }";
    let plain = format!("{parameters} model {{ s ~ gamma(2, 1); for (i in 1:N) y[i] ~ student_t(4, x[i] * b, s); }}");
    for how in [
        "s ~ gamma(2, 1); { vector[N] m; m = x * b; for (i in 1:N) y[i] ~ student_t(4, m[i], s); }",
        "{ vector[N] m = x * b; { s ~ gamma(2, 1); for (i in 1:N) { y[i] ~ student_t(4, m[i], s); } } }",
        "{ real m = 2; s ~ gamma(m, 1); } { vector[N] m = x * b; y ~ student_t(4, m, s); }",
        "profile(\"all\") { s ~ gamma(2, 1); profile(\"y\") { vector[N] m = x * b; y ~ student_t(4, m, s); } }",
        "s ~ gamma(2, 1); if (N > 3) { { vector[N] m = x * b; for (i in 1:N) y[i] ~ student_t(4, m[i], s); } }",
    ] {
        same_inlined(1, &format!("{parameters} model {{ {how} }}"), &plain);
    }
}

#[test]
fn other_readers() {
    let parameters = "parameters { vector[K] b; real<lower=0> s; }";
    let plain = format!(
        "{parameters} model {{ for (i in 1:N) {{ y[i] ~ student_t(4, x[i] * b, s); c[i] ~ poisson_log(0.5 * (x[i] * b)); }} }}"
    );
    for how in [
        "vector[N] m = x * b; y ~ student_t(4, m, s); c ~ poisson_log(0.5 * m);",
        "vector[N] m = x * b; y ~ student_t(4, m, s); { c ~ poisson_log(0.5 * m); }",
        "vector[N] m = x * b; y ~ student_t(4, m, s); m *= 0.5; c ~ poisson_log(m);",
        "vector[N] m = x * b; y ~ student_t(4, m, s); m = m / 2; for (i in 1:N) c[i] ~ poisson_log(m[i]);",
        "vector[N] m = x * b; if (N > 3) c ~ poisson_log(0.5 * m); y ~ student_t(4, m, s);",
        "vector[N] m = x * b; vector[N] h = 0.5 * m; y ~ student_t(4, m, s); c ~ poisson_log(h);",
        "vector[N] m; for (i in 1:N) m[i] = x[i] * b; for (i in 1:N) y[i] ~ student_t(4, m[i], s); c ~ poisson_log(m / 2);",
        "vector[N] m; for (i in 1:N) m[i] = x[i] * b; if (m[3] > 1000) reject(\"no\"); y ~ student_t(4, m, s); vector[N] k = x * b; c ~ poisson_log(k .* rep_vector(0.5, N));",
    ] {
        same(&format!("{parameters} model {{ {how} }}"), &plain);
    }
}

/// The output shows containers, whoever computes them otherwise; what is generated may look at them.
#[test]
fn outputs_have_the_containers() {
    let program = format!(
        "{HEAD} parameters {{ vector[G] a; real<lower=0> s; }}
         transformed parameters {{ vector[N] m; vector[N] e = a[g] * 2; for (i in 1:N) m[i] = a[g[i]] * y[i]; }}
         model {{ y ~ student_t(4, m, s); c ~ poisson_log(e); }}
         generated quantities {{ real t = sum(m) + e[3]; }}"
    );
    let (model, points) = check(&program, DATA);
    let mut evaluator = model.evaluator();
    for point in &points[..4] {
        for _ in 0..3 {
            evaluate(&mut evaluator, std::slice::from_ref(point), None, NORMALISED);
        }
        let found = quantities(&model, point);
        let number = |name: &str| found.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("{name}")).1;
        let sum: f64 = (1..=19).map(|i| number(&format!("m[{i}]"))).sum();
        assert!(agree(number("t"), sum + 2.0 * point[2], 1e-13) && agree(number("e[3]"), 2.0 * point[2], 1e-14));
        assert!(agree(number("m[2]"), -1.2 * point[1], 1e-14));
    }
}

#[test]
fn what_changes_in_between() {
    let parameters = "parameters { real a; vector[K] b; real<lower=0> s; }";
    for (how, plain) in [
        (
            "real h = a; vector[N] m = h * y; h = h + 1; y ~ student_t(4, m, h * h + s);",
            "for (i in 1:N) y[i] ~ student_t(4, a * y[i], square(a + 1) + s);",
        ),
        (
            "vector[K] v = b; vector[N] m; for (i in 1:N) m[i] = x[i] * v; v[2] = a; y ~ student_t(4, m, s + square(v[2]));",
            "for (i in 1:N) y[i] ~ student_t(4, x[i] * b, s + a * a);",
        ),
        (
            "vector[K] v = b; vector[N] m = x * v; for (k in 1:2) v[k] = a * k; y ~ student_t(4, m, s); v ~ normal(0, 1);",
            "for (i in 1:N) y[i] ~ student_t(4, x[i] * b, s); target += std_normal_lupdf(a) + std_normal_lupdf(2 * a) + std_normal_lupdf(b[3]);",
        ),
        // By a tuple, in a branch, in a loop that looks at it.
        (
            "real h = a; vector[N] m = h * y; real k; (h, k) = (2.0, 3 * a); y ~ student_t(4, m, h); k ~ normal(h, 1);",
            "for (i in 1:N) y[i] ~ student_t(4, a * y[i], 2 + 0 * a); target += normal_lupdf(3 * a | 2 + 0 * a, 1);",
        ),
        (
            "real h = a; vector[N] m = h * y; if (N > 2) { h = 3; } y ~ student_t(4, m, h);",
            "for (i in 1:N) y[i] ~ student_t(4, a * y[i], 3 + 0 * a);",
        ),
        // A scale that is assigned between two terms that would be one.
        (
            "vector[N] m = a * y; real h = 1; y ~ student_t(4, m, h); h = 2; y ~ student_t(4, y * a, h);",
            "for (i in 1:N) { y[i] ~ student_t(4, a * y[i], 1 + 0 * a); y[i] ~ student_t(4, a * y[i], 2 + 0 * a); }",
        ),
    ] {
        same(&format!("{parameters} model {{ {how} }}"), &format!("{parameters} model {{ {plain} }}"));
    }
}

/// What would be twice as long with each assignment is not written out.
#[test]
fn expressions_that_grow() {
    let doubling = "m = (m + m .* m) * 0.3;".repeat(40);
    let one = "m = (m + m * m) * 0.3;".repeat(40);
    let head = format!("functions {{ real f(real a, real y) {{ real m = a * y; {one} return m + a; }} }} {HEAD}");
    let found = same_with(
        DATA,
        &head,
        &format!("parameters {{ real a; }} model {{ vector[N] m = a * y; {doubling} y ~ student_t(4, m + a, 1); }}"),
        "parameters { real a; } model { for (i in 1:N) y[i] ~ student_t(4, f(a, y[i]), 1); }",
    );
    assert_eq!(found.inlined(), 0);
    same_inlined(
        1,
        "parameters { real a; } model { vector[N] m = a * y; m = m .* m; m = exp(-m) + m; y ~ student_t(4, m, 1); }",
        "parameters { real a; } model { for (i in 1:N) y[i] ~ student_t(4, exp(-square(a * y[i])) + square(a * y[i]), 1); }",
    );
}

/// Numbers that are added to, or replaced, in a loop.
#[test]
fn numbers_that_change() {
    let parameters = "parameters { real a; vector[K] b; real<lower=0> s; }";
    for (how, plain) in [
        (
            "real m = a; for (k in 1:K) m += b[k] * x[i, k]; y[i] ~ student_t(4, m, s);",
            "y[i] ~ student_t(4, a + x[i] * b, s);",
        ),
        (
            "real m; m = a; m = m * y[i]; real h = m; m = exp(m); y[i] ~ student_t(4, h - m, s);",
            "y[i] ~ student_t(4, a * y[i] - exp(a * y[i]), s);",
        ),
        (
            "real m = a; real t = 0; for (k in 1:K) { real d = b[k] - m; t += d * d; m = m + y[i]; } target += -t / s;",
            "target += -(square(b[1] - a) + square(b[2] - a - y[i]) + square(b[3] - a - 2 * y[i])) / s;",
        ),
        (
            "real m = a; m = m + 1; { real k = m * x[i, 1]; k = k + m; y[i] ~ student_t(4, k, s); }",
            "y[i] ~ student_t(4, (a + 1) * (x[i, 1] + 1), s);",
        ),
        (
            "int j = 1; for (k in 1:(K - 1)) j = j + 1; y[i] ~ student_t(4, b[j] * y[i], s);",
            "y[i] ~ student_t(4, b[3] * y[i], s);",
        ),
        (
            "real m = a; if (g[i] > 2) m = m * 2; y[i] ~ student_t(4, m, s);",
            "y[i] ~ student_t(4, g[i] > 2 ? 2 * a : a, s);",
        ),
    ] {
        let text = |body: &str| format!("{parameters} model {{ for (i in 1:N) {{ {body} }} }}");
        same(&text(how), &text(plain));
    }
}

/// Which message an evaluation gives for each of some points: what the program rejects them with, or that it fails.
fn messages(evaluator: &mut Evaluator, points: &[Vec<f64>]) -> Vec<String> {
    match try_evaluate(evaluator, points, None, NORMALISED) {
        Err(e) => vec![e.to_string()],
        Ok(found) => {
            let said = evaluator.rejections().iter().map(|r| r.as_ref().map(|r| r.message.clone()).unwrap_or_default());
            said.enumerate().map(|(l, said)| format!("{said} {}", found.log_density(l).is_finite())).collect()
        }
    }
}

/// What goes wrong is said as by the machine, which does one statement after the other.
fn same_failure(program: &str, part: &str) {
    let functions =
        "functions { real first(real a, real b) { return a; } real some(int c, real a, real b) { return c ? a : b; }
                                 real both(real a, real b) { return a > 3 && b > 3; } } ";
    let model = bind(&format!("{functions}{HEAD}{program}"), DATA);
    let points = spread(16, model.dimension());
    let mut machine = model.evaluator().with_lists(false).with_flat_loops(false);
    let expected = messages(&mut machine, &points);
    assert!(expected.iter().any(|message| message.contains(part)), "{program}: {expected:?}");
    for lists in [true, false] {
        let mut evaluator = model.evaluator().with_lists(lists);
        let mut alone = model.evaluator().with_lists(lists);
        for time in 0..3 {
            assert_eq!(messages(&mut evaluator, &points), expected, "{program}, time {time}");
        }
        for (l, point) in points.iter().enumerate() {
            let found = messages(&mut alone, std::slice::from_ref(point));
            assert_eq!(found[0], expected[l.min(expected.len() - 1)], "{program}, point {l}");
        }
    }
}

#[test]
fn failures_stay() {
    // Sizes that do not fit.
    same_failure(
        "parameters { real a; } model { vector[N] m; for (i in 1:N) m[i] = a; y[2:] ~ normal(m, 1); }",
        "normal",
    );
    same_failure("parameters { real a; } model { vector[N] m = a * y[2:]; y ~ normal(m, 1); }", "");
    same_failure("parameters { vector[0] a; real b; } model { y ~ normal(a, exp(b)); }", "normal");
    same_failure("parameters { real a; } model { vector[N] m; for (i in 1:(N + 1)) m[i] = a; y ~ normal(m, 1); }", "");
    same_failure("parameters { vector[3] a; } model { y ~ normal(a[g], 1); }", "");
    same_failure("parameters { vector[N] a; } model { target += -dot_self(a - y[2:]); }", "");
    // An element that is never assigned is not a number.
    same_failure(
        "parameters { real a; } model { vector[N] m; for (i in 2:N) m[i] = a; y ~ normal(m, 1); }",
        "not finite",
    );
    same_failure(
        "parameters { real a; } transformed parameters { vector[N] m; for (i in 1:(N - 1)) m[i] = a * y[i]; } model { for (i in 1:N) y[i] ~ normal(m[i], 1); }",
        "NaN",
    );
    // Something is wrong with an element that nobody looks at.
    same_failure(
        "parameters { vector[N] v; } model { vector[N] l; for (i in 1:N) l[i] = normal_lpdf(y[i] | 0, v[i]); for (i in 1:3) target += l[i]; }",
        "",
    );
    same_failure(
        "parameters { vector[N] v; } model { vector[N] l; for (i in 1:N) l[i] = normal_lpdf(y[i] | 0, v[i]); target += sum(l[2:15]); }",
        "",
    );
    // Some lanes leave the domain.
    same_failure(
        "parameters { vector[G] v; real s; } model { vector[N] m; for (i in 1:N) m[i] = v[g[i]]; y ~ student_t(4, m, s); }",
        "student_t",
    );
    same_failure(
        "parameters { vector[G] v; } model { vector[N] m = exp(exp(exp(3 * v[g]))); y ~ student_t(4, m, 1); }",
        "student_t",
    );
    // Arguments of functions that are not needed, or only now and then.
    same_failure(
        "parameters { vector[G] v; } model { for (i in 1:N) y[i] ~ normal(first(v[1], v[g[i] + 1]), 1); }",
        "",
    );
    same_failure(
        "parameters { vector[G] v; } model { for (i in 1:N) y[i] ~ normal(some(1, v[1], v[g[i] + 1]), 1); }",
        "",
    );
    same_failure(
        "parameters { vector[G] v; } model { target += first(v[1], normal_lpdf(1 | 0, v[2])) + both(v[3], normal_lpdf(1 | 0, v[4])); }",
        "",
    );
}

/// Elements that nobody looks at, and nothing is wrong with, do not matter.
#[test]
fn elements_that_nobody_needs() {
    let parameters = "parameters { vector[G] a; real<lower=0> s; }";
    for (inlined, how) in [
        (1, "vector[N] m; for (i in 2:N) m[i] = a[g[i]] * x[i, 1]; y[2:] ~ student_t(4, m[2:], s);"),
        (1, "vector[N] m; for (i in 2:N) m[i] = a[g[i]] * x[i, 1]; for (i in 2:N) y[i] ~ student_t(4, m[i], s);"),
        (1, "vector[N + 1] m; for (i in 1:N) m[i] = a[g[i]] * x[i, 1]; y[2:N] ~ student_t(4, m[2:N], s);"),
        (
            1,
            "vector[N] m = log(s - 1000) + a[g]; for (i in 1:N) m[i] = a[g[i]] * x[i, 1]; y[2:] ~ student_t(4, m[2:N], s);",
        ),
    ] {
        let plain = "for (i in 2:N) y[i] ~ student_t(4, a[g[i]] * x[i, 1], s);";
        same_inlined(inlined, &format!("{parameters} model {{ {how} }}"), &format!("{parameters} model {{ {plain} }}"));
    }
}
