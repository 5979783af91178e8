//! A connection to a database that nobody vouches for.

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Result};
use std::path::Path;
use std::time::Duration;

/// Steps that a statement may take before it is interrupted, for each byte of the database, and for the smallest. A scan of
/// all rows with the indexes of gjc takes about four for a byte; the factor is what a sound database never needs.
const STEPS_PER_BYTE: u64 = 20;
const STEPS: u64 = 10_000_000;
/// Steps between two looks at the budget.
const STRIDE: u32 = 1_000;

/// Largest value or row: no row of a database is larger than the database, and the largest that is looked at is this.
pub const LARGEST: u64 = 256 << 20;

/// Opens the copy of a database of `bytes` bytes.
pub fn connect(path: &Path, bytes: u64) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // Nobody else has the copy open; should the folder be shared all the same, waiting ends.
    connection.busy_timeout(Duration::from_secs(5))?;
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false),
    ] {
        connection.set_db_config(config, on)?;
    }
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, LARGEST as i32),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    ] {
        connection.set_limit(limit, most)?;
    }
    let mut left = (STEPS + bytes.saturating_mul(STEPS_PER_BYTE)) / u64::from(STRIDE);
    let spent = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    connection.progress_handler(STRIDE as i32, Some(spent))?;
    // The pragmas of the connection, not of the file. The first that touches the file says whether it is a database at all,
    // so these touch none.
    connection
        .execute_batch("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA ignore_check_constraints=ON;")?;
    Ok(connection)
}

/// Whether an error is the end of the budget.
pub fn is_spent(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted)
}
