//! The values of expressions.

use super::places::{MAX_FAST_INDICES, index_error_at, part_of};
use super::{Interpreter, Known, Outcome, library, operators, settle};
use crate::ast::BinaryOp;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Call, Callee, Expr, ExprKind, FunctionId, Index};
use crate::types::Type;
use crate::value::{Cell, Complex, Item, Numbers, Selector, Tensor, Tuple, Value};

impl Interpreter<'_> {
    #[inline]
    pub(super) fn eval(&mut self, e: &Expr) -> Outcome<Value> {
        match &e.kind {
            ExprKind::Int(n) => i32::try_from(*n).map(Value::Int).map_err(|_| {
                let message = format!("{n} does not fit Stan's int, which has 32 bits");
                Box::new(Diagnostic::error("integer-overflow", message, e.span))
            }),
            ExprKind::Real(x) => Ok(Value::Real(*x)),
            ExprKind::Imaginary(im) => Ok(Value::Complex(Complex { re: 0.0, im: *im })),
            ExprKind::Variable(id) => Ok(self.variable(*id, e.span)),
            _ => self.compound(e),
        }
    }

    fn compound(&mut self, e: &Expr) -> Outcome<Value> {
        self.spend(1, e.span)?;
        if super::stack_address() < self.floor {
            return Err(super::too_deep(e.span));
        }
        match &e.kind {
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right, e.span),
            ExprKind::Index { base, indices } => self.index(base, indices, e.span),
            ExprKind::Call(call) => self.call(call, e.span),
            ExprKind::Unary { op, operand } => {
                let value = self.eval(operand)?;
                settle(operators::unary(*op, &value), e.span)
            }
            ExprKind::Transpose(operand) => {
                let value = self.eval(operand)?;
                settle(operators::transpose(&value), e.span)
            }
            ExprKind::Ternary { condition, yes, no } => match self.truth(condition)? {
                Ok(true) => Ok(self.eval(yes)?.promoted(&e.ty)),
                Ok(false) => Ok(self.eval(no)?.promoted(&e.ty)),
                Err(unknown) => Ok(Value::Unavailable(unknown)),
            },
            ExprKind::TuplePart { base, part } => Ok(part_of(&self.eval(base)?, *part)),
            ExprKind::Array(elements) => self.array(elements, &e.ty, e.span),
            ExprKind::RowVector(elements) => self.row_vector(elements, &e.ty, e.span),
            ExprKind::Tuple(parts) => {
                let parts = parts.iter().map(|p| self.eval(p)).collect::<Outcome<Vec<_>>>()?;
                Ok(Value::tuple(parts).promoted(&e.ty))
            }
            ExprKind::Target => Ok(Value::unavailable("`target()` is known in the model only", Some(e.span), None)),
            ExprKind::FunctionName { .. } => Ok(Value::unavailable("a function is no value", Some(e.span), None)),
            ExprKind::Error => Ok(Value::unavailable("there is a mistake in the program", Some(e.span), None)),
            ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Imaginary(_) | ExprKind::Variable(_) => self.eval(e),
        }
    }

    /// Whether a condition holds, or why that is not known.
    pub(super) fn truth(&mut self, condition: &Expr) -> Outcome<Known<bool>> {
        Ok(match self.eval(condition)? {
            Value::Int(n) => Ok(n != 0),
            Value::Real(x) => Ok(x != 0.0),
            Value::Unavailable(unknown) => Err(unknown),
            _ => {
                let message = "a condition must be an int or a real";
                return Err(Box::new(Diagnostic::error("condition-type", message, condition.span)));
            }
        })
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Outcome<Value> {
        let decisive = match op {
            BinaryOp::And => Some(false),
            BinaryOp::Or => Some(true),
            _ => None,
        };
        let Some(decisive) = decisive else {
            let left = self.eval(left)?;
            let right = self.eval(right)?;
            return settle(operators::binary(op, &left, &right), span);
        };
        // The right side is not looked at where the left one decides; an unknown side does not matter where the other
        // one decides.
        let left = self.truth(left)?;
        if left.as_ref().is_ok_and(|&truth| truth == decisive) {
            return Ok(Value::flag(decisive));
        }
        match (left, self.truth(right)?) {
            (_, Ok(truth)) if truth == decisive => Ok(Value::flag(decisive)),
            (Ok(_), Ok(truth)) => Ok(Value::flag(truth)),
            (Err(unknown), _) | (_, Err(unknown)) => Ok(Value::Unavailable(unknown)),
        }
    }

    fn index(&mut self, base: &Expr, indices: &[Index], span: Span) -> Outcome<Value> {
        let mut buffer = [0; MAX_FAST_INDICES];
        let (root, selectors) = match self.plain_path(base, indices, &mut buffer)? {
            Some(Err(unknown)) => return Ok(Value::Unavailable(unknown)),
            Some(Ok((root, count))) => {
                // The usual case first: an element of a variable, read where it lies.
                if let ExprKind::Variable(id) = root.kind
                    && let Some(Value::Tensor(tensor)) = self.get(id)
                    && let Ok(at) = tensor.place(&buffer[..count])
                {
                    return Ok(tensor.scalar(at));
                }
                let value = self.eval(root)?;
                (value, buffer[..count].iter().map(|&i| Selector::One(i)).collect())
            }
            None => {
                let value = self.eval(base)?;
                let mut selectors = Vec::with_capacity(indices.len());
                for index in indices {
                    match self.selector(index)? {
                        Ok(selector) => selectors.push(selector),
                        Err(unknown) => return Ok(Value::Unavailable(unknown)),
                    }
                }
                (value, selectors)
            }
        };
        root.select(&selectors).map_err(|problem| {
            let mut all: Vec<&Index> = indices.iter().collect();
            let mut at = base;
            while all.len() < selectors.len()
                && let ExprKind::Index { base, indices } = &at.kind
            {
                all.splice(0..0, indices);
                at = base;
            }
            index_error_at(&problem, span, &all)
        })
    }

    /// Evaluates a chain of single indices, as in `x[i, j]` or `x[i][j]`, into `buffer`, and says what is indexed and
    /// by how many; `None` where the indices are of other kinds. Without it, every `x[i][j]` would cost a copy of a
    /// row.
    fn plain_path<'e>(
        &mut self,
        base: &'e Expr,
        indices: &'e [Index],
        buffer: &mut [i32; MAX_FAST_INDICES],
    ) -> Outcome<Option<Known<(&'e Expr, usize)>>> {
        let mut start = (base, 0);
        if let ExprKind::Index { base: inner, indices: first } = &base.kind {
            match self.plain_path(inner, first, buffer)? {
                Some(Ok(found)) => start = found,
                Some(unknown) => return Ok(Some(unknown)),
                None => {}
            }
        }
        let (root, count) = start;
        let Some(slots) = buffer.get_mut(count..count + indices.len()) else { return Ok(None) };
        Ok(self.plain_indices(indices, slots)?.map(|known| known.map(|more| (root, count + more))))
    }

    pub(super) fn call(&mut self, call: &Call, span: Span) -> Outcome<Value> {
        match &call.callee {
            Callee::User(id) => self.call_user(*id, &call.arguments, span),
            Callee::Library(name) => {
                let Some(function) = library::find(name) else {
                    return Ok(Value::unavailable(library::why_absent(name), Some(span), None));
                };
                let arguments = call.arguments.iter().map(|a| self.eval(a)).collect::<Outcome<Vec<_>>>()?;
                let result = settle(library::apply(function, &arguments, self.limits.numbers), span)?;
                if let Value::Tensor(tensor) = &result {
                    self.spend(tensor.numbers.len() as u64, span)?;
                }
                Ok(result)
            }
        }
    }

    fn call_user(&mut self, id: FunctionId, arguments: &[Expr], span: Span) -> Outcome<Value> {
        let function = self.program.function(id);
        let mut values = Vec::with_capacity(arguments.len());
        for (argument, parameter) in arguments.iter().zip(&function.ty.arguments) {
            values.push(self.eval(argument)?.promoted(&parameter.ty));
        }
        let variables = self.function_variables(id);
        // A function that is already running has its variables put aside for the time of the call.
        let recursive = self.functions[id.0 as usize].active > 0;
        let aside: Vec<Option<Value>> =
            if recursive { variables.iter().map(|v| self.frame[v.0 as usize].take()).collect() } else { Vec::new() };
        self.functions[id.0 as usize].active += 1;
        for (variable, value) in function.arguments.iter().zip(values) {
            self.set(*variable, value);
        }
        let result = self.deeper(span, |this| this.function_body(id, span));
        self.functions[id.0 as usize].active -= 1;
        // Without recursion they are cleared: a container that an argument still held would be copied when it is
        // written to.
        let mut aside = aside.into_iter();
        for variable in variables.iter() {
            self.frame[variable.0 as usize] = aside.next().flatten();
        }
        result
    }

    fn array(&mut self, elements: &[Expr], ty: &Type, span: Span) -> Outcome<Value> {
        let element_type = match ty {
            Type::Array(element) => (**element).clone(),
            _ => Type::Unknown,
        };
        let mut values = Vec::with_capacity(elements.len());
        for e in elements {
            values.push(self.eval(e)?.promoted(&element_type));
        }
        Ok(stack(&values).unwrap_or_else(|error| Value::unavailable(error.to_string(), Some(span), None)))
    }

    fn row_vector(&mut self, elements: &[Expr], ty: &Type, span: Span) -> Outcome<Value> {
        let is_matrix = matches!(ty, Type::Matrix | Type::ComplexMatrix);
        let complex = ty.has_complex();
        let row_type = if complex { Type::ComplexRowVector } else { Type::RowVector };
        let scalar_type = if complex { Type::Complex } else { Type::Real };
        let (mut numbers, mut width) = (Vec::new(), None);
        for e in elements {
            let value = self.eval(e)?.promoted(if is_matrix { &row_type } else { &scalar_type });
            if let Value::Unavailable(unknown) = value {
                return Ok(Value::Unavailable(unknown));
            }
            let row = value.to_reals().unwrap_or_default();
            if is_matrix && *width.get_or_insert(row.len()) != row.len() {
                let message = "the rows of a matrix must have the same length";
                return Err(Box::new(Diagnostic::error("size-mismatch", message, e.span)));
            }
            numbers.extend(row);
        }
        let unit = if complex { 2 } else { 1 };
        let cell = if is_matrix {
            let cols = width.unwrap_or(0) / unit;
            numbers = operators::transposed(&numbers, cols, elements.len(), unit);
            Cell::Matrix(elements.len(), cols)
        } else {
            Cell::RowVector(elements.len())
        };
        self.spend(numbers.len() as u64, span)?;
        Ok(Tensor::reals(Vec::new(), cell.with_complex(complex), numbers).into())
    }
}

/// Why values are not an array.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum Unstackable {
    #[error("the elements of this array differ in size")]
    Ragged,
    /// An element is not known, for this reason.
    #[error("{0}")]
    Unknown(String),
}

/// The array of these values, which have the same type. Elements of different sizes, which Stan lets pass as long as
/// nobody looks, are not representable: the array is unknown then.
pub(super) fn stack(values: &[Value]) -> Result<Value, Unstackable> {
    let ragged = || Unstackable::Ragged;
    if let Some(unknown) = values.iter().find_map(Value::reason) {
        return Err(Unstackable::Unknown(unknown.reason.clone()));
    }
    match values.first() {
        None => Ok(Value::int_array(Vec::new())),
        Some(Value::Tuple(first)) => {
            let mut parts = Vec::with_capacity(first.parts.len());
            for k in 0..first.parts.len() {
                let column = values.iter().map(|v| match v {
                    Value::Tuple(t) if t.array == first.array => t.parts.get(k).cloned(),
                    _ => None,
                });
                parts.push(stack(&column.collect::<Option<Vec<_>>>().ok_or_else(ragged)?)?);
            }
            let array = std::iter::once(values.len()).chain(first.array.iter().copied()).collect();
            Ok(Tuple { array, parts }.into())
        }
        Some(first) => {
            let shape = first.shape().ok_or_else(ragged)?;
            if values.iter().any(|v| v.shape().as_ref() != Some(&shape)) {
                return Err(ragged());
            }
            let array = std::iter::once(values.len()).chain(shape.array).collect();
            let Item::Cell(cell) = shape.item else { return Err(ragged()) };
            let numbers = if cell == Cell::Int {
                Numbers::Int(values.iter().filter_map(Value::to_ints).flatten().collect())
            } else {
                Numbers::Real(values.iter().filter_map(Value::to_reals).flatten().collect())
            };
            Ok(Tensor { array, cell, numbers }.into())
        }
    }
}
