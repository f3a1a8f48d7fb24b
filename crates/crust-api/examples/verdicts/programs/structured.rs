//! Survival, mixtures, processes, items and likelihoods by hand.

use super::{Case, bernoulli, choice, normals, stream};
use serde_json::json;

#[expect(clippy::too_many_lines, reason = "a list of programs")]
pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "survival, censored",
            program: "data { int N; vector<lower=0>[N] t; array[N] int<lower=0, upper=1> seen; }
                parameters { real<lower=0> rate; }
                model { rate ~ gamma(1, 1);
                  for (n in 1:N) { if (seen[n]) t[n] ~ exponential(rate); else target += exponential_lccdf(t[n] | rate); } }",
            data: |d| {
                let s = &mut stream(d);
                let all: Vec<f64> = (0..60).map(|_| -s.uniform().ln() / 0.5).collect();
                let t: Vec<f64> = all.iter().map(|t| t.min(3.0)).collect();
                let seen: Vec<u8> = all.iter().map(|t| u8::from(*t < 3.0)).collect();
                json!({"N": 60, "t": t, "seen": seen})
            },
        },
        Case {
            name: "Weibull, censored",
            program: "data { int N_obs; int N_cen; vector[N_obs] t_obs; vector[N_cen] t_cen; vector[N_obs] x_obs; vector[N_cen] x_cen; }
                parameters { real<lower=0> alpha; real b0; real b1; }
                model { alpha ~ exponential(1); b0 ~ normal(0, 5); b1 ~ normal(0, 2.5);
                  t_obs ~ weibull(alpha, exp(-(b0 + b1 * x_obs) / alpha));
                  target += weibull_lccdf(t_cen | alpha, exp(-(b0 + b1 * x_cen) / alpha)); }",
            data: |d| {
                let s = &mut stream(d);
                let all: Vec<(f64, f64)> = (0..80).map(|_| {
                    let x = s.standard_normal();
                    ((-s.uniform().ln()).powf(1.0 / 1.5) * (-(-0.5 + 0.6 * x) / 1.5_f64).exp(), x)
                }).collect();
                let (seen, lost): (Vec<_>, Vec<_>) = all.into_iter().partition(|(t, _)| *t < 2.0);
                json!({"N_obs": seen.len(), "N_cen": lost.len(), "t_obs": seen.iter().map(|s| s.0).collect::<Vec<_>>(),
                    "x_obs": seen.iter().map(|s| s.1).collect::<Vec<_>>(), "t_cen": vec![2.0; lost.len()],
                    "x_cen": lost.iter().map(|s| s.1).collect::<Vec<_>>()})
            },
        },
        Case {
            name: "mixture, ordered",
            program: "data { int N; vector[N] y; }
                parameters { ordered[2] mu; array[2] real<lower=0> sigma; real<lower=0, upper=1> theta; }
                model { sigma ~ normal(0, 2); mu ~ normal(0, 2); theta ~ beta(5, 5);
                  for (n in 1:N) target += log_mix(theta, normal_lpdf(y[n] | mu[1], sigma[1]), normal_lpdf(y[n] | mu[2], sigma[2])); }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> = (0..120).map(|_| if s.uniform() < 0.4 { -2.0 } else { 1.5 } + 0.8 * s.standard_normal()).collect();
                json!({"N": 120, "y": y})
            },
        },
        Case {
            name: "Gaussian process",
            program: "data { int N; array[N] real x; vector[N] y; } transformed data { vector[N] mu = rep_vector(0, N); }
                parameters { real<lower=0> rho; real<lower=0> alpha; real<lower=0> sigma; }
                model { matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho) + diag_matrix(rep_vector(square(sigma), N));
                  matrix[N, N] L = cholesky_decompose(K); rho ~ inv_gamma(5, 5); alpha ~ std_normal(); sigma ~ std_normal();
                  y ~ multi_normal_cholesky(mu, L); }",
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<f64> = (0..25).map(|i| -3.0 + 0.25 * f64::from(i)).collect();
                let (a, b) = (s.standard_normal(), s.standard_normal());
                let y: Vec<f64> = x.iter().map(|x| 0.8 * (a * x.sin() + b * x.cos()) + 0.4 * s.standard_normal()).collect();
                json!({"N": 25, "x": x, "y": y})
            },
        },
        Case {
            name: "correlated outcomes",
            program: "data { int N; array[N] vector[3] y; } parameters { vector[3] mu; vector<lower=0>[3] sd; corr_matrix[3] R; }
                model { mu ~ normal(0, 5); sd ~ cauchy(0, 2.5); R ~ lkj_corr(2); y ~ multi_normal(mu, quad_form_diag(R, sd)); }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<[f64; 3]> = (0..60).map(|_| {
                    let z = normals(3, s);
                    [1.0 + z[0], 0.6 * z[0] + 0.8 * z[1], -1.0 + 1.5 * z[2] - 0.5 * z[0]]
                }).collect();
                json!({"N": 60, "y": y})
            },
        },
        Case {
            name: "choices, softmax",
            program: "data { int K; int N; int D; array[N] int<lower=1, upper=K> y; matrix[N, D] x; } parameters { matrix[D, K] beta; }
                model { matrix[N, K] eta = x * beta; to_vector(beta) ~ normal(0, 2); for (n in 1:N) y[n] ~ categorical_logit(eta[n]'); }",
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<Vec<f64>> = (0..100).map(|_| { let mut x = normals(2, s); x.insert(0, 1.0); x }).collect();
                let y: Vec<usize> = x.iter().map(|x| {
                    let w = [1.0, (0.5 + x[1]).exp(), (-0.5 + 0.8 * x[2]).exp()];
                    let sum: f64 = w.iter().sum();
                    choice(&w.map(|w| w / sum), s)
                }).collect();
                json!({"K": 3, "N": 100, "D": 3, "y": y, "x": x})
            },
        },
        Case {
            name: "growth curve",
            program: "data { int N; vector[N] x; vector[N] Y; }
                parameters { real alpha; real beta; real<lower=.5, upper=1> lambda; real<lower=0> tau; }
                transformed parameters { real sigma = 1 / sqrt(tau); real U3 = logit(lambda); }
                model { vector[N] m; for (i in 1:N) m[i] = alpha - beta * pow(lambda, x[i]); Y ~ normal(m, sigma);
                  alpha ~ normal(0.0, 1000); beta ~ normal(0.0, 1000); lambda ~ uniform(.5, 1); tau ~ gamma(.0001, .0001); }",
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<f64> = (0..27).map(|i| 1.0 + f64::from(i)).collect();
                let y: Vec<f64> = x.iter().map(|x| 2.6 - 0.97 * 0.87_f64.powf(*x) + 0.1 * s.standard_normal()).collect();
                json!({"N": 27, "x": x, "Y": y})
            },
        },
        Case {
            name: "two-parameter items",
            program: "data { int I; int J; int N; array[N] int ii; array[N] int jj; array[N] int<lower=0, upper=1> y; }
                parameters { vector<lower=0>[I] alpha; vector[I] beta; vector[J] theta; }
                model { alpha ~ lognormal(0, 0.5); beta ~ normal(0, 2); theta ~ std_normal();
                  y ~ bernoulli_logit(alpha[ii] .* (theta[jj] - beta[ii])); }",
            data: |d| {
                let s = &mut stream(d);
                let (theta, beta) = (normals(20, s), normals(5, s));
                let (ii, jj): (Vec<_>, Vec<_>) = ((0..100).map(|n| n % 5 + 1).collect(), (0..100).map(|n| n / 5 + 1).collect());
                let y: Vec<u8> = (0..100).map(|n| bernoulli(1.2 * (theta[n / 5] - beta[n % 5]), s)).collect();
                json!({"I": 5, "J": 20, "N": 100, "ii": ii, "jj": jj, "y": y})
            },
        },
        Case {
            name: "captured again",
            program: "data { int M; int T; array[M, T] int<lower=0, upper=1> y; } transformed data { array[M] int s; int C = 0;
                  for (i in 1:M) { s[i] = sum(y[i]); if (s[i] > 0) C += 1; } }
                parameters { real<lower=0, upper=1> omega; real<lower=0, upper=1> p; }
                model { for (i in 1:M) { if (s[i] > 0) target += bernoulli_lpmf(1 | omega) + binomial_lpmf(s[i] | T, p);
                  else target += log_sum_exp(bernoulli_lpmf(1 | omega) + binomial_lpmf(0 | T, p), bernoulli_lpmf(0 | omega)); } }",
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<Vec<u8>> = (0..100).map(|_| {
                    let here = s.uniform() < 0.6;
                    (0..5).map(|_| u8::from(s.uniform() < 0.4 && here)).collect()
                }).collect();
                json!({"M": 100, "T": 5, "y": y})
            },
        },
    ]
}
