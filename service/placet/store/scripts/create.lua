-- Ask: write a pending record, or find the one that this question already has.
--
-- ARGV[3]  id            [4] '1' where the caller chose it
-- ARGV[5]  nonce         of this call, so that a re-sent create knows its own record
-- ARGV[6]  client        [7] audience
-- ARGV[8]  digest        [9] call hash
-- ARGV[10] ask           JSON document, opaque here
-- ARGV[11] input         canonical JSON, '' where only its hash was sent   [12] '1' where held
-- ARGV[13] expires_in_ms '' where [14] expires_at (ms) was given
-- ARGV[15] least [16] greatest distance of the deadline from now, ms
-- ARGV[17] use_within_ms or ''      [18] people required
-- ARGV[19] run or ''
-- ARGV[20] idempotency key's hash or ''   [21] hash of the admitted body
-- ARGV[22] join hash     [23] '1' where this question may join an identical pending one
-- ARGV[24] greatest number of live pending records per client   [25] per tenant
-- ARGV[26] record retention, ms
--
-- Answer   ok | replayed | joined  { ruling, now, fields, log, input }
--          conflict | exists | deadline  { ruling, now }
--          client-full | tenant-full     { ruling, now, earliest live deadline (ms) }

local id, nonce, client = ARGV[3], ARGV[5], ARGV[6]
local idem_key = tag .. 'k:' .. client .. ':' .. ARGV[20]
local join_key = tag .. 'j:' .. ARGV[22]

local function mine_or(ruling, found)
  if redis.call('HGET', tag .. 'a:' .. found, 'n') == nonce then
    ruling = 'ok'
  end
  hold_clock()
  return answer(ruling, found)
end

if ARGV[20] ~= '' then
  local kept = redis.call('GET', idem_key)
  local found = kept and string.sub(kept, 66)
  if found and redis.call('EXISTS', tag .. 'a:' .. found) == 1 then
    if string.sub(kept, 1, 64) ~= ARGV[21] then
      return { 'conflict', num(now) }
    end
    return mine_or('replayed', found)
  end
end

if redis.call('EXISTS', tag .. 'a:' .. id) == 1 then
  if redis.call('HGET', tag .. 'a:' .. id, 'n') == nonce then
    return answer('ok', id)
  end
  return { 'exists', num(now) }
end

local expires_at
if ARGV[13] ~= '' then
  expires_at = now + tonumber(ARGV[13])
else
  expires_at = tonumber(ARGV[14])
  if expires_at < now + tonumber(ARGV[15]) or expires_at > now + tonumber(ARGV[16]) then
    return { 'deadline', num(now) }
  end
end

if ARGV[23] == '1' then
  local found = redis.call('GET', join_key)
  if found then
    local r = fields_of(found)
    if r.s == 'pending' and now <= tonumber(r.x) then
      return mine_or('joined', found)
    end
  end
end

local function full(kind, waiting, most)
  if redis.call('ZCOUNT', waiting, num(now), '+inf') < tonumber(most) then
    return nil
  end
  local next_free = redis.call('ZRANGEBYSCORE', waiting, num(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return { kind, num(now), next_free[2] or num(now) }
end
local refused = full('client-full', tag .. 'w:' .. client, ARGV[24]) or full('tenant-full', tag .. 'w', ARGV[25])
if refused then
  return refused
end

local a = tag .. 'a:' .. id
local member = string.format('%013.0f', now) .. ':' .. id
redis.call('HSET', a, 's', 'pending', 'g', ARGV[8], 'c', ARGV[9], 'k', client, 'u', ARGV[7],
  'x', num(expires_at), 'q', ARGV[18], 't', num(now), 'n', nonce, 'j', ARGV[22])
if ARGV[12] == '1' then
  redis.call('HSET', a, 'h', '1')
  redis.call('SET', tag .. 'i:' .. id, ARGV[11])
end
if ARGV[17] ~= '' then
  redis.call('HSET', a, 'w', ARGV[17])
end
if ARGV[20] ~= '' then
  redis.call('HSET', a, 'd', ARGV[20])
  redis.call('SET', idem_key, ARGV[21] .. ' ' .. id)
end
redis.call('SET', join_key, id, 'PX', num(expires_at - now + 1000))
redis.call('ZADD', tag .. 'x', 0, member)
redis.call('ZADD', tag .. 'x:p', 0, member)
redis.call('ZADD', tag .. 'x:c:' .. client, 0, member)
if ARGV[7] ~= client then
  redis.call('ZADD', tag .. 'x:c:' .. ARGV[7], 0, member)
end
if ARGV[19] ~= '' then
  redis.call('HSET', a, 'r', ARGV[19])
  local runs = tag .. 'x:r:' .. ARGV[19]
  local lives = expires_at - now + 86400000 + tonumber(ARGV[26])
  redis.call('ZADD', runs, 0, member)
  if redis.call('PTTL', runs) < lives then
    redis.call('PEXPIRE', runs, num(lives))
  end
end
redis.call('ZADD', tag .. 'w', num(expires_at), id)
redis.call('ZADD', tag .. 'w:' .. client, num(expires_at), id)
emit(id, 'requested', now, ARGV[10])
return answer('ok', id)
