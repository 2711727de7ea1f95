-- Vote, or approve with changes. Enough distinct people either way decide.
--
-- ARGV[3]  id
-- ARGV[4]  '1' where the caller may not even see the record
-- ARGV[5]  digest        of the card that was shown, 32 bytes
-- ARGV[6]  person        22 characters that stand for the approver
-- ARGV[7]  verdict       approve | reject | edit
-- ARGV[8]  vote          sealed JSON document, opaque here
-- ARGV[9]  refusal       word to refuse with where the state allows a vote at all, else ''
-- ARGV[10] who           JSON of the caller for the log of refusals
-- ARGV[11] people who must approve, at least what the record asks for   [12] who must reject
-- ARGV[13] record retention, ms   [14] input retention, ms   [15] refusals kept singly
-- ARGV[16] least life of a grant  [17] greatest, ms
-- ARGV[18] seen          how many votes the caller judged by: all that there were when it read the record
-- ARGV[19] weighed       what those votes come to today, packed as they are
-- of an edit, else '':
-- ARGV[20] digest        [21] call hash, 32 bytes each   [22] input, canonical JSON, as changed
-- ARGV[23] '1' where the change counts as its author's approval
--
-- Answer   ok | unchanged | expired | cancelled | decided | mismatch | refused | reversed
--                   { ruling, now, id, fields, log, input, original }
--          missing | stale  { ruling, now }

local id, digest, verdict = ARGV[3], ARGV[5], ARGV[7]
local retain = { ARGV[13], ARGV[14] }
local r = fields_of(id)
if not r.s then
  return { 'missing', num(now) }
end
settle(id, r, retain)
-- Who may vote, and what others' votes are worth, was judged by the votes as read. Whoever was faster changes
-- that; nothing is lost, the caller reads again.
if ARGV[18] ~= (r.y or '0') then
  return { 'stale', num(now) }
end
local function no(ruling, word)
  refuse(id, word or ruling, ARGV[10], ARGV[15])
  return answer(ruling, id)
end
if ARGV[4] == '1' then
  refuse(id, 'missing', ARGV[10], ARGV[15])
  return { 'missing', num(now) }
end

-- One vote a person, on the digest as it stands: a approves, r rejects, c has changed the input and
-- waits for others to approve that. While it waits they are worth what the rules of today make of them.
local person = ARGV[6]
local others, approvals, rejections, mine = {}, 0, 0, ''
for cast, letter in string.gmatch(r.s == 'pending' and ARGV[19] or r.v or '', '(......................)(%a)') do
  if cast == person then
    mine = letter
  else
    others[#others + 1] = cast .. letter
    approvals = approvals + (letter == 'a' and 1 or 0)
    rejections = rejections + (letter == 'r' and 1 or 0)
  end
end

-- Where the rules came to ask for fewer rejections there may be enough of them already.
local all_rejections = rejections + (mine == 'r' and 1 or 0)
if r.s == 'pending' and all_rejections >= tonumber(ARGV[12]) then
  close(id, r, 'rejected', now, '{"by":"system"}', retain)
end

local required = math.max(tonumber(r.q), tonumber(ARGV[11]))
local same
if verdict == 'edit' then
  same = ARGV[20] == r.g and (mine == 'a' or mine == 'c')
else
  -- An approval given again is one more where there are enough by now, and nobody has noticed.
  local enough = mine == 'a' and r.s == 'pending' and ARGV[9] == '' and approvals + 1 >= required
  same = digest == r.g and mine == string.sub(verdict, 1, 1) and not enough
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
elseif verdict ~= 'reject' and (mine == 'r' or (mine == 'c' and verdict == 'approve')) then
  return no('reversed')
end

local a = tag .. 'a:' .. id
if required > tonumber(r.q) then
  redis.call('HSET', a, 'q', num(required))
end
local letter = string.sub(verdict, 1, 1)
if verdict == 'edit' then
  -- Whatever was voted before was on another input. The question is another one now: nobody joins it.
  others, approvals, rejections = {}, 0, 0
  letter = ARGV[23] == '1' and 'a' or 'c'
  redis.call('SET', tag .. 'o:' .. id, input_of(id), 'NX')
  redis.call('SET', tag .. 'i:' .. id, ARGV[22])
  redis.call('HSETNX', a, 'h', r.g)
  redis.call('HSET', a, 'g', ARGV[20], 'c', ARGV[21])
  leave_joining(id, r)
end
redis.call('HSET', a, 'v', table.concat(others) .. person .. letter, 'y', num(tonumber(r.y or '0') + 1))
approvals = approvals + (letter == 'a' and 1 or 0)
rejections = rejections + (letter == 'r' and 1 or 0)
if rejections >= tonumber(ARGV[12]) then
  close(id, r, 'rejected', now, ARGV[8], retain)
  return answer('ok', id)
elseif verdict == 'reject' or approvals < required then
  emit(id, verdict == 'edit' and 'edited' or 'voted', now, ARGV[8])
  return answer('ok', id)
end
local greatest = now + tonumber(ARGV[17])
local use_by
if r.w then
  use_by = math.min(now + tonumber(r.w), greatest)
else
  use_by = math.min(math.max(tonumber(r.x), now + tonumber(ARGV[16])), greatest)
end
leave_pending(id, r)
redis.call('HSET', a, 's', 'approved', 'b', num(use_by))
redis.call('ZADD', tag .. 'g', num(use_by), id)
emit(id, 'approved', now, ARGV[8])
return answer('ok', id)
