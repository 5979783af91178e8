//! Replay payloads: what a provider's own history left in assistant messages, taken out by every opening (spec 01 §5.4).

use crate::json::{Object, Value, View};
use crate::transcript::EntryKind;
use crate::transcript::entry::Role;

/// True for an entry whose message opening sanitises.
pub fn has_replay_payload<'v, V: View<'v>>(entry: V) -> bool {
    EntryKind::of(entry) == EntryKind::Message
        && entry.get("message").is_some_and(|message| {
            let payload = message.get("providerPayload").and_then(|payload| payload.get("type"));
            Role::of(message) == Role::Assistant && payload.is_some_and(|kind| kind.is_str("openaiResponsesHistory"))
        })
}

/// Takes the payload out of an entry's message, and the signatures out of its thinking. Answers the message when there
/// was one to take.
pub fn sanitise(entry: &mut Value) -> Option<&Object> {
    if !has_replay_payload(&*entry) {
        return None;
    }
    let message = entry.as_object_mut()?.get_mut("message")?.as_object_mut()?;
    message.remove("providerPayload");
    if let Some(Value::Array(content)) = message.get_mut("content") {
        for block in content.items_mut().iter_mut().filter(|block| block.member("type").is_some_and(|kind| kind.is_str("thinking"))) {
            if let Some(block) = block.as_object_mut() {
                block.remove("thinkingSignature");
            }
        }
    }
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::stringify::to_text;

    fn sanitised(text: &str) -> Option<String> {
        let mut entry = Value::parse(text.as_bytes()).unwrap();
        sanitise(&mut entry).map(|message| to_text(&Value::Object(message.clone())))
    }

    #[test]
    fn the_payload_and_the_signatures_of_thinking_go() {
        let entry = |role: &str, kind: &str| {
            format!(
                r#"{{"type":"message","message":{{"role":"{role}","content":[{{"type":"thinking","thinkingSignature":"s","x":1}},{{"type":"text","thinkingSignature":"s"}}],"providerPayload":{{"type":"{kind}"}}}}}}"#
            )
        };
        assert_eq!(
            sanitised(&entry("assistant", "openaiResponsesHistory")).as_deref(),
            Some(r#"{"role":"assistant","content":[{"type":"thinking","x":1},{"type":"text","thinkingSignature":"s"}]}"#)
        );
        assert_eq!(sanitised(&entry("assistant", "somethingElse")), None);
        assert_eq!(sanitised(&entry("user", "openaiResponsesHistory")), None);
    }
}
