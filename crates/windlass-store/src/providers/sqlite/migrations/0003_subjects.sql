-- All that a queue holds about one subject, and all that a mailbox holds, whatever its standing. None of its columns ever
-- changes, so a message pays for it when it comes and when it goes, and not in between.
CREATE INDEX messages_by_subject ON messages (queue, tenant, subject);
