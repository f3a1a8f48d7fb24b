//! What a run was told to do and what its warm-up found: the comments of `CmdStan`'s files.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// The version of Stan whose files these follow; readers choose their rules by it.
const STAN_VERSION: [u32; 3] = [2, 39, 0];

/// How a chain was run, in the words of `CmdStan`. The defaults are `CmdStan`'s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfiguration {
    pub model: String,
    pub num_samples: usize,
    pub num_warmup: usize,
    pub save_warmup: bool,
    pub thin: usize,
    /// Whether warm-up adapts.
    pub engaged: bool,
    pub gamma: f64,
    pub delta: f64,
    pub kappa: f64,
    pub t0: f64,
    pub init_buffer: usize,
    pub term_buffer: usize,
    pub window: usize,
    pub algorithm: Algorithm,
    pub metric: Metric,
    pub stepsize: f64,
    pub stepsize_jitter: f64,
    pub num_chains: usize,
    /// The number of this chain, from 1.
    pub id: usize,
    pub data_file: String,
    /// The half-width of the interval of initial values, or the name of a file.
    pub init: String,
    pub seed: u64,
    pub output_file: String,
}

impl Default for RunConfiguration {
    fn default() -> Self {
        Self {
            model: "model".into(),
            num_samples: 1000,
            num_warmup: 1000,
            save_warmup: false,
            thin: 1,
            engaged: true,
            gamma: 0.05,
            delta: 0.8,
            kappa: 0.75,
            t0: 10.0,
            init_buffer: 75,
            term_buffer: 50,
            window: 25,
            algorithm: Algorithm::Nuts { max_depth: 10 },
            metric: Metric::Diagonal,
            stepsize: 1.0,
            stepsize_jitter: 0.0,
            num_chains: 1,
            id: 1,
            data_file: String::new(),
            init: "2".into(),
            seed: 0,
            output_file: "output.csv".into(),
        }
    }
}

/// How a transition is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    Nuts { max_depth: u32 },
    StaticHmc { int_time: f64 },
    FixedParam,
}

/// Which inverse mass matrices warm-up considers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    Unit,
    Diagonal,
    Dense,
}

impl Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unit => "unit_e",
            Self::Diagonal => "diag_e",
            Self::Dense => "dense_e",
        })
    }
}

/// What warm-up found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    pub step_size: f64,
    pub inverse_metric: InverseMetric,
}

/// The inverse mass matrix: an estimate of the posterior covariance of the unconstrained parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InverseMetric {
    Unit,
    Diagonal(Vec<f64>),
    /// Row by row.
    Dense(Vec<Vec<f64>>),
}

/// Seconds that the phases took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Elapsed {
    pub warmup: f64,
    pub sampling: f64,
}

/// Comment lines under construction: a line is indented by its depth, and says whether its value is the default.
struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    fn section(&mut self, name: &str) {
        self.text.extend(["# ", &"  ".repeat(self.depth), name, "\n"]);
    }

    fn entry(&mut self, key: &str, value: impl Display, default: impl Display) {
        let (value, default) = (value.to_string(), default.to_string());
        let mark = if value == default { " (Default)" } else { "" };
        self.section(&format!("{key} = {value}{mark}"));
    }

    fn inside(&mut self, levels: usize, content: impl FnOnce(&mut Self)) {
        self.depth += levels;
        content(self);
        self.depth -= levels;
    }
}

impl RunConfiguration {
    /// The comment lines that open a file.
    pub(super) fn comments(&self) -> String {
        let mut lines = Lines { text: String::new(), depth: 0 };
        for (part, number) in ["major", "minor", "patch"].iter().zip(STAN_VERSION) {
            lines.section(&format!("stan_version_{part} = {number}"));
        }
        lines.section(&format!("crust_version = {}", env!("CARGO_PKG_VERSION")));
        lines.section(&format!("model = {}", one_line(&self.model)));
        let default = Self::default();
        lines.entry("method", "sample", "sample");
        lines.inside(1, |lines| self.sample_section(lines, &default));
        lines.entry("id", self.id, default.id);
        lines.section("data");
        lines.inside(1, |lines| lines.entry("file", one_line(&self.data_file), ""));
        lines.entry("init", one_line(&self.init), &default.init);
        lines.section("random");
        lines.inside(1, |lines| lines.section(&format!("seed = {}", self.seed)));
        lines.section("output");
        lines.inside(1, |lines| lines.entry("file", one_line(&self.output_file), &default.output_file));
        lines.text
    }

    fn sample_section(&self, lines: &mut Lines, default: &Self) {
        lines.section("sample");
        lines.inside(1, |lines| {
            lines.entry("num_samples", self.num_samples, default.num_samples);
            lines.entry("num_warmup", self.num_warmup, default.num_warmup);
            lines.entry("save_warmup", self.save_warmup, default.save_warmup);
            lines.entry("thin", self.thin, default.thin);
            lines.section("adapt");
            lines.inside(1, |lines| {
                lines.entry("engaged", self.engaged, default.engaged);
                lines.entry("gamma", self.gamma, default.gamma);
                lines.entry("delta", self.delta, default.delta);
                lines.entry("kappa", self.kappa, default.kappa);
                lines.entry("t0", self.t0, default.t0);
                lines.entry("init_buffer", self.init_buffer, default.init_buffer);
                lines.entry("term_buffer", self.term_buffer, default.term_buffer);
                lines.entry("window", self.window, default.window);
            });
            self.algorithm_section(lines, default);
            lines.entry("num_chains", self.num_chains, default.num_chains);
        });
    }

    fn algorithm_section(&self, lines: &mut Lines, default: &Self) {
        if self.algorithm == Algorithm::FixedParam {
            lines.entry("algorithm", "fixed_param", "hmc");
            return;
        }
        lines.entry("algorithm", "hmc", "hmc");
        lines.inside(1, |lines| lines.section("hmc"));
        lines.inside(2, |lines| {
            let (engine, setting) = match self.algorithm {
                Algorithm::StaticHmc { int_time } => ("static", ("int_time", int_time.to_string())),
                Algorithm::Nuts { max_depth } => ("nuts", ("max_depth", max_depth.to_string())),
                Algorithm::FixedParam => return,
            };
            lines.entry("engine", engine, "nuts");
            lines.inside(1, |lines| lines.section(engine));
            // 2π and 10 are CmdStan's defaults of the two
            let usual = if engine == "nuts" { "10".to_owned() } else { std::f64::consts::TAU.to_string() };
            lines.inside(2, |lines| lines.entry(setting.0, setting.1, usual));
            if engine == "static" {
                // There are no trees, but CmdStanPy reads no file without this.
                lines.inside(2, |lines| lines.entry("max_depth", 10, 10));
            }
            lines.entry("metric", self.metric, default.metric);
            lines.entry("stepsize", self.stepsize, default.stepsize);
            lines.entry("stepsize_jitter", self.stepsize_jitter, default.stepsize_jitter);
        });
    }
}

/// A comment ends with its line, so that a value must not break it.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// The `key = value` lines of a file's comments. A key is preceded by the sections it stands in: `sample.adapt.delta`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub entries: Vec<(String, String)>,
    #[serde(skip)]
    sections: Vec<(usize, String)>,
}

impl Settings {
    /// The value of a key, which may leave out leading sections: `delta` finds `sample.adapt.delta`.
    pub fn get(&self, key: &str) -> Option<&str> {
        let fits = |path: &str| path.strip_suffix(key).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        self.entries.iter().find(|(path, _)| fits(path)).map(|(_, value)| value.as_str())
    }

    /// The value of a key as a number; `true` and `false` are 1 and 0, as old versions of `CmdStan` wrote them.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            "true" => Some(1.0),
            "false" => Some(0.0),
            value => value.parse().ok(),
        }
    }

    /// Iterations of warm-up, by `CmdStan`'s name or rstan's.
    pub fn num_warmup(&self) -> Option<f64> {
        self.number("num_warmup").or_else(|| self.number("warmup"))
    }

    /// The greatest depth of trees, by `CmdStan`'s name or rstan's.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count; saturates")]
    pub fn max_depth(&self) -> Option<u32> {
        self.number("max_depth").or_else(|| self.number("max_treedepth")).map(|depth| depth as u32)
    }

    /// Takes in a comment line without its `#`.
    pub(super) fn add(&mut self, comment: &str) {
        let depth = comment.len() - comment.trim_start().len();
        let text = comment.trim();
        self.sections.retain(|&(section, _)| section < depth);
        let Some((key, value)) = text.split_once('=') else {
            if !text.is_empty() {
                self.sections.push((depth, text.to_owned()));
            }
            return;
        };
        let path: Vec<&str> = self.sections.iter().map(|(_, name)| name.as_str()).chain([key.trim()]).collect();
        let value = value.trim();
        let value = value.strip_suffix("(Default)").unwrap_or(value).trim();
        self.entries.push((path.join("."), value.to_owned()));
    }
}
