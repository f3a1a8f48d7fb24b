//! Kinds of programs that can be read, each small and with proper, light-tailed priors.

/// Name, program, data (outcomes may be missing).
pub const KINDS: &[(&str, &str, &str)] = &[
    (
        "loops, likelihood before priors",
        "data { int N; vector[N] x; vector[N] y; } parameters { real a; real b; real<lower=0> s; }
         model { for (n in 1:N) y[n] ~ normal(a + b * x[n], s); s ~ gamma(3, 2); b ~ normal(a, 0.5); a ~ normal(1, 2); }",
        r#"{"N": 4, "x": [-1, 0, 0.5, 2]}"#,
    ),
    (
        "matrices, vectorised",
        "data { int N; int D; matrix[N, D] Y; } parameters { matrix[N, 2] U; matrix[2, D] V; real<lower=0> s; }
         model { s ~ inv_gamma(4, 3); to_vector(U) ~ std_normal(); to_vector(V) ~ normal(0, s);
                 to_vector(Y) ~ normal(to_vector(U * V), s); }",
        r#"{"N": 2, "D": 3}"#,
    ),
    (
        "truncation by bounds and by T",
        "data { int N; vector[N] y; } parameters { real<lower=0> s; real<lower=-1, upper=0.5> a; real<lower=a> b; real<upper=2> c; }
         model { s ~ normal(0.3, 0.8); a ~ normal(0, 1); b ~ normal(a, s); c ~ student_t(9, 1, 0.5);
                 y ~ normal(a + b + c, 1) T[-1, 4]; }",
        r#"{"N": 3}"#,
    ),
    (
        "half distributions with scales that are parameters",
        "data { int N; vector[N] y; } parameters { real<lower=0> t; vector<lower=0>[2] l; vector[2] z; }
         model { t ~ gamma(4, 4); l ~ normal(0, t); z ~ normal(0, 0.5 + l); y ~ normal(z[1] + z[2], 1); }",
        r#"{"N": 2}"#,
    ),
    (
        "autoregression by element",
        "data { int N; vector[N] y; } parameters { real a; real b; real<lower=0> s; }
         model { a ~ normal(0, 0.5); b ~ normal(0.3, 0.3); s ~ gamma(4, 4); for (n in 2:N) y[n] ~ normal(a + b * y[n - 1], s); }",
        r#"{"N": 5, "y": [1.5, 0, 0, 0, 0]}"#,
    ),
    (
        "autoregression, vectorised",
        "data { int N; vector[N] y; } parameters { real a; real b; real<lower=0> s; }
         model { a ~ normal(0, 0.5); b ~ normal(0.3, 0.3); s ~ gamma(4, 4); y[2:N] ~ normal(a + b * y[1:N - 1], s); }",
        r#"{"N": 5, "y": [1.5, 0, 0, 0, 0]}"#,
    ),
    (
        "counts, generalised linear models",
        "data { int N; matrix[N, 2] x; array[N] int k; array[N] int p; array[N] int<lower=0, upper=1> y; array[N] int n; }
         parameters { real a; vector[2] b; real<lower=0> phi; }
         model { a ~ normal(0, 0.5); b ~ normal(0, 0.5); phi ~ gamma(5, 1); y ~ bernoulli_logit_glm(x, a, b);
                 p ~ poisson_log_glm(x, a, b); k ~ binomial_logit(n, a + x * b); target += neg_binomial_2_log_lpmf(n | a + x * b, phi); }",
        r#"{"N": 2, "x": [[1, 0.5], [-1, 0.3]]}"#,
    ),
    (
        "categories",
        "data { int N; array[N] int<lower=1, upper=3> z; array[N] int o; array[N] int g; array[3] int m; matrix[N, 2] x; }
         parameters { simplex[3] t; ordered[2] c; real e; matrix[2, 3] B; }
         model { t ~ dirichlet([2, 3, 4]'); c ~ normal(0, 1.5); e ~ normal(0, 1); z ~ categorical(t); o ~ ordered_logistic(rep_vector(e, N), c);
                 to_vector(B) ~ normal(0, 1); g ~ categorical_logit_glm(x, rep_vector(0, 3), B); m ~ multinomial(t); }",
        r#"{"N": 3, "m": [4, 2, 1], "x": [[1, 2], [0.5, -1], [0, 1]]}"#,
    ),
    (
        "mixture in one expression",
        "data { int N; vector[N] y; } parameters { real<lower=0, upper=1> w; ordered[2] m; real<lower=0> s; }
         model { w ~ beta(3, 2); m ~ normal(0, 2); s ~ gamma(5, 5);
                 for (n in 1:N) target += log_mix(w, normal_lpdf(y[n] | m[1], s), normal_lpdf(y[n] | m[2], 2 * s)); }",
        r#"{"N": 4}"#,
    ),
    (
        "mixture as the prior of a number",
        "data { int N; vector[N] y; } parameters { real m; real<lower=0> s; }
         model { s ~ gamma(5, 5); target += log_mix(0.3, normal_lpdf(m | -1, s), normal_lpdf(m | 2, 0.5)); y ~ normal(m, s); }",
        r#"{"N": 4}"#,
    ),
    (
        "mixture of vectors, collected",
        "data { int N; int K; array[N] vector[2] y; } parameters { simplex[K] w; array[K] vector[2] m; real<lower=0> s; }
         model { vector[K] lw = log(w); w ~ dirichlet(rep_vector(3, K)); s ~ gamma(5, 5); for (k in 1:K) m[k] ~ normal(0, 1.5);
                 for (n in 1:N) { vector[K] lp = lw; for (k in 1:K) lp[k] += normal_lpdf(y[n] | m[k], s); target += log_sum_exp(lp); } }",
        r#"{"N": 3, "K": 3}"#,
    ),
    (
        "matrices of correlations and covariances",
        "data { int N; array[N] vector[2] y; } parameters { vector[2] m; cholesky_factor_corr[2] L; vector<lower=0>[2] s; corr_matrix[3] R; cov_matrix[2] S; }
         model { L ~ lkj_corr_cholesky(3); s ~ gamma(4, 4); R ~ lkj_corr(2); S ~ inv_wishart(8, [[4, 1], [1, 3]]);
                 m ~ multi_normal([0, 0]', S); y ~ multi_normal_cholesky(m, diag_pre_multiply(s, L)); }",
        r#"{"N": 2}"#,
    ),
    (
        "uniform by declaration",
        "data { int N; vector[N] y; } parameters { real<lower=-1, upper=2> a; simplex[3] t; corr_matrix[2] R; cholesky_factor_corr[3] L; unit_vector[2] u; }
         model { y ~ normal(a + t[1] + R[1, 2] + L[3, 1] + u[1], 1); }",
        r#"{"N": 3}"#,
    ),
    (
        "images of parameters and of data",
        "data { int N; vector<lower=0>[N] y; vector[N] r; } transformed data { vector[N] ly = log(y); }
         parameters { vector[2] a; row_vector[2] b; real m; real<lower=0> s; real c; }
         transformed parameters { vector[2] a2 = a + m; }
         model { m ~ normal(0, 1); s ~ gamma(4, 4); a2 ~ normal(1, s); b' ~ normal(0, 1); 2 * c - 1 ~ normal(m, 1);
                 ly ~ normal(m + sum(a), s); r - m ~ normal(b[1] + c, s); }",
        r#"{"N": 2}"#,
    ),
    (
        "normalisers and constants written out",
        "data { int N; vector[N] y; } parameters { real m; real<lower=0> s; real<lower=0> u; }
         model { target += normal_lpdf(m | 0, 1) + student_t_lpdf(s | 9, 0.2, 1) - 1 * student_t_lccdf(0 | 9, 0.2, 1);
                 target += normal_lpdf(u | m, s) - normal_lccdf(0 | m, s); target += normal_lpdf(y | m, s); target += -3.0; }",
        r#"{"N": 3}"#,
    ),
    (
        "an outcome that decides about others",
        "data { int N; array[N] int<lower=0, upper=1> d; vector[N] y; } parameters { real<lower=0, upper=1> p; real a; }
         model { p ~ beta(2, 2); a ~ normal(0, 1); d ~ bernoulli(p);
                 for (n in 1:N) { if (d[n] == 1) y[n] ~ normal(a, 1); else y[n] ~ normal(0, 2); } }",
        r#"{"N": 4}"#,
    ),
    (
        "transformed data made from outcomes",
        "data { int T; array[T] int<lower=0, upper=1> y; } transformed data { vector[T] before; before[1] = 0;
         for (t in 2:T) before[t] = before[t - 1] + y[t - 1]; }
         parameters { real a; real b; } model { a ~ normal(0, 1); b ~ normal(0, 0.5); for (t in 1:T) y[t] ~ bernoulli_logit(a + b * before[t]); }",
        r#"{"T": 5}"#,
    ),
];
