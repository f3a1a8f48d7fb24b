//! Parameters that several terms weigh together: normal ones are drawn at once, others are refused.

use crate::{Case, case, key};
use crust_engine::{ProveError, ProveOptions, SimulateError, Values, prove};

/// As many as show a mistake of a tenth in a variance.
const DRAWS: u32 = 1500;

/// The values of one parameter in `n` draws.
fn draws(case: &mut Case, name: &str, n: u32) -> Vec<Vec<f64>> {
    (0..n)
        .map(|i| {
            let point = case.simulator.draw_parameters(None, key(i)).expect("a draw");
            case.simulator.parameters(&point).expect("values").remove(name).expect("the parameter")
        })
        .collect()
}

/// Means and covariances, each within five standard errors of the truth: with fewer than 100 of them a false alarm has a
/// probability below 6·10⁻⁵.
fn check_moments(all: &[Vec<f64>], mean: &[f64], covariance: &[Vec<f64>]) {
    let n = f64::from(u32::try_from(all.len()).expect("few draws"));
    for i in 0..mean.len() {
        let found = all.iter().map(|x| x[i]).sum::<f64>() / n;
        assert!((found - mean[i]).abs() < 5.0 * (covariance[i][i] / n).sqrt(), "mean {i}: {found} for {}", mean[i]);
        for k in 0..=i {
            let found = all.iter().map(|x| (x[i] - mean[i]) * (x[k] - mean[k])).sum::<f64>() / n;
            let error = ((covariance[i][i] * covariance[k][k] + covariance[i][k].powi(2)) / n).sqrt();
            assert!((found - covariance[i][k]).abs() < 5.0 * error, "{i}, {k}: {found} for {}", covariance[i][k]);
        }
    }
}

/// The code of what is wrong, or nothing, and log ∫ prior.
fn proof(text: &str, json: &str) -> (String, Option<f64>) {
    let case = case(text, json);
    match prove(&case.reading.typed, &case.simulator, &ProveOptions::default()) {
        Ok(proof) => (String::new(), proof.log_prior_integral),
        Err(ProveError::Misreading(wrong)) => (wrong.diagnostic().code.to_owned(), None),
        Err(ProveError::Simulate(SimulateError::Reading(problem))) => (problem.code.to_owned(), None),
        Err(other) => panic!("{other}"),
    }
}

const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// bᵀb + (Σb)² has the matrix I + 11ᵀ, whose inverse is I − 11ᵀ/4 for three numbers, and whose determinant is 4; the
/// four densities have (2π)⁻² before them.
#[test]
fn contrasts() {
    let spellings = [
        "parameters { vector[3] r; } transformed parameters { vector[4] b = append_row(r, -sum(r)); } model { b ~ normal(0, 1); }",
        "parameters { vector[3] r; } model { append_row(r, -sum(r)) ~ normal(0, 1); }",
        "parameters { vector[3] r; } transformed parameters { vector[4] b; for (i in 1:3) b[i] = r[i]; b[4] = -sum(r); }
         model { b ~ std_normal(); }",
        "parameters { vector[3] r; } model { r ~ normal(0, 1); target += normal_lpdf(-sum(r) | 0, 1); }",
        "parameters { vector[3] r; } model { target += -0.5 * dot_self(r) - 0.5 * square(sum(r)) - 2 * log(2 * pi()); }",
    ];
    let covariance: Vec<Vec<f64>> =
        (0..3).map(|i| (0..3).map(|k| if i == k { 0.75 } else { -0.25 }).collect()).collect();
    for text in spellings {
        let (code, integral) = proof(text, "{}");
        assert_eq!(code, "", "{text}");
        let wanted = -HALF_LOG_TWO_PI - 2.0_f64.ln();
        assert!((integral.expect("a constant") - wanted).abs() < 1e-9, "{text}: {integral:?} for {wanted}");
        check_moments(&draws(&mut case(text, "{}"), "r", DRAWS), &[0.0; 3], &covariance);
    }
}

/// The first value has a prior, the others differ by steps: independent of how the differences are written, and with the
/// scale still exponential.
#[test]
fn walks() {
    let spellings = [
        "x[2:5] - x[1:4] ~ normal(0.5, s);",
        "for (t in 2:5) x[t] - x[t - 1] ~ normal(0.5, s);",
        "target += normal_lpdf(x[2:5] - x[1:4] | 0.5, s);",
        "for (t in 2:5) target += -0.5 * square((x[t] - x[t - 1] - 0.5) / s) - log(s) - 0.5 * log(2 * pi());",
    ];
    for model in spellings {
        let text = format!(
            "parameters {{ vector[5] x; real<lower=0> s; }} model {{ s ~ exponential(2); x[1] ~ normal(3, 2); {model} }}"
        );
        let (code, integral) = proof(&text, "{}");
        assert_eq!(code, "", "{model}");
        assert!(integral.expect("a constant").abs() < 1e-8, "{model} {integral:?}");
        let mut own = case(&text, "{}");
        let scales: Vec<f64> = draws(&mut own, "s", DRAWS).iter().map(|s| s[0]).collect();
        // the mean and the deviation of an exponential variable are ½
        let mean = scales.iter().sum::<f64>() / f64::from(DRAWS);
        assert!((mean - 0.5).abs() < 5.0 * 0.5 / f64::from(DRAWS).sqrt(), "{mean}");
        // given the scale: cov(xᵢ, xₖ) = 4 + s² min(i, k)
        let fixed = Values::from([("s".to_owned(), vec![0.8])]);
        let draw = |i| {
            let point = own.simulator.draw_parameters(Some(&fixed), key(i)).expect("a draw");
            own.simulator.parameters(&point).expect("values").remove("x").expect("x")
        };
        let all: Vec<Vec<f64>> = (0..DRAWS).map(draw).collect();
        let covariance: Vec<Vec<f64>> =
            (0..5).map(|i| (0..5).map(|k: i32| 4.0 + 0.64 * f64::from(k.min(i))).collect()).collect();
        check_moments(&all, &[3.0, 3.5, 4.0, 4.5, 5.0], &covariance);
    }
}

/// Two neighbours: ½ (a − b)² and a soft constraint of the sum: in u = (a − b)/√2 and v = (a + b)/√2 the precisions are 2
/// and 2/c².
#[test]
fn neighbours_with_a_soft_constraint() {
    let text = "data { int N; int E; array[E] int i; array[E] int j; vector[N] y; } parameters { vector[N] phi; }
        model { y ~ normal(phi, 1); target += -0.5 * dot_self(phi[i] - phi[j]); sum(phi) ~ normal(0, 0.5); }";
    let json = r#"{"N": 2, "E": 1, "i": [1], "j": [2]}"#;
    assert_eq!(proof(text, json).0, "");
    let (u, v) = (0.5, 0.125);
    let (same, other) = (0.5 * (u + v), 0.5 * (v - u));
    check_moments(&draws(&mut case(text, json), "phi", DRAWS), &[0.0; 2], &[vec![same, other], vec![other, same]]);
    // a longer chain of neighbours, whose scale is stated with its determinant
    let json = r#"{"N": 40, "E": 39, "i": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39],
        "j": [2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40]}"#;
    let scaled = |term: &str| {
        format!(
            "data {{ int N; int E; array[E] int i; array[E] int j; vector[N] y; }} parameters {{ vector[N] phi; real<lower=0> tau; }}
             model {{ y ~ normal(phi, 1); tau ~ gamma(2, 2); target += {term} - 0.5 * tau * dot_self(phi[i] - phi[j]); sum(phi) ~ normal(0, 0.001 * N); }}"
        )
    };
    assert_eq!(proof(&scaled("0.5 * (N - 1) * log(tau)"), json).0, "");
    // without the determinant, or with one more, the prior of the scale is another one
    assert_eq!(proof(&scaled("0"), json).0, "prior-weighs-others");
    assert_eq!(proof(&scaled("0.5 * N * log(tau)"), json).0, "prior-weighs-others");
}

/// A vector that sums to zero has one free number less than elements: with a fixed scale that is a constant.
#[test]
fn types_that_sum_to_zero() {
    let text = "parameters { sum_to_zero_vector[4] b; } model { b ~ normal(0, 2); }";
    let (code, integral) = proof(text, "{}");
    let wanted = -HALF_LOG_TWO_PI - 2.0_f64.ln();
    assert!(code.is_empty() && (integral.expect("a constant") - wanted).abs() < 1e-9, "{code} {integral:?}");
    // 4 (I − 11ᵀ/4)
    let covariance: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|k| if i == k { 3.0 } else { -1.0 }).collect()).collect();
    check_moments(&draws(&mut case(text, "{}"), "b", DRAWS), &[0.0; 4], &covariance);
    let scaled =
        "parameters { sum_to_zero_vector[4] b; real<lower=0> s; } model { s ~ exponential(1); b ~ normal(0, s); }";
    assert_eq!(proof(scaled, "{}").0, "prior-weighs-others");
}

#[test]
fn other_normal_densities() {
    let car = "functions { real car_lpdf(vector p, real tau, real a, matrix W, vector d) {
            int n = rows(p); vector[n] ev = eigenvalues_sym(W ./ (sqrt(d) * sqrt(d)'));
            return 0.5 * (n * log(tau) + sum(log1m(a * ev)) - tau * (dot_product(p .* d, p) - a * quad_form(W, p))); } }
        data { int n; matrix[n, n] W; } transformed data { vector[n] d; for (i in 1:n) d[i] = sum(W[i]); }
        parameters { vector[n] p; real<lower=0> tau; real<lower=0, upper=1> a; }
        model { tau ~ gamma(2, 2); MODEL }";
    let json = r#"{"n": 4, "W": [[0,1,0,1],[1,0,1,0],[0,1,0,1],[1,0,1,0]]}"#;
    let own = car.replace("MODEL", "p ~ car(tau, a, W, d);");
    let precision = car.replace("MODEL", "p ~ multi_normal_prec(rep_vector(0, n), tau * (diag_matrix(d) - a * W));");
    for text in [own, precision] {
        assert_eq!(proof(&text, json).0, "", "{text}");
    }
    // two priors: 1/(1 + ¼) and the mean between, by precision
    let text = "parameters { real x; real y; } model { x ~ normal(0, 1); x ~ normal(5, 2); y ~ normal(x, 1); }";
    assert_eq!(proof(text, "{}").0, "");
    check_moments(&draws(&mut case(text, "{}"), "x", DRAWS), &[1.0], &[vec![0.8]]);
    check_moments(&draws(&mut case(text, "{}"), "y", DRAWS), &[1.0], &[vec![1.8]]);
}

#[test]
fn what_is_not_normal_or_not_proper_is_refused() {
    let cases = [
        (
            "parameters { vector[4] x; real<lower=0> s; } model { s ~ normal(0, 1); x[2:4] - x[1:3] ~ normal(0, s); }",
            "improper-prior",
        ),
        ("parameters { vector[3] a; } model { sum(a) ~ normal(0, 1); }", "improper-prior"),
        ("parameters { vector[3] a; } model { target += 0.5 * dot_self(a); }", "improper-prior"),
        ("parameters { vector[3] a; } model { a ~ student_t(4, 0, 1); sum(a) ~ normal(0, 1); }", "not-invertible"),
        (
            "parameters { vector[3] a; } model { a ~ normal(0, 1); target += -square(a[1] * a[2]); }",
            "term-without-variate",
        ),
        ("parameters { vector[3] a; } model { a ~ normal(0, 1); target += sin(0.1 * a[1]); }", "term-without-variate"),
        (
            "parameters { real a; real<lower=0> s; } model { s ~ gamma(2, 2); a / s ~ normal(0, 1); }",
            "prior-weighs-others",
        ),
        (
            "parameters { vector[3] a; real<lower=0> s; } model { s ~ exponential(1); a ~ normal(0, s); sum(a) ~ normal(0, 0.01); }",
            "prior-weighs-others",
        ),
        // A needle, or a second hill, beside what is normal at all points that are looked at.
        (
            "parameters { real b; } model { target += log_sum_exp(normal_lpdf(b | 0, 1e-4), normal_lpdf(b | 0, 20)); }",
            "term-without-variate",
        ),
        (
            "functions { real two_lpdf(real b, real m) {
               return log_sum_exp(-0.5 * square(b), -0.5 * square((b - m) / 10)); } }
             parameters { real b; } model { b ~ two(1000); }",
            "own-density",
        ),
        (
            "functions { real far(real b) { real z = b; if (b > 1000) z = 0; return -0.5 * square(z); } }
             parameters { real b; } model { target += far(b); }",
            "term-without-variate",
        ),
        (
            "parameters { real b; } transformed parameters { real z = b > 1e3 ? 0 : b; } model { z ~ normal(0, 1); }",
            "not-invertible",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(proof(text, "{}").0, wanted, "{text}");
    }
}

/// What the program refuses is drawn again: a normal variable above 1 has the mean φ(1)/(1 − Φ(1)) and the second moment
/// 1 + that. What is left of the prior is not known.
#[test]
fn what_the_program_refuses_is_drawn_again() {
    let programs = [
        "parameters { real a; } transformed parameters { real<lower=0> b = a - 1; } model { a ~ normal(0, 1); }",
        "parameters { real a; } model { a ~ normal(0, 1); if (a < 1) reject(\"too small\"); }",
    ];
    for text in programs {
        assert_eq!(proof(text, "{}"), (String::new(), None), "{text}");
        let mean = 1.525_135_276_160_98;
        check_moments(&draws(&mut case(text, "{}"), "a", DRAWS), &[mean], &[vec![1.0 + mean - mean * mean]]);
    }
    let never = "parameters { real a; } model { a ~ uniform(0, 1); if (a < 2) reject(\"too small\"); }";
    let mut case = case(never, "{}");
    let error = case.simulator.draw_parameters(None, key(1)).expect_err("nothing is left");
    assert!(error.to_string().contains("too small"), "{error}");
}

/// Log densities that are gathered in a variable first, as brms writes them.
#[test]
fn sums_that_are_gathered() {
    let text = |more: &str| {
        format!(
            "data {{ vector[2] y; }} parameters {{ vector[2] b; real<lower=0> s; }}
             transformed parameters {{ real lprior = 0; lprior += normal_lpdf(b | 0, 2);
               lprior += student_t_lpdf(s | 3, 0, 2.5) - 1 * student_t_lccdf(0 | 3, 0, 2.5); {more} }}
             model {{ y ~ normal(b, s); target += lprior; }}"
        )
    };
    let (code, integral) = proof(&text(""), "{}");
    assert!(code.is_empty() && integral.expect("a constant").abs() < 1e-9, "{code} {integral:?}");
    check_moments(&draws(&mut case(&text(""), "{}"), "b", DRAWS), &[0.0; 2], &[vec![4.0, 0.0], vec![0.0, 4.0]]);
    // what else is added or changed is not forgotten
    assert_eq!(crate::obstacles(&text("if (s > 1) lprior += -s;")), ["term-without-variate"]);
    assert_eq!(crate::obstacles(&text("lprior *= 2;")), ["term-without-variate"]);
}
