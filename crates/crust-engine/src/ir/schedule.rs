//! Puts operations of the same kind that do not depend on each other together in batches, and gives results their
//! places.
//!
//! The level of an operation is one more than the highest level of its arguments, or as late as those allow who need
//! it: whichever has more of its kind beside it. What was an iteration of a loop is then an item of a batch, whatever
//! the loops were nested in. Results of a batch lie side by side, so that the operands of the next one mostly do, too.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::first::settle;
use super::graph::{Added, ContainerCall, Graph, Op, Quick, Ref, ScalarCall};
use super::passes::{endings, live};
use super::shares;
use crate::code::Factor;
use crust_math::functions::elementwise::Unary;

/// Where the operands of the items of a batch are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// Constants, one for each item, from this place in the columns on.
    Column(u32),
    /// The same constant for all items.
    Uniform(f64),
    /// Neighbouring slots.
    Run(u32),
    /// The same slot.
    Same(u32),
    /// Slots that the tables list from this place on.
    Table(u32),
}

/// A kind of operation on one item whose operands are all in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Single {
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    MultiplyAdd,
    MultiplySubtract,
    Exp,
    Log,
    Sqrt,
    Square,
    InvLogit,
    Log1pExp,
    Log1p,
}

/// Items of the same kind.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    pub op: Op,
    pub items: u32,
    /// The slot of the first result.
    pub out: u32,
    /// The first slot of what is kept for the way back: derivatives by each operand, for all items one after the other.
    pub extra: u32,
    /// The first of its operands, and how many there are.
    pub operands: (u32, u32),
}

/// An operation on one item. Small: programs whose operations wait for each other have thousands of them.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub op: Single,
    pub arguments: [u32; 3],
    pub out: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    /// Operations on one item, one after the other: the first of them, and how many.
    Singles {
        first: u32,
        count: u32,
    },
    Batch(Batch),
    /// The sum of numbers, or of products of numbers.
    Reduce {
        a: Operand,
        b: Option<Operand>,
        count: u32,
        out: u32,
    },
    /// A function of containers: slots of all its numbers in the tables.
    Call {
        call: u32,
        out: u32,
        extra: u32,
        table: u32,
        count: u32,
    },
}

/// Inputs that are neighbours: their first slot, and the elements that they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    pub slot: u32,
    pub operand: u32,
    pub element: u32,
    pub count: u32,
}

/// Terms of the log density: how many, and where.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub factor: Factor,
    pub from: Operand,
    pub count: u32,
    /// Where their weights begin in the columns, if any is not 1.
    pub weights: Option<u32>,
}

/// Functions of a kind whose values are terms of the log density and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// Which of the list's functions.
    pub function: u32,
    /// Whether this is a normal log density of which anything is wanted.
    pub normal: bool,
    pub factor: Factor,
    pub items: u32,
    /// The first of its operands, and how many there are.
    pub operands: (u32, u32),
}

/// A list that can be run. Slots: inputs, constants, results; then numbers without adjoints.
#[derive(Debug, Default)]
pub struct List {
    pub instructions: Vec<Instruction>,
    pub singles: Vec<Step>,
    pub operands: Vec<Operand>,
    /// For each of them whether a batch sets its adjoints instead of adding to them.
    pub sets: Vec<bool>,
    /// The slots whose adjoints have to be 0 before the way back: where they begin, and how many there are.
    pub zeroed: Vec<(u32, u32)>,
    pub tables: Vec<u32>,
    pub columns: Vec<f64>,
    /// Which element of which operand is in each of the first slots.
    pub inputs: Vec<(u32, u32)>,
    /// The same, neighbours together.
    pub input_runs: Vec<Inputs>,
    /// The constants in the slots behind.
    pub constants: Vec<f64>,
    pub terms: Vec<Terms>,
    /// Terms that are computed at the end, and leave nothing behind.
    pub endings: Vec<Ending>,
    /// What constant terms add to the log density: prior, likelihood.
    pub constant_terms: [f64; 2],
    pub guards: Vec<u32>,
    pub outputs: Vec<Place>,
    /// How many slots have adjoints.
    pub slots: usize,
    pub all_slots: usize,
    pub unaries: Vec<&'static Unary>,
    pub functions: Vec<ScalarCall>,
    pub calls: Vec<ContainerCall>,
    /// How many operations there are.
    pub operations: usize,
}

impl List {
    /// Gives the operands of inputs other numbers, in the same order.
    pub fn number_operands(&mut self, number: impl Fn(u32) -> u32) {
        self.inputs.iter_mut().for_each(|(operand, _)| *operand = number(*operand));
        self.input_runs.clear();
        for (slot, &(operand, element)) in (0..).zip(&self.inputs) {
            match self.input_runs.last_mut() {
                Some(run) if run.operand == operand && run.element + run.count == element => run.count += 1,
                _ => self.input_runs.push(Inputs { slot, operand, element, count: 1 }),
            }
        }
    }

    /// Operations on one item, one after the other.
    #[inline]
    pub fn singles(&self, first: u32, count: u32) -> &[Step] {
        &self.singles[first as usize..][..count as usize]
    }
}

/// Where an output is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Slot(u32),
    Constant(f64),
}

/// The numbers of an operation, as far as they say whether it fits in a batch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Kind {
    op: Op,
    /// Which of the first arguments are constants.
    constants: u64,
    count: u32,
}

struct Scheduler<'g> {
    graph: &'g Graph,
    live: Vec<bool>,
    /// Which operations are an [`Ending`].
    ending: Vec<bool>,
    slot: Vec<u32>,
    list: List,
    constant_slots: HashMap<u64, u32>,
}

const NOWHERE: u32 = u32::MAX;

/// So many arguments of the operations in a batch are all constants, or none is; beyond, constants have slots as well.
const MARKED: usize = 64;

/// So few operations of a kind are run one by one: to begin with a batch takes longer.
const FEW: usize = 3;

/// Makes a list that can be run.
pub fn schedule(graph: &Graph) -> List {
    let live = live(graph);
    let mut scheduler = Scheduler {
        graph,
        slot: vec![NOWHERE; graph.nodes.len()],
        ending: endings(graph, &live),
        live,
        list: List {
            unaries: graph.unaries.clone(),
            functions: graph.functions.clone(),
            calls: graph.calls.clone(),
            ..List::default()
        },
        constant_slots: HashMap::new(),
    };
    scheduler.inputs();
    let groups = scheduler.groups();
    scheduler.constants(&groups);
    scheduler.place(&groups);
    scheduler.emit(&groups);
    scheduler.endings();
    scheduler.ends();
    let mut list = scheduler.list;
    settle(&mut list);
    list
}

impl Scheduler<'_> {
    fn nodes(&self) -> impl Iterator<Item = Ref> + use<'_> {
        (0..crate::memory::cast(self.live.len())).filter(|&node| self.live[node as usize])
    }

    /// Whether it is computed by an instruction of its own.
    fn computed(&self, node: Ref) -> bool {
        !matches!(self.graph.op(node), Op::Constant(_) | Op::Input { .. } | Op::Element(_))
            && !self.ending[node as usize]
    }

    fn inputs(&mut self) {
        let mut inputs: Vec<(u32, u32, Ref)> = self
            .nodes()
            .filter_map(|node| match self.graph.op(node) {
                Op::Input { operand, element } => Some((operand, element, node)),
                _ => None,
            })
            .collect();
        inputs.sort_unstable();
        for (at, (operand, element, node)) in (0..).zip(inputs) {
            self.slot[node as usize] = at;
            self.list.inputs.push((operand, element));
        }
        self.list.number_operands(|operand| operand);
    }

    fn kind(&self, node: Ref) -> Kind {
        let arguments = self.graph.arguments(node);
        let constant = |x: &Ref| u64::from(self.graph.known(*x).is_some());
        let constants = arguments.iter().take(MARKED).enumerate().fold(0, |mask, (k, x)| mask | constant(x) << k);
        Kind { op: self.graph.op(node), constants, count: crate::memory::cast(arguments.len()) }
    }

    /// The level of each operation.
    fn levels(&self) -> Vec<u32> {
        let n = self.live.len();
        let mut soon = vec![0_u32; n];
        for node in self.nodes() {
            let before = self.graph.arguments(node).iter().map(|&x| soon[x as usize]).max().unwrap_or(0);
            soon[node as usize] = before + u32::from(self.computed(node));
        }
        let last = soon.iter().max().copied().unwrap_or(0);
        let mut late = vec![last; n];
        for node in (0..crate::memory::cast(n)).rev().filter(|&node| self.live[node as usize]) {
            let before = late[node as usize].saturating_sub(u32::from(self.computed(node)));
            for &x in self.graph.arguments(node) {
                late[x as usize] = late[x as usize].min(before);
            }
        }
        let mut company: HashMap<(bool, u32, Kind), u32, BuildHasherDefault<Quick>> = HashMap::default();
        for node in self.nodes().filter(|&node| self.computed(node)) {
            let kind = self.kind(node);
            *company.entry((false, soon[node as usize], kind)).or_default() += 1;
            *company.entry((true, late[node as usize], kind)).or_default() += 1;
        }
        let mut level = vec![0_u32; n];
        for node in self.nodes() {
            let at = node as usize;
            let mut own = self.graph.arguments(node).iter().map(|&x| level[x as usize]).max().unwrap_or(0);
            if self.computed(node) {
                own += 1;
                let kind = self.kind(node);
                if company[&(true, late[at], kind)] > company[&(false, soon[at], kind)] {
                    own = own.max(late[at]);
                }
            }
            level[at] = own;
        }
        level
    }

    /// Operations that run together, in the order in which they run.
    fn groups(&self) -> Vec<Vec<Ref>> {
        let level = self.levels();
        let mut all: Vec<(u32, Kind, Ref)> = self
            .nodes()
            .filter(|&node| self.computed(node))
            .map(|node| (level[node as usize], self.kind(node), node))
            .collect();
        all.sort_unstable();
        let alone = |op: Op| matches!(op, Op::Call(_) | Op::Density(_));
        let same = |a: &(u32, Kind, Ref), b: &(u32, Kind, Ref)| (a.0, a.1) == (b.0, b.1) && !alone(a.1.op);
        // Where results will lie beside each other; inputs know already.
        let (mut place, mut next) = (self.slot.clone(), crate::memory::cast(2 * self.live.len()));
        let mut groups = Vec::new();
        for group in all.chunk_by(same) {
            let group: Vec<Ref> = group.iter().map(|(.., node)| *node).collect();
            for part in shares::parts(self.graph, &group, &place) {
                for &node in &part {
                    place[node as usize] = next;
                    next += 1;
                }
                groups.push(part);
            }
        }
        groups
    }

    /// What a group does if its operations run one by one.
    fn single(&self, group: &[Ref]) -> Option<Single> {
        if group.len() > FEW {
            return None;
        }
        Some(match self.graph.op(group[0]) {
            Op::Add => Single::Add,
            Op::Subtract => Single::Subtract,
            Op::Multiply => Single::Multiply,
            Op::Divide => Single::Divide,
            Op::Negate => Single::Negate,
            Op::MultiplyAdd => Single::MultiplyAdd,
            Op::MultiplySubtract => Single::MultiplySubtract,
            Op::Unary(index) => match self.graph.unaries[index as usize].name {
                "exp" => Single::Exp,
                "log" => Single::Log,
                "sqrt" => Single::Sqrt,
                "square" => Single::Square,
                "inv_logit" => Single::InvLogit,
                "log1p_exp" => Single::Log1pExp,
                "log1p" => Single::Log1p,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Slots for the constants of operations that look at slots only.
    fn constants(&mut self, groups: &[Vec<Ref>]) {
        let first = self.list.inputs.len();
        for group in groups {
            let call = matches!(self.graph.op(group[0]), Op::Call(_) | Op::Density(_));
            let first_needed = if call || self.single(group).is_some() { 0 } else { MARKED };
            let graph = self.graph;
            let needed = group.iter().flat_map(|&node| graph.arguments(node).iter().skip(first_needed));
            for &x in needed {
                if let Some(value) = self.graph.known(x) {
                    let list = &mut self.list;
                    let slot = *self.constant_slots.entry(value.to_bits()).or_insert_with(|| {
                        list.constants.push(value);
                        crate::memory::cast(first + list.constants.len() - 1)
                    });
                    self.slot[x as usize] = slot;
                }
            }
        }
    }

    fn results(&self, node: Ref) -> usize {
        match self.graph.op(node) {
            Op::Call(call) => self.graph.calls[call as usize].results(),
            _ => 1,
        }
    }

    /// Gives results their slots.
    fn place(&mut self, groups: &[Vec<Ref>]) {
        let mut next = self.list.inputs.len() + self.list.constants.len();
        for &node in groups.iter().flatten() {
            self.slot[node as usize] = crate::memory::cast(next);
            next += self.results(node);
            self.list.operations += 1;
        }
        for node in 0..self.live.len() {
            if let Op::Element(k) = self.graph.op(crate::memory::cast(node))
                && self.live[node]
            {
                self.slot[node] = self.slot[self.graph.arguments(crate::memory::cast(node))[0] as usize] + k;
            }
        }
        self.list.slots = next;
        self.list.all_slots = next;
    }

    fn extra(&mut self, n: usize) -> u32 {
        let at = self.list.all_slots;
        self.list.all_slots += n;
        crate::memory::cast(at)
    }

    fn operand(&mut self, xs: &[Ref]) -> Operand {
        let numbers: Vec<f64> = xs.iter().map_while(|&x| self.graph.known(x)).collect();
        if numbers.len() == xs.len() {
            if numbers.iter().all(|x| x.to_bits() == numbers[0].to_bits()) {
                return Operand::Uniform(numbers[0]);
            }
            self.list.columns.extend(&numbers);
            return Operand::Column(crate::memory::cast(self.list.columns.len() - numbers.len()));
        }
        let slots = xs.iter().map(|&x| self.slot[x as usize]);
        let first = self.slot[xs[0] as usize];
        if slots.clone().all(|slot| slot == first) {
            return Operand::Same(first);
        }
        if slots.clone().zip(first..).all(|(slot, expected)| slot == expected) {
            return Operand::Run(first);
        }
        self.list.tables.extend(slots);
        Operand::Table(crate::memory::cast(self.list.tables.len() - xs.len()))
    }

    fn push_single(&mut self, step: Step) {
        let List { instructions, singles, .. } = &mut self.list;
        if let Some(Instruction::Singles { count, .. }) = instructions.last_mut() {
            *count += 1;
        } else {
            instructions.push(Instruction::Singles { first: crate::memory::cast(singles.len()), count: 1 });
        }
        singles.push(step);
    }

    fn emit(&mut self, groups: &[Vec<Ref>]) {
        for group in groups {
            let (node, op) = (group[0], self.graph.op(group[0]));
            let (out, arguments) = (self.slot[node as usize], self.graph.arguments(node).len());
            if let Op::Call(call) | Op::Density(call) = op {
                let table = crate::memory::cast(self.list.tables.len());
                let slots = self.graph.arguments(node).iter().map(|&x| self.slot[x as usize]);
                self.list.tables.extend(slots);
                let extra = if matches!(op, Op::Density(_)) { self.extra(arguments) } else { 0 };
                let count = crate::memory::cast(arguments);
                self.list.instructions.push(Instruction::Call { call, out, extra, table, count });
                continue;
            }
            if let Some(op) = self.single(group) {
                for &node in group {
                    let mut slots = [self.slot[self.graph.arguments(node)[0] as usize]; 3];
                    for (to, &x) in slots.iter_mut().zip(self.graph.arguments(node)) {
                        *to = self.slot[x as usize];
                    }
                    if op == Single::Log1pExp {
                        // Where the derivative is kept.
                        slots[2] = self.extra(1);
                    }
                    self.push_single(Step { op, arguments: slots, out: self.slot[node as usize] });
                }
                continue;
            }
            if let (Op::Sum | Op::Dot, [_]) = (op, &group[..]) {
                let xs = self.graph.arguments(node);
                let half = if op == Op::Dot { arguments / 2 } else { arguments };
                let uniform =
                    |xs: &[Ref]| xs.iter().all(|&x| self.graph.known(x).is_some() == self.graph.known(xs[0]).is_some());
                if uniform(&xs[..half]) && (half == arguments || uniform(&xs[half..])) {
                    let a = self.operand(&xs[..half]);
                    let b = (half < arguments).then(|| self.operand(&xs[half..]));
                    self.list.instructions.push(Instruction::Reduce { a, b, count: crate::memory::cast(half), out });
                    continue;
                }
            }
            let operands = self.operands(group);
            let kept = matches!(op, Op::Function(_) | Op::LogSumExp);
            let extra = if kept { self.extra(arguments * group.len()) } else { 0 };
            let batch = Batch { op, items: crate::memory::cast(group.len()), out, extra, operands };
            self.list.instructions.push(Instruction::Batch(batch));
        }
    }

    /// The operands of operations of the same kind.
    fn operands(&mut self, group: &[Ref]) -> (u32, u32) {
        let arguments = self.graph.arguments(group[0]).len();
        let first = crate::memory::cast(self.list.operands.len());
        for k in 0..arguments {
            let xs: Vec<Ref> = group.iter().map(|&node| self.graph.arguments(node)[k]).collect();
            let operand = self.operand(&xs);
            self.list.operands.push(operand);
        }
        (first, crate::memory::cast(arguments))
    }

    fn endings(&mut self) {
        let graph = self.graph;
        let of = |term: &Added| (term.factor != Factor::Prior, self.kind(term.x), term.x, term.factor);
        let own = graph.adds.iter().filter(|term| self.ending[term.x as usize]);
        let mut all: Vec<(bool, Kind, Ref, Factor)> = own.map(of).collect();
        all.sort_unstable_by_key(|&(part, kind, node, _)| (part, kind, node));
        for group in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let nodes: Vec<Ref> = group.iter().map(|(_, _, node, _)| *node).collect();
            let Op::Function(function) = group[0].1.op else { continue };
            let normal = self.list.functions[function as usize].is_normal();
            for part in shares::parts(graph, &nodes, &self.slot) {
                let (operands, items) = (self.operands(&part), crate::memory::cast(part.len()));
                self.list.operations += part.len();
                self.list.endings.push(Ending { function, normal, factor: group[0].3, items, operands });
            }
        }
    }

    fn ends(&mut self) {
        let graph = self.graph;
        for factor in [Factor::Prior, Factor::Likelihood] {
            let part = |f: Factor| usize::from(f != Factor::Prior);
            let added = |term: &&Added| part(term.factor) == part(factor) && !self.ending[term.x as usize];
            let own = graph.adds.iter().filter(added);
            let constant: f64 = own.clone().filter_map(|term| Some(graph.known(term.x)? * term.weight)).sum();
            self.list.constant_terms[part(factor)] = constant;
            let mut terms: Vec<Added> = own.filter(|term| graph.known(term.x).is_none()).copied().collect();
            terms.sort_by_key(|term| self.slot[term.x as usize]);
            if terms.is_empty() {
                continue;
            }
            let xs: Vec<Ref> = terms.iter().map(|term| term.x).collect();
            let from = self.operand(&xs);
            let weights = terms.iter().any(|term| !term.plain()).then(|| crate::memory::cast(self.list.columns.len()));
            if weights.is_some() {
                self.list.columns.extend(terms.iter().map(|term| term.weight));
            }
            self.list.terms.push(Terms { factor, from, count: crate::memory::cast(xs.len()), weights });
        }
        self.list.guards = graph.guards.iter().map(|&x| self.slot[x as usize]).collect();
        self.list.guards.sort_unstable();
        self.list.guards.dedup();
        self.list.outputs = graph
            .outputs
            .iter()
            .map(|&x| graph.known(x).map_or_else(|| Place::Slot(self.slot[x as usize]), Place::Constant))
            .collect();
    }
}
