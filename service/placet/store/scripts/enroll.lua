-- Change a tenant's roll of principals: whatever was judged by the roll before is judged again.
--
-- ARGV[3]  expected      the manifest that is being replaced, '' where there must be none
-- ARGV[4]  manifest      the new one: a seal, made outside, over the epoch, the revoked keys and all rows
-- ARGV[5]  epoch         the new one
-- ARGV[6]  revoked       ids of signing keys that are trusted no more, separated by spaces
-- ARGV[7]  field         "client:<name>" or "approver:<id>" of the one row that changes, '' for none
-- ARGV[8]  row           the new one, opaque here
-- ARGV[9]  key ids       of credentials that belong to it from now on, separated by spaces
-- ARGV[10] generation    what names the rules in force, '' for the built-in one
--
-- Answer   ok        { ruling, now }
--          conflict  { ruling, now }   another change came in between

local principals, keys = tag .. 'p', tag .. 'y'
local held = redis.call('HGET', meta, 'manifest') or ''
if held == ARGV[4] then -- a re-sent call meets its own work
  return { 'ok', num(now) }
elseif held ~= ARGV[3] then
  return { 'conflict', num(now) }
end
if ARGV[7] ~= '' then
  local flat = redis.call('HGETALL', keys)
  redis.call('HSET', principals, ARGV[7], ARGV[8])
  for i = 1, #flat, 2 do
    if flat[i + 1] == ARGV[7] then
      redis.call('HDEL', keys, flat[i])
    end
  end
  for kid in string.gmatch(ARGV[9], '%S+') do
    redis.call('HSET', keys, kid, ARGV[7])
  end
end
redis.call('HSET', meta, 'epoch', ARGV[5], 'revoked', ARGV[6], 'manifest', ARGV[4], 'generation', ARGV[10])
return { 'ok', num(now) }
