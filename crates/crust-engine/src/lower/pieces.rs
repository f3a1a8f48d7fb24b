//! Pieces of a program that depend on data only, compiled one by one when they are to be computed.

use crust_stan::diagnostics::Diagnostic;
use crust_stan::typed::{self, Expr, Program};

use super::{Functions, Lowering};
use crate::code::{Code, Node, Stmt};

pub struct Pieces<'a> {
    lowering: Lowering<'a>,
    /// Compiled as soon as one of them is called.
    functions: Option<Functions>,
}

impl<'a> Pieces<'a> {
    pub fn new(program: &'a Program) -> Self {
        let mut lowering = Lowering::new(program);
        lowering.data_only = true;
        Self { lowering, functions: None }
    }

    /// What pieces refer to: functions, literals, and how many loops and declarations there are.
    pub fn code(&self) -> &Code {
        &self.lowering.code
    }

    /// The code of an expression, or what the engine lacks for it.
    pub fn expression(&mut self, expr: &Expr) -> Result<Node, Box<Diagnostic>> {
        self.piece(|lowering| lowering.expression(expr))
    }

    /// The code of a statement, or what the engine lacks for it.
    pub fn statement(&mut self, stmt: &typed::Stmt) -> Result<Vec<Stmt>, Box<Diagnostic>> {
        self.piece(|lowering| lowering.statements(std::slice::from_ref(stmt)))
    }

    fn piece<T>(&mut self, compile: impl FnOnce(&mut Lowering<'a>) -> T) -> Result<T, Box<Diagnostic>> {
        let piece = compile(&mut self.lowering);
        if !self.lowering.called.is_empty() {
            let functions = match self.functions.take() {
                Some(functions) => functions,
                None => self.compile_functions(),
            };
            self.lowering.complain_of_used(&functions);
            self.functions = Some(functions);
        }
        match std::mem::take(&mut self.lowering.problems).into_iter().next() {
            Some(problem) => Err(Box::new(problem)),
            None => Ok(piece),
        }
    }

    fn compile_functions(&mut self) -> Functions {
        let (problems, called) =
            (std::mem::take(&mut self.lowering.problems), std::mem::take(&mut self.lowering.called));
        let functions = self.lowering.functions();
        (self.lowering.problems, self.lowering.called) = (problems, called);
        functions
    }
}
