-- Ids are 16 bytes, digests 32, times milliseconds since 1970, taint 0 owner, 1 auth, 2 external. Constraints repeat the
-- invariants: code that breaks one is stopped here.

-- A stream's name, once. Rows never change, so appending to a stream dirties no page here.
CREATE TABLE streams (
    key    INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    name   TEXT NOT NULL CHECK (instr(name, '/') > 1),
    UNIQUE (tenant, name)
) STRICT;

-- Rows lie in commit order: all writers append to the same page, whatever the number of streams.
CREATE TABLE events (
    position INTEGER PRIMARY KEY CHECK (position >= 1),
    tenant   TEXT NOT NULL,
    stream   INTEGER NOT NULL REFERENCES streams (key),
    seq      INTEGER NOT NULL CHECK (seq >= 1),
    kind     TEXT NOT NULL,
    version  INTEGER NOT NULL CHECK (version >= 1),
    taint    INTEGER NOT NULL CHECK (taint IN (0, 1, 2)),
    at       INTEGER NOT NULL,
    data     TEXT NOT NULL,
    UNIQUE (stream, seq)
) STRICT;
CREATE INDEX events_by_tenant ON events (tenant, position);

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN
    SELECT raise(ABORT, 'an event is never changed');
END;

CREATE TABLE owners (
    id      BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    tenant  TEXT NOT NULL,
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
-- leased_by, lease_epoch, deliveries and dead_reason belong to queues with several consumers.
CREATE TABLE messages (
    key         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          BLOB NOT NULL CHECK (length(id) = 16),
    tenant      TEXT NOT NULL,
    mailbox     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    version     INTEGER NOT NULL CHECK (version >= 1),
    taint       INTEGER NOT NULL CHECK (taint IN (0, 1, 2)),
    priority    INTEGER NOT NULL,
    not_before  INTEGER NOT NULL,
    enqueued_at INTEGER NOT NULL,
    trace_id    TEXT,
    leased_by   BLOB REFERENCES owners (id),
    lease_epoch INTEGER NOT NULL DEFAULT 0,
    deliveries  INTEGER NOT NULL DEFAULT 0,
    dead_reason TEXT,
    data        TEXT NOT NULL,
    UNIQUE (tenant, id)
) STRICT;
CREATE INDEX messages_to_do ON messages (tenant, mailbox, priority DESC, key) WHERE dead_reason IS NULL;
CREATE INDEX messages_by_owner ON messages (leased_by) WHERE leased_by IS NOT NULL;

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
    mailbox TEXT NOT NULL,
    kind    TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    taint   INTEGER NOT NULL CHECK (taint IN (0, 1, 2)),
    data    TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_by_due ON timers (tenant, due);

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
