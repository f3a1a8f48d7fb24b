//! Lays a stream of words, possible line breaks and groups out in lines of at most [`WIDTH`] columns.
//!
//! The stream is flat: groups are a pair of marks in it, so neither its depth nor its length costs stack. Three passes
//! measure it, then one writes it, so the time is linear in its length.

use std::borrow::Cow;

/// Lines are broken so as to be no longer than this, where there is a place to break them.
pub(super) const WIDTH: usize = 80;
const INDENT: usize = 2;
/// How much further in the rest of a statement stands, where it cannot be lined up with something.
const HANG: usize = 4;
/// A group that is broken in any case is lined up with its start only up to this column: further right, nothing fits.
const ALIGN_LIMIT: usize = 40;

#[derive(Debug)]
pub(super) enum Item<'a> {
    Text(Cow<'a, str>),
    /// A blank within a line; none at its ends.
    Space,
    /// A blank, or a break where the piece up to the next break of the same group would not fit.
    Line,
    /// A blank, or a break where not even the piece up to the next possible break of any group would fit.
    LateLine,
    /// A break in any case.
    Hard,
    /// A break and an empty line.
    Blank,
    Open(Shape),
    Close,
    Comment(Note<'a>),
}

/// What a group does to the lines in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The inside of a block.
    Indent,
    /// The rest of a statement, from a [`Item::LateLine`] on.
    Hang,
    /// Lines are lined up with the group's start.
    Align,
    /// The same behind a bracket, where lines may start on the next line if they would not fit beside the bracket.
    List,
}

/// A comment that ends its line or stands on a line of its own, ready to be written.
#[derive(Debug)]
pub(super) struct Note<'a> {
    /// Lines behind the first are relative to the column in which the comment starts.
    pub lines: Vec<Cow<'a, str>>,
    /// It starts a line; otherwise it stands behind what was written before it, even if a break was called for.
    pub own_line: bool,
    /// Nothing may stand behind it on its line.
    pub ends_line: bool,
    /// `//`: not even another comment may stand behind it.
    pub to_line_end: bool,
}

impl Item<'_> {
    fn width(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Space | Self::Line | Self::LateLine => 1,
            _ => 0,
        }
    }

    /// The line ends here whatever else is on it.
    fn is_hard(&self) -> bool {
        matches!(self, Self::Hard | Self::Blank | Self::Comment(_))
    }
}

pub(super) fn render(items: &[Item]) -> String {
    let measure = Measure::new(items);
    let base = Frame { flat: false, indent: 0 };
    let mut writer = Writer { out: String::new(), column: 0, wanted: Gap::None, frames: vec![base], shut: false };
    for (i, item) in items.iter().enumerate() {
        writer.item(item, i, &measure);
    }
    if !writer.out.is_empty() {
        writer.out.push('\n');
    }
    writer.out
}

/// What the writer needs to know about the text ahead.
struct Measure {
    /// The width of everything before the item, if it all stood on one line; one entry more than there are items.
    start: Vec<usize>,
    /// How many items before this one end their line in any case.
    hard: Vec<usize>,
    /// The next place, from the item on, where a line may end.
    next_break: Vec<usize>,
    /// For the start of a group its end; for a [`Item::Line`] the end of the piece behind it.
    end: Vec<usize>,
    /// For the start of a group, the width of its widest piece.
    widest: Vec<usize>,
}

/// A group that is open while measuring, with the start of its last piece, if the line has not ended since.
struct OpenGroup {
    start: usize,
    piece: Option<usize>,
}

impl Measure {
    fn new(items: &[Item]) -> Self {
        let n = items.len();
        let mut measure = Self {
            start: Vec::with_capacity(n + 1),
            hard: Vec::with_capacity(n),
            next_break: vec![n; n + 1],
            end: vec![n; n],
            widest: vec![0; n],
        };
        let (mut width, mut hard) = (0, 0);
        for item in items {
            measure.start.push(width);
            measure.hard.push(hard);
            width += item.width();
            hard += usize::from(item.is_hard());
        }
        measure.start.push(width);
        for (i, item) in items.iter().enumerate().rev() {
            let is_break = item.is_hard() || matches!(item, Item::Line | Item::LateLine);
            measure.next_break[i] = if is_break { i } else { measure.next_break[i + 1] };
        }
        measure.groups(items);
        measure
    }

    fn groups(&mut self, items: &[Item]) {
        let mut open: Vec<OpenGroup> = Vec::new();
        for (i, item) in items.iter().enumerate() {
            match item {
                Item::Open(_) => open.push(OpenGroup { start: i, piece: Some(i) }),
                Item::Close => {
                    if let Some(mut group) = open.pop() {
                        self.end_piece(&mut group, self.next_break[i]);
                        self.end[group.start] = i;
                    }
                }
                Item::Line => {
                    if let Some(group) = open.last_mut() {
                        self.end_piece(group, i);
                        group.piece = Some(i);
                    }
                }
                item if item.is_hard() => {
                    // A group without a running piece stands only in groups without one.
                    for group in open.iter_mut().rev().take_while(|g| g.piece.is_some()) {
                        self.end_piece(group, i);
                    }
                }
                _ => {}
            }
        }
    }

    fn end_piece(&mut self, group: &mut OpenGroup, end: usize) {
        if let Some(piece) = group.piece.take() {
            if piece != group.start {
                self.end[piece] = end;
            }
            self.widest[group.start] = self.widest[group.start].max(self.start[end] - self.start[piece]);
        }
    }

    fn width(&self, from: usize, to: usize) -> usize {
        self.start[to] - self.start[from]
    }
}

#[derive(Clone, Copy)]
struct Frame {
    /// The whole group stands on one line.
    flat: bool,
    indent: usize,
}

/// What to put before the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    Space,
    Break { indent: usize, blank: bool },
}

struct Writer {
    out: String,
    column: usize,
    wanted: Gap,
    frames: Vec<Frame>,
    /// A comment runs to the end of the line.
    shut: bool,
}

impl Writer {
    fn item(&mut self, item: &Item, i: usize, measure: &Measure) {
        match item {
            Item::Text(text) => {
                self.gap();
                self.out.push_str(text);
                self.column = match text.rsplit_once('\n') {
                    Some((_, last)) => last.chars().count(),
                    None => self.column + text.chars().count(),
                };
            }
            Item::Space => self.want_space(),
            Item::Line => self.line(measure.width(i, measure.end[i])),
            Item::LateLine => {
                self.line(measure.width(i, measure.next_break[i + 1]));
                if let (Gap::None | Gap::Space, Some(frame)) = (self.wanted, self.frames.last_mut()) {
                    // Nothing hangs, so what is in the group hangs from where the group stands.
                    frame.indent = frame.indent.saturating_sub(HANG);
                }
            }
            Item::Hard => self.want_break(false),
            Item::Blank => self.want_break(true),
            Item::Open(shape) => self.open(*shape, i, measure),
            Item::Close => {
                self.frames.pop();
            }
            Item::Comment(note) => self.comment(note),
        }
    }

    fn frame(&self) -> Frame {
        self.frames.last().copied().unwrap_or(Frame { flat: false, indent: 0 })
    }

    /// The column of the next word.
    fn next_column(&self) -> usize {
        match self.wanted {
            Gap::None => self.column,
            Gap::Space => self.column + 1,
            Gap::Break { indent, .. } => indent,
        }
    }

    fn want_space(&mut self) {
        if self.wanted == Gap::None {
            self.wanted = Gap::Space;
        }
    }

    fn want_break(&mut self, blank: bool) {
        self.wanted = Gap::Break { indent: self.frame().indent, blank };
    }

    /// A possible break before a piece of the given width (with the blank in its place).
    fn line(&mut self, width: usize) {
        if matches!(self.wanted, Gap::Break { .. }) {
            return;
        }
        if self.frame().flat || self.column + width <= WIDTH {
            self.want_space();
        } else {
            self.want_break(false);
        }
    }

    fn open(&mut self, shape: Shape, i: usize, measure: &Measure) {
        let Frame { flat, indent } = self.frame();
        let frame = match shape {
            Shape::Indent => Frame { flat: false, indent: indent + INDENT },
            Shape::Hang => Frame { flat, indent: indent + HANG },
            Shape::Align | Shape::List if flat || self.fits(i, measure) => Frame { flat: true, indent },
            Shape::Align | Shape::List => {
                let column = self.next_column();
                let aligned = aligns(column, indent + HANG, measure.widest[i]);
                Frame { flat: false, indent: if aligned { column } else { indent + HANG } }
            }
        };
        let moved = shape == Shape::List && !frame.flat && frame.indent != self.next_column();
        self.frames.push(frame);
        if moved {
            self.want_break(false);
        }
    }

    /// Whether the group at `i` fits on the line, with what cannot be cut off behind it.
    fn fits(&self, i: usize, measure: &Measure) -> bool {
        let end = measure.end[i];
        measure.hard[i] == measure.hard[end] && self.next_column() + measure.width(i, measure.next_break[end]) <= WIDTH
    }

    /// Writes what is wanted before the next word.
    fn gap(&mut self) {
        match self.wanted {
            Gap::None => {}
            Gap::Space => {
                self.out.push(' ');
                self.column += 1;
            }
            Gap::Break { .. } if self.out.is_empty() => {}
            Gap::Break { indent, blank } => {
                self.out.push_str(if blank { "\n\n" } else { "\n" });
                self.blanks(indent);
                self.column = indent;
                self.shut = false;
            }
        }
        self.wanted = Gap::None;
    }

    fn blanks(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    fn comment(&mut self, note: &Note) {
        let wanted = self.wanted;
        if note.own_line || self.shut {
            if !matches!(wanted, Gap::Break { .. }) {
                self.want_break(false);
            }
            self.gap();
        } else if !self.out.is_empty() {
            self.wanted = Gap::Space;
            self.gap();
            if matches!(wanted, Gap::Break { .. }) {
                self.wanted = wanted;
            }
        }
        let column = self.column;
        for (i, line) in note.lines.iter().enumerate() {
            if i > 0 {
                self.out.push('\n');
                if !line.is_empty() {
                    self.blanks(column);
                }
            }
            self.out.push_str(line);
            self.column = line.chars().count() + column;
        }
        self.shut = note.to_line_end;
        if self.wanted == Gap::None {
            self.wanted = Gap::Space;
            if note.ends_line {
                self.want_break(false);
            }
        }
    }
}

/// Whether the lines of a broken group start at `column`, rather than at `hanging`.
fn aligns(column: usize, hanging: usize, widest: usize) -> bool {
    if column <= hanging || column + widest <= WIDTH {
        return true;
    }
    // A piece that fits nowhere has no say.
    column <= ALIGN_LIMIT && hanging + widest > WIDTH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(s: &str) -> Item<'_> {
        Item::Text(s.into())
    }

    #[test]
    fn a_group_that_fits_is_not_broken() {
        let items = [text("f("), Item::Open(Shape::List), text("a,"), Item::Line, text("b"), Item::Close, text(");")];
        assert_eq!(render(&items), "f(a, b);\n");
    }

    #[test]
    fn what_stands_behind_a_group_counts_for_its_width() {
        let long = "x".repeat(WIDTH - 6);
        let items = [text("f("), Item::Open(Shape::List), text("a,"), Item::Line, text(&long), Item::Close, text(");")];
        assert_eq!(render(&items), format!("f(a,\n  {long});\n"));
    }

    #[test]
    fn a_list_moves_below_its_bracket_if_that_helps() {
        let (name, long) = ("n".repeat(30), "x".repeat(60));
        let items = [text(&name), text("("), Item::Open(Shape::List), text("a,"), Item::Line, text(&long), Item::Close];
        assert_eq!(render(&items), format!("{name}(\n    a, {long}\n"));
    }

    #[test]
    fn a_trailing_comment_stands_before_the_break() {
        let note = |own_line| Note { lines: vec!["// c".into()], own_line, ends_line: true, to_line_end: true };
        let items = [text("a"), Item::Hard, Item::Comment(note(false)), Item::Comment(note(false)), text("b")];
        assert_eq!(render(&items), "a // c\n// c\nb\n");
    }
}
