//! A shape: one line of the table, standing for all the signatures that follow its pattern.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::types::{ArgumentType, FunctionType, Type, promotion_steps};

/// A type with the array dimensions taken off, so that patterns and arguments compare without building types.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    pub element: Type,
    pub depth: usize,
}

/// An argument of a call in the same terms as [`Form`].
#[derive(Clone, Copy)]
pub(super) struct Argument<'a> {
    element: &'a Type,
    depth: usize,
}

/// One way to make a shape concrete: the position in its families, and the number of dimensions its depth marks stand
/// for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Instance {
    pub position: usize,
    pub dimensions: usize,
}

impl Instance {
    /// The first instance of a shape without families and depth marks.
    pub const FIRST: Self = Self { position: 0, dimensions: 0 };
}

/// One alternative of a slot. A family has one form per position, everything else a single form.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub forms: Vec<Form>,
    pub family: Option<&'static str>,
    /// Whether a depth mark (`*`, `+`, `{1,3}`) follows.
    pub deep: bool,
}

/// One argument of a shape: any of the choices.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub data_only: bool,
    /// The word in the table, if the slot is a named set.
    pub set: Option<&'static str>,
    pub choices: Vec<Choice>,
    /// What the depth marks in this slot range over, if there are any.
    pub dimensions: Option<RangeInclusive<usize>>,
}

/// What a shape gives.
#[derive(Clone, Debug)]
pub(super) enum Gives {
    Choice(Choice),
    Tuple(Vec<Choice>),
    /// One draw of this type, or an array of draws if some argument is not a scalar.
    Draws(Type),
}

#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub slots: Vec<Arc<Slot>>,
    pub gives: Gives,
    /// The length of the families in this shape, 1 if there is none.
    pub positions: usize,
    pub dimensions: RangeInclusive<usize>,
}

impl<'a> Argument<'a> {
    pub fn new(ty: &'a Type) -> Self {
        let (element, depth) = ty.array_parts();
        Self { element, depth }
    }

    /// How many promotion steps lead from this argument to a type of `depth` array dimensions around `element`.
    pub fn steps_to(self, element: &Type, depth: usize) -> Option<u32> {
        match (self.element, element) {
            // an unknown element may itself be an array
            (Type::Unknown, _) => (self.depth <= depth).then_some(0),
            _ if self.depth != depth => None,
            (Type::Function(given), Type::Function(wanted)) => functor_fits(given, wanted).then_some(0),
            (given, wanted) => promotion_steps(given, wanted),
        }
    }
}

/// Whether the function `given` may be passed where `wanted` is asked for. Types are the same, without promotion; an
/// argument that will be given data only may well be declared without that qualifier.
fn functor_fits(given: &FunctionType, wanted: &FunctionType) -> bool {
    given.returns == wanted.returns
        && given.arguments.len() == wanted.arguments.len()
        && given.arguments.iter().zip(&wanted.arguments).all(|(given, wanted)| {
            (given.ty == wanted.ty || given.ty.is_unknown()) && (wanted.data_only || !given.data_only)
        })
}

impl Choice {
    pub fn form(&self, at: Instance) -> (&Type, usize) {
        let form = &self.forms[if self.forms.len() == 1 { 0 } else { at.position }];
        (&form.element, form.depth + if self.deep { at.dimensions } else { 0 })
    }

    pub fn ty(&self, at: Instance) -> Type {
        let (element, depth) = self.form(at);
        element.clone().in_array(depth)
    }
}

impl Slot {
    /// The fewest promotion steps to any choice of this slot, and the choice. There are no ties: from one type, all
    /// types that are the same number of steps away are the same.
    pub fn best(&self, argument: Argument<'_>, at: Instance) -> Option<(u32, &Choice)> {
        let mut best: Option<(u32, &Choice)> = None;
        for choice in &self.choices {
            let (element, depth) = choice.form(at);
            if let Some(steps) = argument.steps_to(element, depth)
                && best.is_none_or(|(fewest, _)| steps < fewest)
            {
                best = Some((steps, choice));
                if steps == 0 {
                    break;
                }
            }
        }
        best
    }
}

impl Shape {
    /// All ways to make this shape concrete, except for the free choices of the slots.
    pub fn instances(&self) -> impl Iterator<Item = Instance> {
        let dimensions = self.dimensions.clone();
        (0..self.positions)
            .flat_map(move |position| dimensions.clone().map(move |dimensions| Instance { position, dimensions }))
    }

    /// The promotion steps in sum, if every argument fits its slot.
    pub fn steps(&self, arguments: &[Argument<'_>], at: Instance) -> Option<u32> {
        self.slots.iter().zip(arguments).try_fold(0, |sum, (slot, argument)| Some(sum + slot.best(*argument, at)?.0))
    }

    /// The signature that these arguments choose; `None` if they do not fit.
    pub fn signature(&self, arguments: &[Argument<'_>], at: Instance) -> Option<FunctionType> {
        let arguments = self
            .slots
            .iter()
            .zip(arguments)
            .map(|(slot, argument)| {
                let (_, choice) = slot.best(*argument, at)?;
                Some(ArgumentType { data_only: slot.data_only, ty: choice.ty(at) })
            })
            .collect::<Option<Vec<_>>>()?;
        let returns = self.returns(&arguments, at);
        Some(FunctionType { arguments, returns: Some(returns) })
    }

    fn returns(&self, arguments: &[ArgumentType], at: Instance) -> Type {
        match &self.gives {
            Gives::Choice(choice) => choice.ty(at),
            Gives::Tuple(parts) => Type::Tuple(parts.iter().map(|part| part.ty(at)).collect()),
            Gives::Draws(ty) if arguments.iter().all(|argument| argument.ty.is_scalar()) => ty.clone(),
            Gives::Draws(ty) => ty.clone().in_array(1),
        }
    }

    /// Appends all signatures of this shape that are not in `seen` yet.
    pub fn expand_into(&self, all: &mut Vec<FunctionType>, seen: &mut HashSet<FunctionType>) {
        for at in self.instances() {
            let mut lists = vec![Vec::with_capacity(self.slots.len())];
            for slot in &self.slots {
                let types: Vec<_> = slot.choices.iter().map(|choice| choice.ty(at)).collect();
                lists = lists
                    .iter()
                    .flat_map(|list: &Vec<ArgumentType>| {
                        types.iter().map(|ty| {
                            let mut longer = list.clone();
                            longer.push(ArgumentType { data_only: slot.data_only, ty: ty.clone() });
                            longer
                        })
                    })
                    .collect();
            }
            for arguments in lists {
                let returns = Some(self.returns(&arguments, at));
                let signature = FunctionType { arguments, returns };
                if seen.insert(signature.clone()) {
                    all.push(signature);
                }
            }
        }
    }
}
