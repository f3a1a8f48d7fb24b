//! Random trees, as a pass over the tree might make them: with no parentheses but those that happen to be there.

use super::{format, read_right};
use crate::ast::{
    AssignOp, BaseType, BinaryOp, Block, Branch, Call, Constraint, Declaration, Declarator, DeclaredKind, DeclaredType,
    Expr, ExprKind, Ident, Index, LoopOver, Program, Stmt, StmtKind, Tilde, UnaryOp,
};
use crate::parser::{MAX_CHAIN, MAX_DEPTH};
use crate::source::Source;
use crate::span::Span;
use proptest::prelude::*;

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::default() }
}

fn ident(name: &str) -> Ident {
    Ident { name: name.into(), span: Span::default() }
}

fn variable(name: &str) -> Expr {
    expr(ExprKind::Variable(name.into()))
}

const OPERATORS: [BinaryOp; 19] = [
    BinaryOp::Or,
    BinaryOp::And,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::IntDivide,
    BinaryOp::Modulo,
    BinaryOp::LeftDivide,
    BinaryOp::EltMultiply,
    BinaryOp::EltDivide,
    BinaryOp::Power,
    BinaryOp::EltPower,
];

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) })
}

fn leaf() -> impl Strategy<Value = Expr> {
    let kinds = [
        ExprKind::Int("1".into()),
        ExprKind::Int("1_000".into()),
        ExprKind::Real(".5".into()),
        ExprKind::Real("1.".into()),
        ExprKind::Real("1e-3".into()),
        ExprKind::Imaginary("2.5".into()),
        ExprKind::Variable("a".into()),
        ExprKind::Variable("a_name_that_is_much_longer".into()),
        ExprKind::Variable("T".into()),
        ExprKind::Target,
    ];
    prop::sample::select(kinds.to_vec()).prop_map(expr)
}

fn index(inner: impl Strategy<Value = Expr> + Clone) -> impl Strategy<Value = Index> {
    prop_oneof![
        Just(Index::All(Span::default())),
        inner.clone().prop_map(Index::One),
        inner.clone().prop_map(Index::From),
        inner.clone().prop_map(Index::UpTo),
        (inner.clone(), inner).prop_map(|(a, b)| Index::Between(a, b)),
    ]
}

fn expression() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(6, 60, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let several = |from: usize| prop::collection::vec(inner.clone(), from..4);
        let unary = prop::sample::select(vec![UnaryOp::Plus, UnaryOp::Minus, UnaryOp::Not]);
        let kind = prop_oneof![
            6 => (prop::sample::select(OPERATORS.to_vec()), boxed.clone(), boxed.clone())
                .prop_map(|(op, left, right)| ExprKind::Binary { op, left, right }),
            3 => (unary, boxed.clone()).prop_map(|(op, operand)| ExprKind::Unary { op, operand }),
            2 => (boxed.clone(), boxed.clone(), boxed.clone())
                .prop_map(|(condition, yes, no)| ExprKind::Ternary { condition, yes, no }),
            2 => boxed.clone().prop_map(ExprKind::Transpose),
            2 => (boxed.clone(), prop::collection::vec(index(inner.clone()), 1..3))
                .prop_map(|(base, indices)| ExprKind::Index { base, indices }),
            1 => (boxed.clone(), 1_u32..20).prop_map(|(base, part)| ExprKind::TuplePart { base, part }),
            1 => boxed.prop_map(ExprKind::Paren),
            1 => (several(0), any::<bool>()).prop_map(|(arguments, bar)| {
                ExprKind::Call(Call { function: ident("fun"), bar: bar && !arguments.is_empty(), arguments })
            }),
            1 => several(1).prop_map(ExprKind::Array),
            1 => several(0).prop_map(ExprKind::RowVector),
            1 => several(1).prop_map(ExprKind::Tuple),
        ];
        kind.prop_map(expr)
    })
}

/// The expression without its parentheses.
fn bare(e: Expr) -> Expr {
    let boxed = |e: Box<Expr>| Box::new(bare(*e));
    let all = |items: Vec<Expr>| items.into_iter().map(bare).collect::<Vec<_>>();
    expr(match e.kind {
        ExprKind::Paren(inner) => return bare(*inner),
        ExprKind::Binary { op, left, right } => ExprKind::Binary { op, left: boxed(left), right: boxed(right) },
        ExprKind::Unary { op, operand } => ExprKind::Unary { op, operand: boxed(operand) },
        ExprKind::Ternary { condition, yes, no } => {
            ExprKind::Ternary { condition: boxed(condition), yes: boxed(yes), no: boxed(no) }
        }
        ExprKind::Transpose(inner) => ExprKind::Transpose(boxed(inner)),
        ExprKind::TuplePart { base, part } => ExprKind::TuplePart { base: boxed(base), part },
        ExprKind::Index { base, indices } => {
            let indices = indices.into_iter().map(|i| match i {
                Index::All(span) => Index::All(span),
                Index::One(e) => Index::One(bare(e)),
                Index::From(e) => Index::From(bare(e)),
                Index::UpTo(e) => Index::UpTo(bare(e)),
                Index::Between(a, b) => Index::Between(bare(a), bare(b)),
            });
            ExprKind::Index { base: boxed(base), indices: indices.collect() }
        }
        ExprKind::Call(call) => ExprKind::Call(Call { arguments: all(call.arguments), ..call }),
        ExprKind::Array(items) => ExprKind::Array(all(items)),
        ExprKind::RowVector(items) => ExprKind::RowVector(all(items)),
        ExprKind::Tuple(items) => ExprKind::Tuple(all(items)),
        other => other,
    })
}

fn model(statements: Vec<Stmt>) -> Program {
    Program { model: Some(Block { statements, span: Span::default() }), ..Program::default() }
}

/// Prints a tree that has no source, reads it back and prints that; the two texts must agree.
fn round_trip(program: &Program) -> Program {
    let (nothing, _) = Source::from_text("", "");
    let once = format(program, &[], &nothing);
    let (source, parsed) = read_right(&once);
    assert_eq!(once, format(&parsed.program, &parsed.comments, &source));
    parsed.program
}

fn statements_back(statements: Vec<Stmt>) -> Vec<Stmt> {
    round_trip(&model(statements)).model.expect("the program has a model").statements
}

/// Every place where what stands around an expression matters.
fn places(e: &Expr) -> Vec<Stmt> {
    let constraint = Constraint { lower: Some(e.clone()), upper: Some(e.clone()), ..Constraint::default() };
    let kind = DeclaredKind::Plain { base: BaseType::Vector, constraint, sizes: vec![e.clone()] };
    let ty = DeclaredType { kind, span: Span::default() };
    let declarators = vec![Declarator { name: ident("x"), initial: Some(e.clone()) }];
    let skip = || Box::new(stmt(StmtKind::Skip));
    let tilde =
        Tilde { variate: e.clone(), distribution: ident("normal"), arguments: vec![e.clone()], truncation: None };
    vec![
        stmt(StmtKind::Declare(Declaration { ty, declarators })),
        stmt(StmtKind::Assign { target: variable("x"), op: AssignOp::Set, value: e.clone() }),
        stmt(StmtKind::For { variable: ident("i"), over: LoopOver::Each(e.clone()), body: skip() }),
        stmt(StmtKind::For {
            variable: ident("i"),
            over: LoopOver::Range { lower: e.clone(), upper: e.clone() },
            body: skip(),
        }),
        stmt(StmtKind::Tilde(tilde)),
    ]
}

fn bare_statement(s: Stmt) -> Stmt {
    stmt(match s.kind {
        StmtKind::Declare(Declaration { mut ty, declarators }) => {
            if let DeclaredKind::Plain { constraint, sizes, .. } = &mut ty.kind {
                constraint.lower = constraint.lower.take().map(bare);
                constraint.upper = constraint.upper.take().map(bare);
                *sizes = std::mem::take(sizes).into_iter().map(bare).collect();
            }
            let bare_declarator = |d: Declarator| Declarator { name: d.name, initial: d.initial.map(bare) };
            StmtKind::Declare(Declaration { ty, declarators: declarators.into_iter().map(bare_declarator).collect() })
        }
        StmtKind::Assign { target, op, value } => StmtKind::Assign { target, op, value: bare(value) },
        StmtKind::For { variable, over, body } => {
            let over = match over {
                LoopOver::Each(e) => LoopOver::Each(bare(e)),
                LoopOver::Range { lower, upper } => LoopOver::Range { lower: bare(lower), upper: bare(upper) },
            };
            StmtKind::For { variable, over, body }
        }
        StmtKind::Tilde(Tilde { variate, distribution, arguments, truncation }) => StmtKind::Tilde(Tilde {
            variate: bare(variate),
            distribution,
            arguments: arguments.into_iter().map(bare).collect(),
            truncation,
        }),
        other => other,
    })
}

fn nested_statement() -> impl Strategy<Value = Stmt> {
    let leaf = prop::sample::select(vec![StmtKind::Skip, StmtKind::Break]).prop_map(stmt);
    leaf.prop_recursive(5, 30, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let branch = inner.clone().prop_map(|body| Branch { condition: variable("a"), body });
        let kind = prop_oneof![
            3 => (prop::collection::vec(branch, 1..3), prop::option::of(boxed.clone()))
                .prop_map(|(branches, otherwise)| StmtKind::If { branches, otherwise }),
            1 => boxed.clone().prop_map(|body| StmtKind::While { condition: variable("a"), body }),
            1 => boxed.prop_map(|body| StmtKind::For {
                variable: ident("i"),
                over: LoopOver::Each(variable("a")),
                body,
            }),
            1 => prop::collection::vec(inner, 0..3).prop_map(StmtKind::Block),
        ];
        kind.prop_map(stmt)
    })
}

/// The statement without the braces around single statements, and with `else { if … }` as `else if …`.
fn unbraced(s: Stmt) -> Stmt {
    let boxed = |s: Box<Stmt>| Box::new(unbraced(*s));
    stmt(match s.kind {
        StmtKind::Block(mut statements) if statements.len() == 1 => return unbraced(statements.remove(0)),
        StmtKind::Block(statements) => StmtKind::Block(statements.into_iter().map(unbraced).collect()),
        StmtKind::While { condition, body } => StmtKind::While { condition, body: boxed(body) },
        StmtKind::For { variable, over, body } => StmtKind::For { variable, over, body: boxed(body) },
        StmtKind::If { branches, otherwise } => {
            let unbraced_branch = |b: Branch| Branch { condition: b.condition, body: unbraced(b.body) };
            let mut branches: Vec<_> = branches.into_iter().map(unbraced_branch).collect();
            match otherwise.map(boxed) {
                Some(last) if matches!(last.kind, StmtKind::If { .. }) => {
                    let StmtKind::If { branches: more, otherwise } = last.kind else { unreachable!() };
                    branches.extend(more);
                    StmtKind::If { branches, otherwise }
                }
                otherwise => StmtKind::If { branches, otherwise },
            }
        }
        other => other,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn expressions_get_the_parentheses_they_need(e in expression()) {
        let back = statements_back(places(&e));
        let expected: Vec<_> = places(&e).into_iter().map(bare_statement).collect();
        prop_assert_eq!(expected, back.into_iter().map(bare_statement).collect::<Vec<_>>());
    }

    #[test]
    fn statements_get_the_braces_they_need(s in nested_statement()) {
        let back = statements_back(vec![s.clone()]);
        prop_assert_eq!(vec![unbraced(s)], back.into_iter().map(unbraced).collect::<Vec<_>>());
    }
}

/// Long chains must neither recurse nor take more than linear time.
#[test]
fn chains_may_be_long() {
    for op in [BinaryOp::Add, BinaryOp::And, BinaryOp::LeftDivide] {
        let chain = (1..MAX_CHAIN).fold(variable("a"), |left, _| binary(op, left, variable("b")));
        let value = StmtKind::Assign { target: variable("x"), op: AssignOp::Set, value: chain };
        let program = model(vec![stmt(value)]);
        assert!(round_trip(&program) == program);
    }
}

/// The deepest programs that the parser takes, with long chains of indices at each level.
#[test]
fn nesting_may_be_deep() {
    let around = |open: &str, inside: &str, close: &str| {
        let depth = MAX_DEPTH - 10;
        format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
    };
    let indices = "[1]".repeat(90);
    let expressions = [
        around("(", "1", ")"),
        around("f(", "1", ")"),
        around("{", "1", "}"),
        around("-", "1", ""),
        around("a ? b : ", "1", ""),
        around("a ^ ", "1", ""),
        around(&format!("a{indices}["), "1", "]"),
    ];
    let statements = [around("{", "", "}"), around("if (a) ", "x = 1;", ""), around("for (i in a) ", "{}", "")];
    for text in expressions.map(|e| format!("x = {e};")).iter().chain(&statements) {
        let program = read_right(&format!("model {{ {text} }}")).1.program;
        assert!(round_trip(&program) == program);
    }
}

#[test]
fn chains_that_need_parentheses_everywhere_may_be_long() {
    let chain = (0..MAX_CHAIN).fold(variable("a"), |left, i| {
        let op = if i % 2 == 0 { BinaryOp::Add } else { BinaryOp::Multiply };
        binary(op, left, variable("b"))
    });
    let value = StmtKind::Assign { target: variable("x"), op: AssignOp::Set, value: chain };
    let (nothing, _) = Source::from_text("", "");
    let out = format(&model(vec![stmt(value)]), &[], &nothing);
    assert_eq!(out.matches('(').count(), MAX_CHAIN / 2);
}
