import type { Platform } from '../tables.ts'

/** A push to one device. */
export interface Push {
  token: string
  platform: Platform
  /** Pushes with the same id replace each other on the device. */
  collapseId: string
  title: string
  body: string
  data: Record<string, string>
  /** The number on the app icon. */
  badge: number
  urgent: boolean
  /** Whether it shows no text, and only updates the number on the app icon and what the app shows. */
  silent: boolean
}

/**
 * The outcome of an attempt: the provider accepted the push; the token is dead; the push can be retried, after
 * `retryAfterMs` if the provider named a delay; or the provider refuses its content, whatever the token.
 */
export type Outcome =
  | { type: 'sent', note?: string }
  | { type: 'dead', reason: string }
  | { type: 'later', reason: string, retryAfterMs?: number }
  | { type: 'refused', reason: string }

export interface Provider {
  send(push: Push): Promise<Outcome>
  close(): Promise<void>
}
