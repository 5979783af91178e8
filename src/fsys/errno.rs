//! Names of error numbers, as gjc and its users write them.

use rustix::io::Errno;

/// The numbers that have a name here.
const NAMES: &[(Errno, &str)] = &[
    (Errno::NOENT, "ENOENT"),
    (Errno::ACCESS, "EACCES"),
    (Errno::PERM, "EPERM"),
    (Errno::NOTDIR, "ENOTDIR"),
    (Errno::ISDIR, "EISDIR"),
    (Errno::LOOP, "ELOOP"),
    (Errno::IO, "EIO"),
    (Errno::INVAL, "EINVAL"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG"),
    (Errno::MFILE, "EMFILE"),
    (Errno::NFILE, "ENFILE"),
    (Errno::NOMEM, "ENOMEM"),
    (Errno::NXIO, "ENXIO"),
    (Errno::NODEV, "ENODEV"),
    (Errno::BUSY, "EBUSY"),
    (Errno::ROFS, "EROFS"),
    (Errno::NOSPC, "ENOSPC"),
    (Errno::EXIST, "EEXIST"),
    (Errno::NOTEMPTY, "ENOTEMPTY"),
    (Errno::OPNOTSUPP, "ENOTSUP"),
    (Errno::STALE, "ESTALE"),
    (Errno::AGAIN, "EAGAIN"),
    (Errno::RANGE, "ERANGE"),
    (Errno::INTR, "EINTR"),
    (Errno::BADF, "EBADF"),
    (Errno::XDEV, "EXDEV"),
    (Errno::FBIG, "EFBIG"),
    (Errno::OVERFLOW, "EOVERFLOW"),
    (Errno::TIMEDOUT, "ETIMEDOUT"),
    (Errno::NOSYS, "ENOSYS"),
    (Errno::DQUOT, "EDQUOT"),
    (NO_ATTRIBUTE, "ENODATA"),
];

/// `ENOENT`, `EACCES`, …; `errno` for a number without a name here.
pub fn errno_name(errno: Errno) -> &'static str {
    NAMES.iter().find(|(number, _)| *number == errno).map_or("errno", |(_, name)| name)
}

/// The number that has this name.
pub fn errno_of(name: &str) -> Option<Errno> {
    NAMES.iter().find(|(_, known)| *known == name).map(|(number, _)| *number)
}

/// What a query for an absent extended attribute answers.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub const NO_ATTRIBUTE: Errno = Errno::NODATA;
/// What a query for an absent extended attribute answers.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub const NO_ATTRIBUTE: Errno = Errno::NOATTR;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_number_has_its_name_and_an_unknown_one_has_none() {
        assert_eq!(errno_name(Errno::LOOP), "ELOOP");
        assert_eq!(errno_name(NO_ATTRIBUTE), "ENODATA");
        assert_eq!(errno_name(Errno::from_raw_os_error(4000)), "errno");
        assert_eq!((errno_of("ELOOP"), errno_of("errno")), (Some(Errno::LOOP), None));
    }
}
