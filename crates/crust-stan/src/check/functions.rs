//! The functions block: heads first, so that functions may call each other in any order, then bodies.

use super::{Checker, Region, Returns, errors, reserved, returns};
use crate::ast;
use crate::names::Suffix;
use crate::signatures::{self, Resolution};
use crate::typed::{self, FunctionId, Level, Origin, Variable};
use crate::types::{ArgumentType, FunctionType, Type};
use std::collections::BTreeMap;

impl Checker {
    pub(super) fn functions_block(&mut self, block: &ast::FunctionsBlock) {
        // Forward declarations that still wait for a definition, by name.
        let mut waiting: BTreeMap<&str, Vec<&ast::Function>> = BTreeMap::new();
        let mut bodies = Vec::new();
        for function in &block.functions {
            let ty = function_type(function);
            self.check_head(function, &ty);
            if function.body.is_none() {
                let types: Vec<_> = ty.arguments.iter().map(|a| a.ty.clone()).collect();
                if let Some(id) = self.own_function(&function.name.name, &types) {
                    let problem = errors::declared_after_definition(&function.name, self.program.function(id).span);
                    self.report(problem);
                    continue;
                }
                let earlier = waiting.get(function.name.name.as_str()).into_iter().flatten();
                if let Some(first) = earlier.map(|f| (f, function_type(f))).find(|(_, t)| t.arguments == ty.arguments) {
                    self.report(errors::declared_twice(&function.name, &ty, first.0.name.span));
                }
                waiting.entry(&function.name.name).or_default().push(function);
            } else if let Some(id) = self.add_function(function, ty) {
                bodies.push((id, function));
            }
        }
        self.match_declarations(&waiting);
        for (id, function) in bodies {
            self.function_body(id, function);
        }
        self.returns = None;
    }

    /// Rules for names and types that hold for declarations and definitions.
    fn check_head(&mut self, function: &ast::Function, ty: &FunctionType) {
        let name = &function.name;
        if let Some(problem) = reserved(name) {
            self.report(problem);
        }
        if signatures::is_variadic(&name.name) {
            self.report(errors::cannot_overload(name));
        }
        let suffix = Suffix::of(&name.name);
        if suffix.is_unnormalised() {
            self.report(errors::unnormalised_definition(name));
            return;
        }
        if suffix.is_conditional() && ty.returns != Some(Type::Real) {
            self.report(errors::density_returns(name, ty.returns.as_ref()));
        }
        let variate = ty.arguments.first().map(|a| &a.ty);
        let span = function.arguments.first().map_or(name.span, |a| a.span);
        match suffix {
            Suffix::Lpdf if variate.is_none_or(is_int_variate) => {
                self.report(errors::density_variate(name, "real", variate, span));
            }
            Suffix::Lpmf if !variate.is_some_and(is_int_variate) => {
                self.report(errors::density_variate(name, "integer", variate, span));
            }
            _ => {}
        }
    }

    /// Registers a definition, unless it clashes with one of the program or of the library.
    fn add_function(&mut self, function: &ast::Function, ty: FunctionType) -> Option<FunctionId> {
        let name = &function.name;
        let types: Vec<_> = ty.arguments.iter().map(|a| a.ty.clone()).collect();
        if let Some(first) = self.own_function(&name.name, &types) {
            let first = self.program.function(first);
            let problem = errors::defined_twice(name, &ty, &first.ty, first.span);
            self.report(problem);
            return None;
        }
        if let Resolution::Match(found) = signatures::resolve(&name.name, &types)
            && found.arguments.iter().map(|a| &a.ty).eq(&types)
        {
            let library = FunctionType { arguments: found.arguments, returns: found.returns };
            self.report(errors::library_function(name, &library));
            return None;
        }
        let id = FunctionId(u32::try_from(self.program.functions.len()).unwrap_or(u32::MAX));
        self.program.functions.push(typed::Function {
            name: name.name.clone(),
            ty,
            arguments: Vec::new(),
            body: Vec::new(),
            span: function.span,
        });
        self.functions.entry(name.name.clone()).or_default().push(id);
        Some(id)
    }

    fn match_declarations(&mut self, waiting: &BTreeMap<&str, Vec<&ast::Function>>) {
        for declaration in waiting.values().flatten() {
            let ty = function_type(declaration);
            let types: Vec<_> = ty.arguments.iter().map(|a| a.ty.clone()).collect();
            let definition = self.own_function(&declaration.name.name, &types).map(|id| self.program.function(id));
            match definition {
                None => {
                    self.report(errors::declared_only(&declaration.name, &ty));
                    // Calls of it are as good as the declaration says.
                    self.add_function(declaration, ty);
                }
                Some(found) if found.ty != ty => {
                    let problem = errors::declaration_mismatch(&declaration.name, &ty, &found.ty, found.span);
                    self.report(problem);
                }
                Some(_) => {}
            }
        }
    }

    fn function_body(&mut self, id: FunctionId, function: &ast::Function) {
        let Some(body) = &function.body else { return };
        self.region = Region::Functions(Suffix::of(&function.name.name));
        self.returns = Some(Returns(function.returns.clone()));
        let (arguments, statements) = self.scoped(|c| {
            let arguments: Vec<_> = function.arguments.iter().map(|a| c.argument_variable(a)).collect();
            (arguments, c.scoped(|c| c.statements(&body.statements, false)))
        });
        if function.returns.is_some() && !returns::always_returns(&body.statements) {
            self.report(errors::missing_return(&function.name, body.span));
        }
        let typed = &mut self.program.functions[id.0 as usize];
        typed.arguments = arguments;
        typed.body = statements;
    }

    fn argument_variable(&mut self, argument: &ast::Argument) -> typed::VariableId {
        let data = argument.data_only || argument.ty.is_int_like();
        self.declare(Variable {
            name: argument.name.name.clone(),
            ty: argument.ty.clone(),
            declared: None,
            origin: Origin::Argument,
            level: if data { Level::Data } else { Level::Parameter },
            span: argument.name.span,
        })
    }
}

fn function_type(function: &ast::Function) -> FunctionType {
    let arguments = function.arguments.iter();
    let arguments = arguments.map(|a| ArgumentType { data_only: a.data_only, ty: a.ty.clone() }).collect();
    FunctionType { arguments, returns: function.returns.clone() }
}

/// Integers, arrays of them, and tuples of them.
fn is_int_variate(ty: &Type) -> bool {
    match ty.array_parts().0 {
        Type::Tuple(parts) => parts.iter().all(is_int_variate),
        element => *element == Type::Int,
    }
}
