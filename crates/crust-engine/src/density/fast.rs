//! Vectorised densities: the ones that models spend their time in.
//!
//! A kernel computes the same numbers as the exact density, to a few units in the last place of its terms. Functions of a single
//! argument, such as log σ, are computed only once where the row repeats itself. A kernel says `false` for arguments outside of
//! the domain, for special cases within it, and where no term at all is wanted: these are left to the exact density.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

mod location;
mod row;
#[cfg(test)]
mod tests;

use crate::machine::RowKernel;

/// The vectorised densities by name.
const KERNELS: &[(&str, RowKernel)] = &[
    ("normal", location::normal),
    ("std_normal", location::std_normal),
    ("lognormal", location::lognormal),
    ("student_t", location::student_t),
    ("cauchy", location::cauchy),
    ("double_exponential", location::double_exponential),
    ("logistic", location::logistic),
    ("gumbel", location::gumbel),
];

/// The vectorised version of a density, by its name without suffix.
pub fn kernel(name: &str) -> Option<RowKernel> {
    KERNELS.iter().find(|(known, _)| *known == name).map(|(_, kernel)| *kernel)
}
