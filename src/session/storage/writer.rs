//! A transcript open for appending (spec 04 §7.2): one write to the system for each line, a first error that stays, and a
//! close that says what it knows.

use super::{Result, StorageError};

/// Why closing failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CloseFault {
    /// Before the system was asked: the file is still open, and closing can be tried again.
    Undispatched(StorageError),
    /// The system was asked and failed: whether the file is closed is not known.
    Dispatched(StorageError),
}

/// What a writer writes to.
pub trait Sink {
    /// Writes all of it, in one write.
    ///
    /// # Errors
    /// The system's.
    fn write(&mut self, line: &[u8]) -> Result<()>;
    /// Makes it durable, and verifies that the file is still only its owner's.
    ///
    /// # Errors
    /// The system's.
    fn sync(&mut self) -> Result<()>;
    /// Gives the file back.
    ///
    /// # Errors
    /// See [`CloseFault`].
    fn close(&mut self) -> std::result::Result<(), CloseFault>;
}

/// How far a writer is from being closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CloseState {
    /// It takes lines.
    Open,
    /// Closing failed before the system was asked; it can be tried again.
    CloseFailedRetryable,
    /// The system was asked and failed; it is not asked again.
    CloseUnknown,
    /// Closed.
    Closed,
}

/// A writer. Dropped without [`Writer::close`] it loses nothing that a line returned for, and proves nothing durable.
pub struct Writer<'w> {
    sink: Box<dyn Sink + 'w>,
    state: CloseState,
    /// The first error of writing: every later call answers it.
    error: Option<StorageError>,
    close_error: Option<StorageError>,
}

impl<'w> Writer<'w> {
    /// Over an open file.
    pub fn new(sink: impl Sink + 'w) -> Self {
        Writer { sink: Box::new(sink), state: CloseState::Open, error: None, close_error: None }
    }

    /// Writes a line, its LF included. When this returns the bytes are the system's; they are not yet durable.
    ///
    /// # Errors
    /// The writer is not open; an earlier error; the system's, which stays.
    pub fn write_line(&mut self, line: &[u8]) -> Result<()> {
        self.attempt(|sink| sink.write(line))
    }
    /// Nothing is held back here, so this only asks for the state.
    ///
    /// # Errors
    /// The writer is not open; an earlier error.
    pub fn flush(&mut self) -> Result<()> {
        self.attempt(|_| Ok(()))
    }
    /// Makes what was written durable.
    ///
    /// # Errors
    /// The writer is not open; an earlier error; the system's, which stays.
    pub fn fsync(&mut self) -> Result<()> {
        self.attempt(|sink| sink.sync())
    }

    /// The order of errors: not open, then the first error of writing, then the operation's own.
    fn attempt(&mut self, operate: impl FnOnce(&mut (dyn Sink + 'w)) -> Result<()>) -> Result<()> {
        match self.state {
            CloseState::Open => {}
            CloseState::Closed => return Err(StorageError::plain("Writer closed")),
            CloseState::CloseFailedRetryable | CloseState::CloseUnknown => {
                return Err(self.close_error.clone().unwrap_or_else(|| StorageError::plain("Writer closed")));
            }
        }
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        operate(self.sink.as_mut()).inspect_err(|error| self.error = Some(error.clone()))
    }

    /// Closes. A writer that is closed stays so. The file is given back even after an error of writing, which is then
    /// answered: it is the first that matters.
    ///
    /// # Errors
    /// The error of writing, else that of closing.
    pub fn close(&mut self) -> Result<()> {
        match self.state {
            CloseState::Closed => return Ok(()),
            CloseState::CloseUnknown => return self.close_error.clone().map_or(Ok(()), Err),
            CloseState::Open | CloseState::CloseFailedRetryable => {}
        }
        let (state, close_error) = match self.sink.close() {
            Ok(()) => (CloseState::Closed, None),
            Err(CloseFault::Undispatched(error)) => (CloseState::CloseFailedRetryable, Some(error)),
            Err(CloseFault::Dispatched(error)) => (CloseState::CloseUnknown, Some(error)),
        };
        self.state = state;
        self.close_error = close_error;
        self.error.clone().or_else(|| self.close_error.clone()).map_or(Ok(()), Err)
    }

    /// The first error of writing.
    pub const fn error(&self) -> Option<&StorageError> {
        self.error.as_ref()
    }
    /// How far it is from being closed.
    pub const fn state(&self) -> CloseState {
        self.state
    }
    /// Why it is not closed.
    pub const fn close_error(&self) -> Option<&StorageError> {
        self.close_error.as_ref()
    }
}

/// A writer that hands many lines to the system at once. What it holds is lost with the process.
pub struct Buffered<'w> {
    writer: Writer<'w>,
    held: Vec<u8>,
    capacity: usize,
}

impl<'w> Buffered<'w> {
    /// Least, usual and most bytes that are held back.
    pub const CAPACITY: (usize, usize, usize) = (64 << 10, 256 << 10, 512 << 10);

    /// Holds back so many bytes; none is the usual number, and what is too few or too many becomes the least or the most.
    pub fn new(writer: Writer<'w>, capacity: Option<usize>) -> Self {
        let (least, usual, most) = Self::CAPACITY;
        Buffered { writer, held: Vec::new(), capacity: capacity.unwrap_or(usual).clamp(least, most) }
    }
    /// Takes a line; what was held is written when there is no room for it.
    ///
    /// # Errors
    /// As [`Writer::write_line`].
    pub fn write_line(&mut self, line: &[u8]) -> Result<()> {
        // The state is asked even when nothing is written.
        self.writer.flush()?;
        if self.held.len() + line.len() > self.capacity {
            self.flush()?;
        }
        if line.len() > self.capacity {
            return self.writer.write_line(line);
        }
        self.held.extend_from_slice(line);
        Ok(())
    }
    /// Writes what is held.
    ///
    /// # Errors
    /// As [`Writer::write_line`].
    pub fn flush(&mut self) -> Result<()> {
        if self.held.is_empty() { self.writer.flush() } else { self.writer.write_line(&std::mem::take(&mut self.held)) }
    }
    /// Writes what is held, and makes it durable.
    ///
    /// # Errors
    /// As [`Writer::fsync`].
    pub fn fsync(&mut self) -> Result<()> {
        self.flush()?;
        self.writer.fsync()
    }
    /// Writes what is held and closes. A writer that is closed stays so.
    ///
    /// # Errors
    /// As [`Writer::close`].
    pub fn close(&mut self) -> Result<()> {
        let flushed = if self.writer.state() == CloseState::Open { self.flush() } else { Ok(()) };
        let closed = self.writer.close();
        flushed.and(closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Answers what it was told to, in turn; then it works. Counts what it was asked.
    #[derive(Clone, Default)]
    struct Told {
        write: Rc<RefCell<Vec<Result<()>>>>,
        close: Rc<RefCell<Vec<std::result::Result<(), CloseFault>>>>,
        asked: Rc<RefCell<Vec<&'static str>>>,
    }

    impl Sink for Told {
        fn write(&mut self, _: &[u8]) -> Result<()> {
            self.asked.borrow_mut().push("write");
            self.write.borrow_mut().pop().unwrap_or(Ok(()))
        }
        fn sync(&mut self) -> Result<()> {
            self.asked.borrow_mut().push("sync");
            Ok(())
        }
        fn close(&mut self) -> std::result::Result<(), CloseFault> {
            self.asked.borrow_mut().push("close");
            self.close.borrow_mut().pop().unwrap_or(Ok(()))
        }
    }

    fn error(text: &str) -> StorageError {
        StorageError::plain(text)
    }

    /// 04 §7.2
    #[test]
    fn the_first_error_stays_and_the_system_is_not_asked_again() {
        let told = Told::default();
        told.write.borrow_mut().push(Err(error("ENOSPC")));
        let mut writer = Writer::new(told.clone());
        assert_eq!(writer.write_line(b"a\n"), Err(error("ENOSPC")));
        assert_eq!(writer.write_line(b"b\n"), Err(error("ENOSPC")));
        assert_eq!((writer.flush(), writer.fsync()), (Err(error("ENOSPC")), Err(error("ENOSPC"))));
        assert_eq!(writer.error(), Some(&error("ENOSPC")));
        // Closing gives the file back and answers what matters.
        assert_eq!(writer.close(), Err(error("ENOSPC")));
        assert_eq!(writer.state(), CloseState::Closed);
        assert_eq!(*told.asked.borrow(), ["write", "close"]);
    }

    /// 04 §7.2
    #[test]
    fn a_closed_writer_says_so_and_closes_again_without_a_word() {
        let mut writer = Writer::new(Told::default());
        writer.write_line(b"a\n").unwrap();
        writer.fsync().unwrap();
        writer.close().unwrap();
        assert_eq!(writer.close(), Ok(()));
        assert_eq!(writer.write_line(b"b\n"), Err(error("Writer closed")));
        assert_eq!((writer.flush(), writer.fsync()), (Err(error("Writer closed")), Err(error("Writer closed"))));
        assert_eq!(writer.error(), None);
    }

    /// 04 §7.2: states `close_failed_retryable` and `close_unknown`
    #[test]
    fn a_close_that_did_not_reach_the_system_can_be_tried_again() {
        let told = Told::default();
        told.close.borrow_mut().push(Err(CloseFault::Undispatched(error("not mine"))));
        let mut writer = Writer::new(told);
        assert_eq!(writer.close(), Err(error("not mine")));
        assert_eq!(writer.state(), CloseState::CloseFailedRetryable);
        assert_eq!(writer.write_line(b"a\n"), Err(error("not mine")));
        assert_eq!(writer.close(), Ok(()));
        assert_eq!((writer.state(), writer.close_error()), (CloseState::Closed, None));
    }

    /// 04 §7.1: `openBufferedWriter`
    #[test]
    fn a_buffered_writer_holds_lines_back_until_there_is_no_room() {
        let told = Told::default();
        let mut buffered = Buffered::new(Writer::new(told.clone()), Some(1));
        let line = vec![b'x'; 40 << 10];
        buffered.write_line(&line).unwrap();
        assert!(told.asked.borrow().is_empty());
        buffered.write_line(&line).unwrap();
        assert_eq!(*told.asked.borrow(), ["write"]);
        buffered.write_line(&vec![b'x'; 65 << 10]).unwrap();
        assert_eq!(*told.asked.borrow(), ["write", "write", "write"]);
        buffered.write_line(b"1\n").unwrap();
        buffered.close().unwrap();
        buffered.close().unwrap();
        assert_eq!(told.asked.borrow()[3..], ["write", "close"]);
        assert_eq!(buffered.write_line(b"2\n"), Err(error("Writer closed")));
    }

    #[test]
    fn a_close_of_unknown_outcome_is_never_dispatched_again() {
        let told = Told::default();
        told.close.borrow_mut().push(Err(CloseFault::Dispatched(error("EIO"))));
        let mut writer = Writer::new(told.clone());
        assert_eq!(writer.close(), Err(error("EIO")));
        assert_eq!(writer.close(), Err(error("EIO")));
        assert_eq!(writer.state(), CloseState::CloseUnknown);
        assert_eq!(writer.flush(), Err(error("EIO")));
        assert_eq!(*told.asked.borrow(), ["close"]);
    }
}
