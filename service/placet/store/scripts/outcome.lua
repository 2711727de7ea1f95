-- Report how the execution ended. The first report stands.
--
-- ARGV[3]  id
-- ARGV[4]  client        [5] '1' where it may see the record without being asker or audience
-- ARGV[6]  execution id
-- ARGV[7]  fingerprint   22 characters that stand for the report's words
-- ARGV[8]  report        JSON document, opaque here
-- ARGV[9]  who           JSON of the caller for the log of refusals
-- ARGV[10] record retention, ms   [11] input retention, ms   [12] refusals kept singly
--
-- Answer   ok | unchanged | pending | rejected | expired | cancelled | conflict
--          | not-the-consumer  { ruling, now, id, fields, log, input, original }
--          missing             { ruling, now }

local id, client = ARGV[3], ARGV[4]
local r = fields_of(id)
if not r.s then
  return { 'missing', num(now) }
end
settle(id, r, { ARGV[10], ARGV[11] })
local function no(ruling)
  refuse(id, ruling, ARGV[9], ARGV[12])
  return answer(ruling, id)
end
if client ~= audience_of(r) then
  if client == r.k or ARGV[5] == '1' then
    return no('not-the-consumer')
  end
  refuse(id, 'missing', ARGV[9], ARGV[12])
  return { 'missing', num(now) }
end
if r.s == 'approved' then
  return no('conflict')
elseif r.s ~= 'consumed' then
  return no(r.s)
elseif ARGV[6] ~= r.e or (r.o and r.o ~= ARGV[7]) then
  return no('conflict')
elseif r.o then
  hold_clock()
  return answer('unchanged', id)
end
redis.call('HSET', tag .. 'a:' .. id, 'o', ARGV[7])
emit(id, 'reported', now, ARGV[8])
return answer('ok', id)
