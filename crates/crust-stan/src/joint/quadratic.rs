//! Whether the log density of some statements is a polynomial of some variables, by their text.
//!
//! That a log density is quadratic is found numerically, by gradients at some points. No number of points shows it of
//! every function: the sum of a needle and a hill (`log_mix(0.5, normal_lpdf(b | 0, 0.001), normal_lpdf(b | 0, 20))`) is
//! the hill alone at all of them. But a polynomial that is quadratic at enough points is so everywhere. So only what is
//! made of sums, products and normal densities is looked at; everything else that depends on the variables is curved.

use std::collections::{BTreeMap, BTreeSet};

use super::walk;
use crate::ast::{BinaryOp, BlockKind, UnaryOp};
use crate::typed::{Callee, Expr, ExprKind, FunctionId, Index, LoopOver, Place, Program, Stmt, StmtKind, VariableId};

/// Functions that are linear in each of their arguments, or quadratic, or that put elements together.
const POLYNOMIALS: [&str; 54] = [
    "add",
    "add_diag",
    "append_array",
    "append_col",
    "append_row",
    "block",
    "col",
    "columns_dot_product",
    "columns_dot_self",
    "crossprod",
    "csr_matrix_times_vector",
    "cumulative_sum",
    "diag_matrix",
    "diag_post_multiply",
    "diag_pre_multiply",
    "diagonal",
    "dot_product",
    "dot_self",
    "elt_multiply",
    "fma",
    "head",
    "mean",
    "minus",
    "multiply",
    "plus",
    "quad_form",
    "quad_form_sym",
    "rep_array",
    "rep_matrix",
    "rep_row_vector",
    "rep_vector",
    "reverse",
    "row",
    "rows_dot_product",
    "rows_dot_self",
    "segment",
    "square",
    "squared_distance",
    "sub_col",
    "sub_row",
    "subtract",
    "sum",
    "symmetrize_from_lower_tri",
    "tail",
    "tcrossprod",
    "to_array_1d",
    "to_array_2d",
    "to_matrix",
    "to_row_vector",
    "to_vector",
    "trace",
    "trace_quad_form",
    "transpose",
    "variance",
];

/// Functions that are linear in their first argument, and in no other.
const LINEAR_IN_FIRST: [&str; 5] =
    ["divide", "elt_divide", "mdivide_right", "mdivide_right_spd", "mdivide_right_tri_low"];
/// The same for the second argument.
const LINEAR_IN_SECOND: [&str; 3] = ["mdivide_left", "mdivide_left_spd", "mdivide_left_tri_low"];

/// Densities whose logarithm is quadratic in variate and location.
const NORMALS: [&str; 6] = [
    "normal_lpdf",
    "std_normal_lpdf",
    "multi_normal_lpdf",
    "multi_normal_prec_lpdf",
    "multi_normal_cholesky_lpdf",
    "matrix_normal_prec_lpdf",
];

/// How something depends on the variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    #[default]
    Not,
    /// As a polynomial.
    Polynomial,
    Curved,
}

impl Way {
    /// What something becomes that is chosen by this.
    fn as_choice(self) -> Self {
        if self == Self::Not { Self::Not } else { Self::Curved }
    }
}

/// Whether the terms of a program are polynomials of these variables.
pub fn is_polynomial(program: &Program, variables: &BTreeSet<VariableId>) -> bool {
    let ways = variables.iter().map(|id| (*id, Way::Polynomial)).collect();
    let mut search = Search { program, ways, results: BTreeMap::new(), changed: true, terms: Way::Not };
    while std::mem::take(&mut search.changed) {
        for kind in [BlockKind::TransformedParameters, BlockKind::Model] {
            program.block(kind).iter().for_each(|stmt| search.statement(stmt, Way::Not, None));
        }
        for (number, function) in (0..).zip(&program.functions) {
            let own = Some(FunctionId(number));
            function.body.iter().for_each(|stmt| search.statement(stmt, Way::Not, own));
        }
    }
    search.terms != Way::Curved
}

struct Search<'a> {
    program: &'a Program,
    /// Of the variables, and of all that is computed from them; arguments of functions count for all calls together.
    ways: BTreeMap<VariableId, Way>,
    /// What functions return.
    results: BTreeMap<FunctionId, Way>,
    /// Whether something new was found.
    changed: bool,
    terms: Way,
}

impl Search<'_> {
    fn note(&mut self, id: VariableId, way: Way) {
        let known = self.ways.entry(id).or_default();
        self.changed |= way > *known;
        *known = way.max(*known);
    }

    /// A statement in a function, or outside; `under` are the conditions under which it runs.
    fn statement(&mut self, stmt: &Stmt, under: Way, function: Option<FunctionId>) {
        let mut inside = under;
        match &stmt.kind {
            StmtKind::Declare { variable, initial: Some(value) }
            | StmtKind::For { variable, over: LoopOver::Each(value), .. } => {
                let way = self.way(value).max(under);
                self.note(*variable, way);
            }
            StmtKind::Assign { target, op, value } => self.assign(target, *op, value, under),
            StmtKind::Call(call) => {
                self.call(&call.callee, &call.arguments.iter().collect::<Vec<_>>());
            }
            StmtKind::TargetPlus(e) | StmtKind::JacobianPlus(e) => {
                let way = self.way(e).max(under);
                self.terms = self.terms.max(way);
            }
            StmtKind::Return(Some(e)) => {
                let way = self.way(e).max(under);
                if let Some(function) = function {
                    let known = self.results.entry(function).or_default();
                    self.changed |= way > *known;
                    *known = way.max(*known);
                }
            }
            StmtKind::Tilde(tilde) => {
                let arguments: Vec<&Expr> = std::iter::once(&tilde.variate).chain(&tilde.arguments).collect();
                let way = self.call(&tilde.density, &arguments).max(under);
                // what a truncation leaves is divided by its probability
                let way = if tilde.truncation.is_some() { way.as_choice() } else { way };
                self.terms = self.terms.max(way);
            }
            StmtKind::If { branches, .. } => {
                branches.iter().for_each(|(condition, _)| inside = inside.max(self.way(condition).as_choice()));
            }
            // what comes after it is chosen, too
            StmtKind::Break | StmtKind::Continue => self.terms = self.terms.max(under),
            StmtKind::While { condition, .. } => inside = inside.max(self.way(condition).as_choice()),
            StmtKind::For { over: LoopOver::Range { lower, upper }, .. } => {
                inside = inside.max(self.way(lower).max(self.way(upper)).as_choice());
            }
            _ => {}
        }
        walk::children(stmt, &mut |child| self.statement(child, inside, function));
    }

    fn assign(&mut self, target: &Place, op: Option<BinaryOp>, value: &Expr, under: Way) {
        let own = walk::assigned(target);
        let mut way = self.way(value).max(under);
        if let Some(op) = op {
            let before = own.iter().filter_map(|id| self.ways.get(id)).max().copied().unwrap_or_default();
            way = way.max(operator(op, before, way));
        }
        walk::in_place(target, &mut |index| way = way.max(self.way(index).as_choice()));
        own.into_iter().for_each(|id| self.note(id, way));
    }

    fn call(&mut self, callee: &Callee, arguments: &[&Expr]) -> Way {
        let ways: Vec<Way> = arguments.iter().map(|e| self.way(e)).collect();
        let most = ways.iter().max().copied().unwrap_or_default();
        match callee {
            Callee::User(id) => {
                let formal = &self.program.function(*id).arguments;
                formal.iter().zip(&ways).for_each(|(id, way)| self.note(*id, *way));
                self.results.get(id).copied().unwrap_or_default()
            }
            Callee::Library(name) => {
                let name = name.as_str();
                let only = |first: usize, last: usize| {
                    ways.iter().enumerate().all(|(i, way)| *way == Way::Not || (first..=last).contains(&i))
                };
                let polynomial = POLYNOMIALS.contains(&name)
                    || (LINEAR_IN_FIRST.contains(&name) || name == "pow") && only(0, 0)
                    || LINEAR_IN_SECOND.contains(&name) && only(1, 1)
                    || NORMALS.contains(&name) && only(0, 1);
                match name {
                    "size" | "num_elements" | "rows" | "cols" | "dims" => Way::Not,
                    _ if polynomial => most,
                    _ => most.as_choice(),
                }
            }
        }
    }

    fn way(&mut self, e: &Expr) -> Way {
        match &e.kind {
            ExprKind::Variable(id) => self.ways.get(id).copied().unwrap_or_default(),
            ExprKind::Call(call) => self.call(&call.callee, &call.arguments.iter().collect::<Vec<_>>()),
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.way(left), self.way(right));
                operator(*op, left, right)
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.way(operand).as_choice(),
            ExprKind::Ternary { condition, yes, no } => {
                let chosen = self.way(condition).as_choice();
                chosen.max(self.way(yes)).max(self.way(no))
            }
            ExprKind::Index { base, indices } => {
                let chosen = indices.iter().flat_map(Index::parts).map(|index| self.way(index).as_choice()).max();
                self.way(base).max(chosen.unwrap_or_default())
            }
            _ => {
                let mut most = Way::Not;
                walk::operands(e, &mut |part| most = most.max(self.way(part)));
                most
            }
        }
    }
}

fn operator(op: BinaryOp, left: Way, right: Way) -> Way {
    use BinaryOp::{Add, Divide, EltDivide, EltMultiply, EltPower, LeftDivide, Multiply, Power, Subtract};
    match op {
        Add | Subtract | Multiply | EltMultiply => left.max(right),
        // Powers that are no integers are not quadratic anywhere, which is seen.
        Divide | EltDivide | Power | EltPower => left.max(right.as_choice()),
        LeftDivide => left.as_choice().max(right),
        _ => left.max(right).as_choice(),
    }
}
