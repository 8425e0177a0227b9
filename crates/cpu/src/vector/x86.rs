//! AVX-512 and AVX2.

use std::arch::x86_64::*;

use super::engine::{Operation, Vector, divided};
use super::{Digits, Facts, NEVER, Sorts};

/// AVX2, with the other instructions of such processors.
pub(super) const AVX2: Facts = Facts {
    name: "avx2",
    are_there: has_avx2,
    bytes: 32,
    digits: [
        Digits { any: NEVER, even: [1 << 13..NEVER, 1 << 13..NEVER] },
        Digits { any: 1 << 8, ..Digits::NEVER },
    ],
    sorts: Some((Sorts::of::<U32x8>(), Sorts::of::<U64x4<false>>())),
};

/// AVX-512 with the parts (F, BW, DQ and VL) that all its processors since 2017 have.
pub(super) const AVX512: Facts = Facts {
    name: "avx512",
    are_there: has_avx512,
    bytes: 64,
    digits: [Digits::NEVER, Digits::NEVER],
    sorts: Some((Sorts::of::<U32x16>(), Sorts::of::<U64x8>())),
};

/// AVX-512 on AMD's processors, where digits sort evenly spread keys faster.
pub(super) const AVX512_OF_AMD: Facts = Facts {
    are_there: has_avx512_of_amd,
    digits: [Digits::NEVER, Digits { any: NEVER, even: [1 << 12..1 << 18, 1 << 12..NEVER] }],
    ..AVX512
};

fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
}

fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

fn has_avx512_of_amd() -> bool {
    has_avx512() && {
        let maker = __cpuid(0);
        [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD"
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn with_avx512<O: Operation>(operation: O) -> O::Output {
    // SAFETY: the processor has the instructions, as whoever calls this has promised.
    unsafe { operation.run() }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn with_avx2<O: Operation>(operation: O) -> O::Output {
    // SAFETY: as above.
    unsafe { operation.run() }
}

/// Returns the lanes below `count`.
#[inline(always)]
fn below(count: usize) -> u32 {
    (1 << count) - 1
}

/// Returns the lanes that get the greater key when lanes `i` and `i ^ X` are ordered.
const fn greater<const X: usize>() -> u32 {
    let mut lanes = 0;
    let mut lane = 0;
    while lane < 16 {
        if lane > lane ^ X {
            lanes |= 1 << lane;
        }
        lane += 1;
    }
    lanes
}

/// Sixteen keys in AVX-512.
#[derive(Clone, Copy)]
struct U32x16(__m512i);

impl Vector for U32x16 {
    type Key = u32;
    type Half = U32x8;
    const LANES: usize = 16;
    const MOST: u32 = u32::MAX;

    functions! { operation => with_avx512(operation);
        fn load(from: *const u32) -> Self = Self(_mm512_loadu_si512(from.cast()));
        fn store(self: Self, to: *mut u32) = _mm512_storeu_si512(to.cast(), self.0);
        fn load_first(from: *const u32, count: usize) -> Self =
            Self(_mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), below(count) as u16, from.cast()));
        fn store_first(self: Self, to: *mut u32, count: usize) =
            _mm512_mask_storeu_epi32(to.cast(), below(count) as u16, self.0);
        fn splat(key: u32) -> Self = Self(_mm512_set1_epi32(key as i32));
        fn min(self: Self, other: Self) -> Self = Self(_mm512_min_epu32(self.0, other.0));
        fn max(self: Self, other: Self) -> Self = Self(_mm512_max_epu32(self.0, other.0));
        fn is_less(self: Self, other: Self) -> u32 = _mm512_cmplt_epu32_mask(self.0, other.0).into();
        fn compress(self: Self, lanes: u32) -> Self = Self(_mm512_maskz_compress_epi32(lanes as u16, self.0));
        fn divide(self: Self, lanes: u32) -> Self = {
            let behind = (0xFFFF << lanes.count_ones()) as u16;
            Self(_mm512_mask_expand_epi32(self.compress(lanes).0, behind, self.compress(!lanes).0))
        };
        fn swap<const X: usize>(self: Self) -> Self = Self(match X {
            1 => _mm512_shuffle_epi32::<0xB1>(self.0),
            2 => _mm512_shuffle_epi32::<0x4E>(self.0),
            3 => _mm512_shuffle_epi32::<0x1B>(self.0),
            4 => _mm512_shuffle_i32x4::<0xB1>(self.0, self.0),
            7 => _mm512_permutexvar_epi32(_mm512_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8), self.0),
            _ => _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), self.0),
        });
        fn exchange<const X: usize>(self: Self) -> Self = {
            let other = self.swap::<X>();
            let lanes = const { greater::<X>() } as u16;
            Self(_mm512_mask_max_epu32(self.min(other).0, lanes, self.0, other.0))
        };
    }
}

/// Eight keys in AVX-512.
#[derive(Clone, Copy)]
struct U64x8(__m512i);

impl Vector for U64x8 {
    type Key = u64;
    type Half = U64x4<true>;
    const LANES: usize = 8;
    const MOST: u64 = u64::MAX;

    functions! { operation => with_avx512(operation);
        fn load(from: *const u64) -> Self = Self(_mm512_loadu_si512(from.cast()));
        fn store(self: Self, to: *mut u64) = _mm512_storeu_si512(to.cast(), self.0);
        fn load_first(from: *const u64, count: usize) -> Self =
            Self(_mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), below(count) as u8, from.cast()));
        fn store_first(self: Self, to: *mut u64, count: usize) =
            _mm512_mask_storeu_epi64(to.cast(), below(count) as u8, self.0);
        fn splat(key: u64) -> Self = Self(_mm512_set1_epi64(key as i64));
        fn min(self: Self, other: Self) -> Self = Self(_mm512_min_epu64(self.0, other.0));
        fn max(self: Self, other: Self) -> Self = Self(_mm512_max_epu64(self.0, other.0));
        fn is_less(self: Self, other: Self) -> u32 = _mm512_cmplt_epu64_mask(self.0, other.0).into();
        fn compress(self: Self, lanes: u32) -> Self = Self(_mm512_maskz_compress_epi64(lanes as u8, self.0));
        fn divide(self: Self, lanes: u32) -> Self = {
            let behind = (0xFF << lanes.count_ones()) as u8;
            Self(_mm512_mask_expand_epi64(self.compress(lanes).0, behind, self.compress(!lanes).0))
        };
        fn swap<const X: usize>(self: Self) -> Self = Self(match X {
            1 => _mm512_shuffle_epi32::<0x4E>(self.0),
            2 => _mm512_permutex_epi64::<0x4E>(self.0),
            3 => _mm512_permutex_epi64::<0x1B>(self.0),
            4 => _mm512_shuffle_i64x2::<0x4E>(self.0, self.0),
            _ => _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), self.0),
        });
        fn exchange<const X: usize>(self: Self) -> Self = {
            let other = self.swap::<X>();
            let lanes = const { greater::<X>() } as u8;
            Self(_mm512_mask_max_epu64(self.min(other).0, lanes, self.0, other.0))
        };
    }
}

/// The numbers of eight lanes, by set.
static EIGHT: [[u8; 8]; 256] = divided(8);

/// The numbers of the words of four lanes, by set.
static FOUR: [[u8; 8]; 16] = divided(4);

/// Eight keys in AVX2. With fewer `LANES`, only the lower half of the vector has keys, for sorts of few keys.
#[derive(Clone, Copy)]
struct U32x8<const LANES: usize = 8>(__m256i);

/// Loads a vector, or its lower half.
#[inline(always)]
unsafe fn load(from: *const __m256i, is_whole: bool) -> __m256i {
    // SAFETY: the caller has AVX2, and may read these bytes.
    unsafe {
        if is_whole { _mm256_loadu_si256(from) } else { _mm256_castsi128_si256(_mm_loadu_si128(from.cast())) }
    }
}

/// Stores a vector, or its lower half.
#[inline(always)]
unsafe fn store(keys: __m256i, to: *mut __m256i, is_whole: bool) {
    // SAFETY: the caller has AVX2, and may write these bytes.
    unsafe {
        match is_whole {
            true => _mm256_storeu_si256(to, keys),
            false => _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(keys)),
        }
    }
}

/// Returns all ones in the lanes below `count`.
#[inline(always)]
unsafe fn below_of_8(count: usize) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
}

impl<const LANES: usize> U32x8<LANES> {
    #[inline(always)]
    unsafe fn lower(self) -> __m128i {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_castsi256_si128(self.0) }
    }
}

impl<const LANES: usize> Vector for U32x8<LANES> {
    type Key = u32;
    type Half = U32x8<4>;
    const LANES: usize = LANES;
    const MOST: u32 = u32::MAX;

    functions! { operation => with_avx2(operation);
        fn load(from: *const u32) -> Self = Self(load(from.cast(), LANES == 8));
        fn store(self: Self, to: *mut u32) = store(self.0, to.cast(), LANES == 8);
        fn load_first(from: *const u32, count: usize) -> Self = {
            let lanes = below_of_8(count);
            let others = _mm256_xor_si256(lanes, _mm256_set1_epi32(-1));
            Self(_mm256_or_si256(_mm256_maskload_epi32(from.cast(), lanes), others))
        };
        fn store_first(self: Self, to: *mut u32, count: usize) = {
            let lanes = below_of_8(count);
            match LANES {
                8 => _mm256_maskstore_epi32(to.cast(), lanes, self.0),
                // AMD's processors take twice as long for a whole vector.
                _ => _mm_maskstore_epi32(to.cast(), Self(lanes).lower(), self.lower()),
            }
        };
        fn splat(key: u32) -> Self = Self(_mm256_set1_epi32(key as i32));
        fn min(self: Self, other: Self) -> Self = Self(match LANES {
            8 => _mm256_min_epu32(self.0, other.0),
            // Whole vectors take twice the stack if registers are too few for all rows.
            _ => _mm256_castsi128_si256(_mm_min_epu32(self.lower(), other.lower())),
        });
        fn max(self: Self, other: Self) -> Self = Self(match LANES {
            8 => _mm256_max_epu32(self.0, other.0),
            _ => _mm256_castsi128_si256(_mm_max_epu32(self.lower(), other.lower())),
        });
        fn is_less(self: Self, other: Self) -> u32 = {
            // AVX2 has signed comparisons only.
            let is_not = _mm256_cmpeq_epi32(self.max(other).0, self.0);
            !_mm256_movemask_ps(_mm256_castsi256_ps(is_not)) as u32 & below(LANES)
        };
        fn divide(self: Self, lanes: u32) -> Self = {
            let numbers = _mm_cvtsi64_si128(i64::from_le_bytes(EIGHT[lanes as usize & 0xFF]));
            Self(_mm256_permutevar8x32_epi32(self.0, _mm256_cvtepu8_epi32(numbers)))
        };
        fn swap<const X: usize>(self: Self) -> Self = Self(match X {
            1 => _mm256_shuffle_epi32::<0xB1>(self.0),
            2 => _mm256_shuffle_epi32::<0x4E>(self.0),
            3 => _mm256_shuffle_epi32::<0x1B>(self.0),
            4 => _mm256_permute2x128_si256::<1>(self.0, self.0),
            _ => _mm256_permutevar8x32_epi32(self.0, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)),
        });
        fn exchange<const X: usize>(self: Self) -> Self = {
            let other = self.swap::<X>();
            let (less, greater) = (self.min(other).0, self.max(other).0);
            Self(match X {
                1 => _mm256_blend_epi32::<0xAA>(less, greater),
                2 | 3 => _mm256_blend_epi32::<0xCC>(less, greater),
                _ => _mm256_blend_epi32::<0xF0>(less, greater),
            })
        };
    }
}

/// Four keys in AVX2, or within AVX-512. With fewer `LANES`, only the lower half has keys, as in [`U32x8`]. AVX2
/// compares signed keys only, so its vectors hold keys with the highest bit flipped.
#[derive(Clone, Copy)]
struct U64x4<const WITHIN: bool, const LANES: usize = 4>(__m256i);

impl<const WITHIN: bool, const LANES: usize> U64x4<WITHIN, LANES> {
    #[inline(always)]
    unsafe fn flipped(keys: __m256i) -> __m256i {
        // SAFETY: the caller has AVX2.
        if WITHIN { keys } else { unsafe { _mm256_xor_si256(keys, _mm256_set1_epi64x(i64::MIN)) } }
    }

    /// Returns the keys, or the others where the mask is set.
    #[inline(always)]
    unsafe fn blended(keys: __m256i, others: __m256i, mask: __m256i) -> Self {
        // SAFETY: the caller has AVX2.
        let [keys, others, mask] = unsafe { [keys, others, mask].map(|it| _mm256_castsi256_pd(it)) };
        // SAFETY: as above.
        Self(unsafe { _mm256_castpd_si256(_mm256_blendv_pd(keys, others, mask)) })
    }
}

/// Returns all ones in the lanes below `count`.
#[inline(always)]
unsafe fn below_of_4(count: usize) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_cmpgt_epi64(_mm256_set1_epi64x(count as i64), _mm256_setr_epi64x(0, 1, 2, 3)) }
}

impl<const WITHIN: bool, const LANES: usize> Vector for U64x4<WITHIN, LANES> {
    type Key = u64;
    type Half = U64x4<WITHIN, 2>;
    const LANES: usize = LANES;
    const MOST: u64 = u64::MAX;

    functions! { operation => if WITHIN { with_avx512(operation) } else { with_avx2(operation) };
        fn load(from: *const u64) -> Self = Self(Self::flipped(load(from.cast(), LANES == 4)));
        fn store(self: Self, to: *mut u64) = store(Self::flipped(self.0), to.cast(), LANES == 4);
        fn load_first(from: *const u64, count: usize) -> Self = {
            let lanes = below_of_4(count);
            let others = _mm256_xor_si256(lanes, _mm256_set1_epi64x(-1));
            Self(Self::flipped(_mm256_or_si256(_mm256_maskload_epi64(from.cast(), lanes), others)))
        };
        fn store_first(self: Self, to: *mut u64, count: usize) =
            _mm256_maskstore_epi64(to.cast(), below_of_4(count), Self::flipped(self.0));
        fn splat(key: u64) -> Self = Self(Self::flipped(_mm256_set1_epi64x(key as i64)));
        fn min(self: Self, other: Self) -> Self = match WITHIN {
            true => Self(_mm256_min_epu64(self.0, other.0)),
            false => Self::blended(self.0, other.0, _mm256_cmpgt_epi64(self.0, other.0)),
        };
        fn max(self: Self, other: Self) -> Self = match WITHIN {
            true => Self(_mm256_max_epu64(self.0, other.0)),
            false => Self::blended(other.0, self.0, _mm256_cmpgt_epi64(self.0, other.0)),
        };
        fn is_less(self: Self, other: Self) -> u32 = match WITHIN {
            true => u32::from(_mm256_cmplt_epu64_mask(self.0, other.0)) & below(LANES),
            false => _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(other.0, self.0))) as u32 & below(LANES),
        };
        fn divide(self: Self, lanes: u32) -> Self = {
            let numbers = _mm_cvtsi64_si128(i64::from_le_bytes(FOUR[lanes as usize & 0xF]));
            Self(_mm256_permutevar8x32_epi32(self.0, _mm256_cvtepu8_epi32(numbers)))
        };
        fn swap<const X: usize>(self: Self) -> Self = Self(match X {
            1 => _mm256_shuffle_epi32::<0x4E>(self.0),
            2 => _mm256_permute4x64_epi64::<0x4E>(self.0),
            _ => _mm256_permute4x64_epi64::<0x1B>(self.0),
        });
        fn exchange<const X: usize>(self: Self) -> Self = {
            let other = self.swap::<X>();
            if WITHIN {
                let (less, greater) = (self.min(other).0, self.max(other).0);
                Self(match X {
                    1 => _mm256_blend_epi32::<0xCC>(less, greater),
                    _ => _mm256_blend_epi32::<0xF0>(less, greater),
                })
            } else {
                // Lanes for the lesser key take the other key where their own is greater; lanes for the greater
                // key take the other key where their own is not greater.
                let upper = match X {
                    1 => _mm256_setr_epi64x(0, -1, 0, -1),
                    _ => _mm256_setr_epi64x(0, 0, -1, -1),
                };
                Self::blended(self.0, other.0, _mm256_xor_si256(_mm256_cmpgt_epi64(self.0, other.0), upper))
            }
        };
    }
}
