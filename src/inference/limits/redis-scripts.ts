import { MESSAGE_SCRIPTS } from './redis-message-scripts.js';

/**
 * The Lua of the shared limits. Amounts are 1e-12 dollars as decimal text: HINCRBY adds them as 64-bit integers, and
 * sums are kept as two limbs of nine digits, since Lua's own numbers are doubles and stop being exact at $9,007.
 *
 * Per account, all under one hash tag:
 *   state  hash   b balance, q its ledger sequence (the highest wins); per edge h:<id> what its holds take, c:<id> what
 *                 it has charged and not committed, n:<id> its life: it begins another when it lost touch with Redis
 *                 m, p the most that b was since t, and in a while before: an edge that has lost touch with Redis may
 *                 still go by that
 *   day    hash   the same for a capped key and UTC day; b is the spend, m and p the least of it
 *   rate   zset   one member per admitted call, scored by Redis's own clock in milliseconds
 */
const COMMON = `
local BASE = 1000000000

local function add(sum, text, sign)
  if string.byte(text) == 45 then
    sign = -sign
    text = string.sub(text, 2)
  end
  if #text > 9 then
    sum[1] = sum[1] + sign * tonumber(string.sub(text, 1, #text - 9))
    sum[2] = sum[2] + sign * tonumber(string.sub(text, -9))
  else
    sum[2] = sum[2] + sign * tonumber(text)
  end
end

local function negative(sum)
  return sum[1] + math.floor(sum[2] / BASE) < 0
end

-- Amounts of nothing are not kept.
local function tidy(key, edge)
  for _, field in ipairs({'h:' .. edge, 'c:' .. edge}) do
    if redis.call('HGET', key, field) == '0' then redis.call('HDEL', key, field) end
  end
end

-- Gives an edge its fields when it has none of this life: 'seeded', 'known', or 'stale' when it has a newer life.
local function enter(key, edge, life, holds, charges)
  local known = redis.call('HGET', key, 'n:' .. edge)
  if known == life then return 'known' end
  if known and tonumber(known) > tonumber(life) then return 'stale' end
  redis.call('HSET', key, 'n:' .. edge, life, 'h:' .. edge, holds, 'c:' .. edge, charges)
  tidy(key, edge)
  return 'seeded'
end

-- Holds of a dead edge are never charged. What it had recorded is, once its spool is adopted: that goes later.
local function bury(key, silent, gone)
  for id in string.gmatch(silent, '%S+') do redis.call('HDEL', key, 'h:' .. id, 'n:' .. id) end
  for id in string.gmatch(gone, '%S+') do redis.call('HDEL', key, 'h:' .. id, 'n:' .. id, 'c:' .. id) end
end

local function time_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function less(one, other)
  local difference = {0, 0}
  add(difference, one, 1)
  add(difference, other, -1)
  return negative(difference)
end

-- Of a balance the most is kept (sign 1), of a spend the least (-1).
local function beyond(one, other, sign)
  if sign > 0 then return less(other, one) end
  return less(one, other)
end

-- Takes over another base, and keeps in mind what it was.
local function rebase(key, known, base, sign)
  redis.call('HSET', key, 'b', base)
  if not known or known == base then return end
  local m = redis.call('HGET', key, 'm')
  if not m then
    redis.call('HSET', key, 'm', base, 'p', known, 't', string.format('%.0f', time_ms()))
  elseif beyond(base, m, sign) then
    redis.call('HSET', key, 'm', base)
  end
end

local function learn_balance(key, balance, seq)
  local known = redis.call('HMGET', key, 'q', 'b')
  if known[1] and tonumber(seq) <= tonumber(known[1]) then return end
  redis.call('HSET', key, 'q', seq)
  rebase(key, known[2], balance, 1)
end

local function learn_spend(key, spend)
  local known = redis.call('HGET', key, 'b')
  if not known or less(known, spend) then rebase(key, known, spend, -1) end
end

local function sums(key)
  local flat = redis.call('HGETALL', key)
  local base, held, charged, was = '0', {0, 0}, {0, 0}, {}
  for i = 1, #flat, 2 do
    local kind = string.sub(flat[i], 1, 2)
    if kind == 'h:' then add(held, flat[i + 1], 1)
    elseif kind == 'c:' then add(charged, flat[i + 1], 1)
    elseif kind == 'b' then base = flat[i + 1]
    elseif kind == 'm' or kind == 'p' or kind == 't' then was[kind] = flat[i + 1] end
  end
  return base, held, charged, was
end

-- The most, or the least, that the base was since a time.
local function extreme(key, base, was, since, now, sign)
  if not was.m then return base end
  local most = beyond(was.p, was.m, sign) and was.p or was.m
  local began = tonumber(was.t)
  if began > since and began <= now then return most end
  if was.m == base then
    redis.call('HDEL', key, 'm', 'p', 't')
  else
    redis.call('HSET', key, 'p', was.m, 'm', base, 't', string.format('%.0f', now))
  end
  return was.m
end

-- Whether what is left touches what is kept for edges that lose touch: a quarter of what was there, but for the last of it.
local function spare(left, there, together)
  add(there, together, -1)
  if negative(there) then return false end
  return negative({4 * left[1] - there[1], 4 * left[2] - there[2]})
end
`;

/**
 * Admits one call or says why not.
 * KEYS state, rate, day. ARGV edge, life, hold, floor, what is given out only together, since when all edges read
 * their shares, balance, seq, holds, charges, requests a minute, member, silent
 * edges, gone edges, time to live, cap ('' for none), spend, holds of the key, charges of the key.
 * Answers {verdict, admitted in the last minute, milliseconds until there is room, whether the edge was seeded}.
 */
const TAKE = `${COMMON}
local state, rate, day = KEYS[1], KEYS[2], KEYS[3]
local edge, life, hold, floor, together, since, balance, seq, holds, charges, limit, member, silent, gone, ttl, cap, spend, dayHolds, dayCharges =
  unpack(ARGV)
limit, since = tonumber(limit), tonumber(since)
local now = time_ms()

local entered = enter(state, edge, life, holds, charges)
if entered == 'stale' then return {'stale', 0, 0, 0} end
local seeded = entered == 'seeded' and 1 or 0
bury(state, silent, gone)
learn_balance(state, balance, seq)
redis.call('PEXPIRE', state, ttl)
local base, held, charged, was = sums(state)
local left = {0, 0}
add(left, base, 1)
add(left, floor, -1)
left[1] = left[1] - charged[1]
left[2] = left[2] - charged[2]
if negative(left) then return {'poor', 0, 0, seeded} end
left[1] = left[1] - held[1]
left[2] = left[2] - held[2]
if negative(left) then return {'account', 0, 0, seeded} end
local there = {0, 0}
add(there, extreme(state, base, was, since, now, 1), 1)
add(there, floor, -1)
if spare(left, there, together) then return {'account', 0, 0, seeded} end

if cap ~= '' then
  if enter(day, edge, life, dayHolds, dayCharges) == 'stale' then return {'stale', 0, 0, seeded} end
  bury(day, silent, gone)
  learn_spend(day, spend)
  redis.call('PEXPIRE', day, ttl)
  local spent, dayHeld, dayCharged, wasSpent = sums(day)
  -- Admitted while what is used is less than the cap: at least one unit must be left.
  local room = {0, -1}
  add(room, cap, 1)
  add(room, spent, -1)
  room[1] = room[1] - dayCharged[1]
  room[2] = room[2] - dayCharged[2]
  if negative(room) then return {'capped', 0, 0, seeded} end
  room[1] = room[1] - dayHeld[1]
  room[2] = room[2] - dayHeld[2]
  if negative(room) then return {'key', 0, 0, seeded} end
  local free = {0, 0}
  add(free, cap, 1)
  add(free, extreme(day, spent, wasSpent, since, now, -1), -1)
  if spare(room, free, together) then return {'key', 0, 0, seeded} end
end

redis.call('ZREMRANGEBYSCORE', rate, '-inf', string.format('%.0f', now - 60000))
local count = redis.call('ZCARD', rate)
if count >= limit then
  -- Times ahead of now: Redis's clock has stepped back. They count as of now, so that they are gone within a minute.
  local ahead = redis.call('ZRANGEBYSCORE', rate, string.format('(%.0f', now), '+inf')
  for _, one in ipairs(ahead) do redis.call('ZADD', rate, string.format('%.0f', now), one) end
  if #ahead > 0 then redis.call('PEXPIRE', rate, 61000) end
  local wait = 60000
  if limit > 0 then
    local at = redis.call('ZRANGE', rate, count - limit, count - limit, 'WITHSCORES')
    wait = tonumber(at[2]) + 60000 - now
  end
  return {'rate', count, wait, seeded}
end
redis.call('ZADD', rate, string.format('%.0f', now), member)
redis.call('PEXPIRE', rate, 61000)
redis.call('HINCRBY', state, 'h:' .. edge, hold)
if cap ~= '' then redis.call('HINCRBY', day, 'h:' .. edge, hold) end
return {'ok', count + 1, 60000, seeded}
`;

/**
 * Reports what changed on an edge: a difference, or the current state if the edge has nothing in progress ('='). KEYS
 * state, day. ARGV edge, life, '=' or '+', holds more, charges more, holds, charges, balance, seq, silent, gone, time
 * to live, whether the key is capped, spend, holds of the key, charges of the key (the state after the change).
 */
const TELL = `${COMMON}
local state, day = KEYS[1], KEYS[2]
local edge, life, mode, moreHolds, moreCharges, holds, charges, balance, seq, silent, gone, ttl, capped, spend, dayHolds, dayCharges =
  unpack(ARGV)

local function tell(key, h, c)
  local entered = enter(key, edge, life, h, c)
  if entered == 'stale' then return false end
  if mode == '=' then
    redis.call('HSET', key, 'h:' .. edge, h, 'c:' .. edge, c)
  elseif entered == 'known' then
    redis.call('HINCRBY', key, 'h:' .. edge, moreHolds)
    redis.call('HINCRBY', key, 'c:' .. edge, moreCharges)
  end
  tidy(key, edge)
  bury(key, silent, gone)
  redis.call('PEXPIRE', key, ttl)
  return true
end

if not tell(state, holds, charges) then return 0 end
learn_balance(state, balance, seq)
if capped == '1' and tell(day, dayHolds, dayCharges) then learn_spend(day, spend) end
return 1
`;

/**
 * Replaces an edge's admissions of the last minute, in several parts. KEYS rate. ARGV edge, number of times reported
 * before these, times.
 */
const RETELL_RATE = `
local rate, edge, told = KEYS[1], ARGV[1], tonumber(ARGV[2])
if told == 0 then
  for _, member in ipairs(redis.call('ZRANGE', rate, 0, -1)) do
    if string.sub(member, 1, #edge + 1) == edge .. ':' then redis.call('ZREM', rate, member) end
  end
end
for i = 3, #ARGV do redis.call('ZADD', rate, ARGV[i], edge .. ':r' .. (told + i)) end
redis.call('PEXPIRE', rate, 61000)
return 1
`;

/**
 * An edge is alive. KEYS the membership of edges. ARGV edge, how long to remember, 'live', 'look' to leave it as it is, or
 * 'end', and Redis's time as the edge last heard it: that stands in the membership, so that a word which arrives late says
 * nothing about what the edge knows. Answers {Redis's time, whether it stood there, id, time, id, time, …}.
 */
const BEAT = `${COMMON}
local membership, edge, keep, kind, at = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local now = time_ms()
local stood = redis.call('ZSCORE', membership, edge)
local known = stood and 1 or 0
stood = tonumber(stood or 0)
if kind == 'live' and stood <= now and stood > at then at = stood end
-- It heard a clock that has stepped back since.
if at > now then at = now end
if kind ~= 'look' then redis.call('ZADD', membership, string.format('%.0f', at), edge) end
redis.call('ZREMRANGEBYSCORE', membership, '-inf', string.format('%.0f', now - keep))
redis.call('PEXPIRE', membership, keep)
local answer = {string.format('%.0f', now), known}
for _, value in ipairs(redis.call('ZRANGE', membership, 0, -1, 'WITHSCORES')) do answer[#answer + 1] = value end
return answer
`;

/** Edges are dead: they are silent since some time ago. KEYS the membership of edges. ARGV milliseconds, ids. */
const BURY = `${COMMON}
local at = time_ms() - tonumber(ARGV[1])
for i = 2, #ARGV do
  local seen = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if seen and tonumber(seen) > at then redis.call('ZADD', KEYS[1], string.format('%.0f', at), ARGV[i]) end
end
return 1
`;

export const SCRIPTS = {
  ...{ take: TAKE, tell: TELL, retellRate: RETELL_RATE, beat: BEAT, bury: BURY },
  ...MESSAGE_SCRIPTS,
} as const;
export type ScriptName = keyof typeof SCRIPTS;
