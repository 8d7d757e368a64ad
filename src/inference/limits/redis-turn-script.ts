/**
 * The Lua of one turn of an edge: what changed on it, and the calls that it asks for, account by account. Each state is read
 * and written once, however many calls of the turn concern it.
 *
 *   balance  text  of an account: "<balance> <seq> <held> <charged> <most> <before> <since>" and then for each edge
 *                  ";<id> <life> <holds> <charges>"
 *                  seq is the balance's ledger sequence (the highest wins); held and charged are the sums over all edges.
 *                  life: an edge begins another when it lost touch with Redis.
 *                  most, before: the most that the balance was since a time, and in a while before ('-': as it is): an edge
 *                  that has lost touch with Redis may still go by that.
 *   cap      text  the same of a capped key and UTC day, with its spend in place of the balance; most and before are the least
 *   rate     zset  one member per admitted call, scored by Redis's own clock in milliseconds
 *
 * Amounts are 1e-12 dollars as decimal text. Lua's numbers are doubles, exact below $9,007: longer amounts are added as two
 * limbs, of which the lower has nine digits.
 *
 * KEYS for each account its balance, the caps of its keys, and the rate of each call. ARGV one JSON array, flat, since a table
 * for each would cost more than what is done with it. Short amounts are numbers in it, longer ones text:
 *   edge, life, floor, what is given out only together, since when all edges read their shares, time to live, number of silent
 *   edges, the silent edges, number of gone edges, the gone edges, then the accounts.
 *   An account: balance, seq, known, more holds, more charges, holds, charges, number of keys, number of calls, keys, calls.
 *   A key: spend, more holds, more charges, holds, charges.
 *   A call: hold, requests a minute, member, number of its capped key or 0, cap.
 *   known is 1 where holds and charges are exactly what the edge has open before these calls; otherwise calls are still
 *   unanswered, and only the differences are exact. A state that doesn't know the edge begins with holds and charges.
 * Answers for each call: verdict, admitted in the last minute, milliseconds until there is room, whether the edge was new.
 */
export const TURN = `
local BASE, SHORT = 1000000000, 1000000000000000
local floor, format, sub, match, find, run = math.floor, string.format, string.sub, string.match, string.find, redis.call
local said = cjson.decode(ARGV[1])
local edge, life, since, ttl = said[1], said[2], said[5], said[6]
local mark = ';' .. edge .. ' '
local t = run('TIME')
local now = t[1] * 1000 + floor(t[2] / 1000)
-- Redis takes long to turn a number into text.
local at_now, a_minute_ago = format('%d', now), format('%d', now - 60000)

local function limbs(amount)
  if type(amount) == 'number' then return 0, amount end
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

-- Of a balance the most is kept (sign 1), of a spend the least (-1).
local function beyond(one, other, sign)
  if sign > 0 then return less(other, one) end
  return less(one, other)
end

-- Cuts an edge's own part out of the text of all.
local function cut(state, start)
  local edges = state.edges
  local from, to = find(edges, start, 1, true)
  if not from then return nil end
  local its, holds, charges, after = match(edges, '^(%d+) (%S+) ([^ ;]+)()', to + 1)
  state.edges = sub(edges, 1, from - 1) .. sub(edges, after)
  return tonumber(its), holds, charges
end

-- Holds of a dead edge are never charged. What it had recorded is, once its spool is adopted: that goes later.
local function bury(state, id, isGone)
  local its, holds, charges = cut(state, ';' .. id .. ' ')
  if not its then return end
  local a, b = limbs(holds)
  state.h1, state.h2 = state.h1 - a, state.h2 - b
  if isGone then
    a, b = limbs(charges)
    state.c1, state.c2 = state.c1 - a, state.c2 - b
  elseif charges ~= '0' then
    state.edges = state.edges .. ';' .. id .. ' 0 0 ' .. charges
  end
end

local i = 7
local function ids()
  local found = {}
  for n = 1, said[i] do found[n] = said[i + n] end
  i = i + 1 + said[i]
  return found
end
local silent = ids()
local gone = ids()
local states, order = {}, {}

-- h and c: holds and charges of all edges; oh and oc: this edge's own, which are among them.
local function open(key)
  local state = states[key]
  if state then return state end
  state = {
    key = key, edges = '', life = false, base = false, seq = false, most = false, before = false, at = 0,
    h1 = 0, h2 = 0, c1 = 0, c2 = 0, oh1 = 0, oh2 = 0, oc1 = 0, oc2 = 0
  }
  states[key] = state
  order[#order + 1] = state
  local text = run('GET', key)
  if not text then return state end
  local base, seq, held, charged, most, before, at, rest =
    match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) ([^ ;]+)()')
  state.base, state.seq, state.edges = base, seq, sub(text, rest)
  if most ~= '-' then state.most, state.before, state.at = most, before, tonumber(at) end
  state.h1, state.h2 = limbs(held)
  state.c1, state.c2 = limbs(charged)
  for _, id in ipairs(silent) do bury(state, id, false) end
  for _, id in ipairs(gone) do bury(state, id, true) end
  local its, holds, charges = cut(state, mark)
  if its then
    state.life = its
    state.oh1, state.oh2 = limbs(holds)
    state.oc1, state.oc2 = limbs(charges)
  end
  return state
end

local function save(state)
  local was = ' - - -'
  if state.most then was = ' ' .. state.most .. ' ' .. state.before .. ' ' .. format('%d', state.at) end
  local own = ''
  if state.life then
    own = mark .. format('%d', state.life) .. ' ' .. text_of(state.oh1, state.oh2) .. ' ' .. text_of(state.oc1, state.oc2)
  end
  run('SET', state.key, state.base .. ' ' .. state.seq .. ' ' .. text_of(state.h1, state.h2) .. ' '
    .. text_of(state.c1, state.c2) .. was .. state.edges .. own, 'PX', ttl)
end

local function plus(high, low, more1, more2)
  high, low = high + more1, low + more2
  if low > -SHORT and low < SHORT then return high, low end
  return carried(high, low)
end

local function hold(state, a, b)
  state.oh1, state.oh2 = plus(state.oh1, state.oh2, a, b)
  state.h1, state.h2 = plus(state.h1, state.h2, a, b)
end

local function charge(state, a, b)
  state.oc1, state.oc2 = plus(state.oc1, state.oc2, a, b)
  state.c1, state.c2 = plus(state.c1, state.c2, a, b)
end

-- What the edge has open: false when it has a newer life, otherwise whether it has none of this life yet. At n: more holds, more
-- charges, holds, charges.
local function enter(state, known, n)
  if state.life and state.life > life then return false end
  local isNew = state.life ~= life
  state.life = life
  if isNew or known == 1 then
    local a, b = limbs(said[n + 2])
    hold(state, a - state.oh1, b - state.oh2)
    a, b = limbs(said[n + 3])
    charge(state, a - state.oc1, b - state.oc2)
  else
    if said[n] ~= 0 then hold(state, limbs(said[n])) end
    if said[n + 1] ~= 0 then charge(state, limbs(said[n + 1])) end
  end
  return true, isNew
end

-- Takes over another base, and keeps in mind what it was.
local function rebase(state, base, sign)
  local was = state.base
  base = text_of(limbs(base))
  state.base = base
  if not was or was == base then return end
  if not state.most then
    state.most, state.before, state.at = base, was, now
  elseif beyond(base, state.most, sign) then
    state.most = base
  end
end

local function learn(state, balance, seq)
  if state.seq and seq <= tonumber(state.seq) then return end
  state.seq = format('%d', seq)
  rebase(state, balance, 1)
end

local function learn_spend(state, spend)
  state.seq = '-'
  if not state.base or less(state.base, spend) then rebase(state, spend, -1) end
end

-- The most, or the least, that the base was since a time.
local function extreme(state, sign)
  local most = state.most
  if not most then return state.base end
  if state.at > since and state.at <= now then
    return beyond(state.before, most, sign) and state.before or most
  end
  if most == state.base then
    state.most = false
  else
    state.before, state.most, state.at = most, state.base, now
  end
  return most
end

-- What calls may take: 1 if charges alone exceed it, 2 if holds do, or if it touches what is kept for edges that lose touch: a
-- quarter of what was there, but for the last of it.
local l1, l2 = limbs(said[4])
local function short(state, top1, top2, there1, there2)
  local a, b = top1 - state.c1, top2 - state.c2
  if negative(a, b) then return 1 end
  a, b = a - state.h1, b - state.h2
  if negative(a, b) then return 2 end
  there1, there2 = there1 - l1, there2 - l2
  if negative(there1, there2) then return nil end
  a, b = carried(a, b)
  there1, there2 = carried(there1, there2)
  if negative(4 * a - there1, 4 * b - there2) then return 2 end
end

local f1, f2 = limbs(said[3])
local function short_of_balance(state)
  local a, b = limbs(state.base)
  local c, d = a, b
  if state.most then c, d = limbs(extreme(state, 1)) end
  return short(state, a - f1, b - f2, c - f1, d - f2)
end

-- Admitted while what is used is less than the cap: at least one unit must be left.
local function short_of_cap(state, cap)
  local a, b = limbs(cap)
  local c, d = limbs(state.base)
  local e, f = limbs(extreme(state, -1))
  return short(state, a - c, b - d - 1, a - e, b - f)
end

local counts = {}

-- Milliseconds until a full minute has room.
local function wait_for(rate, count, limit)
  -- Times ahead of now: Redis's clock has stepped back. They count as of now, so that they are gone within a minute.
  local ahead = run('ZRANGEBYSCORE', rate, '(' .. at_now, '+inf')
  for _, one in ipairs(ahead) do run('ZADD', rate, at_now, one) end
  if #ahead > 0 then run('PEXPIRE', rate, '61000') end
  if limit == 0 then return 60000 end
  local at = run('ZRANGE', rate, count - limit, count - limit, 'WITHSCORES')
  return tonumber(at[2]) + 60000 - now
end

local function take(state, day, rate, n)
  local lacks = short_of_balance(state)
  if lacks then return lacks == 1 and 'poor' or 'account', 0, 0 end
  if day then
    lacks = short_of_cap(day, said[n + 4])
    if lacks then return lacks == 1 and 'capped' or 'key', 0, 0 end
  end
  local count, limit = counts[rate], said[n + 1]
  if not count then
    run('ZREMRANGEBYSCORE', rate, '-inf', a_minute_ago)
    count = run('ZCARD', rate)
    counts[rate] = count
  end
  if count >= limit then return 'rate', count, wait_for(rate, count, limit) end
  run('ZADD', rate, at_now, said[n + 2])
  run('PEXPIRE', rate, '61000')
  counts[rate] = count + 1
  local a, b = limbs(said[n])
  hold(state, a, b)
  if day then hold(day, a, b) end
  return 'ok', count + 1, 60000
end

local answer, n, k, last = {}, 0, 0, #said
while i <= last do
  local known, keys, calls = said[i + 2], said[i + 7], said[i + 8]
  k = k + 1
  local state = open(KEYS[k])
  local isValid, isNew = enter(state, known, i + 3)
  if isValid then learn(state, said[i], said[i + 1]) end
  i = i + 9
  local days
  if keys > 0 then
    days = {}
    for nth = 1, keys do
      k = k + 1
      local day = open(KEYS[k])
      if isValid and enter(day, known, i + 1) then
        learn_spend(day, said[i])
        days[nth] = day
      end
      i = i + 5
    end
  end
  for _ = 1, calls do
    k = k + 1
    local verdict, count, wait = 'stale', 0, 0
    local nth = said[i + 3]
    local day = nth > 0 and days[nth]
    if isValid and (nth == 0 or day) then verdict, count, wait = take(state, day, KEYS[k], i) end
    answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = verdict, count, wait, isNew and 1 or 0
    n = n + 4
    i = i + 5
  end
end
for _, state in ipairs(order) do
  if state.base then save(state) end
end
return answer
`;
