-- What concerns one check by itself: commit, refund, reset, cancel, return, renew,
-- release. Each answers 1 if it did what it was asked, else 0.
local done = true
if count > 1 and s then
  keep(s)
end
if op == 2 then
  local book, id, r, shift
  book, id, pos = unpack('<HHc0', body, pos)
  book = bookOf(book)
  r, fault = reservationOf(book, id)
  done = r and now < r[4]
  if done then
    shift, fault = shiftOf(p, book)
  end
  if r and not fault then
    keep(book)
    book.held[id], book.changed[id] = false, true
  end
  if done and not fault then
    local unused = r[1] - cost
    local a, b, c = markOf(p, s)
    shift = (shift - r[13]) % turn
    local A, B = shifted(p, r[5], r[6], shift)
    local newest = a == A and b == B and c == r[7]
    if unused < 0 then
      p.decide(spending, p, s, -unused, -unused, 0)
      s.dirty = true
    elseif unused > 0 and now >= r[3] then
      p.decide(returning, p, s, unused, unused, 0, r[2], r[5], r[6], r[7], shift)
      s.dirty = true
    elseif unused > 0 and newest then
      p.decide(refunding, p, s, unused, unused, 0)
      s.dirty = true
    end
    if not newest then -- else there is none behind it
      given(book, p, s, a, b, c)
    end
  end
elseif op == 3 or op == 5 or op == 7 then
  local book, at, A, B, C
  if op == 3 then
    book, pos = unpack('<H', body, pos)
  else
    book, at, A, B, C, pos = unpack('<Hdddd', body, pos)
  end
  book = bookOf(book)
  fault = select(2, shiftOf(p, book))
  local a, b, c = markOf(p, s)
  done = op ~= 5 or a == A and b == B and c == C
  if done and not fault then
    if op == 7 then
      p.decide(returning, p, s, cost, cost, 0, at, A, B, C, exact)
    else
      p.decide(refunding, p, s, cost, cost, 0)
    end
    s.dirty = true
    given(book, p, s, a, b, c)
  end
elseif op == 4 then
  local book
  book, pos = unpack('<H', body, pos)
  book = bookOf(book)
  keep(book)
  book.held, book.changed, book.there, book.cleared = {}, {}, {}, true
  book.shift, book.moved, book.counted = 0, nil, nil
  if p.kind > 9 then
    forget[p.kind](s)
  else
    s.ahead, s.T, s.F, s.G, s.more = false, 0, 0, 0, nil
  end
  s.dirty = true
elseif op <= 10 then
  local owner
  owner, pos = unpack('<Hc0', body, pos)
  done = p.decide(op, p, s, owner, cost, wait)
end
answers = answers + 1
reply[answers] = done and 1 or 0
