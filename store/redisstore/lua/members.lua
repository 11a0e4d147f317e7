-- Who is alive: a hash of members, each with its expiry. A beat is answered by the
-- number of living members that sort before this one, and of all; a hold time of 0
-- takes the member out. All beats of a call that concern one group share what was
-- read, and write it at the end.
local id
id, pos = unpack('<Hc0', body, pos)
local g = special[key]
if not g then
  g = {key = KEYS[key], alive = {}, changed = {}}
  special[key] = g
  local fields
  fields, g.fault = read('HGETALL', g.key)
  for j = 1, fields and #fields or 0, 2 do
    local expiry = #fields[j + 1] == 8 and unpack('<d', fields[j + 1]) or 0
    if expiry > now and expiry <= now + MaxAhead then
      g.alive[fields[j]] = expiry
    else
      g.changed[fields[j]], g.dirty = true, true
    end
  end
  g.save = function(g)
    local last = 0
    for _, expiry in pairs(g.alive) do
      last = max(last, expiry)
    end
    for member in pairs(g.changed) do
      local expiry = g.alive[member]
      if expiry then
        writes[#writes + 1] = {'HSET', g.key, member, pack('<d', expiry)}
      else
        writes[#writes + 1] = {'HDEL', g.key, member}
      end
    end
    if last > 0 then
      writes[#writes + 1] = {'PEXPIRE', g.key, lifetime(last)}
    end
  end
end
fault = g.fault
if not fault then
  g.alive[id] = wait > 0 and now + wait or nil
  g.changed[id], g.dirty = true, true
  local rank, live = 0, 0
  for other in pairs(g.alive) do
    live = live + 1
    -- by bytes: the order of strings in Lua is that of some language
    local at = 1
    while byte(other, at) and byte(other, at) == byte(id, at) do
      at = at + 1
    end
    if (byte(other, at) or -1) < (byte(id, at) or -1) then
      rank = rank + 1
    end
  end
  reply[answers + 1], reply[answers + 2], reply[answers + 3] = 1, rank, live
  answers = answers + 3
end
