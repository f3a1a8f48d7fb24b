//! Branches, loops and functions.

use crate::harness::{check, check_both, check_same, check_value, log_sum_exp, normal, quantities};

#[test]
fn lanes_take_different_branches() {
    let program = "
        parameters { real a; real b; }
        model {
          real s = 0;
          if (a > 0.2) { s += a^2; } else if (b > 0.3) { s -= exp(a) * b; } else s = sin(a * b);
          target += s;
          real c = a > b ? a * b : -a;
          real x = 1 + b^2;
          while (x < 10) { x *= 1.5 + a^2; target += 0.01 * x; }
          a ~ normal(0, 1);
          b ~ normal(c, 2);
        }";
    check_value(program, "{}", |x| {
        let (a, b) = (x[0], x[1]);
        let s = if a > 0.2 {
            a * a
        } else if b > 0.3 {
            -a.exp() * b
        } else {
            (a * b).sin()
        };
        let c = if a > b { a * b } else { -a };
        let mut x = 1.0 + b * b;
        let mut sum = 0.0;
        while x < 10.0 {
            x *= 1.5 + a * a;
            sum += 0.01 * x;
        }
        s + sum + normal(a, 0.0, 1.0) + normal(b, c, 2.0)
    });
}

#[test]
fn branches_nest_and_assign_outer_variables() {
    let program = "
        parameters { vector[3] a; }
        transformed parameters {
          vector[3] b = a;
          for (i in 1:3) {
            if (a[i] > 0) {
              if (a[i] > 0.5) b[i] = 2 * a[i];
              else { b[i] = a[i]^3; b[1] += a[i]; }
            } else if (a[1] > a[2] && a[3] < 0) b[i] -= a[1] * a[2];
          }
        }
        model { b ~ normal(0, 1); a ~ normal(0, 3); if (!(sum(b) > 0 || b[1] > 0)) target += b[2]; }";
    check_value(program, "{}", |a| {
        let mut b = a.to_vec();
        for i in 0..3 {
            if a[i] > 0.0 {
                if a[i] > 0.5 {
                    b[i] = 2.0 * a[i];
                } else {
                    b[i] = a[i].powi(3);
                    b[0] += a[i];
                }
            } else if a[0] > a[1] && a[2] < 0.0 {
                b[i] -= a[0] * a[1];
            }
        }
        let extra = if b.iter().sum::<f64>() > 0.0 || b[0] > 0.0 { 0.0 } else { b[1] };
        extra + (0..3).map(|i| normal(b[i], 0.0, 1.0) + normal(a[i], 0.0, 3.0)).sum::<f64>()
    });
}

#[test]
fn iterations_branch_on_data() {
    let program = "
        data { int N; array[N] int<lower=0> y; vector[N] x; }
        parameters { real<lower=0, upper=1> theta; real alpha; real beta; }
        model {
          theta ~ beta(2, 3); alpha ~ normal(0, 1); beta ~ normal(0, 1);
          for (n in 1:N) {
            real eta = alpha + beta * x[n];
            if (y[n] == 0)
              target += log_sum_exp(log(theta), log1m(theta) + poisson_log_lpmf(0 | eta));
            else
              target += log1m(theta) + poisson_log_lpmf(y[n] | eta);
          }
        }";
    let (y, x) = ([0, 3, 0, 1, 5, 0, 2], [0.1, 0.9, -0.4, 0.3, 1.2, -1.0, 0.0]);
    let data = format!("{{\"N\": 7, \"y\": {y:?}, \"x\": {x:?}}}");
    check_value(program, &data, |p| {
        let theta = 1.0 / (1.0 + (-p[0]).exp());
        let mut sum = theta.ln() + (1.0 - theta).ln() + normal(p[1], 0.0, 1.0) + normal(p[2], 0.0, 1.0);
        // The constant of beta(2, 3) is B(2, 3) = 1/12.
        sum += theta.ln() + 2.0 * (1.0 - theta).ln() + 12.0_f64.ln();
        for (y, x) in y.iter().zip(x) {
            let eta = p[1] + p[2] * x;
            let factorial = (1..=*y).map(|k| f64::from(k).ln()).sum::<f64>();
            let count = f64::from(*y) * eta - eta.exp() - factorial;
            let present = (1.0 - theta).ln() + count;
            sum += if *y == 0 { log_sum_exp(&[theta.ln(), present]) } else { present };
        }
        sum
    });
}

#[test]
fn arrays_of_indices_that_depend_on_parameters() {
    let program = "
        parameters { vector[4] u; }
        model {
          array[4] int order = sort_indices_asc(u);
          array[2] int two = {u[1] > 0 ? 1 : 2, 3};
          vector[4] v = u;
          v[two] = [exp(u[4]), 2 * u[2]]';
          target += dot_product(u[order], [0.1, 0.2, 0.3, 0.4]') + sum(u[rep_array(1 + (u[2] > 0), 3)]);
          u[two] ~ normal(0, 2);
          v ~ std_normal();
        }";
    check_value(program, "{}", |u| {
        let mut sorted = u.to_vec();
        sorted.sort_by(f64::total_cmp);
        let first = usize::from(u[0] <= 0.0);
        let mut v = u.to_vec();
        (v[first], v[2]) = (u[3].exp(), 2.0 * u[1]);
        let weighted: f64 = sorted.iter().zip([0.1, 0.2, 0.3, 0.4]).map(|(x, w)| x * w).sum();
        let picked = normal(u[first], 0.0, 2.0) + normal(u[2], 0.0, 2.0);
        weighted + 3.0 * u[usize::from(u[1] > 0.0)] + picked + v.iter().map(|v| normal(*v, 0.0, 1.0)).sum::<f64>()
    });
}

#[test]
fn ragged_loops() {
    let data = r#"{"N": 3, "T": 7, "start": [1, 4, 5], "size": [3, 1, 3], "y": [0.3, -0.2, 1.1, 0.7, -1.0, 0.4, 0.9]}"#;
    let head = "
        data { int N; int T; array[N] int start; array[N] int size; vector[T] y; }
        parameters { vector[N] mu; real<lower=0> sigma; }";
    let loops = "
        model {
          mu ~ normal(0, 1); sigma ~ exponential(1);
          for (n in 1:N) for (t in start[n]:(start[n] + size[n] - 1)) y[t] ~ normal(mu[n], sigma);
        }";
    let segments = "
        model {
          mu ~ normal(0, 1); sigma ~ exponential(1);
          for (n in 1:N) segment(y, start[n], size[n]) ~ normal(mu[n], sigma);
        }";
    let ranges = "
        model {
          int at = 1;
          mu ~ normal(0, 1); sigma ~ exponential(1);
          for (n in 1:N) { y[at : at + size[n] - 1] ~ normal(mu[n], sigma); at += size[n]; }
        }";
    check_same(&format!("{head}{loops}"), &format!("{head}{segments}"), data);
    check_same(&format!("{head}{loops}"), &format!("{head}{ranges}"), data);
}

#[test]
fn recursion_and_early_return() {
    let program = "
        functions {
          real power(real x, int n);
          real power(real x, int n) {
            if (n == 0) return 1;
            if (n % 2 == 1) return x * power(x, n - 1);
            real half = power(x, n %/% 2);
            return half * half;
          }
          real shrink(real x, real width) {
            if (x > width) return x - width;
            if (x < -width) { return x + width; }
            return 0;
          }
          real first_above(vector x, real bound) {
            for (i in 1:size(x)) if (x[i] > bound) return i * x[i];
            return -1;
          }
        }
        parameters { vector[3] a; }
        model {
          target += -power(a[1], 6) + 0.1 * power(a[2], 5);
          target += -square(shrink(a[2], 0.4)) + first_above(a, 0.25);
          a ~ std_normal();
        }";
    check_value(program, "{}", |a| {
        let shrunk = if a[1].abs() > 0.4 { a[1].abs() - 0.4 } else { 0.0 };
        let first = (0..3).find(|&i| a[i] > 0.25).map_or(-1.0, |i| (i as f64 + 1.0) * a[i]);
        let prior: f64 = a.iter().map(|a| normal(*a, 0.0, 1.0)).sum();
        -a[0].powi(6) + 0.1 * a[1].powi(5) - shrunk * shrunk + first + prior
    });
}

#[test]
fn break_and_continue() {
    let program = "
        data { int N; vector[N] y; }
        parameters { real mu; real cut; }
        model {
          mu ~ normal(0, 1); cut ~ normal(0, 1);
          for (n in 1:N) {
            if (y[n] > 90) continue;
            if (y[n] < -90) break;
            target += normal_lpdf(y[n] | mu, 1);
          }
          real total = 0;
          int k = 0;
          while (1) {
            k += 1;
            if (k == 3) continue;
            total += square(mu) + 0.1;
            if (total > 2 + cut || k > 20) break;
          }
          target += total * k;
        }";
    let y = [0.5, 99.0, -0.3, -99.0, 7.0];
    check_value(program, &format!("{{\"N\": 5, \"y\": {y:?}}}"), |p| {
        let (mu, cut) = (p[0], p[1]);
        let (mut total, mut k) = (0.0, 0);
        loop {
            k += 1;
            if k == 3 {
                continue;
            }
            total += mu * mu + 0.1;
            if total > 2.0 + cut || k > 20 {
                break;
            }
        }
        let seen = normal(0.5, mu, 1.0) + normal(-0.3, mu, 1.0);
        seen + normal(mu, 0.0, 1.0) + normal(cut, 0.0, 1.0) + total * f64::from(k)
    });
}

#[test]
fn recurrences() {
    let program = "
        data { int T; vector[T] y; }
        parameters { real<lower=-1, upper=1> phi; real<lower=0> a0; real<lower=0, upper=1> a1; }
        model {
          vector[T] sigma;
          real previous = 0;
          sigma[1] = 1;
          for (t in 2:T) sigma[t] = sqrt(a0 + a1 * square(y[t - 1]) + 0.3 * square(sigma[t - 1]));
          for (t in 1:T) { target += normal_lpdf(y[t] | previous, sigma[t]); previous = phi * (y[t] - 0.1 * previous); }
        }";
    let y = [0.4, -0.9, 1.3, 0.2, -0.5, 0.8];
    check_value(program, &format!("{{\"T\": 6, \"y\": {y:?}}}"), |p| {
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        let (u, a0, a1) = (logistic(p[0]), p[1].exp(), logistic(p[2]));
        let phi = 2.0 * u - 1.0;
        let mut sum = (2.0 * u * (1.0 - u)).ln() + p[1] + (a1 * (1.0 - a1)).ln();
        let (mut sigma, mut previous) = (1.0_f64, 0.0);
        for t in 0..6 {
            if t > 0 {
                sigma = (a0 + a1 * y[t - 1] * y[t - 1] + 0.3 * sigma * sigma).sqrt();
            }
            sum += normal(y[t], previous, sigma);
            previous = phi * (y[t] - 0.1 * previous);
        }
        sum
    });
}

#[test]
fn for_each_loops_and_profile_blocks() {
    let program = "
        data { array[3] int k; array[2] vector[2] v; }
        parameters { matrix[2, 2] m; vector[3] a; }
        model {
          profile(\"whole\") {
            for (x in m) target += -square(x);
            real s = 0;
            for (i in k) { s += i * a[i]; }
            profile(\"inner\") { for (w in v) a[1:2] ~ normal(w, 2); }
            target += -square(s);
            for (x in a) target += sin(x);
          }
        }";
    check_value(program, r#"{"k": [3, 1, 3], "v": [[0.5, 1], [-1, 2]]}"#, |p| {
        let (m, a) = p.split_at(4);
        let s = 3.0 * a[2] + a[0] + 3.0 * a[2];
        let prior: f64 =
            [[0.5, 1.0], [-1.0, 2.0]].iter().map(|v| normal(a[0], v[0], 2.0) + normal(a[1], v[1], 2.0)).sum();
        prior - s * s - m.iter().map(|x| x * x).sum::<f64>() + a.iter().map(|x| x.sin()).sum::<f64>()
    });
}

#[test]
fn integers_divide_towards_zero() {
    let program = "
        data { int a; int b; }
        transformed data { int quotient = a %/% b; int rest = a % b; int slash = -a / b; }
        parameters { real x; }
        model { x ~ normal(slash, 1); }
        generated quantities { array[3] int all = {quotient, rest, slash}; real half = a / 2.0; int mixed = -a % b;
          // The integer quotient binds more tightly than the product.
          int nested = b * 3 %/% 2; }";
    let (model, points) = check(program, r#"{"a": -7, "b": 2}"#);
    let numbers: Vec<f64> = quantities(&model, &points[0]).into_iter().map(|q| q.1).skip(1).collect();
    assert_eq!(numbers, [-3.0, -1.0, 3.0, -3.5, 1.0, 2.0]);
}

#[test]
fn functions_with_densities_and_targets() {
    let program = "
        functions {
          real shifted_lpdf(vector y, real mu, real sigma) { return normal_lupdf(y | mu + 1, sigma); }
          real count_lpmf(int y, real lambda) { return poisson_lupmf(y | lambda + 1); }
          void prior_lp(real mu, real sigma) { mu ~ normal(0, 2); target += -sigma; }
          real weighted_lp(real x) { target += x; return 2 * x; }
        }
        data { int N; vector[N] y; int k; }
        parameters { real mu; real<lower=0> sigma; }
        model {
          prior_lp(mu, sigma);
          y ~ shifted(mu, sigma);
          target += shifted_lpdf(y | mu, 3);
          target += shifted_lpdf(y | mu, 2);
          k ~ count(sigma);
          real z = weighted_lp(mu);
          target += z;
        }";
    let y = [0.2, -0.7, 1.4];
    let shared = |p: &[f64]| {
        let (mu, sigma) = (p[0], p[1].exp());
        let sum = |s: f64| y.iter().map(|y| normal(*y, mu + 1.0, s)).sum::<f64>();
        let poisson = 4.0 * (sigma + 1.0).ln() - sigma - 1.0;
        (p[1] + normal(mu, 0.0, 2.0) - sigma + sum(sigma) + sum(3.0) + sum(2.0) + poisson + 3.0 * mu, 24.0_f64.ln())
    };
    let root = crate::harness::LOG_ROOT_TAU;
    check_both(
        program,
        r#"{"N": 3, "y": [0.2, -0.7, 1.4], "k": 4}"#,
        |p| shared(p).0 - shared(p).1,
        // Dropped: the prior's constants, √2π of the sampled vector, the factorial.
        |p| shared(p).0 + (root + 2.0_f64.ln()) + 3.0 * root,
    );
}

/// Which constants are dropped follows the arguments of each call, not the declaration of the function.
#[test]
fn functions_drop_constants_of_data() {
    let program = "
        functions { real shifted_lpdf(vector y, real mu, real sigma) { return normal_lupdf(y | mu + 1, sigma); } }
        data { vector[3] y; }
        parameters { real mu; }
        model { target += shifted_lupdf(y | mu, 3); }";
    let y = [0.2, -0.7, 1.4];
    let full = |p: &[f64]| y.iter().map(|y| normal(*y, p[0] + 1.0, 3.0)).sum::<f64>();
    let dropped = 3.0 * (crate::harness::LOG_ROOT_TAU + 3.0_f64.ln());
    check_both(program, r#"{"y": [0.2, -0.7, 1.4]}"#, full, |p| full(p) + dropped);
}

#[test]
fn sums_over_slices_and_rectangles_are_loops() {
    let head = "
        functions {
          real part_lpmf(array[] int y, int start, int end, vector x, real a, real b) {
            return bernoulli_logit_lupmf(y | a + b * x[start:end]);
          }
          real slices(array[] real y, int start, int end, vector mu) {
            real s = 0;
            for (i in start:end) s += -square(y[i - start + 1] - mu[i]);
            return s;
          }
          vector shard(vector phi, vector theta, data array[] real xr, data array[] int xi) {
            return [normal_lpdf(xr[1] | theta[1], exp(phi[1])) + xi[1] * theta[1]]';
          }
        }
        data { int N; array[N] int y; vector[N] x; array[N] real r; }
        transformed data { array[N, 1] real xr; array[N, 1] int xi; for (n in 1:N) { xr[n, 1] = r[n]; xi[n, 1] = n; } }
        parameters { real a; real b; vector[N] mu; }";
    let clever = "
        model {
          array[N] vector[1] theta; vector[1] phi = [b]';
          for (n in 1:N) theta[n, 1] = mu[n];
          target += reduce_sum(part_lupmf, y, 2, x, a, b);
          target += reduce_sum(slices, r, 1, mu);
          target += sum(map_rect(shard, phi, theta, xr, xi));
        }";
    let plain = "
        model {
          for (n in 1:N) {
            target += bernoulli_logit_lupmf(y[n] | a + b * x[n]);
            target += -square(r[n] - mu[n]);
            target += normal_lpdf(r[n] | mu[n], exp(b)) + n * mu[n];
          }
        }";
    let data = r#"{"N": 5, "y": [0, 1, 1, 0, 1], "x": [0.3, 1.0, -0.5, 0.8, 0.1], "r": [1.0, 0.2, -0.6, 0.4, 2.0]}"#;
    check_same(&format!("{head}{clever}"), &format!("{head}{plain}"), data);
}

/// Iterations that take a branch alone are no tile, and loops inside of them still run by tiles: also when the
/// evaluation is repeated.
#[test]
fn loops_inside_of_lonely_iterations() {
    let program = "
        data { int N; array[N] int k; vector[N] y; }
        parameters { vector[N] a; }
        model {
          a ~ std_normal();
          for (n in 1:N) {
            if (k[n] == 1) {
              for (m in 1:N) y[m] ~ normal(a[n] * m, 2);
            } else {
              y[n] ~ normal(a[n], 1);
            }
          }
        }";
    let y: Vec<f64> = (0..11).map(|i| 0.3 * f64::from(i) - 1.0).collect();
    let data = format!(r#"{{"N": 11, "k": [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], "y": {y:?}}}"#);
    check_value(program, &data, |p| {
        let mut sum: f64 = p.iter().map(|x| normal(*x, 0.0, 1.0)).sum();
        for (n, a) in p.iter().enumerate() {
            if n == 3 {
                sum += y.iter().zip(1..).map(|(y, m)| normal(*y, a * f64::from(m), 2.0)).sum::<f64>();
            } else {
                sum += normal(y[n], *a, 1.0);
            }
        }
        sum
    });
}
