//! A path whose kind is decided while the program runs.

use crust_math::random::Stream;

use super::{Course, Path};
use crate::axes::Axes;
use crate::target::{Batch, Fatal};

/// Any path. A batch costs one indirect call.
pub struct AnyPath<'a>(Box<dyn ClonePath<'a> + 'a>);

trait ClonePath<'a>: Path + Send {
    fn clone_path(&self) -> Box<dyn ClonePath<'a> + 'a>;
}

impl<'a, P: Path + Clone + Send + 'a> ClonePath<'a> for P {
    fn clone_path(&self) -> Box<dyn ClonePath<'a> + 'a> {
        Box::new(self.clone())
    }
}

impl<'a> AnyPath<'a> {
    pub fn new(path: impl Path + Clone + Send + 'a) -> Self {
        Self(Box::new(path))
    }
}

impl Clone for AnyPath<'_> {
    fn clone(&self) -> Self {
        Self(self.0.clone_path())
    }
}

impl Path for AnyPath<'_> {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
        self.0.evaluate(batch)
    }

    fn course(&self) -> Course {
        self.0.course()
    }

    fn draw_first(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        self.0.draw_first(stream)
    }

    fn hyperparameters(&self) -> Vec<usize> {
        self.0.hyperparameters()
    }

    fn axes(&self) -> Option<Axes> {
        self.0.axes()
    }

    fn rejection(&self, lane: usize) -> Option<String> {
        self.0.rejection(lane)
    }
}
