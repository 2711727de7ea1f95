-- Have the log say that an attempt was refused, which was judged before any script ran.
--
-- ARGV[3]  id
-- ARGV[4]  word          that it was refused with
-- ARGV[5]  who           JSON of the caller for the log
-- ARGV[6]  record retention, ms   [7] input retention, ms   [8] refusals kept singly
--
-- Answer   ok | missing  { ruling, now }

local id = ARGV[3]
local r = fields_of(id)
if not r.s then
  return { 'missing', num(now) }
end
settle(id, r, { ARGV[6], ARGV[7] })
refuse(id, ARGV[4], ARGV[5], ARGV[8])
return { 'ok', num(now) }
