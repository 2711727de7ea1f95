-- Spend a grant, once. The same execution asking again hears that it already has.
--
-- ARGV[3]  id
-- ARGV[4]  client        [5] '1' where it may see the record without being asker or audience
-- ARGV[6]  execution id  [7] nonce of this call, so that a re-sent consume knows its own
-- ARGV[8]  call hash     of the call presented
-- ARGV[9]  input         canonical JSON   [10] '1' where an input (not only its hash) was presented
-- ARGV[11] token's dig claim, '' where no valid token was presented   [12] its exp, ms
-- ARGV[13] who           JSON of the caller for the log of refusals
-- ARGV[14] spent         JSON document of the consumption, opaque here
-- ARGV[15] record retention, ms   [16] input retention, ms   [17] refusals kept singly
--
-- Answer   ok | replayed | pending | rejected | expired | cancelled | consumed | token | mismatch
--          | not-the-audience  { ruling, now, fields, log, input }
--          missing             { ruling, now }

local id, client = ARGV[3], ARGV[4]
local retain = { ARGV[15], ARGV[16] }
local r = fields_of(id)
if not r.s then
  return { 'missing', num(now) }
end
settle(id, r, retain)
local function no(ruling)
  refuse(id, ruling, ARGV[13], ARGV[17])
  return answer(ruling, id)
end
if client ~= r.u then
  if client == r.k or ARGV[5] == '1' then
    return no('not-the-audience')
  end
  refuse(id, 'missing', ARGV[13], ARGV[17])
  return { 'missing', num(now) }
end

-- Never hash only: where the input is held its bytes are compared too. One that has been erased
-- leaves the hash, for a replay that is granted nothing new.
local function matches()
  local held = input_of(id)
  return ARGV[8] == r.c and (not held or (ARGV[10] == '1' and ARGV[9] == held))
end

if r.s == 'pending' then
  return no(matches() and 'pending' or 'mismatch')
elseif r.s == 'consumed' then
  if ARGV[6] ~= r.e then
    return no('consumed')
  elseif not matches() then
    return no('mismatch')
  end
  hold_clock()
  return answer(ARGV[7] == r.f and 'ok' or 'replayed', id)
elseif r.s ~= 'approved' then
  return no(r.s)
elseif ARGV[11] ~= r.g or now >= tonumber(ARGV[12]) then
  return no('token')
elseif not matches() then
  return no('mismatch')
end
redis.call('HSET', tag .. 'a:' .. id, 'e', ARGV[6], 'f', ARGV[7])
close(id, r, 'consumed', now, ARGV[14], retain)
return answer('ok', id)
