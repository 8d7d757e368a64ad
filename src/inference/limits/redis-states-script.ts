/**
 * Lua that reads and writes what is left of an account or a capped key, and judges what may be taken of it.
 *
 *   balance  text  of an account: "<balance> <seq> <held> <charged> <most> <before> <since>" and then for each edge
 *                  ";<id> <life> <holds> <charges>"
 *                  seq is the balance's ledger sequence (the highest wins); held and charged are the sums over all edges.
 *                  life: Redis's time when it began. An edge begins another when it lost touch with Redis.
 *                  most, before: the most that the balance was since a time, and in a while before ('-': as it is): an edge
 *                  that has lost touch with Redis may still go by that.
 *                  ";<id>+L <calls> <money> <time>" is what an edge may admit without asking (redis-leases.ts), and since when; its
 *                  money is among what is held. ";calm <time> 0 0": a call was in need of it, so that for a moment nothing more is leased.
 *   cap      text  the same of a capped key and UTC day, with its spend in place of the balance; most and before are the least.
 *                  The first report of a day copies the holds of the day before.
 *
 * It needs the amounts (`redis-amounts-script.ts`) and the words of an edge (`redis-turn-script.ts`).
 */
export const STATES = `
-- What an edge's own part says in the text of all.
local function part(state, start)
  local _, to = find(state.edges, start, 1, true)
  if not to then return nil end
  local its, holds, charges = match(state.edges, '^(%d+) (%S+) ([^ ;]+)', to + 1)
  return tonumber(its), holds, charges
end

-- Cuts it out. Written out, since each state does so several times.
local function cut(state, start)
  local edges = state.edges
  local from, to = find(edges, start, 1, true)
  if not from then return nil end
  local its, holds, charges, after = match(edges, '^(%d+) (%S+) ([^ ;]+)()', to + 1)
  state.edges = sub(edges, 1, from - 1) .. sub(edges, after)
  return tonumber(its), holds, charges
end

-- Ends what an edge has leased; it is held no longer. Calls, money and since when, or nothing where it had no lease.
local function end_lease(state, id)
  local calls, money, at = cut(state, ';' .. id .. '+L ')
  if not calls then return nil end
  local a, b = limbs(money)
  state.h1, state.h2 = state.h1 - a, state.h2 - b
  return calls, a, b, tonumber(at)
end

-- An edge with a lease has been silent for long. It may have recorded what it had not told: what was leased is held with the rest,
-- by a life of 0, and all calls count as admitted as late as they could be. A lease from after this edge's last heartbeat is
-- that of an edge which is back.
local function bury_lease(state, id, rate)
  local calls, _, leased_at = part(state, ';' .. id .. '+L ')
  local at = tonumber(leased_at)
  if not calls or at >= heard then return end
  local _, a, b = end_lease(state, id)
  if rate and at + VALID > now - 60000 then
    local last = format('%d', math.min(now, at + VALID))
    for n = 1, calls do run('ZADD', rate, last, id .. ':l' .. n) end
    run('PEXPIRE', rate, '61000')
  end
  local _, holds, charges = cut(state, ';' .. id .. ' ')
  state.h1, state.h2 = plus(state.h1, state.h2, a, b)
  local held = text_of(plus(a, b, limbs(holds or '0')))
  state.edges = state.edges .. ';' .. id .. ' 0 ' .. held .. ' ' .. (charges or '0')
end

-- Holds of a dead edge are never charged, unless it had a lease: then they may have been recorded. What it had recorded is, once
-- its spool is adopted: that goes later. An edge that has begun another life since this one's last heartbeat is back.
local function bury(state, id, isGone)
  local its, holds, charges = part(state, ';' .. id .. ' ')
  if not its or its >= heard then return end
  cut(state, ';' .. id .. ' ')
  local a, b = limbs(holds)
  state.h1, state.h2 = state.h1 - a, state.h2 - b
  if isGone then
    a, b = limbs(charges)
    state.c1, state.c2 = state.c1 - a, state.c2 - b
    return
  end
  if its == 0 then
    state.c1, state.c2 = plus(state.c1, state.c2, a, b)
    charges = text_of(plus(a, b, limbs(charges)))
  end
  if charges ~= '0' then state.edges = state.edges .. ';' .. id .. ' 0 0 ' .. charges end
end

-- The edges of a day that begins: with what their calls hold, by a life that makes each of them state it anew.
local function begun(id, its, holds)
  return id .. (its == '0' and ' 0 ' or ' 1 ') .. holds .. ' 0'
end

local states, order = {}, {}

-- h and c: holds and charges of all edges; oh and oc: this edge's own, which are among them. former: the cap of the day before.
-- A day begins with what calls in flight hold, and with none of the charges.
local function open(key, rate, former)
  local state = states[key]
  if state then return state end
  state = {
    key = key, edges = '', life = false, base = false, seq = false, most = false, before = false, at = 0,
    h1 = 0, h2 = 0, c1 = 0, c2 = 0, oh1 = 0, oh2 = 0, oc1 = 0, oc2 = 0,
    rate = rate, isLeased = false, calm = false, calls = 0, l1 = 0, l2 = 0
  }
  states[key] = state
  order[#order + 1] = state
  local text = run('GET', key)
  local begins = not text and former
  if begins then text = run('GET', former) end
  if not text then return state end
  local base, seq, held, charged, most, before, at, rest =
    match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) ([^ ;]+)()')
  state.edges = sub(text, rest)
  if begins then
    charged = '0'
    state.edges = string.gsub(state.edges, '(;[^ ;+]+) (%d+) (%S+) [^ ;]+', begun)
  else
    state.base, state.seq = base, seq
    if most ~= '-' then state.most, state.before, state.at = most, before, tonumber(at) end
  end
  state.h1, state.h2 = limbs(held)
  state.c1, state.c2 = limbs(charged)
  state.isLeased = find(state.edges, '+L ', 1, true)
  state.calm = cut(state, ';calm ')
  if state.isLeased then
    for _, ids in ipairs(dead) do
      for _, id in ipairs(ids) do bury_lease(state, id, rate) end
    end
  end
  for _, id in ipairs(lost) do bury(state, id, false) end
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
    own = mark .. (state.life == life and life_text or format('%d', state.life)) .. ' ' .. text_of(state.oh1, state.oh2) .. ' ' .. text_of(state.oc1, state.oc2)
  end
  if state.calls > 0 or state.l2 > 0 or state.l1 > 0 then
    own = own .. ';' .. edge .. '+L ' .. format('%d', state.calls) .. ' ' .. text_of(state.l1, state.l2) .. ' ' .. at_now
  end
  if state.calm and now - state.calm < CALM then own = own .. ';calm ' .. format('%d', state.calm) .. ' 0 0' end
  run('SET', state.key, state.base .. ' ' .. state.seq .. ' ' .. text_of(state.h1, state.h2) .. ' '
    .. text_of(state.c1, state.c2) .. was .. state.edges .. own, 'PX', ttl)
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
  if state.isLeased then
    end_lease(state, edge)
    state.isLeased = find(state.edges, '+L ', 1, true)
  end
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

-- What is left besides, about: enough to lease a part of it.
local function slack(state, top1, top2, there1, there2)
  local left = (top1 - state.c1 - state.h1) * BASE + top2 - state.c2 - state.h2
  local there = (there1 - l1) * BASE + there2 - l2
  return there > 0 and left - there / 4 or left
end

local f1, f2 = limbs(said[3])
local function of_balance(state, judge)
  local a, b = limbs(state.base)
  local c, d = a, b
  if state.most then c, d = limbs(extreme(state, 1)) end
  return judge(state, a - f1, b - f2, c - f1, d - f2)
end

-- Admitted while what is used is less than the cap: at least one unit must be left.
local function of_cap(state, judge, cap)
  local a, b = limbs(cap)
  local c, d = limbs(state.base)
  local e, f = limbs(extreme(state, -1))
  return judge(state, a - c, b - d - 1, a - e, b - f)
end
`;
