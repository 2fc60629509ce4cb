import { handleRpc } from '@tandem/bus-kit'
import { describeCase } from '@tandem/case-kit'
import { SocialCase } from '@tandem/contracts'
import type { Deps } from '../deps.ts'

export const handleCase = ({ db }: Deps) =>
  handleRpc(SocialCase, async ({ caseId }) => await describeCase(db, caseId) ?? null)
