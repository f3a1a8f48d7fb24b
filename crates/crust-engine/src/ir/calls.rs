//! Functions of containers in lists: lane by lane, with the numbers of a lane side by side.

use crust_math::functions::Argument;
use smallvec::SmallVec;

use super::graph::ContainerCall;

/// The arguments of a function of containers: their numbers one after the other.
fn container_arguments<'a>(call: &ContainerCall, numbers: &'a [f64]) -> SmallVec<[Argument<'a>; 8]> {
    let mut rest = numbers;
    let each = call.shapes().iter().map(|&shape| {
        let (now, later) = rest.split_at(shape.len());
        rest = later;
        Argument { numbers: now, shape }
    });
    each.collect()
}

fn scratch_of(call: &ContainerCall) -> usize {
    match call {
        ContainerCall::Function { function, shapes, .. } => function.scratch(shapes),
        ContainerCall::Density { density, shapes, .. } => density.scratch(shapes),
    }
}

/// A function of containers in one lane, forward.
#[inline(never)]
pub fn call_lane<const L: usize>(
    call: &ContainerCall,
    slots: &[u32],
    (out, extra): (u32, u32),
    lane: usize,
    values: &mut [f64],
    scratch: &mut Vec<f64>,
) {
    let (count, results) = (slots.len(), call.results());
    let need = 2 * count + results + scratch_of(call);
    if scratch.len() < need {
        scratch.resize(need, 0.0);
    }
    let (numbers, rest) = scratch.split_at_mut(count);
    let (partials, rest) = rest.split_at_mut(count);
    let (result, rest) = rest.split_at_mut(results);
    for (to, &slot) in numbers.iter_mut().zip(slots) {
        *to = values[slot as usize * L + lane];
    }
    let arguments = container_arguments(call, numbers);
    match call {
        ContainerCall::Function { function, .. } => {
            if function.value(&arguments, result, rest).is_err() {
                result.fill(f64::NAN);
            }
        }
        ContainerCall::Density { density, terms, .. } => {
            partials.fill(0.0);
            let mut slices = call.slices(partials);
            result[0] = density.log_density(&arguments, *terms, 1.0, &mut slices, rest).unwrap_or(f64::NAN);
            drop(slices);
            for (k, d) in partials.iter().enumerate() {
                values[(extra as usize + k) * L + lane] = *d;
            }
        }
    }
    for (k, y) in result.iter().enumerate() {
        values[(out as usize + k) * L + lane] = *y;
    }
}

/// The same backward.
#[inline(never)]
pub fn reverse_call<const L: usize>(
    call: &ContainerCall,
    slots: &[u32],
    (out, extra): (u32, u32),
    lane: usize,
    values: &[f64],
    adjoints: &mut [f64],
    scratch: &mut Vec<f64>,
) {
    let ContainerCall::Function { function, results, .. } = call else {
        let d = adjoints[out as usize * L + lane];
        for (k, &slot) in slots.iter().enumerate() {
            adjoints[slot as usize * L + lane] += d * values[(extra as usize + k) * L + lane];
        }
        return;
    };
    let count = slots.len();
    let need = 2 * count + 2 * results + scratch_of(call);
    if scratch.len() < need {
        scratch.resize(need, 0.0);
    }
    let (numbers, rest) = scratch.split_at_mut(count);
    let (into, rest) = rest.split_at_mut(count);
    let (result, rest) = rest.split_at_mut(*results);
    let (d, rest) = rest.split_at_mut(*results);
    for (to, &slot) in numbers.iter_mut().zip(slots) {
        *to = values[slot as usize * L + lane];
    }
    for k in 0..*results {
        result[k] = values[(out as usize + k) * L + lane];
        d[k] = adjoints[(out as usize + k) * L + lane];
    }
    into.fill(0.0);
    let mut slices = call.slices(into);
    function.reverse(&container_arguments(call, numbers), result, d, &mut slices, rest);
    drop(slices);
    for (&slot, d) in slots.iter().zip(&*into) {
        adjoints[slot as usize * L + lane] += d;
    }
}
