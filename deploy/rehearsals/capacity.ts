// Computes from costs.json what an installation for a number of accounts needs (`npm run rehearse capacity -- 50000`).
// The habits of people are assumptions; change them to those of your app.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { serviceNames as services } from '../../gateway/routes.ts'

type Costs = Record<string, Record<string, number>>
const costs = JSON.parse(readFileSync(path.join(import.meta.dirname, 'costs/costs.json'), 'utf8')) as Costs

/** How many of the accounts come on one day, and how often each of them does what. */
const ACTIVE_SHARE = 0.3
const perActiveDay: Record<string, number> = {
  'home screen': 6,
  'page of a feed': 15,
  'page of matching profiles': 4,
  'page of notifications': 5,
  'own account': 4,
  'post': 0.2,
  'comment': 1,
  'like or unlike': 6,
  'log': 4,
  'chat message': 5,
  'swipe': 3,
  'upload': 0.2,
  'sign-in': 0.05
}
/** The busiest minute of a day compared with its average. */
const PEAK = 4
/** What of a core a replica uses at the peak, and Postgres of its machine. */
const LOAD = 0.6
const MIN_REPLICAS = 2
const DAY_S = 86_400
/** A photo and its thumbnails: docs/decisions/0016. */
const PICTURE_BYTES = 937_000
/** A line of the log of the gateway and one of the service, for one of sixteen fast requests. */
const LOG_BYTES = 2 * 600 / 16
const PROCESS_GIB = 0.35

const rate = (accounts: number, name: string) => accounts * ACTIVE_SHARE * perActiveDay[name]! * PEAK / DAY_S
const sum = (accounts: number, figure: string) =>
  Object.entries(costs).reduce((total, [name, cost]) => total + rate(accounts, name) * (cost[figure] ?? 0), 0)

function plan (accounts: number) {
  const cores = (name: string) => sum(accounts, `${name}Us`) / 1e6
  const replicas = (name: string) => Math.max(MIN_REPLICAS, Math.ceil(cores(name) / LOAD))
  const perDay = (name: string) => accounts * ACTIVE_SHARE * perActiveDay[name]!
  const storedGb = sum(accounts, 'storedBytes') / PEAK * DAY_S * 365 / 1e9
  const all = services.reduce((total, name) => total + replicas(name), replicas('gateway'))
  const allCores = ['gateway', ...services].reduce((total, name) => total + cores(name), 0) / LOAD
  const round = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 2 })
  const requests = Object.keys(costs).reduce((total, name) => total + rate(accounts, name), 0)
  return {
    'accounts': accounts.toLocaleString('en'),
    'requests/s at the peak': Math.round(requests).toLocaleString('en'),
    'gateway replicas': replicas('gateway'),
    ...Object.fromEntries(services.map((name) => [`${name} replicas`, replicas(name)])),
    'cores of all processes': round(allCores),
    'memory of all processes, GiB': round(all * PROCESS_GIB),
    'Postgres cores': round(cores('postgres') / LOAD),
    'transactions/s': Math.round(sum(accounts, 'transactions')).toLocaleString('en'),
    'connections of services': services.reduce((total, name) => total + 5 * replicas(name), 0).toLocaleString('en'),
    'events/s': Math.round(sum(accounts, 'events')).toLocaleString('en'),
    'database, GB a year': round(storedGb),
    'WAL, GB a day': round(sum(accounts, 'walBytes') / PEAK * DAY_S / 1e9),
    'media, GB a year': round(perDay('upload') * PICTURE_BYTES * 365 / 1e9),
    'logs, GB a day': round(requests / PEAK * DAY_S * LOG_BYTES / 1e9)
  }
}

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10_000, 50_000, 250_000, 1_000_000]
const plans = sizes.map(plan)
const names = Object.keys(plans[0]!) as (keyof typeof plans[0])[]
console.log(`| ${names[0]} | ${plans.map((each) => each.accounts).join(' | ')} |`)
console.log(`|---|${plans.map(() => '---:|').join('')}`)
for (const name of names.slice(1)) console.log(`| ${name} | ${plans.map((each) => each[name]).join(' | ')} |`)
