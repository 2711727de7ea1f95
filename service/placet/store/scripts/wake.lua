-- Have targets told of whatever has happened to a record, and be done with the entry of the stream that said so.
--
-- ARGV[3]  id
-- ARGV[4]  targets       separated by spaces, '' for none; those that have failed are tried anew
-- ARGV[5]  timers        "<event type> <at_ms>", separated by spaces: what is to happen if it still waits then
-- ARGV[6]  group         of the consumers of the stream   [7] entry, '' where none said so
--
-- Answer   ok | missing { ruling, now }

local id = ARGV[3]
local r = fields_of(id)
if r.s then
  for target in string.gmatch(ARGV[4], '%S+') do
    local lane = lane_of(r, target)
    if not lane or lane.state ~= 'q' then
      lane = lane or { covered = '0', ref = '' }
      lane.state, lane.attempts, lane.at, lane.lease, lane.failure = 'q', '0', num(now), '-', '-'
      keep_lane(id, target, lane)
    end
    redis.call('ZREM', tag .. 'f', target .. ' ' .. id)
    redis.call('ZADD', tag .. 'n:' .. target, 'NX', num(now), id)
    redis.call('SADD', tag .. 'n', target)
  end
  if r.s == 'pending' then
    for event, at in string.gmatch(ARGV[5], '(%S+) (%d+)') do
      redis.call('ZADD', tag .. 'h', 'NX', at, event .. ' ' .. id)
    end
  end
end
if ARGV[7] ~= '' then
  redis.call('XACK', tag .. 's', ARGV[6], ARGV[7])
end
if not r.s then
  return { 'missing', num(now) }
end
return { 'ok', num(now) }
