//! Colours and strokes. Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart.

/// The part that a series plays; it has the same colour in all plots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Lower bounds: annealing from the prior to the posterior.
    Forward,
    /// Upper bounds: annealing from the posterior to the prior.
    Reverse,
    /// Real data.
    Real,
    /// An estimate, or a value that things are compared with.
    #[default]
    Ink,
    /// What is there for comparison only.
    Quiet,
    /// One of several things side by side.
    Entry(usize),
}

impl Tone {
    pub(crate) fn class(self) -> String {
        match self {
            Tone::Forward => "forward".to_owned(),
            Tone::Reverse => "reverse".to_owned(),
            Tone::Real => "real".to_owned(),
            Tone::Ink => "ink".to_owned(),
            Tone::Quiet => "quiet".to_owned(),
            Tone::Entry(n) => format!("entry{}", n % ENTRIES.len()),
        }
    }
}

/// Whether a line is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    #[default]
    Solid,
    Dashed,
    Dotted,
}

impl Dash {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Dash::Solid => "line",
            Dash::Dashed => "line dashed",
            Dash::Dotted => "line dotted",
        }
    }
}

/// Names with their colours on white and on black.
const TONES: [(&str, &str, &str); 5] = [
    ("forward", "#0072B2", "#56B4E9"),
    ("reverse", "#D55E00", "#E69F00"),
    ("real", "#009E73", "#1DC498"),
    ("ink", "#1F2328", "#E6EAEE"),
    ("quiet", "#8A929B", "#7D8690"),
];

const ENTRIES: [(&str, &str); 6] = [
    ("#0072B2", "#56B4E9"),
    ("#D55E00", "#E69F00"),
    ("#009E73", "#1DC498"),
    ("#CC79A7", "#DE9CC1"),
    ("#7A6F00", "#F0E442"),
    ("#56B4E9", "#9AD3F5"),
];

const STROKES: &str = "\
.plot text{font-family:\"Helvetica Neue\",Helvetica,Arial,\"Liberation Sans\",sans-serif;fill:currentColor}\
.plot .title{font-weight:600}.plot .soft{opacity:.72}\
.plot .frame{stroke:currentColor;stroke-width:1;opacity:.55}.plot .grid{stroke:currentColor;stroke-width:1;opacity:.11}\
.plot .line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
.plot .thin{fill:none;stroke:currentColor;stroke-width:1;opacity:.55}\
.plot .dashed{stroke-dasharray:7 4}.plot .dotted{stroke-dasharray:1.5 4.5}\
.plot .band{fill:currentColor;stroke:none;opacity:.17}.plot .bar{stroke:currentColor;stroke-width:1.6}\
.plot .mark{fill:currentColor;stroke:none}.plot .open{stroke:currentColor;stroke-width:1.6}";

/// The style sheet of all plots, for light and for dark surroundings.
pub(crate) fn sheet() -> String {
    let colours = |dark: bool| {
        let pick = |light: &'static str, other: &'static str| if dark { other } else { light };
        let tones = TONES.map(|(name, light, other)| format!(".plot .{name}{{color:{}}}", pick(light, other)));
        let entries = ENTRIES.iter().enumerate();
        let entries = entries.map(|(n, (light, other))| format!(".plot .entry{n}{{color:{}}}", pick(light, other)));
        let (ink, paper) = if dark { ("#E6EAEE", "#14181D") } else { ("#1F2328", "#FFFFFF") };
        let surface = format!(".plot{{color:{ink}}}.paper,.plot .open{{fill:{paper}}}");
        tones.into_iter().chain(entries).chain([surface]).collect::<String>()
    };
    format!("{STROKES}{}@media screen and (prefers-color-scheme:dark){{{}}}", colours(false), colours(true))
}
