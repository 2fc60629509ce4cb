import { html, Icon } from './ui.js'

/** What a post is about: a workout, an achievement, an activity, a place. */
export const Shown = ({ post: { workout, achievement, activity, location } }) =>
  html`
    ${workout && html`<${Workout} ...${workout} />`}
    ${achievement && html`<${Achievement} ...${achievement} />`}
    ${activity && html`<${Activity} ...${activity} />`}
    ${location?.name && html`<p class="soft place"><${Icon} name="pin" />${location.name}</p>`}`

function Workout ({ name, startedAt, durationMinutes, exercises, volumeKg, prs, calories }) {
  const figures = [
    [durationMinutes, 'min'],
    [exercises, exercises === 1 ? 'exercise' : 'exercises'],
    [Math.round(volumeKg).toLocaleString('en'), 'kg lifted', volumeKg],
    [prs, prs === 1 ? 'record' : 'records'],
    [calories, 'kcal']
  ].filter(([figure, , value = figure]) => value > 0)
  return html`
    <section class="shown workout" aria-label="Workout">
      <h3>💪 ${name ?? 'Workout'}<span class="soft">${
    new Date(startedAt).toLocaleDateString('en', {
      weekday: 'short',
      day: 'numeric',
      month: 'short'
    })
  }</span></h3>
      <dl class="figures">${figures.map(([figure, unit]) => html`<div><dt>${unit}</dt><dd>${figure}</dd></div>`)}</dl>
    </section>`
}

const Achievement = ({ title, earnedAt }) =>
  html`
    <section class="shown" aria-label="Achievement">
      <h3>🏆 ${title}</h3>
      <p class="soft">Earned on ${
    new Date(earnedAt).toLocaleDateString('en', { day: 'numeric', month: 'long', year: 'numeric' })
  }</p>
    </section>`

const Activity = ({ title, date, startTime, locationName, participants, isOpen }) =>
  html`
    <section class="shown" aria-label="Activity">
      <h3>📅 ${title}</h3>
      <p class="soft">${
    new Date(`${date}T12:00`).toLocaleDateString('en', { weekday: 'long', day: 'numeric', month: 'long' })
  }, ${startTime} · ${participants} going${isOpen && ' · places free'}</p>
      ${locationName && html`<p class="soft place"><${Icon} name="pin" />${locationName}</p>`}
    </section>`
