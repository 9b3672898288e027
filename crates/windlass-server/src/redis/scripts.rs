//! The few things that must happen in Redis at once or not at all, as scripts that it runs.

use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisResult};

/// Appends an entry unless one of this position, or a later one, was appended: whoever follows the records does so in their order.
/// Keys: the positions, the stream. Arguments: position, JSON, how many entries are kept.
pub const PUBLISH: &str = "
local last = tonumber(redis.call('HGET', KEYS[1], KEYS[2]) or '0')
if last >= tonumber(ARGV[1]) then return 0 end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'json', ARGV[2])
redis.call('HSET', KEYS[1], KEYS[2], ARGV[1])
return 1
";

/// Sets a task's flag and remembers what it was set to, in the same order. Keys: the positions, the flag, the flags as they were set.
/// Arguments: position, task, flag (empty where it goes), for how many seconds it stays after the task is over.
pub const FLAG: &str = "
local last = tonumber(redis.call('HGET', KEYS[1], 'task:status') or '0')
if last >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'task:status', ARGV[1])
if ARGV[3] == '' then
  redis.call('DEL', KEYS[2])
  redis.call('HDEL', KEYS[3], ARGV[2])
elseif ARGV[3] == 'cancelled' then
  redis.call('SET', KEYS[2], ARGV[3], 'EX', ARGV[4])
  redis.call('HDEL', KEYS[3], ARGV[2])
else
  redis.call('SET', KEYS[2], ARGV[3])
  redis.call('HSET', KEYS[3], ARGV[2], ARGV[3] .. '@' .. ARGV[1])
end
return 1
";

/// The next injection of a task's list, under a name that it keeps until it is done with. Keys: the list, what is being taken.
/// Argument: a name that nobody had.
pub const TAKE: &str = "
local taken = redis.call('GET', KEYS[2])
if taken then return taken end
local item = redis.call('LPOP', KEYS[1])
if not item then return false end
taken = ARGV[1] .. ' ' .. item
redis.call('SET', KEYS[2], taken)
return taken
";

/// Takes a session's lease, from nobody or from who is known to be gone. Key: the lease. Arguments: who takes it, for how many
/// milliseconds, from whom.
pub const LEASE: &str = "
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and holder ~= ARGV[3] then return holder end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false
";

/// Deletes a key that holds what is expected.
pub const LET_GO: &str = "
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
";

pub fn script(text: &str, keys: &[&str], arguments: &[&str]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(text).arg(keys.len()).arg(keys).arg(arguments);
    command
}

pub async fn run(
    connection: &mut MultiplexedConnection,
    text: &str,
    keys: &[&str],
    arguments: &[&str],
) -> RedisResult<redis::Value> {
    script(text, keys, arguments).query_async(connection).await
}
