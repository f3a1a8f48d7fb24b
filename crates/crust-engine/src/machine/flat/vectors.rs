//! Log densities of vectors, as if a loop went through their elements. What is computed on the way from parameters to
//! the density then stays in the cache, and squares of normal densities may become fewer.

use std::rc::Rc;

use crust_math::functions::{Cell, Shape};

use super::builder::Builder;
use super::expressions::MOST_ELEMENTS;
use super::space::Space;
use super::statements::Compiler;
use super::{Fit, Obstacle};
use crate::code::{DensityCall, Factor, Index, Kind, Node, Slot, Varies};
use crate::density::{Density, Linear, Scalar};
use crate::flat::{Function, Step};
use crate::kernels::arithmetic::Arithmetic;
use crate::memory::cast;

/// With fewer elements, terms are written down one by one.
pub(super) const FEW: usize = 8;

/// The most iterations around a log density of vectors.
const MOST_AROUND: usize = 256;

/// A log density whose arguments are vectors of one length, or numbers.
pub(super) struct Vectors {
    scalar: Scalar,
    arguments: Vec<Node>,
    /// Which arguments are vectors.
    long: Vec<bool>,
    n: usize,
}

/// The one length of all that are vectors, if nothing has more dimensions.
fn length(shapes: &[Shape]) -> Option<usize> {
    let mut lengths = shapes.iter().filter(|shape| shape.rank() > 0).map(Shape::len);
    let n = lengths.next()?;
    (shapes.iter().all(|shape| shape.rank() < 2) && lengths.all(|other| other == n)).then_some(n)
}

impl Compiler<'_> {
    /// A log density of vectors in a loop, if they are too long to be taken apart, and as long in all iterations.
    pub(super) fn long_vectors(&mut self, call: &DensityCall, space: &Space) -> Fit<Option<Vectors>> {
        let Density::Scalar(scalar) = call.density else { return Ok(None) };
        if scalar.product || scalar.fast.is_none() || space.iterations > MOST_AROUND {
            return Ok(None);
        }
        let mut found = Vectors { scalar, arguments: Vec::new(), long: Vec::new(), n: 0 };
        let mut shapes = Vec::new();
        for node in &call.arguments {
            let node = self.resolved(node);
            let shape = match self.machine.shape_at(&node, space, 0) {
                Err(Obstacle::Unfit) => return Ok(None),
                shape => shape?,
            };
            found.long.push(shape.rank() == 1);
            found.arguments.push(node);
            shapes.push(shape);
        }
        match length(&shapes) {
            Some(n) if n > MOST_ELEMENTS => found.n = n,
            _ => return Ok(None),
        }
        for (node, shape) in found.arguments.iter().zip(&shapes) {
            for at in 1..space.iterations {
                if self.machine.shape_at(node, space, at)? != *shape {
                    return Ok(None);
                }
            }
        }
        Ok(Some(found))
    }

    /// Goes along vectors in all iterations of the loops around.
    #[allow(clippy::cast_possible_wrap, reason = "sizes fit in 32 bits")]
    pub(super) fn along(&mut self, vectors: &Vectors, space: &Space, kept: (bool, Factor)) -> Fit<()> {
        let (ones, ends) = (vec![1; space.iterations], vec![vectors.n as i64; space.iterations]);
        self.open(&space.inside(self.element_slot(), &ones, &ends)?);
        self.vector_terms(vectors, kept)?;
        self.close()
    }

    /// Adds the log density of vectors as a strip of its own, if that is faster than what the machine does.
    pub(super) fn vector_density(&mut self, call: &DensityCall, factor: Factor) -> Fit<()> {
        let (scalar, arguments) = match call.density {
            Density::Scalar(scalar) => (scalar, call.arguments.clone()),
            Density::Linear(linear) => (linear.inner, self.predictor(&linear, &call.arguments)?),
            Density::Vector(_) => return Err(Obstacle::Unfit),
        };
        if scalar.product || scalar.fast.is_none() || factor == Factor::ByVariate {
            return Err(Obstacle::Unfit);
        }
        let mut vectors = Vectors { scalar, arguments, long: Vec::new(), n: 0 };
        let mut shapes = Vec::new();
        for node in &vectors.arguments {
            shapes.push(self.machine.numbers(node)?.shape);
        }
        vectors.long = shapes.iter().map(|shape| shape.rank() == 1).collect();
        vectors.n = length(&shapes).filter(|&n| n > FEW).ok_or(Obstacle::Unfit)?;
        let computed = vectors.arguments.iter().zip(&vectors.long).any(|(node, long)| *long && self.is_computed(node));
        let (terms, outer) = (std::mem::replace(&mut self.terms, false), self.elements_of(vectors.n));
        let found = self.vector_terms(&vectors, (call.propto, factor));
        self.terms = terms;
        let mut builder = std::mem::replace(&mut self.builder, outer);
        self.known.clear();
        found?;
        self.reduce_squares(&mut builder)?;
        if !builder.has_effect() {
            return Ok(());
        }
        // Where nothing is computed on the way, most densities are no faster here.
        if !computed && !builder.strip().steps.iter().any(|step| matches!(step, Step::AddLogOdds(_))) {
            return Err(Obstacle::Unfit);
        }
        self.flat.strips.push(builder.finish());
        Ok(())
    }

    fn vector_terms(&mut self, vectors: &Vectors, (propto, factor): (bool, Factor)) -> Fit<()> {
        let Vectors { scalar, arguments, long, .. } = vectors;
        let mut items = Vec::new();
        for (node, &long) in arguments.iter().zip(long) {
            let index = self.element_index(node);
            items.push(if long { self.element(node, &index)? } else { self.scalar(node)? });
        }
        let kept = (propto, self.varying(arguments));
        self.add_density(Function::Density(*scalar), &items, kept, factor)
    }

    /// Whether an expression is more than a container that is there.
    pub(super) fn is_computed(&self, node: &Node) -> bool {
        match &node.kind {
            Kind::Variable { .. } => self.is_inlinable(node),
            _ => self.dependence(node).runtime,
        }
    }

    /// The arguments of the density that a generalised linear model stands for: `α + x β` in the place of `x`, `α` and
    /// `β`.
    fn predictor(&mut self, linear: &Linear, arguments: &[Node]) -> Fit<Vec<Node>> {
        let (before, rest) = arguments.split_at(linear.before);
        let [x, alpha, beta, rest @ ..] = rest else { return Err(Obstacle::Unfit) };
        let (matrix, vector) = (self.machine.numbers(x)?.shape, self.machine.numbers(beta)?.shape);
        if matrix.cell() != Cell::Matrix || matrix.columns() != vector.len() {
            return Err(Obstacle::Unfit);
        }
        let varies = [x, alpha, beta].iter().any(|node| self.machine.counts_as_varying(node));
        let varies = if varies { Varies::Yes } else { Varies::No };
        let node = |kind| Node { kind, span: x.span, varies };
        let kind = if self.machine.numbers(alpha)?.shape.is_scalar() {
            Kind::Affine(Box::new([x.clone(), beta.clone(), alpha.clone()]))
        } else {
            let product = node(Kind::Product(Box::new([x.clone(), beta.clone()])));
            Kind::Arithmetic(Arithmetic::Add, Box::new([product, alpha.clone()]))
        };
        Ok(before.iter().cloned().chain([node(kind)]).chain(rest.iter().cloned()).collect())
    }

    pub(super) fn element_index(&self, of: &Node) -> [Index; 1] {
        let kind = Kind::Variable { slot: self.element_slot(), mutable: false };
        [Index::Single(Node { kind, span: of.span, varies: Varies::No })]
    }

    /// Begins to go through so many elements, and gives back what was under way.
    #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
    pub(super) fn elements_of(&mut self, n: usize) -> Builder {
        let numbers = Rc::new((1..=n).map(|i| i as f64).collect());
        let space = Space { iterations: n, loops: vec![(self.element_slot(), numbers)] };
        std::mem::replace(&mut self.builder, Builder::new(&space))
    }

    fn element_slot(&self) -> Slot {
        Slot::Global(cast(self.machine.code.globals - 1))
    }

    /// What `x[list]` has at a position, `x[list[i]]`: the same with single positions only. `rank` is that of `x`.
    pub(super) fn composed(base: &Node, own: &[Index], at: &Index, rank: usize) -> Option<Node> {
        let Index::Single(position) = at else { return None };
        let node = |kind| Node { kind, span: position.span, varies: Varies::No };
        let shifted = |low: &Node| {
            let sum = node(Kind::Arithmetic(Arithmetic::Add, Box::new([low.clone(), position.clone()])));
            let one = node(Kind::Number(1.0));
            node(Kind::Arithmetic(Arithmetic::Subtract, Box::new([sum, one])))
        };
        let mut indices = Vec::new();
        let mut lists = 0;
        for index in own {
            let single = match index {
                Index::Single(node) => node.clone(),
                Index::Several(list) => node(Kind::Index { base: Box::new(list.clone()), indices: vec![at.clone()] }),
                Index::All | Index::UpTo(_) => position.clone(),
                Index::From(low) | Index::Between(low, _) => shifted(low),
            };
            lists += usize::from(!matches!(index, Index::Single(_)));
            indices.push(Index::Single(single));
        }
        for _ in own.len()..rank {
            indices.push(at.clone());
            lists += 1;
        }
        (lists == 1).then(|| Node {
            kind: Kind::Index { base: Box::new(base.clone()), indices },
            span: base.span,
            varies: base.varies,
        })
    }
}
