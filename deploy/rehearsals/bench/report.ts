import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import path from 'node:path'
import { describeGoal, type Goal } from '@tandem/test-kit/goals'

const INTRODUCTION = `# Benchmarks

\`npm run bench\` writes this page; \`npm run bench -- --check\` also fails if a goal is missed. Compare figures of one run
only, because the speed of a machine differs between runs. The settings are the default ones: \`LOG_LEVEL=info\`, and limits
that are on.
`

/** Replaces the section of one benchmark in docs/benchmarks.md. */
export function writeReport (root: string, name: string, goals: Goal[]) {
  const file = path.join(root, 'docs/benchmarks.md')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : INTRODUCTION
  const sections = new Map(text.split(/^## /m).slice(1).map((section) => [section.split('\n', 1)[0], section.trim()]))
  sections.set(name, `${name}\n\n${describeRun(root)}\n\n${tableOf(goals)}`)
  const sorted = [...sections].sort(([one = ''], [other = '']) => one.localeCompare(other))
  writeFileSync(file, `${INTRODUCTION}\n${sorted.map(([, section]) => `## ${section}\n`).join('\n')}`)
}

function describeRun (root: string) {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const commit = `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '-uno') ? ' with changes' : ''}`
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 1024 ** 3)} GB`
  return `${new Date().toISOString().slice(0, 10)}, commit ${commit}, ${machine}, Node ${process.versions.node}.`
}

const tableOf = (goals: Goal[]) =>
  [['What', 'Compared with', 'Goal', 'Figure', ''], ['---', '---', '---', '---', '---'], ...goals.map(describeGoal)]
    .map((cells) => `| ${cells.join(' | ')} |`).join('\n')
