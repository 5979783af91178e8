//! `gjc-fsck.toml`: what a repository says once about the check of its transcripts. A key or a code that this version does not
//! know has no effect and is a finding; a value that means nothing is an error, because it was meant to have an effect.

use super::gate::Skip;
use super::settings::{self, FailOn};
use crate::check;
use crate::check::operational::codes::CONFIG_UNKNOWN_KEY;
use crate::finding::{Code, Finding, Place, Release, Severity};
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The name under which the file is looked for.
pub const NAME: &str = "gjc-fsck.toml";

/// What a settings file says. What the command line says counts more.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// Release of gjc whose behaviour is asked for.
    pub release: Option<Release>,
    /// Lowest severity that sets exit bit 4.
    pub fail_on: Option<FailOn>,
    /// What to check when no path is named; relative to the folder of the file.
    pub paths: Vec<String>,
    /// The baseline; relative to the folder of the file.
    pub baseline: Option<String>,
    /// Severities of codes.
    pub severity: Vec<(&'static Code, Severity)>,
    /// Objects whose findings are known.
    pub skips: Vec<Skip>,
    /// Keys and codes that are not known.
    pub remarks: Vec<Finding>,
}

/// Why a text is no settings file: the line and what is wrong there.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name}:{line}:{column}: {message}")]
pub struct Fault {
    /// The file, as it was named.
    pub name: String,
    /// 1-based line.
    pub line: u64,
    /// 1-based byte column.
    pub column: u64,
    /// What is wrong.
    pub message: String,
}

/// What a file may say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Everything.
    Settings,
    /// `[[skip]]` only.
    SkipList,
}

/// Reads the text of a settings file or of a skip list. `name` is the file as the user named it.
///
/// # Errors
/// The text is no TOML, or a value means nothing.
pub fn parse(name: &str, text: &str, kind: Kind) -> Result<Config, Fault> {
    let mut reading = Reading { name: Arc::from(name), text, config: Config::default() };
    let table = DeTable::parse(text).map_err(|error| reading.fault(&error.span().unwrap_or_default(), error.message()))?;
    for (key, value) in table.get_ref() {
        match (key.get_ref().as_ref(), kind) {
            ("skip", _) => reading.skips(value)?,
            ("release", Kind::Settings) => reading.config.release = Some(reading.release(value)?),
            ("fail-on", Kind::Settings) => reading.config.fail_on = Some(reading.fail_on(value)?),
            ("paths", Kind::Settings) => reading.config.paths = reading.texts(value)?,
            ("baseline", Kind::Settings) => reading.config.baseline = Some(reading.text(value)?.to_owned()),
            ("severity", Kind::Settings) => reading.severities(value)?,
            (unknown, _) => reading.remark(key.span(), format!("the key `{unknown}` is not known")),
        }
    }
    Ok(reading.config)
}

/// A file while it is read.
struct Reading<'t> {
    name: Arc<str>,
    text: &'t str,
    config: Config,
}

type Read<T> = Result<T, Fault>;

impl Reading<'_> {
    /// 1-based line and byte column of a byte of the text.
    fn position(&self, at: usize) -> (u64, u64) {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = memchr::memchr_iter(b'\n', before).count();
        let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |lf| lf + 1);
        (line as u64 + 1, column as u64 + 1)
    }
    fn place(&self, span: Range<usize>) -> Place {
        let (line, column) = self.position(span.start);
        let bytes = Some((span.start as u64, span.end as u64));
        Place { path: Arc::clone(&self.name), line: Some(line), column: Some(column), bytes, ..Place::default() }
    }
    fn fault(&self, span: &Range<usize>, message: impl Into<String>) -> Fault {
        let (line, column) = self.position(span.start);
        Fault { name: self.name.to_string(), line, column, message: message.into() }
    }
    fn remark(&mut self, span: Range<usize>, message: String) {
        let text = self.text.get(span.clone()).unwrap_or_default();
        let finding = Finding::new(&CONFIG_UNKNOWN_KEY, self.place(span), message).record(text.as_bytes());
        self.config.remarks.push(finding);
    }

    fn text<'v>(&self, value: &'v Spanned<DeValue<'_>>) -> Read<&'v str> {
        value.get_ref().as_str().ok_or_else(|| self.fault(&value.span(), "expected a text"))
    }
    fn texts(&self, value: &Spanned<DeValue<'_>>) -> Read<Vec<String>> {
        let items = value.get_ref().as_array().ok_or_else(|| self.fault(&value.span(), "expected a list of texts"))?;
        items.iter().map(|item| self.text(item).map(str::to_owned)).collect()
    }
    fn table<'v, 'd>(&self, value: &'v Spanned<DeValue<'d>>) -> Read<&'v DeTable<'d>> {
        value.get_ref().as_table().ok_or_else(|| self.fault(&value.span(), "expected a table"))
    }
    fn release(&self, value: &Spanned<DeValue<'_>>) -> Read<Release> {
        Release::named(self.text(value)?).map_err(|message| self.fault(&value.span(), message))
    }
    fn fail_on(&self, value: &Spanned<DeValue<'_>>) -> Read<FailOn> {
        let expected = "expected \"error\", \"warning\", \"info\" or \"never\"";
        <FailOn as clap::ValueEnum>::from_str(self.text(value)?, false).map_err(|_| self.fault(&value.span(), expected))
    }

    fn severities(&mut self, value: &Spanned<DeValue<'_>>) -> Read<()> {
        for (key, value) in self.table(value)? {
            let Some(code) = check::code(key.get_ref()) else {
                self.remark(key.span(), format!("no code is called `{}`", key.get_ref()));
                continue;
            };
            let asked = settings::severity_of(code, self.text(value)?).map_err(|message| self.fault(&value.span(), message))?;
            self.config.severity.push((code, asked));
        }
        Ok(())
    }

    fn skips(&mut self, value: &Spanned<DeValue<'_>>) -> Read<()> {
        let entries = value.get_ref().as_array().ok_or_else(|| self.fault(&value.span(), "expected [[skip]] tables"))?;
        entries.iter().try_for_each(|entry| self.skip(entry))
    }

    fn skip(&mut self, value: &Spanned<DeValue<'_>>) -> Read<()> {
        let table = self.table(value)?;
        let (mut path, mut reason, mut named, mut codes) = (None, None, 0, Vec::new());
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "path" if self.text(value)?.trim().is_empty() => {
                    return Err(self.fault(&value.span(), "an empty `path` names nothing; `.` is everything that is checked"));
                }
                "path" => path = Some((self.text(value)?.to_owned(), value.span())),
                "reason" => reason = Some(self.text(value)?.to_owned()).filter(|reason| !reason.trim().is_empty()),
                "codes" => {
                    let names = value.get_ref().as_array().ok_or_else(|| self.fault(&value.span(), "expected a list of codes"))?;
                    named = names.len();
                    for name in names {
                        match check::code(self.text(name)?) {
                            Some(code) if code.fatal => {
                                let message = format!("`{}` is fatal: {}", code.name, settings::FATAL);
                                return Err(self.fault(&name.span(), message));
                            }
                            Some(code) => codes.push(code),
                            None => self.remark(name.span(), format!("no code is called `{}`", self.text(name)?)),
                        }
                    }
                    if named == 0 {
                        return Err(self.fault(&value.span(), "an empty list of codes skips nothing; leave it out to skip every code"));
                    }
                }
                unknown => self.remark(key.span(), format!("the key `{unknown}` of a skip entry is not known")),
            }
        }
        let (path, span) = path.ok_or_else(|| self.fault(&value.span(), "a skip entry needs a `path`"))?;
        let reason = reason.ok_or_else(|| self.fault(&value.span(), "a skip entry needs a `reason`"))?;
        // An entry of which no code is known would else skip every code.
        if named == 0 || !codes.is_empty() {
            self.config.skips.push(Skip { path, codes, reason, place: self.place(span) });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Config {
        parse("gjc-fsck.toml", text, Kind::Settings).unwrap()
    }
    fn fault(text: &str) -> String {
        parse("gjc-fsck.toml", text, Kind::Settings).unwrap_err().to_string()
    }
    fn remarks(config: &Config) -> Vec<(u64, u64, &str)> {
        config.remarks.iter().map(|finding| (finding.place.line.unwrap(), finding.place.column.unwrap(), &*finding.message)).collect()
    }

    #[test]
    fn a_file_says_release_level_paths_severities_baseline_and_skips() {
        let config = settings(
            "release = \"0.15\"\nfail-on = \"warning\"\npaths = [\"a\", \"b\"]\nbaseline = \"known.json\"\n\
             [severity]\ndangling_parent = \"error\"\n\
             [[skip]]\npath = \"a/x.jsonl\"\ncodes = [\"json_syntax\"]\nreason = \"a fixture\"\n",
        );
        assert_eq!(config.release, Some(Release::V0_15));
        assert_eq!(config.fail_on, Some(FailOn::Warning));
        assert_eq!(config.paths, ["a", "b"]);
        assert_eq!(config.baseline.as_deref(), Some("known.json"));
        assert_eq!(config.severity, [(check::code("dangling_parent").unwrap(), Severity::Error)]);
        let [skip] = &config.skips[..] else { panic!("{config:?}") };
        assert_eq!((&*skip.path, skip.codes[0].name, &*skip.reason, skip.place.line), ("a/x.jsonl", "json_syntax", "a fixture", Some(8)));
        assert!(config.remarks.is_empty());
    }

    #[test]
    fn config_unknown_key_names_each_key_and_code_that_is_not_known() {
        let trigger = "relase = \"0.15\"\n[severity]\ndangling_parents = \"error\"\n[[skip]]\npath = \"a\"\nwhy = \"x\"\nreason = \"x\"\ncodes = [\"no_code\"]\n";
        let config = settings(trigger);
        assert_eq!(
            remarks(&config),
            [
                (1, 1, "the key `relase` is not known"),
                (3, 1, "no code is called `dangling_parents`"),
                (8, 10, "no code is called `no_code`"),
                (6, 1, "the key `why` of a skip entry is not known"),
            ]
        );
        assert!(config.remarks.iter().all(|finding| *finding.code == CONFIG_UNKNOWN_KEY));
        assert!(config.skips.is_empty() && config.severity.is_empty() && config.release.is_none(), "they have no effect: {config:?}");
        // Near miss: the words are right.
        let near_miss = settings(
            &trigger
                .replace("relase", "release")
                .replace("parents", "parent")
                .replace("why = \"x\"\n", "")
                .replace("no_code", "json_syntax"),
        );
        assert_eq!(remarks(&near_miss), []);
        assert_eq!((near_miss.skips.len(), near_miss.severity.len()), (1, 1));
    }

    #[test]
    fn a_value_that_means_nothing_is_an_error_with_its_place() {
        for (text, said) in [
            ("release = \"0.16\"", "gjc-fsck.toml:1:11: the releases known are 0.15 and 0.17"),
            ("\nfail-on = \"errors\"", "gjc-fsck.toml:2:11: expected \"error\", \"warning\""),
            ("paths = \"a\"", "gjc-fsck.toml:1:9: expected a list of texts"),
            ("[severity]\njson_syntax = \"off\"", "gjc-fsck.toml:2:15: `off` is no level"),
            ("[severity]\nutf16_bom = \"info\"", "gjc-fsck.toml:2:13: `utf16_bom` is fatal"),
            ("[[skip]]\npath = \"a\"", "gjc-fsck.toml:1:1: a skip entry needs a `reason`"),
            ("[[skip]]\nreason = \"a\"", "a skip entry needs a `path`"),
            ("[[skip]]\npath = \"\"\nreason = \"a\"", "gjc-fsck.toml:2:8: an empty `path` names nothing"),
            ("[[skip]]\npath = \"a\"\nreason = \" \"", "a skip entry needs a `reason`"),
            ("[[skip]]\npath = \"a\"\nreason = \"x\"\ncodes = [\"utf16_bom\"]", "`utf16_bom` is fatal"),
            ("[[skip]]\npath = \"a\"\nreason = \"x\"\ncodes = []", "skips nothing"),
            ("skip = 1", "expected [[skip]] tables"),
            ("release = ", "gjc-fsck.toml:1:"),
            ("a = 1\na = 2", "gjc-fsck.toml:2:1: duplicate key"),
        ] {
            let fault = fault(text);
            assert!(fault.contains(said), "{text}\n{fault}");
        }
    }

    #[test]
    fn a_skip_list_says_nothing_else() {
        let list = parse("s.toml", "release = \"0.15\"\n[[skip]]\npath = \"a\"\nreason = \"x\"\n", Kind::SkipList).unwrap();
        assert_eq!((list.release, list.skips.len()), (None, 1));
        assert_eq!(remarks(&list), [(1, 1, "the key `release` is not known")]);
    }
}
