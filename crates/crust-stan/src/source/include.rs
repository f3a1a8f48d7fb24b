//! The `#include` directive: finding it in a text, and finding the file that it names.

use crate::diagnostics::Diagnostic;
use crate::span::Span;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One `#include` in a text.
pub(super) struct Directive {
    pub range: Range<usize>,
    pub name: String,
}

/// Finds the directives of a text: `#include name`, `#include "name"`, `#include <name>`, outside comments and strings.
/// Also says where a comment starts that is never closed.
pub(super) fn directives(text: &str) -> (Vec<Directive>, Option<usize>) {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut open_comment = None;
    let mut i = 0;
    while i < bytes.len() {
        let rest = &bytes[i..];
        i += match rest {
            [b'/', b'*', ..] => {
                let length = text[i + 2..].find("*/").map(|n| n + 4);
                if length.is_none() {
                    open_comment = Some(i);
                }
                length.unwrap_or(rest.len())
            }
            [b'"', ..] => rest[1..].iter().position(|&b| b == b'"' || b == b'\n').map_or(rest.len(), |n| n + 2),
            [b'#', ..] if rest.starts_with(b"#include") => {
                let (name, length) = include_name(&text[i + 8..]);
                found.push(Directive { range: i..i + 8 + length, name });
                8 + length
            }
            [b'#', ..] | [b'/', b'/', ..] => line_length(rest),
            _ => 1,
        };
    }
    (found, open_comment)
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len())
}

/// The name behind the word `#include`, and how many bytes it takes with blanks and quotation marks.
fn include_name(rest: &str) -> (String, usize) {
    let line = rest.split('\n').next().unwrap_or("");
    let name = line.trim_start_matches([' ', '\t', '\r']);
    let blanks = line.len() - name.len();
    for (open, close) in [('"', '"'), ('<', '>')] {
        if let Some(inner) = name.strip_prefix(open) {
            return match inner.find(close) {
                Some(n) => (inner[..n].to_owned(), blanks + n + 2),
                None => (String::new(), line.len()),
            };
        }
    }
    let n = name.find(char::is_whitespace).unwrap_or(name.len());
    (name[..n].to_owned(), blanks + n)
}

/// Gives the text of included files.
pub trait Loader {
    /// The path that identifies the file, and its text. `from` is the file that holds the directive.
    fn load(&self, from: Option<&Path>, name: &str) -> Result<(PathBuf, String), IncludeProblem>;
}

/// For texts that have no files around them.
pub struct NoIncludes;

impl Loader for NoIncludes {
    fn load(&self, _: Option<&Path>, _: &str) -> Result<(PathBuf, String), IncludeProblem> {
        Err(IncludeProblem::NotFound(Vec::new()))
    }
}

/// Looks for included files beside the including file, then in the folders of `--include-path` in their order.
pub struct IncludeFiles {
    pub folders: Vec<PathBuf>,
}

impl IncludeFiles {
    /// Where an include may be looked for: the folder of the file at hand, then the include paths.
    fn roots(&self, from: Option<&Path>) -> Vec<PathBuf> {
        let beside = from.and_then(Path::parent).map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p });
        beside.map(Path::to_path_buf).into_iter().chain(self.folders.iter().cloned()).collect()
    }
}

impl Loader for IncludeFiles {
    /// A leading `/` is read as "below the include path", as rstanarm writes it, never as the root of the file system;
    /// and what a name resolves to, links and `..` followed, must lie below one of the folders.
    fn load(&self, from: Option<&Path>, name: &str) -> Result<(PathBuf, String), IncludeProblem> {
        let roots = self.roots(from);
        let relative = name.trim_start_matches(['/', '\\']);
        let mut escaped = None;
        for root in &roots {
            let Ok(path) = root.join(relative).canonicalize() else { continue };
            let inside = roots.iter().filter_map(|r| r.canonicalize().ok()).any(|r| path.starts_with(r));
            if !inside {
                escaped = Some(path);
            } else if path.is_file() {
                let bytes = std::fs::read(&path).map_err(|e| IncludeProblem::Unreadable(e.to_string()))?;
                let text = String::from_utf8(bytes).map_err(|_| IncludeProblem::NotText)?;
                return Ok((path, text));
            }
        }
        Err(match escaped {
            Some(path) => IncludeProblem::Escapes(path),
            None => IncludeProblem::NotFound(roots),
        })
    }
}

/// Why an include cannot be had.
#[derive(Clone, Debug)]
pub enum IncludeProblem {
    NoName,
    NotFound(Vec<PathBuf>),
    Unreadable(String),
    NotText,
    /// The file lies outside the folders that includes may come from.
    Escapes(PathBuf),
    /// From the first mention of the file to its second.
    Cycle(Vec<PathBuf>),
    TooDeep(usize),
    TooLarge,
}

impl IncludeProblem {
    pub(super) fn diagnostic(&self, name: &str, span: Span) -> Diagnostic {
        match self {
            Self::NoName => Diagnostic::error("include-name", "`#include` without a file name", span)
                .help("write `#include name.stan`, `#include \"name.stan\"` or `#include <name.stan>`"),
            Self::NotFound(roots) => {
                let error =
                    Diagnostic::error("include-not-found", format!("cannot find the included file `{name}`"), span);
                let looked: Vec<_> = roots.iter().map(|r| format!("`{}`", r.display())).collect();
                let error =
                    if looked.is_empty() { error } else { error.note(format!("looked in {}", looked.join(", "))) };
                error.help("give the folder that holds it with `--include-path`")
            }
            Self::Unreadable(why) => {
                Diagnostic::error("include-unreadable", format!("cannot read the included file `{name}`: {why}"), span)
            }
            Self::NotText => {
                Diagnostic::error("include-unreadable", format!("the included file `{name}` is not UTF-8 text"), span)
            }
            Self::Escapes(path) => Diagnostic::error(
                "include-escapes",
                format!("the included file `{name}` lies outside the folders that includes may come from"),
                span,
            )
            .note(format!("it would be `{}`", path.display()))
            .help("give the folder that holds it with `--include-path`"),
            Self::Cycle(chain) => {
                let names: Vec<_> =
                    chain.iter().map(|p| p.file_name().unwrap_or(p.as_os_str()).to_string_lossy()).collect();
                Diagnostic::error("include-cycle", format!("the file `{name}` includes itself"), span)
                    .note(format!("the way round is {}", names.join(" → ")))
            }
            Self::TooDeep(limit) => {
                Diagnostic::error("include-depth", format!("includes are nested more than {limit} deep"), span)
            }
            Self::TooLarge => Diagnostic::error("include-size", "the program with its includes is too large", span),
        }
    }
}
