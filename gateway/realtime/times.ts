/** How long the parts of a realtime connection wait, in milliseconds. */
export const standardTimes = {
  heartbeat: 25_000,
  pongTimeout: 10_000,
  /** How long a client may leave what was sent to it unread. */
  maxStalled: 10_000,
  expiryWarning: 60_000,
  /** Between two looks for news, with signals and without. */
  poll: 60_000,
  pollWithoutSignals: 5_000,
  /** Until the next look after one that failed. */
  retry: 2_000,
  focusRenewal: 45_000,
  /** Between two looks at the presence of watched matches. */
  presence: 60_000,
  /** Between two notes that the account is active. */
  activity: 120_000,
  /** After 6 to 8 hours a connection is asked to move, so that load evens out between processes. */
  maxLife: 6 * 3_600_000,
  tick: 1_000
}

export type Times = typeof standardTimes

/**
 * The time since the process started, in whole milliseconds. V8 keeps such a small number in the object that has it; a
 * time since 1970 takes 16 bytes more.
 */
export const sinceStart = () => Math.trunc(performance.now())
