-- Mirror of Check and refuse in algo/algo.go.
if asked <= p.most then
  ok, waits, x, y, z, window = p.decide(checking, p, s, asked, taken, wait)
else
  ok, waits, x, y, z, never = false, 0, 0, 0, 0, true
  if p.most > 0 then
    local _
    _, _, x, y, z = p.decide(checking, p, s, 1, 0, 0)
  end
end
