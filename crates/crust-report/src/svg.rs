//! A small plotting layer of our own: what it draws is complete, deterministic and readable without colours.

mod canvas;
mod layout;
mod plot;
mod scale;
mod style;
pub(crate) mod text;

pub use canvas::{Area, Drawing, Label, Shape};
pub use plot::{Axis, Interval, Plot, Rule, Series, Size};
pub use scale::{Kind, Place, Scale};
pub use style::{Dash, Tone};

pub(crate) use style::sheet;

use std::fmt::Write;

impl Drawing {
    /// An `svg` element for a page that has the style sheet.
    pub fn element(&self, class: &str) -> String {
        let Self { width, height, body, title, .. } = self;
        let title = text::escape(title);
        format!(
            "<svg class=\"{class}\" role=\"img\" aria-label=\"{title}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n{body}</svg>\n"
        )
    }
}

/// A file of its own: drawings side by side, with their style.
pub fn document(drawings: &[Drawing]) -> String {
    const GAP: f64 = 24.0;
    const MARGIN: f64 = 12.0;
    let height = drawings.iter().map(|d| d.height).fold(0.0, f64::max) + 2.0 * MARGIN;
    let inner: f64 = drawings.iter().map(|d| d.width).sum();
    let gaps = GAP * crate::number::as_f64(drawings.len().saturating_sub(1));
    let width = inner + gaps + 2.0 * MARGIN;
    let title = drawings.iter().map(|d| text::escape(&d.title)).collect::<Vec<_>>().join("; ");
    let mut file = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<style>{}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" class=\"paper\"/>\n",
        sheet()
    );
    let mut x = MARGIN;
    for drawing in drawings {
        let _ = write!(file, "<g class=\"plot\" transform=\"translate({x} {MARGIN})\">\n{}</g>\n", drawing.body);
        x += drawing.width + GAP;
    }
    file + "</svg>\n"
}
