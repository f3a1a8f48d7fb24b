//! Functions of containers for eight lanes at once, where they have such a version.

use crust_math::density::Terms;
use crust_math::functions::{LaneArgument, Row, Shape, VectorDensity, VectorFunction};
use smallvec::SmallVec;

use crate::machine::Machine;
use crate::machine::value::View;
use crate::memory::{Aligned, Block, Flags, Width};

/// Lanes of a row.
pub(super) const LANES: usize = 8;

/// Whether groups of lanes can be computed at once.
pub(super) fn whole_groups(flags: Flags, width: Width, views: &[View]) -> bool {
    let alike = |view: &View| !view.block.gradient() || view.block.lanes();
    flags.has(Flags::LANES) && width.lanes.is_multiple_of(LANES) && views.iter().all(alike)
}

/// The rows of a value, of which the first has the iteration t and the lanes from l on.
fn gather(values: &[f64], block: Block, width: Width, (t, l): (usize, usize), out: &mut [Row]) {
    let [_, tile, lane] = block.strides(width);
    let step = block.item_len(width);
    let mut at = block.start() + t * tile + l * lane;
    for to in out {
        *to = if block.lanes() { values[at..].first_chunk().copied().unwrap_or_default() } else { [values[at]; LANES] };
        at += step;
    }
}

/// Puts rows where they belong, or adds them.
fn scatter(
    to: &mut [f64],
    base: usize,
    block: Block,
    width: Width,
    (t, l): (usize, usize),
    rows: &[Row],
    change: impl Fn(&mut Row, &Row),
) {
    let [_, tile, lane] = block.strides(width);
    let step = block.item_len(width);
    let mut at = block.start() + t * tile + l * lane - base;
    for row in rows {
        if let Some(to) = to[at..].first_chunk_mut() {
            change(to, row);
        }
        at += step;
    }
}

fn set(to: &mut Row, row: &Row) {
    *to = *row;
}

fn add(to: &mut Row, row: &Row) {
    (0..LANES).for_each(|l| to[l] += row[l]);
}

/// Room for so many rows.
fn room(scratch: &mut Aligned, n: usize) -> &mut [Row] {
    if scratch.len() < n * LANES {
        scratch.resize(n * LANES);
    }
    &mut scratch.as_chunks_mut::<LANES>().0[..n]
}

/// Lays the rows of all arguments side by side.
fn arguments<'a>(
    values: &[f64],
    views: &[View],
    width: Width,
    item: (usize, usize),
    mut space: &'a mut [Row],
) -> SmallVec<[LaneArgument<'a>; 8]> {
    let mut list = SmallVec::new();
    for view in views {
        let (now, later) = space.split_at_mut(view.block.count());
        space = later;
        gather(values, view.block, width, item, now);
        list.push(LaneArgument { numbers: now, shape: view.shape });
    }
    list
}

/// The part of each argument, of room for as many rows as they have; nothing where it is not wanted.
fn slices<'a>(
    views: &[View],
    mut space: &'a mut [Row],
    wanted: impl Fn(usize) -> bool,
) -> SmallVec<[&'a mut [Row]; 8]> {
    let mut list = SmallVec::new();
    for (k, view) in views.iter().enumerate() {
        let (now, later) = space.split_at_mut(view.block.count());
        space = later;
        list.push(if wanted(k) { now } else { &mut [] });
    }
    list
}

fn shapes(views: &[View]) -> SmallVec<[Shape; 8]> {
    views.iter().map(|v| v.shape).collect()
}

impl Machine {
    /// Says `false` where the lanes have to be computed one by one.
    pub(super) fn function_rows(
        &mut self,
        function: &'static dyn VectorFunction,
        views: &[View],
        y: Block,
        item: (usize, usize),
    ) -> bool {
        let Some(need) = function.lanes_scratch(&shapes(views)) else { return false };
        let inputs = views.iter().map(|v| v.block.count()).sum::<usize>();
        let (width, mut scratch) = (self.width, std::mem::take(&mut self.row_scratch));
        let (space, rest) = room(&mut scratch, inputs + y.count() + need).split_at_mut(inputs);
        let (out, rest) = rest.split_at_mut(y.count());
        let done = function.value_lanes(&arguments(self.arena.values(), views, width, item, space), out, rest);
        if done {
            scatter(self.arena.values_mut(), 0, y, width, item, out, set);
        }
        self.row_scratch = scratch;
        done
    }

    pub(super) fn reverse_rows(
        &mut self,
        function: &'static dyn VectorFunction,
        views: &[View],
        y: Block,
        item: (usize, usize),
    ) -> bool {
        let Some(need) = function.lanes_scratch(&shapes(views)) else { return false };
        let (inputs, n) = (views.iter().map(|v| v.block.count()).sum::<usize>(), y.count());
        let (width, mut scratch) = (self.width, std::mem::take(&mut self.row_scratch));
        let (space, rest) = room(&mut scratch, 2 * inputs + 2 * n + need).split_at_mut(inputs);
        let (into, rest) = rest.split_at_mut(inputs);
        let (out, rest) = rest.split_at_mut(n);
        let (adjoint, rest) = rest.split_at_mut(n);
        let (values, mut adjoints) = self.arena.both();
        let base = adjoints.base();
        let adjoints = adjoints.all();
        gather(values, y, width, item, out);
        let [_, tile, lane] = y.strides(width);
        let mut at = y.start() + item.0 * tile + item.1 * lane - base;
        for to in &mut *adjoint {
            *to = adjoints[at..].first_chunk().copied().unwrap_or_default();
            at += y.item_len(width);
        }
        into.fill([0.0; LANES]);
        let list = arguments(values, views, width, item, space);
        let mut to = slices(views, into, |k| views[k].block.gradient());
        let done = function.reverse_lanes(&list, out, adjoint, &mut to, rest);
        if done {
            for (view, rows) in views.iter().zip(&to).filter(|(view, _)| view.block.gradient()) {
                scatter(adjoints, base, view.block, width, item, rows, add);
            }
        }
        drop((to, list));
        self.row_scratch = scratch;
        done
    }

    pub(super) fn density_rows(
        &mut self,
        density: &'static dyn VectorDensity,
        views: &[View],
        terms: Terms,
        (y, partials): (Block, &[Option<Block>]),
        item: (usize, usize),
    ) -> bool {
        let Some(need) = density.lanes_scratch(&shapes(views)) else { return false };
        let inputs = views.iter().map(|v| v.block.count()).sum::<usize>();
        let (width, mut scratch) = (self.width, std::mem::take(&mut self.row_scratch));
        let (space, rest) = room(&mut scratch, 2 * inputs + need).split_at_mut(inputs);
        let (into, rest) = rest.split_at_mut(inputs);
        into.fill([0.0; LANES]);
        let list = arguments(self.arena.values(), views, width, item, space);
        let mut to = slices(views, into, |k| partials[k].is_some());
        let value = density.log_density_lanes(&list, terms, &mut to, rest);
        if let Some(value) = value {
            let values = self.arena.values_mut();
            scatter(values, 0, y, width, item, &[value], set);
            for (partial, rows) in partials.iter().zip(&to) {
                if let Some(partial) = partial {
                    scatter(values, 0, *partial, width, item, rows, set);
                }
            }
        }
        drop((to, list));
        self.row_scratch = scratch;
        value.is_some()
    }
}
