//! Containers that are computed inside of what looks at them, vectors that are gone through element by element, and
//! functions that stand in the place of their calls. Each program is compared with one that says the same in a way that
//! none of this applies to.

use crate::common::{Evaluated, agree, bind, evaluate, try_evaluate};
use crate::harness::{NORMALISED, PROPTO, check, quantities, spread};
use crate::loops::{DATA, HEAD};
use crust_engine::Evaluator;

fn bits(found: &Evaluated, l: usize) -> Vec<u64> {
    let all = found.gradient[l].iter().chain([&found.log_prior[l], &found.log_likelihood[l]]);
    all.map(|x| x.to_bits()).collect()
}

/// Compares a lane with what another program gives, and with what the machine makes of the same one: there prior and
/// likelihood are the same, too.
fn close(found: &Evaluated, [other, own]: [&Evaluated; 2], l: usize, at: usize, what: &str) {
    for (part, a, b) in [
        ("prior", found.log_prior[l], own.log_prior[at]),
        ("likelihood", found.log_likelihood[l], own.log_likelihood[at]),
        ("density", found.log_density(l), other.log_density(at)),
    ] {
        assert!(agree(a, b, 2e-12), "{what}, point {at}: {part} {a} is not {b}");
    }
    for (d, (a, b)) in found.gradient[l].iter().zip(&other.gradient[at]).enumerate() {
        assert!(agree(*a, *b, 1e-11), "{what}, point {at}, gradient {d}: {a} is not {b}");
    }
}

/// Compares two programs that mean the same at 64 points: values and gradients, 64 and 8 lanes at a time and alone, the
/// first time and later, with and without lists. Groups of lanes agree to the last bit. Gives the evaluator without
/// lists, which knows what it has compiled.
fn same_with(data: &str, head: &str, program: &str, plain: &str) -> Evaluator {
    let (model, plain) = (bind(&format!("{head}{program}"), data), bind(&format!("{head}{plain}"), data));
    let points = spread(64, model.dimension());
    let mut known = model.evaluator().with_lists(false);
    for terms in [NORMALISED, PROPTO] {
        let name = |what: &str| format!("{program} {terms:?}, {what}");
        let by_machine = [&plain, &model].map(|model| {
            let mut machine = model.evaluator().with_lists(false).with_flat_loops(false);
            evaluate(&mut machine, &points, None, terms)
        });
        let expected = [&by_machine[0], &by_machine[1]];
        let mut wide = model.evaluator();
        let all = [0, 1, 2].map(|_| evaluate(&mut wide, &points, None, terms));
        let flat = [0, 1].map(|_| evaluate(&mut known, &points, None, terms));
        let mut eight = model.evaluator();
        let mut alone = model.evaluator();
        let mut alone_flat = model.evaluator().with_lists(false);
        for (at, point) in points.iter().enumerate() {
            close(&all[0], expected, at, at, &name("64 lanes"));
            assert_eq!(bits(&all[0], at), bits(&all[1], at), "again");
            assert_eq!(bits(&all[0], at), bits(&all[2], at), "and again");
            close(&flat[0], expected, at, at, &name("64 lanes without lists"));
            assert_eq!(bits(&flat[0], at), bits(&flat[1], at), "again without lists");
            if at % 8 == 0 {
                let found = evaluate(&mut eight, &points[at..at + 8], None, terms);
                for l in 0..8 {
                    assert_eq!(bits(&found, l), bits(&all[0], at + l), "8 lanes, point {}", at + l);
                }
            }
            close(&evaluate(&mut alone, std::slice::from_ref(point), None, terms), expected, 0, at, &name("alone"));
            close(
                &evaluate(&mut alone_flat, std::slice::from_ref(point), None, terms),
                expected,
                0,
                at,
                &name("alone, flat"),
            );
        }
    }
    known
}

fn same(program: &str, plain: &str) -> Evaluator {
    same_with(DATA, HEAD, program, plain)
}

/// [`same`], and how many containers are computed where they are needed.
fn same_inlined(inlined: usize, program: &str, plain: &str) {
    assert_eq!(same(program, plain).inlined(), inlined, "containers computed where they are needed");
}

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

/// Sizes and bounds may depend on parameters, by comparisons.
#[test]
fn sizes_by_parameters() {
    let head = format!("{HEAD} parameters {{ real a; vector[N] v; real<lower=0> s; }}");
    let size = "int k = a > 0.2 ? 17 : 12;";
    for (how, plain) in [
        ("v[1:k] ~ student_t(4, a * y[:k], s);", "for (i in 1:k) v[i] ~ student_t(4, a * y[i], s);"),
        (
            "vector[k] w = v[1:k] * a; target += student_t_lpdf(w | 4, 0, s);",
            "for (i in 1:k) target += student_t_lpdf(v[i] * a | 4, 0, s);",
        ),
        (
            "vector[k] w; for (i in 1:k) w[i] = v[i] * a; target += student_t_lpdf(w | 4, y[:k] * a, s);",
            "for (i in 1:k) target += student_t_lpdf(v[i] * a | 4, y[i] * a, s);",
        ),
        (
            "vector[N] w = rep_vector(0.5, N); for (i in 1:k) w[i] = v[i] * a; y ~ student_t(4, w, s);",
            "for (i in 1:N) y[i] ~ student_t(4, i <= k ? v[i] * a : 0.5, s);",
        ),
        (
            "vector[N] w; w = 0.5 * y; for (i in k:N) w[i] = v[i] * a; y ~ student_t(4, w, s);",
            "for (i in 1:N) y[i] ~ student_t(4, i < k ? 0.5 * y[i] : v[i] * a, s);",
        ),
        ("target += -dot_self(v[2:k] - v[1:(k - 1)]) / s;", "for (i in 2:k) target += -square(v[i] - v[i - 1]) / s;"),
        ("target += sum(exp(v[k:]) * 0.3);", "for (i in k:N) target += 0.3 * exp(v[i]);"),
        (
            "vector[k - 9] w = v[1:(k - 9)] * a; w ~ student_t(4, 0, s);",
            "for (i in 1:(k - 9)) target += student_t_lupdf(v[i] * a | 4, 0, s);",
        ),
        (
            "vector[N] w = a > 0.2 ? v : 2 * v; y ~ student_t(4, w, s);",
            "for (i in 1:N) y[i] ~ student_t(4, k == 17 ? v[i] : 2 * v[i], s);",
        ),
    ] {
        same_with(DATA, &head, &format!(" model {{ {size} {how} }}"), &format!(" model {{ {size} {plain} }}"));
    }
}

/// Terms in blocks that a loop runs several times: other sizes each time.
#[test]
fn blocks_in_loops() {
    let parameters = "parameters { vector[N] v; real a; real<lower=0> s; }";
    for (how, plain) in [
        (
            "for (i in 1:G) { { vector[2 * i] w = v[1:(2 * i)] * a; w ~ student_t(4, 0, s); } }",
            "for (i in 1:G) for (j in 1:(2 * i)) target += student_t_lupdf(v[j] * a | 4, 0, s);",
        ),
        (
            "for (i in 1:G) { profile(\"p\") { target += -dot_self(exp(v[i:(3 * i)])); } }",
            "for (i in 1:G) for (j in i:(3 * i)) target += -square(exp(v[j]));",
        ),
        (
            "int i = 0; while (i < G) { i += 1; { vector[4 * i] w; for (j in 1:(4 * i)) w[j] = v[j] * a; w ~ student_t(4, 0, s); } }",
            "for (i in 1:G) for (j in 1:(4 * i)) target += student_t_lupdf(v[j] * a | 4, 0, s);",
        ),
        (
            "for (i in 1:G) { vector[N] w = v * i; { y ~ student_t(4, w, s); } }",
            "for (i in 1:G) for (j in 1:N) y[j] ~ student_t(4, v[j] * i, s);",
        ),
        (
            "for (i in 1:G) if (i > 1) { vector[N] w = v * i; y ~ student_t(4, w, s); }",
            "for (i in 2:G) for (j in 1:N) y[j] ~ student_t(4, v[j] * i, s);",
        ),
    ] {
        same(&format!("{parameters} model {{ {how} }}"), &format!("{parameters} model {{ {plain} }}"));
    }
}

#[test]
fn sums() {
    let head = "data { int N; int E; array[E] int<lower=1, upper=N> i; array[E] int<lower=1, upper=N> j; vector[E] w; int few; }
                parameters { vector[N] p; real a; real<lower=0> s; } ";
    let list = |f: &dyn Fn(usize) -> String| (0..23).map(f).collect::<Vec<_>>().join(",");
    let (i, j, w) = (
        list(&|e| (e % 9 + 1).to_string()),
        list(&|e| (e * 5 % 9 + 1).to_string()),
        list(&|e| format!("{}.25", e % 4)),
    );
    let data = format!(r#"{{"N": 9, "E": 23, "i": [{i}], "j": [{j}], "w": [{w}], "few": 4}}"#);
    for (how, plain) in [
        ("target += -0.5 * dot_self(p[i] - p[j]);", "for (e in 1:E) target += -0.5 * square(p[i[e]] - p[j[e]]);"),
        (
            "target += -0.5 * dot_self(w .* (p[i] - p[j])) + normal_lpdf(sum(p) | 0, 0.01 * N);",
            "for (e in 1:E) target += -0.5 * square(w[e] * (p[i[e]] - p[j[e]])); target += normal_lpdf(sum(p) | 0, 0.01 * N);",
        ),
        (
            "target += -(sum(exp(p[i])) - 3 * a) * 2 - a * s;",
            "for (e in 1:E) target += -2 * exp(p[i[e]]); target += 6 * a - a * s;",
        ),
        (
            "target += a * dot_self(p[i] * 0.2) - sum(w) * a;",
            "target += a * dot_product(p[i] * 0.2, 0.2 * p[i]) - a * sum(w);",
        ),
        (
            "target += 0 * dot_self(p[i] - p[j]) - dot_self(p[i[:few]] - 2) - dot_self(p);",
            "for (e in 1:few) target += -square(p[i[e]] - 2); for (k in 1:N) target += -square(p[k]);",
        ),
        (
            "vector[E] d = p[i] - p[j]; target += -dot_self(d) / 2;",
            "for (e in 1:E) target += -0.5 * square(p[i[e]] - p[j[e]]);",
        ),
        (
            "vector[E] d; for (e in 1:E) d[e] = log1p_exp(p[i[e]]) * w[e]; target += -sum(d) + std_normal_lpdf(p);",
            "for (e in 1:E) target += -log1p_exp(p[i[e]]) * w[e]; for (k in 1:N) target += std_normal_lpdf(p[k]);",
        ),
        (
            "array[E] real d; for (e in 1:E) d[e] = p[i[e]] * w[e]; target += 1.5 * sum(d) - dot_self(p);",
            "for (e in 1:E) target += 1.5 * p[i[e]] * w[e]; for (k in 1:N) target += -square(p[k]);",
        ),
    ] {
        same_with(&data, head, &format!("model {{ {how} }}"), &format!("model {{ {plain} }}"));
    }
}

/// Functions that are one expression.
#[test]
fn unfolded_functions() {
    let functions = "functions {
        real line(real x, real a, real b) { return a + b * x; }
        real swapped(real a, real x) { return line(x, a, 2) - a; }
        vector centred(vector v, real m) { return v - m; }
        real spread_of(vector v) { return dot_self(v - mean(v)) / (size(v) - 1); }
        real bent_lpdf(real y, real m, real s) { return student_t_lupdf(y | 4, m, s) + normal_lpdf(m | 0, 3); }
        real bent_all_lpdf(vector y, vector m, real s) { return student_t_lupdf(y | 4, m, s); }
        real straight_lpdf(vector y, vector m, real s) { return normal_lpdf(y | m, s); }
        int half(int n) { return n %/% 2; }
        real ratio(real a, real b) { return a / b; }
        real pick(int c, real a, real b) { return c ? a : b; }
        vector both(vector v) { return v .* v + v; }
      }";
    let parameters = "parameters { real a; vector[G] v; real<lower=0> s; }";
    for (how, plain) in [
        (
            "for (i in 1:N) y[i] ~ student_t(4, line(x[i, 1], v[g[i]], a), s);",
            "for (i in 1:N) y[i] ~ student_t(4, v[g[i]] + a * x[i, 1], s);",
        ),
        (
            "for (i in 1:N) y[i] ~ student_t(4, swapped(v[g[i]] * y[i], a), s);",
            "for (i in 1:N) y[i] ~ student_t(4, 2 * a, s);",
        ),
        (
            "y ~ student_t(4, centred(v[g], a), s); v ~ student_t(4, centred(v, mean(v)), spread_of(v));",
            "for (i in 1:N) y[i] ~ student_t(4, v[g[i]] - a, s); v ~ student_t(4, v - mean(v), variance(v));",
        ),
        (
            "for (i in 1:N) y[i] ~ bent(v[g[i]], s);",
            "for (i in 1:N) { y[i] ~ student_t(4, v[g[i]], s); target += normal_lpdf(v[g[i]] | 0, 3); }",
        ),
        (
            "for (i in 1:N) target += bent_lpdf(y[i] | v[g[i]] + a, s);",
            "for (i in 1:N) target += student_t_lpdf(y[i] | 4, v[g[i]] + a, s) + normal_lpdf(v[g[i]] + a | 0, 3);",
        ),
        (
            "target += bent_lupdf(y[1] | 0.3, 1.5); target += bent_lupdf(a | 0.3, 1.5);",
            "target += normal_lpdf(0.3 | 0, 3) * 2 + student_t_lupdf(y[1] | 4, 0.3, 1.5) + student_t_lupdf(a | 4, 0.3, 1.5);",
        ),
        (
            "y ~ bent_all(v[g], s); y ~ straight(v[g] * a, s);",
            "for (i in 1:N) { y[i] ~ student_t(4, v[g[i]], s); target += normal_lpdf(y[i] | v[g[i]] * a, s); }",
        ),
        ("target += ratio(half(7), 2) * a + ratio(1, 2) * pick(half(3) == 1, a, v[1]);", "target += 2 * a;"),
        (
            "vector[N] m; for (i in 1:N) m[i] = pick(g[i] > 2, v[g[i]], a * y[i]); y ~ student_t(4, m, s);",
            "for (i in 1:N) if (g[i] > 2) y[i] ~ student_t(4, v[g[i]], s); else y[i] ~ student_t(4, a * y[i], s);",
        ),
        (
            "vector[N] m = both(v[g] * a); y ~ student_t(4, m, s); a ~ normal(0, 1);",
            "for (i in 1:N) y[i] ~ student_t(4, square(v[g[i]] * a) + v[g[i]] * a, s); a ~ normal(0, 1);",
        ),
    ] {
        let head = format!("{functions} {HEAD} {parameters}");
        same_with(DATA, &head, &format!("model {{ {how} }}"), &format!("model {{ {plain} }}"));
    }
}

/// Nothing to add up, one element, no columns.
#[test]
fn few_or_none() {
    let head = "data { int N; int K; matrix[N, K] x; vector[N] y; array[N] int n; array[N] int g; } parameters { real a; vector[K] b; vector[2] v; real<lower=0> s; } ";
    let programs = [
        (
            "vector[N] m = a + x * b; y ~ normal(m, s); n ~ bernoulli_logit_glm(x, a, b);",
            "for (i in 1:N) { y[i] ~ normal(a + dot_product(x[i], b), s); n[i] ~ bernoulli_logit(a + dot_product(x[i], b)); }",
        ),
        (
            "vector[N] m; for (i in 1:N) m[i] = v[g[i]]; y ~ student_t(4, m, s); n ~ bernoulli_logit(m * 2);",
            "for (i in 1:N) { y[i] ~ student_t(4, v[g[i]], s); n[i] ~ bernoulli_logit(v[g[i]] * 2); }",
        ),
        (
            "y ~ normal_id_glm(x, v[g], b, s); target += -dot_self(v[g] * a) + sum(x * b);",
            "for (i in 1:N) { y[i] ~ normal(v[g[i]] + dot_product(x[i], b), s); target += -square(v[g[i]] * a) + dot_product(x[i], b); }",
        ),
    ];
    for (n, k) in [(0, 0), (0, 2), (1, 0), (1, 2), (8, 1), (9, 0), (9, 2), (40, 0), (40, 1)] {
        let row = |f: &dyn Fn(usize) -> String, n: usize| format!("[{}]", (0..n).map(f).collect::<Vec<_>>().join(","));
        let x = row(&|i| row(&|j| format!("{}.5", (i * 7 + j * 3) % 5), k), n);
        let (y, b, g) = (
            row(&|i| format!("{}.75", i % 3), n),
            row(&|i| (i % 2).to_string(), n),
            row(&|i| (i % 2 + 1).to_string(), n),
        );
        let data = format!(r#"{{"N": {n}, "K": {k}, "x": {x}, "y": {y}, "n": {b}, "g": {g}}}"#);
        for (how, plain) in programs {
            same_with(
                &data,
                head,
                &format!("model {{ s ~ normal(0, 1); {how} }}"),
                &format!("model {{ s ~ normal(0, 1); {plain} }}"),
            );
        }
    }
}

/// Arrays and matrices that are filled by several loops, looked at as a whole, by rows, in another order.
#[test]
fn more_dimensions() {
    let parameters = "parameters { vector[G] a; vector[K] b; real<lower=0> s; }";
    let fill = "matrix[N, K] m; for (k in 1:K) for (i in 1:N) m[i, k] = a[g[i]] * b[k];";
    for (how, plain) in [
        (format!("{fill} for (i in 1:N) for (k in 1:K) x[i, k] ~ student_t(4, m[i, k], s);"), "for (i in 1:N) for (k in 1:K) x[i, k] ~ student_t(4, a[g[i]] * b[k], s);"),
        (format!("{fill} to_vector(x) ~ student_t(4, to_vector(m), s);"), "for (i in 1:N) for (k in 1:K) x[i, k] ~ student_t(4, a[g[i]] * b[k], s);"),
        (format!("{fill} y ~ student_t(4, m[, 2], s);"), "for (i in 1:N) y[i] ~ student_t(4, a[g[i]] * b[2], s);"),
        (format!("{fill} y ~ student_t(4, m * b, s);"), "for (i in 1:N) y[i] ~ student_t(4, a[g[i]] * dot_self(b), s);"),
        (format!("{fill} for (i in 1:N) target += -log_sum_exp(m[i]);"), "for (i in 1:N) target += -log_sum_exp(a[g[i]] * b);"),
        ("vector[N] m; for (i in 1:N) m[i] = a[g[i]] * y[i]; y[sort_indices_asc(y)] ~ student_t(4, m[sort_indices_desc(y)], s);".into(),
         "array[N] int up = sort_indices_asc(y); array[N] int down = sort_indices_desc(y); for (i in 1:N) y[up[i]] ~ student_t(4, a[g[down[i]]] * y[down[i]], s);"),
        ("array[K] vector[N] m; for (k in 1:K) m[k] = a[g] * b[k]; for (k in 1:K) y ~ student_t(4, m[k], s);".into(),
         "for (i in 1:N) for (k in 1:K) y[i] ~ student_t(4, a[g[i]] * b[k], s);"),
    ] {
        same(&format!("{parameters} model {{ {how} }}"), &format!("{parameters} model {{ {plain} }}"));
    }
}

/// In branches that data choose, and next to terms that are left to the machine.
#[test]
fn branches_and_what_is_left() {
    let functions = "functions { real slow(vector a) { real t = 0; for (i in 1:num_elements(a)) t += square(a[i]) * i; return -t; } } ";
    let head = format!("{functions}{HEAD}parameters {{ vector[G] a; vector[K] b; real<lower=0> s; }} ");
    for (how, plain) in [
        (
            "if (N > 3) { vector[N] m; for (i in 1:N) m[i] = a[g[i]] + x[i] * b; y ~ student_t(4, m, s); } else { y ~ normal(0, s); }",
            "for (i in 1:N) y[i] ~ student_t(4, a[g[i]] + x[i] * b, s);",
        ),
        (
            "vector[N] m; for (i in 1:N) m[i] = a[g[i]] + x[i] * b; target += slow(a); y ~ student_t(4, m, s); target += slow(b) * s;",
            "for (i in 1:N) y[i] ~ student_t(4, a[g[i]] + x[i] * b, s); for (i in 1:G) target += -square(a[i]) * i; for (i in 1:K) target += -square(b[i]) * i * s;",
        ),
        (
            "vector[N] m = x * b; if (N > 3) { y ~ student_t(4, m, s); }",
            "for (i in 1:N) y[i] ~ student_t(4, x[i] * b, s);",
        ),
        (
            "vector[N] m; if (N > 3) { for (i in 1:N) m[i] = x[i] * b; } else m = x * b; y ~ student_t(4, m, s);",
            "for (i in 1:N) y[i] ~ student_t(4, x[i] * b, s);",
        ),
        (
            "vector[N] m; if (a[1] > 0) { for (i in 1:N) m[i] = x[i] * b; } else m = y * a[2]; y ~ student_t(4, m, s);",
            "for (i in 1:N) y[i] ~ student_t(4, a[1] > 0 ? x[i] * b : y[i] * a[2], s);",
        ),
        (
            "vector[N] m; for (i in 1:N) m[i] = x[i] * b; if (a[1] > 0) y ~ student_t(4, m, s);",
            "if (a[1] > 0) for (i in 1:N) y[i] ~ student_t(4, x[i] * b, s);",
        ),
    ] {
        same_with(DATA, &head, &format!("model {{ {how} }}"), &format!("model {{ {plain} }}"));
    }
}

/// A branch that a plain variable of the data chooses is as good as one that a comparison chooses.
#[test]
fn flags() {
    let head = format!("{HEAD}transformed data {{ int flag = 1; }} parameters {{ vector[G] a; real<lower=0> s; }} ");
    for (flag, likelihood) in [("flag", true), ("!flag", false), ("N > 3 && flag", true)] {
        let program = format!(
            "model {{ a ~ normal(0, 1); if ({flag}) {{ vector[N] m; for (i in 1:N) m[i] = exp(a[g[i]]); y ~ student_t(4, m, s); }} }}"
        );
        let plain = if likelihood { "for (i in 1:N) y[i] ~ student_t(4, exp(a[g[i]]), s);" } else { "" };
        let found = same_with(DATA, &head, &program, &format!("model {{ a ~ normal(0, 1); {plain} }}"));
        assert_eq!(found.inlined(), usize::from(likelihood), "{flag}");
    }
}
