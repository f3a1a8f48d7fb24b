//! Pages and stories of whole results.

mod common;

use crust_diagnose::result::{Bdmc, Bread, Compare, Level, Results};
use crust_report::{html, picture, terminal};

fn all() -> Vec<(&'static str, Results)> {
    let mut partial = common::bread();
    partial.partial = true;
    partial.fit = None;
    partial.start_check = None;
    partial.calibration = None;
    partial.simulated.rungs.truncate(1);
    partial.real.rungs.clear();
    vec![
        ("bread", Results::Bread(common::bread())),
        ("bdmc", Results::Bdmc(common::bdmc())),
        ("violation", Results::Bdmc(common::violation())),
        ("compare", Results::Compare(common::compare())),
        ("partial", Results::Bread(partial)),
        ("empty bread", Results::Bread(Bread::default())),
        ("empty bdmc", Results::Bdmc(Bdmc::default())),
        ("empty compare", Results::Compare(Compare::default())),
    ]
}

/// Whether every element of markup is closed in order, and attributes and text hold no stray signs.
fn check_well_formed(name: &str, markup: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup.strip_prefix("<!DOCTYPE html>").unwrap_or(markup);
    while let Some(start) = rest.find('<') {
        assert!(
            !rest[..start].contains('>') || open.last() == Some(&"style"),
            "{name}: stray sign in {}",
            &rest[..start]
        );
        let end = start + rest[start..].find('>').unwrap_or_else(|| panic!("{name}: no end of {}", &rest[start..]));
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "{name}: {tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{name}: {tag}");
        let word = tag.split([' ', '/', '\n']).find(|w| !w.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(word), "{name}: {tag}");
        } else if !tag.ends_with('/') {
            open.push(word);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{name}: {open:?} is left open");
    for entity in markup.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;"].iter().any(|e| entity.starts_with(e));
        assert!(known, "{name}: {}", entity.chars().take(20).collect::<String>());
    }
}

#[test]
fn pages_are_well_formed_complete_and_the_same_each_time() {
    let timing = common::timing(&["simulated-1", "uncollapsed.stan", "collapsed.stan"]);
    for (name, results) in all() {
        for times in [None, Some(&timing)] {
            let page = html::report(&results, times).unwrap_or_default();
            check_well_formed(name, &page);
            assert_eq!(page, html::report(&results.clone(), times).unwrap_or_default(), "{name}");
            assert!(!page.contains("NaN") && !page.contains("inf<"), "{name}");
            for outside in ["http://", "https://", "<script", "@import", "url("] {
                assert!(!page.contains(outside), "{name} needs {outside}");
            }
        }
        if let Some(picture) = picture(&results) {
            check_well_formed(name, &picture);
            assert!(picture.starts_with("<svg xmlns="));
        }
    }
}

#[test]
fn names_are_text_and_not_markup() {
    let mut bread = common::bread();
    let evil = "</style><script>alert(\"1\")</script>&\u{0}".to_owned();
    bread.run.model.clone_from(&evil);
    bread.verdict.sentence.clone_from(&evil);
    bread.verdict.rests_on.push(evil.clone());
    bread.reading.parameters[0].words.clone_from(&evil);
    bread.reading.notes.push(evil.clone());
    bread.fit.as_mut().unwrap().hyperparameters[0].name.clone_from(&evil);
    bread.checks[0].sentence.clone_from(&evil);
    bread.run.options.insert(evil.clone(), evil.clone());
    let mut compare = common::compare();
    compare.entries[0].name.clone_from(&evil);
    compare.shared.push(evil);
    for results in [Results::Bread(bread), Results::Compare(compare)] {
        let page = html::report(&results, None).unwrap_or_default();
        check_well_formed("evil", &page);
        assert!(!page.contains("<script"));
    }
}

#[test]
fn the_verdict_stands_at_the_top() {
    let page = html::report(&Results::Bread(common::bread()), None).unwrap_or_default();
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words} is missing"));
    assert!(at("<h1>On data like these") < at("This rests on"));
    assert!(at("This rests on") < at("This does not cover"));
    assert!(at("This does not cover") < at("Bounds on log-ML from both sides"));
    for words in ["rank 9 of 21", "scale_sq ~ inv_gamma(1, 1)", "R-hat is 1.003", "Grosse, R. B.", "no upper one"] {
        at(words);
    }
}

#[test]
fn a_violation_is_never_hidden() {
    let mut result = common::violation();
    result.verdict.level = Level::Good;
    let results = Results::Bdmc(result);
    let page = html::report(&results, None).unwrap_or_default();
    assert!(page.contains("class=\"badge violation\"") && page.contains("no number below can be trusted"));
    assert!(!page.contains("class=\"tile\""), "no number in large figures that cannot be trusted");
    let story = terminal::story(&results, 80, false).unwrap_or_default();
    assert!(story.starts_with("✖ Violation: "), "{story}");
    let fine = html::report(&Results::Bdmc(common::bdmc()), None).unwrap_or_default();
    assert!(!fine.contains("class=\"alarm\"") && fine.contains("class=\"tile\""));
}

#[test]
fn what_was_ended_early_says_so() {
    let (_, partial) = all().swap_remove(4);
    assert!(html::report(&partial, None).unwrap_or_default().contains("This run was ended early."));
    assert!(terminal::story(&partial, 80, false).unwrap_or_default().contains("ended early"));
    assert!(!html::report(&Results::Bread(common::bread()), None).unwrap_or_default().contains("ended early"));
}

#[test]
fn stories_fit_the_terminal() {
    for (name, results) in all() {
        for width in (0..140).chain([1000]) {
            let story = terminal::story(&results, width, false).unwrap_or_default();
            let lines: Vec<&str> = story.lines().collect();
            let widest = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
            assert!(widest <= width.max(30), "{name} at {width}:\n{story}");
            assert!(lines.len() <= terminal::LINES, "{name} at {width}:\n{story}");
            assert!(!story.contains('\u{1b}') && !story.contains("NaN"), "{name}");
            let sentence = match &results {
                Results::Bdmc(r) => &r.verdict.sentence,
                Results::Bread(r) => &r.verdict.sentence,
                Results::Compare(r) => &r.verdict.sentence,
                _ => panic!("{name} is no protocol"),
            };
            let told: Vec<&str> = story.split_whitespace().collect();
            assert!(sentence.split_whitespace().all(|w| told.contains(&w)), "{name} at {width}:\n{story}");
        }
    }
}

#[test]
fn stories() {
    let tell = |(name, results): &(&str, Results)| {
        format!("=== {name}\n{}\n", terminal::story(results, 80, false).unwrap_or_default())
    };
    insta::assert_snapshot!(all().iter().map(tell).collect::<Vec<_>>().concat());
    let coloured = terminal::story(&Results::Bread(common::bread()), 80, true).unwrap_or_default();
    assert!(coloured.starts_with("\u{1b}[1;34m● Good:\u{1b}[0m On data"), "{coloured}");
}
