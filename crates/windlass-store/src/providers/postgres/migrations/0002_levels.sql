-- What each owner can read of the journal, and what is written in it: an owner that cannot read it is not let in, and nothing is
-- written that an owner at work cannot read.
ALTER TABLE owners ADD COLUMN level bigint NOT NULL DEFAULT 1 CHECK (level >= 1);

CREATE TABLE journal (
    one   boolean PRIMARY KEY DEFAULT true CHECK (one),
    level bigint NOT NULL CHECK (level >= 1)
);
INSERT INTO journal (level) VALUES (1);
CREATE TRIGGER levels_never_fall BEFORE UPDATE ON journal FOR EACH ROW WHEN (new.level < old.level)
    EXECUTE FUNCTION refuse('what is written stays written');

-- When somebody put a blob last: one that was put a moment ago may be about to be named.
ALTER TABLE blobs ADD COLUMN put_at bigint NOT NULL DEFAULT 0;
