//! The report of `taddaa`: how functionals drift away from what the approximation says, and by how much they are wrong
//! at least.

use crate::html::{Page, Table};
use crate::number::as_f64;
use crate::svg::{Axis, Dash, Interval, Plot, Rule, Series, Tone};
use crust_diagnose::result::{Drift, Taddaa};
use crust_diagnose::taddaa::Judged;

/// The page; its title is the verdict.
pub fn page(result: &Taddaa) -> String {
    let found = &result.found;
    let mut page = Page::new(&found.verdict.sentence);
    page.paragraph(&format!(
        "crust taddaa{}: {} chains started at draws of the approximation and made {} iterations ({}). They come closer to the \
         posterior, so that what a functional has moved by at least, it was wrong by at least. Ends and starts have a \
         squared correlation of at most {:.3}: above 0.1 the chains have not moved enough to be relied on.",
        about(result), found.chains, found.iterations, result.kernel, found.rho2_max
    ));
    page.list(&result.notes);
    if result.partial {
        page.paragraph("The chains were ended early.");
    }
    let worst = worst_first(&found.functionals);
    if let Some(bounds) = &result.bounds {
        page.section("Divergence");
        page.paragraph(&format!(
            "KL(q‖p) of the approximation is at least {:.2} nats: {}.",
            bounds.kl_at_least,
            crate::divergence::bounds_in_words(bounds)
        ));
        let axis = crate::divergence::axis("Bounds on log Z", bounds);
        page.plots([(&axis, crate::divergence::AXIS)]);
    }
    page.section("Drift");
    let approximation = |name: &str| found.functionals.iter().find(|f| f.name == name).map(|f| f.approximation);
    let plots: Vec<Plot> = result.drift.iter().map(|way| drift(way, approximation(&way.name))).collect();
    let caption = "The functional over all chains, iteration by iteration, with a pointwise interval of 95 %. The dashed line is \
                   what the approximation says.";
    page.plots(plots.iter().map(|plot| (plot, caption)));
    page.section("Errors");
    let forest = forest(&worst);
    let caption = "Improved minus approximation in units of the simultaneous half-width, worst first: intervals that do not \
                   hold 0 are errors, for all functionals at once. The table has the numbers.";
    page.plots([(&forest, caption)]);
    page.table(&table(&worst));
    page.render()
}

/// What was judged.
fn about(result: &Taddaa) -> String {
    let of = if result.subject.is_empty() { String::new() } else { format!(", {}", result.subject) };
    of + &crate::divergence::of_program(&result.model, &result.data)
}

fn worst_first(functionals: &[Judged]) -> Vec<&Judged> {
    let mut list: Vec<&Judged> = functionals.iter().collect();
    list.sort_by(|a, b| b.relative.total_cmp(&a.relative));
    list
}

fn drift(way: &Drift, approximation: Option<f64>) -> Plot {
    let at = |t: &usize| as_f64(*t);
    let points = way.times.iter().map(at).zip(way.values.iter().copied()).collect();
    let range = |((t, low), high): ((&usize, &f64), &f64)| Interval { x: as_f64(*t), low: *low, high: *high };
    let band = way.times.iter().zip(&way.low).zip(&way.high).map(range).collect();
    let label = |y: f64| Rule::Level { y, label: "approximation".to_owned(), tone: Tone::Reverse, dash: Dash::Dashed };
    Plot {
        title: way.name.clone(),
        x: Axis { label: "iteration".to_owned(), ..Axis::default() },
        y: Axis { label: "value".to_owned(), ..Axis::default() },
        series: vec![Series { tone: Tone::Forward, points, band, ..Series::default() }],
        rules: approximation.filter(|y| y.is_finite()).map(label).into_iter().collect(),
    }
}

/// Functionals of the forest plot.
const TREES: usize = 40;

/// Every functional on a scale of its own: the half-width of its interval.
fn forest(worst: &[&Judged]) -> Plot {
    let trees = worst.iter().take(TREES).filter_map(|judged| {
        let [low, high] = judged.simultaneous_interval[..] else { return None };
        let half = 0.5 * (high - low);
        (half.is_finite() && half > 0.0)
            .then(|| (low / half, (judged.improved - judged.approximation) / half, high / half))
    });
    let trees: Vec<(f64, f64, f64)> = trees.collect();
    let place = |k: usize| as_f64(k + 1);
    let points = trees.iter().enumerate().map(|(k, tree)| (place(k), tree.1)).collect();
    let bars = trees.iter().enumerate().map(|(k, tree)| Interval { x: place(k), low: tree.0, high: tree.2 }).collect();
    Plot {
        title: "All functionals, worst first".to_owned(),
        x: Axis { label: "rank (see the table)".to_owned(), ..Axis::default() },
        y: Axis { label: "improved minus approximation, in half-widths".to_owned(), ..Axis::default() },
        series: vec![Series { tone: Tone::Forward, points, bars, scattered: true, ..Series::default() }],
        rules: vec![Rule::Level { y: 0.0, label: String::new(), tone: Tone::Ink, dash: Dash::Dotted }],
    }
}

fn table(worst: &[&Judged]) -> Table {
    let number = |x: f64| format!("{x:.5}");
    let weighted = worst.iter().any(|judged| judged.psis.is_some());
    let row = |(k, judged): (usize, &&Judged)| {
        let mut row = vec![
            judged.name.clone(),
            (k + 1).to_string(),
            number(judged.approximation),
            number(judged.improved),
            number(judged.simultaneous_lower_bound),
            number(judged.lower_bound),
        ];
        row.extend(weighted.then(|| judged.psis.map_or_else(String::new, number)));
        row
    };
    let head = ["functional", "rank", "approximation", "improved", "wrong by at least, all at once", "for this alone"];
    let more = weighted.then(|| "by importance sampling".to_owned());
    Table {
        caption: "Lower bounds on errors".to_owned(),
        head: head.map(str::to_owned).into_iter().chain(more).collect(),
        rows: worst.iter().enumerate().map(row).collect(),
        words: 1,
    }
}
