//! Overload resolution: which signature a call means.

use super::shape::{Argument, Instance, Shape};
use super::table::library;
use super::{Candidate, Match, Mismatch, Resolution};
use crate::types::{ArgumentType, FunctionType, Type};

/// More alternatives than this are not listed in a message.
const MOST_ALTERNATIVES: usize = 8;

/// See [`super::resolve_with`].
pub(super) fn resolve(name: &str, own: &[FunctionType], types: &[Type]) -> Resolution {
    let mut shapes = library().shapes(name).peekable();
    if shapes.peek().is_none() && own.is_empty() {
        return Resolution::UnknownFunction;
    }
    let arguments: Vec<_> = types.iter().map(Argument::new).collect();
    let mut search = Search::new(&arguments);
    let mut fitting = Vec::new();
    for shape in shapes {
        if search.admits_arity(shape.slots.len()) {
            search.try_shape(shape);
            fitting.push(shape);
        }
    }
    for signature in own {
        if search.admits_arity(signature.arguments.len()) {
            search.try_own(signature);
        }
    }
    let unknown = types.iter().any(Type::mentions_unknown);
    search.conclude(unknown).unwrap_or_else(|arities| {
        Resolution::Mismatch(match arities {
            Some(expected) => Mismatch::Arity { expected, found: types.len() },
            None => first_misfit(&fitting, own, types, &arguments),
        })
    })
}

/// The candidates with the fewest promotion steps so far.
struct Search<'a> {
    arguments: &'a [Argument<'a>],
    /// All arities seen.
    arities: Vec<usize>,
    fewest: u32,
    best: Vec<Found<'a>>,
}

enum Found<'a> {
    Library(&'a Shape, Instance),
    Own(&'a FunctionType),
}

impl<'a> Search<'a> {
    fn new(arguments: &'a [Argument<'a>]) -> Self {
        Self { arguments, arities: Vec::new(), fewest: u32::MAX, best: Vec::new() }
    }

    /// Notes the arity, and says whether it is that of the call.
    fn admits_arity(&mut self, arity: usize) -> bool {
        if !self.arities.contains(&arity) {
            self.arities.push(arity);
        }
        arity == self.arguments.len()
    }

    fn try_shape(&mut self, shape: &'a Shape) {
        for at in shape.instances() {
            if let Some(steps) = shape.steps(self.arguments, at) {
                self.note(steps, Found::Library(shape, at));
            }
        }
    }

    fn try_own(&mut self, signature: &'a FunctionType) {
        let steps = self.arguments.iter().zip(&signature.arguments).try_fold(0, |sum, (argument, wanted)| {
            let (element, depth) = wanted.ty.array_parts();
            Some(sum + argument.steps_to(element, depth)?)
        });
        if let Some(steps) = steps {
            self.note(steps, Found::Own(signature));
        }
    }

    fn note(&mut self, steps: u32, found: Found<'a>) {
        if steps < self.fewest {
            self.fewest = steps;
            self.best.clear();
        }
        if steps == self.fewest {
            self.best.push(found);
        }
    }

    /// The answer, or, if there is no candidate left, the arities that would have been right (`None` if the arity was
    /// not the problem). `unknown`: whether an argument has an unknown type, so that ties say nothing.
    fn conclude(mut self, unknown: bool) -> Result<Resolution, Option<Vec<usize>>> {
        let mut signatures: Vec<FunctionType> = Vec::with_capacity(1);
        for found in &self.best {
            let signature = match found {
                Found::Library(shape, at) => shape.signature(self.arguments, *at),
                Found::Own(signature) => Some((*signature).clone()),
            };
            // shapes may overlap: the same signature twice is no tie
            signatures.extend(signature.filter(|signature| !signatures.contains(signature)));
        }
        if signatures.len() > 1 && !unknown {
            let candidates = signatures.iter().map(|signature| Candidate { text: signature.to_string() }).collect();
            return Ok(Resolution::Ambiguous(candidates));
        }
        match signatures.into_iter().reduce(what_is_certain) {
            Some(FunctionType { arguments, returns }) => Ok(Resolution::Match(Match { arguments, returns })),
            None if self.arities.contains(&self.arguments.len()) => Err(None),
            None => {
                self.arities.sort_unstable();
                Err(Some(self.arities))
            }
        }
    }
}

/// What two signatures that are equally likely have in common.
fn what_is_certain(a: FunctionType, b: FunctionType) -> FunctionType {
    let same = |a: Type, b: &Type| if a == *b { a } else { Type::Unknown };
    let arguments = a
        .arguments
        .into_iter()
        .zip(b.arguments)
        .map(|(a, b)| ArgumentType { data_only: a.data_only && b.data_only, ty: same(a.ty, &b.ty) });
    let returns = match (a.returns, b.returns) {
        (Some(a), Some(b)) => Some(same(a, &b)),
        (a, b) => a.or(b).map(|_| Type::Unknown),
    };
    FunctionType { arguments: arguments.collect(), returns }
}

/// The candidate that fails in the fewest arguments, among these as late as possible, and then the one that promotes
/// least, is what the author probably meant; its first failing argument is the one to complain about.
fn first_misfit(shapes: &[&Shape], own: &[FunctionType], types: &[Type], arguments: &[Argument<'_>]) -> Mismatch {
    let mut misfits = Misfits { rank: None, index: 0, expected: Vec::new() };
    for shape in shapes {
        for at in shape.instances() {
            let steps = |i: usize| shape.slots[i].best(arguments[i], at).map(|(steps, _)| steps);
            let wanted = |i: usize| shape.slots[i].choices.iter().map(|choice| choice.ty(at)).collect();
            misfits.note(arguments.len(), steps, wanted);
        }
    }
    for signature in own.iter().filter(|signature| signature.arguments.len() == arguments.len()) {
        let steps = |i: usize| {
            let (element, depth) = signature.arguments[i].ty.array_parts();
            arguments[i].steps_to(element, depth)
        };
        misfits.note(arguments.len(), steps, |i: usize| vec![signature.arguments[i].ty.clone()]);
    }
    let Misfits { index, expected, .. } = misfits;
    Mismatch::Argument { index, expected: alternatives(&expected), found: types[index].clone() }
}

/// The closest candidates so far.
struct Misfits {
    /// How many arguments fail, how far from the end the first of these is, and the promotions
    /// of the others. Small is close.
    rank: Option<(usize, usize, u32)>,
    index: usize,
    expected: Vec<Type>,
}

impl Misfits {
    fn note(&mut self, arity: usize, steps: impl Fn(usize) -> Option<u32>, wanted: impl Fn(usize) -> Vec<Type>) {
        let (mut first, mut failing, mut promotions) = (None, 0, 0);
        for i in 0..arity {
            if let Some(steps) = steps(i) {
                promotions += steps;
            } else {
                first = first.or(Some(i));
                failing += 1;
            }
        }
        let Some(index) = first else { return };
        let rank = (failing, arity - index, promotions);
        if self.rank.is_none_or(|closest| rank < closest) {
            *self = Self { rank: Some(rank), index, expected: Vec::new() };
        }
        if self.rank == Some(rank) {
            let new: Vec<_> = wanted(index).into_iter().filter(|ty| !self.expected.contains(ty)).collect();
            self.expected.extend(new);
        }
    }
}

/// Writes down the types for people: a type in all depths once, at its smallest depth, and no `int` where `real` will
/// do.
fn alternatives(types: &[Type]) -> Vec<String> {
    let mut shown: Vec<&Type> = Vec::new();
    let mut arrays = false;
    for ty in types {
        let (element, depth) = ty.array_parts();
        let depths = |other: &&Type| other.array_parts().0 == element;
        if types.iter().filter(depths).count() > 2 {
            arrays = true;
            if types.iter().filter(depths).any(|other| other.array_parts().1 < depth) {
                continue;
            }
        }
        let real = Type::Real.in_array(depth);
        if *element != Type::Int || !types.contains(&real) {
            shown.push(ty);
        }
    }
    let mut texts: Vec<_> = shown.iter().take(MOST_ALTERNATIVES).map(ToString::to_string).collect();
    if shown.len() > MOST_ALTERNATIVES {
        texts.push("…".to_owned());
    }
    if arrays {
        texts.push("arrays of these".to_owned());
    }
    texts
}
