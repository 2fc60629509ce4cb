import { on } from '@tandem/bus-kit'
import { MatchEnded } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { logFrames } from '../frames/log.ts'
import { changeInbox, joinChanges } from './change-inbox.ts'
import { createNotifier } from './notifier.ts'
import { registry } from './registry.ts'
import { lockInboxes } from './removal.ts'
import { rewrite } from './rewrite.ts'
import { about } from './subjects.ts'
import { lockSubjects, withdraw, withdrawWithin } from './withdraw.ts'
import { withdrawals } from './withdrawals.ts'

/** One handler for each event in the registry. All write their notifications in shared batches. */
export function onNotificationRequested (deps: Deps) {
  const notify = createNotifier(deps)
  return registry.map(({ event, requests }) =>
    on(event, async ({ id, time, sequence, data }) => {
      const useful = requests(data as never, id).filter(({ pointlessFrom }) =>
        !pointlessFrom || pointlessFrom > deps.now()
      )
      await Promise.all(useful.map(async (request) => await notify(request, { occurredAt: time, sequence })))
    }, { batched: true })
  )
}

/** One handler for each event that withdraws or rewrites notifications. */
export const onNotificationsObsolete = (deps: Deps) =>
  withdrawals.map(({ event, effects }) =>
    on(event, async ({ sequence, data }) => {
      const { scopes = [], rewritings = [] } = effects(data as never)
      for (const each of rewritings) await rewrite(deps, each, sequence)
      await withdraw(deps, scopes, sequence)
    })
  )

export const onMatchEnded = (deps: Deps) =>
  on(MatchEnded, async ({ data: { matchId, accountIds }, sequence }) => {
    await changeInbox(deps, async (trx) => {
      const match = about.match(matchId)
      await lockSubjects(trx, [match], 'ALONE')
      // All at once: those with notifications first, and then the others, could deadlock.
      await lockInboxes(trx, accountIds)
      const withdrawn = await withdrawWithin(trx, [{ subject: match, isGone: true }], sequence)
      const frame = { type: 'match.ended' as const, ids: { matchId }, key: `ended:${matchId}` }
      const signal = await logFrames(trx, accountIds.map((accountId) => ({ accountId, ...frame })))
      return joinChanges([withdrawn, { signal }])
    })
  })
