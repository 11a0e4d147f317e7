-- What is given back to a bucket moves the places behind it forward: the book of
-- reservations counts how far, while there are any, in the field without a name.
-- The count begins again at its turn, as hours do: only differences matter.
turn = 4503599627370496

-- Mirror of Shifted in algo/return_bucket.go.
shifted = function(p, a, b, shift)
  if shift == 0 or p.kind < 3 or p.kind > 6 then
    return a, b
  elseif p.kind == 4 then
    local left = b + shift
    local steps = floor(left / p.count)
    return a - min(steps * p.period, exact), left - steps * p.count
  end
  return a - shift, b
end

-- shiftOf returns the count, or nil and the fault. Windows and logs have no places.
shiftOf = function(p, b)
  if p.kind < 3 or p.kind > 6 then
    return 0
  elseif not b.shift then
    local text, fault
    if not b.cleared then
      text, fault = read('HGET', b.key, '')
      if fault or text and #text ~= 8 then
        return nil, fault or corrupt
      end
    end
    local shift = text and unpack('<d', text) or 0
    if not (shift >= 0 and shift < turn) then
      return nil, corrupt
    end
    b.shift, b.counted = shift, text and true
  end
  return b.shift
end

-- given counts what was given back to a state that had the mark a, b, c before. It
-- mirrors Shift in algo/return_bucket.go.
given = function(book, p, s, a, b, c)
  local A, B, C = markOf(p, s)
  local by = a - A
  if p.kind < 3 or p.kind > 6 or by < 0 then
    return
  elseif p.kind == 4 then
    local steps = floor(by / p.period)
    if steps * p.period < by then
      steps = steps + 1
    end
    by = min(steps * p.count, exact) + B - b
  elseif b > B or c ~= C and b > 0 then
    by = by + 1
  end
  if by > 0 then
    keep(book)
    book.shift, book.moved = (book.shift + by) % turn, true
  end
end
