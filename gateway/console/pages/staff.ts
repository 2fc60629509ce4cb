import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { redirectAfter, type Made, type Pages } from '../visits.ts'
import { badge, empty, options, segment, time } from './parts.ts'

interface StaffMember {
  id: string
  email: string
  role: 'SUPPORT' | 'MODERATOR' | 'ADMIN'
  disabledAt: string | null
  passkeys: number
  lastSeenAt: string | null
}

const roles = ['SUPPORT', 'MODERATOR', 'ADMIN'] as const

export function serveStaff ({ page, form }: Pages) {
  page('/staff', 'staff.read', async (visit) => {
    const { texts } = visit
    const found = await visit.find<{ staff: StaffMember[] }>('identity', '/operator/staff')
    return {
      title: texts.pages.staff,
      content: html`<h1>${texts.pages.staff}</h1><div class="columns">
        <section aria-label="${texts.pages.staff}">${
        found ? found.staff.map((each) => staffCard(visit, each)) : empty(texts.queue.unknown)
      }</section>
        <aside aria-label="${texts.staff.invite}">${visit.can('staff.change') && inviteForm(visit)}</aside></div>`
    }
  })

  form('/staff', 'staff.change', async (visit, fields) => {
    const accountId = fields.text('accountId')
    const made = await visit.send<Made>('identity', 'POST', '/operator/staff', {
      email: fields.text('email'),
      role: fields.text('role'),
      ...(accountId && { accountId })
    })
    return redirectAfter('/staff', 'invited', made)
  })

  form('/staff/:id/invitation', 'staff.change', async (visit) => {
    const path = `/operator/staff/${segment(visit.params['id'])}/invitation`
    return redirectAfter('/staff', 'invited', await visit.send<Made>('identity', 'POST', path))
  })

  form('/staff/:id/role', 'staff.change', async (visit, fields) => {
    const path = `/operator/staff/${segment(visit.params['id'])}`
    const made = await visit.send<Made>('identity', 'PUT', path, { role: fields.text('role') })
    return redirectAfter('/staff', 'changed', made)
  })

  form('/staff/:id/remove', 'staff.change', async (visit) => {
    const made = await visit.send<Made>('identity', 'DELETE', `/operator/staff/${segment(visit.params['id'])}`)
    return redirectAfter('/staff', 'removed', made)
  })
}

const inviteForm = ({ texts: { staff, roles: names } }: Visit) =>
  html`<form method="post" action="/staff" class="card"><h2>${staff.invite}</h2>
    <label>${staff.email}<input type="email" name="email" maxlength="254" required autocomplete="off"></label>
    <label>${staff.role}<select name="role">${options(names, roles, 'MODERATOR')}</select></label>
    <label>${staff.account}<input name="accountId" maxlength="36" autocomplete="off" spellcheck="false"></label>
    <p class="meta">${staff.accountHint}</p>
    <p class="meta">${staff.inviteHint}</p>
    <button class="primary">${staff.invite}</button></form>`

function staffCard (visit: Visit, { id, email, role, disabledAt, passkeys, lastSeenAt }: StaffMember) {
  const { texts, staff: own, can } = visit
  const words = texts.staff
  const path = `/staff/${segment(id)}`
  return html`<article class="card">
    <div class="row spread"><h2>${email}</h2><p>${badge(texts.roles[role])} ${
    disabledAt ? badge(words.removed, 'bad') : passkeys === 0 ? badge(words.invited, 'warn') : ''
  } ${id === own.id && badge(words.you, 'good')}</p></div>
    <p class="meta">${lastSeenAt ? html`${words.lastSeen} ${time(visit, lastSeenAt)}` : words.neverSeen}</p>
    ${
    can('staff.change') && id !== own.id &&
    html`<div class="row">
      <form method="post" action="${path}/role" class="row"><label>${words.role}<select name="role">${
      options(texts.roles, roles, role)
    }</select></label><button>${disabledAt ? words.restore : words.change}</button></form>
      ${
      !disabledAt &&
      html`<form method="post" action="${path}/invitation"><button data-confirm="${words.reinviteConfirm}">${words.reinvite}</button></form>
      <form method="post" action="${path}/remove"><button class="danger" data-confirm="${words.removeConfirm}">${words.remove}</button></form>`
    }</div>`
  }</article>`
}
