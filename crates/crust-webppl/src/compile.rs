//! From trees to code: names become slots, captured variables are copied into closures, calls get their sites.

mod function;

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::{Name, Statement};
use crate::code::{Op, Proto};
use crate::error::Mistake;
use crate::value::Value;
use function::FunctionState;

/// What all compilations of one run share: the slots of global names.
#[derive(Default)]
pub struct Globals {
    /// Names that programs can refer to, with their slots; later definitions hide earlier ones.
    pub slots: HashMap<Name, u32>,
    pub count: u32,
    /// Values that are known and never change: what the library defines.
    pub known: HashMap<u32, Value>,
    /// Members of functions that are namespaces too, such as `Number`.
    pub namespaces: HashMap<u32, Value>,
    pub sites: u32,
    pub units: u32,
}

impl Globals {
    /// A new slot for a name, which hides an earlier one.
    pub fn define(&mut self, name: &Name) -> u32 {
        let slot = self.count;
        self.count += 1;
        self.slots.insert(name.clone(), slot);
        slot
    }

    pub fn define_known(&mut self, name: &str, value: Value) -> u32 {
        let slot = self.define(&Rc::from(name));
        self.known.insert(slot, value);
        slot
    }
}

pub(crate) struct Compiler<'a> {
    pub globals: &'a mut Globals,
    pub functions: Vec<FunctionState>,
    pub unit: u32,
    pub mistakes: Vec<Mistake>,
}

/// Compiles the statements of a whole program into a function without parameters.
pub fn compile(body: &[Statement], globals: &mut Globals) -> Result<Rc<Proto>, Vec<Mistake>> {
    let mut names = Vec::new();
    declared(body, &mut names);
    let mut defined = std::collections::HashSet::new();
    for name in &names {
        if defined.insert(name.clone()) {
            globals.define(name);
        }
    }
    let unit = globals.units;
    globals.units += 1;
    let mut compiler = Compiler { globals, functions: Vec::new(), unit, mistakes: Vec::new() };
    let mut main = FunctionState::new(None, &[], &[]);
    main.top = true;
    compiler.functions.push(main);
    compiler.body(body);
    compiler.emit(Op::Return, 0);
    let main = compiler.functions.pop().map(|f| f.finish(unit));
    match main {
        Some(proto) if compiler.mistakes.is_empty() => Ok(Rc::new(proto)),
        _ => Err(compiler.mistakes),
    }
}

/// The names that `var` declares in statements, also in blocks, but not in nested functions.
pub(crate) fn declared(body: &[Statement], names: &mut Vec<Name>) {
    for statement in body {
        match statement {
            Statement::Var(name, _) => names.push(name.clone()),
            Statement::Group(inner) | Statement::Block(inner) => declared(inner, names),
            Statement::If(_, then, otherwise) => {
                declared(std::slice::from_ref(then), names);
                if let Some(otherwise) = otherwise {
                    declared(std::slice::from_ref(otherwise), names);
                }
            }
            Statement::Empty | Statement::Expr(_) | Statement::Return(_) => {}
        }
    }
}
