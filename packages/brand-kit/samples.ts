import { TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser'
import { COMMON_PARAMS, parseMessage } from './messages.ts'
import type { TextParams } from './texts.ts'

/** As long as people are likely to see it. Another parameter is shown as its name. */
const samples: TextParams = {
  name: 'Ana Putri Wijaya',
  code: '123456',
  email: 'ana.putri@example.com',
  at: 'Saturday, 28 November 2026 at 18:00',
  when: 'Saturday, 28 November 2026, 18:00 – 19:30 (Asia/Jakarta)',
  startsAt: 'Saturday, 28 November 2026 at 18:00',
  date: '12 December 2026 UTC',
  until: '12 December 2026, 18:00',
  place: 'Gelora Bung Karno, gate 5, Jakarta (-6.21, 106.8)',
  companions: 'Ben, Cas, Dea',
  excerpt: 'Morning run with @ben along the river',
  title: 'Evening run around the lake',
  body: 'Bring a bottle of water.',
  statement: 'We looked at it again and found that it breaks the rule.',
  answer: 'We looked at it again and found that it does not break the rule.',
  actions: 'Nobody but you sees it any more.',
  manageUrl: 'https://store.example/account/subscriptions',
  host: 'hooks.example.com',
  device: 'Pixel 9',
  exercise: 'Bench press',
  emoji: '🔥',
  sport: 'table tennis'
}
const COUNTS = [4, 1]

interface Uses {
  isValue: boolean
  isCount: boolean
  choices: Set<string>
}

/** Sets of parameters for messages that are shown together, so that each branch of a message is shown once. */
export function listSamples (messages: string[]): TextParams[] {
  const uses = new Map<string, Uses>()
  for (const message of messages) collect(parseMessage(message), uses)
  const values = [...uses].filter(([name]) => !COMMON_PARAMS.includes(name))
    .map(([name, each]) => [name, valuesOf(name, each)] as const)
  const first = Object.fromEntries(values.map(([name, [value]]) => [name, value]))
  return [first, ...values.flatMap(([name, [, ...others]]) => others.map((value) => ({ ...first, [name]: value })))]
}

function valuesOf (name: string, { isValue, isCount, choices }: Uses) {
  const value = samples[name] ?? name
  if (isCount) return COUNTS
  if (choices.size === 0) return [value]
  return [...choices].map((choice) => choice === 'other' && isValue ? value : choice)
}

function collect (elements: MessageFormatElement[], uses: Map<string, Uses>) {
  for (const element of elements) {
    if (element.type === TYPE.literal || element.type === TYPE.pound || element.type === TYPE.tag) continue
    const use = uses.get(element.value) ?? { isValue: false, isCount: false, choices: new Set() }
    uses.set(element.value, use)
    if (element.type !== TYPE.select && element.type !== TYPE.plural) {
      use.isValue = true
      if (element.type === TYPE.number) use.isCount = true
      continue
    }
    if (element.type === TYPE.plural) use.isCount = true
    else for (const choice of Object.keys(element.options)) use.choices.add(choice)
    for (const { value } of Object.values(element.options)) collect(value, uses)
  }
}
