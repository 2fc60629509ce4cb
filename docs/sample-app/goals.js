import { useState } from 'preact/hooks'
import { tandem } from './api.js'
import { html, Loading, useLoad } from './ui.js'

const facts = {
  gender: 'gender',
  birthDate: 'date of birth',
  height: 'height',
  weight: 'weight',
  fitnessGoal: 'goal',
  workoutFrequency: 'workouts a week'
}

/** The goals of a day, and those that the figures of the profile suggest. Nothing is set before the person agrees. */
export function Goals ({ onChange }) {
  const loaded = useLoad(async () => {
    const [{ data: { goals } }, { data }] = await Promise.all([tandem.getGoals(), tandem.suggestGoals()])
    return { goals, ...data }
  })
  const [error, setError] = useState('')
  if (!loaded.data) return html`<section class="card"><h2>Goals</h2><${Loading} of=${loaded} rows=${1} /></section>`
  const { goals, suggestion, missing } = loaded.data
  const accept = async () => {
    setError('')
    const { dailyCalories, proteinTarget, carbsTarget, fatTarget, goalType } = suggestion
    try {
      await tandem.updateGoals({ body: { dailyCalories, proteinTarget, carbsTarget, fatTarget, goalType } })
      await Promise.all([loaded.reload(), onChange()])
    } catch (error) {
      setError(error.message)
    }
  }
  const isSet = goals && suggestion && names.every(([name]) => goals[name] === suggestion[name])
  return html`
    <section class="card goals"><h2>Goals</h2>
      ${goals?.dailyCalories ? html`<${Figures} of=${goals} />` : html`<p class="soft">You have set none yet.</p>`}
      ${
    suggestion && !isSet && html`
      <details><summary>Suggested for you: ${suggestion.dailyCalories.toLocaleString('en')} kcal a day</summary>
        <${Figures} of=${suggestion} />
        <p class="soft">${suggestion.formula}</p><p class="soft">${suggestion.source}</p>
        <button class="button" onClick=${accept}>Use these goals</button>
      </details>`
  }
      ${
    missing.length > 0 &&
    html`<p class="soft">For a suggestion, your profile lacks: ${
      missing.map((fact) => facts[fact] ?? fact).join(', ')
    }.</p>`
  }
      ${error && html`<p class="error" role="alert">${error}</p>`}
    </section>`
}

const names = [
  ['dailyCalories', 'kcal'],
  ['proteinTarget', 'g protein'],
  ['carbsTarget', 'g carbs'],
  ['fatTarget', 'g fat']
]

const Figures = ({ of }) =>
  html`<dl class="figures">${
    names.filter(([name]) => of[name]).map(([name, unit]) =>
      html`<div><dt>${unit}</dt><dd>${of[name].toLocaleString('en')}</dd></div>`
    )
  }</dl>`
