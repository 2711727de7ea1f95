-- Say what came of an attempt to tell a target of a record.
--
-- ARGV[3]  target   [4] id   [5] nonce of the lease
-- ARGV[6]  state         d: it knows of what is covered; q: to be tried again; f: not any more, unless something
--                        has happened since
-- ARGV[7]  covered       lines of the log that it knows of
-- ARGV[8]  wait, ms      until it is tried again
-- ARGV[9]  failure       why it failed, '-' where it did not
-- ARGV[10] ref           what the channel keeps
-- ARGV[11] event         delivered | undelivered, for the log, '' for none   [12] its document
-- ARGV[13] seen          lines of the log that there were when it was taken
--
-- Answer   ok | missing { ruling, now }   missing: the lease is over, and another's word counts

local target, id = ARGV[3], ARGV[4]
local r = fields_of(id)
local lane = lane_of(r, target)
if not r.s or not lane or lane.lease ~= ARGV[5] then
  return { 'missing', num(now) }
end
local lanes, failed = tag .. 'n:' .. target, tag .. 'f'
lane.state, lane.covered, lane.lease, lane.failure, lane.ref = ARGV[6], ARGV[7], '-', ARGV[9], ARGV[10]
lane.at = num(now)
if ARGV[9] == 'rate-limited' then -- it was not tried: it was told to wait
  lane.attempts = num(math.max(tonumber(lane.attempts) - 1, 0))
end
if lane.state ~= 'q' then
  local is_known = lane.state == 'd'
  for _, line in ipairs(redis.call('LRANGE', tag .. 'l:' .. id, is_known and lane.covered or ARGV[13], -1)) do
    local event = string.match(line, '^%d+ ([^ :]+)')
    if event ~= 'refused' and event ~= 'delivered' and event ~= 'undelivered' then
      lane.state = 'q'
    end
  end
  if is_known or lane.state == 'q' then
    lane.attempts = '0'
  end
end
if lane.state == 'q' then
  redis.call('ZADD', lanes, num(now + tonumber(ARGV[8])), id)
else
  redis.call('ZREM', lanes, id)
end
if lane.state == 'f' then
  redis.call('ZADD', failed, num(now), target .. ' ' .. id)
end
keep_lane(id, target, lane)
if ARGV[11] ~= '' then
  redis.call('RPUSH', tag .. 'l:' .. id, num(now) .. ' ' .. ARGV[11] .. ' ' .. ARGV[12])
end
hold_clock()
return { 'ok', num(now) }
