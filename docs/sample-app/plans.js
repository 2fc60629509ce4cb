import { useState } from 'preact/hooks'
import { tandem } from './api.js'
import { useReloads } from './realtime.js'
import { Avatar, html, Icon, useLoad } from './ui.js'

/** What the person goes to, and the invitations that they can answer. */
export function Plans ({ me, upcoming, onChange }) {
  const [error, setError] = useState('')
  // People without a FitMatch profile have no invitations.
  const invitations = useLoad(async () =>
    (await tandem.listActivities({ query: { filter: 'invitations' } }).catch(() => ({ data: { activities: [] } })))
      .data.activities.filter(({ myState }) => myState === 'INVITED')
  )
  const reload = async () => await Promise.all([invitations.reload(), onChange()])
  useReloads(['notification.created', 'notifications.changed'], reload)
  const answer = async ({ id, version }, accept) => {
    setError('')
    try {
      // With the version on the screen: nobody agrees to a time or a place that they have not seen.
      await tandem.respondToInvitation({ path: { id }, body: { accept, version } })
    } catch (error) {
      setError(error.message)
    }
    await reload()
  }
  const invited = invitations.data ?? []
  if (upcoming.length + invited.length === 0) return null
  return html`
    <section class="card plans"><h2>Train together</h2>
      ${
    invited.map((activity) =>
      html`<${Invitation} key=${activity.id} me=${me} activity=${activity} onAnswer=${answer} />`
    )
  }
      ${error && html`<p class="error" role="alert">${error}</p>`}
      ${upcoming.map((activity) => html`<div key=${activity.id} class="plan"><${Details} ...${activity} /></div>`)}
    </section>`
}

function Invitation ({ me, activity, onAnswer }) {
  const { host, participants } = activity
  const wasGoing = participants.some((each) => each.user.id === me.id && each.wasGoing)
  return html`
    <div class="plan invited">
      <p class="soft">${host && html`<${Avatar} user=${{ image: host.photo, name: host.displayName }} size=${28} />`}
        ${wasGoing ? 'The plan has changed' : `${host?.displayName.split(' ')[0] ?? 'Somebody'} invites you`}</p>
      <${Details} ...${activity} />
      ${activity.note && html`<p class="soft">“${activity.note}”</p>`}
      <div class="answers"><button class="button" onClick=${() => onAnswer(activity, false)}>No, thanks</button>
        <button class="primary" onClick=${() => onAnswer(activity, true)}>I am in</button></div>
    </div>`
}

function Details ({ title, date, startTime, endTime, locationName }) {
  const day = new Date(`${date}T12:00`)
  return html`<div class="details">
    <time datetime=${date}><b>${day.getDate()}</b>${day.toLocaleDateString('en', { weekday: 'short' })}</time>
    <div><b>${title}</b><p class="soft">${startTime}–${endTime}</p>
      ${locationName && html`<p class="soft place"><${Icon} name="pin" />${locationName}</p>`}</div></div>`
}
