import { handleRpc } from '@tandem/bus-kit'
import { countModeration, describeCase, findDecidedReport } from '@tandem/case-kit'
import { SocialCase, SocialModeration, SocialReport } from '@tandem/contracts'
import type { Deps } from '../deps.ts'

export const handleCase = ({ db }: Deps) =>
  handleRpc(SocialCase, async ({ caseId }) => await describeCase(db, caseId) ?? null)

export const handleReport = ({ db }: Deps) =>
  handleRpc(SocialReport, async (report) => await findDecidedReport(db, report) ?? null)

export const handleModeration = ({ db }: Deps) =>
  handleRpc(SocialModeration, async ({ accountId }) => await countModeration(db, accountId))
