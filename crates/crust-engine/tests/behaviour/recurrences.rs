//! Loops that look at what earlier iterations have assigned: compiled where every element is assigned once and looked
//! at later, and the same numbers either way.

use crate::common::{bind, evaluate};
use crate::harness::NORMALISED;
use crate::loops::check_flat;

#[test]
fn volatility_and_moving_averages() {
    check_flat(
        "parameters { real m; real<lower=0> a; real<lower=0, upper=1> b; real<lower=0> d; }
         model { array[N] real s; s[1] = 0.7; for (t in 2:N) s[t] = sqrt(a + b * square(y[t - 1] - m) + d * square(s[t - 1])); y ~ normal(m, s); }",
        1,
    );
    // Two variables that look at each other, one of them also before the loop: what it held there is needed on the way
    // back.
    check_flat(
        "parameters { real m; real p; real q; real<lower=0> s; }
         model { vector[N] nu; vector[N] e; nu[1] = exp(0.3 * m) + p; e[1] = y[1] - 0.1 * square(nu[1]) * nu[1];
                 for (t in 2:N) { nu[t] = m + p * y[t - 1] + 0.2 * q * e[t - 1]; e[t] = y[t] - nu[t]; } e ~ normal(0, s); target += -dot_self(nu); }",
        1,
    );
    // The whole variable has a value that matters before the loop changes most of it.
    check_flat(
        "parameters { vector[N] h; real p; }
         model { vector[N] z = h; target += -0.1 * square(z[3]) * z[4]; for (t in 3:N) z[t] = 0.1 * p * z[t - 1] - 0.2 * z[t - 2] + sin(h[t]); z ~ normal(0, 3); h ~ normal(0, 1); }",
        1,
    );
}

#[test]
fn hidden_markov_models() {
    check_flat(
        "parameters { array[K] simplex[K] theta; vector[K] m; }
         model { array[K] real acc; array[N, K] real gamma;
                 for (k in 1:K) gamma[1, k] = normal_lpdf(y[1] | m[k], 3);
                 for (t in 2:N) for (k in 1:K) { for (j in 1:K) acc[j] = gamma[t - 1, j] + log(theta[j, k]) + normal_lpdf(y[t] | m[k], 3); gamma[t, k] = log_sum_exp(acc); }
                 target += log_sum_exp(gamma[N]); }",
        2,
    );
    // More than one statement around the inner loops, which are unrolled.
    check_flat(
        "parameters { vector[K] m; real<lower=0> r; vector[K] w; }
         model { array[N] vector[K] f; vector[N] total; for (k in 1:K) f[1][k] = m[k];
                 total[1] = 0;
                 for (t in 2:N) { real shift = 0.02 * total[t - 1] / r; for (k in 1:K) f[t][k] = exponential_lpdf(abs(y[t]) | r) + 0.5 * f[t - 1][k] + w[k] * shift;
                                  total[t] = log_sum_exp(f[t]); }
                 target += sum(total); }",
        1,
    );
}

#[test]
fn nests_and_directions() {
    // A list of series, each with its own lags; positions from data.
    check_flat(
        "parameters { vector[K] a; real<lower=0> s; }
         model { matrix[K, N] h; for (k in 1:K) h[k, 1] = a[k]; for (t in 2:N) for (k in 1:K) h[k, t] = 0.3 * h[k, t - 1] + 0.1 * h[1 + g[t] % K, t - 1] * a[k] + x[t, k];
                 to_vector(h) ~ normal(0, s); }",
        2,
    );
    // From the end to the beginning.
    check_flat(
        "parameters { real a; real b; }
         model { vector[N] v; v[N] = a; for (i in 1:(N - 1)) v[N - i] = 0.2 * a * v[N - i + 1] + b * y[i]; y ~ normal(v, 1); }",
        1,
    );
}

/// In `transformed data`, where there are no lanes, what a recurrence computes is data.
#[test]
fn recurrences_of_data_are_data() {
    check_flat(
        "transformed data { array[N] int h; vector[N] w; h[1] = 1; w[1] = 0; for (t in 2:N) { h[t] = 1 + (h[t - 1] + n[t]) % K; w[t] = 0.5 * w[t - 1] + y[t]; } }
         parameters { vector[K] a; } model { for (i in 1:N) y[i] ~ normal(a[h[i]] * w[i], 1); }",
        1,
    );
}

/// What cannot be gone back over is left to the machine.
#[test]
fn what_has_no_past_is_not_compiled() {
    for body in [
        // Assigned twice, or in each iteration.
        "vector[N] v = rep_vector(a, N); for (t in 2:N) { v[t] = 0.2 * v[t - 1] * b; v[t] = v[t] + y[t]; } y ~ normal(v, 1);",
        "vector[2] v = [a, b]'; for (t in 2:N) v[1] += v[2] * y[t] / 9; v ~ normal(0, 1);",
        // Looked at before it is assigned.
        "vector[N] v = a * y; for (t in 2:N) v[t] = 0.1 * v[t] * v[t - 1] + b; y ~ normal(v, 1);",
        "vector[N] v = a * y; for (t in 2:(N - 1)) v[t] = 0.1 * v[t + 1] * v[t - 1] + b; y ~ normal(v, 1);",
        // Looked at as a whole.
        "vector[N] v = rep_vector(a, N); for (t in 2:N) v[t] = b + 0.1 * sum(v) / N; y ~ normal(v, 1);",
        "vector[N] v = rep_vector(a, N); for (t in 2:N) v[t] = b + mean(exp(0.01 * v)); y ~ normal(v, 1);",
        // Terms of the log density between the iterations.
        "vector[N] v = rep_vector(a, N); for (t in 2:N) { v[t] = 0.2 * b * v[t - 1]; y[t] ~ normal(v[t], 1); }",
        // Branches that depend on parameters.
        "vector[N] v = rep_vector(a, N); for (t in 2:N) { if (v[t - 1] > 0) v[t] = b; else v[t] = a * y[t]; } y ~ normal(v, 1);",
    ] {
        check_flat(&format!("parameters {{ real a; real b; }} model {{ {body} }}"), 0);
    }
}

/// A lane whose values are not numbers is looked at again by the machine, and the others do not notice.
#[test]
fn lanes_without_values_do_not_disturb_others() {
    let program = "data { int N; vector[N] y; } parameters { real a; }
        model { vector[N] s; s[1] = 1; for (t in 2:N) s[t] = sqrt(a + 0.5 * square(s[t - 1])); y ~ normal(0, s); }";
    let data = r#"{"N": 5, "y": [1, -2, 0.5, 0.1, 3]}"#;
    let model = bind(program, data);
    let points: Vec<Vec<f64>> = (0..8).map(|l| vec![if l == 3 { -2.0 } else { 0.1 + f64::from(l) }]).collect();
    let found = evaluate(&mut model.evaluator(), &points, None, NORMALISED);
    let finite: Vec<bool> = (0..8).map(|l| found.log_density(l).is_finite()).collect();
    assert_eq!(finite, (0..8).map(|l| l != 3).collect::<Vec<_>>());
}
