//! Applying a function of scalars to all items, a chunk at a time.
//!
//! Whatever axes the arguments vary over, the kernel sees plain rows: broadcast arguments are spread into scratch rows, and the
//! derivatives are added up again over the axes along which an argument was broadcast.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crust_math::density::{DomainError, Terms};
use crust_math::lanes::{Kernel, dispatch};
use crust_stan::span::Span;

use super::elementwise::{MOST, ScalarFunction};
use super::{Machine, Run};
use crate::kernels::row_sum;
use crate::memory::{Block, Walk, Width};

/// How many items are worked on at once: all rows together fit in the first-level cache.
pub const CHUNK: usize = 256;

/// The arguments of a chunk of items, and what a kernel computes for them.
#[derive(Debug)]
pub struct Scratch {
    arguments: [[f64; CHUNK]; MOST],
    value: [f64; CHUNK],
    partials: [[f64; CHUNK]; MOST],
    /// Where each piece of the chunk came from.
    pieces: Vec<Piece>,
}

/// A run of items in a chunk for which each argument either advances or stays.
#[derive(Clone, Copy, Debug)]
struct Piece {
    at: [usize; MOST],
    len: usize,
    /// Its first item in the chunk.
    first: usize,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            arguments: [[0.0; CHUNK]; MOST],
            value: [0.0; CHUNK],
            partials: [[0.0; CHUNK]; MOST],
            pieces: Vec::with_capacity(CHUNK),
        }
    }
}

/// Rows of arguments, and where the results go.
pub struct Rows<'a> {
    pub arguments: [&'a [f64]; MOST],
    pub value: &'a mut [f64],
    pub partials: &'a mut [[f64; CHUNK]; MOST],
    /// Which partial derivatives are wanted: bit `k` for argument `k`.
    pub wanted: u32,
    pub terms: Terms,
}

impl Rows<'_> {
    pub fn len(&self) -> usize {
        self.value.len()
    }
}

/// What becomes of the values and derivatives.
#[derive(Clone, Copy)]
pub enum Mode {
    /// One value for each element.
    Map,
    /// The sum over elements.
    Sum,
    /// The sum over everything is added to a row of lanes; the derivatives, times the seed, to the adjoints of the arguments.
    Total { seed: Block },
}

pub struct Driver<'f> {
    function: ScalarFunction<'f>,
    n: usize,
    y: Block,
    mode: Mode,
    saved: [Option<Block>; MOST],
    wanted: u32,
    walk: Walk<MOST>,
    /// How many items are done.
    item: usize,
    /// Items per element.
    items: usize,
    /// Whether items differ between lanes.
    lanes_vary: bool,
    /// How often each item counts: once for each iteration of the tile if it does not vary over it.
    times: f64,
}

impl<'f> Driver<'f> {
    #[allow(clippy::cast_precision_loss, reason = "tiles are small")]
    pub fn new(
        function: ScalarFunction<'f>,
        [n, arity]: [usize; 2],
        y: Block,
        mode: Mode,
        (saved, wanted): ([Option<Block>; MOST], u32),
        blocks: [Block; MOST],
        width: Width,
    ) -> Self {
        let lanes_vary = blocks[..arity].iter().any(|b| b.lanes());
        let tile_varies = blocks[..arity].iter().any(|b| b.tile());
        let items = (if lanes_vary { width.lanes } else { 1 }) * (if tile_varies { width.tile } else { 1 });
        let times = if tile_varies { 1.0 } else { width.tile as f64 };
        let walk = Walk::new(n, width, blocks);
        Self { function, n, y, mode, saved, wanted, walk, item: 0, items, lanes_vary, times }
    }

    pub fn run(&mut self, machine: &mut Machine, scratch: &mut Scratch, span: Span) -> Run<()> {
        let walk = self.walk;
        let mut filled = 0;
        scratch.pieces.clear();
        let mut first = walk.start;
        for _ in 0..walk.outer[0] {
            let mut at = first;
            for _ in 0..walk.outer[1] {
                let mut done = 0;
                while done < walk.inner {
                    let len = (walk.inner - done).min(CHUNK - filled);
                    let mut from = at;
                    for (k, from) in from.iter_mut().enumerate() {
                        *from += if walk.unit[k] { done } else { 0 };
                    }
                    scratch.pieces.push(Piece { at: from, len, first: filled });
                    filled += len;
                    done += len;
                    if filled == CHUNK {
                        self.flush(machine, scratch, filled, span)?;
                        filled = 0;
                    }
                }
                for k in 0..MOST {
                    at[k] += walk.steps[1][k];
                }
            }
            for k in 0..MOST {
                first[k] += walk.steps[0][k];
            }
        }
        if filled > 0 {
            self.flush(machine, scratch, filled, span)?;
        }
        Ok(())
    }

    /// Computes the items that have been collected and puts the results where they belong.
    fn flush(&mut self, machine: &mut Machine, scratch: &mut Scratch, len: usize, span: Span) -> Run<()> {
        let Scratch { arguments, value, partials, pieces } = scratch;
        let values = machine.arena.values();
        let mut rows: [&[f64]; MOST] = [&[]; MOST];
        for ((k, row), space) in rows.iter_mut().enumerate().zip(arguments.iter_mut()).take(self.function.arity) {
            let unit = self.walk.unit[k];
            if let ([piece], true) = (&pieces[..], unit) {
                *row = &values[piece.at[k]..piece.at[k] + len];
                continue;
            }
            for piece in &*pieces {
                let to = &mut space[piece.first..piece.first + piece.len];
                if unit {
                    to.copy_from_slice(&values[piece.at[k]..piece.at[k] + piece.len]);
                } else {
                    to.fill(values[piece.at[k]]);
                }
            }
            *row = &space[..len];
        }
        let (wanted, terms) = (self.wanted, self.function.terms);
        let mut job = Rows { arguments: rows, value: &mut value[..len], partials, wanted, terms };
        let fine = self.function.fast.is_some_and(|kernel| kernel(&mut job));
        let trouble = if fine { None } else { self.item_by_item(&mut job, machine.width.lanes) };
        self.store(machine, &mut value[..len], partials, pieces);
        self.item += len;
        pieces.clear();
        if let Some((lanes, error)) = trouble {
            for lane in lanes {
                machine.reject(lane, || error.to_string(), span)?;
            }
        }
        Ok(())
    }

    /// Computes item by item. Those outside of the domain become NaN; says which lanes they are in, and why.
    fn item_by_item(&self, job: &mut Rows, lanes: usize) -> Option<(Vec<usize>, DomainError)> {
        let mut trouble: Option<(Vec<usize>, DomainError)> = None;
        let arity = self.function.arity;
        let mut at = [0.0; MOST];
        for i in 0..job.len() {
            for (to, row) in at.iter_mut().zip(&job.arguments).take(arity) {
                *to = row[i];
            }
            match (self.function.item)(&at[..arity], job.terms) {
                Ok((value, d)) => {
                    job.value[i] = value;
                    for (row, d) in job.partials.iter_mut().zip(d).take(arity) {
                        row[i] = d;
                    }
                }
                Err(error) => {
                    job.value[i] = f64::NAN;
                    job.partials.iter_mut().take(arity).for_each(|row| row[i] = f64::NAN);
                    let (list, _) = trouble.get_or_insert_with(|| (Vec::new(), error));
                    if self.lanes_vary {
                        list.push((self.item + i) % lanes);
                    } else {
                        list.extend(0..lanes);
                    }
                }
            }
        }
        trouble
    }

    fn store(&self, machine: &mut Machine, value: &mut [f64], partials: &mut [[f64; CHUNK]; MOST], pieces: &[Piece]) {
        let (width, len) = (machine.width, value.len());
        let (values, mut adjoints) = machine.arena.both();
        match self.mode {
            Mode::Map | Mode::Sum => {
                let y = self.y.start();
                if matches!(self.mode, Mode::Map) || self.n == 1 {
                    values[y + self.item..y + self.item + len].copy_from_slice(value);
                } else {
                    let to = &mut values[y..y + self.items];
                    dispatch(AddCyclic { to, start: self.item % self.items, row: value });
                }
                for (saved, row) in self.saved.iter().zip(partials) {
                    let Some(saved) = saved else { continue };
                    if saved.count() == self.n {
                        let at = saved.start() + self.item;
                        values[at..at + len].copy_from_slice(&row[..len]);
                    } else {
                        let to = &mut values[saved.start()..saved.start() + self.items];
                        dispatch(AddCyclic { to, start: self.item % self.items, row: &row[..len] });
                    }
                }
            }
            Mode::Total { seed } => {
                let lanes = if self.lanes_vary { width.lanes } else { 1 };
                let range = self.y.range(width);
                let seed = &values[seed.range(width)];
                let scale = Scale { seed, start: self.item % lanes, times: self.times };
                let base = adjoints.base();
                let (walk, wanted) = (&self.walk, self.wanted);
                let into = adjoints.all();
                dispatch(AddAdjoints { scale, walk, wanted, partials, pieces, len, into, base });
                let totals = &mut values[range];
                if self.lanes_vary {
                    value.iter_mut().for_each(|v| *v *= self.times);
                    dispatch(AddCyclic { to: totals, start: self.item % lanes, row: value });
                } else {
                    let sum = self.times * value.iter().sum::<f64>();
                    totals.iter_mut().for_each(|total| *total += sum);
                }
            }
        }
    }
}

/// Adds a row to a shorter one, going round.
struct AddCyclic<'a> {
    to: &'a mut [f64],
    start: usize,
    row: &'a [f64],
}

impl Kernel for AddCyclic<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { to, mut start, mut row } = self;
        if let [to] = to {
            *to += row_sum(row.len(), #[inline(always)] |i| row[i]);
            return;
        }
        while !row.is_empty() {
            let n = row.len().min(to.len() - start);
            let (now, later) = row.split_at(n);
            for (to, x) in to[start..start + n].iter_mut().zip(now) {
                *to += x;
            }
            row = later;
            start = 0;
        }
    }
}

/// What derivatives are multiplied with: the seed of the lane, and how often the item counts.
#[derive(Clone, Copy)]
struct Scale<'a> {
    /// One for all lanes, or one for each.
    seed: &'a [f64],
    /// The lane of the first item of the chunk.
    start: usize,
    times: f64,
}

struct AddAdjoints<'a> {
    scale: Scale<'a>,
    walk: &'a Walk<MOST>,
    wanted: u32,
    partials: &'a mut [[f64; CHUNK]; MOST],
    pieces: &'a [Piece],
    len: usize,
    into: &'a mut [f64],
    base: usize,
}

impl Kernel for AddAdjoints<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { scale, walk, wanted, partials, pieces, len, into, base } = self;
        for (k, row) in partials.iter_mut().enumerate() {
            if wanted >> k & 1 == 0 {
                continue;
            }
            let row = &mut row[..len];
            scale_row(scale, row);
            for piece in pieces {
                let from = &row[piece.first..piece.first + piece.len];
                let at = piece.at[k] - base;
                if walk.unit[k] {
                    for (to, d) in into[at..at + piece.len].iter_mut().zip(from) {
                        *to += d;
                    }
                } else {
                    into[at] += row_sum(piece.len, #[inline(always)] |i| from[i]);
                }
            }
        }
    }
}

#[inline(always)]
#[allow(clippy::float_cmp, reason = "1 is exact")]
fn scale_row(scale: Scale, row: &mut [f64]) {
    if let [seed] = scale.seed {
        let factor = seed * scale.times;
        if factor != 1.0 {
            row.iter_mut().for_each(|d| *d *= factor);
        }
        return;
    }
    let mut rest = row;
    let mut start = scale.start;
    while !rest.is_empty() {
        let n = rest.len().min(scale.seed.len() - start);
        let (now, later) = rest.split_at_mut(n);
        for (d, seed) in now.iter_mut().zip(&scale.seed[start..start + n]) {
            *d *= seed * scale.times;
        }
        rest = later;
        start = 0;
    }
}
