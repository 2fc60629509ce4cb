import { claimOnce, on } from '@tandem/bus-kit'
import { WebhookDisabled } from '@tandem/contracts'
import { renderMail } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'
import { notifyAdmins } from './invitations.ts'

export const onWebhookDisabled = ({ db, console, mailer }: Pick<Deps, 'db' | 'console' | 'mailer'>) =>
  on(WebhookDisabled, async ({ id, data: { host, reason } }) => {
    const mails = await db.transaction().execute(async (trx) => {
      if (!await claimOnce(trx, id, 'mail about a webhook')) return []
      const url = `${console.origin}/webhooks`
      return await notifyAdmins(
        trx,
        renderMail({ kind: 'webhookDisabled', locale: null, params: { host, reason }, url })
      )
    })
    void mailer.enqueue(mails)
  })
