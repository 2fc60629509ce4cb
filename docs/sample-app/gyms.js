import { useState } from 'preact/hooks'
import { tandem } from './api.js'
import { html, Icon, Loading, useLoad, useSearch } from './ui.js'

/** Where the person trains, as their FitMatch profile shows it. */
export function Gyms () {
  const mine = useLoad(async () => (await tandem.listVenues()).data)
  const [error, setError] = useState('')
  const change = async (work) => {
    setError('')
    await work().catch((error) => setError(error.message))
    await mine.reload()
  }
  const add = (venue) => change(() => tandem.addVenue({ body: venue }))
  if (!mine.data) return html`<${Top} /><${Loading} of=${mine} rows=${2} />`
  const { venues, maxVenues } = mine.data
  return html`<${Top} />
    <section class="card stack"><h2>Your gyms</h2>
      ${venues.length === 0 && html`<p class="soft">Add the gym you go to. People who train there too come first.</p>`}
      <ul class="rows">${
    venues.map(({ id, name, branch, city }) =>
      html`
        <li key=${id}><${Icon} name="pin" /><div><b>${name}</b><p class="soft">${
        [branch, city].filter(Boolean).join(' · ') || 'Added by you'
      }</p></div>
          <button class="plain" aria-label="Remove ${name}" onClick=${() =>
        change(() => tandem.deleteVenue({ query: { id } }))}><${Icon} name="close" /></button></li>`
    )
  }</ul>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      ${
    venues.length < maxVenues
      ? html`<${GymSearch} mine=${venues} onChoose=${add} />`
      : html`<p class="soft">You have ${maxVenues} gyms, the most there can be. Remove one to add another.</p>`
  }
    </section>`
}

const Top = () =>
  html`<header class="top"><a class="plain" href="#/discover" aria-label="Back"><${Icon} name="back" /></a><h1>Gyms</h1><span></span></header>`

function GymSearch ({ mine, onChoose }) {
  // Without a position, the search is around that of the profile.
  const { text, setText, found, error } = useSearch(async (query) =>
    (await tandem.searchGyms({ query: { query, radiusKm: 25 } })).data
  )
  const others = found?.venues.filter(({ placeId }) => !mine.some((each) => each.placeId === placeId))
  const name = text.trim()
  const choose = (venue) => {
    setText('')
    onChoose(venue)
  }
  return html`
    <div class="search"><input class="field" type="search" placeholder="Find a gym by its name" aria-label="Find a gym"
      value=${text} onInput=${({ target }) => setText(target.value)} />
      ${error && html`<p class="error">${error}</p>`}
      ${
    found && html`<ul class="results">${
      others.slice(0, 6).map(({ placeId, name, city }) =>
        html`
        <li key=${placeId}><button onClick=${() => choose({ placeId, name })}><b>${name}</b><span class="soft">${
          city ?? ''
        }</span></button></li>`
      )
    }
        <li><button onClick=${() =>
      choose({
        name,
        isCustom: true
      })}><b>Add “${name}”</b><span class="soft">A place of your own, such as a park</span></button></li></ul>
      ${found.attribution && html`<p class="soft">${found.attribution}</p>`}`
  }
    </div>`
}
