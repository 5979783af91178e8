//! temp
use gjc_fsck::json::jsonl::{Event, Lines};
use gjc_fsck::json::{Value, stringify};
use std::path::PathBuf;
fn dir() -> PathBuf {
    std::env::var_os("GJC_FSCK_VECTORS")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"))
}
#[test]
fn parse() {
    let text = std::fs::read(dir().join("parse.jsonl")).unwrap();
    let (mut ok, mut n) = (0, 0);
    for line in text.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
        let case = Value::parse(line).unwrap();
        n += 1;
        let input = match case.member("input") {
            Some(Value::String(s)) => s.as_bytes().to_vec(),
            _ => data_encoding::BASE64
                .decode(match case.member("input_b64") {
                    Some(Value::String(s)) => s.as_bytes(),
                    _ => panic!(),
                })
                .unwrap(),
        };
        let mut lines = Lines::new(&input[..]);
        let mut got = Vec::new();
        while let Some(e) = lines.next().unwrap() {
            if let Event::Value(f) = e {
                got.push(stringify::to_text(&Value::from_node(f.node)));
            }
        }
        let expect = case.member("expect").unwrap();
        match expect.member("records_text").and_then(Value::as_array) {
            Some(want) => {
                let want: Vec<String> = want
                    .iter()
                    .map(|v| match v {
                        Value::String(s) => s.to_string(),
                        _ => panic!(),
                    })
                    .collect();
                if want == got {
                    ok += 1
                } else {
                    println!(
                        "{:?}\n input {:?}\n want {:?}\n got  {:?}",
                        case.member("name"),
                        String::from_utf8_lossy(&input).chars().take(300).collect::<String>(),
                        want.iter().map(|s| s.chars().take(100).collect::<String>()).collect::<Vec<_>>(),
                        got.iter().map(|s| s.chars().take(100).collect::<String>()).collect::<Vec<_>>()
                    );
                }
            }
            None => println!("?? {:?} {}", case.member("name"), stringify::to_text(expect)),
        }
    }
    println!("parse {ok}/{n}");
    assert_eq!(ok, n);
}
