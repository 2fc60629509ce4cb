import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '../..')

/**
 * Words that this project does not use, and what to write in their place. People are they; the rest is what the field
 * says.
 */
const replacements: [RegExp, string][] = [
  [/\b(he|him|his|himself)\b/i, 'they, them, their'],
  [/\b(whoever|whomever|whom|whosoever)\b/i, 'anyone who, callers, the account that'],
  [/\b(anew|whereof|thereof|hither|hence|seldom|nobody's)\b/i, 'again, of it, so, rarely'],
  [/\b(be it|be he|be they|for want of|in vain)\b/i, 'a plain sentence'],
  [/\b(is|are|was|were) told\b/i, 'is notified, receives, is sent'],
  [/\b(untold|unsaid|telling|tellings|unless told)\b/i, 'tombstone, not published, notification request, by default'],
  [/\b(doom|doomed|reckon|reckoned|reckons)\b/i, 'mark for deletion, compute'],
  [
    /\b(meetOthers|keepLetter|takeDue|failAgain|untilHeard|isNews|createTeller|faultsOf)\b/,
    'the name that replaced it'
  ],
  [/\b(patience|blameless|hopeless)\b/i, 'timeoutMs, transient, permanent'],
  [/\b(tether|TOLD_\w+|forgetHeard|isQuestion|listWays)\b/, 'the name that replaced it'],
  [/\b(nobody reaches|anybody but|(said|told) and heard|in peace|told so|another one's)\b/i, 'a plain sentence'],
  // One word for one thing. `departures` is the name of a table and of an RPC.
  [
    /\b(leavers?|departed|departure|isLeaving|isDeparted|isBuried\w*|leave(ThroughPage|Account))\b/i,
    'deletion, erasure'
  ],
  [/\b(create\w*)?Departures\b|\bDeparture[A-Z]\w*/, 'erasure, tombstone'],
  [/\b(an?|the|each|every|in-app|account) notice\b|\b[a-z]\w*Notices?\b/, 'notification, mail'],
  [/(?<!retry[ -])\bbudgets?\b/, 'limit'],
  [/\bgood standing\b|\blistStanding\b/i, 'ban, restriction'],
  [/\b(isPremium|premium (account|user|member)s?)\b/i, 'plan, entitlement']
]

// Lists of words and names that other people wrote, and this one.
const foreign = /(^pnpm-lock\.yaml|\/words\.test\.ts|\.json|\.gz|\.txt|blocklist\.ts)$/

t.test('the language is the one of the field', async (t) => {
  const files = spawnSync('git', [
    'ls-files',
    '*.ts',
    '*.mjs',
    '*.sql',
    '*.md',
    '*.yml',
    '*.yaml',
    '*.sh',
    '*.conf',
    '.env.example'
  ], { cwd: root, encoding: 'utf8' })
    .stdout.split('\n').filter((file) => file && !foreign.test(file))
  t.ok(files.length > 400)
  for (const file of files) {
    const lines = readFileSync(path.join(root, file), 'utf8').split('\n')
    const found = lines.flatMap((line, index) =>
      replacements.filter(([word]) => word.test(line))
        .map(([word, instead]) => `${file}:${index + 1} "${word.exec(line)?.[0]}": write ${instead}`)
    )
    t.strictSame(found, [], file)
  }
})

t.test('a line of a style or a shell script has at most 120 columns, which no formatter checks', (t) => {
  const { stdout } = spawnSync('git', ['ls-files', '*.css', '*.sh'], { cwd: root, encoding: 'utf8' })
  const long = stdout.split('\n').filter(Boolean).flatMap((file) =>
    readFileSync(path.join(root, file), 'utf8').split('\n').flatMap((line, index) =>
      line.length > 120 ? [`${file}:${index + 1}`] : []
    )
  )
  t.same(long, [])
  t.end()
})

t.test('each decision has a number of its own', (t) => {
  const numbers = readdirSync(path.join(root, 'docs/decisions')).map((name) => name.slice(0, 4))
  t.strictSame(numbers, [...new Set(numbers)])
  t.end()
})
