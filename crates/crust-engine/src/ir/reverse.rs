//! Runs a list backward: adjoints of results become those of operands, from the last instruction to the first.

use super::calls::reverse_call;
use super::graph::Op;
use super::products::pull_weighted;
use super::run::{FEW_TERMS, Whole, chunks, each_lane, operands, part, weight};
use super::schedule::{Batch, Inputs, Instruction, List, Operand, Place, Single, Step};
use super::stage::{CHUNK, Row, scatter, stage};
use crate::flat::rows::{fill, load, store};
use crate::flat::{Into, steps};
use crate::kernels::fma;
use crate::memory::Block;

impl Whole<'_> {
    #[inline(always)]
    pub fn reverse<const L: usize>(&mut self) {
        let list = self.call.list;
        self.seed::<L>();
        let room = &mut *self.room;
        let values = &room.values[self.at..][..list.all_slots * L];
        let adjoints = &mut room.adjoints[..];
        for instruction in list.instructions.iter().rev() {
            match instruction {
                Instruction::Singles { first, count } => {
                    for &Step { op, arguments, out } in list.singles(*first, *count).iter().rev() {
                        reverse_single::<L>(op, arguments, out, values, adjoints);
                    }
                }
                Instruction::Batch(batch) => reverse_batch::<L>(list, batch, values, adjoints, &mut room.rows),
                Instruction::Reduce { a, b, count, out } => {
                    reverse_reduce::<L>(list, (*a, *b), *count, *out, (values, adjoints), &mut room.rows);
                }
                Instruction::Call { call, out, extra, table, count } => {
                    let slots = &list.tables[*table as usize..][..*count as usize];
                    let call = &list.calls[*call as usize];
                    reverse_call::<L>(call, slots, (*out, *extra), values, adjoints, &mut room.scratch);
                }
            }
        }
        self.hand_back::<L>();
    }

    /// The adjoints that are known before anything else: of terms, and of outputs.
    #[inline(always)]
    fn seed<const L: usize>(&mut self) {
        let list = self.call.list;
        let adjoints = &mut self.room.adjoints;
        if let Some(totals) = self.call.totals {
            for terms in &list.terms {
                let row = seed::<L>(self.arena, totals.part(part(terms.factor)).1, self.lane);
                if let (Operand::Table(at), true) = (terms.from, terms.count <= FEW_TERMS) {
                    for (item, &slot) in list.tables[at as usize..][..terms.count as usize].iter().enumerate() {
                        add(adjoints, slot, row, [weight(list, terms, item); L]);
                    }
                    continue;
                }
                for chunk in chunks(terms.count as usize, CHUNK) {
                    for i in 0..chunk.1 {
                        let by = weight(list, terms, chunk.0 + i);
                        store(&mut self.room.rows[0].0, i * L, each_lane!(l, by * row[l]));
                    }
                    scatter::<L>(list, adjoints, terms.from, chunk, &self.room.rows[0].0);
                }
            }
        }
        for (place, (block, element)) in list.outputs.iter().zip(self.call.outputs) {
            if let (Place::Slot(slot), true) = (place, block.gradient()) {
                let from = block.start() + *element as usize * self.call.lanes + self.lane - self.base;
                let (sum, more) = (load::<L>(adjoints, *slot as usize * L), load::<L>(self.adjoints, from));
                store(adjoints, *slot as usize * L, each_lane!(l, sum[l] + more[l]));
            }
        }
    }

    /// Adds the adjoints of inputs to those of the values that they come from.
    #[inline(always)]
    fn hand_back<const L: usize>(&mut self) {
        let mut finite = [0.0; L];
        for &Inputs { slot, operand, element, count } in &self.call.list.input_runs {
            let (block, count) = (self.call.operands[operand as usize], count as usize);
            let given = &self.room.adjoints[slot as usize * L..][..count * L];
            // Whatever is not finite leaves a NaN here.
            for i in 0..count {
                let row = load::<L>(given, i * L);
                for l in 0..L {
                    finite[l] += row[l] * 0.0;
                }
            }
            if !block.gradient() || !block.lanes() {
                continue;
            }
            let to = self.place(block, element) - self.base;
            if self.call.lanes == L {
                steps::pull(Into::Add, &mut self.adjoints[to..][..count * L], given, 1.0);
                continue;
            }
            for i in 0..count {
                let at = to + i * self.call.lanes;
                let (sum, row) = (load::<L>(self.adjoints, at), load::<L>(given, i * L));
                store(self.adjoints, at, each_lane!(l, sum[l] + row[l]));
            }
        }
        for l in 0..L {
            self.fine[l] &= finite[l] == 0.0 || self.outside[l];
        }
    }
}

/// The adjoint of a part of the log density, for each lane.
#[inline(always)]
pub fn seed<const L: usize>(arena: &[f64], seed: Block, lane: usize) -> [f64; L] {
    if seed.lanes() { load::<L>(arena, seed.start() + lane) } else { [arena[seed.start()]; L] }
}

/// Adds `d · by` to the adjoint of a slot.
#[inline(always)]
fn add<const L: usize>(adjoints: &mut [f64], slot: u32, d: [f64; L], by: [f64; L]) {
    let sum = load::<L>(adjoints, slot as usize * L);
    store(adjoints, slot as usize * L, each_lane!(l, fma(d[l], by[l], sum[l])));
}

#[inline(always)]
fn reverse_single<const L: usize>(op: Single, [a, b, c]: [u32; 3], out: u32, values: &[f64], adjoints: &mut [f64]) {
    let d = load::<L>(adjoints, out as usize * L);
    let x = load::<L>(values, a as usize * L);
    let z = load::<L>(values, b as usize * L);
    let y = load::<L>(values, out as usize * L);
    let one = [1.0; L];
    match op {
        Single::Add => {
            add(adjoints, a, d, one);
            add(adjoints, b, d, one);
        }
        Single::Subtract => {
            add(adjoints, a, d, one);
            add(adjoints, b, d, [-1.0; L]);
        }
        Single::Multiply | Single::MultiplyAdd => {
            add(adjoints, a, d, z);
            add(adjoints, b, d, x);
            if op == Single::MultiplyAdd {
                add(adjoints, c, d, one);
            }
        }
        Single::MultiplySubtract => {
            add(adjoints, a, d, each_lane!(l, -z[l]));
            add(adjoints, b, d, each_lane!(l, -x[l]));
            add(adjoints, c, d, one);
        }
        Single::Divide => {
            let inverse = each_lane!(l, 1.0 / z[l]);
            add(adjoints, a, d, inverse);
            add(adjoints, b, d, each_lane!(l, -y[l] * inverse[l]));
        }
        Single::Negate => add(adjoints, a, d, [-1.0; L]),
        Single::Exp => add(adjoints, a, d, y),
        Single::Log => add(adjoints, a, d, each_lane!(l, 1.0 / x[l])),
        Single::Sqrt => add(adjoints, a, d, each_lane!(l, 0.5 / y[l])),
        Single::Square => add(adjoints, a, d, each_lane!(l, x[l] + x[l])),
        Single::InvLogit => add(adjoints, a, d, each_lane!(l, y[l] * (1.0 - y[l]))),
        Single::Log1pExp => add(adjoints, a, d, load::<L>(values, c as usize * L)),
        Single::Log1p => add(adjoints, a, d, each_lane!(l, 1.0 / (1.0 + x[l]))),
    }
}

fn constant(operand: Operand) -> bool {
    matches!(operand, Operand::Column(_) | Operand::Uniform(_))
}

/// Operands of a batch, and whether their adjoints are set or added to.
#[derive(Clone, Copy)]
struct Targets<'a> {
    operands: &'a [Operand],
    sets: &'a [bool],
}

impl Targets<'_> {
    #[inline(always)]
    fn get(&self, k: usize) -> Target {
        (self.operands[k], if self.sets[k] { Into::Set } else { Into::Add })
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.operands.len()
    }
}

/// An operand, and what becomes of its adjoint.
type Target = (Operand, Into);

/// Adds `d` for each item to the adjoints of an operand.
#[inline(always)]
fn pull_all<const L: usize>(list: &List, low: &mut [f64], (operand, into): Target, chunk: (usize, usize), d: &[f64]) {
    match operand {
        Operand::Column(_) | Operand::Uniform(_) => {}
        Operand::Run(slot) => steps::pull(into, &mut low[(slot as usize + chunk.0) * L..][..d.len()], d, 1.0),
        Operand::Same(_) | Operand::Table(_) => scatter::<L>(list, low, operand, chunk, d),
    }
}

/// Adds `−d` for each item to the adjoints of an operand.
#[inline(always)]
fn pull_opposite<const L: usize>(
    list: &List,
    low: &mut [f64],
    (operand, into): Target,
    chunk: (usize, usize),
    d: &[f64],
    row: &mut Row,
) {
    match operand {
        Operand::Column(_) | Operand::Uniform(_) => {}
        Operand::Run(slot) => steps::pull(into, &mut low[(slot as usize + chunk.0) * L..][..d.len()], d, -1.0),
        Operand::Table(at) => {
            for (i, &slot) in list.tables[at as usize + chunk.0..][..chunk.1].iter().enumerate() {
                add(low, slot, load::<L>(d, i * L), [-1.0; L]);
            }
        }
        Operand::Same(_) => {
            steps::pull(Into::Set, &mut row.0[..d.len()], d, -1.0);
            scatter::<L>(list, low, operand, chunk, &row.0);
        }
    }
}

/// Adds `d · by` for each item to the adjoints of an operand.
#[inline(always)]
fn pull<const L: usize>(
    list: &List,
    low: &mut [f64],
    (operand, into): Target,
    chunk: (usize, usize),
    (d, by): (&[f64], &[f64]),
    row: &mut Row,
) {
    let n = chunk.1 * L;
    match operand {
        Operand::Column(_) | Operand::Uniform(_) => {}
        Operand::Run(slot) => steps::pull_times(into, &mut low[(slot as usize + chunk.0) * L..][..n], d, by),
        Operand::Table(at) => {
            for (i, &slot) in list.tables[at as usize + chunk.0..][..chunk.1].iter().enumerate() {
                add(low, slot, load::<L>(d, i * L), load::<L>(by, i * L));
            }
        }
        Operand::Same(_) => {
            steps::pull_times(Into::Set, &mut row.0[..n], d, by);
            scatter::<L>(list, low, operand, chunk, &row.0);
        }
    }
}

#[inline(always)]
fn reverse_batch<const L: usize>(list: &List, batch: &Batch, values: &[f64], adjoints: &mut [f64], rows: &mut [Row]) {
    let (items, out) = (batch.items as usize, batch.out as usize);
    if !batch.op.differentiable() {
        return;
    }
    let from = operands(list, batch);
    let sets = &list.sets[batch.operands.0 as usize..][..from.len()];
    let targets = Targets { operands: from, sets };
    let (low, high) = adjoints.split_at_mut(out * L);
    for chunk in chunks(items, CHUNK) {
        let n = chunk.1 * L;
        let d = &high[chunk.0 * L..][..n];
        let y = &values[(out + chunk.0) * L..][..n];
        match batch.op {
            Op::Function(_) | Op::LogSumExp => {
                for k in 0..from.len() {
                    let kept = &values[(batch.extra as usize + k * items + chunk.0) * L..][..n];
                    pull::<L>(list, low, targets.get(k), chunk, (d, kept), &mut rows[0]);
                }
            }
            op => reverse_elementwise::<L>(list, op, targets, chunk, (values, &mut *low), (d, y), rows),
        }
    }
}

/// What has slopes 1 or −1, or those of another operand, needs no row of them.
#[inline(always)]
fn reverse_elementwise<const L: usize>(
    list: &List,
    op: Op,
    to: Targets,
    chunk: (usize, usize),
    (values, low): (&[f64], &mut [f64]),
    (d, y): (&[f64], &[f64]),
    rows: &mut [Row],
) {
    let (n, from) = (d.len(), to.operands);
    let [r0, row, opposite, s0, s1, ..] = rows else { return };
    match op {
        Op::Add => {
            pull_all::<L>(list, low, to.get(0), chunk, d);
            pull_all::<L>(list, low, to.get(1), chunk, d);
        }
        Op::Subtract => {
            pull_all::<L>(list, low, to.get(0), chunk, d);
            pull_opposite::<L>(list, low, to.get(1), chunk, d, row);
        }
        Op::Negate => pull_opposite::<L>(list, low, to.get(0), chunk, d, row),
        Op::Sum => {
            for k in 0..to.len() {
                pull_all::<L>(list, low, to.get(k), chunk, d);
            }
        }
        Op::Dot => {
            let terms = from.len() / 2;
            for k in 0..from.len() {
                pull_staged::<L>(list, (values, low), (to.get(k), from[(k + terms) % from.len()]), chunk, d, [r0, row]);
            }
        }
        Op::Multiply | Op::MultiplyAdd => {
            pull_staged::<L>(list, (values, low), (to.get(0), from[1]), chunk, d, [r0, row]);
            pull_staged::<L>(list, (values, low), (to.get(1), from[0]), chunk, d, [r0, row]);
            if op == Op::MultiplyAdd {
                pull_all::<L>(list, low, to.get(2), chunk, d);
            }
        }
        Op::MultiplySubtract => {
            let opposite = &mut opposite.0[..n];
            steps::pull(Into::Set, opposite, d, -1.0);
            pull_staged::<L>(list, (values, low), (to.get(0), from[1]), chunk, opposite, [r0, row]);
            pull_staged::<L>(list, (values, low), (to.get(1), from[0]), chunk, opposite, [r0, row]);
            pull_all::<L>(list, low, to.get(2), chunk, d);
        }
        Op::Divide => {
            let z = stage::<L>(list, values, from[1], chunk, r0);
            let (s0, s1) = (&mut s0.0[..n], &mut s1.0[..n]);
            steps::invert(z, s0);
            pull::<L>(list, low, to.get(0), chunk, (d, s0), row);
            if !constant(from[1]) {
                for i in 0..n {
                    s1[i] = -y[i] * s0[i];
                }
                pull::<L>(list, low, to.get(1), chunk, (d, s1), row);
            }
        }
        Op::Unary(index) => {
            let x = stage::<L>(list, values, from[0], chunk, r0);
            let reverse = list.unaries[index as usize].reverse;
            if let (Operand::Run(slot), into) = to.get(0) {
                let own = &mut low[(slot as usize + chunk.0) * L..][..n];
                if into == Into::Set {
                    fill(own, 0.0);
                }
                reverse(x, y, d, own);
            } else {
                let row = &mut row.0[..n];
                row.fill(0.0);
                reverse(x, y, d, row);
                scatter::<L>(list, low, from[0], chunk, row);
            }
        }
        Op::Select => {
            let x = &stage::<L>(list, values, from[0], chunk, r0)[..n];
            let (s0, s1) = (&mut s0.0[..n], &mut s1.0[..n]);
            for i in 0..n {
                s0[i] = f64::from(x[i] != 0.0);
            }
            for i in 0..n {
                s1[i] = 1.0 - s0[i];
            }
            // The condition of a selection has no derivative.
            pull::<L>(list, low, to.get(1), chunk, (d, s0), row);
            pull::<L>(list, low, to.get(2), chunk, (d, s1), row);
        }
        _ => {}
    }
}

/// Adds `d` times another operand to the adjoints of an operand.
#[inline(always)]
fn pull_staged<const L: usize>(
    list: &List,
    (values, low): (&[f64], &mut [f64]),
    (target, other): (Target, Operand),
    chunk: (usize, usize),
    d: &[f64],
    [staged, row]: [&mut Row; 2],
) {
    if let (Operand::Run(slot), Operand::Uniform(by)) = (target.0, other) {
        let to = &mut low[(slot as usize + chunk.0) * L..][..chunk.1 * L];
        steps::pull(target.1, to, d, by);
        return;
    }
    if !constant(target.0) && !pull_weighted::<L>(list, low, (target.0, other), chunk, d) {
        let by = stage::<L>(list, values, other, chunk, staged);
        pull::<L>(list, low, target, chunk, (d, by), row);
    }
}

#[inline(always)]
fn reverse_reduce<const L: usize>(
    list: &List,
    (a, b): (Operand, Option<Operand>),
    count: u32,
    out: u32,
    (values, adjoints): (&[f64], &mut [f64]),
    rows: &mut [Row],
) {
    let (low, high) = adjoints.split_at_mut(out as usize * L);
    let row = load::<L>(high, 0);
    let [r0, r1, seed, ..] = rows else { return };
    let n = CHUNK.min(count as usize);
    for i in 0..n {
        store(&mut seed.0, i * L, row);
    }
    for chunk in chunks(count as usize, CHUNK) {
        let n = chunk.1 * L;
        let d = &seed.0[..n];
        match b {
            None => pull_all::<L>(list, low, (a, Into::Add), chunk, d),
            Some(b) => {
                pull_staged::<L>(list, (values, low), ((a, Into::Add), b), chunk, d, [r0, r1]);
                pull_staged::<L>(list, (values, low), ((b, Into::Add), a), chunk, d, [r0, r1]);
            }
        }
    }
}
