-- Name the lanes that have failed, the latest first. Those of forgotten records go.
--
-- ARGV[3]  limit         most lanes
--
-- Answer   ok { ruling, now, { id, field m:<target>, target, ... } }

local found = {}
for _, member in ipairs(redis.call('ZREVRANGE', tag .. 'f', 0, tonumber(ARGV[3]) - 1)) do
  local target, id = string.match(member, '^(%S+) (.+)$')
  local packed = id and redis.call('HGET', tag .. 'a:' .. id, 'm:' .. target)
  if packed then
    found[#found + 1] = id
    found[#found + 1] = packed
    found[#found + 1] = target
  else
    redis.call('ZREM', tag .. 'f', member)
  end
end
return { 'ok', num(now), found }
