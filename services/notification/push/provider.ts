import type { Platform } from '../tables.ts'

/** A push as a provider is handed it. */
export interface Push {
  token: string
  platform: Platform
  /** Pushes of one id replace each other on the device. */
  collapseId: string
  title: string
  body: string
  data: Record<string, string>
  /** What the icon of the app shows. */
  badge: number
  urgent: boolean
}

/**
 * What came of a push: it was taken; its token is dead; it may be tried again, after `wait` milliseconds if the provider said so;
 * or it never will be taken, whatever the token.
 */
export type Outcome =
  | { is: 'sent', note?: string }
  | { is: 'dead', reason: string }
  | { is: 'later', reason: string, wait?: number }
  | { is: 'refused', reason: string }

export interface Provider {
  send (push: Push): Promise<Outcome>
  close (): Promise<void>
}
