//! A drawing in the making: elements of SVG, and where their text lies.

use super::text;
use std::fmt::Write;

/// Which end of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    /// Whether two areas share more than an edge.
    pub fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// A text with the area that it may fill.
#[derive(Clone, Debug)]
pub struct Label {
    pub text: String,
    pub area: Area,
}

/// A finished drawing.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub width: f64,
    pub height: f64,
    /// Elements of SVG.
    pub body: String,
    pub labels: Vec<Label>,
    /// What it is, in words, for those who do not see it.
    pub title: String,
}

#[derive(Default)]
pub(crate) struct Canvas {
    pub body: String,
    pub labels: Vec<Label>,
}

impl Canvas {
    /// Text with its baseline at `y`.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, size: f64, class: &str, words: &str) {
        let wide = text::width(words, size);
        let (left, name) = match anchor {
            Anchor::Start => (x, "start"),
            Anchor::Middle => (x - wide / 2.0, "middle"),
            Anchor::End => (x - wide, "end"),
        };
        let area = Area { left, top: y - 0.8 * size, right: left + wide, bottom: y + 0.25 * size };
        self.labels.push(Label { text: words.to_owned(), area });
        let words = text::escape(words);
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{name}\" font-size=\"{size}\" class=\"{class}\">{words}</text>"
        ));
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(format_args!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>"));
    }

    /// Straight lines through points; closed ones are filled.
    pub fn path(&mut self, points: &[(f64, f64)], closed: bool, class: &str) {
        if points.is_empty() {
            return;
        }
        let mut steps = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(steps, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
        }
        self.add(format_args!("<path d=\"{steps}{}\" class=\"{class}\"/>", if closed { "Z" } else { "" }));
    }

    /// A mark, with words that show up when it is pointed at.
    pub fn mark(&mut self, shape: Shape, (x, y): (f64, f64), class: &str, words: &str) {
        let steps = shape.outline(x, y);
        let title = if words.is_empty() { String::new() } else { format!("<title>{}</title>", text::escape(words)) };
        self.add(format_args!("<path d=\"{steps}\" class=\"{class}\">{title}</path>"));
    }

    pub fn open_group(&mut self, class: &str) {
        self.add(format_args!("<g class=\"{class}\">"));
    }

    pub fn close_group(&mut self) {
        self.add(format_args!("</g>"));
    }

    fn add(&mut self, element: std::fmt::Arguments) {
        // writing to a string cannot fail
        let _ = writeln!(self.body, "{element}");
    }
}

/// The shape of marks: series differ in more than their colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    #[default]
    Circle,
    Square,
    Diamond,
    TriangleUp,
    TriangleDown,
}

impl Shape {
    fn outline(self, x: f64, y: f64) -> String {
        const R: f64 = 3.6;
        let corners: &[(f64, f64)] = match self {
            Shape::Circle => {
                return format!("M{:.1} {y:.1}a{R} {R} 0 1 0 {d} 0a{R} {R} 0 1 0 -{d} 0Z", x - R, d = 2.0 * R);
            }
            Shape::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Shape::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            Shape::TriangleUp => &[(0.0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
            Shape::TriangleDown => &[(0.0, 1.2), (1.15, -0.9), (-1.15, -0.9)],
        };
        let mut steps = String::new();
        for (at, (dx, dy)) in corners.iter().enumerate() {
            let _ = write!(steps, "{}{:.1} {:.1}", if at == 0 { 'M' } else { 'L' }, x + R * dx, y + R * dy);
        }
        steps + "Z"
    }
}
