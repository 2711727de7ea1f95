-- Read the tenant's roll of principals, or whose a credential is.
--
-- ARGV[3]  key id        of a credential, '' to read the roll
--
-- Answer   ok { ruling, now, epoch, field or false }                             for one key id
--          ok { ruling, now, epoch, { field, row, ... }, manifest, revoked }     for the roll

if ARGV[3] ~= '' then
  return { 'ok', num(now), epoch, redis.call('HGET', tag .. 'y', ARGV[3]) }
end
local sealed = redis.call('HMGET', meta, 'manifest', 'revoked')
return { 'ok', num(now), epoch, redis.call('HGETALL', tag .. 'p'), sealed[1] or '', sealed[2] or '' }
