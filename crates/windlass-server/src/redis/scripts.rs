//! The few things that must happen in Redis at once or not at all, as scripts that it runs. Whoever may write there may also have put
//! something else under a key; a script says so instead of failing, so that it can be told which one it was.

use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisResult};

/// Where Redis was away for an hour, all that there is to say comes at once, and whoever reads it has yet to begin: of what is more than may
/// be kept only those go that have lain there for long. Redis takes them away some at a time (`~`), and no more than are too many.
macro_rules! appending {
    () => {
        "
local function append(stream, json, most, kept)
  local id = redis.call('XADD', stream, '*', 'json', json)
  local too_many = redis.call('XLEN', stream) - tonumber(most)
  if too_many > 0 then
    local oldest = string.format('%.0f', tonumber(string.match(id, '^%d+')) - tonumber(kept))
    redis.call('XTRIM', stream, 'MINID', '~', oldest, 'LIMIT', too_many)
  end
end
"
    };
}

/// Appends an entry unless one of this position, or a later one, was appended: whoever follows the records does so in their order.
/// Keys: the positions, the stream. Arguments: position, JSON, how many entries are kept, and for how many milliseconds any of them.
/// Answers 1 or 0; -1 where Redis has forgotten the positions; and what the stream is where it is none.
pub const PUBLISH: &str = concat!(
    appending!(),
    "
local told = redis.call('HMGET', KEYS[1], 'upto', KEYS[2])
if not told[1] then return -1 end
if tonumber(told[2] or '0') >= tonumber(ARGV[1]) then return 0 end
local kind = redis.call('TYPE', KEYS[2]).ok
if kind ~= 'stream' and kind ~= 'none' then return kind end
append(KEYS[2], ARGV[2], ARGV[3], ARGV[4])
redis.call('HSET', KEYS[1], KEYS[2], ARGV[1])
return 1
"
);

/// Sets a task's flag and remembers what it was set to, in the same order. One that others have set otherwise since is a wish that nobody
/// has heeded yet, and stays. Keys: the positions, the flag, the flags as they were set. Arguments: position, task, flag (empty where it
/// goes), for how many seconds it stays after the task is over. Answers as above.
pub const FLAG: &str = "
local told = redis.call('HMGET', KEYS[1], 'upto', 'task:status')
if not told[1] then return -1 end
if tonumber(told[2] or '0') >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'task:status', ARGV[1])
if ARGV[3] == '' then
  redis.call('DEL', KEYS[2])
  redis.call('HDEL', KEYS[3], ARGV[2])
elseif ARGV[3] == 'cancelled' then
  redis.call('SET', KEYS[2], ARGV[3], 'EX', ARGV[4])
  redis.call('HDEL', KEYS[3], ARGV[2])
else
  local flag, set = redis.pcall('GET', KEYS[2]), redis.call('HGET', KEYS[3], ARGV[2]) or ''
  local is_wish = (flag == 'running' or flag == 'paused' or flag == 'cancelled') and string.sub(set, 1, #flag + 1) ~= flag .. '@'
  if not is_wish then redis.call('SET', KEYS[2], ARGV[3]) end
  redis.call('HSET', KEYS[3], ARGV[2], ARGV[3] .. '@' .. ARGV[1])
end
return 1
";

/// Everything up to there is told. Key: the positions. Argument: position. Answers as above.
pub const TOLD: &str = "
local told = redis.call('HGET', KEYS[1], 'upto')
if not told then return -1 end
if tonumber(told) >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'upto', ARGV[1])
return 1
";

/// Sets flags of tasks of which nothing is known here. Key: the flags as they were set. Arguments: a name that nobody had, so that a wish
/// after this is another one than a wish before; then task and flag, again and again.
pub const SET_UP: &str = "
for i = 2, #ARGV, 2 do
  if redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1] .. '@' .. ARGV[1] .. '.' .. i) == 1 then
    redis.call('SET', 'task:status:' .. ARGV[i], ARGV[i + 1], 'NX')
  end
end
";

/// What others have changed under the keys of tasks that are under way. Keys: the flags as they were set, the positions. Arguments: a
/// cursor and about how many to look at; or nothing, and the tasks. Answers where to go on, whether the positions are remembered, and each
/// task with something to do: its name, its flag as it was set and as it is, how many of its lists there are, and what its flag is where
/// it is no text. A task that was named and has no flag has lists alone.
pub const LOOK: &str = "
local found = {}
local function look(task, set)
  local key, wrong = 'task:status:' .. task, ''
  local flag = redis.pcall('GET', key)
  if type(flag) == 'table' then
    flag, wrong = false, redis.call('TYPE', key).ok
  end
  if flag and string.sub(set, 1, #flag + 1) == flag .. '@' then flag = false end
  local lists = redis.call('EXISTS', 'injection:' .. task, 'injection:' .. task .. ':taking')
  if flag or lists > 0 or wrong ~= '' then
    table.insert(found, {task, set, string.sub(flag or '', 1, 64), lists, wrong})
  end
end
local cursor = '0'
if ARGV[1] == '' then
  for i = 3, #ARGV do
    local set = redis.call('HGET', KEYS[1], ARGV[i])
    if set then
      look(ARGV[i], set)
    else
      local lists = redis.call('EXISTS', 'injection:' .. ARGV[i], 'injection:' .. ARGV[i] .. ':taking')
      if lists > 0 then table.insert(found, {ARGV[i], '', '', lists, ''}) end
    end
  end
else
  local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
  cursor = page[1]
  for i = 1, #page[2], 2 do look(page[2][i], page[2][i + 1]) end
end
return {cursor, redis.call('HEXISTS', KEYS[2], 'upto'), found}
";

/// The next injection of a task's list, under a name that it keeps until it is done with. Keys: the list, what is being taken.
/// Arguments: a name that nobody had, and how long one may be. Answers nothing; or the name, what it is, and how long it was where it
/// is cut; or which key is in the way and what that is.
pub const TAKE: &str = "
local kind = redis.call('TYPE', KEYS[2]).ok
if kind == 'string' then return {'taken', redis.call('GET', KEYS[2]), '0'} end
if kind ~= 'none' then return {'wrong', KEYS[2], kind} end
kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then return {'nothing', false, false} end
if kind ~= 'list' then return {'wrong', KEYS[1], kind} end
local item = redis.call('LPOP', KEYS[1])
local length = #item
if length > tonumber(ARGV[2]) then item = string.sub(item, 1, 65536) else length = 0 end
local taken = ARGV[1] .. ' ' .. item
redis.call('SET', KEYS[2], taken)
return {'taken', taken, tostring(length)}
";

/// It is done with. Key: what is being taken. Argument: its name.
pub const TAKEN: &str = "
local taken = redis.pcall('GET', KEYS[1])
if type(taken) == 'string' and string.sub(taken, 1, #ARGV[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
";

/// Something that cannot be heeded is said to be so and is done with, or neither. Keys: its stream, and each stream it is told on.
/// Arguments: the group and its id, how many entries are kept and for how long, as above, and what each is told. Answers which of them is
/// no stream, and what it is.
pub const REFUSE: &str = concat!(
    appending!(),
    "
for i = 2, #KEYS do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'stream' and kind ~= 'none' then return {KEYS[i], kind} end
end
for i = 2, #KEYS do
  append(KEYS[i], ARGV[i + 3], ARGV[3], ARGV[4])
end
if ARGV[1] ~= '' then redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) end
return {}
"
);

/// Takes a session's lease, from nobody or from who is known to be gone. Key: the lease. Arguments: who takes it, for how many
/// milliseconds, from whom. Answers nothing; or `held` and by whom; or `wrong` and what it is.
pub const LEASE: &str = "
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'string' and kind ~= 'none' then return {'wrong', kind} end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and holder ~= ARGV[3] then return {'held', holder} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {}
";

/// Deletes a key that holds what is expected.
pub const LET_GO: &str = "
if redis.pcall('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
";

/// Reads as one of a group until there is no more, or so much was read: of each stream one entry after the other, for nobody can tell how
/// large the next one is. Keys: the streams. Arguments: the group, who reads, how many of each stream, how many bytes; then, of each
/// stream, after which entry. Answers as `XREADGROUP` does, a stream as often as something was read of it.
pub const READ: &str = "
local after, found, bytes = {}, {}, 0
for i = 1, #KEYS do after[i] = ARGV[i + 4] end
for round = 1, tonumber(ARGV[3]) do
  local ask, is_some = {'XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', 1, 'STREAMS'}, false
  for i = 1, #KEYS do table.insert(ask, KEYS[i]) end
  for i = 1, #KEYS do table.insert(ask, after[i]) end
  for _, stream in ipairs(redis.call(unpack(ask)) or {}) do
    for _, entry in ipairs(stream[2]) do
      is_some = true
      for _, field in ipairs(entry[2] or {}) do bytes = bytes + #field end
      for i = 1, #KEYS do
        if KEYS[i] == stream[1] and after[i] ~= '>' then after[i] = entry[1] end
      end
    end
    table.insert(found, stream)
  end
  if not is_some or bytes >= tonumber(ARGV[4]) then break end
end
return found
";

/// Looks at entries until all were, or so much was read. Key: the stream. Arguments: how many bytes, and the ids. Answers how many ids were
/// looked at, and the entries that are still there.
pub const LOOK_AT: &str = "
local found, bytes = {}, 0
for i = 2, #ARGV do
  for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[i], ARGV[i])) do
    for _, field in ipairs(entry[2]) do bytes = bytes + #field end
    table.insert(found, entry)
  end
  if bytes >= tonumber(ARGV[1]) then return {i - 1, found} end
end
return {#ARGV - 1, found}
";

/// Takes over what a consumer has, until that is all or so much was read. Key: the stream. Arguments: the group, who takes it, from whom,
/// for how many milliseconds nobody has touched it, how many at most, and how many bytes. Answers the ids, the entries as far as they are
/// still there, and 1 where there may be more.
pub const CLAIM: &str = "
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', ARGV[4], '-', '+', ARGV[5], ARGV[3])
local ids, found, bytes = {}, {}, 0
for _, one in ipairs(pending) do
  table.insert(ids, one[1])
  for _, entry in ipairs(redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, one[1])) do
    for _, field in ipairs((entry or {})[2] or {}) do bytes = bytes + #field end
    table.insert(found, entry)
  end
  if bytes >= tonumber(ARGV[6]) then break end
end
local is_all = #ids == #pending and #pending < tonumber(ARGV[5])
return {ids, found, is_all and 0 or 1}
";

/// Forgets a consumer, unless it has something. Key: the stream. Arguments: the group, and whom.
pub const FORGET: &str = "
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) == 0 then
  redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
";

pub fn script(text: &str, keys: &[&str], arguments: &[&str]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(text).arg(keys.len()).arg(keys).arg(arguments);
    command
}

pub async fn run<T: redis::FromRedisValue>(
    connection: &mut MultiplexedConnection,
    text: &str,
    keys: &[&str],
    arguments: &[&str],
) -> RedisResult<T> {
    script(text, keys, arguments).query_async(connection).await
}
