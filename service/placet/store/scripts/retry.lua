-- Have a lane told now that has failed, or that waits for its next attempt.
--
-- ARGV[3]  id   [4] target
--
-- Answer   ok | missing { ruling, now }   missing: there is nothing to tell, or it is being told just now

local id, target = ARGV[3], ARGV[4]
local r = fields_of(id)
local lane = lane_of(r, target)
if not r.s or not lane or lane.state == 'd' or lane.lease ~= '-' then
  return { 'missing', num(now) }
end
lane.state, lane.attempts, lane.at, lane.failure = 'q', '0', num(now), '-'
keep_lane(id, target, lane)
redis.call('ZREM', tag .. 'f', target .. ' ' .. id)
redis.call('ZADD', tag .. 'n:' .. target, num(now), id)
redis.call('SADD', tag .. 'n', target)
return { 'ok', num(now) }
