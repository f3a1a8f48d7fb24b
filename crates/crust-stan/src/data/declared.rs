//! Declared types with their sizes evaluated.

use super::calculator::{Calculator, Known, Outcome};
use crate::ast::SpecialType;
use crate::diagnostics::Diagnostic;
use crate::typed::{Expr, SizedKind, SizedType};
use crate::types::Type;
use crate::value::{Cell, Item, Shape, Value};

pub(super) fn shape<C: Calculator + ?Sized>(calculator: &mut C, declared: &SizedType) -> Outcome<Known<Shape>> {
    let most = calculator.limits().numbers;
    let shape = match shape_below(calculator, declared)? {
        Ok(shape) => shape,
        Err(unknown) => return Ok(Err(unknown)),
    };
    if shape.numbers().is_none_or(|n| n > most) {
        let message = format!("{shape} is too large: more than {most} numbers");
        return Err(Box::new(Diagnostic::error("too-large", message, declared.span)));
    }
    Ok(Ok(shape))
}

fn shape_below<C: Calculator + ?Sized>(calculator: &mut C, declared: &SizedType) -> Outcome<Known<Shape>> {
    Ok(match &declared.kind {
        SizedKind::Plain { base, sizes: list, .. } => {
            sizes(calculator, list)?.map(|sizes| Shape::cell(Cell::of(*base, &sizes)))
        }
        SizedKind::Special { special, sizes: list } => {
            sizes(calculator, list)?.map(|sizes| Shape::cell(special_cell(*special, &sizes)))
        }
        SizedKind::Array { sizes: list, element } => {
            let outer = match sizes(calculator, list)? {
                Ok(sizes) => sizes,
                Err(unknown) => return Ok(Err(unknown)),
            };
            shape_below(calculator, element)?.map(|mut shape| {
                shape.array.splice(0..0, outer);
                shape
            })
        }
        SizedKind::Tuple(parts) => {
            let mut shapes = Vec::with_capacity(parts.len());
            for part in parts {
                match shape_below(calculator, part)? {
                    Ok(shape) => shapes.push(shape),
                    Err(unknown) => return Ok(Err(unknown)),
                }
            }
            Ok(Shape { array: Vec::new(), item: Item::Tuple(shapes) })
        }
    })
}

fn sizes<C: Calculator + ?Sized>(calculator: &mut C, sizes: &[Expr]) -> Outcome<Known<Vec<usize>>> {
    let mut known = Vec::with_capacity(sizes.len());
    for size in sizes {
        match calculator.expression(size)? {
            Value::Int(n) => match usize::try_from(n) {
                Ok(n) => known.push(n),
                Err(_) => return Err(Box::new(negative(size, n))),
            },
            Value::Unavailable(unknown) => return Ok(Err(unknown)),
            other => {
                let message = format!("a size must be an int, found {other}");
                return Err(Box::new(Diagnostic::error("size-type", message, size.span)));
            }
        }
    }
    Ok(Ok(known))
}

fn negative(size: &Expr, n: i32) -> Diagnostic {
    let diagnostic = Diagnostic::error("negative-size", "a size must not be negative", size.span);
    if n == i32::MIN {
        diagnostic.label("this has never been given a value")
    } else {
        diagnostic.label(format!("this is {n}"))
    }
}

/// The cell of a type that is named after its constraint: `cov_matrix[K]` is K by K.
fn special_cell(special: SpecialType, sizes: &[usize]) -> Cell {
    let first = sizes.first().copied().unwrap_or(0);
    let second = sizes.get(1).copied().unwrap_or(first);
    if special.ty() == Type::Vector { Cell::Vector(first) } else { Cell::Matrix(first, second) }
}
