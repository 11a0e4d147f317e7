--include arith.lua
-- What an algorithm is told to do, and what may be wrong with a value.
local checking, spending, refunding, cutting, returning = 1, 2, 3, 4, 5
local corrupt, newer, foreign = 1, 2, 3
local specs, decides, entries, undo, undos = {}, {}, {}, {}, 0
local special, books, writes, open, forget, read, versionFault, lifetime, keep, markOf, bookOf, reservationOf, look, saveBook
local turn, shifted, shiftOf, given
if mode == 0 then
  special, books, writes, open, forget = {}, {}, {}, {}, {}
  --include special.lua
  --include reservations.lua
  --include places.lua
end

-- Decision: operation, number of checks, how many of them are no shadows, 1 if it is
-- denied whatever they say, its length in bytes; then for every check: key, spec, cost, the longest wait or the
-- hold time, and what the operation needs besides.
-- Answer: what the operation says, for every check. If a value is broken, nothing
-- but its fault: 16 and, from bit 8 and 16 on, which one and of which check.
-- If the fast way gave up, there are groups of equal requests instead.
local pos, size, reply, answers = begin, #body, {now}, 1
local group = mode == 1 and {left = 0}
while pos <= size do
  local op, count, firm, refused, length = 0, 1, 1, 0, 0
  if mode ~= 1 then
    op, count, firm, refused, length, pos = unpack('<BHHBI4', body, pos)
  elseif group.left == 0 then
    group.spec, group.limits, group.firm, group.key, group.left, group.step, group.cost, group.wait = unpack('<I4BBHHBdd', body, pos)
  end
  if mode == 1 then
    count, firm, group.left = max(1, group.limits), group.firm, group.left - 1
    if group.left == 0 then
      length = 27
    end
  end
  local start, behind, allowed = answers, pos + length, refused == 0
  local denied, fault, failed
  for i = 1, count do
    local key, spec, cost, wait
    if mode ~= 1 then
      key, spec, cost, wait, pos = unpack('<HI4dd', body, pos)
    else -- the specs of token buckets have 75 bytes each
      key, spec, cost, wait = group.key, group.spec + 75 * (i - 1), group.cost, group.wait
    end
    if op == 11 then
      --include members.lua
    else
      --include spec.lua
      --include state.lua
      if fault then
        failed = i
        break
      end
      if op <= 1 then
        --include spend.lua
      elseif op == 6 then
        --include lease.lua
      elseif op == 8 then
        --include acquire.lua
      else
        --include settle.lua
      end
    end
    if fault then
      failed = i
      break
    end
  end
  if fault or not allowed then
    --include undo.lua
  end
  for i = 1, not fault and denied and #denied or 0 do
    local p, s = denied[i][1], denied[i][2]
    if p.decide(cutting, p, s, 1, 1, 0) then
      s.dirty = true
    end
  end
  if fault then
    for i = start + 1, answers do
      reply[i] = nil
    end
    answers = start + 1
    reply[answers] = 16 + 256 * fault + 65536 * failed
  end
  undos, pos = 0, behind
  if mode == 1 then
    group.key = group.key + group.step
  end
end

if mode == 0 then
  for _, s in pairs(special) do
    if s.dirty then
      s.save(s)
    end
  end
  for _, b in pairs(books) do
    saveBook(b)
  end
end
-- From here on everything is decided and read; what follows only writes.
--include save.lua
for i = 1, writes and #writes or 0 do
  call(spread(writes[i]))
end
return reply
