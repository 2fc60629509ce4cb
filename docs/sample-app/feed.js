import { useMemo, useRef, useState } from 'preact/hooks'
import { tandem } from './api.js'
import { Shown } from './shown.js'
import { Stories } from './stories.js'
import { Avatar, Empty, html, Icon, Loading, timeAgo, useLoad } from './ui.js'
import { upload } from './upload.js'

const kinds = { all: 'For you', following: 'Following', trending: 'Trending' }

export function Feed ({ me }) {
  const [feedType, setFeedType] = useState('all')
  const feed = useLoad(async () => (await tandem.listFeed({ query: { feedType, limit: 10 } })).data, [feedType])
  const more = async () => {
    const { data } = await tandem.listFeed({ query: { feedType, limit: 10, cursor: feed.data.nextCursor } })
    feed.change(({ posts }) => ({ ...data, posts: [...posts, ...data.posts] }))
  }
  const replace = (changed) =>
    feed.change((data) => ({ ...data, posts: data.posts.map((post) => post.id === changed.id ? changed : post) }))
  const add = (post) => feed.change((data) => ({ ...data, posts: [post, ...data?.posts ?? []] }))
  const [storiesShared, setStoriesShared] = useState(0)
  return html`
    <${Stories} key=${storiesShared} />
    <${Composer} me=${me} onPost=${add} onStory=${() => setStoriesShared(storiesShared + 1)} />
    <div class="segments">${
    Object.entries(kinds).map(([kind, title]) =>
      html`
      <button aria-pressed=${kind === feedType} onClick=${() => setFeedType(kind)}>${title}</button>`
    )
  }</div>
    ${!feed.data && html`<${Loading} of=${feed} />`}
    ${feed.data?.posts.map((post) => html`<${Post} key=${post.id} post=${post} onChange=${replace} />`)}
    ${
    feed.data?.posts.length === 0 &&
    html`<${Empty} icon="feed" title="Nothing here yet">Follow people, or post the first picture.<//>`
  }
    ${feed.data?.nextCursor && html`<button class="button wide" onClick=${more}>Show more</button>`}`
}

function Composer ({ me, onPost, onStory }) {
  const [content, setContent] = useState('')
  const [file, setFile] = useState()
  const [error, setError] = useState('')
  const [progress, setProgress] = useState()
  const input = useRef()
  const preview = useMemo(() => file && URL.createObjectURL(file), [file])
  const choose = ({ target }) => {
    setFile(target.files[0])
    // Otherwise the same file cannot be chosen again.
    target.value = ''
  }
  const share = async (create) => {
    setError('')
    setProgress(0)
    try {
      await create(file && await upload(file, setProgress))
      setContent('')
      setFile()
    } catch (error) {
      setError(error.message)
    }
    setProgress()
  }
  const createPost = async (media) => {
    const picture = media && { mediaUrls: [media.url], mediaType: media.mimeType }
    const { data } = await tandem.createPost({ body: { type: media?.mediaType ?? 'TEXT', content, ...picture } })
    onPost(data.post)
  }
  // A video's story takes as long as the video.
  const createStory = async ({ url, mediaType }) => {
    await tandem.createStory({ body: { mediaUrl: url, mediaType, ...content && { caption: content } } })
    onStory()
  }
  const isBusy = progress !== undefined
  const post = (event) => {
    event.preventDefault()
    void share(createPost)
  }
  return html`
    <form class="card composer" onSubmit=${post}>
      <${Avatar} user=${me} size=${40} />
      <input class="field" placeholder="How did it go?" aria-label="New post" value=${content} onInput=${(event) =>
    setContent(event.target.value)} />
      <input type="file" accept="image/*,video/mp4,video/quicktime" hidden ref=${input} onChange=${choose} />
      <button type="button" class="plain" aria-label="Add a picture or video" onClick=${() =>
    input.current.click()}><${Icon} name="picture" /></button>
      <button class="primary" disabled=${isBusy || !content.trim() && !file}>Post</button>
      ${
    file &&
    html`<div class="preview">${
      file.type.startsWith('video/')
        ? html`<video src=${preview} aria-label="The chosen video" muted />`
        : html`<img src=${preview} alt="The chosen picture" />`
    }<button type="button" class="plain" aria-label="Remove it" disabled=${isBusy} onClick=${() =>
      setFile()}><${Icon} name="close" /></button></div>
      <button type="button" class="button" disabled=${isBusy} onClick=${() =>
      share(createStory)}>Share as a story</button>`
  }
      ${
    isBusy && file?.type.startsWith('video/') && html`
      <label class="upload">${progress < 1 ? `Uploading, ${Math.round(100 * progress)} %` : 'Preparing the video'}
        <progress max="1" value=${progress < 1 ? progress : undefined}></progress></label>`
  }
      ${error && html`<p class="error" role="alert">${error}</p>`}
    </form>`
}

function Post ({ post, onChange }) {
  const [isOpen, setOpen] = useState(false)
  const like = async () => {
    const liked = !post.isLiked
    // Shown at once; taken back if it fails.
    onChange({ ...post, isLiked: liked, likesCount: post.likesCount + (liked ? 1 : -1) })
    const call = liked ? tandem.likePost : tandem.unlikePost
    await call.call(tandem, { path: { id: post.id } }).catch(() => onChange(post))
  }
  const vote = async (optionId) => {
    const { data } = await tandem.voteInPoll({ path: { id: post.id }, body: { optionId } })
    onChange({ ...post, poll: data.poll })
  }
  return html`
    <article class="card post">
      <header><${Avatar} user=${post.user} /><div><b>${post.user.name}</b><span class="soft">${
    timeAgo(post.createdAt)
  }</span></div></header>
      ${post.content && html`<p>${tagged(post.content)}</p>`}
      <${Shown} post=${post} />
      ${post.poll && html`<${Poll} poll=${post.poll} onVote=${vote} />`}
      ${
    post.mediaUrls.length > 0 && html`<div class="pictures" onDblClick=${() =>
      post.isLiked || like()}>${
      post.media.map(({ type, url, posterUrl }) =>
        type === 'VIDEO'
          ? html`<video src=${url} poster=${posterUrl} controls playsinline preload="metadata" />`
          : html`<img src=${url} alt="" loading="lazy" />`
      )
    }</div>`
  }
      <footer>
        <button class="plain like" aria-pressed=${post.isLiked} aria-label=${
    post.isLiked ? 'Unlike' : 'Like'
  } onClick=${like}><${Icon} name="heart" filled=${post.isLiked} />${post.likesCount}</button>
        <button class="plain" aria-expanded=${isOpen} aria-label="Comments" onClick=${() =>
    setOpen(!isOpen)}><${Icon} name="comment" />${post.commentsCount}</button>
      </footer>
      ${isOpen && html`<${Comments} post=${post} onChange=${onChange} />`}
    </article>`
}

const tagged = (text) =>
  text.split(/([#@][\w.]+)/).map((part, index) => index % 2 ? html`<span class="tag">${part}</span>` : part)

function Poll ({ poll, onVote }) {
  return html`
    <div class="poll"><b>${poll.question}</b>
      ${
    poll.options.map(({ id, text, votesCount }) =>
      html`
        <button class="button" disabled=${poll.myVote} aria-pressed=${id === poll.myVote} onClick=${() => onVote(id)}>
          ${poll.myVote && html`<i style="width: ${100 * votesCount / poll.totalVotes}%"></i>`}
          <span>${text}</span>${poll.myVote && html`<b>${Math.round(100 * votesCount / poll.totalVotes)} %</b>`}
        </button>`
    )
  }
      <span class="soft">${poll.totalVotes} votes</span>
    </div>`
}

function Comments ({ post, onChange }) {
  const [text, setText] = useState('')
  const path = { id: post.id }
  const loaded = useLoad(async () => (await tandem.listComments({ path })).data.comments, [post.id])
  const send = async (event) => {
    event.preventDefault()
    const { data } = await tandem.createComment({ path, body: { content: text } })
    loaded.change((comments) => [...comments, data.comment])
    onChange({ ...post, commentsCount: post.commentsCount + 1 })
    setText('')
  }
  return html`
    <div class="comments">
      ${
    loaded.data?.map(({ id, user, content, createdAt }) =>
      html`
        <div key=${id}><${Avatar} user=${user} size=${30} /><p><b>${user.name}</b> ${content} <span class="soft">${
        timeAgo(createdAt)
      }</span></p></div>`
    )
  }
      <form onSubmit=${send}><input class="field" placeholder="Write a comment" aria-label="Comment" value=${text} onInput=${(
    event
  ) => setText(event.target.value)} />
        <button class="plain" aria-label="Send" disabled=${!text.trim()}><${Icon} name="send" /></button></form>
    </div>`
}
