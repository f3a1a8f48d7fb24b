//! The canonical printer: a program in today's syntax and one style, with all its comments.
//!
//! The tree becomes a stream of words, breaks and groups (`layout`), into which the comments are mixed by their places
//! in the source (`comments`). Printing keeps the tree: nothing is added to it but parentheses and braces without which
//! a tree that no parser made would read as another one.

mod comments;
mod expressions;
mod layout;
mod statements;
#[cfg(test)]
mod tests;
mod types;

use crate::ast::{Argument, BlockKind, Function, Program, Stmt};
use crate::lexer::Comment;
use crate::source::Source;
use comments::Comments;
use layout::{Item, Shape};
use std::borrow::Cow;

/// Prints a program. The spans of `program` and `comments` are places in `source`.
pub fn format(program: &Program, comments: &[Comment], source: &Source) -> String {
    let mut printer = Printer::new(comments, source);
    printer.program(program);
    printer.finish()
}

/// Prints the functions of a program without the block around them, as they stand in a file of functions.
pub fn format_functions(program: &Program, comments: &[Comment], source: &Source) -> String {
    let mut printer = Printer::new(comments, source);
    if let Some(block) = &program.functions {
        printer.functions(&block.functions);
    }
    printer.finish()
}

struct Printer<'a> {
    items: Vec<Item<'a>>,
    comments: Comments<'a>,
    source: &'a Source,
    /// Nothing stands yet in the block at hand: no empty line comes before it.
    first: bool,
    /// An empty line comes next, whatever the source has.
    blank_due: bool,
    /// The end, in the source, of what has been printed.
    printed: usize,
}

impl<'a> Printer<'a> {
    fn new(comments: &'a [Comment], source: &'a Source) -> Self {
        Self {
            items: Vec::new(),
            comments: Comments::new(comments, source),
            source,
            first: true,
            blank_due: false,
            printed: 0,
        }
    }

    /// Prints the comments that are left, and lays it all out.
    fn finish(mut self) -> String {
        self.flush(usize::MAX);
        layout::render(&self.items)
    }

    fn text(&mut self, text: impl Into<Cow<'a, str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.items.push(Item::Text(text));
        }
    }

    fn space(&mut self) {
        self.items.push(Item::Space);
    }

    fn open(&mut self, shape: Shape) {
        self.items.push(Item::Open(shape));
    }

    fn close(&mut self) {
        self.items.push(Item::Close);
    }

    /// Ends the line before what stands at `position` in the source, with an empty line if there is one there.
    fn next_line(&mut self, position: usize) {
        let blank = self.blank_due || (position >= self.printed && self.comments.blank_before(position));
        let blank = blank && !self.first;
        self.items.push(if blank { Item::Blank } else { Item::Hard });
        self.first = false;
        self.blank_due = false;
    }

    /// Goes to where something can be printed that stands on a line of its own, with the comments before it.
    fn start_line(&mut self, position: usize) {
        if self.flush(position).leads {
            self.space();
        } else {
            self.next_line(position);
        }
    }

    fn program(&mut self, program: &'a Program) {
        if let Some(block) = &program.functions {
            let span = block.span.range();
            self.start_line(span.start);
            self.text("functions ");
            self.braces(span.end, |p| p.functions(&block.functions));
        }
        for kind in BlockKind::ALL {
            if let Some(block) = program.block(kind) {
                let span = block.span.range();
                self.start_line(span.start);
                self.text(kind.name());
                self.space();
                self.braces(span.end, |p| p.statements(&block.statements));
            }
        }
    }

    /// `{ inside }`, which ends at `end` in the source.
    fn braces(&mut self, end: usize, inside: impl FnOnce(&mut Self)) {
        self.text("{");
        self.open(Shape::Indent);
        self.first = true;
        inside(self);
        self.flush(end);
        self.close();
        self.items.push(Item::Hard);
        self.text("}");
        self.first = false;
        self.printed = self.printed.max(end);
    }

    fn statements(&mut self, statements: &'a [Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn functions(&mut self, functions: &'a [Function]) {
        let mut previous: Option<&Function> = None;
        for function in functions {
            // Forward declarations may stand close together.
            self.blank_due = previous.is_some_and(|p| p.body.is_some() || function.body.is_some());
            let span = function.span.range();
            self.start_line(span.start);
            self.function(function);
            self.printed = self.printed.max(span.end);
            previous = Some(function);
        }
    }

    fn function(&mut self, function: &'a Function) {
        match &function.returns {
            Some(ty) => self.text(ty.to_string()),
            None => self.text("void"),
        }
        self.space();
        self.text(&*function.name.name);
        let end = function.body.as_ref().map_or(function.span.range().end, |b| b.span.range().start);
        let list = expressions::List::round(self.closing_before(end));
        self.list(&list, &function.arguments, |a| Some(a.span), Self::argument);
        match &function.body {
            Some(body) => {
                self.space();
                self.braces(body.span.range().end, |p| p.statements(&body.statements));
            }
            None => self.text(";"),
        }
    }

    fn argument(&mut self, argument: &'a Argument) {
        let data = if argument.data_only { "data " } else { "" };
        self.text(format!("{data}{} {}", argument.ty, argument.name.name));
    }

    /// Where the closing bracket stands that is the last thing before `end`, but for a semicolon; 0 if it is not there.
    fn closing_before(&self, end: usize) -> usize {
        let before = self.source.text().get(..end).unwrap_or("");
        let before = before.trim_end_matches(|c: char| c == ';' || c.is_ascii_whitespace());
        if before.ends_with([')', ']']) { before.len() - 1 } else { 0 }
    }
}
