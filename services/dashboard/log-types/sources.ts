import type { Source } from '../tables.ts'
import { compareTexts } from './data.ts'

const BY_HAND = 'MANUAL'
const PHONES = ['HEALTHKIT', 'HEALTH_CONNECT']

const IMPORT = 'IMPORT'

const platformOf = (source: Source | null) => source?.platform ?? BY_HAND

/** What records a workout only once: a platform, and of imported files the app that wrote them. */
export const recorderOf = (source: Source | null) =>
  platformOf(source) === IMPORT ? JSON.stringify([IMPORT, source?.app ?? '']) : platformOf(source)

/** How far down a source stands: a watch, then a phone, other devices and apps, and what a person typed. */
function rankOf (source: Source | null) {
  if (platformOf(source) === BY_HAND) return 4
  const kind = source?.kind ?? (PHONES.includes(platformOf(source)) ? 'PHONE' : 'APP')
  return ['WATCH', 'PHONE', 'SCALE', 'APP'].indexOf(kind)
}

/** Names a source: what counts once is taken from one of them. */
export const nameOf = (source: Source | null) =>
  JSON.stringify([platformOf(source), source?.kind ?? '', source?.device ?? '', source?.app ?? ''])

/** The better source first. Never 0 for two that are different. */
export const compareSources = (one: Source | null, other: Source | null) =>
  rankOf(one) - rankOf(other) || compareTexts(nameOf(one), nameOf(other))
