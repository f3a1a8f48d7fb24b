//! A recursive-descent parser that recovers: it always returns a tree, together with everything it found wrong.

mod blocks;
mod declarations;
mod expressions;
mod messages;
mod statements;

use crate::ast::{Ident, Program};
use crate::diagnostics::Diagnostic;
use crate::lexer::{Comment, lex};
use crate::source::Source;
use crate::span::Span;
use crate::token::{Keyword, Token, TokenKind};

/// The tree, the comments, and the problems in the order of the text. Where there is an error, the tree is incomplete.
pub struct Parsed {
    pub program: Program,
    pub comments: Vec<Comment>,
    pub problems: Vec<Diagnostic>,
    /// What could not be read: it may have declared things.
    pub skipped: Vec<Span>,
}

pub fn parse(source: &Source) -> Parsed {
    run(source, Parser::program)
}

/// Reads a file of functions without a block around them (`.stanfunctions`).
pub fn parse_functions(source: &Source) -> Parsed {
    run(source, Parser::functions_file)
}

fn run<'a>(source: &'a Source, start: fn(&mut Parser<'a>) -> Program) -> Parsed {
    let lexed = lex(source.text());
    let broken = lexed.problems.iter().filter(|p| p.is_error()).map(|p| p.span).collect();
    let mut parser = Parser {
        text: source.text(),
        tokens: lexed.tokens,
        at: 0,
        depth: 0,
        problems: lexed.problems,
        broken,
        gave_up: false,
        skipped: Vec::new(),
    };
    let program = start(&mut parser);
    Parsed { program, comments: lexed.comments, problems: parser.problems, skipped: parser.skipped }
}

/// Says that a problem has been reported and the construct was given up.
struct Reported;

type Parse<T> = Result<T, Reported>;

/// Nesting of expressions, statements and types beyond this is an error: it keeps the stack bounded for every pass.
pub const MAX_DEPTH: usize = 200;
/// `a + b + c …` is read without recursion, so it may be much longer.
pub const MAX_CHAIN: usize = 4000;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    problems: Vec<Diagnostic>,
    /// Where the lexer found mistakes: what the parser stumbles over on the same line follows from them.
    broken: Vec<Span>,
    /// The rest of the program has been left unread, so nothing more can be said of it.
    gave_up: bool,
    skipped: Vec<Span>,
}

impl Parser<'_> {
    fn peek(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    fn peek_second(&self) -> TokenKind {
        self.tokens.get(self.at + 1).map_or(TokenKind::End, |t| t.kind)
    }

    /// The span of the token at hand.
    fn here(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span of the token just taken.
    fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at];
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn is(&self, kind: TokenKind) -> bool {
        self.peek() == kind
    }

    fn is_keyword(&self, keyword: Keyword) -> bool {
        self.is(TokenKind::Keyword(keyword))
    }

    fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.is(kind);
        if found {
            self.advance();
        }
        found
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        self.take(TokenKind::Keyword(keyword))
    }

    /// Takes a token that must be there; `place` completes "expected … ".
    fn expect(&mut self, kind: TokenKind, place: &str) -> Parse<Span> {
        if self.is(kind) { Ok(self.advance().span) } else { Err(self.expected(kind.describe(), place)) }
    }

    /// The token at hand stands first on its line.
    fn at_line_start(&self) -> bool {
        let gap = Span { start: self.previous().end, end: self.here().start };
        self.at == 0 || self.slice(gap).contains('\n')
    }

    fn report(&mut self, problem: Diagnostic) -> Reported {
        if !problem.is_error() || !(self.gave_up || self.follows_from_lexer(problem.span)) {
            self.problems.push(problem);
        }
        Reported
    }

    fn follows_from_lexer(&self, span: Span) -> bool {
        self.broken.iter().any(|broken| {
            let between = Span { start: broken.start.min(span.start), end: broken.start.max(span.start) };
            !self.slice(between).contains('\n')
        })
    }

    /// Whether `<-`, the retired assignment, is at hand (as a comparison with a negative number it is valid).
    fn at_arrow(&self) -> bool {
        self.is(TokenKind::Less)
            && self.peek_second() == TokenKind::Minus
            && self.tokens[self.at + 1].span.start == self.here().end
    }

    /// Runs `parse` one level deeper; too deep is the end of the program as far as the parser goes.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep(&format!("more than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self, limit: &str) -> Reported {
        let problem = Diagnostic::error("too-deep", "the program is nested too deeply here", self.here())
            .note(format!("crust reads {limit}"))
            .help("name intermediate results");
        self.at = self.tokens.len() - 1;
        self.report(problem);
        self.gave_up = true;
        Reported
    }

    /// A new or used name; a reserved word in its place is explained.
    fn identifier(&mut self, place: &str) -> Parse<Ident> {
        if self.is(TokenKind::Ident) {
            let span = self.advance().span;
            return Ok(Ident { name: self.slice(span).to_owned(), span });
        }
        Err(match self.peek() {
            TokenKind::Keyword(keyword) => {
                let problem = messages::reserved_word(keyword.word(), self.here());
                self.advance();
                self.report(problem)
            }
            _ => self.expected("a name", place),
        })
    }

    /// Skips to where the next statement may start: behind a `;`, before the `}` that ends the block at hand, or before
    /// a word that starts a statement on a line of its own. The statement that failed began at token `first`:
    /// parentheses and braces (of array literals) that it has opened are closed first.
    fn synchronise(&mut self, first: usize) {
        let start = self.at;
        let open = |open, close| {
            let tokens = &self.tokens[first..start];
            let count = |kind| tokens.iter().filter(|t| t.kind == kind).count();
            count(open).saturating_sub(count(close))
        };
        let mut parens = open(TokenKind::OpenParen, TokenKind::CloseParen);
        let mut braces = open(TokenKind::OpenBrace, TokenKind::CloseBrace);
        loop {
            match self.peek() {
                TokenKind::End => return,
                TokenKind::CloseBrace if braces == 0 => return,
                TokenKind::CloseBrace => {
                    braces -= 1;
                    self.advance();
                }
                TokenKind::CloseParen => {
                    parens = parens.saturating_sub(1);
                    self.advance();
                }
                TokenKind::Semicolon => {
                    self.advance();
                    // The `;`s in the head of a loop as in C end nothing.
                    if parens == 0 || self.at_line_start() {
                        return;
                    }
                }
                TokenKind::OpenBrace => {
                    self.skip_braces();
                    return;
                }
                TokenKind::Keyword(k) if self.at > start && self.at_line_start() && starts_statement(k) => return,
                TokenKind::Keyword(_) if self.at > start && self.at_block_start() => return,
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// Skips from an opening brace behind its partner.
    fn skip_braces(&mut self) {
        let mut depth = 0;
        loop {
            match self.peek() {
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace => depth -= 1,
                TokenKind::End => return,
                TokenKind::Keyword(_) if depth > 0 && self.at_line_start() && self.at_block_start() => return,
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }
}

fn starts_statement(keyword: Keyword) -> bool {
    use Keyword as K;
    matches!(
        keyword,
        K::Return
            | K::If
            | K::While
            | K::For
            | K::Break
            | K::Continue
            | K::Profile
            | K::Print
            | K::Reject
            | K::FatalError
            | K::Target
            | K::Jacobian
    ) || declarations::starts_type(keyword)
}
