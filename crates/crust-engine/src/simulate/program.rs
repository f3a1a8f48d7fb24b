//! The program that draws: the statements of the model with every `~` as an assignment of what is missing.
//!
//! It is a Stan program in which everything that is drawn is a generated quantity. One run of it is a *pass*: it takes
//! the numbers drawn so far (NaN where there are none yet) and draws what has all it depends on.

use std::collections::{BTreeMap, BTreeSet};

use crust_stan::ast::{BaseType, BlockKind, SpecialType};
use crust_stan::joint::{Joint, Prior, Role, Source, walk};
use crust_stan::span::Span;
use crust_stan::typed::{
    Block, Callee, Expr, ExprKind, Level, Origin, Program, SizedKind, SizedType, Stmt, StmtKind, Variable, VariableId,
};
use crust_stan::types::Type;

use super::forward::Forward;
use super::statements::Rewriter;

/// Which part of the joint distribution is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Parameters from the prior.
    Parameters,
    /// Outcomes given parameters.
    Outcomes,
}

/// A drawing program and the variables that it draws.
pub struct Drawing {
    pub program: Program,
    /// What is drawn, in the order of the states.
    pub drawn: Vec<VariableId>,
    /// Outcomes whose given values decide which of them are drawn.
    pub masks: BTreeSet<VariableId>,
}

/// The extra variables for something that is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Helpers {
    /// The value before the pass.
    pub state: VariableId,
    /// How often each element is drawn.
    pub count: VariableId,
    /// The given value, for conditions that decide what is drawn.
    pub given: VariableId,
    /// A number for each element, so that it shows where one is drawn twice.
    pub numbers: VariableId,
}

/// Writes the program that draws parameters or outcomes.
pub fn write(joint: &Joint, phase: Phase) -> Drawing {
    let source = &joint.program;
    let drawn: Vec<VariableId> = match phase {
        Phase::Parameters => source.declared_in(BlockKind::Parameters).collect(),
        Phase::Outcomes => joint.outcomes.iter().filter(|(_, s)| *s == Source::Likelihood).map(|(id, _)| *id).collect(),
    };
    let mut program = Program { blocks: Default::default(), ..source.clone() };
    let mut helpers = BTreeMap::new();
    for id in &drawn {
        let own = Helpers {
            state: add(&mut program, *id, "state", BlockKind::Parameters),
            count: add(&mut program, *id, "count", BlockKind::GeneratedQuantities),
            given: add(&mut program, *id, "given", BlockKind::Parameters),
            numbers: add(&mut program, *id, "numbers", BlockKind::Parameters),
        };
        helpers.insert(*id, own);
        let variable = &mut program.variables[id.0 as usize];
        variable.origin = Origin::Block(BlockKind::GeneratedQuantities);
        variable.declared = variable.declared.as_ref().map(unconstrained);
    }
    for id in source.declared_in(BlockKind::TransformedData).filter(|id| from_outcome(joint, *id)) {
        program.variables[id.0 as usize].origin = Origin::Local;
    }
    let mut rewriter = Rewriter::new(joint, phase, &helpers);
    let mut body = Vec::new();
    if phase == Phase::Parameters {
        body.extend(drawn.iter().filter_map(|id| flat(joint, *id, &rewriter)));
    }
    if phase == Phase::Outcomes {
        // What is computed from outcomes is computed again with every pass.
        let again: Vec<Stmt> =
            source.block(BlockKind::TransformedData).iter().filter(|s| tainted(joint, s)).cloned().collect();
        body.extend(rewriter.statements(&again));
    }
    for kind in [BlockKind::TransformedParameters, BlockKind::Model] {
        body.extend(rewriter.statements(source.block(kind)));
    }
    let masks = std::mem::take(&mut rewriter.masks);
    program.variables.extend(rewriter.locals);
    let is_tainted = |stmt: &Stmt| tainted(joint, stmt);
    let kept =
        |kind: BlockKind| -> Vec<Stmt> { source.block(kind).iter().filter(|s| !is_tainted(s)).cloned().collect() };
    set(&mut program, BlockKind::Data, kept(BlockKind::Data));
    set(&mut program, BlockKind::TransformedData, kept(BlockKind::TransformedData));
    let mut parameters = Vec::new();
    if phase == Phase::Outcomes {
        parameters.extend(source.block(BlockKind::Parameters).iter().cloned());
    }
    let declare = |variable: VariableId, initial: Option<Expr>| Stmt {
        kind: StmtKind::Declare { variable, initial },
        span: Span::default(),
    };
    let mut generated = Vec::new();
    for id in &drawn {
        let Some(own) = helpers.get(id) else { continue };
        parameters.push(declare(own.state, None));
        if phase == Phase::Outcomes {
            parameters.push(declare(own.given, None));
        }
        parameters.push(declare(own.numbers, None));
        generated.push(declare(*id, Some(variable(&program, own.state))));
        generated.push(declare(own.count, None));
    }
    generated.push(Stmt { kind: StmtKind::Block(body), span: Span::default() });
    set(&mut program, BlockKind::Parameters, parameters);
    set(&mut program, BlockKind::GeneratedQuantities, generated);
    Drawing { program, drawn, masks }
}

/// The program without model and outcomes: what knows how to unconstrain parameters before there are data.
pub fn skeleton(joint: &Joint) -> Program {
    let source = &joint.program;
    let mut program = Program { blocks: Default::default(), ..source.clone() };
    for kind in [BlockKind::Data, BlockKind::TransformedData, BlockKind::Parameters] {
        let kept = source.block(kind).iter().filter(|s| !tainted(joint, s)).cloned().collect();
        set(&mut program, kind, kept);
    }
    program
}

/// Whether a variable is an outcome or computed from one.
pub(super) fn from_outcome(joint: &Joint, id: VariableId) -> bool {
    joint.split.depends.sources_of(id).iter().any(|source| joint.is_outcome(*source))
}

/// Whether a statement of data or transformed data declares an outcome or computes something from one.
pub(super) fn tainted(joint: &Joint, stmt: &Stmt) -> bool {
    let from_outcome = |id: &VariableId| from_outcome(joint, *id);
    let mut found = false;
    walk::each(stmt, &mut |s| match &s.kind {
        StmtKind::Declare { variable, .. } => found |= from_outcome(variable),
        StmtKind::Assign { target, .. } => found |= walk::assigned(target).iter().any(from_outcome),
        // What only looks at outcomes (a check, a message) has nothing to look at.
        StmtKind::Message { .. } | StmtKind::If { .. } => {
            walk::own(s, &mut |e| found |= walk::variables(e).iter().any(from_outcome));
        }
        _ => {}
    });
    found
}

/// The draw of a parameter that no statement draws.
fn flat(joint: &Joint, id: VariableId, rewriter: &Rewriter<'_>) -> Option<Stmt> {
    if joint.priors.get(&id) != Some(&Prior::Uniform) {
        return None;
    }
    let whole = variable(&joint.program, id);
    let span = joint.program.variable(id).span;
    let value = if let Some(special) = crust_stan::joint::special_type(&joint.program, id) {
        step(&format!("flat:{}", special.name()), vec![whole.clone()], whole.ty.clone(), span)
    } else {
        let bounds = crust_stan::joint::declared_bounds(&joint.program, id);
        let arguments = [Some(whole.clone()), bounds.lower.cloned(), bounds.upper.cloned()];
        step("free:uniform", arguments.into_iter().flatten().collect(), whole.ty.clone(), span)
    };
    Some(rewriter.draw_into(&whole, value, span))
}

/// A call of a step of the forward sampler.
pub fn step(name: &str, arguments: Vec<Expr>, ty: Type, span: Span) -> Expr {
    let call = crust_stan::typed::Call { callee: Callee::Library(Forward::name(name)), arguments, unnormalised: false };
    Expr { kind: ExprKind::Call(call), ty, level: Level::Data, span }
}

/// A variable as an expression.
pub fn variable(program: &Program, id: VariableId) -> Expr {
    let variable = program.variable(id);
    Expr { kind: ExprKind::Variable(id), ty: variable.ty.clone(), level: Level::Data, span: variable.span }
}

pub(super) fn set(program: &mut Program, kind: BlockKind, statements: Vec<Stmt>) {
    program.blocks[kind as usize] = Some(Block { statements, span: Span::default() });
}

/// A variable like another one, without its constraint.
pub(super) fn add(program: &mut Program, like: VariableId, what: &str, block: BlockKind) -> VariableId {
    let model = program.variable(like);
    let variable = Variable {
        name: format!("{}:{what}", model.name),
        ty: model.ty.clone(),
        declared: model.declared.as_ref().map(unconstrained),
        origin: Origin::Block(block),
        level: Level::Data,
        span: model.span,
    };
    let id = VariableId(u32::try_from(program.variables.len()).unwrap_or(u32::MAX));
    program.variables.push(variable);
    id
}

/// The same type without its constraint.
pub fn unconstrained(ty: &SizedType) -> SizedType {
    let kind = match &ty.kind {
        SizedKind::Plain { base, sizes, .. } => {
            SizedKind::Plain { base: *base, constraint: crust_stan::typed::Constraint::default(), sizes: sizes.clone() }
        }
        SizedKind::Special { special, sizes } => {
            let matrix = special.ty() == Type::Matrix;
            let mut sizes = sizes.clone();
            if matrix && sizes.len() == 1 {
                sizes.push(sizes[0].clone());
            }
            let base = if matrix { BaseType::Matrix } else { BaseType::Vector };
            SizedKind::Plain { base, constraint: crust_stan::typed::Constraint::default(), sizes }
        }
        SizedKind::Array { sizes, element } => {
            SizedKind::Array { sizes: sizes.clone(), element: Box::new(unconstrained(element)) }
        }
        SizedKind::Tuple(parts) => SizedKind::Tuple(parts.iter().map(unconstrained).collect()),
    };
    SizedType { kind, span: ty.span }
}

/// Whether a factor of this role is drawn in this phase.
pub fn drawn_in(phase: Phase, role: Role) -> bool {
    match phase {
        Phase::Parameters => role == Role::Prior,
        Phase::Outcomes => role == Role::Likelihood,
    }
}

/// Whether a type orders its elements.
pub fn is_ordered(special: Option<SpecialType>) -> bool {
    matches!(special, Some(SpecialType::Ordered | SpecialType::PositiveOrdered))
}
