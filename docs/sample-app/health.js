import { useRef, useState } from 'preact/hooks'
import { tandem } from './api.js'
import { Empty, html, Icon, Loading, useLoad } from './ui.js'

const metrics = {
  steps: ['Steps', 'steps', 'bar'],
  activeEnergy: ['Active energy', 'kcal', 'bar'],
  distance: ['Distance', 'm', 'bar'],
  sleep: ['Sleep', 'min', 'bar'],
  restingHeartRate: ['Resting heart rate', 'bpm', 'line'],
  weight: ['Weight', 'kg', 'line']
}
const ranges = { '7d': 'Week', '30d': 'Month', '1y': 'Year' }

/** What devices measured, over time, and files of other apps. */
export function Health () {
  const [metric, setMetric] = useState('steps')
  const [range, setRange] = useState('30d')
  const trend = useLoad(async () => (await tandem.getTrend({ query: { metric, range } })).data.points, [metric, range])
  const [name, unit, kind] = metrics[metric]
  return html`
    <header class="top"><a class="plain" href="#/home" aria-label="Back"><${Icon} name="back" /></a><h1>Health</h1><span></span></header>
    <section class="card stack"><h2>${name}</h2>
      <div class="choices" role="group" aria-label="What to show">${
    Object.entries(metrics).map(([key, [label]]) =>
      html`<button class="chip" aria-pressed=${key === metric} onClick=${() => setMetric(key)}>${label}</button>`
    )
  }</div>
      <div class="choices" role="group" aria-label="How long">${
    Object.entries(ranges).map(([key, label]) =>
      html`<button class="chip" aria-pressed=${key === range} onClick=${() => setRange(key)}>${label}</button>`
    )
  }</div>
      ${
    trend.data
      ? html`<${Chart} points=${trend.data} unit=${unit} kind=${kind} />`
      : html`<${Loading} of=${trend} rows=${1} />`
  }
    </section>
    <${Imports} onChange=${trend.reload} />`
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [600, 220, 46, 24]
const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const dayOf = (date) => new Date(`${date}T12:00`).toLocaleDateString('en', { day: 'numeric', month: 'short' })

/** Bars begin at zero; a line shows what changes. A day without a value is a gap. */
function Chart ({ points, unit, kind }) {
  const known = points.filter(({ value }) => value !== null)
  if (known.length === 0) {
    return html`<${Empty} icon="home" title="Nothing yet">Import a file, or connect your phone.<//>`
  }
  const values = known.map(({ value }) => value)
  const top = Math.max(...values) * (kind === 'bar' ? 1.05 : 1.01) || 1
  const base = kind === 'bar' ? 0 : Math.min(...values) * .99
  const step = (WIDTH - LEFT) / points.length
  const x = (index) => LEFT + step * (index + .5)
  const y = (value) => (HEIGHT - BOTTOM) * (1 - (value - base) / (top - base))
  const average = values.reduce((sum, value) => sum + value, 0) / values.length
  const line = points.map(({ value }, index) => value === null ? '' : `${x(index)},${y(value)}`).filter(Boolean).join(
    ' '
  )
  const ticks = [base + (top - base) / 2, top]
  return html`
    <p><strong>${number.format(average)} ${unit}</strong> <span class="soft">on average</span></p>
    <svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${known.length} values, ${
    number.format(average)
  } ${unit} on average">
      ${
    ticks.map((tick) =>
      html`<g class="tick"><line x1=${LEFT} x2=${WIDTH} y1=${y(tick)} y2=${y(tick)} />
        <text x=${LEFT - 6} y=${Math.max(12, y(tick) + 4)} text-anchor="end">${
        number.format(Math.round(tick))
      }</text></g>`
    )
  }
      ${
    kind === 'bar'
      ? points.map(({ date, value }, index) =>
        value !== null && html`<rect x=${x(index) - step * .35} width=${step * .7} y=${y(value)} rx="2"
          height=${HEIGHT - BOTTOM - y(value)}><title>${dayOf(date)}: ${number.format(value)} ${unit}</title></rect>`
      )
      : html`<polyline points=${line} />${
        points.map(({ date, value }, index) =>
          value !== null &&
          html`<circle cx=${x(index)} cy=${y(value)} r="3.5"><title>${dayOf(date)}: ${
            number.format(value)
          } ${unit}</title></circle>`
        )
      }`
  }
      <text x=${LEFT} y=${HEIGHT - 4}>${dayOf(points[0].date)}</text>
      <text x=${WIDTH} y=${HEIGHT - 4} text-anchor="end">${dayOf(points.at(-1).date)}</text>
    </svg>`
}

const POLL_MS = 700
const isFinished = ({ status }) => ['DONE', 'FAILED', 'UNDONE'].includes(status)
const wait = async (ms) => await new Promise((resolve) => setTimeout(resolve, ms))
const formats = { APPLE_HEALTH: 'Apple Health', TANDEM: 'Copy of an account' }
const UNDO_MS = 7 * 86_400_000

function Imports ({ onChange }) {
  const imports = useLoad(async () => (await tandem.listImports()).data.imports)
  const [error, setError] = useState()
  const input = useRef()
  const show = (changed) =>
    imports.change((list) =>
      [changed, ...list.filter(({ id }) => id !== changed.id)].sort((a, b) => a.id < b.id ? 1 : -1)
    )
  const follow = async (started) => {
    setError()
    try {
      let current = (await started).data.import
      for (show(current); !isFinished(current); show(current)) {
        await wait(POLL_MS)
        current = (await tandem.getImport({ path: { id: current.id } })).data.import
      }
      await onChange()
    } catch ({ message }) {
      setError(message)
    }
  }
  const choose = async () => {
    const [file] = input.current.files
    if (file) await follow(tandem.importFile({ body: { file } }))
    input.current.value = ''
  }
  return html`
    <section class="card stack"><h2>Import a file</h2>
      <p class="soft">FIT, GPX, TCX, CSV of Strong, Hevy or MyFitnessPal, or the export of Apple Health. What you have already is not counted twice.</p>
      <label class="button">Choose a file<input type="file" hidden ref=${input} onChange=${choose} accept=".fit,.gpx,.tcx,.csv,.zip,.xml,.json" /></label>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      ${
    imports.data
      ? imports.data.map((each) =>
        html`<${Import} key=${each.id} import=${each} onUndo=${() =>
          follow(tandem.undoImport({ path: { id: each.id } }))} />`
      )
      : html`<${Loading} of=${imports} rows=${1} />`
  }
    </section>`
}

function Import ({ import: { type, status, progress, error, report, createdAt, finishedAt }, onUndo }) {
  const canUndo = status === 'DONE' && report.new > 0 && Date.now() - new Date(finishedAt) < UNDO_MS
  return html`
    <div class="program"><div class="heading"><b>${formats[type] ?? type}</b><span class="soft">${
    new Date(createdAt).toLocaleDateString('en')
  }</span></div>
      ${
    !isFinished({ status }) &&
    html`<div class="bar" role="progressbar" aria-valuenow=${progress}><i style="width: ${progress}%"></i></div>
        <p class="soft">${status === 'UNDOING' ? 'Taking it back …' : `Reading … ${progress} %`}</p>`
  }
      ${status === 'UNDONE' && html`<p class="soft">You took this import back.</p>`}
      ${status === 'FAILED' && html`<p class="error">This file cannot be read: ${error}. Nothing was saved.</p>`}
      ${
    status === 'DONE' &&
    html`<p>${number.format(report.new)} new of ${number.format(report.found)} entries${
      report.merged > 0 && ` · ${number.format(report.merged)} joined with what you had`
    }${report.refusedCount > 0 && ` · ${number.format(report.refusedCount)} not readable`}</p>
        ${
      report.refused.length > 0 &&
      html`<details><summary>What could not be read</summary><ul>${
        report.refused.map(({ line, reason }) => html`<li>Line ${line}: ${reason}</li>`)
      }</ul></details>`
    }
        ${canUndo && html`<button class="button" onClick=${onUndo}>Undo import</button>`}`
  }
    </div>`
}
