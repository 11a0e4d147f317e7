-- What concerns one check by itself: commit, refund, reset, cancel, lease, return,
-- renew, release, beat. Each answers 1 if it did what it was asked, else 0; a lease
-- answers as a spend, and how much it took; a beat also rank and number.
local done = true
if count > 1 and s then
  keep(s)
end
if op == 2 then
  local book, id, r
  book, id, pos = unpack('<HHc0', body, pos)
  book = bookOf(book)
  r, fault = reservationOf(book, id)
  done = r and now < r[4]
  if r then
    keep(book)
    book.held[id], book.changed[id] = false, true
  end
  if done then
    local unused = r[1] - cost
    local a, b, c = markOf(p, s)
    if unused < 0 then
      p.decide(spending, p, s, -unused, -unused, 0)
      s.dirty = true
    elseif unused > 0 and now >= r[3] then
      p.decide(returning, p, s, unused, unused, 0, r[2], r[5], r[6], r[7])
      s.dirty = true
    elseif unused > 0 and a == r[5] and b == r[6] and c == r[7] then
      p.decide(refunding, p, s, unused, unused, 0)
      s.dirty = true
    end
  end
elseif op == 3 then
  p.decide(refunding, p, s, cost, cost, 0)
  s.dirty = true
elseif op == 4 then
  local book
  book, pos = unpack('<H', body, pos)
  book = bookOf(book)
  keep(book)
  book.held, book.changed, book.cleared = {}, {}, true
  if p.kind > 9 then
    forget[p.kind](s)
  else
    s.ahead, s.T, s.F, s.G, s.more = false, 0, 0, 0, nil
  end
  s.dirty = true
elseif op == 5 then
  local a, b, c = markOf(p, s)
  local A, B, C
  A, B, C, pos = unpack('<ddd', body, pos)
  done = a == A and b == B and c == C
  if done then
    p.decide(refunding, p, s, cost, cost, 0)
    s.dirty = true
  end
elseif op == 7 then
  local at, a, b, c
  at, a, b, c, pos = unpack('<dddd', body, pos)
  p.decide(returning, p, s, cost, cost, 0, at, a, b, c)
  s.dirty = true
elseif op <= 10 then
  local owner
  owner, pos = unpack('<Hc0', body, pos)
  done = p.decide(op, p, s, owner, cost, wait)
end
answers = answers + 1
reply[answers] = done and 1 or 0
