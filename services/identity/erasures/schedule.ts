import { runPeriodically, runSteps, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { revokeDue } from '../revocations/actions.ts'
import { beginDueErasures, deleteOldErasures, repeatUnconfirmed, replayLedger } from './actions.ts'

const SECOND_MS = 1_000
const HOUR_MS = 60 * 60 * SECOND_MS

/** Begins what is due every few seconds, and compares the accounts with the ledger now and every hour. */
export function startErasing (deps: Deps, log: Log) {
  const stopBeginning = runPeriodically(async () => {
    await runSteps({
      'begin due erasures': async () => await beginDueErasures(deps),
      'repeat unconfirmed erasures': async () => await repeatUnconfirmed(deps.db),
      'revoke due tokens': async () => await revokeDue(deps, log)
    })
  }, { intervalMs: 10 * SECOND_MS, log })
  const stopComparing = runPeriodically(async () => {
    const replayed = await replayLedger(deps)
    if (replayed > 0) log.warn({ replayed }, 'accounts that had been erased were restored; they are erased again')
    // Not after a failure: an entry of the ledger that is not replayed must stay.
    await deleteOldErasures(deps)
  }, { intervalMs: HOUR_MS, log })
  return async () => {
    await Promise.all([stopBeginning(), stopComparing()])
  }
}
