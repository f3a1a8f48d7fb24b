//! The likelihood as a program that says its terms one by one, with outcomes that can be set like parameters.
//!
//! All statements of the model stay as they are, but for those that add to the target: each term of the likelihood is
//! handed to a step that notes it together with the iteration of the loops around it.

use std::collections::BTreeMap;

use crust_stan::ast::{BaseType, BinaryOp, BlockKind, MessageKind, UnaryOp};
use crust_stan::joint::{Joint, Role, Source, Split, Term, density, plain, walk};
use crust_stan::span::Span;
use crust_stan::typed::{
    Call, Callee, Constraint, Expr, ExprKind, Level, LoopOver, Origin, Program, SizedKind, SizedType, Stmt, StmtKind,
    Tilde, Variable, VariableId,
};
use crust_stan::types::Type;

use super::super::program::{add, from_outcome, set, step, tainted, unconstrained, variable};
use crate::density::Density;

/// The program and the outcomes that can be set.
pub struct Written {
    pub program: Program,
    pub drawn: Vec<VariableId>,
    /// Whether sizes of containers depend on outcomes.
    pub sizes_vary: bool,
}

/// Nothing where the target is used in ways that cannot be followed.
pub fn write(joint: &Joint) -> Option<Written> {
    let source = &joint.stated;
    let split = Split::of(source);
    let drawn: Vec<VariableId> =
        joint.outcomes.iter().filter(|(_, s)| *s == Source::Density).map(|(id, _)| *id).collect();
    let mut program = Program { blocks: Default::default(), ..source.clone() };
    let declare = |variable: VariableId, initial: Option<Expr>| Stmt {
        kind: StmtKind::Declare { variable, initial },
        span: Span::default(),
    };
    let mut parameters: Vec<Stmt> = source.block(BlockKind::Parameters).to_vec();
    let mut generated = Vec::new();
    for id in &drawn {
        let state = add(&mut program, *id, "state", BlockKind::Parameters);
        let own = &mut program.variables[id.0 as usize];
        own.origin = Origin::Block(BlockKind::GeneratedQuantities);
        own.declared = own.declared.as_ref().map(unconstrained);
        parameters.push(declare(state, None));
        generated.push(declare(*id, Some(variable(&program, state))));
    }
    for id in source.declared_in(BlockKind::TransformedData).filter(|id| from_outcome(joint, *id)) {
        program.variables[id.0 as usize].origin = Origin::Local;
    }
    let mut writer = Writer {
        source,
        split: &split,
        sums: sums(source, &split),
        locals: Vec::new(),
        first_local: program.variables.len(),
        loops: 0,
        supported: true,
    };
    let again: Vec<Stmt> =
        source.block(BlockKind::TransformedData).iter().filter(|s| tainted(joint, s)).cloned().collect();
    let mut body = again;
    for kind in [BlockKind::TransformedParameters, BlockKind::Model] {
        body.extend(source.block(kind).iter().map(|s| writer.statement(s, 0)));
    }
    if !writer.supported {
        return None;
    }
    program.variables.extend(writer.locals);
    let kept =
        |kind: BlockKind| -> Vec<Stmt> { source.block(kind).iter().filter(|s| !tainted(joint, s)).cloned().collect() };
    set(&mut program, BlockKind::Data, kept(BlockKind::Data));
    set(&mut program, BlockKind::TransformedData, kept(BlockKind::TransformedData));
    generated.push(Stmt { kind: StmtKind::Block(body), span: Span::default() });
    set(&mut program, BlockKind::Parameters, parameters);
    set(&mut program, BlockKind::GeneratedQuantities, generated);
    let sizes_vary = sizes_vary(joint);
    Some(Written { program, drawn, sizes_vary })
}

struct Writer<'a> {
    source: &'a Program,
    split: &'a Split,
    /// Local numbers that terms are added to, and that are themselves added to the target once.
    sums: BTreeMap<VariableId, Role>,
    locals: Vec<Variable>,
    first_local: usize,
    /// How many loops there are so far.
    loops: u32,
    supported: bool,
}

impl Writer<'_> {
    fn statement(&mut self, stmt: &Stmt, depth: u32) -> Stmt {
        let span = stmt.span;
        let mut target = false;
        walk::own(stmt, &mut |e| target |= walk::any(e, &|e| self.touches_target(e)));
        self.supported &= !target && !matches!(&stmt.kind, StmtKind::Call(call) if self.adds(call));
        let kind = match &stmt.kind {
            StmtKind::Tilde(tilde) => return self.tilde(tilde, depth, span),
            StmtKind::TargetPlus(e) => return self.term(e, depth, span),
            StmtKind::JacobianPlus(_) => StmtKind::Skip,
            StmtKind::Message { kind, .. } if *kind != MessageKind::Reject => StmtKind::Skip,
            StmtKind::Assign { target, op: Some(BinaryOp::Add), value } => {
                match walk::assigned(target).first().and_then(|id| self.sums.get(id)) {
                    Some(Role::Likelihood) => return self.term(value, depth, span),
                    Some(Role::Prior) => StmtKind::Skip,
                    None => stmt.kind.clone(),
                }
            }
            StmtKind::If { branches, otherwise } => StmtKind::If {
                branches: branches.iter().map(|(e, s)| (e.clone(), self.statement(s, depth))).collect(),
                otherwise: otherwise.as_ref().map(|s| Box::new(self.statement(s, depth))),
            },
            StmtKind::For { variable, over, body } => {
                let index = match over {
                    LoopOver::Range { .. } => Some(super::super::program::variable(self.source, *variable)),
                    LoopOver::Each(_) => None,
                };
                let body = Box::new(self.marked(body, index, depth));
                StmtKind::For { variable: *variable, over: over.clone(), body }
            }
            StmtKind::While { condition, body } => {
                StmtKind::While { condition: condition.clone(), body: Box::new(self.marked(body, None, depth)) }
            }
            StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => {
                StmtKind::Block(list.iter().map(|s| self.statement(s, depth)).collect())
            }
            other => other.clone(),
        };
        Stmt { kind, span }
    }

    /// A loop's body, which first says in which iteration it is.
    fn marked(&mut self, body: &Stmt, index: Option<Expr>, depth: u32) -> Stmt {
        let number = self.loops;
        self.loops += 1;
        let nothing = Expr { kind: ExprKind::Int(-1), ty: Type::Int, level: Level::Data, span: body.span };
        let counted = if index.is_some() { "mark" } else { "tally" };
        let mark = self.call(&format!("{counted}:{depth}:{number}"), vec![index.unwrap_or(nothing)], body.span);
        let inner = self.statement(body, depth + 1);
        Stmt { kind: StmtKind::Block(vec![mark, inner]), span: body.span }
    }

    fn adds(&self, call: &Call) -> bool {
        matches!(&call.callee, Callee::User(id) if self.source.function(*id).name.ends_with("_lp"))
    }

    fn touches_target(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Target => true,
            ExprKind::Call(call) => self.adds(call),
            _ => false,
        }
    }

    fn tilde(&mut self, tilde: &Tilde, depth: u32, span: Span) -> Stmt {
        if self.split.of_tilde(tilde) == Role::Prior {
            return Stmt { kind: StmtKind::Skip, span };
        }
        self.density(&plain(tilde.clone()), depth, span)
    }

    fn density(&mut self, tilde: &Tilde, depth: u32, span: Span) -> Stmt {
        let mut arguments: Vec<Expr> = std::iter::once(&tilde.variate).chain(&tilde.arguments).cloned().collect();
        if let Callee::Library(name) = &tilde.density
            && is_of_numbers(name)
        {
            if let Some(truncation) = &tilde.truncation {
                let number = |x: f64| Expr { kind: ExprKind::Real(x), ty: Type::Real, level: Level::Data, span };
                arguments.push(truncation.lower.clone().unwrap_or_else(|| number(f64::NEG_INFINITY)));
                arguments.push(truncation.upper.clone().unwrap_or_else(|| number(f64::INFINITY)));
            }
            return self.call(&format!("terms:{depth}:{}:{name}", self.locals.len()), arguments, span);
        }
        self.supported &= tilde.truncation.is_none();
        let call = Call { callee: tilde.density.clone(), arguments, unnormalised: false };
        let value = Expr { kind: ExprKind::Call(call), ty: Type::Real, level: Level::Parameter, span };
        self.value(value, depth, span)
    }

    /// Notes the terms of the likelihood in a sum.
    fn term(&mut self, e: &Expr, depth: u32, span: Span) -> Stmt {
        let known = |e: &Expr| matches!(e.kind, ExprKind::Variable(id) if self.sums.contains_key(&id));
        let terms: Vec<Term<'_>> =
            self.split.terms(e).into_iter().filter(|t| t.role == Role::Likelihood && !known(t.expr)).collect();
        let list = terms.iter().map(|t| self.note(t.expr, t.negative, depth, span)).collect();
        Stmt { kind: StmtKind::Block(list), span }
    }

    /// Notes a term. The elements of a vector that is summed up are terms of their own, and so are those of densities of
    /// many numbers.
    fn note(&mut self, e: &Expr, negative: bool, depth: u32, span: Span) -> Stmt {
        if negative {
            let kind = ExprKind::Unary { op: UnaryOp::Minus, operand: Box::new(e.clone()) };
            return self.value(Expr { kind, ..e.clone() }, depth, span);
        }
        if let Some(tilde) = density(self.split, e) {
            return self.density(&plain(tilde), depth, span);
        }
        match &e.kind {
            ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) if name == "sum" => {
                self.value(arguments[0].clone(), depth, span)
            }
            _ => self.value(e.clone(), depth, span),
        }
    }

    fn value(&mut self, e: Expr, depth: u32, span: Span) -> Stmt {
        self.call(&format!("term:{depth}:{}", self.locals.len()), vec![e], span)
    }

    fn call(&mut self, name: &str, arguments: Vec<Expr>, span: Span) -> Stmt {
        let value = step(name, arguments, Type::Real, span);
        let id = VariableId(u32::try_from(self.first_local + self.locals.len()).unwrap_or(u32::MAX));
        let kind = SizedKind::Plain { base: BaseType::Real, constraint: Constraint::default(), sizes: Vec::new() };
        self.locals.push(Variable {
            name: format!("term:{}", id.0),
            ty: Type::Real,
            declared: Some(SizedType { kind, span }),
            origin: Origin::Local,
            level: Level::Data,
            span,
        });
        let declare = Stmt { kind: StmtKind::Declare { variable: id, initial: Some(value) }, span };
        Stmt { kind: StmtKind::Block(vec![declare]), span }
    }
}

/// Whether the size of some variable depends on outcomes.
fn sizes_vary(joint: &Joint) -> bool {
    let depends = &joint.split.depends;
    let mut found = false;
    for kind in [BlockKind::TransformedData, BlockKind::TransformedParameters, BlockKind::Model] {
        for stmt in joint.program.block(kind) {
            walk::each(stmt, &mut |s| {
                if let StmtKind::Declare { variable, .. } = &s.kind
                    && let Some(declared) = &joint.program.variable(*variable).declared
                {
                    walk::in_type(declared, &mut |e| {
                        found |= depends.sources(e).iter().any(|id| joint.is_outcome(*id));
                    });
                }
            });
        }
    }
    found
}

/// Whether this is a density of single numbers with few arguments.
fn is_of_numbers(name: &str) -> bool {
    matches!(Density::named(name), Some(Density::Scalar(density)) if density.arity <= 4)
}

/// Numbers that begin at 0, that terms are only added to, and that are added to the target once and looked at nowhere
/// else: `ll += …` and then `target += ll`.
fn sums(program: &Program, split: &Split) -> BTreeMap<VariableId, Role> {
    #[derive(Default)]
    struct Use {
        begins: u32,
        targets: u32,
        others: u32,
    }
    let zero = |e: &Expr| matches!(e.kind, ExprKind::Int(0)) || matches!(e.kind, ExprKind::Real(x) if x == 0.0);
    let mut uses: BTreeMap<VariableId, Use> = BTreeMap::new();
    let mut roles: BTreeMap<VariableId, Role> = BTreeMap::new();
    for kind in [BlockKind::TransformedParameters, BlockKind::Model] {
        for stmt in program.block(kind) {
            walk::each(stmt, &mut |s| {
                match &s.kind {
                    StmtKind::Declare { variable, initial: Some(e) } if zero(e) => {
                        uses.entry(*variable).or_default().begins += 1;
                        return;
                    }
                    StmtKind::Assign { target, op: None, value } if zero(value) => {
                        walk::assigned(target).iter().for_each(|id| uses.entry(*id).or_default().begins += 1);
                        return;
                    }
                    StmtKind::Assign { target, op, .. } if *op != Some(BinaryOp::Add) => {
                        walk::assigned(target).iter().for_each(|id| uses.entry(*id).or_default().others += 1);
                    }
                    StmtKind::TargetPlus(e) => {
                        if let ExprKind::Variable(id) = e.kind {
                            uses.entry(id).or_default().targets += 1;
                            let role = split.terms(e).first().map_or(Role::Prior, |t| t.role);
                            roles.insert(id, role);
                            return;
                        }
                    }
                    _ => {}
                }
                walk::own(s, &mut |e| {
                    walk::variables(e).into_iter().for_each(|id| uses.entry(id).or_default().others += 1);
                });
            });
        }
    }
    let fits = |u: &Use| u.begins == 1 && u.targets == 1 && u.others == 0;
    roles.retain(|id, _| program.variable(*id).ty == Type::Real && uses.get(id).is_some_and(fits));
    roles
}
