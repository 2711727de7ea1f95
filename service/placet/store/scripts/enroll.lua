-- Write a principal and count the change: whatever was judged before it is judged again.
--
-- ARGV[3]  field         "client:<name>" or "approver:<id>"
-- ARGV[4]  expected      the document that is being replaced, '' where there must be none
-- ARGV[5]  document      the new one, '' to remove the principal; '-' to only count a change
-- ARGV[6]  key ids       that belong to it from now on, separated by spaces
--
-- Answer   ok        { ruling, now, epoch }
--          conflict  { ruling, now }   another change came in between

local principals, keys = tag .. 'p', tag .. 'y'
if ARGV[5] ~= '-' then
  local current = redis.call('HGET', principals, ARGV[3]) or ''
  if current == ARGV[5] then -- a re-sent call meets its own work
    return { 'ok', num(now), epoch }
  elseif current ~= ARGV[4] then
    return { 'conflict', num(now) }
  end
  local flat = redis.call('HGETALL', keys)
  for i = 1, #flat, 2 do
    if flat[i + 1] == ARGV[3] then
      redis.call('HDEL', keys, flat[i])
    end
  end
  if ARGV[5] == '' then
    redis.call('HDEL', principals, ARGV[3])
  else
    redis.call('HSET', principals, ARGV[3], ARGV[5])
    for kid in string.gmatch(ARGV[6], '%S+') do
      redis.call('HSET', keys, kid, ARGV[3])
    end
  end
end
return { 'ok', num(now), num(redis.call('HINCRBY', meta, 'epoch', 1)) }
