-- Housekeeping: take members of forgotten records out of an index, and old entries out of the stream.
--
-- ARGV[3]  index         name after the tag: x or x:c:<client>; '' for the stream
-- ARGV[4]  cursor        member to continue after, '' to start from the oldest
-- ARGV[5]  limit         how many members to look at
-- ARGV[6]  cutoff, ms    members requested later than this are not looked at; stream entries older
--                        than this go, but never one that a consumer group has yet to be done with
--
-- Answer   ok { ruling, now, removed, cursor or '' at the end }

if ARGV[3] == '' then
  local stream = tag .. 's'
  local first_kept = num(tonumber(ARGV[6]) + ahead) .. '-0'
  local function earlier(one, other)
    local a, b = string.match(one, '^(%d+)%-(%d+)$')
    local c, d = string.match(other, '^(%d+)%-(%d+)$')
    a, b, c, d = tonumber(a), tonumber(b), tonumber(c), tonumber(d)
    return a < c or (a == c and b < d)
  end
  if redis.call('EXISTS', stream) == 0 then
    return { 'ok', num(now), 0, '' }
  end
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    local facts = {}
    for i = 1, #group, 2 do
      facts[group[i]] = group[i + 1]
    end
    local done = facts['last-delivered-id']
    if facts.pending > 0 then
      done = redis.call('XPENDING', stream, facts.name)[2]
    end
    if earlier(done, first_kept) then
      first_kept = done
    end
  end
  return { 'ok', num(now), redis.call('XTRIM', stream, 'MINID', first_kept), '' }
end

local index = tag .. ARGV[3]
local from = '-'
if ARGV[4] ~= '' then
  from = '(' .. ARGV[4]
end
local members = redis.call('ZRANGEBYLEX', index, from, '(' .. string.format('%013.0f', tonumber(ARGV[6])), 'LIMIT', 0, ARGV[5])
local removed = 0
for _, member in ipairs(members) do
  if redis.call('EXISTS', tag .. 'a:' .. string.sub(member, 15)) == 0 then
    redis.call('ZREM', index, member)
    removed = removed + 1
  end
end
local cursor = ''
if #members == tonumber(ARGV[5]) then
  cursor = members[#members]
end
return { 'ok', num(now), removed, cursor }
