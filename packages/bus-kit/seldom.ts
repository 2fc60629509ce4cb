const AGAIN_AFTER = 60_000

/** Passes on what is new and swallows what repeats, so that a loop which fails twice a second writes one line a minute. */
export function seldom (say: (error: unknown) => void) {
  let last = ''
  let at = 0
  return (error: unknown) => {
    if (String(error) === last && Date.now() - at < AGAIN_AFTER) return
    last = String(error)
    at = Date.now()
    say(error)
  }
}
