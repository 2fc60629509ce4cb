interface Page {
  nextCursor: string | null
}

/**
 * All items of a list, page by page, as they are needed:
 * `for await (const post of paginate((cursor) => tandem.listFeed({ query: { cursor } }), ({ posts }) => posts))`
 */
export async function* paginate<Data extends Page, Item> (
  readPage: (cursor: string | undefined) => Promise<{ data: Data }>,
  itemsOf: (data: Data) => Item[]
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined
  do {
    const { data } = await readPage(cursor)
    yield* itemsOf(data)
    cursor = data.nextCursor ?? undefined
  } while (cursor !== undefined)
}
