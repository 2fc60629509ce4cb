import { useEffect, useState } from 'preact/hooks'
import { tandem } from './api.js'
import { Avatar, html, Icon, timeAgo, useLoad } from './ui.js'

const PICTURE_SECONDS = 5

export function Stories () {
  const rings = useLoad(async () => (await tandem.listStories()).data.storyRings)
  const [open, setOpen] = useState()
  const close = () => {
    setOpen()
    void rings.reload()
  }
  if (!rings.data?.length) return null
  return html`
    <div class="stories">${
    rings.data.map((ring, index) =>
      html`
      <button key=${ring.userId} class=${ring.hasUnviewed ? 'new' : ''} onClick=${() => setOpen(index)}>
        <${Avatar} user=${{ name: ring.userName, image: ring.userImage }} size=${62} /><span>${
        ring.isOwn ? 'You' : ring.userName.split(' ')[0]
      }</span>
      </button>`
    )
  }</div>
    ${open !== undefined && html`<${Viewer} rings=${rings.data} first=${open} onClose=${close} />`}`
}

function Viewer ({ rings, first, onClose }) {
  const [person, setPerson] = useState(first)
  const [index, setIndex] = useState(0)
  const ring = rings[person]
  const loaded = useLoad(async () => (await tandem.listStories({ query: { userId: ring.userId } })).data.stories, [
    ring.userId
  ])
  // Until those of the next person are there, the data is that of the one before.
  const stories = loaded.data?.filter(({ userId }) => userId === ring.userId) ?? []
  const story = stories[index]
  const seconds = story?.duration ?? PICTURE_SECONDS
  const move = (step) => {
    if (stories[index + step]) setIndex(index + step)
    else if (rings[person + step]) {
      setPerson(person + step)
      setIndex(0)
    } else onClose()
  }
  useEffect(() => {
    if (!story) return
    void tandem.viewStory({ path: { id: story.id } }).catch(() => {})
    const timer = setTimeout(() => move(1), seconds * 1_000)
    return () => clearTimeout(timer)
  }, [story?.id])
  useEffect(() => {
    const onKey = ({ key }) => {
      if (key === 'Escape') onClose()
      if (key === 'ArrowRight') move(1)
      if (key === 'ArrowLeft') move(-1)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  const react = async (emoji) => {
    await tandem.reactToStory({ path: { id: story.id }, body: { emoji } })
    loaded.change((stories) => stories.map((each) => each === story ? { ...each, myReaction: emoji } : each))
  }
  return html`
    <div class="viewer" role="dialog" aria-label="Stories">
      <div class="story">
        ${
    story && (story.mediaType === 'VIDEO'
      ? html`<video class="picture" src=${story.mediaUrl} poster=${story.media.posterUrl} aria-label=${
        story.caption ?? ''
      } autoplay muted playsinline />`
      : html`<img class="picture" src=${story.mediaUrl} alt=${story.caption ?? ''} />`)
  }
        <div class="bars">${
    stories.map((each, at) =>
      html`<i key=${each.id} class=${
        at < index ? 'done' : at === index ? 'now' : ''
      } style="--seconds: ${seconds}s"></i>`
    )
  }</div>
        <header><${Avatar} user=${{
    name: ring.userName,
    image: ring.userImage
  }} size=${36} /><b>${ring.userName}</b><span>${story && timeAgo(story.createdAt)}</span>
          <button class="plain" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></header>
        <button class="left" aria-label="Previous" onClick=${() => move(-1)}></button>
        <button class="right" aria-label="Next" onClick=${() => move(1)}></button>
        <footer>${story?.caption && html`<p>${story.caption}</p>`}
          ${
    story && !ring.isOwn && html`<div>${
      ['🔥', '👏', '💪', '😍', '🙌'].map((emoji) =>
        html`<button aria-pressed=${story.myReaction === emoji} onClick=${() => react(emoji)}>${emoji}</button>`
      )
    }</div>`
  }
        </footer>
      </div>
    </div>`
}
