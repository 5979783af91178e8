//! What a repair asks of the world besides files: the time, chance, and who this process is. Values come from `cli`.

/// Clock, chance and process.
pub trait Outside: Sync {
    /// Milliseconds since 1970, now.
    fn now_ms(&self) -> u64;
    /// A random UUID of version 4, lower case.
    fn uuid(&self) -> String;
    /// Waits so many milliseconds.
    fn wait(&self, ms: u64);
    /// This process.
    fn pid(&self) -> u32;
    /// A UUID made once for this process.
    fn process_start_id(&self) -> &str;
}

/// Spells a UUID of version 4 from 128 random bits.
pub fn uuid_of(bits: u128) -> String {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bits_are_a_uuid_of_version_4() {
        assert_eq!(uuid_of(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid_of(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert!(crate::json::spelling::is_uuid(&uuid_of(0x0123_4567_89ab_cdef)));
    }
}
