//! The summary of a run: its numbers, its text, its JSON and its warnings.

use crust_diagnose::draws::{Draws, Shape, column_names};
use crust_diagnose::summary::{Number, Summary, SummaryOptions, TableOptions, WarningKind, quantile_name};
use crust_math::random::{Purpose, StreamKey};

const SAMPLER: [&str; 4] = ["lp__", "treedepth__", "divergent__", "energy__"];

/// Four chains of independent draws: a mean, three effects of different scales, and an entry that is always 0.
fn healthy(draws: usize) -> Draws {
    let mut names = column_names("mu", &Shape::Real(vec![]));
    names.extend(column_names("theta", &Shape::Real(vec![3])));
    names.push("L.1.2".into());
    let mut run = Draws::new(SAMPLER.map(String::from).to_vec(), names, 4);
    for (number, chain) in (0..).zip(&mut run.chains) {
        let mut stream = StreamKey::new(5, Purpose::PRIOR).chain(number).stream();
        let mut normal = || stream.standard_normal();
        for _ in 0..draws {
            let sampler = [-normal().powi(2), 3.0, 0.0, 5.0 + normal()];
            let row = [normal(), 1e-3 * normal(), 250.0 + 40.0 * normal(), 3e9 + 1e8 * normal(), 0.0];
            chain.sampling.push(&sampler, &row);
        }
    }
    run
}

fn kinds(draws: &Draws) -> Vec<WarningKind> {
    Summary::new(draws, &SummaryOptions::default()).warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn a_healthy_run_has_no_warnings() {
    let summary = Summary::new(&healthy(1000), &SummaryOptions::default());
    assert_eq!(summary.warnings, []);
    insta::assert_snapshot!(summary.render(&TableOptions { width: 120, rows: 30 }));
}

#[test]
fn numbers_are_those_of_the_statistics() {
    let draws = healthy(500);
    let summary = Summary::new(&draws, &SummaryOptions { quantiles: vec![0.025, 0.5], max_depth: None });
    let row = &summary.rows[2];
    assert_eq!((row.name.as_str(), summary.quantiles.join(" ")), ("theta[2]", "q2.5 q50".into()));
    let chains = draws.named("theta[2]").expect("a quantity");
    assert_eq!(row.r_hat.to_bits(), crust_diagnose::convergence::rhat(&chains).to_bits());
    assert_eq!(row.quantiles["q50"].0.to_bits(), row.median.to_bits());
    assert!((row.mean - 250.0).abs() < 6.0 * row.mcse_mean && (row.sd - 40.0).abs() < 6.0 * row.mcse_sd);
    assert!((row.mad - row.sd).abs() < 6.0 && (row.quantiles["q2.5"].0 - (250.0 - 1.96 * 40.0)).abs() < 15.0);
    let constant = &summary.rows[4];
    assert!(constant.r_hat.is_nan() && constant.ess_bulk.is_nan() && constant.mcse_mean.is_nan());
}

#[test]
fn narrow_tables_leave_out_columns_and_long_ones_rows() {
    let mut draws = healthy(200);
    draws.names[0] = "a_name_that_is_much_too_long_for_a_table.17".into();
    let summary = Summary::new(&draws, &SummaryOptions::default());
    for (width, rows) in [(80, 2), (100, 4)] {
        let text = summary.render(&TableOptions { width, rows });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
    }
    insta::assert_snapshot!(summary.render(&TableOptions { width: 80, rows: 2 }));
}

#[test]
fn every_warning_says_what_to_do() {
    let mut draws = healthy(60);
    for (chain, number) in draws.chains.iter_mut().zip([0.0, 0.0, 0.0, 1.0]) {
        let phase = &mut chain.sampling;
        phase.sampler[1][7] = 10.0;
        phase.sampler[2][8] = 1.0;
        phase.quantities[0].iter_mut().for_each(|x| *x += 2.0 * number);
        phase.quantities[3][2] = f64::NAN;
        // a random walk of the energy
        let mut sum = 0.0;
        phase.sampler[3].iter_mut().for_each(|x| {
            sum += *x - 5.0;
            *x = sum;
        });
    }
    draws.chains[1].sampling.push(&[0.0; 4], &[0.0; 5]);
    let summary = Summary::new(&draws, &SummaryOptions::default());
    insta::assert_snapshot!(summary.render(&TableOptions { width: 90, rows: 1 }));
}

#[test]
fn warnings_appear_only_with_their_causes() {
    assert_eq!(kinds(&healthy(400)), []);
    let mut one = healthy(400);
    one.chains.truncate(1);
    assert_eq!(kinds(&one), [WarningKind::OneChain]);
    let mut divergent = healthy(400);
    divergent.chains[2].sampling.sampler[2][399] = 1.0;
    assert_eq!(kinds(&divergent), [WarningKind::Divergences]);
    // divergences of warm-up do not count
    let mut warmup = healthy(400);
    warmup.chains[0].warmup.push(&[0.0, 10.0, 1.0, 0.0], &[0.0; 5]);
    assert_eq!(kinds(&warmup), []);
    let mut infinite = healthy(400);
    infinite.chains[0].sampling.quantities[1][3] = f64::INFINITY;
    assert_eq!(kinds(&infinite), [WarningKind::NonFinite]);
    assert_eq!(kinds(&healthy(3)), [WarningKind::TooFewDraws]);
    assert_eq!(kinds(&healthy(0)), [WarningKind::TooFewDraws]);
    assert_eq!(kinds(&Draws::default()), []);
    // four chains of 90 independent draws do not have 400 effective ones
    let short = kinds(&healthy(90));
    assert!(short.ends_with(&[WarningKind::EssBulk, WarningKind::EssTail]), "{short:?}");
}

#[test]
fn json_keeps_every_number() {
    let mut draws = healthy(50);
    draws.chains[0].sampling.quantities[1][3] = f64::NEG_INFINITY;
    let summary = Summary::new(&draws, &SummaryOptions::default());
    let text = serde_json::to_string(&summary).expect("JSON");
    let back: Summary = serde_json::from_str(&text).expect("the same summary");
    let bits = |summary: &Summary| -> Vec<u64> {
        let numbers = |row: &crust_diagnose::summary::Row| {
            let mut all = vec![row.mean, row.mcse_mean, row.sd, row.mcse_sd, row.median, row.mad];
            all.extend([row.ess_bulk, row.ess_tail, row.r_hat]);
            all.extend(row.quantiles.values().map(|Number(x)| x));
            // NaNs have many bit patterns
            all.into_iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect::<Vec<_>>()
        };
        summary.rows.iter().flat_map(numbers).collect()
    };
    assert_eq!(bits(&summary), bits(&back));
    assert_eq!((summary.warnings, summary.sampler), (back.warnings, back.sampler));
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(value["rows"][0]["q5"].is_f64() && value["rows"][4]["r_hat"].is_null());
    assert_eq!(value["rows"][1]["mean"], "-Infinity");
}

#[test]
fn quantiles_have_the_names_of_posterior() {
    let names = [0.05, 0.95, 0.025, 0.07, 0.5, 0.001].map(quantile_name);
    assert_eq!(names, ["q5", "q95", "q2.5", "q7", "q50", "q0.1"]);
}
