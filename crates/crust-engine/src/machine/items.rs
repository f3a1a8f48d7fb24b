//! Functions of whole containers, item by item: the numbers of an item are laid side by side, the function is called,
//! and the results are put back in their rows of lanes. Groups of lanes are computed at once where the function can.

mod rows;

use crust_math::density::Terms;
use crust_math::functions::{Argument, VectorDensity, VectorFunction};
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::tape::Entry;
use super::value::View;
use super::{Machine, Run, fatal};
use crate::code::VectorCall;
use crate::memory::{Block, Flags, Width};

/// A vector function that was called; its arguments are on the tape's list of operands.
#[derive(Clone, Copy, Debug)]
pub struct ItemsEntry {
    function: VectorCall,
    first: u32,
    count: u32,
    y: Block,
}

/// The items of a call: iterations and lanes, of those axes that some argument varies over.
#[derive(Clone, Copy)]
pub(super) struct Items {
    pub(super) tile: usize,
    pub(super) lanes: usize,
}

impl Items {
    pub(super) fn of(flags: Flags, width: Width) -> Self {
        let along = |axis: Flags, n: usize| if flags.has(axis) { n } else { 1 };
        Self { tile: along(Flags::TILE, width.tile), lanes: along(Flags::LANES, width.lanes) }
    }

    pub(super) fn each(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.tile).flat_map(move |t| (0..self.lanes).map(move |l| (t, l)))
    }

    /// The items that have to be computed one by one: `done` takes groups of lanes, given their first item, if it can.
    fn left_over(self, groups: bool, mut done: impl FnMut((usize, usize)) -> bool) -> SmallVec<[(usize, usize); 8]> {
        let mut left = SmallVec::new();
        let step = if groups { rows::LANES } else { 1 };
        for t in 0..self.tile {
            for l in (0..self.lanes).step_by(step) {
                if !(groups && done((t, l))) {
                    left.extend((l..l + step).map(|l| (t, l)));
                }
            }
        }
        left
    }
}

/// Whether the numbers of an item lie side by side already.
fn direct(block: Block, width: Width) -> bool {
    block.item_len(width) == 1
}

pub(super) fn gather(values: &[f64], block: Block, width: Width, (t, l): (usize, usize), out: &mut [f64]) {
    let [_, tile, lane] = block.strides(width);
    let step = block.item_len(width);
    let mut at = block.start() + t * tile + l * lane;
    for to in out {
        *to = values[at];
        at += step;
    }
}

/// Positions of the numbers of an item.
pub(super) fn positions(block: Block, width: Width, (t, l): (usize, usize)) -> impl Iterator<Item = usize> {
    let [_, tile, lane] = block.strides(width);
    let step = block.item_len(width);
    let start = block.start() + t * tile + l * lane;
    (0..block.count()).map(move |e| start + e * step)
}

type Arguments<'a> = SmallVec<[Argument<'a>; 8]>;

/// Lays the numbers of all arguments of an item side by side.
fn arguments<'a>(
    values: &'a [f64],
    views: &[View],
    width: Width,
    item: (usize, usize),
    space: &'a mut [f64],
) -> Arguments<'a> {
    let mut rest = space;
    let mut list = Arguments::new();
    for view in views {
        let numbers = if direct(view.block, width) {
            &values[view.block.start()..view.block.start() + view.block.count()]
        } else {
            let (now, later) = rest.split_at_mut(view.block.count());
            rest = later;
            gather(values, view.block, width, item, now);
            &*now
        };
        list.push(Argument { numbers, shape: view.shape });
    }
    list
}

/// The arguments as far as they are the same for all items.
fn uniform_arguments<'a>(values: &'a [f64], views: &[View]) -> Arguments<'a> {
    let numbers = |view: &View| {
        let block = view.block;
        if block.uniform() { &values[block.start()..block.start() + block.count()] } else { &[] }
    };
    views.iter().map(|view| Argument { numbers: numbers(view), shape: view.shape }).collect()
}

fn axes(views: &[View]) -> Flags {
    views.iter().fold(Flags::UNIFORM, |flags, v| flags.with(v.block.flags)).axes()
}

impl Machine {
    pub(super) fn vector_function(
        &mut self,
        function: &'static dyn VectorFunction,
        views: &[View],
        span: Span,
    ) -> Run<View> {
        let shape = match function.shape(&uniform_arguments(self.arena.values(), views)) {
            Ok(shape) => shape,
            Err(message) => return fatal("bad-arguments", format!("{}: {message}", function.name()), span),
        };
        if self.any_symbolic(views) {
            return self.traced_function(function, views, shape);
        }
        let flags = axes(views);
        let y = self.allocate(shape.len(), flags)?;
        let (width, items) = (self.width, Items::of(flags, self.width));
        let shapes: SmallVec<[_; 8]> = views.iter().map(|v| v.shape).collect();
        let (inputs, need) = (views.iter().map(|v| v.block.count()).sum::<usize>(), function.scratch(&shapes));
        if flags.has(Flags::LANES) {
            self.lane_work += inputs + shape.len() + need;
        }
        let mut scratch = self.take_scratch(inputs + shape.len() + need);
        let (space, rest) = scratch.split_at_mut(inputs);
        let (out, rest) = rest.split_at_mut(shape.len());
        let mut trouble: SmallVec<[(usize, String); 1]> = SmallVec::new();
        let groups = rows::whole_groups(flags, width, views);
        for item in items.left_over(groups, |item| self.function_rows(function, views, y, item)) {
            let list = arguments(self.arena.values(), views, width, item, space);
            if let Err(error) = function.value(&list, out, rest) {
                out.fill(f64::NAN);
                trouble.push((item.1, error.to_string()));
            }
            drop(list);
            let values = self.arena.values_mut();
            for (at, x) in positions(y, width, item).zip(&*out) {
                values[at] = *x;
            }
        }
        self.give_scratch(scratch);
        self.reject_items(trouble, flags, span)?;
        if y.gradient() {
            let (first, count) = self.tape.operands(views);
            self.tape.push(Entry::Items(ItemsEntry { function: VectorCall(function), first, count, y }));
        }
        Ok(View { shape, block: y })
    }

    fn reject_items(&mut self, trouble: SmallVec<[(usize, String); 1]>, flags: Flags, span: Span) -> Run<()> {
        if self.is_lenient() {
            return Ok(());
        }
        for (lane, message) in trouble {
            if flags.has(Flags::LANES) {
                self.reject(lane, || message, span)?;
            } else {
                for lane in 0..self.width.lanes {
                    self.reject(lane, || message.clone(), span)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn reverse_items(&mut self, entry: ItemsEntry) {
        let ItemsEntry { function: VectorCall(function), y, .. } = entry;
        let views: SmallVec<[View; 8]> = SmallVec::from_slice(self.tape.operand_list(entry.first, entry.count));
        let width = self.width;
        let items = Items::of(y.flags, width);
        let shapes: SmallVec<[_; 8]> = views.iter().map(|v| v.shape).collect();
        let (inputs, need) = (views.iter().map(|v| v.block.count()).sum::<usize>(), function.scratch(&shapes));
        let n = y.count();
        let mut scratch = self.take_scratch(2 * inputs + 2 * n + need);
        let (space, rest) = scratch.split_at_mut(inputs);
        let (adjoint_space, rest) = rest.split_at_mut(inputs);
        let (out, rest) = rest.split_at_mut(n);
        let (adjoint, rest) = rest.split_at_mut(n);
        let groups = rows::whole_groups(y.flags, width, &views);
        for item in items.left_over(groups, |item| self.reverse_rows(function, &views, y, item)) {
            let (values, mut adjoints) = self.arena.both();
            let base = adjoints.base();
            let adjoints = adjoints.all();
            for (to, at) in adjoint.iter_mut().zip(positions(y, width, item)) {
                *to = adjoints[at - base];
            }
            if adjoint.iter().all(|&d| d == 0.0) {
                continue;
            }
            gather(values, y, width, item, out);
            let list = arguments(values, &views, width, item, space);
            adjoint_space.fill(0.0);
            let mut slices: SmallVec<[&mut [f64]; 8]> = SmallVec::new();
            let mut left = &mut *adjoint_space;
            for view in &views {
                let (now, later) = left.split_at_mut(view.block.count());
                left = later;
                slices.push(if view.block.gradient() { now } else { &mut [] });
            }
            function.reverse(&list, out, adjoint, &mut slices, rest);
            drop(slices);
            let mut from = 0;
            for view in &views {
                if view.block.gradient() {
                    for (d, at) in adjoint_space[from..].iter().zip(positions(view.block, width, item)) {
                        adjoints[at - base] += d;
                    }
                }
                from += view.block.count();
            }
        }
        self.give_scratch(scratch);
        self.tape.drop_operands(entry.first);
    }

    /// A log density of containers: its value, and the derivatives kept for the way back.
    pub(super) fn vector_density(
        &mut self,
        density: &'static dyn VectorDensity,
        views: &[View],
        terms: Terms,
        span: Span,
    ) -> Run<View> {
        if let Err(message) = density.check(&uniform_arguments(self.arena.values(), views)) {
            return fatal("bad-arguments", format!("{}: {message}", density.name()), span);
        }
        if self.any_symbolic(views) {
            return self.traced_container_density(density, views, terms);
        }
        let flags = axes(views);
        let y = self.allocate(1, flags)?;
        let width = self.width;
        let mut partials: SmallVec<[Option<Block>; 8]> = SmallVec::new();
        for view in views {
            let wanted = view.block.gradient() && y.gradient();
            let partial =
                if wanted { Some(self.allocate(view.block.count(), flags.without(Flags::GRADIENT))?) } else { None };
            partials.push(partial);
        }
        let shapes: SmallVec<[_; 8]> = views.iter().map(|v| v.shape).collect();
        let (inputs, need) = (views.iter().map(|v| v.block.count()).sum::<usize>(), density.scratch(&shapes));
        if flags.has(Flags::LANES) {
            self.lane_work += inputs + need;
        }
        let mut scratch = self.take_scratch(2 * inputs + need);
        let (space, rest) = scratch.split_at_mut(inputs);
        let (adjoint_space, rest) = rest.split_at_mut(inputs);
        let mut trouble: SmallVec<[(usize, String); 1]> = SmallVec::new();
        let groups = rows::whole_groups(flags, width, views);
        let done = |item| self.density_rows(density, views, terms, (y, &partials), item);
        for item in Items::of(flags, width).left_over(groups, done) {
            let list = arguments(self.arena.values(), views, width, item, space);
            adjoint_space.fill(0.0);
            let mut slices: SmallVec<[&mut [f64]; 8]> = SmallVec::new();
            let mut left = &mut *adjoint_space;
            for (view, partial) in views.iter().zip(&partials) {
                let (now, later) = left.split_at_mut(view.block.count());
                left = later;
                slices.push(if partial.is_some() { now } else { &mut [] });
            }
            let value = density.log_density(&list, terms, 1.0, &mut slices, rest).unwrap_or_else(|error| {
                trouble.push((item.1, error.to_string()));
                f64::NAN
            });
            drop(slices);
            drop(list);
            let values = self.arena.values_mut();
            for at in positions(y, width, item) {
                values[at] = value;
            }
            let mut from = 0;
            for (view, partial) in views.iter().zip(&partials) {
                if let Some(partial) = partial {
                    for (d, at) in adjoint_space[from..].iter().zip(positions(*partial, width, item)) {
                        values[at] = *d;
                    }
                }
                from += view.block.count();
            }
        }
        self.give_scratch(scratch);
        self.reject_items(trouble, flags, span)?;
        for (view, partial) in views.iter().zip(&partials) {
            if let Some(partial) = partial {
                self.tape.push(Entry::Partial { x: view.block, partial: *partial, y });
            }
        }
        Ok(View::scalar(y))
    }

    pub(super) fn take_scratch(&mut self, n: usize) -> Vec<f64> {
        let mut scratch = std::mem::take(&mut self.scratch);
        if scratch.len() < n {
            scratch.resize(n, 0.0);
        }
        scratch
    }

    pub(super) fn give_scratch(&mut self, scratch: Vec<f64>) {
        self.scratch = scratch;
    }
}
