import { DECIDE } from './decide-script.js';
import { OPEN_KEY } from './redis-keys.js';
import { MESSAGE_SCRIPTS } from './redis-message-scripts.js';

const COMMON = `
local function time_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
`;

/**
 * Replaces an edge's admissions of the last minute, in several parts. KEYS rate. ARGV edge, number of admissions in the earlier
 * parts, and the age of each admission in milliseconds.
 */
const REPORT_RATE = `${COMMON}
local now = time_ms()
local rate, edge, reported = KEYS[1], ARGV[1], tonumber(ARGV[2])
if reported == 0 then
  for _, member in ipairs(redis.call('ZRANGE', rate, 0, -1)) do
    if string.sub(member, 1, #edge + 1) == edge .. ':' then redis.call('ZREM', rate, member) end
  end
end
for i = 3, #ARGV do
  redis.call('ZADD', rate, string.format('%.0f', now - tonumber(ARGV[i])), edge .. ':r' .. (reported + i))
end
redis.call('PEXPIRE', rate, 61000)
return 1
`;

/**
 * Records an edge's heartbeat. KEYS the membership of edges. ARGV edge, how long to remember it, 'live', 'look' (changes nothing)
 * or 'end', and the last time that the edge got from Redis. That time is stored, so a late heartbeat can't claim that the edge
 * knew more. Returns {Redis's time, the time stored before or 0, id, time, id, time, …}.
 */
const BEAT = `${COMMON}
local membership, edge, keep, kind, at = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local now = time_ms()
local last_beat = tonumber(redis.call('ZSCORE', membership, edge) or 0)
if kind == 'live' and last_beat <= now and last_beat > at then at = last_beat end
-- Redis's clock has stepped back since the edge got this time.
if at > now then at = now end
if kind ~= 'look' then redis.call('ZADD', membership, string.format('%.0f', at), edge) end
redis.call('ZREMRANGEBYSCORE', membership, '-inf', string.format('%.0f', now - keep))
redis.call('PEXPIRE', membership, keep)
redis.call('PEXPIRE', '${OPEN_KEY}', keep)
local answer = {string.format('%.0f', now), string.format('%.0f', last_beat)}
for _, value in ipairs(redis.call('ZRANGE', membership, 0, -1, 'WITHSCORES')) do answer[#answer + 1] = value end
return answer
`;

/** Marks dead edges: they count as silent for at least this long. KEYS the membership of edges. ARGV milliseconds, ids. */
const FENCE = `${COMMON}
local at = time_ms() - tonumber(ARGV[1])
for i = 2, #ARGV do
  local seen = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if seen and tonumber(seen) > at then redis.call('ZADD', KEYS[1], string.format('%.0f', at), ARGV[i]) end
end
return 1
`;

/** Keeps dead edges from being gone: they are silent for at most this long. KEYS the membership of edges. ARGV milliseconds, ids. */
const KEEP = `${COMMON}
local at = time_ms() - tonumber(ARGV[1])
for i = 2, #ARGV do
  local seen = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if seen and tonumber(seen) < at then redis.call('ZADD', KEYS[1], string.format('%.0f', at), ARGV[i]) end
end
return 1
`;

/**
 * Returns the indexes of those KEYS that lack the edge's report. Reading a key marks it as used, so a Redis that evicts keeps it.
 * ARGV the beginning of the edge's part of a state, then for each key 0 if it is a state, or the fewest calls of the last minute
 * that it must have.
 */
const MISSING = `
local missing = {}
for i, key in ipairs(KEYS) do
  local calls, lacks = tonumber(ARGV[i + 1])
  if calls > 0 then
    lacks = redis.call('ZCARD', key) < calls
  else
    local text = redis.call('GET', key)
    lacks = not text or not string.find(text, ARGV[1], 1, true)
  end
  if lacks then missing[#missing + 1] = i end
end
return missing
`;

export const SCRIPTS = {
  ...{ decide: DECIDE, reportRate: REPORT_RATE, missing: MISSING, beat: BEAT, fence: FENCE, keep: KEEP },
  ...MESSAGE_SCRIPTS,
} as const;
export type ScriptName = keyof typeof SCRIPTS;
