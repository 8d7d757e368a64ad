import { VALID_MS } from './lease-times.js';
import { AMOUNTS } from './redis-amounts-script.js';
import { STATES } from './redis-states-script.js';

/**
 * The Lua of one turn of an edge: what changed on it, and the calls that it asks for, account by account. Each state
 * (`redis-states-script.ts`) is read and written once, however many calls of the turn concern it.
 *
 *   rate     zset  one member per admitted call, scored by Redis's own clock in milliseconds
 *
 * KEYS for each account its balance, its rate, for each of its capped keys the cap of today and, where
 * that is said, of yesterday, and the rate of each call. ARGV one JSON array, flat, since a table
 * for each would cost more than what is done with it. Short amounts are numbers in it, longer ones text:
 *   edge, life, floor, what is given out only together, since when all edges read their shares, time to live, number of edges
 *   alive, time of the edge's last heartbeat, 1 if yesterday's caps are among the keys, number of silent edges, the silent edges, the same of lost and of gone edges, which
 *   aren't among the former, then the accounts.
 *   An account: balance, seq, known, more holds, more charges, holds, charges, number of keys, of leases and of calls, then these.
 *   A key: spend, more holds, more charges, holds, charges.
 *   A lease: number of its capped key or 0, requests a minute, cap, calls wanted, what each holds, member, number of calls
 *   admitted out of the one before, and how many milliseconds ago each was. Each word of an account ends what its edge had
 *   leased of it.
 *   A call: hold, requests a minute, member, number of its capped key or 0, cap.
 *   known is 1 where holds and charges are exactly what the edge has open before these calls; otherwise calls are still
 *   unanswered, and only the differences are exact. A state that doesn't know the edge begins with holds and charges.
 * Answers for each call: verdict, admitted in the last minute, milliseconds until there is room, whether the edge was new. Then
 * for each lease: calls, money, admitted or leased in the last minute.
 */
export const TURN = `${AMOUNTS}
-- Of what is left, an edge is leased at most this part, divided by the number of edges, and nothing where it is for fewer calls.
local PART, LEAST, CALM = 4, 4, 1000
-- An edge uses no lease for longer (redis-leases.ts).
local VALID = ${VALID_MS}
local said = cjson.decode(ARGV[1])
local edge, life, since, ttl, alive, heard = said[1], said[2], said[5], said[6], said[7], said[8]
local has_former = said[9] == 1
local mark = ';' .. edge .. ' '
local t = run('TIME')
local now = t[1] * 1000 + floor(t[2] / 1000)
-- Redis takes long to turn a number into text.
local at_now, a_minute_ago, life_text = format('%d', now), format('%d', now - 60000), format('%d', life)

local i = 10
local function ids()
  local found = {}
  for n = 1, said[i] do found[n] = said[i + n] end
  i = i + 1 + said[i]
  return found
end
local silent, lost, gone = ids(), ids(), ids()
local dead = { silent, lost, gone }
${STATES}
local counts = {}
local function count_of(rate)
  local count = counts[rate]
  if count then return count end
  run('ZREMRANGEBYSCORE', rate, '-inf', a_minute_ago)
  count = run('ZCARD', rate)
  counts[rate] = count
  return count
end

-- Calls that edges may admit without asking, those of this word included.
local function leased_of(state)
  local sum = state.calls
  if not state.isLeased then return sum end
  for calls in string.gmatch(state.edges, '%+L (%d+)') do sum = sum + calls end
  return sum
end

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

-- Whether no charge can count twice: of another edge it does from its commit, which we may have read, until that edge says so.
local function is_sure(state)
  local a, b = carried(state.c1 - state.oc1, state.c2 - state.oc2)
  return a == 0 and b == 0 and not state.isLeased
end

-- Why a call has to wait: for other edges to give back what they have leased, if they have, or to say what they have committed.
local function wait(state, kind, limited)
  state.calm = now
  return (state.isLeased or limited and limited.isLeased) and 'leased' or kind, 0, 0
end

local function take(state, day, rate, n)
  local lacks = of_balance(state, short)
  if lacks == 1 and is_sure(state) then return 'poor', 0, 0 end
  if lacks then return wait(state, 'account') end
  if day then
    lacks = of_cap(day, short, said[n + 4])
    if lacks == 1 and is_sure(day) and not state.isLeased then return 'capped', 0, 0 end
    if lacks then return wait(state, 'key', day) end
  end
  local count, limit = count_of(rate), said[n + 1]
  if count >= limit then return 'rate', count, wait_for(rate, count, limit) end
  if rate == state.rate then
    local all = count + leased_of(state)
    if all >= limit then return wait(state, 'leased') end
    counts[rate], count = count + 1, all
  else
    counts[rate] = count + 1
  end
  run('ZADD', rate, at_now, said[n + 2])
  run('PEXPIRE', rate, '61000')
  local a, b = limbs(said[n])
  hold(state, a, b)
  if day then hold(day, a, b) end
  return 'ok', count + 1, 60000
end

-- Calls that the edge has admitted out of a lease, with how long ago each was.
local function note(rate, member, n, many)
  if many == 0 then return end
  local given = {}
  for nth = 1, many do
    given[2 * nth - 1], given[2 * nth] = format('%d', now - said[n + nth]), member .. nth
  end
  run('ZADD', rate, unpack(given))
  run('PEXPIRE', rate, '61000')
end

local function reserve(state, calls, high, low)
  state.calls = state.calls + calls
  state.l1, state.l2 = plus(state.l1, state.l2, high, low)
  state.h1, state.h2 = plus(state.h1, state.h2, high, low)
end

-- Leases a part of what is left, if there is plenty: calls, money, calls of the minute.
local function lease(state, day, n)
  local limit, want = said[n + 1], said[n + 3]
  if want == 0 or state.calm and now - state.calm < CALM then return 0, '0', 0 end
  local share = PART * alive
  local all = count_of(state.rate) + leased_of(state)
  local calls = math.min(want, floor((limit - all) / share))
  if calls < LEAST then return 0, '0', 0 end
  local left = of_balance(state, slack)
  if day then left = math.min(left, of_cap(day, slack, said[n + 2])) end
  local a, b = limbs(said[n + 4])
  local each = a * BASE + b
  local money = floor(math.min(left / share, want * each))
  if money < LEAST * each then return 0, '0', 0 end
  a = floor(money / BASE)
  b = money - a * BASE
  reserve(state, calls, a, b)
  if day then reserve(day, 0, a, b) end
  return calls, text_of(a, b), all + calls
end

local answer, n, k, last = {}, 0, 0, #said
local leases = {}
while i <= last do
  local known, keys, lessees, calls = said[i + 2], said[i + 7], said[i + 8], said[i + 9]
  local rate = KEYS[k + 2]
  local state = open(KEYS[k + 1], rate)
  k = k + 2
  local isValid, isNew = enter(state, known, i + 3)
  if isValid then learn(state, said[i], said[i + 1]) end
  i = i + 10
  local days
  if keys > 0 then
    days = {}
    for nth = 1, keys do
      local day = open(KEYS[k + 1], nil, has_former and KEYS[k + 2])
      k = k + (has_former and 2 or 1)
      if isValid and enter(day, known, i + 1) then
        learn_spend(day, said[i])
        days[nth] = day
      end
      i = i + 5
    end
  end
  local first = i
  for _ = 1, lessees do
    if isValid then note(rate, said[i + 5], i + 6, said[i + 6]) end
    i = i + 7 + said[i + 6]
  end
  for _ = 1, calls do
    k = k + 1
    local verdict, count, wait_ms = 'stale', 0, 0
    local nth = said[i + 3]
    local day = nth > 0 and days[nth]
    if isValid and (nth == 0 or day) then verdict, count, wait_ms = take(state, day, KEYS[k], i) end
    answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = verdict, count, wait_ms, isNew and 1 or 0
    n = n + 4
    i = i + 5
  end
  for _ = 1, lessees do
    local nth, granted, money, count = said[first], 0, '0', 0
    local day = nth > 0 and days[nth]
    if isValid and (nth == 0 or day) then granted, money, count = lease(state, day, first) end
    leases[#leases + 1], leases[#leases + 2], leases[#leases + 3] = granted, money, count
    first = first + 7 + said[first + 6]
  end
end
for nth, value in ipairs(leases) do answer[n + nth] = value end
for _, state in ipairs(order) do
  if state.base then save(state) end
end
return answer
`;
