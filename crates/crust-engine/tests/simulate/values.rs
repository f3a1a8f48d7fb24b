//! What is drawn and what stays: given first values, masks, suppliers of outcomes, the order of statements.

use crate::{Case, case, data_of, key, parse};
use crust_engine::{Simulator, Values};
use crust_stan::data::write_json;
use crust_stan::joint::{Joint, ReadOptions, Role};

fn draw(text: &str, json: &str) -> (Case, Vec<f64>, crust_stan::data::Data) {
    let mut case = case(text, json);
    let (point, data) = case.draw(5);
    (case, point, data)
}

#[test]
fn what_the_program_does_not_draw_stays_as_given() {
    let text = "data { int N; vector[N] y; } parameters { real<lower=0> s; } model { s ~ gamma(2, 2); for (n in 2:N) y[n] ~ normal(y[n - 1], s); }";
    let (case, _, data) = draw(text, r#"{"N": 3, "y": [7, 1, 2]}"#);
    let y = case.numbers(&data, "y");
    assert_eq!(y[0].to_bits(), 7.0_f64.to_bits());
    assert!((y[1] - 1.0).abs() > 1e-9 && (y[2] - 2.0).abs() > 1e-9);
    let text = "data { int N; int D; matrix[N, D] Y; } parameters { real a; } model { a ~ normal(0, 1);
        for (i in 1:N) for (j in 1:D) if (Y[i, j] > -999999) Y[i, j] ~ normal(a, 1); }";
    let (case, _, data) = draw(text, r#"{"N": 2, "D": 2, "Y": [[1, -1e9], [2, 3]]}"#);
    // column by column
    let y = case.numbers(&data, "Y");
    assert_eq!(y[2].to_bits(), (-1e9_f64).to_bits());
    assert!([0, 1, 3].iter().all(|&i: &usize| y[i].abs() < 10.0 && y[i].fract() != 0.0));
}

#[test]
fn the_order_of_statements_does_not_matter_and_simulated_data_can_be_fed_back() {
    let one = "data { int N; vector[N] x; vector[N] y; } parameters { real a; real<lower=0> s; } model { a ~ normal(0, 3); s ~ gamma(3, 3); y ~ normal(a * x, s); }";
    let json = r#"{"N": 3, "x": [1, 2, 3]}"#;
    let (case, point, data) = draw(one, json);
    let text = write_json(&case.reading.typed, &data);
    let again = data_of(&case.reading, &case.joint, &text);
    assert_eq!(case.numbers(&again, "y"), case.numbers(&data, "y"));
    let mut case = case;
    let values = case.simulator.parameters(&point).expect("values");
    assert_eq!(values["a"], [point[0]]);
    let json: serde_json::Value =
        serde_json::from_str(&case.simulator.parameters_json(&point).expect("text")).expect("JSON");
    assert!(json["s"].as_f64().is_some_and(|s| (s - point[1].exp()).abs() < 1e-12));
    // The same key gives the same draw.
    assert_eq!(case.draw(5).0, point);
}

#[test]
fn fixed_hyperparameters_are_kept_and_others_drawn_given_them() {
    let text = "data { int N; vector[N] y; } parameters { real<lower=0> t; vector[200] a; } model { t ~ gamma(2, 2); a ~ normal(0, t); y ~ normal(a[1], t); }";
    let mut case = case(text, r#"{"N": 1}"#);
    let fixed = Values::from([("t".to_owned(), vec![1000.0])]);
    let point = case.simulator.draw_parameters(Some(&fixed), key(1)).expect("a point");
    assert!((point[0] - 1000.0_f64.ln()).abs() < 1e-12);
    // The standard deviation of 200 normal numbers is within 30 % of the true one with probability 1 - 1e-8.
    let sd = (point[1..].iter().map(|x| x * x).sum::<f64>() / 200.0).sqrt();
    assert!((sd / 1000.0 - 1.0).abs() < 0.3, "{sd}");
}

#[test]
fn users_supply_simulators() {
    let mixture = "data { int N; vector[N] y; } parameters { real a; } model { a ~ normal(0, 1); for (n in 1:N) target += -square(y[n] - a); }";
    let generated = format!("{mixture} generated quantities {{ vector[N] y_sim; for (n in 1:N) y_sim[n] = a + 100; }}");
    let (case, point, data) = draw(&generated, r#"{"N": 2}"#);
    assert_eq!(case.numbers(&data, "y"), [point[0] + 100.0; 2]);
    let simulator =
        "data { int N; } parameters { real a; } generated quantities { vector[N] y = rep_vector(a - 50, N); }";
    let (reading, other) = (parse(mixture), parse(simulator));
    let options = ReadOptions { simulated: ["y".to_owned()].into(), ..ReadOptions::default() };
    let joint = Joint::read(&reading.typed, &options).expect("readable with a simulator");
    let data = data_of(&reading, &joint, r#"{"N": 2}"#);
    let mut drawer = Simulator::new(&reading.typed, &joint, &data, Some(&other.typed)).expect("a simulator");
    let drawn = drawer.draw_data(&[3.0], key(1)).expect("data");
    assert_eq!(case.numbers(&drawn, "y"), [-47.0; 2]);
}

/// Far in a tail draws come from the inverted distribution function: it must be uniform again. The Kolmogorov distance
/// of 1000 uniform numbers is above 0.085 with probability 2 exp(-2 · 1000 · 0.085²) = 1e-6.
#[test]
fn truncated_draws_have_the_conditional_distribution() {
    let upper = |x: f64| {
        (0.5 * (x * x - 64.0)).exp().recip() * 8.0 / x * (1.0 - 1.0 / (x * x) + 3.0 / x.powi(4))
            / (1.0 - 1.0 / 64.0 + 3.0 / 4096.0)
    };
    let text = "parameters { vector<lower=8>[1000] a; array[1000] real<lower=-3, upper=-2.9> b; } model { a ~ std_normal(); b ~ logistic(4, 0.3); }";
    let mut case = case(text, "{}");
    let point = case.simulator.draw_parameters(None, key(2)).expect("a point");
    let values = case.simulator.parameters(&point).expect("values");
    let logistic = |x: f64| 1.0 / (1.0 + (-(x - 4.0) / 0.3).exp());
    let (low, high) = (logistic(-3.0), logistic(-2.9));
    let a = values["a"].iter().map(|x| upper(*x)).collect();
    let b = values["b"].iter().map(|x| (logistic(*x) - low) / (high - low)).collect();
    for (name, mut u) in [("a", a), ("b", b)] as [(&str, Vec<f64>); 2] {
        u.sort_by(f64::total_cmp);
        let distance = u.iter().zip(0..).map(|(u, i)| (u - (f64::from(i) + 0.5) / 1000.0).abs()).fold(0.0, f64::max);
        assert!(distance < 0.085, "{name}: {distance}");
    }
}

#[test]
fn functions_of_the_program_are_followed() {
    let text = "functions { void priors_lp(vector b, real s) { int K = num_elements(b); for (k in 1:K) b[k] ~ normal(0, s); }
          real part_lpmf(array[] int y, int start, int end, vector x, real a) { return bernoulli_logit_lupmf(y | a * x[start:end]); } }
        data { int N; array[N] int y; vector[N] x; } parameters { vector[2] b; real<lower=0> s; real a; }
        model { s ~ gamma(2, 2); priors_lp(b, s); a ~ normal(0, 1); target += reduce_sum(part_lupmf, y, 1, x, a); }";
    let (case, point, data) = draw(text, r#"{"N": 3, "x": [1, 2, 3]}"#);
    assert_eq!(point.len(), 4);
    assert!(case.numbers(&data, "y").iter().all(|y| [0.0, 1.0].contains(y)));
    let hyper: Vec<&str> =
        case.joint.hyperparameters.iter().map(|id| case.joint.program.variable(*id).name.as_str()).collect();
    assert_eq!(hyper, ["s"]);
}

#[test]
fn roles_are_decided_by_the_variate() {
    let text = "data { vector[2] y; vector[2] c; } parameters { real m; real<lower=0> s; }
        model { vector[2] err = y - m; real lprior = 0; lprior += normal_lpdf(m | 0, 1); lprior += student_t_lpdf(s | 3, 0, 1) - student_t_lccdf(0 | 3, 0, 1);
                target += lprior; err ~ normal(0, s); target += normal_lccdf(c | m, s) + lognormal_lpdf(s | 0, 1); }";
    let reading = parse(text);
    let split = crust_stan::joint::Split::of(&reading.typed);
    let mut roles = Vec::new();
    for stmt in reading.typed.block(crust_stan::ast::BlockKind::Model) {
        crust_stan::joint::walk::each(stmt, &mut |s| match &s.kind {
            crust_stan::typed::StmtKind::Tilde(t) => roles.push(split.of_tilde(t)),
            crust_stan::typed::StmtKind::TargetPlus(e) => roles.extend(split.terms(e).iter().map(|t| t.role)),
            _ => {}
        });
    }
    assert_eq!(roles, [Role::Prior, Role::Likelihood, Role::Likelihood, Role::Prior]);
}
