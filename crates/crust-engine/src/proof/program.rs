//! The program's own log density, on the constrained scale.

use std::collections::BTreeSet;
use std::sync::Arc;

use crust_stan::ast::BlockKind;
use crust_stan::data::Data;
use crust_stan::joint::{Role, Split, walk};
use crust_stan::typed::{Call, Callee, Expr, ExprKind, Program, Stmt, StmtKind};

use super::Part;
use crate::evaluator::{Batch, Evaluator, Terms};
use crate::machine::Rejection;
use crate::model::{EngineError, Model};
use crate::simulate::{Place, place};

/// A program with data.
pub struct Target {
    evaluator: Evaluator,
    dimension: usize,
}

/// What the program says about a point.
pub struct ProgramValue {
    pub log_density: f64,
    /// How much rounding of the point changes the density.
    pub noise: f64,
    pub rejection: Option<Rejection>,
}

/// How many units in the last place a constrained value may be off.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

impl Target {
    pub fn new(program: &Program, data: &Data) -> Result<Self, EngineError> {
        let model = Arc::new(Model::bind(program, data, 1)?);
        let dimension = model.dimension();
        // One lane at a time, as the reading is evaluated: where digits are lost, the same ones are.
        Ok(Self { evaluator: model.evaluator().with_width(1), dimension })
    }

    /// The log prior or the log likelihood, without the Jacobian of the parameters' constraints.
    pub fn evaluate(&mut self, points: &[Vec<f64>], part: Part) -> Result<Vec<ProgramValue>, EngineError> {
        self.run(points, part, Terms { propto: false, jacobian: false })
    }

    /// The same with the Jacobian: a density of unconstrained numbers.
    pub fn on_free_scale(&mut self, points: &[Vec<f64>], part: Part) -> Result<Vec<ProgramValue>, EngineError> {
        self.run(points, part, Terms { propto: false, jacobian: true })
    }

    fn run(&mut self, points: &[Vec<f64>], part: Part, terms: Terms) -> Result<Vec<ProgramValue>, EngineError> {
        let lanes = points.len();
        let mut rows = vec![0.0; self.dimension * lanes];
        for (lane, point) in points.iter().enumerate() {
            for (row, x) in point.iter().enumerate() {
                rows[row * lanes + lane] = *x;
            }
        }
        let beta = vec![if part == Part::Prior { 0.0 } else { 1.0 }; lanes];
        let (mut prior, mut likelihood) = (vec![0.0; lanes], vec![0.0; lanes]);
        let mut gradient = vec![0.0; self.dimension * lanes];
        let mut batch = Batch {
            lanes,
            points: &rows,
            beta: Some(&beta),
            log_prior: &mut prior,
            log_likelihood: &mut likelihood,
            gradient: &mut gradient,
        };
        self.evaluator.evaluate(&mut batch, terms)?;
        let rejections = self.evaluator.rejections();
        let value = |lane: usize| {
            let noise: f64 = (0..self.dimension)
                .map(|row| gradient[row * lanes + lane].abs() * (1.0 + rows[row * lanes + lane].abs()))
                .sum::<f64>()
                * ROUNDING;
            ProgramValue {
                log_density: if part == Part::Prior { prior[lane] } else { likelihood[lane] },
                noise: if noise.is_finite() { noise } else { 0.0 },
                rejection: rejections.get(lane).cloned().flatten(),
            }
        };
        Ok((0..lanes).map(value).collect())
    }
}

/// How well two evaluations of the same density agree.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// Relative to the size of the terms.
    pub relative: f64,
    /// What is less accurate than this says nothing.
    pub blunt: f64,
    /// Which part of the points may not fit: solvers go astray where solutions are close to zero.
    pub strays: f64,
    /// Whether equations are solved, to some tolerance.
    pub solves: bool,
    /// By how many nats densities may differ.
    pub slack: f64,
}

pub fn accuracy(program: &Program) -> Accuracy {
    let solver = |e: &Expr| match &e.kind {
        ExprKind::Call(Call { callee: Callee::Library(name), .. }) => {
            ["ode_", "integrate_", "solve_", "algebra_", "dae"].iter().any(|start| name.starts_with(start))
        }
        _ => false,
    };
    let mut solves = false;
    let blocks = program.blocks.iter().flatten().flat_map(|b| &b.statements);
    for stmt in blocks.chain(program.functions.iter().flat_map(|f| &f.body)) {
        walk::each(stmt, &mut |s| walk::own(s, &mut |e| solves |= walk::any(e, &solver)));
    }
    if solves {
        Accuracy { relative: 1e-4, blunt: 1.0, strays: 0.2, solves, slack: 0.0 }
    } else {
        Accuracy { relative: 1e-9, blunt: 1e-2, strays: 0.0, solves, slack: 0.0 }
    }
}

/// The program with those of its densities only that `keep` says.
pub fn reduced(program: &Program, keep: &dyn Fn(Place) -> bool) -> Program {
    let mut result = program.clone();
    for kind in [BlockKind::TransformedParameters, BlockKind::Model] {
        if let Some(block) = &mut result.blocks[kind as usize] {
            block.statements.iter_mut().for_each(|s| reduce(program, s, keep));
        }
    }
    result
}

/// The program with what it adds to the Jacobian added to the target: there it counts on the constrained scale, too.
pub fn with_jacobians(program: &Program) -> Program {
    fn change(stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::JacobianPlus(e) => stmt.kind = StmtKind::TargetPlus(e.clone()),
            StmtKind::If { branches, otherwise } => {
                branches.iter_mut().for_each(|(_, s)| change(s));
                otherwise.iter_mut().for_each(|s| change(s));
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => change(body),
            StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => list.iter_mut().for_each(change),
            _ => {}
        }
    }
    let mut result = program.clone();
    if let Some(block) = &mut result.blocks[BlockKind::TransformedParameters as usize] {
        block.statements.iter_mut().for_each(change);
    }
    result
}

/// Whether a statement adds to the target by itself.
fn weighs(program: &Program, stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Tilde(_) | StmtKind::TargetPlus(_) => true,
        StmtKind::Call(call) => match &call.callee {
            Callee::User(id) => program.function(*id).name.ends_with("_lp"),
            Callee::Library(_) => false,
        },
        _ => false,
    }
}

fn reduce(program: &Program, stmt: &mut Stmt, keep: &dyn Fn(Place) -> bool) {
    if weighs(program, stmt) && !keep(place(stmt.span)) {
        stmt.kind = StmtKind::Skip;
        return;
    }
    match &mut stmt.kind {
        StmtKind::If { branches, otherwise } => {
            branches.iter_mut().for_each(|(_, s)| reduce(program, s, keep));
            otherwise.iter_mut().for_each(|s| reduce(program, s, keep));
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => reduce(program, body, keep),
        StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => {
            list.iter_mut().for_each(|s| reduce(program, s, keep));
        }
        _ => {}
    }
}

/// The program without the statements that are likelihood alone.
pub fn prior_only(program: &Program) -> Program {
    let split = Split::of(program);
    let mut likelihood = BTreeSet::new();
    for stmt in [BlockKind::TransformedParameters, BlockKind::Model].into_iter().flat_map(|k| program.block(k)) {
        walk::each(stmt, &mut |s| {
            let alone = match &s.kind {
                StmtKind::Tilde(tilde) => split.of_tilde(tilde) == Role::Likelihood,
                StmtKind::TargetPlus(e) => split.terms(e).iter().all(|t| t.role == Role::Likelihood),
                _ => false,
            };
            if alone {
                likelihood.insert(place(s.span));
            }
        });
    }
    reduced(program, &|p| !likelihood.contains(&p))
}

/// For each statement that adds a constant the program with nothing but this one.
pub fn constants(program: &Program) -> Vec<Program> {
    let split = Split::of(program);
    let mut lone = BTreeSet::new();
    for stmt in [BlockKind::TransformedParameters, BlockKind::Model].into_iter().flat_map(|k| program.block(k)) {
        walk::each(stmt, &mut |s| {
            if matches!(&s.kind, StmtKind::TargetPlus(e) if split.is_lone(e)) {
                lone.insert(place(s.span));
            }
        });
    }
    lone.iter().map(|own| reduced(program, &|p| p == *own)).collect()
}

/// The places of all statements that add to the target.
pub fn statements(program: &Program) -> Vec<Place> {
    let mut found = Vec::new();
    for stmt in [BlockKind::TransformedParameters, BlockKind::Model].into_iter().flat_map(|k| program.block(k)) {
        walk::each(stmt, &mut |s| {
            if weighs(program, s) {
                found.push(place(s.span));
            }
        });
    }
    found
}
