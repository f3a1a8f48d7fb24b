//! The parameters of a program with these data: their sizes, and how many unconstrained numbers they take.

use super::{Calculator, Outcome};
use crate::ast::{BlockKind, SpecialType};
use crate::diagnostics::Diagnostic;
use crate::source::Source;
use crate::typed::{Constraint, Expr, Program, SizedKind, SizedType, VariableId};
use crate::value::{Cell, Item, Shape};

/// A parameter, or another quantity of the output.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterInfo {
    pub id: VariableId,
    pub name: String,
    /// The declared type with its sizes filled in: `array[8] vector<lower=0>[3]`.
    pub declared: String,
    /// `None` where a size is not known.
    pub shape: Option<Shape>,
    /// How many numbers a value has; a complex number has two.
    pub count: Option<usize>,
    /// How many unconstrained numbers the parameter takes, as in Stan; `None` where a size is not known, and for
    /// quantities that are no parameters.
    pub dimension: Option<usize>,
    /// Why a size is not known.
    pub reason: Option<String>,
}

/// The variables of a block with their sizes. `calculator` should know transformed data, for sizes that depend on them.
/// Only parameters have a dimension.
pub fn quantity_table<C: Calculator>(
    program: &Program,
    source: &Source,
    block: BlockKind,
    calculator: &mut C,
) -> Outcome<Vec<ParameterInfo>> {
    let mut rows = Vec::new();
    for id in program.declared_in(block) {
        let variable = program.variable(id);
        let Some(ty) = &variable.declared else { continue };
        let mut row = ParameterInfo {
            id,
            name: variable.name.clone(),
            declared: one_line(source, ty.span),
            shape: None,
            count: None,
            dimension: None,
            reason: None,
        };
        match calculator.shape(ty)? {
            Ok(shape) => {
                row.declared = declared_text(source, ty, &shape);
                row.count = shape.numbers();
                if block == BlockKind::Parameters {
                    row.dimension = Some(dimension(ty, &shape)?);
                }
                row.shape = Some(shape);
            }
            Err(unknown) => row.reason = Some(unknown.reason.clone()),
        }
        rows.push(row);
    }
    Ok(rows)
}

fn one_line(source: &Source, span: crate::span::Span) -> String {
    source.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn declared_text(source: &Source, ty: &SizedType, shape: &Shape) -> String {
    let sizes = |sizes: &[usize]| {
        let list: Vec<String> = sizes.iter().map(usize::to_string).collect();
        if list.is_empty() { String::new() } else { format!("[{}]", list.join(", ")) }
    };
    match (&ty.kind, &shape.item) {
        (SizedKind::Array { sizes: own, element }, _) => {
            let (outer, inner) = split(shape, own.len());
            format!("array{} {}", sizes(outer), declared_text(source, element, &inner))
        }
        (SizedKind::Tuple(types), Item::Tuple(shapes)) => {
            let parts = types.iter().zip(shapes).map(|(ty, shape)| declared_text(source, ty, shape));
            format!("tuple({})", parts.collect::<Vec<_>>().join(", "))
        }
        (SizedKind::Plain { base, constraint, .. }, Item::Cell(cell)) => {
            format!("{}{}{}", base.ty(), constraint_text(source, constraint), sizes(cell.dims().as_slice()))
        }
        (SizedKind::Special { special, sizes: own }, Item::Cell(cell)) => {
            let dims = cell.dims();
            format!("{}{}", special.name(), sizes(&dims.as_slice()[..own.len().min(dims.as_slice().len())]))
        }
        _ => shape.to_string(),
    }
}

fn constraint_text(source: &Source, constraint: &Constraint) -> String {
    let sides = [
        ("lower", &constraint.lower),
        ("upper", &constraint.upper),
        ("offset", &constraint.offset),
        ("multiplier", &constraint.multiplier),
    ];
    let text = |(word, e): (&str, &Option<Expr>)| e.as_ref().map(|e| format!("{word}={}", one_line(source, e.span)));
    let texts: Vec<String> = sides.into_iter().filter_map(text).collect();
    if texts.is_empty() { String::new() } else { format!("<{}>", texts.join(", ")) }
}

/// The first array dimensions, and the shape below them.
fn split(shape: &Shape, count: usize) -> (&[usize], Shape) {
    let (outer, inner) = shape.array.split_at(count.min(shape.array.len()));
    (outer, Shape { array: inner.to_vec(), item: shape.item.clone() })
}

/// How many unconstrained numbers a parameter of this type takes.
fn dimension(ty: &SizedType, shape: &Shape) -> Outcome<usize> {
    let too_large = || Box::new(Diagnostic::error("too-large", "there are too many parameters", ty.span));
    match (&ty.kind, &shape.item) {
        (SizedKind::Array { sizes, element }, _) => {
            let (outer, inner) = split(shape, sizes.len());
            let one = dimension(element, &inner)?;
            outer.iter().try_fold(one, |product, &n| product.checked_mul(n)).ok_or_else(too_large)
        }
        (SizedKind::Tuple(types), Item::Tuple(shapes)) => types
            .iter()
            .zip(shapes)
            .try_fold(0_usize, |sum, (ty, shape)| sum.checked_add(dimension(ty, shape)?).ok_or_else(too_large)),
        (SizedKind::Special { special, sizes }, Item::Cell(cell)) => special_dimension(ty, *special, sizes, *cell),
        _ => shape.numbers().ok_or_else(too_large),
    }
}

fn special_dimension(ty: &SizedType, special: SpecialType, sizes: &[Expr], cell: Cell) -> Outcome<usize> {
    let (rows, cols) = match cell {
        Cell::Matrix(rows, cols) => (rows, cols),
        other => (other.scalars(), 1),
    };
    let least = |at: usize, n: usize, least: usize| {
        if n >= least {
            return Ok(n);
        }
        let span = sizes.get(at).or(sizes.first()).map_or(ty.span, |e| e.span);
        let message = format!("the size of a {} must be at least {least}", special.name());
        Err(Box::new(Diagnostic::error("size-too-small", message, span).label(format!("this is {n}"))))
    };
    Ok(match special {
        SpecialType::Simplex | SpecialType::SumToZeroVector => least(0, rows, 1)? - 1,
        // With one element there would be two points, and no density on them.
        SpecialType::UnitVector => least(0, rows, 2)?,
        SpecialType::Ordered | SpecialType::PositiveOrdered => rows,
        SpecialType::SumToZeroMatrix => (least(0, rows, 1)? - 1) * (least(1, cols, 1)? - 1),
        SpecialType::CovMatrix => rows * (rows + 1) / 2,
        SpecialType::CorrMatrix | SpecialType::CholeskyFactorCorr => rows * rows.saturating_sub(1) / 2,
        SpecialType::CholeskyFactorCov if cols > rows => {
            let message = format!("a cholesky_factor_cov cannot have more columns ({cols}) than rows ({rows})");
            return Err(Box::new(Diagnostic::error("size-too-small", message, ty.span)));
        }
        SpecialType::CholeskyFactorCov => cols * (cols + 1) / 2 + (rows - cols) * cols,
        SpecialType::ColumnStochasticMatrix => (least(0, rows, 1)? - 1) * cols,
        SpecialType::RowStochasticMatrix => rows * (least(1, cols, 1)? - 1),
    })
}
