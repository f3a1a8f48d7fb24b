//! The program's blocks and the functions block.

use super::{Parse, Parser, messages};
use crate::ast::{Argument, Block, BlockKind, Declaration, Function, FunctionsBlock, Ident, Program, Stmt, StmtKind};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::token::{Keyword, TokenKind};
use crate::types::Type;

/// `None` is the functions block.
type AnyBlock = Option<BlockKind>;

fn block_name(kind: AnyBlock) -> &'static str {
    kind.map_or("functions", BlockKind::name)
}

impl Parser<'_> {
    pub(super) fn program(&mut self) -> Program {
        let mut program = Program::default();
        let mut last: Option<AnyBlock> = None;
        while !self.is(TokenKind::End) {
            let start = self.here();
            let Some(kind) = self.block_head() else {
                self.unknown_block();
                continue;
            };
            let head = start.to(self.previous());
            if let Some(before) = last.filter(|&l| kind < l) {
                self.report(messages::block_order(block_name(kind), block_name(before), head));
            }
            last = last.max(Some(kind));
            self.block_body(&mut program, kind, head);
        }
        program
    }

    pub(super) fn functions_file(&mut self) -> Program {
        let start = self.here();
        let mut functions = Vec::new();
        while !self.is(TokenKind::End) {
            functions.append(&mut self.functions());
            if self.is(TokenKind::CloseBrace) {
                let problem = Diagnostic::error("extra-brace", "this brace closes nothing", self.here());
                self.report(problem);
                self.advance();
            } else if !self.is(TokenKind::End) {
                let problem = Diagnostic::error("block-in-functions", "a file of functions has no blocks", self.here())
                    .help("a program with blocks is kept in a file that ends in `.stan`");
                self.report(problem);
                self.at = self.tokens.len() - 1;
            }
        }
        let span = start.to(self.previous());
        Program { functions: Some(FunctionsBlock { functions, span }), ..Program::default() }
    }

    /// Takes the words of a block's head, if a block starts here.
    fn block_head(&mut self) -> Option<AnyBlock> {
        let (kind, words) = self.block_at()?;
        for _ in 0..words {
            self.advance();
        }
        Some(kind)
    }

    fn block_at(&self) -> Option<(AnyBlock, usize)> {
        use Keyword as K;
        let TokenKind::Keyword(first) = self.peek() else { return None };
        let second = match self.peek_second() {
            TokenKind::Keyword(second) => Some(second),
            _ => None,
        };
        Some(match (first, second) {
            (K::Functions, _) => (None, 1),
            (K::Data, _) => (Some(BlockKind::Data), 1),
            (K::Parameters, _) => (Some(BlockKind::Parameters), 1),
            (K::Model, _) => (Some(BlockKind::Model), 1),
            (K::Transformed, Some(K::Data)) => (Some(BlockKind::TransformedData), 2),
            (K::Transformed, Some(K::Parameters)) => (Some(BlockKind::TransformedParameters), 2),
            (K::Generated, Some(K::Quantities)) => (Some(BlockKind::GeneratedQuantities), 2),
            _ => return None,
        })
    }

    /// A block's head with its brace: a sign that the block before was not closed.
    pub(super) fn at_block_start(&self) -> bool {
        self.block_at()
            .is_some_and(|(_, words)| self.tokens.get(self.at + words).is_some_and(|t| t.kind == TokenKind::OpenBrace))
    }

    fn unknown_block(&mut self) {
        let (found, span) = self.found();
        let problem = if self.is(TokenKind::CloseBrace) {
            Diagnostic::error("extra-brace", "this brace closes nothing", span)
        } else {
            let problem = Diagnostic::error("unknown-block", format!("expected a block, found {found}"), span);
            let names = std::iter::once("functions").chain(BlockKind::ALL.iter().map(|b| b.name()));
            match crate::suggest::closest(self.slice(span), names) {
                Some(name) => problem.help(format!("did you mean `{name}`?")),
                None => problem.note(
                    "a program is made of the blocks functions, data, transformed data, parameters, transformed parameters, \
                     model and generated quantities",
                ),
            }
        };
        self.report(problem);
        self.advance();
        while !self.is(TokenKind::End) && self.block_at().is_none() && !self.is(TokenKind::CloseBrace) {
            if self.is(TokenKind::OpenBrace) {
                self.skip_braces();
            } else {
                self.advance();
            }
        }
        self.skipped.push(span.to(self.previous()));
    }

    fn block_body(&mut self, program: &mut Program, kind: AnyBlock, head: Span) {
        let place = format!("after `{}`", block_name(kind));
        let open = self.here();
        if !self.take(TokenKind::OpenBrace) {
            self.expected("`{`", &place);
            // As if it stood here: what follows is probably the block, unless the brace comes later on the line.
            let mut ahead = self.at;
            while !matches!(self.tokens[ahead].kind, TokenKind::OpenBrace | TokenKind::End) {
                ahead += 1;
            }
            let gap = Span { start: self.here().start, end: self.tokens[ahead].span.start };
            if self.tokens[ahead].kind == TokenKind::OpenBrace && !self.slice(gap).contains('\n') {
                self.at = ahead + 1;
            }
        }
        if let Some(kind) = kind {
            let statements = self.statements();
            self.close_block(open, block_name(Some(kind)));
            let mut block = Block { statements, span: head.to(self.previous()) };
            self.restrict(kind, &mut block.statements);
            match program.block_mut(kind) {
                Some(first) => {
                    let problem = messages::duplicate_block(kind.name(), head, first.span);
                    first.statements.append(&mut block.statements);
                    self.report(problem);
                }
                slot @ None => *slot = Some(block),
            }
        } else {
            let mut functions = self.functions();
            self.close_block(open, "functions");
            let span = head.to(self.previous());
            match &mut program.functions {
                Some(first) => {
                    let problem = messages::duplicate_block("functions", head, first.span);
                    first.functions.append(&mut functions);
                    self.report(problem);
                }
                slot @ None => *slot = Some(FunctionsBlock { functions, span }),
            }
        }
    }

    fn close_block(&mut self, open: Span, name: &str) {
        let in_comment = self.problems.iter().any(|p| p.code == "open-comment");
        if !self.take(TokenKind::CloseBrace) && !in_comment {
            let problem = Diagnostic::error("open-brace", format!("the block `{name}` is never closed"), open)
                .label("opened here")
                .help("a `}` is missing, here or in one of its statements");
            self.report(problem);
        }
    }

    /// The blocks `data` and `parameters` hold declarations without values.
    fn restrict(&mut self, kind: BlockKind, statements: &mut Vec<Stmt>) {
        if !matches!(kind, BlockKind::Data | BlockKind::Parameters) {
            return;
        }
        let mut problems = Vec::new();
        statements.retain_mut(|statement| match &mut statement.kind {
            StmtKind::Declare(Declaration { declarators, .. }) => {
                for value in declarators.iter_mut().filter_map(|d| d.initial.take()) {
                    problems.push(messages::no_initial_value(kind.name(), value.span));
                }
                true
            }
            StmtKind::Skip => true,
            StmtKind::Error => false,
            _ => {
                problems.push(messages::only_declarations(kind.name(), statement.span));
                false
            }
        });
        self.problems.append(&mut problems);
    }

    fn functions(&mut self) -> Vec<Function> {
        let mut functions = Vec::new();
        while !matches!(self.peek(), TokenKind::CloseBrace | TokenKind::End) {
            if self.at_line_start() && self.at_block_start() {
                break;
            }
            let before = self.at;
            let start = self.here();
            if let Ok(function) = self.function() {
                functions.push(function);
            } else {
                self.skip_function(before);
                self.skipped.push(start.to(self.previous()));
            }
        }
        functions
    }

    /// Goes behind the body of a function that could not be read.
    fn skip_function(&mut self, start: usize) {
        while !matches!(self.peek(), TokenKind::End | TokenKind::CloseBrace) {
            if self.is(TokenKind::OpenBrace) {
                self.skip_braces();
                return;
            }
            if self.at > start && self.at_line_start() && self.at_block_start() {
                return;
            }
            let ends = self.is(TokenKind::Semicolon);
            self.advance();
            if ends {
                return;
            }
        }
    }

    fn function(&mut self) -> Parse<Function> {
        let start = self.here();
        let returns = self.return_type()?;
        let name = self.identifier("of the function")?;
        self.expect(TokenKind::OpenParen, &format!("after `{}`", name.name))?;
        let arguments = self.arguments()?;
        let body = if self.take(TokenKind::Semicolon) {
            None
        } else {
            let open = self.here();
            if !self.is(TokenKind::OpenBrace) {
                return Err(self.expected("`{` or `;`", "after the head of the function"));
            }
            Some(Block { statements: self.braces()?, span: open.to(self.previous()) })
        };
        Ok(Function { returns, name, arguments, body, span: start.to(self.previous()) })
    }

    fn return_type(&mut self) -> Parse<Option<Type>> {
        if self.take_keyword(Keyword::Void) {
            return Ok(None);
        }
        if !self.at_type() {
            return Err(self.expected("a function, starting with its return type", ""));
        }
        self.unsized_type().map(Some)
    }

    fn arguments(&mut self) -> Parse<Vec<Argument>> {
        let mut arguments = Vec::new();
        if self.take(TokenKind::CloseParen) {
            return Ok(arguments);
        }
        loop {
            let start = self.here();
            let data_only = self.take_keyword(Keyword::Data);
            if self.is_keyword(Keyword::Void) {
                let problem = Diagnostic::error("void-argument", "an argument cannot be `void`", self.here())
                    .help("a function without arguments is written `f()`");
                return Err(self.report(problem));
            }
            let ty = self.unsized_type()?;
            let name: Ident = self.identifier("of the argument")?;
            arguments.push(Argument { data_only, ty, name, span: start.to(self.previous()) });
            if self.take(TokenKind::CloseParen) {
                return Ok(arguments);
            }
            self.expect(TokenKind::Comma, "or `)` after the argument")?;
        }
    }
}
