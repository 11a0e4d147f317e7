-- How a sliding log lies in Redis: see sliding_log.lua.
local block = 128

local function countLog(s)
  return s.base + #s.at
end

-- saveLog appends the writes of a log that changed. A short one, or one of which
-- half has left, is written anew.
local function save(s)
  local n = countLog(s)
  if n == s.head or s.T < now then
    writes[#writes + 1] = {'DEL', s.key}
    return
  end
  local tail = {}
  for i = max(1, s.head - s.base + 1), #s.at do
    tail[#tail + 1] = pack('<dd', s.at[i], s.before[i])
  end
  tail = table.concat(tail)
  local live = n - s.head
  if live <= block or s.head > live then
    local kept = ''
    if s.base <= block and s.head < s.base then
      kept = sub(s.blocks[0], 16 * s.head + 1, 16 * s.base)
    elseif s.head < s.base then
      kept = read('GETRANGE', s.key, 40 + 16 * s.head, 39 + 16 * s.base)
    end
    local header = pack('<Bc7dddd', 1, '-------', 0, live, s.F, s.T)
    writes[#writes + 1] = {'SET', s.key, header .. kept .. tail, 'PX', lifetime(s.T)}
    return
  end
  writes[#writes + 1] = {'SETRANGE', s.key, 0, pack('<Bc7dddd', 1, '-------', s.head, n, s.F, s.T)}
  writes[#writes + 1] = {'SETRANGE', s.key, 40 + 16 * max(s.base, s.head), tail}
  writes[#writes + 1] = {'PEXPIRE', s.key, lifetime(s.T)}
end

open[10] = function(key)
  local s = {key = KEYS[key], save = save, T = 0, F = 0, G = 0, head = 0, base = 0, at = {}, before = {}, blocks = {}}
  local value, fault = read('GETRANGE', s.key, 0, 39 + 16 * block)
  if fault or value == '' then
    s.fault = fault
    return s
  end
  s.fault = versionFault(byte(value))
  if not s.fault and #value >= 40 then
    s.head, s.base, s.F, s.T = unpack('<dddd', value, 9)
    s.blocks[0] = sub(value, 41)
  end
  if not (s.base > 0 and s.base % 1 == 0 and s.head >= 0 and s.head <= s.base and s.head % 1 == 0 and s.F >= 0 and s.F < exact and s.T >= 0 and s.T < exact)
    or 40 + 16 * s.base > #value and 40 + 16 * s.base > read('STRLEN', s.key) then
    s.fault = s.fault or corrupt
  end
  return s
end

-- entryAt returns instant and running total of the i-th entry, from 0.
local function entryAt(s, i)
  if i >= s.base then
    return s.at[i - s.base + 1], s.before[i - s.base + 1]
  end
  local b = floor(i / block)
  if not s.blocks[b] then
    s.blocks[b] = read('GETRANGE', s.key, 40 + 16 * block * b, 39 + 16 * block * (b + 1))
  end
  local at, before = unpack('<dd', s.blocks[b], 16 * (i - block * b) + 1)
  return at, before
end

