//! Numbers as text, and the few statistics that pictures need.

/// What stands for a number that is not there.
pub(crate) const NOTHING: &str = "–";

/// A number with so many decimals, with a true minus sign.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return NOTHING.to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.bytes().all(|b| matches!(b, b'0' | b'.'));
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

/// A number of nats, with as many decimals as one can make use of.
pub(crate) fn nats(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => scientific(value),
        size if size >= 1000.0 => fixed(value, 1),
        size if size >= 0.095 || size == 0.0 => fixed(value, 2),
        size if size >= 0.00095 => fixed(value, 4),
        _ => scientific(value),
    }
}

/// `−412.37 ± 0.02`: decimals follow the error, which keeps two digits.
pub(crate) fn with_error(value: f64, error: f64) -> String {
    if !value.is_finite() || !error.is_finite() {
        return nats(value);
    }
    if value.abs() >= 1e6 || (error > 0.0 && error < 1e-6) {
        let value = if value.abs() >= 1e6 { scientific(value) } else { fixed(value, 6) };
        return format!("{value} ± {}", scientific(error));
    }
    let decimals = if error > 0.0 { decimals_for(error, 1.0) } else { 4 };
    format!("{} ± {}", fixed(value, decimals), fixed(error, decimals))
}

/// `−398.262 to −398.241`: decimals follow the distance, which keeps two digits up to the third decimal.
pub(crate) fn range(low: f64, high: f64) -> String {
    let gap = (high - low).abs();
    if !(1e-4..100.0).contains(&gap) || low.abs().max(high.abs()) >= 1e6 {
        return format!("{} to {}", nats(low), nats(high));
    }
    let decimals = decimals_for(gap, 1.0).clamp(2, 3);
    format!("{} to {}", fixed(low, decimals), fixed(high, decimals))
}

/// `1.2·10⁷`, and plain figures where a power of ten would not help.
pub(crate) fn scientific(value: f64) -> String {
    if !value.is_finite() || value == 0.0 {
        return fixed(value, 0);
    }
    let written = format!("{value:.1e}");
    let (mantissa, power) = written.split_once('e').unwrap_or((&written, "0"));
    format!("{}·10{}", mantissa.replace('-', "−").trim_end_matches(".0"), superscript(power))
}

/// A whole number with thin spaces between groups of three digits.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A length of time in the unit that suits it.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        v if !v.is_finite() => NOTHING.to_owned(),
        v if v < 0.001 => format!("{} µs", fixed(v * 1e6, 0)),
        v if v < 1.0 => format!("{} ms", fixed(v * 1e3, usize::from(v < 0.01))),
        v if v < 120.0 => format!("{} s", fixed(v, if v < 10.0 { 2 } else { 0 })),
        v if v < 7200.0 => format!("{} min", fixed(v / 60.0, 1)),
        v => format!("{} h", fixed(v / 3600.0, 1)),
    }
}

/// A share in percent.
pub(crate) fn percent(value: f64) -> String {
    if value.is_finite() { format!("{} %", fixed(100.0 * value, 0)) } else { NOTHING.to_owned() }
}

/// The text at a tick of an axis whose neighbouring ticks are `step` apart.
pub(crate) fn tick(value: f64, step: f64) -> String {
    let size = value.abs();
    if size == 0.0 && step < 1e-4 {
        return "0".to_owned();
    }
    if size != 0.0 && !(1e-4..1e5).contains(&size) {
        let power = size.log10().round();
        let exact = (size / 10f64.powf(power) - 1.0).abs() < 1e-9;
        let sign = if value < 0.0 { "−" } else { "" };
        return if exact { format!("{sign}10{}", superscript(&fixed(power, 0))) } else { scientific(value) };
    }
    fixed(value, decimals_for(step, 0.0))
}

/// Decimals so that a number of this size has `more` digits after its first one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 6")]
fn decimals_for(size: f64, more: f64) -> usize {
    // 1e-9: the logarithm of 0.001 must not come out as -3.0000000001
    (more - (size.log10() + 1e-9).floor()).clamp(0.0, 6.0) as usize
}

fn superscript(digits: &str) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| match c.to_digit(10) {
        Some(digit) => RAISED[digit as usize],
        None => '⁻',
    };
    digits.chars().filter(|c| *c != '+').map(raise).collect()
}

/// The three quartiles, interpolated between neighbours as R does by default. NaNs are left out; infinite values are
/// values.
pub(crate) fn quartiles(values: &[f64]) -> Option<[f64; 3]> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| [0.25, 0.5, 0.75].map(|p| quantile(&sorted, p)))
}

/// The quantile of sorted values.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index into the values")]
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let place = p * as_f64(sorted.len() - 1);
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    let share = place - place.floor();
    // not below + share·(above − below): from −∞ that is not a number
    if share == 0.0 { below } else { (1.0 - share) * below + share * above }
}

#[expect(clippy::cast_precision_loss, reason = "counts of steps, chains and pixels")]
pub(crate) fn as_f64(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(-1.5, 1), "−1.5");
        assert_eq!(nats(f64::NAN), "–");
        assert_eq!(nats(f64::NEG_INFINITY), "−∞");
        assert_eq!(nats(-1_234_567.0), "−1.2·10⁶");
        assert_eq!(nats(0.000_012), "1.2·10⁻⁵");
        assert_eq!(with_error(-412.3712, 0.0213), "−412.371 ± 0.021");
        assert_eq!(with_error(-1.5, 2e-9), "−1.500000 ± 2·10⁻⁹");
        assert_eq!(with_error(12.0, 3.4), "12.0 ± 3.4");
        assert_eq!(with_error(12.0, f64::NAN), "12.00");
        assert_eq!(range(-398.262_41, -398.241_2), "−398.262 to −398.241");
        assert_eq!(range(-5000.0, -20.0), "−5000.0 to −20.00");
        assert_eq!(range(f64::NEG_INFINITY, 1.0), "−∞ to 1.00");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(count(3000), "3000");
        assert_eq!(seconds(0.0042), "4.2 ms");
        assert_eq!(seconds(3.0), "3.00 s");
        assert_eq!(seconds(300.0), "5.0 min");
        assert_eq!(tick(100_000.0, 1.0), "10⁵");
        assert_eq!(tick(-0.00001, 1.0), "−10⁻⁵");
        assert_eq!(tick(300_000.0, 1.0), "3·10⁵");
        assert_eq!(tick(0.001, 0.001), "0.001");
        assert_eq!(tick(0.0, 0.5), "0.0");
        assert_eq!(tick(0.0, 1e-17), "0");
    }

    #[test]
    fn quartiles_are_those_of_r() {
        assert_eq!(quartiles(&[1.0, 2.0, 3.0, 4.0]), Some([1.75, 2.5, 3.25]));
        assert_eq!(quartiles(&[f64::NAN]), None);
        let [low, middle, high] = quartiles(&[f64::NEG_INFINITY, f64::NEG_INFINITY, 1.0, 1.0]).unwrap();
        assert_eq!(
            [low, middle, high].map(f64::to_bits),
            [f64::NEG_INFINITY, f64::NEG_INFINITY, 1.0].map(f64::to_bits)
        );
    }
}
