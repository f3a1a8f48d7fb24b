//! Draws in the forms in which other programs write them.

use crust_diagnose::draws::{Draws, DrawsError, read_draws};
use std::path::{Path, PathBuf};

fn arviz(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arviz").join(name)
}

/// mu is 100 chain + draw, and theta[i,j] adds i/10 + j/100.
fn check(draws: &Draws) {
    assert_eq!(draws.chains.len(), 2);
    assert_eq!(draws.lengths(), (60, 60));
    let at = |name: &str, chain: usize, draw: usize| draws.named(name).expect("a column")[chain][draw];
    assert_eq!((at("mu", 0, 3).to_bits(), at("mu", 1, 59).to_bits()), (3.0_f64.to_bits(), 159.0_f64.to_bits()));
    for (name, add) in [("theta[1,1]", 0.11), ("theta[3,1]", 0.31), ("theta[2,2]", 0.22)] {
        assert!((at(name, 1, 7) - (107.0 + add)).abs() < 1e-12, "{name}");
    }
    assert!((at("tau", 0, 2) - 2.0_f64.sin().exp()).abs() < 1e-6, "32 bits");
    let of = |name: &str| draws.sampler(name).expect("a statistic");
    assert_eq!(of("divergent__")[1].iter().sum::<f64>().to_bits(), 3.0_f64.to_bits());
    assert!((of("energy__")[1][14] - 114.0 / 7.0).abs() < 1e-12 && (of("lp__")[0][5] + 5.0).abs() < 1e-12);
}

#[test]
fn netcdf_and_zarr_of_arviz_are_read() {
    for name in ["arviz.nc", "arviz-v2.zarr", "arviz-v3.zarr"] {
        check(&read_draws(&[arviz(name)]).unwrap_or_else(|error| panic!("{error}")));
    }
    let twice = read_draws(&[arviz("arviz.nc"), arviz("arviz-v3.zarr")]);
    assert!(twice.is_ok_and(|draws| draws.chains.len() == 4));
}

/// tau in steps of 0.001, stored as integers with a scale and an offset; one draw is missing.
#[test]
fn packed_variables_are_unpacked() {
    for name in ["packed.nc", "packed-v2.zarr", "packed-v3.zarr"] {
        let draws = read_draws(&[arviz(name)]).unwrap_or_else(|error| panic!("{error}"));
        let tau = draws.named("tau").expect("a column");
        assert!(tau[1][7].is_nan(), "{name}");
        for (chain, draw, mu) in [(0, 0, 0.0), (0, 59, 59.0), (1, 8, 108.0_f64)] {
            let truth = mu.sin().exp();
            assert!((tau[chain][draw] - truth).abs() < 6e-4, "{name}: {} for {truth}", tau[chain][draw]);
        }
    }
}

fn temporary(name: &str, content: &[u8]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("crust-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, content).expect("a file");
    path
}

/// Files that were cut or changed anywhere are errors or other numbers, never a panic.
#[test]
fn broken_files_are_told() {
    let whole = std::fs::read(arviz("arviz.nc")).expect("a file");
    // What comes last are statistics, which may be missing.
    for cut in (0..whole.len() / 2).step_by(1 + whole.len() / 60) {
        let path = temporary("cut.nc", &whole[..cut.max(8)]);
        assert!(matches!(read_draws(&[path]), Err(DrawsError::Arviz { .. })), "{cut}");
    }
    for at in (8..whole.len()).step_by(1 + whole.len() / 300) {
        let mut changed = whole.clone();
        changed[at] ^= 0x5a;
        let _ = read_draws(&[temporary("changed.nc", &changed)]);
    }
    for (name, content) in
        [("zip.zarr", &b"PK\x03\x04...."[..]), ("old.nc", b"CDF\x01....."), ("a.csv.gz", b"\x1f\x8b......")]
    {
        assert!(matches!(read_draws(&[temporary(name, content)]), Err(DrawsError::Form { .. })), "{name}");
    }
}

#[test]
fn dialects_of_csv_are_read() {
    let quoted = "\"\",\"mu\",\"theta[1,1]\",\"theta[2, 1]\"\n\"1\",0.5,1,2\n\"2\",0.25,3,4\n";
    let draws = read_draws(&[temporary("quoted.csv", quoted.as_bytes())]).expect("draws");
    assert_eq!(draws.named("theta[2,1]"), Some(vec![&[2.0, 4.0][..]]));
    assert_eq!(draws.names.len(), 3);
    let advi = "# method = variational\n#   variational\n#     algorithm = meanfield (Default)\nlp__,log_p__,log_g__,mu\n\
                # Stepsize adaptation complete.\n# eta = 1\n0,0,0,7\n0,-1,-2,1\n0,-3,-4,2\n";
    let draws = read_draws(&[temporary("advi.csv", advi.as_bytes())]).expect("draws");
    assert_eq!(draws.named("mu"), Some(vec![&[1.0, 2.0][..]]), "the first row is the mean");
    let laplace = "# method = laplace\nlog_p__,log_q__,mu\n-1,-2,1\n-1,-2,2\n";
    assert_eq!(read_draws(&[temporary("laplace.csv", laplace.as_bytes())]).expect("draws").lengths(), (2, 2));
    let pathfinder = "# method = pathfinder\nlp_approx__,lp__,path__,mu\n-1,-2,1,1\n-1,-2,1,2\n-1,-1,2,4\n# Elapsed\n";
    assert_eq!(read_draws(&[temporary("path.csv", pathfinder.as_bytes())]).expect("draws").lengths(), (3, 3));
}
