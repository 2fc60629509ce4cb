import { on } from '@tandem/bus-kit'
import { MeetingCleared, MeetingEnded, MeetingOverdue, MeetingShared } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { mailCleared, mailEnded, mailOverdue, mailShared } from './actions.ts'

export const onMeetingShared = (deps: Deps) => on(MeetingShared, async ({ data }) => await mailShared(deps, data))
export const onMeetingOverdue = (deps: Deps) => on(MeetingOverdue, async ({ data }) => await mailOverdue(deps, data))
export const onMeetingCleared = (deps: Deps) => on(MeetingCleared, async ({ data }) => await mailCleared(deps, data))
export const onMeetingEnded = (deps: Deps) => on(MeetingEnded, async ({ data }) => await mailEnded(deps, data))
