import { useRef, useState } from 'preact/hooks'
import { tandem } from './api.js'
import { Paywall } from './paywall.js'
import { ReportForm } from './safety.js'
import { Empty, html, Icon, Loading, useLoad } from './ui.js'

const SWIPE_PX = 110

export function Discover () {
  const loaded = useLoad(async () => (await tandem.discoverPeople({ query: { limit: 10 } })).data)
  const [match, setMatch] = useState()
  const [error, setError] = useState('')
  const [isOffered, setOffered] = useState(false)
  const [isReporting, setReporting] = useState(false)
  if (!loaded.data) return html`<header class="top"><h1>Discover</h1></header><${Loading} of=${loaded} rows=${1} />`
  const { profiles: [profile, next], limits } = loaded.data

  const swipe = async (swipeType) => {
    setError('')
    try {
      const { data } = await tandem.swipe({ body: { targetProfileId: profile.id, swipeType } })
      loaded.change(({ profiles }) => ({
        profiles: profiles.slice(1),
        limits: { ...limits, remaining: data.remaining }
      }))
      if (data.isMatch) setMatch(data.match)
    } catch (error) {
      setError(error.message)
      if (error.code === 'LIMIT_EXCEEDED') setOffered(true)
    }
  }
  const reported = () => {
    setReporting(false)
    loaded.change((data) => ({ ...data, profiles: data.profiles.slice(1) }))
  }
  const closeOffer = async () => {
    setOffered(false)
    setError('')
    await loaded.reload()
  }
  return html`
    <header class="top"><h1>Discover</h1><div class="chips"><button class="chip" onClick=${() => setOffered(true)}>${
    limits.unlimited ? '∞' : limits.remaining
  } swipes</button><a class="chip" href="#/gyms"><${Icon} name="pin" />Gyms</a><a class="chip" href="#/safety" aria-label="Safety" title="Safety"><${Icon} name="shield" /></a></div></header>
    <div class="deck">
      ${next && html`<${Card} key=${next.id} profile=${next} />`}
      ${profile && html`<${Card} key=${profile.id} profile=${profile} onSwipe=${swipe} />`}
      ${!profile && html`<${Empty} icon="discover" title="That is everybody">New people arrive every day.<//>`}
    </div>
    ${error && html`<p class="error">${error}</p>`}
    ${isOffered && html`<${Paywall} onClose=${closeOffer} />`}
    ${
    profile && html`
      <div class="choices">
        <button class="pass" aria-label="Pass" onClick=${() => swipe('PASS')}><${Icon} name="close" /></button>
        <button class="yes" aria-label="Train together" onClick=${() =>
      swipe('WORKOUT_BUDDY')}><${Icon} name="heart" filled /></button>
      </div>
      <button class="plain report" onClick=${() => setReporting(true)}>Report</button>`
  }
    ${
    isReporting &&
    html`<${ReportForm} profile=${profile} onClose=${() => setReporting(false)} onReported=${reported} />`
  }
    ${
    match && html`
      <div class="match" role="dialog" aria-label="A match"><img src=${match.matchedProfile.photo} alt="" />
        <h1>It’s a match!</h1><p>You and ${match.matchedProfile.displayName.split(' ')[0]} want to train together.</p>
        <a class="primary" href="#/chats/${match.matchId}">Say hello</a><button class="button" onClick=${() =>
      setMatch()}>Keep swiping</button>
      </div>`
  }`
}

/** A card that follows the finger, and swipes when it is let go far from the middle. */
function Card ({ profile, onSwipe }) {
  const card = useRef()
  const [photo, setPhoto] = useState(0)
  const start = useRef()
  const place = (x) => {
    card.current.style.transform = x ? `translateX(${x}px) rotate(${x / 22}deg)` : ''
    card.current.style.setProperty('--yes', Math.max(0, x / SWIPE_PX))
    card.current.style.setProperty('--no', Math.max(0, -x / SWIPE_PX))
  }
  const onDown = (event) => {
    start.current = event.clientX
    card.current.setPointerCapture(event.pointerId)
  }
  const onMove = ({ clientX }) => start.current !== undefined && place(clientX - start.current)
  const onUp = ({ clientX }) => {
    if (start.current === undefined) return
    const x = clientX - start.current
    start.current = undefined
    if (Math.abs(x) < 5) setPhoto((photo + 1) % profile.photos.length)
    place(0)
    if (Math.abs(x) > SWIPE_PX) onSwipe(x > 0 ? 'WORKOUT_BUDDY' : 'PASS')
  }
  const drag = onSwipe && { onPointerDown: onDown, onPointerMove: onMove, onPointerUp: onUp, onPointerCancel: onUp }
  const { displayName, age, bio, city, distance, compatibilityScore, favoriteSports, photos, sharedVenues } = profile
  return html`
    <article class="person" ref=${card} ...${drag}>
      <img src=${photos[photo]?.url} alt="" draggable="false" />
      <div class="dots">${photos.map((each, index) => html`<i class=${index === photo ? 'now' : ''}></i>`)}</div>
      <span class="stamp yes">Yes</span><span class="stamp no">Pass</span>
      <div class="about">
        <h2>${displayName.split(' ')[0]}${
    age && html`<small>, ${age}</small>`
  }<span class="chip">${compatibilityScore} % fit</span></h2>
        <p><${Icon} name="pin" />${city}${distance && ` · ${distance} km`}</p><p>${bio}</p>
        ${
    sharedVenues.length > 0 &&
    html`<p class="shared"><${Icon} name="check" />You both train at ${
      sharedVenues.map(({ name }) => name).join(' and ')
    }</p>`
  }
        <div class="chips">${
    favoriteSports.slice(0, 3).map((sport) => html`<span class="chip">${sport.replaceAll('_', ' ')}</span>`)
  }</div>
      </div>
    </article>`
}
