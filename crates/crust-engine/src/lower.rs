//! From a typed program to the code that the machine runs.

pub(crate) mod analysis;
mod chosen;
mod control;
mod expressions;
mod inline;
mod knowledge;
mod library;
mod pieces;
mod sink;
mod statements;
mod unfold;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use crust_math::functions::Cell;
use crust_stan::ast::{BaseType, BlockKind, SpecialType};
use crust_stan::diagnostics::Diagnostic;
use crust_stan::joint::Split;
use crust_stan::span::Span;
use crust_stan::typed::{self, Level, Origin, Program, SizedKind, SizedType, VariableId};

use crate::code::{Code, Constraint, Declared, Function, Item, Kind, Node, Quantity, Slot, Varies};
pub(crate) use chosen::chosen;
pub(crate) use control::has_control;
pub(crate) use library::{is_elementwise, vector_density, vector_function};
pub(crate) use pieces::Pieces;

/// Compiles a program, or says what the engine lacks for it.
pub fn lower(program: &Program) -> Result<Code, Vec<Diagnostic>> {
    let reads = analysis::reads_target(program);
    let mut lowering = Lowering::new(program);
    lowering.code.reads_target = reads.as_value;
    lowering.ordered = reads.any;
    lowering.program();
    if lowering.problems.is_empty() { Ok(lowering.code) } else { Err(lowering.problems) }
}

#[allow(clippy::struct_excessive_bools, reason = "they are independent states")]
struct Lowering<'a> {
    program: &'a Program,
    code: Code,
    problems: Vec<Diagnostic>,
    /// Variables that are assigned by element somewhere.
    mutable: HashSet<VariableId>,
    /// What is prior and what is likelihood, once somebody asks.
    parts: OnceCell<Split>,
    literals: HashMap<u64, u32>,
    /// The slots of the function that is being compiled.
    frame: Option<HashMap<VariableId, u32>>,
    /// Whether expressions that depend on data only are set apart.
    hoist: bool,
    /// Whether it matters in which order terms are added.
    ordered: bool,
    /// Whether the statement at hand is in the body of a loop.
    in_loop: bool,
    /// Functions of the program that have been called.
    called: BTreeSet<u32>,
    /// Whether all this is data, to be computed before anything else: integers are checked, variables change as the
    /// program says, nothing is made fit for being run often.
    data_only: bool,
}

/// For each function of the program what the engine lacks for it, and which functions it calls.
type Functions = Vec<(Vec<Diagnostic>, BTreeSet<u32>)>;

impl<'a> Lowering<'a> {
    fn new(program: &'a Program) -> Self {
        Self {
            program,
            // One more than there are variables: see `Code::element`.
            code: Code { globals: program.variables.len() + 1, ..Code::default() },
            problems: Vec::new(),
            mutable: analysis::mutable(program),
            parts: OnceCell::new(),
            literals: HashMap::new(),
            frame: None,
            hoist: false,
            ordered: false,
            in_loop: false,
            called: BTreeSet::new(),
            data_only: false,
        }
    }
}

impl Lowering<'_> {
    fn parts(&self) -> &Split {
        self.parts.get_or_init(|| Split::of(self.program))
    }

    fn functions(&mut self) -> Functions {
        let program = self.program;
        // Only those that are used matter.
        let mut functions = Vec::with_capacity(program.functions.len());
        for function in &program.functions {
            let mut variables = function.arguments.clone();
            analysis::declared(&function.body, &mut variables);
            let frame: HashMap<_, _> = variables.iter().zip(0..).map(|(&id, slot)| (id, slot)).collect();
            let slots = frame.len();
            self.frame = Some(frame);
            let body = self.statements(&function.body);
            self.frame = None;
            self.code.functions.push(Function { slots, body });
            functions.push((std::mem::take(&mut self.problems), std::mem::take(&mut self.called)));
        }
        functions
    }

    fn program(&mut self) {
        let program = self.program;
        let functions = self.functions();
        // Transformed data are data by the time that this code runs: they are looked at for what the engine lacks.
        self.data_only = true;
        self.quantities(BlockKind::TransformedData);
        self.statements(program.block(BlockKind::TransformedData));
        self.data_only = false;
        self.hoist = true;
        self.code.parameters = self.quantities(BlockKind::Parameters);
        self.code.transformed_parameters = self.quantities(BlockKind::TransformedParameters);
        self.code.generated_quantities = self.quantities(BlockKind::GeneratedQuantities);
        self.code.transform = self.statements(program.block(BlockKind::TransformedParameters));
        self.code.model = self.statements(program.block(BlockKind::Model));
        let transform = self.code.transform.len();
        let model = std::mem::take(&mut self.code.model);
        let both = std::mem::take(&mut self.code.transform).into_iter().chain(model).collect();
        let mut all = inline::mark(both, false);
        self.code.model = all.split_off(transform);
        self.code.transform = all;
        self.code.generate = self.statements(program.block(BlockKind::GeneratedQuantities));
        knowledge::find(&mut self.code);
        self.complain_of_used(&functions);
    }

    /// Adds what the engine lacks for the functions that are called, by others that are called included.
    fn complain_of_used(&mut self, functions: &Functions) {
        let mut used = BTreeSet::new();
        let mut next: Vec<u32> = std::mem::take(&mut self.called).into_iter().collect();
        while let Some(function) = next.pop() {
            if used.insert(function) {
                next.extend(functions.get(function as usize).iter().flat_map(|(_, calls)| calls));
            }
        }
        let of_blocks = std::mem::take(&mut self.problems);
        let of_functions = functions.iter().zip(0..).filter(|(_, id)| used.contains(id));
        self.problems = of_functions.flat_map(|((problems, _), _)| problems.clone()).chain(of_blocks).collect();
    }

    fn quantities(&mut self, block: BlockKind) -> Vec<Quantity> {
        let program = self.program;
        let ids: Vec<VariableId> = program.declared_in(block).collect();
        ids.into_iter()
            .filter_map(|id| {
                let variable = program.variable(id);
                let declared = self.declared(variable.declared.as_ref()?);
                Some(Quantity { name: variable.name.clone(), slot: id.0, declared })
            })
            .collect()
    }

    fn slot(&self, id: VariableId) -> Slot {
        match self.frame.as_ref().and_then(|frame| frame.get(&id)) {
            Some(&slot) => Slot::Local(slot),
            None => Slot::Global(id.0),
        }
    }

    /// Whether Stan takes an expression for one that depends on parameters. Inside a function an argument is what the
    /// caller passes, and a local variable depends on parameters as soon as one of the arguments does.
    fn varies(&self, expr: &typed::Expr) -> Varies {
        match (&self.frame, expr.level) {
            (Some(frame), _) => Varies::WithArguments(self.arguments_in(expr, frame)),
            (None, Level::Data) => Varies::No,
            (None, Level::Parameter) => Varies::Yes,
        }
    }

    fn arguments_in(&self, expr: &typed::Expr, frame: &HashMap<VariableId, u32>) -> u64 {
        let mut mask = match &expr.kind {
            typed::ExprKind::Variable(id) if !self.program.variable(*id).ty.is_int_like() => {
                let is_argument = self.program.variable(*id).origin == Origin::Argument;
                match frame.get(id) {
                    Some(&slot) if is_argument && slot < 64 => 1 << slot,
                    _ => u64::MAX,
                }
            }
            _ => 0,
        };
        analysis::operands(expr, &mut |e| mask |= self.arguments_in(e, frame));
        mask
    }

    fn literal(&mut self, value: f64, span: Span) -> Node {
        let literals = &mut self.code.literals;
        let index = *self.literals.entry(value.to_bits()).or_insert_with(|| {
            literals.push(value);
            u32::try_from(literals.len() - 1).expect("few literals")
        });
        Node { kind: Kind::Literal(index), span, varies: Varies::No }
    }

    /// The engine lacks something.
    fn lacking(&mut self, what: impl Into<String>, span: Span) -> Node {
        let diagnostic = Diagnostic::error("not-supported", what.into(), span)
            .note("the program is valid Stan, but the engine of crust cannot run this yet");
        self.problems.push(diagnostic);
        self.literal(f64::NAN, span)
    }

    fn declared(&mut self, ty: &SizedType) -> Declared {
        let span = ty.span;
        let mut arrays = Vec::new();
        let mut inner = ty;
        while let SizedKind::Array { sizes, element } = &inner.kind {
            arrays.extend(sizes.iter().map(|e| self.expression(e)));
            inner = element;
        }
        let item = match &inner.kind {
            SizedKind::Array { .. } => unreachable!("arrays have been taken off"),
            SizedKind::Tuple(parts) => Item::Tuple(parts.iter().map(|p| self.declared(p)).collect()),
            SizedKind::Plain { base, constraint, sizes } => {
                let sizes: Vec<Node> = sizes.iter().map(|e| self.expression(e)).collect();
                let cell = self.cell(*base, span);
                Item::Cell { cell, sizes, constraint: self.constraint(constraint) }
            }
            SizedKind::Special { special, sizes } => {
                let mut sizes: Vec<Node> = sizes.iter().map(|e| self.expression(e)).collect();
                let cell = special_cell(*special);
                // A square matrix is declared with one size.
                if sizes.len() < cell.rank()
                    && let SizedKind::Special { sizes: given, .. } = &inner.kind
                    && let Some(first) = given.first()
                {
                    sizes.push(self.expression(first));
                }
                Item::Cell { cell, sizes, constraint: Constraint::Special(*special) }
            }
        };
        Declared { arrays, item, span }
    }

    fn cell(&mut self, base: BaseType, span: Span) -> Cell {
        match base {
            BaseType::Int | BaseType::Real => Cell::Scalar,
            BaseType::Vector => Cell::Vector,
            BaseType::RowVector => Cell::RowVector,
            BaseType::Matrix => Cell::Matrix,
            _ => {
                self.lacking("the engine has no complex numbers", span);
                Cell::Scalar
            }
        }
    }

    fn constraint(&mut self, constraint: &typed::Constraint) -> Constraint {
        let mut side = |e: &Option<typed::Expr>| e.as_ref().map(|e| self.expression(e));
        let (lower, upper) = (side(&constraint.lower), side(&constraint.upper));
        let (offset, multiplier) = (side(&constraint.offset), side(&constraint.multiplier));
        match (lower, upper, offset, multiplier) {
            (Some(lower), Some(upper), ..) => Constraint::LowerUpper(lower, upper),
            (Some(lower), None, ..) => Constraint::Lower(lower),
            (None, Some(upper), ..) => Constraint::Upper(upper),
            (None, None, None, None) => Constraint::None,
            (None, None, offset, multiplier) => Constraint::OffsetMultiplier(offset, multiplier),
        }
    }

    /// Whether a variable is known before anything is sampled.
    fn is_data(&self, id: VariableId) -> bool {
        let origin = self.program.variable(id).origin;
        matches!(origin, Origin::Block(BlockKind::Data | BlockKind::TransformedData))
    }
}

fn special_cell(special: SpecialType) -> Cell {
    match special {
        SpecialType::Simplex
        | SpecialType::UnitVector
        | SpecialType::Ordered
        | SpecialType::PositiveOrdered
        | SpecialType::SumToZeroVector => Cell::Vector,
        SpecialType::SumToZeroMatrix
        | SpecialType::CovMatrix
        | SpecialType::CorrMatrix
        | SpecialType::CholeskyFactorCov
        | SpecialType::CholeskyFactorCorr
        | SpecialType::ColumnStochasticMatrix
        | SpecialType::RowStochasticMatrix => Cell::Matrix,
    }
}
