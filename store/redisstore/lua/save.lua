-- Writes all keys whose states changed. What is as good as never
-- seen is left out.
for key, e in pairs(entries) do
  local dirty, T, left, value, lone = false, -1, 0, '', nil
  for i = 1, #e do
    local s = e[i]
    dirty = dirty or s.dirty
    if s.T >= now and s.T > 0 then
      lone = T < 0 and s.kind == 3 and s.G < 4294967296 and s
      local kind, m, ahead = s.kind, s.more, 0
      if s.T > T then -- the end of a window stays where it is
        T, left = s.T, kind < 7 and s.T - now or 0
      end
      if s.ahead then
        ahead = 1
      end
      if kind == 3 or kind == 5 or kind == 9 then
        value = value .. pack('<BHc8Bddd', kind, 3, s.shape, ahead, s.T, s.F, s.G)
      elseif kind == 4 or kind == 7 then
        value = value .. pack('<BHc8Bdd', kind, 2, s.shape, ahead, s.T, s.F)
      else
        local n = #m
        while kind == 8 and n > 2 and m[n] == 0 do
          n = n - 1
        end
        if n == 1 then -- one sub-window: two words would be another kind's
          n, m[2] = 2, 0
        end
        value = value .. pack('<BHc8Bdd' .. rep('d', n), kind, n + 2, s.shape, ahead, s.T, s.F, spread(m, 1, n))
      end
    end
  end
  if dirty and T >= 0 then
    local last, ends = T, e.ends
    --include life.lua
    if lone then
      value = pack('<c8dI4I4', lone.shape, lone.ahead and -lone.T or lone.T, lone.F, lone.G)
    end
    value = pack('<BI3', 2, spare) .. value
    if life then
      call('SET', KEYS[key], value, 'PX', life)
    else
      call('SET', KEYS[key], value, 'KEEPTTL')
    end
  elseif dirty then
    call('DEL', KEYS[key])
  end
end
