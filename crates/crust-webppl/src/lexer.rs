//! From text to tokens, in JavaScript's lexical grammar as far as WebPPL programs need it.

use std::rc::Rc;

use crate::error::Mistake;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Number(f64),
    Text(Rc<str>),
    /// A name or keyword.
    Word(Rc<str>),
    Regex {
        pattern: Rc<str>,
        flags: Rc<str>,
    },
    Punctuation(&'static str),
    End,
}

/// A token, where it starts, and whether a line break came before it.
#[derive(Clone, Debug)]
pub struct Spanned {
    pub token: Token,
    pub at: u32,
    pub after_newline: bool,
}

/// Longest first, so that the first match is the right one.
const PUNCTUATION: &[&str] = &[
    ">>>=", "...", "===", "!==", ">>>", "<<=", ">>=", "**=", "=>", "==", "!=", "<=", ">=", "&&", "||", "++", "--",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">",
    "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "?", ":", "=", ".",
];

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Spanned>,
    newline: bool,
}

/// All tokens of a text, ending with [`Token::End`].
pub fn tokens(text: &str) -> Result<Vec<Spanned>, Mistake> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), newline: false };
    if text.starts_with("#!") {
        lexer.skip_line();
    }
    loop {
        lexer.skip_space()?;
        let at = lexer.at;
        let token = lexer.token()?;
        let end = token == Token::End;
        let after_newline = std::mem::take(&mut lexer.newline);
        lexer.tokens.push(Spanned { token, at: offset(at), after_newline });
        if end {
            return Ok(lexer.tokens);
        }
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn mistake(&self, message: &str) -> Mistake {
        Mistake::new(offset(self.at), message)
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn skip_space(&mut self) -> Result<(), Mistake> {
        while let Some(c) = self.peek() {
            if c == '\n' {
                self.newline = true;
                self.at += 1;
            } else if c.is_whitespace() || c == '\u{feff}' {
                self.at += c.len_utf8();
            } else if self.rest().starts_with("//") {
                self.skip_line();
            } else if self.rest().starts_with("/*") {
                let Some(length) = self.rest().find("*/") else {
                    return Err(self.mistake("this comment has no end"));
                };
                self.newline |= self.rest()[..length].contains('\n');
                self.at += length + 2;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn token(&mut self) -> Result<Token, Mistake> {
        let Some(c) = self.peek() else { return Ok(Token::End) };
        if c.is_ascii_digit() || (c == '.' && self.rest()[1..].starts_with(|d: char| d.is_ascii_digit())) {
            return self.number();
        }
        if c.is_alphabetic() || c == '_' || c == '$' {
            let length = self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
            let length = length.unwrap_or(self.rest().len());
            let word = Rc::from(&self.rest()[..length]);
            self.at += length;
            return Ok(Token::Word(word));
        }
        match c {
            '"' | '\'' => self.string(c),
            '`' => Err(self.mistake("template strings are not part of WebPPL").remedy("join strings with +")),
            '/' if self.regex_may_start() => self.regex(),
            _ => match PUNCTUATION.iter().find(|p| self.rest().starts_with(**p)) {
                Some(p) => {
                    self.at += p.len();
                    Ok(Token::Punctuation(p))
                }
                None => Err(self.mistake(&format!("the character '{c}' has no meaning here"))),
            },
        }
    }

    /// A slash divides after a value and starts a regular expression elsewhere.
    fn regex_may_start(&self) -> bool {
        match self.tokens.last().map(|t| &t.token) {
            None => true,
            Some(Token::Punctuation(p)) => !matches!(*p, ")" | "]" | "}"),
            Some(Token::Word(w)) => &**w == "return",
            Some(_) => false,
        }
    }

    fn number(&mut self) -> Result<Token, Mistake> {
        let start = self.at;
        let rest = self.rest();
        let radix = match rest.get(..2) {
            Some("0x" | "0X") => Some(16),
            Some("0b" | "0B") => Some(2),
            Some("0o" | "0O") => Some(8),
            _ => None,
        };
        let value = if let Some(radix) = radix {
            let digits = &rest[2..];
            let length = digits.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(digits.len());
            let value = digits[..length]
                .chars()
                .try_fold(0.0, |acc: f64, c| c.to_digit(radix).map(|d| acc * f64::from(radix) + f64::from(d)));
            self.at += 2 + length;
            value.filter(|_| length > 0)
        } else {
            let bytes = rest.as_bytes();
            let digits = |mut i: usize| {
                while bytes.get(i).is_some_and(u8::is_ascii_digit) {
                    i += 1;
                }
                i
            };
            let mut end = digits(0);
            if bytes.get(end) == Some(&b'.') {
                end = digits(end + 1);
            }
            if matches!(bytes.get(end), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
                let exponent = digits(end + 1 + sign);
                if exponent > end + 1 + sign {
                    end = exponent;
                }
            }
            let value = rest[..end].parse().ok();
            self.at += end;
            value
        };
        if self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            self.at = start;
            return Err(self.mistake("this is not a number"));
        }
        match value {
            Some(value) => Ok(Token::Number(value)),
            None => {
                self.at = start;
                Err(self.mistake("this is not a number"))
            }
        }
    }

    fn string(&mut self, quote: char) -> Result<Token, Mistake> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.peek() else {
                self.at = start;
                return Err(self.mistake("this string has no end"));
            };
            self.at += c.len_utf8();
            match c {
                '\n' => {
                    self.at = start;
                    return Err(self.mistake("this string has no end on its line"));
                }
                '\\' => self.escape(&mut out)?,
                _ if c == quote => return Ok(Token::Text(Rc::from(out))),
                _ => out.push(c),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Mistake> {
        let Some(c) = self.peek() else { return Err(self.mistake("this string has no end")) };
        self.at += c.len_utf8();
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '0' => out.push('\0'),
            '\n' => {}
            'x' | 'u' => {
                let digits = if c == 'x' { 2 } else { 4 };
                let code = self.rest().get(..digits).and_then(|t| u32::from_str_radix(t, 16).ok());
                let Some(code) = code else { return Err(self.mistake("this escape needs hexadecimal digits")) };
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                self.at += digits;
            }
            _ => out.push(c),
        }
        Ok(())
    }

    fn regex(&mut self) -> Result<Token, Mistake> {
        let start = self.at;
        self.at += 1;
        let mut class = false;
        loop {
            let Some(c) = self.peek().filter(|c| *c != '\n') else {
                self.at = start;
                return Err(self.mistake("this regular expression has no end"));
            };
            self.at += c.len_utf8();
            match c {
                '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                '[' => class = true,
                ']' => class = false,
                '/' if !class => break,
                _ => {}
            }
        }
        let pattern = Rc::from(&self.text[start + 1..self.at - 1]);
        let length = self.rest().find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest().len());
        let flags = Rc::from(&self.rest()[..length]);
        self.at += length;
        Ok(Token::Regex { pattern, flags })
    }
}
