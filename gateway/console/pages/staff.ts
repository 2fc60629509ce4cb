import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { redirectTo, type Pages } from '../visits.ts'
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
    const { url } = await visit.send<{ url: string }>('identity', 'POST', '/operator/staff', {
      email: fields.text('email'),
      role: fields.text('role'),
      ...(accountId && { accountId })
    })
    return linkPage(visit, url)
  })

  form('/staff/:id/invitation', 'staff.change', async (visit) => {
    const path = `/operator/staff/${segment(visit.params['id'])}/invitation`
    return linkPage(visit, (await visit.send<{ url: string }>('identity', 'POST', path)).url)
  })

  form('/staff/:id/role', 'staff.change', async (visit, fields) => {
    await visit.send('identity', 'PUT', `/operator/staff/${segment(visit.params['id'])}`, { role: fields.text('role') })
    return redirectTo('/staff?done=changed')
  })

  form('/staff/:id/remove', 'staff.change', async (visit) => {
    await visit.send('identity', 'DELETE', `/operator/staff/${segment(visit.params['id'])}`)
    return redirectTo('/staff?done=removed')
  })
}

/** The link of an invitation. It is shown once, and only to the administrator who made it. */
const linkPage = ({ texts }: Visit, url: string) => ({
  title: texts.staff.link,
  content: html`<h1>${texts.staff.link}</h1><p>${texts.staff.linkText}</p>
    <p class="card mono secret">${url}</p><p><a class="button" href="/staff">${texts.layout.back}</a></p>`
})

const inviteForm = ({ texts: { staff, roles: names } }: Visit) =>
  html`<form method="post" action="/staff" class="card"><h2>${staff.invite}</h2>
    <label>${staff.email}<input type="email" name="email" maxlength="254" required autocomplete="off"></label>
    <label>${staff.role}<select name="role">${options(names, roles, 'MODERATOR')}</select></label>
    <label>${staff.account}<input name="accountId" maxlength="36" autocomplete="off" spellcheck="false"></label>
    <p class="meta">${staff.accountHint}</p>
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
