//! A page that needs nothing but itself: it opens offline, on a phone, in the dark and on paper.

use crate::figures::Figure;
use crate::svg::text::escape;
use crate::svg::{Plot, Size, sheet};
use std::fmt::Write;

/// A page in the making.
pub struct Page {
    title: String,
    body: String,
    sections: Vec<(String, String)>,
}

/// A table; numbers stand right-aligned.
#[derive(Default)]
pub struct Table {
    pub caption: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// How many columns on the left hold words.
    pub words: usize,
}

const STYLE: &str = include_str!("style.css");

impl Page {
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), body: String::new(), sections: Vec::new() }
    }

    /// A section with a heading, which is also named at the top of the page.
    pub fn section(&mut self, title: &str) {
        let id: String =
            title.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        self.add(&format!("<h2 id=\"{id}\">{}</h2>\n", escape(title)));
        self.sections.push((id, title.to_owned()));
    }

    pub fn heading(&mut self, title: &str) {
        self.add(&format!("<h3>{}</h3>\n", escape(title)));
    }

    pub fn paragraph(&mut self, words: &str) {
        self.add(&format!("<p>{}</p>\n", prose(words)));
    }

    pub fn list(&mut self, items: &[String]) {
        self.add(&unordered(items, ""));
    }

    /// Plots beside each other where there is room.
    pub fn plots<'a>(&mut self, plots: impl IntoIterator<Item = (&'a Plot, &'a str)>) {
        let mut figures = String::new();
        for (plot, caption) in plots {
            // two drawings: one that is shrunk to fit a phone cannot be read
            let wide = plot.draw(Size::WIDE).element("plot wide");
            let narrow = plot.draw(Size::NARROW).element("plot narrow");
            let _ = write!(figures, "<figure>\n{wide}{narrow}<figcaption>{}</figcaption></figure>\n", escape(caption));
        }
        if !figures.is_empty() {
            self.add(&format!("<div class=\"figures\">\n{figures}</div>\n"));
        }
    }

    pub(crate) fn figures(&mut self, figures: impl IntoIterator<Item = Option<Figure>>) {
        let figures: Vec<Figure> = figures.into_iter().flatten().collect();
        self.plots(figures.iter().map(|f| (&f.plot, &f.caption[..])));
    }

    pub fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        let class = |n: usize| if n < table.words { "word" } else { "number" };
        let name = |(n, h): (usize, &String)| format!("<th class=\"{}\">{}</th>", class(n), escape(h));
        let head = concat(table.head.iter().enumerate().map(name));
        let cell = |(n, c): (usize, &String)| format!("<td class=\"{}\">{}</td>", class(n), escape(c));
        let row = |cells: &Vec<String>| format!("<tr>{}</tr>\n", concat(cells.iter().enumerate().map(cell)));
        let rows = concat(table.rows.iter().map(row));
        let caption = escape(&table.caption);
        let above = if caption.is_empty() { String::new() } else { format!("<p class=\"caption\">{caption}</p>\n") };
        let head = if table.head.is_empty() { String::new() } else { format!("<thead><tr>{head}</tr></thead>") };
        // focusable: whoever has no mouse scrolls it with the keys
        self.add(&format!(
            "{above}<div class=\"scroll\" tabindex=\"0\"><table aria-label=\"{caption}\">{head}<tbody>
{rows}</tbody></table></div>
"
        ));
    }

    /// Markup as it is.
    pub(crate) fn add(&mut self, markup: &str) {
        self.body.push_str(markup);
    }

    /// The whole file; `top` is markup above the sections.
    pub(crate) fn finish(&self, top: &str) -> String {
        let link = |(id, title): &(String, String)| format!("<a href=\"#{id}\">{}</a>", escape(title));
        let links: Vec<String> = self.sections.iter().map(link).collect();
        let contents = if links.len() > 1 { format!("<nav>{}</nav>\n", links.join(" ")) } else { String::new() };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n\
             <title>{}</title>\n<style>\n{STYLE}{}\n</style>\n</head>\n<body>\n<main>\n{top}{contents}{}</main>\n</body>\n</html>\n",
            escape(&self.title),
            sheet(),
            self.body
        )
    }

    /// The whole file, with its title as heading.
    pub fn render(&self) -> String {
        self.finish(&format!("<header><h1>{}</h1></header>\n", escape(&self.title)))
    }
}

pub(crate) fn concat(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().concat()
}

/// A list with a dot before each item.
pub(crate) fn unordered(items: &[String], class: &str) -> String {
    let item = |words: &String| format!("<li class=\"{class}\">{}</li>", prose(words));
    if items.is_empty() { String::new() } else { format!("<ul>{}</ul>\n", concat(items.iter().map(item))) }
}

/// A sentence: what stands between backticks is code.
pub(crate) fn prose(words: &str) -> String {
    let pieces: Vec<String> = words.split('`').map(escape).collect();
    // an odd number of backticks: they are no quotes
    if pieces.len().is_multiple_of(2) {
        return pieces.join("`");
    }
    let piece = |(n, text): (usize, &String)| if n % 2 == 1 { format!("<code>{text}</code>") } else { text.clone() };
    concat(pieces.iter().enumerate().map(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_sentences() {
        assert_eq!(prose("use `--steps 5` & `<b>`"), "use <code>--steps 5</code> &amp; <code>&lt;b&gt;</code>");
        assert_eq!(prose("a ` alone"), "a ` alone");
    }
}
