const AGAIN_AFTER = 60_000
const KINDS = 50
// Ids that NATS makes up for every inbox.
const MADE_UP = /\b[A-Z0-9]{22}\b/g

/** Passes on what is new and swallows what repeats, so that a loop which fails twice a second writes one line a minute. */
export function throttleLog (say: (error: unknown) => void) {
  const said = new Map<string, number>()
  return (error: unknown) => {
    const kind = String(error).replace(MADE_UP, '')
    if (Date.now() - (said.get(kind) ?? 0) < AGAIN_AFTER) return
    if (said.size === KINDS) said.clear()
    said.set(kind, Date.now())
    say(error)
  }
}
