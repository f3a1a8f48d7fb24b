//! Bidirectional Monte Carlo on WebPPL programs whose evidence can be enumerated.

use crust_api::{
    Annealing, BdmcOptions, BreadOptions, CompareOptions, Error, KernelChoice, MethodOptions, Problem, Session, Source,
    WebPplProblem, bdmc_webppl, bread_webppl, check_webppl, compare_both, compare_webppl,
};
use crust_webppl::{Options, Program, run};
use serde_json::Value;
use std::path::PathBuf;

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn float(n: usize) -> f64 {
    n as f64
}

/// Models with few executions: numbers in place of `@a` and `@b` make five of each.
const TEMPLATES: [&str; 6] = [
    // one choice
    "var model = function() { var a = flip(@a); map(function(v) { observe(Bernoulli({p: a ? @b : 0.3}), v); }, y); };",
    // a chain of states
    "var model = function() {
       reduce(function(v, state) {
         var next = discrete(state === 0 ? [@a, 1 - @a] : [0.3, 0.7]);
         observe(Bernoulli({p: next === 0 ? @b : 0.1}), v);
         return next; }, 0, y); };",
    // a number of choices that is drawn
    "var grow = function(n) { return n < 3 && flip(@a) ? 1 + grow(n + 1) : 0; };
     var model = function() {
       var n = grow(0);
       map(function(v) { observe(Bernoulli({p: @b * (n + 1) / 4}), v); }, y); };",
    // a mixture with a number of components that is drawn
    "var model = function() {
       var k = flip(@a) ? 2 : 3;
       var ps = repeat(k, function() { return uniformDraw([0.1, 0.5, @b]); });
       map(function(v) { var z = randomInteger(k); observe(Bernoulli({p: ps[z]}), v); }, y.slice(0, 3)); };",
    // memoised choices, the same name met again
    "var model = function() {
       var colour = mem(function(i) { return discrete([@a, 1 - @a, 0.5]); });
       map(function(v) {
         var i = flip(0.5) ? 0 : 1;
         observe(Categorical({ps: [@b, colour(i) + 0.1], vs: [true, false]}), v); }, y.slice(0, 4)); };",
    // numbers that are observed, and choices whose distributions depend on others
    "var model = function() {
       var a = binomial({n: 2, p: @a});
       var b = a === 1 ? uniformDraw([0, 2, 5]) : (flip(@b) ? 1 : 3);
       map(function(v) { observe(Gaussian({mu: a + b, sigma: 1 + a}), v); }, y); };",
];

const DATA: &str = r#"{"y": [true, false, true, true, false]}"#;

fn text(template: usize, variant: usize) -> String {
    let a = ["0.2", "0.35", "0.5", "0.65", "0.8"][variant];
    let b = ["0.9", "0.6", "0.75", "0.45", "0.85"][variant];
    TEMPLATES[template].replace("@a", a).replace("@b", b)
}

fn problem(text: &str, data: Option<&str>) -> WebPplProblem {
    let data = data.map(|data| Source::text("data.json", data));
    WebPplProblem::read(Source::text("test.wppl", text), data, None).expect("a program")
}

/// log p(y) by enumeration.
fn evidence(text: &str, observations: &Value) -> f64 {
    let program = format!("{text}\nInfer({{method: 'enumerate', model: model}}).normalizationConstant");
    let given = vec![("y".to_owned(), observations.to_string())];
    let program = Program::compile_with("test.wppl", &program, given).expect("compiles");
    run(&program, &Options::default()).expect("runs").json.parse().expect("a number")
}

/// A folder of this test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("crust-webppl-{name}-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&folder));
    folder
}

fn annealing(steps: &[usize], chains: usize) -> Annealing {
    Annealing { chains, steps: steps.to_vec(), tolerance: 1e-9, ..Annealing::default() }
}

/// On 30 programs: E[w] = p(y) forward and E[p(y) w] = 1 reverse, and bounds are wrong by c nats with a probability of
/// at most e^(−c).
#[test]
fn bounds_hold_at_their_rates() {
    let (mut above, mut below) = (0, 0);
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for template in 0..TEMPLATES.len() {
        for variant in 0..5 {
            let text = text(template, variant);
            let folder = folder(&format!("rates-{template}-{variant}"));
            let annealing = Annealing { folder: Some(folder.clone()), ..annealing(&[4, 16], 24) };
            let kernel = if variant % 2 == 0 { KernelChoice::Hmc } else { KernelChoice::Mh };
            let method = MethodOptions { kernel, ..MethodOptions::default() };
            let options = BdmcOptions { annealing, method, rank_checks: 0, ..BdmcOptions::default() };
            let seed = 100 + (5 * template + variant) as u64;
            let found = bdmc_webppl(&problem(&text, Some(DATA)), &options, &Session { seed, ..Session::default() });
            let found = found.unwrap_or_else(|error| panic!("{text}: {error}"));
            drop(std::fs::remove_dir_all(folder));
            let data: Value = serde_json::from_str(&found.simulated[0].simulated.data.0).expect("json");
            let exact = evidence(&text, &data["observations"]);
            for rung in &found.result.rungs {
                let mean = |values: &[f64], sign: f64| {
                    values.iter().map(|v| (sign * (v - exact)).exp()).sum::<f64>() / float(values.len())
                };
                above += rung.forward.iter().filter(|w| **w > exact + 100.0_f64.ln()).count();
                below += rung.reverse.iter().filter(|w| **w < exact - 100.0_f64.ln()).count();
                up.push(mean(&rung.forward, 1.0));
                down.push(mean(&rung.reverse, -1.0));
            }
            assert!(!found.result.violation, "{text}");
        }
    }
    // 1440 chains each way, of which one in a hundred may be wrong; reverse chains of a program share their start
    assert!(above < 40 && below < 60, "{above} {below}");
    // means of 60 rungs, each of expectation 1: five standard errors
    for means in [up, down] {
        let n = float(means.len());
        let mean = means.iter().sum::<f64>() / n;
        let sd = (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        assert!((mean - 1.0).abs() < 5.0 * sd / n.sqrt(), "{mean} ± {}", sd / n.sqrt());
        assert!(sd / n.sqrt() < 0.1, "too noisy to tell: {sd}");
    }
}

/// A model with continuous choices: the rank check sees nothing wrong, the sandwich closes, threads do not matter.
#[test]
fn a_normal_mean_is_sandwiched() {
    let text = "var model = function() {
        var mu = gaussian(0, 2);
        map(function(v) { observe(Gaussian({mu: mu, sigma: 1}), v); }, y); return mu; };
        Infer({method: 'MCMC', samples: 1e9, model: model})";
    let problem = problem(text, Some(r#"{"y": [1.2, 0.3, 2.1]}"#));
    let options = BdmcOptions { annealing: annealing(&[10, 100], 30), rank_checks: 10, ..BdmcOptions::default() };
    let found = bdmc_webppl(&problem, &options, &Session::default()).expect("runs");
    let last = found.result.rungs.last().expect("rungs");
    assert!(!found.result.violation && found.result.checks.iter().all(|check| !check.failed));
    assert!(last.log_ml_upper - last.log_ml_lower < 1.0 && last.jeffreys_bound < 2.0, "{last:?}");
    assert_eq!(found.result.reading.parameters[0].words, "Gaussian, 1 choice");
    let one = Session { threads: std::num::NonZero::new(1), ..Session::default() };
    let again = bdmc_webppl(&problem, &options, &one).expect("runs");
    assert_eq!(again.result, found.result);
}

#[test]
fn real_data_are_ranked() {
    let text = "var model = function() {
        var sigma = gamma(3, 1);
        var mu = gaussian(0, 2);
        map(function(v) { observe(Gaussian({mu: mu, sigma: sigma}), v); }, data.y); };";
    let problem = problem(text, Some(r#"{"y": [1.2, 0.3, 2.1, 4, -1]}"#));
    let mut annealing = annealing(&[10, 30], 20);
    annealing.generation.hyper = Some(vec!["sigma".to_owned()]);
    let options = BreadOptions { annealing, start_steps: Some(100), replicates: 9, ..BreadOptions::default() };
    let found = bread_webppl(&problem, &options, &Session::default()).expect("runs").result;
    let fit = found.fit.expect("a fit");
    assert_eq!(fit.hyperparameters[0].name, "sigma");
    assert!((1.0..5.0).contains(&fit.hyperparameters[0].value) && fit.worst_r_hat < 1.1, "{fit:?}");
    assert!(found.calibration.is_some_and(|c| c.rank <= 10) && !found.violation);
    assert_eq!(found.real.rungs.len(), 2);
}

#[test]
fn representations_are_compared() {
    let uncollapsed = "var model = function() {
        var mu = gaussian(0, 1);
        var x = repeat(3, function() { return gaussian(mu, 1); });
        map2(function(a, v) { observe(Gaussian({mu: a, sigma: 1}), v); }, x, [0, 0, 0]); };";
    let collapsed = "var model = function() {
        var mu = gaussian(0, 1);
        observe(MultivariateGaussian({mu: T.mul(ones([3, 1]), mu), cov: T.mul(idMatrix(3), 2)}), Vector([0, 0, 0])); };";
    let problems = [problem(collapsed, None), problem(uncollapsed, None)];
    let options = CompareOptions { annealing: annealing(&[10, 300], 30), ..CompareOptions::default() };
    let found = compare_webppl(&problems, &options, &Session::default()).expect("runs").result;
    assert_eq!(found.shared, ["mu"]);
    let ml: Vec<f64> = found.entries.iter().map(|entry| entry.rungs[1].log_ml_bar).collect();
    assert!((ml[0] - ml[1]).abs() < 0.5 && !found.violation, "{ml:?}");
    assert_eq!(found.entries.iter().map(|entry| entry.dimension).collect::<Vec<_>>(), [1, 4]);
}

/// A Stan program simulates; the WebPPL program finds data and parameters by their names.
#[test]
fn languages_are_compared() {
    let stan = "data { int N; vector[N] y; } parameters { real mu; vector[N] x; }
        model { mu ~ normal(0, 1); x ~ normal(mu, 1); y ~ normal(x, 1); }";
    let webppl = "var model = function() {
        var mu = gaussian(0, 1);
        map(function(v) { observe(Gaussian({mu: mu, sigma: Math.sqrt(2)}), v); }, y); };";
    let sizes = Source::text("sizes.json", r#"{"N": 4}"#);
    let stan = [Problem::read(Source::text("a.stan", stan), Some(sizes)).expect("a program")];
    let options = CompareOptions { annealing: annealing(&[10, 100], 30), ..CompareOptions::default() };
    let sources = [Source::text("b.wppl", webppl)];
    let found = compare_both(&stan, (&sources, None), &options, &Session::default()).expect("runs").result;
    assert_eq!(found.shared, ["mu"]);
    let ml: Vec<f64> = found.entries.iter().map(|entry| entry.rungs[1].log_ml_bar).collect();
    assert!((ml[0] - ml[1]).abs() < 0.5 && !found.violation, "{ml:?}");
    assert_eq!(found.entries.iter().map(|entry| entry.dimension).collect::<Vec<_>>(), [5, 1]);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let options = BdmcOptions { annealing: annealing(&[5], 2), rank_checks: 0, ..BdmcOptions::default() };
    let refused = |text: &str| {
        let problem = WebPplProblem::read(Source::text("t.wppl", text), None, None);
        match problem.and_then(|problem| bdmc_webppl(&problem, &options, &Session::default())) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("not refused: {text}"),
        }
    };
    let model = |body: &str| refused(&format!("var model = function() {{ {body} }};"));
    assert!(model("var a = flip(); condition(a);").contains("do not generate data"));
    assert!(model("var a = flip();").contains("observes nothing"));
    assert!(model("observe(Gaussian({mu: 0, sigma: 1}), 1);").contains("no random choices"));
    assert!(refused("flip()").contains("--model"));
    let varying = model("var n = poisson(2); repeat(n, function() { observe(Gaussian({mu: n, sigma: 1}), 1); });");
    assert!(varying.contains("number of observations"), "{varying}");
    assert!(matches!(WebPplProblem::read(Source::text("t.wppl", "var = 1"), None, None), Err(Error::WebPpl(_))));
}

#[test]
fn programs_are_explained() {
    let text = "var model = function() {
        var n = 1 + poisson(1); var xs = repeat(n, function() { return gaussian(0, 1); });
        observe(Gaussian({mu: sum(xs), sigma: 1}), 1); };";
    let (checked, mistakes) = check_webppl(Source::text("t.wppl", text), None, None).expect("checks");
    let summary = checked.summary.expect("valid");
    assert!(checked.ok && mistakes.is_none());
    let names: Vec<&str> = summary.parameters.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["n", "xs"]);
    assert!(summary.parameters[1].ty.ends_with("choices, continuous") && summary.notes.len() == 1);
    let (checked, mistakes) = check_webppl(Source::text("t.wppl", "var x = y;"), None, None).expect("checks");
    assert!(!checked.ok && checked.diagnostics[0].line == 1 && mistakes.is_some());
}
