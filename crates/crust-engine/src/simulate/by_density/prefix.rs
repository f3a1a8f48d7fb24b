//! The first observations of data: the integer that counts them is made smaller, and with it all that it sizes.

use crust_stan::ast::BlockKind;
use crust_stan::data::Data;
use crust_stan::joint::walk::mentions;
use crust_stan::typed::{Expr, ExprKind, Program, SizedKind, SizedType, VariableId};
use crust_stan::types::Type;
use crust_stan::value::{Selector, Value};

/// Which data are cut, and along which of their dimensions.
pub struct Prefixes {
    counter: VariableId,
    variables: Vec<(VariableId, Vec<bool>)>,
}

impl Prefixes {
    /// Along the one dimension of an outcome, which an integer of the data counts.
    pub fn of(program: &Program, data: &Data, outcome: VariableId) -> Option<Self> {
        let declared = program.variable(outcome).declared.as_ref()?;
        let own = sizes(declared)?;
        let [Expr { kind: ExprKind::Variable(counter), .. }] = own.as_slice() else { return None };
        let counter = *counter;
        let is_data = program.declared_in(BlockKind::Data).any(|id| id == counter);
        if !is_data || program.variable(counter).ty != Type::Int {
            return None;
        }
        let count = data.get(counter).and_then(Value::as_int)?;
        (usize::try_from(count).ok()? == super::chain::size(data, outcome)).then_some(())?;
        let mut variables = Vec::new();
        for id in program.declared_in(BlockKind::Data) {
            let Some(declared) = &program.variable(id).declared else { continue };
            let axes: Option<Vec<bool>> = sizes(declared)?
                .iter()
                .map(|size| match &size.kind {
                    ExprKind::Variable(id) => Some(*id == counter),
                    // What is computed from the counter cannot be cut.
                    _ if mentions(size, counter) => None,
                    _ => Some(false),
                })
                .collect();
            let axes = axes?;
            if axes.contains(&true) {
                variables.push((id, axes));
            }
        }
        Some(Self { counter, variables })
    }

    /// The first n observations.
    pub fn first(&self, data: &Data, n: usize) -> Option<Data> {
        let count = i32::try_from(n).ok()?;
        let mut part = data.clone();
        part.set(self.counter, Value::Int(count));
        for (id, axes) in &self.variables {
            let selectors: Vec<Selector> =
                axes.iter().map(|&cut| if cut { Selector::UpTo(count) } else { Selector::All }).collect();
            part.set(*id, data.get(*id)?.select(&selectors).ok()?);
        }
        Some(part)
    }
}

/// All sizes of a declaration, outermost first; nothing for tuples and constrained types with sizes.
fn sizes(declared: &SizedType) -> Option<Vec<Expr>> {
    match &declared.kind {
        SizedKind::Plain { sizes, .. } | SizedKind::Special { sizes, .. } => Some(sizes.clone()),
        SizedKind::Array { sizes: own, element } => Some([own.clone(), sizes(element)?].concat()),
        SizedKind::Tuple(_) => None,
    }
}
