//! Functions of containers in lists: eight lanes at once where the function has such a version, else lane by lane, with
//! the numbers of a lane side by side. Where some lane is outside of the domain, each of the others is eight times in a
//! group of its own: what it gets must not depend on its neighbours.

use std::ops::Range;

use crust_math::functions::{Argument, LaneArgument, Row, Shape};
use smallvec::SmallVec;

use super::graph::ContainerCall;
use crate::memory::Aligned;

/// Lanes of a row.
const EIGHT: usize = 8;

/// Lanes that are computed at once: eight, or one, which then fills the row.
#[derive(Clone, Copy)]
struct Group {
    first: usize,
    count: usize,
    /// All lanes.
    lanes: usize,
}

impl Group {
    /// The first of our numbers in a slot.
    fn at(self, slot: usize) -> usize {
        slot * self.lanes + self.first
    }

    fn only(self, lane: usize) -> Self {
        Self { first: lane, count: 1, ..self }
    }

    fn load(self, numbers: &[f64], slot: usize) -> Row {
        if self.count == 1 {
            return [numbers[self.at(slot)]; EIGHT];
        }
        numbers[self.at(slot)..].first_chunk().copied().unwrap_or_default()
    }

    fn store(self, numbers: &mut [f64], slot: usize, row: Row) {
        numbers[self.at(slot)..][..self.count].copy_from_slice(&row[..self.count]);
    }
}

struct Lanes<const L: usize>;

impl<const L: usize> Lanes<L> {
    /// Groups of eight lanes, or the only lane.
    fn groups() -> impl Iterator<Item = Group> {
        let count = L.min(EIGHT);
        (0..L).step_by(count).map(move |first| Group { first, count, lanes: L })
    }
}

/// A function of containers, forward.
#[inline(never)]
pub fn forward_call<const L: usize>(
    call: &ContainerCall,
    slots: &[u32],
    places: (u32, u32),
    values: &mut [f64],
    scratch: &mut Aligned,
) {
    if L == EIGHT && call_in_place(call, slots, places, values, scratch).is_some() {
        return;
    }
    for group in Lanes::<L>::groups() {
        if L > EIGHT && call_rows(call, slots, places, group, values, scratch).is_some() {
            continue;
        }
        for lane in group.first..group.first + group.count {
            if L < EIGHT || call_rows(call, slots, places, group.only(lane), values, scratch).is_none() {
                call_lane::<L>(call, slots, places, lane, values, scratch);
            }
        }
    }
}

/// The same backward.
#[inline(never)]
pub fn reverse_call<const L: usize>(
    call: &ContainerCall,
    slots: &[u32],
    places: (u32, u32),
    values: &[f64],
    adjoints: &mut [f64],
    scratch: &mut Aligned,
) {
    if let ContainerCall::Density { .. } = call {
        let d = &adjoints[places.0 as usize * L..][..L];
        let d: SmallVec<[f64; 32]> = SmallVec::from_slice(d);
        for k in varying(call).flatten() {
            let (to, by) = (&mut adjoints[slots[k] as usize * L..][..L], &values[(places.1 as usize + k) * L..][..L]);
            for ((to, by), d) in to.iter_mut().zip(by).zip(&d) {
                *to += d * by;
            }
        }
        return;
    }
    if L == EIGHT && reverse_in_place(call, slots, places.0, values, adjoints, scratch).is_some() {
        return;
    }
    for group in Lanes::<L>::groups() {
        if L > EIGHT && reverse_rows(call, slots, places.0, group, values, adjoints, scratch).is_some() {
            continue;
        }
        for lane in group.first..group.first + group.count {
            let own = group.only(lane);
            if L < EIGHT || reverse_rows(call, slots, places.0, own, values, adjoints, scratch).is_none() {
                reverse_lane::<L>(call, slots, places.0, lane, values, adjoints, scratch);
            }
        }
    }
}

/// The numbers of each argument that depends on parameters, counted over all arguments. Data may be most of them.
fn varying(call: &ContainerCall) -> impl Iterator<Item = Range<usize>> {
    let (ContainerCall::Function { shapes, varies, .. } | ContainerCall::Density { shapes, varies, .. }) = call;
    let mut end = 0;
    let ranges = shapes.iter().map(move |shape| {
        end += shape.len();
        end - shape.len()..end
    });
    ranges.zip(varies).filter_map(|(range, varies)| varies.then_some(range))
}

/// Room for so many rows.
fn rows(scratch: &mut Aligned, n: usize) -> &mut [Row] {
    if scratch.len() < n * 8 {
        scratch.resize(n * 8);
    }
    &mut scratch.as_chunks_mut::<8>().0[..n]
}

fn row_arguments<'a>(shapes: &[Shape], numbers: &'a [Row]) -> SmallVec<[LaneArgument<'a>; 8]> {
    let mut rest = numbers;
    let each = shapes.iter().map(|&shape| {
        let (now, later) = rest.split_at(shape.len());
        rest = later;
        LaneArgument { numbers: now, shape }
    });
    each.collect()
}

/// The part of each argument, of room for as many rows as they have; nothing of those that do not depend on parameters.
fn row_slices<'a>(shapes: &[Shape], varies: &[bool], mut room: &'a mut [Row]) -> SmallVec<[&'a mut [Row]; 8]> {
    let mut slices = SmallVec::new();
    for (shape, varies) in shapes.iter().zip(varies) {
        let (now, later) = room.split_at_mut(shape.len());
        room = later;
        slices.push(if *varies { now } else { &mut [] });
    }
    slices
}

/// The arguments of eight lanes where there are no more: those whose numbers are neighbours are looked at where they
/// are, the others are put side by side in `numbers`.
fn arguments_in_place<'a>(
    shapes: &[Shape],
    mut slots: &[u32],
    values: &'a [Row],
    numbers: &'a mut [Row],
) -> SmallVec<[LaneArgument<'a>; 8]> {
    let mut room = numbers;
    let mut arguments = SmallVec::new();
    for &shape in shapes {
        let (own, later) = slots.split_at(shape.len());
        slots = later;
        let first = own.first().copied().unwrap_or(0);
        let numbers = if own.iter().zip(first..).all(|(&slot, expected)| slot == expected) {
            &values[first as usize..][..own.len()]
        } else {
            let (now, rest) = room.split_at_mut(own.len());
            room = rest;
            for (to, &slot) in now.iter_mut().zip(own) {
                *to = values[slot as usize];
            }
            now
        };
        arguments.push(LaneArgument { numbers, shape });
    }
    arguments
}

/// The rows of a function that eight lanes need besides arguments and results, if they can be computed at once.
fn rows_needed(call: &ContainerCall) -> Option<usize> {
    match call {
        ContainerCall::Function { function, shapes, .. } => function.lanes_scratch(shapes),
        ContainerCall::Density { density, shapes, .. } => density.lanes_scratch(shapes),
    }
}

/// The only eight lanes at once, if that can be done: results and derivatives go where they belong.
fn call_in_place(
    call: &ContainerCall,
    slots: &[u32],
    (out, extra): (u32, u32),
    values: &mut [f64],
    scratch: &mut Aligned,
) -> Option<()> {
    let (numbers, rest) = rows(scratch, slots.len() + rows_needed(call)?).split_at_mut(slots.len());
    // Arguments were there before results.
    let (low, high) = values.as_chunks_mut::<EIGHT>().0.split_at_mut(out as usize);
    let arguments = arguments_in_place(call.shapes(), slots, low, numbers);
    match call {
        ContainerCall::Function { function, results, .. } => {
            function.value_lanes(&arguments, &mut high[..*results], rest).then_some(())
        }
        ContainerCall::Density { density, shapes, terms, varies } => {
            let (result, partials) = high.split_at_mut((extra - out) as usize);
            varying(call).for_each(|range| partials[range].fill([0.0; EIGHT]));
            let mut slices = row_slices(shapes, varies, partials);
            result[0] = density.log_density_lanes(&arguments, *terms, &mut slices, rest)?;
            Some(())
        }
    }
}

/// The same backward.
fn reverse_in_place(
    call: &ContainerCall,
    slots: &[u32],
    out: u32,
    values: &[f64],
    adjoints: &mut [f64],
    scratch: &mut Aligned,
) -> Option<()> {
    let ContainerCall::Function { function, results, shapes, varies } = call else { return None };
    let count = slots.len();
    let (numbers, rest) = rows(scratch, 2 * count + rows_needed(call)?).split_at_mut(count);
    let (into, rest) = rest.split_at_mut(count);
    let values = values.as_chunks::<EIGHT>().0;
    let arguments = arguments_in_place(shapes, slots, values, numbers);
    let (low, high) = adjoints.as_chunks_mut::<EIGHT>().0.split_at_mut(out as usize);
    varying(call).for_each(|range| into[range].fill([0.0; EIGHT]));
    let mut slices = row_slices(shapes, varies, into);
    let result = &values[out as usize..][..*results];
    if !function.reverse_lanes(&arguments, result, &high[..*results], &mut slices, rest) {
        return None;
    }
    drop(slices);
    for k in varying(call).flatten() {
        let to = &mut low[slots[k] as usize];
        (0..EIGHT).for_each(|l| to[l] += into[k][l]);
    }
    Some(())
}

/// Eight of more lanes at once, if that can be done.
fn call_rows(
    call: &ContainerCall,
    slots: &[u32],
    (out, extra): (u32, u32),
    group: Group,
    values: &mut [f64],
    scratch: &mut Aligned,
) -> Option<()> {
    let (count, results) = (slots.len(), call.results());
    let (numbers, rest) = rows(scratch, 2 * count + results + rows_needed(call)?).split_at_mut(count);
    for (to, &slot) in numbers.iter_mut().zip(slots) {
        *to = group.load(values, slot as usize);
    }
    let (partials, rest) = rest.split_at_mut(count);
    let (result, rest) = rest.split_at_mut(results);
    let arguments = row_arguments(call.shapes(), numbers);
    match call {
        ContainerCall::Function { function, .. } => {
            if !function.value_lanes(&arguments, result, rest) {
                return None;
            }
        }
        ContainerCall::Density { density, shapes, terms, varies } => {
            varying(call).for_each(|range| partials[range].fill([0.0; 8]));
            let mut slices = row_slices(shapes, varies, partials);
            result[0] = density.log_density_lanes(&arguments, *terms, &mut slices, rest)?;
            drop(slices);
            for k in varying(call).flatten() {
                group.store(values, extra as usize + k, partials[k]);
            }
        }
    }
    for (k, row) in result.iter().enumerate() {
        group.store(values, out as usize + k, *row);
    }
    Some(())
}

fn reverse_rows(
    call: &ContainerCall,
    slots: &[u32],
    out: u32,
    group: Group,
    values: &[f64],
    adjoints: &mut [f64],
    scratch: &mut Aligned,
) -> Option<()> {
    let ContainerCall::Function { function, results, shapes, varies } = call else { return None };
    let (count, results) = (slots.len(), *results);
    let (numbers, rest) = rows(scratch, 2 * count + 2 * results + rows_needed(call)?).split_at_mut(count);
    let (into, rest) = rest.split_at_mut(count);
    let (result, rest) = rest.split_at_mut(results);
    let (d, rest) = rest.split_at_mut(results);
    for (to, &slot) in numbers.iter_mut().zip(slots) {
        *to = group.load(values, slot as usize);
    }
    for k in 0..results {
        result[k] = group.load(values, out as usize + k);
        d[k] = group.load(adjoints, out as usize + k);
    }
    varying(call).for_each(|range| into[range].fill([0.0; 8]));
    let mut slices = row_slices(shapes, varies, into);
    let arguments = row_arguments(shapes, numbers);
    if !function.reverse_lanes(&arguments, result, d, &mut slices, rest) {
        return None;
    }
    drop(slices);
    for k in varying(call).flatten() {
        let slot = slots[k] as usize;
        let mut to = group.load(adjoints, slot);
        (0..EIGHT).for_each(|l| to[l] += into[k][l]);
        group.store(adjoints, slot, to);
    }
    Some(())
}

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
fn call_lane<const L: usize>(
    call: &ContainerCall,
    slots: &[u32],
    (out, extra): (u32, u32),
    lane: usize,
    values: &mut [f64],
    scratch: &mut Aligned,
) {
    let (count, results) = (slots.len(), call.results());
    let need = 2 * count + results + scratch_of(call);
    if scratch.len() < need {
        scratch.resize(need);
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
            varying(call).for_each(|range| partials[range].fill(0.0));
            let mut slices = call.slices(partials);
            result[0] = density.log_density(&arguments, *terms, 1.0, &mut slices, rest).unwrap_or(f64::NAN);
            drop(slices);
            for k in varying(call).flatten() {
                values[(extra as usize + k) * L + lane] = partials[k];
            }
        }
    }
    for (k, y) in result.iter().enumerate() {
        values[(out as usize + k) * L + lane] = *y;
    }
}

/// The same backward.
fn reverse_lane<const L: usize>(
    call: &ContainerCall,
    slots: &[u32],
    out: u32,
    lane: usize,
    values: &[f64],
    adjoints: &mut [f64],
    scratch: &mut Aligned,
) {
    let ContainerCall::Function { function, results, .. } = call else { return };
    let count = slots.len();
    let need = 2 * count + 2 * results + scratch_of(call);
    if scratch.len() < need {
        scratch.resize(need);
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
    varying(call).for_each(|range| into[range].fill(0.0));
    let mut slices = call.slices(into);
    function.reverse(&container_arguments(call, numbers), result, d, &mut slices, rest);
    drop(slices);
    for k in varying(call).flatten() {
        adjoints[slots[k] as usize * L + lane] += into[k];
    }
}
