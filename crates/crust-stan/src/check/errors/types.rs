//! Types that do not fit.

use super::{one, ordinal};
use crate::ast::{BinaryOp, Ident, UnaryOp};
use crate::check::operators::binary_type;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::Expr;
use crate::types::Type;

pub(in crate::check) fn int_too_large(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error("int-too-large", format!("the integer {text} is too large"), span)
        .note("integers go up to 2_147_483_647")
        .help(format!("as a real number it is `{text}.0`"))
}

pub(in crate::check) fn condition_type(of: &str, found: &Type, span: Span) -> Diagnostic {
    let error =
        Diagnostic::error("condition-type", format!("the condition of {of} must be an `int`, found `{found}`"), span);
    if *found == Type::Real { error.help("compare with something: `x != 0`") } else { error }
}

pub(in crate::check) fn index_type(found: &Type, span: Span) -> Diagnostic {
    Diagnostic::error(
        "index-type",
        format!("an index must be an `int`, an `array[] int` or a range, found `{found}`"),
        span,
    )
}

pub(in crate::check) fn range_bound_type(found: &Type, span: Span) -> Diagnostic {
    Diagnostic::error("index-type", format!("the ends of a range must be `int`, found `{found}`"), span)
}

pub(in crate::check) fn not_indexable(found: &Type, span: Span) -> Diagnostic {
    let error = Diagnostic::error("not-indexable", format!("{} has no elements to index", one(found)), span);
    if matches!(found, Type::Tuple(_)) { error.help("a part of a tuple is `t.1`") } else { error }
}

pub(in crate::check) fn too_many_indices(ty: &Type, dimensions: usize, found: usize, span: Span) -> Diagnostic {
    let message =
        format!("`{ty}` takes {}, found {found}", super::count(dimensions, "index").replace("indexs", "indices"));
    Diagnostic::error("too-many-indices", message, span)
}

pub(in crate::check) fn tuple_part_missing(part: u32, length: usize, span: Span) -> Diagnostic {
    let part = if part == u32::MAX { "of this number".to_owned() } else { part.to_string() };
    Diagnostic::error("tuple-part", format!("the tuple has no part {part}"), span)
        .note(format!("its parts are 1 to {length}"))
}

pub(in crate::check) fn not_a_tuple(found: &Type, span: Span) -> Diagnostic {
    let error = Diagnostic::error("not-a-tuple", format!("{} is not a tuple and has no parts", one(found)), span);
    match found {
        Type::Array(element) if matches!(**element, Type::Tuple(_)) => error.help("take an element first: `x[i].1`"),
        _ => error,
    }
}

pub(in crate::check) fn ternary_mismatch(yes: &Expr, no: &Expr, span: Span) -> Diagnostic {
    Diagnostic::error("ternary-mismatch", "the two values of `? :` have types that do not go together", span)
        .related(yes.span, format!("`{}`", yes.ty))
        .related(no.span, format!("`{}`", no.ty))
}

pub(in crate::check) fn array_mismatch(expected: &Type, found: &Expr, first: Span) -> Diagnostic {
    Diagnostic::error("array-mismatch", "the elements of an array must have one type", found.span)
        .label(format!("`{}`", found.ty))
        .related(first, format!("`{expected}`"))
}

pub(in crate::check) fn row_vector_element(wants_rows: bool, found: &Type, span: Span) -> Diagnostic {
    let error = if wants_rows {
        Diagnostic::error(
            "row-vector-element",
            format!("the rows of a matrix must be row vectors, found `{found}`"),
            span,
        )
    } else {
        Diagnostic::error(
            "row-vector-element",
            format!("the elements of `[…]` must be all numbers or all row vectors, found `{found}`"),
            span,
        )
    };
    match found {
        Type::Vector => error.help("a vector is turned into a row by `'`"),
        Type::RowVector | Type::ComplexRowVector => {
            error.help("rows stand in a matrix, one by one: `[[a, b], [c, d]]`")
        }
        _ if !wants_rows => error.help("an array is written with braces: `{a, b}`"),
        _ => error,
    }
}

pub(in crate::check) fn unary_operand(op: UnaryOp, found: &Type, span: Span) -> Diagnostic {
    let error = Diagnostic::error("operand-type", format!("`{}` cannot be applied to `{found}`", op.symbol()), span);
    if op == UnaryOp::Not { error.note("`!` takes an `int`") } else { error }
}

pub(in crate::check) fn transpose_operand(found: &Type, span: Span) -> Diagnostic {
    Diagnostic::error("operand-type", format!("`'` cannot be applied to `{found}`"), span)
        .note("vectors, row vectors and matrices can be transposed")
}

pub(in crate::check) fn binary_operands(op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Diagnostic {
    let message = format!("`{}` cannot be applied to `{}` and `{}`", op.symbol(), left.ty, right.ty);
    let error = Diagnostic::error("operand-type", message, span)
        .related(left.span, format!("`{}`", left.ty))
        .related(right.span, format!("`{}`", right.ty));
    match binary_help(op, &left.ty, &right.ty) {
        Some(help) => error.help(help),
        None => error,
    }
}

/// What else could have been meant.
fn binary_help(op: BinaryOp, left: &Type, right: &Type) -> Option<String> {
    let fits = |op, a: &Type, b: &Type| binary_type(op, a, b).is_some();
    let elementwise = match op {
        BinaryOp::Multiply => Some(BinaryOp::EltMultiply),
        BinaryOp::Divide => Some(BinaryOp::EltDivide),
        _ => None,
    };
    if let Some(elementwise) = elementwise.filter(|op| fits(*op, left, right)) {
        return Some(format!("element by element it is `{}`", elementwise.symbol()));
    }
    match (left, right) {
        (Type::Array(_), _) | (_, Type::Array(_)) => {
            Some("arrays have no arithmetic: use `vector`, or convert with `to_vector`".into())
        }
        (Type::Vector, Type::RowVector) | (Type::RowVector, Type::Vector) => {
            Some("transpose one of them with `'`".into())
        }
        (Type::Real, _) | (_, Type::Real) => match op {
            BinaryOp::Or | BinaryOp::And => Some("logical operators take `int`: compare first, as in `x != 0`".into()),
            BinaryOp::IntDivide => {
                Some("the quotient of real numbers is `/`; its integer part is `floor(x / y)`".into())
            }
            BinaryOp::Modulo => Some("the remainder of real numbers is `fmod(x, y)`".into()),
            _ => None,
        },
        _ => None,
    }
}

pub(in crate::check) fn compound_operands(op: Option<BinaryOp>, target: &Type, value: &Expr) -> Diagnostic {
    let symbol = op.map_or("", BinaryOp::symbol);
    let message = format!("`{symbol}=` cannot be applied to `{target}` and `{}`", value.ty);
    Diagnostic::error("operand-type", message, value.span)
}

pub(in crate::check) fn assignment_type(
    target: &Type,
    given: &Type,
    op: Option<BinaryOp>,
    value: &Expr,
    place: Span,
) -> Diagnostic {
    let error = match op {
        None => Diagnostic::error(
            "assignment-type",
            format!("{} cannot be assigned to {}", one(given), one(target)),
            value.span,
        ),
        Some(op) => Diagnostic::error(
            "assignment-type",
            format!("`{}=` would give {}, which cannot be assigned to {}", op.symbol(), one(given), one(target)),
            value.span,
        ),
    };
    conversion_help(error.label(format!("`{}`", value.ty)).related(place, format!("`{target}`")), given, target)
}

pub(in crate::check) fn initial_type(name: &Ident, declared: &Type, value: &Expr) -> Diagnostic {
    let message = format!("`{}` is {} and cannot be given {}", name.name, one(declared), one(&value.ty));
    let error = Diagnostic::error("assignment-type", message, value.span).related(name.span, format!("`{declared}`"));
    conversion_help(error, &value.ty, declared)
}

/// The function that turns the one into the other, where there is one.
fn conversion_help(error: Diagnostic, from: &Type, to: &Type) -> Diagnostic {
    let array_of_numbers = |t: &Type| matches!(t.array_parts(), (Type::Int | Type::Real, 1));
    let help = match (from, to) {
        (Type::Real, Type::Int) => "`to_int` converts (of data only), `floor` and its like do not",
        (Type::Vector, Type::RowVector) | (Type::RowVector, Type::Vector) => "transpose with `'`",
        (from, Type::Vector) if array_of_numbers(from) => "convert with `to_vector`",
        (from, Type::RowVector) if array_of_numbers(from) => "convert with `to_row_vector`",
        (Type::Vector | Type::RowVector, to) if array_of_numbers(to) => "convert with `to_array_1d`",
        (Type::Int | Type::Real, Type::Vector) => "fill a vector with `rep_vector`",
        (Type::Complex, Type::Real) => "take `get_real` or `get_imag`",
        _ => return error,
    };
    error.help(help)
}

pub(in crate::check) fn loop_bound_type(found: &Type, span: Span) -> Diagnostic {
    Diagnostic::error("loop-bound-type", format!("the bounds of a loop must be `int`, found `{found}`"), span)
}

pub(in crate::check) fn loop_over_type(found: &Type, span: Span) -> Diagnostic {
    let error = Diagnostic::error(
        "loop-over-type",
        format!("a loop can go over an array, vector, row vector or matrix, found `{found}`"),
        span,
    );
    if *found == Type::Int { error.help("a range is written `1:n`") } else { error }
}

pub(in crate::check) fn return_without_value(wanted: &Type, span: Span) -> Diagnostic {
    Diagnostic::error("return-type", format!("the function must return {}", one(wanted)), span)
}

pub(in crate::check) fn return_type(wanted: &Type, found: &Type, span: Span) -> Diagnostic {
    let error =
        Diagnostic::error("return-type", format!("the function must return {}, found `{found}`", one(wanted)), span);
    conversion_help(error, found, wanted)
}

pub(in crate::check) fn increment_type(word: &str, found: &Type, span: Span) -> Diagnostic {
    Diagnostic::error("increment-type", format!("{} cannot be added to `{word}`", one(found)), span)
        .note("numbers, and containers of numbers, which are added up, can")
}

pub(in crate::check) fn size_type(found: &Type, span: Span) -> Diagnostic {
    Diagnostic::error("size-type", format!("a size must be an `int`, found `{found}`"), span)
}

pub(in crate::check) fn complex_constraint(span: Span) -> Diagnostic {
    Diagnostic::error("complex-constraint", "complex numbers cannot have constraints", span)
}

pub(in crate::check) fn int_affine(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error("int-affine", format!("an integer cannot have `{word}`"), span)
        .note("integers can have `lower` and `upper`")
}

pub(in crate::check) fn int_bound(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error("int-bound", format!("`{word}` of an integer must be an integer"), span)
}

pub(in crate::check) fn constraint_type(word: &str, variable: &Type, found: &Type, span: Span) -> Diagnostic {
    let wanted = if variable.is_scalar() { "a number".to_owned() } else { format!("a number or {}", one(variable)) };
    Diagnostic::error("constraint-type", format!("`{word}` must be {wanted}, found `{found}`"), span)
}

pub(in crate::check) fn truncation_bound_type(found: &Type, span: Span) -> Diagnostic {
    Diagnostic::error(
        "truncation-bound-type",
        format!("a truncation bound must be an `int` or a `real`, found `{found}`"),
        span,
    )
}

pub(in crate::check) fn argument_name(index: usize) -> String {
    format!("the {} argument", ordinal(index))
}
