//! Expressions.

#![allow(clippy::match_same_arms, reason = "one line for each kind reads better")]

use crust_stan::ast::{BinaryOp, UnaryOp};
use crust_stan::span::Span;
use crust_stan::typed::{self, Call, Callee, Expr, ExprKind};
use crust_stan::types::Type;

use super::{Lowering, analysis};
use crate::code::{Comparison, Index, Kind, Node, Varies, VectorCall};
use crate::kernels::arithmetic::Arithmetic;

impl Lowering<'_> {
    pub(super) fn expression(&mut self, expr: &Expr) -> Node {
        let trivial = matches!(expr.kind, ExprKind::Variable(_) | ExprKind::Int(_) | ExprKind::Real(_));
        if trivial { self.plain(expr) } else { self.set_apart(expr) }
    }

    /// A condition: one that data decide is known by that, even if it is nothing but a variable.
    pub(super) fn condition(&mut self, expr: &Expr) -> Node {
        if let ExprKind::Variable(_) = expr.kind { self.set_apart(expr) } else { self.expression(expr) }
    }

    /// An expression that is computed once if it depends on data only.
    fn set_apart(&mut self, expr: &Expr) -> Node {
        if !self.hoist || self.frame.is_some() || !analysis::is_constant(self.program, expr) {
            return self.plain(expr);
        }
        self.hoist = false;
        let inner = self.plain(expr);
        self.hoist = true;
        let index = u32::try_from(self.code.hoisted).expect("few expressions");
        self.code.hoisted += 1;
        let (span, varies) = (inner.span, inner.varies);
        Node { kind: Kind::Hoisted(index, Box::new(inner)), span, varies }
    }

    fn plain(&mut self, expr: &Expr) -> Node {
        let span = expr.span;
        let kind = match &expr.kind {
            #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
            ExprKind::Int(n) => return self.literal(*n as f64, span),
            ExprKind::Real(x) => return self.literal(*x, span),
            ExprKind::Imaginary(_) => return self.lacking("the engine has no complex numbers", span),
            ExprKind::Variable(id) => {
                let mutable = self.mutable.contains(id) && (self.data_only || !self.is_data(*id));
                Kind::Variable { slot: self.slot(*id), mutable }
            }
            ExprKind::Call(call) => return self.call(call, expr),
            ExprKind::FunctionName { .. } | ExprKind::Error => {
                return self.lacking("a function stands here as a value", span);
            }
            ExprKind::Target => Kind::Target,
            ExprKind::Index { base, indices } => {
                let base = Box::new(self.expression(base));
                Kind::Index { base, indices: self.indices(indices) }
            }
            ExprKind::TuplePart { base, part } => {
                Kind::Part { base: Box::new(self.expression(base)), part: *part as usize - 1 }
            }
            ExprKind::Unary { op, operand } => {
                let node = Box::new(self.expression(operand));
                match op {
                    UnaryOp::Plus => return *node,
                    UnaryOp::Minus if expr.ty.is_int_like() => self.whole(Kind::Negate(node), span),
                    UnaryOp::Minus => Kind::Negate(node),
                    UnaryOp::Not => Kind::Not(node),
                }
            }
            ExprKind::Transpose(operand) => Kind::Transpose(Box::new(self.expression(operand))),
            ExprKind::Binary { op, left, right } => return self.binary(*op, left, right, expr),
            ExprKind::Ternary { condition, yes, no } => {
                Kind::Ternary(Box::new([condition, yes, no].map(|e| self.expression(e))))
            }
            ExprKind::Array(list) => Kind::Array(self.list(list)),
            ExprKind::RowVector(list) if expr.ty == Type::Matrix => Kind::Matrix(self.list(list)),
            ExprKind::RowVector(list) => Kind::RowVector(self.list(list)),
            ExprKind::Tuple(list) => Kind::Tuple(self.list(list)),
        };
        if expr.ty.has_complex() {
            return self.lacking("the engine has no complex numbers", span);
        }
        self.node(kind, expr)
    }

    /// Gives a kind the place of an expression, and Stan's opinion on whether it varies.
    pub(super) fn node(&self, kind: Kind, expr: &Expr) -> Node {
        let varies = if expr.ty.is_int_like() { Varies::No } else { self.varies(expr) };
        Node { kind, span: expr.span, varies }
    }

    pub(super) fn list(&mut self, list: &[Expr]) -> Vec<Node> {
        list.iter().map(|e| self.expression(e)).collect()
    }

    pub(super) fn indices(&mut self, indices: &[typed::Index]) -> Vec<Index> {
        let index = |this: &mut Self, index: &typed::Index| match index {
            typed::Index::All => Index::All,
            typed::Index::One(e) if e.ty == Type::Int => Index::Single(this.expression(e)),
            typed::Index::One(e) => Index::Several(this.expression(e)),
            typed::Index::From(e) => Index::From(this.expression(e)),
            typed::Index::UpTo(e) => Index::UpTo(this.expression(e)),
            typed::Index::Between(a, b) => Index::Between(this.expression(a), this.expression(b)),
        };
        indices.iter().map(|i| index(self, i)).collect()
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, expr: &Expr) -> Node {
        let (a, b) = (self.expression(left), self.expression(right));
        let kind = self.operator(op, (&left.ty, a), (&right.ty, b), expr.span);
        let kind = if expr.ty.is_int_like() { self.whole(kind, expr.span) } else { kind };
        self.node(kind, expr)
    }

    /// An integer that may be too large for Stan's `int`: data are checked, elsewhere nobody looks.
    pub(super) fn whole(&self, kind: Kind, span: Span) -> Kind {
        let is_truth = matches!(kind, Kind::And(_) | Kind::Or(_) | Kind::Compare(..));
        if is_truth || !self.data_only {
            return kind;
        }
        Kind::Whole(Box::new(Node { kind, span, varies: Varies::No }))
    }

    /// The operator for operands of these types.
    pub(super) fn operator(
        &mut self,
        op: BinaryOp,
        (left, a): (&Type, Node),
        (right, b): (&Type, Node),
        span: Span,
    ) -> Kind {
        let matrix_like = |ty: &Type| matches!(ty, Type::Vector | Type::RowVector | Type::Matrix);
        let comparison = |c: Comparison, a, b| Kind::Compare(c, Box::new([a, b]));
        let arithmetic = |op: Arithmetic, a, b| Kind::Arithmetic(op, Box::new([a, b]));
        match op {
            BinaryOp::Or => Kind::Or(Box::new([a, b])),
            BinaryOp::And => Kind::And(Box::new([a, b])),
            BinaryOp::Equal => comparison(Comparison::Equal, a, b),
            BinaryOp::NotEqual => comparison(Comparison::NotEqual, a, b),
            BinaryOp::Less => comparison(Comparison::Less, a, b),
            BinaryOp::LessEqual => comparison(Comparison::LessEqual, a, b),
            BinaryOp::Greater => comparison(Comparison::Greater, a, b),
            BinaryOp::GreaterEqual => comparison(Comparison::GreaterEqual, a, b),
            BinaryOp::Add => sum(left, a, right, b),
            BinaryOp::Subtract => arithmetic(Arithmetic::Subtract, a, b),
            BinaryOp::EltMultiply => arithmetic(Arithmetic::Multiply, a, b),
            BinaryOp::EltDivide => arithmetic(Arithmetic::Divide, a, b),
            BinaryOp::Multiply if matrix_like(left) && matrix_like(right) => Kind::Product(Box::new([a, b])),
            BinaryOp::Multiply => arithmetic(Arithmetic::Multiply, a, b),
            BinaryOp::Divide if *left == Type::Int && *right == Type::Int => Kind::IntDivide(Box::new([a, b])),
            BinaryOp::Divide if *right == Type::Matrix => self.vector_call("mdivide_right", vec![a, b], span),
            BinaryOp::Divide => arithmetic(Arithmetic::Divide, a, b),
            BinaryOp::IntDivide => Kind::IntDivide(Box::new([a, b])),
            BinaryOp::Modulo => Kind::Modulo(Box::new([a, b])),
            BinaryOp::LeftDivide => self.vector_call("mdivide_left", vec![a, b], span),
            BinaryOp::Power | BinaryOp::EltPower => self.power(a, b, span),
        }
    }

    /// A square is a product; other powers are what they are.
    pub(super) fn power(&mut self, a: Node, b: Node, span: Span) -> Kind {
        if let Kind::Literal(index) = b.kind {
            let exponent = self.code.literals[index as usize];
            let names = [(2.0_f64, "square"), (0.5, "sqrt"), (-1.0, "inv")];
            let name = names.into_iter().find(|(x, _)| x.to_bits() == exponent.to_bits()).map(|(_, name)| name);
            if let Some(unary) = name.and_then(super::library::unary) {
                return Kind::Unary(unary, Box::new(a));
            }
        }
        match super::library::binary("pow") {
            Some(pow) => Kind::Binary(pow, Box::new([a, b])),
            None => self.lacking("the engine has no powers", span).kind,
        }
    }

    pub(super) fn vector_call(&mut self, name: &str, arguments: Vec<Node>, span: Span) -> Kind {
        match super::library::vector_function(name) {
            Some(function) => Kind::Vector(VectorCall(function), arguments),
            None => self.lacking(format!("the engine has no `{name}`"), span).kind,
        }
    }

    /// A call of a function of the program, and the place to name if something is wrong with it.
    pub(super) fn user(&mut self, function: u32, arguments: Vec<Node>, propto: bool, span: Span) -> (Kind, Span) {
        self.called.insert(function);
        if self.frame.is_none()
            && !self.data_only
            && let Some(known) = self.code.functions.get(function as usize)
            && let Some(value) = super::unfold::unfolded(known, &arguments, propto)
        {
            return (value.kind, value.span);
        }
        (Kind::User { function, arguments, propto }, span)
    }

    fn call(&mut self, call: &Call, expr: &Expr) -> Node {
        match &call.callee {
            Callee::User(id) => {
                let arguments = self.list(&call.arguments);
                // The statements of an `_lp` function drop constants where the caller does.
                let propto = call.unnormalised || self.program.function(*id).name.ends_with("_lp");
                let (kind, span) = self.user(id.0, arguments, propto, expr.span);
                Node { span, ..self.node(kind, expr) }
            }
            Callee::Library(name) => {
                let kind = self.library(name, call, expr.span);
                let kind = if expr.ty.is_int_like() { self.whole(kind, expr.span) } else { kind };
                self.node(kind, expr)
            }
        }
    }
}

/// `a + b`; a number that is added to a product of a matrix and a vector joins it.
fn sum(left: &Type, a: Node, right: &Type, b: Node) -> Kind {
    let join = |product: Node, number: Node| match product.kind {
        Kind::Product(pair) => {
            let [x, y] = *pair;
            Kind::Affine(Box::new([x, y, number]))
        }
        _ => unreachable!("it is a product"),
    };
    if matches!(a.kind, Kind::Product(_)) && *left == Type::Vector && right.is_scalar() {
        join(a, b)
    } else if matches!(b.kind, Kind::Product(_)) && *right == Type::Vector && left.is_scalar() {
        join(b, a)
    } else {
        Kind::Arithmetic(Arithmetic::Add, Box::new([a, b]))
    }
}
