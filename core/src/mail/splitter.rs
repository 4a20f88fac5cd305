//! nbspam/mail/splitter.py: the MIME tree: a body to its leaf parts, in one pass over the lines that begin with "--".

use super::headers::{between, from, get_parameter, read_block, to_bytes, trim, trim_end};
use super::leaf::{begin_part, is_message, read_leaf};
use super::message::{Message, Part, Read, RARE};
use crate::limits::{Allowance, MAX_NESTING};
use crate::text::is_space;
use memchr::{memchr, memmem};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// (number of a choice, which of its parts), from the outermost in.
type Inside = Vec<(usize, usize)>;

const FOR_FEW: &str = "text/x-amp-html"; // few mail programs show this alternative
const FIRST: usize = 1; // the part that programs show of related ones
const SEARCH_COST: usize = 1_000; // "--" lines that looking for the same line again counts as

/// An open multipart; see _Multipart in Python.
#[derive(Default)]
struct Multipart {
    delimiter: Vec<u8>,
    start: usize,
    depth: usize,
    opened: usize,
    choice: usize,
}

/// One buffer and how far it is split; see _Scan in Python.  `position` is None at the end.
#[derive(Default)]
struct Scan {
    data: Rc<[u8]>,
    depth: usize,
    position: Option<usize>,
    blank: Option<usize>,
    is_opening: bool,
    leaf: Option<Part>,
    inside: Inside,
    multiparts: Vec<Multipart>,
    active: HashMap<Vec<u8>, (usize, bool)>,
}

impl Scan {
    fn new(data: Vec<u8>, depth: usize) -> Scan {
        Scan { data: data.into(), depth, position: Some(0), ..Scan::default() }
    }

    fn place(&self) -> usize {
        self.position.unwrap_or(self.data.len())
    }

    /// The choices around the part that begins now.
    fn find_choices(&self) -> Inside {
        let choices = self.multiparts.iter().filter(|outer| outer.choice > 0);
        choices.map(|outer| (outer.choice, outer.opened)).collect()
    }

    fn push(&mut self, multipart: Multipart) {
        self.multiparts.push(multipart);
        self.activate();
    }

    /// Close the multiparts from this index on.
    fn close(&mut self, number: usize) {
        if self.multiparts.len() > number {
            self.multiparts.truncate(number);
            self.activate();
        }
    }

    /// Look for the delimiters of the open multiparts from now on.
    fn activate(&mut self) {
        self.active.clear();
        for (number, multipart) in self.multiparts.iter().enumerate() {
            if !multipart.delimiter.is_empty() {
                let closing = [&multipart.delimiter[..], b"--"].concat();
                self.active.insert(closing, (number, true));
                self.active.insert(multipart.delimiter.clone(), (number, false));
            }
        }
    }

    /// (start, end) of the next line from the position on that is in `active`.
    fn find_delimiter(&mut self, allowance: &mut Allowance) -> Option<(usize, usize)> {
        let data = Rc::clone(&self.data);
        let find_dashes =
            |start: usize| memmem::find(from(&data, start), b"\n--").map(|place| start + place + 1);
        self.multiparts.last()?;
        let mut start = self.place();
        if !from(&data, start).starts_with(b"--") {
            start = find_dashes(start)?;
        }
        while allowance.delimiter_lines > 0 {
            allowance.delimiter_lines -= 1;
            let stop = memchr(b'\n', from(&data, start)).map_or(data.len(), |feed| start + feed);
            let line = trim_end(between(&data, start, stop));
            if self.active.contains_key(line) {
                return Some((start, stop));
            }
            let is_open = self.multiparts.last().is_some_and(|last| last.delimiter.is_empty());
            if is_open && self.is_likely(line, stop, allowance) {
                if let Some(last) = self.multiparts.last_mut() {
                    last.delimiter = line.to_vec();
                }
                self.activate();
                return Some((start, stop));
            }
            start = find_dashes(stop)?;
        }
        allowance.note("many-delimiters");
        None
    }

    /// True if a "--" line that ends at `stop` is probably a delimiter.
    fn is_likely(&self, line: &[u8], stop: usize, allowance: &mut Allowance) -> bool {
        if line.ends_with(b"--") {
            return false; // a last delimiter, a rule, `-----BEGIN PGP MESSAGE-----`
        }
        let following = between(&self.data, stop + 1, stop + 9).to_ascii_lowercase();
        if following.starts_with(b"\n") {
            allowance.delimiter_lines = allowance.delimiter_lines.saturating_sub(SEARCH_COST);
            return memmem::find(from(&self.data, stop), &[b"\n", line].concat()).is_some();
        }
        following == b"content-"
    }
}

/// Takes one body apart and fills a Message; see Splitter in Python.
pub struct Splitter<'m, 'd> {
    message: &'m mut Message<'d>,
    allowance: &'m mut Allowance,
    are_related: Vec<bool>, // of each choice: its parts, else alternatives
    inside: Vec<Inside>,
}

impl<'m, 'd> Splitter<'m, 'd> {
    pub fn new(message: &'m mut Message<'d>, allowance: &'m mut Allowance) -> Splitter<'m, 'd> {
        Splitter { message, allowance, are_related: Vec::new(), inside: Vec::new() }
    }

    /// Split the body of a mail whose header fields are known.
    pub fn run(mut self, part: Part, body: Vec<u8>) -> Read<()> {
        let mut first = Scan::new(body, 0);
        self.enter(&mut first, part, 0)?;
        let mut scans = vec![first];
        while let Some(mut scan) = scans.pop() {
            let mut child = None;
            if scan.is_opening {
                self.open(&mut scan)?;
            } else if scan.position.is_some() {
                child = self.advance(&mut scan)?;
            } else {
                continue;
            }
            scans.push(scan);
            scans.extend(child);
        }
        if self.message.parts.is_empty() {
            // There were parts, but nothing in them.
            self.finish_leaf(&Scan::default(), plain_text(), 0, 0)?;
        }
        if !self.are_related.is_empty() {
            self.mark_replaced();
        }
        Ok(())
    }

    /// Mark the texts that mail programs do not show because they show another part instead.
    fn mark_replaced(&mut self) {
        let is_choice = |part: &Part, inside: &Inside| {
            !inside.is_empty() && !part.text.is_empty() && part.disposition != "attachment"
        };
        let mut shown: HashMap<usize, (bool, usize)> = HashMap::new(); // of each choice: is it HTML, and which part
        for (part, inside) in self.message.parts.iter().zip(&self.inside) {
            let is_seen = part.content_type == "text/plain" || (part.is_html && part.content_type != FOR_FEW);
            if !is_seen || !is_choice(part, inside) {
                continue;
            }
            for (number, child) in inside {
                let found = (part.is_html, *child);
                let is_related = self.are_related.get(number - 1) == Some(&true);
                let best = shown.entry(*number).or_insert(found);
                let is_better = if is_related { *child == FIRST } else { found > *best };
                if is_better {
                    *best = found;
                }
            }
        }
        for (part, inside) in self.message.parts.iter_mut().zip(&self.inside) {
            if is_choice(part, inside) {
                let is_other = |(number, child): &(usize, usize)| {
                    shown.get(number).is_some_and(|(_, best)| best != child)
                };
                part.is_replaced = inside.iter().any(is_other);
            }
        }
    }

    /// Read the header block of the part that begins at the scan's position.
    fn open(&mut self, scan: &mut Scan) -> Read<()> {
        scan.is_opening = false;
        let start = scan.place();
        if self.allowance.parts <= 0 {
            self.message.structure.push("text/plain".to_string());
            scan.leaf = Some(plain_text());
            return Ok(());
        }
        let (stop, body) = self.find_block_end(scan, start);
        if start == stop && stop == body {
            scan.position = Some(start); // nothing between two delimiters
            return Ok(());
        }
        let block = read_block(&scan.data, start, stop, body, self.allowance)?;
        let part = begin_part(&block, self.allowance)?;
        self.enter(scan, part, block.body)
    }

    /// (end of the header lines, start of the body) of the part at `start`; a delimiter ends both.
    fn find_block_end(&mut self, scan: &mut Scan, start: usize) -> (usize, usize) {
        let data = Rc::clone(&scan.data);
        if from(&data, start).starts_with(b"\n") {
            return (start, start + 1);
        }
        let blank = match scan.blank {
            Some(blank) if blank >= start => blank,
            _ => memmem::find(from(&data, start), b"\n\n").map_or(data.len(), |place| start + place),
        };
        scan.blank = Some(blank);
        let (stop, body) = ((blank + 1).min(data.len()), (blank + 2).min(data.len()));
        let has_dashes = from(&data, start).starts_with(b"--")
            || memmem::find(between(&data, start, stop), b"\n--").is_some();
        if has_dashes {
            scan.position = Some(start);
            if let Some((line, _)) = scan.find_delimiter(self.allowance).filter(|(line, _)| *line < stop) {
                return (line, line);
            }
        }
        (stop, body)
    }

    /// Begin a part whose fields are known: a multipart or a leaf.  A message in it is rare.
    fn enter(&mut self, scan: &mut Scan, mut part: Part, start: usize) -> Read<()> {
        let depth = scan.multiparts.last().map_or(scan.depth, |last| last.depth + 1);
        self.message.structure.push(part.content_type.clone());
        self.allowance.parts -= 1;
        scan.position = Some(start);
        scan.inside = scan.find_choices();
        if is_message(&part.content_type) {
            return Err(RARE);
        }
        let is_deep = depth >= MAX_NESTING || self.allowance.header_bytes <= 0;
        if !part.content_type.starts_with("multipart/") {
            scan.leaf = Some(part);
        } else if is_deep || self.allowance.parts <= 0 {
            self.allowance.note(if is_deep { "nested-too-deep" } else { "too-many-parts" });
            part.content_type = "text/plain".to_string();
            scan.leaf = Some(part);
        } else {
            self.enter_multipart(scan, &part, start, depth)?;
        }
        Ok(())
    }

    fn enter_multipart(&mut self, scan: &mut Scan, part: &Part, start: usize, depth: usize) -> Read<()> {
        let kind = part.content_type.as_str();
        let boundary = get_parameter(&part.parameters, "boundary").trim_end_matches(is_space);
        let delimiter = [b"--", &to_bytes(boundary)[..]].concat();
        let is_related = kind == "multipart/related";
        let is_rare = boundary.is_empty()
            || scan.multiparts.iter().any(|outer| outer.delimiter == delimiter)
            || kind == "multipart/digest"
            || (is_related && part.parameters.contains_key("start"));
        if is_rare {
            return Err(RARE);
        }
        let mut multipart = Multipart { delimiter, start, depth, ..Multipart::default() };
        if is_related || kind == "multipart/alternative" {
            self.are_related.push(is_related);
            multipart.choice = self.are_related.len();
        }
        scan.leaf = None;
        scan.push(multipart);
        Ok(())
    }

    /// Go on to the next delimiter and finish the part that ends there; the buffers to split before the rest.
    fn advance(&mut self, scan: &mut Scan) -> Read<Option<Scan>> {
        let line = scan.find_delimiter(self.allowance);
        let begin = scan.place();
        let stop = line.map_or(scan.data.len(), |(start, _)| start);
        let innermost = scan.multiparts.len().checked_sub(1);
        let is_unopened = scan.multiparts.last().is_some_and(|last| last.opened == 0);
        let (start, delimiter, depth) = scan
            .multiparts
            .last()
            .map_or_else(|| (0, Vec::new(), 0), |last| (last.start, last.delimiter.clone(), last.depth));
        let mut is_opened = false; // the innermost one, by this delimiter
        match line {
            Some((start, end)) => {
                is_opened = self.cross(scan, start, end) == innermost && innermost.is_some()
            }
            None => {
                scan.position = None;
                if !delimiter.is_empty() {
                    self.allowance.note("no-close-delimiter");
                }
            }
        }
        let is_before_first = is_unopened && is_opened;
        if let Some(leaf) = scan.leaf.take() {
            let has_text = !trim(between(&scan.data, begin, stop)).is_empty();
            if !is_before_first || has_text {
                self.finish_leaf(scan, leaf, begin, stop)?;
            }
        } else if is_unopened && !is_before_first {
            return Ok(Some(self.finish_empty(scan, start, stop, delimiter, depth)));
        }
        Ok(None)
    }

    /// Step over the delimiter at data[start:end]: close multiparts, or note the part that it opens.
    ///
    /// Returns the index of the multipart that it opens a part of.
    fn cross(&mut self, scan: &mut Scan, start: usize, end: usize) -> Option<usize> {
        let line = trim_end(between(&scan.data, start, end));
        let (number, is_closing) = scan.active.get(line).copied()?;
        scan.position = Some((end + 1).min(scan.data.len()));
        scan.close(number + 1);
        if is_closing {
            scan.close(number);
            if scan.multiparts.is_empty() {
                scan.position = None;
            }
            return None;
        }
        let multipart = scan.multiparts.last_mut()?;
        multipart.opened += 1;
        scan.is_opening = true;
        if self.allowance.parts <= 0 {
            self.allowance.note("too-many-parts");
            scan.multiparts.clear(); // the rest is one text: nothing ends it
        }
        Some(number)
    }

    fn finish_leaf(&mut self, scan: &Scan, part: Part, start: usize, stop: usize) -> Read<()> {
        // The line end before a delimiter belongs to it.
        let stop = if stop < scan.data.len() && stop > start { stop - 1 } else { stop };
        let payload = Cow::Borrowed(between(&scan.data, start, stop));
        self.message.parts.push(read_leaf(part, payload, self.allowance)?);
        self.inside.push(scan.inside.clone());
        Ok(())
    }

    /// The buffer of a multipart without parts, to be split by a guessed boundary; what is before that is text.
    fn finish_empty(
        &mut self,
        scan: &Scan,
        start: usize,
        stop: usize,
        delimiter: Vec<u8>,
        depth: usize,
    ) -> Scan {
        let region = between(&scan.data, start, stop);
        self.allowance.note("no-parts");
        let is_there = memmem::find(region, &delimiter).is_some();
        let mut child = Scan::new(region.to_vec(), depth);
        child.leaf = Some(plain_text());
        if self.allowance.boundary_guesses > 0 {
            self.allowance.boundary_guesses -= 1;
            let delimiter = if is_there { delimiter } else { Vec::new() };
            child.push(Multipart { delimiter, depth, ..Multipart::default() });
        }
        child
    }
}

fn plain_text() -> Part {
    Part { content_type: "text/plain".to_string(), ..Part::default() }
}
