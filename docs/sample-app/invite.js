import { useState } from 'preact/hooks'
import { tandem } from './api.js'
import { html, useLoad } from './ui.js'

/** The code that friends enter when they register, and what came of it. */
export function Invite () {
  const [isCopied, setCopied] = useState(false)
  const loaded = useLoad(async () => (await tandem.getReferrals()).data)
  if (!loaded.data) return null
  const { code, shareUrl, verifiedCount, rewardDays } = loaded.data
  const copy = async () => {
    await navigator.clipboard.writeText(shareUrl)
    setCopied(true)
  }
  return html`
    <section class="card invite"><h2>Invite a friend</h2>
      <p>Both of you get days of premium when they register with your code.</p>
      <p class="code">${code}</p>
      <button class="button" onClick=${copy}>${isCopied ? 'Copied' : 'Copy the link'}</button>
      ${verifiedCount > 0 && html`<p class="soft">${verifiedCount} joined · ${rewardDays} days of premium</p>`}
    </section>`
}
