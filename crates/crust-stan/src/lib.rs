//! The Stan language: from program text to a typed program, with everything there is to say about mistakes.
pub mod ast;
pub mod check;
mod computed;
pub mod data;
pub mod deep;
pub mod diagnostics;
pub mod format;
pub mod front_end;
#[doc(hidden)]
pub mod fuzzing;
pub mod joint;
pub mod lexer;
pub mod migrate;
pub mod names;
pub mod parser;
pub mod render;
pub mod signatures;
pub mod source;
pub mod span;
pub mod suggest;
pub mod token;
pub mod typed;
pub mod types;
pub mod value;
