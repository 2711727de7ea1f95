-- Load for wrk: sends the calls of a file, each once and in order, and says how they were answered.
--
-- wrk -t1 ... -s load.lua URL -- FILE
--   FILE    calls as tests/benchmarks/wire.py packs them
--   output  a JSON line: {"seconds": from the first call sent to the last answered,
--           "answers": {"<status>": how many}}
--
-- One thread only: each thread of wrk has a Lua state of its own and would send every call again.

local ffi = require('ffi')
ffi.cdef([[
  struct load_time { long seconds; long nanoseconds; };
  int clock_gettime(int clock, struct load_time *now);
]])
local MONOTONIC = ffi.os == 'OSX' and 6 or 1
local time = ffi.new('struct load_time')

local function now()
  ffi.C.clock_gettime(MONOTONIC, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

local calls, sent, answered, began = {}, -1, 0, nil
local answers = {}

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  for length in function() return file:read('*l') end do
    calls[#calls + 1] = file:read(tonumber(length))
  end
  file:close()
end

function request()
  sent = sent + 1
  if sent == 0 then -- wrk looks at one request before it begins
    return calls[1]
  end
  began = began or now()
  -- A connection with nothing left to send begins a request that it never ends.
  return calls[sent] or 'GET / HTTP/1.1\r\n'
end

function response(status)
  answers[status] = (answers[status] or 0) + 1
  answered = answered + 1
  if answered == #calls then
    local seconds = now() - began
    local counts = {}
    for each, count in pairs(answers) do
      counts[#counts + 1] = string.format('"%d": %d', each, count)
    end
    io.write(string.format('{"seconds": %.6f, "answers": {%s}}\n', seconds, table.concat(counts, ', ')))
    io.flush()
    os.exit(0)
  end
end
