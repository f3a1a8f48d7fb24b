//! Outcomes drawn from the values of the likelihood: by hand, and against what statements are read as.

use crust_engine::{Misreading, Proof, ProveError, ProveOptions, Simulator, prove};
use crust_stan::joint::{ByDensity, Joint, ReadOptions};

use super::{data_of, key, parse};

pub fn numeric(text: &str, json: &str, by_density: ByDensity) -> Result<(Simulator, Proof), ProveError> {
    let reading = parse(text);
    let options = ReadOptions { likelihood_only: true, by_density, ..ReadOptions::default() };
    let joint = Joint::read(&reading.typed, &options).unwrap_or_else(|problems| {
        let messages: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
        panic!("not readable: {messages:?}\n{text}")
    });
    let data = data_of(&reading, &joint, json);
    let simulator = Simulator::new(&reading.typed, &joint, &data, None)?;
    let proof = prove(&reading.typed, &simulator, &ProveOptions::default())?;
    Ok((simulator, proof))
}

#[test]
fn first() {
    let text = "data { int N; vector[N] y; } parameters { real m; real<lower=0> s; }
        model { for (n in 1:N) target += -0.5 * square((y[n] - m) / s) - log(s); }";
    let (_, proof) = numeric(text, r#"{"N": 4, "y": [1, 2.5, -1, 3]}"#, ByDensity::WhereNeeded).expect("proven");
    let (points, log) = proof.normaliser.expect("a normaliser");
    assert!(points >= 4);
    assert!((log - 2.0 * (2.0 * std::f64::consts::PI).ln()).abs() < 1e-7, "{log}");
    let missing = text.replace("- log(s)", "");
    let found = numeric(&missing, r#"{"N": 4, "y": [1, 2.5, -1, 3]}"#, ByDensity::WhereNeeded);
    match found {
        Err(ProveError::Misreading(Misreading::NotNormalised(n))) => println!("{:?}", n),
        other => panic!("{:?}", other.err()),
    }
    let _ = key(0);
}

#[test]
fn debug_cjs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/simulate/corpus");
    let text = std::fs::read_to_string(folder.join("capture_recapture.stan")).unwrap();
    let found = numeric(&text, r#"{"T": 3, "I": 2, "y": [[1, 0, 1], [0, 1, 0]]}"#, ByDensity::Always);
    println!("{:?}", found.err());
}
