//! Assignment: to variables, to parts of them, to tuples of places.

use std::sync::Arc;

use super::{Interpreter, Known, Outcome, settle};
use crate::ast::BinaryOp;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Access, Expr, Index, Place, VariableId};
use crate::types::Type;
use crate::value::{IndexProblem, Numbers, Selector, Unavailable, Value};

impl Interpreter<'_> {
    pub(super) fn assign(&mut self, target: &Place, op: Option<BinaryOp>, value: &Expr) -> Outcome<()> {
        let span = value.span;
        let mut new = self.eval(value)?;
        if let (Some(op), Place::Variable { variable, path, .. }) = (op, target) {
            // The old value is gone before the new one is written: the container would be copied if it were shared.
            new = match self.old_value(*variable, path, span)? {
                Ok(old) => settle(super::operators::binary(op, &old, &new), span)?,
                Err(unknown) => return self.lose(&[*variable], &unknown),
            };
        }
        self.write(target, new, span)
    }

    /// The part of a variable that a compound assignment changes.
    fn old_value(&mut self, variable: VariableId, path: &[Access], span: Span) -> Outcome<Known<Value>> {
        let mut buffer = [0; MAX_FAST_INDICES];
        if let [Access::Index(indices)] = path
            && let Some(Ok(count)) = self.plain_indices(indices, &mut buffer)?
            && let Some(Value::Tensor(tensor)) = self.get(variable)
            && let Ok(at) = tensor.place(&buffer[..count])
        {
            return Ok(Ok(tensor.scalar(at)));
        }
        let (selectors, parts) = match self.path(path)? {
            Ok(path) => path,
            Err(unknown) => return Ok(Err(unknown)),
        };
        let whole = self.variable(variable, span);
        let part = parts.iter().fold(whole, |value, part| part_of(&value, *part));
        part.select(&selectors).map(Ok).map_err(|problem| index_error(&problem, span, path))
    }

    fn write(&mut self, target: &Place, value: Value, span: Span) -> Outcome<()> {
        match target {
            Place::Tuple(places) => {
                for (i, place) in places.iter().enumerate() {
                    let part = part_of(&value, u32::try_from(i + 1).unwrap_or(u32::MAX));
                    self.write(place, part, span)?;
                }
                Ok(())
            }
            Place::Variable { variable, path, ty, .. } if path.is_empty() => self.replace(*variable, value, ty, span),
            Place::Variable { variable, path, ty, span } => self.write_part(*variable, path, value, ty, *span),
        }
    }

    /// Gives a variable a new value of the size that it has. One of no elements takes any size, as in Stan.
    pub(super) fn replace(&mut self, variable: VariableId, value: Value, ty: &Type, span: Span) -> Outcome<()> {
        let value = value.promoted(ty);
        let slot = &mut self.frame[variable.0 as usize];
        let is_known = !matches!(value, Value::Unavailable(_));
        let old = slot.as_ref().and_then(|old| if is_known && ty.is_scalar() { None } else { old.shape() });
        if let Value::Unavailable(unknown) = value {
            let shape = old.or_else(|| unknown.shape.clone());
            *slot = Some(Value::Unavailable(Arc::new(Unavailable { shape, ..(*unknown).clone() })));
            return Ok(());
        }
        if let (Some(expected), Some(found)) = (old, value.shape())
            && expected != found
            && expected.numbers() != Some(0)
        {
            let name = &self.program.variable(variable).name;
            let message = format!("the sizes do not match: `{name}` is declared as {expected}, the value is {found}");
            return Err(Box::new(
                Diagnostic::error("size-mismatch", message, span)
                    .related(self.program.variable(variable).span, "declared here"),
            ));
        }
        *slot = Some(value);
        Ok(())
    }

    fn write_part(
        &mut self,
        variable: VariableId,
        path: &[Access],
        value: Value,
        ty: &Type,
        span: Span,
    ) -> Outcome<()> {
        let value = value.promoted(ty);
        if let (&[Access::Index(ref indices)], true) = (path, ty.is_scalar()) {
            let mut buffer = [0; MAX_FAST_INDICES];
            if let Some(Ok(count)) = self.plain_indices(indices, &mut buffer)?
                && let Some(Value::Tensor(tensor)) = &mut self.frame[variable.0 as usize]
            {
                // A place that is out of range is left to the slow path, which reports it.
                if let Ok(at) = tensor.place(&buffer[..count]) {
                    match (&mut Arc::make_mut(tensor).numbers, &value) {
                        (Numbers::Real(v), Value::Real(x)) if *ty == Type::Real => {
                            v[at] = *x;
                            return Ok(());
                        }
                        (Numbers::Int(v), Value::Int(n)) => {
                            v[at] = *n;
                            return Ok(());
                        }
                        _ => {}
                    }
                }
            }
        }
        let (selectors, parts) = match self.path(path)? {
            Ok(path) => path,
            Err(unknown) => return self.lose(&[variable], &unknown),
        };
        let Some(mut at) = self.frame[variable.0 as usize].as_mut() else { return Ok(()) };
        for part in parts {
            at = match at {
                Value::Tuple(t) => match Arc::make_mut(t).parts.get_mut(part as usize - 1) {
                    Some(part) => part,
                    None => return Err(index_error(&IndexProblem::NoSuchPart, span, path)),
                },
                // Nothing can be written into what is not known.
                _ => return Ok(()),
            };
        }
        if selectors.is_empty() && !ty.is_scalar() {
            let (expected, found) = (at.shape(), value.shape());
            if let (Some(expected), Some(_)) = (&expected, &found)
                && expected.numbers() != Some(0)
                && Some(expected) != found.as_ref()
            {
                let problem = IndexProblem::Mismatch { expected: expected.clone(), found };
                return Err(index_error(&problem, span, path));
            }
        }
        at.assign(&selectors, value).map_err(|problem| index_error(&problem, span, path))
    }

    /// The indices and the tuple parts of a path. The parts can be taken first: an array of tuples is a tuple of
    /// arrays.
    fn path(&mut self, path: &[Access]) -> Outcome<Known<(Vec<Selector>, Vec<u32>)>> {
        let (mut selectors, mut parts) = (Vec::new(), Vec::new());
        for access in path {
            match access {
                Access::Part(part) => parts.push(*part),
                Access::Index(indices) => {
                    for index in indices {
                        match self.selector(index)? {
                            Ok(selector) => selectors.push(selector),
                            Err(unknown) => return Ok(Err(unknown)),
                        }
                    }
                }
            }
        }
        Ok(Ok((selectors, parts)))
    }

    pub(super) fn selector(&mut self, index: &Index) -> Outcome<Known<Selector>> {
        Ok(match index {
            Index::All => Ok(Selector::All),
            Index::One(e) => match self.eval(e)? {
                Value::Int(i) => Ok(Selector::One(i)),
                Value::Unavailable(unknown) => Err(unknown),
                other => match other.to_ints() {
                    Some(list) => Ok(Selector::Many(list)),
                    None => return Err(Box::new(Diagnostic::error("index-type", "an index must be an int", e.span))),
                },
            },
            Index::From(a) => self.bound(a)?.map(Selector::From),
            Index::UpTo(b) => self.bound(b)?.map(Selector::UpTo),
            Index::Between(a, b) => match (self.bound(a)?, self.bound(b)?) {
                (Ok(a), Ok(b)) => Ok(Selector::Between(a, b)),
                (Err(unknown), _) | (_, Err(unknown)) => Err(unknown),
            },
        })
    }

    pub(super) fn bound(&mut self, e: &Expr) -> Outcome<Known<i32>> {
        match self.eval(e)? {
            Value::Int(i) => Ok(Ok(i)),
            Value::Unavailable(unknown) => Ok(Err(unknown)),
            other => {
                let message = format!("expected an int, found {other}");
                Err(Box::new(Diagnostic::error("int-expected", message, e.span)))
            }
        }
    }

    /// Evaluates indices that are all single integers into `buffer`: the common case, without allocation. `None` where
    /// they are not of that kind.
    pub(super) fn plain_indices(&mut self, indices: &[Index], buffer: &mut [i32]) -> Outcome<Option<Known<usize>>> {
        if indices.len() > buffer.len() || indices.iter().any(Index::is_multiple) {
            return Ok(None);
        }
        for (slot, index) in buffer.iter_mut().zip(indices) {
            let Index::One(e) = index else { return Ok(None) };
            match self.bound(e)? {
                Ok(i) => *slot = i,
                Err(unknown) => return Ok(Some(Err(unknown))),
            }
        }
        Ok(Some(Ok(indices.len())))
    }

    /// Makes variables unknown; their shapes stay known where they are.
    #[expect(clippy::unnecessary_wraps, reason = "stands at the end of functions that return an outcome")]
    pub(super) fn lose(&mut self, variables: &[VariableId], unknown: &Arc<Unavailable>) -> Outcome<()> {
        for id in variables {
            let slot = &mut self.frame[id.0 as usize];
            let shape = slot.as_ref().and_then(Value::shape);
            *slot = Some(Value::Unavailable(Arc::new(Unavailable { shape, ..(**unknown).clone() })));
        }
        Ok(())
    }
}

/// More indices than anybody writes; they just take the general way.
pub(super) const MAX_FAST_INDICES: usize = 8;

/// The part of a tuple; of an unknown tuple, an unknown part.
pub(super) fn part_of(value: &Value, part: u32) -> Value {
    use crate::value::Item;
    match value {
        Value::Unavailable(unknown) => {
            let shape = unknown.shape.as_ref().and_then(|shape| match &shape.item {
                Item::Tuple(parts) => {
                    let mut inner = parts.get((part as usize).checked_sub(1)?)?.clone();
                    inner.array.splice(0..0, shape.array.iter().copied());
                    Some(inner)
                }
                Item::Cell(_) => None,
            });
            Value::Unavailable(Arc::new(Unavailable { shape, ..(**unknown).clone() }))
        }
        other => match other.part(part) {
            Some(part) => part.clone(),
            None => Value::unavailable("the tuple has no such part", None, None),
        },
    }
}

/// The error of an index that goes wrong, at that index if it can be told.
pub(super) fn index_error(problem: &IndexProblem, span: Span, path: &[Access]) -> Box<Diagnostic> {
    let indices = path.iter().flat_map(|access| match access {
        Access::Index(indices) => indices.as_slice(),
        Access::Part(_) => &[],
    });
    index_error_at(problem, span, &indices.collect::<Vec<_>>())
}

pub(super) fn index_error_at(problem: &IndexProblem, span: Span, indices: &[&Index]) -> Box<Diagnostic> {
    let (code, span) = match problem {
        IndexProblem::OutOfRange { position, .. } => {
            let at = indices.get(position.wrapping_sub(1)).and_then(|index| match index {
                Index::One(e) | Index::From(e) | Index::UpTo(e) => Some(e.span),
                Index::Between(a, b) => Some(a.span.to(b.span)),
                Index::All => None,
            });
            ("index-out-of-range", at.unwrap_or(span))
        }
        IndexProblem::Mismatch { .. } => ("size-mismatch", span),
        IndexProblem::NoSuchPart => ("no-such-part", span),
    };
    Box::new(Diagnostic::error(code, problem.to_string(), span))
}
