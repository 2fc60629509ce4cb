import { MeetingDetails } from '@tandem/contracts'
import { createMail, type MailContent, plainName, plainText } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'
import type { MailTemplates } from '../mails/english.ts'
import { templatesFor } from '../mails/templates.ts'
import { findConfirmedContact } from '../trusted-contact/queries.ts'
import { createContactLink } from '../trusted-contact/tokens.ts'
import type { Trx } from '../tables.ts'

interface Meeting {
  meetingId: string
  accountId: string
}

/** Mails the contact that a person is going to meet others: who, where and when. */
export async function mailShared (deps: Deps, meeting: Meeting) {
  const details = await readDetails(deps, meeting)
  const mailId = await deps.db.transaction().execute(async (trx) =>
    await mailContact(
      trx,
      deps,
      meeting,
      'shared',
      (templates, common) => templates.meetingShared({ ...common, details })
    )
  )
  await deps.mailer.enqueue([mailId])
}

/** Mails the contact that the person has not reported back, unless they have by now. */
export async function mailOverdue (deps: Deps, meeting: Meeting) {
  const details = await readDetails(deps, meeting)
  const mailId = await deps.db.transaction().execute(async (trx) => {
    const { is_cleared } = await lockMeetingMails(trx, meeting.meetingId)
    if (is_cleared) return
    await trx.updateTable('meeting_mails').set({ is_overdue: true }).where('meeting_id', '=', meeting.meetingId)
      .execute()
    return await mailContact(
      trx,
      deps,
      meeting,
      'overdue',
      (templates, common) => templates.meetingOverdue({ ...common, details })
    )
  })
  await deps.mailer.enqueue([mailId])
}

/** Mails the contact that the person has reported back, if an alarm was mailed. A later alarm mails nothing. */
export async function mailCleared (deps: Deps, meeting: Meeting) {
  const mailId = await deps.db.transaction().execute(async (trx) => {
    const { is_overdue } = await lockMeetingMails(trx, meeting.meetingId)
    await trx.updateTable('meeting_mails').set({ is_cleared: true }).where('meeting_id', '=', meeting.meetingId)
      .execute()
    if (!is_overdue) return
    return await mailContact(trx, deps, meeting, 'cleared', (templates, common) => templates.meetingCleared(common))
  })
  await deps.mailer.enqueue([mailId])
}

/** An alarm and its end can arrive at once and in any order: the lock makes one of them the first. */
async function lockMeetingMails (trx: Trx, meetingId: string) {
  await trx.insertInto('meeting_mails').values({ meeting_id: meetingId }).onConflict((conflict) => conflict.doNothing())
    .execute()
  return await trx.selectFrom('meeting_mails').where('meeting_id', '=', meetingId).select(['is_overdue', 'is_cleared'])
    .forUpdate().executeTakeFirstOrThrow()
}

/** Asks fitmatch now, so that no event carries a place. Null if the activity is gone: the mail is sent without it. */
async function readDetails ({ callRpc }: Deps, { meetingId }: Meeting) {
  const details = await callRpc(MeetingDetails, { meetingId })
  if (!details) return null
  const { locationName, branch, city, companions, latitude, longitude, ...times } = details
  // The host wrote the name of the place, and everybody their own name.
  const place = [locationName, branch, city].filter((part) => part !== null).map(plainText).join(', ')
  return {
    ...times,
    place: latitude === null || longitude === null ? place : `${place} (${latitude}, ${longitude})`,
    companions: companions.map(plainName)
  }
}

type Write = (templates: MailTemplates, common: { name: string, url: string }) => MailContent

/** Writes a mail to the contact who has agreed, if there is one. Returns its id, unless it was written before. */
async function mailContact (
  trx: Trx,
  { publicUrl }: Deps,
  { meetingId, accountId }: Meeting,
  kind: 'shared' | 'overdue' | 'cleared',
  write: Write
) {
  const contact = await findConfirmedContact(trx, accountId)
  if (!contact) return
  const owner = await trx.selectFrom('people').where('account_id', '=', accountId).select('name').executeTakeFirst()
  const common = { name: plainName(owner?.name ?? ''), url: await createContactLink(trx, publicUrl, contact.id) }
  return await createMail(trx, {
    dedupeKey: `meeting-${kind}:${meetingId}`,
    recipient: contact.email,
    accountId,
    // Bounded by the activities of a day. A limit would suppress an alarm.
    rateLimited: false,
    // An alarm that waits for a mail server must not arrive after the all-clear.
    ...kind !== 'shared' && { collapseKey: `meeting:${meetingId}` },
    ...write(templatesFor(contact.locale), common)
  })
}
