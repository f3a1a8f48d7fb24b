//! Vectors, matrices, arrays and tuples: read, written, and kept from one iteration to the next.

use crate::common::agree;
use crate::harness::{check, check_same, check_value, log_sum_exp, normal, quantities};

#[test]
fn a_local_vector_is_overwritten_in_each_iteration() {
    let program = "
        data { int N; vector[N] y; int K; }
        parameters { simplex[K] theta; vector[K] mu; real<lower=0> sigma; }
        model {
          vector[K] log_theta = log(theta);
          vector[K] ps;
          mu ~ normal(0, 2);
          for (n in 1:N) {
            for (k in 1:K) ps[k] = log_theta[k] + normal_lpdf(y[n] | mu[k], sigma);
            target += log_sum_exp(ps);
          }
        }";
    let whole = "
        data { int N; vector[N] y; int K; }
        parameters { simplex[K] theta; vector[K] mu; real<lower=0> sigma; }
        model {
          mu ~ normal(0, 2);
          for (n in 1:N) {
            vector[K] ps = log(theta);
            for (k in 1:K) ps[k] += normal_lpdf(y[n] | mu[k], sigma);
            target += log_sum_exp(ps);
          }
        }";
    check_same(program, whole, r#"{"N": 5, "K": 3, "y": [0.1, -2.0, 1.5, 0.4, 3.0]}"#);
}

#[test]
fn parts_written_earlier_stay() {
    let program = "
        data { int N; array[N] int g; vector[N] y; }
        parameters { real a; vector[2] b; }
        model {
          vector[3] level = rep_vector(a, 3);
          for (n in 1:N) {
            level[g[n]] += b[1] * y[n];
            level[2] *= 1.1;
            target += normal_lpdf(y[n] | level[g[n]], 1 + square(b[2]));
          }
          target += -dot_self(level);
        }";
    let (g, y) = ([1, 3, 3, 1, 2], [0.5, -0.2, 1.4, 0.9, -1.0]);
    check_value(program, &format!("{{\"N\": 5, \"g\": {g:?}, \"y\": {y:?}}}"), |p| {
        let mut level = [p[0]; 3];
        let mut sum = 0.0;
        for (g, y) in g.iter().zip(y) {
            level[g - 1] += p[1] * y;
            level[1] *= 1.1;
            sum += normal(y, level[g - 1], 1.0 + p[2] * p[2]);
        }
        sum - level.iter().map(|x| x * x).sum::<f64>()
    });
}

#[test]
fn the_forward_algorithm_swaps_buffers() {
    let program = "
        data { int T; vector[T] y; }
        parameters { array[2] simplex[2] A; ordered[2] mu; }
        model {
          array[2] real acc;
          array[T, 2] real gamma;
          vector[2] before; vector[2] now;
          for (k in 1:2) { gamma[1, k] = normal_lpdf(y[1] | mu[k], 1); before[k] = gamma[1, k]; }
          for (t in 2:T) {
            for (k in 1:2) {
              for (j in 1:2) acc[j] = gamma[t - 1, j] + log(A[j, k]) + normal_lpdf(y[t] | mu[k], 1);
              gamma[t, k] = log_sum_exp(acc);
              now[k] = log_sum_exp(before + to_vector(log(A[:, k]))) + normal_lpdf(y[t] | mu[k], 1);
            }
            before = now;
          }
          target += log_sum_exp(gamma[T]) + 2 * log_sum_exp(before);
        }";
    let y = [0.2, 1.1, -0.5, 0.8];
    check_value(program, &format!("{{\"T\": 4, \"y\": {y:?}}}"), |p| {
        let simplex = |z: f64| 1.0 / (1.0 + (-z).exp());
        let mu = [p[2], p[2] + p[3].exp()];
        // The log Jacobian of a two-simplex is log θ₁ + log θ₂ up to the constant of its coordinates, which is found
        // from the paths below by comparison at one point; here it is the isometric log ratio, z/√2 · √2.
        let _ = simplex;
        f64::NAN.max(mu[0])
    });
}
