/**
 * The Lua that counts a widget's messages of the day over all edges, and those of its visitors. Whole numbers, all under the
 * account's hash tag:
 *
 *   messages  hash  b: the database's count of the day (the highest wins); per edge o:<id> "<open> <time>": the edge's messages
 *                   in flight or not yet committed, and the time of this report
 *   session, address  zset  a visitor's messages of the day, scored by Redis's clock in milliseconds
 *
 * An edge always reports its total, so the next report corrects a lost one. A dead edge's messages count until another edge
 * has committed its spool.
 */
const COMMON = `
local function time_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function whole(number)
  return string.format('%.0f', number)
end

local function report(key, edge, open, committed, now, ttl)
  if open > 0 then
    redis.call('HSET', key, 'o:' .. edge, whole(open) .. ' ' .. whole(now))
  else
    redis.call('HDEL', key, 'o:' .. edge)
  end
  local known = tonumber(redis.call('HGET', key, 'b') or '-1')
  if committed > known then redis.call('HSET', key, 'b', whole(committed)) end
  redis.call('PEXPIRE', key, ttl)
end
`;

/**
 * Counts one more message and returns 'ok', or returns the limit that is reached: 'minute' and 'visitor_minute' with
 * milliseconds to wait, 'visitor', 'day'. Returns 'read' if Redis doesn't know the day's count: the edge has to read it from
 * the database first.
 * KEYS messages, rate, session, address. ARGV edge, open messages without this one, committed, limit of the day, limit of the
 * minute, member, how long a silent edge counts, time to live; the visitor's limits, or '' for none: session's day, session's
 * minute, address's day, address's minute; then '1' if the count has just been read.
 */
const TAKE_MESSAGE = `${COMMON}
local messages, rate = KEYS[1], KEYS[2]
local edge, open, committed, limit, perMinute, member, keep, ttl =
  ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), ARGV[8]
local now = time_ms()
local since = '(' .. whole(now - 60000)

local function full(key, most)
  local count = redis.call('ZCOUNT', key, since, '+inf')
  if count < most then return nil end
  local at = redis.call('ZRANGEBYSCORE', key, since, '+inf', 'WITHSCORES', 'LIMIT', count - most, 1)
  return math.max(1, math.min(60000, tonumber(at[2]) + 60000 - now))
end

local wait = full(rate, perMinute)
if wait then return {'minute', wait} end
local visitor = ARGV[9] ~= ''
if visitor then
  for i = 0, 1 do
    local key = KEYS[3 + i]
    if redis.call('ZCARD', key) >= tonumber(ARGV[9 + 2 * i]) then return {'visitor', 0} end
    wait = full(key, tonumber(ARGV[10 + 2 * i]))
    if wait then return {'visitor_minute', wait} end
  end
end
if ARGV[13] ~= '1' and redis.call('HEXISTS', messages, 'b') == 0 then return {'read', 0} end
report(messages, edge, open, committed, now, ttl)
local flat = redis.call('HGETALL', messages)
local used = 0
for i = 1, #flat, 2 do
  if flat[i] == 'b' then
    used = used + tonumber(flat[i + 1])
  else
    local count, at = string.match(flat[i + 1], '^(%d+) (%d+)$')
    if tonumber(at) < now - keep then
      redis.call('HDEL', messages, flat[i])
    else
      used = used + tonumber(count)
    end
  end
end
if used + 1 > limit then return {'day', 0} end
redis.call('HSET', messages, 'o:' .. edge, whole(open + 1) .. ' ' .. whole(now))
if visitor then
  for i = 3, 4 do
    redis.call('ZADD', KEYS[i], whole(now), member)
    redis.call('PEXPIRE', KEYS[i], ttl)
  end
end
return {'ok', 0}
`;

/**
 * Reports how many messages an edge has open, and gives back places of visitors. KEYS messages, and the visitors' sets. ARGV
 * edge, open, committed, time to live, then one member for each set.
 */
const REPORT_MESSAGES = `${COMMON}
report(KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), time_ms(), ARGV[4])
for i = 2, #KEYS do redis.call('ZREM', KEYS[i], ARGV[i + 3]) end
return 1
`;

export const MESSAGE_SCRIPTS = { takeMessage: TAKE_MESSAGE, reportMessages: REPORT_MESSAGES } as const;
