-- Mirror of mulDiv in algo/arith.go: quotient and remainder of a·b/m, exact. A
-- quotient of 2^52 or more is cut to that, which is above everything that it is
-- compared with.
mulDiv = function(a, b, m)
  local product = a * b
  local q = floor(product / m)
  if product < exact then
    return q, product - q * m
  end
  if q >= MaxTotal then
    return MaxTotal, 0
  end
  -- q is right or one off: the remainder, in halves of 26 bits, tells.
  local a1, b1, q1, m1 = floor(a / 67108864), floor(b / 67108864), floor(q / 67108864), floor(m / 67108864)
  local a0, b0, q0, m0 = a - a1 * 67108864, b - b1 * 67108864, q - q1 * 67108864, m - m1 * 67108864
  local high = (a1 * b1 - q1 * m1) * 67108864 + ((a1 * b0 + a0 * b1) - (q1 * m0 + q0 * m1))
  local r = high * 67108864 + (a0 * b0 - q0 * m0)
  if r < 0 then
    return q - 1, r + m
  elseif r >= m then
    return q + 1, r - m
  end
  return q, r
end
