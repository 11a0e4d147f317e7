-- Finds the state s of the limit p at the key, or the fault of its value. The
-- states of all limits of a key but logs and permits lie in one value: the version
-- of the format, how much longer in ms the key lives than its latest T (3 bytes), then
-- a record for each: kind, number of words, shape, 1 if something is booked ahead, and
-- the words: T, F, then G or more. A lone token bucket, the most common value, is
-- shorter, 28 bytes: shape, T, negative if something is booked ahead, and F and G as
-- integers of 4 bytes. Version 1 does not tell how long the key lives; there a lone
-- bucket has its kind and number of words instead.
local s
if p.kind < 3 then
  s = {T = 0, F = 0, G = 0}
elseif p.kind > 9 then
  s = special[key]
  if not s then
    s = open[p.kind](key)
    special[key] = s
  end
  fault = s.fault
else
  local e = entries[key]
  if not e then
    e = {ends = 0}
    entries[key] = e
    local value = redis.pcall('GET', KEYS[key])
    if type(value) == 'string' then
      local at, stop, version, given, last = 2, #value, byte(value), 0, 0
      if version == 2 and stop > 4 then
        given, at = unpack('<I3', value, at)
      elseif version ~= 1 then
        e.fault, at = version and version > 2 and version < 32 and newer or corrupt, stop + 1
      end
      if stop == 28 and at < 6 then
        local shape, T, F, G = unpack('<c8dI4I4', value, 5)
        local ahead = T < 0
        T, at = ahead and -T or T, stop + 1
        if (version == 2 or sub(value, 2, 4) == '\3\3\0') and T < exact and F < G then
          e[1], last = {kind = 3, shape = shape, ahead = ahead, T = T, F = F, G = G}, T
        else
          e.fault = corrupt
        end
      end
      while at <= stop do
        local kind, words, shape, ahead, T, F, G, more = byte(value, at, at + 1)
        if words == 3 and at + 35 <= stop and (kind == 3 or kind == 5 or kind == 9) then
          kind, words, shape, ahead, T, F, G, at = unpack('<BHc8Bddd', value, at)
        elseif words == 2 and at + 27 <= stop and (kind == 4 or kind == 7) then
          kind, words, shape, ahead, T, F, at = unpack('<BHc8Bdd', value, at)
          G = 0
        elseif at + 27 <= stop and (kind == 6 or kind == 8) then
          kind, words, shape, ahead, T, F, at = unpack('<BHc8Bdd', value, at)
          if at + 8 * words - 17 <= stop and (kind == 8 and words > 3 or words == 5) then
            more, G = {unpack('<' .. rep('d', words - 2), value, at)}, 0
            at, more[words - 1] = more[words - 1], nil
            for i = 1, words - 2 do
              T = more[i] >= 0 and more[i] < exact and T or -1
            end
          end
        end
        if not (G and T >= 0 and T < exact and F >= 0 and F < exact and G >= 0 and G < exact) then
          e.fault = corrupt
          break
        end
        e[#e + 1], last = {kind = kind, shape = shape, ahead = ahead == 1, T = T, F = F, G = G, more = more}, max(last, T)
      end
      if version == 2 then
        e.ends = floor(last / 1000) + given
      end
    elseif value then
      if not string.find(value.err, 'WRONGTYPE', 1, true) then
        return value
      end
      e.fault = foreign
    end
  end
  fault = e.fault
  local shape = p.shape
  for i = 1, #e do
    if e[i].shape == shape then
      s = e[i]
      break
    end
  end
  if not s then
    s = {kind = p.kind, shape = p.shape, ahead = false, T = 0, F = 0, G = 0}
    e[#e + 1] = s
  elseif s.kind ~= p.kind then
    fault = corrupt
  end
end
