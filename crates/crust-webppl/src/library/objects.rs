//! `Object`.

use super::math::plain;
use super::{Native, arg, fields_of};
use crate::value::Value;

pub fn list() -> Vec<Native> {
    plain(&[
        ("keys", |_, args| {
            Ok(Value::array(fields_of(&arg(args, 0)).into_iter().map(|(k, _)| Value::Text(k)).collect()))
        }),
        ("values", |_, args| Ok(Value::array(fields_of(&arg(args, 0)).into_iter().map(|(_, v)| v).collect()))),
        ("entries", |_, args| {
            let pair = |(k, v)| Value::array(vec![Value::Text(k), v]);
            Ok(Value::array(fields_of(&arg(args, 0)).into_iter().map(pair).collect()))
        }),
        ("assign", super::lodash::assign),
    ])
}
