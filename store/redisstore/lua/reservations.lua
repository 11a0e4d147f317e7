-- The open reservations of one limit of a key lie in a hash beside its state, so
-- that requests which reserve nothing do not have to read them. The field of an
-- ID holds the version, cost, at, ready, expiry, the mark, the first answer, and
-- the count of what was given back until then.
bookOf = function(key)
  local b = books[key]
  if not b then
    b = {key = KEYS[key], held = {}, changed = {}, there = {}}
    books[key] = b
  end
  return b
end

-- reservationOf returns a reservation or false, or nil and the fault.
reservationOf = function(b, id)
  local r = b.held[id]
  if r == nil and b.cleared then
    r = false
  elseif r == nil then
    local text, fault = read('HGET', b.key, id)
    if fault then
      return nil, fault
    end
    r = false
    if text then
      fault = versionFault(byte(text)) or #text ~= 99 and corrupt
      if fault then
        return nil, fault
      end
      r = {unpack('<dddddddHddddd', text, 2)}
      r[14], b.there[id] = nil, true -- the place behind
    end
    b.held[id] = r
  end
  return r
end

-- look drops some that have expired, as new ones come, and finds out how long the
-- others live.
look = function(b)
  if b.seen or b.cleared then
    return
  end
  b.seen, b.life = true, read('PTTL', b.key)
  if b.life > 0 then
    local some = read('HRANDFIELD', b.key, 2, 'WITHVALUES')
    for i = 1, #some, 2 do
      local id, text = some[i], some[i + 1]
      if b.held[id] == nil and byte(text) == 1 and #text == 99 and unpack('<d', text, 26) <= now then
        b.held[id], b.changed[id], b.there[id] = false, true, true
      end
    end
  end
end

saveBook = function(b)
  if b.cleared then
    writes[#writes + 1] = {'DEL', b.key}
  end
  local longest, any, gone = 0, false, b.counted and 1 or 0
  for id in pairs(b.changed) do
    local r = b.held[id]
    if r then
      writes[#writes + 1] = {'HSET', b.key, id, pack('<BdddddddHddddd', 1, spread(r))}
      longest, any = max(longest, r[4]), true
    elseif b.there[id] and not b.cleared then
      writes[#writes + 1] = {'HDEL', b.key, id}
      gone = gone + 1
    end
  end
  if not any and not b.cleared and (b.counted or b.moved) then
    any = #read('HRANDFIELD', b.key, gone + 1) > gone
    if not any and gone > 0 then
      writes[#writes + 1] = {'DEL', b.key} -- nothing is left but the count
    end
  end
  if any and b.moved then
    writes[#writes + 1] = {'HSET', b.key, '', pack('<d', b.shift)}
  end
  if longest > 0 then
    writes[#writes + 1] = {'PEXPIRE', b.key, max(lifetime(longest), b.life or 0)}
  end
end
