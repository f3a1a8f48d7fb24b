//! Where comments go.
//!
//! Comments wait in the order of the text, and whoever prints something takes those that stand before it. So each is
//! printed once, and the order never changes. How a comment is printed depends on nothing but what stands on its own
//! line in the source; since that comes out as it went in, printing a second time changes nothing.

use super::Printer;
use super::layout::{Item, Note};
use crate::lexer::{Comment, CommentKind};
use crate::source::Source;
use crate::span::Span;
use std::borrow::Cow;

pub(super) struct Comments<'a> {
    all: &'a [Comment],
    next: usize,
    source: &'a Source,
}

/// What [`Printer::flush`] did.
#[derive(Clone, Copy, Default)]
pub(super) struct Flushed {
    /// The line at hand has ended.
    pub broken: bool,
    /// The last comment stands on the line of what follows, before it.
    pub leads: bool,
}

impl<'a> Comments<'a> {
    pub fn new(all: &'a [Comment], source: &'a Source) -> Self {
        Self { all, next: 0, source }
    }

    /// The comments that wait and start before `position`.
    fn waiting(&self, position: usize) -> &'a [Comment] {
        let rest = self.all.get(self.next..).unwrap_or_default();
        let count = rest.iter().take_while(|c| c.span.range().start < position).count();
        &rest[..count]
    }

    fn take(&mut self, position: usize) -> &'a [Comment] {
        let taken = self.waiting(position);
        self.next += taken.len();
        taken
    }

    /// Drops the comments that are printed as part of a raw piece of the source.
    pub fn skip(&mut self, position: usize) {
        self.take(position);
    }

    fn text(&self) -> &'a str {
        self.source.text()
    }

    fn before(&self, comment: &Comment) -> &'a str {
        self.text().get(..comment.span.range().start).unwrap_or("")
    }

    /// The column in which the comment starts.
    fn column(&self, comment: &Comment) -> usize {
        self.before(comment).chars().rev().take_while(|&c| c != '\n').count()
    }

    fn first_on_line(&self, comment: &Comment) -> bool {
        let mut before = self.before(comment).bytes().rev();
        before.find(|b| *b == b'\n' || !b.is_ascii_whitespace()).is_none_or(|b| b == b'\n')
    }

    fn last_on_line(&self, comment: &Comment) -> bool {
        let after = self.text().get(comment.span.range().end..).unwrap_or("");
        after.bytes().take_while(|&b| b != b'\n').all(|b| b.is_ascii_whitespace())
    }

    fn in_one_line(&self, comment: &Comment) -> bool {
        comment.kind == CommentKind::Block && !self.source.slice(comment.span).contains('\n')
    }

    /// Inside an expression, such a comment is printed like a word.
    fn is_word(&self, comment: &Comment) -> bool {
        self.in_one_line(comment) && !(self.first_on_line(comment) && self.last_on_line(comment))
    }

    /// Whether an empty line stands before `position` in its own file, or, at the start of an included file, before the
    /// directive: the expanded text has breaks that nobody wrote.
    pub fn blank_before(&self, position: usize) -> bool {
        let (mut position, mut breaks) = (position, 0);
        loop {
            let (file, range) = self.source.in_file(Span::new(position, position));
            let mut before = self.source.files().get(file).and_then(|f| f.text.get(..range.start)).unwrap_or("");
            if self.text().as_bytes().get(position) == Some(&b' ') {
                // A blank in place of the directive.
                before = before.rfind('#').map_or("", |n| &before[..n]);
            }
            let words = before.trim_ascii_end();
            breaks += before[words.len()..].matches('\n').count();
            if breaks > 1 || !words.is_empty() || position <= range.start {
                return breaks > 1;
            }
            // One before the start of the file, where the directive stood.
            position -= range.start + 1;
        }
    }

    /// The first place from `position` on that is neither blank nor comment.
    pub fn skip_blank(&self, position: usize) -> usize {
        let mut at = position;
        let mut next = self.all.partition_point(|c| c.span.range().start < position);
        loop {
            let rest = self.text().get(at..).unwrap_or("");
            at += rest.len() - rest.trim_ascii_start().len();
            match self.all.get(next) {
                Some(comment) if comment.span.range().start == at => at = comment.span.range().end,
                _ => return at,
            }
            next += 1;
        }
    }

    /// Where the mark behind `position` stands; 0 if something else stands there.
    fn find(&self, mark: Mark, position: usize) -> usize {
        let (Mark::Behind(mark) | Mark::Before(mark)) = mark;
        let starts = |at: usize, with: &str| self.text().get(at..).is_some_and(|t| t.starts_with(with));
        let mut at = self.skip_blank(position);
        if mark == "," && starts(at, ":") {
            // The place of the index `a:` is that of `a`.
            at = self.skip_blank(at + 1);
        }
        if starts(at, mark.trim_start()) { at } else { 0 }
    }

    /// The comment as a word of its own, on one line.
    fn word(&self, comment: &Comment) -> Item<'a> {
        Item::Text(Cow::Borrowed(self.source.slice(comment.span)))
    }

    /// The comment with its lines as it stands in the source, `#` turned into `//`.
    fn note(&self, comment: &Comment) -> Note<'a> {
        let text = self.source.slice(comment.span);
        let lines = match comment.kind {
            CommentKind::Line => vec![Cow::Borrowed(text.trim_end())],
            CommentKind::Hash => vec![Cow::Owned(modern(text))],
            CommentKind::Block if self.in_one_line(comment) => vec![Cow::Borrowed(text)],
            CommentKind::Block => {
                let column = self.column(comment);
                let mut lines = text.split('\n').map(str::trim_end);
                let first = lines.next().unwrap_or("");
                std::iter::once(first).chain(lines.map(|l| outdent(l, column))).map(Cow::Borrowed).collect()
            }
        };
        Note {
            lines,
            own_line: self.first_on_line(comment),
            ends_line: !self.in_one_line(comment),
            to_line_end: comment.kind != CommentKind::Block,
        }
    }
}

/// `# text` as `// text`.
fn modern(text: &str) -> String {
    let words = text.trim_start_matches('#').trim_end();
    let blank = if words.is_empty() || words.starts_with(char::is_whitespace) { "" } else { " " };
    format!("//{blank}{words}")
}

/// The line without up to `column` blanks at its start.
fn outdent(line: &str, column: usize) -> &str {
    let blanks = line.chars().take(column).take_while(char::is_ascii_whitespace).count();
    &line[blanks..]
}

/// Comments among statements, functions and blocks.
impl Printer<'_> {
    /// Prints the comments before `position`, those that stand first on their line on lines of their own, the others
    /// behind what was printed last.
    pub(super) fn flush(&mut self, position: usize) -> Flushed {
        let mut flushed = Flushed::default();
        let comments = self.comments.take(position);
        let mut shut = false;
        for comment in comments {
            let mut note = self.comments.note(comment);
            flushed.broken |= note.own_line || note.ends_line;
            flushed.leads |= note.own_line;
            note.own_line |= shut;
            shut = note.to_line_end;
            if note.own_line {
                self.next_line(comment.span.range().start);
            }
            self.items.push(Item::Comment(note));
        }
        let beside = |c: &Comment| {
            let between = self.comments.text().get(c.span.range().end..position);
            self.comments.in_one_line(c) && between.is_some_and(|t| !t.contains('\n'))
        };
        flushed.leads &= comments.last().is_some_and(beside);
        flushed
    }
}

/// Comments in expressions.
impl Printer<'_> {
    /// Comments between a bracket and the first thing in it.
    pub(super) fn comments_inside(&mut self, position: usize) {
        let comments = self.comments.take(position);
        let ending = self.ending(comments);
        self.comments_in_row(&comments[..ending]);
        self.words(&comments[ending..]);
    }

    /// Comments before a closing bracket.
    pub(super) fn comments_before_close(&mut self, position: usize) {
        let comments = self.comments.take(position);
        self.comments_in_row(comments);
    }

    /// Prints the mark between two things, with the break that goes with it and the comments between them. Where the
    /// things stand may be unknown; then their comments wait.
    pub(super) fn separator(&mut self, mark: Mark, before: Option<Span>, after: Option<Span>) {
        let comments = self.comments.take(after.map_or(0, |s| s.range().start));
        let ending = self.ending(comments);
        let mark_at = before.filter(|_| !comments.is_empty()).map_or(0, |s| self.comments.find(mark, s.range().end));
        let early = comments.iter().take_while(|c| c.span.range().start < mark_at).count();
        match mark {
            Mark::Behind(text) => {
                // Words stay before the comma; other comments cannot, and nothing overtakes them.
                let words = comments[..early].iter().take_while(|c| self.comments.is_word(c)).count();
                self.comments_in_row(&comments[..words]);
                self.items.push(Item::Text(Cow::Borrowed(text)));
                let ending = ending.max(words);
                self.comments_in_row(&comments[words..ending]);
                self.items.push(Item::Line);
                self.words(&comments[ending..]);
            }
            Mark::Before(text) => {
                let ending = ending.max(early);
                self.comments_in_row(&comments[..ending]);
                self.items.push(Item::Line);
                self.items.push(Item::Text(Cow::Borrowed(text)));
                self.items.push(Item::Space);
                self.words(&comments[ending..]);
            }
        }
    }

    /// The break behind `=` and the like, with the comments up to the value.
    pub(super) fn late_line(&mut self, value: Span) {
        let comments = self.comments.take(value.range().start);
        let ending = self.ending(comments);
        self.comments_in_row(&comments[..ending]);
        self.items.push(Item::LateLine);
        self.words(&comments[ending..]);
    }

    /// How many of the comments there are up to the last that is not a word.
    fn ending(&self, comments: &[Comment]) -> usize {
        comments.iter().rposition(|c| !self.comments.is_word(c)).map_or(0, |i| i + 1)
    }

    /// Comments behind what was printed last: as words, if all of them can be; otherwise the line ends with them.
    fn comments_in_row(&mut self, comments: &[Comment]) {
        let all_words = self.ending(comments) == 0;
        for comment in comments {
            self.items.push(Item::Space);
            let is_word = self.comments.is_word(comment);
            self.items.push(if all_words {
                self.comments.word(comment)
            } else {
                let note = self.comments.note(comment);
                // A comment that could share its line, but does not in the source, keeps it for itself.
                let to_line_end = note.to_line_end || (!is_word && !note.ends_line);
                Item::Comment(Note { own_line: note.own_line && !is_word, ends_line: true, to_line_end, ..note })
            });
        }
    }

    /// Comments before what is printed next, on its line.
    fn words(&mut self, comments: &[Comment]) {
        for comment in comments {
            self.items.push(self.comments.word(comment));
            self.items.push(Item::Space);
        }
    }
}

/// A mark between two things, and on which side of the break it stands.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    /// `,`
    Behind(&'static str),
    /// `+`
    Before(&'static str),
}
