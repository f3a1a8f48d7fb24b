//! Functions of the program that are called while inference goes on.

use crate::error::Run;
use crate::value::Value;
use crate::world::World;

pub struct Callbacks(Vec<Value>);

impl Callbacks {
    pub fn new(objects: Vec<Value>) -> Self {
        Self(objects)
    }

    pub fn call(&self, world: &mut World, name: &str, args: &[Value]) -> Run<()> {
        for object in &self.0 {
            let Value::Object(o) = object else { continue };
            if let Some(f) = o.get(name) {
                world.call_sync(&f, args.to_vec(), "a callback")?;
            }
        }
        Ok(())
    }

    /// Whether there is anybody to call.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn sample(&self, world: &mut World, value: &Value, score: Option<f64>) -> Run<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut fields = vec![("value".into(), value.clone())];
        fields.extend(score.map(|s| ("score".into(), Value::Number(s))));
        self.call(world, "sample", &[Value::object(fields)])
    }
}
