import { handleRpc } from '@tandem/bus-kit'
import { describeCase } from '@tandem/case-kit'
import { FitMatchCase } from '@tandem/contracts'
import type { Deps } from '../deps.ts'

export const handleCase = ({ db }: Deps) =>
  handleRpc(FitMatchCase, async ({ caseId }) => await describeCase(db, caseId) ?? null)
