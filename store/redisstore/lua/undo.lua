-- Makes all states what they were before the decision.
while undos > 0 do
  undos = undos - 7
  local s, copy = undo[undos + 1], undo[undos + 2]
  if type(copy) == 'table' then
    for name in pairs(s) do
      s[name] = nil
    end
    for name, value in pairs(copy) do
      s[name] = value
    end
  else
    s.T, s.F, s.G, s.ahead = copy, undo[undos + 3], undo[undos + 4], undo[undos + 5]
    s.dirty, s.more = undo[undos + 6], undo[undos + 7]
  end
end
