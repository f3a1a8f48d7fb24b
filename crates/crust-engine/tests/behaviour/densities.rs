//! Sampling statements: truncation, dropped constants, and the split into prior and likelihood.

use crate::common::{agree, bind, evaluate};
use crate::harness::{
    LOG_ROOT_TAU, NORMALISED, check, check_both, check_same, check_value, differences, normal, spread,
};

#[test]
fn truncation_divides_by_the_mass_that_is_left() {
    let data = r#"{"N": 3, "y": [0.5, 1.2, 0.8], "k": [2, 1, 4]}"#;
    let head = "
        data { int N; vector[N] y; array[N] int k; }
        parameters { real mu; real<lower=0> sigma; real<lower=0> lambda; }
        model {
          mu ~ normal(0, 1) T[-2, 2];";
    let short = "
          for (n in 1:N) {
            y[n] ~ normal(mu, sigma) T[0, 2];
            y[n] ~ student_t(4, mu, sigma) T[0.1, ];
            y[n] ~ exponential(sigma) T[, 3];
            k[n] ~ poisson(lambda) T[1, 5];
            k[n] ~ neg_binomial_2(lambda, sigma) T[1, ];
            k[n] ~ poisson(lambda) T[, 6];
          }
        }";
    let long = "
          for (n in 1:N) {
            target += normal_lupdf(y[n] | mu, sigma) - log_diff_exp(normal_lcdf(2 | mu, sigma), normal_lcdf(0 | mu, sigma));
            target += student_t_lupdf(y[n] | 4, mu, sigma) - student_t_lccdf(0.1 | 4, mu, sigma);
            target += exponential_lupdf(y[n] | sigma) - exponential_lcdf(3 | sigma);
            real mass = 0;
            for (j in 1:5) mass += exp(poisson_lpmf(j | lambda));
            target += poisson_lupmf(k[n] | lambda) - log(mass);
            target += neg_binomial_2_lupmf(k[n] | lambda, sigma) - log1m_exp(neg_binomial_2_lpmf(0 | lambda, sigma));
            mass = 0;
            for (j in 0:6) mass += exp(poisson_lpmf(j | lambda));
            target += poisson_lupmf(k[n] | lambda) - log(mass);
          }
        }";
    check_same(&format!("{head}{short}"), &format!("{head}{long}"), data);
}

#[test]
fn a_value_outside_of_its_truncation_has_no_density() {
    let program = "
        data { real y; }
        parameters { real a; }
        model { a ~ normal(0, 1); y ~ normal(0, 1) T[a, ]; }";
    let model = bind(program, r#"{"y": 0.25}"#);
    let points = spread(17, 1);
    let found = evaluate(&mut model.evaluator(), &points, None, NORMALISED);
    assert!(points.iter().any(|p| p[0] > 0.25) && points.iter().any(|p| p[0] < 0.25));
    for (l, p) in points.iter().enumerate() {
        assert_eq!(found.log_density(l).is_finite(), p[0] <= 0.25, "{p:?}: {}", found.log_density(l));
    }
}

#[test]
fn constants_are_dropped_where_arguments_are_data() {
    let program = "
        data { vector[2] y; real s; }
        parameters { real mu; real<lower=0> sigma; }
        model {
          y ~ normal(mu, sigma);
          y ~ normal(mu, s);
          mu ~ normal(0, 3);
          y ~ normal(0, s);
          target += normal_lpdf(y | mu, s);
          target += normal_lupdf(mu | 0, 5);
        }";
    let y = [0.4, -1.0];
    let full = |p: &[f64], fixed: bool| {
        let (mu, sigma) = (p[0], p[1].exp());
        let both = |mu: f64, s: f64| y.iter().map(|y| normal(*y, mu, s)).sum::<f64>();
        let constant = if fixed { both(0.0, 2.0) } else { 0.0 };
        p[1] + both(mu, sigma) + 2.0 * both(mu, 2.0) + normal(mu, 0.0, 3.0) + normal(mu, 0.0, 5.0) + constant
    };
    let dropped = 6.0 * LOG_ROOT_TAU + 2.0 * 2.0_f64.ln() + 3.0_f64.ln() + 5.0_f64.ln();
    check_both(program, r#"{"y": [0.4, -1.0], "s": 2}"#, |p| full(p, true), |p| full(p, false) + dropped);
}

#[test]
fn target_takes_containers() {
    let program = "
        parameters { vector[3] a; matrix[2, 2] m; }
        model {
          target += -square(a);
          target += {a[1], a[2] * 2};
          target += -m .* m;
        }";
    check_value(program, "{}", |p| {
        let (a, m) = p.split_at(3);
        -a.iter().map(|x| x * x).sum::<f64>() + a[0] + 2.0 * a[1] - m.iter().map(|x| x * x).sum::<f64>()
    });
}

#[test]
fn the_target_so_far_has_a_derivative() {
    let program = "parameters { real a; } model { target += -square(a); target += 0.5 * target(); }";
    check_value(program, "{}", |p| -1.5 * p[0] * p[0]);
    // read in a function and in a loop, where terms have been added before and are added again
    let program = "
        functions { void damp_lp(real w) { target += w * target(); } }
        parameters { vector[3] a; }
        model {
          for (i in 1:3) { target += -square(a[i]); damp_lp(0.5); }
          target += -square(target());
        }";
    check_value(program, "{}", |p| {
        let t = p.iter().fold(0.0, |t, x| 1.5 * (t - x * x));
        t - t * t
    });
    // the log Jacobian a of exp(a) is part of it, and adds to the density once more
    let program = "parameters { real<lower=0> s; vector[2] b; }
        model { b ~ normal(0, s); real t = target(); target += sin(0.1 * t) * b[1]; }";
    check_value(program, "{}", |p| {
        let s = p[0].exp();
        let normal = |x: f64| -0.5 * (x / s).powi(2) - p[0] - 0.5 * std::f64::consts::TAU.ln();
        let t = p[0] + normal(p[1]) + normal(p[2]);
        t + (0.1 * t).sin() * p[1]
    });
}

/// Prior and likelihood are tempered apart, also where one is computed from the other: with T = log prior + ℓ₁ the
/// program adds ℓ₂ = y T² to the likelihood, and ∇(log prior + β (ℓ₁ + ℓ₂)) is what is wanted.
#[test]
fn the_target_so_far_is_differentiated_for_every_beta() {
    let program = "data { real y; } parameters { real<lower=0> s; }
        model { s ~ exponential(1); y ~ normal(0, s); target += y * square(target()); }";
    let model = bind(program, r#"{"y": 0.7}"#);
    let points: Vec<Vec<f64>> = [-0.4, 0.1, 0.9].iter().map(|&x| vec![x]).collect();
    let betas = [0.0, 0.3, 1.0];
    let found = evaluate(&mut model.evaluator(), &points, Some(&betas), NORMALISED);
    for (lane, (point, beta)) in points.iter().zip(betas).enumerate() {
        let density = |x: f64| {
            let prior = x - x.exp();
            let first = -0.5 * (0.7 / x.exp()).powi(2) - x - 0.5 * std::f64::consts::TAU.ln();
            prior + beta * (first + 0.7 * (prior + first).powi(2))
        };
        let slope = (density(point[0] + 1e-6) - density(point[0] - 1e-6)) / 2e-6;
        assert!((found.gradient[lane][0] - slope).abs() < 1e-6, "{} is not {slope}", found.gradient[lane][0]);
    }
}

/// `∇(β log likelihood) = ∇(log prior + β log likelihood) − ∇ log prior`, also where a bound has a log Jacobian.
#[test]
fn the_likelihood_has_a_gradient_of_its_own() {
    let program = "data { int N; vector[N] y; } parameters { real mu; real<lower=0> s; vector[N] z; }
        model { mu ~ normal(0, 3); s ~ gamma(2, 1); z ~ normal(mu, s); for (n in 1:N) y[n] ~ normal(z[n], s); }";
    let model = bind(program, r#"{"N": 3, "y": [0.5, -1.2, 0.8]}"#);
    let points = spread(9, 5);
    let betas: Vec<f64> = (0..9).map(|i| f64::from(i) / 8.0).collect();
    let whole = evaluate(&mut model.evaluator(), &points, Some(&betas), NORMALISED);
    let prior = evaluate(&mut model.evaluator(), &points, Some(&[0.0; 9]), NORMALISED);
    let alone = evaluate(&mut model.evaluator().with_likelihood_only(), &points, Some(&betas), NORMALISED);
    for lane in 0..9 {
        assert!(agree(alone.log_likelihood[lane], whole.log_likelihood[lane], 1e-14));
        for d in 0..5 {
            let expected = whole.gradient[lane][d] - prior.gradient[lane][d];
            assert!(agree(alone.gradient[lane][d], expected, 1e-12), "{} {expected}", alone.gradient[lane][d]);
        }
    }
}

/// `∇(log prior + β log likelihood) = ∇ log prior + β ∇ log likelihood`, for a β of each lane.
#[test]
fn prior_and_likelihood_are_kept_apart() {
    let program = "
        data { int N; vector[N] y; array[N] int k; }
        parameters { real mu; real<lower=0> tau; vector[N] z; }
        transformed parameters { vector[N] theta = mu + tau * z; }
        model {
          mu ~ normal(0, 2);
          target += exponential_lpdf(tau | 1);
          z ~ std_normal();
          y ~ normal(theta, 0.7);
          for (n in 1:N) {
            if (k[n] > 1) k[n] ~ poisson_log(theta[n]);
            else target += bernoulli_logit_lpmf(k[n] | theta[n]);
          }
        }";
    let (model, points) = check(program, r#"{"N": 4, "y": [0.3, -0.2, 1.0, 2.2], "k": [1, 0, 3, 5]}"#);
    let mut evaluator = model.evaluator();
    let beta: Vec<f64> = (0..17).map(|l| f64::from(l % 6) / 5.0).collect();
    let whole = evaluate(&mut evaluator, &points, None, NORMALISED);
    let mixed = evaluate(&mut evaluator, &points, Some(&beta), NORMALISED);
    let prior = evaluate(&mut evaluator, &points, Some(&[0.0; 17]), NORMALISED);
    for (l, p) in points.iter().enumerate() {
        let (mu, tau) = (p[0], p[1].exp());
        let by_hand = p[1] - tau + normal(mu, 0.0, 2.0) + p[2..].iter().map(|z| normal(*z, 0.0, 1.0)).sum::<f64>();
        assert!(agree(whole.log_prior[l], by_hand, 1e-12), "{} is not {by_hand}", whole.log_prior[l]);
        assert!(
            agree(mixed.log_likelihood[l], whole.log_likelihood[l], 1e-14),
            "the likelihood is not multiplied with β"
        );
        assert!(agree(mixed.log_prior[l], whole.log_prior[l], 1e-14));
        let slopes = differences(p, |x| evaluate(&mut evaluator, &[x.to_vec()], None, NORMALISED).log_prior[0]);
        for d in 0..p.len() {
            let (one, none, found) = (whole.gradient[l][d], prior.gradient[l][d], mixed.gradient[l][d]);
            assert!(agree(none, slopes[d], 1e-8), "without likelihood: {none} is not {}", slopes[d]);
            let expected = none + beta[l] * (one - none);
            assert!(agree(found, expected, 1e-12), "β = {}: {found} is not {expected}", beta[l]);
        }
    }
}

/// Where β is 0 the likelihood has no say, not even one whose gradient overflows.
#[test]
fn a_likelihood_without_weight_has_no_gradient() {
    check_weightless("y ~ normal(exp(exp(a)), 1);", 5.86);
    check_weightless("y ~ student_t(3, exp(exp(a)), 1);", 5.86);
}

#[test]
fn a_likelihood_of_zero_without_weight_has_no_gradient() {
    check_weightless("y ~ normal(exp(exp(a)), 1);", 6.0);
}

fn check_weightless(likelihood: &str, a: f64) {
    let program = format!("data {{ real y; }} parameters {{ real a; }} model {{ a ~ normal(0, 1); {likelihood} }}");
    let model = bind(&program, r#"{"y": 1}"#);
    let found = evaluate(&mut model.evaluator(), &[vec![0.5], vec![a]], Some(&[1.0, 0.0]), NORMALISED);
    assert!(found.gradient[0][0].is_finite());
    let (prior, slope) = (found.log_prior[1], found.gradient[1][0]);
    assert!(agree(slope, -a, 1e-14) && agree(prior, normal(a, 0.0, 1.0), 1e-13), "{likelihood} {prior} {slope}");
}

/// Probabilities of intervals, in loops and of arrays, whose probabilities are multiplied.
#[test]
fn probabilities_of_intervals() {
    let head = "data { int N; vector[N] y; } parameters { real m; real<lower=0> s; real<lower=0> r; } model { ";
    let loops = "for (n in 1:(N - 1)) {
          target += log(0.1 + normal_cdf(y[n + 1] | m, s) - normal_cdf(y[n] | m, s));
          target += log(logistic_cdf(y[n + 1] | m, s) + exponential_cdf(y[n] | r) + std_normal_cdf(m * y[n] |));
          target += lognormal_cdf(y[n] | m, s);
        }
        real all = 1;
        for (n in 1:N) all *= normal_cdf(y[n] | m, s);
        target += all; }";
    let apart = "for (n in 1:(N - 1)) {
          target += log(0.1 + Phi((y[n + 1] - m) / s) - Phi((y[n] - m) / s));
          target += log(inv_logit((y[n + 1] - m) / s) - expm1(-r * y[n]) + Phi(m * y[n]));
          target += Phi((log(y[n]) - m) / s);
        }
        target += normal_cdf(y | m, s); }";
    check_same(&format!("{head}{loops}"), &format!("{head}{apart}"), r#"{"N": 5, "y": [0.2, 0.7, 1.1, 1.9, 2.4]}"#);
}
