//! The report of `sbc`: where exact draws lie among the method's own, as differences of distribution functions.

use crate::html::{Page, Table};
use crate::number::as_f64;
use crate::svg::{Axis, Interval, Plot, Rule, Series, Tone};
use crate::svg::{Dash, Shape};
use crust_diagnose::result::{Sbc, SbcQuantity};

/// Plots of the least uniform quantities.
const PLOTS: usize = 8;

/// The page; its title is the verdict.
pub fn page(result: &Sbc) -> String {
    let mut page = Page::new(&result.verdict.sentence);
    let data = result.data.as_ref().map_or_else(String::new, |data| format!(" with {data}"));
    let (origin, beside) = match result.fit {
        None => ("prior", ""),
        Some(_) => ("posterior of the real data", " together with the real data"),
    };
    page.paragraph(&format!(
        "crust sbc: {} on {}{data}. {} of {} datasets were simulated from the {origin}, each with the parameters behind it, and the \
         method was run on each{beside}. If it is right, those parameters lie among its draws as one more draw would: their places \
         are uniform.",
        result.method, result.model, result.datasets, result.wanted
    ));
    page.section("Places of exact draws");
    let worst = in_order(result);
    let plots: Vec<Plot> = worst.iter().take(PLOTS).map(|quantity| plot(result, quantity)).collect();
    let caption = "The share of places below z, minus z. A right method stays in the shaded region with a probability of 95 %. \
                   Above 0 on the left: draws are too high. An S that rises first: draws are too close together.";
    page.plots(plots.iter().map(|plot| (plot, caption)));
    page.section("All quantities");
    let row = |quantity: &&SbcQuantity| {
        vec![
            quantity.name.clone(),
            quantity.fault.clone().unwrap_or_else(|| "uniform".to_owned()),
            format!("{:.4}", quantity.p_value),
            format!("{:.4}", quantity.adjusted_p_value),
        ]
    };
    page.table(&Table {
        caption: "Unconstrained parameters, the log likelihood and the log density".to_owned(),
        head: ["quantity", "places", "p", "p for all together (Holm)"].map(str::to_owned).to_vec(),
        rows: worst.iter().map(row).collect(),
        words: 2,
    });
    page.section("What was hard");
    let troubles = &result.troubles;
    page.list(&[
        format!("chains did not meet (R-hat above 1.1) on {} of {} datasets", troubles.r_hat, result.datasets),
        format!("more than 1 % of transitions diverged on {} datasets", troubles.divergences),
        format!("nothing could be sampled on {} datasets", troubles.failed),
    ]);
    page.render()
}

/// Quantities, the least uniform first.
pub(crate) fn in_order(result: &Sbc) -> Vec<&SbcQuantity> {
    let mut list: Vec<&SbcQuantity> = result.quantities.iter().collect();
    list.sort_by(|a, b| a.p_value.total_cmp(&b.p_value));
    list
}

fn plot(result: &Sbc, quantity: &SbcQuantity) -> Plot {
    let band = result.band.iter().map(|b| Interval { x: b.at, low: b.low - b.at, high: b.high - b.at }).collect();
    let region = Series { label: "95 % of right methods".to_owned(), tone: Tone::Quiet, band, ..Series::default() };
    let mut places = quantity.places.clone();
    places.sort_by(f64::total_cmp);
    let n = as_f64(places.len()).max(1.0);
    let step = |(k, z): (usize, &f64)| [(*z, as_f64(k) / n - z), (*z, as_f64(k + 1) / n - z)];
    let points = [(0.0, 0.0)].into_iter().chain(places.iter().enumerate().flat_map(step)).chain([(1.0, 0.0)]);
    let tone = if quantity.fault.is_some() { Tone::Reverse } else { Tone::Forward };
    let curve = Series { tone, points: points.collect(), bare: true, shape: Shape::default(), ..Series::default() };
    Plot {
        title: format!("{} (p = {:.3})", quantity.name, quantity.p_value),
        x: Axis { label: "z, a place among the draws".to_owned(), ends: Some((0.0, 1.0)), ..Axis::default() },
        y: Axis { label: "share below z, minus z".to_owned(), ..Axis::default() },
        series: vec![region, curve],
        rules: vec![Rule::Level { y: 0.0, label: String::new(), tone: Tone::Ink, dash: Dash::Dotted }],
    }
}
