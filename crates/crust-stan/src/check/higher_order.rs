//! Functions that take a function and pass further arguments on to it: `reduce_sum`, the ODE, DAE and algebraic
//! solvers, and the embedded Laplace approximation.

use super::calls::{Called, highest};
use super::{Checker, errors};
use crate::ast;
use crate::names::{Suffix, normalised};
use crate::span::Span;
use crate::typed::{Call, Callee, Expr, ExprKind, FunctionId, Level};
use crate::types::{ArgumentType, FunctionType, Type, promotion_steps};

/// What a higher-order function asks of its functor and of its own arguments.
struct Shape {
    /// The first arguments of the functor, which the library supplies.
    supplied: Vec<Type>,
    functor_returns: Type,
    /// The arguments between the functor and those that are passed on.
    fixed: Vec<ArgumentType>,
    returns: Type,
}

/// The arguments that control a solver's precision, in front of those that are passed on.
fn tolerances(types: &[Type]) -> impl Iterator<Item = ArgumentType> {
    types.iter().cloned().map(ArgumentType::data)
}

fn shape(function: &str, functor: &FunctionType) -> Option<Shape> {
    let plain = ArgumentType::plain;
    let times = Type::Real.in_array(1);
    Some(match function {
        "reduce_sum" | "reduce_sum_static" => {
            let slice = functor.arguments.first().map(|a| a.ty.clone()).filter(is_sliceable)?;
            Shape {
                supplied: vec![slice.clone(), Type::Int, Type::Int],
                functor_returns: Type::Real,
                fixed: vec![plain(slice), plain(Type::Int)],
                returns: Type::Real,
            }
        }
        "dae" | "dae_tol" => {
            let mut fixed = vec![
                plain(Type::Vector),
                plain(Type::Vector),
                ArgumentType::data(Type::Real),
                ArgumentType::data(times),
            ];
            if function == "dae_tol" {
                fixed.extend(tolerances(&[Type::Real, Type::Real, Type::Int]));
            }
            Shape {
                supplied: vec![Type::Real, Type::Vector, Type::Vector],
                functor_returns: Type::Vector,
                fixed,
                returns: Type::Vector.in_array(1),
            }
        }
        "solve_newton" | "solve_powell" | "solve_newton_tol" | "solve_powell_tol" => {
            let mut fixed = vec![plain(Type::Vector)];
            if function.ends_with("_tol") {
                fixed.extend(tolerances(&[Type::Real, Type::Real, Type::Int]));
            }
            Shape { supplied: vec![Type::Vector], functor_returns: Type::Vector, fixed, returns: Type::Vector }
        }
        _ if function.starts_with("ode_") => {
            let mut fixed = vec![plain(Type::Vector), plain(Type::Real), plain(times)];
            if function == "ode_adjoint_tol_ctl" {
                use Type::{Int, Real, Vector};
                fixed.extend(tolerances(&[Real, Vector, Real, Vector, Real, Real, Int, Int, Int, Int, Int]));
            } else if function.ends_with("_tol") {
                fixed.extend(tolerances(&[Type::Real, Type::Real, Type::Int]));
            }
            Shape {
                supplied: vec![Type::Real, Type::Vector],
                functor_returns: Type::Vector,
                fixed,
                returns: Type::Vector.in_array(1),
            }
        }
        _ => return None,
    })
}

/// `reduce_sum` cuts an array of anything but complex numbers and tuples.
fn is_sliceable(ty: &Type) -> bool {
    let (element, dimensions) = ty.array_parts();
    dimensions > 0 && matches!(element, Type::Int | Type::Real | Type::Vector | Type::RowVector | Type::Matrix)
}

/// Why a functor or an argument does not fit.
pub(super) enum Misfit {
    NotAFunction,
    /// The head of the functor.
    Functor {
        wanted: String,
    },
    Count {
        wanted: usize,
        found: usize,
    },
    Argument {
        index: usize,
        wanted: ArgumentType,
    },
    /// The arguments to pass on must stand in a tuple.
    NotATuple {
        index: usize,
    },
    /// Several overloads need the fewest promotions.
    Ambiguous {
        overloads: Vec<String>,
    },
    /// A part of the tuple of arguments to pass on.
    Part {
        index: usize,
        part: usize,
        wanted: ArgumentType,
        found: Type,
    },
    /// The tuple of arguments to pass on has another length.
    PartCount {
        index: usize,
        wanted: usize,
        found: usize,
    },
    /// Fits, but depends on parameters where data are wanted.
    NotData {
        index: usize,
    },
}

impl Checker {
    pub(super) fn variadic_call(
        &mut self,
        function: &ast::Ident,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Called> {
        let mut arguments = self.check_arguments(arguments);
        let name = normalised(&function.name);
        if arguments.iter().any(|a| a.ty.mentions_unknown()) {
            return None;
        }
        if name.starts_with("laplace_") {
            return self.laplace_call(&name, function, arguments, span);
        }
        let Some(functor) = arguments.first() else {
            self.report(errors::functor_missing(function, span));
            return None;
        };
        let allowed: &[Suffix] = if name.starts_with("reduce_sum") {
            &[Suffix::None, Suffix::Lpdf, Suffix::Lpmf, Suffix::Lupdf, Suffix::Lupmf]
        } else {
            &[Suffix::None]
        };
        let functor = functor.clone();
        self.check_functor_suffix(&functor, allowed);
        match self.fit_overload(&functor, |overload| fit(&name, overload, &arguments)) {
            Ok((overload, returns)) => {
                arguments[0] = self.chosen(functor, &overload);
                let level = highest(&arguments);
                let call = Call { callee: Callee::Library(name), arguments, unnormalised: false };
                Some(Called { call, returns: Some(returns), level })
            }
            Err(misfit) => {
                self.report(errors::higher_order_misfit(&function.name, &misfit, &arguments, span));
                None
            }
        }
    }

    /// Tries each overload of a functor, and gives the one that needs the fewest promotions, or the misfit of the one
    /// that came farthest. `fit` gives the number of promotions with what else it finds.
    fn fit_overload<T>(
        &self,
        functor: &Expr,
        mut fit: impl FnMut(&FunctionType) -> Result<(T, u32), Misfit>,
    ) -> Result<(FunctionType, T), Misfit> {
        let mut worst = Misfit::NotAFunction;
        let mut best: Vec<(u32, FunctionType, T)> = Vec::new();
        for overload in self.overloads(functor) {
            match fit(&overload) {
                Ok((found, steps)) => best.push((steps, overload, found)),
                Err(misfit) => {
                    if matches!(worst, Misfit::NotAFunction | Misfit::Functor { .. }) {
                        worst = misfit;
                    }
                }
            }
        }
        let fewest = best.iter().map(|(steps, ..)| *steps).min();
        best.retain(|(steps, ..)| Some(*steps) == fewest);
        if best.len() > 1 {
            let overloads = best.iter().map(|(_, overload, _)| overload.to_string()).collect();
            return Err(Misfit::Ambiguous { overloads });
        }
        best.pop().map(|(_, overload, found)| (overload, found)).ok_or(worst)
    }

    /// The functor with the overload that was meant.
    fn chosen(&self, functor: Expr, overload: &FunctionType) -> Expr {
        let types: Vec<_> = overload.arguments.iter().map(|a| a.ty.clone()).collect();
        let kind = match functor.kind {
            ExprKind::FunctionName { callee: Callee::User(id), unnormalised } => {
                let id: FunctionId = self.own_function(&self.program.function(id).name, &types).unwrap_or(id);
                ExprKind::FunctionName { callee: Callee::User(id), unnormalised }
            }
            other => other,
        };
        Expr { kind, ty: Type::Function(Box::new(overload.clone())), ..functor }
    }

    /// `laplace_marginal(likelihood, (its arguments), block size, covariance, (its arguments) [, controls])`, and the
    /// forms with a built-in likelihood, where the first two are replaced by the likelihood's data.
    pub(super) fn laplace_call(
        &mut self,
        name: &str,
        function: &ast::Ident,
        arguments: Vec<Expr>,
        span: Span,
    ) -> Option<Called> {
        let mut arguments = arguments;
        let result = self.fit_laplace(name, &mut arguments);
        if let Err(misfit) = result {
            self.report(errors::higher_order_misfit(&function.name, &misfit, &arguments, span));
            return None;
        }
        let returns = if Suffix::of(name) == Suffix::Rng { Type::Vector } else { Type::Real };
        let level = highest(&arguments);
        let unnormalised = Suffix::of(&function.name).is_unnormalised();
        let call = Call { callee: Callee::Library(name.to_owned()), arguments, unnormalised };
        Some(Called { call, returns: Some(returns), level })
    }

    fn fit_laplace(&mut self, name: &str, arguments: &mut [Expr]) -> Result<(), Misfit> {
        let ints = Type::Int.in_array(1);
        let data: &[Type] = match name.trim_end_matches("_lpmf").trim_end_matches("_rng") {
            n if n.ends_with("neg_binomial_2_log") => &[ints.clone(), ints, Type::Vector, Type::Vector],
            n if n.ends_with("poisson_log") || n.ends_with("bernoulli_logit") => &[ints.clone(), ints, Type::Vector],
            _ => &[],
        };
        let has_controls = name.contains("_tol");
        let likelihood = if data.is_empty() { 2 } else { data.len() };
        let wanted = likelihood + 3 + usize::from(has_controls);
        if arguments.len() != wanted {
            return Err(Misfit::Count { wanted, found: arguments.len() });
        }
        if data.is_empty() {
            let head = [Type::Vector];
            self.fit_with_tuple(arguments, 0, &head, &Type::Real)?;
        } else {
            for (index, ty) in data.iter().enumerate() {
                fit_argument(&arguments[index], index, &ArgumentType::plain(ty.clone()))?;
            }
        }
        fit_argument(&arguments[likelihood], likelihood, &ArgumentType::data(Type::Int))?;
        self.fit_with_tuple(arguments, likelihood + 1, &[], &Type::Matrix)?;
        if has_controls {
            use Type::{Int, Real, Vector};
            let controls = ArgumentType::plain(Type::Tuple(vec![Vector, Real, Int, Int, Int, Int]));
            let last = &arguments[wanted - 1];
            fit_argument(last, wanted - 1, &controls)?;
            // The first control is where the search starts, which may depend on parameters.
            if (1..6).any(|i| part_level(last, i) == Level::Parameter) {
                return Err(Misfit::NotData { index: wanted - 1 });
            }
        }
        Ok(())
    }

    /// A functor at `at` and, behind it, the tuple of the arguments that are passed on to it.
    fn fit_with_tuple(
        &mut self,
        arguments: &mut [Expr],
        at: usize,
        supplied: &[Type],
        returns: &Type,
    ) -> Result<(), Misfit> {
        let functor = arguments[at].clone();
        self.check_functor_suffix(&functor, &[Suffix::None]);
        let Type::Tuple(types) = arguments[at + 1].ty.clone() else {
            return Err(Misfit::NotATuple { index: at + 1 });
        };
        let tuple = arguments[at + 1].clone();
        let (overload, ()) = self.fit_overload(&functor, |overload| {
            let rest = fit_functor(overload, supplied, returns)?;
            if rest.len() != types.len() {
                return Err(Misfit::PartCount { index: at + 1, wanted: rest.len(), found: types.len() });
            }
            let mut steps = 0;
            for (i, (wanted, ty)) in rest.iter().zip(&types).enumerate() {
                let Some(step) = promotion_steps(ty, &wanted.ty) else {
                    let (wanted, found) = (wanted.clone(), ty.clone());
                    return Err(Misfit::Part { index: at + 1, part: i + 1, wanted, found });
                };
                if wanted.data_only && part_level(&tuple, i) == Level::Parameter {
                    return Err(Misfit::NotData { index: at + 1 });
                }
                steps += step;
            }
            Ok(((), steps))
        })?;
        arguments[at] = self.chosen(functor, &overload);
        Ok(())
    }
}

/// The level of a part of a tuple, counted from zero; parts of a tuple that is written out have their own.
fn part_level(tuple: &Expr, part: usize) -> Level {
    match &tuple.kind {
        ExprKind::Tuple(parts) => parts.get(part).map_or(tuple.level, |p| p.level),
        _ => tuple.level,
    }
}

/// Whether the functor starts with the arguments that the library supplies; gives those that follow.
fn fit_functor<'a>(functor: &'a FunctionType, supplied: &[Type], returns: &Type) -> Result<&'a [ArgumentType], Misfit> {
    let head_fits = functor.arguments.len() >= supplied.len()
        && supplied.iter().zip(&functor.arguments).all(|(s, f)| *s == f.ty && (!f.data_only || f.ty.is_int_like()));
    if !head_fits || functor.returns.as_ref() != Some(returns) {
        let head: Vec<_> = supplied.iter().map(ToString::to_string).collect();
        let separator = if head.is_empty() { "" } else { ", " };
        return Err(Misfit::Functor { wanted: format!("({}{separator}…) => {returns}", head.join(", ")) });
    }
    Ok(&functor.arguments[supplied.len()..])
}

/// Gives the number of promotions.
fn fit_argument(argument: &Expr, index: usize, wanted: &ArgumentType) -> Result<u32, Misfit> {
    let Some(steps) = promotion_steps(&argument.ty, &wanted.ty) else {
        return Err(Misfit::Argument { index, wanted: wanted.clone() });
    };
    if wanted.data_only && argument.level == Level::Parameter {
        return Err(Misfit::NotData { index });
    }
    Ok(steps)
}

/// Whether a call of `function` with this functor and these arguments (the functor among them) fits; gives its type and
/// the number of promotions.
fn fit(function: &str, functor: &FunctionType, arguments: &[Expr]) -> Result<(Type, u32), Misfit> {
    let Some(shape) = shape(function, functor) else {
        return Err(Misfit::Functor { wanted: "(array[] T, int, int, …) => real".into() });
    };
    let passed_on = fit_functor(functor, &shape.supplied, &shape.functor_returns)?;
    let wanted: Vec<_> = shape.fixed.iter().chain(passed_on).collect();
    let mut steps = 0;
    for (i, (argument, wanted)) in arguments[1..].iter().zip(&wanted).enumerate() {
        steps += fit_argument(argument, i + 1, wanted)?;
    }
    if wanted.len() + 1 != arguments.len() {
        return Err(Misfit::Count { wanted: wanted.len() + 1, found: arguments.len() });
    }
    Ok((shape.returns, steps))
}
