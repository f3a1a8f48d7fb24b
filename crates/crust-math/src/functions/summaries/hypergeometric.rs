//! Hypergeometric functions of parameters in containers.

use crate::density::{Domain, DomainError};
use crate::functions::{Argument, Shape, ShapeError, VectorFunction};
use crate::special;

/// A function of upper parameters, lower parameters and z, in this order whatever the arguments are.
pub(super) struct Hypergeometric {
    name: &'static str,
    /// How many numbers each argument must have, if that is fixed.
    sizes: &'static [usize],
    partials: fn(&[Argument]) -> special::HypergeometricPartials,
}

pub(super) const GAUSS: Hypergeometric =
    Hypergeometric { name: "hypergeometric_2F1", sizes: &[1, 1, 1, 1], partials: gauss };
pub(super) const CLAUSEN: Hypergeometric =
    Hypergeometric { name: "hypergeometric_3F2", sizes: &[3, 2, 1], partials: clausen };
pub(super) const GENERALISED: Hypergeometric =
    Hypergeometric { name: "hypergeometric_pFq", sizes: &[], partials: generalised };

fn gauss(arguments: &[Argument]) -> special::HypergeometricPartials {
    let at = |i: usize| arguments[i].numbers[0];
    let p = special::hypergeometric_2F1_partials(at(0), at(1), at(2), at(3));
    special::HypergeometricPartials { value: p.value, a: p.d[..2].to_vec(), b: vec![p.d[2]], z: p.d[3] }
}

fn clausen(arguments: &[Argument]) -> special::HypergeometricPartials {
    let at = |argument: usize, i: usize| arguments[argument].numbers[i];
    let (a, b) = ([at(0, 0), at(0, 1), at(0, 2)], [at(1, 0), at(1, 1)]);
    special::hypergeometric_3F2_partials(a, b, at(2, 0))
}

fn generalised(arguments: &[Argument]) -> special::HypergeometricPartials {
    special::hypergeometric_pFq_partials(arguments[0].numbers, arguments[1].numbers, arguments[2].numbers[0])
}

impl VectorFunction for Hypergeometric {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        for (i, (argument, &size)) in arguments.iter().zip(self.sizes).enumerate() {
            if argument.shape.len() != size {
                return Err(ShapeError::Elements { argument: i + 1, shape: argument.shape, size });
            }
        }
        Ok(Shape::SCALAR)
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let domain = Domain(self.name);
        for &x in arguments.iter().flat_map(|a| a.numbers) {
            domain.finite("an argument", x)?;
        }
        out[0] = (self.partials)(arguments).value;
        let z = arguments[arguments.len() - 1].numbers[0];
        domain.that(!out[0].is_nan(), "z", z, "where the series converges")
    }

    fn reverse(&self, arguments: &[Argument], _: &[f64], adjoint: &[f64], adjoints: &mut [&mut [f64]], _: &mut [f64]) {
        let p = (self.partials)(arguments);
        let mut d = p.a.iter().chain(&p.b).chain(std::iter::once(&p.z));
        for (argument, to) in arguments.iter().zip(adjoints) {
            for (i, d) in d.by_ref().take(argument.numbers.len()).enumerate() {
                if let Some(to) = to.get_mut(i) {
                    *to += adjoint[0] * d;
                }
            }
        }
    }
}
