//! Results of all commands survive JSON, and say which command they are of.

use super::*;
use crate::summary::Number;

fn toy_row() -> ToyRow {
    ToyRow {
        distributions: 10,
        jeffreys: 1.5,
        bound: 2.0,
        estimate: 2.1,
        standard_error: 0.1,
        chains: 50,
        kl_forward: 0.5,
        kl_reverse: 1.0,
        chain_kl_forward: 0.75,
        chain_kl_reverse: 1.25,
    }
}

fn table1() -> Table1 {
    let cell =
        Table1Cell { model: "binary".to_owned(), log_ml_lower: vec![-1.5], mean: -1.5, behind: 0.0, behind_se: None };
    Table1 {
        experiment: "table1".to_owned(),
        seed: 1,
        distributions: 40,
        chains: 2,
        datasets: 1,
        partial: false,
        seconds: 0.5,
        rows: vec![Table1Row { data: "binary".to_owned(), cells: vec![cell] }],
    }
}

fn real_data() -> RealDataTable {
    let row = RealDataRow {
        model: "mixture".to_owned(),
        start_steps: 10,
        distributions: 30,
        log_ml_lower: f64::NEG_INFINITY,
        log_ml_upper: -3.0,
        jeffreys_bound: f64::INFINITY,
        jeffreys_se: 0.25,
        real_log_ml_lower: None,
        p_value: Some(0.5),
    };
    RealDataTable { experiment: "bread-real".to_owned(), rows: vec![row], missing: vec!["x".to_owned()] }
}

fn taddaa_table() -> TaddaaTable {
    let reference = TaddaaReference { chains: 4, r_hat: 1.01, ..TaddaaReference::default() };
    let functional = TaddaaFunctional { name: "mean(x)".to_owned(), error: 0.5, ..TaddaaFunctional::default() };
    let bound = TaddaaBound { lower_bound: 0.25, ..TaddaaBound::default() };
    let run = TaddaaRun { kernel: "barker".to_owned(), bounds: vec![bound], ..TaddaaRun::default() };
    let target = TaddaaTarget {
        reference: Some(reference),
        functionals: vec![functional],
        runs: vec![run],
        ..TaddaaTarget::default()
    };
    TaddaaTable { experiment: "taddaa-gaussian".to_owned(), targets: vec![target], ..TaddaaTable::default() }
}

fn evidence() -> Evidence {
    let method = EvidenceMethod {
        name: "smc".to_owned(),
        kind: EvidenceKind::StochasticLowerBound,
        log_ml: -12.25,
        se: f64::INFINITY,
        evaluations: 7,
        details: BTreeMap::from([("accept".to_owned(), Number(0.5))]),
        warnings: vec![],
    };
    Evidence { model: "a.stan".to_owned(), methods: vec![method], ..Evidence::default() }
}

fn approximate() -> Approximate {
    Approximate {
        method: "fullrank".to_owned(),
        covariance: Some(vec![vec![1.0, 0.5], vec![0.5, 2.0]]),
        elbo: f64::NEG_INFINITY,
        trace: vec![ElboStep { gradients: 7, elbo: -1.5 }],
        ..Approximate::default()
    }
}

fn taddaa() -> Taddaa {
    use crate::taddaa::functional::{Functional, Kind};
    use crate::taddaa::intervals::Known;
    use crate::taddaa::sizes::Tolerances;
    use crate::taddaa::{Item, Settings, judge};
    let functional = Functional::new(Kind::Mean, "x");
    let before = Known::exactly(0.0);
    let item = Item { functional, end: &[0.5, 1.5, 2.5], states: 1, other: None, before, efficiency: 1.0 };
    Taddaa {
        model: "m.stan".to_owned(),
        data: String::new(),
        subject: "a meanfield fit".to_owned(),
        found: judge(&[item], &[0.25], &Settings { iterations: 7, tolerances: Tolerances::default(), seed: 1 }),
        k_hat: None,
        bounds: Some(Bounds { log_z_lower: Some(f64::NEG_INFINITY), ..Bounds::default() }),
        kernel: "barker".to_owned(),
        gradients: 3,
        acceptance: vec![0.5],
        drift: vec![],
        notes: vec!["a note".to_owned()],
        partial: false,
    }
}

fn checked() -> Checked {
    let joint = JointReading { readable: true, summary: Some(JointSummary::default()), ..JointReading::default() };
    Checked {
        file: "a.stan".to_owned(),
        ok: true,
        diagnostics: vec![Diagnostic { severity: "warning".to_owned(), line: 3, ..Diagnostic::default() }],
        summary: Some(ProgramSummary { functions: 2, unconstrained_dimension: Some(4), ..ProgramSummary::default() }),
        joint: Some(joint),
    }
}

#[test]
fn every_result_survives_json() {
    let simulated = SimulatedData { parameters: Json("{}".to_owned()), data: Json("{\"y\":[1.5]}".to_owned()) };
    let all = vec![
        ("check", Results::Check(checked())),
        ("density", Results::Density(Density::default())),
        ("bench", Results::Bench(Bench::default())),
        ("sample", Results::Sample(Sample::default())),
        ("approximate", Results::Approximate(approximate())),
        ("taddaa", Results::Taddaa(taddaa())),
        ("simulate", Results::Simulate(Simulate { hyperparameters: vec![], datasets: vec![simulated] })),
        ("bdmc", Results::Bdmc(Bdmc::default())),
        ("bread", Results::Bread(Bread::default())),
        ("bread-approximation", Results::BreadApproximation(BreadApproximation::default())),
        ("compare", Results::Compare(Compare::default())),
        ("evidence", Results::Evidence(evidence())),
        (
            "reproduce",
            Results::Reproduce(Reproduce::Toy(Toy {
                experiment: "barrier".to_owned(),
                seed: None,
                log_ratio: 0.5,
                rows: vec![toy_row()],
            })),
        ),
        ("reproduce", Results::Reproduce(Reproduce::Table1(table1()))),
        ("reproduce", Results::Reproduce(Reproduce::RealData(real_data()))),
        ("reproduce", Results::Reproduce(Reproduce::Taddaa(taddaa_table()))),
        ("sbc", Results::Sbc(Sbc::default())),
        ("testbed", Results::Testbed(Testbed::default())),
    ];
    for (command, results) in all {
        let json = results.to_json().expect("JSON");
        let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(value["command"], command, "{json}");
        let back: Results = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{command}: {e}: {json}"));
        assert_eq!(back, results, "{json}");
    }
}

/// A dataset goes into JSON as it is: 0.1000 stays 0.1000.
#[test]
fn simulated_numbers_keep_their_digits() {
    let data = SimulatedData { parameters: Json("{}".to_owned()), data: Json("{\"y\": 0.1000}".to_owned()) };
    let json = Results::Simulate(Simulate { hyperparameters: vec![], datasets: vec![data] }).to_json().expect("JSON");
    assert!(json.contains("{\"y\": 0.1000}"), "{json}");
}
