//! Whether each parameter has exactly one proper prior that can be drawn from.

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::{Bounds, bounds_of_image, constant, declared_bounds, same, special_type};
use super::factors::Factor;
use super::samplers::{Sampler, Support, centre, sampler, support};
use super::split::Role;
use super::{Prior, Reader, messages};
use crate::ast::{BlockKind, SpecialType};
use crate::diagnostics::Diagnostic;
use crate::typed::{Expr, VariableId};

/// What a declaration does to a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// Nothing, or what the draw itself can keep to.
    Alone,
    /// It takes away what depends on other parameters, or on other elements.
    Together,
}

impl Reader<'_> {
    pub(super) fn parameters(&mut self) {
        let mut errors = Vec::new();
        let mut weighed: BTreeMap<VariableId, Diagnostic> = BTreeMap::new();
        let mut without = Vec::new();
        let mut together: BTreeSet<VariableId> = BTreeSet::new();
        let (mut links, mut loose) = (Vec::new(), Vec::new());
        for factor in self.factors.iter().filter(|f| f.role == Role::Prior) {
            if let Some(error) = messages::unreadable(self.program, self.split, factor) {
                weighed.extend(factor.sources.iter().map(|id| (*id, error.clone())));
                match self.link(factor, &error) {
                    Some(link) => links.push(link),
                    None => loose.push((factor.clone(), error)),
                }
            }
        }
        for id in self.program.declared_in(BlockKind::Parameters) {
            let own: Vec<&Factor> = self.factors.iter().filter(|f| f.role == Role::Prior && f.draws(id)).collect();
            let prior = if own.is_empty() { self.without_statement(id) } else { Ok(Prior::Stated) };
            match prior {
                Ok(prior) => {
                    self.priors.insert(id, prior);
                }
                // What weighs it has been complained of, or it is drawn with others.
                Err(_) if weighed.contains_key(&id) => without.push(id),
                Err(error) => errors.push(*error),
            }
            // Where only some elements are drawn, or under a condition, running the program shows how often each is.
            let certain: Vec<&&Factor> = own.iter().filter(|f| !f.conditional).collect();
            let whole: Vec<&&&Factor> = certain.iter().filter(|f| f.draws_whole()).collect();
            let twice = match (whole.as_slice(), certain.as_slice()) {
                ([first, second, ..], _) => Some(messages::two_priors(self.program, id, first.span, second.span)),
                ([first], [a, b, ..]) => {
                    let other = if a.span.start == first.span.start { b } else { a };
                    Some(messages::two_priors(self.program, id, first.span, other.span))
                }
                _ => None,
            };
            let mut complain = |error: Diagnostic| match self.link_alone(id, &error) {
                Some(link) => links.push(link),
                None => errors.push(error),
            };
            twice.into_iter().for_each(&mut complain);
            for factor in own.iter().filter(|f| f.shape.is_readable()) {
                match self.constraint(id, factor) {
                    Ok(Cut::Alone) => {}
                    Ok(Cut::Together) => {
                        together.insert(id);
                    }
                    Err(error) => complain(*error),
                }
            }
        }
        self.linked(links);
        errors.extend(self.attach(loose));
        let alone = |id: &&VariableId| !self.linked.iter().any(|group| group.parameters.contains(id));
        errors.extend(without.iter().filter(alone).filter_map(|id| weighed.get(id).cloned()));
        self.cut_together.extend(together);
        self.errors.extend(errors);
    }

    /// The prior of a parameter that no statement draws: uniform where the declaration leaves a finite room.
    fn without_statement(&self, id: VariableId) -> Result<Prior, Box<Diagnostic>> {
        let bounds = declared_bounds(self.program, id);
        if let (Some(lower), Some(upper)) = (bounds.lower, bounds.upper) {
            let parameters = [lower, upper].map(|e| self.split.depends.parameters(e));
            if parameters.iter().any(|p| !p.is_empty()) {
                return Err(Box::new(self.normaliser(id, self.program.variable(id).span, "uniform")));
            }
            return Ok(Prior::Uniform);
        }
        match special_type(self.program, id) {
            Some(
                SpecialType::Simplex
                | SpecialType::UnitVector
                | SpecialType::CorrMatrix
                | SpecialType::CholeskyFactorCorr
                | SpecialType::ColumnStochasticMatrix
                | SpecialType::RowStochasticMatrix,
            ) => Ok(Prior::Uniform),
            _ => Err(Box::new(messages::improper(self.program, id))),
        }
    }

    /// Whether the density, restricted to what the declaration allows, has a normaliser that depends on parameters:
    /// then it is not the conditional distribution that the statement seems to name.
    fn constraint(&self, id: VariableId, factor: &Factor) -> Result<Cut, Box<Diagnostic>> {
        let name = &self.program.variable(id).name;
        let stem = factor.distribution.as_str();
        let special = special_type(self.program, id);
        let scalar = sampler(stem) == Some(Sampler::Scalar);
        let error = |message: String| Diagnostic::error("constraint-not-readable", message, factor.span);
        let cut = |together: bool| Ok(if together { Cut::Together } else { Cut::Alone });
        match special {
            None => {
                let bounds = declared_bounds(self.program, id);
                if bounds.is_none() {
                    return Ok(Cut::Alone);
                }
                // A component is drawn as a whole: what of it is outside is drawn again, with all other parameters.
                let of_numbers = |stem: &String| sampler(stem) == Some(Sampler::Scalar);
                if !factor.components.is_empty() && factor.components.iter().all(of_numbers) {
                    return cut(!factor.components.iter().all(|stem| keeps_to(stem, bounds)));
                }
                if !scalar {
                    return Err(Box::new(
                        error(format!("`{name}` has bounds, which crust cannot draw `{stem}` within"))
                            .help("leave the bounds out, or write a distribution of single numbers"),
                    ));
                }
                // Bounds are those of the parameter; what is drawn is perhaps an image of it.
                let drawn = factor.variate.as_ref().and_then(|v| bounds_of_image(v, bounds));
                let fine = drawn.is_some_and(|[lower, upper]| {
                    let drawn = Bounds { lower: lower.as_ref(), upper: upper.as_ref() };
                    drawn.is_none() || inside(stem, factor, drawn) || half(stem, factor, drawn) || stated(factor, drawn)
                });
                let shifted = factor.variate.as_ref().is_some_and(|v| self.is_shifted(v, id));
                let relative = shifted || self.is_relative(factor, bounds);
                cut(!fine && relative)
            }
            Some(SpecialType::Ordered | SpecialType::PositiveOrdered) if scalar => {
                // which of them comes first is decided by all of them
                let one_by_one = factor.variate.as_ref().is_some_and(|v| v.ty.is_scalar());
                let alike = factor.arguments.iter().all(|a| a.ty.is_scalar());
                let positive = special == Some(SpecialType::PositiveOrdered);
                let halved = positive && !matches!(support(stem), Support::Positive | Support::Unit);
                let relative = !factor.depends_on.is_empty();
                let central = centre(stem).and_then(|i| factor.arguments.get(i)).and_then(constant) == Some(0.0);
                cut(one_by_one || (relative && (!alike || (halved && !central))))
            }
            Some(special) if fits(special, stem) => Ok(Cut::Alone),
            Some(special) => Err(Box::new(
                error(format!("`{name}` is a `{}`, which `{stem}` is no distribution of", special.name()))
                    .note("restricted to that type, the density has a normaliser that nobody states")
                    .help("use a distribution of that type, such as `dirichlet` for a simplex"),
            )),
        }
    }

    /// Whether a variate is shifted by other parameters, so that its bounds depend on them.
    fn is_shifted(&self, variate: &Expr, id: VariableId) -> bool {
        super::walk::looked_at(variate).iter().any(|other| {
            *other != id && self.split.depends.sources_of(*other).iter().any(|p| self.split.depends.is_parameter(*p))
        })
    }

    /// Whether the distribution or the bounds depend on other parameters.
    fn is_relative(&self, factor: &Factor, bounds: Bounds<'_>) -> bool {
        let parametric = |e: Option<&Expr>| e.is_some_and(|e| self.split.depends.is_parametric(e));
        !factor.depends_on.is_empty() || parametric(bounds.lower) || parametric(bounds.upper)
    }

    fn normaliser(&self, id: VariableId, span: crate::span::Span, stem: &str) -> Diagnostic {
        let name = &self.program.variable(id).name;
        let message = format!(
            "the bounds of `{name}` cut off a part of its `{stem}` distribution that depends on other parameters"
        );
        Diagnostic::error("bound-normaliser", message, span)
            .related(self.program.variable(id).span, "declared with its bounds here")
            .note(
                "Stan does not divide by the probability to be inside, so the density is not the distribution that the \
                 statement names: it also weighs the parameters that this probability depends on",
            )
            .help(format!("say what is meant: `{name} ~ {stem}(…) T[…, …];` divides by that probability"))
    }
}

/// Whether a distribution of positive numbers, or of shares, has nothing outside of the bounds.
fn keeps_to(stem: &str, bounds: Bounds<'_>) -> bool {
    let at_most = |e: Option<&Expr>, x: f64| e.is_none_or(|e| constant(e).is_some_and(|c| c <= x));
    let at_least = |e: Option<&Expr>, x: f64| e.is_none_or(|e| constant(e).is_some_and(|c| c >= x));
    match support(stem) {
        Support::Positive => at_most(bounds.lower, 0.0) && bounds.upper.is_none(),
        Support::Unit => at_most(bounds.lower, 0.0) && at_least(bounds.upper, 1.0),
        _ => false,
    }
}

/// Whether the distribution lives inside of the bounds anyway.
fn inside(stem: &str, factor: &Factor, bounds: Bounds<'_>) -> bool {
    let at_most = |e: Option<&Expr>, x: f64| e.is_none_or(|e| constant(e).is_some_and(|c| c <= x));
    let is = |e: Option<&Expr>, i: usize| e.is_none_or(|e| factor.arguments.get(i).is_some_and(|a| same(a, e)));
    match support(stem) {
        Support::Positive | Support::Unit => keeps_to(stem, bounds),
        Support::Arguments => is(bounds.lower, 0) && is(bounds.upper, 1),
        Support::AboveFirst => bounds.upper.is_none() && (is(bounds.lower, 0) || at_most(bounds.lower, 0.0)),
        Support::Line | Support::Other => false,
    }
}

/// Whether a symmetric distribution is cut in its middle: the probability to be inside is ½ whatever its scale is.
fn half(stem: &str, factor: &Factor, bounds: Bounds<'_>) -> bool {
    let middle = centre(stem).and_then(|i| factor.arguments.get(i));
    match (bounds.lower, bounds.upper, middle) {
        (Some(bound), None, Some(middle)) | (None, Some(bound), Some(middle)) => same(bound, middle),
        _ => false,
    }
}

/// Whether the statement divides by the probability to be inside: `T[,]` with the very bounds.
fn stated(factor: &Factor, bounds: Bounds<'_>) -> bool {
    let Some(truncation) = &factor.truncation else { return false };
    let matches = |bound: Option<&Expr>, given: &Option<Expr>| match (bound, given) {
        (None, _) => true,
        (Some(a), Some(b)) => same(a, b),
        (Some(_), None) => false,
    };
    matches(bounds.lower, &truncation.lower) && matches(bounds.upper, &truncation.upper)
}

/// Whether a distribution is one of values of this type.
fn fits(special: SpecialType, stem: &str) -> bool {
    match special {
        SpecialType::Simplex | SpecialType::ColumnStochasticMatrix | SpecialType::RowStochasticMatrix => {
            stem == "dirichlet"
        }
        SpecialType::CorrMatrix => stem == "lkj_corr",
        SpecialType::CholeskyFactorCorr => stem == "lkj_corr_cholesky",
        SpecialType::CovMatrix => matches!(stem, "wishart" | "inv_wishart"),
        SpecialType::CholeskyFactorCov => matches!(stem, "wishart_cholesky" | "inv_wishart_cholesky"),
        _ => false,
    }
}
