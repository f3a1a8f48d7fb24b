//! The reading in words: what `crust check` prints and reports show.

use serde::{Deserialize, Serialize};

use super::bounds::{declared_bounds, special_type};
use super::factors::{Factor, Shape};
use super::samplers::{Support, support};
use super::{Joint, Prior, Role, Source};
use crate::ast::SpecialType;
use crate::source::Source as Text;
use crate::typed::VariableId;

/// The generative reading for people and reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointSummary {
    /// In the order in which they are drawn.
    pub parameters: Vec<ParameterSummary>,
    pub outcomes: Vec<OutcomeSummary>,
    pub hyperparameters: Vec<String>,
    /// Everything that is drawn, in order.
    pub order: Vec<String>,
    pub notes: Vec<String>,
    pub warnings: Vec<String>,
}

/// A parameter and where it is drawn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterSummary {
    pub name: String,
    /// One line for each statement: `sigma ~ cauchy(0, 1), above 0`.
    pub prior: Vec<String>,
    /// The parameters that its prior depends on.
    pub depends_on: Vec<String>,
}

/// An outcome and where it is drawn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeSummary {
    pub name: String,
    pub likelihood: Vec<String>,
    pub depends_on: Vec<String>,
}

impl Joint {
    /// The reading in words; `text` is the program's.
    pub fn summary(&self, text: &Text) -> JointSummary {
        let name = |id: &VariableId| self.program.variable(*id).name.clone();
        let names = |ids: &mut dyn Iterator<Item = &VariableId>| ids.map(name).collect::<Vec<_>>();
        let is_parameter = |id: &&VariableId| self.split.depends.is_parameter(**id);
        let depends = |id: VariableId| {
            let own = self.factors.iter().filter(|f| f.draws(id));
            let all: std::collections::BTreeSet<VariableId> = match self.linked_with(id) {
                Some(linked) => linked.needs.clone(),
                None => own.flat_map(|f| &f.depends_on).copied().collect(),
            };
            names(&mut all.iter().filter(|other| **other != id))
        };
        let parameters = self.order.iter().filter(is_parameter).map(|id| ParameterSummary {
            name: name(id),
            prior: self.prior(*id, text),
            depends_on: depends(*id),
        });
        let outcomes = self.outcomes.iter().map(|(id, source)| OutcomeSummary {
            name: name(id),
            likelihood: self.likelihood(*id, *source, text),
            depends_on: depends(*id),
        });
        let by_values = self.outcomes.iter().filter(|(_, source)| *source == Source::Density);
        let by_values: Vec<String> = by_values.map(|(id, _)| format!("`{}`", name(id))).collect();
        let mut notes = self.notes.clone();
        if !by_values.is_empty() {
            notes.push(format!("{} drawn from the values of the likelihood", by_values.join(", ")));
        }
        JointSummary {
            parameters: parameters.collect(),
            outcomes: outcomes.collect(),
            hyperparameters: names(&mut self.hyperparameters.iter()),
            order: names(&mut self.order.iter()),
            notes,
            warnings: self.warnings.iter().map(|w| w.message.clone()).collect(),
        }
    }

    fn prior(&self, id: VariableId, text: &Text) -> Vec<String> {
        let name = &self.program.variable(id).name;
        if self.priors.get(&id) == Some(&Prior::Uniform) {
            let ty = special_type(&self.program, id);
            let place = if let Some(special) = ty {
                format!("on all values of type {}", special.name())
            } else {
                let bounds = declared_bounds(&self.program, id);
                let side = |e: Option<&crate::typed::Expr>| e.map_or("?", |e| text.slice(e.span)).to_owned();
                format!("between {} and {}", side(bounds.lower), side(bounds.upper))
            };
            return vec![format!("{name} ~ uniform {place} (no statement, but its declaration is finite)")];
        }
        if let Some(linked) = self.linked_with(id) {
            let names: Vec<&str> = linked.parameters.iter().map(|p| self.program.variable(*p).name.as_str()).collect();
            let words = format!(" ({}: normal, all elements drawn at once)", names.join(", "));
            let first = linked.parameters.first() == Some(&id);
            let spans = linked.spans.iter().filter(|_| first);
            return spans.map(|span| format!("{}{words}", one_line(text.slice(*span)))).collect();
        }
        let own = self.factors.iter().filter(|f| f.role == Role::Prior && f.draws(id));
        own.map(|f| format!("{}{}", one_line(text.slice(f.span)), self.remark(id, f, text))).collect()
    }

    /// What the declaration does to a prior.
    fn remark(&self, id: VariableId, factor: &Factor, text: &Text) -> String {
        if self.cut_together.contains(&id) {
            return " (drawn without its declared constraint; all parameters are drawn again until it holds)"
                .to_owned();
        }
        match special_type(&self.program, id) {
            Some(SpecialType::Ordered | SpecialType::PositiveOrdered) => {
                return " (drawn, then put in order: its type is ordered)".to_owned();
            }
            Some(_) => return String::new(),
            None => {}
        }
        let bounds = declared_bounds(&self.program, id);
        let zero = |e: &crate::typed::Expr| text.slice(e.span) == "0";
        let natural = matches!(support(&factor.distribution), Support::Positive | Support::Unit | Support::Arguments);
        if natural || bounds.is_none() || factor.truncation.is_some() {
            return String::new();
        }
        let line = support(&factor.distribution) == Support::Line;
        match (bounds.lower, bounds.upper) {
            (Some(lower), None) if zero(lower) && line => {
                format!(" (half-{}: truncated by its bound at 0)", factor.distribution)
            }
            (Some(lower), None) => format!(" (truncated by its bound: above {})", text.slice(lower.span)),
            (None, Some(upper)) => format!(" (truncated by its bound: below {})", text.slice(upper.span)),
            (Some(lower), Some(upper)) => {
                format!(" (truncated by its bounds: from {} to {})", text.slice(lower.span), text.slice(upper.span))
            }
            (None, None) => String::new(),
        }
    }

    fn likelihood(&self, id: VariableId, source: Source, text: &Text) -> Vec<String> {
        let name = &self.program.variable(id).name;
        match source {
            Source::Generated(sim) => {
                let sim = &self.program.variable(sim).name;
                return vec![format!("{name} is drawn by the program's own generated quantity {sim}")];
            }
            Source::Simulator => return vec![format!("{name} is drawn by the simulator that was given")],
            Source::Density => {
                return vec![format!(
                    "{name} is drawn from the values of the likelihood at all values that it can have"
                )];
            }
            Source::Likelihood => {}
        }
        let own = self.factors.iter().filter(|f| f.role == Role::Likelihood && f.draws(id));
        own.map(|f| {
            let words = one_line(text.slice(f.span));
            if f.shape == Shape::Mixture { format!("{words} ({})", f.distribution) } else { words }
        })
        .collect()
    }
}

impl JointSummary {
    /// The reading as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec!["  read as a joint distribution, drawn in this order:".to_owned()];
        lines.extend(self.parameters.iter().flat_map(|p| &p.prior).map(|line| format!("    prior       {line}")));
        lines.extend(self.outcomes.iter().flat_map(|o| &o.likelihood).map(|line| format!("    likelihood  {line}")));
        if !self.hyperparameters.is_empty() {
            lines.push(format!("    hyperparameters: {} (`--hyper` overrides)", self.hyperparameters.join(", ")));
        }
        lines.extend(self.notes.iter().map(|note| format!("    note: {note}")));
        lines
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches(';').to_owned()
}
