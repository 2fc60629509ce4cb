const MINUTE_MS = 60_000

/** When the person is asked, and when the contact is notified, after the end of an activity. */
export function timesOf (endsAt: Date, minutes: number) {
  const askAt = new Date(endsAt.getTime() + minutes / 2 * MINUTE_MS)
  return { ask_at: askAt, alarm_at: new Date(endsAt.getTime() + minutes * MINUTE_MS), due_at: askAt }
}
