-- Writes all keys whose states changed. What is as good as never
-- seen is left out.
for key, e in pairs(entries) do
  local dirty, T, value, lone = false, -1, '\1', nil
  for i = 1, #e do
    local s = e[i]
    dirty = dirty or s.dirty
    if s.T >= now and s.T > 0 then
      lone = T < 0 and s.kind == 3 and s.G < 4294967296 and s
      T = max(T, s.T)
      local kind, m, ahead = s.kind, s.more, 0
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
  if lone then
    value = pack('<BBHc8dI4I4', 1, 3, 3, lone.shape, lone.ahead and -lone.T or lone.T, lone.F, lone.G)
  end
  if dirty and T >= 0 then
    call('SET', KEYS[key], value, 'PX', floor((T - now) / 1000) + slack)
  elseif dirty then
    call('DEL', KEYS[key])
  end
end
