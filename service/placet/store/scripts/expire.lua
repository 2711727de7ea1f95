-- Sweep: write down expiries that have happened. They were already true to every reader; this only
-- makes their events prompt.
--
-- ARGV[3]  limit         most records to settle
-- ARGV[4]  record retention, ms   [5] input retention, ms
--
-- Answer   ok { ruling, now, settled, next deadline (ms) or '', live pending }

-- Something other than Placet may have written here; one such key must not hold up the others.
local function is_a(key, type)
  local found = redis.call('TYPE', tag .. key)
  return (found.ok or found) == type
end

local retain = { ARGV[4], ARGV[5] }
local left = tonumber(ARGV[3])
local settled = 0
for _, index in ipairs({ tag .. 'w', tag .. 'g' }) do
  local due = redis.call('ZRANGEBYSCORE', index, '-inf', '(' .. num(now), 'LIMIT', 0, left)
  for _, id in ipairs(due) do
    local r = is_a('a:' .. id, 'hash') and fields_of(id) or {}
    if dead(r) and r.k and r.t and is_a('l:' .. id, 'list') then
      settle(id, r, retain)
      settled = settled + 1
    else -- a leftover: its record is gone, or no longer waits for this
      redis.call('ZREM', index, id)
    end
  end
  left = left - #due
end
local next_due = ''
for _, index in ipairs({ tag .. 'w', tag .. 'g' }) do
  local first = redis.call('ZRANGE', index, 0, 0, 'WITHSCORES')
  if first[2] and (next_due == '' or tonumber(first[2]) < tonumber(next_due)) then
    next_due = num(tonumber(first[2]))
  end
end
return { 'ok', num(now), settled, next_due, redis.call('ZCOUNT', tag .. 'w', num(now), '+inf') }
