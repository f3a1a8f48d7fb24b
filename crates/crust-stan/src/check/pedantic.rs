//! Warnings about programs that are valid, but perhaps not meant (`--pedantic`).

use crate::diagnostics::Diagnostic;
use crate::typed::Program;

/// The pedantic warnings, in the order of the text.
pub fn pedantic(_program: &Program) -> Vec<Diagnostic> {
    Vec::new()
}
