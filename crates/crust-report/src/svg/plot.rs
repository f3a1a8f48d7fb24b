//! What a plot shows: axes, series, rules. How it is laid out on paper is [`super::layout`]'s business.

use super::{Dash, Drawing, Kind, Scale, Shape, Tone, layout};

/// One plot.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    /// Drawn in this order.
    pub series: Vec<Series>,
    pub rules: Vec<Rule>,
}

/// An axis, before its ends are known.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    pub kind: Kind,
    /// Ticks at these values only.
    pub ticks: Vec<f64>,
    /// Ends; those of the values if there are none.
    pub ends: Option<(f64, f64)>,
}

impl Default for Axis {
    fn default() -> Self {
        Self { label: String::new(), kind: Kind::Linear, ticks: Vec::new(), ends: None }
    }
}

/// Values that belong together.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its name in the legend; empty if it is not named.
    pub label: String,
    pub tone: Tone,
    pub shape: Shape,
    pub dash: Dash,
    /// Joined by a line, in this order, with a mark at each unless `bare`.
    pub points: Vec<(f64, f64)>,
    /// A line without marks.
    pub bare: bool,
    /// A thin line.
    pub thin: bool,
    /// Marks without a line.
    pub scattered: bool,
    /// A shaded region over x.
    pub band: Vec<Interval>,
    /// Error bars.
    pub bars: Vec<Interval>,
    /// A histogram: the left end and the height of each bin, and the right end of the last with height 0.
    pub steps: Vec<(f64, f64)>,
}

/// A range of y at x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub x: f64,
    pub low: f64,
    pub high: f64,
}

/// A line across the plot at one value.
#[derive(Clone, Debug)]
pub enum Rule {
    /// At a value of x.
    Upright { x: f64, label: String, tone: Tone, dash: Dash },
    /// At a value of y.
    Level { y: f64, label: String, tone: Tone, dash: Dash },
}

/// How large a drawing is, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    pub width: f64,
    /// Of the area with the axes; title, legend and labels come on top.
    pub area_height: f64,
}

impl Size {
    /// Half of a wide page.
    pub const WIDE: Size = Size { width: 580.0, area_height: 270.0 };
    /// A telephone held upright.
    pub const NARROW: Size = Size { width: 356.0, area_height: 220.0 };
}

impl Plot {
    pub fn draw(&self, size: Size) -> Drawing {
        layout::draw(self, size)
    }

    pub(super) fn x_scale(&self) -> Scale {
        let points = self.series.iter().flat_map(|s| s.points.iter().chain(&s.steps).map(|p| p.0));
        let spread = self.series.iter().flat_map(|s| s.band.iter().chain(&s.bars).map(|i| i.x));
        let rules = self.rules.iter().filter_map(|r| if let Rule::Upright { x, .. } = r { Some(*x) } else { None });
        self.x.scale(points.chain(spread).chain(rules))
    }

    pub(super) fn y_scale(&self) -> Scale {
        let points = self.series.iter().flat_map(|s| s.points.iter().chain(&s.steps).map(|p| p.1));
        let spread = self.series.iter().flat_map(|s| s.band.iter().chain(&s.bars).flat_map(|i| [i.low, i.high]));
        let rules = self.rules.iter().filter_map(|r| if let Rule::Level { y, .. } = r { Some(*y) } else { None });
        self.y.scale(points.chain(spread).chain(rules))
    }
}

impl Axis {
    fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        match self.ends {
            Some((low, high)) => Scale::between(self.kind, low, high),
            None => Scale::over(self.kind, values),
        }
    }
}
