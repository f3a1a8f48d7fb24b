//! The types of Stan expressions, their names, and which of them turn into which others by themselves.

use std::fmt;

/// The type of an expression, without sizes. An array type is nested once per dimension: `array[,] real` is
/// `Array(Array(Real))`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Int,
    Real,
    Complex,
    Vector,
    RowVector,
    Matrix,
    ComplexVector,
    ComplexRowVector,
    ComplexMatrix,
    Array(Box<Type>),
    Tuple(Vec<Type>),
    Function(Box<FunctionType>),
    /// The type of something that is already known to be wrong: it fits everywhere, so that one mistake gives one
    /// message.
    Unknown,
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionType {
    pub arguments: Vec<ArgumentType>,
    /// `None` for `void`.
    pub returns: Option<Type>,
}

/// The type of one function argument; `data_only` for arguments declared with the qualifier `data`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArgumentType {
    pub data_only: bool,
    pub ty: Type,
}

impl ArgumentType {
    pub fn plain(ty: Type) -> Self {
        Self { data_only: false, ty }
    }

    pub fn data(ty: Type) -> Self {
        Self { data_only: true, ty }
    }
}

impl Type {
    /// This type inside `dimensions` array dimensions.
    #[must_use]
    pub fn in_array(self, dimensions: usize) -> Self {
        (0..dimensions).fold(self, |inner, _| Self::Array(Box::new(inner)))
    }

    /// The element below all array dimensions, and how many dimensions there are.
    pub fn array_parts(&self) -> (&Self, usize) {
        let (mut inner, mut dimensions) = (self, 0);
        while let Self::Array(element) = inner {
            inner = element;
            dimensions += 1;
        }
        (inner, dimensions)
    }

    pub fn is_scalar(&self) -> bool {
        matches!(self, Self::Int | Self::Real | Self::Complex)
    }

    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }

    /// Whether [`Type::Unknown`] occurs anywhere in this type.
    pub fn mentions_unknown(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Array(element) => element.mentions_unknown(),
            Self::Tuple(parts) => parts.iter().any(Self::mentions_unknown),
            _ => false,
        }
    }

    /// Whether every number in a value of this type is an integer.
    pub fn is_int_like(&self) -> bool {
        matches!(self.array_parts().0, Self::Int | Self::Unknown)
    }

    /// Whether a number of complex type occurs in this type.
    pub fn has_complex(&self) -> bool {
        match self {
            Self::Complex | Self::ComplexVector | Self::ComplexRowVector | Self::ComplexMatrix => true,
            Self::Array(element) => element.has_complex(),
            Self::Tuple(parts) => parts.iter().any(Self::has_complex),
            _ => false,
        }
    }

    /// Whether an integer occurs anywhere in this type (parameters must not have any).
    pub fn has_int(&self) -> bool {
        match self {
            Self::Int => true,
            Self::Array(element) => element.has_int(),
            Self::Tuple(parts) => parts.iter().any(Self::has_int),
            _ => false,
        }
    }
}

/// How many steps of promotion lead from `from` to `to` (int → real → complex, also inside containers), or `None` where
/// there is no way. Overload resolution picks the candidate with the fewest steps in sum.
pub fn promotion_steps(from: &Type, to: &Type) -> Option<u32> {
    use Type::{
        Array, Complex, ComplexMatrix, ComplexRowVector, ComplexVector, Int, Matrix, Real, RowVector, Tuple, Unknown,
        Vector,
    };
    match (from, to) {
        (Unknown, _) | (_, Unknown) => Some(0),
        (a, b) if a == b => Some(0),
        (Int, Real)
        | (Real, Complex)
        | (Vector, ComplexVector)
        | (RowVector, ComplexRowVector)
        | (Matrix, ComplexMatrix) => Some(1),
        (Int, Complex) => Some(2),
        (Array(a), Array(b)) => promotion_steps(a, b),
        (Tuple(a), Tuple(b)) if a.len() == b.len() => {
            a.iter().zip(b).try_fold(0, |sum, (a, b)| Some(sum + promotion_steps(a, b)?))
        }
        _ => None,
    }
}

/// The smallest type that both promote to, if there is one (the type of `c ? a : b` and of array elements).
pub fn common_type(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        (Type::Unknown, other) | (other, Type::Unknown) => Some(other.clone()),
        (Type::Array(a), Type::Array(b)) => Some(Type::Array(Box::new(common_type(a, b)?))),
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
            a.iter().zip(b).map(|(a, b)| common_type(a, b)).collect::<Option<_>>().map(Type::Tuple)
        }
        _ if promotion_steps(a, b).is_some() => Some(b.clone()),
        _ if promotion_steps(b, a).is_some() => Some(a.clone()),
        _ => None,
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Int => "int",
            Self::Real => "real",
            Self::Complex => "complex",
            Self::Vector => "vector",
            Self::RowVector => "row_vector",
            Self::Matrix => "matrix",
            Self::ComplexVector => "complex_vector",
            Self::ComplexRowVector => "complex_row_vector",
            Self::ComplexMatrix => "complex_matrix",
            Self::Unknown => "<unknown>",
            Self::Array(_) => {
                let (element, dimensions) = self.array_parts();
                return write!(f, "array[{}] {element}", ",".repeat(dimensions - 1));
            }
            Self::Tuple(parts) => {
                f.write_str("tuple(")?;
                write_list(f, parts)?;
                // A tuple of one part has a comma behind it, like its values.
                return f.write_str(if parts.len() == 1 { ",)" } else { ")" });
            }
            Self::Function(function) => return function.fmt(f),
        };
        f.write_str(name)
    }
}

impl fmt::Display for FunctionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        write_list(f, &self.arguments)?;
        match &self.returns {
            Some(ty) => write!(f, ") => {ty}"),
            None => f.write_str(") => void"),
        }
    }
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.data_only { "data " } else { "" }, self.ty)
    }
}

fn write_list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stans() {
        let ty = Type::Tuple(vec![Type::Int, Type::Vector.in_array(2)]).in_array(1);
        assert_eq!(ty.to_string(), "array[] tuple(int, array[,] vector)");
        let f = FunctionType { arguments: vec![ArgumentType::data(Type::Real.in_array(1))], returns: None };
        assert_eq!(f.to_string(), "(data array[] real) => void");
    }

    #[test]
    fn promotion_counts_steps_and_never_goes_back() {
        assert_eq!(promotion_steps(&Type::Int, &Type::Complex), Some(2));
        assert_eq!(promotion_steps(&Type::Real, &Type::Int), None);
        assert_eq!(promotion_steps(&Type::Int.in_array(1), &Type::Real.in_array(1)), Some(1));
        assert_eq!(promotion_steps(&Type::Int.in_array(1), &Type::Real.in_array(2)), None);
        let from = Type::Tuple(vec![Type::Int, Type::Vector]);
        let to = Type::Tuple(vec![Type::Real, Type::ComplexVector]);
        assert_eq!(promotion_steps(&from, &to), Some(2));
    }

    #[test]
    fn common_type_meets_in_the_middle() {
        let a = Type::Tuple(vec![Type::Int, Type::Complex]);
        let b = Type::Tuple(vec![Type::Real, Type::Int]);
        assert_eq!(common_type(&a, &b), Some(Type::Tuple(vec![Type::Real, Type::Complex])));
        assert_eq!(common_type(&Type::Vector, &Type::RowVector), None);
    }
}
