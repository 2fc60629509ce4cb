import { on, type Handler } from '@tandem/bus-kit'
import {
  DashboardAccountErased,
  FitMatchAccountErased,
  NotificationAccountErased,
  ProfileAccountErased,
  SocialAccountErased
} from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { confirmErasure } from './actions.ts'

const confirmations = [
  ProfileAccountErased,
  SocialAccountErased,
  FitMatchAccountErased,
  DashboardAccountErased,
  NotificationAccountErased
]

/** A later report of a service has the same counts or higher ones, so a repeated or late one is harmless. */
export const onAccountErased = ({ db, secrets }: Deps): Handler[] =>
  confirmations.map((event) =>
    on(
      event,
      async ({ data }) =>
        await db.transaction().execute(async (trx) => await confirmErasure(trx, secrets, event.service, data))
    )
  )
