-- The nbspam model file, format 10: one SQLite database.  This file is its specification.
-- application_id 0x6e627370 ("nbsp"), user_version = the format.
-- Counts only: the smoothing constant, the prior, the event model and the losses are applied
-- when a message is scored, so adding, removing and merging mail are exact.
-- K is the number of classes.  SQLite asks for the CHECKs when a row is written.  A forger can write around them,
-- so they are asked again where rows are read (store/digest.py).

CREATE TABLE setting (              -- how to score unless the command line says otherwise
    name  TEXT PRIMARY KEY          -- event_model, alpha, prior, threshold, features, vocabulary, ...
                                    -- calibration_credit: messages learned that had been judged rightly, less
                                    --   those judged wrongly that taught the calibration, see there
                                    -- autolearn_labelled: messages that left `autolearned` when a person labelled
                                    --   them; autolearn_corrected: how many of these as another class
                                    -- own_servers: names of the user's mail servers (authserv-id), with spaces
                                    --   between; their Authentication-Results are believed, see `sender`
                                    -- pruned: rare tokens were taken out
        CHECK (typeof(name) = 'text'),
    value TEXT NOT NULL             -- as the command line spells it
        CHECK (typeof(value) = 'text')
) WITHOUT ROWID;

CREATE TABLE class (
    number   INTEGER PRIMARY KEY,   -- 0 .. K-1 in class order: ham first, spam last
    name     TEXT NOT NULL UNIQUE   -- the folder's or label's name
        CHECK (typeof(name) = 'text'),
    messages INTEGER NOT NULL       -- m_k, messages counted
        CHECK (typeof(messages) = 'integer' AND messages BETWEEN 0 AND 1 << 53)
);

CREATE TABLE view (
    number INTEGER PRIMARY KEY,     -- 0 header, 1 body, 2 structure, 3 bigrams, 4 raw,
                                    --   5 NOTAWORD, 6 measures, 7 signature
    name   TEXT NOT NULL
        CHECK (typeof(name) = 'text'),
    words  INTEGER NOT NULL         -- rows of `token` in this view; of an overlay see `base`
        CHECK (typeof(words) = 'integer' AND words BETWEEN 0 AND 1 << 53)
);

CREATE TABLE view_total (           -- sums over the rows of `token`
    view        INTEGER NOT NULL    -- view.number
        CHECK (typeof(view) = 'integer' AND view BETWEEN 0 AND 7),
    class       INTEGER NOT NULL    -- class.number
        CHECK (typeof(class) = 'integer' AND class BETWEEN 0 AND K - 1),
    documents   INTEGER NOT NULL    -- sum of documents_k
        CHECK (typeof(documents) = 'integer' AND documents BETWEEN 0 AND 1 << 53),
    occurrences INTEGER NOT NULL    -- sum of occurrences_k = N_k of this view
        CHECK (typeof(occurrences) = 'integer' AND occurrences BETWEEN 0 AND 1 << 53),
    PRIMARY KEY (view, class)
) WITHOUT ROWID;

CREATE TABLE token (                -- two more columns a class: documents_k, occurrences_k
    key  INTEGER PRIMARY KEY,       -- 64-bit hash of text; 0 is NOTAWORD
    view INTEGER NOT NULL           -- view.number
        CHECK (typeof(view) = 'integer' AND view BETWEEN 0 AND 7),
    text TEXT NOT NULL              -- for people: explain, dump
        CHECK (typeof(text) = 'text'),
    since INTEGER NOT NULL DEFAULT 1 -- batch.number in which it was first counted
        CHECK (typeof(since) = 'integer' AND since >= 1)
    -- documents_k   INTEGER: n_jk, messages of class k that hold the token; 0 or more, as occurrences_k
    -- occurrences_k INTEGER: N_jk, how often it occurs in them
);

CREATE TABLE calibration (          -- the logistic regression over the view evidence
    number  INTEGER PRIMARY KEY,    -- place in the weight vector
    feature TEXT NOT NULL           -- 'evidence:header', 'measure:size', 'constant', 'unknown:body', ...
        CHECK (typeof(feature) = 'text'),
    class   INTEGER                 -- class.number, NULL where the classes share the weight
        CHECK (class IS NULL OR typeof(class) = 'integer' AND class BETWEEN 0 AND K - 1),
    weight  REAL NOT NULL           -- nats a unit of the feature
        CHECK (typeof(weight) = 'real'),
    covariance TEXT NOT NULL        -- with the weights 0 .. number (symmetric), separated by spaces, so that
                                    --   learning goes on where training stopped; or all are empty
        CHECK (typeof(covariance) = 'text')
);

CREATE TABLE batch (                -- messages that were learned at once, and where they came from
    number INTEGER PRIMARY KEY,     -- ascending with time; 1 is the model as it was made
    time   INTEGER NOT NULL         -- milliseconds since 1970 when the command began; a long one has several batches
        CHECK (typeof(time) = 'integer'),
    source TEXT NOT NULL            -- the command, and after a tab each of its folders
        CHECK (typeof(source) = 'text'),
    own    INTEGER NOT NULL         -- 1: the filter's own verdicts, 0: a person's labels
        CHECK (typeof(own) = 'integer' AND own IN (0, 1))
);

CREATE TABLE learned (              -- which messages each batch counted, so that one counts once.  Learned in batch 5
    digest INTEGER NOT NULL         --   as ham and in 7 as spam it has three rows: ham 5 +1, ham 7 -1, spam 7 +1
        CHECK (typeof(digest) = 'integer'),
    class  INTEGER NOT NULL         -- class.number
        CHECK (typeof(class) = 'integer' AND class BETWEEN 0 AND K - 1),
    batch  INTEGER NOT NULL DEFAULT 1  -- batch.number
        CHECK (typeof(batch) = 'integer' AND batch >= 1),
    times  INTEGER NOT NULL         -- how often more, or less; the sum over the batches is what counts now (bulk
                                    --   training counts exact duplicates).  0 where a batch moved a message that
                                    --   an earlier one counted so, whose lesson was taken back since
        CHECK (typeof(times) = 'integer' AND times BETWEEN -(1 << 53) AND 1 << 53),
    PRIMARY KEY (digest, class, batch)
) WITHOUT ROWID;                    -- A digest has 64 bits: the upper 44 of the message, of its body and of the
                                    --   fields that its sender wrote; the lower 20 of the form that was counted,
                                    --   of all its tokens, and of its numeric features if counted

CREATE TABLE autolearned (          -- those of them that the filter counted on its own verdict, once each; a
    number INTEGER PRIMARY KEY,     --   message that a person labels (learn, unlearn, train --update) leaves
    digest INTEGER NOT NULL         -- number: in the order in which they were counted; the oldest are forgotten
        CHECK (typeof(digest) = 'integer'),
    class  INTEGER NOT NULL         -- class.number it was counted in
        CHECK (typeof(class) = 'integer' AND class BETWEEN 0 AND K - 1),
    tokens BLOB NOT NULL            -- what was counted: `key:times` of each token, ascending by key, separated by
                                    --   spaces, compressed with zlib
        CHECK (typeof(tokens) = 'blob'),
    UNIQUE (digest, class)          -- with this index they are counted without reading their tokens
);

CREATE TABLE numeric_feature (      -- one row a real-valued feature; none when only words are counted
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE     -- docs/numeric-features.md
        CHECK (typeof(name) = 'text'),
    edges  TEXT NOT NULL            -- inner bin edges, ascending, separated by spaces; fixed after training
        CHECK (typeof(edges) = 'text')
);

CREATE TABLE numeric_count (        -- integer sufficient statistics of numeric features; no rows of zeros
    kind  TEXT NOT NULL             -- 'moment': place is a feature, value its n, sum and sum of squares in
                                    --   quanta of 2^-20 (text, for squares pass 64 bits)
                                    -- 'bin': place is a feature, value the counts of its bins
                                    -- 'pair' (AODE): place is a cell (bins of all features numbered through),
                                    --   value how often it came with each cell, itself included
        CHECK (typeof(kind) = 'text'),
    class INTEGER NOT NULL          -- class.number
        CHECK (typeof(class) = 'integer' AND class BETWEEN 0 AND K - 1),
    place INTEGER NOT NULL
        CHECK (typeof(place) = 'integer' AND place BETWEEN 0 AND 1 << 53),
    value TEXT NOT NULL             -- integers separated by spaces
        CHECK (typeof(value) = 'text'),
    PRIMARY KEY (kind, class, place)
) WITHOUT ROWID;

-- An overlay counts its own messages alone, and whoever scores adds the counts of another model, its base.  It
-- cannot take out what the base has counted.  Its settings and its calibration are whole; `view.words` is how
-- many of its tokens the base lacks.  A base counts words alone, each word, and none on its own verdict.

CREATE TABLE base (                 -- of an overlay one row
    path        TEXT NOT NULL
        CHECK (typeof(path) = 'text'),
    digest      INTEGER NOT NULL    -- of its table `digest`, 64 bits: another one is another base
        CHECK (typeof(digest) = 'integer')
);

CREATE TABLE sender (               -- senders whom the user names; they change decisions and no count
    who      TEXT PRIMARY KEY       -- an address, or a domain with its subdomains: lower-case, domains in ASCII
        CHECK (typeof(who) = 'text'),
    decision TEXT NOT NULL
        CHECK (decision IN ('allowed', 'denied')),
    verified INTEGER NOT NULL       -- 1: an own server must have verified the sender;  0: nobody asks
        CHECK (typeof(verified) = 'integer' AND verified IN (0, 1)),
    since    INTEGER NOT NULL       -- milliseconds since 1970 when the user said so
        CHECK (typeof(since) = 'integer')
) WITHOUT ROWID;

CREATE TABLE identity (             -- one row; a new number for each new file and each copy, kept by what changes
    number INTEGER PRIMARY KEY      --   a file in place.  Random, in no digest and in no dump
);

CREATE TABLE digest (               -- what `model check` compares the rows with, see store/digest.py
    name  TEXT PRIMARY KEY          -- a table, or 'opening': all tables that are read when a model is opened
        CHECK (typeof(name) = 'text'),
    value INTEGER NOT NULL          -- 64 bits
        CHECK (typeof(value) = 'integer')
) WITHOUT ROWID;
