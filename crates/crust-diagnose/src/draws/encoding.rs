//! Numbers that are stored as others, as the CF conventions for `NetCDF` have it: value = number × `scale_factor` +
//! `add_offset`, and one number stands for a value that is missing. xarray reads and writes variables so.

use serde_json::Value;

/// How the values of a variable are stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Encoding {
    scale: f64,
    offset: f64,
    /// Stored numbers that stand for no value.
    missing: Vec<f64>,
}

/// Attributes for missing values; those for the others are in [`Encoding::read`].
const MISSING: [&str; 2] = ["_FillValue", "missing_value"];

impl Encoding {
    /// From attributes, which are looked up by their names.
    pub fn read<E>(mut attribute: impl FnMut(&str) -> Result<Option<f64>, E>) -> Result<Self, E> {
        let (scale, offset) = (attribute("scale_factor")?, attribute("add_offset")?);
        let mut missing = Vec::new();
        for name in MISSING {
            missing.extend(attribute(name)?);
        }
        Ok(Self { scale: scale.unwrap_or(1.0), offset: offset.unwrap_or(0.0), missing })
    }

    /// From the attributes of a Zarr array; what is no number there is the name of the attribute.
    pub fn of_json(attributes: &Value) -> Result<Self, String> {
        Self::read(|name| match &attributes[name] {
            Value::Null => Ok(None),
            // One number as an array is the same.
            Value::Array(one) if one.len() == 1 => number(&one[0]).map(Some).ok_or_else(|| name.to_owned()),
            value => number(value).map(Some).ok_or_else(|| name.to_owned()),
        })
    }

    /// Replaces stored numbers by values.
    pub fn decode(&self, numbers: &mut [f64]) {
        if self.scale.to_bits() == 1.0_f64.to_bits() && self.offset == 0.0 && self.missing.is_empty() {
            return;
        }
        for x in numbers {
            let stored = x.to_bits();
            let is_missing = self.missing.iter().any(|missing| missing.to_bits() == stored);
            *x = if is_missing { f64::NAN } else { x.mul_add(self.scale, self.offset) };
        }
    }
}

/// A number, which may be a word, or eight bytes in base 64, as xarray writes fill values to version 3 of Zarr.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            text => bytes(text)?.try_into().ok().map(f64::from_le_bytes),
        },
        value => value.as_f64(),
    }
}

/// From base 64.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut have, mut bytes) = (0_u32, 0, Vec::new());
    for c in text.trim_end_matches('=').bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, have) = ((bits << 6 | u32::from(six)) & 0xffff, have + 6);
        if have >= 8 {
            have -= 8;
            bytes.push(u8::try_from(bits >> have & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_values_are_read_in_all_forms() {
        for (json, bits) in
            [("-9999", -9999.0_f64), ("\"AAAAAAAA+H8=\"", f64::NAN), ("[1e20]", 1e20), ("\"AAAAAAAA8D8=\"", 1.0)]
        {
            let attributes = serde_json::from_str(&format!("{{\"_FillValue\": {json}}}")).expect("JSON");
            let encoding = Encoding::of_json(&attributes).expect("an encoding");
            assert_eq!(encoding.missing[0].to_bits(), bits.to_bits(), "{json}");
        }
        let attributes = serde_json::from_str("{\"scale_factor\": \"?\"}").expect("JSON");
        assert_eq!(Encoding::of_json(&attributes), Err("scale_factor".to_owned()));
    }
}
