//! What must hold for any text as a program: shared by the fuzz target and by the slice of it that runs in the tests.

use crate::format::format;
use crate::front_end::read;
use crate::render::render;
use crate::source::NoIncludes;

/// Reads any text as a program. Nothing may panic; messages can be rendered; what is accepted prints to a program that
/// is accepted, is the same tree, and prints the same again.
pub fn front_end(text: &str) {
    let reading = read("fuzz.stan", None, text, &NoIncludes);
    for problem in reading.problems.iter().take(20) {
        assert!(!render(problem, &reading.source, false).is_empty());
        assert!(problem.record(&reading.source).line >= 1);
    }
    if reading.has_errors() {
        return;
    }
    let printed = format(&reading.ast, &reading.comments, &reading.source);
    let again = read("again.stan", None, &printed, &NoIncludes);
    assert!(!again.has_errors(), "the canonical form is rejected:\n{printed}");
    assert!(again.ast == reading.ast, "another tree:\n{text}\n→\n{printed}");
    let twice = format(&again.ast, &again.comments, &again.source);
    assert!(twice == printed, "printing again gives another text:\n{printed}\n→\n{twice}");
}
