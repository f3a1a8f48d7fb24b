//! Program text from one or several files: resolves `#include` and remembers where every byte came from.
//!
//! The rest of the front end sees one *expanded* text and plain [`Span`]s into it, so an include may stand wherever the
//! language allows white space.

mod include;

use crate::diagnostics::Diagnostic;
use crate::span::Span;
use std::path::{Path, PathBuf};

pub use include::{IncludeFiles, IncludeProblem, Loader, NoIncludes};

/// The expanded program text with its provenance.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
    files: Vec<SourceFile>,
    /// In the order of the expanded text; the first starts at 0.
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name shown to people.
    pub name: String,
    pub text: String,
    /// Offsets at which lines start.
    line_starts: Vec<usize>,
}

/// A run of the expanded text that was copied from one file.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    expanded: usize,
    file: usize,
    offset: usize,
}

/// A place as people name it: lines and columns count from one, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub file: usize,
    pub line: usize,
    pub column: usize,
}

/// Deeper chains of includes are taken for a mistake.
const MAX_INCLUDE_DEPTH: usize = 50;
/// Spans are 32 bits wide; no program comes near this.
const MAX_EXPANDED_BYTES: usize = 64 << 20;

impl Source {
    /// A program that is one text without includes.
    pub fn from_text(name: &str, text: &str) -> (Self, Vec<Diagnostic>) {
        Self::expand(name, None, text, &NoIncludes)
    }

    /// Resolves the includes of `text`; `path` is where the text came from, so that includes can be relative to it.
    /// Problems with includes are reported, and the text goes on without the include.
    pub fn expand(name: &str, path: Option<&Path>, text: &str, loader: &dyn Loader) -> (Self, Vec<Diagnostic>) {
        let mut expander = Expander {
            source: Self { text: String::with_capacity(text.len()), files: Vec::new(), chunks: Vec::new() },
            problems: Vec::new(),
            stack: Vec::new(),
            loader,
        };
        expander.file(name, path.map(Path::to_path_buf), text);
        (expander.source, expander.problems)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text below a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The file that a span starts in and the bytes there; a span that runs over the end of an include stops there.
    pub fn in_file(&self, span: Span) -> (usize, std::ops::Range<usize>) {
        let range = span.range();
        let index = self.chunks.partition_point(|c| c.expanded <= range.start).saturating_sub(1);
        let Some(chunk) = self.chunks.get(index) else { return (0, 0..0) };
        let next = self.chunks.get(index + 1).map_or(self.text.len(), |c| c.expanded);
        let end = range.end.min(next).max(range.start);
        // Whatever the span, what is cut out of the file are whole characters.
        let text = &self.files[chunk.file].text;
        let start = text.floor_char_boundary(chunk.offset + range.start - chunk.expanded);
        let end = text.ceil_char_boundary(start.max(chunk.offset + end - chunk.expanded));
        (chunk.file, start..end)
    }

    /// Where a span starts.
    pub fn location(&self, span: Span) -> Location {
        let (file, range) = self.in_file(span);
        let (line, column) = self.files.get(file).map_or((1, 1), |f| f.line_column(range.start));
        Location { file, line, column }
    }

    /// Where a span ends: the place of its last character's right edge.
    pub fn end_location(&self, span: Span) -> Location {
        let (file, range) = self.in_file(span);
        let (line, column) = self.files.get(file).map_or((1, 1), |f| f.line_column(range.end));
        Location { file, line, column }
    }
}

impl SourceFile {
    fn new(name: String, text: String) -> Self {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Self { name, text, line_starts }
    }

    /// The whole lines that a range touches, and the number of the first.
    pub fn lines_around(&self, range: std::ops::Range<usize>) -> (std::ops::Range<usize>, usize) {
        let (first, _) = self.line_column(range.start);
        let (last, _) = self.line_column(range.end);
        let end = self.line_starts.get(last).map_or(self.text.len(), |next| next - 1);
        (self.line_starts[first - 1]..end, first)
    }

    fn line_column(&self, offset: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= offset).max(1);
        let start = self.line_starts[line - 1];
        let column = self.text.get(start..offset).map_or(0, |s| s.chars().count());
        (line, column + 1)
    }
}

struct Expander<'a> {
    source: Source,
    problems: Vec<Diagnostic>,
    /// The files being read now, outermost first: an include of one of them is a cycle.
    stack: Vec<PathBuf>,
    loader: &'a dyn Loader,
}

impl Expander<'_> {
    fn file(&mut self, name: &str, path: Option<PathBuf>, text: &str) {
        let file = self.source.files.len();
        self.source.files.push(SourceFile::new(name.to_owned(), text.to_owned()));
        let here = path.clone();
        if let Some(path) = path {
            self.stack.push(path);
        }
        let mut copied = 0;
        let (directives, open_comment) = include::directives(text);
        for directive in directives {
            self.copy(file, text, copied, directive.range.start);
            copied = directive.range.end;
            self.include(file, here.as_deref(), &directive);
        }
        self.copy(file, text, copied, text.len());
        if let Some(open) = open_comment.filter(|_| file > 0) {
            // The main file's open comment is the lexer's to report; one in an include must not swallow what follows
            // it.
            let at = self.source.text.len() - (text.len() - open);
            self.problems.push(crate::lexer::open_comment(Span::new(at, at + 2)));
            self.source.text.push_str("*/");
        }
        if here.is_some() {
            self.stack.pop();
        }
    }

    fn copy(&mut self, file: usize, text: &str, from: usize, to: usize) {
        // Also an empty piece is recorded: there must be a place for a message that points at the end of the file.
        self.source.chunks.push(Chunk { expanded: self.source.text.len(), file, offset: from });
        self.source.text.push_str(&text[from..to]);
    }

    fn include(&mut self, file: usize, from: Option<&Path>, directive: &include::Directive) {
        // The directive stays in the expanded text as a blank of its own, so that messages have a place to point at
        // and words before and after do not run together.
        let start = self.source.text.len();
        self.source.chunks.push(Chunk { expanded: start, file, offset: directive.range.start });
        self.source.text.extend(std::iter::repeat_n(' ', directive.range.len()));
        let span = Span::new(start, self.source.text.len());
        let loaded = if directive.name.is_empty() {
            Err(IncludeProblem::NoName)
        } else if self.stack.len() >= MAX_INCLUDE_DEPTH {
            Err(IncludeProblem::TooDeep(MAX_INCLUDE_DEPTH))
        } else {
            self.loader.load(from, &directive.name)
        };
        match loaded {
            Ok((path, _)) if self.stack.contains(&path) => {
                let mut chain: Vec<_> = self.stack.iter().skip_while(|p| **p != path).cloned().collect();
                chain.push(path);
                self.problems.push(IncludeProblem::Cycle(chain).diagnostic(&directive.name, span));
            }
            Ok((_, text)) if self.source.text.len() + text.len() > MAX_EXPANDED_BYTES => {
                self.problems.push(IncludeProblem::TooLarge.diagnostic(&directive.name, span));
            }
            Ok((path, text)) => {
                let name = path.display().to_string();
                self.file(&name, Some(path), &text);
            }
            Err(problem) => self.problems.push(problem.diagnostic(&directive.name, span)),
        }
        self.source.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Memory(BTreeMap<&'static str, &'static str>);

    impl Loader for Memory {
        fn load(&self, _: Option<&Path>, name: &str) -> Result<(PathBuf, String), IncludeProblem> {
            match self.0.get(name) {
                Some(text) => Ok((PathBuf::from(name), (*text).to_owned())),
                None => Err(IncludeProblem::NotFound(Vec::new())),
            }
        }
    }

    #[test]
    fn bytes_of_an_include_are_traced_to_their_file() {
        let files = Memory(BTreeMap::from([("b.stan", "one\ntwo three"), ("c.stan", "#include b.stan\nlast")]));
        let (source, problems) = Source::expand("a.stan", None, "first\n#include c.stan\nend", &files);
        assert!(problems.is_empty());
        let words: Vec<_> = source.text().split_whitespace().collect();
        assert_eq!(words, ["first", "one", "two", "three", "last", "end"]);
        for (word, file, line, column) in [("first", 0, 1, 1), ("three", 2, 2, 5), ("last", 1, 2, 1), ("end", 0, 3, 1)]
        {
            let start = source.text().find(word).expect("the word is there");
            let location = source.location(Span::new(start, start + word.len()));
            assert_eq!(location, Location { file, line, column }, "{word}");
        }
    }

    #[test]
    fn a_cycle_is_reported_once_and_expansion_goes_on() {
        let files = Memory(BTreeMap::from([("b.stan", "b1\n#include c.stan\nb2"), ("c.stan", "#include b.stan")]));
        let (source, problems) = Source::expand("a.stan", None, "#include b.stan\nend", &files);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].code, "include-cycle");
        assert_eq!(source.text().split_whitespace().collect::<Vec<_>>(), ["b1", "b2", "end"]);
    }

    #[test]
    fn includes_in_comments_and_strings_are_left_alone() {
        let text = "// #include a\n/* #include b */ print(\"#include c\"); # #include d\n";
        let (source, problems) = Source::from_text("x", text);
        assert!(problems.is_empty());
        assert_eq!(source.text(), text);
    }
}
