//! The model with every density as a `~` statement: `target += foo_lpdf(v | …)`, densities of generalised linear models
//! and precisions are written in the one way that the rest of the reading understands.

use super::bounds::{declared_bounds, same};
use super::inline::{self, inline};
use super::samplers::user_sampler;
use super::split::{Role, Split, root};
use super::walk;
use crate::ast::{BinaryOp, BlockKind, SpecialType, UnaryOp};
use crate::names::Suffix;
use crate::typed::{
    Call, Callee, Expr, ExprKind, Index, Level, LoopOver, Program, SizedKind, Stmt, StmtKind, Tilde, Truncation,
    VariableId,
};
use crate::types::Type;

/// A copy of the program whose model block has its densities as `~` statements. Nothing is changed that could not be
/// turned back: what is no density stays as `target += …`.
pub fn normalise(program: &Program) -> Program {
    let program = &inline(program);
    let split = Split::of(program);
    let mut result = program.clone();
    for kind in [BlockKind::TransformedParameters, BlockKind::Model] {
        if let Some(block) = &mut result.blocks[kind as usize] {
            block.statements = statements(program, &split, &block.statements);
        }
    }
    result
}

fn statements(program: &Program, split: &Split, list: &[Stmt]) -> Vec<Stmt> {
    list.iter().map(|s| statement(program, split, s)).collect()
}

fn statement(program: &Program, split: &Split, stmt: &Stmt) -> Stmt {
    let boxed = |s: &Stmt| Box::new(statement(program, split, s));
    let kind = match &stmt.kind {
        StmtKind::TargetPlus(e) => return target(program, split, e, stmt),
        StmtKind::Tilde(tilde) => match written_out(program, split, tilde) {
            Some(e) => return target(program, split, &e, stmt),
            None => return apart(plain(tilde.as_ref().clone()), stmt.span),
        },
        StmtKind::If { branches, otherwise } => StmtKind::If {
            branches: branches.iter().map(|(e, s)| (e.clone(), statement(program, split, s))).collect(),
            otherwise: otherwise.as_ref().map(|s| boxed(s)),
        },
        StmtKind::For { variable, over, body } => {
            let body = boxed(body);
            if let Some(whole) = vectorised(program, *variable, over, &body) {
                return whole;
            }
            StmtKind::For { variable: *variable, over: over.clone(), body }
        }
        StmtKind::While { condition, body } => StmtKind::While { condition: condition.clone(), body: boxed(body) },
        StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => {
            StmtKind::Block(statements(program, split, list))
        }
        other => other.clone(),
    };
    Stmt { kind, span: stmt.span }
}

/// `target += a + b - c` as one statement for each term.
fn target(program: &Program, split: &Split, e: &Expr, stmt: &Stmt) -> Stmt {
    // A density of the program's own without a sampler may be another one under a new name.
    let known = density(split, e).is_some_and(|d| user_sampler(program, &d.density).is_some());
    if !known && let Some(other) = inline::value(program, e) {
        return target(program, split, &other, stmt);
    }
    let terms = split.terms(e);
    let mut densities: Vec<Tilde> = Vec::new();
    let mut rest: Vec<(&Expr, bool, Role)> = Vec::new();
    for term in &terms {
        match density(split, term.expr) {
            Some(tilde) if !term.negative => densities.push(tilde),
            _ => rest.push((term.expr, term.negative, term.role)),
        }
    }
    let mut out: Vec<Stmt> = Vec::new();
    // What makes up a likelihood by hand stays together: its normaliser alone would not be known for what it is.
    let by_hand = |e: &Expr| !split.holds_density(e) && !split.is_chosen(e) && !split.is_censored(e);
    let mut together: Option<Expr> = None;
    for (expr, negative, role) in rest {
        if negative && densities.iter_mut().any(|d| truncates(program, split, d, expr)) {
            continue;
        }
        let signed = if negative {
            let minus = ExprKind::Unary { op: UnaryOp::Minus, operand: Box::new(expr.clone()) };
            Expr { kind: minus, ..expr.clone() }
        } else {
            expr.clone()
        };
        if densities.is_empty() && role == Role::Likelihood && by_hand(expr) {
            together = Some(match together {
                Some(sum) => {
                    let kind = ExprKind::Binary { op: BinaryOp::Add, left: Box::new(sum), right: Box::new(signed) };
                    Expr { kind, ty: Type::Real, level: e.level, span: e.span }
                }
                None => signed,
            });
            continue;
        }
        out.push(Stmt { kind: StmtKind::TargetPlus(signed), span: stmt.span });
    }
    out.extend(together.map(|sum| Stmt { kind: StmtKind::TargetPlus(sum), span: stmt.span }));
    out.extend(densities.into_iter().map(|d| apart(plain(d), stmt.span)));
    match (out.pop(), out.is_empty()) {
        (Some(only), true) => only,
        (Some(last), false) => {
            out.push(last);
            Stmt { kind: StmtKind::Block(out), span: stmt.span }
        }
        (None, _) => Stmt { kind: StmtKind::Skip, span: stmt.span },
    }
}

/// `v ~ foo(a, b)`, where `foo` is a density of the program's own that is but another one under a new name.
fn written_out(program: &Program, split: &Split, tilde: &Tilde) -> Option<Expr> {
    if matches!(tilde.density, Callee::Library(_))
        || tilde.truncation.is_some()
        || user_sampler(program, &tilde.density).is_some()
    {
        return None;
    }
    let arguments = std::iter::once(&tilde.variate).chain(&tilde.arguments).cloned().collect();
    let call = Call { callee: tilde.density.clone(), arguments, unnormalised: false };
    let span = tilde.variate.span;
    let e = Expr { kind: ExprKind::Call(call), ty: Type::Real, level: Level::Parameter, span };
    let other = inline::value(program, &e)?;
    // Something that is no density either is better called by its name.
    density(split, &other).map(|_| other)
}

/// `foo_lpdf(v | a, b)` as `v ~ foo(a, b)`.
pub fn density(split: &Split, e: &Expr) -> Option<Tilde> {
    let ExprKind::Call(call) = &e.kind else { return None };
    let (variate, arguments) = call.arguments.split_first()?;
    split.is_density(call).then(|| Tilde {
        variate: variate.clone(),
        density: call.callee.clone(),
        arguments: arguments.to_vec(),
        truncation: None,
    })
}

/// Whether `- expr` is the normaliser of a truncation of this density; if so, it becomes one.
///
/// `v ~ d(θ) T[a, ]` is `d_lpdf(v | θ) - d_lccdf(a | θ)`, with an upper bound `d_lcdf`, with both the logarithm of a
/// difference. It must be there once for each element of `v`, and a parameter must have the same bounds: the normaliser
/// alone keeps nothing from lying beyond them.
fn truncates(program: &Program, split: &Split, tilde: &mut Tilde, expr: &Expr) -> bool {
    let (factor, expr) = match &expr.kind {
        ExprKind::Binary { op: BinaryOp::Multiply, left, right } if expr.ty.is_scalar() => {
            if matches!(right.kind, ExprKind::Call(_)) { (Some(&**left), &**right) } else { (Some(&**right), &**left) }
        }
        _ => (None, expr),
    };
    if tilde.truncation.is_some() {
        return false;
    }
    let ExprKind::Call(call) = &expr.kind else { return false };
    let Callee::Library(name) = &call.callee else { return false };
    let found = if name == "log_diff_exp"
        && let [upper, lower] = call.arguments.as_slice()
        && let (Some((Suffix::Lcdf, upper)), Some((Suffix::Lcdf, lower))) =
            (cumulative(tilde, upper), cumulative(tilde, lower))
    {
        Truncation { lower: Some(above(tilde, lower)), upper: Some(upper.clone()) }
    } else {
        match cumulative(tilde, expr) {
            Some((Suffix::Lccdf, bound)) => Truncation { lower: Some(above(tilde, bound)), upper: None },
            Some((Suffix::Lcdf, bound)) => Truncation { lower: None, upper: Some(bound.clone()) },
            _ => return false,
        }
    };
    let spread = |e: &Expr| !e.ty.is_scalar();
    let in_parts = found.lower.iter().chain(&found.upper).chain(&tilde.arguments).any(spread);
    // A logarithm of a difference is one number for each call; others add up over the elements of their arguments.
    let each = match factor {
        None => !spread(&tilde.variate) || (in_parts && name != "log_diff_exp"),
        Some(n) => spread(&tilde.variate) && !in_parts && counts(program, n, &tilde.variate),
    };
    let kept = split.of_variate(&tilde.variate) == Role::Likelihood || declared(program, &tilde.variate, &found);
    if each && kept {
        tilde.truncation = Some(found);
    }
    each && kept
}

/// The lowest value above a bound that is left out: the next integer, where integers are drawn.
fn above(tilde: &Tilde, bound: &Expr) -> Expr {
    let Callee::Library(name) = &tilde.density else { return bound.clone() };
    if !matches!(Suffix::of(name), Suffix::Lpmf | Suffix::Lupmf) {
        return bound.clone();
    }
    let one = Expr { kind: ExprKind::Int(1), ty: Type::Int, level: Level::Data, span: bound.span };
    let kind = ExprKind::Binary { op: BinaryOp::Add, left: Box::new(bound.clone()), right: Box::new(one) };
    Expr { kind, ..bound.clone() }
}

/// Whether an expression is plainly the number of elements of a variate.
fn counts(program: &Program, n: &Expr, variate: &Expr) -> bool {
    if let ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) = &n.kind {
        let whole = matches!(variate.ty, Type::Vector | Type::RowVector) || variate.ty == Type::Real.in_array(1);
        let int = variate.ty == Type::Int.in_array(1);
        let measure = name == "num_elements" || ((whole || int) && matches!(name.as_str(), "size" | "rows" | "cols"));
        return measure && arguments.first() == Some(variate);
    }
    let ExprKind::Variable(id) = variate.kind else { return false };
    let Some(declared) = &program.variable(id).declared else { return false };
    match &declared.kind {
        SizedKind::Plain { sizes, .. } => matches!(sizes.as_slice(), [only] if same(only, n)),
        SizedKind::Array { sizes, element } => {
            let scalar = matches!(&element.kind, SizedKind::Plain { sizes, .. } if sizes.is_empty());
            scalar && matches!(sizes.as_slice(), [only] if same(only, n))
        }
        _ => false,
    }
}

/// Whether a parameter has the bounds of a truncation.
fn declared(program: &Program, variate: &Expr, truncation: &Truncation) -> bool {
    let plain = matches!(variate.kind, ExprKind::Variable(_) | ExprKind::Index { .. });
    let Some(id) = root(variate).filter(|_| plain) else { return false };
    let bounds = declared_bounds(program, id);
    let alike = |a: Option<&Expr>, b: Option<&Expr>| match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (_, None) => true,
        (None, Some(_)) => false,
    };
    alike(bounds.lower, truncation.lower.as_ref()) && alike(bounds.upper, truncation.upper.as_ref())
}

/// The bound of `d_lcdf(bound | θ)` or `d_lccdf(bound | θ)`, where `d(θ)` is the distribution of the statement.
fn cumulative<'a>(tilde: &Tilde, e: &'a Expr) -> Option<(Suffix, &'a Expr)> {
    let ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) = &e.kind else { return None };
    let Callee::Library(own) = &tilde.density else { return None };
    let (stem, suffix) = Suffix::split(name);
    let (bound, arguments) = arguments.split_first()?;
    (stem == Suffix::split(own).0 && arguments == tilde.arguments.as_slice()).then_some((suffix, bound))
}

/// The same density with the predictor of a generalised linear model, or a precision, written out.
pub fn plain(tilde: Tilde) -> Tilde {
    let Callee::Library(name) = &tilde.density else { return tilde };
    let stem = Suffix::split(name).0.to_owned();
    let Tilde { variate, density, arguments, truncation } = tilde;
    let library = |name: &str| Callee::Library(name.to_owned());
    let variate = as_index(variate);
    let (density, arguments) = match (stem.as_str(), arguments.as_slice()) {
        ("normal_id_glm", [x, alpha, beta, sigma]) => {
            (library("normal_lpdf"), vec![predictor(x, beta, Some(alpha)), sigma.clone()])
        }
        ("bernoulli_logit_glm", [x, alpha, beta]) => {
            (library("bernoulli_logit_lpmf"), vec![predictor(x, beta, Some(alpha))])
        }
        ("poisson_log_glm", [x, alpha, beta]) => (library("poisson_log_lpmf"), vec![predictor(x, beta, Some(alpha))]),
        ("neg_binomial_2_log_glm", [x, alpha, beta, phi]) => {
            (library("neg_binomial_2_log_lpmf"), vec![predictor(x, beta, Some(alpha)), phi.clone()])
        }
        ("binomial_logit_glm", [trials, x, alpha, beta]) => {
            (library("binomial_logit_lpmf"), vec![trials.clone(), predictor(x, beta, Some(alpha))])
        }
        ("ordered_logistic_glm", [x, beta, cuts]) => {
            (library("ordered_logistic_lpmf"), vec![predictor(x, beta, None), cuts.clone()])
        }
        ("multi_normal_prec", [mu, precision]) => {
            (library("multi_normal_lpdf"), vec![mu.clone(), call("inverse_spd", vec![precision.clone()], Type::Matrix)])
        }
        _ => (density, arguments),
    };
    Tilde { variate, density, arguments, truncation }
}

/// `{a, b} ~ d(θ)` as a statement for each of the elements.
fn apart(tilde: Tilde, span: crate::span::Span) -> Stmt {
    let list = match &tilde.variate.kind {
        ExprKind::Array(list) | ExprKind::RowVector(list) => list.clone(),
        ExprKind::Transpose(e) => match &e.kind {
            ExprKind::RowVector(list) => list.clone(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let alike = tilde.arguments.iter().all(|a| a.ty.is_scalar()) && list.iter().all(|e| e.ty.is_scalar());
    if list.is_empty() || !alike {
        return Stmt { kind: StmtKind::Tilde(Box::new(tilde)), span };
    }
    let one = |variate: Expr| Stmt { kind: StmtKind::Tilde(Box::new(Tilde { variate, ..tilde.clone() })), span };
    Stmt { kind: StmtKind::Block(list.into_iter().map(one).collect()), span }
}

/// `col(x, j)` and its like as indices, which can be assigned to.
fn as_index(variate: Expr) -> Expr {
    let ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) = &variate.kind else { return variate };
    let (base, indices) = match (name.as_str(), arguments.as_slice()) {
        ("col", [x, j]) => (x, vec![Index::All, Index::One(j.clone())]),
        ("row", [x, i]) => (x, vec![Index::One(i.clone())]),
        ("head", [x, n]) => (x, vec![Index::UpTo(n.clone())]),
        _ => return variate,
    };
    let kind = ExprKind::Index { base: Box::new(base.clone()), indices };
    Expr { kind, ..variate }
}

/// `for (k in 1:K) x[k] ~ d(θ)` as `x ~ d(θ)`, where the loop goes over the whole vector and θ is the same for all:
/// what an ordered vector needs, whose elements cannot be drawn one by one.
fn vectorised(program: &Program, variable: VariableId, over: &LoopOver, body: &Stmt) -> Option<Stmt> {
    let LoopOver::Range { lower, upper } = over else { return None };
    let inner = match &body.kind {
        StmtKind::Block(list) => match list.as_slice() {
            [only] => only,
            _ => return None,
        },
        _ => body,
    };
    let StmtKind::Tilde(tilde) = &inner.kind else { return None };
    let ExprKind::Index { base, indices } = &tilde.variate.kind else { return None };
    let (ExprKind::Variable(id), [Index::One(index)]) = (&base.kind, indices.as_slice()) else { return None };
    let SizedKind::Special { special, sizes } = &program.variable(*id).declared.as_ref()?.kind else { return None };
    let ordered = matches!(special, SpecialType::Ordered | SpecialType::PositiveOrdered);
    let whole = matches!(lower.kind, ExprKind::Int(1)) && sizes.first() == Some(upper);
    let own = matches!(index.kind, ExprKind::Variable(v) if v == variable);
    let alike = !tilde.arguments.iter().any(|e| walk::mentions(e, variable)) && tilde.truncation.is_none();
    (ordered && whole && own && alike).then(|| {
        let tilde = Tilde { variate: base.as_ref().clone(), ..tilde.as_ref().clone() };
        Stmt { kind: StmtKind::Tilde(Box::new(tilde)), span: inner.span }
    })
}

/// `x * beta + alpha`.
fn predictor(x: &Expr, beta: &Expr, alpha: Option<&Expr>) -> Expr {
    let ty = if x.ty == Type::RowVector { Type::Real } else { Type::Vector };
    let level = Level::Parameter;
    let binary = |op, left: Expr, right: Expr, ty: Type| {
        let span = left.span.to(right.span);
        Expr { kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, ty, level, span }
    };
    let product = binary(BinaryOp::Multiply, x.clone(), beta.clone(), ty.clone());
    match alpha {
        None => product,
        Some(alpha) => {
            let ty = if alpha.ty == Type::Vector { Type::Vector } else { ty };
            binary(BinaryOp::Add, alpha.clone(), product, ty)
        }
    }
}

/// A call of a function of the library.
pub fn call(name: &str, arguments: Vec<Expr>, ty: Type) -> Expr {
    let span = arguments.first().map(|e| e.span).unwrap_or_default();
    let level = Level::Parameter;
    let call = Call { callee: Callee::Library(name.to_owned()), arguments, unnormalised: false };
    Expr { kind: ExprKind::Call(call), ty, level, span }
}
