//! The area *size and caps* of spec 05: its codes and the pass that reports them.

pub mod codes;
