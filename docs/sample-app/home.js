import { Achievements } from './achievements.js'
import { tandem } from './api.js'
import { Goals } from './goals.js'
import { Invite } from './invite.js'
import { Plans } from './plans.js'
import { Empty, html, Loading, useLoad } from './ui.js'

export function Home ({ me, signOut }) {
  const loaded = useLoad(async () => {
    const [home, week, health] = await Promise.all([
      tandem.getHome(),
      tandem.getWeeklyOverview(),
      tandem.getHealthScore()
    ])
    return { ...home.data, week: week.data, health: health.data }
  })
  if (!loaded.data) return html`<${Loading} of=${loaded} />`
  const { user, stats, today, week, health, matches, upcomingActivities } = loaded.data
  const log = async (type, data) => {
    await tandem.saveLogs({
      body: { items: [{ clientId: `app-${Date.now()}`, type, at: new Date().toISOString(), data }] }
    })
    await loaded.reload()
  }
  const water = Math.round(today.water.currentMl / 100) / 10
  return html`
    <header class="top"><div><p class="soft">${greeting()}</p><h1>${me.name.split(' ')[0]}</h1></div>
      <button class="button phone-only" onClick=${signOut}>Sign out</button></header>
    <div class="grid">
      <section class="card streak"><strong>${user.streak}</strong><div><h2>day streak 🔥</h2><p>Longest: ${user.longestStreak} days</p></div></section>
      <section class="card rings">
        <${Rings} health=${health} />
        <ul>${
    ringsOf(health).map(({ name, score, detail, colour }) =>
      html`
          <li style="--colour: ${colour}"><b>${name}</b><span>${detail ?? `${score} %`}</span></li>`
    )
  }</ul>
      </section>
      <${Plans} me=${me} upcoming=${upcomingActivities} onChange=${loaded.reload} />
      <section class="card"><h2>This week</h2>
        <ol class="week">${
    week.days.map((day) =>
      html`
          <li class=${day.isToday ? 'today' : ''}><span>${day.dayName}</span>
            ${
        ['workout', 'nutrition', 'water', 'sleep'].map((part) =>
          html`<i class=${day[part] ? part : ''} title=${part}></i>`
        )
      }
          </li>`
    )
  }</ol>
        <p class="soft">${stats.workoutsThisWeek} workouts · ${week.stats.consistency} % consistent</p>
      </section>
      <section class="card"><h2>Level ${user.level}</h2>
        <div class="bar"><i style="width: ${progress(user)}%"></i></div>
        <p class="soft">${user.totalXp} XP · ${user.xpToNextLevel} to level ${
    user.level + 1
  } · ${stats.totalPRs} records</p>
      </section>
      <section class="card"><h2>Today</h2>
        <div class="actions">
          <button class="button" onClick=${() => log('WATER', { ml: 250 })}>💧 250 ml <small>${water} of ${
    today.water.targetMl / 1000
  } l</small></button>
          <a class="button" href="#/train">💪 Train <small>${stats.totalWorkouts} workouts</small></a>
          <button class="button" onClick=${() =>
    log('FOOD', {
      name: 'Snack',
      calories: 200,
      protein: 10
    })}>🥗 Snack <small>${stats.todayCalories} kcal today</small></button>
        </div>
      </section>
      <${Goals} onChange=${loaded.reload} />
      <${Achievements} />
      <section class="card"><h2>Your matches</h2>
        <div class="faces">${
    matches.map(({ matchId, displayName, photo }) =>
      html`
          <a href="#/chats/${matchId}"><img src=${photo} alt="" /><span>${displayName.split(' ')[0]}</span></a>`
    )
  }</div>
        ${matches.length === 0 && html`<${Empty} icon="discover" title="Nobody yet">Swipe to find a partner.<//>`}
      </section>
      <${Invite} />
    </div>`
}

function greeting () {
  const hour = new Date().getHours()
  return hour < 12 ? 'Good morning' : hour < 18 ? 'Good afternoon' : 'Good evening'
}

/** Level n begins at 50·n·(n-1) XP. */
const progress = ({ level, totalXp }) => Math.round((totalXp - 50 * level * (level - 1)) / level)

const ringsOf = ({ metrics: { workout, nutrition, water } }) => [
  { name: 'Move', score: workout.score, detail: `${workout.completed} of ${workout.target}`, colour: 'var(--move)' },
  { name: 'Eat', score: nutrition.score, colour: 'var(--eat)' },
  { name: 'Drink', score: water.score, colour: 'var(--drink)' }
]

function Rings ({ health }) {
  const size = [52, 39, 26]
  return html`
    <svg viewBox="0 0 120 120" role="img" aria-label="Health score ${health.overallScore}">
      ${
    ringsOf(health).map(({ score, colour }, index) => {
      const length = 2 * Math.PI * size[index]
      const circle = { cx: 60, cy: 60, r: size[index], fill: 'none', stroke: colour, 'stroke-width': 10 }
      return html`<g transform="rotate(-90 60 60)"><circle ...${circle} opacity=".18" />
          <circle ...${circle} class="ring" stroke-linecap="round" stroke-dasharray="${
        length * Math.min(score, 100) / 100
      } ${length}" /></g>`
    })
  }
      <text x="60" y="67" text-anchor="middle">${health.overallScore}</text>
    </svg>`
}
