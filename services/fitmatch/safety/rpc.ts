import { handleRpc } from '@tandem/bus-kit'
import { countModeration, describeCase, findDecidedReport } from '@tandem/case-kit'
import { FitMatchCase, FitMatchModeration, FitMatchReport } from '@tandem/contracts'
import type { Deps } from '../deps.ts'

export const handleCase = ({ db }: Deps) =>
  handleRpc(FitMatchCase, async ({ caseId }) => await describeCase(db, caseId) ?? null)

export const handleReport = ({ db }: Deps) =>
  handleRpc(FitMatchReport, async (report) => await findDecidedReport(db, report) ?? null)

export const handleModeration = ({ db }: Deps) =>
  handleRpc(FitMatchModeration, async ({ accountId }) => await countModeration(db, accountId))
