-- Appends a verdict: flags, X, Y, Z, and the wait and the mark if there are any.
-- Of a bucket that allows, Z is nothing and the mark follows from the verdict.
local flags, at = 0, answers + 1
reply[at + 1], reply[at + 2] = x, y
answers = answers + 3
if ok then
  flags = 1
elseif never then
  flags = 2
end
if window then
  flags = flags + 256 * window
end
local bucket = p.kind == 3 or p.kind == 5
if not (ok and bucket) then
  answers = answers + 1
  reply[answers] = z
end
if waits > 0 then
  flags, answers = flags + 4, answers + 1
  reply[answers] = waits
end
if ok and taken > 0 and not bucket then
  flags = flags + 8
  local a, b, c = s.T, s.F, s.G
  if p.kind == 6 then
    a = s.F
    c, b = unpack('<I4I4', pack('<d', s.more[1])) -- two halves of the bits
  end
  reply[answers + 1], reply[answers + 2], reply[answers + 3] = a, b, c
  answers = answers + 3
end
reply[at] = flags
