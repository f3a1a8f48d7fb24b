//! Parameters without a prior, and priors that do not fit the declared bounds.

use super::{each_statement, within};
use crate::ast::BlockKind;
use crate::check::statements::any_part;
use crate::diagnostics::Diagnostic;
use crate::names::Suffix;
use crate::typed::{
    Callee, Constraint, Expr, ExprKind, Place, Program, SizedKind, SizedType, Stmt, StmtKind, VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// The parameters that a variable is computed from.
type Dependencies = BTreeMap<VariableId, BTreeSet<VariableId>>;

/// A factor of the density with its variate: a `~` statement or a density added to the target.
struct Factor<'a> {
    variate: &'a Expr,
    distribution: String,
    arguments: &'a [Expr],
    statement: &'a Stmt,
}

pub(super) fn priors(program: &Program) -> Vec<Diagnostic> {
    let parameters: Vec<_> = program.declared_in(BlockKind::Parameters).collect();
    let dependencies = dependencies(program, &parameters);
    let mut with_prior: BTreeSet<VariableId> = BTreeSet::new();
    let mut warnings = Vec::new();
    for statement in program.block(BlockKind::TransformedParameters).iter().chain(program.block(BlockKind::Model)) {
        within(statement, &mut |s| {
            let factors = factors(program, s);
            for factor in &factors {
                with_prior.extend(parameters_in(factor.variate, &dependencies));
                warnings.extend(support_warning(program, factor));
            }
            // What is added to the target in any other way may be a prior of everything in it.
            if let StmtKind::TargetPlus(e) = &s.kind
                && factors.is_empty()
            {
                with_prior.extend(parameters_in(e, &dependencies));
            }
            if let StmtKind::Call(call) = &s.kind {
                with_prior.extend(call.arguments.iter().flat_map(|e| parameters_in(e, &dependencies)));
            }
        });
    }
    for id in parameters.into_iter().filter(|id| !with_prior.contains(id)) {
        let variable = program.variable(id);
        if variable.declared.as_ref().is_some_and(is_bounded) {
            continue;
        }
        warnings.push(
            Diagnostic::warning("no-prior", format!("the parameter `{}` has no prior", variable.name), variable.span)
                .note("without one it is flat, and improper: nothing can be simulated from it")
                .help(format!("add a statement such as `{} ~ normal(…);`", variable.name)),
        );
    }
    warnings
}

/// For every variable the parameters that its value can depend on, in one pass over the assignments in their order (a
/// second pass is for loops that use what they set later).
fn dependencies(program: &Program, parameters: &[VariableId]) -> Dependencies {
    let mut found: Dependencies = parameters.iter().map(|id| (*id, BTreeSet::from([*id]))).collect();
    for _ in 0..2 {
        each_statement(program, &mut |statement| {
            let (targets, value) = match &statement.kind {
                StmtKind::Declare { variable, initial: Some(value) } => (vec![*variable], value),
                StmtKind::Assign { target, value, .. } => (assigned(target), value),
                _ => return,
            };
            let sources = parameters_in(value, &found);
            for target in targets {
                found.entry(target).or_default().extend(&sources);
            }
        });
    }
    found
}

fn assigned(place: &Place) -> Vec<VariableId> {
    match place {
        Place::Variable { variable, .. } => vec![*variable],
        Place::Tuple(parts) => parts.iter().flat_map(assigned).collect(),
    }
}

fn parameters_in(e: &Expr, dependencies: &Dependencies) -> BTreeSet<VariableId> {
    let mut found = BTreeSet::new();
    any_part(e, &mut |part| {
        if let ExprKind::Variable(id) = part.kind {
            found.extend(dependencies.get(&id).into_iter().flatten());
        }
        false
    });
    found
}

fn factors<'a>(program: &'a Program, statement: &'a Stmt) -> Vec<Factor<'a>> {
    match &statement.kind {
        StmtKind::Tilde(tilde) => vec![Factor {
            variate: &tilde.variate,
            distribution: stem(program, &tilde.density),
            arguments: &tilde.arguments,
            statement,
        }],
        StmtKind::TargetPlus(Expr { kind: ExprKind::Call(call), .. }) => {
            let name = callee_name(program, &call.callee);
            match call.arguments.split_first() {
                Some((variate, arguments)) if Suffix::of(name).is_density() => {
                    vec![Factor { variate, distribution: stem(program, &call.callee), arguments, statement }]
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn callee_name<'a>(program: &'a Program, callee: &'a Callee) -> &'a str {
    match callee {
        Callee::Library(name) => name,
        Callee::User(id) => &program.function(*id).name,
    }
}

fn stem(program: &Program, callee: &Callee) -> String {
    match callee {
        // A user's distribution may have any support.
        Callee::User(_) => String::new(),
        Callee::Library(_) => Suffix::split(callee_name(program, callee)).0.to_owned(),
    }
}

/// The support of a distribution, as far as bounds can say it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Support {
    Line,
    Positive,
    Unit,
    Arguments,
}

fn support(distribution: &str) -> Option<Support> {
    Some(match distribution {
        "normal"
        | "std_normal"
        | "student_t"
        | "cauchy"
        | "double_exponential"
        | "logistic"
        | "gumbel"
        | "skew_normal"
        | "skew_double_exponential"
        | "exp_mod_normal" => Support::Line,
        "lognormal"
        | "chi_square"
        | "inv_chi_square"
        | "scaled_inv_chi_square"
        | "exponential"
        | "gamma"
        | "inv_gamma"
        | "weibull"
        | "frechet"
        | "rayleigh"
        | "loglogistic" => Support::Positive,
        "beta" | "beta_proportion" => Support::Unit,
        "uniform" => Support::Arguments,
        _ => return None,
    })
}

/// Compares the bounds of a parameter that stands alone on the left with where its distribution lives.
fn support_warning(program: &Program, factor: &Factor<'_>) -> Option<Diagnostic> {
    let ExprKind::Variable(id) = factor.variate.kind else { return None };
    let variable = program.variable(id);
    let is_parameter = variable.origin == crate::typed::Origin::Block(BlockKind::Parameters);
    let constraint = is_parameter.then(|| plain_constraint(variable.declared.as_ref()?)).flatten()?;
    let support = support(&factor.distribution)?;
    let truncated = matches!(&factor.statement.kind, StmtKind::Tilde(t) if t.truncation.is_some());
    let (name, distribution) = (&variable.name, &factor.distribution);
    let warn = |code, message: String, help: String| {
        Some(
            Diagnostic::warning(code, message, factor.statement.span)
                .related(variable.span, "declared here")
                .help(help),
        )
    };
    let (lower, upper) = (&constraint.lower, &constraint.upper);
    match support {
        Support::Line if lower.is_some() && upper.is_some() && !truncated => warn(
            "bounded-parameter",
            format!(
                "`{name}` is bounded on both sides, but its prior `{distribution}` is not: it is cut off at the bounds"
            ),
            format!("leave the bounds out, or say it with `{distribution}(…) T[…, …]`"),
        ),
        Support::Positive if lower.is_none() => warn(
            "prior-support",
            format!("`{name}` may be negative, where its prior `{distribution}` has no density"),
            format!("declare `{name}` with `<lower=0>`"),
        ),
        Support::Unit if lower.is_none() || upper.is_none() => warn(
            "prior-support",
            format!("`{name}` may lie outside of (0, 1), where its prior `{distribution}` has no density"),
            format!("declare `{name}` with `<lower=0, upper=1>`"),
        ),
        Support::Arguments => {
            let matches = |bound: &Option<Expr>, argument: Option<&Expr>| {
                bound.as_ref().zip(argument).is_some_and(|(a, b)| same_value(a, b))
            };
            if matches(lower, factor.arguments.first()) && matches(upper, factor.arguments.get(1)) {
                return None;
            }
            warn(
                "prior-support",
                format!("the bounds of `{name}` are not those of its uniform prior"),
                format!("declare `{name}` with the same `<lower=…, upper=…>`"),
            )
        }
        _ => None,
    }
}

/// Whether two bounds are plainly the same number or variable; where it cannot be told, they pass.
fn same_value(a: &Expr, b: &Expr) -> bool {
    let number = |e: &Expr| -> Option<f64> {
        match &e.kind {
            #[expect(clippy::cast_precision_loss, reason = "integers of a program have 32 bits")]
            ExprKind::Int(n) => Some(*n as f64),
            ExprKind::Real(x) => Some(*x),
            ExprKind::Unary { op: crate::ast::UnaryOp::Minus, operand } => match operand.kind {
                #[expect(clippy::cast_precision_loss, reason = "integers of a program have 32 bits")]
                ExprKind::Int(n) => Some(-(n as f64)),
                ExprKind::Real(x) => Some(-x),
                _ => None,
            },
            _ => None,
        }
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.to_bits() == b.to_bits() || (a - b).abs() == 0.0,
        _ => true,
    }
}

fn plain_constraint(ty: &SizedType) -> Option<&Constraint> {
    match &ty.kind {
        SizedKind::Plain { constraint, .. } => Some(constraint),
        SizedKind::Array { element, .. } => plain_constraint(element),
        _ => None,
    }
}

/// Whether the flat density on the type is proper.
fn is_bounded(ty: &SizedType) -> bool {
    use crate::ast::SpecialType as S;
    match &ty.kind {
        SizedKind::Plain { constraint, .. } => constraint.lower.is_some() && constraint.upper.is_some(),
        SizedKind::Special { special, .. } => !matches!(
            special,
            S::Ordered
                | S::PositiveOrdered
                | S::SumToZeroVector
                | S::SumToZeroMatrix
                | S::CovMatrix
                | S::CholeskyFactorCov
        ),
        SizedKind::Array { element, .. } => is_bounded(element),
        SizedKind::Tuple(parts) => parts.iter().all(is_bounded),
    }
}
