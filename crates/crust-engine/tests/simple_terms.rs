//! Densities that lists write out as sums of simple terms, against the machine, which has the densities themselves.

mod common;

use common::{Evaluated, bind, evaluate, scattered};
use crust_engine::Terms;

const DATA: &str = r#"{"N": 5, "y": [0.3, 1.7, 0.9, 2.4, 0.05], "u": [-0.4, 1.1, 0.3, 2.2, -1.5], "k": [1, 0, 1, 1, 0],
    "n": [3, 0, 2, 5, 1], "m": [4, 2, 2, 9, 3], "c": [2, 0, 5]}"#;

const DECLARATIONS: &str = "data { int N; vector[N] y; vector[N] u; array[N] int k; array[N] int n; array[N] int m;
    array[3] int c; }
parameters { real a; real b; real<lower=0> s; real<lower=0> r; real<lower=0, upper=1> p; real<lower=0, upper=1> q;
    real<lower=1> h; real<lower=-1, upper=3> t; vector[3] v; vector<lower=0>[3] w; simplex[3] x; ordered[3] o;
    positive_ordered[3] e; sum_to_zero_vector[3] z; }";

/// Each is a program by itself.
const MODELS: &[&str] = &[
    "p ~ beta(1, 1); q ~ beta(2.5, 0.7); target += beta_lpdf(p | 2, 3); (1 - q) ~ beta(2, 4);",
    "s ~ gamma(2, 0.5); h ~ gamma(3, 0.1); target += gamma_lpdf(r | 1, 2); w ~ gamma(0.3, 1);",
    "y ~ gamma(s, r); target += gamma_lpdf(y | s, 2); y ~ gamma(2.5, r);",
    "y[1] ~ gamma(s, 1.5); w ~ gamma(s, r);",
    "s ~ inv_gamma(0.1, 0.2); target += inv_gamma_lpdf(h | 2, 3); s ~ chi_square(3); target += chi_square_lpdf(r | 4);",
    "s ~ exponential(2); y ~ exponential(r); w ~ exponential(r); target += exponential_lpdf(y | 2 * s * r);",
    "s ~ lognormal(0.3, 2); target += lognormal_lpdf(r | -1, 0.5); w ~ lognormal(0, 1); h ~ lognormal(0, 1);",
    "a ~ normal(0, 10); b ~ normal(1, 2); v ~ std_normal(); target += normal_lpdf(a - b | 0.5, 3);",
    "target += std_normal_lpdf(v); s ~ normal(0, 2); a ~ normal(b, 3); target += normal_lpdf(2 | a, 4);",
    "u ~ normal(a, s);",
    "target += normal_lpdf(u | a, s); u ~ normal(a + b, sqrt(r));",
    "u ~ normal(0.5, s); u ~ normal(p, h);",
    "v ~ normal(a, s); o ~ normal(0, r); a ~ normal(b, 2 * s);",
    "target += normal_lpdf(v | a, s); v ~ normal(a, s); v ~ normal(a, s);",
    "u[1] ~ normal(a, s); u[2] ~ normal(b, s); v ~ normal(o, w);",
    "s ~ cauchy(0, 5); a ~ cauchy(1, 2); target += cauchy_lpdf(b | -1, 3); v ~ cauchy(0, 1);",
    "a ~ student_t(3, 1, 2); s ~ student_t(4, 0, 1.5); target += student_t_lpdf(b | 7, 0, 2);",
    "p ~ uniform(0, 1); t ~ uniform(-1, 3); target += uniform_lpdf(t | -2, 5); q ~ uniform(0, 2);",
    "y ~ weibull(s, r); target += weibull_lpdf(y | h, s);",
    "k ~ bernoulli(p); k ~ bernoulli(1 - q); k[1] ~ bernoulli(p * q); target += bernoulli_lpmf(k | q);",
    "k ~ bernoulli_logit(a); n ~ binomial_logit(m, a + b); n[4] ~ binomial_logit(m[4], b);",
    "n ~ binomial(m, p); n[1] ~ binomial(m[1], p * q); target += binomial_lpmf(n | m, q);",
    "n ~ poisson(s); n ~ poisson(2 * s * r); target += poisson_lpmf(n | h); n[2] ~ poisson(s + r);",
    "n ~ poisson_log(a); target += poisson_log_lpmf(n | a + b); n[1] ~ poisson_log(b);",
    "c ~ multinomial(x); x ~ dirichlet([1, 2, 0.5]'); target += multinomial_lpmf(c | x);",
    "o ~ normal(0, 3); e ~ exponential(1); e ~ normal(0, s); z ~ normal(0, s); target += -dot_self(z);",
    "for (i in 1:5) y[i] ~ wiener(h, 0.03, p, a); for (i in 1:5) y[i] ~ wiener(h + s, 0.04, 1 - p, -a);",
    "y ~ wiener(0.3 + s, 0.01 * p, q, b); target += wiener_lpdf(y | h, 0.02, p, a);",
    "(n[1] + 1) ~ poisson(s) T[1, ]; 2 ~ poisson(s * r) T[1, ];",
    "target += log(s) + 2 * log(p) - log1m(q) / 3 + sqrt(r) - square(a - 1) * 0.5;",
    "target += dot_product([0.5, 2, -1]', v) + sum(w) - (a - (b - 2 * a));",
    // Densities that several terms and other operations have in common.
    "for (i in 1:3) target += student_t_lpdf(u[i] | 4, a, s) + normal_lpdf(a | 0, 3);",
    "{ real f = normal_lpdf(a | 0, 1); target += f + b; target += f - b * b; target += log_sum_exp(f, b); }",
    "{ real f = exponential_lpdf(s | 2) + 1; target += f; target += f; target += square(f); target += 2 * f; }",
    "{ real f = normal_lpdf(b | 1, 2); p ~ normal(f, 1); target += f; target += -f * q; }",
    "{ vector[3] g = [p * q, p * (1 - q), 1 - p]'; c ~ multinomial(g); }",
];

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-11 * expected.abs().max(1.0)
}

fn agree(found: &Evaluated, expected: &Evaluated, what: &str) {
    for (l, own) in found.gradient.iter().enumerate() {
        let ends = [(&found.log_prior, &expected.log_prior), (&found.log_likelihood, &expected.log_likelihood)];
        for (name, (found, expected)) in ["prior", "likelihood"].iter().zip(ends) {
            assert!(close(found[l], expected[l]), "{what}, {name}, lane {l}: {} and {}", found[l], expected[l]);
        }
        for (k, (found, expected)) in own.iter().zip(&expected.gradient[l]).enumerate() {
            assert!(close(*found, *expected), "{what}, lane {l}, derivative {k}: {found} and {expected}");
        }
    }
}

fn check(program: &str, what: &str) {
    let model = bind(program, DATA);
    let points = scattered(model.dimension(), 16, 0.271);
    let beta: Vec<f64> = (1..=16).map(|l| 0.07 * f64::from(l)).collect();
    for (propto, jacobian) in [(true, true), (false, true), (true, false)] {
        let terms = Terms { propto, jacobian };
        let mut exact = model.evaluator().with_lists(false).with_flat_loops(false);
        let mut listed = model.evaluator();
        let expected = evaluate(&mut exact, &points, Some(&beta), terms);
        for _ in 0..2 {
            agree(&evaluate(&mut listed, &points, Some(&beta), terms), &expected, what);
        }
        assert!(listed.lists() > 0, "{what} is no list");
        let mut alone = model.evaluator();
        for (l, point) in points.iter().enumerate() {
            let together = evaluate(&mut listed, &points, None, terms);
            let own = evaluate(&mut alone, std::slice::from_ref(point), None, terms);
            let bits = |evaluated: &Evaluated, l: usize| -> Vec<u64> {
                evaluated.gradient[l].iter().chain([&evaluated.log_prior[l]]).map(|x| x.to_bits()).collect()
            };
            assert_eq!(bits(&own, 0), bits(&together, l), "{what}, lane {l} alone");
        }
    }
}

#[test]
fn written_out_densities_are_the_densities() {
    for model in MODELS {
        check(&format!("{DECLARATIONS}\nmodel {{ {model} }}"), model);
    }
}

#[test]
fn all_terms_together() {
    check(&format!("{DECLARATIONS}\nmodel {{ {} }}", MODELS.join("\n")), "all");
}

/// Constraints of transformed parameters hold by construction, or are checked by the list.
#[test]
fn constraints_of_transformed_parameters() {
    let good = "transformed parameters { real<lower=0, upper=1> f = inv_logit(a); real<lower=0> g = 1 / sqrt(s);
        simplex[3] i = [p * q, p * (1 - q), 1 - p]'; ordered[2] j = [a, a + s]'; }
        model { c ~ multinomial(i); a ~ normal(j[2], g); k ~ bernoulli(f); }";
    check(&format!("{DECLARATIONS}\n{good}"), "constraints that hold");
    for bad in ["real<lower=0> f = a;", "simplex[2] f = [a, b]';", "ordered[2] f = [a, b]';", "real<upper=0.5> f = p;"]
    {
        let model =
            bind(&format!("{DECLARATIONS}\ntransformed parameters {{ {bad} }} model {{ p ~ beta(2, 3); }}"), DATA);
        let points = scattered(model.dimension(), 16, 0.61);
        let mut exact = model.evaluator().with_lists(false).with_flat_loops(false);
        let mut listed = model.evaluator();
        for _ in 0..2 {
            let [found, expected] = [&mut listed, &mut exact].map(|own| evaluate(own, &points, None, Terms::default()));
            let outside = |evaluated: &Evaluated| -> Vec<bool> {
                evaluated.log_prior.iter().map(|x| *x == f64::NEG_INFINITY).collect()
            };
            assert!(outside(&expected).contains(&true), "{bad}");
            assert_eq!(outside(&found), outside(&expected), "{bad}");
        }
    }
}
