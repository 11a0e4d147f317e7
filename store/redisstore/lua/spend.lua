-- Spend and reserve: all checks of the decision or none; of shadows, those that allow.
local hold, book, id, r, shift
if op == 1 then
  hold, book, id, pos = unpack('<dHHc0', body, pos)
  book = bookOf(book)
  r, fault = reservationOf(book, id)
  if not fault then
    shift, fault = shiftOf(p, book)
  end
end
if r and now < r[4] then -- it is open already: the first answer again
  local at = answers + 1
  reply[at], reply[at + 1], reply[at + 2] = r[8] + 32, r[10], r[11]
  answers = answers + 3
  if p.kind ~= 3 and p.kind ~= 5 then
    answers = answers + 1
    reply[answers] = r[12]
  end
  if r[9] > 0 then
    reply[at], answers = r[8] + 36, answers + 1
    reply[answers] = r[9]
  end
elseif not fault then
  local asked, taken = cost, cost
  if cost == 0 then
    asked = 1
  end
  local ok, waits, x, y, z, window, never
  --include check.lua
  if not ok then
    allowed = allowed and i > firm
    if cost > 0 then
      denied = denied or {}
      denied[#denied + 1] = {p, s}
    end
  elseif cost > 0 then
    if count > 1 or not allowed then -- it may have to be undone
      if s.save then
        keep(s)
      else
        undo[undos + 1], undo[undos + 2], undo[undos + 3], undo[undos + 4] = s, s.T, s.F, s.G
        undo[undos + 5], undo[undos + 6], undo[undos + 7] = s.ahead, s.dirty, s.more
        undos = undos + 7
      end
    end
    if p.kind == 3 then -- the verdict tells the state
      s.T, s.F, s.G, s.ahead = now + x, y, p.n, x > p.capQ or x == p.capQ and y > p.capR
    else
      p.decide(spending, p, s, cost, cost, wait)
    end
    s.dirty = true
  end
  --include answer.lua
  if ok and op == 1 then
    look(book)
    keep(book)
    local a, b, c = markOf(p, s)
    book.held[id] = {cost, now, now + waits, now + hold, a, b, c, 1 + 256 * (window or 0), waits, x, y, z, shift}
    book.changed[id] = true
  end
end
