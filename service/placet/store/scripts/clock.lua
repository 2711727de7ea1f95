-- Set the tenant's clock back to the server's. Whatever was opened under the wrong time can't be trusted:
-- first all of it is cancelled, a bounded number at a time; only then does the mark go back. Until it has,
-- nothing of the tenant is judged, so this can stop anywhere and be called again.
--
-- ARGV[3]  limit         most records to end in this call, 0 to only look
-- ARGV[4]  who           JSON of the operator for the log
-- ARGV[5]  record retention, ms   [6] input retention, ms
--
-- Answer   unchanged  { ruling, now }                       it is not too far behind
--          clock      { ruling, now, lag (ms) or '' where the mark is no time, ids }   it still is
--          ok         { ruling, now, lag (ms) or '', ids }  it was, and is right now
--          `ids` are those of what was cancelled

local retain = { ARGV[5], ARGV[6] }
local left = tonumber(ARGV[3])
if high - clock <= behind_max_ms then
  return { 'unchanged', num(clock) }
elseif left == 0 then
  return { 'clock', num(clock), lag(), {} }
end

-- The stream's ids only rise, whatever the clock does: its readers and groups go on from where they are.
local stream = tag .. 's'
local last = 0
if redis.call('EXISTS', stream) == 1 then
  local facts = redis.call('XINFO', 'STREAM', stream)
  for i = 1, #facts, 2 do
    if facts[i] == 'last-generated-id' then
      last = tonumber(string.match(facts[i + 1], '^%d+'))
    end
  end
end
ahead = math.max(last - clock, 0)

-- What is cancelled is so now, by the server's time: it is when the operator did it. What had been dead by
-- the mark has been shown as expired, and stays that.
local cancelled = {}
for _, index in ipairs({ tag .. 'w', tag .. 'g' }) do
  local open = redis.call('ZRANGEBYSCORE', index, '-inf', '+inf', 'LIMIT', 0, left)
  for _, id in ipairs(open) do
    local r = fields_of(id)
    if r.s ~= 'pending' and r.s ~= 'approved' then -- a leftover: its record is gone, or has ended
      redis.call('ZREM', index, id)
    elseif high < math.huge and high > (deadline_of(r) or math.huge) then
      close(id, r, 'expired', deadline_of(r), '{"by":"system"}', retain)
    else
      close(id, r, 'cancelled', clock, ARGV[4], retain)
      cancelled[#cancelled + 1] = id
    end
  end
  left = left - #open
end
if left == 0 then
  return { 'clock', num(clock), lag(), cancelled }
end
redis.call('HSET', meta, 'now', num(clock), 'ahead', num(ahead))
return { 'ok', num(clock), lag(), cancelled }
