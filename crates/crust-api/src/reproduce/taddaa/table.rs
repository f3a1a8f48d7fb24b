//! Tables of data as people keep them.

/// The cells of a line; those in quotes may have commas in them.
pub(super) fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for character in line.trim_start_matches('\u{feff}').chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(other);
                }
            }
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}
