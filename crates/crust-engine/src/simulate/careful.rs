//! What must wait until everything it looks at is there.

use crust_stan::joint::{Depends, Joint, walk};
use crust_stan::span::Span;
use crust_stan::typed::{Call, Callee, Expr, ExprKind, SizedType, Stmt, StmtKind, VariableId};
use crust_stan::types::Type;

use super::program::{Phase, step};

/// Knows which values may be missing in a pass.
pub struct Careful<'a> {
    pub joint: &'a Joint,
    pub phase: Phase,
    /// As the joint's own, but a variable whose size looks at an outcome depends on it.
    depends: Depends,
}

impl<'a> Careful<'a> {
    pub fn new(joint: &'a Joint, phase: Phase) -> Self {
        Self { joint, phase, depends: Depends::with(&joint.program, &|id| joint.is_outcome(id)) }
    }

    /// Whether a variable is there: not while parameters are drawn if its size looks at an outcome.
    pub fn exists(&self, id: VariableId) -> bool {
        let sizes = self.joint.program.variable(id).declared.iter().flat_map(SizedType::sizes);
        sizes.into_iter().all(|size| self.can_be_known(size))
    }

    /// Whether a variable can be missing: it is drawn in this phase, or computed from what is.
    fn may_miss(&self, id: VariableId) -> bool {
        let Some(sources) = self.sources(id) else { return true };
        sources.iter().any(|source| match self.phase {
            Phase::Parameters => self.depends.is_parameter(*source),
            Phase::Outcomes => self.joint.is_outcome(*source),
        })
    }

    /// What a variable depends on; helpers, which the program does not know, may always be missing.
    fn sources(&self, id: VariableId) -> Option<&std::collections::BTreeSet<VariableId>> {
        ((id.0 as usize) < self.joint.program.variables.len()).then(|| self.depends.sources_of(id))
    }

    /// Whether an expression looks at something that may be missing.
    pub fn is_open(&self, e: &Expr) -> bool {
        walk::looked_at(e).iter().any(|id| self.may_miss(*id))
    }

    /// Whether a value is of use for drawing: no log density, and while parameters are drawn nothing made from
    /// outcomes.
    pub fn is_wanted(&self, e: &Expr) -> bool {
        let density = |e: &Expr| match &e.kind {
            ExprKind::Call(call) => self.joint.split.is_density(call) || self.changes_target(call),
            ExprKind::Target => true,
            _ => false,
        };
        !walk::any(e, &density) && self.can_be_known(e)
    }

    /// Whether an expression can ever be known in this phase: outcomes are not there while parameters are drawn.
    pub fn can_be_known(&self, e: &Expr) -> bool {
        let from_outcome = |id: &VariableId| {
            self.sources(*id).is_some_and(|all| all.iter().any(|source| self.joint.is_outcome(*source)))
        };
        self.phase == Phase::Outcomes || !walk::variables(e).iter().any(from_outcome)
    }

    fn changes_target(&self, call: &Call) -> bool {
        match &call.callee {
            Callee::User(id) => self.joint.program.function(*id).name.ends_with("_lp"),
            Callee::Library(_) => false,
        }
    }

    /// Whether an expression must not be computed while something in it is missing: a function in it may refuse NaN, or
    /// hide it, or an index is not known.
    pub fn needs_guard(&self, e: &Expr) -> bool {
        walk::any(e, &|e| match &e.kind {
            ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) => {
                !passes_on(name) && arguments.iter().any(|a| self.is_open(a))
            }
            ExprKind::Call(call) => call.arguments.iter().any(|a| self.is_open(a)),
            ExprKind::Index { indices, .. } => {
                indices.iter().flat_map(crust_stan::typed::Index::parts).any(|i| self.is_open(i))
            }
            ExprKind::Ternary { condition, .. } => self.is_open(condition),
            ExprKind::Binary { op, left, right } => {
                use crust_stan::ast::BinaryOp as B;
                !matches!(
                    op,
                    B::Add
                        | B::Subtract
                        | B::Multiply
                        | B::Divide
                        | B::EltMultiply
                        | B::EltDivide
                        | B::Power
                        | B::EltPower
                ) && (self.is_open(left) || self.is_open(right))
            }
            _ => false,
        })
    }

    /// The statement under the condition that all that these expressions look at is there.
    pub fn guarded(&self, expressions: &[&Expr], stmt: Stmt) -> Stmt {
        let open: Vec<&Expr> = expressions.iter().copied().filter(|e| self.is_open(e)).collect();
        if open.is_empty() {
            return stmt;
        }
        let span = stmt.span;
        let condition = self.ready(&open, span);
        Stmt { kind: StmtKind::If { branches: vec![(condition, stmt)], otherwise: None }, span }
    }

    /// Whether everything in these expressions is there. An index that may be missing is looked at first.
    pub fn ready(&self, expressions: &[&Expr], span: Span) -> Expr {
        let mut places: Vec<Expr> = Vec::new();
        for e in expressions {
            self.places(e, &mut places);
        }
        step("ready", places, Type::Int, span)
    }

    fn places(&self, e: &Expr, found: &mut Vec<Expr>) {
        match &e.kind {
            ExprKind::Variable(id) => {
                if self.may_miss(*id) && !found.contains(e) && !matches!(e.ty, Type::Tuple(_)) {
                    found.push(e.clone());
                }
            }
            ExprKind::Index { base, indices } => {
                let parts: Vec<&Expr> = indices.iter().flat_map(crust_stan::typed::Index::parts).collect();
                if parts.iter().any(|i| self.is_open(i)) {
                    // The element cannot be looked up yet: the whole must be there.
                    parts.iter().for_each(|i| self.places(i, found));
                    self.places(base, found);
                } else if self.is_open(base) && !found.contains(e) && matches!(base.kind, ExprKind::Variable(_)) {
                    found.push(e.clone());
                } else {
                    self.places(base, found);
                }
            }
            _ => walk::operands(e, &mut |e| self.places(e, found)),
        }
    }
}

/// Functions that take NaN and hand it on to just those results that depend on it.
fn passes_on(name: &str) -> bool {
    matches!(
        name,
        "abs"
            | "acos"
            | "acosh"
            | "add"
            | "append_array"
            | "append_col"
            | "append_row"
            | "asin"
            | "asinh"
            | "atan"
            | "atan2"
            | "atanh"
            | "block"
            | "cbrt"
            | "ceil"
            | "col"
            | "cols"
            | "columns_dot_product"
            | "cos"
            | "cosh"
            | "cumulative_sum"
            | "diag_matrix"
            | "diag_post_multiply"
            | "diag_pre_multiply"
            | "diagonal"
            | "dims"
            | "divide"
            | "dot_product"
            | "dot_self"
            | "elt_divide"
            | "elt_multiply"
            | "erf"
            | "erfc"
            | "exp"
            | "exp2"
            | "expm1"
            | "fabs"
            | "floor"
            | "head"
            | "hypot"
            | "inv"
            | "inv_cloglog"
            | "inv_logit"
            | "inv_sqrt"
            | "inv_square"
            | "lgamma"
            | "linspaced_vector"
            | "log"
            | "log10"
            | "log1m"
            | "log1m_exp"
            | "log1m_inv_logit"
            | "log1p"
            | "log1p_exp"
            | "log2"
            | "log_inv_logit"
            | "logit"
            | "mean"
            | "minus"
            | "multiply"
            | "negative_infinity"
            | "num_elements"
            | "ones_vector"
            | "Phi"
            | "Phi_approx"
            | "pi"
            | "positive_infinity"
            | "pow"
            | "rep_array"
            | "rep_matrix"
            | "rep_row_vector"
            | "rep_vector"
            | "reverse"
            | "round"
            | "row"
            | "rows"
            | "rows_dot_product"
            | "segment"
            | "sin"
            | "sinh"
            | "size"
            | "sqrt"
            | "square"
            | "squared_distance"
            | "sub_col"
            | "sub_row"
            | "subtract"
            | "sum"
            | "tail"
            | "tan"
            | "tanh"
            | "to_array_1d"
            | "to_matrix"
            | "to_row_vector"
            | "to_vector"
            | "transpose"
            | "zeros_vector"
    )
}
