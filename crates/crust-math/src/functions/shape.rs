//! Shapes of values, small enough to be copied: sizes of array dimensions and of the cell in them.

use std::fmt;

/// What an array is an array of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    Scalar,
    Vector,
    RowVector,
    Matrix,
}

impl Cell {
    /// The number of its dimensions.
    pub fn rank(self) -> usize {
        match self {
            Self::Scalar => 0,
            Self::Vector | Self::RowVector => 1,
            Self::Matrix => 2,
        }
    }
}

/// The shape of a value: array dimensions, outermost first, then those of the cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    cell: Cell,
    arrays: u8,
    sizes: [u32; Shape::MOST],
}

impl Shape {
    /// The most dimensions a value can have, those of its cell included.
    pub const MOST: usize = 8;

    pub const SCALAR: Self = Self { cell: Cell::Scalar, arrays: 0, sizes: [0; Self::MOST] };

    pub fn vector(n: usize) -> Self {
        Self::new(&[], Cell::Vector, &[n])
    }

    pub fn row_vector(n: usize) -> Self {
        Self::new(&[], Cell::RowVector, &[n])
    }

    pub fn matrix(rows: usize, columns: usize) -> Self {
        Self::new(&[], Cell::Matrix, &[rows, columns])
    }

    /// An array of scalars.
    pub fn array(sizes: &[usize]) -> Self {
        Self::new(sizes, Cell::Scalar, &[])
    }

    /// An array of cells. There must be at most [`Shape::MOST`] dimensions, and as many sizes as the cell has
    /// dimensions.
    pub fn new(arrays: &[usize], cell: Cell, cell_sizes: &[usize]) -> Self {
        assert_eq!(cell.rank(), cell_sizes.len());
        let mut sizes = [0; Self::MOST];
        for (to, &size) in sizes.iter_mut().zip(arrays.iter().chain(cell_sizes)) {
            *to = u32::try_from(size).expect("sizes fit in 32 bits");
        }
        assert!(arrays.len() + cell_sizes.len() <= Self::MOST, "a value has too many dimensions");
        Self { cell, arrays: u8::try_from(arrays.len()).expect("few dimensions"), sizes }
    }

    pub fn cell(&self) -> Cell {
        self.cell
    }

    /// How many array dimensions there are.
    pub fn array_rank(&self) -> usize {
        usize::from(self.arrays)
    }

    /// How many dimensions there are, those of the cell included.
    pub fn rank(&self) -> usize {
        self.array_rank() + self.cell.rank()
    }

    /// The size of a dimension, those of the cell included.
    pub fn size(&self, dimension: usize) -> usize {
        debug_assert!(dimension < self.rank());
        self.sizes[dimension] as usize
    }

    pub fn is_scalar(&self) -> bool {
        self.rank() == 0
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.sizes[..self.rank()].iter().map(|&n| n as usize).product()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many cells there are: 1 for what is not an array.
    pub fn cells(&self) -> usize {
        self.sizes[..self.array_rank()].iter().map(|&n| n as usize).product()
    }

    /// How many numbers a cell has.
    pub fn cell_len(&self) -> usize {
        self.sizes[self.array_rank()..self.rank()].iter().map(|&n| n as usize).product()
    }

    /// Rows of the cell as a matrix: a row vector and a scalar have one.
    pub fn rows(&self) -> usize {
        match self.cell {
            Cell::Scalar | Cell::RowVector => 1,
            Cell::Vector | Cell::Matrix => self.size(self.array_rank()),
        }
    }

    /// Columns of the cell as a matrix: a vector and a scalar have one.
    pub fn columns(&self) -> usize {
        match self.cell {
            Cell::Scalar | Cell::Vector => 1,
            Cell::RowVector => self.size(self.array_rank()),
            Cell::Matrix => self.size(self.array_rank() + 1),
        }
    }

    /// The shape of the cell alone.
    #[must_use]
    pub fn cell_shape(&self) -> Self {
        let mut shape = Self { cell: self.cell, arrays: 0, sizes: [0; Self::MOST] };
        shape.sizes[..self.cell.rank()].copy_from_slice(&self.sizes[self.array_rank()..self.rank()]);
        shape
    }

    /// The shape of an element of an array.
    #[must_use]
    pub fn element(&self) -> Self {
        debug_assert!(self.arrays > 0);
        let mut shape = Self { cell: self.cell, arrays: self.arrays - 1, sizes: [0; Self::MOST] };
        shape.sizes[..self.rank() - 1].copy_from_slice(&self.sizes[1..self.rank()]);
        shape
    }

    /// The shape of an array of `n` of this.
    #[must_use]
    pub fn in_array(&self, n: usize) -> Self {
        assert!(self.rank() < Self::MOST, "a value has too many dimensions");
        let mut shape = Self { cell: self.cell, arrays: self.arrays + 1, sizes: [0; Self::MOST] };
        shape.sizes[0] = u32::try_from(n).expect("sizes fit in 32 bits");
        shape.sizes[1..=self.rank()].copy_from_slice(&self.sizes[..self.rank()]);
        shape
    }

    /// Rows and columns of the cell exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut shape = *self;
        shape.cell = match self.cell {
            Cell::Vector => Cell::RowVector,
            Cell::RowVector => Cell::Vector,
            other => other,
        };
        if self.cell == Cell::Matrix {
            let at = self.array_rank();
            shape.sizes.swap(at, at + 1);
        }
        shape
    }
}

/// As Stan writes a type with its sizes: `array[3] vector[2]`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, sizes: &[u32]| -> fmt::Result {
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            write!(f, "[{}]", sizes.join(", "))
        };
        let (arrays, cell) = self.sizes[..self.rank()].split_at(self.array_rank());
        if !arrays.is_empty() {
            f.write_str("array")?;
            list(f, arrays)?;
            f.write_str(" ")?;
        }
        f.write_str(match self.cell {
            Cell::Scalar => "real",
            Cell::Vector => "vector",
            Cell::RowVector => "row_vector",
            Cell::Matrix => "matrix",
        })?;
        if cell.is_empty() { Ok(()) } else { list(f, cell) }
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
