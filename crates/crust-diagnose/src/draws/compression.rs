//! How chunks of Zarr stores are compressed: zlib, gzip, Zstandard, LZ4, and Blosc, a container of these that first
//! sorts the bytes of numbers by their significance.

use std::io::{self, Read};

/// Why bytes cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum PackingError {
    #[error("it is compressed by {0}; write it with zstd, gzip or without compression")]
    UnknownCodec(String),
    #[error("it is compressed by BloscLZ or Snappy; write it with `cname=\"zstd\"` or \"lz4\"")]
    UnknownInBlosc,
    #[error("its bits are shuffled; write it with `Blosc.SHUFFLE`")]
    ShuffledBits,
    #[error("its bytes end too early")]
    Cut,
    #[error("a copy of bytes that are not there")]
    CopyOfNothing,
    #[error("blocks of no bytes")]
    EmptyBlocks,
    #[error("a chunk has {found} bytes in place of {wanted}")]
    Length { found: usize, wanted: usize },
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Zstd(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    Zlib,
    Gzip,
    Zstd,
    /// With the length in front, as numcodecs has it.
    Lz4,
    Blosc,
    /// Four bytes at the end that are not looked at.
    Checksum,
}

impl Codec {
    pub fn named(name: &str) -> Result<Self, PackingError> {
        match name {
            "zlib" => Ok(Self::Zlib),
            "gzip" => Ok(Self::Gzip),
            "zstd" | "numcodecs.zstd" => Ok(Self::Zstd),
            "lz4" => Ok(Self::Lz4),
            "blosc" => Ok(Self::Blosc),
            other => Err(PackingError::UnknownCodec(other.to_owned())),
        }
    }
}

/// The bytes before compression, of which there are about `wanted`.
pub(super) fn decompress(codec: Codec, bytes: &[u8], wanted: usize) -> Result<Vec<u8>, PackingError> {
    // More than this is no chunk of ours.
    let most = wanted as u64 + 64;
    let all = |mut input: Box<dyn Read + '_>| {
        let mut out = Vec::new();
        input.by_ref().take(most).read_to_end(&mut out)?;
        Ok(out)
    };
    match codec {
        Codec::Zlib => all(Box::new(flate2::read::ZlibDecoder::new(bytes))),
        Codec::Gzip => all(Box::new(flate2::read::GzDecoder::new(bytes))),
        Codec::Zstd => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(bytes);
            all(Box::new(decoder.map_err(|error| PackingError::Zstd(error.to_string()))?))
        }
        Codec::Lz4 => {
            let length = number(bytes, 0)?;
            lz4(bytes.get(4..).unwrap_or_default(), length.min(wanted))
        }
        Codec::Blosc => blosc(bytes, wanted),
        Codec::Checksum => Ok(bytes[..bytes.len().saturating_sub(4)].to_vec()),
    }
}

/// Four bytes as a number.
fn number(bytes: &[u8], at: usize) -> Result<usize, PackingError> {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        Some(&four) => Ok(u32::from_le_bytes(four) as usize),
        None => Err(PackingError::Cut),
    }
}

/// A block of LZ4: literals and copies of what is already there, in turn.
fn lz4(mut bytes: &[u8], length: usize) -> Result<Vec<u8>, PackingError> {
    let mut out = Vec::with_capacity(length);
    let next = |bytes: &mut &[u8]| match bytes.split_first() {
        Some((&byte, rest)) => {
            *bytes = rest;
            Ok(usize::from(byte))
        }
        None => Err(PackingError::Cut),
    };
    let longer = |bytes: &mut &[u8], short: usize| {
        let mut total = short;
        if short == 15 {
            loop {
                let more = next(bytes)?;
                total += more;
                if more < 255 {
                    break;
                }
            }
        }
        Ok::<usize, PackingError>(total)
    };
    while !bytes.is_empty() {
        let token = next(&mut bytes)?;
        let literals = longer(&mut bytes, token >> 4)?;
        let (copied, rest) = bytes.split_at_checked(literals).ok_or(PackingError::Cut)?;
        out.extend_from_slice(copied);
        bytes = rest;
        if bytes.is_empty() {
            break;
        }
        let back = next(&mut bytes)? + 256 * next(&mut bytes)?;
        let repeat = 4 + longer(&mut bytes, token & 15)?;
        if back == 0 || back > out.len() || out.len() + repeat > length {
            return Err(PackingError::CopyOfNothing);
        }
        let from = out.len() - back;
        (0..repeat).for_each(|k| out.push(out[from + k]));
    }
    Ok(out)
}

/// Blosc 1: blocks that are compressed one by one, each perhaps in a part for every byte of a number.
fn blosc(bytes: &[u8], wanted: usize) -> Result<Vec<u8>, PackingError> {
    /// Parts that are shorter than this are not made.
    const SHORTEST: usize = 128;
    let header: &[u8; 16] = bytes.first_chunk().ok_or(PackingError::Cut)?;
    let (flags, size) = (header[2], usize::from(header[3]).max(1));
    let (length, block) = (number(bytes, 4)?, number(bytes, 8)?);
    if length > wanted {
        return Err(PackingError::Length { found: length, wanted });
    }
    if flags & 0b10 != 0 {
        return bytes.get(16..16 + length).map(<[u8]>::to_vec).ok_or(PackingError::Cut);
    }
    if flags & 0b100 != 0 {
        return Err(PackingError::ShuffledBits);
    }
    if block == 0 {
        return Err(PackingError::EmptyBlocks);
    }
    let mut out = Vec::with_capacity(length);
    for k in 0..length.div_ceil(block) {
        let here = block.min(length - k * block);
        let whole = here == block;
        let parts = if whole && flags & 0x10 == 0 && size <= 16 && block / size >= SHORTEST { size } else { 1 };
        let mut at = number(bytes, 16 + 4 * k)?;
        let mut plain = Vec::with_capacity(here);
        for _ in 0..parts {
            let (packed, each) = (number(bytes, at)?, here / parts);
            let from = bytes.get(at + 4..).and_then(|rest| rest.get(..packed)).ok_or(PackingError::Cut)?;
            at += 4 + packed;
            let part = if packed == each { from.to_vec() } else { inner(flags >> 5, from, each)? };
            if part.len() != each {
                return Err(PackingError::Cut);
            }
            plain.extend(part);
        }
        if flags & 1 != 0 { unshuffle(&plain, size, &mut out) } else { out.extend(plain) }
    }
    Ok(out)
}

/// The compressor inside of Blosc.
fn inner(kind: u8, bytes: &[u8], length: usize) -> Result<Vec<u8>, PackingError> {
    match kind {
        1 => lz4(bytes, length),
        3 => decompress(Codec::Zlib, bytes, length),
        4 => decompress(Codec::Zstd, bytes, length),
        _ => Err(PackingError::UnknownInBlosc),
    }
}

/// First all first bytes of numbers, then all second ones …: back into numbers. What is left over was left as it is.
fn unshuffle(bytes: &[u8], size: usize, out: &mut Vec<u8>) {
    let n = bytes.len() / size;
    (0..n).for_each(|i| (0..size).for_each(|b| out.push(bytes[b * n + i])));
    out.extend_from_slice(&bytes[n * size..]);
}
