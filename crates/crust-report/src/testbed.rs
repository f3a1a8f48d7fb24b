//! The report of the testbed: figures, the paper's seconds beside ours, and all rows.

mod figures;
mod story;

pub use story::model as model_story;

use crate::html::{Page, Table};
use crate::svg::{Plot, Size, document};
use crate::view::capitalised;
use crust_diagnose::result::{ModelName, ModelTiming, Testbed, TestbedModel, TestbedRow, TestbedTiming, TrialTimes};
use figures::{Which, errors, estimates, is_ours, is_papers};

/// Plots of one model, with what to see in them.
struct Panel {
    plot: Plot,
    caption: &'static str,
}

fn panels(findings: &TestbedModel, times: &[TrialTimes]) -> Vec<Panel> {
    let estimates = |which, zoomed| estimates(findings, times, which, zoomed);
    let errors = |which, shown| errors(findings, times, which, shown);
    let (single, all) = (Which::Individual, Which::Combined);
    vec![
        Panel {
            plot: estimates(single, false),
            caption: "Averages over the trials. Bars are two standard errors of the expected estimate; they are not meant to cover the truth.",
        },
        Panel { plot: estimates(single, true), caption: "The same within 50 nats of the truth; triangles are beyond." },
        Panel {
            plot: errors(single, is_papers),
            caption: "What one trial is off by. Below 10 nats, models can be told apart.",
        },
        Panel {
            plot: estimates(all, false),
            caption: "One estimate from all trials: arithmetic or harmonic mean, maximum, or mean of logarithms, as fits the estimator.",
        },
        Panel { plot: estimates(all, true), caption: "The same within 50 nats of the truth." },
        Panel { plot: errors(all, is_papers), caption: "What all trials together are off by." },
        Panel {
            plot: Plot {
                title: format!("{}: estimators beyond the paper", capitalised(findings.model.words())),
                ..errors(single, is_ours)
            },
            caption: "What one trial of an estimator that the paper does not have is off by, beside the paper's three best.",
        },
    ]
}

/// Figures 2 to 5 as files.
pub fn figures(results: &Testbed, timing: &TestbedTiming) -> Vec<(String, String)> {
    let mut files = vec![];
    for (findings, times) in results.models.iter().zip(&timing.models) {
        let plots: Vec<Plot> = panels(findings, &times.rows).into_iter().map(|panel| panel.plot).collect();
        let mut add = |name: &str, chosen: &[usize]| {
            let drawings: Vec<_> = chosen.iter().map(|&i| plots[i].draw(Size::WIDE)).collect();
            files.push((name.to_owned(), document(&drawings)));
        };
        match findings.model {
            ModelName::Clustering => {
                add("figure-2.svg", &[0, 1, 3, 4]);
                add("figure-3.svg", &[2, 5]);
            }
            ModelName::LowRank => add("figure-4.svg", &[0, 1, 2]),
            ModelName::Binary => add("figure-5.svg", &[0, 1, 2]),
        }
        add(&format!("beyond-{}.svg", findings.model.id()), &[6]);
    }
    files
}

/// The report as a page.
pub fn page(results: &Testbed, timing: &TestbedTiming) -> String {
    let mut page = Page::new("crust testbed: estimators of the marginal likelihood against ground truth");
    let quick = if results.quick { " This was a quick run, on data that are smaller than the paper's." } else { "" };
    page.paragraph(&format!(
        "Data were simulated from each model, their marginal likelihood was sandwiched by annealing in both directions, and every \
         estimator was run {} times at each setting of its knob (seed {}, {} threads, one for each trial).{quick}",
        results.trials, results.seed, timing.threads
    ));
    if results.partial {
        page.paragraph("This run was ended early: models that are not here were not finished.");
    }
    for (findings, times) in results.models.iter().zip(&timing.models) {
        model(&mut page, findings, times);
    }
    page.section("How to read this");
    page.list(&[
        "A stochastic lower bound is low in expectation, and above the truth by b nats with probability below e^-b. A stochastic \
         upper bound is its mirror image, and needs an exact draw from the posterior, which only simulated data have."
            .to_owned(),
        "A lower bound is never above the truth. An estimate without a guarantee may be on either side.".to_owned(),
        "Seconds are the median of the trials, each on one thread. Where the system tells it, time in which a thread waited for a processor does not count.".to_owned(),
    ]);
    page.render()
}

fn model(page: &mut Page, findings: &TestbedModel, times: &ModelTiming) {
    page.section(&capitalised(findings.model.words()));
    page.paragraph(&story::heading(findings));
    let panels = panels(findings, &times.rows);
    page.plots(panels.iter().map(|panel| (&panel.plot, panel.caption)));
    if !times.comparisons.is_empty() {
        page.heading("Beside the paper");
        let sentences: Vec<String> = times.comparisons.iter().map(story::sentence).collect();
        page.list(&sentences);
    }
    page.table(&table(findings, &times.rows));
}

fn table(findings: &TestbedModel, times: &[TrialTimes]) -> Table {
    let head =
        ["estimator", "kind", "knob", "", "mean", "s.e.", "bias", "RMSE", "above", "combined", "error", "seconds"];
    let row = |(row, time): (&TestbedRow, &TrialTimes)| {
        vec![
            row.estimator.clone(),
            row.kind.words().to_owned(),
            row.knob.name.clone(),
            row.knob.value.to_string(),
            format!("{:.2}", row.mean),
            story::nats(row.se),
            story::signed(row.bias),
            story::nats(row.rmse),
            format!("{:.0} %", 100.0 * row.above),
            format!("{:.2}", row.combined),
            story::nats(row.combined_error),
            story::seconds(time.seconds),
        ]
    };
    Table {
        caption:
            "All rows, in nats; “above” is the share of trials above the truth, “error” that of the combined estimate"
                .to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: findings.rows.iter().zip(times).map(row).collect(),
        words: 3,
    }
}
