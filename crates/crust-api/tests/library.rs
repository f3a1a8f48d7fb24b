//! The library as others use it: programs and data from memory, typed errors, observers and stops.

use crust_api::result::{Bread, Level, Simulation, Verdict};
use crust_api::{
    Annealing, BdmcOptions, BreadOptions, DensityOptions, Diagnosis, Error, Look, Message, Observer, PathChoice,
    Problem, Progress, Refusal, SampleOptions, Session, Source, Stop, bdmc, bread, density, render, sample,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const MODEL: &str = "data { int<lower=0> N; vector[N] x; vector[N] y; }
parameters { real a; real b; real<lower=0> s; }
model {
  a ~ normal(0, 1);
  b ~ normal(0, 1);
  s ~ exponential(1);
  y ~ normal(a + b * x, s);
}";
const DATA: &str = r#"{"N": 4, "x": [0, 1, 2, 3], "y": [1, 2, 4, 4.5]}"#;

fn problem(program: &str, data: &str) -> Result<Problem, Error> {
    Problem::read(Source::text("model.stan", program), Some(Source::text("data.json", data)))
}

fn short() -> Annealing {
    Annealing { chains: 4, steps: vec![10], ..Annealing::default() }
}

#[test]
fn mistakes_keep_their_places() {
    let error = problem("parameters { real a; } model { a ~ normla(0, 1); }", "{}").expect_err("a mistake");
    let Error::Program { program } = &error else { panic!("{error:?}") };
    assert_eq!(program.problems().len(), 1);
    let text = render(&error, Look::default());
    assert!(text.contains("model.stan:1:") && text.ends_with("error: 1 mistake found"), "{text}");

    let wrong = problem(MODEL, r#"{"N": 4, "x": [0, 1, 2, 3], "y": [1, 2]}"#).expect("the program is fine");
    let error = wrong.model(1).map(|_| ()).expect_err("two numbers are missing");
    assert!(matches!(&error, Error::Data { errors, .. } if errors.problems.len() == 1), "{error:?}");
    assert!(render(&error, Look::default()).contains("`y`"));
}

/// What a sampler hands on without knowing what it is comes back as what it was.
#[test]
fn mistakes_in_a_run_keep_their_type() {
    let program = "data { int N; } parameters { real a; } model { a ~ normal(0, 1); vector[2] v = [a, a]'; target += \
                   v[N]; }";
    let problem = problem(program, r#"{"N": 3}"#).expect("a valid program");
    let options = SampleOptions { warmup: 10, draws: 10, ..SampleOptions::default() };
    let error = sample(&problem, &options, &Session::default()).expect_err("index 3 of 2");
    let Error::Engine { error: cause, .. } = &error else { panic!("{error:?}") };
    assert!(cause.0[0].message.contains("out of range"), "{cause}");
    assert!(render(&error, Look::default()).contains("model.stan:1:"));
}

#[test]
fn options_and_data_are_refused_with_reasons() {
    let problem = problem(MODEL, DATA).expect("a problem");
    let steps = Annealing { steps: vec![30, 10], ..short() };
    let error = bread(&problem, &BreadOptions { annealing: steps, ..BreadOptions::default() }, &Session::default());
    assert!(matches!(error, Err(Error::Option { name: "steps", .. })));

    let path = Annealing { path: Some(PathChoice::Data("K".to_owned())), ..short() };
    let error = bdmc(&problem, &BdmcOptions { annealing: path, ..BdmcOptions::default() }, &Session::default());
    let error = error.map(|_| ()).expect_err("no K");
    assert_eq!(
        error.to_string(),
        "--path data:K: the data block has no `K`: name the integer that counts the \
                                   observations"
    );

    let same = r#"{"N": 3, "x": [0, 1, 2], "y": [5, 5, 5]}"#;
    let same = Problem::new(problem.program().clone(), Some(Source::text("same.json", same))).expect("a problem");
    let error = bread(&same, &BreadOptions::default(), &Session::default()).map(|_| ()).expect_err("no variation");
    assert!(matches!(error, Error::Refused(Refusal::AllTheSame { count: 3, .. })), "{error:?}");
}

/// Counts what it is told.
#[derive(Default)]
struct Listener {
    advanced: AtomicU64,
    begun: Mutex<Vec<String>>,
    messages: Mutex<Vec<String>>,
}

impl Observer for Listener {
    fn progress(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Begin { what, .. } => self.begun.lock().expect("a list").push((*what).to_owned()),
            Progress::Until(_) => {}
            Progress::Advance(steps) => {
                self.advanced.fetch_add(*steps, Ordering::Relaxed);
            }
        }
    }

    fn message(&self, message: &Message<'_>) {
        if let Message::Printed(line) = message {
            self.messages.lock().expect("a list").push((*line).to_owned());
        }
    }
}

#[test]
fn observers_hear_of_everything() {
    let program = format!("{MODEL}\ngenerated quantities {{ print(\"drawn\"); }}");
    let problem = problem(&program, DATA).expect("a problem");
    let listener = Listener::default();
    let session = Session { observer: &listener, ..Session::default() };
    let options = SampleOptions { chains: 2, warmup: 50, draws: 20, ..SampleOptions::default() };
    let output = sample(&problem, &options, &session).expect("draws");
    assert_eq!(output.draws.lengths(), (20, 20));
    assert_eq!(listener.advanced.load(Ordering::Relaxed), 2 * 70);
    assert_eq!(listener.messages.lock().expect("a list").iter().filter(|line| *line == "drawn").count(), 2 * 20);
    let options = BdmcOptions { annealing: short(), rank_checks: 0, ..BdmcOptions::default() };
    bdmc(&problem, &options, &session).expect("a result");
    assert!(listener.begun.lock().expect("a list").len() > 2);
}

#[test]
fn a_stop_ends_a_run() {
    let problem = problem(MODEL, DATA).expect("a problem");
    let stop = Stop::default();
    stop.stop();
    let session = Session { stop, ..Session::default() };
    let options = BdmcOptions { annealing: short(), ..BdmcOptions::default() };
    match bdmc(&problem, &options, &session) {
        Ok(output) => assert!(output.diagnosis == Diagnosis::Partial && output.result.partial),
        Err(error) => assert!(matches!(error, Error::Interrupted), "{error:?}"),
    }
}

/// A problem is read and bound once, and can be used again and again.
#[test]
fn problems_are_bound_once() {
    let problem = problem(MODEL, DATA).expect("a problem");
    let first = problem.model(1).expect("a model");
    assert!(std::sync::Arc::ptr_eq(&first, &problem.model(1).expect("a model")));
    let points = Source::text("points", "[[0.1, 0.2, 0.3], [1, 1, 1]]");
    let at = |session: &Session<'_>| density(&problem, &points, DensityOptions::default(), session).expect("densities");
    assert_eq!(at(&Session::default()), at(&Session::default()));
    // a + b x at 0.1, 0.2 and log s = 0.3, by hand
    let s = 0.3_f64.exp();
    let normal = |y: f64, mean: f64, sd: f64| {
        -0.5 * ((y - mean) / sd).powi(2) - sd.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
    };
    let likelihood: f64 =
        [(0.0, 1.0), (1.0, 2.0), (2.0, 4.0), (3.0, 4.5)].iter().map(|(x, y)| normal(*y, 0.1 + 0.2 * x, s)).sum();
    let expected = normal(0.1, 0.0, 1.0) + normal(0.2, 0.0, 1.0) - s + 0.3 + likelihood;
    let found = at(&Session::default()).points[0].log_density.expect("a number");
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

/// A short run of `bread` on a program of one vector of outcomes.
fn briefly(program: &str, json: &str) -> Result<Bread, Error> {
    bread(&problem(program, json)?, &brief(), &Session::default()).map(|run| run.result)
}

fn brief() -> BreadOptions {
    let annealing = Annealing { chains: 12, steps: vec![10], ..short() };
    // Without a budget: a fit is as long on a busy machine.
    BreadOptions { annealing, replicates: 0, budget: None, ..BreadOptions::default() }
}

/// Bounds that cut off nothing where the posterior is do no harm; where they do, what is drawn is not what the program
/// states, and that is an error.
#[test]
fn bounds_of_outcomes_matter_where_the_posterior_is() {
    let program = "data { int N; vector<lower=0, upper=200>[N] y; } parameters { real m; real<lower=0> s; }
        model { y ~ normal(m, s); }";
    let far = briefly(program, r#"{"N": 8, "y": [90, 95, 100, 110, 92, 98, 93, 104]}"#).expect("a verdict");
    assert!(far.simulation.why.contains("declared bounds"), "{}", far.simulation.why);
    assert!(!far.simulation.has_log_ml);
    // The fit shows it, and serves the verdict that rests on the real data alone.
    let cut = r#"{"N": 8, "y": [1, 5, 100, 12, 7, 8, 3, 4]}"#;
    let near = briefly(program, cut).expect("a verdict");
    assert_eq!(near.simulation.kind, Simulation::Nothing);
    assert!(near.fit.is_some_and(|fit| fit.draws == 1000 && !fit.given));
    let asked = BreadOptions { simulate: Some(Simulation::Conditional), ..brief() };
    let refused = bread(&problem(program, cut).expect("a problem"), &asked, &Session::default()).map(|_| ());
    assert!(matches!(refused, Err(Error::Reading { .. })), "{refused:?}");
}

/// Three numbers that depend on each other and whose density nothing can be drawn from: the verdict rests on draws of
/// the fit, says so, and there is nothing to compare and no marginal likelihood.
#[test]
fn where_nothing_can_be_simulated_the_real_data_are_annealed() {
    let program = "data { vector[3] y; } parameters { real m; }
        model { m ~ normal(0, 1); target += -0.5 * square(y[1] * y[2] - m * y[3]) - square(m - y[1]); }";
    let found = briefly(program, r#"{"y": [1.2, 0.4, -0.3]}"#).expect("a verdict");
    assert_eq!(found.simulation.kind, Simulation::Nothing);
    assert!(found.simulation.why.contains("depend on each other"), "{}", found.simulation.why);
    assert!(!found.simulation.has_log_ml && found.predictive.is_none() && found.real.heuristic.is_none());
    // m is normal, and so is the reference
    let bound = found.confirmation.expect("new chains").rung.jeffreys_upper;
    assert!(bound < 0.1, "{bound}");
    let Verdict { level, sentence, rests_on, .. } = found.verdict;
    assert_eq!(level, Level::Good);
    assert!(sentence.contains("if draws of the fit are draws of the posterior"), "{sentence}");
    assert!(rests_on[0].starts_with("heuristic"), "{rests_on:?}");
}

/// A likelihood with a missing term (log s) is no density: the verdict itself says so.
#[test]
fn a_likelihood_that_is_no_density_is_told_in_the_verdict() {
    let program = "data { vector[4] y; } parameters { real m; real<lower=0> s; }
        model { m ~ normal(0, 5); s ~ exponential(1);
        for (n in 1:4) target += -0.5 * square((y[n] - m) / s) + 2 * normal_lpdf(s | 1, 0.1); }";
    let found = briefly(program, r#"{"y": [1.2, 0.4, -0.3, 2.0]}"#).expect("a verdict");
    assert_eq!(found.simulation.kind, Simulation::Nothing);
    assert!(found.verdict.sentence.contains("the likelihood is no density of `y`"), "{}", found.verdict.sentence);
}

/// The posterior of the real data is what is annealed, up and down: chains on the "simulated" data are those on the real.
#[test]
fn nothing_is_simulated_where_that_is_asked_for() {
    let options = BreadOptions { simulate: Some(Simulation::Nothing), ..brief() };
    let found = bread(&problem(MODEL, DATA).expect("a problem"), &options, &Session::default()).expect("a verdict");
    let (real, simulated) = (&found.result.real.rungs[0], &found.result.simulated.rungs[0]);
    // each is relative to a level of its own
    let level = real.forward[0] - simulated.forward[0];
    assert!(real.forward.iter().zip(&simulated.forward).all(|(a, b)| (a - b - level).abs() < 1e-12));
    assert_eq!(real.forward.len(), 12);
    assert_eq!(found.result.simulation.why, "it was asked for");
}

/// What is censored stays as it is, and only the rest is drawn: nothing is compared then, and there is no log-ML.
#[test]
fn censored_observations_get_a_verdict() {
    let program =
        "data { int N; vector<lower=0>[N] t; array[N] int d; } parameters { real<lower=0> a; real<lower=0> s; }
        model { a ~ gamma(4, 4); s ~ gamma(4, 2);
          for (n in 1:N) { if (d[n] == 1) t[n] ~ weibull(a, s); else target += weibull_lccdf(t[n] | a, s); } }";
    let json = r#"{"N": 8, "t": [0.5, 1.2, 2, 2, 0.9, 1.7, 2, 0.2], "d": [1, 1, 0, 0, 1, 1, 0, 1]}"#;
    let found = briefly(program, json).expect("a verdict");
    assert!(found.simulation.why.contains("censored"), "{}", found.simulation.why);
    assert!(!found.simulation.has_log_ml && found.predictive.is_none() && found.calibration.is_none());
}

/// What transformed data compute is the outcome where the model is about it, and stays as it is where it sizes
/// something: the largest answer is the number of categories.
#[test]
fn computed_outcomes_are_drawn() {
    let standardised = "data { int N; vector[N] x; vector[N] y; }
transformed data { vector[N] z = (y - mean(y)) / sd(y); }
parameters { real a; real b; real<lower=0> s; }
model { a ~ normal(0, 1); b ~ normal(0, 1); s ~ exponential(1); z ~ normal(a + b * x, s); }";
    let numbers = r#"{"N": 6, "x": [-1, 0, 1, 2, 0.5, -0.5], "y": [5.1, 7.2, 9.4, 9.9, 8.8, 6.1]}"#;
    let categories = "data { int N; array[N] int<lower=1> y; }
transformed data { int m = max(y); }
parameters { simplex[m] p; }
model { for (n in 1:N) target += log(p[y[n]]); }";
    let answers = r#"{"N": 8, "y": [1, 2, 3, 1, 2, 2, 3, 1]}"#;
    for (program, data, outcome) in [(standardised, numbers, "z"), (categories, answers, "y")] {
        let problem = problem(program, data).expect("a problem");
        let options = BreadOptions { annealing: short(), replicates: 0, ..BreadOptions::default() };
        let found = bread(&problem, &options, &Session::default()).expect("a verdict").result;
        assert_eq!(found.simulation.kind, Simulation::Conditional, "{program}: {:?}", found.simulation);
        let drawn: Vec<&str> = found.reading.outcomes.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(drawn, [outcome], "{program}");
    }
}
