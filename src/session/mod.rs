//! The reference session manager: create, append, branch, fork, move, list, resume, dump, export (spec 04).
