//! What the testbed found, as results have it.

use crust_diagnose::result::{
    GroundTruth, Knob, ModelName, ModelTiming, OurResult, PaperComparison, PaperResult, TestbedKind, TestbedModel,
    TestbedRow, TrialTimes,
};
use crust_testbed::comparison::{Comparison, Findings, Ours, Which};
use crust_testbed::estimators::{self, Combination, Kind};
use crust_testbed::trials::{self, Row, Times};

fn name(model: Which) -> ModelName {
    match model {
        Which::Clustering => ModelName::Clustering,
        Which::LowRank => ModelName::LowRank,
        Which::Binary => ModelName::Binary,
    }
}

pub(super) fn model(findings: Findings) -> TestbedModel {
    TestbedModel {
        model: name(findings.model),
        cases: findings.cases,
        truth: truth(&findings.truth),
        rows: findings.rows.into_iter().map(row).collect(),
    }
}

fn truth(truth: &trials::GroundTruth) -> GroundTruth {
    GroundTruth {
        log_ml: truth.log_ml,
        se: truth.se,
        lower: truth.lower,
        upper: truth.upper,
        distributions: truth.distributions,
        chains: truth.chains,
        p_value: truth.p_value,
    }
}

fn row(row: Row) -> TestbedRow {
    let kind = match row.kind {
        Kind::StochasticLowerBound => TestbedKind::StochasticLowerBound,
        Kind::StochasticUpperBound => TestbedKind::StochasticUpperBound,
        Kind::LowerBound => TestbedKind::LowerBound,
        Kind::Estimate => TestbedKind::NoGuarantee,
    };
    let combination = match row.combination {
        Combination::Arithmetic => "arithmetic",
        Combination::Harmonic => "harmonic",
        Combination::Greatest => "greatest",
        Combination::MeanOfLogs => "mean-of-logs",
    };
    TestbedRow {
        estimator: row.estimator.to_owned(),
        kind,
        combination: combination.to_owned(),
        knob: knob(row.knob),
        estimates: row.estimates,
        mean: row.mean,
        se: row.se,
        bias: row.bias,
        rmse: row.rmse,
        above: row.above,
        combined: row.combined,
        combined_error: row.combined_error,
    }
}

fn knob(knob: estimators::Knob) -> Knob {
    Knob { name: knob.name.to_owned(), value: knob.value }
}

pub(super) fn timing(model: Which, rows: &[Times], comparisons: &[Comparison]) -> ModelTiming {
    let times = |times: &Times| TrialTimes {
        estimator: times.estimator.to_owned(),
        knob: knob(times.knob),
        seconds: times.seconds,
        least: times.least,
    };
    ModelTiming {
        model: name(model),
        rows: rows.iter().map(times).collect(),
        comparisons: comparisons.iter().map(comparison).collect(),
    }
}

fn comparison(comparison: &Comparison) -> PaperComparison {
    let paper = &comparison.paper;
    let ours = |ours: &Ours| OurResult {
        estimator: ours.estimator.to_owned(),
        knob: knob(ours.knob),
        seconds: ours.seconds,
        rmse: ours.rmse,
        times_faster: ours.times_faster,
    };
    PaperComparison {
        model: name(comparison.model),
        paper: PaperResult { estimator: paper.estimator.to_owned(), seconds: paper.seconds, rmse: paper.rmse },
        ours: comparison.ours.as_ref().map(ours),
    }
}
