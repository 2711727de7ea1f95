-- Have happen what was put off until now, and say which targets there is something for.
--
-- ARGV[3]  limit         most timers to go off
--
-- Answer   ok { ruling, now, when the next timer goes off (ms) or '', how many lanes have failed,
--               { target, when its first lane is due (ms), how many lanes wait, ... } }

for _, timer in ipairs(redis.call('ZRANGEBYSCORE', tag .. 'h', '-inf', num(now), 'LIMIT', 0, ARGV[3])) do
  redis.call('ZREM', tag .. 'h', timer)
  local event, id = string.match(timer, '^(%S+) (.+)$')
  local r = id and fields_of(id) or {}
  if r.s == 'pending' and not dead(r) then
    emit(id, event, now, '{"by":"system"}')
  end
end
local next_timer = redis.call('ZRANGE', tag .. 'h', 0, 0, 'WITHSCORES')[2]
local targets = {}
for _, target in ipairs(redis.call('SMEMBERS', tag .. 'n')) do
  local first = redis.call('ZRANGE', tag .. 'n:' .. target, 0, 0, 'WITHSCORES')[2]
  if first then
    targets[#targets + 1] = target
    targets[#targets + 1] = num(tonumber(first))
    targets[#targets + 1] = redis.call('ZCARD', tag .. 'n:' .. target)
  else
    redis.call('SREM', tag .. 'n', target)
  end
end
-- Lanes of forgotten records, a few at a time: those that failed first are forgotten first.
for _, member in ipairs(redis.call('ZRANGE', tag .. 'f', 0, 9)) do
  local target, id = string.match(member, '^(%S+) (.+)$')
  if not id or redis.call('HEXISTS', tag .. 'a:' .. id, 'm:' .. target) == 0 then
    redis.call('ZREM', tag .. 'f', member)
  end
end
local failed = redis.call('ZCARD', tag .. 'f')
return { 'ok', num(now), next_timer and num(tonumber(next_timer)) or '', failed, targets }
