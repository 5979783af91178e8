//! Mutated records, the same ones every time.

use gjc_fsck::json::{Value, stringify};
use serde_json::{Value as Json, json};

/// What stands for a number that JSON can spell and no double holds.
const ENDLESS: &str = "<endless>";

/// Makes one record after the other from seeds.
pub struct Mutator {
    state: u64,
    seeds: Vec<Json>,
    /// Names of members that occur anywhere in the seeds.
    names: Vec<String>,
}

impl Mutator {
    pub fn new(form: &str, seeds: &[Value]) -> Self {
        let state = form.bytes().fold(0xcbf2_9ce4_8422_2325, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let seeds: Vec<Json> = seeds.iter().filter_map(|seed| serde_json::from_str(&stringify::to_text(seed)).ok()).collect();
        let mut names = vec!["extra".to_owned(), "taskArtifactOwnerRoot".to_owned(), "__proto__".to_owned()];
        seeds.iter().for_each(|seed| collect_names(seed, &mut names));
        names.sort();
        names.dedup();
        Mutator { state, seeds, names }
    }

    /// A number below `below`.
    fn below(&mut self, below: usize) -> usize {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let random = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        random as usize % below.max(1)
    }

    /// The next record.
    pub fn next(&mut self) -> Value {
        let at = self.below(self.seeds.len());
        let mut record = self.seeds[at].clone();
        for _ in 0..=self.below(3) {
            self.mutate(&mut record);
        }
        let text = serde_json::to_string(&record).unwrap().replace(&format!("\"{ENDLESS}\""), "1e400");
        Value::parse(text.as_bytes()).unwrap()
    }

    fn mutate(&mut self, record: &mut Json) {
        let atom = self.atom();
        let named = self.below(self.names.len());
        let mut name = self.names[named].clone();
        let mut place = record;
        // Some levels down.
        for _ in 0..self.below(6) {
            let size = place.as_object().map_or_else(|| place.as_array().map_or(0, Vec::len), serde_json::Map::len);
            if size == 0 {
                break;
            }
            let at = self.below(size);
            place = match place {
                Json::Object(members) => members.values_mut().nth(at).unwrap(),
                other => &mut other[at],
            };
        }
        match (self.below(8), &mut *place) {
            (0, Json::Object(members)) => {
                let at = self.below(members.len());
                if let Some(key) = members.keys().nth(at).cloned() {
                    members.remove(&key);
                }
            }
            (1 | 2, Json::Object(members)) => {
                if let Some(key) = members.keys().nth(self.below(members.len() * 2)) {
                    name = key.clone();
                }
                members.insert(name, atom);
            }
            (0, Json::Array(items)) => {
                let at = self.below(items.len());
                if at < items.len() {
                    items.remove(at);
                }
            }
            (1, Json::Array(items)) => {
                let at = self.below(items.len());
                if let Some(item) = items.get(at).cloned() {
                    items.push(item);
                }
            }
            (2, Json::Array(items)) => items.push(atom),
            (0..=3, Json::String(text)) => self.tweak(text),
            (0..=1, Json::Number(number)) => *place = json!(number.as_f64().unwrap_or_default() + 1.0),
            (_, Json::Object(_) | Json::Array(_)) if self.below(3) > 0 => {}
            (_, place) => *place = atom,
        }
    }

    /// A small change of a text.
    fn tweak(&mut self, text: &mut String) {
        match self.below(7) {
            0 => text.push('0'),
            1 => text.insert(0, '/'),
            2 => *text = text.to_uppercase(),
            3 => text.truncate(text.char_indices().last().map_or(0, |(at, _)| at)),
            4 => text.push_str("/../x"),
            5 => text.insert(0, '-'),
            _ => text.push('\n'),
        }
    }

    fn atom(&mut self) -> Json {
        let atoms = [
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(1),
            json!(2),
            json!(-1),
            json!(1.5),
            json!(9_007_199_254_740_992u64),
            json!(ENDLESS),
            json!(""),
            json!("x"),
            json!("0"),
            json!("00"),
            json!("-1"),
            json!("0x1f"),
            json!("18446744073709551616"),
            json!("9".repeat(60)),
            json!("/a/b"),
            json!("retained"),
            json!("payload_retired"),
            json!("uncertain"),
            json!([]),
            json!(["x"]),
            json!([1]),
            json!({}),
        ];
        atoms[self.below(atoms.len())].clone()
    }
}

fn collect_names(value: &Json, names: &mut Vec<String>) {
    match value {
        Json::Object(members) => {
            for (name, member) in members {
                names.push(name.clone());
                collect_names(member, names);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        _ => {}
    }
}
