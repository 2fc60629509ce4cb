import { useState } from 'preact/hooks'
import { tandem } from './api.js'
import { html, Loading, useLoad } from './ui.js'

const icons = { workout: '💪', streak: '🔥', record: '🏋️', level: '⭐', program: '📋', people: '🤝' }
const NEXT_SHOWN = 3

/** What the person has earned, newest first, each to share in a post, and what they are closest to. */
export function Achievements () {
  const loaded = useLoad(async () => (await tandem.listAchievements()).data.achievements)
  const [error, setError] = useState('')
  if (!loaded.data) return html`<${Loading} of=${loaded} rows=${1} />`
  const earned = loaded.data.filter(({ earnedAt }) => earnedAt).toSorted((one, other) =>
    other.earnedAt.localeCompare(one.earnedAt)
  )
  const next = loaded.data.filter(({ earnedAt }) => !earnedAt).toSorted((one, other) => other.progress - one.progress)
  const share = async ({ id }) => {
    setError('')
    try {
      const { data } = await tandem.createPost({ body: { type: 'ACHIEVEMENT', achievementId: id } })
      loaded.change((all) => all.map((each) => each.id === id ? { ...each, postId: data.post.id } : each))
    } catch (error) {
      setError(error.message)
    }
  }
  return html`
    <section class="card achievements"><h2>Achievements</h2>
      ${earned.length === 0 && html`<p class="soft">Log a workout to earn the first one.</p>`}
      <ul>${
    earned.map((each) =>
      html`
        <li key=${each.kind}><span>${icons[each.icon]}</span><div><b>${each.title}</b></div>
          ${
        each.postId
          ? html`<span class="soft">Shared</span>`
          : html`<button class="button" onClick=${() => share(each)}>Share</button>`
      }</li>`
    )
  }
      ${
    next.slice(0, NEXT_SHOWN).map(({ kind, icon, title, description, progress }) =>
      html`
        <li key=${kind} class="next"><span>${
        icons[icon]
      }</span><div><b>${title}</b><span class="soft">${description}</span>
          <div class="bar"><i style="width: ${progress}%"></i></div></div></li>`
    )
  }</ul>
      ${error && html`<p class="error" role="alert">${error}</p>`}
    </section>`
}
