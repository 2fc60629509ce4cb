import { startCases } from '@tandem/case-kit'
import { runPeriodically, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { removeUnshown } from './cases.ts'
import { liftEndedSuspensions } from './decisions.ts'

/** Copies reported images to private storage in the background. */
export const startCopying = ({ db, media }: Deps, log: Log) =>
  startCases({
    service: 'fitmatch',
    db,
    media,
    log,
    onCopied: async (originals) => await removeUnshown({ db, media }, originals)
  })

const LIFT_INTERVAL_MS = 1_000

/** Ends suspensions within a second after their time. */
export const startLifting = ({ db }: Deps, log: Log) =>
  runPeriodically(async () => await liftEndedSuspensions(db), { intervalMs: LIFT_INTERVAL_MS, log })
