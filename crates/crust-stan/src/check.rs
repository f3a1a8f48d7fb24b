//! Semantic checks: names, types, and what is allowed where. Turns a syntax tree into a [`typed::Program`].
//!
//! One mistake gives one message: what could not be understood gets the type [`Type::Unknown`], which fits everywhere.

mod calls;
mod declarations;
mod errors;
mod expressions;
mod functions;
mod higher_order;
mod operators;
mod pedantic;
mod returns;
mod statements;

use crate::ast::{self, BlockKind, Ident};
use crate::diagnostics::Diagnostic;
use crate::names::Suffix;
use crate::span::Span;
use crate::typed::{self, FunctionId, Level, Origin, Variable, VariableId};
use crate::types::{FunctionType, Type};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use pedantic::pedantic;

/// The typed program (meaningful only where no problem is an error) and the problems in the order of the text.
pub struct Checked {
    pub program: typed::Program,
    pub problems: Vec<Diagnostic>,
}

pub fn check(program: &ast::Program) -> Checked {
    let mut checker = Checker {
        program: typed::Program::default(),
        problems: Vec::new(),
        functions: BTreeMap::new(),
        scopes: vec![HashMap::new()],
        region: Region::Functions(Suffix::None),
        returns: None,
        loops: 0,
        undeclared: BTreeSet::new(),
    };
    if let Some(block) = &program.functions {
        checker.functions_block(block);
    }
    for kind in BlockKind::ALL {
        if let Some(block) = program.block(kind) {
            checker.block(kind, block);
        }
    }
    Checked { program: checker.program, problems: checker.problems }
}

/// The part of the program at hand, which decides what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    /// In the body of a function with this ending.
    Functions(Suffix),
    Block(BlockKind),
}

impl Region {
    /// Whether values made here can depend on parameters.
    fn level(self) -> Level {
        match self {
            Self::Block(BlockKind::Data | BlockKind::TransformedData | BlockKind::GeneratedQuantities) => Level::Data,
            _ => Level::Parameter,
        }
    }

    fn allows_random_numbers(self) -> bool {
        matches!(
            self,
            Self::Functions(Suffix::Rng) | Self::Block(BlockKind::TransformedData | BlockKind::GeneratedQuantities)
        )
    }

    /// `target += …` and `~`.
    fn allows_target_change(self) -> bool {
        matches!(self, Self::Functions(Suffix::Lp) | Self::Block(BlockKind::Model))
    }

    /// `target()` and functions that end in `_lp`.
    fn allows_target(self) -> bool {
        self.allows_target_change() || self == Self::Block(BlockKind::TransformedParameters)
    }

    fn allows_jacobian(self) -> bool {
        matches!(self, Self::Functions(Suffix::Jacobian) | Self::Block(BlockKind::TransformedParameters))
    }

    fn allows_unnormalised(self) -> bool {
        matches!(self, Self::Functions(Suffix::Lpdf | Suffix::Lpmf) | Self::Block(BlockKind::Model))
    }
}

/// What the function at hand returns; `None` outside functions.
#[derive(Clone, Debug)]
struct Returns(Option<Type>);

struct Checker {
    program: typed::Program,
    problems: Vec<Diagnostic>,
    /// The program's own functions, by name.
    functions: BTreeMap<String, Vec<FunctionId>>,
    /// Innermost last; the first holds the variables of the blocks.
    scopes: Vec<HashMap<String, VariableId>>,
    region: Region,
    returns: Option<Returns>,
    /// How many loops are around the statement at hand.
    loops: usize,
    /// Undeclared names that have been reported: once is enough.
    undeclared: BTreeSet<String>,
}

impl Checker {
    fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    fn block(&mut self, kind: BlockKind, block: &ast::Block) {
        self.region = Region::Block(kind);
        // What the model block declares is local to it.
        let statements = if kind == BlockKind::Model {
            self.scoped(|c| c.statements(&block.statements, false))
        } else {
            self.statements(&block.statements, true)
        };
        self.program.blocks[kind as usize] = Some(typed::Block { statements, span: block.span });
    }

    fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = f(self);
        self.scopes.pop();
        result
    }

    fn lookup(&self, name: &str) -> Option<VariableId> {
        self.scopes.iter().rev().find_map(|s| s.get(name).copied())
    }

    /// Adds a variable to the innermost scope. A clash is reported, and the new variable hides the old one.
    fn declare(&mut self, variable: Variable) -> VariableId {
        let name = Ident { name: variable.name.clone(), span: variable.span };
        if let Some(problem) = reserved(&name) {
            self.report(problem);
        } else if Suffix::of(&name.name).is_unnormalised() {
            self.report(errors::unnormalised_name(&name));
        } else if let Some(first) = self.lookup(&name.name) {
            let first = self.program.variable(first).span;
            self.report(errors::redeclared(&name, first));
        }
        let id = VariableId(u32::try_from(self.program.variables.len()).unwrap_or(u32::MAX));
        self.program.variables.push(variable);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.name, id);
        }
        id
    }

    /// The level of a variable of type `ty` that is declared here: integers never depend on parameters.
    fn level_here(&self, ty: &Type) -> Level {
        if ty.is_int_like() { Level::Data } else { self.region.level() }
    }

    fn loop_variable(&mut self, name: &Ident, ty: Type) -> VariableId {
        let level = self.level_here(&ty);
        self.declare(Variable {
            name: name.name.clone(),
            ty,
            declared: None,
            origin: Origin::Loop,
            level,
            span: name.span,
        })
    }

    fn own_functions(&self, name: &str) -> Vec<FunctionType> {
        let ids = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        ids.iter().map(|id| self.program.function(*id).ty.clone()).collect()
    }

    /// The program's own function with exactly this signature.
    fn own_function(&self, name: &str, arguments: &[Type]) -> Option<FunctionId> {
        let ids = self.functions.get(name)?;
        ids.iter().copied().find(|id| {
            let ty = &self.program.function(*id).ty;
            ty.arguments.len() == arguments.len() && ty.arguments.iter().zip(arguments).all(|(a, b)| a.ty == *b)
        })
    }

    /// Everything a misspelt name could have meant, for suggestions.
    fn visible_variables(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<_> = self.scopes.iter().flat_map(|s| s.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names.into_iter()
    }
}

/// Names that nothing may have.
fn reserved(name: &Ident) -> Option<Diagnostic> {
    if crate::token::RESERVED.contains(&name.name.as_str()) {
        Some(errors::reserved_word(name))
    } else if name.name.ends_with("__") {
        Some(errors::trailing_underscores(name))
    } else {
        None
    }
}

/// An expression that stands for a reported mistake.
fn error_expression(span: Span) -> typed::Expr {
    typed::Expr { kind: typed::ExprKind::Error, ty: Type::Unknown, level: Level::Data, span }
}
