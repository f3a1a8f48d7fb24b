//! Vectors that are gone through element by element, and functions that stand in the place of their calls, compared with
//! programs that say the same otherwise.

use crate::loops::{DATA, HEAD};
use crate::same::{same, same_with};

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
        // A loop inside of one that goes step by step, with a bound of its own each time.
        (
            "real t = a; for (i in 1:G) { int h = g[i]; t = t * 0.5 + v[i]; for (j in 1:h) y[j] ~ student_t(4, t * v[j], s); }",
            "real t = a; for (i in 1:G) { t = t * 0.5 + v[i]; for (j in 1:g[i]) y[j] ~ student_t(4, t * v[j], s); }",
        ),
        (
            "real t = a; for (i in 1:G) { int h = G + 1 - i; t = t * 0.5 + v[i]; for (j in 1:N) y[j] ~ student_t(4, t * x[j, 1] + v[h], s); }",
            "real t = a; for (i in 1:G) { t = t * 0.5 + v[i]; for (j in 1:N) y[j] ~ student_t(4, t * x[j, 1] + v[G + 1 - i], s); }",
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
