//! Functions of Stan's library, found by name.

use crust_math::distributions::multivariate;
use crust_math::functions::elementwise::{BINARY, Binary, TERNARY, Ternary, UNARY, Unary};
use crust_math::functions::{VectorFunction, covariance, matrix, summaries};
use crust_stan::ast::BinaryOp;
use crust_stan::names::Suffix;
use crust_stan::span::Span;
use crust_stan::typed::{Call, Callee, Expr, ExprKind};
use crust_stan::types::Type;

use super::Lowering;
use crate::code::{DensityCall, HigherOrder, HigherOrderKind, Kind, Node, Varies, VectorCall};
use crate::density::{Density, Linear};
use crate::hidden_states::HiddenStates;
use crate::kernels::arithmetic::Arithmetic;
use crate::random::Generator;
use crate::solver::Solver;
use crate::structure::Structure;

pub(super) fn unary(name: &str) -> Option<&'static Unary> {
    UNARY.iter().find(|f| f.name == name)
}

/// Whether the function of one argument works number by number.
pub fn is_elementwise(name: &str) -> bool {
    unary(renamed(name)).is_some()
}

pub(super) fn binary(name: &str) -> Option<&'static Binary> {
    BINARY.iter().find(|f| f.name == name)
}

fn ternary(name: &str) -> Option<&'static Ternary> {
    TERNARY.iter().find(|f| f.name == name)
}

pub fn vector_function(name: &str) -> Option<&'static dyn VectorFunction> {
    let tables = [matrix::ALL, summaries::ALL, covariance::ALL, &[&HiddenStates]];
    tables.into_iter().flatten().copied().find(|f| f.name() == name)
}

/// Functions that have another name, or whose name says the same as an operator.
fn renamed(name: &str) -> &str {
    match name {
        "fabs" => "abs",
        "lchoose" => "binomial_coefficient_log",
        "multiply_log" => "lmultiply",
        "cov_exp_quad" => "gp_exp_quad_cov",
        other => other,
    }
}

impl Lowering<'_> {
    pub(super) fn library(&mut self, name: &str, call: &Call, span: Span) -> Kind {
        if let Some(kind) = self.higher_order(name, call) {
            return kind;
        }
        let arguments = self.list(&call.arguments);
        let types: Vec<&Type> = call.arguments.iter().map(|a| &a.ty).collect();
        if types.iter().any(|ty| ty.has_complex()) {
            return self.lacking("the engine has no complex numbers", span).kind;
        }
        let suffix = Suffix::of(name);
        // `hmm_marginal` is a log density without the name of one.
        if suffix.is_conditional() || vector_density(name).is_some() {
            return self.density(name, (arguments, &types), call.unnormalised, span);
        }
        if name.ends_with("_rng") {
            return match Generator::named(name) {
                Some(generator) => {
                    self.code.forward |= matches!(generator, Generator::Forward(_));
                    Kind::Random(generator, arguments)
                }
                None => self.lacking(format!("the engine has no `{name}`"), span).kind,
            };
        }
        self.function(name, arguments, &types, span)
    }

    /// A log density, log probability or cumulative function of arguments of these types.
    pub(super) fn density(
        &mut self,
        name: &str,
        (arguments, types): (Vec<Node>, &[&Type]),
        propto: bool,
        span: Span,
    ) -> Kind {
        match Density::named(name) {
            Some(Density::Linear(linear)) => self.predicted(linear, (arguments, types), propto, span),
            Some(density) => Kind::Density(DensityCall { density, propto, arguments }),
            None => self.lacking(format!("the engine has no `{name}`"), span).kind,
        }
    }

    /// `d_glm(y | x, α, β, …)` as what it stands for, `d(y | α + x β, …)`: linear predictors are computed where they are
    /// looked at, and squares of a normal density by a triangular matrix. One row of predictors for all observations is
    /// left to the machine, and so are functions, where nobody looks for predictors.
    fn predicted(
        &mut self,
        linear: Linear,
        (mut arguments, types): (Vec<Node>, &[&Type]),
        propto: bool,
        span: Span,
    ) -> Kind {
        let at = linear.before;
        if self.frame.is_some() || types.get(at) != Some(&&Type::Matrix) || arguments.len() < at + 3 {
            return Kind::Density(DensityCall { density: Density::Linear(linear), propto, arguments });
        }
        let any = |nodes: [&Node; 2]| {
            if nodes.iter().all(|node| matches!(node.varies, Varies::No)) { Varies::No } else { Varies::Yes }
        };
        let rest = arguments.split_off(at + 3);
        let mut parts = arguments.split_off(at).into_iter();
        let (Some(x), Some(alpha), Some(beta)) = (parts.next(), parts.next(), parts.next()) else {
            unreachable!("three arguments were split off")
        };
        let varies = any([&x, &beta]);
        let kind = self.operator(BinaryOp::Multiply, (types[at], x), (types[at + 2], beta), span);
        let product = Node { kind, span, varies };
        let varies = any([&alpha, &product]);
        let kind = self.operator(BinaryOp::Add, (types[at + 1], alpha), (&Type::Vector, product), span);
        arguments.push(Node { kind, span, varies });
        arguments.extend(rest);
        Kind::Density(DensityCall { density: Density::Scalar(linear.inner), propto, arguments })
    }

    fn function(&mut self, name: &str, mut arguments: Vec<Node>, types: &[&Type], span: Span) -> Kind {
        let name = renamed(name);
        let container = |ty: &Type| !matches!(ty, Type::Int | Type::Real);
        let boxed = |mut list: Vec<Node>| -> Box<[Node; 2]> {
            let second = list.pop();
            let first = list.pop();
            Box::new([first, second].map(|node| node.expect("two arguments")))
        };
        // Operators in words.
        let operator = match (name, arguments.len()) {
            ("add", 2) => Some(Arithmetic::Add),
            ("subtract", 2) => Some(Arithmetic::Subtract),
            ("elt_multiply", 2) => Some(Arithmetic::Multiply),
            ("elt_divide", 2) => Some(Arithmetic::Divide),
            _ => None,
        };
        if let Some(operator) = operator {
            return Kind::Arithmetic(operator, boxed(arguments));
        }
        match (name, types) {
            ("sum", [_]) => return Kind::Sum(Box::new(arguments.remove(0))),
            ("log_sum_exp", [ty]) if container(ty) => return Kind::LogSumExp(Box::new(arguments.remove(0))),
            ("dot_product", [a, b]) if *a == &Type::Vector && *b == &Type::Vector => {
                let mut both = boxed(arguments);
                let [first, _] = &mut *both;
                let inner = std::mem::replace(first, Node { kind: Kind::Target, span, varies: Varies::No });
                let varies = inner.varies;
                *first = Node { kind: Kind::Transpose(Box::new(inner)), span, varies };
                return Kind::Product(both);
            }
            ("dot_product", [a, b]) if *a == &Type::RowVector && *b == &Type::Vector => {
                return Kind::Product(boxed(arguments));
            }
            ("dot_product", [a, b]) if *a == &Type::RowVector && *b == &Type::RowVector => {
                let [a, b] = *boxed(arguments);
                let varies = b.varies;
                let b = Node { kind: Kind::Transpose(Box::new(b)), span, varies };
                return Kind::Product(Box::new([a, b]));
            }
            ("dot_self", [_]) => return Kind::DotSelf(Box::new(arguments.remove(0))),
            ("mean", [_]) => return Kind::Mean(Box::new(arguments.remove(0))),
            ("squared_distance", [a, b]) if a == b => {
                let varies = arguments[0].varies;
                let kind = Kind::Arithmetic(Arithmetic::Subtract, boxed(arguments));
                return Kind::DotSelf(Box::new(Node { kind, span, varies }));
            }
            ("pow", [_, _]) => {
                let [a, b] = *boxed(arguments);
                return self.power(a, b, span);
            }
            ("transpose", [_]) => return Kind::Transpose(Box::new(arguments.remove(0))),
            ("minus", [_]) => return Kind::Negate(Box::new(arguments.remove(0))),
            ("plus", [_]) => return arguments.remove(0).kind,
            ("multiply" | "divide", [a, b]) => {
                let op = if name == "multiply" { BinaryOp::Multiply } else { BinaryOp::Divide };
                let [x, y] = *boxed(arguments);
                return self.operator(op, (a, x), (b, y), span);
            }
            ("min", [a, b]) if !container(a) && !container(b) => {
                return self.binary_named("fmin", boxed(arguments), span);
            }
            ("max", [a, b]) if !container(a) && !container(b) => {
                return self.binary_named("fmax", boxed(arguments), span);
            }
            ("eigendecompose_sym" | "qr" | "qr_thin", [_]) => return self.tuple_of(name, 2, arguments, span),
            ("svd" | "csr_extract", [_]) => return self.tuple_of(name, 3, arguments, span),
            ("modulus", [_, _]) => return Kind::Modulo(boxed(arguments)),
            _ => {}
        }
        if let Some(structure) = Structure::named(name, arguments.len()) {
            return Kind::Structure(structure, arguments);
        }
        self.table_function(name, arguments, types, span)
    }

    fn table_function(&mut self, name: &str, mut arguments: Vec<Node>, types: &[&Type], span: Span) -> Kind {
        let reducing = vector_function(name);
        match arguments.len() {
            1 if unary(name).is_some() => match unary(name) {
                Some(function) => Kind::Unary(function, Box::new(arguments.remove(0))),
                None => unreachable!("it was there"),
            },
            // `log_mix` of two containers, `distance` and the like are not element by element.
            2 if binary(name).is_some() => match (binary(name), <[Node; 2]>::try_from(arguments)) {
                (Some(function), Ok(arguments)) => Kind::Binary(function, Box::new(arguments)),
                _ => unreachable!("there are two"),
            },
            3 if ternary(name).is_some() && !(reducing.is_some() && types.iter().any(|t| !t.is_scalar())) => {
                match (ternary(name), <[Node; 3]>::try_from(arguments)) {
                    (Some(function), Ok(arguments)) => Kind::TernaryFunction(function, Box::new(arguments)),
                    _ => unreachable!("there are three"),
                }
            }
            _ => match reducing {
                Some(function) => Kind::Vector(VectorCall(function), arguments),
                None => self.lacking(format!("the engine has no `{name}`"), span).kind,
            },
        }
    }

    fn binary_named(&mut self, name: &str, arguments: Box<[Node; 2]>, span: Span) -> Kind {
        match binary(name) {
            Some(function) => Kind::Binary(function, arguments),
            None => self.lacking(format!("the engine has no `{name}`"), span).kind,
        }
    }

    fn tuple_of(&mut self, name: &str, parts: usize, arguments: Vec<Node>, span: Span) -> Kind {
        let functions: Option<Vec<VectorCall>> =
            (1..=parts).map(|part| vector_function(&format!("{name}.{part}")).map(VectorCall)).collect();
        match functions {
            Some(functions) => Kind::VectorTuple(functions, arguments),
            None => self.lacking(format!("the engine has no `{name}`"), span).kind,
        }
    }

    /// Functions that take a function.
    fn higher_order(&mut self, name: &str, call: &Call) -> Option<Kind> {
        let first = call.arguments.first()?;
        let ExprKind::FunctionName { callee, unnormalised } = &first.kind else { return None };
        let kind = match name {
            "reduce_sum" | "reduce_sum_static" => HigherOrderKind::ReduceSum,
            "map_rect" => HigherOrderKind::MapRect,
            _ if let Some(solver) = Solver::named(name, call.arguments.len() - 1) => HigherOrderKind::Solve(solver),
            _ => return Some(self.lacking(format!("the engine has no `{name}`"), first.span).kind),
        };
        let Callee::User(function) = callee else {
            let message = format!("the engine cannot pass a function of the library to `{name}`");
            return Some(self.lacking(message, first.span).kind);
        };
        let rest: Vec<&Expr> = call.arguments.iter().skip(1).collect();
        let arguments = rest.into_iter().map(|e| self.expression(e)).collect();
        let propto = *unnormalised;
        self.called.insert(function.0);
        Some(Kind::HigherOrder(Box::new(HigherOrder { kind, function: function.0, propto, arguments })))
    }
}

/// The log density of vectors with this name, suffix included.
pub fn vector_density(name: &str) -> Option<&'static dyn crust_math::functions::VectorDensity> {
    multivariate::ALL.iter().copied().find(|d| d.name() == name)
}
