import { textsOf, type TextKey, type TextParams } from '@tandem/brand-kit'

type ConsoleKey = TextKey extends infer Key ? Key extends `console.${infer Rest}` ? Rest : never : never
type Head<Key extends string> = Key extends `${infer First}.${string}` ? First : Key
type Below<Key extends string, First extends string> = Key extends `${First}.${infer Rest}` ? Rest : never
type Tree<Key extends string> = {
  [First in Head<Key>]: [Below<Key, First>] extends [never] ? string : Tree<Below<Key, First>>
}

/** The texts of the console: `texts.queue.next` is the text `console.queue.next`. */
export type Texts = Tree<ConsoleKey> & {
  /** A text with parameters. */
  say: (key: ConsoleKey, params: TextParams) => string
}

const trees = new Map<string, Texts>()

/** Without `constructor` and the like, which a code in the address of a page would find. */
const emptyTree = (): Record<string, unknown> => Object.create(null)

export function textsIn (language: string): Texts {
  const known = trees.get(language)
  if (known) return known
  const texts = textsOf(language)
  const tree = emptyTree()
  for (const [key, text] of Object.entries<string>(texts.group('console'))) {
    const steps = key.split('.')
    const last = steps.pop() as string
    const parent = steps.reduce((at, step) => (at[step] ??= emptyTree()) as Record<string, unknown>, tree)
    parent[last] = text
  }
  const say: Texts['say'] = (key, params) => texts.format(`console.${key}` as TextKey, params)
  const built = { ...tree, say } as Texts
  trees.set(language, built)
  return built
}
