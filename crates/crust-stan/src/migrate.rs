//! Retired functions and densities in today's words.
//!
//! The parser has replaced retired *syntax* already; here go the calls whose meaning depends on what the program
//! defines itself: a function of the program is never touched.

mod densities;
mod walk;

use crate::ast::{AssignOp, BinaryOp, Call, Expr, ExprKind, Ident, Program, Stmt, StmtKind, Tilde, UnaryOp};
use crate::diagnostics::Diagnostic;
use crate::names::Suffix;
use crate::signatures;
use crate::span::Span;
use densities::LegacyDensities;
use std::collections::BTreeSet;

/// Functions with a new name and the same arguments.
const RENAMED: [(&str, &str); 4] = [
    ("binomial_coefficient_log", "lchoose"),
    ("cov_exp_quad", "gp_exp_quad_cov"),
    ("fabs", "abs"),
    ("multiply_log", "lmultiply"),
];

/// Functions that still work, with what to use instead.
const DISCOURAGED: [(&str, &str); 4] = [
    ("integrate_ode", "ode_rk45"),
    ("integrate_ode_adams", "ode_adams"),
    ("integrate_ode_bdf", "ode_bdf"),
    ("integrate_ode_rk45", "ode_rk45"),
];

/// Replaces what is retired, and gives a warning for each replacement.
pub fn migrate(program: &mut Program) -> Vec<Diagnostic> {
    let functions = program.functions.as_ref().map_or(&[][..], |b| &b.functions);
    let own: BTreeSet<String> = functions.iter().map(|f| f.name.name.clone()).collect();
    let mut migration = Migration { densities: LegacyDensities::find(program, &own), own, warnings: Vec::new() };
    let renamed = migration.densities.rename_definitions(program);
    migration.warnings.extend(renamed);
    walk::program(program, &mut migration);
    migration.warnings
}

struct Migration {
    own: BTreeSet<String>,
    densities: LegacyDensities,
    warnings: Vec<Diagnostic>,
}

impl Migration {
    fn retired(&mut self, what: &str, replacement: &str, span: Span) {
        let warning = Diagnostic::warning("retired-function", format!("`{what}` is retired"), span);
        self.warnings.push(warning.help(format!("write `{replacement}`")));
    }

    /// Called for every expression, inner ones first.
    fn expression(&mut self, e: &mut Expr) {
        if matches!(&e.kind, ExprKind::Variable(name) if name == "lp__") {
            self.retired("lp__", "target()", e.span);
            e.kind = ExprKind::Target;
        }
        let ExprKind::Call(call) = &mut e.kind else { return };
        self.bar_for_cdf(call);
        if self.own.contains(&call.function.name) && !self.densities.is_renamed(&call.function.name) {
            return;
        }
        let span = call.function.span;
        match (call.function.name.as_str(), call.arguments.len()) {
            ("if_else", 3) => {
                self.retired("if_else(c, a, b)", "c ? a : b", span);
                let mut parts = std::mem::take(&mut call.arguments).into_iter().map(Box::new);
                if let (Some(condition), Some(yes), Some(no)) = (parts.next(), parts.next(), parts.next()) {
                    let kind = ExprKind::Ternary { condition, yes, no };
                    e.kind = ExprKind::Paren(Box::new(Expr { kind, span: e.span }));
                }
            }
            ("get_lp", 0) => {
                self.retired("get_lp()", "target()", span);
                e.kind = ExprKind::Target;
            }
            ("lkj_cov_lpdf" | "lkj_cov_log", 4) => {
                self.lkj_cov_warning(span);
                let mut arguments = std::mem::take(&mut call.arguments).into_iter();
                if let Some(w) = arguments.next() {
                    let [scales, correlations] = lkj_cov(w, arguments.collect(), span);
                    let [left, right] = [scales, correlations].map(|t| Box::new(density_call(t)));
                    let sum = ExprKind::Binary { op: BinaryOp::Add, left, right };
                    e.kind = ExprKind::Paren(Box::new(Expr { kind: sum, span: e.span }));
                }
            }
            _ => self.rename(call),
        }
    }

    fn rename(&mut self, call: &mut Call) {
        let (name, span) = (call.function.name.clone(), call.function.span);
        if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == name) {
            self.retired(&name, new, span);
            call.function.name = String::from(*new);
        } else if let Some((_, new)) = DISCOURAGED.iter().find(|(old, _)| *old == name) {
            let warning = Diagnostic::warning("discouraged-function", format!("`{name}` will be retired"), span);
            self.warnings.push(warning.help(format!("use `{new}`, which takes its arguments in another way")));
        } else if let Some(new) = self.density_name(&name).filter(|_| !call.bar) {
            self.retired(&name, &format!("{new}(… | …)"), span);
            call.function.name = new;
            call.bar = true;
        }
    }

    /// `normal_cdf(y, mu, sigma)` → `normal_cdf(y | mu, sigma)`; the other functions of a distribution always had a
    /// bar.
    fn bar_for_cdf(&mut self, call: &mut Call) {
        let name = &call.function.name;
        let known = signatures::is_function(name) || self.own.contains(name);
        if known && !call.bar && call.arguments.len() > 1 && Suffix::of(name) == Suffix::Cdf {
            call.bar = true;
            let (old, new) = (format!("{name}(y, …)"), format!("{name}(y | …)"));
            self.retired(&old, &new, call.function.span);
        }
    }

    /// `normal_log` → `normal_lpdf`, `normal_cdf_log` → `normal_lcdf`, …
    fn density_name(&self, name: &str) -> Option<String> {
        if signatures::is_function(name) {
            return None;
        }
        if let Some(new) = self.densities.new_name(name) {
            return Some(new.to_owned());
        }
        let endings = [("_ccdf_log", "_lccdf"), ("_cdf_log", "_lcdf"), ("_log", "_lpdf"), ("_log", "_lpmf")];
        endings.into_iter().find_map(|(old, new)| {
            let candidate = format!("{}{new}", name.strip_suffix(old)?);
            signatures::is_function(&candidate).then_some(candidate)
        })
    }

    fn lkj_cov_warning(&mut self, span: Span) {
        let warning = Diagnostic::warning("retired-function", "`lkj_cov` is retired", span)
            .note("it is a lognormal distribution of the standard deviations times an LKJ distribution of the correlations")
            .help("give scales and correlations priors of their own: `sigma ~ lognormal(…)`, `Omega ~ lkj_corr(…)`");
        self.warnings.push(warning);
    }

    /// Called for every statement, inner ones first.
    fn statement(&mut self, statement: &mut Stmt) {
        match &mut statement.kind {
            StmtKind::Call(call)
                if call.function.name == "increment_log_prob"
                    && call.arguments.len() == 1
                    && !self.own.contains("increment_log_prob") =>
            {
                self.retired("increment_log_prob(…)", "target += …", call.function.span);
                if let Some(value) = call.arguments.pop() {
                    statement.kind = StmtKind::TargetPlus(value);
                }
            }
            StmtKind::Tilde(tilde)
                if tilde.distribution.name == "lkj_cov"
                    && tilde.arguments.len() == 3
                    && tilde.truncation.is_none()
                    && !self.own.contains("lkj_cov_lpdf") =>
            {
                self.lkj_cov_warning(tilde.distribution.span);
                let variate =
                    std::mem::replace(&mut tilde.variate, Expr { kind: ExprKind::Error, span: statement.span });
                let terms = lkj_cov(variate, std::mem::take(&mut tilde.arguments), tilde.distribution.span);
                let span = statement.span;
                statement.kind = StmtKind::Block(terms.map(|t| Stmt { kind: StmtKind::Tilde(t), span }).into());
            }
            // `lp__ = lp__ + e`, of which the walk has made `target() = target() + e`; what is left over is an error.
            StmtKind::Assign { target, op, value } if target.kind == ExprKind::Target => {
                let only_adds =
                    *op == AssignOp::Compound(BinaryOp::Add) || (*op == AssignOp::Set && take_target(value));
                if only_adds {
                    let value = std::mem::replace(value, Expr { kind: ExprKind::Error, span: statement.span });
                    statement.kind = StmtKind::TargetPlus(value);
                }
            }
            _ => {}
        }
    }
}

/// Makes `a - b` of `target() + a - b`, and says whether it could. Only the first summand may be the target. (In a
/// loop: the sum may have thousands of terms.)
fn take_target(mut e: &mut Expr) -> bool {
    loop {
        let is_first = match &e.kind {
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Subtract, left, .. } => left.kind == ExprKind::Target,
            _ => return false,
        };
        if is_first {
            break;
        }
        let ExprKind::Binary { left, .. } = &mut e.kind else { return false };
        e = left;
    }
    let ExprKind::Binary { op, right, .. } = std::mem::replace(&mut e.kind, ExprKind::Error) else { return false };
    *e = if op == BinaryOp::Add { *right } else { negated(*right) };
    true
}

fn negated(e: Expr) -> Expr {
    let span = e.span;
    let operand = match e.kind {
        ExprKind::Binary { .. } | ExprKind::Ternary { .. } => Expr { kind: ExprKind::Paren(Box::new(e)), span },
        _ => e,
    };
    Expr { kind: ExprKind::Unary { op: UnaryOp::Minus, operand: Box::new(operand) }, span }
}

/// `lkj_cov(W | mu, sigma, eta)` in the terms it is made of: with `s = sqrt(diagonal(W))`, a lognormal density of `s`
/// and an LKJ density of the correlation matrix `diag(1/s) W diag(1/s)`. (That is how Stan defines it; there is no
/// Jacobian for the change from `W` to `s` and the correlations.)
fn lkj_cov(w: Expr, mut arguments: Vec<Expr>, at: Span) -> [Tilde; 2] {
    let span = w.span;
    let call = |name: &str, arguments: Vec<Expr>| {
        let function = Ident { name: name.to_owned(), span: at };
        Expr { kind: ExprKind::Call(Call { function, arguments, bar: false }), span }
    };
    let shape = arguments.pop().into_iter().collect();
    let diagonal = call("diagonal", vec![w.clone()]);
    let inverse = call("inv_sqrt", vec![diagonal.clone()]);
    let tilde = |variate, name: &str, arguments| Tilde {
        variate,
        distribution: Ident { name: name.to_owned(), span: at },
        arguments,
        truncation: None,
    };
    [
        tilde(call("sqrt", vec![diagonal]), "lognormal", arguments),
        tilde(call("quad_form_diag", vec![w, inverse]), "lkj_corr", shape),
    ]
}

/// `v ~ d(a)` as the call `d_lpdf(v | a)`.
fn density_call(tilde: Tilde) -> Expr {
    let span = tilde.variate.span;
    let function = Ident { name: format!("{}_lpdf", tilde.distribution.name), span: tilde.distribution.span };
    let arguments = std::iter::once(tilde.variate).chain(tilde.arguments).collect();
    Expr { kind: ExprKind::Call(Call { function, arguments, bar: true }), span }
}
