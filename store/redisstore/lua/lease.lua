-- Takes as much as there is between cost and what is wanted.
local want, ok, waits, x, y, z, window, never
want, pos = unpack('<d', body, pos)
local asked, taken = want, want
if count > 1 then
  keep(s)
end
while true do
  never = nil
  --include check.lua
  if ok then
    p.decide(spending, p, s, asked, asked, wait)
    s.dirty = true
  elseif p.decide(cutting, p, s, 1, 1, 0) then
    s.dirty = true
  end
  if ok or asked == cost then
    break
  end
  asked = max(cost, floor(asked / 2))
  taken = asked
end
--include answer.lua
answers = answers + 1
reply[answers] = ok and asked or 0
