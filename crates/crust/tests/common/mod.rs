//! Running `crust` as a user does, for the tests of several commands.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

pub fn crust(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_crust")).args(arguments).output().expect("crust runs")
}

/// A folder for one test, gone when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("crust-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    /// The path of a new file with this text.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a temporary file");
        path
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What a successful run with `--json -` printed.
pub fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("JSON on stdout and nothing else")
}

/// The line of the summary for one variable.
pub fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["summary"].as_array().expect("rows");
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no row `{name}`"))
}
