-- Who is alive: a hash of members, each with its expiry. A beat is answered by the
-- number of living members that sort before this one, and of all; a hold time of 0
-- takes the member out.
local id
id, pos = unpack('<Hc0', body, pos)
local fields
fields, fault = read('HGETALL', KEYS[key])
if fields then
  local rank, live, last = 0, 0, now + wait
  for j = 1, #fields, 2 do
    local other, text = fields[j], fields[j + 1]
    local expiry = #text == 8 and unpack('<d', text) or 0
    if expiry <= now or expiry > now + MaxAhead then
      writes[#writes + 1] = {'HDEL', KEYS[key], other}
    elseif other ~= id then
      live, last = live + 1, max(last, expiry)
      -- by bytes: the order of strings in Lua is that of some language
      local at = 1
      while byte(other, at) and byte(other, at) == byte(id, at) do
        at = at + 1
      end
      if (byte(other, at) or -1) < (byte(id, at) or -1) then
        rank = rank + 1
      end
    end
  end
  if wait > 0 then
    live = live + 1
    writes[#writes + 1] = {'HSET', KEYS[key], id, pack('<d', now + wait)}
    writes[#writes + 1] = {'PEXPIRE', KEYS[key], lifetime(last)}
  else
    writes[#writes + 1] = {'HDEL', KEYS[key], id}
  end
  reply[answers + 1], reply[answers + 2], reply[answers + 3] = 1, rank, live
  answers = answers + 3
end
