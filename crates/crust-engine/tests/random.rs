//! Every `_rng` function of Stan, called from a program: moments against theory, shapes, order of draws, rejections.
//!
//! Each moment is an average of independent draws, off by z standard errors; |z| > 5 fails. With about 300 moments and
//! fixed seeds the chance that a correct program would have failed is about 300 · 6·10⁻⁷ ≈ 2·10⁻⁴.

mod common;

use std::f64::consts::{FRAC_PI_2, LN_2, PI};
use std::fmt::Write;
use std::sync::Arc;

use common::{bind, try_bind};
use crust_engine::{Include, Model, Quantities};
use crust_math::random::{Purpose, StreamKey};

const EULER: f64 = 0.577_215_664_901_532_9;
const DRAWS: u64 = 4000;
const ALL: Include = Include { transformed: true, generated: true };

/// What a program generates from one seed.
fn try_generate(model: &Arc<Model>, seed: u64) -> Result<Quantities, crust_engine::EngineError> {
    model.evaluator().quantities(&[], StreamKey::new(seed, Purpose::TEST), ALL)
}

fn generate(model: &Arc<Model>, seed: u64) -> Vec<f64> {
    let found = try_generate(model, seed).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.rejection, None);
    found.numbers
}

/// A generated quantity with its moments, in the order of the output (the first index runs fastest).
struct Expected {
    declared: &'static str,
    expression: &'static str,
    mean: Vec<f64>,
    /// By rows; NaN where it is not checked.
    covariance: Vec<f64>,
}

fn number(expression: &'static str, mean: f64, variance: f64) -> Expected {
    Expected { declared: "real", expression, mean: vec![mean], covariance: vec![variance] }
}

fn whole(expression: &'static str, mean: f64, variance: f64) -> Expected {
    Expected { declared: "int", ..number(expression, mean, variance) }
}

fn several(declared: &'static str, expression: &'static str, mean: &[f64], covariance: &[f64]) -> Expected {
    assert_eq!(covariance.len(), mean.len() * mean.len());
    Expected { declared, expression, mean: mean.to_vec(), covariance: covariance.to_vec() }
}

/// Independent numbers.
fn independent(declared: &'static str, expression: &'static str, mean: &[f64], variance: &[f64]) -> Expected {
    let n = mean.len();
    let covariance: Vec<f64> = (0..n * n).map(|k| if k / n == k % n { variance[k / n] } else { 0.0 }).collect();
    several(declared, expression, mean, &covariance)
}

/// Draws every quantity and compares all first and second moments.
fn check(quantities: &[Expected], seed: u64) {
    let mut text = "generated quantities {\n".to_owned();
    for (k, q) in quantities.iter().enumerate() {
        writeln!(text, "  {} q{k} = {};", q.declared, q.expression).expect("strings take everything");
    }
    text += "}\n";
    let model = bind(&text, "{}");
    let mut evaluator = model.evaluator();
    let key = StreamKey::new(seed, Purpose::TEST);
    let draws: Vec<Vec<f64>> = (0..DRAWS)
        .map(|step| {
            let found = evaluator.quantities(&[], key.step(step), ALL).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(found.rejection, None);
            found.numbers
        })
        .collect();
    let mut at = 0;
    for q in quantities {
        let n = q.mean.len();
        for i in 0..n {
            compare(q.expression, q.mean[i], draws.iter().map(|x| x[at + i]));
            for j in i..n {
                let products = draws.iter().map(|x| (x[at + i] - q.mean[i]) * (x[at + j] - q.mean[j]));
                if !q.covariance[i * n + j].is_nan() {
                    compare(&format!("{} ({i}, {j})", q.expression), q.covariance[i * n + j], products);
                }
            }
        }
        at += n;
    }
    assert_eq!(at, draws[0].len(), "every number of the output is looked at");
}

#[allow(clippy::cast_precision_loss, reason = "few draws")]
fn compare(what: &str, expected: f64, values: impl Iterator<Item = f64> + Clone) {
    let n = DRAWS as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    // Constants, such as the diagonal of a correlation matrix, have no error.
    assert!((mean - expected).abs() <= 5.0 * error + 1e-12, "{what}: {mean} ± {error} is not {expected}");
}

fn inv_logit(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn moments_of_real_numbers() {
    let a = 0.697_774_657_964_008; // I₁(2)/I₀(2)
    let half_gamma = PI.sqrt() / 2.0;
    let tau: f64 = 0.3;
    let (below, above) = (1.0 / (1.0 - tau), 1.0 / tau);
    let skewed_mean = (1.0 - tau) * above - tau * below;
    let skewed_square = 2.0 * (tau * below * below + (1.0 - tau) * above * above);
    let delta = 3.0 / 10_f64.sqrt();
    check(
        &[
            number("beta_rng(2, 3)", 0.4, 0.04),
            number("beta_proportion_rng(0.3, 5)", 0.3, 0.035),
            number("cauchy_rng(1, 2) < 3", 0.75, 0.1875),
            number("chi_square_rng(5)", 5.0, 10.0),
            number("double_exponential_rng(1, 2)", 1.0, 8.0),
            number("exp_mod_normal_rng(1, 2, 0.5)", 3.0, 8.0),
            number("exponential_rng(2)", 0.5, 0.25),
            number("log(frechet_rng(2, 3))", 3_f64.ln() + EULER / 2.0, PI * PI / 24.0),
            number("gamma_rng(3, 2)", 1.5, 0.75),
            number("gumbel_rng(1, 2)", 1.0 + 2.0 * EULER, 4.0 * PI * PI / 6.0),
            number("inv_chi_square_rng(12)", 0.1, 0.0025),
            number("inv_gamma_rng(8, 3)", 3.0 / 7.0, 9.0 / 294.0),
            number("logistic_rng(1, 2)", 1.0, 4.0 * PI * PI / 3.0),
            number("log(loglogistic_rng(2, 3))", LN_2, PI * PI / 27.0),
            number("log(lognormal_rng(0.5, 2))", 0.5, 4.0),
            number("normal_rng(1.5, 2)", 1.5, 4.0),
            number("log(pareto_rng(2, 3))", LN_2 + 1.0 / 3.0, 1.0 / 9.0),
            number("log1p((pareto_type_2_rng(1, 2, 3) - 1) / 2)", 1.0 / 3.0, 1.0 / 9.0),
            number("rayleigh_rng(2)", 2.0 * FRAC_PI_2.sqrt(), 2.0 * (4.0 - PI)),
            number("scaled_inv_chi_square_rng(12, 2)", 4.8, 5.76),
            number("skew_double_exponential_rng(1, 2, 0.3)", 1.0 + skewed_mean, skewed_square - skewed_mean.powi(2)),
            number(
                "skew_normal_rng(1, 2, 3)",
                1.0 + 2.0 * delta * (2.0 / PI).sqrt(),
                4.0 * (1.0 - 2.0 * delta * delta / PI),
            ),
            number("std_normal_rng()", 0.0, 1.0),
            number("student_t_rng(10, 1, 2)", 1.0, 5.0),
            number("uniform_rng(-1, 3)", 1.0, 16.0 / 12.0),
            number("cos(von_mises_rng(0.5, 2) - 0.5)", a, 1.0 - a / 2.0 - a * a),
            number("sin(von_mises_rng(0.5, 2) - 0.5)", 0.0, a / 2.0),
            number("weibull_rng(2, 3)", 3.0 * half_gamma, 9.0 * (1.0 - half_gamma * half_gamma)),
        ],
        101,
    );
}

#[test]
fn moments_of_counts() {
    let p = inv_logit(1.0);
    let e = std::f64::consts::E;
    check(
        &[
            whole("bernoulli_rng(0.3)", 0.3, 0.21),
            whole("bernoulli_logit_rng(1)", p, p * (1.0 - p)),
            whole("beta_binomial_rng(10, 2, 3)", 4.0, 6.0),
            whole("beta_neg_binomial_rng(3, 8, 2)", 6.0 / 7.0, 540.0 / 294.0),
            whole("binomial_rng(7, 0.4)", 2.8, 1.68),
            whole("discrete_range_rng(-2, 5)", 1.5, 5.25),
            whole("hypergeometric_rng(5, 6, 4)", 3.0, 2.0 / 3.0),
            whole("neg_binomial_rng(4, 2)", 2.0, 3.0),
            whole("neg_binomial_2_rng(3, 2)", 3.0, 7.5),
            whole("neg_binomial_2_log_rng(log(3), 2)", 3.0, 7.5),
            whole("poisson_rng(4.5)", 4.5, 4.5),
            whole("poisson_log_rng(1)", e, e),
            whole("yule_simon_rng(8)", 8.0 / 7.0, 64.0 / 294.0),
        ],
        102,
    );
}

#[test]
fn containers_as_arguments_give_arrays_of_independent_draws() {
    check(
        &[
            independent("array[3] real", "normal_rng([0, 10, 20]', [1, 2, 3])", &[0.0, 10.0, 20.0], &[1.0, 4.0, 9.0]),
            independent("array[2] real", "student_t_rng(10, {1, 2}, 2)", &[1.0, 2.0], &[5.0, 5.0]),
            independent("array[2] int", "binomial_rng({3, 5}, [0.2, 0.5]')", &[0.6, 2.5], &[0.48, 1.25]),
            independent("array[2] int", "poisson_log_rng(log([2, 3]))", &[2.0, 3.0], &[2.0, 3.0]),
            independent("array[1] int", "bernoulli_rng([0.3])", &[0.3], &[0.21]),
            independent("array[2] int", "discrete_range_rng(1, {2, 3})", &[1.5, 2.0], &[0.25, 2.0 / 3.0]),
            independent("array[0] real", "exponential_rng(rep_vector(1, 0))", &[], &[]),
        ],
        103,
    );
}

/// n (diag(p) − p pᵀ), times a factor.
fn of_counts(p: &[f64], n: f64) -> Vec<f64> {
    let mut list = Vec::new();
    for (i, a) in p.iter().enumerate() {
        list.extend(p.iter().enumerate().map(|(j, b)| n * (if i == j { *a } else { 0.0 } - a * b)));
    }
    list
}

/// Mean and variance of a category counted from 1.
fn category(p: [f64; 3]) -> (f64, f64) {
    let mean = p[0] + 2.0 * p[1] + 3.0 * p[2];
    (mean, p[0] + 4.0 * p[1] + 9.0 * p[2] - mean * mean)
}

#[test]
fn moments_of_categories() {
    let p = [0.2, 0.3, 0.5];
    let plain = category(p);
    let (low, high) = (inv_logit(-1.5), inv_logit(0.5));
    let logistic = category([low, high - low, 1.0 - high]);
    let normal = category([0.158_655_253_931_457_05, 0.341_344_746_068_543, 0.5]);
    let ten = p.map(|p| 10.0 * p);
    let glm = [inv_logit(1.5), inv_logit(0.25)];
    check(
        &[
            whole("categorical_rng([0.2, 0.3, 0.5]')", plain.0, plain.1),
            whole("categorical_logit_rng(log([0.2, 0.3, 0.5]') + 7)", plain.0, plain.1),
            whole("ordered_logistic_rng(0.5, [-1, 1]')", logistic.0, logistic.1),
            whole("ordered_probit_rng(0.5, [-0.5, 0.5]')", normal.0, normal.1),
            several("array[3] int", "multinomial_rng([0.2, 0.3, 0.5]', 10)", &ten, &of_counts(&p, 10.0)),
            several("array[3] int", "multinomial_logit_rng(log([2, 3, 5]'), 10)", &ten, &of_counts(&p, 10.0)),
            several("vector[3]", "dirichlet_rng([1, 1.5, 2.5]')", &p, &of_counts(&p, 1.0 / 6.0)),
            several(
                "array[3] int",
                "dirichlet_multinomial_rng([1, 1.5, 2.5]', 10)",
                &ten,
                &of_counts(&p, 10.0 * 15.0 / 6.0),
            ),
            independent(
                "array[2] int",
                "bernoulli_logit_glm_rng([[1, 2], [-1, 0.5]], [-1, 0.25]', [0.5, 1]')",
                &glm,
                &glm.map(|p| p * (1.0 - p)),
            ),
            independent(
                "array[1] int",
                "bernoulli_logit_glm_rng([1, 2], [-1]', [0.5, 1]')",
                &glm[..1],
                &[glm[0] * (1.0 - glm[0])],
            ),
        ],
        104,
    );
}

const S: [f64; 4] = [2.0, 0.6, 0.6, 1.0];

#[test]
fn moments_of_vectors() {
    let student = S.map(|s| s * 10.0 / 8.0);
    // In the output the first index runs fastest: draw 1 and 2 of the first element, then of the second.
    let two = |s: [f64; 4]| -> Vec<f64> {
        let mut list = vec![0.0; 16];
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            if i % 2 == j % 2 {
                list[i * 4 + j] = s[i / 2 * 2 + j / 2];
            }
        }
        list
    };
    let (one, both) = ([1.0, -2.0], [1.0, 3.0, -2.0, 4.0]);
    check(
        &[
            several("vector[2]", "multi_normal_rng([1, -2]', [[2, 0.6], [0.6, 1]])", &one, &S),
            several("vector[2]", "multi_normal_rng([1, -2], [[2, 0.6], [0.6, 1]])", &one, &S),
            several(
                "array[2] vector[2]",
                "multi_normal_rng({[1, -2]', [3, 4]'}, [[2, 0.6], [0.6, 1]])",
                &both,
                &two(S),
            ),
            several(
                "vector[2]",
                "multi_normal_cholesky_rng([1, -2]', cholesky_decompose([[2, 0.6], [0.6, 1]]))",
                &one,
                &S,
            ),
            several(
                "array[2] vector[2]",
                "multi_normal_cholesky_rng({[1, -2], [3, 4]}, cholesky_decompose([[2, 0.6], [0.6, 1]]))",
                &both,
                &two(S),
            ),
            several("vector[2]", "multi_student_t_rng(10, [1, -2]', [[2, 0.6], [0.6, 1]])", &one, &student),
            several(
                "array[2] vector[2]",
                "multi_student_t_rng(10, {[1, -2], [3, 4]}, [[2, 0.6], [0.6, 1]])",
                &both,
                &two(student),
            ),
            several(
                "vector[2]",
                "multi_student_t_cholesky_rng(10, [1, -2]', cholesky_decompose([[2, 0.6], [0.6, 1]]))",
                &one,
                &student,
            ),
        ],
        105,
    );
}

#[test]
fn moments_of_matrices() {
    // cov(Wᵢⱼ, Wₖₗ) = ν (Sᵢₖ Sⱼₗ + Sᵢₗ Sⱼₖ)
    let nu = 6.0;
    let s = |i: usize, j: usize| S[i * 2 + j];
    let pairs = || (0..4).flat_map(|a| (0..4).map(move |b| (a / 2, a % 2, b / 2, b % 2)));
    let wishart: Vec<f64> = pairs().map(|(i, j, k, l)| nu * (s(i, k) * s(j, l) + s(i, l) * s(j, k))).collect();
    // The inverse: the variance of each element; ν = 15, n = 2.
    let inverse: Vec<f64> = pairs()
        .map(|(i, j, k, l)| {
            let variance = (14.0 * s(i, j).powi(2) + 12.0 * s(i, i) * s(j, j)) / (13.0 * 144.0 * 10.0);
            if (i, j) == (k, l) { variance } else { f64::NAN }
        })
        .collect();
    let (times_nu, divided) = (S.map(|s| nu * s), S.map(|s| s / 12.0));
    // r is 2 beta(a, a) − 1 with a = η − 1 + n/2 = 2.5; the elements are uncorrelated.
    let identity: Vec<f64> = (0..9).map(|k| f64::from(k % 4 == 0)).collect();
    let correlation: Vec<f64> = (0..81)
        .map(|k| {
            let ((i, j), (u, v)) = ((k / 9 / 3, k / 9 % 3), (k % 9 / 3, k % 9 % 3));
            if i != j && ((i, j) == (u, v) || (i, j) == (v, u)) { 1.0 / 6.0 } else { 0.0 }
        })
        .collect();
    let root = "tcrossprod(wishart_cholesky_rng(6, cholesky_decompose([[2, 0.6], [0.6, 1]])))";
    let inverse_root = "tcrossprod(inv_wishart_cholesky_rng(15, cholesky_decompose([[2, 0.6], [0.6, 1]])))";
    check(
        &[
            several("matrix[2, 2]", "wishart_rng(6, [[2, 0.6], [0.6, 1]])", &times_nu, &wishart),
            several("matrix[2, 2]", root, &times_nu, &wishart),
            several("matrix[2, 2]", "inv_wishart_rng(15, [[2, 0.6], [0.6, 1]])", &divided, &inverse),
            several("matrix[2, 2]", inverse_root, &divided, &inverse),
            several("matrix[3, 3]", "lkj_corr_rng(3, 2)", &identity, &correlation),
            several("matrix[3, 3]", "tcrossprod(lkj_corr_cholesky_rng(3, 2))", &identity, &correlation),
        ],
        106,
    );
}

#[test]
fn hidden_states_have_the_probabilities_of_the_enumerated_paths() {
    let omega: [[f64; 2]; 3] = [[0.5, 0.2], [0.1, 0.7], [0.3, 0.4]];
    let gamma = [[0.8, 0.2], [0.3, 0.7]];
    let rho = [0.6, 0.4];
    let path = |k: usize| [k & 1, k >> 1 & 1, k >> 2 & 1];
    let weight = |k: usize| {
        let [a, b, c] = path(k);
        rho[a] * omega[0][a] * gamma[a][b] * omega[1][b] * gamma[b][c] * omega[2][c]
    };
    let total: f64 = (0..8).map(weight).sum();
    #[allow(clippy::cast_precision_loss, reason = "0 or 1")]
    let second = |k: usize, t: usize| path(k)[t] as f64;
    let p: Vec<f64> = (0..3).map(|t| (0..8).map(|k| weight(k) * second(k, t)).sum::<f64>() / total).collect();
    let mut covariance = Vec::new();
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let both = (0..8).map(|k| weight(k) * second(k, i) * second(k, j)).sum::<f64>() / total;
        covariance.push(both - p[i] * p[j]);
    }
    let mean: Vec<f64> = p.iter().map(|p| 1.0 + p).collect();
    let log_omega = "log([[0.5, 0.1, 0.3], [0.2, 0.7, 0.4]])";
    let call = format!("hmm_latent_rng({log_omega}, [[0.8, 0.2], [0.3, 0.7]], [0.6, 0.4]')");
    let probabilities: Vec<f64> = p.iter().flat_map(|&p| [1.0 - p, p]).collect();
    let exact = call.replace("hmm_latent_rng", "hmm_hidden_state_prob");
    check(
        &[
            several("array[3] int", call.leak(), &mean, &covariance),
            independent("matrix[2, 3]", exact.leak(), &probabilities, &[0.0; 6]),
        ],
        107,
    );
}

#[test]
fn a_loop_draws_what_the_vectorised_call_draws() {
    let by_loop = bind(
        "functions { array[] real noisy_rng(vector m) {
           array[size(m)] real y;
           for (n in 1:size(m)) y[n] = normal_rng(m[n], 2);
           return y;
         } }
         generated quantities {
           array[5] real y = noisy_rng([1, 2, 3, 4, 5]');
           array[2] vector[2] z;
           for (n in 1:2) z[n] = multi_normal_rng([n, 0]', [[2, 1], [1, 2]]);
           real last = std_normal_rng();
         }",
        "{}",
    );
    let at_once = bind(
        "generated quantities {
           array[5] real y = normal_rng([1, 2, 3, 4, 5]', 2);
           array[2] vector[2] z = multi_normal_rng({[1, 0]', [2, 0]'}, [[2, 1], [1, 2]]);
           real last = std_normal_rng();
         }",
        "{}",
    );
    assert_eq!(generate(&by_loop, 5), generate(&at_once, 5));
    assert_eq!(generate(&by_loop, 5), generate(&by_loop, 5));
    let (one, other) = (generate(&by_loop, 5), generate(&by_loop, 6));
    assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() > 1e-9));
}

#[test]
fn transformed_data_are_drawn_once_with_the_seed_of_the_binding() {
    let text = "transformed data {
           array[3] int k;
           for (i in 1:3) k[i] = categorical_rng(rep_vector(0.001, 1000));
           vector[2] x = multi_normal_rng([0, 0]', identity_matrix(2));
           matrix[2, 2] w = wishart_rng(4, identity_matrix(2));
         }
         generated quantities { array[3] int same_k = k; vector[2] same_x = x; matrix[2, 2] same_w = w; }";
    let (a, b) = (bind(text, "{}"), bind(text, "{}"));
    assert_eq!(generate(&a, 1), generate(&b, 2));
    let numbers = generate(&a, 1);
    assert!(numbers[..3].iter().all(|k| (1.0..=1000.0).contains(k) && k.fract() == 0.0));
    assert!([0, 3, 5].into_iter().all(|k| (numbers[k] - numbers[k + 1]).abs() > 1e-9));
}

fn generating(expression: &str) -> Arc<Model> {
    bind(&format!("generated quantities {{ real x = sum({expression}); }}"), "{}")
}

#[test]
fn arguments_outside_of_the_domain_reject_the_draw_in_the_name_of_the_function() {
    for (expression, message) in [
        ("{normal_rng(0, -1)}", "normal_rng: Scale parameter is -1, but must be positive finite"),
        ("{poisson_log_rng(30)}", "poisson_log_rng: Log rate parameter is 30, but must be less than log(1073741824)"),
        ("{poisson_rng(2e9)}", "poisson_rng: Rate parameter is 2000000000, but must be less than 1073741824"),
        ("{neg_binomial_2_log_rng(22.5, 1e6)}", "neg_binomial_2_log_rng: Random number is "),
        ("{binomial_rng(-1, 0.5)}", "binomial_rng: Population size parameter is -1"),
        ("{categorical_rng([0.5, 0.4]')}", "categorical_rng: Sum of the probabilities parameter is 0.9, but must be 1"),
        (
            "{categorical_rng([1.5, -0.5]')}",
            "categorical_rng: Probabilities parameter is -0.5, but must be nonnegative",
        ),
        ("{categorical_logit_rng([0, negative_infinity()]')}", "categorical_logit_rng: Log odds parameter is -inf"),
        ("multinomial_rng([0.5, 0.5]', -1)", "multinomial_rng: Number of trials is -1, but must be nonnegative"),
        ("multinomial_rng([0.5, 0.6]', 1)", "multinomial_rng: Sum of the probabilities parameter is 1.1"),
        ("dirichlet_multinomial_rng([0.5, 0]', 1)", "dirichlet_multinomial_rng: Prior sample sizes is 0"),
        ("{ordered_logistic_rng(0, [1, 0]')}", "ordered_logistic_rng: Cut points parameter is 0, but must be ordered"),
        (
            "multi_normal_rng([0, 0]', [[1, 2], [2, 1]])",
            "multi_normal_rng: Covariance matrix is -3, but must be positive",
        ),
        ("multi_normal_cholesky_rng([0, 0]', [[1, 1], [0, 1]])", "multi_normal_cholesky_rng: Cholesky factor of"),
        ("multi_student_t_rng(-1, [0]', [[1]])", "multi_student_t_rng: Degrees of freedom parameter is -1"),
        ("wishart_rng(0.5, identity_matrix(2))", "wishart_rng: Degrees of freedom parameter is 0.5"),
        ("lkj_corr_rng(2, 0)", "lkj_corr_rng: Shape parameter is 0, but must be positive finite"),
        ("hmm_latent_rng([[0, 0]], [[0.5]], [1]')", "hmm_latent_rng: Gamma[i, ] is 0.5"),
    ] {
        let found = try_generate(&generating(expression), 1).unwrap_or_else(|e| panic!("{expression}: {e}"));
        let rejection = found.rejection.unwrap_or_else(|| panic!("{expression} is not rejected"));
        assert!(rejection.message.starts_with(message), "{expression}: {}", rejection.message);
        assert!(found.numbers.iter().all(|x| x.is_nan()));
    }
}

#[test]
fn sizes_that_do_not_fit_are_mistakes_in_the_program() {
    for (expression, message) in [
        ("normal_rng([1, 2], [1, 2, 3])", "sizes do not fit in normal_rng: row_vector[2] and row_vector[3]"),
        // Draws make an array, not a vector, whatever the arguments are.
        (
            "normal_rng(normal_rng([1, 2], 1), [1, 2, 3])",
            "sizes do not fit in normal_rng: array[2] real and row_vector[3]",
        ),
        (
            "multi_normal_rng([1, 2], identity_matrix(3))",
            "multi_normal_rng: the location row_vector[2] and the matrix[3, 3]",
        ),
        ("wishart_rng(4, [[1, 2]])", "wishart_rng: the scale matrix is not square: matrix[1, 2]"),
        ("hmm_latent_rng([[0], [0]], [[1]], [1]')", "hmm_latent_rng: log densities matrix[2, 1]"),
        ("bernoulli_logit_glm_rng([[1, 2]], [0, 0]', [1, 1]')", "bernoulli_logit_glm_rng: the predictors matrix[1, 2]"),
        ("lkj_corr_rng(-1, 1)", "the number of rows is -1"),
    ] {
        let error = try_generate(&generating(expression), 1).expect_err(expression);
        assert!(error.to_string().starts_with(message), "{expression}: {error}");
    }
}

#[test]
fn the_model_block_has_no_randomness() {
    assert!(try_bind("model { target += normal_rng(0, 1); }", "{}").is_err());
}
