-- Spend a grant, once. The same execution asking again hears that it already has.
--
-- ARGV[3]  id
-- ARGV[4]  client        [5] '1' where it may see the record without being asker or audience
-- ARGV[6]  execution id  [7] nonce of this call, so that a re-sent consume knows its own
-- ARGV[8]  call hash     of the call presented, 32 bytes
-- ARGV[9]  input         canonical JSON   [10] '1' where an input (not only its hash) was presented
-- ARGV[11] token's dig claim, 32 bytes, '' where no valid token was presented
-- ARGV[12] first moment at which it counts, ms   [13] first at which it does not any more
-- ARGV[14] refusal       word to refuse a grant with that would be spent else, or ''
-- ARGV[15] who           JSON of the caller for the log of refusals
-- ARGV[16] spent         JSON document of the consumption, opaque here
-- ARGV[17] record retention, ms   [18] input retention, ms   [19] refusals kept singly
--
-- Answer   ok | replayed | pending | rejected | expired | cancelled | consumed | token | mismatch
--          | refused | not-the-audience  { ruling, now, id, fields, log, input, original }
--          missing             { ruling, now }

local id, client = ARGV[3], ARGV[4]
local retain = { ARGV[17], ARGV[18] }
local r = fields_of(id)
if not r.s then
  return { 'missing', num(now) }
end
settle(id, r, retain)
local function no(ruling, word)
  refuse(id, word or ruling, ARGV[15], ARGV[19])
  return answer(ruling, id)
end
if client ~= audience_of(r) then
  if client == r.k or ARGV[5] == '1' then
    return no('not-the-audience')
  end
  refuse(id, 'missing', ARGV[15], ARGV[19])
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
elseif ARGV[11] ~= r.g or now < tonumber(ARGV[12]) or now >= tonumber(ARGV[13]) then
  return no('token')
elseif not matches() then
  return no('mismatch')
elseif ARGV[14] ~= '' then
  return no('refused', ARGV[14])
end
redis.call('HSET', tag .. 'a:' .. id, 'e', ARGV[6], 'f', ARGV[7])
close(id, r, 'consumed', now, ARGV[16], retain)
return answer('ok', id)
