-- Vote. One rejection decides; approvals decide once `required` distinct people have given theirs.
--
-- ARGV[3]  id
-- ARGV[4]  '1' where the caller may not even see the record
-- ARGV[5]  digest        of the card that was shown, 32 bytes
-- ARGV[6]  person        22 characters that stand for the approver
-- ARGV[7]  verdict       approve | reject
-- ARGV[8]  vote          sealed JSON document, opaque here
-- ARGV[9]  refusal       word to refuse with where the state allows a vote at all, else ''
-- ARGV[10] who           JSON of the caller for the log of refusals
-- ARGV[11] record retention, ms   [12] input retention, ms   [13] refusals kept singly
-- ARGV[14] least life of a grant  [15] greatest, ms
--
-- Answer   ok | unchanged | expired | cancelled | decided | mismatch | refused
--                   { ruling, now, fields, log, input }
--          missing  { ruling, now }

local id, digest, verdict = ARGV[3], ARGV[5], ARGV[7]
local retain = { ARGV[11], ARGV[12] }
local r = fields_of(id)
if not r.s then
  return { 'missing', num(now) }
end
settle(id, r, retain)
local function no(ruling, word)
  refuse(id, word or ruling, ARGV[10], ARGV[13])
  return answer(ruling, id)
end
if ARGV[4] == '1' then
  refuse(id, 'missing', ARGV[10], ARGV[13])
  return { 'missing', num(now) }
end

-- One vote a person: "same" says that it is this very one.
local person, letter = ARGV[6], string.sub(verdict, 1, 1)
local others, approvals, same = {}, 0, false
for cast, word in string.gmatch(r.v or '', '(......................)(%a)') do
  if cast ~= person then
    others[#others + 1] = cast .. word
    if word == 'a' then
      approvals = approvals + 1
    end
  elseif word == letter and digest == r.g then
    same = true
  end
end

if same then
  hold_clock()
  return answer('unchanged', id)
elseif r.s == 'expired' or r.s == 'cancelled' then
  return no(r.s)
elseif r.s ~= 'pending' then
  return no('decided')
elseif digest ~= r.g then
  return no('mismatch')
elseif ARGV[9] ~= '' then
  return no('refused', ARGV[9])
end

others[#others + 1] = person .. letter
redis.call('HSET', tag .. 'a:' .. id, 'v', table.concat(others))
if verdict == 'reject' then
  close(id, r, 'rejected', now, ARGV[8], retain)
elseif approvals + 1 < tonumber(r.q) then
  emit(id, 'voted', now, ARGV[8])
else
  local greatest = now + tonumber(ARGV[15])
  local use_by
  if r.w then
    use_by = math.min(now + tonumber(r.w), greatest)
  else
    use_by = math.min(math.max(tonumber(r.x), now + tonumber(ARGV[14])), greatest)
  end
  leave_pending(id, r)
  redis.call('HSET', tag .. 'a:' .. id, 's', 'approved', 'b', num(use_by))
  redis.call('ZADD', tag .. 'g', num(use_by), id)
  emit(id, 'approved', now, ARGV[8])
end
return answer('ok', id)
