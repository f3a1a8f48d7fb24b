//! Products of rows, columns and vectors in loops, one number in each iteration.

use crust_math::functions::Cell;

use super::builder::Item;
use super::elements::{Strand, is_list};
use super::expressions::{Dependence, Val};
use super::statements::Compiler;
use super::{Fit, Obstacle};
use crate::code::{Index, Kind, Node};
use crate::flat::{Lists, Positions, Step};
use crate::kernels::arithmetic::Arithmetic;

impl Compiler<'_> {
    /// A row times a vector, plus a number.
    pub(super) fn product(&mut self, a: &Node, b: &Node, plus: &Item) -> Fit<Item> {
        if let Some(item) = self.strands(a, b)? {
            return self.operate(Arithmetic::Add, &item, plus);
        }
        let other = self.dependence(b);
        if !self.dependence(a).runtime && other.runtime && !other.space {
            let row = self.resolved(a);
            return self.data_row(&row, b, plus);
        }
        let row = self.value(a)?;
        if row.shape.cell() != Cell::RowVector || row.shape.array_rank() > 0 {
            return Err(Obstacle::Unfit);
        }
        let (items, other) = (Self::items(&row)?, self.value(b)?);
        let item = self.dot_items(&items, &other)?;
        self.operate(Arithmetic::Add, &item, plus)
    }

    /// A row of data times a vector of parameters, plus a number.
    pub(super) fn data_row(&mut self, row: &Node, vector: &Node, plus: &Item) -> Fit<Item> {
        let space = self.builder.space.clone();
        let columns = self.machine.columns(row, &space)?;
        if columns.shape.cell() != Cell::RowVector || columns.shape.array_rank() > 0 {
            return Err(Obstacle::Unfit);
        }
        let inner = columns.elements.len();
        let rows = columns.elements.iter().flat_map(|column| column.iter().copied()).collect();
        let (operand, shape) = self.operand(vector)?;
        if shape.len() != inner || shape.cell() != Cell::Vector || shape.array_rank() > 0 {
            return Err(Obstacle::Unfit);
        }
        let plus = self.builder.argument(plus)?;
        self.builder.step(|out| Step::RowDot { rows, inner, operand, plus, out })
    }

    pub(super) fn dot(&mut self, a: &Node, b: &Node) -> Fit<Item> {
        if let Some(item) = self.strands(a, b)? {
            return Ok(item);
        }
        let (a, b) = (self.value(a)?, self.value(b)?);
        let items = Self::items(&a)?;
        self.dot_items(&items, &b)
    }

    /// The sum of squares of elements, or of differences of elements.
    pub(super) fn dot_self(&mut self, x: &Node) -> Fit<Item> {
        if let Some(item) = self.strands(x, x)? {
            return Ok(item);
        }
        let (a, b) = if let Kind::Arithmetic(Arithmetic::Subtract, parts) = &x.kind {
            let (a, b) = (self.value(&parts[0])?, self.value(&parts[1])?);
            if a.shape != b.shape {
                return Err(Obstacle::Unfit);
            }
            (Self::items(&a)?, Self::items(&b)?)
        } else {
            let a = Self::items(&self.value(x)?)?;
            let zeros = vec![Item::Constant(0.0); a.len()];
            (a, zeros)
        };
        let mut pairs = Vec::new();
        for (a, b) in a.iter().zip(&b) {
            pairs.push([self.builder.argument(a)?, self.builder.argument(b)?]);
        }
        self.builder.step(|out| Step::SquaredDistance { pairs, out })
    }

    pub(super) fn dot_items(&mut self, a: &[Item], b: &Val) -> Fit<Item> {
        let b = Self::items(b)?;
        if a.len() != b.len() {
            return Err(Obstacle::Unfit);
        }
        let mut terms = Vec::new();
        for (a, b) in a.iter().zip(&b) {
            terms.push(self.operate(Arithmetic::Multiply, a, b)?);
        }
        self.sum(terms)
    }

    /// The sum of products of two lists of elements of parameters.
    fn strands(&mut self, a: &Node, b: &Node) -> Fit<Option<Item>> {
        fn plain(node: &Node) -> &Node {
            if let Kind::Transpose(x) = &node.kind { x } else { node }
        }
        let (Kind::Index { base: x, indices: i }, Kind::Index { base: y, indices: j }) =
            (&plain(a).kind, &plain(b).kind)
        else {
            return Ok(None);
        };
        if i.iter().chain(j).any(is_list) {
            return Ok(None);
        }
        for base in [x, y] {
            let Dependence { space, runtime } = self.dependence(base);
            if space || !runtime || self.is_inlinable(base) {
                return Ok(None);
            }
        }
        let (a, b) = (self.picked(x, i)?, self.picked(y, j)?);
        if a.shape.is_scalar() || a.shape.len() != b.shape.len() {
            return Err(Obstacle::Unfit);
        }
        self.pair_dot(a, b).map(Some)
    }

    /// The list that changes less often comes first: it is kept while the other one changes.
    fn pair_dot(&mut self, a: Strand, b: Strand) -> Fit<Item> {
        let changes = |strand: &Strand| strand.first.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let (a, b) = if changes(&a) <= changes(&b) { (a, b) } else { (b, a) };
        let (strides, inner) = ([a.stride, b.stride], a.shape.len());
        let a = Positions::new(a.operand, a.first, (inner, a.stride));
        let b = Positions::new(b.operand, b.first, (inner, b.stride));
        let lists = Lists { a, b, strides, inner };
        self.builder.step(|out| Step::PairDot { lists, out })
    }

    /// An element of a product of matrices, or of a matrix and a vector.
    pub(super) fn product_element(&mut self, a: &Node, b: &Node, indices: &[Index], plus: &Item) -> Fit<Item> {
        let (left, right) = (self.dependence(a), self.dependence(b));
        let with = |base: &Node, indices: Vec<Index>| Node {
            kind: Kind::Index { base: Box::new(base.clone()), indices },
            span: base.span,
            varies: base.varies,
        };
        match indices {
            [row] if !left.runtime && right.runtime && !right.space => {
                let row = self.resolved(&with(a, vec![row.clone()]));
                self.data_row(&row, b, plus)
            }
            [row, column] if left.runtime && right.runtime => {
                let a = self.picked(a, &[row.clone(), Index::All])?;
                let b = self.picked(b, &[Index::All, column.clone()])?;
                if a.shape.len() != b.shape.len() {
                    return Err(Obstacle::Unfit);
                }
                let dot = self.pair_dot(a, b)?;
                if matches!(plus, Item::Constant(x) if *x == 0.0) {
                    return Ok(dot);
                }
                self.operate(Arithmetic::Add, &dot, plus)
            }
            _ => Err(Obstacle::Unfit),
        }
    }
}
