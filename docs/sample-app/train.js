import { useState } from 'preact/hooks'
import { tandem } from './api.js'
import { html, Icon, Loading, useLoad, useSearch } from './ui.js'

const MINUTES_PER_SET = 3

/** Log a workout, and the programs that one can be logged from. */
export function Train () {
  const programs = useLoad(async () => (await tandem.listPrograms()).data.programs)
  const templates = useLoad(async () => (await tandem.listProgramTemplates()).data.templates)
  const [message, setMessage] = useState()
  const run = async (work, done) => {
    try {
      await work()
      setMessage({ text: done })
      await programs.reload()
    } catch (error) {
      setMessage({ error: error.message })
    }
  }
  return html`
    <header class="top"><a class="plain" href="#/home" aria-label="Back"><${Icon} name="back" /></a><h1>Train</h1><span></span></header>
    ${message?.text && html`<p class="done" role="status"><${Icon} name="check" />${message.text}</p>`}
    ${message?.error && html`<p class="error" role="alert">${message.error}</p>`}
    <${Workout} onSave=${(data) => run(async () => await saveWorkout(data), 'Your workout is saved')} />
    <section class="card stack"><h2>Your programs</h2>
      ${
    programs.data
      ? programs.data.map((program) => html`<${Program} key=${program.id} program=${program} run=${run} />`)
      : html`<${Loading} of=${programs} rows=${1} />`
  }
      ${
    programs.data?.length === 0 &&
    html`<p class="soft">You have no program yet. Start from one below, and change it as you like.</p>`
  }
    </section>
    <section class="card stack"><h2>Start from a template</h2>
      ${
    templates.data
      ? templates.data.map((template) => html`<${Template} key=${template.id} template=${template} run=${run} />`)
      : html`<${Loading} of=${templates} rows=${2} />`
  }
    </section>`
}

const saveWorkout = async (data) => {
  const item = { clientId: `app-${Date.now()}`, type: 'WORKOUT', at: new Date().toISOString(), data }
  const { data: { results: [result] } } = await tandem.saveLogs({ body: { items: [item] } })
  if (result.error) throw new Error(result.error)
}

function Workout ({ onSave }) {
  const [exercises, setExercises] = useState([])
  const add = ({ id, name }) =>
    setExercises([...exercises, { exerciseId: id, name, sets: 3, reps: 8, weightKg: 0, key: Date.now() }])
  const change = (key, fields) =>
    setExercises(exercises.map((each) => each.key === key ? { ...each, ...fields } : each))
  const save = async (event) => {
    event.preventDefault()
    const sets = exercises.reduce((sum, each) => sum + each.sets, 0)
    await onSave({
      title: 'Workout',
      durationMinutes: Math.max(10, sets * MINUTES_PER_SET),
      exercises: exercises.map(({ exerciseId, name, sets, reps, weightKg }) => ({
        ...exerciseId && { exerciseId },
        name,
        sets: Array.from({ length: sets }, () => ({ reps, weightKg }))
      }))
    })
    setExercises([])
  }
  return html`
    <form class="card stack" onSubmit=${save}><h2>Log a workout</h2>
      ${
    exercises.map(({ key, name, ...values }) =>
      html`
        <div class="exercise" key=${key}><b>${name}</b>
          <button type="button" class="plain" aria-label="Remove ${name}" onClick=${() =>
        setExercises(exercises.filter((each) => each.key !== key))}><${Icon} name="close" /></button>
          ${
        [['sets', 'Sets', 1, 20, 1], ['reps', 'Reps', 1, 200, 1], ['weightKg', 'kg', 0, 1_000, .25]].map((
          [field, label, min, max, step]
        ) =>
          html`
            <label>${label}<input class="field" type="number" inputmode="decimal" required min=${min} max=${max} step=${step}
              value=${values[field]} onInput=${({ target }) =>
            change(key, { [field]: target.valueAsNumber })} /></label>`
        )
      }
        </div>`
    )
  }
      <${ExerciseSearch} onChoose=${add} />
      ${exercises.length > 0 && html`<button class="primary">Save workout</button>`}
    </form>`
}

function ExerciseSearch ({ onChoose }) {
  const { text, setText, found, error } = useSearch(async (query) =>
    (await tandem.listExercises({ query: { query, limit: 6 } })).data.exercises
  )
  const choose = (exercise) => {
    setText('')
    onChoose(exercise)
  }
  return html`
    <div class="search"><input class="field" type="search" placeholder="Find an exercise, such as squat" aria-label="Find an exercise"
      value=${text} onInput=${({ target }) => setText(target.value)} />
      ${error && html`<p class="error">${error}</p>`}
      ${
    found && html`<ul class="results">${
      found.map((exercise) =>
        html`
        <li key=${exercise.id}><button type="button" onClick=${() => choose(exercise)}><b>${exercise.name}</b>
          <span class="soft">${
          exercise.isCustom
            ? 'Added by you'
            : [...exercise.primaryMuscles, exercise.equipment].filter(Boolean).join(' · ')
        }</span></button></li>`
      )
    }
        ${
      found.length === 0 && html`<li><button type="button" onClick=${() => choose({ name: text.trim() })}>
          <b>Log “${text.trim()}”</b><span class="soft">No exercise of the library has this name</span></button></li>`
    }</ul>`
  }
    </div>`
}

const today = () => new Date().toLocaleDateString('en', { weekday: 'long' }).toUpperCase()
const short = (day) => `${day[0]}${day.slice(1, 3).toLowerCase()}`

function Program ({ program: { id, name, isActive, days }, run }) {
  const todays = days.find(({ dayOfWeek, isRestDay }) => dayOfWeek === today() && !isRestDay)
  return html`
    <div class="program"><div class="heading"><b>${name}</b>${isActive && html`<span class="chip">Active</span>`}</div>
      <${Days} days=${days} />
      <div class="answers">
        ${
    isActive
      ? html`<button class="button" onClick=${() =>
        run(() => tandem.activateProgram({ body: { programId: null } }), `${name} is paused`)}>Pause</button>`
      : html`<button class="button" onClick=${() =>
        run(() => tandem.activateProgram({ body: { programId: id } }), `${name} is your program now`)}>Use it</button>`
  }
        <button class="primary" disabled=${!todays} onClick=${() =>
    run(
      () => tandem.logPlannedWorkout({ body: { programDayId: todays.id } }),
      `${todays.name} is logged as planned`
    )}>${todays ? 'Log today' : 'Rest day'}</button>
      </div>
    </div>`
}

const Days = ({ days }) =>
  html`<ul class="days">${
    days.map(({ dayOfWeek, name, exercises }) =>
      html`
      <li><span class="chip">${short(dayOfWeek)}</span><b>${name}</b><span class="soft">${
        exercises.map((exercise) => exercise.name).join(', ')
      }</span></li>`
    )
  }</ul>`

function Template ({ template: { id, name, description, days }, run }) {
  return html`
    <details class="template"><summary><b>${name}</b><span class="soft">${description}</span></summary>
      <${Days} days=${days} />
      <button class="button" onClick=${() =>
    run(
      () => tandem.copyProgramTemplate({ path: { id } }),
      `${name} is among your programs`
    )}>Copy to my programs</button>
    </details>`
}
