-- Name the lanes that wait to be told, what is due first, first.
--
-- ARGV[3]  limit         most lanes
--
-- Answer   ok { ruling, now, { id, field m:<target>, target, when it is due (ms), ... } }

local waiting = {}
for _, target in ipairs(redis.call('SMEMBERS', tag .. 'n')) do
  local lanes = redis.call('ZRANGE', tag .. 'n:' .. target, 0, tonumber(ARGV[3]) - 1, 'WITHSCORES')
  for place = 1, #lanes, 2 do
    waiting[#waiting + 1] = { tonumber(lanes[place + 1]), target, lanes[place] }
  end
end
table.sort(waiting, function(one, other)
  if one[1] ~= other[1] then
    return one[1] < other[1]
  end
  return one[2] .. ' ' .. one[3] < other[2] .. ' ' .. other[3]
end)
local found = {}
for place = 1, math.min(#waiting, tonumber(ARGV[3])) do
  local due, target, id = waiting[place][1], waiting[place][2], waiting[place][3]
  local packed = redis.call('HGET', tag .. 'a:' .. id, 'm:' .. target)
  if packed then
    for _, part in ipairs({ id, packed, target, num(due) }) do
      found[#found + 1] = part
    end
  end
end
return { 'ok', num(now), found }
