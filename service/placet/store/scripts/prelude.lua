-- Shared head of every script: the store's clock, the epoch, the record's moves.
--
-- Call shape   EVALSHA sha 1 <meta key> <now_ms> <epoch> <script's own arguments from ARGV[3] on>
-- Answer       { ruling, now_ms, ... }   ruling is a word of placet.domain.machine.Ruling
--
-- KEYS[1]  {placet:<tenant>}:m   the tenant's meta hash. All other keys carry the same hash tag, so
--                                they live on the same node; they are named from it:
--   :a:<id>      hash   the compared fields of a record (letters below)
--   :l:<id>      list   its log, "<at_ms> <event type> [seal]<json>": the ask first, then what happened
--   :i:<id>      string its effective input in canonical form; gone once erased or never held
--   :o:<id>      string its input as it was asked, where an approver changed it
--   :k:<client>:<key>  string  "<body hash> <id>": an idempotency key
--   :b:<client>  string "<level> <at_ms>": the bucket of a client's asks (create.lua), gone once it is empty
--   :j:<hash>    zset   pending records that an identical question may join, by expires_at
--   :x           zset   all records, lexicographic "<requested_at, 13 digits>:<id>", scores 0
--   :x:c:<client>  :x:r:<run>  :x:p   zsets  the same members by client, by run, and those pending
--   :x:d:<digest>   zset  the same, of those that were rejected, by what was
--   :w  :w:<client>   zsets  pending ids by expires_at
--   :g           zset   approved ids by use_by
--   :n           set    targets that something is to be told
--   :n:<target>  zset   ids of which something is to be told there, by when (ms)
--   :f           zset   "<target> <id>" of lanes that have failed, by since when
--   :h           zset   "<event type> <id>" by when that is to happen, where the question still waits
--   :s           stream transitions: i id, t event type, n at_ms, w written at (ms) where the entry's id
--                runs ahead of the clock
--   :p           hash   principals, "client:<name>" or "approver:<id>" to a sealed document
--   :y           hash   credential key id to the field of :p that it belongs to
--
-- Fields of :m  epoch (grows with each change of credentials or rules), manifest (seal over the whole roll),
--   revoked (ids of signing keys that are trusted no more), generation (names the operator's rules), now (high-water mark of the clock, ms), ahead (by how
--   much the stream's ids run ahead of the clock since that was set back, ms)
-- Fields of :a  s status, g digest, c call hash, k asked by, u audience where it is another client,
--   x expires_at, w use_within, b use_by, q people required, v votes on this digest (22 characters a
--   person, then a, r or c), y votes taken in all, t requested_at, n nonce of the create, e execution id, f nonce of the consume,
--   h digest as it was asked where it was changed, o outcome's fingerprint, d idempotency key, j join hash while pending, r run, z refusals,
--   z:<word> those coalesced, m:<target> a lane: "<q|d|f> <attempts> <covered> <at_ms> <lease> <failure> <ref>",
--   - where there is none. g, c, n and f are raw bytes.
--
-- ARGV[1]  now_ms under an injected test clock, else '': the server's TIME
-- ARGV[2]  the epoch that the caller was judged under, '' for the system itself
--
-- Declared before this head are (placet.store.scripts): behind_max_ms, by how much the clock may be behind the
-- mark, undecided_ms, the longest that an input is kept which nobody decided on, and timeless, whether the
-- script judges nothing by the clock.

local meta = KEYS[1]
local tag = string.sub(meta, 1, -2)

local function num(n)
  return string.format('%.0f', n)
end

local function hex(bytes)
  return (string.gsub(bytes, '.', function(byte)
    return string.format('%02x', string.byte(byte))
  end))
end

local head = redis.call('HMGET', meta, 'epoch', 'now', 'ahead')
local epoch = head[1] or '0'
local mark = head[2] or '0'
local high = string.match(mark, '^%d+$') and #mark <= 15 and tonumber(mark) or math.huge
local ahead = head[3] and #head[3] <= 16 and tonumber(string.match(head[3], '^%d+$') or '') or 0
local clock = tonumber(ARGV[1])
if not clock then
  local time = redis.call('TIME')
  clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function lag()
  return high < math.huge and num(high - clock) or ''
end

-- A clock that went back a little stands still until it has caught up. One that went back further would
-- keep every deadline from passing for as long, so nothing at all is judged by it, and nothing written; a
-- mark that is no time counts as one that is never reached. A jump ahead can't be told from time passing:
-- it makes questions and grants expire, and what has ended be forgotten, before their time, which opens
-- nothing.
local now = clock
if not timeless then
  if high - clock > behind_max_ms then
    return { 'clock', num(clock), lag() }
  end
  now = math.max(clock, high)
end
if ARGV[2] ~= '' and ARGV[2] ~= epoch then
  return { 'rejudge', num(now), epoch }
end

-- The clock never goes back: whatever was judged by this moment stays judged by it.
local function hold_clock()
  if now > high then
    redis.call('HSET', meta, 'now', num(now))
    high = now
  end
end

local function fields_of(id)
  local flat = redis.call('HGETALL', tag .. 'a:' .. id)
  local fields = {}
  for i = 1, #flat, 2 do
    fields[flat[i]] = flat[i + 1]
  end
  return fields, flat
end

local function audience_of(r)
  return r.u or r.k
end

local function log_of(id)
  return redis.call('LRANGE', tag .. 'l:' .. id, 0, -1)
end

local function input_of(id)
  return redis.call('GET', tag .. 'i:' .. id)
end

-- A record as the service reads it: id, compared fields, log, input, and the input as it was asked where
-- an approver changed it.
local function parts_of(id, r, flat)
  return id, flat, log_of(id), input_of(id), r.h and redis.call('GET', tag .. 'o:' .. id)
end

local function answer(ruling, id)
  local r, flat = fields_of(id)
  return { ruling, num(now), parts_of(id, r, flat) }
end

local function deadline_of(r)
  if r.s == 'pending' then
    return tonumber(r.x)
  elseif r.s == 'approved' then
    return tonumber(r.b)
  end
  return nil
end

local function dead(r)
  local deadline = deadline_of(r)
  return deadline ~= nil and now > deadline
end

local function emit(id, event, at, document)
  redis.call('RPUSH', tag .. 'l:' .. id, num(at) .. ' ' .. event .. ' ' .. document)
  local entry = { 'i', id, 't', event, 'n', num(at) }
  if ahead > 0 then
    entry[7], entry[8] = 'w', num(now)
  end
  -- A last id later than now is nothing that a script here brings about. The server's own next id follows any,
  -- and an entry that is refused would leave a transition half written.
  local stream = tag .. 's'
  if redis.pcall('XADD', stream, num(now + ahead) .. '-*', unpack(entry)).err then
    redis.call('XADD', stream, '*', unpack(entry))
  end
  hold_clock()
end

-- Records in the order of their ids, until they have taken so many bytes; and how many ids that was.
local function gather(ids, enough)
  local items, room = {}, tonumber(enough)
  for at, id in ipairs(ids) do
    local r, flat = fields_of(id)
    if r.s then
      local _, _, log, input, original = parts_of(id, r, flat)
      items[#items + 1] = { id, flat, log, input, original }
      room = room - #(input or '') - #(original or '')
      for _, entry in ipairs(log) do
        room = room - #entry
      end
      if dead(r) then
        hold_clock()
      end
    end
    if room < 0 then
      return items, at
    end
  end
  return items, #ids
end

local function member_of(id, r)
  return string.format('%013.0f', tonumber(r.t)) .. ':' .. id
end

local function leave_joining(id, r)
  if r.j then
    redis.call('ZREM', tag .. 'j:' .. r.j, id)
    redis.call('HDEL', tag .. 'a:' .. id, 'j')
    r.j = nil
  end
end

local function leave_pending(id, r)
  redis.call('ZREM', tag .. 'w', id)
  redis.call('ZREM', tag .. 'w:' .. r.k, id)
  redis.call('ZREM', tag .. 'x:p', member_of(id, r))
  leave_joining(id, r)
end

-- From here on the record only waits to be forgotten. `retain` is {record_ms, input_ms}.
local function finish(id, r, retain)
  redis.call('PEXPIRE', tag .. 'a:' .. id, retain[1])
  redis.call('PEXPIRE', tag .. 'l:' .. id, retain[1])
  local decided = r.b or r.s == 'rejected'
  local input_ms = decided and retain[2] or num(math.min(tonumber(retain[2]), undecided_ms))
  redis.call('PEXPIRE', tag .. 'i:' .. id, input_ms)
  if r.h then
    redis.call('PEXPIRE', tag .. 'o:' .. id, input_ms)
  end
  if r.d then
    redis.call('PEXPIRE', tag .. 'k:' .. r.k .. ':' .. r.d, retain[1])
  end
  if r.r then
    redis.call('PEXPIRE', tag .. 'x:r:' .. r.r, retain[1], 'GT')
  end
end

-- Move a record to a terminal state: status, indexes, log, stream, retention.
local function close(id, r, status, at, document, retain)
  if r.s == 'pending' then
    leave_pending(id, r)
  else
    redis.call('ZREM', tag .. 'g', id)
  end
  redis.call('HSET', tag .. 'a:' .. id, 's', status)
  r.s = status
  if status == 'rejected' then
    local alike = tag .. 'x:d:' .. hex(r.g)
    redis.call('ZADD', alike, 0, member_of(id, r))
    redis.call('PEXPIRE', alike, retain[1])
  end
  emit(id, status, at, document)
  finish(id, r, retain)
end

-- Write down an expiry that has happened: by the system, at the deadline.
local function settle(id, r, retain)
  if dead(r) then
    close(id, r, 'expired', deadline_of(r), '{"by":"system"}', retain)
  end
end

-- Record an attempt that changes nothing. Beyond the first `kept` they are only counted.
local function refuse(id, word, who, kept)
  local a = tag .. 'a:' .. id
  if redis.call('HINCRBY', a, 'z', 1) <= tonumber(kept) then
    redis.call('RPUSH', tag .. 'l:' .. id, num(now) .. ' refused:' .. word .. ' ' .. who)
  else
    redis.call('HINCRBY', a, 'z:' .. word, 1)
  end
  hold_clock()
end

-- How a target has been told so far (placet.domain.deliveries); nil where it is not to be told, or where
-- what stands there is none of ours.
local function lane_of(r, target)
  local packed = r['m:' .. target]
  if not packed then
    return nil
  end
  local lane = {}
  lane.state, lane.attempts, lane.covered, lane.at, lane.lease, lane.failure, lane.ref =
    string.match(packed, '^([qdf]) (%d+) (%d+) (%d+) (%S+) (%S+) (.*)$')
  return lane.state and lane
end

local function keep_lane(id, target, lane)
  local packed = table.concat(
    { lane.state, lane.attempts, lane.covered, lane.at, lane.lease, lane.failure, lane.ref }, ' '
  )
  redis.call('HSET', tag .. 'a:' .. id, 'm:' .. target, packed)
end
