//! nbspam/mail/splitter.py: the MIME tree: a body to its leaf parts, in one pass over the lines that begin with "--".

use super::headers::{between, find_raw_fields, from, get_parameter, read_block, to_bytes, trim_end};
use super::leaf::{begin_part, read_leaf, MESSAGES};
use super::message::{Message, Part, Read, RARE};
use super::transfer::is_white;
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

/// An open multipart; see _Multipart in Python.
#[derive(Clone, Default)]
struct Multipart {
    delimiter: Vec<u8>,
    start: usize,
    opened: usize,
    choice: usize,
}

/// A line at data[start:end] that delimits the multipart of this number.
struct Delimiter {
    start: usize,
    end: usize,
    number: usize,
    is_closing: bool,
}

/// One buffer and how far it is split; see _Scan in Python.
#[derive(Default)]
struct Scan {
    data: Rc<[u8]>,
    depth: usize,
    position: usize,
    blank: Option<usize>,
    is_opening: bool,
    is_done: bool,
    leaf: Option<Part>,
    inside: Inside,
    multiparts: Vec<Multipart>,
}

impl Scan {
    fn new(data: Vec<u8>, depth: usize) -> Scan {
        Scan { data: data.into(), depth, ..Scan::default() }
    }

    /// The choices around the part that begins now.
    fn find_choices(&self) -> Inside {
        let choices = self.multiparts.iter().filter(|outer| outer.choice > 0);
        choices.map(|outer| (outer.choice, outer.opened)).collect()
    }

    /// The next line from the position on that is a delimiter.
    fn find_delimiter(&mut self, allowance: &mut Allowance) -> Read<Option<Delimiter>> {
        if self.multiparts.is_empty() {
            return Ok(None);
        }
        let data = Rc::clone(&self.data);
        let find_dashes =
            |start: usize| memmem::find(from(&data, start), b"\n--").map(|place| start + place + 1);
        let is_here = from(&data, self.position).starts_with(b"--");
        let mut next = if is_here { Some(self.position) } else { find_dashes(self.position) };
        while let Some(start) = next {
            if allowance.delimiter_lines == 0 {
                return Err(RARE);
            }
            allowance.delimiter_lines -= 1;
            let end = memchr(b'\n', from(&data, start)).map_or(data.len(), |feed| start + feed);
            let line = trim_end(between(&data, start, end));
            self.guess(line, end)?;
            if let Some((number, is_closing)) = self.find_multipart(line) {
                return Ok(Some(Delimiter { start, end, number, is_closing }));
            }
            next = find_dashes(end);
        }
        Ok(None)
    }

    /// The number of the multipart that a line delimits, and whether it closes it.
    fn find_multipart(&self, line: &[u8]) -> Option<(usize, bool)> {
        self.multiparts.iter().enumerate().rev().find_map(|(number, multipart)| {
            match line.strip_prefix(&multipart.delimiter[..])? {
                _ if multipart.delimiter.is_empty() => None,
                b"" => Some((number, false)),
                b"--" => Some((number, true)),
                _ => None,
            }
        })
    }

    /// Take a "--" line that ends at `end` for the delimiter of a multipart without one, if a field follows it.
    fn guess(&mut self, line: &[u8], end: usize) -> Read<()> {
        if self.multiparts.last().is_none_or(|last| !last.delimiter.is_empty()) || line.ends_with(b"--") {
            return Ok(()); // known; or a last delimiter, a rule, `-----BEGIN PGP MESSAGE-----`
        }
        let following = between(&self.data, end + 1, end + 9).to_ascii_lowercase();
        if following.starts_with(b"\n") {
            return Err(RARE);
        }
        if let Some(last) = self.multiparts.last_mut().filter(|_| following == b"content-") {
            last.delimiter = line.to_vec();
        }
        Ok(())
    }

    /// Step over a delimiter: close multiparts, or note the part that it opens.
    fn cross(&mut self, delimiter: &Delimiter) {
        self.position = (delimiter.end + 1).min(self.data.len());
        self.is_opening = !delimiter.is_closing;
        self.multiparts.truncate(delimiter.number + usize::from(self.is_opening));
        if delimiter.is_closing {
            self.is_done = self.multiparts.is_empty();
        } else if let Some(multipart) = self.multiparts.last_mut() {
            multipart.opened += 1;
        }
    }
}

/// Takes one body apart and fills a Message; see Splitter in Python.
pub struct Splitter<'m> {
    message: &'m mut Message,
    allowance: &'m mut Allowance,
    are_related: Vec<bool>, // of each choice: its parts, else alternatives
    inside: Vec<Inside>,
}

impl<'m> Splitter<'m> {
    pub fn new(message: &'m mut Message, allowance: &'m mut Allowance) -> Self {
        Splitter { message, allowance, are_related: Vec::new(), inside: Vec::new() }
    }

    /// Split the body of a mail whose header fields are known.
    pub fn run(mut self, part: Part, body: Vec<u8>) -> Read<()> {
        let mut first = Scan::new(body, 0);
        self.enter(&mut first, part, 0)?;
        let mut scans = vec![first];
        while let Some(scan) = scans.last_mut() {
            if scan.is_opening {
                self.open(scan)?;
            } else if scan.is_done {
                scans.pop();
            } else {
                let child = self.advance(scan)?;
                scans.extend(child);
            }
        }
        if self.message.parts.is_empty() {
            return Err(RARE);
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
        let start = scan.position;
        let (stop, body) = self.find_block_end(scan, start)?;
        scan.position = start;
        if start == body {
            return Ok(()); // nothing between two delimiters
        }
        let spans = find_raw_fields(&scan.data, start, stop);
        let block = read_block(&scan.data, (start, stop, body), &spans, self.allowance)?;
        let part = begin_part(&block.content, self.allowance)?;
        self.enter(scan, part, block.body)
    }

    /// (end of the header lines, start of the body) of the part at `start`; a delimiter ends both.
    fn find_block_end(&mut self, scan: &mut Scan, start: usize) -> Read<(usize, usize)> {
        let data = Rc::clone(&scan.data);
        if from(&data, start).starts_with(b"\n") {
            return Ok((start, start + 1));
        }
        let blank = match scan.blank {
            Some(blank) if blank >= start => blank,
            _ => memmem::find(from(&data, start), b"\n\n").map_or(data.len(), |place| start + place),
        };
        scan.blank = Some(blank);
        let (stop, body) = ((blank + 1).min(data.len()), (blank + 2).min(data.len()));
        let block = between(&data, start, stop);
        if block.starts_with(b"--") || memmem::find(block, b"\n--").is_some() {
            scan.position = start;
            if let Some(line) = scan.find_delimiter(self.allowance)?.filter(|line| line.start < stop) {
                return Ok((line.start, line.start));
            }
        }
        Ok((stop, body))
    }

    /// Begin a part whose fields are known: a multipart or a leaf.  A message in it is rare.
    fn enter(&mut self, scan: &mut Scan, part: Part, start: usize) -> Read<()> {
        self.message.structure.push(part.content_type.clone());
        self.allowance.parts -= 1;
        let is_deep = scan.depth + scan.multiparts.len() >= MAX_NESTING || self.allowance.header_bytes <= 0;
        if MESSAGES.contains(&part.content_type.as_str()) || is_deep || self.allowance.parts <= 0 {
            return Err(RARE);
        }
        scan.position = start;
        scan.inside = scan.find_choices();
        if part.content_type.starts_with("multipart/") {
            return self.enter_multipart(scan, &part);
        }
        scan.leaf = Some(part);
        Ok(())
    }

    fn enter_multipart(&mut self, scan: &mut Scan, part: &Part) -> Read<()> {
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
        let mut multipart = Multipart { delimiter, start: scan.position, ..Multipart::default() };
        if is_related || kind == "multipart/alternative" {
            self.are_related.push(is_related);
            multipart.choice = self.are_related.len();
        }
        scan.multiparts.push(multipart);
        Ok(())
    }

    /// Go on to the next delimiter and finish the part that ends there; the buffer to split before the rest.
    fn advance(&mut self, scan: &mut Scan) -> Read<Option<Scan>> {
        let line = scan.find_delimiter(self.allowance)?;
        let (begin, stop) = (scan.position, line.as_ref().map_or(scan.data.len(), |line| line.start));
        let innermost = scan.multiparts.len();
        let last = scan.multiparts.last().cloned().unwrap_or_default();
        match &line {
            Some(line) => scan.cross(line),
            None => {
                scan.is_done = true;
                if !last.delimiter.is_empty() {
                    self.allowance.note("no-close-delimiter");
                }
            }
        }
        let is_unopened = innermost > 0 && last.opened == 0;
        let is_before_first =
            is_unopened && line.is_some_and(|line| line.number + 1 == innermost && !line.is_closing);
        if let Some(leaf) = scan.leaf.take() {
            if !is_before_first || !between(&scan.data, begin, stop).iter().all(is_white) {
                self.finish_leaf(scan, leaf, begin, stop)?;
            }
        } else if is_unopened && !is_before_first {
            return Ok(Some(self.finish_empty(scan, last, stop, scan.depth + innermost - 1)));
        }
        Ok(None)
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
    fn finish_empty(&mut self, scan: &Scan, multipart: Multipart, stop: usize, depth: usize) -> Scan {
        let region = between(&scan.data, multipart.start, stop);
        self.allowance.note("no-parts");
        let mut child = Scan::new(region.to_vec(), depth);
        child.leaf = Some(Part { content_type: "text/plain".to_string(), ..Part::default() });
        if self.allowance.boundary_guesses > 0 {
            self.allowance.boundary_guesses -= 1;
            let is_there = memmem::find(region, &multipart.delimiter).is_some();
            let delimiter = if is_there { multipart.delimiter } else { Vec::new() };
            child.multiparts.push(Multipart { delimiter, ..Multipart::default() });
        }
        child
    }
}
