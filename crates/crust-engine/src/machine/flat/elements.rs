//! Elements of containers in loops: gathered from parameters, or computed in place.

use std::collections::HashSet;
use std::rc::Rc;

use crust_math::functions::{Cell, Shape};

use super::builder::Item;
use super::expressions::{Dependence, MOST_ELEMENTS, Numbers, Val};
use super::statements::Compiler;
use super::{Fit, Obstacle};
use crate::code::{Filled, Index, Kind, Node, Varies};
use crate::flat::{Positions, Step};
use crate::machine::index::strides;
use crate::memory::cast;

/// Elements that an index expression picks.
pub struct Picked {
    /// The first element, for each iteration.
    pub first: Vec<u32>,
    /// The shape of what is left, and how far its elements are apart.
    pub kept: Option<(Shape, u32)>,
}

/// Elements at equal distances, other ones in each iteration.
pub(super) struct Strand {
    pub operand: usize,
    pub first: Vec<u32>,
    pub stride: u32,
    pub shape: Shape,
}

impl Compiler<'_> {
    pub(super) fn is_inlinable(&self, node: &Node) -> bool {
        let Kind::Variable { slot, .. } = &node.kind else { return false };
        self.inlinable.iter().any(|(s, _)| s == slot) || self.filled.iter().any(|filled| filled.slot == *slot)
    }

    pub(super) fn indexed(&mut self, base: &Node, indices: &[Index]) -> Fit<Val> {
        if let Kind::Variable { slot, .. } = &base.kind
            && let Some((slot, definition)) = self.inlinable.iter().find(|(s, _)| s == slot)
            && self.is_long(base)?
        {
            match self.element(definition, indices) {
                Ok(item) => {
                    self.flat.inlined.push(*slot);
                    return Ok(Self::one(item));
                }
                Err(Obstacle::Unfit) => {}
                Err(stop) => return Err(stop),
            }
        }
        if let Kind::Variable { slot, .. } = &base.kind {
            if let Some(local) = self.locals.get(slot).cloned() {
                let at = self.fixed_element(&local.shape, indices)?;
                return Ok(Self::one(Self::items(&local)?[at].clone()));
            }
            if let Some(filled) = self.filled.iter().find(|f| f.slot == *slot) {
                match self.filled_elements(filled, indices) {
                    Ok(val) => {
                        self.flat.inlined.push(filled.slot);
                        return Ok(val);
                    }
                    Err(Obstacle::Unfit) => {}
                    Err(stop) => return Err(stop),
                }
            }
        }
        let single = |index: &Index| matches!(index, Index::Single(_));
        if !matches!(base.kind, Kind::Variable { .. }) && indices.iter().all(single) && self.is_long(base)? {
            match self.element(base, indices) {
                Ok(item) => return Ok(Self::one(item)),
                Err(Obstacle::Unfit) => {}
                Err(stop) => return Err(stop),
            }
        }
        if indices.iter().any(is_list) {
            return self.several(base, indices);
        }
        let strand = self.picked(base, indices)?;
        let (n, stride) = (strand.shape.len(), strand.stride);
        if n > MOST_ELEMENTS {
            return Err(Obstacle::Unfit);
        }
        let mut items = Vec::new();
        for e in 0..cast(n) {
            let elements = strand.first.iter().map(|first| first + e * stride).collect();
            items.push(self.builder.gather(Positions::new(strand.operand, elements, (1, 0)))?);
        }
        Ok(Val { shape: strand.shape, numbers: Numbers::Items(items) })
    }

    /// The shape of an expression, which is the same in all iterations.
    fn shape(&mut self, node: &Node) -> Fit<Shape> {
        if !self.dependence(node).space {
            return Ok(self.machine.numbers(node)?.shape);
        }
        let (node, space) = (self.resolved(node), self.builder.space.clone());
        self.machine.shape_at(&node, &space, 0)
    }

    /// Whether a container that is the same in all iterations has as many elements as there are iterations: otherwise
    /// the machine is faster, which computes them once.
    fn is_long(&mut self, base: &Node) -> Fit<bool> {
        let Dependence { space, runtime } = self.dependence(base);
        Ok(runtime && !space && self.machine.numbers(base)?.shape.len() >= self.builder.space.iterations)
    }

    /// Elements of something that does not differ between iterations, where one index is a list of positions and the
    /// others are single.
    fn several(&mut self, base: &Node, indices: &[Index]) -> Fit<Val> {
        if self.dependence(base).space {
            return Err(Obstacle::Unfit);
        }
        let (operand, shape) = self.operand(base)?;
        if indices.len() != shape.rank() {
            return Err(Obstacle::Unfit);
        }
        let single = |index: &Index| matches!(index, Index::Single(_));
        let Some(d) = indices.iter().position(|index| !single(index)) else { return Err(Obstacle::Unfit) };
        let listed: Vec<Rc<Vec<f64>>> = match &indices[d] {
            Index::Several(node) => {
                if self.dependence(node).runtime {
                    return Err(Obstacle::Unfit);
                }
                let list = self.value(node)?;
                let items = Self::items(&list)?;
                items.iter().map(|item| self.data_of(item)).collect::<Fit<_>>()?
            }
            Index::Between(low, high) => self.range(low, high)?,
            _ => return Err(Obstacle::Unfit),
        };
        let mut items = Vec::new();
        for positions in &listed {
            let mut elements = vec![0_u32; self.builder.space.iterations];
            for (i, (index, &stride)) in indices.iter().zip(strides(&shape).iter()).enumerate() {
                let at = match index {
                    _ if i == d => Rc::clone(positions),
                    Index::Single(node) => self.scalar_data(node)?,
                    _ => return Err(Obstacle::Unfit),
                };
                add_positions(&mut elements, &at, shape.size(i), stride)?;
            }
            items.push(self.builder.gather(Positions::new(operand, elements, (1, 0)))?);
        }
        Ok(Val { shape: kept_shape(&shape, d, items.len()), numbers: Numbers::Items(items) })
    }

    /// The positions from `low` to `high`: as many in each iteration.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lists are short")]
    #[allow(clippy::cast_precision_loss, reason = "lists are short")]
    fn range(&mut self, low: &Node, high: &Node) -> Fit<Vec<Rc<Vec<f64>>>> {
        let (low, high) = (self.scalar_data(low)?, self.scalar_data(high)?);
        let counts = low.iter().zip(high.iter()).map(|(low, high)| (high - low + 1.0).max(0.0) as usize);
        let counts: Vec<usize> = counts.collect();
        let count = counts.first().copied().unwrap_or(0);
        if count > MOST_ELEMENTS || counts.iter().any(|&n| n != count) {
            return Err(Obstacle::Unfit);
        }
        Ok((0..count).map(|k| Rc::new(low.iter().map(|low| low + k as f64).collect())).collect())
    }

    /// The position of an element that is the same in all iterations.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions are checked")]
    #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
    pub fn fixed_element(&mut self, shape: &Shape, indices: &[Index]) -> Fit<usize> {
        if indices.len() != shape.rank() {
            return Err(Obstacle::Unfit);
        }
        let mut at = 0;
        for (d, (index, &stride)) in indices.iter().zip(strides(shape).iter()).enumerate() {
            let Index::Single(node) = index else { return Err(Obstacle::Unfit) };
            let Item::Constant(x) = self.scalar(node)? else { return Err(Obstacle::Unfit) };
            if !(x >= 1.0 && x <= shape.size(d) as f64) {
                return Err(Obstacle::Unfit);
            }
            at += (x as usize - 1) * stride;
        }
        Ok(at)
    }

    /// Elements of an array that a loop before has filled: what that loop computes for them. Indices that are left out
    /// run over all. If something may be wrong with an element, all of them have to be among those that are looked at.
    #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
    pub(super) fn filled_elements(&mut self, filled: &Filled, indices: &[Index]) -> Fit<Val> {
        let mut value = filled.value.clone();
        let mut rest = None;
        let mut all = 1;
        let mut positions = vec![Vec::new(); self.builder.space.iterations];
        for (d, (slot, low, high)) in filled.loops.iter().enumerate() {
            if [low, high].into_iter().any(|bound| self.dependence(bound).runtime) {
                return Err(Obstacle::Unfit);
            }
            let (low, high) = (self.machine.int(low)?, self.machine.int(high)?);
            match indices.get(d) {
                Some(Index::Single(node)) => {
                    let node = self.resolved(node);
                    let within = |&x: &f64| x >= low as f64 && x <= high as f64;
                    let numbers = self.scalar_data(&node)?;
                    if !numbers.iter().all(within) {
                        return Err(Obstacle::Unfit);
                    }
                    positions.iter_mut().zip(numbers.iter()).for_each(|(own, x)| own.push(x.to_bits()));
                    all *= usize::try_from(high - low + 1).unwrap_or(0);
                    value = value.with(*slot, &node);
                }
                None if rest.is_none() && low == 1 && usize::try_from(high).is_ok_and(|high| high <= MOST_ELEMENTS) => {
                    rest = Some((*slot, high));
                }
                _ => return Err(Obstacle::Unfit),
            }
        }
        if may_fail(&value) && positions.into_iter().collect::<HashSet<_>>().len() < all {
            return Err(Obstacle::Unfit);
        }
        let Some((slot, high)) = rest else { return self.scalar(&value).map(Self::one) };
        let mut items = Vec::new();
        for i in 1..=high {
            let number = Node { kind: Kind::Number(i as f64), span: value.span, varies: Varies::No };
            items.push(self.scalar(&value.clone().with(slot, &number))?);
        }
        Ok(Val::list(Shape::array(&[items.len()]), items))
    }

    /// Elements of something that does not differ between iterations.
    pub(super) fn picked(&mut self, base: &Node, indices: &[Index]) -> Fit<Strand> {
        if self.dependence(base).space {
            return Err(Obstacle::Unfit);
        }
        let (operand, shape) = self.operand(base)?;
        let Picked { first, kept } = self.pick(&shape, indices)?;
        let (shape, stride) = kept.unwrap_or((Shape::SCALAR, 0));
        Ok(Strand { operand, first, stride, shape })
    }

    /// Resolves indices, of which all but one pick a single position.
    pub fn pick(&mut self, shape: &Shape, indices: &[Index]) -> Fit<Picked> {
        if indices.len() > shape.rank() {
            return Err(Obstacle::Unfit);
        }
        let mut first = vec![0_u32; self.builder.space.iterations];
        let mut kept = None;
        for (d, &stride) in strides(shape).iter().enumerate() {
            let size = shape.size(d);
            match indices.get(d) {
                None | Some(Index::All) => {
                    if kept.is_some() {
                        return Err(Obstacle::Unfit);
                    }
                    kept = Some((kept_shape(shape, d, size), cast(stride)));
                }
                Some(Index::Single(node)) => {
                    let at = self.scalar_data(node)?;
                    add_positions(&mut first, &at, size, stride)?;
                }
                Some(_) => return Err(Obstacle::Unfit),
            }
        }
        Ok(Picked { first, kept })
    }

    /// A data-only number in each iteration.
    pub(super) fn scalar_data(&mut self, node: &Node) -> Fit<Rc<Vec<f64>>> {
        if self.dependence(node).runtime {
            return Err(Obstacle::Unfit);
        }
        let item = self.scalar(node)?;
        self.data_of(&item)
    }

    /// What an item is in each iteration, if that is known from data.
    fn data_of(&self, item: &Item) -> Fit<Rc<Vec<f64>>> {
        match item {
            Item::Constant(x) => Ok(Rc::new(vec![*x; self.builder.space.iterations])),
            Item::Column(column) => Ok(Rc::clone(column)),
            Item::Uniform { .. } | Item::Register(_) => Err(Obstacle::Unfit),
        }
    }

    /// One element of an expression that is the same in all iterations, without computing the others.
    pub(super) fn element(&mut self, node: &Node, indices: &[Index]) -> Fit<Item> {
        let data = !self.dependence(node).runtime;
        if data {
            // All at once, `r[k, i]`: of `r[k][i]` the whole row would be there for each iteration.
            let whole = match self.composed_element(node, indices) {
                Err(Obstacle::Unfit) => {
                    let kind = Kind::Index { base: Box::new(node.clone()), indices: indices.to_vec() };
                    Node { kind, span: node.span, varies: node.varies }
                }
                whole => whole?,
            };
            let item = self.scalar(&whole)?;
            return Ok(match &item {
                Item::Column(column) if column.iter().all(|x| x.to_bits() == column[0].to_bits()) => {
                    Item::Constant(column[0])
                }
                _ => item,
            });
        }
        if let Kind::Variable { .. } = &node.kind {
            let val = self.indexed(node, indices)?;
            return Self::items(&val)?.into_iter().next().ok_or(Obstacle::Unfit);
        }
        let part = |compiler: &mut Self, node: &Node| {
            if compiler.shape(node)?.is_scalar() { compiler.scalar(node) } else { compiler.element(node, indices) }
        };
        match &node.kind {
            Kind::Product(parts) => {
                let [a, b] = &**parts;
                self.product_element(a, b, indices, &Item::Constant(0.0))
            }
            Kind::Affine(parts) => {
                let [a, b, c] = &**parts;
                let plus = self.scalar(c)?;
                self.product_element(a, b, indices, &plus)
            }
            Kind::Arithmetic(operator, parts) => {
                let [a, b] = &**parts;
                let (a, b) = (part(self, a)?, part(self, b)?);
                self.operate(*operator, &a, &b)
            }
            Kind::Negate(x) => {
                let x = part(self, x)?;
                self.builder.affine(&x, -1.0, None, None)
            }
            Kind::Index { .. } => {
                let whole = self.composed_element(node, indices)?;
                self.scalar(&whole)
            }
            Kind::Unary(function, x) => {
                if let Kind::Index { .. } = &x.kind
                    && let [at] = indices
                    && !self.shape(x)?.is_scalar()
                {
                    let whole = self.composed_element(x, std::slice::from_ref(at))?;
                    if let Some(hoisted) = self.hoist(function, node, &whole)? {
                        return Self::items(&hoisted)?.into_iter().next().ok_or(Obstacle::Unfit);
                    }
                }
                let x = part(self, x)?;
                let x = self.builder.argument(&x)?;
                self.builder.step(|out| Step::Unary { function, x, out })
            }
            _ => Err(Obstacle::Unfit),
        }
    }

    /// `x[list][i]` with one index for each dimension of `x`.
    fn composed_element(&mut self, node: &Node, indices: &[Index]) -> Fit<Node> {
        let (Kind::Index { base, indices: own }, [at]) = (&node.kind, indices) else { return Err(Obstacle::Unfit) };
        // How many there are must not depend on parameters.
        let ends = own.iter().filter_map(|index| match index {
            Index::UpTo(end) | Index::Between(_, end) => Some(end),
            _ => None,
        });
        if ends.into_iter().any(|end| self.dependence(end).runtime) {
            return Err(Obstacle::Unfit);
        }
        let rank = self.shape(base)?.rank();
        Self::composed(base, own, at, rank).ok_or(Obstacle::Unfit)
    }
}

/// Whether an expression may be wrong for some values of what it looks at: then it has to be computed even where
/// nobody needs it.
fn may_fail(node: &Node) -> bool {
    let calls = matches!(node.kind, Kind::Density(_) | Kind::Vector(..) | Kind::User { .. } | Kind::HigherOrder(_));
    let mut found = calls || matches!(node.kind, Kind::VectorTuple(..) | Kind::Binary(..) | Kind::TernaryFunction(..));
    node.children(&mut |child| found = found || may_fail(child));
    found
}

/// Whether an index picks positions one by one.
pub(super) fn is_list(index: &Index) -> bool {
    matches!(index, Index::Several(_) | Index::Between(..))
}

/// Moves elements on by positions along a dimension, which count from 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions are checked")]
#[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
fn add_positions(elements: &mut [u32], positions: &[f64], size: usize, stride: usize) -> Fit<()> {
    for (element, &at) in elements.iter_mut().zip(positions) {
        if !(at >= 1.0 && at <= size as f64) {
            return Err(Obstacle::Unfit);
        }
        *element += (at as u32 - 1) * cast(stride);
    }
    Ok(())
}

/// The shape of what is left if only so many elements of one dimension are kept.
fn kept_shape(shape: &Shape, d: usize, n: usize) -> Shape {
    let arrays = shape.array_rank();
    match shape.cell() {
        _ if d < arrays => Shape::array(&[n]),
        Cell::Matrix if d == arrays => Shape::vector(n),
        Cell::Matrix | Cell::RowVector => Shape::row_vector(n),
        Cell::Vector | Cell::Scalar => Shape::vector(n),
    }
}
