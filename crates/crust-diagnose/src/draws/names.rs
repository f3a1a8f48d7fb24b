//! Names of columns: how `CmdStan` flattens containers, complex numbers and tuples, and back.
//!
//! Indices follow dots (`L.2.1`), first index fastest; the parts of a complex number are `z.real` and `z.imag`; the
//! parts of a tuple follow colons (`a:1`, and `a.3:1` in an array of tuples).

/// `L.2.1` as people write it: `L[2,1]`. Parts of tuples follow a dot, as in Stan: `a.3:1` is `a[3].1`.
pub fn bracketed(name: &str) -> String {
    let part = |part: &str| match part.split_once('.') {
        Some((base, indices)) => format!("{base}[{}]", indices.replace('.', ",")),
        None => part.to_owned(),
    };
    name.split(':').map(part).collect::<Vec<_>>().join(".")
}

/// The inverse of [`bracketed`]: `L[2,1]` is `L.2.1`. A name that is already dotted and has no tuple in it stays as it
/// is.
pub fn dotted(name: &str) -> String {
    if !name.contains('[') {
        // `a.1` alone could be the element of a vector or the part of a tuple: files write the first that way
        return name.to_owned();
    }
    let mut result = String::with_capacity(name.len());
    let mut inside = false;
    for letter in name.chars() {
        match letter {
            '[' => {
                inside = true;
                result.push('.');
            }
            ']' => inside = false,
            ',' if inside => result.push('.'),
            ' ' if inside => {}
            '.' if !inside => result.push(':'),
            other => result.push(other),
        }
    }
    result
}

/// What a quantity is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Real or integer values of these dimensions; none for a scalar.
    Real(Vec<usize>),
    /// Complex values of these dimensions.
    Complex(Vec<usize>),
    /// Tuples of these parts, in an array of these dimensions.
    Tuple(Vec<usize>, Vec<Self>),
}

/// The names of a quantity's columns in `CmdStan`'s order.
pub fn column_names(name: &str, shape: &Shape) -> Vec<String> {
    match shape {
        Shape::Real(dims) => element_names(name, dims),
        Shape::Complex(dims) => {
            let parts = |element: String| [format!("{element}.real"), format!("{element}.imag")];
            element_names(name, dims).into_iter().flat_map(parts).collect()
        }
        Shape::Tuple(dims, parts) => {
            let tuple = |element: String| {
                let part = |(part, number): (&Shape, usize)| column_names(&format!("{element}:{number}"), part);
                parts.iter().zip(1..).flat_map(part).collect::<Vec<_>>()
            };
            element_names(name, dims).into_iter().flat_map(tuple).collect()
        }
    }
}

/// `name.i.j…` for all indices, the first fastest.
fn element_names(name: &str, dims: &[usize]) -> Vec<String> {
    let mut suffixes = vec![String::new()];
    // the last index varies slowest, so it makes the outermost loop
    for &size in dims.iter().rev() {
        // an index goes in front of those already there
        suffixes = suffixes.iter().flat_map(|rest| (1..=size).map(move |i| format!(".{i}{rest}"))).collect();
    }
    suffixes.iter().map(|suffix| format!("{name}{suffix}")).collect()
}

/// Columns that form one rectangular variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name without indices; parts of tuples follow a dot.
    pub name: String,
    pub dims: Vec<usize>,
    pub complex: bool,
    /// The column of each element, *last* index fastest; the real and the imaginary part in turn if complex.
    pub columns: Vec<usize>,
}

/// Gathers columns into variables, in the order in which they first appear. The indices of an array of tuples and those
/// inside a tuple join to the dimensions of one variable for each part. Columns that do not fill a rectangle stay
/// single variables.
pub fn variables(names: &[String]) -> Vec<Variable> {
    let mut groups: Vec<(String, Vec<Element>)> = Vec::new();
    for (column, name) in names.iter().enumerate() {
        let (base, element) = parse(name, column);
        // columns of a variable are neighbours unless it is part of a tuple, so that the search ends soon
        match groups.iter_mut().rev().find(|(other, _)| *other == base) {
            Some((_, elements)) => elements.push(element),
            None => groups.push((base, vec![element])),
        }
    }
    groups.into_iter().flat_map(|(base, elements)| assemble(base, elements, names)).collect()
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Element {
    indices: Vec<usize>,
    /// `Some(true)` for the imaginary part of a complex number.
    imaginary: Option<bool>,
    column: usize,
}

fn parse(name: &str, column: usize) -> (String, Element) {
    let mut bases = Vec::new();
    let mut element = Element { indices: Vec::new(), imaginary: None, column };
    for part in name.split(':') {
        let mut pieces = part.split('.');
        bases.extend(pieces.next());
        for piece in pieces {
            match (piece, piece.parse()) {
                ("real", _) => element.imaginary = Some(false),
                ("imag", _) => element.imaginary = Some(true),
                (_, Ok(index)) => element.indices.push(index),
                _ => return (name.to_owned(), Element { indices: Vec::new(), imaginary: None, column }),
            }
        }
    }
    (bases.join("."), element)
}

fn assemble(name: String, mut elements: Vec<Element>, names: &[String]) -> Vec<Variable> {
    elements.sort();
    let complex = elements[0].imaginary.is_some();
    let rank = elements[0].indices.len();
    let dims: Vec<usize> =
        (0..rank).map(|d| elements.iter().filter_map(|e| e.indices.get(d)).copied().max().unwrap_or(0)).collect();
    let size = dims.iter().try_fold(1_usize + usize::from(complex), |product, &n| product.checked_mul(n));
    let regular = |e: &Element| e.indices.len() == rank && e.imaginary.is_some() == complex && !e.indices.contains(&0);
    let distinct =
        elements.windows(2).all(|pair| (&pair[0].indices, pair[0].imaginary) != (&pair[1].indices, pair[1].imaginary));
    if size == Some(elements.len()) && distinct && elements.iter().all(regular) {
        return vec![Variable { name, dims, complex, columns: elements.iter().map(|e| e.column).collect() }];
    }
    elements.sort_by_key(|element| element.column);
    let single = |e: &Element| Variable {
        name: names[e.column].clone(),
        dims: Vec::new(),
        complex: false,
        columns: vec![e.column],
    };
    elements.iter().map(single).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_convert_both_ways() {
        for (file, written) in [
            ("mu", "mu"),
            ("mu.1", "mu[1]"),
            ("L.2.1", "L[2,1]"),
            ("z.3.real", "z[3,real]"),
            ("a.3:1", "a[3].1"),
            ("a.1.2:2.4:1.imag", "a[1,2].2[4].1[imag]"),
            ("energy__", "energy__"),
        ] {
            assert_eq!(bracketed(file), written);
            assert_eq!(dotted(written), file);
            assert_eq!(dotted(file), file);
        }
        assert_eq!(bracketed("a:1"), "a.1");
        assert_eq!(dotted("L[2, 1]"), "L.2.1");
    }

    #[test]
    fn columns_come_first_index_fastest() {
        assert_eq!(column_names("mu", &Shape::Real(vec![])), ["mu"]);
        let matrix = column_names("L", &Shape::Real(vec![2, 3]));
        assert_eq!(matrix, ["L.1.1", "L.2.1", "L.1.2", "L.2.2", "L.1.3", "L.2.3"]);
        assert_eq!(column_names("z", &Shape::Complex(vec![2])), ["z.1.real", "z.1.imag", "z.2.real", "z.2.imag"]);
        let tuple = Shape::Tuple(vec![2], vec![Shape::Real(vec![]), Shape::Real(vec![2])]);
        let expected = ["a.1:1", "a.1:2.1", "a.1:2.2", "a.2:1", "a.2:2.1", "a.2:2.2"];
        assert_eq!(column_names("a", &tuple), expected);
        assert!(column_names("none", &Shape::Real(vec![0, 4])).is_empty());
    }

    #[test]
    fn variables_are_found_again_and_their_elements_ordered() {
        let mut names = column_names("mu", &Shape::Real(vec![]));
        names.extend(column_names("L", &Shape::Real(vec![2, 3])));
        names.extend(column_names("z", &Shape::Complex(vec![2])));
        names.extend(column_names("a", &Shape::Tuple(vec![2], vec![Shape::Real(vec![]), Shape::Real(vec![2])])));
        let found = variables(&names);
        let describe = |v: &Variable| (v.name.clone(), v.dims.clone(), v.complex, v.columns.clone());
        let expected = [
            ("mu", vec![], false, vec![0]),
            ("L", vec![2, 3], false, vec![1, 3, 5, 2, 4, 6]),
            ("z", vec![2], true, vec![7, 8, 9, 10]),
            ("a.1", vec![2], false, vec![11, 14]),
            ("a.2", vec![2, 2], false, vec![12, 13, 15, 16]),
        ];
        assert_eq!(found.len(), expected.len());
        for (variable, (name, dims, complex, columns)) in found.iter().zip(expected) {
            assert_eq!(describe(variable), (name.to_owned(), dims, complex, columns));
        }
    }

    #[test]
    fn incomplete_rectangles_stay_single_columns() {
        for names in [["x.1", "x.3"], ["x.1", "x.1.2"], ["x.1", "x.1"], ["x.0", "x.1"], ["x.q", "x.1.real"]] {
            let names = names.map(String::from);
            let found = variables(&names);
            assert_eq!(found.iter().map(|v| v.columns.len()).sum::<usize>(), 2, "{names:?}");
        }
        let gap = variables(&["x.1", "x.3"].map(String::from));
        assert_eq!(gap.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["x.1", "x.3"]);
    }
}
