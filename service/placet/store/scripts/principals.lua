-- Read principals of the tenant.
--
-- ARGV[3]  key id        of a credential, '' to read all principals
--
-- Answer   ok { ruling, now, epoch, document or false }          for one key id
--          ok { ruling, now, epoch, { field, document, ... } }   for all

if ARGV[3] == '' then
  return { 'ok', num(now), epoch, redis.call('HGETALL', tag .. 'p') }
end
local field = redis.call('HGET', tag .. 'y', ARGV[3])
return { 'ok', num(now), epoch, field and redis.call('HGET', tag .. 'p', field) }
