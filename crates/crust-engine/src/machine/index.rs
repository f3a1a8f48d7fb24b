//! Indexing: which elements an index expression picks.
//!
//! Where the elements are neighbours in memory the result is a view that shares numbers and adjoints with the whole;
//! otherwise they are gathered.

use crust_math::functions::{Cell, Shape};
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::tape::Entry;
use super::value::{Value, View};
use super::{Machine, Run, Stop, fatal};
use crate::code::{Index, Node};
use crate::kernels::gather;
use crate::memory::{Block, Flags, cast};

/// A dimension of the result.
#[derive(Clone, Debug)]
struct Kept {
    /// How many positions are picked.
    size: usize,
    /// From one position to the next, in elements.
    stride: usize,
    /// The first position, where they are neighbours.
    first: usize,
    /// Positions, where they are not.
    positions: Option<Vec<u32>>,
}

/// What an index expression picks out of a value.
#[derive(Debug)]
pub(super) struct Selection {
    pub shape: Shape,
    /// The element at which everything starts.
    offset: usize,
    /// Slowest first, in the order of the result.
    kept: SmallVec<[Kept; 4]>,
    /// Indices that differ between items, with the distance that each step goes.
    varying: SmallVec<[(Block, usize); 2]>,
}

/// How far apart neighbours along each dimension are, in elements.
pub(super) fn strides(shape: &Shape) -> SmallVec<[usize; 8]> {
    let (rank, arrays) = (shape.rank(), shape.array_rank());
    let mut strides: SmallVec<[usize; 8]> = SmallVec::from_elem(1, rank);
    if shape.cell() == Cell::Matrix {
        strides[arrays + 1] = shape.rows();
    }
    let mut step = shape.cell_len();
    for d in (0..arrays).rev() {
        strides[d] = step;
        step *= shape.size(d);
    }
    strides
}

impl Machine {
    pub(super) fn index(&mut self, base: &Node, indices: &[Index], span: Span) -> Run<Value> {
        match self.eval(base)? {
            Value::Numbers(view) => self.index_view(view, indices, span).map(Value::Numbers),
            Value::Tuple { first, parts } => {
                // An array of tuples is a tuple of arrays.
                let mut picked: SmallVec<[Value; 8]> = SmallVec::new();
                for part in first..first + parts {
                    match self.tuples[part as usize] {
                        Value::Numbers(view) => picked.push(Value::Numbers(self.index_view(view, indices, span)?)),
                        _ => return fatal("not-supported", "the engine cannot index nested tuples", span),
                    }
                }
                Ok(self.push_tuple(&picked))
            }
            Value::Unset => fatal("no-value", "this variable has no value here", span),
        }
    }

    fn index_view(&mut self, view: View, indices: &[Index], span: Span) -> Run<View> {
        if let Some(element) = self.element(view, indices)? {
            return Ok(element);
        }
        let selection = self.select(&view.shape, indices, span)?;
        self.take(view, selection)
    }

    /// One element, where all its indices are the same for all items: the rule in loops, and quicker than a selection.
    fn element(&mut self, view: View, indices: &[Index]) -> Run<Option<View>> {
        let (rank, arrays) = (view.shape.rank(), view.shape.array_rank());
        if indices.len() != rank || self.width.tile > 1 {
            return Ok(None);
        }
        let mut offset = 0;
        for (d, index) in indices.iter().enumerate() {
            let Index::Single(node) = index else { return Ok(None) };
            let at = self.numbers(node)?;
            if !at.block.uniform() {
                return Ok(None);
            }
            let size = view.shape.size(d);
            let position = position(self.arena.first(at.block), size, d, node.span)?;
            // Arrays lie row by row, matrices column by column.
            offset = if d == arrays + 1 && view.shape.cell() == Cell::Matrix {
                offset + position * view.shape.rows()
            } else if d == arrays && view.shape.cell() == Cell::Matrix {
                offset * view.shape.cell_len() + position
            } else {
                offset * size + position
            };
        }
        let block = view.block.elements(offset, 1, self.width);
        Ok(Some(View { shape: Shape::SCALAR, block }))
    }

    /// Resolves indices against a shape.
    pub(super) fn select(&mut self, shape: &Shape, indices: &[Index], span: Span) -> Run<Selection> {
        if indices.len() > shape.rank() {
            return fatal("too-many-indices", format!("a {shape} has no {} dimensions", indices.len()), span);
        }
        let steps = strides(shape);
        let mut selection =
            Selection { shape: Shape::SCALAR, offset: 0, kept: SmallVec::new(), varying: SmallVec::new() };
        let mut kept_dimensions: SmallVec<[usize; 8]> = SmallVec::new();
        for (d, &stride) in steps.iter().enumerate() {
            let size = shape.size(d);
            let kept = match indices.get(d) {
                None | Some(Index::All) => Kept { size, stride, first: 0, positions: None },
                Some(Index::Single(node)) => {
                    self.single(node, size, stride, d, &mut selection)?;
                    continue;
                }
                Some(Index::Several(node)) => self.several(node, size, stride, d)?,
                Some(Index::From(a)) => {
                    let low = self.int(a)?;
                    range(low, i64::try_from(size).unwrap_or(i64::MAX), (size, stride, d), a.span)?
                }
                Some(Index::UpTo(b)) => {
                    let high = self.int(b)?;
                    range(1, high, (size, stride, d), b.span)?
                }
                Some(Index::Between(a, b)) => {
                    let (low, high) = (self.int(a)?, self.int(b)?);
                    range(low, high, (size, stride, d), a.span)?
                }
            };
            selection.kept.push(kept);
            kept_dimensions.push(d);
        }
        selection.shape = picked_shape(shape, &kept_dimensions, &selection.kept);
        // The rows of a matrix run faster than its columns.
        let arrays = shape.array_rank();
        if kept_dimensions.ends_with(&[arrays, arrays + 1]) && shape.cell() == Cell::Matrix {
            let n = selection.kept.len();
            selection.kept.swap(n - 2, n - 1);
        }
        Ok(selection)
    }

    fn single(&mut self, node: &Node, size: usize, stride: usize, d: usize, selection: &mut Selection) -> Run<()> {
        let view = self.numbers(node)?;
        if view.block.uniform() {
            let at = self.arena.first(view.block);
            selection.offset += position(at, size, d, node.span)? * stride;
            return Ok(());
        }
        let numbers = self.arena.of(view.block, self.width);
        for (i, &at) in numbers.iter().enumerate() {
            let alive = !view.block.lanes() || self.rejected[i % self.width.lanes].is_none();
            if alive {
                position(at, size, d, node.span)?;
            }
        }
        selection.varying.push((view.block, stride));
        Ok(())
    }

    fn several(&mut self, node: &Node, size: usize, stride: usize, d: usize) -> Run<Kept> {
        let view = self.numbers(node)?;
        if view.block.tile() && self.width.tile > 1 {
            return Err(Stop::TileUnfit);
        }
        // A lane alone shares its group with copies of itself.
        let lanes = if view.block.lanes() { self.width.lanes } else { 1 };
        self.apart |= view.block.lanes();
        let mut elements = self.arena.of(view.block, self.width).chunks_exact(lanes);
        if elements.any(|element| element.iter().any(|x| x.to_bits() != element[0].to_bits())) {
            return Err(Stop::LanesUnfit);
        }
        let mut positions = self.take_picks();
        for element in self.arena.of(view.block, self.width).chunks_exact(lanes) {
            positions.push(cast(position(element[0], size, d, node.span)?));
        }
        Ok(Kept { size: positions.len(), stride, first: 0, positions: Some(positions) })
    }

    pub(super) fn take(&mut self, view: View, mut selection: Selection) -> Run<View> {
        let shape = selection.shape;
        if let Some(from) = selection.contiguous() {
            if selection.varying.is_empty() {
                let block = view.block.elements(from, shape.len(), self.width);
                return Ok(View { shape, block });
            }
            if let Some(block) = self.tile_view(view.block, from, &selection) {
                return Ok(View { shape, block });
            }
        }
        let picks = self.offsets(&mut selection);
        if selection.varying.is_empty() {
            return self.pick(view, picks, shape);
        }
        let index = self.varying_index(&picks, &selection)?;
        self.give_picks(picks);
        let y = self.allocate(shape.len(), view.block.flags.with(index.flags))?;
        gather::varying(&mut self.arena, self.width, view.block, index, y);
        if y.gradient() {
            self.tape.push(Entry::GatherVarying { x: view.block, index, y });
        }
        Ok(View { shape, block: y })
    }

    /// A scalar element for each iteration of the tile, where those elements are neighbours: no copy is needed.
    fn tile_view(&self, whole: Block, from: usize, selection: &Selection) -> Option<Block> {
        let [(index, 1)] = selection.varying[..] else { return None };
        if whole.tile() || index.lanes() || !selection.shape.is_scalar() {
            return None;
        }
        let numbers = self.arena.of(index, self.width);
        let first = numbers[0];
        let neighbours = numbers[1..].iter().zip(numbers).all(|(b, a)| (b - a - 1.0).abs() < 0.5);
        if !neighbours {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "indices have been checked")]
        let start = from + first as usize - 1;
        let at = whole.at + cast(start * whole.item_len(self.width));
        Some(Block { at, n: 1, flags: whole.flags.with(Flags::TILE) })
    }

    /// The elements that are picked, in the order of the result, without the indices that vary.
    pub(super) fn offsets(&mut self, selection: &mut Selection) -> Vec<u32> {
        let mut picks = self.take_picks();
        picks.push(cast(selection.offset));
        for kept in &mut selection.kept {
            let mut finer = self.take_picks();
            for &at in &picks {
                let step = cast(kept.stride);
                if let Some(positions) = &kept.positions {
                    finer.extend(positions.iter().map(|&p| at + p * step));
                } else {
                    let first = at + cast(kept.first) * step;
                    finer.extend((0..cast(kept.size)).map(|p| first + p * step));
                }
            }
            self.give_picks(std::mem::replace(&mut picks, finer));
            if let Some(positions) = kept.positions.take() {
                self.give_picks(positions);
            }
        }
        picks
    }

    /// Elements counted from 0 for each item.
    #[allow(clippy::cast_precision_loss, reason = "strides are small")]
    pub(super) fn varying_index(&mut self, picks: &[u32], selection: &Selection) -> Run<Block> {
        let flags = selection.varying.iter().fold(Flags::UNIFORM, |flags, (b, _)| flags.with(b.flags));
        let index = self.allocate(picks.len(), flags.without(Flags::GRADIENT))?;
        let (width, row) = (self.width, index.item_len(self.width));
        let (low, out) = self.arena.below(index, width);
        for (e, &pick) in picks.iter().enumerate() {
            out[e * row..(e + 1) * row].fill(f64::from(pick));
        }
        let lanes = if index.lanes() { width.lanes } else { 1 };
        for &(block, stride) in &selection.varying {
            let [_, tile_step, lane_step] = block.strides(width);
            for row in out.chunks_exact_mut(row) {
                for (i, to) in row.iter_mut().enumerate() {
                    let (t, l) = (i / lanes, i % lanes);
                    let at = low[block.start() + t * tile_step + l * lane_step];
                    // A lane that has been rejected may have any index.
                    *to += (at - 1.0).max(0.0) * stride as f64;
                }
            }
        }
        Ok(index)
    }

    /// Elements of a value by position.
    pub(super) fn pick(&mut self, x: View, picks: Vec<u32>, shape: Shape) -> Run<View> {
        debug_assert_eq!(picks.len(), shape.len());
        let y = self.allocate(picks.len(), x.block.flags)?;
        gather::forward(&mut self.arena, self.width, x.block, &picks, y);
        if y.gradient() {
            let index = self.tape.list(&picks);
            self.tape.push(Entry::Gather { x: x.block, index, y });
        }
        self.give_picks(picks);
        Ok(View { shape, block: y })
    }

    /// An empty list of elements; lists are used again.
    pub(super) fn take_picks(&mut self) -> Vec<u32> {
        self.picks.pop().unwrap_or_default()
    }

    pub(super) fn give_picks(&mut self, mut picks: Vec<u32>) {
        picks.clear();
        self.picks.push(picks);
    }
}

impl Selection {
    /// The first element, if all that is picked are neighbours in the order of the result.
    fn contiguous(&self) -> Option<usize> {
        let (mut from, mut running) = (self.offset, 1);
        for kept in self.kept.iter().rev() {
            if kept.positions.is_some() || (kept.size > 1 && kept.stride != running) {
                return None;
            }
            from += kept.first * kept.stride;
            running *= kept.size;
        }
        Some(from)
    }

    pub(super) fn varies(&self) -> bool {
        !self.varying.is_empty()
    }
}

/// Positions `low..=high`, counted from 1; nothing where `high < low`.
fn range(low: i64, high: i64, (size, stride, d): (usize, usize, usize), span: Span) -> Run<Kept> {
    if high < low {
        return Ok(Kept { size: 0, stride, first: 0, positions: None });
    }
    let fits = |n: i64| usize::try_from(n).is_ok_and(|n| n >= 1 && n <= size);
    for end in [low, high] {
        if !fits(end) {
            return out_of_range(end, size, d, span);
        }
    }
    let (low, high) = (usize::try_from(low).unwrap_or(1), usize::try_from(high).unwrap_or(0));
    Ok(Kept { size: high + 1 - low, stride, first: low - 1, positions: None })
}

/// The shape that is left of a shape when only some dimensions are kept.
fn picked_shape(shape: &Shape, dimensions: &[usize], kept: &[Kept]) -> Shape {
    let arrays = shape.array_rank();
    let sizes: SmallVec<[usize; 8]> = kept.iter().map(|k| k.size).collect();
    let in_arrays = dimensions.iter().filter(|&&d| d < arrays).count();
    let in_cell = &dimensions[in_arrays..];
    let cell = match (shape.cell(), in_cell) {
        (_, []) => Cell::Scalar,
        (Cell::Matrix, [d]) if *d == arrays => Cell::Vector,
        (Cell::Matrix, [_]) => Cell::RowVector,
        (cell, _) => cell,
    };
    Shape::new(&sizes[..in_arrays], cell, &sizes[in_arrays..])
}

/// The position of an index counted from 1, counted from 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked before")]
#[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
fn position(at: f64, size: usize, d: usize, span: Span) -> Run<usize> {
    let fits = at >= 1.0 && at <= size as f64;
    // An `int` without a value is Stan's least one.
    let known = if at.is_nan() { i64::from(i32::MIN) } else { at as i64 };
    if fits { Ok(at as usize - 1) } else { out_of_range(known, size, d, span) }
}

#[cold]
fn out_of_range<T>(at: i64, size: usize, d: usize, span: Span) -> Run<T> {
    let message = if size == 0 {
        format!("index {at} is out of range: there are no elements in dimension {}", d + 1)
    } else {
        format!("index {at} is out of range: dimension {} has the indices 1 to {size}", d + 1)
    };
    fatal("index-out-of-range", message, span)
}
