//! A directory may hold a hundred thousand transcripts: of what each of them has, the fullest has a reading, and every one that
//! is near its limit.

use super::{Readings, measure};
use crate::finding::Gauge;
use std::collections::HashMap;
use std::sync::Arc;

/// Where in a list of gauges the fullest of each directory stands.
#[derive(Default, Debug)]
pub struct Fullest {
    places: HashMap<(&'static str, Box<str>), usize>,
}

impl Fullest {
    /// Adds a reading to `gauges`, or puts it in the place of one that is less full, or leaves it out. The list must not lose
    /// what was put into it.
    pub fn put(&mut self, gauge: Gauge, gauges: &mut Vec<Gauge>) {
        let of_directory = measure(gauge.name).filter(|measure| measure.readings == Readings::Fullest);
        let Some(measure) = of_directory.filter(|measure| gauge.used < measure.near_from(gauge.limit)) else {
            gauges.push(gauge);
            return;
        };
        let path = Arc::clone(&gauge.path);
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let at = *self.places.entry((measure.name, directory.into())).or_insert(gauges.len());
        match gauges.get_mut(at) {
            Some(fullest) if fullest.used < gauge.used => *fullest = gauge,
            Some(_) => {}
            None => gauges.push(gauge),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::quota::{LONGEST_LINE, TRANSCRIPT_BYTES};

    #[test]
    fn the_fullest_of_a_directory_and_all_that_are_near_are_kept() {
        let (mut fullest, mut gauges) = (Fullest::default(), Vec::new());
        for (path, used) in [("a/1", 5), ("a/2", 7), ("b/1", 1), ("a/3", 6), ("a/4", 7_549_748), ("a/5", 7_549_747), ("a/6", 8_388_609)] {
            fullest.put(LONGEST_LINE.gauge(path.into(), used), &mut gauges);
            fullest.put(TRANSCRIPT_BYTES.gauge(path.into(), used), &mut gauges);
        }
        let kept = |name| gauges.iter().filter(|gauge| gauge.name == name).map(|gauge| (&*gauge.path, gauge.used)).collect::<Vec<_>>();
        assert_eq!(kept("longest_line"), [("a/5", 7_549_747), ("b/1", 1), ("a/4", 7_549_748), ("a/6", 8_388_609)]);
        assert_eq!(kept("transcript_bytes").len(), 7);
    }
}
