//! nbspam/model/block.py, Block.count, and nbspam/model/counts.py, merge_counts: how often each class has a token.

use crate::tokens::bag::{hash_token, Words};
use std::thread;

/// Distinct tokens, numbered in the order in which they came.
#[derive(Debug, Default)]
pub struct Table {
    n_classes: usize, // 0: nothing is counted
    pub texts: Words,
    pub views: Vec<u8>,
    pub keys: Vec<i64>,
    counts: Vec<u32>, // token after token: documents and occurrences of each class
    pub total: u32,   // of all occurrences, so that none of the counts is too large
}

impl Table {
    pub fn new(n_classes: usize) -> Table {
        Table { n_classes, ..Table::default() }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Number a token that is not here.
    pub fn push(&mut self, text: &str, view: u8) {
        self.texts.push(text);
        self.views.push(view);
        self.keys.push(hash_token(text.as_bytes()));
        self.counts.resize(self.counts.len() + 2 * self.n_classes, 0);
    }

    /// A message of a class has a token so many times: what that adds to its form, see Block.digests in Python.
    pub fn count(&mut self, number: u32, class: usize, times: i32) -> i64 {
        let number = number as usize;
        let first = 2 * (number * self.n_classes + class);
        if let Some([documents, occurrences]) = self.counts.get_mut(first..first + 2) {
            *documents += 1;
            *occurrences += times as u32;
            self.total += times as u32;
        }
        self.keys.get(number).map_or(0, |key| key.wrapping_mul(2 * i64::from(times) + 1))
    }

    /// What the tokens and counts take in memory.
    pub fn bytes(&self) -> usize {
        self.texts.bytes() + self.views.len() + 8 * self.keys.len() + 4 * self.counts.len()
    }
}

/// Some tables added up: the tokens whose keys are in one of equal ranges, ascending.
#[derive(Debug, Default)]
pub struct Sum {
    pub keys: Vec<i64>,
    pub views: Vec<u8>,
    pub texts: String,           // a line feed ends each
    pub counts: Vec<i64>,        // token after token: documents and occurrences of each class
    added: Vec<(i64, u32, u32)>, // key, table and number of each token of a table
}

/// The sums of tables by ranges of keys, each by a thread of its own; and by table the place of each token in all.
pub fn add_up(tables: Vec<Table>) -> (Vec<Sum>, Vec<Vec<i32>>) {
    let n = tables.len();
    let all = tables.as_slice();
    let mut sums: Vec<Sum> = thread::scope(|scope| {
        let begin = |range| {
            let work = move || add_range(all, range, n);
            (thread::Builder::new().spawn_scoped(scope, work), work)
        };
        let begun: Vec<_> = (0..n).map(begin).collect();
        begun
            .into_iter()
            .map(|(thread, work)| thread.ok().and_then(|one| one.join().ok()).unwrap_or_else(work))
            .collect()
    });
    let mut places: Vec<Vec<i32>> = tables.iter().map(|table| vec![0; table.len()]).collect();
    drop(tables);
    let (mut place, mut last) = (-1, None);
    for (key, table, number) in sums.iter_mut().flat_map(|sum| std::mem::take(&mut sum.added)) {
        place += i32::from(last != Some(key));
        last = Some(key);
        let of_table = places.get_mut(table as usize);
        if let Some(to) = of_table.and_then(|of_table| of_table.get_mut(number as usize)) {
            *to = place;
        }
    }
    (sums, places)
}

fn add_range(tables: &[Table], range: usize, n_ranges: usize) -> Sum {
    let is_inside = |key: i64| {
        let place = (key as u64) ^ (1 << 63);
        (u128::from(place) * n_ranges as u128) >> 64 == range as u128
    };
    let mut tokens: Vec<(i64, u32, u32)> = Vec::new();
    for (table, number_of) in tables.iter().zip(0..) {
        let keys = table.keys.iter().zip(0..).filter(|(key, _)| is_inside(**key));
        tokens.extend(keys.map(|(key, number)| (*key, number_of, number)));
    }
    tokens.sort_unstable();
    let mut sum = Sum::default();
    for (key, table, number) in &tokens {
        if let Some(table) = tables.get(*table as usize) {
            sum.add(*key, table, *number as usize);
        }
    }
    sum.added = tokens;
    sum
}

impl Sum {
    /// A token of a table, whose key is the last one or a larger one.
    fn add(&mut self, key: i64, table: &Table, number: usize) {
        let size = 2 * table.n_classes;
        if self.keys.last() != Some(&key) {
            self.keys.push(key);
            self.views.push(table.views.get(number).copied().unwrap_or(0));
            self.texts.push_str(table.texts.get(number));
            self.texts.push('\n');
            self.counts.resize(self.counts.len() + size, 0);
        }
        let sums = self.counts.iter_mut().rev().take(size).rev();
        for (sum, count) in sums.zip(table.counts.iter().skip(number * size)) {
            *sum += i64::from(*count);
        }
    }
}
