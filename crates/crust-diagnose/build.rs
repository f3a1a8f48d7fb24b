//! Makes a hash of the sources, so that results of two builds are never mixed: `CRUST_BUILD`.
//!
//! All crates of the workspace count where they are there, with the versions of what they depend on; in a package that
//! was unpacked on its own there is only this crate, and its version stands for the others.

#![allow(clippy::print_stdout, reason = "a build script talks to cargo")]

use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// FNV-1a with 128 bits.
struct Hash(u128);

impl Hash {
    const START: Self = Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);

    fn take(&mut self, bytes: &[u8]) {
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        for part in [&(bytes.len() as u64).to_le_bytes()[..], bytes] {
            part.iter().for_each(|&b| self.0 = (self.0 ^ u128::from(b)).wrapping_mul(PRIME));
        }
    }
}

/// All files below a folder, or the file itself.
fn files(path: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            files(&entry?.path(), found)?;
        }
    } else if path.is_file() {
        found.push(path.to_owned());
    }
    Ok(())
}

/// What the numbers of a crate depend on.
fn parts(folder: &Path) -> [PathBuf; 3] {
    ["src", "build.rs", "Cargo.toml"].map(|part| folder.join(part))
}

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let crates = own.parent().unwrap_or(&own).to_owned();
    let root = crates.parent().unwrap_or(&crates).to_owned();
    let workspace = fs::read_to_string(root.join("Cargo.toml")).is_ok_and(|text| text.contains("[workspace]"));
    let (base, mut watched) = if workspace {
        // A crate that is added or removed changes the lock file.
        let mut watched = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
        for entry in fs::read_dir(&crates)? {
            watched.extend(parts(&entry?.path()));
        }
        (root, watched)
    } else {
        (own.clone(), parts(&own).to_vec())
    };
    watched.retain(|path| path.exists());
    let mut all = Vec::new();
    for path in &watched {
        println!("cargo:rerun-if-changed={}", path.display());
        files(path, &mut all)?;
    }
    all.sort();
    let mut hash = Hash::START;
    hash.take(env::var("CARGO_PKG_VERSION").unwrap_or_default().as_bytes());
    for path in &all {
        // The place of the workspace does not matter.
        let name = path.strip_prefix(&base).unwrap_or(path).to_string_lossy().replace('\\', "/");
        hash.take(name.as_bytes());
        hash.take(&fs::read(path)?);
    }
    println!("cargo:rustc-env=CRUST_BUILD={:032x}", hash.0);
    Ok(())
}
