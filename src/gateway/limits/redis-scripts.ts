/**
 * The Lua of the shared limits. Amounts are 1e-12 dollars as decimal text: HINCRBY adds them as 64-bit integers, and
 * sums are kept as two limbs of nine digits, since Lua's own numbers are doubles and stop being exact at $9,007.
 *
 * Per account, all under one hash tag:
 *   state  hash   b balance, q its ledger sequence (the highest wins); per edge h:<id> what its holds take, c:<id> what
 *                 it has charged and not committed, n:<id> its life: it begins another when it lost touch with Redis
 *   day    hash   the same for a capped key and UTC day; b is the spend
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

local function learn_balance(key, balance, seq)
  local known = redis.call('HGET', key, 'q')
  if not known or tonumber(seq) > tonumber(known) then redis.call('HSET', key, 'b', balance, 'q', seq) end
end

local function learn_spend(key, spend)
  local known = redis.call('HGET', key, 'b')
  if known then
    local more = {0, 0}
    add(more, known, 1)
    add(more, spend, -1)
    if not negative(more) then return end
  end
  redis.call('HSET', key, 'b', spend)
end

local function sums(key)
  local flat = redis.call('HGETALL', key)
  local base, held, charged = '0', {0, 0}, {0, 0}
  for i = 1, #flat, 2 do
    local kind = string.sub(flat[i], 1, 2)
    if kind == 'h:' then add(held, flat[i + 1], 1)
    elseif kind == 'c:' then add(charged, flat[i + 1], 1)
    elseif kind == 'b' then base = flat[i + 1] end
  end
  return base, held, charged
end

local function time_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
`;

/**
 * Admits one call or says why not.
 * KEYS state, rate, day. ARGV edge, life, hold, floor, balance, seq, holds, charges, requests a minute, member, silent
 * edges, gone edges, time to live, cap ('' for none), spend, holds of the key, charges of the key.
 * Answers {verdict, admitted in the last minute, milliseconds until there is room, whether the edge was seeded}.
 */
const TAKE = `${COMMON}
local state, rate, day = KEYS[1], KEYS[2], KEYS[3]
local edge, life, hold, floor, balance, seq, holds, charges, limit, member, silent, gone, ttl, cap, spend, dayHolds, dayCharges =
  unpack(ARGV)
limit = tonumber(limit)

local entered = enter(state, edge, life, holds, charges)
if entered == 'stale' then return {'stale', 0, 0, 0} end
local seeded = entered == 'seeded' and 1 or 0
bury(state, silent, gone)
learn_balance(state, balance, seq)
redis.call('PEXPIRE', state, ttl)
local base, held, charged = sums(state)
local left = {0, 0}
add(left, base, 1)
add(left, floor, -1)
left[1] = left[1] - charged[1]
left[2] = left[2] - charged[2]
if negative(left) then return {'poor', 0, 0, seeded} end
left[1] = left[1] - held[1]
left[2] = left[2] - held[2]
if negative(left) then return {'account', 0, 0, seeded} end

if cap ~= '' then
  if enter(day, edge, life, dayHolds, dayCharges) == 'stale' then return {'stale', 0, 0, seeded} end
  bury(day, silent, gone)
  learn_spend(day, spend)
  redis.call('PEXPIRE', day, ttl)
  local spent, dayHeld, dayCharged = sums(day)
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
end

local now = time_ms()
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
 * Tells what changed on an edge: by a difference, or as it is now when nothing of its own is under way ('=').
 * KEYS state, day. ARGV edge, life, '=' or '+', holds more, charges more, holds, charges, balance, seq, silent, gone,
 * time to live, whether the key is capped, spend, holds of the key, charges of the key (the state after the change).
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
 * Puts an edge's own admissions of the last minute in place of what is there of it, some at a time.
 * KEYS rate. ARGV edge, how many were told before these, times.
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
 * An edge is alive. KEYS the roll of edges. ARGV edge, how long to remember, milliseconds taken from its time (for one
 * that ends). Answers {Redis's time, whether it stood there, id, time, id, time, …}.
 */
const BEAT = `${COMMON}
local roll, edge, keep, early = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now = time_ms()
local known = redis.call('ZSCORE', roll, edge) and 1 or 0
redis.call('ZADD', roll, string.format('%.0f', now - early), edge)
redis.call('ZREMRANGEBYSCORE', roll, '-inf', string.format('%.0f', now - keep))
redis.call('PEXPIRE', roll, keep)
local answer = {string.format('%.0f', now), known}
for _, value in ipairs(redis.call('ZRANGE', roll, 0, -1, 'WITHSCORES')) do answer[#answer + 1] = value end
return answer
`;

/** Edges are dead: they are silent since some time ago. KEYS the roll of edges. ARGV milliseconds, ids. */
const BURY = `${COMMON}
local at = time_ms() - tonumber(ARGV[1])
for i = 2, #ARGV do
  local seen = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if seen and tonumber(seen) > at then redis.call('ZADD', KEYS[1], string.format('%.0f', at), ARGV[i]) end
end
return 1
`;

export const SCRIPTS = { take: TAKE, tell: TELL, retellRate: RETELL_RATE, beat: BEAT, bury: BURY } as const;
export type ScriptName = keyof typeof SCRIPTS;
