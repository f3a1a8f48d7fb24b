//! Where estimates of log p(y) contradict each other.

use crust_diagnose::result::{EvidenceKind, EvidenceMethod};

/// A bound that is above an estimate by so many standard errors contradicts it.
const SIGMAS: f64 = 4.0;
/// Differences below this are not worth a word, however small the errors are said to be.
const NATS: f64 = 0.1;

/// Where estimates contradict each other: two estimates that are further apart than their errors, or a lower bound
/// above an estimate.
pub(super) fn disagreements(methods: &[EvidenceMethod]) -> Vec<String> {
    let mut list = Vec::new();
    // what nobody should trust is no reason to mistrust others
    let trusted: Vec<&EvidenceMethod> =
        methods.iter().filter(|m| m.name != "harmonic-mean" && m.se <= EvidenceMethod::MOST_ERROR).collect();
    for (i, a) in trusted.iter().enumerate() {
        for b in &trusted[i + 1..] {
            let (gap, error) = (a.log_ml - b.log_ml, a.se.hypot(b.se));
            let bounds = |m: &EvidenceMethod| m.kind == EvidenceKind::StochasticLowerBound;
            // a bound may well be below: only one that is above says something
            let contradiction = match (bounds(a), bounds(b)) {
                (false, false) => gap.abs() > SIGMAS * error + NATS,
                (true, false) => gap > SIGMAS * error + NATS,
                (false, true) => -gap > SIGMAS * error + NATS,
                (true, true) => false,
            };
            if !contradiction {
                continue;
            }
            let tail = match (bounds(a), bounds(b)) {
                (false, false) => "at least one of them is wrong, and neither error can be believed".to_owned(),
                (bound, _) => {
                    let (bound, other) = if bound { (a, b) } else { (b, a) };
                    format!(
                        "{} is a lower bound, and that far above by {:.0} of the standard errors, so that {} has missed a \
                         part of the posterior",
                        bound.name,
                        gap.abs() / error,
                        other.name
                    )
                }
            };
            list.push(format!("{} and {} are {:.2} nats apart: {tail}", a.name, b.name, gap.abs()));
        }
    }
    list
}
