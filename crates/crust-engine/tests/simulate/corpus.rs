//! Programs as people write them: each is read, proven and simulated.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crust_engine::data::read_data;
use crust_engine::{Model, ProveError, ProveOptions, SimulateError, Simulator, prove};
use crust_stan::data::Options;
use crust_stan::joint::{ByDensity, Joint, ReadOptions, Source};
use crust_stan::value::Value;

use super::{data_of, evaluate, key, parse};

/// How a program is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// As a joint distribution, statement by statement.
    Joint,
    /// Parameters by their statements, outcomes by the values of the likelihood.
    JointByDensity,
    /// The likelihood alone.
    Likelihood,
    LikelihoodByDensity,
    /// The likelihood of what is not censored.
    NotCensored,
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/simulate/corpus");
    let files = std::fs::read_dir(folder).expect("the corpus");
    let mut all: Vec<PathBuf> = files.filter_map(|f| f.ok().map(|f| f.path())).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "stan"));
    all.sort();
    all
}

fn attempt(text: &str, json: &str, how: How) -> Result<(), String> {
    let mut reading = parse(text);
    reading.typed.censored_weigh = how == How::NotCensored;
    let options = ReadOptions {
        likelihood_only: matches!(how, How::Likelihood | How::LikelihoodByDensity | How::NotCensored),
        by_density: match how {
            How::Joint | How::Likelihood => ByDensity::Never,
            How::NotCensored => ByDensity::WhereNeeded,
            How::JointByDensity | How::LikelihoodByDensity => ByDensity::Always,
        },
        ..ReadOptions::default()
    };
    let joint = Joint::read(&reading.typed, &options)
        .map_err(|problems| problems.iter().map(|p| p.message.clone()).collect::<Vec<_>>().join("; "))?;
    if joint.outcomes.is_empty() {
        return Err("no outcome".to_owned());
    }
    let data = data_of(&reading, &joint, json);
    let mut simulator = Simulator::new(&reading.typed, &joint, &data, None).map_err(|e| e.to_string())?;
    prove(&reading.typed, &simulator, &ProveOptions::default()).map_err(|e| match e {
        ProveError::Simulate(SimulateError::Rejected(r)) => format!("rejected: {}", r.message),
        other => other.to_string(),
    })?;
    // Some parameters are refused, as by Stan itself.
    let mut drawn = 0;
    let mut last = String::new();
    for i in 0..40 {
        let dimension = simulator.parameter_shapes().len();
        let point = if options.likelihood_only {
            let model = Model::bind(&reading.typed, &data, 1).map_err(|e| e.to_string())?;
            let mut stream = key(i).stream();
            Ok((0..model.dimension()).map(|_| 4.0 * stream.uniform() - 2.0).collect())
        } else {
            assert!(dimension > 0);
            simulator.draw_parameters(None, key(i))
        };
        match point.and_then(|point: Vec<f64>| simulator.draw_data(&point, key(i).chain(1))) {
            Ok(new) => {
                drawn += 1;
                let of = |data: &crust_stan::data::Data| -> Vec<f64> {
                    let list = joint.outcomes.iter().filter(|(_, s)| *s != Source::Simulator);
                    list.filter_map(|(id, _)| data.get(*id).and_then(Value::to_reals)).flatten().collect()
                };
                assert_eq!(of(&new).len(), of(&data).len());
            }
            Err(error) => last = error.to_string(),
        }
        if drawn == 3 {
            return Ok(());
        }
    }
    Err(format!("only {drawn} of 40 draws: {last}"))
}

/// How each program is read, as lines of text.
fn readings() -> Vec<(String, Result<How, String>)> {
    let mut all = Vec::new();
    for path in programs() {
        // `CORPUS=name` for one of them
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        if std::env::var("CORPUS").is_ok_and(|only| !only.is_empty() && !name.contains(&only)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a program");
        let json = std::fs::read_to_string(path.with_extension("json")).expect("its data");
        let mut found = Err(String::new());
        let mut why = Vec::new();
        for how in [How::Joint, How::JointByDensity, How::Likelihood, How::LikelihoodByDensity, How::NotCensored] {
            match attempt(&text, &json, how) {
                Ok(()) => {
                    found = Ok(how);
                    break;
                }
                Err(reason) => why.push(format!("{how:?}: {reason}")),
            }
        }
        all.push((name, found.map_err(|_| why.join("\n  "))));
    }
    all
}

/// Where the program does not say how data come about, or crust cannot see it: refused, and not drawn wrongly.
const REFUSED: [&str; 1] = ["change_point"];
/// Programs with observations that are censored.
const CENSORED: [&str; 3] = ["brms_censored", "survival_exponential_hazard", "survival_weibull"];

#[test]
fn corpus() {
    let all = readings();
    assert!(all.len() >= 63 || std::env::var("CORPUS").is_ok());
    let refused = |name: &String| REFUSED.contains(&name.as_str());
    let censored = |found: &Result<How, String>| *found == Ok(How::NotCensored);
    let named: Vec<&str> = all.iter().filter(|(_, found)| censored(found)).map(|(name, _)| name.as_str()).collect();
    assert!(named == CENSORED || std::env::var("CORPUS").is_ok(), "{named:?}");
    let wrong: Vec<String> = all
        .into_iter()
        .filter(|(name, found)| found.is_err() != refused(name))
        .map(|(name, found)| format!("{name}: {found:?}"))
        .collect();
    assert!(wrong.is_empty(), "{} otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

/// As a weight, what is censored is in the prior: nothing is lost, and only what is observed is likelihood. Where it
/// stands beside a density, in the same statement, it is told apart as well.
#[test]
fn censored_observations_go_from_the_likelihood_to_the_prior() {
    let program = |model: &str| {
        format!(
            "data {{ int N; vector[N] t; array[N] int d; vector[2] c; }} parameters {{ real<lower=0> a; real<lower=0> s; }}
             model {{ a ~ exponential(1); s ~ exponential(1); {model} }}"
        )
    };
    let loops = "for (n in 1:N) { if (d[n] == 1) target += weibull_lpdf(t[n] | a, s);
        else target += weibull_lccdf(t[n] | a, s); }";
    let factors =
        "for (n in 1:N) target += d[n] * weibull_lpdf(t[n] | a, s) + (1 - d[n]) * weibull_lccdf(t[n] | a, s);";
    let apart = "t[1:2] ~ weibull(a, s); target += weibull_lccdf(c | a, s);";
    let json = r#"{"N": 4, "t": [0.5, 1.2, 2, 2], "d": [1, 1, 0, 0], "c": [2, 2]}"#;
    // log S(2) = −(2/s)^a, twice
    let (a, s) = (1.3_f64, 0.7_f64);
    let censored = -2.0 * (2.0 / s).powf(a);
    for model in [loops, factors, apart] {
        let parts = |weigh: bool| {
            let mut reading = parse(&program(model));
            reading.typed.censored_weigh = weigh;
            let data = read_data(&reading.typed, &reading.source, json, &Options::default()).expect("data");
            let model = Arc::new(Model::bind(&reading.typed, &data, 1).expect("a model"));
            let (prior, likelihood, _) = evaluate(&mut model.evaluator(), &[a.ln(), s.ln()]);
            (prior, likelihood)
        };
        let ((prior, likelihood), (weighed, observed)) = (parts(false), parts(true));
        assert!((weighed - prior - censored).abs() < 1e-10, "{model}: {prior} {weighed}");
        assert!((likelihood - observed - censored).abs() < 1e-10, "{model}: {likelihood} {observed}");
    }
}
