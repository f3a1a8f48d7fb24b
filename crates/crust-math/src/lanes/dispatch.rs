//! The choice of the instruction set, made once at run time. The only unsafe code of the lanes is the three calls here.

#![allow(unsafe_code, reason = "calling a function with target features needs the proof that the processor has them")]

use std::sync::OnceLock;

/// An instruction set that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// What the target of the build guarantees. Without a fused multiply-add in hardware this is right but slow.
    Portable,
    /// 4 lanes for each instruction: AVX2 and FMA.
    Avx2,
    /// 8 lanes for each instruction: AVX-512 F, DQ, VL, BW.
    Avx512,
}

impl InstructionSet {
    /// All sets that this processor has, the slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        [Self::Portable, Self::Avx2, Self::Avx512].into_iter().filter(|set| set.is_available())
    }

    /// The fastest set that this processor has.
    #[inline]
    pub fn best() -> Self {
        static BEST: OnceLock<InstructionSet> = OnceLock::new();
        *BEST.get_or_init(|| Self::available().last().unwrap_or(Self::Portable))
    }

    /// Whether its vector registers hold 32 rows of eight numbers. Otherwise they hold eight, and sums of as many rows
    /// as that would go to memory with every term.
    #[inline]
    pub fn has_many_registers(self) -> bool {
        self == Self::Avx512
    }

    #[cfg(target_arch = "x86_64")]
    fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Avx2 => {
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2")
            }
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_available(self) -> bool {
        self == Self::Portable
    }
}

/// The processor's features that change digits, by name.
///
/// Kernels here give the same bits on every instruction set, but elementary functions of other crates (`pxfm`, linear
/// algebra) choose their own ways by the same features. So results of processors that differ in them are not mixed.
pub fn digits_of_processor() -> String {
    let set = match InstructionSet::best() {
        InstructionSet::Portable => "portable",
        InstructionSet::Avx2 => "avx2",
        InstructionSet::Avx512 => "avx512",
    };
    let fused = if has_fused() { " fma" } else { "" };
    format!("{} {set}{fused}", std::env::consts::ARCH)
}

#[cfg(target_arch = "x86_64")]
fn has_fused() -> bool {
    is_x86_feature_detected!("fma")
}

/// Other architectures have it always or never.
#[cfg(not(target_arch = "x86_64"))]
fn has_fused() -> bool {
    cfg!(target_arch = "aarch64")
}

/// A computation to be compiled once for each instruction set.
///
/// `run` must be `#[inline(always)]`, and so must everything that it calls: only what is inlined is compiled for the
/// set.
pub trait Kernel {
    type Output;
    fn run(self) -> Self::Output;
}

/// Runs the kernel on the fastest instruction set.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    dispatch_on(InstructionSet::best(), kernel)
}

/// Runs the kernel on the given instruction set, for tests and benchmarks; a set that the processor lacks is replaced
/// by the best one.
#[inline]
pub fn dispatch_on<K: Kernel>(set: InstructionSet, kernel: K) -> K::Output {
    match set.min(InstructionSet::best()) {
        InstructionSet::Portable => portable(kernel),
        // SAFETY: `best` is available on this processor, and every set below an available one is available.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => unsafe { avx2(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => unsafe { avx512(kernel) },
        #[cfg(not(target_arch = "x86_64"))]
        InstructionSet::Avx2 | InstructionSet::Avx512 => portable(kernel),
    }
}

#[inline(never)]
fn portable<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi2")]
#[inline(never)]
fn avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi2,avx512f,avx512dq,avx512vl,avx512bw")]
#[inline(never)]
fn avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
