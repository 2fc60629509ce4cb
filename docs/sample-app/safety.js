import { useRef, useState } from 'preact/hooks'
import { tandem } from './api.js'
import { Empty, html, Icon, Loading, useLoad } from './ui.js'

const rejections = {
  FACE_NOT_VISIBLE: 'Your face was not visible. Take the selfie in bright light, without sunglasses.',
  DIFFERENT_PERSON: 'The selfie did not look like your main photo. Choose one that shows you as you look now.',
  PHOTO_OF_A_PHOTO: 'It was a photo of a photo. Take a new selfie.',
  SEVERAL_PEOPLE: 'It showed several people. Take a selfie of you alone.',
  MAIN_PHOTO_CHANGED: 'Your main photo changed. Verify the new one.',
  OTHER: 'It could not be accepted.'
}
const statuses = {
  NONE: 'A selfie shows others that your photos are of you. Only our team sees it.',
  PENDING: 'We compare your selfie with your photos. You get a notification.',
  APPROVED: 'Your photos are verified.',
  REJECTED: 'Your selfie was not accepted.'
}
export const reasons = {
  FAKE_PROFILE: 'Not a real person',
  HARASSMENT: 'Insults or harassment',
  INAPPROPRIATE_CONTENT: 'Inappropriate photos or texts',
  SPAM: 'Advertising',
  UNDERAGE: 'Younger than 18',
  OFFLINE_BEHAVIOR: 'Something at a meeting',
  OTHER: 'Something else'
}
const states = {
  OPEN: 'We are looking at it',
  ACTION_TAKEN: 'We have acted on it',
  NO_VIOLATION: 'No rule was broken'
}

/** The verification of one's photos, and what came of one's reports. */
export const Safety = () =>
  html`<header class="top"><a class="plain" href="#/discover" aria-label="Back"><${Icon} name="back" /></a><h1>Safety</h1><span></span></header>
    <${Verification} /><${Reports} />`

function Verification () {
  const loaded = useLoad(async () => (await tandem.getVerification()).data.verification)
  const [error, setError] = useState('')
  const input = useRef()
  const submit = async ({ target }) => {
    setError('')
    await tandem.submitVerification({ body: { photo: target.files[0] } }).catch(({ message }) => setError(message))
    await loaded.reload()
  }
  if (!loaded.data) return html`<${Loading} of=${loaded} rows=${1} />`
  const { status, reason, reasonCode } = loaded.data
  return html`
    <section class="card stack"><h2>Verified photos</h2>
      <p class=${status === 'REJECTED' ? 'error' : ''}>${statuses[status]} ${rejections[reasonCode]}</p>
      ${reason && html`<blockquote>${reason}</blockquote>`}
      ${
    (status === 'NONE' || status === 'REJECTED') && html`
      <input type="file" accept="image/*" capture="user" hidden ref=${input} onChange=${submit} aria-label="Selfie" />
      <button class="button" onClick=${() => input.current.click()}>Take a selfie</button>`
  }
      ${error && html`<p class="error" role="alert">${error}</p>`}
    </section>`
}

function Reports () {
  const loaded = useLoad(async () => (await tandem.listMyReports()).data.reports)
  if (!loaded.data) return html`<${Loading} of=${loaded} rows=${1} />`
  return html`
    <section class="card stack"><h2>Your reports</h2>
      <ul class="rows">${
    loaded.data.map(({ id, reason, details, state, createdAt }) =>
      html`
        <li key=${id}><div><b>${reasons[reason]}</b><p class="soft">${
        new Date(createdAt).toLocaleDateString('en', { day: 'numeric', month: 'long' })
      }${details && ` · ${details}`}</p><p>${states[state]}</p></div></li>`
    )
  }</ul>
      ${loaded.data.length === 0 && html`<${Empty} icon="check" title="None">You have reported nobody.<//>`}
    </section>`
}

/** A form to report somebody, who is then blocked too. */
export function ReportForm ({ profile, onClose, onReported }) {
  const [error, setError] = useState('')
  const report = async (event) => {
    event.preventDefault()
    const { reason, details } = Object.fromEntries(new FormData(event.target))
    try {
      await tandem.reportPerson({ body: { reportedProfileId: profile.id, reason, details } })
      onReported()
    } catch (error) {
      setError(error.message)
    }
  }
  return html`
    <div class="sheet" role="dialog" aria-label="Report"><form class="card stack" onSubmit=${report}>
      <h2>Report ${profile.displayName.split(' ')[0]}</h2>
      <p class="soft">They are blocked at once, and not told.</p>
      <label>What is wrong?<select class="field" name="reason">${
    Object.entries(reasons).map(([value, text]) => html`<option value=${value}>${text}</option>`)
  }</select></label>
      <label>Details<textarea class="field" name="details" rows="3" maxlength="2000"></textarea></label>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      <button class="primary">Report and block</button>
      <button type="button" class="button" onClick=${onClose}>Cancel</button>
    </form></div>`
}
