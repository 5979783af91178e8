//! `new Date(value).getTime()` of JavaScript, as gjc's runtime answers it (spec 01, conventions and §9.6).
//!
//! The observed runtime reads ISO texts first and falls back to the lenient reader that browsers grew: 30 February is
//! 2 March, a leap second is no time, `t` and `z` may be small, a space may stand for the `T`. Texts without a zone
//! are local time there; here they are UTC, so that the answer does not depend on the machine.

use crate::json::{Kind, View, coerce};

/// Milliseconds since 1970 of `new Date(value)`, NaN when invalid. `None` is `undefined`.
///
/// An object that JavaScript cannot turn into text is NaN here; there the constructor throws.
pub fn time_of<'a, V: View<'a>>(value: Option<V>) -> f64 {
    let Some(value) = value else { return f64::NAN };
    match value.kind() {
        Kind::Null => 0.0,
        Kind::Bool => f64::from(u8::from(value.as_bool() == Some(true))),
        Kind::Number => time_clip(value.as_f64().unwrap_or(f64::NAN)),
        Kind::String => parse(&value.as_str().unwrap_or_default()),
        Kind::Array | Kind::Object => coerce::to_text(value).map_or(f64::NAN, |text| parse(text.as_bytes())),
    }
}

/// `Date.parse` of a WTF-8 text: milliseconds since 1970, or NaN.
pub fn parse(text: &[u8]) -> f64 {
    let mut reader = Reader { tokens: Tokens { text, at: 0 }, day: Day::default(), time: Time::default(), zone: Zone::default() };
    match reader.iso() {
        Iso::Complete => {}
        Iso::Invalid => return f64::NAN,
        Iso::Unfinished(token) => {
            if reader.lenient(token).is_none() {
                return f64::NAN;
            }
        }
    }
    reader.result().map_or(f64::NAN, time_clip)
}

/// Days since 1970-01-01 of a day in the Gregorian calendar; `day` may lie outside the month.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last of its year; eras of 400 years repeat.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let first_of_month = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + first_of_month + day - 1 - 719_468
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // As in `days_from_civil`, years begin in March.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

/// A time in milliseconds since 1970 for people: UTC, to the minute, as `2026-03-02T09:00Z`; none when it is no time of
/// JavaScript.
pub fn minute(time: f64) -> Option<String> {
    let time = Some(time_clip(time)).filter(|time| !time.is_nan())?;
    let minutes = (time / 60_000.0).floor() as i64;
    let (year, month, day) = civil_from_days(minutes.div_euclid(1_440));
    let of_day = minutes.rem_euclid(1_440);
    Some(format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}Z", of_day / 60, of_day % 60))
}

fn time_clip(time: f64) -> f64 {
    if time.abs() <= 8.64e15 { time.trunc() + 0.0 } else { f64::NAN }
}

/// What a word of the text means.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Word {
    Month(i64),
    /// Hours that `am` or `pm` add.
    HalfDay(i64),
    /// Hours that the zone is ahead of UTC.
    Zone(i64),
    TimeSeparator,
    Other,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Token {
    Number {
        value: i64,
        digits: usize,
    },
    Symbol(u8),
    Word(Word, usize),
    Space,
    /// A `(`: everything up to its partner is a comment.
    Comment,
    Unknown,
    End,
}

impl Token {
    fn fixed(self, width: usize) -> Option<i64> {
        match self {
            Token::Number { value, digits } if digits == width => Some(value),
            _ => None,
        }
    }
    fn is_z(self) -> bool {
        matches!(self, Token::Word(Word::Zone(_), 1))
    }
    fn sign(self) -> Option<i64> {
        match self {
            Token::Symbol(b'+') => Some(1),
            Token::Symbol(b'-') => Some(-1),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
}

/// Digits of a number that count; more are read and dropped.
const SIGNIFICANT: usize = 9;

impl Tokens<'_> {
    fn byte(&self) -> Option<u8> {
        // A NUL ends the text.
        self.text.get(self.at).copied().filter(|byte| *byte != 0)
    }
    fn peek(&self) -> Token {
        let mut ahead = *self;
        ahead.next()
    }
    fn skip(&mut self, symbol: u8) -> bool {
        let found = self.peek() == Token::Symbol(symbol);
        if found {
            self.at += 1;
        }
        found
    }
    fn next(&mut self) -> Token {
        let Some(byte) = self.byte() else { return Token::End };
        if byte.is_ascii_digit() {
            return self.number();
        }
        if matches!(byte, b':' | b'-' | b'+' | b'.' | b')') {
            self.at += 1;
            return Token::Symbol(byte);
        }
        if let Some(length) = self.space() {
            self.at += length;
            return Token::Space;
        }
        if byte >= b'A' {
            return self.word();
        }
        if byte == b'(' {
            self.comment();
            return Token::Comment;
        }
        self.at += 1;
        Token::Unknown
    }
    fn number(&mut self) -> Token {
        let start = self.at;
        let (mut value, mut significant) = (0, 0);
        while let Some(digit) = self.byte().filter(u8::is_ascii_digit) {
            if significant > 0 || digit != b'0' {
                if significant < SIGNIFICANT {
                    value = value * 10 + i64::from(digit - b'0');
                }
                significant += 1;
            }
            self.at += 1;
        }
        Token::Number { value, digits: self.at - start }
    }
    fn word(&mut self) -> Token {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte >= b'A') && self.space().is_none() {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        Token::Word(Word::of(word), word.len())
    }
    /// Length of the white space or line end here, if any.
    fn space(&self) -> Option<usize> {
        match self.text.get(self.at..)? {
            [b'\t'..=b'\r' | b' ', ..] => Some(1),
            [0xC2, 0xA0, ..] => Some(2),
            // U+1680, U+2000-200A, U+202F, U+205F, U+3000, U+FEFF
            [0xE1, 0x9A, 0x80, ..]
            | [0xE2, 0x80, 0x80..=0x8A | 0xAF, ..]
            | [0xE2, 0x81, 0x9F, ..]
            | [0xE3, 0x80, 0x80, ..]
            | [0xEF, 0xBB, 0xBF, ..] => Some(3),
            _ => None,
        }
    }
    fn comment(&mut self) {
        let mut open = 0usize;
        while let Some(byte) = self.byte() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
    }
}

impl Word {
    const NAMED: [(&'static [u8], Word); 28] = [
        (b"jan", Word::Month(1)),
        (b"feb", Word::Month(2)),
        (b"mar", Word::Month(3)),
        (b"apr", Word::Month(4)),
        (b"may", Word::Month(5)),
        (b"jun", Word::Month(6)),
        (b"jul", Word::Month(7)),
        (b"aug", Word::Month(8)),
        (b"sep", Word::Month(9)),
        (b"oct", Word::Month(10)),
        (b"nov", Word::Month(11)),
        (b"dec", Word::Month(12)),
        (b"am", Word::HalfDay(0)),
        (b"pm", Word::HalfDay(12)),
        (b"ut", Word::Zone(0)),
        (b"utc", Word::Zone(0)),
        (b"z", Word::Zone(0)),
        (b"gmt", Word::Zone(0)),
        (b"cst", Word::Zone(-6)),
        (b"cdt", Word::Zone(-5)),
        (b"mst", Word::Zone(-7)),
        (b"mdt", Word::Zone(-6)),
        (b"pst", Word::Zone(-8)),
        (b"pdt", Word::Zone(-7)),
        (b"est", Word::Zone(-5)),
        (b"edt", Word::Zone(-4)),
        (b"t", Word::TimeSeparator),
        (b"", Word::Other),
    ];
    /// Months are known by their first three letters, all else by the whole word.
    fn of(word: &[u8]) -> Word {
        let matching = |(name, meaning): &&(&[u8], Word)| match meaning {
            Word::Month(_) => word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(name)),
            _ => word.eq_ignore_ascii_case(name),
        };
        Self::NAMED.iter().find(matching).map_or(Word::Other, |(_, meaning)| *meaning)
    }
}

/// Up to three numbers of a date, in the order they stood.
#[derive(Default)]
struct Day {
    parts: Vec<i64>,
    month: Option<i64>,
    iso: bool,
}

impl Day {
    fn add(&mut self, part: i64) -> Option<()> {
        (self.parts.len() < 3).then(|| self.parts.push(part))
    }
    fn is_day(number: i64) -> bool {
        (1..=31).contains(&number)
    }
    /// Days since 1970, once it is settled which number is what.
    fn days(&self) -> Option<i64> {
        let part = |at: usize| self.parts.get(at).copied().unwrap_or(1);
        let first = *self.parts.first()?;
        let (year, month, day) = match self.month {
            None if self.iso || !Self::is_day(first) => (first, part(1), part(2)),
            None => (part(2), first, part(1)),
            Some(month) if !Self::is_day(first) => (first, month, part(1)),
            Some(month) => (part(1), month, first),
        };
        let year = match year {
            0..=49 if !self.iso => year + 2000,
            50..=99 if !self.iso => year + 1900,
            _ => year,
        };
        ((1..=12).contains(&month) && Self::is_day(day)).then(|| days_from_civil(year, month, day))
    }
}

/// Hour, minute, second and millisecond, as far as they were read.
#[derive(Default)]
struct Time {
    parts: Vec<i64>,
    half_day: Option<i64>,
}

impl Time {
    fn add(&mut self, part: i64) -> Option<()> {
        (self.parts.len() < 4).then(|| self.parts.push(part))
    }
    fn finish(&mut self) {
        self.parts.resize(4, 0);
    }
    fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
    fn expects(&self, number: i64) -> bool {
        match self.parts.len() {
            1 | 2 => number < 60,
            3 => number < 1000,
            _ => false,
        }
    }
    fn milliseconds(&self) -> Option<i64> {
        let part = |at: usize| self.parts.get(at).copied().unwrap_or(0);
        let (mut hour, minute, second, milli) = (part(0), part(1), part(2), part(3));
        if let Some(offset) = self.half_day {
            if hour > 12 {
                return None;
            }
            hour = hour % 12 + offset;
        }
        let in_day = hour < 24 && minute < 60 && second < 60 && milli < 1000;
        let midnight = hour == 24 && minute == 0 && second == 0 && milli == 0;
        (in_day || midnight).then_some(((hour * 60 + minute) * 60 + second) * 1000 + milli)
    }
}

/// Offset from UTC; without a sign the time is local.
#[derive(Default)]
struct Zone {
    sign: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
}

impl Zone {
    fn set(&mut self, hours: i64) {
        *self = Zone { sign: Some(if hours < 0 { -1 } else { 1 }), hour: Some(hours.abs()), minute: Some(0) };
    }
    fn is_utc(&self) -> bool {
        self.hour == Some(0) && self.minute == Some(0)
    }
    fn expects(&self, number: i64) -> bool {
        self.hour.is_some() && self.minute.is_none() && number < 60
    }
    /// The runtime counts the seconds in 32 bits, without a look at what does not fit; no time when the sign bit is set.
    fn milliseconds(&self) -> Option<i64> {
        let seconds = self.hour.unwrap_or(0).wrapping_mul(3600).wrapping_add(self.minute.unwrap_or(0).wrapping_mul(60));
        let seconds = i32::try_from(seconds as u32).ok()?;
        Some(self.sign.unwrap_or(0) * i64::from(seconds) * 1000)
    }
}

enum Iso {
    /// The whole text is an ISO date.
    Complete,
    /// It began like an ISO time and then went wrong.
    Invalid,
    /// No ISO text: the lenient reader goes on with this token and what was understood so far.
    Unfinished(Token),
}

struct Reader<'t> {
    tokens: Tokens<'t>,
    day: Day,
    time: Time,
    zone: Zone,
}

impl Reader<'_> {
    fn result(&self) -> Option<f64> {
        let (days, time, zone) = (self.day.days()?, self.time.milliseconds()?, self.zone.milliseconds()?);
        Some(days as f64 * 86_400_000.0 + time as f64 - zone as f64)
    }

    /// `[+-yy]yyyy[-MM[-DD]][THH:mm[:ss[.s…]][Z|±HH:mm|±HHmm]]`
    fn iso(&mut self) -> Iso {
        let first = self.tokens.next();
        if let Some(sign) = first.sign() {
            match self.tokens.peek().fixed(6) {
                Some(year) if sign > 0 || year != 0 => {
                    self.tokens.next();
                    self.day.parts.push(sign * year);
                }
                Some(_) => {
                    self.tokens.next();
                    return Iso::Unfinished(first);
                }
                None => return Iso::Unfinished(first),
            }
        } else if let Some(year) = first.fixed(4) {
            self.day.parts.push(year);
        } else {
            return Iso::Unfinished(first);
        }
        for limit in [12, 31] {
            if !self.tokens.skip(b'-') {
                break;
            }
            match self.tokens.peek().fixed(2).filter(|part| (1..=limit).contains(part)) {
                Some(part) => {
                    self.tokens.next();
                    self.day.parts.push(part);
                }
                None => return Iso::Unfinished(self.tokens.next()),
            }
        }
        match self.tokens.peek() {
            Token::Word(Word::TimeSeparator, _) => {
                self.tokens.next();
                if self.iso_time().is_none() {
                    return Iso::Invalid;
                }
            }
            Token::End => self.zone.set(0),
            _ => return Iso::Unfinished(self.tokens.next()),
        }
        self.day.iso = true;
        Iso::Complete
    }

    fn iso_time(&mut self) -> Option<()> {
        let hour = self.two_digits(24)?;
        self.time.parts.push(hour);
        // 24 is midnight at the end of the day and nothing else.
        let limit = if hour == 24 { 0 } else { 59 };
        self.tokens.skip(b':').then_some(())?;
        let minute = self.two_digits(limit)?;
        self.time.parts.push(minute);
        if self.tokens.skip(b':') {
            let second = self.two_digits(limit)?;
            self.time.parts.push(second);
            if self.tokens.skip(b'.') {
                let Token::Number { value, digits } = self.tokens.next() else { return None };
                (hour < 24 || value == 0).then_some(())?;
                self.time.parts.push(milliseconds(value, digits));
            }
        }
        if self.tokens.peek().is_z() {
            self.tokens.next();
            self.zone.set(0);
        } else if let Some(sign) = self.tokens.peek().sign() {
            self.tokens.next();
            let (hour, minute) = match self.tokens.peek().fixed(4) {
                Some(both) => {
                    self.tokens.next();
                    (both / 100, both % 100)
                }
                None => {
                    let hour = self.two_digits(23)?;
                    self.tokens.skip(b':').then_some(())?;
                    (hour, self.two_digits(59)?)
                }
            };
            (hour < 24 && minute < 60).then_some(())?;
            self.zone = Zone { sign: Some(sign), hour: Some(hour), minute: Some(minute) };
        }
        (self.tokens.next() == Token::End).then_some(())
    }

    fn two_digits(&mut self, limit: i64) -> Option<i64> {
        self.tokens.next().fixed(2).filter(|number| *number <= limit)
    }

    /// Everything else: numbers and words in nearly any order. None when something has no place.
    fn lenient(&mut self, first: Token) -> Option<()> {
        let mut read_number = !self.day.parts.is_empty();
        let mut token = first;
        while token != Token::End {
            match token {
                Token::Number { value, .. } => {
                    read_number = true;
                    self.lenient_number(value)?;
                }
                Token::Word(word, _) => match word {
                    Word::HalfDay(offset) if !self.time.is_empty() => self.time.half_day = Some(offset),
                    Word::Month(month) => {
                        self.day.month = Some(month);
                        self.tokens.skip(b'-');
                    }
                    Word::Zone(hours) if read_number => self.zone.set(hours),
                    // Other words may only stand before the first number, and apart from it.
                    _ if read_number || matches!(self.tokens.peek(), Token::Number { .. }) => return None,
                    _ => {}
                },
                Token::Symbol(b'+' | b'-') if self.zone.is_utc() || !self.time.is_empty() => {
                    read_number = true;
                    self.lenient_zone(token.sign().unwrap_or(1))?;
                }
                Token::Symbol(b'+' | b'-' | b')') if read_number => return None,
                _ => {}
            }
            token = self.tokens.next();
        }
        Some(())
    }

    fn lenient_number(&mut self, number: i64) -> Option<()> {
        if self.tokens.skip(b':') {
            if self.tokens.skip(b':') {
                self.time.is_empty().then_some(())?;
                self.time.add(number)?;
                return self.time.add(0);
            }
            self.time.add(number)?;
            self.tokens.skip(b'.');
            return Some(());
        }
        if self.tokens.skip(b'.') && self.time.expects(number) {
            self.time.add(number)?;
            let Token::Number { value, digits } = self.tokens.next() else { return None };
            // Behind four numbers the milliseconds are read and dropped.
            let _ = self.time.add(milliseconds(value, digits));
            self.time.finish();
        } else if self.zone.expects(number) {
            self.zone.minute = Some(number);
        } else if self.time.expects(number) {
            self.time.add(number)?;
            self.time.finish();
            let next = self.tokens.peek();
            (matches!(next, Token::End | Token::Space) || next.is_z() || next.sign().is_some()).then_some(())?;
        } else {
            self.day.add(number)?;
            self.tokens.skip(b'-');
        }
        Some(())
    }

    fn lenient_zone(&mut self, sign: i64) -> Option<()> {
        self.zone.sign = Some(sign);
        let (mut value, mut digits) = (0, 0);
        if let Token::Number { value: number, digits: length } = self.tokens.peek() {
            self.tokens.next();
            (value, digits) = (number, length);
        }
        (self.zone.hour, self.zone.minute) = match digits {
            _ if self.tokens.peek() == Token::Symbol(b':') => (Some(value), None),
            1 | 2 => (Some(value), Some(0)),
            3 | 4 => (Some(value / 100), Some(value % 100)),
            _ => return None,
        };
        Some(())
    }
}

/// The milliseconds that digits behind a point mean; more than three are cut.
fn milliseconds(value: i64, digits: usize) -> i64 {
    match digits {
        1 => value * 100,
        2 => value * 10,
        _ => value / 10i64.pow(digits.min(SIGNIFICANT) as u32 - 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    fn at(text: &str) -> Option<i64> {
        let time = parse(text.as_bytes());
        (!time.is_nan()).then_some(time as i64)
    }

    #[test]
    fn a_time_is_shown_to_the_minute() {
        for text in
            ["1970-01-01T00:00Z", "2024-02-29T23:59Z", "2026-03-02T09:00Z", "1969-12-31T23:59Z", "2000-03-01T00:00Z", "1900-02-28T12:30Z"]
        {
            assert_eq!(minute(parse(text.as_bytes())).as_deref(), Some(text));
        }
        assert_eq!(minute(59_999.0).as_deref(), Some("1970-01-01T00:00Z"));
        assert_eq!((minute(f64::NAN), minute(9e15)), (None, None));
        assert_eq!(minute(8.64e15).as_deref(), Some("275760-09-13T00:00Z"));
    }
    #[test]
    fn iso_times() {
        assert_eq!(at("2026-03-01T10:00:00.123Z"), Some(1_772_359_200_123));
        assert_eq!(at("2026-03-01T10:00:00+02:00"), Some(1_772_352_000_000));
        assert_eq!(at("2026-03-01T10:00:00+0200"), Some(1_772_352_000_000));
        assert_eq!(at("2026-03-01T10:00:00.123456Z"), Some(1_772_359_200_123));
        assert_eq!(at("2026-03"), Some(1_772_323_200_000));
        assert_eq!(at("2026-03-01T24:00:00Z"), Some(1_772_409_600_000));
        assert_eq!(at("2026-03-01T24:00:01Z"), None);
        assert_eq!(at("+012026-03-01T00:00:00Z"), Some(317_341_843_200_000));
        assert_eq!(at("-000001-01-01T00:00:00Z"), Some(-62_198_755_200_000));
        assert_eq!(at("-000000-01-01T00:00:00Z"), None);
    }

    #[test]
    fn thirty_february_is_two_march_but_a_leap_second_is_no_time() {
        assert_eq!(at("2026-02-30T00:00:00Z"), at("2026-03-02T00:00:00Z"));
        assert_eq!(at("2026-02-32T00:00:00Z"), None);
        assert_eq!(at("2026-03-01T23:59:60Z"), None);
    }

    #[test]
    fn small_letters_and_a_space_are_accepted_but_no_surrounding_spaces() {
        let expected = at("2026-03-01T10:00:00Z");
        assert_eq!(at("2026-03-01t10:00:00z"), expected);
        assert_eq!(at("2026-03-01 10:00:00Z"), expected);
        assert_eq!(at(" 2026-03-01T10:00:00Z "), None);
    }

    #[test]
    fn lenient_forms() {
        assert_eq!(at("Sun, 01 Mar 2026 10:00:00 GMT"), Some(1_772_359_200_000));
        assert_eq!(at("March 1, 2026 (a (nested) comment) 10:00 pm"), Some(1_772_402_400_000));
        assert_eq!(at("1 Mar 2026 10:00 GMT-8"), Some(1_772_388_000_000));
        assert_eq!(at("1 Mar 2026 10:00 +01:30"), Some(1_772_353_800_000));
        assert_eq!(at("3/1/2026"), Some(1_772_323_200_000));
        assert_eq!(at("3/1/26"), Some(1_772_323_200_000));
        assert_eq!(at("2026-3-1"), Some(1_772_323_200_000));
        for none in ["", "soon", "2026-03-01 x", "1 Mar 2026 10:00 13 14 15 16", "(", "Mar"] {
            assert_eq!(at(none), None, "{none}");
        }
    }

    #[test]
    fn the_seconds_of_a_zone_are_counted_in_32_bits() {
        assert_eq!(at("1 Mar 2026 10:00 +596523:00"), Some(-375_123_600_000));
        assert_eq!(at("1 Mar 2026 10:00 +596524:00"), None);
        assert_eq!(at("1 Mar 2026 10:00 +1193047:00"), Some(1_772_357_296_000));
    }

    #[test]
    fn other_values_follow_the_date_constructor() {
        let of = |json: &str| time_of(Value::parse(json.as_bytes()).as_ref());
        assert_eq!(of("1700000000000.9"), 1_700_000_000_000.0);
        assert_eq!(of("-1.5"), -1.0);
        assert_eq!(of("8640000000000000"), 8.64e15);
        assert!(of("1e300").is_nan());
        assert_eq!(of("true"), 1.0);
        assert_eq!(of("null"), 0.0);
        assert_eq!(of("[\"2026-03-01\"]"), 1_772_323_200_000.0);
        assert!(of("[]").is_nan());
        assert!(of("{}").is_nan());
        assert!(time_of::<&Value>(None).is_nan());
    }
}
