-- Read questions that wait for a decision, those that expire first before the others. Writes as little as
-- get.lua does.
--
-- ARGV[3]  limit         how many to read
-- ARGV[4]  enough        bytes after which it reads no more, so that an answer stays bounded
-- ARGV[5]  most          how many to look at, all in all
-- ARGV[6]  ids           those to read, as an earlier answer named them, with a space between; '' to begin
--
-- Answer   ok { ruling, now, how many wait, { ids not read yet }, { { id, fields, log, input, original } ... } }
--          what has ended since is read all the same; records already forgotten are skipped

local ids = {}
for id in string.gmatch(ARGV[6], '%S+') do
  ids[#ids + 1] = id
end
local alive = num(now)
if #ids == 0 then
  ids = redis.call('ZRANGEBYSCORE', tag .. 'w', alive, '+inf', 'LIMIT', 0, ARGV[5])
end
local first, rest = {}, {}
for i = 1, math.min(#ids, tonumber(ARGV[3])) do
  first[i] = ids[i]
end
local items, read = gather(first, ARGV[4])
for i = read + 1, #ids do
  rest[#rest + 1] = ids[i]
end
return { 'ok', alive, redis.call('ZCOUNT', tag .. 'w', alive, '+inf'), rest, items }
