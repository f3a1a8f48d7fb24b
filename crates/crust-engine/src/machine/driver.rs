//! Applying a function of scalars to all items, a chunk at a time.
//!
//! Whatever axes the arguments vary over, the kernel sees plain rows: broadcast arguments are spread into scratch rows,
//! and the derivatives are added up again over the axes along which an argument was broadcast.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use std::ops::Range;

use crust_math::density::{DomainError, Terms};
use crust_math::lanes::{Kernel, dispatch};
use crust_stan::span::Span;

use super::elementwise::{MOST, RowKernel, ScalarFunction};
use super::{Machine, Run};
use crate::density::Pattern as Repetition;
use crate::memory::{Block, Walk, Width};

/// How many items are worked on at once: all rows together fit in the first-level cache.
pub const CHUNK: usize = 256;

/// The arguments of a chunk of items, and what a kernel computes for them.
#[derive(Debug)]
#[repr(align(64))]
pub struct Scratch {
    arguments: [[f64; CHUNK]; MOST],
    value: [f64; CHUNK],
    partials: [[f64; CHUNK]; MOST],
}

/// How an argument goes through the rows of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// Advances all the time.
    Contiguous,
    /// Begins again with each row.
    Periodic,
    /// Is the same within a row.
    Run,
    /// Is the same for all items.
    Constant,
    /// Advances within a row; the next row is elsewhere.
    Strided,
}

/// A chunk: `rows` rows of `inner` items; where each argument begins, and how far it goes from row to row.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: [usize; MOST],
    step: [usize; MOST],
    pattern: [Pattern; MOST],
    rows: usize,
    inner: usize,
}

impl Place {
    #[inline(always)]
    fn len(&self) -> usize {
        self.rows * self.inner
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self { arguments: [[0.0; CHUNK]; MOST], value: [0.0; CHUNK], partials: [[0.0; CHUNK]; MOST] }
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
    /// How arguments repeat themselves, where that is known.
    pub patterns: [Option<Repetition>; MOST],
    /// If only sums over items matter, not the value of each.
    pub summed: Option<Summed>,
}

/// Items that lie as `[item][lane]`, and whose values are added up for each lane: a kernel may put the sum over a block
/// of eight items in the place of the first of them.
#[derive(Clone, Copy)]
pub struct Summed {
    pub lanes: usize,
    /// Which arguments are the same for all items of a lane: bit `k` for argument `k`. Known from the program, not from
    /// the numbers: what a lane gets must not depend on others.
    pub fixed: u32,
}

impl Rows<'_> {
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Computes all items: with the kernel those that it knows, one by one with `exact` the others. What an item gets
    /// does not depend on the others in its row, which may be those of other chains. Says whether the kernel left any of
    /// them to `exact`.
    pub fn compute(&mut self, kernel: Option<RowKernel>, mut exact: impl FnMut(&mut Self, usize)) -> bool {
        let Some(kernel) = kernel else {
            (0..self.len()).for_each(|i| exact(self, i));
            return false;
        };
        let refused = !kernel(self);
        if refused {
            match self.summed {
                Some(summed) => self.in_lanes(kernel, summed, &mut exact),
                None => self.in_parts(kernel, 0..self.len(), &mut [[0.0; CHUNK]; MOST], &mut exact),
            }
        }
        refused
    }

    /// Sums that the kernel does not know: lane by lane, so that a lane gets the same whoever is beside it.
    #[cold]
    fn in_lanes(
        &mut self,
        kernel: RowKernel,
        Summed { lanes, fixed }: Summed,
        exact: &mut impl FnMut(&mut Self, usize),
    ) {
        let (mut own, mut value, mut room) = ([[0.0; CHUNK]; MOST], [0.0; CHUNK], [[0.0; CHUNK]; MOST]);
        for lane in 0..lanes {
            let mut items = 0;
            for (to, row) in own.iter_mut().zip(&self.arguments) {
                for (to, x) in to.iter_mut().zip(row.iter().skip(lane).step_by(lanes)) {
                    *to = *x;
                }
                items = items.max(row.len() / lanes);
            }
            let arguments = std::array::from_fn(|k| &own[k][..self.arguments[k].len() / lanes]);
            let (wanted, terms, summed) = (self.wanted, self.terms, Some(Summed { lanes: 1, fixed }));
            let value = &mut value[..items];
            let patterns = [None; MOST];
            let mut part = Rows { arguments, value, partials: &mut room, wanted, terms, patterns, summed };
            if kernel(&mut part) {
                for i in 0..items {
                    let d = std::array::from_fn(|k| room[k][i]);
                    self.set(i * lanes + lane, value[i], d);
                }
            } else {
                (0..items).for_each(|i| exact(self, i * lanes + lane));
            }
        }
    }

    /// Halves a range for which the kernel has said `false`, down to single items.
    #[cold]
    fn in_parts(
        &mut self,
        kernel: RowKernel,
        range: Range<usize>,
        room: &mut [[f64; CHUNK]; MOST],
        exact: &mut impl FnMut(&mut Self, usize),
    ) {
        if range.len() <= 1 {
            range.for_each(|i| exact(self, i));
            return;
        }
        let middle = range.start.midpoint(range.end);
        for half in [range.start..middle, middle..range.end] {
            let arguments = self.arguments.map(|row| row.get(half.clone()).unwrap_or_default());
            let (wanted, terms) = (self.wanted, self.terms);
            let value = &mut self.value[half.clone()];
            let patterns = [None; MOST];
            let mut part = Rows { arguments, value, partials: room, wanted, terms, patterns, summed: None };
            if kernel(&mut part) {
                for (to, from) in self.partials.iter_mut().zip(&*room) {
                    to[half.clone()].copy_from_slice(&from[..half.len()]);
                }
            } else {
                self.in_parts(kernel, half, room, exact);
            }
        }
    }

    /// Sets an item and its derivatives.
    pub fn set(&mut self, i: usize, value: f64, d: [f64; MOST]) {
        self.value[i] = value;
        for (row, d) in self.partials.iter_mut().zip(d) {
            row[i] = d;
        }
    }
}

/// What becomes of the values and derivatives.
#[derive(Clone, Copy)]
pub enum Mode {
    /// One value for each element.
    Map,
    /// The sum over elements.
    Sum,
    /// The sum over everything is added to a row of lanes; the derivatives, times the seed, to the adjoints of the
    /// arguments.
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
        let pattern = std::array::from_fn(|k| pattern(&walk, k));
        let mut first = walk.start;
        for _ in 0..walk.outer[0] {
            let mut spread = Spread::Nothing;
            if walk.inner <= CHUNK {
                let rows = CHUNK / walk.inner;
                for row in (0..walk.outer[1]).step_by(rows) {
                    let at = std::array::from_fn(|k| first[k] + row * walk.steps[1][k]);
                    let rows = rows.min(walk.outer[1] - row);
                    let place = Place { at, step: walk.steps[1], pattern, rows, inner: walk.inner };
                    self.chunk(machine, scratch, place, &mut spread, span)?;
                }
            } else {
                for row in 0..walk.outer[1] {
                    spread = Spread::Nothing;
                    for from in (0..walk.inner).step_by(CHUNK) {
                        let advance = |k: usize| if walk.unit[k] { from } else { 0 };
                        let at = std::array::from_fn(|k| first[k] + row * walk.steps[1][k] + advance(k));
                        let pattern = walk.unit.map(|u| if u { Pattern::Contiguous } else { Pattern::Constant });
                        let inner = CHUNK.min(walk.inner - from);
                        let place = Place { at, step: [0; MOST], pattern, rows: 1, inner };
                        self.chunk(machine, scratch, place, &mut spread, span)?;
                    }
                }
            }
            for (first, step) in first.iter_mut().zip(&walk.steps[0]) {
                *first += step;
            }
        }
        Ok(())
    }

    /// Computes a chunk of items and puts the results where they belong.
    fn chunk(
        &mut self,
        machine: &mut Machine,
        scratch: &mut Scratch,
        place: Place,
        spread: &mut Spread,
        span: Span,
    ) -> Run<()> {
        let Scratch { arguments, value, partials } = scratch;
        let (len, arity) = (place.len(), self.function.arity);
        let values = machine.arena.values();
        let fresh = *spread == Spread::Nothing;
        dispatch(Fill { values, place: &place, arity, fresh, arguments });
        *spread = Spread::Repeated;
        let rows: [&[f64]; MOST] = std::array::from_fn(|k| match place.pattern[k] {
            _ if k >= arity => &[][..],
            Pattern::Contiguous => &values[place.at[k]..place.at[k] + len],
            _ => &arguments[k][..len],
        });
        let (wanted, terms) = (self.wanted, self.function.terms);
        let value_row = &mut value[..len];
        let patterns = [None; MOST];
        let mut job = Rows { arguments: rows, value: value_row, partials, wanted, terms, patterns, summed: None };
        let (mut trouble, lanes) = (Vec::new(), machine.width.lanes);
        job.compute(self.function.fast, |job, i| self.item(job, i, lanes, &mut trouble));
        self.store(machine, &mut value[..len], partials, &place);
        self.item += len;
        if machine.is_lenient() {
            return Ok(());
        }
        trouble.iter().try_for_each(|(lane, error)| machine.reject(*lane, || error.to_string(), span))
    }

    /// Computes one item. Outside of the domain it becomes NaN; `trouble` says which lanes that are, and why.
    fn item(&self, job: &mut Rows, i: usize, lanes: usize, trouble: &mut Vec<(usize, DomainError)>) {
        let arity = self.function.arity;
        let mut at = [0.0; MOST];
        for (to, row) in at.iter_mut().zip(&job.arguments).take(arity) {
            *to = row[i];
        }
        match (self.function.item)(&at[..arity], job.terms) {
            Ok((value, d)) => job.set(i, value, d),
            Err(error) => {
                job.set(i, f64::NAN, [f64::NAN; MOST]);
                if self.lanes_vary {
                    trouble.push(((self.item + i) % lanes, error));
                } else {
                    trouble.extend((0..lanes).map(|lane| (lane, error.clone())));
                }
            }
        }
    }

    fn store(&self, machine: &mut Machine, value: &mut [f64], partials: &mut [[f64; CHUNK]; MOST], place: &Place) {
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
                let wanted = self.wanted;
                let into = adjoints.all();
                if wanted != 0 {
                    dispatch(AddAdjoints { scale, place, wanted, partials, into, base });
                }
                let totals = &mut values[range];
                if self.lanes_vary {
                    if self.times > 1.0 {
                        value.iter_mut().for_each(|v| *v *= self.times);
                    }
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
            // One after the other, as for more lanes.
            row.iter().for_each(|x| *to += x);
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

/// Whether arguments that repeat themselves have been spread already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spread {
    Nothing,
    Repeated,
}

fn pattern(walk: &Walk<MOST>, k: usize) -> Pattern {
    match (walk.unit[k], walk.steps[1][k]) {
        _ if walk.outer[1] == 1 => {
            if walk.unit[k] {
                Pattern::Contiguous
            } else {
                Pattern::Constant
            }
        }
        (true, step) if step == walk.inner => Pattern::Contiguous,
        (true, 0) => Pattern::Periodic,
        (true, _) => Pattern::Strided,
        (false, 0) => Pattern::Constant,
        (false, _) => Pattern::Run,
    }
}

/// Spreads the arguments that do not lie side by side.
struct Fill<'a> {
    values: &'a [f64],
    place: &'a Place,
    arity: usize,
    /// Whether those that repeat themselves must be spread, too.
    fresh: bool,
    arguments: &'a mut [[f64; CHUNK]; MOST],
}

impl Kernel for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { values, place, arity, fresh, arguments } = self;
        let inner = place.inner;
        for (k, space) in arguments.iter_mut().enumerate().take(arity) {
            let at = place.at[k];
            match place.pattern[k] {
                Pattern::Constant if fresh => space.fill(values[at]),
                Pattern::Periodic if fresh => {
                    let row = &values[at..at + inner];
                    space.chunks_mut(inner).for_each(|to| to.copy_from_slice(&row[..to.len()]));
                }
                Pattern::Contiguous | Pattern::Constant | Pattern::Periodic => {}
                Pattern::Run => {
                    for (r, to) in space[..place.len()].chunks_exact_mut(inner).enumerate() {
                        to.fill(values[at + r * place.step[k]]);
                    }
                }
                Pattern::Strided => {
                    for (r, to) in space[..place.len()].chunks_exact_mut(inner).enumerate() {
                        let from = at + r * place.step[k];
                        to.copy_from_slice(&values[from..from + inner]);
                    }
                }
            }
        }
    }
}

struct AddAdjoints<'a> {
    scale: Scale<'a>,
    place: &'a Place,
    wanted: u32,
    partials: &'a mut [[f64; CHUNK]; MOST],
    into: &'a mut [f64],
    base: usize,
}

impl Kernel for AddAdjoints<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { scale, place, wanted, partials, into, base } = self;
        let (inner, len) = (place.inner, place.len());
        for (k, row) in partials.iter_mut().enumerate() {
            if wanted >> k & 1 == 0 {
                continue;
            }
            let row = &mut row[..len];
            scale_row(scale, row);
            let at = place.at[k] - base;
            match place.pattern[k] {
                Pattern::Contiguous => add(&mut into[at..at + len], row),
                Pattern::Constant => row.iter().for_each(|x| into[at] += x),
                Pattern::Periodic => {
                    let to = &mut into[at..at + inner];
                    row.chunks_exact(inner).for_each(
                        #[inline(always)]
                        |from| add(to, from),
                    );
                }
                Pattern::Run => {
                    for (r, from) in row.chunks_exact(inner).enumerate() {
                        let to = &mut into[at + r * place.step[k]];
                        from.iter().for_each(|x| *to += x);
                    }
                }
                Pattern::Strided => {
                    for (r, from) in row.chunks_exact(inner).enumerate() {
                        let at = at + r * place.step[k];
                        add(&mut into[at..at + inner], from);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn add(to: &mut [f64], from: &[f64]) {
    for (to, x) in to.iter_mut().zip(from) {
        *to += x;
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
