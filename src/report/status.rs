//! The exit status: summed bits as in fsck(8) (design §5).

use std::ops::BitOr;
use std::process::ExitCode;

/// Exit bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Status(u8);

impl Status {
    /// Nothing to say.
    pub const CLEAN: Status = Status(0);
    /// A repaired copy was written.
    pub const REPAIRED: Status = Status(1);
    /// The run's own budget ended it, a capacity is reached, or the tree moved: neither clean nor corrupt.
    pub const INCONCLUSIVE: Status = Status(2);
    /// A finding at or above `--fail-on`.
    pub const FINDINGS: Status = Status(4);
    /// Something could not be read.
    pub const OPERATIONAL: Status = Status(8);
    /// The command line is wrong.
    pub const USAGE: Status = Status(16);
    /// The user stopped the run.
    pub const CANCELLED: Status = Status(32);

    /// True when every bit of `other` is set.
    pub const fn has(self, other: Status) -> bool {
        self.0 & other.0 == other.0
    }
    /// The status with these bits.
    pub const fn from_bits(bits: u8) -> Status {
        Status(bits)
    }
    /// The number the process exits with.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl BitOr for Status {
    type Output = Status;
    fn bitor(self, other: Status) -> Status {
        Status(self.0 | other.0)
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status.0)
    }
}
