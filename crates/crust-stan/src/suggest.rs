//! "Did you mean …?": the known name nearest to a misspelt one.

/// The candidate with the smallest edit distance to `word`, if it is near enough to be meant. Ties go to the first.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match word.chars().count() {
        0..=2 => 1,
        3..=6 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == word || candidate.len().abs_diff(word.len()) > limit {
            continue;
        }
        let distance = edit_distance(word, candidate);
        // A name that shares nothing but its length is not a suggestion.
        if distance <= limit && distance < candidate.chars().count() && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, with a swap of neighbours counted as one edit.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substitution.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, d) in [("", "abc", 3), ("kitten", "sitting", 3), ("ab", "ba", 1), ("normal", "normal", 0)] {
            assert_eq!(edit_distance(a, b), d, "{a} {b}");
        }
    }

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["normal_lpdf", "normal_lcdf", "gamma_lpdf", "x"];
        assert_eq!(closest("nromal_lpdf", names), Some("normal_lpdf"));
        assert_eq!(closest("zebra", names), None);
        assert_eq!(closest("y", names), None);
    }
}
