//! A JSON parser for data: keeps positions, packs arrays of numbers, accepts what Stan's own reader accepts
//! (`NaN`, `Inf`, `Infinity` with or without a minus sign) and no more.

/// A JSON value with the offset at which it starts.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub at: usize,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Number(Number),
    /// An array of numbers only; also the empty array.
    Numbers(NumberList),
    Array(Vec<Node>),
    Object(Vec<Member>),
    Text(String),
    Bool(bool),
    Null,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub key: String,
    /// Where the key stands.
    pub at: usize,
    pub value: Node,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub value: f64,
    /// Written as an integer, within 32 bits: what an `int` takes.
    pub is_int: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct NumberList {
    pub values: Vec<f64>,
    /// The first that is not [`Number::is_int`].
    pub first_real: Option<usize>,
    /// How many are not.
    pub reals: usize,
}

impl NumberList {
    fn push(&mut self, number: Number) {
        if !number.is_int {
            self.first_real.get_or_insert(self.values.len());
            self.reals += 1;
        }
        self.values.push(number.value);
    }
}

/// Why the text is not JSON, and where.
#[derive(Clone, Debug)]
pub(super) struct JsonError {
    pub at: usize,
    pub message: String,
    pub help: Option<&'static str>,
}

/// Deeper nesting is refused: no Stan type comes near, and it keeps the stack bounded.
const MAX_DEPTH: usize = 128;

pub(super) fn parse(text: &str) -> Result<Node, JsonError> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, depth: 0 };
    // Some programs of the Windows world start a file with a byte-order mark.
    if text.starts_with('\u{feff}') {
        parser.at = '\u{feff}'.len_utf8();
    }
    parser.blank();
    if parser.at == text.len() {
        return Err(JsonError { at: 0, message: "the file is empty".into(), help: Some("a file without data is {}") });
    }
    let node = parser.value()?;
    parser.blank();
    if parser.at < text.len() {
        return Err(parser.error("the end of the file"));
    }
    Ok(node)
}

/// Where element `index` of the array that starts at `array` stands.
pub(super) fn element_at(text: &str, array: usize, index: usize) -> usize {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: array + 1, depth: 0 };
    for _ in 0..index {
        parser.blank();
        if parser.value().is_err() {
            return array;
        }
        parser.blank();
        parser.at += 1;
    }
    parser.blank();
    parser.at.min(text.len())
}

/// The value at an offset as it is written, shortened if it is long.
pub(super) fn spelling(text: &str, at: usize) -> String {
    let rest = text.get(at..).unwrap_or("");
    let end = rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
    let mut word: String = rest[..end].chars().take(40).collect();
    if word.len() < end {
        word.push('…');
    }
    word
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// "expected …, found …" with a remedy for the usual mistakes.
    #[cold]
    fn error(&self, expected: &str) -> JsonError {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the end of the file".to_owned(),
            Some(c) if c.is_control() => format!("`{}`", c.escape_default()),
            Some(c) => format!("`{c}`"),
        };
        let help = match self.peek() {
            Some(b'\'') => Some("JSON strings stand in double quotes"),
            Some(b'/' | b'#') => Some("JSON has no comments"),
            Some(b'+' | b'.') => Some("JSON numbers start with a digit or a minus sign"),
            Some(b']' | b'}') if self.text[..self.at].trim_end().ends_with(',') => {
                Some("remove the comma before the closing bracket")
            }
            _ => None,
        };
        JsonError { at: self.at, message: format!("expected {expected}, found {found}"), help }
    }

    fn value(&mut self) -> Result<Node, JsonError> {
        let at = self.at;
        let kind = match self.peek() {
            Some(b'[') => self.nested(Self::array)?,
            Some(b'{') => self.nested(Self::object)?,
            Some(b'"') => Kind::Text(self.string()?),
            Some(b't') => self.word("true", Kind::Bool(true))?,
            Some(b'f') => self.word("false", Kind::Bool(false))?,
            Some(b'n') => self.word("null", Kind::Null)?,
            _ => Kind::Number(self.number()?),
        };
        Ok(Node { at, kind })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Kind, JsonError>) -> Result<Kind, JsonError> {
        if self.depth == MAX_DEPTH {
            let message = format!("brackets are nested more than {MAX_DEPTH} deep");
            return Err(JsonError { at: self.at, message, help: None });
        }
        self.depth += 1;
        let kind = read(self);
        self.depth -= 1;
        kind
    }

    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, JsonError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(kind)
        } else {
            Err(self.error("a value"))
        }
    }

    fn array(&mut self) -> Result<Kind, JsonError> {
        let start = self.at;
        self.at += 1;
        let mut numbers = NumberList::default();
        let mut nodes: Vec<Node> = Vec::new();
        self.blank();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Numbers(numbers));
        }
        loop {
            self.blank();
            match self.peek() {
                // The usual case: numbers are packed as long as there is nothing else.
                Some(b'-' | b'0'..=b'9' | b'N' | b'I') if nodes.is_empty() => numbers.push(self.number()?),
                _ => {
                    let node = self.value()?;
                    match special(&node) {
                        Some(number) if nodes.is_empty() => numbers.push(number),
                        _ => nodes.push(node),
                    }
                    if nodes.len() == 1 && !numbers.values.is_empty() {
                        let packed = self.unpacked(start, numbers.values.len())?;
                        nodes.splice(0..0, packed);
                    }
                }
            }
            self.blank();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.error("`,` or `]`")),
            }
        }
        self.at += 1;
        Ok(if nodes.is_empty() { Kind::Numbers(numbers) } else { Kind::Array(nodes) })
    }

    /// The first elements of an array of numbers once more, as nodes: the array turned out to hold something else, too.
    fn unpacked(&self, array: usize, count: usize) -> Result<Vec<Node>, JsonError> {
        let mut again = Self { at: array + 1, ..*self };
        let mut nodes = Vec::with_capacity(count);
        for _ in 0..count {
            again.blank();
            nodes.push(again.value()?);
            again.blank();
            again.at += 1;
        }
        Ok(nodes)
    }

    fn object(&mut self) -> Result<Kind, JsonError> {
        self.at += 1;
        let mut members = Vec::new();
        self.blank();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Object(members));
        }
        loop {
            self.blank();
            let at = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.error("the name of a variable in double quotes"));
            }
            let key = self.string()?;
            self.blank();
            if self.peek() != Some(b':') {
                return Err(self.error("`:`"));
            }
            self.at += 1;
            self.blank();
            let value = self.value()?;
            members.push(Member { key, at, value });
            self.blank();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.error("`,` or `}`")),
            }
        }
        self.at += 1;
        Ok(Kind::Object(members))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Number, JsonError> {
        let start = self.at;
        let minus = self.peek() == Some(b'-');
        if minus {
            self.at += 1;
        }
        for (word, value) in [("Infinity", f64::INFINITY), ("Inf", f64::INFINITY), ("NaN", f64::NAN)] {
            if self.bytes[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(Number { value: if minus { -value } else { value }, is_int: false });
            }
        }
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 {
            return Err(self.error("a value"));
        }
        if leading_zero && whole > 1 {
            let help = Some("a JSON number does not start with 0");
            return Err(JsonError { at: start, message: "a number starts with 0".into(), help });
        }
        let mut is_int = true;
        if self.peek() == Some(b'.') {
            is_int = false;
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.error("a digit after the decimal point"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_int = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.error("a digit of the exponent"));
            }
        }
        let text = &self.text[start..self.at];
        if is_int && let Ok(n) = text.parse::<i32>() {
            return Ok(Number { value: f64::from(n), is_int: true });
        }
        let value: f64 = text.parse().unwrap_or(f64::INFINITY);
        if value.is_finite() {
            Ok(Number { value, is_int: false })
        } else {
            let help = Some("write \"Inf\" or \"-Inf\" if that is meant");
            Err(JsonError { at: start, message: "this number is too large for a double".into(), help })
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            out.push_str(&self.text[from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                _ => {
                    let message = "this string does not end on its line".into();
                    return Err(JsonError { at: start, message, help: Some("close it with a double quote") });
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let c = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.code_point();
            }
            _ => return Err(self.error("an escape such as \\n")),
        };
        self.at += 1;
        Ok(c)
    }

    fn code_point(&mut self) -> Result<char, JsonError> {
        let high = self.hex4()?;
        if (0xd800..0xdc00).contains(&high) && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return char::from_u32(code).ok_or_else(|| self.error("a character"));
            }
        }
        char::from_u32(high).ok_or_else(|| self.error("the second half of a character"))
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let code = self.text.get(self.at..self.at + 4).filter(|s| s.bytes().all(|b| b.is_ascii_hexdigit()));
        match code.and_then(|s| u32::from_str_radix(s, 16).ok()) {
            Some(code) => {
                self.at += 4;
                Ok(code)
            }
            None => Err(self.error("four hexadecimal digits")),
        }
    }
}

/// The number that a node is, if it is one: also the strings that Stan reads as numbers, in any case and with either
/// sign. (Stan's own reader takes `"NaN"`, `"Inf"`, `"Infinity"` and the negative ones only, but files with `"-inf"`
/// are about, and there is nothing else that they could mean.)
pub(super) fn special(node: &Node) -> Option<Number> {
    let value = match &node.kind {
        Kind::Number(number) => return Some(*number),
        Kind::Text(text) => {
            let (word, sign) = match text.strip_prefix('-') {
                Some(word) => (word, -1.0),
                None => (text.strip_prefix('+').unwrap_or(text), 1.0),
            };
            match word.to_ascii_lowercase().as_str() {
                "nan" => f64::NAN,
                "inf" | "infinity" => sign * f64::INFINITY,
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(Number { value, is_int: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        match parse(text) {
            Ok(node) => panic!("{text} was read as {node:?}"),
            Err(e) => format!("{}: {}", e.at, e.message),
        }
    }

    fn numbers(text: &str) -> (Vec<f64>, Option<usize>) {
        match parse(text).expect("valid").kind {
            Kind::Numbers(list) => (list.values, list.first_real),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_as_in_stan() {
        assert_eq!(
            numbers("[1, -2147483648, 2147483647, -0]"),
            (vec![1.0, -2_147_483_648.0, 2_147_483_647.0, 0.0], None)
        );
        assert_eq!(numbers("[1,2.0]").1, Some(1));
        assert_eq!(numbers("[2147483648]"), (vec![2_147_483_648.0], Some(0)));
        assert_eq!(numbers("[99999999999999999999, 1e2, 1E+2,1e-2]").0, [1e20, 100.0, 100.0, 0.01]);
        let (values, _) = numbers("[Inf, -Inf, Infinity, -Infinity, \"Inf\", \"-Infinity\", NaN, -NaN, \"NaN\"]");
        let inf = f64::INFINITY;
        assert_eq!(values[..6], [inf, -inf, inf, -inf, inf, -inf]);
        assert!(values[6..].iter().all(|x| x.is_nan()));
    }

    #[test]
    fn what_stan_refuses() {
        for text in [
            "+1",
            "01",
            ".5",
            "1.",
            "1e",
            "-",
            "1e400",
            "nan",
            "[1,]",
            "[1 2]",
            "{\"a\":1,}",
            "{a:1}",
            "'a'",
            "\"a",
            "[",
            "{",
            "{}x",
            "",
            " ",
            "tru",
            "\"\\x\"",
            "\"\\ud800\"",
            "// x",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(error("{\"a\": [1, 2"), "11: expected `,` or `]`, found the end of the file");
        assert_eq!(error("{\"a\": 1} 2"), "9: expected the end of the file, found `2`");
    }

    #[test]
    fn strings_and_positions() {
        let text = "{\"\\u00e9\\ud83d\\ude00\\n\" : [1, [2, 3], \"x\"]}";
        let Kind::Object(members) = parse(text).expect("valid").kind else { panic!("an object") };
        assert_eq!(members[0].key, "é😀\n");
        let Kind::Array(nodes) = &members[0].value.kind else { panic!("an array") };
        assert_eq!(nodes.len(), 3);
        let array = members[0].value.at;
        for (i, start) in [(0, "1"), (1, "[2"), (2, "\"x")] {
            assert!(text[element_at(text, array, i)..].starts_with(start));
        }
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let text = "[".repeat(100_000);
        assert!(error(&text).contains("nested"));
        let fine = format!("{}{}", "[".repeat(128), "]".repeat(128));
        assert!(parse(&fine).is_ok());
    }
}
