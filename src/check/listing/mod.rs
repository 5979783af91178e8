//! The area *listing* of spec 05: its codes and the pass that reports them.

pub mod codes;
