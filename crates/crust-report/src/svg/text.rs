//! How wide text is, before anybody has drawn it.

/// The width of text in units of its size, for a wide sans-serif font: what fits by this measure fits on any computer.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// Widths of `DejaVu Sans`, rounded up by kinds of letters: no font that a page asks for is wider.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '\u{202f}' | '\u{302}' => 0.29,
        ' ' | '.' | ',' | ':' | ';' | '!' | '|' | 'I' | 'f' | 't' | '(' | ')' | '[' | ']' | '/' | '·' => 0.4,
        'r' | '-' | '⁰' | '¹' | '²' | '³' | '⁴' | '⁵' | '⁶' | '⁷' | '⁸' | '⁹' | '⁻' => 0.43,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' => 1.0,
        '−' | '±' | '+' | '=' | '<' | '>' | '≤' | '≥' | '~' | '×' | '∞' => 0.84,
        'A'..='Z' => 0.74,
        _ => 0.63,
    }
}

/// Lines of at most this width, broken between words. A word that is wider has a line for itself.
pub(crate) fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Text that is cut where there is no more room.
pub(crate) fn cut(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) + width("…", size) > room {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

/// Text inside of markup.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // not allowed in XML, in whatever way they are written
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit() {
        let lines = wrap("the quick brown fox jumps over the lazy dog", 10.0, 80.0);
        assert!(lines.len() > 3);
        assert!(lines.iter().all(|l| width(l, 10.0) <= 80.0), "{lines:?}");
        assert_eq!(lines.join(" "), "the quick brown fox jumps over the lazy dog");
        assert!(wrap("", 10.0, 80.0).is_empty());
    }

    #[test]
    fn what_is_cut_fits() {
        assert_eq!(cut("short", 10.0, 100.0), "short");
        let long = cut(&"word ".repeat(30), 10.0, 100.0);
        assert!(long.ends_with('…') && width(&long, 10.0) <= 100.0 && width(&long, 10.0) > 80.0, "{long}");
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(escape("a<b & \"c\"\u{7}"), "a&lt;b &amp; &quot;c&quot;\u{fffd}");
    }
}
