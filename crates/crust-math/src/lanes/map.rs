//! Loops over slices, in whole blocks of lanes: what is left at the end is padded to a block, so that no element is
//! computed by other instructions than the rest.

use super::dispatch::{InstructionSet, Kernel, dispatch_on};
use std::marker::PhantomData;

/// Lanes of the widest instruction set.
pub(super) const BLOCK: usize = 8;

/// A function of one lane. A trait of our own rather than `Fn`, whose `call` for a plain function is not always
/// inlined.
pub(super) trait Function {
    /// Must be `#[inline(always)]`.
    fn at(x: f64) -> f64;
}

/// A function of two lanes.
pub(super) trait Function2 {
    /// Must be `#[inline(always)]`.
    fn at(x: f64, y: f64) -> f64;
}

struct Map<'a, F> {
    x: &'a [f64],
    out: &'a mut [f64],
    function: PhantomData<F>,
}

impl<F: Function> Kernel for Map<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        map_slices::<F>(self.x, self.out);
    }
}

// A function of its own so that the compiler knows that the slices do not overlap.
#[inline(always)]
fn map_slices<F: Function>(x: &[f64], out: &mut [f64]) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = F::at(x);
    }
}

struct MapInPlace<'a, F> {
    x: &'a mut [f64],
    function: PhantomData<F>,
}

impl<F: Function> Kernel for MapInPlace<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for x in self.x {
            *x = F::at(*x);
        }
    }
}

struct Map2<'a, F> {
    x: &'a [f64],
    y: &'a [f64],
    out: &'a mut [f64],
    function: PhantomData<F>,
}

impl<F: Function2> Kernel for Map2<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        map2_slices::<F>(self.x, self.y, self.out);
    }
}

#[inline(always)]
fn map2_slices<F: Function2>(x: &[f64], y: &[f64], out: &mut [f64]) {
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        *out = F::at(x, y);
    }
}

/// `out = f(x)` for each lane.
#[inline]
pub(super) fn map<F: Function>(set: InstructionSet, x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "lanes in and out");
    let whole = x.len() - x.len() % BLOCK;
    let (x, rest) = x.split_at(whole);
    let (out, out_rest) = out.split_at_mut(whole);
    if !x.is_empty() {
        dispatch_on(set, Map::<F> { x, out, function: PhantomData });
    }
    if !rest.is_empty() {
        let mut block = [1.0; BLOCK];
        let mut result = [0.0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        dispatch_on(set, Map::<F> { x: &block, out: &mut result, function: PhantomData });
        out_rest.copy_from_slice(&result[..rest.len()]);
    }
}

/// `x = f(x)` for each lane.
#[inline]
pub(super) fn map_in_place<F: Function>(set: InstructionSet, x: &mut [f64]) {
    let whole = x.len() - x.len() % BLOCK;
    let (x, rest) = x.split_at_mut(whole);
    if !x.is_empty() {
        dispatch_on(set, MapInPlace::<F> { x, function: PhantomData });
    }
    if !rest.is_empty() {
        let mut block = [1.0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        dispatch_on(set, MapInPlace::<F> { x: &mut block, function: PhantomData });
        rest.copy_from_slice(&block[..rest.len()]);
    }
}

/// `out = f(x, y)` for each lane.
#[inline]
pub(super) fn map2<F: Function2>(set: InstructionSet, x: &[f64], y: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "lanes in and out");
    assert_eq!(y.len(), out.len(), "lanes in and out");
    let whole = x.len() - x.len() % BLOCK;
    if whole > 0 {
        dispatch_on(set, Map2::<F> { x: &x[..whole], y: &y[..whole], out: &mut out[..whole], function: PhantomData });
    }
    let rest = x.len() - whole;
    if rest > 0 {
        let (mut x_block, mut y_block, mut result) = ([1.0; BLOCK], [1.0; BLOCK], [0.0; BLOCK]);
        x_block[..rest].copy_from_slice(&x[whole..]);
        y_block[..rest].copy_from_slice(&y[whole..]);
        dispatch_on(set, Map2::<F> { x: &x_block, y: &y_block, out: &mut result, function: PhantomData });
        out[whole..].copy_from_slice(&result[..rest]);
    }
}
