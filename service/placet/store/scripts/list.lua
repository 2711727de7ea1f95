-- Read a page of an index, newest first. Writes as little as get.lua does.
--
-- ARGV[3]  index         name after the tag: x, x:p, x:c:<client>, x:r:<run>, x:d:<digest>
-- ARGV[4]  cursor        the member to continue after, '' to start
-- ARGV[5]  limit         how many members to look at
-- ARGV[6]  enough        bytes after which the page ends early, so that an answer stays bounded
--
-- Answer   ok { ruling, now, last member looked at or '', { { id, fields, log, input, original } ... } }
--          the last member is '' where the index has no more; records already forgotten are skipped

local from = '+'
if ARGV[4] ~= '' then
  from = '(' .. ARGV[4]
end
local limit = tonumber(ARGV[5])
local members = redis.call('ZREVRANGEBYLEX', tag .. ARGV[3], from, '-', 'LIMIT', 0, limit + 1)
local ids = {}
for i = 1, math.min(#members, limit) do
  ids[i] = string.sub(members[i], 15)
end
local items, read = gather(ids, ARGV[6])
return { 'ok', num(now), read < #members and members[read] or '', items }
