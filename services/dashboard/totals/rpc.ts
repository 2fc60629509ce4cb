import { handleRpc } from '@tandem/bus-kit'
import { DEFAULT_TIMEZONE, TrainingProgress, TrainingTotals } from '@tandem/contracts'
import { dayIn } from '@tandem/account-kit'
import type { Deps } from '../deps.ts'
import { findPerson } from '../people/queries.ts'
import { readProgress, readTotals } from './queries.ts'

export const handleTrainingTotals = ({ db }: Deps) =>
  handleRpc(TrainingTotals, async ({ accountId }) => await readTotals(db, accountId))

// The caller is waiting, so the week uses the time zone in the local copy instead of a call to profile.
export const handleTrainingProgress = ({ db, now }: Deps) =>
  handleRpc(TrainingProgress, async ({ accountId }) => {
    const person = await findPerson(db, accountId)
    return await readProgress(db, accountId, dayIn(person?.timezone ?? DEFAULT_TIMEZONE, now()))
  })
