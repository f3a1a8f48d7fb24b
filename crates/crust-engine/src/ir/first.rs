//! Which adjoints a list sets on its way back, so that they need not be 0 before.
//!
//! An adjoint is a sum of what all readers of a number contribute. Where the first of them, on the way back, is a batch
//! that looks at neighbours, it can write them instead of adding to them. All others are set to 0 before.

use super::graph::Op;
use super::schedule::{Batch, Instruction, List, Operand, Place};

/// What is known of slots while instructions are gone through from the last to the first.
struct Slots<'a> {
    list: &'a List,
    /// Whether something has been added or written.
    touched: Vec<bool>,
    /// Whether it was written first.
    set: Vec<bool>,
    /// Who has looked at a slot last: the number of the instruction, and which neighbours it is one of.
    seen: Vec<(u32, u32)>,
    /// The last instruction whose operands overlap there without being the same.
    clash: Vec<u32>,
}

/// Finds the operands of batches whose adjoints are set ([`List::sets`]), and the slots that have to be 0 before.
pub fn settle(list: &mut List) {
    let n = list.slots;
    let (touched, set) = (vec![false; n], vec![false; n]);
    let (seen, clash) = (vec![(u32::MAX, 0); n], vec![u32::MAX; n]);
    let mut slots = Slots { list: &*list, touched, set, seen, clash };
    let mut sets = vec![false; list.operands.len()];
    slots.seeds();
    for (number, instruction) in (0..).zip(list.instructions.iter().rev()) {
        match instruction {
            Instruction::Singles { first, count } => {
                for step in list.singles(*first, *count) {
                    let own = step.arguments.iter().filter(|slot| (**slot as usize) < n);
                    own.for_each(|&slot| slots.touched[slot as usize] = true);
                }
            }
            Instruction::Batch(batch) => slots.batch(number, batch, &mut sets),
            Instruction::Reduce { a, b, count, .. } => {
                slots.touch(*a, *count);
                b.iter().for_each(|b| slots.touch(*b, *count));
            }
            Instruction::Call { table, count, .. } => slots.touch(Operand::Table(*table), *count),
        }
    }
    let mut zeroed: Vec<(u32, u32)> = Vec::new();
    for (slot, _) in (0..).zip(&slots.set).filter(|(_, set)| !**set) {
        match zeroed.last_mut() {
            Some((start, len)) if *start + *len == slot => *len += 1,
            _ => zeroed.push((slot, 1)),
        }
    }
    (list.sets, list.zeroed) = (sets, zeroed);
}

/// The slots of the items of an operand.
fn each_slot(list: &List, operand: Operand, items: u32, mut f: impl FnMut(usize)) {
    match operand {
        Operand::Column(_) | Operand::Uniform(_) => {}
        Operand::Same(slot) => f(slot as usize),
        Operand::Run(slot) => (slot..slot + items).for_each(|slot| f(slot as usize)),
        Operand::Table(at) => list.tables[at as usize..][..items as usize].iter().for_each(|&slot| f(slot as usize)),
    }
}

impl Slots<'_> {
    fn touch(&mut self, operand: Operand, items: u32) {
        let touched = &mut self.touched;
        each_slot(self.list, operand, items, |slot| touched[slot] = true);
    }

    /// What is added to before the first instruction: by terms, outputs and endings.
    fn seeds(&mut self) {
        let list = self.list;
        list.terms.iter().for_each(|terms| self.touch(terms.from, terms.count));
        for place in &list.outputs {
            if let Place::Slot(slot) = place {
                self.touched[*slot as usize] = true;
            }
        }
        for ending in &list.endings {
            let (first, count) = ending.operands;
            for &operand in &list.operands[first as usize..][..count as usize] {
                self.touch(operand, ending.items);
            }
        }
    }

    fn batch(&mut self, number: u32, batch: &Batch, sets: &mut [bool]) {
        let (list, (first, count)) = (self.list, batch.operands);
        let operands = &list.operands[first as usize..][..count as usize];
        // Chunks go through all operands in turn: what several of them look at must be the same in each chunk.
        for (key, &operand) in (0..).zip(operands) {
            let key = if let Operand::Run(slot) = operand { slot } else { u32::MAX - key };
            let (seen, clash) = (&mut self.seen, &mut self.clash);
            each_slot(list, operand, batch.items, |slot| {
                if seen[slot].0 == number && seen[slot].1 != key {
                    clash[slot] = number;
                }
                seen[slot] = (number, key);
            });
        }
        if !batch.op.differentiable() {
            return;
        }
        for (k, &operand) in operands.iter().enumerate() {
            // The condition of a selection has no derivative.
            if batch.op == Op::Select && k == 0 {
                continue;
            }
            if let Operand::Run(slot) = operand {
                let own = slot as usize..(slot + batch.items) as usize;
                if own.clone().all(|slot| !self.touched[slot] && self.clash[slot] != number) {
                    sets[first as usize + k] = true;
                    self.set[own].fill(true);
                }
            }
            self.touch(operand, batch.items);
        }
    }
}
