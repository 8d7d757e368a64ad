/**
 * Lua that adds and compares amounts of 1e-12 dollars, written as decimal text. Lua's numbers are doubles and exact only below
 * $9,007, so an amount is added as two limbs, the lower one of nine digits.
 */
export const AMOUNTS = `
local BASE, SHORT = 1000000000, 1000000000000000
local floor, format, sub, match, find, run = math.floor, string.format, string.sub, string.match, string.find, redis.call

local function limbs(amount)
  if #amount < 15 then return 0, tonumber(amount) end
  local sign = 1
  if string.byte(amount) == 45 then
    sign = -1
    amount = sub(amount, 2)
  end
  return sign * tonumber(sub(amount, 1, -10)), sign * tonumber(sub(amount, -9))
end

local function carried(high, low)
  local carry = floor(low / BASE)
  return high + carry, low - carry * BASE
end

local function negative(high, low)
  return high + floor(low / BASE) < 0
end

local function text_of(high, low)
  if high == 0 and low > -SHORT and low < SHORT then return format('%d', low) end
  high, low = carried(high, low)
  if high > -1000000 and high < 1000000 then return format('%d', high * BASE + low) end
  if high < 0 and low > 0 then high, low = high + 1, low - BASE end
  return format('%d%09d', high, math.abs(low))
end

local function less(one, other)
  local a, b = limbs(one)
  local c, d = limbs(other)
  return negative(a - c, b - d)
end

-- Whether one is more extreme than other: higher for a balance (sign 1), lower for a spend (-1).
local function beyond(one, other, sign)
  if sign > 0 then return less(other, one) end
  return less(one, other)
end

local function plus(high, low, more1, more2)
  high, low = high + more1, low + more2
  if low > -SHORT and low < SHORT then return high, low end
  return carried(high, low)
end
`;
