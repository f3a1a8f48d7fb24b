//! The report: one page with the verdict first, then what it rests on.

mod page;
mod sections;
mod tables;

pub use page::{Page, Table};

use crate::figures;
use crate::svg::text::escape;
use crate::view::{View, capitalised};
use crust_diagnose::result::{Bdmc, Bread, Compare, Confirmation, Level, Results, Timing};
use page::{concat, prose, unordered};
use sections::{Tile, tiles};
use std::fmt::Write;

/// The report of a protocol, with the times that it took if they are known. Results of other commands have no page.
pub fn report(results: &Results, timing: Option<&Timing>) -> Option<String> {
    let view = View::of(results)?;
    let mut page = Page::new(&title(&view));
    let tiles = match results {
        Results::Bdmc(bdmc) => bdmc_body(&mut page, bdmc, timing),
        Results::Bread(bread) => bread_body(&mut page, bread, timing),
        Results::Compare(compare) => compare_body(&mut page, compare, timing),
        _ => return None,
    };
    sections::checks(&mut page, view.checks);
    sections::method(&mut page, &view, timing);
    Some(page.finish(&top(&view, &tiles)))
}

fn title(view: &View) -> String {
    let run = view.run;
    let data = if run.data.is_empty() { String::new() } else { format!(" with {}", run.data) };
    format!("crust {}: {}{data}", view.command, run.model)
}

/// The verdict, and what one must know to believe it.
fn top(view: &View, numbers: &[Tile]) -> String {
    let level = view.level();
    let mut markup = format!(
        "<header>\n<p class=\"what\">{}</p>\n<div class=\"badge {}\">{}{}</div>\n<h1>{}</h1>\n</header>\n",
        escape(&title(view)),
        level_class(level),
        level_shape(level),
        view.word(),
        prose(&view.verdict.sentence)
    );
    if view.violation {
        let failed = view.checks.iter().filter(|c| c.failed);
        let sentences = concat(failed.map(|c| format!("<p>{}</p>", prose(&c.sentence))));
        markup.push_str("<div class=\"alarm\" role=\"alert\"><p><b>Upper bounds lie below lower ones.</b> This cannot happen by more than chance in a \
             correct implementation. There is a mistake in the simulator, the density or a transition, and no number below can be trusted.</p>");
        markup.push_str(&sentences);
        markup.push_str("</div>\n");
    }
    if view.partial {
        markup.push_str("<div class=\"note\"><p><b>This run was ended early.</b> What is here is complete as far as it goes. The same command with \
             the same folder continues where it stopped, and ends with the numbers of an uninterrupted run.</p></div>\n");
    }
    if !view.violation {
        markup.push_str(&tiles(numbers));
    }
    markup.push_str("<div class=\"sides\">\n");
    for (heading, items) in
        [("This rests on", &view.verdict.rests_on), ("This does not cover", &view.verdict.does_not_cover)]
    {
        if !items.is_empty() {
            let _ = writeln!(
                markup,
                "<div><h3>{heading}</h3>{}</div>",
                unordered(&items.iter().map(|i| capitalised(i)).collect::<Vec<_>>(), "")
            );
        }
    }
    markup + "</div>\n"
}

fn level_class(level: Level) -> &'static str {
    match level {
        Level::Good => "good",
        Level::Poor => "poor",
        Level::Violation => "violation",
        Level::Mismatch => "mismatch",
        Level::Partial => "partial",
    }
}

/// A shape for each level, so that nobody needs the colour.
fn level_shape(level: Level) -> &'static str {
    match level {
        Level::Good => "<svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M2 9l4 4 8-10\"/></svg>",
        Level::Poor => {
            "<svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path class=\"full\" d=\"M8 2l6.5 12h-13z\"/></svg>"
        }
        Level::Violation => "<svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M3 3l10 10M13 3L3 13\"/></svg>",
        Level::Mismatch => {
            "<svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M2 5.5h12M2 10.5h12M11 2L5 14\"/></svg>"
        }
        Level::Partial => {
            "<svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><circle cx=\"8\" cy=\"8\" r=\"5.5\" stroke-dasharray=\"3 2\"/></svg>"
        }
    }
}

fn bdmc_body(page: &mut Page, bdmc: &Bdmc, timing: Option<&Timing>) -> Vec<Tile> {
    page.section("Simulated data");
    let chains = bdmc.run.chains;
    page.figures([
        figures::sandwich(&bdmc.rungs),
        figures::jeffreys(&bdmc.rungs, figures::Beside::Means(&bdmc.mean)),
        figures::jeffreys_time(&bdmc.rungs, timing, "simulated-1", chains),
    ]);
    sections::weights(page, &bdmc.rungs);
    sections::kernels(page, &bdmc.kernels);
    sections::reading(page, &bdmc.reading);
    page.section("Numbers");
    let datasets = bdmc.datasets.iter().map(|d| (d.number, &d.rungs[..]));
    if bdmc.datasets.is_empty() {
        page.table(&tables::rungs(&bdmc.rungs, "Simulated data"));
    }
    for (number, rungs) in datasets {
        page.table(&tables::rungs(rungs, &format!("Simulated dataset {number}")));
    }
    page.table(&tables::means(&bdmc.mean));
    sections::sandwich_tiles(&bdmc.rungs, bdmc.violation)
}

fn bread_body(page: &mut Page, bread: &Bread, timing: Option<&Timing>) -> Vec<Tile> {
    let rungs = &bread.simulated.rungs;
    page.section("Simulated data");
    page.paragraph(sections::simulation(bread.simulation.kind));
    page.figures([
        figures::sandwich(rungs),
        figures::jeffreys(rungs, figures::Beside::Confirmed(bread.confirmation.as_ref())),
        figures::jeffreys_time(rungs, timing, "simulated-1", bread.run.chains),
        bread.start_check.as_ref().and_then(figures::starts),
    ]);
    sections::weights(page, rungs);
    page.section("Real against simulated data");
    page.figures([
        figures::forward_curves(bread),
        bread.calibration.as_ref().and_then(figures::replicates),
        bread.calibration.as_ref().and_then(figures::ranks),
    ]);
    if let Some(predictive) = &bread.predictive {
        page.table(&tables::predictive(predictive));
    }
    if let Some(fit) = &bread.fit {
        sections::fit(page, fit);
    }
    sections::kernels(page, &bread.kernels);
    sections::reading(page, &bread.reading);
    page.section("Numbers");
    page.table(&tables::rungs(rungs, "Simulated data, both directions"));
    if let Some(Confirmation { datasets, rung }) = &bread.confirmation {
        let caption = format!("New chains on {datasets} new datasets, which the verdict rests on");
        page.table(&tables::rungs(std::slice::from_ref(rung), &caption));
    }
    page.table(&tables::forward_rungs(&bread.real.rungs, "Real data, forward only"));
    sections::bread_tiles(bread)
}

fn compare_body(page: &mut Page, compare: &Compare, timing: Option<&Timing>) -> Vec<Tile> {
    page.section("Side by side");
    if !compare.shared.is_empty() {
        page.paragraph(&format!(
            "All were run on the same simulated data. The exact sample of the posterior is shared by name: {}.",
            compare.shared.join(", ")
        ));
    }
    page.figures([
        figures::compare_steps(compare),
        figures::compare_evaluations(compare),
        timing.and_then(|t| figures::compare_time(compare, t)),
    ]);
    page.table(&tables::entries(compare));
    page.section("Numbers");
    for entry in &compare.entries {
        page.table(&tables::rungs(&entry.rungs, &entry.name));
    }
    sections::compare_tiles(compare)
}
