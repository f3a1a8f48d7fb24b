//! The list as text.

use std::fmt;

use super::graph::{Graph, Op, Ref};
use super::passes::live;

impl Graph {
    fn name(&self, op: Op) -> String {
        match op {
            Op::Constant(bits) => format!("{}", f64::from_bits(bits)),
            Op::Input { operand, element } => format!("input {operand}[{element}]"),
            Op::Unary(index) => self.unaries[index as usize].name.to_owned(),
            Op::Function(index) => self.functions[index as usize].name().to_owned(),
            Op::Call(index) | Op::Density(index) => self.calls[index as usize].name().to_owned(),
            Op::Element(index) => format!("element {index}"),
            Op::Compare(comparison) => format!("{comparison:?}").to_lowercase(),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    fn operand(&self, x: Ref) -> String {
        self.known(x).map_or_else(|| format!("%{x}"), |x| format!("{x}"))
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let live = live(self);
        for node in (0..crate::memory::cast(self.nodes.len())).filter(|&node| live[node as usize]) {
            if self.known(node).is_some() {
                continue;
            }
            write!(f, "%{node} = {}", self.name(self.op(node)))?;
            for argument in self.arguments(node) {
                write!(f, " {}", self.operand(*argument))?;
            }
            writeln!(f)?;
        }
        for guard in &self.guards {
            writeln!(f, "guard {}", self.operand(*guard))?;
        }
        for (x, factor) in &self.adds {
            writeln!(f, "add {} to {}", self.operand(*x), format!("{factor:?}").to_lowercase())?;
        }
        for output in &self.outputs {
            writeln!(f, "output {}", self.operand(*output))?;
        }
        Ok(())
    }
}
