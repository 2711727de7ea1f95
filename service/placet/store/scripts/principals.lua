-- Read the tenant's roll of principals, or whose a credential is.
--
-- ARGV[3]  key id        of a credential, '' to read the roll
--
-- Answer   ok { ruling, now, epoch, field or false }                             for one key id
--          ok { ruling, now, epoch, { field, row, ... }, manifest, revoked, generation }   for the roll

if ARGV[3] ~= '' then
  return { 'ok', num(now), epoch, redis.call('HGET', tag .. 'y', ARGV[3]) }
end
local sealed = redis.call('HMGET', meta, 'manifest', 'revoked', 'generation')
local rows = redis.call('HGETALL', tag .. 'p')
return { 'ok', num(now), epoch, rows, sealed[1] or '', sealed[2] or '', sealed[3] or '' }
