//! Regular expressions by backtracking: characters, classes, groups, alternatives, repetition, anchors.

use crate::error::{Failure, Run, fail};
use crate::value::Value;

enum Node {
    Char(char),
    Any,
    Class(Vec<(char, char)>, bool),
    Start,
    End,
    Boundary(bool),
    /// Alternatives of sequences, with the number of the group.
    Group(Vec<Vec<Node>>, Option<usize>),
    Repeat(Box<Node>, usize, usize, bool),
}

pub struct Regex {
    root: Node,
    groups: usize,
    ignore_case: bool,
}

/// A match, with the positions of its groups.
pub struct Found {
    pub start: usize,
    pub end: usize,
    captures: Vec<Option<(usize, usize)>>,
}

impl Found {
    /// The match and its groups as an array.
    pub fn groups(&self, text: &[char]) -> Value {
        let part = |from: usize, to: usize| Value::text(&text[from..to].iter().collect::<String>());
        let mut all = vec![part(self.start, self.end)];
        all.extend(self.captures.iter().map(|c| c.map_or(Value::Undefined, |(a, b)| part(a, b))));
        Value::array(all)
    }
}

const MAX_STEPS: u64 = 10_000_000;
const MAX_DEPTH: usize = 100;

struct Reader {
    chars: Vec<char>,
    at: usize,
    groups: usize,
    depth: usize,
}

impl Regex {
    pub fn new(pattern: &str, ignore_case: bool) -> Run<Self> {
        let mut reader = Reader { chars: pattern.chars().collect(), at: 0, groups: 0, depth: 0 };
        let alternatives = reader.alternatives()?;
        if reader.at < reader.chars.len() {
            return fail("the regular expression has an unmatched ')'");
        }
        Ok(Self { root: Node::Group(alternatives, None), groups: reader.groups, ignore_case })
    }

    /// The first match at or after a position.
    pub fn find(&self, text: &[char], from: usize) -> Run<Option<Found>> {
        for start in from..=text.len() {
            let mut run = Matcher { text, ignore_case: self.ignore_case, captures: vec![None; self.groups], steps: 0 };
            let mut end = None;
            let found = run.node(&self.root, start, &mut |_, at| {
                end = Some(at);
                true
            });
            if run.steps > MAX_STEPS {
                return Err(Failure::Program("the regular expression takes too long".into()).into());
            }
            if let (true, Some(end)) = (found, end) {
                return Ok(Some(Found { start, end, captures: run.captures }));
            }
        }
        Ok(None)
    }
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    fn alternatives(&mut self) -> Run<Vec<Vec<Node>>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return fail("the regular expression is nested too deeply");
        }
        let mut all = vec![Vec::new()];
        while let Some(c) = self.peek() {
            if c == ')' {
                break;
            }
            if self.eat('|') {
                all.push(Vec::new());
                continue;
            }
            let node = self.atom()?;
            let node = self.repetition(node)?;
            if let Some(last) = all.last_mut() {
                last.push(node);
            }
        }
        self.depth -= 1;
        Ok(all)
    }

    fn repetition(&mut self, node: Node) -> Run<Node> {
        let (low, high) = match self.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let rest: String = self.chars[self.at + 1..].iter().take_while(|c| **c != '}').collect();
                let (low, high) = match rest.split_once(',') {
                    Some((low, "")) => (low.parse(), Ok(usize::MAX)),
                    Some((low, high)) => (low.parse(), high.parse()),
                    None => (rest.parse(), rest.parse()),
                };
                let (Ok(low), Ok(high)) = (low, high) else { return Ok(node) };
                self.at += rest.chars().count() + 1;
                (low, high)
            }
            _ => return Ok(node),
        };
        self.at += 1;
        let greedy = !self.eat('?');
        Ok(Node::Repeat(Box::new(node), low, high, greedy))
    }

    fn atom(&mut self) -> Run<Node> {
        let Some(c) = self.peek() else { return fail("the regular expression ends too early") };
        self.at += 1;
        Ok(match c {
            '.' => Node::Any,
            '^' => Node::Start,
            '$' => Node::End,
            '[' => self.class()?,
            '(' => {
                let number = if self.eat('?') {
                    if !self.eat(':') {
                        return fail("lookahead and named groups are not supported in regular expressions");
                    }
                    None
                } else {
                    self.groups += 1;
                    Some(self.groups - 1)
                };
                let inner = self.alternatives()?;
                if !self.eat(')') {
                    return fail("the regular expression has an unmatched '('");
                }
                Node::Group(inner, number)
            }
            '*' | '+' | '?' => return fail("the regular expression has nothing to repeat"),
            '\\' => self.escape()?,
            c => Node::Char(c),
        })
    }

    fn escape(&mut self) -> Run<Node> {
        let Some(c) = self.peek() else { return fail("the regular expression ends with '\\'") };
        self.at += 1;
        Ok(match c {
            'b' => Node::Boundary(true),
            'B' => Node::Boundary(false),
            c => match shorthand(c) {
                Some((ranges, not)) => Node::Class(ranges, not),
                None => Node::Char(control(c)),
            },
        })
    }

    fn class(&mut self) -> Run<Node> {
        let not = self.eat('^');
        let mut ranges = Vec::new();
        loop {
            let Some(c) = self.peek() else { return fail("the regular expression has an unmatched '['") };
            self.at += 1;
            let low = match c {
                ']' => return Ok(Node::Class(ranges, not)),
                '\\' => {
                    let c = self.peek().unwrap_or('\\');
                    self.at += 1;
                    if let Some((inner, false)) = shorthand(c) {
                        ranges.extend(inner);
                        continue;
                    }
                    control(c)
                }
                c => c,
            };
            if self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']') {
                let high = self.chars[self.at + 1];
                self.at += 2;
                ranges.push((low, high));
            } else {
                ranges.push((low, low));
            }
        }
    }
}

fn control(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        c => c,
    }
}

fn shorthand(c: char) -> Option<(Vec<(char, char)>, bool)> {
    let ranges = match c.to_ascii_lowercase() {
        'd' => vec![('0', '9')],
        'w' => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        's' => vec![(' ', ' '), ('\t', '\r'), ('\u{a0}', '\u{a0}')],
        _ => return None,
    };
    Some((ranges, c.is_ascii_uppercase()))
}

struct Matcher<'a> {
    text: &'a [char],
    ignore_case: bool,
    captures: Vec<Option<(usize, usize)>>,
    steps: u64,
}

type Then<'t, 'a> = &'t mut dyn FnMut(&mut Matcher<'a>, usize) -> bool;

impl<'a> Matcher<'a> {
    fn same(&self, a: char, b: char) -> bool {
        a == b || (self.ignore_case && a.to_lowercase().eq(b.to_lowercase()))
    }

    fn word(&self, at: Option<usize>) -> bool {
        at.and_then(|i| self.text.get(i)).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_')
    }

    fn node(&mut self, node: &Node, at: usize, then: Then<'_, 'a>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        match node {
            Node::Char(c) => self.text.get(at).is_some_and(|t| self.same(*t, *c)) && then(self, at + 1),
            Node::Any => self.text.get(at).is_some_and(|t| *t != '\n') && then(self, at + 1),
            Node::Class(ranges, not) => {
                let Some(t) = self.text.get(at).copied() else { return false };
                let inside = ranges.iter().any(|(a, b)| (*a..=*b).contains(&t) || (a == b && self.same(t, *a)));
                inside != *not && then(self, at + 1)
            }
            Node::Start => at == 0 && then(self, at),
            Node::End => at == self.text.len() && then(self, at),
            Node::Boundary(wanted) => {
                (self.word(at.checked_sub(1)) != self.word(Some(at))) == *wanted && then(self, at)
            }
            Node::Group(alternatives, number) => alternatives.iter().any(|sequence| {
                let before = number.map(|n| self.captures[n]);
                let found = self.sequence(sequence, at, &mut |m, end| {
                    let old = number.map(|n| m.captures[n].replace((at, end)));
                    let found = then(m, end);
                    if let (false, Some(n), Some(old)) = (found, *number, old) {
                        m.captures[n] = old;
                    }
                    found
                });
                if let (false, Some(n), Some(before)) = (found, *number, before) {
                    self.captures[n] = before;
                }
                found
            }),
            Node::Repeat(inner, low, high, greedy) => self.repeat(inner, *low, *high, *greedy, at, then),
        }
    }

    fn sequence(&mut self, nodes: &[Node], at: usize, then: Then<'_, 'a>) -> bool {
        match nodes {
            [] => then(self, at),
            [first, rest @ ..] => self.node(first, at, &mut |m, next| m.sequence(rest, next, then)),
        }
    }

    fn repeat(&mut self, node: &Node, low: usize, high: usize, greedy: bool, at: usize, then: Then<'_, 'a>) -> bool {
        if low == 0 && !greedy && then(self, at) {
            return true;
        }
        let more = high > 0
            && self.node(node, at, &mut |m, next| {
                // an empty match would repeat for ever
                (next > at || low > 0)
                    && m.repeat(
                        node,
                        low.saturating_sub(1),
                        high.saturating_sub(usize::from(high != usize::MAX)),
                        greedy,
                        next,
                        then,
                    )
            });
        more || (low == 0 && greedy && then(self, at))
    }
}
