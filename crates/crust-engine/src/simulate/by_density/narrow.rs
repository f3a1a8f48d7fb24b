//! Bounds of integers that nobody declared: `thresholds[y]` refuses categories that there are not.
//!
//! Values of different elements are tried together, and what is refused has to be looked for one element at a time. So
//! where every element refuses all beyond the same value, that is said once. What would be lost by it shows in the
//! normaliser.

use std::ops::Range;

use crust_math::random::{Purpose, StreamKey};

use super::Domain;
use super::evaluate::{Run, Terms};

/// How far beyond the given values a bound is looked for.
const FARTHEST: u32 = 20;
/// Values in a row that are refused behind a bound.
const BEHIND: u32 = 3;
/// Points that are tried until the given outcome has a density.
const TRIALS: u32 = 10;
/// Outcomes that are evaluated together.
const TOGETHER: usize = 64;

/// Narrows the domains of the elements of an outcome that lie in `range`.
pub fn narrow(terms: &Terms, base: &[f64], range: Range<usize>, domains: &mut [Domain]) {
    let open = |domain: &Domain| domain.integer && !(domain.lower.is_finite() && domain.upper.is_finite());
    if range.is_empty() || !domains[range.clone()].iter().all(open) {
        return;
    }
    let mut stream = StreamKey::new(4, Purpose::GENERATED).stream();
    let points = (0..TRIALS).map(|_| (0..terms.dimension()).map(|_| 4.0 * stream.uniform() - 2.0).collect());
    let runs = points.map(|point: Vec<f64>| terms.run(&point));
    let Some(run) = runs.into_iter().find_map(|mut run| run.terms(base).is_some().then_some(run)) else { return };
    let mut probe = Probe { run, base, range: range.clone() };
    let given = &base[range.clone()];
    let (least, largest) = given.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    let upper = domains[range.clone()].iter().all(|d| d.upper.is_infinite()).then(|| probe.bound(largest, 1.0));
    let lower = domains[range.clone()].iter().all(|d| d.lower.is_infinite()).then(|| probe.bound(least, -1.0));
    for domain in &mut domains[range] {
        domain.upper = upper.flatten().unwrap_or(domain.upper);
        domain.lower = lower.flatten().unwrap_or(domain.lower);
    }
}

struct Probe<'a> {
    run: Run,
    base: &'a [f64],
    range: Range<usize>,
}

impl Probe<'_> {
    /// The last value, from the outermost given one on, behind which all elements are refused.
    fn bound(&mut self, outermost: f64, step: f64) -> Option<f64> {
        let first = self.range.start;
        let tried: Vec<(usize, f64)> =
            (1..=FARTHEST + BEHIND).map(|k| (first, outermost + step * f64::from(k))).collect();
        let refused = self.refused(&tried);
        let behind = BEHIND as usize;
        let at = refused.windows(behind).position(|window| window.iter().all(|refused| *refused))?;
        #[expect(clippy::cast_precision_loss, reason = "at most FARTHEST")]
        let bound = outermost + step * at as f64;
        let each: Vec<(usize, f64)> = self.range.clone().map(|element| (element, bound + step)).collect();
        self.refused(&each).iter().all(|refused| *refused).then_some(bound)
    }

    /// Whether the program refuses these values of single elements.
    fn refused(&mut self, changes: &[(usize, f64)]) -> Vec<bool> {
        let mut refused = Vec::with_capacity(changes.len());
        for some in changes.chunks(TOGETHER) {
            let outcome = |(element, value): &(usize, f64)| {
                let mut numbers = self.base.to_vec();
                numbers[*element] = *value;
                numbers
            };
            let outcomes: Vec<Vec<f64>> = some.iter().map(outcome).collect();
            refused.extend(self.run.many(&outcomes).iter().map(Option::is_none));
            // One that is not refused is enough to end it.
            if changes.len() > TOGETHER && refused.contains(&false) {
                break;
            }
        }
        refused
    }
}
