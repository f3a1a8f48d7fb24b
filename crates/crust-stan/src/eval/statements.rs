//! The effects of statements.

use std::sync::Arc;

use super::{Interpreter, Outcome, analysis};
use crate::ast::MessageKind;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, FunctionId, LoopOver, MessagePart, Stmt, StmtKind, VariableId};
use crate::value::{Unavailable, Value};

/// Where the program goes on after a statement.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Option<Value>),
    /// Not known: the statement may have left the loop or function around it, for the given reason.
    Lost(Arc<Unavailable>),
}

impl Interpreter<'_> {
    /// Runs statements of a block.
    pub fn run(&mut self, statements: &[Stmt]) -> Outcome<()> {
        self.enter();
        self.sequence(statements).map(|_| ())
    }

    fn sequence(&mut self, statements: &[Stmt]) -> Outcome<Flow> {
        for stmt in statements {
            match self.exec(stmt)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    pub(super) fn function_body(&mut self, id: FunctionId, span: Span) -> Outcome<Value> {
        let function = self.program.function(id);
        let value = match self.sequence(&function.body)? {
            Flow::Return(Some(value)) => value,
            Flow::Lost(unknown) => Value::Unavailable(unknown),
            _ => Value::unavailable(format!("`{}` returns nothing", function.name), Some(span), None),
        };
        Ok(match &function.ty.returns {
            Some(ty) => value.promoted(ty),
            None => value,
        })
    }

    fn exec(&mut self, stmt: &Stmt) -> Outcome<Flow> {
        self.spend(1, stmt.span)?;
        match &stmt.kind {
            StmtKind::Assign { target, op, value } => self.assign(target, *op, value)?,
            StmtKind::Declare { variable, initial } => self.declare(*variable, initial.as_ref())?,
            StmtKind::Block(body) | StmtKind::Profile { body, .. } => {
                return self.deeper(stmt.span, |this| this.sequence(body));
            }
            StmtKind::If { branches, otherwise } => {
                return self.deeper(stmt.span, |this| this.branch(branches, otherwise.as_deref()));
            }
            StmtKind::For { variable, over, body } => {
                return self.deeper(stmt.span, |this| this.for_loop(stmt, *variable, over, body));
            }
            StmtKind::While { condition, body } => {
                return self.deeper(stmt.span, |this| this.while_loop(stmt, condition, body));
            }
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Return(value) => {
                return Ok(Flow::Return(value.as_ref().map(|e| self.eval(e)).transpose()?));
            }
            StmtKind::Call(call) => {
                self.call(call, stmt.span)?;
            }
            // Nobody listens; and no value can depend on the density.
            StmtKind::Message { kind: MessageKind::Print, .. }
            | StmtKind::Skip
            | StmtKind::TargetPlus(_)
            | StmtKind::JacobianPlus(_)
            | StmtKind::Tilde(_) => {}
            StmtKind::Message { kind, parts } => return Err(self.stopped(*kind, parts, stmt.span)),
        }
        Ok(Flow::Next)
    }

    fn declare(&mut self, variable: VariableId, initial: Option<&Expr>) -> Outcome<()> {
        let program = self.program;
        let Some(declared) = &program.variable(variable).declared else { return Ok(()) };
        let value = match self.declared_shape(declared)? {
            Ok(shape) => {
                self.spend(shape.numbers().unwrap_or(0) as u64, declared.span)?;
                Value::unset(&shape)
            }
            Err(unknown) => Value::Unavailable(Arc::new(Unavailable { shape: None, ..(*unknown).clone() })),
        };
        self.set(variable, value);
        match initial {
            Some(initial) => {
                let value = self.eval(initial)?;
                self.replace(variable, value, &program.variable(variable).ty, initial.span)
            }
            None => Ok(()),
        }
    }

    fn branch(&mut self, branches: &[(Expr, Stmt)], otherwise: Option<&Stmt>) -> Outcome<Flow> {
        for (i, (condition, body)) in branches.iter().enumerate() {
            match self.truth(condition)? {
                Ok(true) => return self.exec(body),
                Ok(false) => {}
                Err(unknown) => {
                    let rest: Vec<&Stmt> = branches[i..].iter().map(|(_, body)| body).chain(otherwise).collect();
                    return self.lost(&rest, &unknown);
                }
            }
        }
        match otherwise {
            Some(body) => self.exec(body),
            None => Ok(Flow::Next),
        }
    }

    /// After statements of which it is not known whether they ran: what they assign to is unknown.
    fn lost(&mut self, statements: &[&Stmt], unknown: &Arc<Unavailable>) -> Outcome<Flow> {
        let mut variables = Vec::new();
        let mut leaves = false;
        for stmt in statements {
            analysis::assigned(stmt, &mut variables);
            let exits = analysis::exits(stmt);
            leaves |= exits.from_loop || exits.from_function;
        }
        self.lose(&variables, unknown)?;
        Ok(if leaves { Flow::Lost(Arc::new(Unavailable { shape: None, ..(**unknown).clone() })) } else { Flow::Next })
    }

    fn for_loop(&mut self, stmt: &Stmt, variable: VariableId, over: &LoopOver, body: &Stmt) -> Outcome<Flow> {
        match over {
            LoopOver::Range { lower, upper } => {
                let (lower, upper) = match (self.bound(lower)?, self.bound(upper)?) {
                    (Ok(lower), Ok(upper)) => (lower, upper),
                    (Err(unknown), _) | (_, Err(unknown)) => return self.loop_lost(body, &unknown),
                };
                for i in lower..=upper {
                    self.frame[variable.0 as usize] = Some(Value::Int(i));
                    if let Some(flow) = self.iteration(body, stmt.span)? {
                        return Ok(flow);
                    }
                }
            }
            LoopOver::Each(container) => {
                let container = self.eval(container)?;
                let count = match &container {
                    Value::Tensor(t) => t.array.first().copied().unwrap_or_else(|| t.scalars()),
                    Value::Tuple(t) => t.array.first().copied().unwrap_or(0),
                    Value::Unavailable(unknown) => return self.loop_lost(body, &unknown.clone()),
                    _ => 0,
                };
                for i in 0..count {
                    // The elements of a matrix come column by column, as they lie.
                    let element = match &container {
                        Value::Tensor(t) if t.array.is_empty() => Some(t.scalar(i)),
                        other => other.element(i),
                    };
                    self.frame[variable.0 as usize] = element;
                    if let Some(flow) = self.iteration(body, stmt.span)? {
                        return Ok(flow);
                    }
                }
            }
        }
        Ok(Flow::Next)
    }

    fn while_loop(&mut self, stmt: &Stmt, condition: &Expr, body: &Stmt) -> Outcome<Flow> {
        loop {
            match self.truth(condition)? {
                Ok(false) => return Ok(Flow::Next),
                Ok(true) => {}
                Err(unknown) => return self.loop_lost(body, &unknown),
            }
            if let Some(flow) = self.iteration(body, stmt.span)? {
                return Ok(flow);
            }
        }
    }

    /// One iteration of a loop; `Some` is how the program goes on if it leaves the loop.
    fn iteration(&mut self, body: &Stmt, span: Span) -> Outcome<Option<Flow>> {
        self.spend(1, span)?;
        Ok(match self.exec(body)? {
            Flow::Next | Flow::Continue => None,
            Flow::Break => Some(Flow::Next),
            Flow::Lost(unknown) => Some(self.loop_lost(body, &unknown)?),
            flow @ Flow::Return(_) => Some(flow),
        })
    }

    /// After a loop of which it is not known how often it ran.
    fn loop_lost(&mut self, body: &Stmt, unknown: &Arc<Unavailable>) -> Outcome<Flow> {
        match self.lost(&[body], unknown)? {
            Flow::Lost(unknown) if analysis::exits(body).from_function => Ok(Flow::Lost(unknown)),
            _ => Ok(Flow::Next),
        }
    }

    fn stopped(&mut self, kind: MessageKind, parts: &[MessagePart], span: Span) -> Box<Diagnostic> {
        let mut text = String::new();
        for part in parts {
            match part {
                MessagePart::Text(words) => text.push_str(words),
                MessagePart::Value(e) => match self.eval(e) {
                    Ok(value) => text.push_str(&value.to_string()),
                    Err(problem) => return problem,
                },
            }
        }
        let word = kind.word();
        Box::new(Diagnostic::error("rejected", format!("the program stops with `{word}`: {text}"), span))
    }
}
