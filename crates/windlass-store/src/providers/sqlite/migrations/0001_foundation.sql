-- Ids are 16 bytes, digests 32, times milliseconds since 1970, taint 0 owner, 1 auth, 2 external. Constraints repeat the
-- invariants: code that breaks one is stopped here.

-- A stream's name, once. Rows never change, so appending to a stream dirties no page here.
CREATE TABLE streams (
    key    INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    name   TEXT NOT NULL CHECK (instr(name, '/') > 1),
    UNIQUE (tenant, name)
) STRICT;

-- Rows lie in commit order: all writers append to the same page, whatever the number of streams. Whoever reads one tenant's
-- events in that order passes over the others': an index by tenant would cost every commit a page.
CREATE TABLE events (
    position INTEGER PRIMARY KEY CHECK (position >= 1),
    tenant   TEXT NOT NULL,
    stream   INTEGER NOT NULL REFERENCES streams (key),
    seq      INTEGER NOT NULL CHECK (seq >= 1),
    kind     TEXT NOT NULL,
    version  INTEGER NOT NULL CHECK (version >= 1),
    taint    INTEGER NOT NULL CHECK (taint IN (0, 1, 2)),
    at       INTEGER NOT NULL,
    -- On the last row of a commit: the digest of the tenant's chain up to here. Before the data, so that it is found
    -- without reading through it.
    chain    BLOB CHECK (chain IS NULL OR length(chain) = 32),
    data     TEXT NOT NULL,
    UNIQUE (stream, seq)
) STRICT;

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN
    SELECT raise(ABORT, 'an event is never changed');
END;

CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN
    SELECT raise(ABORT, 'an event is never deleted');
END;

CREATE TABLE owners (
    id      BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    epoch   INTEGER NOT NULL CHECK (epoch >= 1),
    host    TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid     INTEGER NOT NULL,
    beat    INTEGER NOT NULL CHECK (beat >= 0),
    beat_at INTEGER NOT NULL,
    retired INTEGER NOT NULL CHECK (retired IN (0, 1))
) STRICT, WITHOUT ROWID;

-- A lease that nobody holds keeps its row, and with it its epoch.
CREATE TABLE leases (
    tenant   TEXT NOT NULL,
    name     TEXT NOT NULL,
    epoch    INTEGER NOT NULL CHECK (epoch >= 1),
    owner    BLOB REFERENCES owners (id),
    taken_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX leases_by_owner ON leases (owner) WHERE owner IS NOT NULL;

CREATE TRIGGER epochs_never_fall BEFORE UPDATE OF epoch ON leases WHEN new.epoch < old.epoch
BEGIN
    SELECT raise(ABORT, 'an epoch never falls');
END;

-- AUTOINCREMENT: a key is never used again, so that "newer than" can be asked of a queue that has run empty.
-- A message is ready, delayed, leased or dead; each index holds the rows of one of these alone, so that the head of a queue
-- costs the same whatever else is in it. forgiven: the deliveries that no longer count.
CREATE TABLE messages (
    key         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          BLOB NOT NULL CHECK (length(id) = 16),
    tenant      TEXT NOT NULL,
    queue       TEXT NOT NULL,
    subject     TEXT,
    trace_id    BLOB NOT NULL CHECK (length(trace_id) = 16),
    kind        TEXT NOT NULL,
    version     INTEGER NOT NULL CHECK (version >= 1),
    taint       INTEGER NOT NULL CHECK (taint IN (0, 1, 2)),
    priority    INTEGER NOT NULL,
    enqueued_at INTEGER NOT NULL,
    deliveries  INTEGER NOT NULL DEFAULT 0,
    forgiven    INTEGER NOT NULL DEFAULT 0 CHECK (forgiven BETWEEN 0 AND deliveries),
    not_before  INTEGER,
    leased_by   BLOB REFERENCES owners (id),
    leased_at   INTEGER CHECK ((leased_at IS NULL) = (leased_by IS NULL)),
    dead_reason TEXT,
    dead_at     INTEGER CHECK ((dead_at IS NULL) = (dead_reason IS NULL)),
    data        TEXT NOT NULL,
    UNIQUE (tenant, id),
    CHECK ((not_before IS NOT NULL) + (leased_by IS NOT NULL) + (dead_reason IS NOT NULL) <= 1)
) STRICT;
CREATE INDEX messages_ready ON messages (queue, tenant, priority DESC, key)
    WHERE not_before IS NULL AND leased_by IS NULL AND dead_reason IS NULL;
CREATE INDEX messages_delayed ON messages (not_before, queue, tenant) WHERE not_before IS NOT NULL;
CREATE INDEX messages_leased ON messages (leased_by, queue, key) WHERE leased_by IS NOT NULL;
CREATE INDEX messages_dead ON messages (tenant, id) WHERE dead_reason IS NOT NULL;

CREATE TRIGGER deliveries_never_fall BEFORE UPDATE OF deliveries ON messages WHEN new.deliveries < old.deliveries
BEGIN
    SELECT raise(ABORT, 'deliveries never fall');
END;

CREATE TRIGGER messages_keep_their_words
BEFORE UPDATE OF id, tenant, queue, subject, trace_id, kind, version, taint, data ON messages
BEGIN
    SELECT raise(ABORT, 'what a message says is never changed');
END;

-- What has been taken in, messages that were acked among it: the same again is refused.
CREATE TABLE processed (
    tenant TEXT NOT NULL,
    scope  TEXT NOT NULL,
    key    BLOB NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE nonces (
    tenant TEXT NOT NULL,
    nonce  TEXT NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (tenant, nonce)
) STRICT, WITHOUT ROWID;

CREATE TABLE timers (
    tenant  TEXT NOT NULL,
    name    TEXT NOT NULL,
    due     INTEGER NOT NULL,
    queue   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    taint   INTEGER NOT NULL CHECK (taint IN (0, 1, 2)),
    data    TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
-- Those that are due are soon gone, so whoever asks for one tenant's passes over few of the others'.
CREATE INDEX timers_by_due ON timers (due, tenant);

-- The newest fold of a stream. May be deleted at any time.
CREATE TABLE snapshots (
    stream  INTEGER PRIMARY KEY REFERENCES streams (key),
    tenant  TEXT NOT NULL,
    seq     INTEGER NOT NULL CHECK (seq >= 1),
    version INTEGER NOT NULL CHECK (version >= 1),
    data    BLOB NOT NULL
) STRICT;

-- data is NULL where the bytes are a file of their own.
CREATE TABLE blobs (
    key    INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    size   INTEGER NOT NULL CHECK (data IS NULL OR size = length(data)),
    taint  INTEGER NOT NULL CHECK (taint IN (0, 1, 2)),
    data   BLOB,
    UNIQUE (tenant, digest)
) STRICT;

CREATE TRIGGER taint_never_falls BEFORE UPDATE OF taint ON blobs WHEN new.taint < old.taint
BEGIN
    SELECT raise(ABORT, 'taint never falls');
END;
