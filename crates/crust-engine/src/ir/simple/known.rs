//! What is known of numbers from how they were made.

use super::super::graph::{FREE, Graph, Op, Ref};
use crate::code::Comparison;

/// Nothing is known of what is nested deeper than this.
const DEEP: u32 = 12;

fn unary_name(graph: &Graph, x: Ref) -> &'static str {
    match graph.op(x) {
        Op::Unary(index) => graph.unaries[index as usize].name,
        _ => "",
    }
}

/// Whether a number is positive wherever it is a number, but for underflow.
pub fn positive(graph: &Graph, x: Ref, depth: u32) -> bool {
    if depth > DEEP {
        return false;
    }
    let xs = graph.arguments(x);
    let all = || xs.iter().all(|&x| positive(graph, x, depth + 1));
    match graph.op(x) {
        Op::Constant(bits) => f64::from_bits(bits) > 0.0,
        Op::Unary(_) => match unary_name(graph, x) {
            "exp" | "inv_logit" | "log1p_exp" => true,
            "sqrt" | "inv_sqrt" | "inv" | "square" => all(),
            _ => false,
        },
        Op::Add | Op::Multiply | Op::Divide | Op::MultiplyAdd | Op::Sum | Op::Dot => all(),
        Op::Subtract => in_unit(graph, x, depth + 1),
        _ => false,
    }
}

/// Whether a number is between 0 and 1 wherever it is a number.
pub fn in_unit(graph: &Graph, x: Ref, depth: u32) -> bool {
    bounds(graph, x, depth).is_some_and(|[low, high]| low >= 0.0 && high <= 1.0)
}

/// Between which numbers a number is wherever it is one, if that is an interval of finite length.
pub fn bounds(graph: &Graph, x: Ref, depth: u32) -> Option<[f64; 2]> {
    if depth > DEEP {
        return None;
    }
    let of = |x: Ref| bounds(graph, x, depth + 1);
    match (graph.op(x), graph.arguments(x)) {
        (Op::Constant(bits), _) => Some([f64::from_bits(bits); 2]).filter(|x| x[0].is_finite()),
        (Op::Unary(_), _) if unary_name(graph, x) == "inv_logit" => Some([0.0, 1.0]),
        (Op::Negate, &[a]) => of(a).map(|[low, high]| [-high, -low]),
        (Op::Add, &[a, b]) => of(a).zip(of(b)).map(|([a, b], [c, d])| [a + c, b + d]),
        (Op::Subtract, &[a, b]) => of(a).zip(of(b)).map(|([a, b], [c, d])| [a - d, b - c]),
        (Op::Multiply, &[a, b]) => {
            let ([a, b], [c, d]) = of(a).zip(of(b))?;
            let ends = [a * c, a * d, b * c, b * d];
            Some([
                ends.iter().copied().fold(f64::INFINITY, f64::min),
                ends.iter().copied().fold(-f64::INFINITY, f64::max),
            ])
        }
        _ => None,
    }
}

/// Whether this is a number wherever the unconstrained numbers are finite, and not negative.
fn certain(graph: &Graph, x: Ref, depth: u32) -> bool {
    if depth > DEEP {
        return false;
    }
    let of = |x: Ref| certain(graph, x, depth + 1);
    match (graph.op(x), graph.arguments(x)) {
        (Op::Constant(bits), _) => f64::from_bits(bits) >= 0.0,
        (Op::Unary(_), &[a]) => match unary_name(graph, x) {
            "exp" | "inv_logit" | "log1p_exp" => of(a) || number(graph, a, depth + 1),
            "sqrt" | "inv_sqrt" | "inv" => of(a),
            "square" => number(graph, a, depth + 1),
            _ => false,
        },
        (Op::Add, &[a, b]) => of(a) && of(b),
        // Neither 0 times infinity nor infinity by infinity.
        (Op::Multiply, &[a, b]) => of(a) && of(b) && (fixed(graph, a) || fixed(graph, b) || both_in_unit(graph, a, b)),
        (Op::Divide, &[a, b]) => of(a) && of(b) && (fixed(graph, a) || fixed(graph, b)),
        (Op::Subtract, &[_, b]) => in_unit(graph, x, depth + 1) && (of(b) || number(graph, b, depth + 1)),
        _ => false,
    }
}

/// Whether this is a constant that neither 0 nor infinity can spoil.
fn fixed(graph: &Graph, x: Ref) -> bool {
    graph.known(x).is_some_and(|x| x > 0.0 && x.is_finite())
}

fn both_in_unit(graph: &Graph, a: Ref, b: Ref) -> bool {
    in_unit(graph, a, 0) && in_unit(graph, b, 0)
}

/// Whether this is a finite number wherever the unconstrained numbers are: one of them, or its opposite.
fn number(graph: &Graph, x: Ref, depth: u32) -> bool {
    match (graph.op(x), graph.arguments(x)) {
        (Op::Input { operand, .. }, _) => operand == FREE,
        (Op::Negate, &[a]) if depth <= DEEP => number(graph, a, depth + 1),
        _ => false,
    }
}

/// Whether a comparison with a constant holds wherever the unconstrained numbers are finite.
pub fn holds(graph: &Graph, comparison: Comparison, a: Ref, b: Ref) -> bool {
    match (comparison, graph.known(b)) {
        (Comparison::GreaterEqual, Some(low)) => low <= 0.0 && certain(graph, a, 0),
        (Comparison::LessEqual, Some(high)) => {
            bounds(graph, a, 0).is_some_and(|[_, most]| most <= high) && certain(graph, a, 0)
        }
        _ => false,
    }
}
