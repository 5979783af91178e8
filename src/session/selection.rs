//! What a new session persists of the tools that its caller named (seeds "Discovery selection authority").
//!
//! MCP tools and discovered built-in tools are two domains, and a list speaks for a domain only by naming a tool of it.
//! Essential built-ins are baseline policy: they never speak for anything. An empty list clears both domains. A list that was
//! not given, and the defaults of the configuration, are nobody's decision and are not written.

use super::content::Content;
use crate::json::{JsString, Value};

/// What a tool is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// A tool of an MCP server.
    Mcp,
    /// A built-in tool that is discovered.
    Discovered,
    /// A built-in tool that every session has.
    Essential,
}

/// A tool that was named.
pub type Named = (JsString, Domain);

/// The entries of a selection, in the order in which they are appended: MCP first. Where there are both, one id correlates them.
pub fn entries(named: Option<&[Named]>, correlation: impl FnOnce() -> JsString) -> Vec<Content> {
    let Some(named) = named else { return Vec::new() };
    let of = |domain| named.iter().filter(move |(_, of)| *of == domain).map(|(name, _)| Value::String(name.clone())).collect::<Vec<_>>();
    let (mcp, discovered) = (of(Domain::Mcp), of(Domain::Discovered));
    let clears = named.is_empty();
    let both = clears || !mcp.is_empty() && !discovered.is_empty();
    let correlation = both.then(|| Value::String(correlation()));
    let mut entries = Vec::new();
    if clears || !mcp.is_empty() {
        entries.push(Content::mcp_tool_selection(Value::Array(mcp.into()), correlation.clone()));
    }
    if clears || !discovered.is_empty() {
        entries.push(Content::discovered_builtin_tool_selection(Value::Array(discovered.into()), correlation));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;
    use crate::session::content::Envelope;

    fn persisted(named: Option<&[(&str, Domain)]>) -> Vec<String> {
        let named: Option<Vec<Named>> = named.map(|named| named.iter().map(|(name, domain)| (JsString::from(*name), *domain)).collect());
        let entries = entries(named.as_deref(), || "c".into());
        let text = |content: Content| to_text(&content.entry(Envelope { id: "i".into(), parent: Value::Null, timestamp: "t".into() }));
        entries.into_iter().map(text).map(|text| text.replace(r#","id":"i","parentId":null,"timestamp":"t""#, "")).collect()
    }

    #[test]
    fn a_list_speaks_for_the_domains_that_it_names() {
        use Domain::{Discovered, Essential, Mcp};
        assert_eq!(persisted(Some(&[("m.a", Mcp)])), [r#"{"type":"mcp_tool_selection","selectedToolNames":["m.a"]}"#]);
        assert_eq!(
            persisted(Some(&[("read", Essential), ("x", Discovered)])),
            [r#"{"type":"discovered_builtin_tool_selection","selectedToolNames":["x"]}"#]
        );
        assert_eq!(persisted(Some(&[("read", Essential)])), Vec::<String>::new());
        assert_eq!(persisted(None), Vec::<String>::new());
    }

    #[test]
    fn both_domains_are_one_mutation_and_mcp_comes_first() {
        let mcp = |names: &str| format!(r#"{{"type":"mcp_tool_selection","selectedToolNames":{names},"mutationCorrelationId":"c"}}"#);
        let built_in = |names: &str| {
            format!(r#"{{"type":"discovered_builtin_tool_selection","selectedToolNames":{names},"mutationCorrelationId":"c"}}"#)
        };
        let named = persisted(Some(&[("x", Domain::Discovered), ("m.a", Domain::Mcp), ("m.b", Domain::Mcp)]));
        assert_eq!(named, [mcp(r#"["m.a","m.b"]"#), built_in(r#"["x"]"#)]);
        assert_eq!(persisted(Some(&[])), [mcp("[]"), built_in("[]")]);
    }
}
