//! Values of the language. Cloning one copies at most a pointer.

use std::cell::{Ref, RefCell};
use std::ops::Deref;
use std::rc::Rc;

use crate::code::Closure;
use crate::distributions::Dist;
use crate::library::Native;
use crate::object::Object;
use crate::tape::Ad;
use crate::tensor::Tensor;
use crate::world::World;

/// A string: a thin pointer, so that a value has two words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Rc<Box<str>>);

impl Text {
    #[inline]
    pub fn same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Where it is, which tells it from others as long as it lives.
    pub fn address(&self) -> u64 {
        Rc::as_ptr(&self.0) as u64
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Box<str>>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(Rc::new(text.into()))
    }
}

#[derive(Clone)]
pub enum Value {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Text),
    Array(Rc<Array>),
    Object(Rc<Object>),
    Closure(Rc<Closure>),
    Native(&'static Native),
    Wrapped(Rc<Wrapped>),
    Tensor(Rc<Tensor>),
    Dist(Rc<Dist>),
    /// A number or tensor whose derivatives are wanted.
    Ad(Rc<Ad>),
    /// A variable that a function reads before it is defined. Programs never see one.
    Cell(Rc<RefCell<Value>>),
    /// The table that `query.add` writes to.
    Query,
}

/// Functions made from functions.
pub enum Wrapped {
    /// `mem(f)`: results are kept in the store, under keys that begin with the text.
    Mem(Text, Value),
    /// `cache(f)`: results are shared by all executions.
    Cache(Value, RefCell<crate::object::Fields>, Option<usize>),
    /// A native method bound to its receiver and first arguments; more arguments are dropped beyond `limit`.
    Bound {
        receiver: Value,
        method: Text,
        args: Vec<Value>,
        limit: Option<usize>,
    },
    /// A function with its first arguments; more arguments are dropped beyond `limit`.
    Partial {
        function: Value,
        args: Vec<Value>,
        limit: Option<usize>,
    },
    Regex {
        pattern: Text,
        flags: Text,
    },
    /// Traces kept by `saveTraces`.
    Trace(crate::infer::SavedTrace),
}

/// An array. JavaScript's arrays can be changed by library functions such as `push`.
#[derive(Default)]
pub struct Array(RefCell<Vec<Value>>);

impl Array {
    pub fn items(&self) -> Ref<'_, Vec<Value>> {
        self.0.borrow()
    }

    /// Changes the array for everybody who holds it, which the world has to know.
    pub fn with_mut<T>(&self, world: &mut World, change: impl FnOnce(&mut Vec<Value>) -> T) -> T {
        world.touched += 1;
        change(&mut self.0.borrow_mut())
    }
}

impl From<Vec<Value>> for Array {
    fn from(items: Vec<Value>) -> Self {
        Self(RefCell::new(items))
    }
}

impl Value {
    pub fn text(text: &str) -> Self {
        Self::Text(Text::from(text))
    }

    pub fn array(items: Vec<Self>) -> Self {
        Self::Array(Rc::new(Array::from(items)))
    }

    pub fn numbers(items: impl IntoIterator<Item = f64>) -> Self {
        Self::array(items.into_iter().map(Self::Number).collect())
    }

    pub fn object(fields: impl IntoIterator<Item = (Text, Self)>) -> Self {
        Self::Object(Rc::new(Object::from_iter(fields)))
    }

    pub fn tensor(tensor: Tensor) -> Self {
        Self::Tensor(Rc::new(tensor))
    }

    pub fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined)
    }

    pub fn is_function(&self) -> bool {
        match self {
            Self::Closure(_) | Self::Native(_) => true,
            Self::Wrapped(w) => !matches!(**w, Wrapped::Regex { .. } | Wrapped::Trace(_)),
            _ => false,
        }
    }

    /// The value without derivatives.
    pub fn primal(&self) -> Self {
        match self {
            Self::Ad(ad) => ad.read().clone(),
            other => other.clone(),
        }
    }

    /// The number, if this is one (also one with derivatives).
    #[inline]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Ad(ad) if matches!(ad.raw(), Self::Number(_)) => ad.read().as_number(),
            _ => None,
        }
    }

    /// The tensor, if this is one (also one with derivatives).
    pub fn as_tensor(&self) -> Option<&Rc<Tensor>> {
        match self {
            Self::Tensor(t) => Some(t),
            Self::Ad(ad) if matches!(ad.raw(), Self::Tensor(_)) => ad.read().as_tensor(),
            _ => None,
        }
    }

    /// The plain value, for those who look at its type and shape only.
    pub fn shape(&self) -> &Self {
        match self {
            Self::Ad(ad) => ad.raw(),
            other => other,
        }
    }

    /// Without derivatives, also inside of arrays and objects.
    pub fn deep_primal(&self) -> Self {
        match self {
            Self::Ad(ad) => ad.read().clone(),
            Self::Array(a) if a.items().iter().any(Self::has_derivatives) => {
                Self::array(a.items().iter().map(Self::deep_primal).collect())
            }
            Self::Object(o) if o.fields().iter().any(|(_, v)| v.has_derivatives()) => {
                Self::object(o.fields().iter().map(|(k, v)| (k.clone(), v.deep_primal())))
            }
            Self::Dist(d) if d.has_derivatives() => Self::Dist(Rc::new(d.primal())),
            other => other.clone(),
        }
    }

    pub fn has_derivatives(&self) -> bool {
        match self {
            Self::Ad(_) => true,
            Self::Array(a) => a.items().iter().any(Self::has_derivatives),
            Self::Object(o) => o.fields().iter().any(|(_, v)| v.has_derivatives()),
            Self::Dist(d) => d.has_derivatives(),
            _ => false,
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<bool> for Value {
    fn from(x: bool) -> Self {
        Self::Bool(x)
    }
}
