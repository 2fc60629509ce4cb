import chains from './chains.json' with { type: 'json' }
import { nameKeyOf } from './names.ts'

/** A chain of gyms; source and licence are in NOTICE.md. */
export interface Chain {
  id: string
  name: string
  /** Two-letter codes, or `001` for the whole world. */
  countries: string[]
}

const WORLD = '001'

const byId = new Map(chains.map((chain) => [chain.id, chain]))
const byWikidata = Map.groupBy(chains, ({ wikidata }) => wikidata ?? '')
const byName = Map.groupBy(
  chains.flatMap((chain) => [chain.name, ...chain.otherNames].map((name) => ({ chain, key: nameKeyOf(name) }))),
  ({ key }) => key
)

export const isChain = (id: string) => byId.has(id)

interface Filters {
  query?: string | undefined
  /** A two-letter code, in capitals. */
  country?: string | undefined
}

/** Chains by name. All words of `query` are in one of their names. */
export function listChains ({ query = '', country }: Filters): Chain[] {
  const words = nameKeyOf(query).split(' ')
  return chains
    .filter(({ name, otherNames, countries }) =>
      (!country || countries.includes(country) || countries.includes(WORLD)) &&
      [name, ...otherNames].map(nameKeyOf).some((key) => words.every((word) => key.includes(word)))
    )
    .map(({ id, name, countries }) => ({ id, name, countries }))
}

/** The chain of a place by its Wikidata id or, without one, by the name of its brand. */
export function findChain ({ wikidata, brand }: { wikidata: string | undefined, brand: string }) {
  const named = byName.get(nameKeyOf(brand))?.map(({ chain }) => chain) ?? []
  if (wikidata === undefined) return named.length === 1 ? named[0]?.id : undefined
  const known = byWikidata.get(wikidata) ?? []
  return (known.find((chain) => named.includes(chain)) ?? known[0])?.id
}
