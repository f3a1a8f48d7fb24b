//! The `crust` command.
use std::io::Write;
fn main() -> std::process::ExitCode {
    let file = std::env::args().nth(2).unwrap_or_default();
    let bytes = std::fs::read(&file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let inc = std::env::args().nth(3).map(Into::into).into_iter().collect();
    let r = crust_stan::front_end::read(&file, Some(std::path::Path::new(&file)), &text, &crust_stan::source::IncludeFiles { folders: inc });
    let mut out = std::io::stderr().lock();
    for p in &r.problems { let _ = writeln!(out, "{}\n", crust_stan::render::render(p, &r.source, false)); }
    if r.has_errors() { 2.into() } else { 0.into() }
}
