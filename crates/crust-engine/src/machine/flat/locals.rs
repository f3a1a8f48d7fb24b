//! Variables of a loop that change in it: containers that are filled element by element, and numbers that are added to.

use std::collections::{HashMap, HashSet};

use super::builder::Item;
use super::expressions::{Dependence, MOST_ELEMENTS, Numbers, Val};
use super::statements::Compiler;
use super::{Fit, Obstacle};
use crate::code::{
    Constraint, Declared, For, Item as DeclaredItem, Kind, Node, Over, Slot, Step as Path, Stmt, StmtKind, Varies,
};

impl Compiler<'_> {
    /// Whether a loop assigns to elements of containers of the loop around it.
    pub(super) fn fills_locals(&self, inner: &For) -> bool {
        self.locals.keys().any(|slot| inner.body.iter().any(|stmt| stmt.assigns(*slot)))
    }

    /// A container of the loop whose elements are going to be assigned.
    pub(super) fn container(&mut self, slot: Slot, declared: &Declared, initial: Option<&Node>) -> Fit<()> {
        let mut varies = false;
        declared.nodes(&mut |node| {
            let Dependence { space, runtime } = self.dependence(node);
            varies = varies || space || runtime;
        });
        if varies {
            return Err(Obstacle::Unfit);
        }
        let shape = self.machine.declared_shape(&[], declared)?;
        let val = match initial {
            None => Val::list(shape, vec![Item::Constant(f64::NAN); shape.len()]),
            Some(node) => {
                let val = self.value(node)?;
                Val::list(shape, Self::items(&val)?)
            }
        };
        let Numbers::Items(items) = &val.numbers else { return Err(Obstacle::Unfit) };
        if items.len() != shape.len() || items.len() > MOST_ELEMENTS {
            return Err(Obstacle::Unfit);
        }
        self.locals.insert(slot, val);
        Ok(())
    }

    pub(super) fn set_element(&mut self, slot: Slot, path: &[Path], value: &Node) -> Fit<()> {
        let [Path::Index(indices)] = path else { return Err(Obstacle::Unfit) };
        let item = self.scalar(value)?;
        let shape = self.locals.get(&slot).map(|val| val.shape).ok_or(Obstacle::Unfit)?;
        let at = self.fixed_element(&shape, indices)?;
        let Some(Val { numbers: Numbers::Items(items), .. }) = self.locals.get_mut(&slot) else {
            return Err(Obstacle::Unfit);
        };
        items[at] = item;
        Ok(())
    }

    /// Gives a variable of the loop another value: `mu = mu + b[k] * x[n, k];`.
    pub(super) fn renew(&mut self, slot: Slot, value: &Node) -> Fit<()> {
        let val = self.value(value)?;
        let items = Self::items(&val)?;
        let Some(Val { shape, numbers: Numbers::Items(old) }) = self.locals.get_mut(&slot) else {
            return Err(Obstacle::Unfit);
        };
        if *shape != val.shape {
            return Err(Obstacle::Unfit);
        }
        *old = items;
        Ok(())
    }

    /// Runs the iterations of an inner loop one after the other, in the same strip.
    #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
    pub(super) fn unroll(&mut self, inner: &For, declared: &mut HashSet<Slot>) -> Fit<()> {
        let Over::Range(low, high) = &inner.over else { return Err(Obstacle::Unfit) };
        for bound in [low, high] {
            if self.dependence(bound) != Dependence::default() {
                return Err(Obstacle::Unfit);
            }
        }
        let (low, high) = (self.machine.int(low)?, self.machine.int(high)?);
        if usize::try_from(high - low).is_ok_and(|n| n >= MOST_ELEMENTS) {
            return Err(Obstacle::Unfit);
        }
        for i in low..=high {
            for stmt in &inner.body {
                let mut stmt = stmt.clone();
                let number = Node { kind: Kind::Number(i as f64), span: stmt.span, varies: Varies::No };
                if !stmt.substitute(inner.slot, &number) {
                    return Err(Obstacle::Unfit);
                }
                self.simple(&stmt, declared)?;
            }
        }
        Ok(())
    }
}

/// The variables declared in some statements that may get more than one value: by several assignments, or by one in a
/// loop or a branch inside.
pub(super) fn renewed(list: &[Stmt]) -> HashSet<Slot> {
    fn visit(stmt: &Stmt, depth: usize, declared: &mut HashMap<Slot, usize>, values: &mut HashMap<Slot, usize>) {
        match &stmt.kind {
            StmtKind::Declare { slot, initial, .. } => {
                declared.insert(*slot, depth);
                values.insert(*slot, usize::from(initial.is_some()));
            }
            StmtKind::Assign { slot, path, .. } if path.is_empty() => {
                if let Some(at) = declared.get(slot) {
                    *values.entry(*slot).or_default() += if *at == depth { 1 } else { 2 };
                }
            }
            _ => {}
        }
        let inside = depth + usize::from(!matches!(stmt.kind, StmtKind::Block(_)));
        stmt.children(&mut |child| visit(child, inside, declared, values));
    }
    let (mut declared, mut values) = (HashMap::new(), HashMap::new());
    list.iter().for_each(|stmt| visit(stmt, 0, &mut declared, &mut values));
    values.into_iter().filter(|(_, n)| *n > 1).map(|(slot, _)| slot).collect()
}

/// Declarations with constraints are left to the machine, which checks them.
pub(super) fn plain(declared: &Declared) -> Fit<()> {
    match &declared.item {
        DeclaredItem::Cell { constraint: Constraint::None, .. } => Ok(()),
        _ => Err(Obstacle::Unfit),
    }
}
