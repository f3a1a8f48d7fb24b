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

/// The forward algorithm against the sum over all paths of a hidden chain.
#[test]
fn the_forward_algorithm_swaps_buffers() {
    let program = "
        data { int T; vector[T] y; }
        parameters { vector<lower=0, upper=1>[2] stay; vector[2] mu; }
        model {
          array[2] vector[2] A = {[stay[1], 1 - stay[1]]', [1 - stay[2], stay[2]]'};
          array[2] real acc;
          array[T, 2] real gamma;
          vector[2] before;
          vector[2] now;
          for (k in 1:2) { gamma[1, k] = normal_lpdf(y[1] | mu[k], 1); before[k] = gamma[1, k]; }
          for (t in 2:T) {
            for (k in 1:2) {
              for (j in 1:2) acc[j] = gamma[t - 1, j] + log(A[j, k]) + normal_lpdf(y[t] | mu[k], 1);
              gamma[t, k] = log_sum_exp(acc);
              now[k] = log_sum_exp(before + log([A[1][k], A[2][k]]')) + normal_lpdf(y[t] | mu[k], 1);
            }
            before = now;
          }
          target += log_sum_exp(gamma[T]) + 2 * log_sum_exp(before);
        }";
    let y = [0.2, 1.1, -0.5, 0.8];
    check_value(program, &format!("{{\"T\": 4, \"y\": {y:?}}}"), |p| {
        let stay = [0, 1].map(|k| 1.0 / (1.0 + (-p[k]).exp()));
        let paths: Vec<f64> = (0..16_usize)
            .map(|path| {
                let state = |t: usize| path >> t & 1;
                let emitted: f64 = (0..4).map(|t| normal(y[t], p[2 + state(t)], 1.0)).sum();
                let moves = (1..4).map(|t| {
                    let from = state(t - 1);
                    if state(t) == from { stay[from].ln() } else { (1.0 - stay[from]).ln() }
                });
                emitted + moves.sum::<f64>()
            })
            .collect();
        3.0 * log_sum_exp(&paths) + stay.iter().map(|s| (s * (1.0 - s)).ln()).sum::<f64>()
    });
}

#[test]
fn matrices_are_read_and_written_in_parts() {
    let program = "
        data { array[3] int pick; }
        parameters { matrix[3, 4] m; vector[3] v; }
        model {
          matrix[3, 4] w = m;
          w[2] = m[1] * 2;
          w[:, 3] = v;
          w[1, 2:3] += [1, v[1]];
          w[pick, 4] = v .* v;
          w[2:3, 1:2] = m[1:2, 2:3];
          target += -sum(square(to_vector(w)));
          target += w[pick[1], pick[2]] * m[3, 1] + sum(w[pick][:, 1]) + dot_product(row(w, 1), col(m, 2)[1] * m[3]);
          target += -dot_self(block(w, 2, 2, 2, 2) * v[1:2]) + sub_row(m, 1, 2, 3) * v;
        }";
    check_value(program, r#"{"pick": [3, 1, 2]}"#, |p| {
        // Matrices lie by columns.
        let m = |i: usize, j: usize| p[(i - 1) + 3 * (j - 1)];
        let v = |i: usize| p[12 + i - 1];
        let mut w = [[0.0; 5]; 4];
        for i in 1..=3 {
            for j in 1..=4 {
                w[i][j] = m(i, j);
            }
        }
        for j in 1..=4 {
            w[2][j] = 2.0 * m(1, j);
        }
        for i in 1..=3 {
            w[i][3] = v(i);
        }
        w[1][2] += 1.0;
        w[1][3] += v(1);
        for (k, i) in [3, 1, 2].into_iter().enumerate() {
            w[i][4] = v(k + 1) * v(k + 1);
        }
        for i in 2..=3 {
            for j in 1..=2 {
                w[i][j] = m(i - 1, j + 1);
            }
        }
        let mut sum = -w.iter().flatten().map(|x| x * x).sum::<f64>();
        sum += w[3][1] * m(3, 1) + (1..=3).map(|i| w[i][1]).sum::<f64>();
        sum += (1..=4).map(|j| w[1][j] * m(1, 2) * m(3, j)).sum::<f64>();
        for i in 2..=3 {
            sum -= (w[i][2] * v(1) + w[i][3] * v(2)).powi(2);
        }
        sum + (1..=3).map(|i| m(1, i + 1) * v(i)).sum::<f64>()
    });
}

#[test]
fn a_value_is_copied_not_shared() {
    let program = "
        functions { vector changed(vector x) { vector[2] y = x; y[1] = 0; return y; } }
        parameters { vector[2] a; }
        model {
          vector[2] b = a;
          vector[2] c = b;
          b[1] = 7 * a[2];
          array[2] vector[2] rows = {b, c};
          rows[1] = rows[2];
          rows[2, 1] = 5 * a[1];
          b = changed(c);
          c[1:2] = c[{2, 1}];
          target += c[1] * a[1] + b[2] * 2 - square(b[1]) + 3 * rows[1, 1] * rows[2, 1] - dot_self(rows[1]) - a[2]^4;
        }";
    check_value(program, "{}", |a| {
        a[1] * a[0] + 2.0 * a[1] + 15.0 * a[0] * a[0] - (a[0] * a[0] + a[1] * a[1]) - a[1].powi(4)
    });
}

#[test]
fn arrays_of_vectors_and_tuples() {
    let program = "
        functions {
          tuple(real, vector) both(vector x) { return (sum(x), x * 2); }
        }
        data { tuple(int, real) d; array[2] tuple(vector[2], int) rows; }
        parameters { array[2, 2] vector[2] v; tuple(real, vector[2]) t; }
        model {
          array[2] vector[2] first = v[:, 1];
          tuple(real, vector[2]) pair = both(t.2);
          pair.2[1] += t.1;
          target += -square(pair.1) - dot_self(pair.2) * d.2 + d.1 * t.1;
          for (i in 1:2) target += -dot_self(rows[i].1 - first[i]) * rows[i].2 - dot_product(v[i, 2], v[2, i]);
          real s; vector[2] w;
          (s, w) = both(v[2, 2]);
          target += sin(s) + w[2] * w[1];
        }";
    let data = r#"{"d": {"1": 2, "2": 0.5},
        "rows": [{"1": [0.5, 1.0], "2": 2}, {"1": [-1.0, 0.3], "2": 3}]}"#;
    check_value(program, data, |p| {
        // Arrays lie with the last index fastest.
        let v = |i: usize, j: usize| [p[4 * (i - 1) + 2 * (j - 1)], p[4 * (i - 1) + 2 * (j - 1) + 1]];
        let (t1, t2) = (p[8], [p[9], p[10]]);
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let pair = [2.0 * t2[0] + t1, 2.0 * t2[1]];
        let mut sum = -(t2[0] + t2[1]).powi(2) - 0.5 * dot(pair, pair) + 2.0 * t1;
        for (i, (row, n)) in [([0.5, 1.0], 2.0), ([-1.0, 0.3], 3.0)].into_iter().enumerate() {
            let first = v(i + 1, 1);
            let gap = [row[0] - first[0], row[1] - first[1]];
            sum -= n * dot(gap, gap) + dot(v(i + 1, 2), v(2, i + 1));
        }
        let last = v(2, 2);
        sum + (last[0] + last[1]).sin() + 4.0 * last[0] * last[1]
    });
}

#[test]
fn generated_quantities_see_transformed_parameters() {
    let program = "
        data { int N; vector[N] x; }
        parameters { real a; real<lower=0> s; }
        transformed parameters { vector[N] mu = a + s * x; real twice; twice = 2 * a; }
        model { mu ~ normal(0, 1); }
        generated quantities {
          matrix[2, 2] m = [[a, s], [mu[1], mu[2]]];
          array[2] int signs;
          for (n in 1:2) signs[n] = mu[n] > 0 ? 1 : -1;
          real total = 0;
          { real inner = 3; total += inner * twice; }
        }";
    let (model, points) = check(program, r#"{"N": 2, "x": [0.5, -2.0]}"#);
    for p in &points {
        let (a, s) = (p[0], p[1].exp());
        let mu = [a + s * 0.5, a - 2.0 * s];
        let sign = mu.map(f64::signum);
        let expected = [a, s, mu[0], mu[1], 2.0 * a, a, mu[0], s, mu[1], sign[0], sign[1], 6.0 * a];
        let names = [
            "a", "s", "mu[1]", "mu[2]", "twice", "m[1,1]", "m[2,1]", "m[1,2]", "m[2,2]", "signs[1]", "signs[2]",
            "total",
        ];
        for ((name, number), (n, e)) in quantities(&model, p).into_iter().zip(names.into_iter().zip(expected)) {
            assert_eq!(name, n);
            assert!(agree(number, e, 1e-14), "{name}: {number} is not {e}");
        }
    }
}

/// Functions that give several containers at once, and operators in words.
#[test]
fn parts_of_sparse_matrices_and_words_for_operators() {
    let program = "
        data { matrix[2, 3] x; }
        parameters { vector[3] b; }
        model {
          tuple(vector[3], array[3] int, array[3] int) s = csr_extract(x);
          target += -sum(square(csr_matrix_times_vector(2, 3, s.1, s.2, s.3, b))) - modulus(7, 4) * dot_self(b);
        }";
    check_value(program, r#"{"x": [[2, 0, -1], [0, 3, 0]]}"#, |b| {
        let product = [2.0 * b[0] - b[2], 3.0 * b[1]];
        -product.iter().map(|x| x * x).sum::<f64>() - 3.0 * b.iter().map(|x| x * x).sum::<f64>()
    });
}
