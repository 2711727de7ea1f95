-- Ask: write a pending record, or find the one that this question already has.
--
-- ARGV[3]  id            chosen by the caller, or fresh
-- ARGV[4]  nonce         of this call, so that a re-sent create knows its own record
-- ARGV[5]  client        [6] audience
-- ARGV[7]  digest        [8] call hash, 32 bytes each
-- ARGV[9]  ask           sealed JSON document, opaque here
-- ARGV[10] input         canonical JSON   [11] '1' where it is held, not only its hash
-- ARGV[12] expires_in_ms '' where [13] expires_at (ms) was given
-- ARGV[14] least [15] greatest distance of the deadline from now, ms
-- ARGV[16] use_within_ms or ''      [17] people required
-- ARGV[18] run or ''
-- ARGV[19] idempotency key's hash or ''   [20] hash of the admitted body, 32 bytes
-- ARGV[21] join hash     [22] '1' where this question may join an identical pending one
-- ARGV[23] greatest number of live pending records per client   [24] per tenant
-- ARGV[25] record retention, ms     [26] input retention, ms
-- ARGV[27] asks a minute that the client's bucket drains   [28] asks that it holds
-- ARGV[29] bytes to keep that count as one ask; more count as several
--
-- Answer   ok                             { ruling, now, expires_at (ms) }: the caller knows the rest
--          ok | replayed | joined         { ruling, now, id, fields, log, input, original } of one that was there
--          conflict | exists | deadline   { ruling, now }
--          client-full | tenant-full      { ruling, now, earliest live deadline (ms) }
--          rate                           { ruling, now, when the bucket will have room (ms) }

-- From so many members on, the index of a run is looked through for what has been forgotten.
local LONG_RUN = 100

local id, nonce, client = ARGV[3], ARGV[4], ARGV[5]
local idem_key = tag .. 'k:' .. client .. ':' .. ARGV[19]
local join_key = tag .. 'j:' .. ARGV[21]

-- Answer with a record that was there before; this very call may have made it.
local function meet(ruling, found, r)
  settle(found, r, { ARGV[25], ARGV[26] })
  hold_clock()
  return answer(r.n == nonce and 'ok' or ruling, found)
end

if ARGV[19] ~= '' then
  local kept = redis.call('GET', idem_key)
  if kept then
    local found = string.sub(kept, 34)
    local r = fields_of(found)
    if r.s then
      if string.sub(kept, 1, 32) ~= ARGV[20] then
        return { 'conflict', num(now) }
      end
      return meet('replayed', found, r)
    end
  end
end

local there = fields_of(id)
if there.s then
  if there.n ~= nonce then
    return { 'exists', num(now) }
  end
  return meet('ok', id, there)
end

local expires_at
if ARGV[12] ~= '' then
  expires_at = now + tonumber(ARGV[12])
else
  expires_at = tonumber(ARGV[13])
  if expires_at < now + tonumber(ARGV[14]) or expires_at > now + tonumber(ARGV[15]) then
    return { 'deadline', num(now) }
  end
end

if ARGV[22] == '1' then
  local alive = redis.call('ZREVRANGEBYSCORE', join_key, '+inf', num(now), 'LIMIT', 0, 1)
  if alive[1] then
    return meet('joined', alive[1], fields_of(alive[1]))
  end
end

local function full(ruling, waiting, most)
  if redis.call('ZCOUNT', waiting, num(now), '+inf') < tonumber(most) then
    return nil
  end
  local first = redis.call('ZRANGEBYSCORE', waiting, num(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return { ruling, num(now), num(tonumber(first[2])) }
end
local refused = full('client-full', tag .. 'w:' .. client, ARGV[23]) or full('tenant-full', tag .. 'w', ARGV[24])
if refused then
  return refused
end

-- What is asked pours into the client's bucket. All numbers are whole and below 2^53, so nothing is rounded:
-- an ask is 60000 parts, and a millisecond drains as many parts as the asks a minute that are allowed. One
-- larger than the whole bucket takes all of it.
local drains, holds = tonumber(ARGV[27]), tonumber(ARGV[28]) * 60000
local poured = math.max(math.ceil((#ARGV[9] + #ARGV[10]) / tonumber(ARGV[29])), 1) * 60000
poured = math.min(poured, holds)
local bucket = tag .. 'b:' .. client
local level, since = string.match(redis.call('GET', bucket) or '', '^(%d+) (%d+)$')
if level and tonumber(since) <= now then
  level = math.max(math.min(tonumber(level), holds) - (now - tonumber(since)) * drains, 0)
else -- empty, or the clock was set right since
  level = 0
end
-- A clock that stands still drains nothing before it has caught up.
local standing = now - clock
local over = level + poured - holds
if over > 0 then
  return { 'rate', num(now), num(now + standing + math.ceil(over / drains)) }
end
level = level + poured

local member = string.format('%013.0f', now) .. ':' .. id
local audience = ARGV[6]
local fields = { 's', 'pending', 'g', ARGV[7], 'c', ARGV[8], 'k', client, 'x', num(expires_at),
  'q', ARGV[17], 't', num(now), 'n', nonce, 'j', ARGV[21] }
local function also(letter, value)
  if value ~= '' then
    fields[#fields + 1] = letter
    fields[#fields + 1] = value
  end
end
also('u', audience ~= client and audience or '')
also('w', ARGV[16])
also('d', ARGV[19])
also('r', ARGV[18])
redis.call('HSET', tag .. 'a:' .. id, unpack(fields))
if ARGV[11] == '1' then
  redis.call('SET', tag .. 'i:' .. id, ARGV[10])
end
if ARGV[19] ~= '' then
  redis.call('SET', idem_key, ARGV[20] .. ' ' .. id)
end
redis.call('ZADD', tag .. 'x', 0, member)
redis.call('ZADD', tag .. 'x:p', 0, member)
redis.call('ZADD', tag .. 'x:c:' .. client, 0, member)
if audience ~= client then
  redis.call('ZADD', tag .. 'x:c:' .. audience, 0, member)
end
if ARGV[18] ~= '' then
  local runs = tag .. 'x:r:' .. ARGV[18]
  -- It outlives its records: question, a day's grant at most, retention. A run that goes on for ever
  -- forgets its oldest members once they are forgotten themselves.
  local lives = num(expires_at - now + 86400000 + tonumber(ARGV[25]))
  local members = redis.call('ZCARD', runs)
  if members >= LONG_RUN then
    for _, oldest in ipairs(redis.call('ZRANGE', runs, 0, 1)) do
      if redis.call('EXISTS', tag .. 'a:' .. string.sub(oldest, 15)) == 0 then
        redis.call('ZREM', runs, oldest)
      end
    end
  end
  redis.call('ZADD', runs, 0, member)
  if members == 0 then
    redis.call('PEXPIRE', runs, lives)
  else
    redis.call('PEXPIRE', runs, lives, 'GT')
  end
end
redis.call('ZADD', tag .. 'w', num(expires_at), id)
redis.call('ZADD', tag .. 'w:' .. client, num(expires_at), id)
redis.call('ZADD', join_key, num(expires_at), id)
redis.call('SET', bucket, num(level) .. ' ' .. num(now), 'PX', num(standing + math.ceil(level / drains)))
emit(id, 'requested', now, ARGV[9])
return { 'ok', num(now), num(expires_at) }
