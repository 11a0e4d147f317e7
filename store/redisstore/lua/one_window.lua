-- A group of requests that each ask one fixed window, whose record is expected to be
-- alone in the value.
local shape, most, total, period, hit = unpack('<xxxc8dxxxxxxxxddd', body, spec)
if cost > most or most < 1 then
  simple = false
  break
end
-- fixedBounds
local stop = now + period
if hit == 0 then
  stop = stop - now % period
end
for _ = 1, asked do
  local value = first == key and firstValue or values and values[key] or get('GET', keys[key])
  local t, used, changed, ends = now, 0, false, 0
  if value then
    local version, given, kind, words, written, ahead, T, F
    if #value == 32 then
      version, given, kind, words, written, ahead, T, F = unpack('<BI3BHc8Bdd', value)
    end
    if version ~= 2 or kind ~= 7 or words ~= 2 or written ~= shape or not (T >= 0 and T < 9007199254740992 and F >= 0 and F < 9007199254740992) then
      simple = false
      break
    end
    ends = (T - T % 1000) / 1000 + given
    -- fixedAt
    if now < T then
      t, used = T, F
      if t > now + period then
        t, changed = now + period, cost > 0
      end
    end
  end
  reply[answers + 1] = t - now
  reply[answers + 2] = used
  answers = answers + 2
  if t == now then
    t = stop
  end
  for _ = 1, cost > 0 and times or 0 do
    if used + cost > total then
      break
    end
    used, changed = used + cost, true
  end
  if changed then
    local last, left = t, 0
    --include life.lua
    local value = pack('<BI3BHc8Bdd', 2, spare, 7, 2, shape, 0, t, used)
    --include fast_keep.lua
  end
  key = key + step
end
