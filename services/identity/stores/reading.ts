import type { Plan } from '../subscriptions/plans.ts'
import type { PurchaseState, Store, StoreEnvironment } from '../tables.ts'

/** What a store knows of one subscription that it sold. */
export interface Reading {
  store: Store
  environment: StoreEnvironment
  /** Apple's original transaction id, the SHA-256 of Google's purchase token, or RevenueCat's account token. */
  key: string
  /** Google's purchase token. It is stored sealed, and never logged. */
  token?: string
  productId: string
  planId: string
  /** The account that the app named when the person bought it. */
  accountToken: string | null
  orderId: string | null
  state: PurchaseState
  willRenew: boolean
  isTrial: boolean
  isFamilyShared: boolean
  periodStart: Date
  /** Until when it is paid. */
  periodEnd: Date
  /** Until when the store gives time to pay. */
  graceEnd: Date | null
  revokedAt: Date | null
  manageUrl: string | null
  /** The keys of the purchases that it upgraded. */
  replaces: string[]
  needsAcknowledgement: boolean
  /** How old this knowledge is: older knowledge never replaces newer. */
  knownAt: Date
  /** When the store signed it; undefined for what was just read. */
  signedAt?: Date
  /** False if it lacks what the store only says when it is asked, such as whether it renews. */
  isComplete: boolean
}

/** The plan that a product stands for. An unknown product is logged. */
export type FindPlan = (store: Store, productId: string) => Plan | undefined

/** How long a request waits for a store. */
export const STORE_TIMEOUT_MS = 2_500
