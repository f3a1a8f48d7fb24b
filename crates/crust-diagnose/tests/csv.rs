//! `CmdStan`'s CSV: what is written, what is read, and what is said of files that are broken.

use crust_diagnose::draws::{
    Adaptation, Algorithm, CsvChain, CsvWriter, Draws, Elapsed, InverseMetric, Metric, RunConfiguration, Shape,
    column_names, read_chain, read_files,
};
use std::fmt::Write as _;

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn read(text: &str) -> CsvChain {
    read_chain(text.as_bytes()).expect("a readable chain")
}

fn error(text: &str) -> String {
    read_chain(text.as_bytes()).expect_err("a broken chain").to_string()
}

const SAMPLER: [&str; 7] =
    ["lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"];

/// A chain with every kind of quantity, numbers that are hard to write, and two warm-up draws.
fn example() -> (RunConfiguration, Vec<String>, Adaptation, Draws) {
    let mut names = column_names("mu", &Shape::Real(vec![]));
    names.extend(column_names("L", &Shape::Real(vec![2, 2])));
    names.extend(column_names("z", &Shape::Complex(vec![])));
    names.extend(column_names("pair", &Shape::Tuple(vec![], vec![Shape::Real(vec![]), Shape::Real(vec![2])])));
    let run = RunConfiguration {
        model: "example".into(),
        num_samples: 3,
        num_warmup: 2,
        save_warmup: true,
        delta: 0.95,
        seed: 42,
        id: 2,
        data_file: "data.json".into(),
        ..RunConfiguration::default()
    };
    let adaptation =
        Adaptation { step_size: 0.1 + 0.2, inverse_metric: InverseMetric::Diagonal(vec![1.0 / 3.0, 2e-9, 1e22]) };
    let mut draws = Draws::new(strings(&SAMPLER), names.clone(), 1);
    let rows = [
        [-1.5, 1.0 / 3.0, 0.0, -0.0, 1e-300, 0.1, 5e-324, f64::MAX, 2.5, -1e-7],
        [0.1 + 0.2, f64::INFINITY, 0.0, f64::NEG_INFINITY, 1e16, 1e15, 123_456_789.123_456_79, 1.0, 2.0, 3.0],
        [2.0; 10],
        [3.25e-5; 10],
        [-4.0; 10],
    ];
    for (number, row) in rows.iter().enumerate() {
        let sampler = [-7.25, 0.9, 0.3, 3.0, 7.0, f64::from(u8::from(number == 3)), 9.125];
        let chain = &mut draws.chains[0];
        let phase = if number < 2 { &mut chain.warmup } else { &mut chain.sampling };
        phase.push(&sampler, &row[..names.len()]);
    }
    (run, names, adaptation, draws)
}

fn written(run: &RunConfiguration, names: &[String], adaptation: &Adaptation, draws: &Draws) -> String {
    let mut writer = CsvWriter::new(Vec::new(), run, &strings(&SAMPLER), names).expect("memory");
    let chain = &draws.chains[0];
    for (phase, is_warmup) in [(&chain.warmup, true), (&chain.sampling, false)] {
        for row in 0..phase.len() {
            let at = |columns: &[Vec<f64>]| columns.iter().map(|column| column[row]).collect::<Vec<_>>();
            writer.draw(&at(&phase.sampler), &at(&phase.quantities)).expect("memory");
        }
        if is_warmup {
            writer.adaptation(adaptation).expect("memory");
        }
    }
    let bytes = writer.finish(Elapsed { warmup: 0.25, sampling: 0.1 }).expect("memory");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn the_written_file() {
    let (run, names, adaptation, draws) = example();
    let text = written(&run, &names, &adaptation, &draws);
    let text = text.replace(env!("CARGO_PKG_VERSION"), "[version]");
    insta::assert_snapshot!(text);
}

#[test]
fn other_algorithms_and_metrics() {
    let adaptation =
        Adaptation { step_size: 0.5, inverse_metric: InverseMetric::Dense(vec![vec![1.0, 0.25], vec![0.25, 2.0]]) };
    let run = RunConfiguration {
        algorithm: Algorithm::StaticHmc { int_time: 1.5 },
        metric: Metric::Dense,
        ..RunConfiguration::default()
    };
    let draws = Draws::new(strings(&SAMPLER), strings(&["x"]), 1);
    let text = written(&run, &draws.names, &adaptation, &draws);
    let back = read(&text);
    assert_eq!(back.comments.adaptation, Some(adaptation));
    assert_eq!(back.comments.settings.get("hmc.static.int_time"), Some("1.5"));
    assert_eq!(back.comments.settings.get("metric"), Some("dense_e"));

    let unit = Adaptation { step_size: 2.0, inverse_metric: InverseMetric::Unit };
    let text = written(&RunConfiguration { metric: Metric::Unit, ..run.clone() }, &draws.names, &unit, &draws);
    assert_eq!(read(&text).comments.adaptation, Some(unit.clone()));

    let fixed = RunConfiguration { algorithm: Algorithm::FixedParam, ..run };
    assert_eq!(
        read(&written(&fixed, &draws.names, &unit, &draws)).comments.settings.get("algorithm"),
        Some("fixed_param")
    );
}

#[test]
fn values_names_and_comments_come_back_exactly() {
    let (run, names, adaptation, draws) = example();
    let back = read(&written(&run, &names, &adaptation, &draws));
    assert_eq!((&back.sampler_names, &back.names), (&draws.sampler_names, &draws.names));
    let bits = |phase: &crust_diagnose::draws::Phase| -> Vec<Vec<u64>> {
        phase.sampler.iter().chain(&phase.quantities).map(|c| c.iter().map(|x| x.to_bits()).collect()).collect()
    };
    assert_eq!(bits(&back.chain.warmup), bits(&draws.chains[0].warmup));
    assert_eq!(bits(&back.chain.sampling), bits(&draws.chains[0].sampling));
    let comments = back.comments;
    assert_eq!(comments.adaptation, Some(adaptation));
    assert_eq!(comments.elapsed, Some(Elapsed { warmup: 0.25, sampling: 0.1 }));
    assert_eq!(comments.incomplete_line, None);
    assert_eq!(comments.settings.get("sample.adapt.delta"), Some("0.95"));
    assert_eq!(comments.settings.get("data.file"), Some("data.json"));
    assert_eq!(comments.settings.get("output.file"), Some("output.csv"));
    assert_eq!(comments.settings.number("save_warmup"), Some(1.0));
    assert_eq!(comments.settings.number("seed"), Some(42.0));
    assert_eq!((comments.settings.num_warmup(), comments.settings.max_depth()), (Some(2.0), Some(10)));
}

/// As `CmdStan` writes it with `save_warmup=1`, or another set of options.
fn cmdstan(options: &str, body: &str) -> String {
    format!(
        "# stan_version_major = 2\n# stan_version_minor = 19\n# model = bernoulli_model\n# method = sample (Default)\n\
         #   sample\n{options}#     algorithm = hmc (Default)\n#       hmc\n#         metric = diag_e (Default)\n# data\n\
         #   file = bernoulli.data.json\nlp__,accept_stat__,theta.1,theta.2\n{body}"
    )
}

#[test]
fn warmup_ends_where_adaptation_does() {
    let options = "#     num_warmup = 4\n#     save_warmup = 1\n#     thin = 2\n";
    let body = "-1,0.5,1,2\n-2,0.5,3,4\n# Adaptation terminated\n# Step size = 0.67\n\
                # Diagonal elements of inverse mass matrix:\n# 0.398391, 2\n-3,1,5,6\n-4,1,nan,-inf\n-5,1,7,8\n\
                # \n#  Elapsed Time: 0.016 seconds (Warm-up)\n#                0.004 seconds (Sampling)\n\
                #                0.02 seconds (Total)\n# \n";
    let csv = read(&cmdstan(options, body));
    assert_eq!(csv.names, ["theta.1", "theta.2"]);
    assert_eq!(csv.chain.warmup.quantities, [[1.0, 3.0], [2.0, 4.0]]);
    assert_eq!((csv.chain.sampling.len(), &csv.chain.sampling.sampler[0]), (3, &vec![-3.0, -4.0, -5.0]));
    assert!(csv.chain.sampling.quantities[0][1].is_nan());
    assert_eq!(csv.comments.elapsed, Some(Elapsed { warmup: 0.016, sampling: 0.004 }));
    // the same with Windows' line ends
    let windows = read(&cmdstan(options, body).replace('\n', "\r\n"));
    assert_eq!((windows.names, windows.chain.warmup), (csv.names, csv.chain.warmup));
}

#[test]
fn warmup_without_adaptation_is_counted() {
    let mut body = String::new();
    (0..7).for_each(|i| writeln!(body, "-1,1,{i},0").expect("memory"));
    let lengths = |options: &str| {
        let chain = read(&cmdstan(options, &body)).chain;
        (chain.warmup.len(), chain.sampling.len())
    };
    // five draws thinned by two are three
    assert_eq!(lengths("#     num_warmup = 5\n#     save_warmup = true\n#     thin = 2\n"), (3, 4));
    assert_eq!(lengths("#     num_warmup = 1000 (Default)\n#     save_warmup = 1\n#     thin = 1 (Default)\n"), (7, 0));
    assert_eq!(lengths("#     num_warmup = 5\n#     save_warmup = false (Default)\n"), (0, 7));
    assert_eq!(lengths(""), (0, 7));
    // rstan's names; this run was interrupted during its warm-up
    let rstan = read(&format!(
        "# warmup=100\n# save_warmup=1\n# thin=1\n# max_treedepth=12\n#\nlp__,accept_stat__,a,b\n{body}"
    ));
    assert_eq!((rstan.chain.warmup.len(), rstan.chain.sampling.len()), (7, 0));
    assert_eq!(rstan.comments.settings.max_depth(), Some(12));
}

#[test]
fn an_interrupted_run_keeps_its_whole_draws() {
    for (end, kept) in [("-3,1,5,6", 2), ("-3,1,5", 2), ("-3,1,", 2), ("-", 2), ("-3,1,5\n", 2), ("-3,1,5,6\n", 3)] {
        let csv = read(&cmdstan("", &format!("-1,1,1,2\n-2,1,3,4\n{end}")));
        assert_eq!(csv.chain.sampling.len(), kept, "{end:?}");
        assert_eq!(csv.comments.incomplete_line, (kept == 2).then_some(14), "{end:?}");
    }
    // cut at any byte after the header, the file is still read
    let (run, names, adaptation, draws) = example();
    let text = written(&run, &names, &adaptation, &draws);
    let header = text.find("lp__").expect("a header");
    let first = header + text[header..].find('\n').expect("an end") + 1;
    for end in first..text.len() {
        let csv = read(&text[..end]);
        assert!(csv.chain.warmup.len() + csv.chain.sampling.len() <= 5);
    }
    for end in 0..first {
        assert!(error(&text[..end]).starts_with("there is no line with the names"), "{end}");
    }
}

#[test]
fn errors_name_line_and_column() {
    let messages = [
        error(&cmdstan("", "-1,1,1,2\n-2,1,x7,4\n-3,1,5,6\n")),
        error(&cmdstan("", "-1,1,1,2\n-2,1,,4\n")),
        error(&cmdstan("", "-1,1,1\n-2,1,3,4\n")),
        error(&cmdstan("", "-1,1,1,2,5\n")),
        error("lp__,mu,mu\n1,2,3\n"),
        error("1,2,3\n4,5,6\n"),
        error(""),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn files_of_one_run_have_the_same_columns() {
    let folder = std::env::temp_dir().join(format!("crust-csv-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let paths = ["1.csv", "2.csv", "3.csv", "4.csv"].map(|name| folder.join(name));
    for (path, text) in paths.iter().zip(["lp__,a\n-1,2\n-1,3\n", "lp__,a\n-2,3\n", "lp__,b\n-2,3\n", "lp__\n-2\n"]) {
        std::fs::write(path, text).expect("a file");
    }
    let (draws, comments) = read_files(&paths[..2]).expect("two chains");
    assert_eq!((draws.named("a"), comments.len()), (Some(vec![&[2.0, 3.0][..], &[3.0]]), 2));
    let tail = |paths: &[std::path::PathBuf]| {
        let message = read_files(paths).expect_err("different columns").to_string();
        message.replace(&format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR), "")
    };
    assert_eq!(
        tail(&[paths[0].clone(), paths[2].clone()]),
        "3.csv: its columns are not those of 1.csv: b in place of a"
    );
    assert_eq!(
        tail(&[paths[0].clone(), paths[3].clone()]),
        "4.csv: its columns are not those of 1.csv: 1 in place of 2"
    );
    assert!(tail(&[folder.join("none.csv")]).starts_with("none.csv: cannot be read:"));
    std::fs::remove_dir_all(&folder).expect("the folder");
}
