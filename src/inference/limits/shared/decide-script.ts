import { AMOUNTS } from './amounts-script.js';
import { SHARED_RESERVE } from './degraded-quota.js';
import { STATE_TTL_MS } from './edge-membership.js';
import { OPEN_KEY } from './redis-keys.js';

/** Long enough for each edge to send a heartbeat. */
const LOST_STATE_MS = 2_000;

/**
 * The Lua that records an edge's open amounts of one account and decides the calls for which the edge asks.
 *
 *   balance  text  "<balance> <seq> <holds> <charges> <most> <before> <since>", then for each edge
 *                  ";<id> <epoch> <holds> <charges>". The balance is the database's at that ledger sequence; the highest
 *                  sequence wins. The first holds and charges are the sums over all edges.
 *                  epoch: Redis's time when the epoch began. An edge begins a new epoch when it has lost contact with Redis.
 *                  most, before: the highest balance since the time <since>, and in a while before that ('-': the present
 *                  balance). An edge that has lost contact with Redis may still admit calls against that balance.
 *   cap      text  the same for a capped key and a UTC day, with the key's spend in place of the balance; most and before are
 *                  the lowest spend. A new day begins with the holds of the day before.
 *   rate     zset  one member per admitted call, scored by Redis's clock in milliseconds
 *   gw:open  hash  one field per state with open amounts. If a state is missing although it has a field, or although this
 *                  edge has written it lately, Redis has lost the state, for example by eviction. Then nothing is admitted out
 *                  of it until each edge has had time for a heartbeat and has reported its part again.
 *
 * KEYS balance; for each capped key the cap of today and of the day before; the rates of the calls.
 * ARGV edge, epoch, time of the edge's last heartbeat, time since which all edges have read their shares, ids of lost and of gone
 *   edges, each between spaces;
 *   balance, seq, holds, charges, 1 if the state must exist, number of capped keys;
 *   for each capped key: cap, spend, holds, charges, 1 if the state must exist;
 *   for each call: hold, requests a minute, member, number of its capped key or 0, index of its rate in KEYS, the least that has
 *     to be available.
 * Holds and charges are all that the edge has open, without the calls to decide. Returns 1 if Redis has this edge's report of
 * this epoch, or knows that it lost the account's state; else 0. Then for each call: verdict, calls of the last minute,
 * milliseconds until there is room.
 */
export const DECIDE = `${AMOUNTS}
local OPEN = '${OPEN_KEY}'
local edge, epoch, heard, since, lost, gone =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
local t = run('TIME')
local now = t[1] * 1000 + floor(t[2] / 1000)
local now_text, a_minute_ago = format('%d', now), format('%d', now - 60000)

-- Adds another edge's part. A lost edge's holds no longer count, since they will never be charged. Its charges count until the edge
-- is gone, when its spool is committed. An edge whose epoch began after the last heartbeat is back.
local function of_other(state, id, its, held, charged)
  if tonumber(its) < heard then
    local name = ' ' .. id .. ' '
    if find(gone, name, 1, true) then return end
    if find(lost, name, 1, true) then held = '0' end
  end
  state.others = state.others .. ';' .. id .. ' ' .. its .. ' ' .. held .. ' ' .. charged
  -- Edges older than decision 0195 wrote leases here, with a time as the last field.
  if sub(id, -2) == '+L' then charged = '0' end
  state.h1, state.h2 = plus(state.h1, state.h2, limbs(held))
  state.c1, state.c2 = plus(state.c1, state.c2, limbs(charged))
end

-- Reads a state and replaces the edge's part in it. Returns nil if the edge has begun a newer epoch.
local function open(key, former, holds, charges, expected)
  local state = { key = key, others = '', seq = '-', h1 = 0, h2 = 0, c1 = 0, c2 = 0 }
  local text = run('GET', key)
  local begins = not text and former
  if begins then text = run('GET', former) end
  if not text and (expected == '1' or run('HEXISTS', OPEN, key) == 1) then state.lost_at = now end
  if text then
    local base, seq, most, before, at, edges = match(text, '^(%S+) (%S+) %S+ %S+ (%S+) (%S+) ([^ ;]+)(.*)$')
    if not begins then
      state.base, state.seq = base, seq
      if most ~= '-' then state.most, state.before, state.at = most, before, tonumber(at) end
    end
    for id, its, held, charged in string.gmatch(edges, ';(%S+) (%d+) (%S+) ([^ ;]+)') do
      if id == 'lost' then
        if now - tonumber(its) < ${LOST_STATE_MS} then state.lost_at = tonumber(its) end
      elseif id ~= edge then
        of_other(state, id, its, held, begins and '0' or charged)
      else
        if tonumber(its) > epoch then return nil end
        state.is_known = tonumber(its) == epoch
      end
    end
  end
  local high, low = carried(state.c1, state.c2)
  state.has_others = high ~= 0 or low ~= 0
  state.has_own = charges ~= '0'
  state.oh1, state.oh2 = limbs(holds)
  state.oc1, state.oc2 = limbs(charges)
  state.h1, state.h2 = plus(state.h1, state.h2, state.oh1, state.oh2)
  state.c1, state.c2 = plus(state.c1, state.c2, state.oc1, state.oc2)
  return state
end

local function save(state)
  local high, low = carried(state.h1 + state.c1, state.h2 + state.c2)
  if high == 0 and low == 0 then run('HDEL', OPEN, state.key) else run('HSET', OPEN, state.key, '1') end
  if state.lost_at then state.others = state.others .. ';lost ' .. format('%d', state.lost_at) .. ' 0 0' end
  local was = ' - - -'
  if state.most then was = ' ' .. state.most .. ' ' .. state.before .. ' ' .. format('%d', state.at) end
  run('SET', state.key, state.base .. ' ' .. state.seq .. ' ' .. text_of(state.h1, state.h2) .. ' '
    .. text_of(state.c1, state.c2) .. was .. state.others .. ';' .. edge .. ' ' .. ARGV[2] .. ' '
    .. text_of(state.oh1, state.oh2) .. ' ' .. text_of(state.oc1, state.oc2), 'PX', '${STATE_TTL_MS}')
end

local function hold(state, a, b)
  state.oh1, state.oh2 = plus(state.oh1, state.oh2, a, b)
  state.h1, state.h2 = plus(state.h1, state.h2, a, b)
end

-- Replaces the base, and remembers the most extreme one.
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

-- The highest balance, or the lowest spend, that an edge without contact may still rely on.
local function extreme(state, sign)
  local most = state.most
  if not most then return state.base end
  if state.at > since and state.at <= now then
    return beyond(state.before, most, sign) and state.before or most
  end
  if most == state.base then
    state.most = nil
  else
    state.before, state.most, state.at = most, state.base, now
  end
  return most
end

-- Why there is no room. 1: charges alone exceed the top. 2: holds do. 3: the rest is the reserve for edges that lose contact, a
-- quarter of what was there above SHARED_RESERVE. The reserve shrinks within a few heartbeats, so a caller without other calls waits.
local l1, l2 = limbs('${SHARED_RESERVE}')
local function short(state, top1, top2, there1, there2)
  local a, b = top1 - state.c1, top2 - state.c2
  if negative(a, b) then return 1 end
  a, b = a - state.h1, b - state.h2
  if negative(a, b) then return 2 end
  there1, there2 = there1 - l1, there2 - l2
  if negative(there1, there2) then return nil end
  a, b = carried(a, b)
  there1, there2 = carried(there1, there2)
  if negative(4 * a - there1, 4 * b - there2) then
    local high, low = carried(state.h1, state.h2)
    return high == 0 and low == 0 and 3 or 2
  end
end

local function short_of_balance(state, least)
  local f1, f2 = limbs(least)
  local a, b = limbs(state.base)
  local c, d = a, b
  if state.most then c, d = limbs(extreme(state, 1)) end
  return short(state, a - f1, b - f2, c - f1, d - f2)
end

-- A call is admitted while less than the cap is used, so at least one unit must be left.
local function short_of_cap(state)
  local a, b = limbs(state.cap)
  local c, d = limbs(state.base)
  local e, f = limbs(extreme(state, -1))
  return short(state, a - c, b - d - 1, a - e, b - f)
end

-- Whether no charge can count twice. Between its commit and its edge's next report, a charge does.
local function is_sure(state)
  return not state.has_others and (state.is_latest or not state.has_own)
end

local counts = {}
local function count_of(rate)
  if not counts[rate] then
    run('ZREMRANGEBYSCORE', rate, '-inf', a_minute_ago)
    counts[rate] = run('ZCARD', rate)
  end
  return counts[rate]
end

-- Milliseconds until a full minute has room.
local function wait_for(rate, count, limit)
  -- Times in the future mean that Redis's clock has stepped back. They are set to now, so that they expire within a minute.
  local ahead = run('ZRANGEBYSCORE', rate, '(' .. now_text, '+inf')
  for _, one in ipairs(ahead) do run('ZADD', rate, now_text, one) end
  if #ahead > 0 then run('PEXPIRE', rate, '61000') end
  if limit == 0 then return 60000 end
  local at = run('ZRANGE', rate, count - limit, count - limit, 'WITHSCORES')
  return tonumber(at[2]) + 60000 - now
end

local function take(account, day, amount, limit, member, rate, least)
  if account.lost_at then return 'balance_held_reserved', 0, 0 end
  if day and day.lost_at then return 'cap_held_reserved', 0, 0 end
  local lacks = short_of_balance(account, least)
  if lacks == 3 then return 'balance_held_reserved', 0, 0 end
  if lacks then return lacks == 1 and is_sure(account) and 'insufficient_balance' or 'balance_held', 0, 0 end
  if day then
    lacks = short_of_cap(day)
    if lacks == 3 then return 'cap_held_reserved', 0, 0 end
    if lacks then return lacks == 1 and is_sure(day) and 'cap_exceeded' or 'cap_held', 0, 0 end
  end
  local count = count_of(rate)
  if count >= limit then return 'rate', count, wait_for(rate, count, limit) end
  run('ZADD', rate, now_text, member)
  run('PEXPIRE', rate, '61000')
  counts[rate] = count + 1
  local a, b = limbs(amount)
  hold(account, a, b)
  if day then hold(day, a, b) end
  return 'ok', count + 1, 60000
end

local caps, i = tonumber(ARGV[12]), 13
local account = open(KEYS[1], nil, ARGV[9], ARGV[10], ARGV[11])
local is_fenced, days = not account, {}
for nth = 1, caps do
  local day = open(KEYS[2 * nth], KEYS[2 * nth + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
  if day then day.cap, day.spend = ARGV[i], ARGV[i + 1] else is_fenced = true end
  days[nth] = day
  i = i + 5
end
local answer = { not is_fenced and (account.is_known or account.lost_at) and 1 or 0 }
if is_fenced then
  for _ = i, #ARGV, 6 do
    answer[#answer + 1], answer[#answer + 2], answer[#answer + 3] = 'fenced', 0, 0
  end
  return answer
end

local seq, known = tonumber(ARGV[8]), tonumber(account.seq)
account.is_latest = not known or seq >= known
if not known or seq > known then
  account.seq = ARGV[8]
  rebase(account, ARGV[7], 1)
end
for _, day in ipairs(days) do
  if not day.base or less(day.base, day.spend) then rebase(day, day.spend, -1) end
  day.is_latest = not less(day.spend, day.base)
end
for nth = i, #ARGV, 6 do
  local verdict, count, wait =
    take(account, days[tonumber(ARGV[nth + 3])], ARGV[nth], tonumber(ARGV[nth + 1]), ARGV[nth + 2], KEYS[tonumber(ARGV[nth + 4])], ARGV[nth + 5])
  answer[#answer + 1], answer[#answer + 2], answer[#answer + 3] = verdict, count, wait
end
save(account)
for _, day in ipairs(days) do save(day) end
return answer
`;
