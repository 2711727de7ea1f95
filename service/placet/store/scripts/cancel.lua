-- Withdraw a question or a grant that has not been used.
--
-- ARGV[3]  id
-- ARGV[4]  client        [5] '1' for an administrator   [6] '1' where the caller may see the record
-- ARGV[7]  who           JSON of the caller for the log
-- ARGV[8]  record retention, ms   [9] input retention, ms   [10] refusals kept singly
--
-- Answer   ok | unchanged | not-the-asker | rejected | expired | consumed
--                   { ruling, now, id, fields, log, input, original }
--          missing  { ruling, now }

local id, client = ARGV[3], ARGV[4]
local retain = { ARGV[8], ARGV[9] }
local r = fields_of(id)
if not r.s then
  return { 'missing', num(now) }
end
settle(id, r, retain)
if client ~= r.k and ARGV[5] ~= '1' then
  if client == audience_of(r) or ARGV[6] == '1' then
    refuse(id, 'not-the-asker', ARGV[7], ARGV[10])
    return answer('not-the-asker', id)
  end
  refuse(id, 'missing', ARGV[7], ARGV[10])
  return { 'missing', num(now) }
end
if r.s == 'cancelled' then
  hold_clock()
  return answer('unchanged', id)
elseif r.s == 'pending' or r.s == 'approved' then
  close(id, r, 'cancelled', now, ARGV[7], retain)
  return answer('ok', id)
end
refuse(id, r.s, ARGV[7], ARGV[10])
return answer(r.s, id)
