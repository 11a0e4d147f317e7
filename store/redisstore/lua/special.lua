-- What limits need whose state is more than a few numbers, and reservations.
-- read returns what a command that only reads answers, or nil and the fault if
-- the key is somebody else's.
read = function(...)
  local value = redis.pcall(...)
  if type(value) == 'table' and value.err then
    if string.find(value.err, 'WRONGTYPE', 1, true) then
      return nil, foreign
    end
    error(value.err)
  end
  return value
end

-- versionFault tells what is wrong with a value that begins with this byte.
versionFault = function(version)
  if version ~= 1 then
    return version and version > 1 and version < 32 and newer or corrupt
  end
end

-- lifetime is how long in ms something must live that matters until an instant.
lifetime = function(last)
  return floor(max(0, last - now) / 1000) + slack
end

-- keep remembers a state as it is now, for the case that the decision is denied.
keep = function(s)
  local copy = {}
  for name, value in pairs(s) do
    if type(value) == 'table' then
      local list = {}
      for i, v in pairs(value) do
        list[i] = v
      end
      value = list
    end
    copy[name] = value
  end
  undo[undos + 1], undo[undos + 2], undos = s, copy, undos + 7
end

-- markOf is Mark in algo/algo.go.
markOf = function(p, s)
  if p.kind == 6 and s.more then
    return s.F, s.more[1], 0
  end
  return s.T, s.F, s.G
end
