//! NEON, which every such processor has.

use std::arch::aarch64::*;

use super::engine::{Operation, Vector, divided};
use super::{Digits, Facts, NEVER, Sorts};

/// Vectors of four narrow keys or two wide keys. The counts for digits are those of AVX2: NEON was not
/// measured.
pub(super) const NEON: Facts = Facts {
    name: "neon",
    are_there: || true,
    bytes: 16,
    digits: [
        Digits { any: NEVER, even: [1 << 13..NEVER, 1 << 13..NEVER] },
        Digits { any: 1 << 8, ..Digits::NEVER },
    ],
    sorts: Some((Sorts::of::<U32x4>(), Sorts::of::<U64x2>())),
};

#[target_feature(enable = "neon")]
fn with_neon<O: Operation>(operation: O) -> O::Output {
    // SAFETY: every such processor has the instructions.
    unsafe { operation.run() }
}

/// The numbers of the bytes of four lanes, by set.
static FOUR: [[u8; 16]; 16] = divided(4);

/// The numbers of the bytes of two lanes, by set.
static TWO: [[u8; 16]; 4] = divided(2);

/// Four keys.
#[derive(Clone, Copy)]
struct U32x4(uint32x4_t);

impl Vector for U32x4 {
    type Key = u32;
    type Half = Self;
    const LANES: usize = 4;
    const MOST: u32 = u32::MAX;

    functions! { operation => with_neon(operation);
        fn load(from: *const u32) -> Self = Self(vld1q_u32(from));
        fn store(self: Self, to: *mut u32) = vst1q_u32(to, self.0);
        fn load_first(from: *const u32, count: usize) -> Self = {
            let mut keys = [u32::MAX; 4];
            keys.as_mut_ptr().copy_from_nonoverlapping(from, count);
            Self::load(keys.as_ptr())
        };
        fn store_first(self: Self, to: *mut u32, count: usize) = {
            let mut keys = [0; 4];
            self.store(keys.as_mut_ptr());
            to.copy_from_nonoverlapping(keys.as_ptr(), count);
        };
        fn splat(key: u32) -> Self = Self(vdupq_n_u32(key));
        fn min(self: Self, other: Self) -> Self = Self(vminq_u32(self.0, other.0));
        fn max(self: Self, other: Self) -> Self = Self(vmaxq_u32(self.0, other.0));
        fn is_less(self: Self, other: Self) -> u32 = {
            const BITS: [u32; 4] = [1, 2, 4, 8];
            vaddvq_u32(vandq_u32(vcltq_u32(self.0, other.0), vld1q_u32(BITS.as_ptr())))
        };
        fn divide(self: Self, lanes: u32) -> Self = {
            let bytes = vld1q_u8(FOUR[lanes as usize % 16].as_ptr());
            Self(vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(self.0), bytes)))
        };
        fn swap<const X: usize>(self: Self) -> Self = Self(match X {
            1 => vrev64q_u32(self.0),
            2 => vextq_u32::<2>(self.0, self.0),
            _ => {
                let pairs = vrev64q_u32(self.0);
                vextq_u32::<2>(pairs, pairs)
            }
        });
        fn exchange<const X: usize>(self: Self) -> Self = {
            const ODD: [u32; 4] = [0, u32::MAX, 0, u32::MAX];
            const UPPER: [u32; 4] = [0, 0, u32::MAX, u32::MAX];
            let other = self.swap::<X>();
            let lanes = vld1q_u32(if X == 1 { ODD.as_ptr() } else { UPPER.as_ptr() });
            Self(vbslq_u32(lanes, self.max(other).0, self.min(other).0))
        };
    }
}

/// Two keys.
#[derive(Clone, Copy)]
struct U64x2(uint64x2_t);

impl Vector for U64x2 {
    type Key = u64;
    type Half = Self;
    const LANES: usize = 2;
    const MOST: u64 = u64::MAX;

    functions! { operation => with_neon(operation);
        fn load(from: *const u64) -> Self = Self(vld1q_u64(from));
        fn store(self: Self, to: *mut u64) = vst1q_u64(to, self.0);
        // `count` is below two: one key or none.
        fn load_first(from: *const u64, count: usize) -> Self = {
            let key = if count == 0 { u64::MAX } else { *from };
            Self(vsetq_lane_u64::<0>(key, vdupq_n_u64(u64::MAX)))
        };
        fn store_first(self: Self, to: *mut u64, count: usize) = {
            if count > 0 {
                *to = vgetq_lane_u64::<0>(self.0);
            }
        };
        fn splat(key: u64) -> Self = Self(vdupq_n_u64(key));
        fn min(self: Self, other: Self) -> Self = Self(vbslq_u64(vcltq_u64(self.0, other.0), self.0, other.0));
        fn max(self: Self, other: Self) -> Self = Self(vbslq_u64(vcltq_u64(self.0, other.0), other.0, self.0));
        fn is_less(self: Self, other: Self) -> u32 = {
            let lanes = vshrn_n_u64::<32>(vcltq_u64(self.0, other.0));
            vget_lane_u32::<0>(lanes) & 1 | vget_lane_u32::<1>(lanes) & 2
        };
        fn divide(self: Self, lanes: u32) -> Self = {
            let bytes = vld1q_u8(TWO[lanes as usize % 4].as_ptr());
            Self(vreinterpretq_u64_u8(vqtbl1q_u8(vreinterpretq_u8_u64(self.0), bytes)))
        };
        fn swap<const X: usize>(self: Self) -> Self = Self(vextq_u64::<1>(self.0, self.0));
        fn exchange<const X: usize>(self: Self) -> Self = {
            let other = self.swap::<X>();
            Self(vcombine_u64(vget_low_u64(self.min(other).0), vget_high_u64(self.max(other).0)))
        };
    }
}
