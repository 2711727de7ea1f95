-- Take lanes of a target that are due, so that nobody else tells it of these meanwhile.
--
-- ARGV[3]  target
-- ARGV[4]  limit         most lanes   [5] bytes after which it reads no more
-- ARGV[6]  lease, ms     how long they are taken for: then they are due again
-- ARGV[7]  nonce         of this lease, letters and digits
--
-- Answer   ok { ruling, now, when the next is due (ms) or '', { { id, fields, log, input, original } ... } }
--          the field m:<target> says how each stands, this attempt counted. 'interrupted' is the failure of one
--          that was taken before and not given back

local target = ARGV[3]
local lanes = tag .. 'n:' .. target
local due = redis.call('ZRANGEBYSCORE', lanes, '-inf', num(now), 'LIMIT', 0, ARGV[4])
local taken, room = {}, tonumber(ARGV[5])
for _, id in ipairs(due) do
  if room < 0 then
    break
  end
  local r = fields_of(id)
  local lane = lane_of(r, target)
  if not r.s or not lane then -- forgotten
    redis.call('ZREM', lanes, id)
  else
    if lane.lease ~= '-' then
      lane.failure = 'interrupted'
    end
    lane.attempts, lane.lease = num(tonumber(lane.attempts) + 1), ARGV[7]
    keep_lane(id, target, lane)
    redis.call('ZADD', lanes, num(now + tonumber(ARGV[6])), id)
    local told, flat = fields_of(id)
    local _, _, log, input, original = parts_of(id, told, flat)
    taken[#taken + 1] = { id, flat, log, input, original }
    room = room - #(input or '') - #(original or '')
    for _, entry in ipairs(log) do
      room = room - #entry
    end
  end
end
local first = redis.call('ZRANGE', lanes, 0, 0, 'WITHSCORES')
if not first[2] then
  redis.call('SREM', tag .. 'n', target)
end
hold_clock()
return { 'ok', num(now), first[2] and num(tonumber(first[2])) or '', taken }
