//! Errors that no single program of the corpus can show.

use crust_stan::front_end::read;
use crust_stan::source::{IncludeFiles, IncludeProblem, Loader, NoIncludes, Source};
use std::path::{Path, PathBuf};

/// Gives a text for any name; the path is the name, so that nothing is a cycle.
struct Anything(fn(&str) -> String);

impl Loader for Anything {
    fn load(&self, _: Option<&Path>, name: &str) -> Result<(PathBuf, String), IncludeProblem> {
        Ok((PathBuf::from(name), (self.0)(name)))
    }
}

fn codes(text: &str, loader: &dyn Loader) -> Vec<&'static str> {
    Source::expand("main.stan", None, text, loader).1.iter().map(|p| p.code).collect()
}

#[test]
fn includes_end_somewhere() {
    let deeper = Anything(|name| format!("#include {name}x\n"));
    assert_eq!(codes("#include x\n", &deeper), ["include-depth"]);
    let large = Anything(|_| " ".repeat(1 << 20));
    let found = codes(&"#include x\n".repeat(70), &large);
    assert!(!found.is_empty() && found.iter().all(|c| *c == "include-size"), "{found:?}");
}

#[test]
fn an_include_that_is_no_text_is_an_error() {
    let folder = std::env::temp_dir().join(format!("crust-front-end-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("bytes.stan"), [0xff, 0xfe]).expect("a file");
    let found = codes("#include bytes.stan\n", &IncludeFiles { folders: vec![folder.clone()] });
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert_eq!(found, ["include-unreadable"]);
}

#[test]
fn a_file_of_functions_has_no_blocks() {
    let read = |text: &str| read("f.stanfunctions", Some(Path::new("f.stanfunctions")), text, &NoIncludes);
    assert!(!read("real twice(real x) { return 2 * x; }").has_errors());
    let codes = |text: &str| read(text).problems.iter().map(|p| p.code).collect::<Vec<_>>();
    assert_eq!(codes("real f(real x) { return x; }\nmodel { }"), ["block-in-functions"]);
    assert_eq!(codes("real f(real x) { return x; } }"), ["extra-brace"]);
}

/// The retired variable `lp__` may be added to; anything else that is done with it on the left is an error, not
/// dropped.
#[test]
fn lp_can_only_be_added_to() {
    let codes = |statement: &str| {
        let reading = read("lp.stan", None, &format!("parameters {{ real x; }} model {{ {statement} }}"), &NoIncludes);
        reading.problems.iter().filter(|p| p.is_error()).map(|p| p.code).collect::<Vec<_>>()
    };
    let long = format!("lp__ <- lp__{};", " + x".repeat(3999));
    for fine in ["lp__ <- lp__ + x;", "lp__ <- lp__ - x * 2 + 1;", "lp__ += x;", "real y = lp__;", long.as_str()] {
        assert!(codes(fine).is_empty(), "{fine}: {:?}", codes(fine));
    }
    for wrong in
        ["lp__ <- 1 / x;", "lp__ = x + lp__;", "lp__ -= x;", "lp__ *= 2;", "lp__[1] = x;", "(lp__, lp__) = (x, x);"]
    {
        assert!(codes(wrong).contains(&"target-assignment"), "{wrong}: {:?}", codes(wrong));
    }
}
