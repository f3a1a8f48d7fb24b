//! Cuts the program text into words, and keeps the comments apart.

use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::token::{Keyword, Token, TokenKind};

/// A comment of any kind; `span` covers its marks, but not the line's end.
#[derive(Clone, Copy, Debug)]
pub struct Comment {
    pub span: Span,
    pub kind: CommentKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentKind {
    /// `// …`
    Line,
    /// `/* … */`
    Block,
    /// `# …`, retired.
    Hash,
}

/// What the lexer found. The tokens always end with [`TokenKind::End`].
pub struct Lexed {
    pub tokens: Vec<Token>,
    pub comments: Vec<Comment>,
    pub problems: Vec<Diagnostic>,
}

pub fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        tokens: Vec::with_capacity(text.len() / 4),
        comments: Vec::new(),
        problems: Vec::new(),
    };
    while lexer.at < lexer.bytes.len() {
        lexer.next();
    }
    let end = Span::new(text.trim_end().len(), text.trim_end().len());
    lexer.tokens.push(Token { kind: TokenKind::End, span: end });
    Lexed { tokens: lexer.tokens, comments: lexer.comments, problems: lexer.problems }
}

pub(crate) fn open_comment(span: Span) -> Diagnostic {
    Diagnostic::error("open-comment", "the comment is never closed", span)
        .label("starts here")
        .help("close it with `*/`; comments do not nest")
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
    problems: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn next(&mut self) {
        let rest = &self.bytes[self.at..];
        match rest {
            [b' ' | b'\t' | b'\n' | b'\r' | 0x0c, ..] => self.at += 1,
            [b'/', b'/', ..] => self.line_comment(CommentKind::Line),
            [b'#', ..] => self.line_comment(CommentKind::Hash),
            [b'/', b'*', ..] => self.block_comment(),
            [b'"', ..] => self.string(),
            [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => self.number(),
            [b'a'..=b'z' | b'A'..=b'Z', ..] => self.word(),
            _ => match symbol(rest) {
                Some((kind, length)) => self.push(kind, length),
                None => self.bad_character(),
            },
        }
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        self.tokens.push(Token { kind, span: Span::new(self.at, self.at + length) });
        self.at += length;
    }

    fn line_comment(&mut self, kind: CommentKind) {
        let line = self.text[self.at..].split(['\n', '\r']).next().unwrap_or("");
        let length = line.len();
        let span = Span::new(self.at, self.at + length);
        if kind == CommentKind::Hash {
            let text = line.trim_start_matches('#').trim();
            self.problems.push(
                Diagnostic::warning("retired-comment", "comments with `#` are retired", span)
                    .help(format!("write `// {text}`")),
            );
        }
        self.comments.push(Comment { span, kind });
        self.at += length;
    }

    fn block_comment(&mut self) {
        let length = if let Some(n) = self.text[self.at + 2..].find("*/") {
            n + 4
        } else {
            self.problems.push(open_comment(Span::new(self.at, self.at + 2)));
            self.text.len() - self.at
        };
        self.comments.push(Comment { span: Span::new(self.at, self.at + length), kind: CommentKind::Block });
        self.at += length;
    }

    fn string(&mut self) {
        let inner = &self.text[self.at + 1..];
        match inner.find(['"', '\n']) {
            Some(n) if inner.as_bytes()[n] == b'"' => {
                let span = Span::new(self.at, self.at + n + 2);
                self.tokens.push(Token { kind: TokenKind::Text, span });
                self.at += n + 2;
            }
            other => {
                let length = other.unwrap_or(inner.len()) + 1;
                self.problems.push(
                    Diagnostic::error("open-text", "the text is never closed", Span::new(self.at, self.at + 1))
                        .label("starts here")
                        .help("close it with `\"` on the same line"),
                );
                self.push(TokenKind::Text, length);
            }
        }
    }

    fn number(&mut self) {
        let digits = |from: usize| {
            // Groups of digits may be set apart with single underscores.
            let mut i = from;
            while i < self.bytes.len()
                && (self.bytes[i].is_ascii_digit()
                    || (self.bytes[i] == b'_' && i > from && self.bytes.get(i + 1).is_some_and(u8::is_ascii_digit)))
            {
                i += 1;
            }
            i
        };
        let starts_with_dot = self.bytes[self.at] == b'.';
        let mut end = if starts_with_dot { digits(self.at + 1) } else { digits(self.at) };
        let mut kind = if starts_with_dot { TokenKind::DotNumber } else { TokenKind::Int };
        // `1.` is a number, also before an operator: `2.*x` is `2. * x`.
        if !starts_with_dot && self.bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
            kind = TokenKind::Real;
        }
        if let Some(b'e' | b'E') = self.bytes.get(end) {
            let sign = usize::from(matches!(self.bytes.get(end + 1), Some(b'+' | b'-')));
            let after = digits(end + 1 + sign);
            if after > end + 1 + sign {
                end = after;
                kind = TokenKind::Real;
            }
        }
        if self.bytes.get(end) == Some(&b'i') && !self.bytes.get(end + 1).is_some_and(|&b| is_word(b)) {
            end += 1;
            kind = TokenKind::Imaginary;
        }
        let start = self.at;
        self.push(kind, end - start);
        let mut tail = self.bytes[end..].iter().take_while(|&&b| is_word(b)).count();
        if tail > 0 {
            // A fraction behind it belongs to the same mistake.
            if self.bytes.get(end + tail) == Some(&b'.') {
                tail += 1 + self.bytes[end + tail + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
            }
            let span = Span::new(start, end + tail);
            self.problems.push(
                Diagnostic::error("bad-number", format!("`{}` is not a number", &self.text[span.range()]), span)
                    .help("names start with a letter; a factor is written with `*`, an imaginary number as `2i`"),
            );
            self.at += tail;
        }
    }

    fn word(&mut self) {
        let length = self.bytes[self.at..].iter().take_while(|&&b| is_word(b)).count();
        let word = &self.text[self.at..self.at + length];
        self.push(Keyword::from_word(word).map_or(TokenKind::Ident, TokenKind::Keyword), length);
    }

    fn bad_character(&mut self) {
        // One message for a run of strange characters, such as a word in another script.
        let rest = &self.text[self.at..];
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let strange = rest[first..].find(|c: char| c.is_ascii() || c.is_whitespace()).unwrap_or(rest.len() - first);
        let length = first + strange;
        let word = &rest[..length + word_length(&rest[length..])];
        let span = Span::new(self.at, self.at + word.len());
        let error = Diagnostic::error("bad-character", format!("`{}` cannot stand here", word.escape_debug()), span);
        self.problems.push(if word.starts_with('_') {
            error.note("names start with a letter")
        } else if word.chars().any(char::is_alphabetic) {
            error.note("names are made of the letters a to z, A to Z, digits and `_`")
        } else {
            error.note("other characters may be used in comments and in texts only")
        });
        // Where a name was meant, let the parser see one: it then has nothing more to complain of.
        let kind = word.chars().any(char::is_alphanumeric).then_some(TokenKind::Ident);
        match kind {
            Some(kind) => self.push(kind, word.len()),
            None => self.at += word.len(),
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn word_length(text: &str) -> usize {
    text.bytes().take_while(|&b| is_word(b)).count()
}

/// The operator or punctuation that the text starts with: the longest one that fits.
fn symbol(rest: &[u8]) -> Option<(TokenKind, usize)> {
    use TokenKind as K;
    Some(match rest {
        [b'%', b'/', b'%', ..] => (K::IntDivide, 3),
        [b'.', b'*', b'=', ..] => (K::EltTimesAssign, 3),
        [b'.', b'/', b'=', ..] => (K::EltDivideAssign, 3),
        [b'.', b'*', ..] => (K::EltTimes, 2),
        [b'.', b'/', ..] => (K::EltDivide, 2),
        [b'.', b'^', ..] => (K::EltPower, 2),
        [b'<', b'=', ..] => (K::LessEqual, 2),
        [b'>', b'=', ..] => (K::GreaterEqual, 2),
        [b'=', b'=', ..] => (K::Equal, 2),
        [b'!', b'=', ..] => (K::NotEqual, 2),
        [b'|', b'|', ..] => (K::Or, 2),
        [b'&', b'&', ..] => (K::And, 2),
        [b'+', b'=', ..] => (K::PlusAssign, 2),
        [b'-', b'=', ..] => (K::MinusAssign, 2),
        [b'*', b'=', ..] => (K::TimesAssign, 2),
        [b'/', b'=', ..] => (K::DivideAssign, 2),
        [first, ..] => (single_symbol(*first)?, 1),
        [] => return None,
    })
}

fn single_symbol(byte: u8) -> Option<TokenKind> {
    use TokenKind as K;
    Some(match byte {
        b'{' => K::OpenBrace,
        b'}' => K::CloseBrace,
        b'(' => K::OpenParen,
        b')' => K::CloseParen,
        b'[' => K::OpenBracket,
        b']' => K::CloseBracket,
        b',' => K::Comma,
        b';' => K::Semicolon,
        b':' => K::Colon,
        b'?' => K::Question,
        b'|' => K::Bar,
        b'~' => K::Tilde,
        b'=' => K::Assign,
        b'<' => K::Less,
        b'>' => K::Greater,
        b'+' => K::Plus,
        b'-' => K::Minus,
        b'*' => K::Star,
        b'/' => K::Slash,
        b'%' => K::Percent,
        b'\\' => K::Backslash,
        b'^' => K::Caret,
        b'!' => K::Not,
        b'\'' => K::Quote,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        lex(text).tokens.iter().map(|t| t.kind).collect()
    }

    #[test]
    fn numbers_of_every_form() {
        use TokenKind as K;
        assert_eq!(
            kinds("1 1_000 1. .5 1e3 1.5E-2 3i .5e2i"),
            [K::Int, K::Int, K::Real, K::DotNumber, K::Real, K::Real, K::Imaginary, K::Imaginary, K::End,]
        );
        assert_eq!(kinds("2.*x"), [K::Real, K::Star, K::Ident, K::End]);
        assert_eq!(kinds("t.1.2"), [K::Ident, K::DotNumber, K::DotNumber, K::End]);
        assert_eq!(lex("1x").problems[0].code, "bad-number");
    }

    #[test]
    fn the_longest_operator_wins() {
        use TokenKind as K;
        assert_eq!(
            kinds("%/% % ./= ./ .^ <- <="),
            [
                K::IntDivide,
                K::Percent,
                K::EltDivideAssign,
                K::EltDivide,
                K::EltPower,
                K::Less,
                K::Minus,
                K::LessEqual,
                K::End,
            ]
        );
    }

    #[test]
    fn comments_are_kept_apart() {
        let lexed = lex("a // b\n/* c\n*/ d # e");
        assert_eq!(
            lexed.comments.iter().map(|c| c.kind).collect::<Vec<_>>(),
            [CommentKind::Line, CommentKind::Block, CommentKind::Hash]
        );
        assert_eq!(lexed.tokens.len(), 3);
    }

    #[test]
    fn mistakes_have_their_own_codes_and_one_message_each() {
        for (text, code) in
            [("\"abc", "open-text"), ("/* abc", "open-comment"), ("a @ b", "bad-character"), ("größe", "bad-character")]
        {
            let codes: Vec<_> = lex(text).problems.iter().map(|p| p.code).collect();
            assert_eq!(codes, [code], "{text}");
        }
    }
}
