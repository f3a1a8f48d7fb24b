//! The BREAD paper's experiments on real data: five models (Figs. 5 and 6), and two ways to write one (section 5.2).
//!
//! Each of them is an ordinary `crust bread` or `crust compare`, with the examples' programs and data inside of this program.

use crate::arguments::{Arguments, Command, Common, Experiment, Reproduce};
use crate::{Outcome, bread, compare, terminal};
use crust_diagnose::ladder::Ladder;
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A model of the paper with its data.
struct Example {
    name: &'static str,
    program: &'static str,
    data: Option<&'static str>,
    /// As the paper has them.
    hyperparameters: &'static str,
}

macro_rules! example {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/", $path))
    };
}

const EXAMPLES: [Example; 5] = [
    Example {
        name: "linear-regression",
        program: example!("nhefs/linear_regression.stan"),
        data: Some(example!("nhefs/nhefs.json")),
        hyperparameters: "sigma_sq,scale_sq",
    },
    Example {
        name: "logistic-regression",
        program: example!("pima/logistic_regression.stan"),
        data: Some(example!("pima/pima.json")),
        hyperparameters: "scale_sq",
    },
    Example {
        name: "matrix-factorization",
        program: example!("movielens/matrix_factorization.stan"),
        // Not ours to pass on.
        data: None,
        hyperparameters: "scale_u_sq,scale_v_sq,sigma_sq",
    },
    Example {
        name: "autoregression",
        program: example!("google/ar1.stan"),
        data: Some(example!("google/google.json")),
        hyperparameters: "alpha,beta,sigma_sq",
    },
    Example {
        name: "mixture",
        program: example!("faithful/mixture.stan"),
        data: Some(example!("faithful/faithful.json")),
        hyperparameters: "scale_sq,sigma_sq",
    },
];

/// S, the transitions before the reverse chains, of the paper's Fig. 6. The first is that of the whole protocol.
const START_STEPS: [usize; 4] = [1000, 10, 100, 10_000];

/// What to expect of all models at full length.
const EXPECT: &str = "Expect some minutes, and much longer for the matrix factorization. The same command goes on where it was ended; \
                      `--largest 300` is a short version.";

#[derive(Serialize)]
struct Findings {
    experiment: &'static str,
    rows: Vec<Row>,
    /// Models that were left out.
    missing: Vec<&'static str>,
}

/// One model, S and T. All in nats.
#[derive(Serialize)]
struct Row {
    model: &'static str,
    #[serde(rename = "S")]
    start_steps: usize,
    #[serde(rename = "T")]
    distributions: u64,
    log_ml_lower: f64,
    log_ml_upper: f64,
    jeffreys_bound: f64,
    jeffreys_se: f64,
    /// The real data's lower bound.
    real_log_ml_lower: Option<f64>,
    /// p of the comparison of real with simulated data, where it was made.
    p_value: Option<f64>,
}

pub fn run(arguments: &Reproduce, common: &Common) -> Result<Outcome, String> {
    terminal::check_writable(common.json.as_deref())?;
    if let Some(unknown) = arguments.models.iter().find(|m| EXAMPLES.iter().all(|example| example.name != **m)) {
        let names = EXAMPLES.map(|example| example.name).join(", ");
        return Err(format!("there is no model `{unknown}`; there are {names}"));
    }
    let folder =
        arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("crust-{}", name(arguments.experiment))));
    make(&folder)?;
    match arguments.experiment {
        Experiment::Representations => representations(arguments, common, &folder),
        _ => five_models(arguments, common, &folder),
    }
}

fn name(experiment: Experiment) -> &'static str {
    if experiment == Experiment::Representations { "representations" } else { "bread-real" }
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("the folder {} cannot be made: {e}", folder.display()))
}

fn write(folder: &Path, file: &str, text: &str) -> Result<String, String> {
    let path = folder.join(file);
    fs::write(&path, text).map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
    Ok(path.to_string_lossy().into_owned())
}

/// Options that all runs share.
fn shared(arguments: &Reproduce) -> Vec<String> {
    let mut options = vec!["--seed".to_owned(), arguments.seed.to_string()];
    if let Some(threads) = arguments.threads {
        options.extend(["--threads".to_owned(), threads.to_string()]);
    }
    if let Some(chains) = arguments.chains {
        options.extend(["--chains".to_owned(), chains.to_string()]);
    }
    let standard = Ladder::default().steps;
    let steps: Vec<String> = standard.iter().filter(|t| **t <= arguments.largest).map(ToString::to_string).collect();
    if !steps.is_empty() && steps.len() < standard.len() {
        options.extend(["--steps".to_owned(), steps.join(",")]);
    }
    options
}

/// Matrix factorization with one factor summed out, and with both in the program: N = 50, K = 5, D = 25.
fn representations(arguments: &Reproduce, common: &Common, folder: &Path) -> Result<Outcome, String> {
    let collapsed = write(folder, "collapsed.stan", example!("factorization/collapsed.stan"))?;
    let uncollapsed = write(folder, "uncollapsed.stan", example!("factorization/uncollapsed.stan"))?;
    let sizes = write(folder, "sizes.json", example!("factorization/sizes.json"))?;
    let out = folder.join("result");
    let mut words = vec!["crust".to_owned(), "compare".to_owned(), collapsed, uncollapsed];
    words.extend(["--data".to_owned(), sizes, "--out".to_owned(), out.to_string_lossy().into_owned()]);
    words.extend(shared(arguments));
    match Arguments::of(&words)?.command {
        Command::Compare(options) => compare::run(&options, common),
        _ => Err("the experiment is no comparison".to_owned()),
    }
}

fn five_models(arguments: &Reproduce, common: &Common, folder: &Path) -> Result<Outcome, String> {
    let inner = Common { json: None, quiet: true };
    let mut findings = Findings { experiment: "bread-real", rows: Vec::new(), missing: Vec::new() };
    let mut worst = Outcome::Fine;
    let chosen = |example: &&Example| arguments.models.is_empty() || arguments.models.iter().any(|m| m == example.name);
    if !common.quiet && Ladder::default().steps.iter().all(|&t| t <= arguments.largest) {
        terminal::complain(EXPECT);
    }
    for example in EXAMPLES.iter().filter(chosen) {
        let own = folder.join(example.name);
        make(&own)?;
        let program = write(&own, "model.stan", example.program)?;
        let data = match (example.data, &arguments.movielens) {
            (Some(text), _) => write(&own, "data.json", text)?,
            (None, Some(path)) => path.to_string_lossy().into_owned(),
            (None, None) => {
                findings.missing.push(example.name);
                continue;
            }
        };
        for start_steps in START_STEPS {
            let out = own.join(format!("S-{start_steps}"));
            if !common.quiet {
                terminal::complain(&format!("{}, S = {start_steps} …", example.name));
            }
            let mut words = vec!["crust".to_owned(), "bread".to_owned(), program.clone(), data.clone()];
            words.extend(["--hyper", example.hyperparameters, "--tolerance", "0"].map(str::to_owned));
            words.extend(["--start-steps".to_owned(), start_steps.to_string()]);
            words.extend(["--out".to_owned(), out.to_string_lossy().into_owned()]);
            if start_steps != START_STEPS[0] {
                // Real and simulated data have been compared.
                words.extend(["--replicates".to_owned(), "0".to_owned()]);
            }
            words.extend(shared(arguments));
            let Command::Bread(options) = Arguments::of(&words)?.command else {
                return Err("the experiment is no run of bread".to_owned());
            };
            let first = own.join(format!("S-{}", START_STEPS[0]));
            match bread::run_after(&options, &inner, (first != out).then_some(first.as_path()))? {
                outcome @ (Outcome::Interrupted | Outcome::BadInput) => return Ok(outcome),
                Outcome::BadDiagnosis => worst = Outcome::BadDiagnosis,
                Outcome::Fine => {}
            }
            findings.rows.extend(rows(example.name, start_steps, &out)?);
        }
    }
    deliver(&findings, common, folder)?;
    Ok(worst)
}

/// What a run has left in its folder.
fn rows(model: &'static str, start_steps: usize, out: &Path) -> Result<Vec<Row>, String> {
    let path = out.join("result.json");
    let text = fs::read_to_string(&path).map_err(|e| format!("{} cannot be read: {e}", path.display()))?;
    let result: Value = serde_json::from_str(&text).map_err(|e| format!("{} is damaged: {e}", path.display()))?;
    let p_value = result["calibration"]["p_value"].as_f64();
    let list = |at: &Value| at.as_array().cloned().unwrap_or_default();
    let real = list(&result["real"]["rungs"]);
    let row = |rung: &Value| {
        let of = |name: &str| rung[name].as_f64().unwrap_or(f64::NAN);
        let real = real.iter().find(|other| other["T"] == rung["T"]);
        Row {
            model,
            start_steps,
            distributions: rung["T"].as_u64().unwrap_or(0),
            log_ml_lower: of("log_ml_lower"),
            log_ml_upper: of("log_ml_upper"),
            jeffreys_bound: of("jeffreys_bound"),
            jeffreys_se: of("jeffreys_se"),
            real_log_ml_lower: real.and_then(|rung| rung["log_ml_lower"].as_f64()),
            p_value,
        }
    };
    Ok(list(&result["simulated"]["rungs"]).iter().map(row).collect())
}

fn deliver(findings: &Findings, common: &Common, folder: &Path) -> Result<(), String> {
    if let Some(file) = common.json.as_deref() {
        terminal::deliver(findings, file)?;
    }
    if common.quiet || common.json.as_deref().is_some_and(terminal::is_stdout) {
        return Ok(());
    }
    let heads = ["model", "S", "T", "at least", "at most", "Jeffreys bound", "p"];
    let line = |[model, s, t, low, high, bound, p]: [&str; 7]| {
        terminal::say(&format!("{model:<22} {s:>6} {t:>6} {low:>12} {high:>12} {bound:>18} {p:>7}"));
    };
    line(heads);
    for row in &findings.rows {
        let p = row.p_value.map(|p| format!("{p:.3}")).unwrap_or_default();
        let bound = format!("{:.2} ± {:.2}", row.jeffreys_bound, row.jeffreys_se);
        let (low, high) = (format!("{:.2}", row.log_ml_lower), format!("{:.2}", row.log_ml_upper));
        line([row.model, &row.start_steps.to_string(), &row.distributions.to_string(), &low, &high, &bound, &p]);
    }
    for model in &findings.missing {
        terminal::say(&format!(
            "{model} was left out: its data may not be passed on. `examples/movielens/fetch.py` gets them; then `--movielens ratings.json`."
        ));
    }
    terminal::say(&format!("Reports are in the folders of {}.", folder.display()));
    Ok(())
}
