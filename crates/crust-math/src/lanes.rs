//! Elementary functions over rows of lanes (slices of `f64`, one element for each chain), at the speed of the vector
//! units.
//!
//! Each function exists as a branch-free kernel for one lane in [`scalar`], and as a loop over slices here, compiled
//! for several instruction sets and chosen at run time ([`dispatch`]). The result for an element is the same, bit for
//! bit, whatever the length of the slice, its position and the instruction set (only the sign and payload of a NaN are
//! not specified): every product that is fused with a sum is written as [`f64::mul_add`], and none other is. Where the
//! processor has no fused multiply-add, `mul_add` is a slow call of the C library: right, but for emergencies only.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::unreadable_literal, reason = "coefficients are written with all the digits that the fit printed")]
#![allow(clippy::float_cmp, reason = "special values are exact")]
#![allow(clippy::needless_bitwise_bool, reason = "kernels are without branches")]

mod dispatch;
mod exponential;
mod gamma;
mod logarithm;
mod map;
mod normal;
mod power;
mod quantile;
mod rows;
pub mod scalar;
mod trigonometric;

#[cfg(test)]
mod tests;

pub use dispatch::{InstructionSet, Kernel, digits_of_processor, dispatch, dispatch_on};
pub use rows::{log_sum_exp, softmax};

/// Defines a type in `functions` for each kernel.
macro_rules! functions {
    ($($name:ident)*) => {
        #[allow(non_camel_case_types, reason = "the types stand for functions")]
        mod functions {
            use super::{map::{Function, Function2}, scalar};

            $(
                pub(super) struct $name;

                impl Function for $name {
                    #[inline(always)]
                    fn at(x: f64) -> f64 {
                        scalar::$name(x)
                    }
                }
            )*

            pub(super) struct pow;

            impl Function2 for pow {
                #[inline(always)]
                fn at(x: f64, y: f64) -> f64 {
                    scalar::pow(x, y)
                }
            }
        }
    };
}

/// Defines `name(x, out)`, `name_in_place(x)` and an entry of [`UNARY`] for each kernel.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident, $in_place:ident;)*) => {
        functions! { $($name)* sin cos }

        $(
            $(#[$doc])*
            pub fn $name(x: &[f64], out: &mut [f64]) {
                map::map::<functions::$name>(InstructionSet::best(), x, out);
            }

            #[doc = concat!("[`", stringify!($name), "`] in place.")]
            pub fn $in_place(x: &mut [f64]) {
                map::map_in_place::<functions::$name>(InstructionSet::best(), x);
            }
        )*

        /// All functions of one argument by name, on an instruction set of choice, for tests and benchmarks. Sine and
        /// cosine are here without the fallback for large arguments.
        pub const UNARY: &[(&str, Unary)] =
            &[$((stringify!($name), map::map::<functions::$name>),)*
              ("sin", map::map::<functions::sin>),
              ("cos", map::map::<functions::cos>)];
    };
}

/// A function over lanes, on an instruction set of choice.
pub type Unary = fn(InstructionSet, &[f64], &mut [f64]);

unary! {
    /// exp(x), to 1 ulp.
    exp, exp_in_place;
    /// exp(x) - 1, to 1 ulp.
    expm1, expm1_in_place;
    /// log(x), to 1 ulp; -∞ at ±0, NaN below.
    log, log_in_place;
    /// log(1 + x), to 1 ulp.
    log1p, log1p_in_place;
    /// log(1 + exp(x)), the softplus function, to 2 ulp.
    log1p_exp, log1p_exp_in_place;
    /// 1 / (1 + exp(-x)), to 2 ulp.
    inv_logit, inv_logit_in_place;
    /// log(1 / (1 + exp(-x))), to 2 ulp.
    log_inv_logit, log_inv_logit_in_place;
    /// tanh(x), to 2 ulp.
    tanh, tanh_in_place;
    /// √x, correctly rounded.
    sqrt, sqrt_in_place;
    /// 1 / √x, to 1.5 ulp.
    inv_sqrt, inv_sqrt_in_place;
    /// x².
    square, square_in_place;
    /// erf(x), to 2 ulp.
    erf, erf_in_place;
    /// 1 - erf(x), to 6 ulp also in the upper tail.
    erfc, erfc_in_place;
    /// Φ(x) of the standard normal distribution, to 6 ulp also in the lower tail.
    phi, phi_in_place;
    /// log Γ(x) for x > 0, to 6 ulp also near its zeros; +∞ at 0, NaN below.
    lgamma, lgamma_in_place;
    /// The digamma function for x > 0, with an error of 2e-15·max(1, |result|); -∞ at 0, NaN below.
    digamma, digamma_in_place;
}

/// sin(x), to 2 ulp. Arguments beyond [`scalar::TRIGONOMETRIC_LIMIT`] are left to the standard library, one by one.
pub fn sin(x: &[f64], out: &mut [f64]) {
    map::map::<functions::sin>(InstructionSet::best(), x, out);
    beyond_limit(x, out, f64::sin);
}

/// cos(x), to 2 ulp. Arguments beyond [`scalar::TRIGONOMETRIC_LIMIT`] are left to the standard library, one by one.
pub fn cos(x: &[f64], out: &mut [f64]) {
    map::map::<functions::cos>(InstructionSet::best(), x, out);
    beyond_limit(x, out, f64::cos);
}

fn beyond_limit(x: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64) {
    let largest = x.iter().fold(0.0, |largest: f64, x| if x.abs() > largest { x.abs() } else { largest });
    if largest > scalar::TRIGONOMETRIC_LIMIT {
        for (out, &x) in out.iter_mut().zip(x) {
            if x.abs() > scalar::TRIGONOMETRIC_LIMIT {
                *out = f(x);
            }
        }
    }
}

/// x to the power y, to 1 ulp.
pub fn pow(x: &[f64], y: &[f64], out: &mut [f64]) {
    pow_on(InstructionSet::best(), x, y, out);
}

/// [`pow`] on an instruction set of choice.
pub fn pow_on(set: InstructionSet, x: &[f64], y: &[f64], out: &mut [f64]) {
    map::map2::<functions::pow>(set, x, y, out);
}
