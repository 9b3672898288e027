-- What each owner can read of the journal, and what is written in it: an owner that cannot read it is not let in, and nothing is
-- written that an owner at work cannot read.
ALTER TABLE owners ADD COLUMN level INTEGER NOT NULL DEFAULT 1 CHECK (level >= 1);

CREATE TABLE journal (
    only  INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
    level INTEGER NOT NULL CHECK (level >= 1)
) STRICT;
INSERT INTO journal VALUES (1, 1);

CREATE TRIGGER levels_never_fall BEFORE UPDATE OF level ON journal WHEN new.level < old.level
BEGIN
    SELECT raise(ABORT, 'what is written stays written');
END;

-- When somebody put a blob last: one that was put a moment ago may be about to be named.
ALTER TABLE blobs ADD COLUMN put_at INTEGER NOT NULL DEFAULT 0;
