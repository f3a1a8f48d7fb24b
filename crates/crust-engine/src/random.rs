//! Random number generators of Stan's library by name.

mod container;
mod scalar;

use crate::simulate::Forward;

pub use container::{Container, Extent};
pub use scalar::Scalar;

/// A function whose name ends in `_rng`.
#[derive(Clone, Copy, Debug)]
pub enum Generator {
    /// Draws a number; containers as arguments give an array of draws.
    Scalar(&'static Scalar),
    /// Looks at whole containers, or draws one.
    Container(&'static Container),
    /// A step of the forward sampler; no program can name it.
    Forward(Forward),
}

impl Generator {
    /// The generator with this name, the suffix `_rng` included.
    pub fn named(name: &str) -> Option<Self> {
        if let Some(step) = name.strip_prefix(Forward::PREFIX) {
            return Forward::named(step).map(Self::Forward);
        }
        let scalar = scalar::ALL.iter().find(|g| g.name == name).map(Self::Scalar);
        scalar.or_else(|| container::ALL.iter().find(|g| g.name == name).map(Self::Container))
    }

    /// How many arguments it takes; `None` for any number.
    pub fn arity(self) -> Option<usize> {
        match self {
            Self::Scalar(scalar) => Some(scalar.arity),
            Self::Container(container) => Some(container.arity),
            Self::Forward(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crust_stan::signatures::{expand, function_names};

    use super::*;

    #[test]
    fn every_generator_of_stan_is_there_and_no_other() {
        let here: BTreeSet<&str> =
            scalar::ALL.iter().map(|g| g.name).chain(container::ALL.iter().map(|g| g.name)).collect();
        assert_eq!(here.len(), scalar::ALL.len() + container::ALL.len(), "a name stands twice");
        let known: BTreeSet<&str> = function_names().filter(|name| name.ends_with("_rng")).collect();
        assert_eq!(here, known);
    }

    #[test]
    fn arities_are_those_of_the_signatures() {
        for name in function_names().filter(|name| name.ends_with("_rng")) {
            let arity = Generator::named(name).and_then(Generator::arity);
            assert!(expand(name).iter().all(|f| Some(f.arguments.len()) == arity), "{name}");
        }
    }
}
