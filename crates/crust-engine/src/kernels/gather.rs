//! Elements picked by index: the heart of indexing, reshaping and reordering.
//!
//! `y[e] = x[index(e)]`, where the index may differ between iterations and lanes. The adjoint flows back along the same
//! way: `x̄[index(e)] += ȳ[e]`.

use crust_math::lanes::{Kernel, dispatch};

use crate::memory::{Arena, Block, Walk, Width, cast};

struct Gather<'a> {
    index: &'a [u32],
    row: usize,
    from: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { index, row, from, out } = self;
        if row == 1 {
            for (y, &i) in out.iter_mut().zip(index) {
                *y = from[i as usize];
            }
            return;
        }
        for (y, &i) in out.chunks_exact_mut(row).zip(index) {
            let at = i as usize * row;
            y.copy_from_slice(&from[at..at + row]);
        }
    }
}

/// `y[e] = x[index[e]]`, with the axes of `x`.
pub fn forward(arena: &mut Arena, width: Width, x: Block, index: &[u32], y: Block) {
    let (low, out) = arena.below(y, width);
    dispatch(Gather { index, row: x.item_len(width), from: &low[x.range(width)], out });
}

struct Scatter<'a> {
    index: &'a [u32],
    row: usize,
    from: &'a [f64],
    into: &'a mut [f64],
}

impl Kernel for Scatter<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { index, row, from, into } = self;
        if row == 1 {
            // The sum of neighbours that belong to the same element stays in a register: it would wait for memory.
            let mut items = from.iter().zip(index);
            let Some((&y, &i)) = items.next() else { return };
            let (mut at, mut sum) = (i as usize, into[i as usize] + y);
            for (y, &i) in items {
                let i = i as usize;
                if i != at {
                    into[at] = sum;
                    (at, sum) = (i, into[i]);
                }
                sum += y;
            }
            into[at] = sum;
            return;
        }
        for (y, &i) in from.chunks_exact(row).zip(index) {
            let at = i as usize * row;
            for (to, y) in into[at..at + row].iter_mut().zip(y) {
                *to += y;
            }
        }
    }
}

/// `x̄[index[e]] += ȳ[e]`.
pub fn reverse(arena: &mut Arena, width: Width, x: Block, index: &[u32], y: Block) {
    let (_, mut adjoints) = arena.both();
    let base = adjoints.base();
    let (low, from) = adjoints.below(y, width);
    let range = x.range(width);
    dispatch(Scatter { index, row: x.item_len(width), from, into: &mut low[range.start - base..range.end - base] });
}

/// The position of an element of `x` for an item, where `index` holds elements counted from 0.
#[derive(Clone, Copy)]
struct Position {
    start: usize,
    element: usize,
    tile: usize,
    lane: usize,
}

impl Position {
    fn new(x: Block, width: Width) -> Self {
        let [_, tile, lane] = x.strides(width);
        Self { start: x.start(), element: x.item_len(width), tile, lane }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "indices have been checked")]
    fn row(self, index: f64, t: usize) -> usize {
        self.start + index as usize * self.element + t * self.tile
    }
}

/// Calls `f(position in y, position in x, length, whether x advances)` for each piece of `y` whose index is the same.
fn pieces(
    values: &[f64],
    width: Width,
    x: Block,
    index: Block,
    y: Block,
    mut f: impl FnMut(usize, usize, usize, bool),
) {
    let position = Position::new(x, width);
    let index_strides = index.strides(width);
    let (tile, lanes) = (if y.tile() { width.tile } else { 1 }, if y.lanes() { width.lanes } else { 1 });
    let mut to = y.start();
    for e in 0..y.count() {
        for t in 0..tile {
            let i = index.start() + e * index_strides[0] + t * index_strides[1];
            if index.lanes() {
                for l in 0..lanes {
                    f(to + l, position.row(values[i + l], t) + l * position.lane, 1, true);
                }
            } else {
                f(to, position.row(values[i], t), lanes, position.lane == 1);
            }
            to += lanes;
        }
    }
}

/// `y[e] = x[index[e]]`, where `index` is a block of elements counted from 0 that varies over iterations or lanes.
pub fn varying(arena: &mut Arena, width: Width, x: Block, index: Block, y: Block) {
    let (low, out) = arena.below(y, width);
    pieces(low, width, x, index, y, |to, from, n, advances| {
        let row = &mut out[to - y.start()..to - y.start() + n];
        if advances { row.copy_from_slice(&low[from..from + n]) } else { row.fill(low[from]) }
    });
}

/// The adjoint of [`varying`].
pub fn varying_reverse(arena: &mut Arena, width: Width, x: Block, index: Block, y: Block) {
    let (values, mut adjoints) = arena.both();
    let base = adjoints.base();
    let (low, adjoint) = adjoints.below(y, width);
    pieces(values, width, x, index, y, |to, from, n, advances| {
        let row = &adjoint[to - y.start()..to - y.start() + n];
        if advances {
            for (into, d) in low[from - base..from - base + n].iter_mut().zip(row) {
                *into += d;
            }
        } else {
            low[from - base] += row.iter().sum::<f64>();
        }
    });
}

/// `x[index[e]] = v[e]`. `x` varies over every axis that `v` varies over.
pub fn assign(arena: &mut Arena, width: Width, x: Block, index: &[u32], v: Block) {
    let row = x.item_len(width);
    let same = x.item_len(width) == v.item_len(width);
    let values = arena.values_mut();
    for (e, &i) in index.iter().enumerate() {
        let to = x.start() + i as usize * row;
        let element = element(v, e, width);
        if same {
            values.copy_within(element.start()..element.start() + row, to);
        } else {
            let target = Block { at: cast(to), n: 1, flags: x.flags };
            let walk = Walk::new(1, width, [element, target]);
            walk.rows(|[from, to]| {
                if walk.unit[0] {
                    values.copy_within(from..from + walk.inner, to);
                } else {
                    let number = values[from];
                    values[to..to + walk.inner].fill(number);
                }
            });
        }
    }
}

/// Element `e` of a block; its only one where it has one.
fn element(block: Block, e: usize, width: Width) -> Block {
    block.elements(if block.n == 1 { 0 } else { e }, 1, width)
}

/// Keeps the elements that [`assign`] is going to overwrite, and what has been added to their adjoints so far: it
/// belongs to the old values. The adjoints begin again at 0.
pub fn save(arena: &mut Arena, width: Width, x: Block, index: &[u32], saved: Block) {
    forward(arena, width, x, index, saved);
    if !x.gradient() {
        return;
    }
    let row = x.item_len(width);
    let (_, mut adjoints) = arena.both();
    let base = adjoints.base();
    let (low, kept) = adjoints.below(saved, width);
    for (to, &i) in kept.chunks_exact_mut(row.max(1)).zip(index) {
        let at = x.start() - base + i as usize * row;
        to.copy_from_slice(&low[at..at + row]);
        low[at..at + row].fill(0.0);
    }
}

/// The reverse of [`assign`] after [`save`]: hands the adjoint to `v`, and puts back the old values with their
/// adjoints.
pub fn unassign(arena: &mut Arena, width: Width, x: Block, index: &[u32], v: Block, saved: Option<Block>) {
    let row = x.item_len(width);
    let (values, mut adjoints) = arena.both();
    let base = adjoints.base();
    let adjoints = adjoints.all();
    for (e, &i) in index.iter().enumerate() {
        let at = x.start() + i as usize * row;
        if x.gradient() {
            if v.gradient() {
                let target = Block { at: cast(at), n: 1, flags: x.flags };
                let walk = Walk::new(1, width, [element(v, e, width), target]);
                walk.rows(|[into, from]| hand_over(adjoints, from - base, into - base, walk.inner, walk.unit[0]));
            }
            match saved {
                Some(saved) => {
                    let from = saved.start() + e * row - base;
                    adjoints.copy_within(from..from + row, at - base);
                }
                None => adjoints[at - base..at - base + row].fill(0.0),
            }
        }
        if let Some(saved) = saved {
            let from = saved.start() + e * row;
            values.copy_within(from..from + row, at);
        }
    }
}

/// Assigns `v` to the elements `index` of `x`, which varies over every axis that `v` or `index` varies over, except the
/// iterations where `x` does not: then the index must be different in each iteration.
pub fn assign_varying(arena: &mut Arena, width: Width, x: Block, index: Block, v: Block) {
    let shape = spread(x, index, v);
    let values = arena.values_mut();
    let v_strides = v.strides(width);
    let assign = |item: Item, values: &mut [f64], at: usize| {
        let from = item.of(v, v_strides);
        if v_strides[2] == 1 {
            values.copy_within(from..from + item.n, at);
        } else {
            let number = values[from];
            values[at..at + item.n].fill(number);
        }
    };
    for_each_assigned(width, x, index, shape, assign, values);
}

/// A block that stands for the elements that are assigned, with all axes.
fn spread(x: Block, index: Block, v: Block) -> Block {
    Block { at: 0, n: index.n, flags: x.flags.with(index.flags).with(v.flags) }
}

/// Calls `f` for each run of neighbouring items that are assigned: element, iteration, lane, how many lanes, and where
/// they are in `x`.
#[inline]
fn for_each_assigned(
    width: Width,
    x: Block,
    index: Block,
    shape: Block,
    mut f: impl FnMut(Item, &mut [f64], usize),
    values: &mut [f64],
) {
    let position = Position::new(x, width);
    let strides = index.strides(width);
    let (tile, lanes) = (if shape.tile() { width.tile } else { 1 }, if x.lanes() { width.lanes } else { 1 });
    for e in 0..index.count() {
        for t in 0..tile {
            let at = index.start() + e * strides[0] + t * strides[1];
            if strides[2] == 0 {
                f(Item { e, t, l: 0, n: lanes }, values, position.row(values[at], t));
                continue;
            }
            for l in 0..lanes {
                let i = values[at + l];
                f(Item { e, t, l, n: 1 }, values, position.row(i, t) + l * position.lane);
            }
        }
    }
}

/// A run of lanes of an element in an iteration.
#[derive(Clone, Copy)]
struct Item {
    e: usize,
    t: usize,
    l: usize,
    n: usize,
}

impl Item {
    /// Where the item is in a block with these strides.
    fn of(self, block: Block, strides: [usize; 3]) -> usize {
        block.start() + self.e * strides[0] + self.t * strides[1] + self.l * strides[2]
    }
}

/// Keeps the elements that [`assign_varying`] is going to overwrite, in its order, and their adjoints; see [`save`].
pub fn save_varying(arena: &mut Arena, width: Width, x: Block, index: Block, v: Block, saved: Block) {
    let shape = spread(x, index, v);
    let (values, mut adjoints) = arena.both();
    let base = adjoints.base();
    let adjoints = adjoints.all();
    let mut to = saved.start();
    for_each_assigned(
        width,
        x,
        index,
        shape,
        |item, values, at| {
            values.copy_within(at..at + item.n, to);
            if x.gradient() {
                adjoints.copy_within(at - base..at - base + item.n, to - base);
                adjoints[at - base..at - base + item.n].fill(0.0);
            }
            to += item.n;
        },
        values,
    );
}

/// The reverse of [`assign_varying`] after [`save_varying`]: hands the adjoint to `v`, and puts back the old values
/// with their adjoints.
pub fn unassign_varying(arena: &mut Arena, width: Width, x: Block, index: Block, v: Block, saved: Option<Block>) {
    let shape = spread(x, index, v);
    let (values, mut adjoints) = arena.both();
    let base = adjoints.base();
    let adjoints = adjoints.all();
    let v_strides = v.strides(width);
    let mut from = saved.map_or(0, Block::start);
    for_each_assigned(
        width,
        x,
        index,
        shape,
        |item, values, at| {
            if x.gradient() {
                let d = at - base;
                if v.gradient() {
                    let to = item.of(v, v_strides) - base;
                    hand_over(adjoints, d, to, item.n, v_strides[2] == 1);
                }
                if saved.is_some() {
                    adjoints.copy_within(from - base..from - base + item.n, d);
                } else {
                    adjoints[d..d + item.n].fill(0.0);
                }
            }
            if saved.is_some() {
                values.copy_within(from..from + item.n, at);
                from += item.n;
            }
        },
        values,
    );
}

/// Adds `n` numbers to others of the same slice, or their sum to one.
fn hand_over(numbers: &mut [f64], from: usize, to: usize, n: usize, rows: bool) {
    if !rows {
        numbers[to] += numbers[from..from + n].iter().sum::<f64>();
        return;
    }
    let (source, target) = if from < to {
        let (low, high) = numbers.split_at_mut(to);
        (&low[from..from + n], &mut high[..n])
    } else {
        let (low, high) = numbers.split_at_mut(from);
        (&high[..n], &mut low[to..to + n])
    };
    for (to, d) in target.iter_mut().zip(source) {
        *to += d;
    }
}
