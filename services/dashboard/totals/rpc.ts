import { handleRpc } from '@tandem/bus-kit'
import { TrainingProgress, TrainingTotals } from '@tandem/contracts'
import { dayIn, DEFAULT_ZONE } from '../calendar.ts'
import type { Deps } from '../deps.ts'
import { findPerson } from '../people/queries.ts'
import { readProgress, readTotals } from './queries.ts'

export const answerTrainingTotals = ({ db }: Deps) => handleRpc(TrainingTotals, async ({ accountId }) => await readTotals(db, accountId))

// Whoever asks is waiting, so the week is that of the time zone last heard of.
export const answerTrainingProgress = ({ db, now }: Deps) => handleRpc(TrainingProgress, async ({ accountId }) => {
  const person = await findPerson(db, accountId)
  return await readProgress(db, accountId, dayIn(person?.timezone ?? DEFAULT_ZONE, now()))
})
