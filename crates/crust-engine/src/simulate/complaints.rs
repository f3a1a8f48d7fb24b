//! What goes wrong while drawing, with the element and the remedy.

use crust_stan::diagnostics::Diagnostic;
use crust_stan::joint::Joint;

use super::{Phases, SimulateError};

impl Phases {
    /// The name of an element of the state, and its variable's position among those drawn.
    fn element(&self, at: usize) -> (String, usize) {
        let mut rest = at;
        for (i, size) in self.sizes.iter().enumerate() {
            if rest < *size {
                let mut name = self.model.generated[2 * i].name.clone();
                for part in &self.model.generated[2 * i].parts {
                    part.each_in_output_order(|indices, position| {
                        if position == rest && !indices.is_empty() {
                            let list: Vec<String> = indices.iter().map(usize::to_string).collect();
                            name = format!("{name}[{}]", list.join(","));
                        }
                    });
                }
                return (name, i);
            }
            rest -= size;
        }
        (String::new(), 0)
    }

    fn complaint(
        &self,
        joint: &Joint,
        at: usize,
        code: &'static str,
        message: impl FnOnce(&str) -> String,
        help: &str,
    ) -> SimulateError {
        let (name, i) = self.element(at);
        let span = self.drawn.get(i).map(|id| joint.program.variable(*id).span).unwrap_or_default();
        let statement = self.drawn.get(i).and_then(|id| joint.factors.iter().find(|f| f.draws(*id)));
        let mut diagnostic = Diagnostic::error(code, message(&name), statement.map_or(span, |f| f.span)).help(help);
        if statement.is_some() {
            diagnostic = diagnostic.related(span, "declared here");
        }
        SimulateError::Reading(Box::new(diagnostic))
    }

    /// Every element is drawn exactly once: not at all is an improper prior, twice is a product of two densities.
    pub(super) fn check_counts(&self, joint: &Joint, counts: &[f64]) -> Result<(), SimulateError> {
        let uniform = |at: usize| {
            let (_, i) = self.element(at);
            self.drawn.get(i).is_some_and(|id| joint.priors.get(id) == Some(&crust_stan::joint::Prior::Uniform))
        };
        match counts.iter().position(|n| *n > 1.0) {
            Some(at) if !uniform(at) => Err(self.complaint(
                joint,
                at,
                "two-priors",
                |name| format!("`{name}` is drawn by more than one statement"),
                "keep one of them: Stan multiplies the densities, and the product is no distribution that either names",
            )),
            _ => Ok(()),
        }
    }

    /// Nothing more can be drawn, and something is missing.
    pub(super) fn stuck(&self, joint: &Joint, state: &[f64], counts: &[f64]) -> SimulateError {
        let missing = |at: &usize| state[*at].is_nan();
        let undrawn = (0..state.len()).filter(missing).find(|at| counts[*at].is_nan());
        if let Some(at) = undrawn {
            return self.complaint(
                joint,
                at,
                "improper-prior",
                |name| format!("`{name}` has no prior: no statement draws it"),
                "state a distribution for every element of a parameter",
            );
        }
        let at = (0..state.len()).find(missing).unwrap_or(0);
        self.complaint(
            joint,
            at,
            "cyclic-program",
            |name| format!("`{name}` cannot be drawn: its distribution depends on itself"),
            "write the statements so that every element depends on earlier ones only",
        )
    }

    pub(super) fn never_drawn(&self, joint: &Joint, at: usize) -> SimulateError {
        self.complaint(
            joint,
            at,
            "data-missing",
            |name| format!("`{name}` is not in the data, and no statement draws it"),
            "give it in the data: its value is kept",
        )
    }

    pub(super) fn other_mask(&self, joint: &Joint, at: usize, value: f64) -> SimulateError {
        self.complaint(
            joint,
            at,
            "mask-changed",
            |name| {
                format!(
                    "whether `{name}` is drawn depends on its value, and the simulated value {value} decides otherwise \
                     than the given one"
                )
            },
            "let a variable of its own say which entries are observed",
        )
    }
}
