//! The functions of the Stan library that the interpreter has: those that matter for sizes, indices and bounds, and
//! what people compute from data. The others give an unknown value, never a wrong one.

mod arrange;
mod build;
mod elementary;
mod linear;
mod summaries;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::operators::Answer;
use super::{Failure, fail};
use crate::value::{Tensor, Value};

/// How a function meets an unknown argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The result is unknown.
    Plain,
    /// The result is unknown, but has the shape of the first argument.
    Elementwise,
    /// It looks at the shape only, which may be known.
    Shape,
}

#[derive(Clone, Copy)]
pub(super) struct Function {
    name: &'static str,
    kind: Kind,
    run: fn(&Args) -> Answer,
}

const fn plain(name: &'static str, run: fn(&Args) -> Answer) -> Function {
    Function { name, kind: Kind::Plain, run }
}

const fn elementwise(name: &'static str, run: fn(&Args) -> Answer) -> Function {
    Function { name, kind: Kind::Elementwise, run }
}

const fn of_shape(name: &'static str, run: fn(&Args) -> Answer) -> Function {
    Function { name, kind: Kind::Shape, run }
}

static FUNCTIONS: LazyLock<HashMap<&'static str, Function>> = LazyLock::new(|| {
    let tables = [elementary::TABLE, summaries::TABLE, build::TABLE, arrange::TABLE, linear::TABLE];
    tables.into_iter().flatten().map(|f| (f.name, *f)).collect()
});

pub(super) fn find(name: &str) -> Option<Function> {
    FUNCTIONS.get(name).copied()
}

/// Why a function that [`find`] does not find has no value.
pub(super) fn why_absent(name: &str) -> String {
    if name.ends_with("_rng") {
        format!("`{name}` draws at random")
    } else {
        format!("`{name}` is not computed before the run")
    }
}

/// Calls a function; no container of more than `limit` numbers is built.
pub(super) fn apply(function: Function, values: &[Value], limit: usize) -> Answer {
    if function.kind != Kind::Shape
        && let Some(unknown) = values.iter().find_map(Value::reason)
    {
        let shape = match function.kind {
            Kind::Elementwise => values.first().and_then(Value::shape),
            _ => None,
        };
        return Ok(Value::unavailable(unknown.reason.clone(), unknown.span, shape));
    }
    (function.run)(&Args { name: function.name, values, limit })
}

/// The arguments of a call. The type checker has seen to their number and types; what is wrong all the same gives an
/// error, not a panic.
struct Args<'a> {
    name: &'static str,
    values: &'a [Value],
    limit: usize,
}

impl Args<'_> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn get(&self, i: usize) -> Result<&Value, Failure> {
        match self.values.get(i) {
            Some(value) => Ok(value),
            None => fail("argument-count", format!("`{}` lacks an argument", self.name)),
        }
    }

    fn int(&self, i: usize) -> Result<i32, Failure> {
        match self.get(i)?.as_int() {
            Some(n) => Ok(n),
            None => fail("argument-type", format!("argument {} of `{}` must be an int", i + 1, self.name)),
        }
    }

    /// An integer that is a size.
    fn size(&self, i: usize) -> Result<usize, Failure> {
        let n = self.int(i)?;
        match usize::try_from(n) {
            Ok(n) => Ok(n),
            Err(_) => fail(
                "negative-size",
                format!("argument {} of `{}` is {n}: a size must not be negative", i + 1, self.name),
            ),
        }
    }

    /// An integer that counts from one up to `size`; the result counts from zero.
    fn position(&self, i: usize, size: usize) -> Result<usize, Failure> {
        let n = self.int(i)?;
        match usize::try_from(n) {
            Ok(n) if (1..=size).contains(&n) => Ok(n - 1),
            _ => {
                let message = format!("argument {} of `{}` is {n}, out of range 1 to {size}", i + 1, self.name);
                fail("index-out-of-range", message)
            }
        }
    }

    fn real(&self, i: usize) -> Result<f64, Failure> {
        match self.get(i)?.as_real() {
            Some(x) => Ok(x),
            None => fail("argument-type", format!("argument {} of `{}` must be a number", i + 1, self.name)),
        }
    }

    fn tensor(&self, i: usize) -> Result<&Tensor, Failure> {
        match self.get(i)?.as_tensor() {
            Some(t) => Ok(t),
            None => fail("argument-type", format!("argument {} of `{}` must be a container", i + 1, self.name)),
        }
    }

    fn reals(&self, i: usize) -> Result<Vec<f64>, Failure> {
        Ok(self.tensor(i)?.numbers.to_reals())
    }

    /// Refuses to build a container of that many numbers if that is too many.
    fn room(&self, sizes: &[usize]) -> Result<usize, Failure> {
        match sizes.iter().try_fold(1_usize, |product, &n| product.checked_mul(n)) {
            Some(n) if n <= self.limit => Ok(n),
            _ => fail("too-large", format!("the result of `{}` has more than {} numbers", self.name, self.limit)),
        }
    }

    fn error<T>(&self, code: &'static str, message: &str) -> Result<T, Failure> {
        fail(code, format!("`{}`: {message}", self.name))
    }
}

/// A count as Stan's int.
fn count(n: usize) -> Answer {
    match i32::try_from(n) {
        Ok(n) => Ok(Value::Int(n)),
        Err(_) => fail("integer-overflow", format!("{n} does not fit Stan's int, which has 32 bits")),
    }
}

/// A count as a real; no container is so long that this rounds.
#[expect(clippy::cast_precision_loss, reason = "containers have far fewer than 2^53 elements")]
fn real(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_one_of_stans_and_stands_once() {
        let tables = [elementary::TABLE, summaries::TABLE, build::TABLE, arrange::TABLE, linear::TABLE];
        let mut seen = std::collections::BTreeSet::new();
        for f in tables.into_iter().flatten() {
            assert!(seen.insert(f.name), "{} stands twice", f.name);
            assert!(crate::signatures::is_function(f.name), "{} is not a function of Stan", f.name);
        }
    }

    #[test]
    fn wrong_arguments_never_panic() {
        let odd = [
            Value::Int(-1),
            Value::Int(0),
            Value::Int(2),
            Value::Int(i32::MAX),
            Value::Real(f64::NAN),
            Value::Complex(crate::value::Complex { re: 1.0, im: 2.0 }),
            Value::vector(vec![]),
            Value::vector(vec![1.0, 2.0, 3.0]),
            Value::row_vector(vec![2.0]),
            Value::matrix(2, 2, vec![1.0, 2.0, 2.0, 1.0]),
            Value::matrix(0, 3, vec![]),
            Value::int_array(vec![3, 1, 2]),
            Value::int_array(vec![]),
            Value::real_array(vec![0.5]),
            Value::tuple(vec![Value::Int(1)]),
        ];
        for function in FUNCTIONS.values() {
            let _ = apply(*function, &[], 1000);
            for a in &odd {
                let _ = apply(*function, std::slice::from_ref(a), 1000);
                for b in &odd {
                    let _ = apply(*function, &[a.clone(), b.clone()], 1000);
                    for c in [&odd[0], &odd[2], &odd[4], &odd[7]] {
                        let _ = apply(*function, &[a.clone(), b.clone(), c.clone()], 1000);
                        let _ = apply(*function, &[a.clone(), b.clone(), c.clone(), b.clone(), a.clone()], 1000);
                        let many = [a.clone(), c.clone(), b.clone(), odd[11].clone(), odd[11].clone(), b.clone()];
                        let _ = apply(*function, &many, 1000);
                    }
                }
            }
        }
    }
}
