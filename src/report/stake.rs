//! What is at stake in a finding, for those who read the report from its top: the order in which people are told.
//!
//! Severity says what gjc does with the object; this says what it means to the one who owns the sessions. A prompt history that
//! is corrupt and a session that does not open are both errors, and the session comes first.

use super::{Entry, Transcript};
use crate::finding::Severity;

/// What is at stake, the most first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stake {
    /// Whether sessions open at all: gjc refuses this one, or the workspace it lies in, or nobody could look.
    Opening,
    /// What is in a session: gjc drops or misreads a part of it.
    Content,
    /// All else: what stands beside the sessions, and how it is kept.
    Else,
}

/// Areas whose warnings say that gjc leaves a part of a session out.
const CONTENT: [&str; 6] = ["line", "header", "entry", "patch", "migrate", "tree"];

impl Stake {
    /// What is at stake in a finding; `transcript` is the checked transcript at its path.
    pub fn of(entry: &Entry, transcript: Option<&Transcript>) -> Stake {
        let code = entry.code;
        // The prompt history is one file that no session needs.
        let unseen = code.fatal && code.area != "history";
        let refused = entry.severity == Severity::Error && transcript.is_some_and(Transcript::refused);
        if unseen || refused || code.refuses_workspace() || code.lacks_workspace() {
            Stake::Opening
        } else if transcript.is_some() && (entry.severity == Severity::Error || CONTENT.contains(&code.area)) {
            Stake::Content
        } else {
            Stake::Else
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, Outcome, Place};
    use crate::report::{Audit, Settings, build};

    /// What is at stake in a finding of this code at a transcript of which reader S answers so; none: at something else.
    fn stake(code: &str, strict: Option<&'static str>) -> Stake {
        let code = crate::check::code(code).unwrap();
        let place = Place { path: "x".into(), ..Place::default() };
        let outcome = |answer: &'static str| Outcome {
            path: "x".into(),
            verdicts: [("S", crate::finding::Answer::Borrowed(answer))].into(),
            ..Outcome::default()
        };
        let audit = Audit {
            findings: vec![Finding::new(code, place, "m")],
            outcomes: strict.map(outcome).into_iter().collect(),
            ..Audit::default()
        };
        let report = build(audit, &Settings::default());
        Stake::of(&report.findings[0], report.transcripts.first())
    }

    #[test]
    fn a_session_that_does_not_open_comes_before_one_that_lacks_something() {
        assert_eq!(stake("json_syntax", Some("malformed")), Stake::Opening);
        assert_eq!(stake("blob_missing", Some("resumable")), Stake::Content);
        assert_eq!(stake("dangling_parent", Some("resumable")), Stake::Content, "the history before it is cut off");
    }
    #[test]
    fn a_warning_at_a_refused_session_is_not_why_it_does_not_open() {
        assert_eq!(stake("dangling_parent", Some("malformed")), Stake::Content);
        assert_eq!(stake("toolcall_unanswered", Some("malformed")), Stake::Else);
    }
    #[test]
    fn a_workspace_that_is_refused_or_not_there_takes_its_sessions_along() {
        assert_eq!(stake("binding_invalid", None), Stake::Opening);
        assert_eq!(stake("cwd_not_found", Some("resumable")), Stake::Opening);
    }
    #[test]
    fn what_could_not_be_looked_at_comes_first_and_the_prompt_history_never_does() {
        assert_eq!(stake("object_unreadable", None), Stake::Opening);
        assert_eq!(stake("history_corrupt", None), Stake::Else);
    }
    #[test]
    fn what_stands_beside_the_sessions_comes_last() {
        assert_eq!(stake("agent_dir_mode_drift", None), Stake::Else);
        assert_eq!(stake("special_file", None), Stake::Else);
    }
}
