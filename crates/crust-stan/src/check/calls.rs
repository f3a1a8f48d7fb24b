//! Calls of functions: what is called, with what, and whether that is allowed here.

use super::{Checker, Region, error_expression, errors};
use crate::ast::{self, BlockKind};
use crate::names::{Suffix, normalised};
use crate::signatures::{self, Match, Resolution};
use crate::span::Span;
use crate::suggest;
use crate::typed::{Call, Callee, Expr, ExprKind, Level};
use crate::types::{FunctionType, Type};

/// A call with what it gives; `returns` is `None` for a function without a value.
pub(super) struct Called {
    pub call: Call,
    pub returns: Option<Type>,
    pub level: Level,
}

impl Checker {
    /// A call whose value is used.
    pub(super) fn value_call(&mut self, call: &ast::Call, span: Span) -> Expr {
        let Some(called) = self.call(call, span) else { return error_expression(span) };
        let Some(ty) = called.returns else {
            self.report(errors::void_as_value(&call.function));
            return error_expression(span);
        };
        let level = if ty.is_int_like() { Level::Data } else { called.level };
        Expr { kind: ExprKind::Call(called.call), ty, level, span }
    }

    /// A call as a statement.
    pub(super) fn statement_call(&mut self, call: &ast::Call, span: Span) -> Option<Call> {
        let called = self.call(call, span)?;
        if called.returns.as_ref().is_some_and(|ty| !ty.is_unknown()) {
            self.report(errors::value_unused(&call.function));
        }
        Some(called.call)
    }

    fn call(&mut self, call: &ast::Call, span: Span) -> Option<Called> {
        let name = call.function.name.as_str();
        if self.is_hidden_by_variable(name) {
            self.report(errors::not_a_function(&call.function));
            self.check_arguments(&call.arguments);
            return None;
        }
        if signatures::is_variadic(name) {
            self.suffix_rules(&call.function, call.bar, call.arguments.len());
            return self.variadic_call(&call.function, &call.arguments, span);
        }
        let function = normalised(name);
        if !self.functions.contains_key(&function) && !signatures::is_function(&function) {
            let problem = self.unknown_function(&call.function);
            self.report(problem);
            self.check_arguments(&call.arguments);
            return None;
        }
        self.suffix_rules(&call.function, call.bar, call.arguments.len());
        let arguments = self.check_arguments(&call.arguments);
        let found = self.resolve(&function, &call.function, &arguments, span)?;
        Some(self.called(&function, found, arguments, Suffix::of(name)))
    }

    fn called(&mut self, function: &str, found: Match, arguments: Vec<Expr>, suffix: Suffix) -> Called {
        let types: Vec<_> = found.arguments.iter().map(|a| a.ty.clone()).collect();
        let callee =
            self.own_function(function, &types).map_or_else(|| Callee::Library(function.to_owned()), Callee::User);
        for (wanted, argument) in found.arguments.iter().zip(&arguments) {
            self.require_data(wanted.data_only, argument, function);
        }
        let changes_target = matches!(suffix, Suffix::Lp | Suffix::Jacobian);
        let level = if changes_target { Level::Parameter } else { highest(&arguments) };
        let call = Call { callee, arguments, unnormalised: suffix.is_unnormalised() };
        Called { call, returns: found.returns, level }
    }

    pub(super) fn check_arguments(&mut self, arguments: &[ast::Expr]) -> Vec<Expr> {
        arguments.iter().map(|a| self.argument(a)).collect()
    }

    pub(super) fn require_data(&mut self, data_only: bool, argument: &Expr, function: &str) {
        if data_only && argument.level == Level::Parameter && !argument.ty.is_unknown() {
            self.report(errors::data_required(function, argument.span));
        }
    }

    /// A variable hides the program's own function of the same name, but not one of the library.
    fn is_hidden_by_variable(&self, name: &str) -> bool {
        self.lookup(name).is_some() && !signatures::is_function(name) && !signatures::is_variadic(name)
    }

    /// Finds the signature; where the first argument is one of several overloads of a function, tries each.
    fn resolve(&mut self, function: &str, name: &ast::Ident, arguments: &[Expr], span: Span) -> Option<Match> {
        let own = self.own_functions(function);
        let mut types: Vec<_> = arguments.iter().map(|a| a.ty.clone()).collect();
        // Overloads that want data where there are none do not compete, unless nothing else is left to complain about.
        let takes =
            |f: &&FunctionType| f.arguments.iter().zip(arguments).all(|(w, a)| !w.data_only || a.level == Level::Data);
        let able: Vec<_> = own.iter().filter(takes).cloned().collect();
        let mut resolution = signatures::resolve_with(function, &able, &types);
        if able.len() < own.len() && !matches!(resolution, Resolution::Match(_)) {
            resolution = signatures::resolve_with(function, &own, &types);
        }
        if let (Resolution::Mismatch(_), Some(first)) = (&resolution, arguments.first()) {
            for overload in self.overloads(first).into_iter().skip(1) {
                types[0] = Type::Function(Box::new(overload));
                let attempt = signatures::resolve_with(function, &own, &types);
                if let Resolution::Match(_) = attempt {
                    resolution = attempt;
                    break;
                }
            }
        }
        if let (Resolution::Match(_), Some(first)) = (&resolution, arguments.first()) {
            self.check_functor_suffix(first, &[Suffix::None]);
        }
        match resolution {
            Resolution::Match(found) => Some(found),
            Resolution::Ambiguous(candidates) => {
                self.report(errors::ambiguous_call(name, arguments, &candidates, span));
                None
            }
            Resolution::Mismatch(mismatch) => {
                let candidates = candidate_texts(function, &own);
                self.report(errors::call_mismatch(name, &mismatch, arguments, &candidates, span));
                None
            }
            Resolution::UnknownFunction => {
                let problem = self.unknown_function(name);
                self.report(problem);
                None
            }
        }
    }

    /// All signatures of the function that an expression names.
    pub(super) fn overloads(&self, functor: &Expr) -> Vec<FunctionType> {
        match &functor.kind {
            ExprKind::FunctionName { callee: Callee::User(id), .. } => {
                self.own_functions(&self.program.function(*id).name)
            }
            ExprKind::FunctionName { callee: Callee::Library(name), .. } => signatures::expand(name),
            _ => Vec::new(),
        }
    }

    pub(super) fn check_functor_suffix(&mut self, functor: &Expr, allowed: &[Suffix]) {
        if let ExprKind::FunctionName { .. } = functor.kind {
            let name = self.name_of(functor);
            if !allowed.contains(&Suffix::of(&name)) {
                self.report(errors::functor_suffix(&name, functor.span));
            }
        }
    }

    /// What the end of the name asks for: the bar, and the places where it may be called.
    pub(super) fn suffix_rules(&mut self, function: &ast::Ident, bar: bool, arguments: usize) {
        let suffix = Suffix::of(&function.name);
        if suffix.is_conditional() && !bar && arguments > 1 {
            self.report(errors::bar_missing(function));
        } else if !suffix.is_conditional() && bar {
            self.report(errors::bar_not_allowed(function));
        }
        let region = self.region;
        match suffix {
            Suffix::Lp if !region.allows_target() => {
                self.report(errors::target_not_allowed(&format!("`{}`", function.name), function.span));
            }
            Suffix::Lp if region == Region::Block(BlockKind::TransformedParameters) => {
                self.report(errors::lp_in_transformed_parameters(function));
            }
            Suffix::Rng if !region.allows_random_numbers() => self.report(errors::rng_not_allowed(function)),
            Suffix::Jacobian if !region.allows_jacobian() => {
                self.report(errors::jacobian_not_allowed(&format!("`{}`", function.name), function.span));
            }
            Suffix::Lupdf | Suffix::Lupmf if !region.allows_unnormalised() => {
                self.report(errors::unnormalised_not_allowed(function));
            }
            _ => {}
        }
    }

    pub(super) fn is_known_function(&self, name: &str) -> bool {
        self.functions.contains_key(name) || signatures::is_function(name) || signatures::is_variadic(name)
    }

    /// The best explanation for a function that does not exist.
    fn unknown_function(&self, function: &ast::Ident) -> crate::diagnostics::Diagnostic {
        let name = function.name.as_str();
        let (stem, suffix) = Suffix::split(name);
        let existing = |stem: &str| {
            let endings = ["lpdf", "lpmf", "lcdf", "lccdf", "cdf", "rng"];
            let names = endings.into_iter().map(|ending| format!("{stem}_{ending}"));
            names.filter(|n| self.is_known_function(n)).collect::<Vec<_>>()
        };
        let forms = existing(if suffix.is_conditional() || suffix == Suffix::Rng { stem } else { name });
        if !forms.is_empty() {
            return if suffix == Suffix::None {
                errors::distribution_as_function(function, &forms)
            } else {
                errors::distribution_form_missing(function, &forms)
            };
        }
        let mut names: Vec<&str> = self.functions.keys().map(String::as_str).collect();
        names.extend(signatures::function_names().map(|n| n as &str));
        names.extend(signatures::VARIADIC.iter().map(|n| *n as &str));
        errors::unknown_function(function, suggest::closest(name, names))
    }
}

pub(super) fn highest(arguments: &[Expr]) -> Level {
    arguments.iter().map(|a| a.level).max().unwrap_or(Level::Data)
}

/// The signatures of a function for a message: the program's own first.
pub(super) fn candidate_texts(function: &str, own: &[FunctionType]) -> Vec<String> {
    let library = signatures::candidates(function).into_iter().map(|c| c.text);
    own.iter().map(ToString::to_string).chain(library).collect()
}
