-- Queues with several consumers, and a chain of digests over each tenant's events. What was there is kept: old events are
-- linked one by one by the code that runs after this file, which then drops `events_before`.

DROP TRIGGER events_are_never_changed;
ALTER TABLE events RENAME TO events_before;

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

-- A process belongs to nobody.
ALTER TABLE owners DROP COLUMN tenant;

DROP INDEX messages_to_do;
DROP INDEX messages_by_owner;
ALTER TABLE messages RENAME TO messages_before;

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

-- Nothing was ever leased or dead until now. What had no trace begins one.
INSERT INTO messages (key, id, tenant, queue, trace_id, kind, version, taint, priority, enqueued_at, not_before, data)
SELECT key, id, tenant, mailbox, id, kind, version, taint, priority, enqueued_at, nullif(not_before, 0), data
FROM messages_before;
DELETE FROM sqlite_sequence WHERE name = 'messages';
UPDATE sqlite_sequence SET name = 'messages' WHERE name = 'messages_before';
DROP TABLE messages_before;

ALTER TABLE timers RENAME COLUMN mailbox TO queue;
DROP INDEX timers_by_due;
-- Those that are due are soon gone, so whoever asks for one tenant's passes over few of the others'.
CREATE INDEX timers_by_due ON timers (due, tenant);
