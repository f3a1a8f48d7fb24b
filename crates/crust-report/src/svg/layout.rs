//! Where the parts of a plot go: title, legend and the name of the y axis above the axes, so that no text lies on data.

use super::canvas::{Anchor, Canvas, Drawing};
use super::plot::{Interval, Plot, Rule, Series, Size};
use super::text;
use super::{Dash, Scale, Shape};
use crate::number;

const TITLE: f64 = 14.0;
const WORDS: f64 = 12.0;
const LINE: f64 = 17.0;
const SWATCH: f64 = 26.0;
const EDGE: f64 = 2.0;

/// The axes on paper.
struct Frame {
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Of the whole drawing.
    width: f64,
}

/// No axis has more ticks than this.
const MOST_TICKS: usize = 9;

/// A tick: its value and its text.
type Tick = (f64, String);

pub(super) fn draw(plot: &Plot, size: Size) -> Drawing {
    let mut canvas = Canvas::default();
    let (x, y) = (plot.x_scale(), plot.y_scale());
    let mut cursor = title(&mut canvas, &plot.title, size.width);
    cursor = legend(&mut canvas, plot, size.width, cursor);
    for line in text::wrap(&plot.y.label, WORDS, size.width - 2.0 * EDGE) {
        cursor += LINE;
        canvas.text((EDGE, cursor - 2.0), Anchor::Start, WORDS, "soft", &line);
    }
    let top = cursor + 10.0;
    let bottom = top + size.area_height;
    let y_ticks = choose(&plot.y.ticks, &y, |_| 22.0, |at, _| at * size.area_height);
    let gutter = y_ticks.iter().map(|(_, t)| text::width(t, WORDS)).fold(18.0, f64::max);
    let (left, right) = (EDGE + gutter + 8.0, size.width - 16.0);
    let frame = Frame { x, y, left, right, top, bottom, width: size.width };
    let room = |t: &str| text::width(t, WORDS) + 10.0;
    let x_ticks = choose(&plot.x.ticks, &x, room, |at, t| frame.middle_below(at, t));
    frame.axes(&mut canvas, &x_ticks, &y_ticks);
    for series in &plot.series {
        canvas.open_group(&series.tone.class());
        frame.series(&mut canvas, series, plot);
        canvas.close_group();
    }
    for rule in &plot.rules {
        frame.rule(&mut canvas, rule);
    }
    let mut cursor = bottom + 19.0;
    for line in text::wrap(&plot.x.label, WORDS, right - left) {
        cursor += LINE;
        canvas.text((f64::midpoint(left, right), cursor), Anchor::Middle, WORDS, "soft", &line);
    }
    let height = (cursor + 0.25 * WORDS + EDGE).ceil();
    Drawing { width: size.width, height, body: canvas.body, labels: canvas.labels, title: plot.title.clone() }
}

fn title(canvas: &mut Canvas, words: &str, width: f64) -> f64 {
    let mut cursor = 4.0;
    // bold letters are wider than the measure says
    for line in text::wrap(words, 1.08 * TITLE, width - 2.0 * EDGE) {
        cursor += 19.0;
        canvas.text((EDGE, cursor - 4.0), Anchor::Start, TITLE, "title", &line);
    }
    cursor
}

/// Rows of names with their marks; returns where they end.
fn legend(canvas: &mut Canvas, plot: &Plot, width: f64, mut cursor: f64) -> f64 {
    let named = plot.series.iter().filter(|s| !s.label.is_empty());
    let rules = plot.rules.iter().map(|r| match r {
        Rule::Upright { label, tone, dash, .. } => (label, *tone, *dash, true),
        Rule::Level { label, tone, dash, .. } => (label, *tone, *dash, false),
    });
    let room = width - 2.0 * EDGE - SWATCH - 6.0;
    let mut x = EDGE;
    let mut place = |words: &str, cursor: &mut f64| {
        let wide = SWATCH + 6.0 + text::width(words, WORDS);
        if x == EDGE || x + wide > width - EDGE {
            *cursor += LINE + if x == EDGE { 3.0 } else { 1.0 };
            x = EDGE;
        }
        let at = x;
        x += wide + 14.0;
        at
    };
    for series in named {
        let words = text::cut(&series.label, WORDS, room);
        let at = place(&words, &mut cursor);
        canvas.open_group(&series.tone.class());
        swatch(canvas, series, at, cursor - 8.0);
        canvas.close_group();
        canvas.text((at + SWATCH + 6.0, cursor - 4.0), Anchor::Start, WORDS, "", &words);
    }
    for (label, tone, dash, upright) in rules.filter(|r| !r.0.is_empty()) {
        let words = text::cut(label, WORDS, room);
        let at = place(&words, &mut cursor);
        canvas.open_group(&tone.class());
        let (from, to) = if upright {
            ((at + SWATCH / 2.0, cursor - 15.0), (at + SWATCH / 2.0, cursor - 1.0))
        } else {
            ((at, cursor - 8.0), (at + SWATCH, cursor - 8.0))
        };
        canvas.line(from, to, dash.class());
        canvas.close_group();
        canvas.text((at + SWATCH + 6.0, cursor - 4.0), Anchor::Start, WORDS, "", &words);
    }
    cursor
}

fn swatch(canvas: &mut Canvas, series: &Series, x: f64, y: f64) {
    if !series.band.is_empty() {
        canvas.path(&[(x, y - 6.0), (x + SWATCH, y - 6.0), (x + SWATCH, y + 6.0), (x, y + 6.0)], true, "band");
    }
    if !series.steps.is_empty() {
        let top = [(x, y + 6.0), (x + 4.0, y + 6.0), (x + 4.0, y - 5.0), (x + 22.0, y - 5.0), (x + 22.0, y + 6.0)];
        canvas.path(&top, false, series.dash.class());
    }
    if !series.points.is_empty() {
        if !series.scattered {
            canvas.line((x, y), (x + SWATCH, y), stroke(series));
        }
        if !series.bare {
            canvas.mark(series.shape, (x + SWATCH / 2.0, y), "mark", "");
        }
    }
}

fn stroke(series: &Series) -> &'static str {
    if series.thin { "thin" } else { series.dash.class() }
}

/// The densest choice of ticks whose texts stay apart: each needs some room around its middle, which depends on the
/// tick's place on the axis.
fn choose(given: &[f64], scale: &Scale, room: impl Fn(&str) -> f64, middle: impl Fn(f64, &str) -> f64) -> Vec<Tick> {
    let choices = if given.is_empty() { scale.ticks() } else { scale.ticks_at(given) };
    let named = choices
        .into_iter()
        .map(|choice| choice.into_iter().map(|(v, step)| (v, number::tick(v, step))).collect::<Vec<Tick>>());
    let text_at = |(v, words): &Tick| scale.place(*v).map_or(0.0, |p| middle(p.at, words));
    let apart = |ticks: &[Tick]| {
        ticks
            .windows(2)
            .all(|two| text_at(&two[1]) - text_at(&two[0]) >= f64::midpoint(room(&two[0].1), room(&two[1].1)))
    };
    let mut fitting: Vec<Vec<Tick>> = named.filter(|ticks| ticks.len() <= MOST_TICKS && apart(ticks)).collect();
    // of equally many, the first choice: `max_by_key` takes the last
    fitting.reverse();
    fitting.into_iter().max_by_key(Vec::len).unwrap_or_default()
}

impl Frame {
    fn point(&self, x: f64, y: f64) -> Option<((f64, f64), bool)> {
        let (x, y) = (self.x.place(x)?, self.y.place(y)?);
        let across = self.left + x.at * (self.right - self.left);
        let down = self.bottom - y.at * (self.bottom - self.top);
        Some(((across, down), x.beyond || y.beyond))
    }

    /// The middle of the text below a place on the x axis: at the very end of the axis the text moves in a little
    /// rather than out of the drawing.
    fn middle_below(&self, at: f64, words: &str) -> f64 {
        let half = text::width(words, WORDS) / 2.0;
        (self.left + at * (self.right - self.left)).clamp(half + 1.0, self.width - half - 1.0)
    }

    fn axes(&self, canvas: &mut Canvas, x_ticks: &[Tick], y_ticks: &[Tick]) {
        for (value, words) in y_ticks {
            let Some(place) = self.y.place(*value) else { continue };
            let y = self.bottom - place.at * (self.bottom - self.top);
            canvas.line((self.left, y), (self.right, y), "grid");
            canvas.text((self.left - 7.0, y + 4.2), Anchor::End, WORDS, "", words);
        }
        for (value, words) in x_ticks {
            let Some(place) = self.x.place(*value) else { continue };
            let x = self.left + place.at * (self.right - self.left);
            canvas.line((x, self.bottom), (x, self.bottom + 4.0), "frame");
            let middle = self.middle_below(place.at, words);
            canvas.text((middle, self.bottom + 18.0), Anchor::Middle, WORDS, "", words);
        }
        canvas.line((self.left, self.bottom), (self.right, self.bottom), "frame");
    }

    fn series(&self, canvas: &mut Canvas, series: &Series, plot: &Plot) {
        for region in runs(&series.band, |i| i.x.is_nan() || i.low.is_nan() || i.high.is_nan()) {
            self.band(canvas, region);
        }
        for bar in &series.bars {
            self.error_bar(canvas, *bar);
        }
        if !series.steps.is_empty() {
            self.steps(canvas, series);
        }
        for piece in runs(&series.points, |p| p.0.is_nan() || p.1.is_nan()) {
            let line: Vec<_> = piece.iter().filter_map(|p| self.point(p.0, p.1)).map(|p| p.0).collect();
            if line.len() > 1 && !series.scattered {
                canvas.path(&line, false, stroke(series));
            }
        }
        if !series.bare {
            self.marks(canvas, series, plot);
        }
    }

    /// A value beyond the end of an axis is an open triangle that points to where it is.
    fn marks(&self, canvas: &mut Canvas, series: &Series, plot: &Plot) {
        for (x, y) in &series.points {
            let Some((place, beyond)) = self.point(*x, *y) else { continue };
            let words = format!("{}: {}\n{}: {}", plot.x.label, short(*x), plot.y.label, short(*y));
            if beyond {
                let up = self.y.place(*y).is_some_and(|p| p.at > 0.5);
                let shape = if up { Shape::TriangleUp } else { Shape::TriangleDown };
                canvas.mark(shape, place, "open", &words);
            } else {
                canvas.mark(series.shape, place, "mark", &words);
            }
        }
    }

    fn band(&self, canvas: &mut Canvas, region: &[Interval]) {
        let highs = region.iter().filter_map(|i| self.point(i.x, i.high));
        let lows = region.iter().rev().filter_map(|i| self.point(i.x, i.low));
        let outline: Vec<_> = highs.chain(lows).map(|p| p.0).collect();
        if region.len() == 1 {
            // a single interval has no width: a broad bar instead
            let ((x, top), (_, bottom)) = (outline[0], outline[1]);
            canvas.path(&[(x - 5.0, top), (x + 5.0, top), (x + 5.0, bottom), (x - 5.0, bottom)], true, "band");
        } else {
            canvas.path(&outline, true, "band");
        }
    }

    fn error_bar(&self, canvas: &mut Canvas, bar: Interval) {
        let (Some((low, low_beyond)), Some((high, high_beyond))) =
            (self.point(bar.x, bar.low), self.point(bar.x, bar.high))
        else {
            return;
        };
        canvas.line(low, high, "bar");
        for ((x, y), beyond) in [(low, low_beyond), (high, high_beyond)] {
            if !beyond {
                canvas.line((x - 3.5, y), (x + 3.5, y), "bar");
            }
        }
    }

    fn steps(&self, canvas: &mut Canvas, series: &Series) {
        let mut outline = Vec::new();
        let mut height = 0.0;
        for (x, y) in &series.steps {
            outline.extend([self.point(*x, height), self.point(*x, *y)].into_iter().flatten().map(|p| p.0));
            height = *y;
        }
        canvas.path(&outline, true, "band");
        canvas.path(&outline, false, series.dash.class());
    }

    fn rule(&self, canvas: &mut Canvas, rule: &Rule) {
        let (ends, tone, dash): (_, _, &Dash) = match rule {
            Rule::Upright { x, tone, dash, .. } => {
                let Some(place) = self.x.place(*x).filter(|p| !p.beyond) else { return };
                let x = self.left + place.at * (self.right - self.left);
                (((x, self.bottom), (x, self.top)), tone, dash)
            }
            Rule::Level { y, tone, dash, .. } => {
                let Some(place) = self.y.place(*y).filter(|p| !p.beyond) else { return };
                let y = self.bottom - place.at * (self.bottom - self.top);
                (((self.left, y), (self.right, y)), tone, dash)
            }
        };
        canvas.open_group(&tone.class());
        canvas.line(ends.0, ends.1, dash.class());
        canvas.close_group();
    }
}

/// A value for the words at a mark.
fn short(value: f64) -> String {
    if value.is_finite() && value.fract() == 0.0 && value.abs() < 1e6 {
        number::fixed(value, 0)
    } else {
        number::nats(value)
    }
}

/// Unbroken runs of items.
fn runs<T>(items: &[T], breaks: impl Fn(&T) -> bool) -> impl Iterator<Item = &[T]> {
    items.split(move |item| breaks(item)).filter(|run| !run.is_empty())
}
