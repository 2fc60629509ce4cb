import { handleRpc } from '@tandem/bus-kit'
import { describeCase, findDecidedReport } from '@tandem/case-kit'
import { SocialCase, SocialReport } from '@tandem/contracts'
import type { Deps } from '../deps.ts'

export const handleCase = ({ db }: Deps) =>
  handleRpc(SocialCase, async ({ caseId }) => await describeCase(db, caseId) ?? null)

export const handleReport = ({ db }: Deps) =>
  handleRpc(SocialReport, async (report) => await findDecidedReport(db, report) ?? null)
