-- Read one record. Writes nothing; only where the answer depends on time having passed a deadline
-- does it raise the clock's high-water mark, so that no later answer contradicts it.
--
-- ARGV[3]  id
--
-- Answer   ok       { ruling, now, id, fields, log, input, original }
--          missing  { ruling, now }

local id = ARGV[3]
local r, flat = fields_of(id)
if not r.s then
  return { 'missing', num(now) }
end
if dead(r) then
  hold_clock()
end
return { 'ok', num(now), parts_of(id, r, flat) }
