//! The list as text.

use std::fmt;

use super::graph::{Added, Graph, Op, Ref};
use super::passes::live;
use super::schedule::{Instruction, List, Operand, Place, Step};

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
        for Added { x, weight, factor } in &self.adds {
            let factor = format!("{factor:?}").to_lowercase();
            writeln!(f, "add {} times {weight} to {factor}", self.operand(*x))?;
        }
        for output in &self.outputs {
            writeln!(f, "output {}", self.operand(*output))?;
        }
        Ok(())
    }
}

/// Slots, or numbers.
struct Shown<'l>(&'l List, Operand, u32);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(list, operand, count) = *self;
        match operand {
            Operand::Uniform(x) => write!(f, " {x}"),
            Operand::Column(at) => write!(f, " data[{at}..{}]", at + count),
            Operand::Same(slot) => write!(f, " %{slot}"),
            Operand::Run(slot) => write!(f, " %{slot}..%{}", slot + count - 1),
            Operand::Table(at) => {
                let slots = &list.tables[at as usize..][..count as usize];
                let shown = slots.iter().take(8).map(|slot| format!("%{slot}")).collect::<Vec<_>>().join(" ");
                write!(f, " [{shown}{}]", if slots.len() > 8 { " …" } else { "" })
            }
        }
    }
}

impl List {
    fn op_name(&self, op: Op) -> String {
        match op {
            Op::Unary(index) => self.unaries[index as usize].name.to_owned(),
            Op::Function(index) => self.functions[index as usize].name().to_owned(),
            Op::Compare(comparison) => format!("{comparison:?}").to_lowercase(),
            other => format!("{other:?}").to_lowercase(),
        }
    }
}

/// A line for each instruction: the slots of its results, what it does, and the slots or numbers that it looks at.
impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (inputs, constants) = (self.inputs.len(), self.constants.len());
        writeln!(f, "  {inputs} inputs, {constants} constants, {} operations", self.operations)?;
        for instruction in &self.instructions {
            match *instruction {
                Instruction::Singles { first, count } => {
                    for Step { op, arguments, out } in self.singles(first, count) {
                        let name = format!("{op:?}").to_lowercase();
                        writeln!(f, "  %{out} = {name} %{} %{} %{}", arguments[0], arguments[1], arguments[2])?;
                    }
                }
                Instruction::Batch(batch) => {
                    write!(f, "  %{}..%{} = {}", batch.out, batch.out + batch.items - 1, self.op_name(batch.op))?;
                    let (first, count) = batch.operands;
                    for operand in &self.operands[first as usize..][..count as usize] {
                        write!(f, "{}", Shown(self, *operand, batch.items))?;
                    }
                    writeln!(f)?;
                }
                Instruction::Reduce { a, b, count, out } => {
                    write!(f, "  %{out} = {}{}", if b.is_some() { "dot" } else { "sum" }, Shown(self, a, count))?;
                    b.map_or(Ok(()), |b| write!(f, "{}", Shown(self, b, count)))?;
                    writeln!(f)?;
                }
                Instruction::Call { call, out, table, count, .. } => {
                    let call = &self.calls[call as usize];
                    let (last, slots) = (out as usize + call.results() - 1, Operand::Table(table));
                    writeln!(f, "  %{out}..%{last} = {}{}", call.name(), Shown(self, slots, count))?;
                }
            }
        }
        for guard in &self.guards {
            writeln!(f, "  guard %{guard}")?;
        }
        for ending in &self.endings {
            let factor = format!("{:?}", ending.factor).to_lowercase();
            write!(f, "  add to {factor} {}", self.functions[ending.function as usize].name())?;
            let (first, count) = ending.operands;
            for operand in &self.operands[first as usize..][..count as usize] {
                write!(f, "{}", Shown(self, *operand, ending.items))?;
            }
            writeln!(f)?;
        }
        for terms in &self.terms {
            let factor = format!("{:?}", terms.factor).to_lowercase();
            write!(f, "  add to {factor}{}", Shown(self, terms.from, terms.count))?;
            let weights = terms.weights.map(|at| &self.columns[at as usize..][..terms.count as usize]);
            weights.map_or(Ok(()), |weights| write!(f, " times {weights:?}"))?;
            writeln!(f)?;
        }
        for output in &self.outputs {
            match output {
                Place::Slot(slot) => writeln!(f, "  output %{slot}")?,
                Place::Constant(x) => writeln!(f, "  output {x}")?,
            }
        }
        Ok(())
    }
}
