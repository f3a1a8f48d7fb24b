//! KL of approximations between bounds, where it is known.

use crust_api::result::{BreadApproximation, Level};
use crust_api::{
    Annealing, ApproximationChoice, BreadOptions, Diagnosis, Problem, Session, Source, TaddaaOptions,
    bread_approximation, taddaa,
};

#[path = "../examples/kl_regressions/regression.rs"]
mod regression;

use regression::Regression;

fn judge(problem: &Problem, method: ApproximationChoice, datasets: u32) -> (BreadApproximation, Diagnosis) {
    let annealing = Annealing { chains: 32, steps: vec![100], ..Annealing::default() };
    let options = BreadOptions { annealing, replicates: datasets, budget: None, ..BreadOptions::default() };
    let run = bread_approximation(problem, &options, (method, 2.0), &Session::default()).expect("a run");
    (run.result, run.diagnosis)
}

/// Every one of the 12 datasets is a run in which the exact KL lies between the bounds with 95 %: fewer than 9 have a
/// probability of 2·10⁻⁴.
#[test]
fn exact_divergences_lie_between_the_bounds() {
    let regression = Regression::new(4, 20, 0.9, 1);
    let problem = regression.problem();
    let (found, diagnosis) = judge(&problem, ApproximationChoice::Meanfield, 12);
    let exact = regression.kl_mean_field(2.0);
    assert!(exact.q_p > 1.0, "a test of something");
    let holds = |fit: &&crust_api::result::FitOf| {
        let bounds = &fit.bounds;
        bounds.kl_at_least <= exact.q_p && bounds.kl_at_most.is_some_and(|most| exact.q_p <= most)
    };
    assert_eq!(found.simulated.len(), 12);
    assert!(found.simulated.iter().filter(holds).count() >= 9, "{exact:?}: {:?}", found.simulated);
    assert!(found.kl_q_p.at_least <= exact.q_p && exact.q_p <= found.kl_q_p.at_most, "{:?} {exact:?}", found.kl_q_p);
    assert!(found.kl_p_q.at_least <= exact.p_q && exact.p_q <= found.kl_p_q.at_most, "{:?} {exact:?}", found.kl_p_q);
    assert!(found.kl_q_p.at_most - found.kl_q_p.at_least < 0.5, "the bounds are tight");
    let real = found.real.as_ref().expect("a fit to the real data").bounds.kl_at_least;
    let exact = regression.kl_mean_field(1.0).q_p;
    assert!(real <= exact && real > 0.7 * exact, "{real} {exact}");
    assert_eq!((found.verdict.level, diagnosis), (Level::Poor, Diagnosis::Bad));
    // The right family is found to be right.
    let (found, diagnosis) = judge(&problem, ApproximationChoice::Fullrank, 6);
    assert!(found.kl_q_p.at_most < 0.3, "{:?}", found.kl_q_p);
    assert_eq!((found.verdict.level, diagnosis), (Level::Good, Diagnosis::Fine), "{}", found.verdict.sentence);
}

/// ELBO ≤ IW-ELBO ≤ log Z on the real data, and the bound on KL is one.
#[test]
fn taddaa_bounds_the_divergence_on_real_data() {
    let regression = Regression::new(4, 20, 0.9, 1);
    let found =
        taddaa(&regression.problem(), &TaddaaOptions::default(), &Session::default()).expect("a diagnosis").result;
    let (bounds, log_z) = (found.bounds.expect("a density"), regression.log_evidence());
    let lower = bounds.log_z_lower.expect("chains");
    assert!(bounds.elbo < bounds.iw_elbo && bounds.iw_elbo < log_z + 0.1, "{bounds:?} {log_z}");
    // A limit of 97.5 %: that it is above by more than a hair is a mistake.
    assert!(lower <= log_z + 0.02 && lower > log_z - 0.3, "{lower} {log_z}");
    let exact = regression.kl_mean_field(1.0).q_p;
    assert!(bounds.kl_at_least <= exact + 0.02 && bounds.kl_at_least > 0.7 * exact, "{bounds:?} {exact}");
}

/// Flat priors, which cannot be drawn from, and a family that fails.
#[test]
fn flat_priors_and_failures() {
    let program = "data { int N; vector[N] y; } parameters { real mu; real<lower=0> s; } model { y ~ normal(mu, s); }";
    let data = r#"{"N": 6, "y": [1.2, 0.3, 2.1, 0.9, 1.4, -0.3]}"#;
    let problem =
        Problem::read(Source::text("m.stan", program), Some(Source::text("d.json", data))).expect("a problem");
    let (found, _) = judge(&problem, ApproximationChoice::Laplace, 4);
    assert_eq!(found.simulated.len(), 4);
    assert!(found.kl_q_p.at_most < 1.0, "{:?}", found.kl_q_p);
    let few = BreadOptions { replicates: 2, ..BreadOptions::default() };
    let refused = bread_approximation(&problem, &few, (ApproximationChoice::Laplace, 2.0), &Session::default());
    assert!(refused.is_err());
}
