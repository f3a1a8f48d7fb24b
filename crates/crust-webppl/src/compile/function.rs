//! Functions, statements and expressions.

use std::collections::HashMap;
use std::rc::Rc;

use super::{Compiler, declared};
use crate::ast::{Expr, ExprKind, Function, Name, Statement};
use crate::code::{Op, Proto, Source};
use crate::error::Mistake;
use crate::library::Body;
use crate::value::{Text, Value, Wrapped};

struct Local {
    slot: u32,
    defined: bool,
    cell: bool,
}

pub(crate) struct FunctionState {
    name: Option<Name>,
    /// The program itself: its variables are global.
    pub top: bool,
    locals: HashMap<Name, Local>,
    captured: HashMap<Name, (u32, bool)>,
    slots: u32,
    arguments: Option<u32>,
    params: u32,
    ops: Vec<Op>,
    at: Vec<u32>,
    consts: Vec<Value>,
    texts: HashMap<Name, u32>,
    shapes: Vec<Vec<Text>>,
    protos: Vec<Rc<Proto>>,
    captures: Vec<Source>,
    variables: Vec<(u32, u32, Name)>,
}

/// Where a name leads.
enum Target {
    Local { slot: u32, defined: bool, cell: bool },
    Captured { index: u32, cell: bool },
    Myself,
    Global(u32),
}

fn small<T: TryFrom<usize> + Default>(n: usize) -> T {
    T::try_from(n).unwrap_or_default()
}

impl FunctionState {
    pub fn new(name: Option<Name>, params: &[Name], vars: &[Name]) -> Self {
        let mut locals = HashMap::new();
        for (i, param) in params.iter().enumerate() {
            locals.insert(param.clone(), Local { slot: small(i), defined: true, cell: false });
        }
        let mut slots: u32 = small(params.len());
        for var in vars {
            if !locals.contains_key(var) {
                locals.insert(var.clone(), Local { slot: slots, defined: false, cell: false });
                slots += 1;
            }
        }
        Self {
            name,
            top: false,
            locals,
            captured: HashMap::new(),
            slots,
            arguments: None,
            params: small(params.len()),
            ops: Vec::new(),
            at: Vec::new(),
            consts: Vec::new(),
            texts: HashMap::new(),
            shapes: Vec::new(),
            protos: Vec::new(),
            captures: Vec::new(),
            variables: Vec::new(),
        }
    }

    pub fn finish(self, unit: u32) -> Proto {
        let mut cells: Vec<u32> = self.locals.values().filter(|l| l.cell).map(|l| l.slot).collect();
        cells.sort_unstable();
        Proto {
            name: self.name,
            ops: self.ops,
            at: self.at,
            unit,
            consts: self.consts,
            shapes: self.shapes,
            protos: self.protos,
            captures: self.captures,
            params: self.params,
            locals: self.slots,
            cells,
            arguments: self.arguments,
            variables: self.variables,
        }
    }
}

impl Compiler<'_> {
    fn state(&mut self) -> &mut FunctionState {
        let last = self.functions.len() - 1;
        &mut self.functions[last]
    }

    pub(super) fn emit(&mut self, op: Op, at: u32) -> usize {
        let state = self.state();
        state.ops.push(op);
        state.at.push(at);
        state.ops.len() - 1
    }

    /// Lets a jump that was emitted before lead here.
    fn land(&mut self, jump: usize) {
        let here = small(self.state().ops.len());
        let op = &mut self.state().ops[jump];
        *op = match *op {
            Op::Jump(_) => Op::Jump(here),
            Op::JumpIfFalse(_) => Op::JumpIfFalse(here),
            Op::JumpIfFalseKeep(_) => Op::JumpIfFalseKeep(here),
            Op::JumpIfTrueKeep(_) => Op::JumpIfTrueKeep(here),
            other => other,
        };
    }

    fn constant(&mut self, value: Value) -> u32 {
        let state = self.state();
        state.consts.push(value);
        small(state.consts.len() - 1)
    }

    fn text(&mut self, name: &Name) -> u32 {
        if let Some(i) = self.state().texts.get(name) {
            return *i;
        }
        let i = self.constant(Value::Text(Text::from(&**name)));
        self.state().texts.insert(name.clone(), i);
        i
    }

    fn site(&mut self) -> u32 {
        self.globals.sites += 1;
        self.globals.sites
    }

    /// Statements of a function or program; leaves the value of the last one.
    pub(super) fn body(&mut self, body: &[Statement]) {
        let Some((last, rest)) = body.split_last() else {
            self.emit(Op::Undefined, 0);
            return;
        };
        for statement in rest {
            self.statement(statement);
        }
        self.last(last);
    }

    /// A statement whose value is the value of its block.
    fn last(&mut self, statement: &Statement) {
        match statement {
            Statement::Expr(expr) => self.expr(expr, true),
            Statement::Block(body) => self.body(body),
            Statement::If(test, then, otherwise) => {
                self.expr(test, false);
                let skip = self.emit(Op::JumpIfFalse(0), test.at);
                self.last(then);
                let end = self.emit(Op::Jump(0), test.at);
                self.land(skip);
                match otherwise {
                    Some(otherwise) => self.last(otherwise),
                    None => {
                        self.emit(Op::Undefined, test.at);
                    }
                }
                self.land(end);
            }
            other => {
                self.statement(other);
                self.emit(Op::Undefined, 0);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Empty => {}
            Statement::Expr(expr) => {
                self.expr(expr, false);
                self.emit(Op::Pop, expr.at);
            }
            Statement::Var(name, value) => {
                let from = small(self.state().ops.len());
                self.expr(value, false);
                self.define(name, value.at);
                let to = small(self.state().ops.len());
                self.state().variables.push((from, to, name.clone()));
            }
            Statement::Group(body) | Statement::Block(body) => body.iter().for_each(|s| self.statement(s)),
            Statement::Return(value) => {
                match value {
                    Some(value) => self.expr(value, true),
                    None => {
                        self.emit(Op::Undefined, 0);
                    }
                }
                self.emit(Op::Return, 0);
            }
            Statement::If(test, then, otherwise) => {
                self.expr(test, false);
                let skip = self.emit(Op::JumpIfFalse(0), test.at);
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    let end = self.emit(Op::Jump(0), test.at);
                    self.land(skip);
                    self.statement(otherwise);
                    self.land(end);
                } else {
                    self.land(skip);
                }
            }
        }
    }

    fn define(&mut self, name: &Name, at: u32) {
        if self.state().top {
            if let Some(slot) = self.globals.slots.get(name).copied() {
                self.emit(Op::SetGlobal(slot), at);
            }
            return;
        }
        if let Some(local) = self.state().locals.get_mut(name) {
            local.defined = true;
            let (slot, cell) = (local.slot, local.cell);
            self.emit(if cell { Op::SetCell(slot) } else { Op::SetLocal(slot) }, at);
        }
    }

    /// Finds a name from the function at `depth`; functions in between capture it.
    fn resolve(&mut self, name: &Name, depth: usize) -> Option<Target> {
        if let Some(local) = self.functions[depth].locals.get(name) {
            let Local { slot, defined, cell } = *local;
            return Some(Target::Local { slot, defined, cell });
        }
        if self.functions[depth].name.as_ref() == Some(name) {
            return Some(Target::Myself);
        }
        if let Some((index, cell)) = self.functions[depth].captured.get(name) {
            return Some(Target::Captured { index: *index, cell: *cell });
        }
        if depth > 0 {
            let (source, cell) = match self.resolve(name, depth - 1) {
                Some(Target::Local { slot, defined, .. }) => {
                    let local = self.functions[depth - 1].locals.get_mut(name)?;
                    // a function that is made before the variable is defined must see the later definition
                    local.cell |= !defined;
                    (Source::Local(slot), local.cell)
                }
                Some(Target::Captured { index, cell }) => (Source::Captured(index), cell),
                Some(Target::Myself) => (Source::Myself, false),
                other => return other,
            };
            let state = &mut self.functions[depth];
            let index = small(state.captures.len());
            state.captures.push(source);
            state.captured.insert(name.clone(), (index, cell));
            return Some(Target::Captured { index, cell });
        }
        self.globals.slots.get(name).copied().map(Target::Global)
    }

    fn name(&mut self, name: &Name, at: u32) {
        match &**name {
            "undefined" => {
                self.emit(Op::Undefined, at);
                return;
            }
            "globalStore" => {
                self.emit(Op::Store, at);
                return;
            }
            "arguments" if !self.state().top => {
                let state = self.state();
                let slot = *state.arguments.get_or_insert_with(|| {
                    state.slots += 1;
                    state.slots - 1
                });
                self.emit(Op::Local(slot), at);
                return;
            }
            _ => {}
        }
        let op = match self.resolve(name, self.functions.len() - 1) {
            Some(Target::Local { slot, cell: true, .. }) => Op::CellLocal(slot),
            Some(Target::Local { slot, defined: true, .. }) => Op::Local(slot),
            Some(Target::Local { slot, .. }) => Op::LooseLocal(slot),
            Some(Target::Captured { index, cell: true }) => Op::CapturedCell(index),
            Some(Target::Captured { index, .. }) => Op::Captured(index),
            Some(Target::Myself) => Op::Myself,
            Some(Target::Global(slot)) => match self.globals.known.get(&slot).cloned() {
                Some(value) => Op::Const(self.constant(value)),
                None => Op::Global(slot),
            },
            None => {
                self.mistakes.push(self.undefined_name(name, at));
                Op::Undefined
            }
        };
        self.emit(op, at);
    }

    fn undefined_name(&self, name: &Name, at: u32) -> Mistake {
        let mistake = Mistake::new(at, format!("'{name}' is not defined"));
        if matches!(&**name, "require" | "process" | "fs" | "module" | "window" | "global") {
            return mistake.remedy("programs cannot reach outside; data are read with json.read and csv.read");
        }
        let mut near: Vec<&Name> =
            self.globals.slots.keys().filter(|n| n.len() > 2 && n.eq_ignore_ascii_case(name)).collect();
        near.sort_unstable();
        match near.first() {
            Some(other) => mistake.remedy(format!("did you mean '{other}'?")),
            None => mistake,
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        exprs.iter().for_each(|e| self.expr(e, false));
    }

    fn expr(&mut self, expr: &Expr, tail: bool) {
        let at = expr.at;
        match &expr.kind {
            ExprKind::Number(x) => drop_constant(self, Value::Number(*x), at),
            ExprKind::Text(t) => {
                let i = self.text(t);
                self.emit(Op::Const(i), at);
            }
            ExprKind::Bool(b) => drop_constant(self, Value::Bool(*b), at),
            ExprKind::Null => drop_constant(self, Value::Null, at),
            ExprKind::Regex { pattern, flags } => {
                let (pattern, flags) = (Text::from(&**pattern), Text::from(&**flags));
                drop_constant(self, Value::Wrapped(Rc::new(Wrapped::Regex { pattern, flags })), at);
            }
            ExprKind::Name(name) => self.name(name, at),
            ExprKind::Array(items) => {
                self.exprs(items);
                self.emit(Op::Array(small(items.len())), at);
            }
            ExprKind::Object(fields) => {
                fields.iter().for_each(|(_, v)| self.expr(v, false));
                let mut keys = Vec::with_capacity(fields.len());
                for (name, _) in fields {
                    let i = self.text(name) as usize;
                    if let Value::Text(t) = &self.state().consts[i] {
                        keys.push(t.clone());
                    }
                }
                self.state().shapes.push(keys);
                let shape = small(self.state().shapes.len() - 1);
                self.emit(Op::Object(shape), at);
            }
            ExprKind::Function(function) => self.function(function),
            ExprKind::Unary(op, operand) => {
                self.expr(operand, false);
                self.emit(Op::Unary(*op), at);
            }
            ExprKind::Binary(op, left, right) => {
                self.expr(left, false);
                self.expr(right, false);
                self.emit(Op::Binary(*op), at);
            }
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                self.expr(left, false);
                let and = matches!(expr.kind, ExprKind::And(..));
                let jump = self.emit(if and { Op::JumpIfFalseKeep(0) } else { Op::JumpIfTrueKeep(0) }, at);
                self.expr(right, tail);
                self.land(jump);
            }
            ExprKind::Conditional(parts) => {
                let [test, then, otherwise] = &**parts;
                self.expr(test, false);
                let skip = self.emit(Op::JumpIfFalse(0), at);
                self.expr(then, tail);
                let end = self.emit(Op::Jump(0), at);
                self.land(skip);
                self.expr(otherwise, tail);
                self.land(end);
            }
            ExprKind::Call(callee, args) => self.call(callee, args, at, tail),
            ExprKind::Member(object, name) => {
                if !self.known_member(object, name, at) {
                    self.expr(object, false);
                    let name = self.text(name);
                    self.emit(Op::Member(name), at);
                }
            }
            ExprKind::Index(object, index) => {
                self.expr(object, false);
                self.expr(index, false);
                self.emit(Op::Index, at);
            }
            ExprKind::SetStore(key, value) => {
                self.expr(key, false);
                self.expr(value, false);
                self.emit(Op::SetStore, at);
            }
        }
    }

    /// Members of the library's namespaces, such as `Math.exp`, are constants.
    fn known_member(&mut self, object: &Expr, name: &Name, at: u32) -> bool {
        let ExprKind::Name(space) = &object.kind else { return false };
        let Some(Target::Global(slot)) = self.resolve(space, self.functions.len() - 1) else { return false };
        let space = self.globals.namespaces.get(&slot).or_else(|| self.globals.known.get(&slot));
        let Some(Value::Object(fields)) = space else { return false };
        let Some(value) = fields.get(name) else { return false };
        drop_constant(self, value, at);
        true
    }

    /// `Gaussian({mu: …, sigma: …})` needs no object. The fields must stand in the order of the parameters, because
    /// their evaluation may have effects.
    fn distribution(&mut self, callee: &Expr, args: &[Expr], at: u32) -> bool {
        let (ExprKind::Name(name), [arg]) = (&callee.kind, args) else { return false };
        let ExprKind::Object(fields) = &arg.kind else { return false };
        let Some(Target::Global(slot)) = self.resolve(name, self.functions.len() - 1) else { return false };
        let Some(Value::Native(native)) = self.globals.known.get(&slot) else { return false };
        let Body::Make(family) = native.body else { return false };
        let given = fields.iter().map(|(k, _)| &**k);
        if !family.is_of_numbers() || !given.eq(family.parameters().iter().map(|p| p.name)) {
            return false;
        }
        fields.iter().for_each(|(_, v)| self.expr(v, false));
        self.emit(Op::Dist(family), at);
        true
    }

    fn call(&mut self, callee: &Expr, args: &[Expr], at: u32, tail: bool) {
        if self.distribution(callee, args, at) {
            return;
        }
        let Ok(count) = u16::try_from(args.len()) else {
            self.mistakes.push(Mistake::new(at, "a call has too many arguments").remedy("pass an array"));
            return;
        };
        if let ExprKind::Member(object, name) = &callee.kind {
            if !self.known_member(object, name, callee.at) {
                self.expr(object, false);
                self.exprs(args);
                let (name, site) = (self.text(name), self.site());
                self.emit(Op::Method { name, args: count, site }, at);
                return;
            }
        } else {
            self.expr(callee, false);
        }
        self.exprs(args);
        let site = self.site();
        let tail = tail && !self.state().top;
        self.emit(Op::Call { args: count, tail, site }, at);
    }

    fn function(&mut self, function: &Function) {
        let mut vars = Vec::new();
        declared(&function.body, &mut vars);
        self.functions.push(FunctionState::new(function.name.clone(), &function.params, &vars));
        self.body(&function.body);
        self.emit(Op::Return, function.at);
        let unit = self.unit;
        if let Some(state) = self.functions.pop() {
            let proto = Rc::new(state.finish(unit));
            let outer = self.state();
            outer.protos.push(proto);
            let index = small(outer.protos.len() - 1);
            self.emit(Op::Closure(index), function.at);
        }
    }
}

fn drop_constant(compiler: &mut Compiler<'_>, value: Value, at: u32) {
    let i = compiler.constant(value);
    compiler.emit(Op::Const(i), at);
}
