const DAY_MS = 86_400_000;
/** A changed clock or a sleep of the computer is noticed within this time. */
const LOOK_MS = 60_000;
/** The server’s clock may be a little behind. */
const LATE_MS = 3_000;
/** Open pages don’t all ask in the same second. */
const SPREAD_MS = 5_000;

/** Calls back a few seconds after each midnight UTC, when the figures of a day or a month start at zero. */
export function onDayTurn(listener: () => void): void {
  const lateMs = LATE_MS + Math.random() * SPREAD_MS;
  const time = (): number => Date.now() - lateMs;
  let day = Math.floor(time() / DAY_MS);
  const look = (): void => {
    const now = time();
    const today = Math.floor(now / DAY_MS);
    if (today !== day) {
      day = today;
      listener();
    }
    window.setTimeout(look, Math.min(LOOK_MS, (today + 1) * DAY_MS - now));
  };
  look();
}
