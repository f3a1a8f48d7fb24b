//! The Zarr store: its files, and that the numbers in them are the draws.

use crust_diagnose::draws::{Draws, Shape, column_names};
use crust_diagnose::zarr::write_zarr;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("crust-zarr-{name}-{}", std::process::id()));
        // what an earlier run that was stopped may have left
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn example() -> Draws {
    let mut names = column_names("mu", &Shape::Real(vec![]));
    names.extend(column_names("L", &Shape::Real(vec![2, 3])));
    names.extend(column_names("z", &Shape::Complex(vec![2])));
    let sampler = ["lp__", "treedepth__", "divergent__", "own__"].map(String::from).to_vec();
    let mut draws = Draws::new(sampler, names, 2);
    for (number, chain) in [0.0, 1.0].into_iter().zip(&mut draws.chains) {
        chain.warmup.push(&[0.0; 4], &[-1.0; 11]);
        for (draw, divergent) in [(0.0, 0.0), (1.0, 0.0), (2.0, 1.0)] {
            let row: Vec<f64> = (0..11).map(|column| 100.0 * number + 20.0 * draw + f64::from(column)).collect();
            chain.sampling.push(&[-draw, 3.0, divergent, f64::NAN], &row);
        }
    }
    // interrupted while the other chain had already one draw more
    draws.chains[1].sampling.push(&[0.0; 4], &[7.0; 11]);
    draws
}

fn metadata(store: &Path, path: &str) -> Value {
    serde_json::from_slice(&fs::read(store.join(path)).expect(path)).expect("JSON")
}

fn reals(store: &Path, path: &str) -> Vec<f64> {
    let bytes = fs::read(store.join(path)).expect(path);
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes"))).collect()
}

#[test]
fn arrays_hold_the_draws_last_index_fastest() {
    let folder = Folder::new("values");
    write_zarr(&folder.0, &example()).expect("a store");
    assert_eq!(reals(&folder.0, "posterior/mu/1.0"), [100.0, 120.0, 140.0]);
    // columns are L.1.1 L.2.1 L.1.2 L.2.2 L.1.3 L.2.3: row by row they are 1 3 5 2 4 6
    let expected = [1.0, 3.0, 5.0, 2.0, 4.0, 6.0, 21.0, 23.0, 25.0, 22.0, 24.0, 26.0];
    assert_eq!(reals(&folder.0, "posterior/L/0.0.0.0")[..12], expected);
    assert_eq!(reals(&folder.0, "posterior/z/0.0.0")[..4], [7.0, 8.0, 9.0, 10.0]);
    assert_eq!(fs::read(folder.0.join("sample_stats/diverging/0.0")).expect("a chunk"), [0, 0, 1]);
    let depths = fs::read(folder.0.join("sample_stats/tree_depth/1.0")).expect("a chunk");
    assert_eq!(depths, 3_i64.to_le_bytes().repeat(3));
    assert_eq!(reals(&folder.0, "warmup_posterior/mu/0.0"), [-1.0]);
}

#[test]
fn metadata_describe_dimensions_and_are_consolidated() {
    let folder = Folder::new("metadata");
    write_zarr(&folder.0, &example()).expect("a store");
    let array = metadata(&folder.0, "posterior/L/.zarray");
    assert_eq!(array["shape"], json!([2, 3, 2, 3]));
    assert_eq!(array["chunks"], json!([1, 3, 2, 3]));
    assert_eq!((&array["dtype"], &array["compressor"]), (&json!("<f8"), &Value::Null));
    let dims = &metadata(&folder.0, "posterior/L/.zattrs")["_ARRAY_DIMENSIONS"];
    assert_eq!(*dims, json!(["chain", "draw", "L_dim_0", "L_dim_1"]));
    assert_eq!(metadata(&folder.0, "posterior/z/.zarray")["dtype"], json!("<c16"));
    let all = metadata(&folder.0, ".zmetadata");
    let entries = all["metadata"].as_object().expect("entries");
    for (path, content) in entries {
        assert_eq!(*content, metadata(&folder.0, path), "{path}");
    }
    let groups: Vec<&String> = entries.keys().filter(|key| key.ends_with(".zgroup")).collect();
    assert_eq!(groups.len(), 5, "{groups:?}");
}

#[test]
fn a_folder_with_content_is_left_alone() {
    let folder = Folder::new("full");
    fs::create_dir_all(&folder.0).expect("a folder");
    fs::write(folder.0.join("thesis.tex"), "").expect("a file");
    let error = write_zarr(&folder.0, &example()).expect_err("not empty").to_string();
    assert!(error.contains("is not empty"), "{error}");
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 1);
}

#[test]
fn no_draws_make_a_store_too() {
    let folder = Folder::new("empty");
    write_zarr(&folder.0, &Draws::new(vec!["lp__".into()], vec!["mu".into()], 2)).expect("a store");
    assert_eq!(metadata(&folder.0, "posterior/mu/.zarray")["shape"], json!([2, 0]));
}
