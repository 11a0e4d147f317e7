-- Mirror of algo/token_bucket.go: the state is T + F/n, the instant of full
-- recovery, and G the n that wrote it.
--
-- Spec: n, per, capQ, capR, oneQ, oneR
decide = function(what, p, s, asked, cost, maxWait, at, a, b, c, shift)
  -- bucketAt
  local n, capQ, capR = p.n, p.capQ, p.capR
  local t, f, cut = s.T, s.F, false
  if s.G ~= n and f > 0 then
    local part
    f, part = mulDiv(f, n, s.G)
    if part > 0 then
      f = f + 1
    end
    local whole = floor(f / n)
    t, f = t + whole, f - whole * n
  end
  if t < now then
    t, f = now, 0
  else
    local limit = capQ
    if s.ahead then
      limit = limit + p.maxWait
    end
    if t - now > limit or t - now == limit and f > capR then
      t, f, cut = now + limit, capR, true
    end
  end
  -- price
  local q, r = p.oneQ, p.oneR
  if asked ~= 1 then
    local price = asked * p.per
    if price < exact then
      q = floor(price / n)
      r = price - q * n
    else
      q, r = mulDiv(asked, p.per, n)
    end
  end
  if what == checking then
    -- addPrice
    local nt, nf = t + q, f + r
    if nf >= n then
      nt, nf = nt + 1, nf - n
    end
    local wait = nt - now - capQ
    if nf > capR then
      wait = wait + 1
    end
    if p.kind == 5 then
      --include leaky_bucket.lua
    end
    if wait > maxWait then
      return false, 0, t - now, f, wait - maxWait
    elseif cost == 0 then
      return true, 0, t - now, f, 0
    elseif wait < 0 then
      wait = 0
    end
    return true, wait, nt - now, nf, 0
  elseif what == spending then
    -- addPrice
    t, f = t + q, f + r
    if f >= n then
      t, f = t + 1, f - n
    end
    if t - now > capQ + p.maxWait then
      t, f = now + capQ + p.maxWait, capR
    end
  elseif what == cutting then
    if not cut then
      return false
    end
  else
    if what == returning then
      -- returnBucket in algo/return_bucket.go
      local left, part = a - now, b
      if c ~= n and part > 0 then
        part = mulDiv(part, n, c)
      end
      if shift > 0 then
        local sureQ, sureR = q - (now - at), r
        if sureQ > left or sureQ == left and sureR > part then
          sureQ, sureR = left, part
        end
        left = left - shift
        if left < sureQ or left == sureQ and part < sureR then
          left, part = sureQ, sureR
        end
      end
      if q > left or q == left and r > part then
        q, r = left, part
      end
      if q < 0 then
        return
      end
    end
    -- moveBack
    t, f = t - q, f - r
    if f < 0 then
      t, f = t - 1, f + n
    end
    if t < now then
      t, f = now, 0
    end
  end
  -- putBucket
  s.T, s.F, s.G = t, f, n
  s.ahead = t - now > capQ or t - now == capQ and f > capR
  return true
end
