//! What the prior density of a program integrates to.
//!
//! Stan does not divide by the probability of declared bounds: `sigma ~ normal(0, 1)` with `<lower=0>` integrates to ½.
//! Estimators that only look at the likelihood of draws do not care; those that look at the density of the prior have
//! to divide by its integral. It is a constant, since the reading refuses priors whose cut-off part depends on other
//! parameters. So the program is copied with `T[…, …]` wherever bounds cut something off, and the logarithm of the
//! integral is the difference of the two log densities at any point.

use super::prior::PriorReading;
use crate::error::NormaliserError;
use crate::target::{Evaluation, StanTarget};
use crust_engine::{Model, SimulateError, Simulator};
use crust_math::random::{Purpose, StreamKey};
use crust_math::special::lgamma;
use crust_stan::ast::{BlockKind, SpecialType, UnaryOp};
use crust_stan::joint::{
    Bounds, Factor, Joint, Prior, Role, Shape, declared_bounds, is_rearrangement, root, special_type,
};
use crust_stan::typed::{Callee, Expr, ExprKind, Program, Stmt, StmtKind, Tilde, Truncation, VariableId};
use crust_stan::types::Type;
use std::sync::Arc;

/// log ∫ prior.
#[derive(Debug)]
pub enum Normaliser {
    Known(f64),
    /// Why it is not known, and what to do.
    Unknown(NormaliserError),
}

/// Points at which the two densities are compared.
const POINTS: u32 = 4;

pub fn log_normaliser(loaded: &PriorReading<'_>, simulator: &mut Simulator, seed: u64) -> Normaliser {
    match find(loaded, simulator, seed) {
        Ok(log) => Normaliser::Known(log),
        Err(why) => Normaliser::Unknown(why),
    }
}

fn find(loaded: &PriorReading<'_>, simulator: &mut Simulator, seed: u64) -> Result<f64, NormaliserError> {
    let joint = &loaded.joint;
    if joint.factors.iter().any(|f| f.role == Role::Prior && f.shape == Shape::Constant) {
        return Err(NormaliserError::Constant);
    }
    let mut log = 0.0;
    for id in joint.program.declared_in(BlockKind::Parameters) {
        log += match joint.priors.get(&id) {
            Some(Prior::Uniform) => uniform(joint, id, simulator, loaded.model.dimension())?,
            _ => ordered(joint, id, simulator)?,
        };
        own_factors(joint, id).try_for_each(|factor| check(joint, id, factor))?;
    }
    let mut program = joint.program.clone();
    let mut cuts = 0;
    for kind in [BlockKind::TransformedParameters, BlockKind::Model] {
        if let Some(block) = &mut program.blocks[kind as usize] {
            for stmt in &mut block.statements {
                cuts += truncate(stmt, &joint.program)?;
            }
        }
    }
    if cuts > 0 {
        log += difference(loaded, &program, simulator, seed)?;
    }
    Ok(log)
}

fn own_factors(joint: &Joint, id: VariableId) -> impl Iterator<Item = &Factor> {
    joint.factors.iter().filter(move |f| f.role == Role::Prior && f.draws(id))
}

/// Whether the density of a statement is that of the parameter itself, with nothing left out.
fn check(joint: &Joint, id: VariableId, factor: &Factor) -> Result<(), NormaliserError> {
    let name = &joint.program.variable(id).name;
    if factor.variate.as_ref().is_some_and(|variate| !keeps_volume(variate)) {
        return Err(NormaliserError::Multiple(name.clone()));
    }
    if factor.shape == Shape::Mixture && !declared_bounds(&joint.program, id).is_none() {
        return Err(NormaliserError::CutMixture(name.clone()));
    }
    Ok(())
}

/// Whether a variate is a shift or a new arrangement of a variable, so that volumes are the same.
fn keeps_volume(variate: &Expr) -> bool {
    match &variate.kind {
        ExprKind::Variable(_) => true,
        ExprKind::Index { base, .. } | ExprKind::TuplePart { base, .. } | ExprKind::Transpose(base) => {
            keeps_volume(base)
        }
        ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Plus, operand } => keeps_volume(operand),
        ExprKind::Call(call) => match (&call.callee, call.arguments.as_slice()) {
            (Callee::Library(name), [x]) => is_rearrangement(name) && keeps_volume(x),
            _ => false,
        },
        ExprKind::Binary { op: crust_stan::ast::BinaryOp::Add | crust_stan::ast::BinaryOp::Subtract, left, right } => {
            keeps_volume(left) || keeps_volume(right)
        }
        _ => false,
    }
}

/// How many cells a parameter has (its arrays), and the numbers of a cell.
fn cells(joint: &Joint, id: VariableId, simulator: &Simulator) -> Result<(f64, f64), NormaliserError> {
    let name = &joint.program.variable(id).name;
    let shapes = simulator.parameter_shapes();
    let sizes = shapes.iter().find(|shape| shape.name == *name).and_then(|shape| shape.sizes.clone());
    let sizes = sizes.ok_or_else(|| NormaliserError::Tuple(name.clone()))?;
    #[expect(clippy::cast_precision_loss, reason = "sizes of parameters")]
    let count = |sizes: &[usize]| sizes.iter().product::<usize>() as f64;
    let (&last, rest) = sizes.split_last().unwrap_or((&1, &[]));
    Ok((count(rest), count(&[last])))
}

/// The volume of what the declaration of a parameter without a statement leaves.
fn uniform(joint: &Joint, id: VariableId, simulator: &mut Simulator, dimension: usize) -> Result<f64, NormaliserError> {
    let name = joint.program.variable(id).name.clone();
    match special_type(&joint.program, id) {
        None => {
            // The far ends of the unconstrained scale are the bounds, to the last digit.
            let far = |simulator: &mut Simulator, x: f64| -> Result<Vec<f64>, NormaliserError> {
                let values = simulator.parameters(&vec![x; dimension]).map_err(simulate)?;
                Ok(values.get(&name).cloned().unwrap_or_default())
            };
            let (low, high) = (far(simulator, -40.0)?, far(simulator, 40.0)?);
            Ok(low.iter().zip(&high).map(|(a, b)| (b - a).ln()).sum())
        }
        // A flat density on simplexes is 1/Γ(K) times that of Dirichlet(1, …, 1).
        Some(SpecialType::Simplex) => {
            let (count, size) = cells(joint, id, simulator)?;
            Ok(-count * lgamma(size))
        }
        Some(_) => Err(NormaliserError::NoStatement(name)),
    }
}

/// One of K! orders is left of independent draws.
fn ordered(joint: &Joint, id: VariableId, simulator: &Simulator) -> Result<f64, NormaliserError> {
    let name = &joint.program.variable(id).name;
    let special = special_type(&joint.program, id);
    if !matches!(special, Some(SpecialType::Ordered | SpecialType::PositiveOrdered)) {
        return Ok(0.0);
    }
    let alike = own_factors(joint, id).all(|f| f.arguments.iter().all(|a| a.ty.is_scalar()));
    let whole = own_factors(joint, id)
        .all(|f| special == Some(SpecialType::Ordered) || natural(&f.distribution) == Some((0.0, f64::INFINITY)));
    if !(alike && whole) {
        return Err(NormaliserError::Order(name.clone()));
    }
    let (count, size) = cells(joint, id, simulator)?;
    Ok(-count * lgamma(size + 1.0))
}

/// Where a distribution lives anyway, if that is not the whole line.
fn natural(stem: &str) -> Option<(f64, f64)> {
    match stem {
        "gamma"
        | "inv_gamma"
        | "lognormal"
        | "exponential"
        | "chi_square"
        | "inv_chi_square"
        | "scaled_inv_chi_square"
        | "weibull"
        | "frechet"
        | "rayleigh"
        | "loglogistic" => Some((0.0, f64::INFINITY)),
        "beta" | "beta_proportion" => Some((0.0, 1.0)),
        _ => None,
    }
}

/// Adds `T[…, …]` to what bounds cut off, and says how often.
fn truncate(stmt: &mut Stmt, program: &Program) -> Result<usize, NormaliserError> {
    let all = |list: &mut [Stmt]| list.iter_mut().map(|s| truncate(s, program)).sum();
    match &mut stmt.kind {
        StmtKind::Tilde(tilde) => truncate_tilde(tilde, program),
        StmtKind::If { branches, otherwise } => {
            let inside: Result<usize, NormaliserError> = branches.iter_mut().map(|(_, s)| truncate(s, program)).sum();
            Ok(inside? + otherwise.as_mut().map_or(Ok(0), |s| truncate(s, program))?)
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => truncate(body, program),
        StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => all(list),
        _ => Ok(0),
    }
}

fn truncate_tilde(tilde: &mut Tilde, program: &Program) -> Result<usize, NormaliserError> {
    let Some(id) = root(&tilde.variate) else { return Ok(0) };
    let Bounds { lower, upper } = declared_bounds(program, id);
    let is_parameter = program.declared_in(BlockKind::Parameters).any(|p| p == id);
    if !is_parameter || tilde.truncation.is_some() || (lower.is_none() && upper.is_none()) {
        return Ok(0);
    }
    let name = &program.variable(id).name;
    let stem = match &tilde.density {
        Callee::Library(name) => crust_stan::names::Suffix::split(name).0.to_owned(),
        Callee::User(_) => {
            return Err(NormaliserError::OwnDensity(name.clone()));
        }
    };
    if natural(&stem).is_some_and(|(a, b)| below(lower, a) && above(upper, b)) {
        return Ok(0);
    }
    let plain = matches!(tilde.variate.kind, ExprKind::Variable(_) | ExprKind::Index { .. });
    let nested = match &tilde.variate.ty {
        Type::Array(element) => !element.is_scalar(),
        ty => !ty.is_scalar() && !matches!(ty, Type::Vector | Type::RowVector),
    };
    let containers = tilde.arguments.iter().any(|a| !a.ty.is_scalar());
    if !plain || nested || (containers && lower.is_some() && upper.is_some()) {
        return Err(NormaliserError::Bounds { name: name.clone(), stem });
    }
    tilde.truncation = Some(Truncation { lower: lower.cloned(), upper: upper.cloned() });
    Ok(1)
}

/// Whether a bound is plainly no higher than a number.
fn below(bound: Option<&Expr>, x: f64) -> bool {
    bound.is_none_or(|e| literal(e).is_some_and(|b| b <= x))
}

fn above(bound: Option<&Expr>, x: f64) -> bool {
    bound.is_none_or(|e| literal(e).is_some_and(|b| b >= x))
}

fn literal(e: &Expr) -> Option<f64> {
    match &e.kind {
        #[expect(clippy::cast_precision_loss, reason = "integers of a program have 32 bits")]
        ExprKind::Int(n) => Some(*n as f64),
        ExprKind::Real(x) => Some(*x),
        _ => None,
    }
}

/// log prior of the program − that of the copy, which is the same everywhere.
fn difference(
    loaded: &PriorReading<'_>,
    program: &Program,
    simulator: &mut Simulator,
    seed: u64,
) -> Result<f64, NormaliserError> {
    let (problem, no_function) = (loaded.problem, NormaliserError::NoDistributionFunction);
    let source = problem.program().text();
    let Ok(data) = problem.values() else { return Err(no_function) };
    let model = Model::bind(program, data, seed).map_err(|_| no_function)?;
    let key = StreamKey::new(seed, Purpose::PRIOR).dataset(u32::MAX);
    let points = (0..POINTS).map(|k| simulator.draw_parameters(None, key.chain(k)).map_err(simulate));
    let points: Vec<Vec<f64>> = points.collect::<Result<_, _>>()?;
    let whole = log_priors(StanTarget::path(&loaded.model, source, Evaluation::OneByOne), &points)?;
    let cut = log_priors(StanTarget::path(&Arc::new(model), source, Evaluation::OneByOne), &points)?;
    let mut found = whole.iter().zip(&cut).map(|(a, b)| a - b);
    let first = found.next().unwrap_or(f64::NAN);
    let scale = 1.0 + whole.iter().map(|x| x.abs()).fold(0.0, f64::max);
    if first.is_finite() && found.all(|other| (other - first).abs() < 1e-9 * scale) {
        Ok(first)
    } else {
        Err(NormaliserError::NotConstant)
    }
}

fn log_priors(mut target: StanTarget<'_>, points: &[Vec<f64>]) -> Result<Vec<f64>, NormaliserError> {
    target.log_priors(points).map_err(|error| NormaliserError::Engine(Arc::new(error)))
}

fn simulate(error: SimulateError) -> NormaliserError {
    NormaliserError::Simulate(Arc::new(error))
}
