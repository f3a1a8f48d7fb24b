//! Expressions, with parentheses where the tree needs them, and bracketed lists.

use super::Printer;
use super::comments::Mark;
use super::layout::Shape;
use crate::ast::{BinaryOp, Call, Expr, ExprKind, Index, PREFIX_PRECEDENCE, UnaryOp};
use crate::span::Span;

/// How tightly an expression must bind to need no parentheses. Any expression does where nothing stands beside it.
pub(super) const ANY: u8 = 0;
/// In `<lower=…>`: what binds less tightly than `+` has or may have a `>` in it.
pub(super) const IN_CONSTRAINT: u8 = 5;
/// Names, literals, calls, and what has an index or the like behind it.
const POSTFIX: u8 = 11;
/// The same without a transpose, behind which no index may stand.
const INDEXED: u8 = 12;
/// Nothing binds as tightly.
pub(super) const ALONE: u8 = u8::MAX;

fn precedence(expression: &Expr) -> u8 {
    match &expression.kind {
        ExprKind::Ternary { .. } => ANY,
        ExprKind::Binary { op, .. } => op.precedence(),
        ExprKind::Unary { .. } => PREFIX_PRECEDENCE,
        ExprKind::Transpose(_) => POSTFIX,
        _ => INDEXED,
    }
}

/// The brackets around a list, and where it ends.
pub(super) struct List {
    open: &'static str,
    close: &'static str,
    shape: Shape,
    /// What stands behind the first item, and behind an only one.
    first: &'static str,
    only: &'static str,
    /// Where the closing bracket stands in the source; 0 if that is unknown.
    close_at: usize,
}

impl List {
    fn new(open: &'static str, close: &'static str, close_at: usize) -> Self {
        Self { open, close, shape: Shape::List, first: ",", only: "", close_at }
    }

    pub fn round(close_at: usize) -> Self {
        Self::new("(", ")", close_at)
    }

    /// A tuple of one part has a comma behind it.
    pub fn tuple(close_at: usize) -> Self {
        Self { only: ",", ..Self::round(close_at) }
    }

    pub fn square(close_at: usize) -> Self {
        Self::new("[", "]", close_at)
    }

    pub fn angle(close_at: usize) -> Self {
        Self::new("<", ">", close_at)
    }

    pub fn bare() -> Self {
        Self { shape: Shape::Align, ..Self::new("", "", 0) }
    }
}

/// What stands behind the left end of an expression, from the inside out.
#[derive(Clone, Copy)]
enum Rest<'a> {
    Parenthesis,
    GroupEnd,
    Operand { op: BinaryOp, left: Span, right: &'a Expr },
    Choice { condition: Span, yes: &'a Expr, no: &'a Expr },
    Indices { indices: &'a [Index], span: Span },
    Part { part: u32, of_integer: bool },
    Transpose,
}

impl<'a> Printer<'a> {
    /// Prints an expression, in parentheses if it binds less tightly than `least`.
    ///
    /// Goes down to its left end in a loop, since a chain of operators is as deep a tree as it is long, and only chains
    /// may be long.
    pub(super) fn expression(&mut self, expression: &'a Expr, least: u8) {
        let mut rest = Vec::new();
        let (mut here, mut least) = (expression, least);
        // The precedence of the operators whose group is open here.
        let mut group = None;
        loop {
            if precedence(here) < least {
                self.text("(");
                rest.push(Rest::Parenthesis);
                group = None;
            }
            let (left, needed, next) = match &here.kind {
                ExprKind::Binary { op, left, right } => {
                    let precedence = Some(op.precedence());
                    if group != precedence {
                        self.open(Shape::Align);
                        rest.push(Rest::GroupEnd);
                    }
                    group = precedence;
                    let needed = op.precedence() + u8::from(op.groups_right());
                    (left, needed, Rest::Operand { op: *op, left: left.span, right })
                }
                ExprKind::Ternary { condition, yes, no } => {
                    self.open(Shape::Align);
                    rest.push(Rest::GroupEnd);
                    (condition, ANY + 1, Rest::Choice { condition: condition.span, yes, no })
                }
                ExprKind::Index { base, indices } => (base, INDEXED, Rest::Indices { indices, span: here.span }),
                ExprKind::TuplePart { base, part } => {
                    let of_integer = matches!(base.kind, ExprKind::Int(_));
                    (base, POSTFIX, Rest::Part { part: *part, of_integer })
                }
                ExprKind::Transpose(base) => (base, POSTFIX, Rest::Transpose),
                _ => break,
            };
            if !matches!(next, Rest::Operand { .. }) {
                group = None;
            }
            rest.push(next);
            (here, least) = (left, needed);
        }
        self.primary(here);
        while let Some(next) = rest.pop() {
            self.rest(next);
        }
    }

    fn rest(&mut self, rest: Rest<'a>) {
        match rest {
            Rest::Parenthesis => self.text(")"),
            Rest::GroupEnd => self.close(),
            Rest::Operand { op, left, right } => {
                self.separator(Mark::Before(op.symbol()), Some(left), Some(right.span));
                // A prefix operator on the right is never taken for something else.
                let prefixed = matches!(right.kind, ExprKind::Unary { .. });
                let needed = op.precedence() + u8::from(!op.groups_right());
                self.expression(right, if prefixed { ANY } else { needed });
            }
            Rest::Choice { condition, yes, no } => self.choice(condition, yes, no),
            Rest::Indices { indices, span } => {
                self.list(&List::square(last(span)), indices, |i| Some(i.span()), Self::index);
            }
            // `1.2` would be a number.
            Rest::Part { part, of_integer } => self.text(format!("{}.{part}", if of_integer { " " } else { "" })),
            Rest::Transpose => self.text("'"),
        }
    }

    /// `? yes : no`, and if `no` is a choice too, goes on with it in the same group.
    fn choice(&mut self, condition: Span, yes: &'a Expr, no: &'a Expr) {
        let (mut condition, mut yes, mut no) = (condition, yes, no);
        loop {
            self.separator(Mark::Before("?"), Some(condition), Some(yes.span));
            self.expression(yes, ANY);
            self.separator(Mark::Before(":"), Some(yes.span), Some(no.span));
            let ExprKind::Ternary { condition: next, yes: next_yes, no: next_no } = &no.kind else {
                self.expression(no, ANY);
                return;
            };
            self.expression(next, ANY + 1);
            (condition, yes, no) = (next.span, next_yes, next_no);
        }
    }

    /// An expression that has nothing to its left.
    fn primary(&mut self, expression: &'a Expr) {
        let span = expression.span;
        match &expression.kind {
            ExprKind::Int(text) | ExprKind::Real(text) | ExprKind::Variable(text) => self.text(&**text),
            ExprKind::Imaginary(text) => self.text(format!("{text}i")),
            ExprKind::Target => self.text("target()"),
            ExprKind::Call(call) => self.call(call, last(span)),
            ExprKind::Unary { op, operand } => self.prefix(*op, operand),
            ExprKind::Array(items) => self.expressions(&List::new("{", "}", last(span)), items),
            ExprKind::RowVector(items) => self.expressions(&List::square(last(span)), items),
            ExprKind::Tuple(items) => self.expressions(&List::tuple(last(span)), items),
            ExprKind::Paren(inner) => {
                self.text("(");
                self.expression(inner, ANY);
                self.comments_before_close(last(span));
                self.text(")");
            }
            _ => self.raw(span),
        }
    }

    fn prefix(&mut self, op: UnaryOp, operand: &'a Expr) {
        self.text(op.symbol());
        self.expression(operand, PREFIX_PRECEDENCE);
    }

    /// What no parser understood, as it stands.
    pub(super) fn raw(&mut self, span: Span) {
        self.comments.skip(span.range().end);
        self.text(self.source.slice(span).trim());
    }

    /// A call whose closing parenthesis stands at `close_at`.
    pub(super) fn call(&mut self, call: &'a Call, close_at: usize) {
        self.text(&*call.function.name);
        let list = List::round(close_at);
        let list = if call.bar { List { first: " |", only: " | ", ..list } } else { list };
        self.expressions(&list, &call.arguments);
    }

    pub(super) fn expressions(&mut self, list: &List, items: impl IntoIterator<Item = &'a Expr>) {
        self.list(list, items, |e| Some(e.span), |p, e| p.expression(e, ANY));
    }

    /// A list of things that stand at `place` in the source.
    pub(super) fn list<T>(
        &mut self,
        list: &List,
        items: impl IntoIterator<Item = T>,
        place: impl Fn(&T) -> Option<Span>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.text(list.open);
        self.open(list.shape);
        let (mut count, mut previous) = (0, None);
        for item in items {
            let here = place(&item);
            if count > 0 {
                let mark = if count == 1 { list.first } else { "," };
                self.separator(Mark::Behind(mark), previous, here);
            } else {
                self.comments_inside(here.map_or(0, |s| s.range().start));
            }
            each(self, item);
            (count, previous) = (count + 1, here);
        }
        if count == 1 {
            self.text(list.only.trim_end());
            if list.only.ends_with(' ') {
                self.space();
            }
        }
        self.comments_before_close(list.close_at);
        self.close();
        self.text(list.close);
    }

    fn index(&mut self, index: &'a Index) {
        match index {
            Index::All(_) => self.text(":"),
            Index::One(e) => self.expression(e, ANY),
            Index::From(e) => {
                self.expression(e, ANY);
                self.text(if is_wide(e) { " :" } else { ":" });
            }
            Index::UpTo(e) => {
                self.text(if is_wide(e) { ": " } else { ":" });
                self.expression(e, ANY);
            }
            Index::Between(a, b) => self.range(a, b),
        }
    }

    /// `a:b`, in an index or a loop.
    pub(super) fn range(&mut self, lower: &'a Expr, upper: &'a Expr) {
        self.expression(lower, ANY);
        self.text(if is_wide(lower) || is_wide(upper) { " : " } else { ":" });
        self.expression(upper, ANY);
    }
}

/// Blanks stand in the expression, so that a colon without them would seem to bind more tightly.
fn is_wide(expression: &Expr) -> bool {
    matches!(expression.kind, ExprKind::Binary { .. } | ExprKind::Ternary { .. })
}

/// Where the last byte of something stands.
pub(super) fn last(span: Span) -> usize {
    span.range().end.saturating_sub(1)
}
