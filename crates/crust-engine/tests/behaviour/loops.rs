//! Loops over data: compiled to straight-line programs where they fit, and the same numbers either way.

use crate::common::{agree, bind, evaluate};
use crate::harness::{NORMALISED, PROPTO, check, check_value, log_sum_exp, quantities, spread};

pub const DATA: &str = r#"{"N": 19, "K": 3, "G": 4, "x": [[0.1,1.2,-0.4],[0.3,-0.2,0.9],[1.1,0.4,-0.7],[-0.6,0.8,0.2],[0.5,-1.3,0.6],[0.7,0.1,0.3],
    [-0.2,-0.5,1.4],[0.9,0.6,-0.1],[-1.2,0.2,0.8],[0.4,-0.9,-0.3],[1.3,0.7,0.5],[-0.8,-0.1,-0.6],[0.2,1.1,0.1],[0.6,-0.4,-1.2],[-0.3,0.5,0.7],[0.8,-0.7,0.4],
    [-0.1,0.3,-0.5],[1.0,0.9,-0.2],[-0.5,-0.6,0.2]],
    "y": [0.3,-1.2,2.2,0.7,-0.4,1.6,0.1,-0.9,0.5,1.1,-2.0,0.8,0.2,-0.3,1.4,0.6,-0.7,0.9,0.4],
    "n": [1,0,1,1,0,0,1,0,1,1,0,1,0,0,1,1,1,0,1], "g": [1,2,3,4,1,2,3,4,4,3,2,1,1,1,2,3,3,4,2], "c": [3,0,2,5,1,0,4,2,1,3,0,2,6,1,1,0,2,3,1]}"#;

pub const HEAD: &str =
    "data { int N; int K; int G; matrix[N, K] x; vector[N] y; array[N] int n; array[N] int g; array[N] int c; } ";

/// Compares a program that is run by compiled loops with itself run without, and counts the loops that are compiled.
pub fn check_flat(program: &str, loops: usize) {
    let program = format!("{HEAD}{program}");
    check(&program, DATA);
    let model = bind(&program, DATA);
    let points = spread(16, model.dimension());
    for points in [&points[..], &points[..1]] {
        for terms in [NORMALISED, PROPTO] {
            let beta: Vec<f64> = (0..points.len()).map(|l| 0.3 + 0.1 * l as f64).collect();
            let (mut flat, mut plain) = (model.evaluator().with_lists(false), model.evaluator().with_flat_loops(false));
            let a = evaluate(&mut flat, points, Some(&beta), terms);
            let b = evaluate(&mut plain, points, Some(&beta), terms);
            assert_eq!((flat.flat_loops(), plain.flat_loops()), (loops, 0), "compiled loops");
            for l in 0..points.len() {
                assert!(agree(a.log_prior[l], b.log_prior[l], 1e-12), "prior {} {}", a.log_prior[l], b.log_prior[l]);
                assert!(agree(a.log_likelihood[l], b.log_likelihood[l], 1e-12), "likelihood");
                for (d, (a, b)) in a.gradient[l].iter().zip(&b.gradient[l]).enumerate() {
                    assert!(agree(*a, *b, 1e-11), "gradient {d}: {a} is not {b}");
                }
            }
        }
    }
}

#[test]
fn regressions() {
    // The linear predictor is computed in the loop; nobody else needs it.
    check_flat(
        "parameters { real a; vector[K] b; real<lower=0> s; }
         model { for (k in 1:K) b[k] ~ normal(0, 2 * s);
                 vector[N] mu = x * b + a; for (i in 1:N) y[i] ~ normal(mu[i], sqrt(s)); }",
        2,
    );
    check_flat(
        "parameters { real a; vector[K] b; }
         model { vector[N] mu; mu = a + x * b; for (i in 1:N) n[i] ~ bernoulli(inv_logit(mu[i])); }",
        1,
    );
    check_flat(
        "parameters { vector[G] a; vector[K] b; real<lower=0> s; vector<lower=0>[G] t; }
         model { for (i in 1:N) { int h = g[i]; real m = a[h] + x[i] * b; y[i] ~ normal(m, s * t[h]); c[i] ~ poisson_log(0.1 * m); } }",
        1,
    );
    // Looked at twice, so it is a variable like any other.
    check_flat(
        "parameters { vector[K] b; real<lower=0> s; }
         model { vector[N] mu = exp(-(x * b)) / 3; for (i in 1:N) y[i] ~ normal(mu[i], s); target += -0.01 * dot_self(mu); }",
        1,
    );
    check_flat(
        "parameters { vector[K] b; real<lower=0> s; }
         model { vector[N] mu = exp(-(x * b)) / 3 - y; for (i in 1:N) target += -square(mu[i]) / s; }",
        1,
    );
}

#[test]
fn least_squares() {
    // Squares are put together before: offsets, several parameters, data that are multiplied, signs, a parameter that
    // is used twice.
    check_flat(
        "parameters { real a; real b; vector[K] d; real<lower=0> s; }
         model { for (i in 2:N) y[i] ~ normal(2 + a - b * y[i - 1] - x[i, 2] * (d[3] - 0.5) + x[i] * d, s); }",
        1,
    );
    check_flat(
        "parameters { vector[G] a; real b; real<lower=0> s; }
         model { for (i in 1:N) y[i] ~ normal(a[g[i]] - (-b) * y[i], s); for (i in 1:N) b * x[i, 1] ~ normal(y[i], 1.5); }",
        2,
    );
    // Vectors, without a loop: a number, rows of data, several summands; what is not linear, or has a scale of its own,
    // stays a vector.
    check_flat("parameters { real m; real<lower=0> s; } model { y ~ normal(m, s); }", 0);
    check_flat(
        "parameters { real a; vector[K] b; real<lower=0> s; }
         model { b ~ normal(0, 2); y ~ normal(a + x * b, s); target += normal_lpdf(y | x * b - 0.3 * y, sqrt(s)); }",
        0,
    );
    check_flat(
        "parameters { real a; vector[K] b; vector[N] e; vector<lower=0>[N] s; }
         model { y ~ normal(exp(x * b), 1.5); y ~ normal(x * b, s); y ~ normal(e, 2); y ~ normal(a * to_vector(c) + y * b[1], 0.7); }",
        0,
    );
    // Log odds as vectors.
    check_flat(
        "parameters { real a; vector[K] b; vector[G] u; }
         model { n ~ bernoulli_logit(a + x * b); n ~ bernoulli_logit(x * b - 0.3 * y); n ~ bernoulli_logit(u[g]); n ~ bernoulli_logit(a);
                 target += bernoulli_logit_lpmf(n | exp(x * b) - 1); }",
        0,
    );
    // A location without parameters, one that is not linear, and a scale that differs.
    check_flat("parameters { real<lower=0> s; } model { for (i in 1:N) y[i] ~ normal(x[i, 1], s); }", 1);
    check_flat(
        "parameters { real a; real b; vector<lower=0>[G] s; }
         model { for (i in 1:N) y[i] ~ normal(a * b * x[i, 1], s[1]); for (i in 1:N) y[i] ~ normal(a * x[i, 1], s[g[i]]); }",
        2,
    );
}

#[test]
fn containers_that_one_term_looks_at() {
    // Loops that fill are counted, whether they are run or not. Filled by a loop, in either block; assigned as a whole; added to, first as a whole and then by a loop.
    check_flat(
        "parameters { vector[G] a; real b; real<lower=0> s; }
         transformed parameters { vector[N] m; for (i in 1:N) m[i] = exp(a[g[i]]) + b * x[i, 1]; }
         model { vector[N] e; for (i in 1:N) e[i] = a[g[i]] * x[i, 2]; y ~ normal(m, s); c ~ poisson_log(e); }",
        2,
    );
    check_flat(
        "parameters { real a; vector[K] b; vector[G] u; real<lower=0> s; }
         model { vector[N] mu = rep_vector(0.0, N); vector[N] eta; mu += a + x * b; eta = 0.3 * y - u[g];
                 for (i in 1:N) mu[i] += u[g[i]] * x[i, 2]; y ~ student_t(4, mu, s); n ~ bernoulli_logit(eta); }",
        0,
    );
    // What is looked at in between, or changed, or only half assigned, is a variable like any other.
    check_flat(
        "parameters { real a; vector[K] b; real<lower=0> s; }
         model { vector[N] mu = x * b; y ~ normal(mu, 1); mu += a; y ~ student_t(4, mu, s); }",
        0,
    );
    check_flat(
        "parameters { real a; vector[K] b; real<lower=0> s; }
         model { real h = a; vector[N] mu = h + exp(x * b); h = 2 * a; y ~ student_t(4, mu, s); target += -h * h; }",
        0,
    );
    check_flat(
        "parameters { real a; vector[K] b; real<lower=0> s; }
         model { vector[N] mu = x * b; for (i in 3:N) mu[i] = a * y[i - 1]; y ~ student_t(4, mu, s); }",
        1,
    );
    // Twice in one term, and with fewer elements than positions.
    check_flat(
        "parameters { vector[G] a; real<lower=0> s; }
         model { vector[G] e = exp(a); vector[N] m = 0.1 * e[g] - y; a ~ normal(0, 1); y ~ student_t(4, m .* m, s); }",
        0,
    );
    check_flat(
        "parameters { vector[G] a; real<lower=0> s; }
         model { vector[G] e = exp(a); a ~ normal(0, 1); y ~ student_t(4, e[g] .* sqrt(e[g]) + s * y, s); }",
        0,
    );
}

#[test]
fn positions_in_vectors() {
    // Lists, ranges, rows and columns, of vectors and of what is computed.
    check_flat(
        "parameters { vector[G] a; matrix[G, N] m; matrix[N + 2, K] z; real<lower=0> s; }
         model { y ~ student_t(4, a[g] .* x[, 2] + exp(a[g]), s); c ~ poisson_log(m[3]' + z[2:(N + 1), 2]);
                 y ~ cauchy(z[3:, 1] - z[:N, 3] + m[g[2], ]', s); }",
        0,
    );
    // Generalised linear models: least squares, log odds, counts; an intercept for each.
    check_flat(
        "parameters { real a; vector[K] b; vector[N] e; real<lower=0> s; }
         model { e ~ normal(0, 1); y ~ normal_id_glm(x, a, b, s); n ~ bernoulli_logit_glm(x, e, b); c ~ poisson_log_glm(x, a, b);
                 target += neg_binomial_2_log_glm_lpmf(c | x, e, b, s) + normal_id_glm_lpdf(y | x, e, b, 0.5 + s); }",
        0,
    );
}

#[test]
fn accumulators() {
    check_flat(
        "parameters { real a; vector[K] b; real<lower=0> s; }
         model { for (i in 1:N) { real mu = a; for (k in 1:K) mu = mu + b[k] * x[i, k]; y[i] ~ normal(mu, s); } }",
        1,
    );
    check_flat(
        "parameters { vector[K] b; real<lower=0> s; }
         model { for (i in 1:N) { real mu; mu = b[1]; mu *= x[i, 1]; mu += exp(mu); mu = -mu; y[i] ~ student_t(5, mu, s); } }",
        1,
    );
}

#[test]
fn long_vectors_in_loops() {
    // 80 elements a time: too many to be written down one by one.
    let program = "data { int T; int M; array[T, M] int r; array[T] vector[M] v; }
         parameters { vector[T] a; vector[M] theta; real<lower=0> b; vector<lower=0>[T] s; }
         model { theta ~ normal(0, 1); for (k in 1:T) { real w = b * a[k]; r[k] ~ bernoulli_logit(b * theta - a[k]); v[k] ~ student_t(4, w + theta * a[k], s[k]); } }";
    let rows = |f: &dyn Fn(usize) -> String| -> String {
        let row = |k: usize| (0..80).map(|i| f(80 * k + i)).collect::<Vec<_>>().join(",");
        format!("[[{}],[{}]]", row(0), row(1))
    };
    let (r, v) = (rows(&|i| (i * 7 % 3 / 2).to_string()), rows(&|i| format!("{}.5", i * 13 % 5)));
    let data = format!(r#"{{"T": 2, "M": 80, "r": {r}, "v": {v}}}"#);
    let (model, points) = check(program, &data);
    let mut flat = model.evaluator().with_lists(false);
    let a = evaluate(&mut flat, &points[..8], None, PROPTO);
    let b = evaluate(&mut model.evaluator().with_flat_loops(false), &points[..8], None, PROPTO);
    assert_eq!(flat.flat_loops(), 1);
    for l in 0..8 {
        assert!(agree(a.log_density(l), b.log_density(l), 1e-12));
        assert!(a.gradient[l].iter().zip(&b.gradient[l]).all(|(a, b)| agree(*a, *b, 1e-11)));
    }
}

#[test]
fn variables_that_each_iteration_fills() {
    // Declared before the loop, as mixtures often are; vectors, arrays and numbers.
    check_flat(
        "parameters { simplex[K] theta; vector[K] mu; array[K] real<lower=0> s; }
         model { array[K] real ps; mu ~ normal(0, 2);
           for (i in 1:N) { for (k in 1:K) ps[k] = log(theta[k]) + normal_lpdf(y[i] | mu[k], s[k]); target += log_sum_exp(ps); } }",
        1,
    );
    check_flat(
        "parameters { real a; vector[K] b; }
         model { real m; vector[K] v; for (i in 1:N) { m = a * y[i]; for (k in 1:K) { real z = b[k] * x[i, k]; v[k] = z + m; } target += -0.1 * m * sum(v); } }",
        1,
    );
    // The loop must not be taken apart from what it leaves to the next iteration, or to what comes after it.
    let data = r#"{"N": 4, "y": [1, 2, -1, 3]}"#;
    let head = "data { int N; vector[N] y; } parameters { real a; }";
    for (model, value) in [
        (
            "real s; for (i in 1:N) { if (i == 1) s = a; target += s * y[i]; s = s + 1; }",
            (|a: f64| 5.0 * a + 2.0 - 2.0 + 9.0) as fn(f64) -> f64,
        ),
        ("real s; for (i in 1:N) { s = a * y[i]; } target += s;", |a| 3.0 * a),
        (
            "vector[N] v; for (i in 1:N) { for (k in 2:N) v[k] = a * y[i]; if (i == 1) v[1] = a; target += sum(v); }",
            |a| 4.0 * a + 15.0 * a,
        ),
        ("vector[2] v; for (i in 1:N) { for (k in 1:2) v[k] = k == 1 ? a : v[1] * y[i]; target += v[2]; }", |a| {
            5.0 * a
        }),
    ] {
        let program = format!("{head} model {{ {model} }}");
        check_value(&program, data, |x| value(x[0]));
    }
}

#[test]
fn lists_of_positions() {
    check_flat(
        "transformed data { array[N, 2] int h; for (i in 1:N) { h[i, 1] = g[i]; h[i, 2] = G + 1 - g[i]; } }
         parameters { vector[G] a; matrix[G, K] m; array[G] vector[2] w; }
         model { for (i in 1:N) n[i] ~ bernoulli_logit(sum(a[h[i]]) - 2 * sum(a[1:2]));
                 for (i in 1:N) target += -0.1 * dot_self(m[h[i], 2]) + 0.2 * sum(m[g[i], 2:3]) * sum(w[h[i], 1]); }",
        2,
    );
    // Of different lengths: the machine does that.
    check_flat("parameters { vector[G] a; } model { for (i in 1:N) target += -0.1 * dot_self(a[1:g[i]]); }", 0);
}

#[test]
fn branches_and_nests() {
    check_flat(
        "parameters { real a; matrix[N, 2] u; matrix[2, K] v; real<lower=0> s; }
         model { matrix[N, K] uv; uv = u * v;
           for (i in 1:N) for (k in 1:K) if (x[i, k] > 0.3) x[i, k] ~ normal(uv[i, k], sqrt(s)); else if (x[i, k] > 0) x[i, k] ~ normal(a, 1); else { target += -0.5 * square(a - uv[i, k]); }
           for (i in 1:N) for (j in 1:2) u[i, j] ~ normal(0, s); }",
        2,
    );
    // Inner bounds that depend on the outer loop, rows of matrices, products of rows and columns.
    check_flat(
        "parameters { matrix[N, K] u; matrix[K, N] v; array[G] vector[2] w; real<lower=0> s; }
         model { for (i in 1:N) for (j in i:min(N, i + 2)) y[j] ~ normal(u[i] * v[, j] + dot_product(w[g[i]], w[g[j]]) + dot_self(w[g[j]]), s); }",
        1,
    );
}

#[test]
fn mixtures() {
    check_flat(
        "parameters { simplex[2] p; vector[2] m; real<lower=0> s; real<lower=0, upper=1> q; }
         model { for (i in 1:N) { target += log_mix(q, normal_lpdf(y[i] | m[1], s), normal_lpdf(y[i] | m[2], 2 * s)); }
                 for (i in 1:N) { vector[2] l = log(p) - square(y[i] - m) / s; target += log_sum_exp(l); } }",
        2,
    );
    // Log densities of vectors, with known and unknown scales, one of them in each component.
    check_flat(
        "parameters { array[2] vector[K] m; real<lower=0> s; vector<lower=0>[2] t; }
         model { for (i in 1:N) { vector[2] l = rep_vector(-log(2), 2);
                   for (k in 1:2) l[k] += normal_lpdf(x[i] | m[k], 1.3) + normal_lpdf(y[i] | m[k, 1], s) + normal_lpdf(x[i] | m[k], sqrt(t[k]));
                   target += log_sum_exp(l); } }",
        1,
    );
    // Assigned in one loop, looked at in another.
    check_flat(
        "parameters { simplex[3] p; array[3] vector[2] m; real<lower=0> s; }
         transformed parameters { array[N, 3] real z;
           for (i in 1:N) for (k in 1:3) z[i, k] = log(p[k]) - 0.5 * K * log(s) - 0.5 * (dot_self(m[k] - [y[i], x[i, 1]]') / s); }
         model { for (i in 1:N) target += log_sum_exp(z[i]); target += -0.01 * square(z[2, 3]); }",
        2,
    );
}

/// Containers inside of a loop that are assigned element by element, as the User's Guide writes mixtures.
#[test]
fn containers_inside_of_loops() {
    check_flat(
        "parameters { simplex[3] p; vector[3] m; vector<lower=0>[3] s; }
         model { vector[3] log_p = log(p);
           for (i in 1:N) { vector[3] lps = log_p; for (k in 1:3) lps[k] += normal_lpdf(y[i] | m[k], s[k]); target += log_sum_exp(lps); } }",
        1,
    );
    check_flat(
        "parameters { vector[3] m; real<lower=0> s; }
         model { for (i in 1:N) { vector[3] z; for (k in 1:3) { real d = x[i, k] - m[k]; z[k] = d * d / s; } z[2] = z[1] * z[3]; target += -sum(z) / s; } }",
        1,
    );
}

/// What one loop has filled and only one other looks at is computed there.
#[test]
fn filled_arrays() {
    let program = |more: &str| {
        format!(
            "parameters {{ simplex[3] p; array[3] vector[2] m; real<lower=0> s; }}
             transformed parameters {{ array[N, 3] real z;
               for (i in 1:N) for (k in 1:3) z[i, k] = log(p[k]) - 0.5 * K * log(s) - 0.5 * (dot_self(m[k] - [y[i], x[i, 1]]') / s); }}
             model {{ for (i in 1:N) target += log_sum_exp(z[i]); {more} }}"
        )
    };
    check_flat(&program(""), 2);
    check_flat(&program("target += -0.01 * square(z[2, 3]);"), 2);
    check_flat(&program("for (i in 2:N) target += -square(z[i - 1, 2]);"), 3);
    // The output shows all of them, whoever computes them otherwise.
    let model = bind(&format!("{HEAD}{}", program("")), DATA);
    let point = &spread(1, model.dimension())[0];
    let mut evaluator = model.evaluator();
    for _ in 0..3 {
        evaluate(&mut evaluator, std::slice::from_ref(point), None, NORMALISED);
    }
    assert!(quantities(&model, point).iter().all(|(_, number)| number.is_finite()));
    assert_eq!(quantities(&model, point).len(), 3 + 6 + 1 + 19 * 3);
}

/// Scalar statements are compiled together, those that do not fit are left to the machine.
#[test]
fn terms_outside_of_loops() {
    check_flat(
        "parameters { real a; real<lower=0> s; vector[12] v; real<lower=0, upper=1> q; }
         model { a ~ normal(1, s); s ~ inv_gamma(1, 2); v ~ normal(a, s); q ~ beta(2, 3); target += -square(a / s) + log(q) * v[3];
                 target += -0.1 * dot_self(v); v[1:3] ~ student_t(4, a, 2); a ~ cauchy(v[2], 1 + s); }",
        0,
    );
}

/// `target()` is what has been added before.
/// A generalised linear model is the density of its linear predictor, whichever branch on data it is in.
#[test]
fn linear_models_are_what_they_stand_for() {
    let pairs = [
        ("y ~ normal_id_glm(x, a, b, s)", "y ~ normal(a + x * b, s)"),
        ("y ~ normal_id_glm(x, v, b, s)", "y ~ normal(v + x * b, s)"),
        ("target += normal_id_glm_lpdf(y | x, 0.3, b, rep_vector(s, N))", "target += normal_lpdf(y | 0.3 + x * b, s)"),
        ("target += normal_id_glm_lupdf(y | x, a, b, 2)", "target += normal_lupdf(y | a + x * b, 2)"),
        ("n ~ bernoulli_logit_glm(x, v, b)", "n ~ bernoulli_logit(v + x * b)"),
        ("c ~ poisson_log_glm(x, a, b)", "c ~ poisson_log(a + x * b)"),
        ("c ~ neg_binomial_2_log_glm(x, a, b, s)", "c ~ neg_binomial_2_log(a + x * b, s)"),
        ("n ~ binomial_logit_glm(rep_array(3, N), x, a, b)", "n ~ binomial_logit(rep_array(3, N), a + x * b)"),
        ("n ~ bernoulli_logit_glm(x[2], a, b)", "n ~ bernoulli_logit(rep_vector(a + x[2] * b, N))"),
        ("n[1:4] ~ bernoulli_logit_glm(x[{2, 3, 3, 1}], a, b)", "n[1:4] ~ bernoulli_logit(a + x[{2, 3, 3, 1}] * b)"),
    ];
    for (model, stands_for) in pairs {
        let found: Vec<_> = [model, stands_for]
            .iter()
            .flat_map(|statement| {
                [format!("{statement};"), format!("if (N > 3) {{ {statement}; }} else a ~ cauchy(0, 1);")]
            })
            .map(|statements| {
                let text = format!(
                    "parameters {{ real a; vector[N] v; vector[K] b; real<lower=0> s; }}
                     model {{ v ~ normal(0, 1); b ~ normal(0, 1); {statements} }}"
                );
                check_flat(&text, 0);
                let model = bind(&format!("{HEAD}{text}"), DATA);
                let points = spread(8, model.dimension());
                [NORMALISED, PROPTO].map(|terms| evaluate(&mut model.evaluator(), &points, None, terms))
            })
            .collect();
        for other in &found[1..] {
            for (one, other) in found[0].iter().zip(other) {
                for l in 0..8 {
                    assert!(agree(one.log_prior[l], other.log_prior[l], 1e-12), "{model}: prior");
                    assert!(agree(one.log_likelihood[l], other.log_likelihood[l], 1e-12), "{model}: likelihood");
                    let mut slopes = one.gradient[l].iter().zip(&other.gradient[l]);
                    assert!(slopes.all(|(a, b)| agree(*a, *b, 1e-11)), "{model}: gradient");
                }
            }
        }
    }
}

#[test]
fn the_target_so_far_is_in_order() {
    let model = bind("parameters { real a; } model { a ~ normal(0, 1); target += 2 * target(); target += -a; }", "{}");
    for a in [-0.7_f64, 1.1] {
        let found = evaluate(&mut model.evaluator(), &[vec![a]], None, NORMALISED);
        let by_hand = 3.0 * (-0.5 * a * a - crate::harness::LOG_ROOT_TAU) - a;
        assert!(agree(found.log_density(0), by_hand, 1e-12), "{} is not {by_hand}", found.log_density(0));
    }
}

#[test]
fn densities_without_a_vectorised_kernel() {
    check_flat(
        "parameters { vector[G] a; real<lower=0> s; }
         model { for (i in 1:N) y[i] ~ skew_normal(a[g[i]], s, 0.7); for (i in 1:N) target += fmax(a[g[i]], y[i]) * lmultiply(s, 3.0 + y[i]); }",
        2,
    );
}

/// What a point has no density for is found out, and said by the machine.
#[test]
fn rejections_come_from_the_machine() {
    let program = format!(
        "{HEAD} parameters {{ vector[G] a; real s; }} model {{ for (i in 1:N) y[i] ~ normal(a[g[i]], s); for (i in 1:N) n[i] ~ bernoulli(a[g[i]]); }}"
    );
    let model = bind(&program, DATA);
    let mut points: Vec<Vec<f64>> = (0..8).map(|l| vec![0.2, 0.3, 0.4, 0.1 * f64::from(l) + 0.05, 0.5]).collect();
    points[2][4] = -1.0;
    points[5][1] = 1.5;
    points[6][0] = f64::NAN;
    let mut evaluator = model.evaluator();
    let found = evaluate(&mut evaluator, &points, None, NORMALISED);
    let why = |l: usize| evaluator.rejections()[l].as_ref().map(|r| r.message.clone()).unwrap_or_default();
    assert!(why(2).contains("Scale parameter is -1"), "{}", why(2));
    assert!(why(5).contains("1.5"), "{}", why(5));
    assert!(!why(6).is_empty());
    for l in [0, 1, 3, 4, 7] {
        let alone = evaluate(&mut model.evaluator(), &points[l..=l], None, NORMALISED);
        assert!(agree(found.log_density(l), alone.log_density(0), 1e-12), "lane {l}");
    }
    // Log odds beyond the digits of a probability: as the program states it.
    let program = format!("{HEAD} parameters {{ real a; }} model {{ for (i in 1:N) n[i] ~ bernoulli(inv_logit(a)); }}");
    let model = bind(&program, DATA);
    let found = evaluate(&mut model.evaluator(), &[vec![40.0]], None, NORMALISED);
    assert_eq!(found.log_density(0), f64::NEG_INFINITY);
}

/// Compares the numbers of lanes that stand in batches of several widths with those that they have alone, to the last
/// bit.
fn check_lanes(program: &str, flat: bool) -> Vec<f64> {
    let model = bind(&format!("{HEAD} {program}"), DATA);
    let points: Vec<Vec<f64>> = spread(24, model.dimension());
    let evaluator = |width: usize| model.evaluator().with_width(width).with_flat_loops(flat);
    let alone: Vec<_> = points
        .iter()
        .map(|x| {
            let found = evaluate(&mut evaluator(8), std::slice::from_ref(x), None, NORMALISED);
            (found.log_prior[0].to_bits(), found.log_likelihood[0].to_bits(), bits(&found.gradient[0]))
        })
        .collect();
    for (lanes, width) in [(3, 8), (8, 8), (24, 8), (24, 64)] {
        let mut evaluator = evaluator(width);
        for (chunk, part) in points.chunks(lanes).enumerate() {
            let found = evaluate(&mut evaluator, part, None, NORMALISED);
            for l in 0..part.len() {
                let (prior, likelihood, gradient) = &alone[chunk * lanes + l];
                assert_eq!(found.log_prior[l].to_bits(), *prior, "{lanes} lanes, point {l} of part {chunk}");
                assert_eq!(found.log_likelihood[l].to_bits(), *likelihood, "{lanes} lanes, point {l} of part {chunk}");
                assert_eq!(bits(&found.gradient[l]), *gradient, "{lanes} lanes, point {l} of part {chunk}");
            }
        }
    }
    alone.iter().map(|(prior, likelihood, _)| f64::from_bits(*prior) + f64::from_bits(*likelihood)).collect()
}

/// A lane's numbers are the same to the last bit whatever lanes share its batch: also where some of them have no
/// density, or take other branches.
#[test]
fn lanes_do_not_depend_on_each_other() {
    let program = "parameters { vector[G] a; real s; vector[K] b; }
         model { vector[N] mu = x * b; for (i in 1:N) y[i] ~ normal(a[g[i]] + mu[i], s); for (i in 1:N) if (a[g[i]] > 0.3) target += -a[g[i]];
                 a ~ normal(0, 1); b ~ student_t(3, 0, 2); s ~ lognormal(0, 1); }";
    for flat in [true, false] {
        let found = check_lanes(program, flat);
        assert!(found.iter().any(|x| x.is_finite()) && found.iter().any(|x| !x.is_finite()));
    }
}

/// The same where the vectorised kernel of a density leaves the arguments of some lanes to the exact one, whose last
/// digits are others.
#[test]
fn kernels_leave_the_arguments_of_other_lanes_alone() {
    let programs = [
        "parameters { vector[G] a; real s; } model { for (i in 1:N) c[i] ~ neg_binomial_2_log(500 * a[g[i]], exp(s)); }",
        "parameters { vector[G] a; real s; } model { c ~ neg_binomial_2_log(500 * a[g], exp(s)); }",
        "parameters { vector[G] a; real s; } model { for (i in 1:N) target += lognormal_lpdf(exp(600 * a[g[i]]) | s, 1.3); }",
        "parameters { vector[G] a; real s; } model { target += student_t_lpdf(y | exp(550 * s), a[g], exp(a[g])); }",
    ];
    for program in programs {
        for flat in [true, false] {
            let found = check_lanes(program, flat);
            assert!(found.iter().filter(|x| x.is_finite()).count() > 2, "{found:?}");
        }
    }
}

/// Whole variables beside parts of them, whose adjoints are added up at the same places.
#[test]
fn parts_of_a_variable_beside_all_of_it() {
    let program = "parameters { array[G] vector[K] a; real s; }
         model { for (i in 1:N) y[i] ~ normal(a[g[i], 2] * a[1, 1] + a[1][c[i] % 3 + 1] + dot_product(a[g[i]], a[2]), exp(s)); }";
    check_flat(program, 1);
    check_lanes(program, true);
}

/// What an evaluator learns about a loop at one point does not change the digits at another, although branches depend
/// on both data and parameters and there are several tiles.
#[test]
fn branches_by_parameters_teach_nothing() {
    teach_nothing(
        "data { int N; vector[N] x; } parameters { real a; real s; }
        model { if (a > 0) x ~ normal(a, exp(s)); else x ~ student_t(4, a, exp(s)); }",
    );
    teach_nothing(
        "data { int N; vector[N] x; } parameters { real a; real s; }
        model { for (n in 1:N) { if (x[n] > a) target += -0.5 * square(x[n] - a) * exp(s); else if (x[n] > 0.3) target += -square(x[n] - a) / 3;
                else target += -log1p(square(x[n] - a) / (n % 3 == 0 ? 7 : 1.1)); } }",
    );
}

fn teach_nothing(program: &str) {
    let x: Vec<String> = (0..5000).map(|i| format!("{:.3}", f64::from(i * 37 % 5003) / 1251.0 - 2.0)).collect();
    let model = bind(program, &format!(r#"{{"N": 5000, "x": [{}]}}"#, x.join(",")));
    for width in [1, 8] {
        let (mut fresh, mut taught) = (model.evaluator().with_width(width), model.evaluator().with_width(width));
        let at = |evaluator: &mut _, a: f64| {
            let found = evaluate(evaluator, &[vec![a, 0.3]], None, NORMALISED);
            bits(&[found.log_likelihood[0], found.gradient[0][0], found.gradient[0][1]])
        };
        at(&mut taught, -1.0);
        at(&mut taught, 0.9);
        assert_eq!(at(&mut fresh, 0.5), at(&mut taught, 0.5), "groups of {width}");
    }
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect()
}

/// Elements of a variable that had a value before: an iteration that adds axes to it makes the run begin again, once.
#[test]
fn variables_that_begin_with_data() {
    let by_hand = |x: &[f64]| {
        let term = |s: usize, t: usize| if t < s { x[0] } else { 0.1 * x[1] * t as f64 };
        let sums: Vec<f64> = (1..15).map(|s| -0.5 + (1..15).map(|t| term(s, t)).sum::<f64>()).collect();
        log_sum_exp(&sums)
    };
    let loops = "for (s in 1:14) for (t in 1:14) lp[s] += t < s ? a : 0.1 * b * t; target += log_sum_exp(lp);";
    for start in [
        "vector[14] lp = rep_vector(-0.5, 14);",
        "vector[14] lp; lp = rep_vector(-0.5, 14);",
        "array[14] real lp = rep_array(-0.5, 14);",
        "vector[14] lp = rep_vector(1, 14); for (s in 1:14) lp[s] = a; lp = rep_vector(-0.5, 14);",
        "vector[14] lp = rep_vector(1, 14); for (s in 1:14) lp[s] = -0.5;",
    ] {
        check_value(&format!("parameters {{ real a; real b; }} model {{ {start} {loops} }}"), "{}", by_hand);
    }
}
