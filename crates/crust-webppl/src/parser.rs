//! From tokens to a tree: statements. What WebPPL leaves out of JavaScript is refused with the remedy.

mod expressions;

use crate::ast::{Function, Name, Statement};
use crate::error::Mistake;
use crate::lexer::{Spanned, Token, tokens};
use std::rc::Rc;

type Parse<T> = Result<T, Mistake>;

/// Programs nested deeper than this are refused, so that no pass over a tree can run out of stack.
const MAX_DEPTH: usize = 200;

pub(crate) struct Parser {
    tokens: Vec<Spanned>,
    at: usize,
    depth: usize,
}

/// The statements of a program.
pub fn parse(text: &str) -> Parse<Vec<Statement>> {
    if text.len() > u32::MAX as usize {
        return Err(Mistake::new(0, "the program is longer than 4 GB"));
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let mut body = Vec::new();
    while *parser.token() != Token::End {
        body.push(parser.statement()?);
    }
    Ok(body)
}

const LOOPS: &str = "WebPPL has no loops: use recursion, or map, repeat, reduce and filter";

fn refused(word: &str) -> Option<(&'static str, &'static str)> {
    Some(match word {
        "for" | "while" | "do" => ("loops are not part of WebPPL", LOOPS),
        "let" | "const" => ("'let' and 'const' are not part of WebPPL", "declare with 'var'"),
        "function" => ("function declarations are not part of WebPPL", "write 'var name = function(…) {…}'"),
        "class" | "new" => ("classes and 'new' are not part of WebPPL", "build plain objects with {…}"),
        "this" => ("'this' is not part of WebPPL", "pass the value as an argument"),
        "try" | "throw" => ("exceptions are not part of WebPPL", "call error(message) to stop the program"),
        "switch" => ("'switch' is not part of WebPPL", "use 'if' and 'else', or look the value up in an object"),
        "import" | "export" | "require" => (
            "packages are not supported",
            "paste the functions that the program needs into it; data are read with json.read and csv.read",
        ),
        "break" | "continue" => ("there are no loops to leave", LOOPS),
        "delete" => ("'delete' is not part of WebPPL", "build a new object, for example with _.omit"),
        "async" | "await" | "yield" => ("asynchronous functions are not part of WebPPL", "call the function directly"),
        _ => return None,
    })
}

impl Parser {
    fn token(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn next_token(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].token
    }

    fn here(&self) -> u32 {
        self.tokens[self.at].at
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is(&self, punctuation: &str) -> bool {
        matches!(self.token(), Token::Punctuation(p) if *p == punctuation)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(w) if &**w == word)
    }

    fn eat(&mut self, punctuation: &str) -> bool {
        let found = self.is(punctuation);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, punctuation: &str) -> Parse<()> {
        if self.eat(punctuation) {
            Ok(())
        } else {
            Err(self.mistake(&format!("expected '{punctuation}' but found {}", self.found())))
        }
    }

    fn found(&self) -> String {
        match self.token() {
            Token::Number(x) => format!("the number {x}"),
            Token::Text(_) => "a string".into(),
            Token::Word(w) => format!("'{w}'"),
            Token::Regex { .. } => "a regular expression".into(),
            Token::Punctuation(p) => format!("'{p}'"),
            Token::End => "the end of the program".into(),
        }
    }

    fn mistake(&self, message: &str) -> Mistake {
        Mistake::new(self.here(), message)
    }

    /// Runs a part of the parser one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.mistake("the program is nested too deeply").remedy("give parts of it names with 'var'"));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// A semicolon, or what JavaScript takes for one.
    fn end_statement(&mut self) -> Parse<()> {
        if self.eat(";") || self.is("}") || *self.token() == Token::End || self.tokens[self.at].after_newline {
            return Ok(());
        }
        Err(self.mistake(&format!("expected ';' but found {}", self.found())))
    }

    pub(crate) fn statement(&mut self) -> Parse<Statement> {
        self.nested(Self::statement_inner)
    }

    fn statement_inner(&mut self) -> Parse<Statement> {
        if self.eat(";") {
            return Ok(Statement::Empty);
        }
        if self.is("{") {
            return Ok(Statement::Block(self.block()?));
        }
        if let Token::Word(word) = self.token() {
            match &*word.clone() {
                "var" => return self.declaration(),
                "return" => return self.return_statement(),
                "if" => return self.if_statement(),
                word => {
                    let label = matches!(self.next_token(), Token::Punctuation(":"));
                    if let Some((message, remedy)) = refused(word).filter(|_| !label) {
                        return Err(self.mistake(message).remedy(remedy));
                    }
                }
            }
        }
        let expr = self.expression()?;
        self.end_statement()?;
        Ok(Statement::Expr(expr))
    }

    fn block(&mut self) -> Parse<Vec<Statement>> {
        let open = self.here();
        self.expect("{")?;
        let mut body = Vec::new();
        while !self.eat("}") {
            if *self.token() == Token::End {
                return Err(Mistake::new(open, "this '{' has no matching '}'"));
            }
            body.push(self.statement()?);
        }
        Ok(body)
    }

    fn name(&mut self) -> Parse<Name> {
        match self.token() {
            Token::Word(word) if !is_keyword(word) => {
                let word = word.clone();
                self.advance();
                Ok(word)
            }
            Token::Punctuation("{" | "[") => Err(self
                .mistake("destructuring is not part of WebPPL")
                .remedy("name the whole value and take its parts with '.' or '[…]'")),
            _ => Err(self.mistake(&format!("expected a name but found {}", self.found()))),
        }
    }

    fn declaration(&mut self) -> Parse<Statement> {
        self.advance();
        let mut group = Vec::new();
        loop {
            let at = self.here();
            let name = self.name()?;
            if &*name == "globalStore" {
                return Err(Mistake::new(at, "'globalStore' cannot be declared").remedy("choose another name"));
            }
            if !self.eat("=") {
                return Err(Mistake::new(at, format!("'{name}' needs a value: variables cannot be assigned later"))
                    .remedy(format!("write 'var {name} = …'")));
            }
            let value = self.assignment_named(Some(&name))?;
            group.push(Statement::Var(name, value));
            if !self.eat(",") {
                break;
            }
        }
        self.end_statement()?;
        Ok(match <[Statement; 1]>::try_from(group) {
            Ok([single]) => single,
            Err(group) => Statement::Group(group),
        })
    }

    fn return_statement(&mut self) -> Parse<Statement> {
        self.advance();
        let bare = self.is(";") || self.is("}") || *self.token() == Token::End || self.tokens[self.at].after_newline;
        let value = if bare { None } else { Some(self.expression()?) };
        self.end_statement()?;
        Ok(Statement::Return(value))
    }

    fn if_statement(&mut self) -> Parse<Statement> {
        self.advance();
        self.expect("(")?;
        let test = self.expression()?;
        self.expect(")")?;
        let then = Box::new(self.statement()?);
        let mut otherwise = None;
        if self.is_word("else") {
            self.advance();
            otherwise = Some(Box::new(self.statement()?));
        }
        Ok(Statement::If(test, then, otherwise))
    }

    /// Parameters and body, after the word `function` and the name.
    fn function(&mut self, name: Option<Name>, at: u32) -> Parse<Rc<Function>> {
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.eat(")") {
            if self.is("...") {
                return Err(self.mistake("rest parameters are not part of WebPPL").remedy("use 'arguments'"));
            }
            params.push(self.name()?);
            if self.is("=") {
                return Err(self
                    .mistake("default values of parameters are not part of WebPPL")
                    .remedy("test for undefined in the body"));
            }
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        let body = self.nested(Self::block)?;
        Ok(Rc::new(Function { name, params, body, at }))
    }
}

/// Words that cannot be names.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "var"
            | "return"
            | "if"
            | "else"
            | "function"
            | "true"
            | "false"
            | "null"
            | "typeof"
            | "void"
            | "in"
            | "instanceof"
            | "for"
            | "while"
            | "do"
            | "new"
            | "this"
            | "delete"
            | "switch"
            | "case"
            | "default"
            | "try"
            | "catch"
            | "throw"
            | "finally"
            | "break"
            | "continue"
            | "class"
            | "const"
            | "with"
            | "debugger"
            | "import"
            | "export"
    )
}
