//! Random draws: each lane has its own stream and takes from it in the order of the program, element by element. So
//! what a lane draws does not depend on the lanes beside it.

use crust_math::density::DomainError;
use crust_math::functions::Shape;
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::value::View;
use super::{Machine, Run, fatal};
use crate::memory::Flags;
use crate::random::{Container, Extent, Generator, Scalar};

/// Lanes that have no draw, and why.
pub(super) type Trouble = SmallVec<[(usize, DomainError); 1]>;

impl Machine {
    /// A draw for each lane.
    pub(super) fn random(&mut self, generator: Generator, views: &[View], span: Span) -> Run<View> {
        if generator.arity().is_some_and(|n| n != views.len()) {
            return fatal("internal", "a generator has other arguments", span);
        }
        if self.width.tile > 1 {
            return Err(super::Stop::TileUnfit);
        }
        if self.streams.len() < self.width.lanes {
            return fatal("no-randomness", "random draws are not possible here", span);
        }
        match generator {
            Generator::Scalar(scalar) => self.draw_each(scalar, views, span),
            Generator::Container(container) => self.draw_whole(container, views, span),
            Generator::Forward(step) => self.forward(step, views, span),
        }
    }

    /// A number, or an array of them if some argument is a container: an array also where that is a vector.
    fn draw_each(&mut self, scalar: &Scalar, views: &[View], span: Span) -> Run<View> {
        let common = Self::common_shape(views, scalar.name, span)?;
        let shape = if common.is_scalar() { common } else { Shape::array(&[common.len()]) };
        let y = self.allocate(shape.len(), Flags::LANES)?;
        let (width, lanes) = (self.width, self.width.lanes);
        let strides: SmallVec<[[usize; 3]; 4]> = views.iter().map(|v| v.block.strides(width)).collect();
        let mut trouble = Trouble::new();
        let (low, out) = self.arena.below(y, width);
        for e in 0..shape.len() {
            for (l, stream) in self.streams[..lanes].iter_mut().enumerate() {
                let mut x = [0.0; 3];
                for ((x, view), [by_element, _, by_lane]) in x.iter_mut().zip(views).zip(&strides) {
                    *x = low[view.block.start() + e * by_element + l * by_lane];
                }
                out[e * lanes + l] = (scalar.draw)(stream, x).unwrap_or_else(|error| {
                    trouble.push((l, error));
                    f64::NAN
                });
            }
        }
        self.reject_draws(scalar.name, trouble, span)?;
        Ok(View { shape, block: y })
    }

    /// A draw of a generator that looks at whole containers.
    fn draw_whole(&mut self, container: &Container, views: &[View], span: Span) -> Run<View> {
        let shapes: SmallVec<[Shape; 4]> = views.iter().map(|v| v.shape).collect();
        let shape = match container.extent {
            Extent::FirstSquared => {
                let n = self.count(views[0], "the number of rows", span)?;
                Shape::matrix(n, n)
            }
            Extent::Shapes(extent) => match extent(&shapes) {
                Ok(shape) => shape,
                Err(message) => return fatal("size-mismatch", format!("{}: {message}", container.name), span),
            },
        };
        let y = self.allocate(shape.len(), Flags::LANES)?;
        let (width, lanes) = (self.width, self.width.lanes);
        let mut trouble = Trouble::new();
        let (low, out) = self.arena.below(y, width);
        let (mut numbers, mut drawn) = (Vec::new(), vec![0.0; shape.len()]);
        for (l, stream) in self.streams[..lanes].iter_mut().enumerate() {
            numbers.clear();
            for view in views {
                let [by_element, _, by_lane] = view.block.strides(width);
                let start = view.block.start() + l * by_lane;
                numbers.extend((0..view.block.count()).map(|e| low[start + e * by_element]));
            }
            let mut rest = numbers.as_slice();
            let arguments: SmallVec<[&[f64]; 4]> =
                views.iter().filter_map(|view| rest.split_off(..view.block.count())).collect();
            if let Err(error) = (container.draw)(stream, &arguments, &mut drawn) {
                trouble.push((l, error));
                drawn.fill(f64::NAN);
            }
            out.iter_mut().skip(l).step_by(lanes).zip(&drawn).for_each(|(to, x)| *to = *x);
        }
        self.reject_draws(container.name, trouble, span)?;
        Ok(View { shape, block: y })
    }

    /// Messages name the generator that the program calls, also where it relies on another.
    pub(super) fn reject_draws(&mut self, function: &'static str, trouble: Trouble, span: Span) -> Run<()> {
        for (lane, error) in trouble {
            self.reject(lane, || DomainError { function, ..error }.to_string(), span)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
