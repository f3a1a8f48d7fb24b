//! Values as text: `[[1, 2], [3, 4]]`, matrices row by row, `1+2i`, `(1, [2])`.

use std::fmt::{self, Display, Formatter};

use super::{Complex, Numbers, Tensor, Tuple, Value};

impl Display for Complex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}i", self.re, if self.im.is_sign_negative() { "" } else { "+" }, self.im)
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => n.fmt(f),
            Self::Real(x) => x.fmt(f),
            Self::Complex(z) => z.fmt(f),
            Self::Tensor(t) => write_tensor(f, t),
            Self::Tuple(t) => write_tuple(f, t),
            Self::Unavailable(u) => write!(f, "<unknown: {}>", u.reason),
        }
    }
}

fn write_tensor(f: &mut Formatter<'_>, tensor: &Tensor) -> fmt::Result {
    // `array[2147483647, 0] real` is a legal value: it must not be printed bracket by bracket.
    if tensor.numbers.is_empty() {
        return f.write_str("[]");
    }
    let dims = tensor.dims();
    // In the order in which they are printed; in a matrix the row, printed first, is the dimension that runs fastest.
    let mut strides = vec![1; dims.len()];
    for k in (1..dims.len()).rev() {
        strides[k - 1] = strides[k] * dims[k];
    }
    if let [.., row, col] = strides.as_mut_slice()
        && tensor.cell.dims().as_slice().len() == 2
    {
        (*row, *col) = (1, dims[dims.len() - 2]);
    }
    write_nested(f, tensor, &dims, &strides, 0)
}

fn write_nested(f: &mut Formatter<'_>, tensor: &Tensor, dims: &[usize], strides: &[usize], at: usize) -> fmt::Result {
    let [size, dims @ ..] = dims else { return write_number(f, tensor, at) };
    f.write_str("[")?;
    for i in 0..*size {
        f.write_str(if i == 0 { "" } else { ", " })?;
        write_nested(f, tensor, dims, &strides[1..], at + i * strides[0])?;
    }
    f.write_str("]")
}

fn write_number(f: &mut Formatter<'_>, tensor: &Tensor, at: usize) -> fmt::Result {
    match &tensor.numbers {
        Numbers::Int(v) => v[at].fmt(f),
        Numbers::Real(v) if tensor.cell.is_complex() => Complex { re: v[2 * at], im: v[2 * at + 1] }.fmt(f),
        Numbers::Real(v) => v[at].fmt(f),
    }
}

fn write_tuple(f: &mut Formatter<'_>, tuple: &Tuple) -> fmt::Result {
    if let Some(&size) = tuple.array.first() {
        f.write_str("[")?;
        for i in 0..size {
            f.write_str(if i == 0 { "" } else { ", " })?;
            match Value::from(tuple.clone()).element(i) {
                Some(element) => element.fmt(f)?,
                None => f.write_str("?")?,
            }
        }
        return f.write_str("]");
    }
    f.write_str("(")?;
    for (i, part) in tuple.parts.iter().enumerate() {
        write!(f, "{}{part}", if i == 0 { "" } else { ", " })?;
    }
    f.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Cell;

    #[test]
    fn matrices_are_printed_by_row() {
        let m = Value::matrix(2, 3, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.5]);
        assert_eq!(m.to_string(), "[[1, 2, 3], [4, 5, 6.5]]");
        let array = Tensor::reals(vec![2], Cell::Matrix(2, 2), vec![1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0]);
        assert_eq!(Value::from(array).to_string(), "[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]");
    }

    #[test]
    fn tuples_and_complex_numbers() {
        let z = Tensor::reals(vec![], Cell::ComplexVector(2), vec![1.0, -2.0, 0.5, 3.0]);
        let t = Tuple { array: vec![2], parts: vec![Value::int_array(vec![1, 2]), Value::real_array(vec![0.5, 1.0])] };
        let all = Value::tuple(vec![z.into(), t.into()]);
        assert_eq!(all.to_string(), "([1-2i, 0.5+3i], [(1, 0.5), (2, 1)])");
    }
}
