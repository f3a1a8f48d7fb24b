//! Densities of the program that are named the old way: `real foo_log(real y, …)`, used as `y ~ foo(…)`.
//!
//! Today `foo_log` is an ordinary function, so it is taken for a density only where a `~` statement uses it as one and
//! there is no `foo_lpdf`, `foo_lpmf` or distribution `foo` that the statement could mean.

use super::walk::{self, Visitor};
use crate::ast::{Expr, Program, Stmt, StmtKind};
use crate::diagnostics::Diagnostic;
use crate::signatures;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct LegacyDensities {
    /// From the old name to the new one.
    renamed: BTreeMap<String, String>,
}

/// Collects the distributions that `~` statements name.
struct Used(BTreeSet<String>);

impl Visitor for Used {
    fn expression(&mut self, _: &mut Expr) {}

    fn statement(&mut self, statement: &mut Stmt) {
        if let StmtKind::Tilde(tilde) = &statement.kind {
            self.0.insert(tilde.distribution.name.clone());
        }
    }
}

impl LegacyDensities {
    pub fn find(program: &mut Program, own: &BTreeSet<String>) -> Self {
        let mut renamed = BTreeMap::new();
        if own.iter().any(|name| name.ends_with("_log")) {
            let mut used = Used(BTreeSet::new());
            walk::program(program, &mut used);
            for stem in used.0 {
                let is_today = |ending: &str| own.contains(&format!("{stem}{ending}"));
                if signatures::is_distribution(&stem) || is_today("_lpdf") || is_today("_lpmf") {
                    continue;
                }
                let functions = program.functions.iter().flat_map(|b| &b.functions);
                let old = format!("{stem}_log");
                let Some(density) = functions.into_iter().find(|f| f.name.name == old) else { continue };
                let is_mass = density.arguments.first().is_some_and(|a| a.ty.is_int_like());
                renamed.insert(old, format!("{stem}{}", if is_mass { "_lpmf" } else { "_lpdf" }));
                for (old, new) in [("_cdf_log", "_lcdf"), ("_ccdf_log", "_lccdf")] {
                    if own.contains(&format!("{stem}{old}")) {
                        renamed.insert(format!("{stem}{old}"), format!("{stem}{new}"));
                    }
                }
            }
        }
        Self { renamed }
    }

    pub fn is_renamed(&self, name: &str) -> bool {
        self.renamed.contains_key(name)
    }

    pub fn new_name(&self, name: &str) -> Option<&str> {
        self.renamed.get(name).map(String::as_str)
    }

    pub fn rename_definitions(&self, program: &mut Program) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for function in program.functions.iter_mut().flat_map(|b| &mut b.functions) {
            if let Some(new) = self.renamed.get(&function.name.name) {
                let message = format!("the density `{}` is named in a retired way", function.name.name);
                let warning = Diagnostic::warning("retired-density", message, function.name.span);
                warnings.push(warning.help(format!("call it `{new}`")));
                function.name.name.clone_from(new);
            }
        }
        warnings
    }
}
