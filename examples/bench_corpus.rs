//! Writes the deterministic corpus that `ci/bench.sh` measures: healthy version-5 transcripts with realistic lines.
//!
//! `cargo run --release --example bench_corpus -- DIR [MEGABYTES] [FILES] [ENTRIES]`. The same arguments give the same bytes.
//! Line lengths: median about 1.7 KB, 99th percentile about 15 KB, and a few lines of 100 KB to 8 MB; with `ENTRIES`, as many in
//! each file, shorter so that they come to as many bytes.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a generator, not part of the tool")]

use std::fmt::Write as _;
use std::io::Write as _;

/// SplitMix64: small, seedable, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    /// Roughly log-normal around `median`, by the sum of uniform exponents.
    fn length(&mut self, median: f64) -> usize {
        let sum: f64 = (0..4).map(|_| self.below(10_000) as f64 / 10_000.0).sum::<f64>() - 2.0;
        (median * (sum * 1.78).exp()) as usize
    }
}

const WORDS: [&str; 24] = [
    "let",
    "session",
    "=",
    "open(path)?;",
    "the",
    "reader",
    "keeps",
    "every",
    "record",
    "\\\"quoted\\\"",
    "fn",
    "check",
    "{",
    "}",
    "\\n    ",
    "\\n",
    "–",
    "überall",
    "0x1f",
    "// why",
    "日本語",
    "return",
    "C:\\\\Users\\\\ana",
    "&mut",
];

/// JSON string content (already escaped) of about `length` bytes.
fn prose(random: &mut Random, length: usize, out: &mut String) {
    let end = out.len() + length;
    while out.len() < end {
        out.push_str(WORDS[random.below(WORDS.len() as u64) as usize]);
        out.push(' ');
    }
}

fn timestamp(n: u64) -> String {
    format!("2026-03-{:02}T{:02}:{:02}:{:02}.{:03}Z", 1 + n / 86_400 % 28, n / 3600 % 24, n / 60 % 60, n % 60, n * 37 % 1000)
}

/// One record of a turn: user, assistant with a call, its result, assistant with the answer.
fn record(random: &mut Random, n: u64, body: usize, out: &mut String) {
    let parent = if n == 0 { "null".to_owned() } else { format!("\"{:08x}\"", n - 1) };
    let _ = write!(out, "{{\"type\":\"message\",\"id\":\"{n:08x}\",\"parentId\":{parent},\"timestamp\":\"{}\",\"message\":", timestamp(n));
    let time = 1_772_000_000_000 + n * 1000;
    match n % 4 {
        0 => {
            out.push_str("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"");
            prose(random, body, out);
            let _ = write!(out, "\"}}],\"attribution\":\"user\",\"timestamp\":{time}}}}}");
        }
        1 | 3 => {
            out.push_str("{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"");
            prose(random, body / 3, out);
            out.push_str("\",\"thinkingSignature\":\"");
            for _ in 0..body / 48 {
                let _ = write!(out, "{:016x}", random.next());
            }
            out.push_str("\"},{\"type\":\"text\",\"text\":\"");
            prose(random, body / 3, out);
            out.push_str("\"}");
            if n % 4 == 1 {
                let _ = write!(
                    out,
                    ",{{\"type\":\"toolCall\",\"id\":\"call_{n}\",\"name\":\"read\",\"arguments\":{{\"path\":\"src/{}.rs\",\"limit\":{}}}}}",
                    random.below(999),
                    random.below(4000)
                );
            }
            let (input, output) = (random.below(90_000), random.below(4_000));
            let stop = if n % 4 == 1 { "toolUse" } else { "stop" };
            let _ = write!(
                out,
                "],\"api\":\"messages\",\"provider\":\"example\",\"model\":\"model-1\",\"usage\":{{\"input\":{input},\"output\":{output},\"cacheRead\":{},\"cacheWrite\":0,\"totalTokens\":{},\"cost\":{{\"input\":0.0123,\"output\":0.25,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0.2623}}}},\"stopReason\":\"{stop}\",\"timestamp\":{time}}}}}",
                random.below(50_000),
                input + output
            );
        }
        _ => {
            let _ = write!(
                out,
                "{{\"role\":\"toolResult\",\"toolCallId\":\"call_{}\",\"toolName\":\"read\",\"content\":[{{\"type\":\"text\",\"text\":\"",
                n - 1
            );
            prose(random, body.min(400_000), out);
            // A string of more than 500,000 units would be cut by gjc: a huge result is many blocks.
            for _ in 0..body / 480_000 {
                out.push_str("\"},{\"type\":\"text\",\"text\":\"");
                prose(random, 400_000, out);
            }
            let _ = write!(
                out,
                "\"}}],\"details\":{{\"exitCode\":0,\"lines\":{}}},\"isError\":false,\"timestamp\":{time}}}}}",
                random.below(900)
            );
        }
    }
    out.push('\n');
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = std::path::PathBuf::from(arguments.next().unwrap_or_else(|| "target/bench-corpus".to_owned()));
    let megabytes: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(220);
    let files: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(48);
    let entries: Option<u64> = arguments.next().and_then(|text| text.parse().ok());
    // Envelope and usage of a record take about 430 bytes; the texts in it about 1.63 of their median on average.
    let median = entries.map_or(1_270.0, |entries| ((megabytes * 1_000_000 / files / entries) as f64 - 430.0) / 1.63);
    std::fs::create_dir_all(&folder).unwrap();
    let mut lengths: Vec<usize> = Vec::new();
    let mut line = String::new();
    for file in 0..files {
        let mut random = Random(0x6765_6e65_7261_7465 ^ file);
        let id = format!("01a22bfd-a266-7{:03x}-bec6-{:012x}", file, random.next() & 0xFFFF_FFFF_FFFF);
        let path = folder.join(format!("2026-03-01T08-00-00-000Z_{id}.jsonl"));
        let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
        let header = format!(
            "{{\"type\":\"session\",\"version\":5,\"starredPatchVersion\":1,\"id\":\"{id}\",\"timestamp\":\"2026-03-01T08:00:00.000Z\",\"cwd\":\"/work/app\"}}\n"
        );
        out.write_all(header.as_bytes()).unwrap();
        let mut written = header.len() as u64;
        let mut n = 0;
        while entries.map_or(written < megabytes * 1_000_000 / files, |entries| n < entries) {
            let body = match random.below(12_000) {
                0 => 100_000 + random.below(400_000) as usize,
                // A few huge results: one in every eighth file, 1 MB to 8 MB.
                _ if n == 402 && file % 8 == 0 => 1_000_000 * (1 + file as usize / 8) + 900_000,
                _ => random.length(median),
            };
            line.clear();
            record(&mut random, n, body, &mut line);
            out.write_all(line.as_bytes()).unwrap();
            lengths.push(line.len());
            written += line.len() as u64;
            n += 1;
        }
        out.flush().unwrap();
    }
    lengths.sort_unstable();
    let at = |share: usize| lengths[lengths.len() * share / 1000];
    println!("{} lines: median {} B, p99 {} B, longest {} B", lengths.len(), at(500), at(990), lengths[lengths.len() - 1]);
}
