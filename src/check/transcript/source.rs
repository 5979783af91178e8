//! Where the checked bytes come from.

use crate::check::line::Damaged;
use crate::finding::Place;
use crate::json::Node;
use crate::json::jsonl::Found;
use crate::json::text::wtf8_lossy;
use crate::transcript::Ids;
use crate::transcript::facts::Fact;
use std::sync::Arc;

/// Names every place of a finding.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path relative to the checked root (`-` for standard input).
    pub path: Arc<str>,
    /// The file lies below the managed sessions root.
    pub managed: bool,
}

impl Source {
    /// The file as a whole.
    pub fn file(&self) -> Place {
        Place { path: Arc::clone(&self.path), ..Place::default() }
    }
    /// A line.
    pub fn line(&self, line: u64) -> Place {
        Place { line: Some(line), ..self.file() }
    }
    /// A line and its bytes.
    pub fn span(&self, line: u64, offset: u64, len: usize) -> Place {
        Place { column: Some(1), bytes: Some((offset, offset + len as u64)), ..self.line(line) }
    }
    /// A value of the lenient reader.
    pub fn found(&self, found: &Found<'_>) -> Place {
        Place { bytes: Some((found.offset, found.end)), ..self.line(found.line) }
    }
    /// An entry whose id is not to be named: the file has none, or migration gave it another.
    pub fn numbered(&self, fact: &Fact) -> Place {
        Place { bytes: fact.bytes(), ..self.line(u64::from(fact.line)) }
    }
    /// An entry.
    pub fn fact(&self, fact: &Fact, ids: &Ids) -> Place {
        Place { entry: ids.text(fact.id).map(wtf8_lossy), ..self.numbered(fact) }
    }
    /// A damaged line.
    pub fn damaged(&self, damaged: Damaged) -> Place {
        Place { bytes: Some((damaged.offset, damaged.offset + damaged.len)), ..self.line(damaged.line) }
    }
    /// A value inside a value of the lenient reader.
    pub fn inside(&self, found: &Found<'_>, node: Node<'_>, pointer: Option<String>) -> Place {
        let (root, _) = found.node.span();
        let (start, end) = node.span();
        let (start, end) = (found.offset + (start - root) as u64, found.offset + (end - root) as u64);
        Place { bytes: Some((start, end)), pointer, ..self.line(found.line) }
    }
}
