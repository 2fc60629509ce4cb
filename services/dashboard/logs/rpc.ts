import { handleRpc } from '@tandem/bus-kit'
import { WorkoutSnapshot } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findWorkoutSnapshot } from './snapshots.ts'

export const handleWorkoutSnapshot = ({ db }: Deps) =>
  handleRpc(WorkoutSnapshot, async ({ accountId, workoutId }) => await findWorkoutSnapshot(db, accountId, workoutId))
